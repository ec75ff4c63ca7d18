package render

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// maxTopFindings is the number of findings in the summary; the gap analysis contains all.
const maxTopFindings = 10

func (v *reportData) summarySection() []block {
	var out []block
	for _, p := range v.executiveParagraphs() {
		out = append(out, para{Text: userCell(p), Class: "lead"})
	}
	out = append(out, v.keyFigureTiles())
	if v.Gap != nil && len(v.Findings) > 0 {
		out = append(
			out,
			heading{ID: v.anchors.assign("summary", "findings"), Text: "Findings"},
			v.severityTable(),
			v.topFindingsTable(),
			v.domainSeverityTable(),
			v.heatMapPicture(),
		)
	}
	if v.MaturitySummary != nil && len(v.MaturitySummary.Domains) > 0 {
		out = append(out, heading{ID: v.anchors.assign("summary", "maturity"), Text: "Maturity by domain"})
		out = append(out, v.maturityBlocks()...)
	}
	if v.POAM != nil && len(v.POAMItems) > 0 {
		out = append(out, heading{ID: v.anchors.assign("summary", "plan"), Text: "Upcoming due dates"}, v.nextDueTable())
		out = append(out, v.quadrantBlocks()...)
	}
	return out
}

func (v *reportData) keyFigureTiles() facts {
	f := facts{Tiles: true}
	all, _ := countStatuses(v.SoAItems)
	if v.SoA != nil {
		in := 0
		for i := range v.SoAItems {
			if v.SoAItems[i].Applicability.IsApplicable() {
				in++
			}
		}
		f.add("Controls in the SoA", numberCell(len(v.SoAItems)))
		f.add("Applicable", numberCell(in))
		f.add("Implemented", numberCell(all[statusImplemented]))
		f.add("Not evidenced", numberCell(all[statusNotEvidenced]))
	} else {
		f.add("Controls in the catalog", numberCell(v.Catalog.Counts.Controls))
	}
	if v.Summary.CompliancePct != nil {
		f.add("Compliance", plainCell(fmt.Sprintf("%.1f%%", *v.Summary.CompliancePct)))
	}
	if v.Gap != nil {
		grave := 0
		for i := range v.Findings {
			if s := v.Findings[i].Severity; s == api.SeverityCritical || s == api.SeverityHigh {
				grave++
			}
		}
		f.add("Findings", numberCell(len(v.Findings)))
		f.add("Critical or high", numberCell(grave))
	}
	if m := v.MaturitySummary; m != nil && m.Overall.Mean != nil {
		f.add("Maturity (of 5)", plainCell(fmt.Sprintf("%.1f", *m.Overall.Mean)))
	}
	if v.POAM != nil {
		open := 0
		for i := range v.POAMItems {
			if v.POAMItems[i].IsOpen() {
				open++
			}
		}
		f.add("Open plan items", numberCell(open))
	}
	return f
}

func (v *reportData) severityTable() table {
	by := map[api.Severity]int{}
	most := 1
	for i := range v.Findings {
		by[v.Findings[i].Severity]++
		most = max(most, by[v.Findings[i].Severity])
	}
	t := table{Caption: "Findings by severity", Columns: []column{
		{
			Name:  "Severity",
			Width: 4,
		}, {Name: "Findings", Width: 3, Number: true}, {Name: "Share", Width: 2, Number: true}, {Name: "Picture", Width: 6, Picture: true},
	}}
	for _, s := range api.Severities {
		t.Rows = append(t.Rows, row{Cells: []cell{
			badgeCell(string(s), displayLabel(string(s))), numberCell(by[s]), plainCell(formatPercent(by[s], len(v.Findings))),
			{
				{
					Bar: &bar{
						Label: fmt.Sprintf("%s: %d", displayLabel(string(s)), by[s]),
						Parts: []barPart{{string(s), float64(by[s])}},
						Max:   float64(most),
						Mark:  -1,
					},
				},
			},
		}})
	}
	return t
}

func (v *reportData) topFindingsTable() table {
	t := table{Caption: "Most serious findings", Columns: []column{
		{
			Name:  "Severity",
			Width: 4,
		}, {Name: "Control", Width: 6}, {Name: "Condition", Width: 8}, {Name: "Effect", Width: 8}, {Name: "Recommendation", Width: 8},
	}}
	for i := range v.Findings[:min(maxTopFindings, len(v.Findings))] {
		f := &v.Findings[i]
		t.Rows = append(t.Rows, row{Cells: []cell{
			badgeCell(
				string(f.Severity),
				displayLabel(string(f.Severity)),
			),
			v.controlCell(v.findingLink(i), f.ControlTitle),
			proseCell(firstSentence(f.Condition)),
			proseCell(firstSentence(f.Effect)),
			proseCell(firstSentence(f.Recommendation)),
		}})
	}
	return t
}

var sentenceEnd = lazyregexp.New(`(?:[^\s.]{3,}|\b(?:it|is|so|in|on|up|to|do|be|of|at|us|by))[.!?]["”’)]*\s+[\p{Lu}\p{Lo}\p{N}“"(]|[。！？]`)

// firstSentence returns a text's first sentence, followed by "…" if there is more. It is used where
// the full text appears elsewhere.
func firstSentence(s string) string {
	s = strings.TrimSpace(sanitize(s))
	line, _, _ := strings.Cut(s, "\n")
	if at := sentenceEnd.FindStringIndex(line); at != nil {
		end := at[1]
		if r, size := utf8.DecodeLastRuneInString(line[:end]); !strings.ContainsRune("。！？", r) {
			end -= size
		}
		line = line[:end]
	}
	if line = strings.TrimSpace(line); len(line) < len(s) {
		return line + " …"
	}
	return line
}

// controlCell returns a control's code and title, linked if the report contains its item.
func (v *reportData) controlCell(code span, title string) cell {
	code.Strong = code.Ref == ""
	c := cell{code}
	if title != "" {
		c = append(c, span{Text: " "}, span{Text: title, UserText: true})
	}
	return c
}

// findingLink returns a link to the finding with index i, labeled with its control's code.
func (v *reportData) findingLink(i int) span {
	s := span{Text: orDefault(v.Findings[i].ControlCode, "No control")}
	if i < len(v.ids.findings) {
		s.Ref = v.ids.findings[i]
	}
	return s
}

func (v *reportData) nextDueTable() table {
	t := table{Caption: "Open items of the plan, the next ten by due date", Columns: []column{
		{
			Name:  "Due",
			Width: 4,
		}, {Name: "Item", Width: 3}, {Name: "Severity", Width: 4}, {Name: "Corrective action (summary)", Width: 13}, {Name: "Owner", Width: 4},
	}, Empty: "The plan has no open items."}
	for _, it := range v.byDueDate() {
		if len(t.Rows) == maxTopFindings {
			break
		}
		due := noBreakCell(orDefault(string(it.CurrentDueDate()), "no date"))
		if v.isOverdue(it) {
			due = due.with(span{Text: " "}, span{Text: "Overdue", Badge: "critical"})
		}
		t.Rows = append(t.Rows, row{Cells: []cell{
			due,
			{v.anchors.link("plan", it.POAMCode)},
			badgeCell(string(it.Severity), displayLabel(string(it.Severity))),
			proseCell(firstSentence(it.CorrectiveAction)),
			userCell(ownerName(it)),
		}})
	}
	return t
}
