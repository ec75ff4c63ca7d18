package render

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
)

// writeCSV writes one row an item (RFC 4180, UTF-8 without a mark). A deliverable that
// was not drafted yet has a header and no rows.
func writeCSV(w io.Writer, v *view) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	head, rows := v.csvTable()
	put := func(cells []string) error {
		for i, c := range cells {
			cells[i] = inert(c)
		}
		return out.Write(cells)
	}
	if err := put(head); err != nil {
		return err
	}
	for n := range rows.len {
		if err := put(rows.row(n)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// inert keeps a spreadsheet from taking a text for a formula: an apostrophe goes before it.
func inert(s string) string {
	if t := strings.TrimLeft(s, " "); t != "" && strings.ContainsRune("=+-@\t\r\n", rune(t[0])) {
		return "'" + s
	}
	return s
}

// csvRows are rows made when they are asked for.
type csvRows struct {
	len int
	row func(int) []string
}

// itemHead are the columns that all deliverables begin with.
var itemHead = []string{"id", "version", "version_status", "control_code", "control_title", "domain", "requirements"}

func itemCells(it *api.Item, d *api.DeliverableVersion) []string {
	c := []string{it.ID, "", "", it.ControlCode, it.ControlTitle, it.DomainCode, requirementText(it.RequirementCodes)}
	if d != nil {
		c[1], c[2] = strconv.Itoa(d.VersionNumber), string(d.Status)
	}
	return c
}

// tailHead are the columns that all end with.
var tailHead = []string{"edited_by", "edited_fields", "revision"}

func (v *view) tailCells(it *api.Item) []string {
	return []string{v.personOf(it.EditedBy), lines(it.EditedFields), strconv.Itoa(it.Revision)}
}

func columns(own ...string) []string {
	return append(append(append([]string{}, itemHead...), own...), tailHead...)
}

func (v *view) csvTable() ([]string, csvRows) {
	switch v.kind.name {
	case SoA:
		return v.soaCSV()
	case GapAnalysis:
		return v.gapCSV()
	case Maturity:
		return v.maturityCSV()
	}
	return v.poamCSV()
}

func (v *view) soaCSV() ([]string, csvRows) {
	head := columns("applicability", "inclusion_reasons", "rationale", "implementation_status", "reason", "evidence_coverage", "coverage_ratio",
		"missing_elements", "owner", "note", "confidence", "needs_review", "evidence")
	return head, csvRows{len(v.SoAItems), func(i int) []string {
		it := &v.SoAItems[i]
		c := append(itemCells(&it.Item, v.deliverable(api.GateSoA)), string(it.Applicability), lines(it.InclusionReasons), it.Rationale,
			string(it.ImplementationStatus), it.Reason, string(it.EvidenceCoverage), decimal(it.CoverageRatio), lines(it.MissingElements),
			text(it.Owner), text(it.Note), decimal(it.Confidence), strconv.FormatBool(it.NeedsReview), evidenceLines(it.Evidence))
		return append(c, v.tailCells(&it.Item)...)
	}}
}

func (v *view) gapCSV() ([]string, csvRows) {
	head := columns("in_catalog", "severity", "severity_reason", "weight", "status", "result", "gap_type", "condition", "criteria", "cause", "effect",
		"recommendation", "missing_elements", "owner", "due_date", "note", "source", "confidence", "evidence")
	return head, csvRows{len(v.Findings), func(i int) []string {
		f := &v.Findings[i]
		c := append(itemCells(&f.Item, v.deliverable(api.GateGapAnalysis)), strconv.FormatBool(f.InCatalog), string(f.Severity), f.SeverityReason,
			strconv.Itoa(f.Weight), string(f.Status), string(f.Result), f.GapType, f.Condition, f.Criteria, f.Cause, f.Effect, f.Recommendation,
			lines(f.MissingElements), text(f.Owner), date(f.DueDate), text(f.Note), f.Source, decimal(f.Confidence), evidenceLines(f.Evidence))
		return append(c, v.tailCells(&f.Item)...)
	}}
}

func (v *view) maturityCSV() ([]string, csvRows) {
	head := columns("assessed", "level", "level_name", "target_level", "previous_level", "weight", "criteria", "next_criteria", "rationale", "note", "confidence", "evidence")
	return head, csvRows{len(v.Scores), func(i int) []string {
		s := &v.Scores[i]
		lvl, name, previous := "", "", ""
		if s.Assessed {
			lvl = strconv.Itoa(s.Level)
			if s.Level >= 0 && s.Level <= topLevel {
				name = api.LevelNames[s.Level]
			}
		}
		if s.PreviousLevel != nil {
			previous = strconv.Itoa(*s.PreviousLevel)
		}
		c := append(itemCells(&s.Item, v.deliverable(api.GateMaturity)), strconv.FormatBool(s.Assessed), lvl, name, strconv.Itoa(s.TargetLevel), previous,
			strconv.Itoa(s.Weight), s.Criteria, s.NextCriteria, s.Rationale, text(s.Note), decimal(s.Confidence), evidenceLines(s.Evidence))
		return append(c, v.tailCells(&s.Item)...)
	}}
}

func (v *view) poamCSV() ([]string, csvRows) {
	head := columns("poam_code", "finding_id", "weakness", "corrective_action", "action_type", "priority", "severity", "effort", "owner", "owner_role",
		"resources", "due_date", "overdue", "milestones", "dependencies", "acceptance_criteria", "expected_evidence", "target_level", "status",
		"risk_accepted_until", "vendor_dependency", "comments")
	return head, csvRows{len(v.POAMItems), func(i int) []string {
		it := &v.POAMItems[i]
		c := append(itemCells(&it.Item, v.deliverable(api.GatePOAM)), it.POAMCode, it.FindingID, it.Weakness, it.CorrectiveAction, it.ActionType,
			strconv.Itoa(it.Priority), string(it.Severity), it.Effort, text(it.Owner), it.OwnerRole, text(it.Resources), string(it.Due()),
			strconv.FormatBool(v.overdue(it)), milestoneLines(it.Milestones), lines(it.Dependencies), lines(it.AcceptanceCriteria),
			lines(it.ExpectedEvidence), strconv.Itoa(it.TargetLevel), it.Status, date(it.RiskAcceptedUntil), text(it.VendorDependency), text(it.Comments))
		return append(c, v.tailCells(&it.Item)...)
	}}
}

func lines(s []string) string { return strings.Join(s, "\n") }

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// evidenceLines is one passage after the other, each under its place.
func evidenceLines(all []api.Evidence) string {
	var b strings.Builder
	for i, e := range all {
		if i > 0 {
			b.WriteString("\n\n")
		}
		where := []string{or(e.Filename, e.DocumentTitle)}
		for _, s := range []string{place(e.Locator), strings.Join(e.HeadingPath, " › "), e.SHA256, e.Stance} {
			if s != "" {
				where = append(where, s)
			}
		}
		fmt.Fprintf(&b, "[%s]\n%s", strings.Join(where, "; "), e.Quote)
	}
	return b.String()
}

func milestoneLines(all []api.Milestone) string {
	out := make([]string, len(all))
	for i, m := range all {
		out[i] = fmt.Sprintf("%s (%s): %s", m.DueDate, words(m.Status), m.Title)
		if m.CompletedAt != nil {
			out[i] += fmt.Sprintf("; completed on %s", *m.CompletedAt)
		}
		for _, c := range m.Changes {
			out[i] += fmt.Sprintf("; moved to %s on %s: %s", c.DueDate, c.At, c.Reason)
		}
	}
	return lines(out)
}
