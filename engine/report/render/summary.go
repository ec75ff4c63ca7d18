package render

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// topFindings are shown in the summary; all stand in the gap analysis.
const topFindings = 10

func (v *view) summarySection() []block {
	var out []block
	for _, p := range v.executive() {
		out = append(out, para{Text: free(p), Class: "lead"})
	}
	out = append(out, v.keyFigures())
	if v.Gap != nil && len(v.Findings) > 0 {
		out = append(out, heading{ID: v.anchors.add("summary", "findings"), Text: "Findings"}, v.severityTable(), v.topFindings(), v.domainSeverityTable(), v.heatMap())
	}
	if v.MaturitySummary != nil && len(v.MaturitySummary.Domains) > 0 {
		out = append(out, heading{ID: v.anchors.add("summary", "maturity"), Text: "Maturity by domain"})
		out = append(out, v.maturityPictures()...)
	}
	if v.POAM != nil && len(v.POAMItems) > 0 {
		out = append(out, heading{ID: v.anchors.add("summary", "plan"), Text: "What is due next"}, v.nextDue())
		out = append(out, v.quadrantBlocks()...)
	}
	return out
}

func (v *view) keyFigures() facts {
	f := facts{Tiles: true}
	all, _ := tally(v.SoAItems)
	if v.SoA != nil {
		in := 0
		for i := range v.SoAItems {
			if v.SoAItems[i].Applicability.In() {
				in++
			}
		}
		f.add("Controls in the SoA", number(len(v.SoAItems)))
		f.add("Applicable", number(in))
		f.add("Implemented", number(all[outImplemented]))
		f.add("Not evidenced", number(all[outNotEvid]))
	} else {
		f.add("Controls in the catalog", number(v.Catalog.Counts.Controls))
	}
	if v.Summary.CompliancePct != nil {
		f.add("Compliance", plain(fmt.Sprintf("%.1f%%", *v.Summary.CompliancePct)))
	}
	if v.Gap != nil {
		grave := 0
		for i := range v.Findings {
			if s := v.Findings[i].Severity; s == api.SeverityCritical || s == api.SeverityHigh {
				grave++
			}
		}
		f.add("Findings", number(len(v.Findings)))
		f.add("Critical or high", number(grave))
	}
	if m := v.MaturitySummary; m != nil && m.Overall.Mean != nil {
		f.add("Maturity of 5", plain(fmt.Sprintf("%.1f", *m.Overall.Mean)))
	}
	if v.POAM != nil {
		open := 0
		for i := range v.POAMItems {
			if v.POAMItems[i].Open() {
				open++
			}
		}
		f.add("Open plan items", number(open))
	}
	return f
}

func (v *view) severityTable() table {
	by := map[api.Severity]int{}
	most := 1
	for i := range v.Findings {
		by[v.Findings[i].Severity]++
		most = max(most, by[v.Findings[i].Severity])
	}
	t := table{Caption: "Findings by severity", Columns: []column{
		{Name: "Severity", Width: 4}, {Name: "Findings", Width: 3, Number: true}, {Name: "Share", Width: 2, Number: true}, {Name: "Picture", Width: 6, Picture: true},
	}}
	for _, s := range api.Severities {
		t.Rows = append(t.Rows, row{Cells: []cell{
			badge(string(s), label(string(s))), number(by[s]), plain(percent(by[s], len(v.Findings))),
			{{Bar: &bar{Label: fmt.Sprintf("%s: %d", label(string(s)), by[s]), Parts: []barPart{{string(s), float64(by[s])}}, Max: float64(most), Mark: -1}}},
		}})
	}
	return t
}

func (v *view) topFindings() table {
	t := table{Caption: "The findings that weigh most, in short", Columns: []column{
		{Name: "Severity", Width: 4}, {Name: "Control", Width: 6}, {Name: "Condition", Width: 8}, {Name: "Effect", Width: 8}, {Name: "Recommendation", Width: 8},
	}}
	for i := range v.Findings[:min(topFindings, len(v.Findings))] {
		f := &v.Findings[i]
		t.Rows = append(t.Rows, row{Cells: []cell{
			badge(string(f.Severity), label(string(f.Severity))), v.controlCell(v.findingRef(i), f.ControlTitle), prose(opening(f.Condition)), prose(opening(f.Effect)), prose(opening(f.Recommendation)),
		}})
	}
	return t
}

var sentenceEnd = lazyregexp.Of(`(?:[^\s.]{3,}|\b(?:it|is|so|in|on|up|to|do|be|of|at|us|by))[.!?]["”’)]*\s+[\p{Lu}\p{Lo}\p{N}“"(]|[。！？]`)

// opening is a text's first sentence, for where all of it stands elsewhere; … says that it goes on.
func opening(s string) string {
	s = strings.TrimSpace(clean(s))
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

// controlCell is a control's code, linked where its item is in the report, and its title.
func (v *view) controlCell(code span, title string) cell {
	code.Strong = code.Ref == ""
	c := cell{code}
	if title != "" {
		c = append(c, span{Text: " "}, span{Text: title, Free: true})
	}
	return c
}

// findingRef links a finding, by its index, under its control's code.
func (v *view) findingRef(i int) span {
	s := span{Text: or(v.Findings[i].ControlCode, "No control")}
	if i < len(v.ids.findings) {
		s.Ref = v.ids.findings[i]
	}
	return s
}

func (v *view) nextDue() table {
	t := table{Caption: "Open items of the plan, the next ten by due date", Columns: []column{
		{Name: "Due", Width: 4}, {Name: "Item", Width: 3}, {Name: "Severity", Width: 4}, {Name: "Corrective action, in short", Width: 13}, {Name: "Owner", Width: 4},
	}, Empty: "Nothing in the plan is open."}
	for _, it := range v.byDueDate() {
		if len(t.Rows) == topFindings {
			break
		}
		due := keep(or(string(it.Due()), "no date"))
		if v.overdue(it) {
			due = due.and(span{Text: " "}, span{Text: "Overdue", Badge: "critical"})
		}
		t.Rows = append(t.Rows, row{Cells: []cell{
			due, {v.anchors.ref("plan", it.POAMCode)}, badge(string(it.Severity), label(string(it.Severity))), prose(opening(it.CorrectiveAction)), free(ownerOf(it)),
		}})
	}
	return t
}
