package itemfilter

import (
	"fmt"
	"maps"
	"slices"

	"github.com/scf-service/service/api"
)

// field is a field that filters can refer to. Its values have a single type: string, bool, int, float64 or []string.
// An absent text, such as a missing owner, is "".
type field[I any] struct {
	names   []string // the first is the preferred one
	value   func(*I) any
	allowed []string // all possible values of a text; nil if there is no limitation
	isCode  bool     // whether it is an uppercase code, which filters may write in any case
	isDate  bool     // whether it is a date; a missing date is neither before nor after another
}

// optional returns the text that v points to, or "" if v is nil.
func optional[S ~string](v *S) any {
	if v == nil {
		return ""
	}
	return string(*v)
}

func listOf[S ~string](values ...S) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

var (
	implementations = listOf(api.Implemented, api.PartiallyImplemented, api.Planned, api.NotImplemented, api.NotEvidenced, api.NotAssessed)
	severities      = listOf(api.Severities...)
)

// fieldsOf returns the fields of items of type I.
func fieldsOf[I any]() []field[I] {
	switch any(new(I)).(type) {
	case *api.SoAItem:
		return any(soaFields).([]field[I])
	case *api.Finding:
		return any(findingFields).([]field[I])
	case *api.MaturityScore:
		return any(scoreFields).([]field[I])
	case *api.POAMItem:
		return any(planFields).([]field[I])
	}
	panic(fmt.Sprintf("itemfilter: %T is not an item", *new(I)))
}

// commonFields returns the fields that all items have, followed by the fields in more. item returns the common part of
// an item.
func commonFields[I any](item func(*I) *api.Item, more ...field[I]) []field[I] {
	return append([]field[I]{
		{names: []string{"control", "control_code"}, isCode: true, value: func(i *I) any { return item(i).ControlCode }},
		{names: []string{"title", "control_title"}, value: func(i *I) any { return item(i).ControlTitle }},
		{names: []string{"domain", "domain_code"}, isCode: true, value: func(i *I) any { return item(i).DomainCode }},
		{names: []string{"frameworks"}, value: func(i *I) any { return slices.Sorted(maps.Keys(item(i).RequirementCodes)) }},
		{names: []string{"requirements"}, value: func(i *I) any {
			all := []string{}
			for _, framework := range slices.Sorted(maps.Keys(item(i).RequirementCodes)) {
				all = append(all, item(i).RequirementCodes[framework]...)
			}
			return all
		}},
		{names: []string{"edited"}, value: func(i *I) any { return item(i).EditedBy != nil }},
		{names: []string{"edited_by"}, value: func(i *I) any { return optional(item(i).EditedBy) }},
		{names: []string{"edited_fields"}, value: func(i *I) any { return append([]string{}, item(i).EditedFields...) }},
		{names: []string{"carried"}, value: func(i *I) any { return item(i).Carried != nil }},
		{names: []string{"evidence_changed"}, value: func(i *I) any { return item(i).Carried != nil && item(i).Carried.EvidenceChanged }},
	}, more...)
}

var soaFields = commonFields(
	func(i *api.SoAItem) *api.Item { return &i.Item },
	field[api.SoAItem]{
		names: []string{"status", "implementation_status"}, allowed: implementations,
		value: func(i *api.SoAItem) any { return string(i.ImplementationStatus) },
	},
	field[api.SoAItem]{
		names: []string{"applicability"}, value: func(i *api.SoAItem) any { return string(i.Applicability) },
		allowed: listOf(api.Applicable, api.PartiallyApplicable, api.NotApplicable, api.OutOfScope, api.Undecided),
	},
	field[api.SoAItem]{
		names: []string{"coverage", "evidence_coverage"}, value: func(i *api.SoAItem) any { return string(i.EvidenceCoverage) },
		allowed: listOf(api.CoverageStrong, api.CoveragePartial, api.CoverageWeak, api.CoverageAbsent),
	},
	field[api.SoAItem]{names: []string{"coverage_ratio"}, value: func(i *api.SoAItem) any { return i.CoverageRatio }},
	field[api.SoAItem]{names: []string{"confidence"}, value: func(i *api.SoAItem) any { return i.Confidence }},
	field[api.SoAItem]{names: []string{"needs_review"}, value: func(i *api.SoAItem) any { return i.NeedsReview }},
	field[api.SoAItem]{names: []string{"disagreement"}, value: func(i *api.SoAItem) any { return i.SecondReading != nil }},
	field[api.SoAItem]{names: []string{"quotes"}, value: func(i *api.SoAItem) any { return len(i.Evidence) }},
	field[api.SoAItem]{names: []string{"documents", "rests_on_documents"}, value: func(i *api.SoAItem) any { return i.RestsOnDocuments }},
	field[api.SoAItem]{names: []string{"only_document"}, value: func(i *api.SoAItem) any { return i.OnlyDocument }},
	field[api.SoAItem]{names: []string{"owner"}, value: func(i *api.SoAItem) any { return optional(i.Owner) }},
	field[api.SoAItem]{names: []string{"note"}, value: func(i *api.SoAItem) any { return optional(i.Note) }},
	field[api.SoAItem]{names: []string{"rationale"}, value: func(i *api.SoAItem) any { return i.Rationale }},
	field[api.SoAItem]{names: []string{"reason"}, value: func(i *api.SoAItem) any { return i.Reason }},
)

var findingFields = commonFields(
	func(i *api.Finding) *api.Item { return &i.Item },
	field[api.Finding]{names: []string{"status"}, allowed: implementations, value: func(i *api.Finding) any { return string(i.Status) }},
	field[api.Finding]{names: []string{"result"}, value: func(i *api.Finding) any { return string(i.Result) }},
	field[api.Finding]{names: []string{"type", "gap_type"}, value: func(i *api.Finding) any { return i.GapType }},
	field[api.Finding]{names: []string{"severity"}, allowed: severities, value: func(i *api.Finding) any { return string(i.Severity) }},
	field[api.Finding]{names: []string{"source"}, allowed: []string{"analysis", "manual"}, value: func(i *api.Finding) any { return i.Source }},
	field[api.Finding]{names: []string{"weight"}, value: func(i *api.Finding) any { return i.Weight }},
	field[api.Finding]{names: []string{"confidence"}, value: func(i *api.Finding) any { return i.Confidence }},
	field[api.Finding]{names: []string{"owner"}, value: func(i *api.Finding) any { return optional(i.Owner) }},
	field[api.Finding]{names: []string{"due", "due_date"}, isDate: true, value: func(i *api.Finding) any { return optional(i.DueDate) }},
	field[api.Finding]{names: []string{"note"}, value: func(i *api.Finding) any { return optional(i.Note) }},
	field[api.Finding]{names: []string{"condition"}, value: func(i *api.Finding) any { return i.Condition }},
	field[api.Finding]{names: []string{"cause"}, value: func(i *api.Finding) any { return i.Cause }},
	field[api.Finding]{names: []string{"effect"}, value: func(i *api.Finding) any { return i.Effect }},
	field[api.Finding]{names: []string{"recommendation"}, value: func(i *api.Finding) any { return i.Recommendation }},
)

var scoreFields = commonFields(
	func(i *api.MaturityScore) *api.Item { return &i.Item },
	field[api.MaturityScore]{names: []string{"level"}, value: func(i *api.MaturityScore) any { return i.Level }},
	field[api.MaturityScore]{names: []string{"target", "target_level"}, value: func(i *api.MaturityScore) any { return i.TargetLevel }},
	field[api.MaturityScore]{names: []string{"below_target"}, value: func(i *api.MaturityScore) any { return i.Level < i.TargetLevel }},
	field[api.MaturityScore]{names: []string{"assessed"}, value: func(i *api.MaturityScore) any { return i.Assessed }},
	field[api.MaturityScore]{names: []string{"weight"}, value: func(i *api.MaturityScore) any { return i.Weight }},
	field[api.MaturityScore]{names: []string{"confidence"}, value: func(i *api.MaturityScore) any { return i.Confidence }},
	field[api.MaturityScore]{names: []string{"rationale"}, value: func(i *api.MaturityScore) any { return i.Rationale }},
	field[api.MaturityScore]{names: []string{"note"}, value: func(i *api.MaturityScore) any { return optional(i.Note) }},
)

var planFields = commonFields(
	func(i *api.POAMItem) *api.Item { return &i.Item },
	field[api.POAMItem]{names: []string{"poam", "poam_code"}, value: func(i *api.POAMItem) any { return i.POAMCode }},
	field[api.POAMItem]{names: []string{"status"}, allowed: api.POAMStatuses, value: func(i *api.POAMItem) any { return i.Status }},
	field[api.POAMItem]{names: []string{"severity"}, allowed: severities, value: func(i *api.POAMItem) any { return string(i.Severity) }},
	field[api.POAMItem]{names: []string{"priority"}, value: func(i *api.POAMItem) any { return i.Priority }},
	field[api.POAMItem]{
		names: []string{"effort"}, allowed: []string{"small", "medium", "large", "extra_large"},
		value: func(i *api.POAMItem) any { return i.Effort },
	},
	field[api.POAMItem]{names: []string{"type", "action_type"}, value: func(i *api.POAMItem) any { return i.ActionType }},
	field[api.POAMItem]{names: []string{"owner"}, value: func(i *api.POAMItem) any { return optional(i.Owner) }},
	field[api.POAMItem]{names: []string{"due", "due_date"}, isDate: true, value: func(i *api.POAMItem) any { return string(i.CurrentDueDate()) }},
	field[api.POAMItem]{
		names: []string{"accepted_until", "risk_accepted_until"}, isDate: true, value: func(i *api.POAMItem) any { return optional(i.RiskAcceptedUntil) },
	},
	field[api.POAMItem]{names: []string{"weakness"}, value: func(i *api.POAMItem) any { return i.Weakness }},
	field[api.POAMItem]{names: []string{"action", "corrective_action"}, value: func(i *api.POAMItem) any { return i.CorrectiveAction }},
	field[api.POAMItem]{names: []string{"vendor", "vendor_dependency"}, value: func(i *api.POAMItem) any { return optional(i.VendorDependency) }},
	field[api.POAMItem]{names: []string{"comments"}, value: func(i *api.POAMItem) any { return optional(i.Comments) }},
)
