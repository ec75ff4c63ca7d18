package content

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
)

// maxTopFindings is the maximum number of findings in the summary. The gap analysis section contains all of
// them.
const maxTopFindings = 10

func (v *Report) summarySection() []block.Block {
	var out []block.Block
	for _, p := range v.executiveParagraphs() {
		out = append(out, block.Para{Text: block.UserText(p), Class: "lead"})
	}
	out = append(out, v.keyFigureTiles())
	if v.Gap != nil && len(v.Findings) > 0 {
		out = append(
			out,
			block.Heading{ID: v.anchors.assign("summary", "findings"), Text: "Findings"},
			v.severityTable(),
			v.topFindingsTable(),
			v.domainSeverityTable(),
			v.heatMapPicture(),
		)
	}
	if v.MaturitySummary != nil && len(v.MaturitySummary.Domains) > 0 {
		out = append(out, block.Heading{ID: v.anchors.assign("summary", "maturity"), Text: "Maturity by domain"})
		out = append(out, v.domainMaturityBlocks()...)
	}
	if v.POAM != nil && len(v.POAMItems) > 0 {
		out = append(out, block.Heading{ID: v.anchors.assign("summary", "plan"), Text: "Upcoming due dates"}, v.nextDueTable())
		out = append(out, v.impactEffortBlocks()...)
	}
	return out
}

func (v *Report) keyFigureTiles() block.Facts {
	f := block.Facts{Tiles: true}
	all, _ := countControlStatuses(v.SoAItems)
	if v.SoA != nil {
		f.Add("Controls in the SoA", block.Number(len(v.SoAItems)))
		f.Add("Applicable", block.Number(countApplicable(v.SoAItems)))
		f.Add("Implemented", block.Number(all[statusImplemented]))
		f.Add("Not evidenced", block.Number(all[statusNotEvidenced]))
	} else {
		f.Add("Controls in the catalog", block.Number(v.Catalog.Counts.Controls))
	}
	if v.Summary.CompliancePct != nil {
		f.Add("Compliance", block.Text(prose.Decimal(*v.Summary.CompliancePct)+"%"))
	}
	if v.Gap != nil {
		f.Add("Findings", block.Number(len(v.Findings)))
		f.Add("Critical or high", block.Number(countGrave(v.Findings)))
	}
	if m := v.MaturitySummary; m != nil && m.Overall.Mean != nil {
		f.Add("Maturity (of 5)", block.Text(prose.Decimal(*m.Overall.Mean)))
	}
	if v.POAM != nil {
		f.Add("Open plan items", block.Number(v.countOpenActions()))
	}
	return f
}

func (v *Report) severityTable() block.Table {
	by := map[api.Severity]int{}
	most := 1
	for i := range v.Findings {
		by[v.Findings[i].Severity]++
		most = max(most, by[v.Findings[i].Severity])
	}
	t := block.Table{Caption: "Findings by severity", Columns: []block.Column{
		{
			Name:  "Severity",
			Width: 4,
		}, {Name: "Findings", Width: 3, Number: true}, {Name: "Share", Width: 2, Number: true}, {Name: "Chart", Width: 6, Picture: true},
	}}
	for _, s := range api.Severities {
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			block.Badge(string(s), wording.Label(string(s))), block.Number(by[s]), block.Text(wording.FormatPercent(by[s], len(v.Findings))),
			{
				{
					Bar: &block.Bar{
						Label: fmt.Sprintf("%s: %d", wording.Label(string(s)), by[s]),
						Parts: []block.BarPart{{Fill: string(s), Value: float64(by[s])}},
						Max:   float64(most),
						Mark:  -1,
					},
				},
			},
		}})
	}
	return t
}

func (v *Report) topFindingsTable() block.Table {
	t := block.Table{Caption: "Most serious findings", Columns: []block.Column{
		{
			Name:  "Severity",
			Width: 4,
		}, {Name: "Control", Width: 6}, {Name: "Condition", Width: 8}, {Name: "Effect", Width: 8}, {Name: "Recommendation", Width: 8},
	}}
	for i := range v.Findings[:min(maxTopFindings, len(v.Findings))] {
		f := &v.Findings[i]
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			block.Badge(
				string(f.Severity),
				wording.Label(string(f.Severity)),
			),
			v.controlCell(v.findingLink(i), f.ControlTitle),
			block.Prose(FirstSentence(f.Condition)),
			block.Prose(FirstSentence(f.Effect)),
			block.Prose(FirstSentence(f.Recommendation)),
		}})
	}
	return t
}

var sentenceEnd = lazyregexp.New(`(?:[^\s.]{3,}|\b(?:it|is|so|in|on|up|to|do|be|of|at|us|by))[.!?]["”’)]*\s+[\p{Lu}\p{Lo}\p{N}“"(]|[。！？]`)

// FirstSentence returns the first sentence of a text, followed by "…" if there is more. It is used where the
// report has the full text elsewhere.
func FirstSentence(s string) string {
	s = strings.TrimSpace(wording.ReplaceControlCharacters(s))
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

// controlCell returns a cell with a control's code and title, linked to the control's item if the report
// contains it.
func (v *Report) controlCell(code block.Span, title string) block.Cell {
	code.Strong = code.Ref == ""
	c := block.Cell{code}
	if title != "" {
		c = append(c, block.Span{Text: " "}, block.Span{Text: title, UserText: true})
	}
	return c
}

// findingLink returns a link to the finding with index i. The text of the link is the code of the finding's
// control.
func (v *Report) findingLink(i int) block.Span {
	s := block.Span{Text: wording.OrDefault(v.Findings[i].ControlCode, "No control")}
	if i < len(v.ids.findings) {
		s.Ref = v.ids.findings[i]
	}
	return s
}

func (v *Report) nextDueTable() block.Table {
	t := block.Table{Caption: "Next ten open plan items by due date", Columns: []block.Column{
		{
			Name:  "Due",
			Width: 4,
		}, {Name: "Item", Width: 3}, {Name: "Severity", Width: 4}, {Name: "Action", Width: 12}, {Name: "Owner", Width: 7},
	}, Empty: "The plan has no open items."}
	for _, it := range v.openItemsByDueDate() {
		if len(t.Rows) == maxTopFindings {
			break
		}
		due := block.NoBreak(wording.OrDefault(string(it.CurrentDueDate()), "no date"))
		if v.isOverdue(it) {
			due = due.With(block.Span{Text: " "}, block.Span{Text: "Overdue", Badge: "critical"})
		}
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			due,
			{v.anchors.link("plan", it.POAMCode)},
			block.Badge(string(it.Severity), wording.Label(string(it.Severity))),
			block.UserText(actionTitle(it)),
			block.UserText(ownerName(it)),
		}})
	}
	return t
}
