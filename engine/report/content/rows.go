package content

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/wording"
)

// makeRows returns an iterator over the rows for items.
func makeRows[T any](items []T, row func(*T) []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for i := range items {
			if !yield(row(&items[i])) {
				return
			}
		}
	}
}

// leadingColumns lists the first columns of the rows of every deliverable.
var leadingColumns = []string{"id", "version", "version_status", "control_code", "control_title", "domain", "requirements"}

func leadingCells(it *api.Item, d *api.DeliverableVersion) []string {
	c := []string{it.ID, "", "", it.ControlCode, it.ControlTitle, it.DomainCode, wording.FormatRequirements(it.RequirementCodes)}
	if d != nil {
		c[1], c[2] = strconv.Itoa(d.VersionNumber), string(d.Status)
	}
	return c
}

// trailingColumns lists the last columns of the rows of every deliverable.
var trailingColumns = []string{"edited_by", "edited_fields", "revision"}

func (v *Report) trailingCells(it *api.Item) []string {
	return []string{v.optionalPersonName(it.EditedBy), joinLines(it.EditedFields), strconv.Itoa(it.Revision)}
}

func csvColumns(specific ...string) []string {
	return append(append(append([]string{}, leadingColumns...), specific...), trailingColumns...)
}

// CSVRows returns the column names and a row for each item of the deliverable that the template lists. It is
// only for templates that list the items of a single deliverable. If the deliverable has not been drafted,
// there are no rows.
func (v *Report) CSVRows() (header []string, items iter.Seq[[]string]) {
	switch v.Template.Name {
	case TemplateSoA:
		return v.soaRows()
	case TemplateGapAnalysis:
		return v.gapRows()
	case TemplateMaturity:
		return v.maturityRows()
	}
	return v.poamRows()
}

func (v *Report) soaRows() (header []string, rows iter.Seq[[]string]) {
	head := csvColumns(
		"applicability",
		"inclusion_reasons",
		"rationale",
		"implementation_status",
		"reason",
		"evidence_coverage",
		"coverage_ratio",
		"missing_elements",
		"owner",
		"note",
		"confidence",
		"needs_review",
		"evidence",
		"rests_on_documents",
		"only_document",
		"changed_by_document",
	)
	return head, makeRows(v.SoAItems, func(it *api.SoAItem) []string {
		c := append(
			leadingCells(&it.Item, v.Deliverable(api.GateSoA)),
			string(it.Applicability),
			joinLines(it.InclusionReasons),
			it.Rationale,
			string(
				it.ImplementationStatus,
			),
			it.Reason,
			string(it.EvidenceCoverage),
			formatDecimal(it.CoverageRatio),
			joinLines(it.MissingElements),
			wording.OrEmpty(
				it.Owner,
			),
			wording.OrEmpty(it.Note),
			formatDecimal(it.Confidence),
			strconv.FormatBool(it.NeedsReview),
			formatEvidence(it.Evidence, passageHash),
			strconv.Itoa(it.RestsOnDocuments),
			it.OnlyDocument,
			it.ChangedByDocument,
		)
		return append(c, v.trailingCells(&it.Item)...)
	})
}

func (v *Report) gapRows() (header []string, rows iter.Seq[[]string]) {
	head := csvColumns(
		"in_catalog",
		"severity",
		"severity_reason",
		"weight",
		"status",
		"result",
		"gap_type",
		"condition",
		"criteria",
		"cause",
		"effect",
		"recommendation",
		"missing_elements",
		"owner",
		"due_date",
		"note",
		"source",
		"confidence",
		"evidence",
	)
	return head, makeRows(v.Findings, func(f *api.Finding) []string {
		c := append(
			leadingCells(&f.Item, v.Deliverable(api.GateGapAnalysis)),
			strconv.FormatBool(f.InCatalog),
			string(f.Severity),
			f.SeverityReason,
			strconv.Itoa(
				f.Weight,
			),
			string(f.Status),
			string(f.Result),
			f.GapType,
			f.Condition,
			f.Criteria,
			f.Cause,
			f.Effect,
			f.Recommendation,
			joinLines(
				f.MissingElements,
			),
			wording.OrEmpty(f.Owner),
			wording.OrEmpty(f.DueDate),
			wording.OrEmpty(f.Note),
			f.Source,
			formatDecimal(f.Confidence),
			formatEvidence(f.Evidence, passageHash),
		)
		return append(c, v.trailingCells(&f.Item)...)
	})
}

func (v *Report) maturityRows() (header []string, rows iter.Seq[[]string]) {
	head := csvColumns(
		"assessed",
		"level",
		"level_name",
		"target_level",
		"previous_level",
		"weight",
		"criteria",
		"next_criteria",
		"rationale",
		"note",
		"confidence",
		"evidence",
	)
	return head, makeRows(v.Scores, func(s *api.MaturityScore) []string {
		lvl, name, previous := "", "", ""
		if s.Assessed {
			lvl = strconv.Itoa(s.Level)
			if s.Level >= 0 && s.Level <= maxLevel {
				name = api.LevelNames[s.Level]
			}
		}
		if s.PreviousLevel != nil {
			previous = strconv.Itoa(*s.PreviousLevel)
		}
		c := append(
			leadingCells(&s.Item, v.Deliverable(api.GateMaturity)),
			strconv.FormatBool(s.Assessed),
			lvl,
			name,
			strconv.Itoa(s.TargetLevel),
			previous,
			strconv.Itoa(
				s.Weight,
			),
			s.Criteria,
			s.NextCriteria,
			s.Rationale,
			wording.OrEmpty(s.Note),
			formatDecimal(s.Confidence),
			formatEvidence(s.Evidence, passageHash),
		)
		return append(c, v.trailingCells(&s.Item)...)
	})
}

func (v *Report) poamRows() (header []string, rows iter.Seq[[]string]) {
	head := csvColumns(
		"poam_code",
		"finding_id",
		"weakness",
		"corrective_action",
		"action_type",
		"priority",
		"severity",
		"effort",
		"owner",
		"owner_role",
		"resources",
		"due_date",
		"overdue",
		"milestones",
		"dependencies",
		"acceptance_criteria",
		"expected_evidence",
		"target_level",
		"status",
		"risk_accepted_until",
		"vendor_dependency",
		"comments",
	)
	return head, makeRows(v.POAMItems, func(it *api.POAMItem) []string {
		c := append(
			leadingCells(&it.Item, v.Deliverable(api.GatePOAM)),
			it.POAMCode,
			it.FindingID,
			it.Weakness,
			it.CorrectiveAction,
			it.ActionType,
			strconv.Itoa(
				it.Priority,
			),
			string(it.Severity),
			it.Effort,
			wording.OrEmpty(it.Owner),
			it.OwnerRole,
			wording.OrEmpty(it.Resources),
			string(it.CurrentDueDate()),
			strconv.FormatBool(
				v.isOverdue(it),
			),
			formatMilestones(it.Milestones),
			joinLines(it.Dependencies),
			joinLines(it.AcceptanceCriteria),
			joinLines(
				it.ExpectedEvidence,
			),
			strconv.Itoa(it.TargetLevel),
			it.Status,
			wording.OrEmpty(it.RiskAcceptedUntil),
			wording.OrEmpty(it.VendorDependency),
			wording.OrEmpty(it.Comments),
		)
		return append(c, v.trailingCells(&it.Item)...)
	})
}

func joinLines(s []string) string { return strings.Join(s, "\n") }

func formatDecimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// formatEvidence returns the text of all passages, each preceded by a line with its location and its reference: its
// hash, or its number in a table of passages.
func formatEvidence(all []api.Evidence, reference func(*api.Evidence) string) string {
	var b strings.Builder
	for i, e := range all {
		if i > 0 {
			b.WriteString("\n\n")
		}
		where := []string{wording.OrDefault(e.Filename, e.DocumentTitle)}
		for _, s := range []string{wording.FormatLocator(e.Locator), strings.Join(e.HeadingPath, " › "), reference(&all[i]), e.Stance} {
			if s != "" {
				where = append(where, s)
			}
		}
		fmt.Fprintf(&b, "[%s]\n%s", strings.Join(where, "; "), e.Quote)
	}
	return b.String()
}

func passageHash(e *api.Evidence) string { return e.SHA256 }

func formatMilestones(all []api.Milestone) string {
	out := make([]string, len(all))
	for i, m := range all {
		out[i] = fmt.Sprintf("%s (%s): %s", m.DueDate, wording.Humanize(m.Status), m.Title)
		if m.CompletedAt != nil {
			out[i] += fmt.Sprintf("; completed on %s", *m.CompletedAt)
		}
		for _, c := range m.Changes {
			out[i] += fmt.Sprintf("; moved to %s on %s: %s", c.DueDate, c.At, c.Reason)
		}
	}
	return joinLines(out)
}
