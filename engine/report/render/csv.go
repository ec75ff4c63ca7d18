package render

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
)

// writeCSV writes one row per item (RFC 4180, UTF-8 without a BOM). A deliverable that has not been
// drafted has a header and no rows.
func writeCSV(w io.Writer, v *reportData) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	head, rows := v.csvTable()
	put := func(cells []string) error {
		for i, c := range cells {
			cells[i] = escapeFormula(c)
		}
		return out.Write(cells)
	}
	if err := put(head); err != nil {
		return err
	}
	for n := range rows.count {
		if err := put(rows.makeRow(n)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// escapeFormula prefixes text that a spreadsheet would interpret as a formula with an apostrophe.
func escapeFormula(s string) string {
	if t := strings.TrimLeft(s, " "); t != "" && strings.ContainsRune("=+-@\t\r\n", rune(t[0])) {
		return "'" + s
	}
	return s
}

// csvRows generates rows on demand.
type csvRows struct {
	count   int
	makeRow func(int) []string
}

// leadingColumns are the first columns of every deliverable.
var leadingColumns = []string{"id", "version", "version_status", "control_code", "control_title", "domain", "requirements"}

func leadingCells(it *api.Item, d *api.DeliverableVersion) []string {
	c := []string{it.ID, "", "", it.ControlCode, it.ControlTitle, it.DomainCode, formatRequirements(it.RequirementCodes)}
	if d != nil {
		c[1], c[2] = strconv.Itoa(d.VersionNumber), string(d.Status)
	}
	return c
}

// trailingColumns are the last columns of every deliverable.
var trailingColumns = []string{"edited_by", "edited_fields", "revision"}

func (v *reportData) trailingCells(it *api.Item) []string {
	return []string{v.optionalPersonName(it.EditedBy), joinLines(it.EditedFields), strconv.Itoa(it.Revision)}
}

func csvColumns(specific ...string) []string {
	return append(append(append([]string{}, leadingColumns...), specific...), trailingColumns...)
}

func (v *reportData) csvTable() ([]string, csvRows) {
	switch v.template.name {
	case TemplateSoA:
		return v.soaRows()
	case TemplateGapAnalysis:
		return v.gapRows()
	case TemplateMaturity:
		return v.maturityRows()
	}
	return v.poamRows()
}

func (v *reportData) soaRows() ([]string, csvRows) {
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
	)
	return head, csvRows{len(v.SoAItems), func(i int) []string {
		it := &v.SoAItems[i]
		c := append(
			leadingCells(&it.Item, v.deliverable(api.GateSoA)),
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
			stringOrEmpty(
				it.Owner,
			),
			stringOrEmpty(it.Note),
			formatDecimal(it.Confidence),
			strconv.FormatBool(it.NeedsReview),
			formatEvidence(it.Evidence),
		)
		return append(c, v.trailingCells(&it.Item)...)
	}}
}

func (v *reportData) gapRows() ([]string, csvRows) {
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
	return head, csvRows{len(v.Findings), func(i int) []string {
		f := &v.Findings[i]
		c := append(
			leadingCells(&f.Item, v.deliverable(api.GateGapAnalysis)),
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
			stringOrEmpty(f.Owner),
			dateOrEmpty(f.DueDate),
			stringOrEmpty(f.Note),
			f.Source,
			formatDecimal(f.Confidence),
			formatEvidence(f.Evidence),
		)
		return append(c, v.trailingCells(&f.Item)...)
	}}
}

func (v *reportData) maturityRows() ([]string, csvRows) {
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
	return head, csvRows{len(v.Scores), func(i int) []string {
		s := &v.Scores[i]
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
			leadingCells(&s.Item, v.deliverable(api.GateMaturity)),
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
			stringOrEmpty(s.Note),
			formatDecimal(s.Confidence),
			formatEvidence(s.Evidence),
		)
		return append(c, v.trailingCells(&s.Item)...)
	}}
}

func (v *reportData) poamRows() ([]string, csvRows) {
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
	return head, csvRows{len(v.POAMItems), func(i int) []string {
		it := &v.POAMItems[i]
		c := append(
			leadingCells(&it.Item, v.deliverable(api.GatePOAM)),
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
			stringOrEmpty(it.Owner),
			it.OwnerRole,
			stringOrEmpty(it.Resources),
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
			dateOrEmpty(it.RiskAcceptedUntil),
			stringOrEmpty(it.VendorDependency),
			stringOrEmpty(it.Comments),
		)
		return append(c, v.trailingCells(&it.Item)...)
	}}
}

func joinLines(s []string) string { return strings.Join(s, "\n") }

func formatDecimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// formatEvidence returns the passages one after the other, each below its location.
func formatEvidence(all []api.Evidence) string {
	var b strings.Builder
	for i, e := range all {
		if i > 0 {
			b.WriteString("\n\n")
		}
		where := []string{orDefault(e.Filename, e.DocumentTitle)}
		for _, s := range []string{formatLocator(e.Locator), strings.Join(e.HeadingPath, " › "), e.SHA256, e.Stance} {
			if s != "" {
				where = append(where, s)
			}
		}
		fmt.Fprintf(&b, "[%s]\n%s", strings.Join(where, "; "), e.Quote)
	}
	return b.String()
}

func formatMilestones(all []api.Milestone) string {
	out := make([]string, len(all))
	for i, m := range all {
		out[i] = fmt.Sprintf("%s (%s): %s", m.DueDate, humanize(m.Status), m.Title)
		if m.CompletedAt != nil {
			out[i] += fmt.Sprintf("; completed on %s", *m.CompletedAt)
		}
		for _, c := range m.Changes {
			out[i] += fmt.Sprintf("; moved to %s on %s: %s", c.DueDate, c.At, c.Reason)
		}
	}
	return joinLines(out)
}
