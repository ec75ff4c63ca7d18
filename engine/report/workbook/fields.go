package workbook

import (
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// Fields returns the value of an item's field as text, given the field's API name. The result is
// empty if the value is not set or there is no such field.
type Fields func(field string) string

// WithOverride returns Fields that use the value returned by override if there is one, and the value of f otherwise.
func (f Fields) WithOverride(override func(field string) (string, bool)) Fields {
	return func(field string) string {
		if s, ok := override(field); ok {
			return s
		}
		return f(field)
	}
}

func commonFieldValue(it *api.Item, field string) string {
	switch field {
	case "id":
		return it.ID
	case "control_code":
		return it.ControlCode
	case "control_title":
		return it.ControlTitle
	case "domain":
		return it.DomainCode
	case "edited_fields":
		return strings.Join(it.EditedFields, "\n")
	case "revision":
		return strconv.Itoa(it.Revision)
	case "nist_controls":
		return nistControlsOrOwnCode(it)
	}
	return ""
}

// nistControlsOrOwnCode returns the NIST SP 800-53 controls that a control maps to or, if there are none, the
// control's own code.
func nistControlsOrOwnCode(it *api.Item) string {
	for _, code := range []string{"nist-800-53-r5", "fedramp-r5", "nist-800-53-r4", "fedramp-r4", "fedramp"} {
		if c := it.RequirementCodes[code]; len(c) > 0 {
			return strings.Join(c, "\n")
		}
	}
	return it.ControlCode
}

// SoAFields returns the fields of an item of the Statement of Applicability.
func SoAFields(it *api.SoAItem) Fields {
	return func(field string) string {
		switch field {
		case "applicability":
			return string(it.Applicability)
		case "inclusion_reasons":
			return strings.Join(it.InclusionReasons, "\n")
		case "rationale":
			return it.Rationale
		case "implementation_status":
			return string(it.ImplementationStatus)
		case "reason":
			return it.Reason
		case "owner":
			return wording.OrEmpty(it.Owner)
		case "note":
			return wording.OrEmpty(it.Note)
		case "needs_review":
			return formatYesNo(it.NeedsReview)
		case "evidence_coverage":
			return string(it.EvidenceCoverage)
		case "coverage_ratio":
			return formatDecimal(it.CoverageRatio)
		case "statements":
			all := make([]string, len(it.Statements))
			for i, s := range it.Statements {
				all[i] = "[" + s.Verdict + "] " + s.Text
			}
			return strings.Join(all, "\n")
		case "missing_elements":
			return strings.Join(it.MissingElements, "\n")
		case "confidence":
			return formatDecimal(it.Confidence)
		case "rests_on_documents":
			return strconv.Itoa(it.RestsOnDocuments)
		case "only_document":
			return it.OnlyDocument
		case "changed_by_document":
			return it.ChangedByDocument
		}
		return commonFieldValue(&it.Item, field)
	}
}

// FindingFields returns the fields of a finding.
func FindingFields(it *api.Finding) Fields {
	return func(field string) string {
		switch field {
		case "severity":
			return string(it.Severity)
		case "severity_reason":
			return it.SeverityReason
		case "status":
			return string(it.Status)
		case "result":
			return string(it.Result)
		case "gap_type":
			return it.GapType
		case "condition":
			return it.Condition
		case "criteria":
			return it.Criteria
		case "cause":
			return it.Cause
		case "effect":
			return it.Effect
		case "recommendation":
			return it.Recommendation
		case "missing_elements":
			return strings.Join(it.MissingElements, "\n")
		case "owner":
			return wording.OrEmpty(it.Owner)
		case "due_date":
			return wording.OrEmpty(it.DueDate)
		case "note":
			return wording.OrEmpty(it.Note)
		case "weight":
			return strconv.Itoa(it.Weight)
		case "confidence":
			return formatDecimal(it.Confidence)
		case "source":
			return it.Source
		case "in_catalog":
			return formatYesNo(it.InCatalog)
		}
		return commonFieldValue(&it.Item, field)
	}
}

// ScoreFields returns the fields of a maturity score. If the control was not rated, the level is empty.
func ScoreFields(it *api.MaturityScore) Fields {
	return func(field string) string {
		switch field {
		case "assessed":
			return formatYesNo(it.Assessed)
		case "level":
			if it.Assessed {
				return strconv.Itoa(it.Level)
			}
			return ""
		case "level_name":
			if it.Assessed && it.Level >= 0 && it.Level < len(api.LevelNames) {
				return prose.Label(api.LevelNames[it.Level])
			}
			return ""
		case "target_level":
			return strconv.Itoa(it.TargetLevel)
		case "previous_level":
			if it.PreviousLevel != nil {
				return strconv.Itoa(*it.PreviousLevel)
			}
			return ""
		case "rationale":
			return it.Rationale
		case "note":
			return wording.OrEmpty(it.Note)
		case "criteria":
			if it.Assessed { // the criteria of a level that wasn't given would read like a verdict
				return it.Criteria
			}
			return ""
		case "next_criteria":
			if it.Assessed {
				return it.NextCriteria
			}
			return ""
		case "weight":
			return strconv.Itoa(it.Weight)
		case "confidence":
			if it.Assessed {
				return formatDecimal(it.Confidence)
			}
			return ""
		}
		return commonFieldValue(&it.Item, field)
	}
}

// POAMItemFields returns the fields of a plan item.
func POAMItemFields(it *api.POAMItem) Fields {
	return func(field string) string {
		switch field {
		case "poam_code":
			return it.POAMCode
		case "finding_id":
			return it.FindingID
		case "also_closes":
			return strings.Join(it.AlsoCloses, "\n")
		case "weakness":
			return it.Weakness
		case "corrective_action":
			return it.CorrectiveAction
		case "action_type":
			return it.ActionType
		case "priority":
			return strconv.Itoa(it.Priority)
		case "severity":
			return string(it.Severity)
		case "effort":
			return it.Effort
		case "owner":
			return wording.OrEmpty(it.Owner)
		case "owner_role":
			return it.OwnerRole
		case "resources":
			return wording.OrEmpty(it.Resources)
		case "due_date":
			return string(it.CurrentDueDate())
		case fieldMilestones:
			return joinLines(toMilestoneLines(it.Milestones))
		case fieldChanges:
			return joinLines(toChangeLines(it.Milestones))
		case "dependencies":
			return strings.Join(it.Dependencies, "\n")
		case "acceptance_criteria":
			return strings.Join(it.AcceptanceCriteria, "\n")
		case "expected_evidence":
			return strings.Join(it.ExpectedEvidence, "\n")
		case "target_level":
			return strconv.Itoa(it.TargetLevel)
		case "status":
			return it.Status
		case "risk_accepted_until":
			return wording.OrEmpty(it.RiskAcceptedUntil)
		case "vendor_dependency":
			return wording.OrEmpty(it.VendorDependency)
		case "vendor_dependent":
			return formatYesNo(wording.OrEmpty(it.VendorDependency) != "")
		case "comments":
			return wording.OrEmpty(it.Comments)
		}
		return commonFieldValue(&it.Item, field)
	}
}

func formatYesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func formatDecimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
