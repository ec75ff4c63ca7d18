package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/catalog"
	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/report/sheet"
)

// sheetPage turns blocks into the lines of a sheet, whose columns are as wide as the
// widest of what stands in them wants.
type sheetPage struct {
	widths []float64
	lines  []sheet.Line
}

func (p *sheetPage) add(cells ...sheet.Said) { p.lines = append(p.lines, sheet.Line{Cells: cells}) }

func (p *sheetPage) want(column int, width float64) {
	for len(p.widths) <= column {
		p.widths = append(p.widths, 14)
	}
	p.widths[column] = max(p.widths[column], width)
}

func (p *sheetPage) wide(look sheet.Look, text string) {
	p.lines = append(p.lines, sheet.Line{Cells: []sheet.Said{{Text: text, Look: look}}, Wide: true})
}

func (p *sheetPage) blank() { p.lines = append(p.lines, sheet.Line{}) }

func (p *sheetPage) blocks(all []block) {
	for _, b := range all {
		p.block(b)
	}
}

func (p *sheetPage) block(b block) {
	switch b := b.(type) {
	case heading:
		p.blank()
		p.wide(sheet.AsHeading, b.Text)
	case para:
		p.wide(sheet.AsLead, flat(b.Text))
	case list:
		for _, c := range b.Items {
			p.wide(sheet.AsLead, "• "+flat(c))
		}
	case facts:
		for _, f := range b.Items {
			p.fact(f)
		}
	case quotes:
		for _, q := range b.Items {
			where := []string{q.Document}
			for _, s := range []string{q.Place, q.Headings, q.SHA256, q.Stance} {
				if s != "" {
					where = append(where, s)
				}
			}
			p.want(1, 50)
			p.want(2, 30)
			p.add(sheet.Said{Text: ""}, sheet.Said{Text: q.Text}, sheet.Said{Text: strings.Join(where, "; ")})
		}
	case card:
		p.wide(sheet.AsHeading, flat(b.Title))
		p.blocks(b.Blocks)
	case table:
		p.table(b)
	}
}

func (p *sheetPage) fact(f fact) {
	p.want(0, 26)
	p.want(1, 50)
	if f.List == nil {
		p.add(sheet.Said{Text: f.Label, Look: sheet.AsLabel}, said(f.Value))
		return
	}
	for i, c := range f.List {
		name := sheet.Said{Look: sheet.AsLabel}
		if i == 0 {
			name.Text = f.Label
		}
		p.add(name, said(c))
	}
}

func (p *sheetPage) table(t table) {
	p.wide(sheet.AsHeading, t.Caption)
	if len(t.Rows) == 0 {
		p.wide(sheet.AsLead, or(t.Empty, "Nothing to list."))
		return
	}
	var head []sheet.Said
	for _, c := range t.Columns {
		if !c.Picture {
			p.want(len(head), min(float64(c.Width)*4.6, 66))
			head = append(head, sheet.Said{Text: c.Name, Look: sheet.AsHead})
		}
	}
	p.add(head...)
	for _, r := range t.Rows {
		var cells []sheet.Said
		for i, c := range r.Cells {
			if t.Columns[i].Picture {
				continue
			}
			s := said(c)
			if t.Columns[i].Number {
				if n, err := strconv.ParseFloat(strings.ReplaceAll(s.Text, ",", ""), 64); err == nil {
					s = sheet.Said{Number: &n}
				}
			}
			cells = append(cells, s)
		}
		p.add(cells...)
		p.blocks(r.Detail)
	}
	p.blank()
}

// said is a cell with the look of what it holds.
func said(c cell) sheet.Said {
	s := sheet.Said{Text: flat(c)}
	if len(c) == 1 && c[0].Mono {
		s.Look = sheet.AsMono
	}
	if len(c) == 1 && c[0].Strong {
		s.Look = sheet.AsStrong
	}
	return s
}

// flat is a cell's text without its looks.
func flat(c cell) string {
	var b strings.Builder
	for _, s := range c {
		if s.Prose && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s.Text)
	}
	return strings.TrimSpace(b.String())
}

// outcomeColors are the charts', as on the pages.
var outcomeColors = map[outcome]string{outImplemented: "2C7A4F", outPartly: "C9A227", outPlanned: "5B8DB8", outMissing: "B23A34", outNotEvid: "8C7AA9", outNotAssessed: "B8BCC4", outExcluded: "DDDFE3"}

// figures are the pictures that a spreadsheet draws from tables.
func (v *view) figures() (out []sheet.Figure) {
	if v.kind.tells(api.GateGapAnalysis) && v.Gap != nil {
		f := sheet.Figure{Title: "Findings by severity", First: "Severity", Series: []sheet.Series{{Name: "Findings", Color: "C2453D"}}}
		by := map[api.Severity]int{}
		for i := range v.Findings {
			by[v.Findings[i].Severity]++
		}
		for _, s := range api.Severities {
			f.Rows = append(f.Rows, sheet.Bar{Name: label(string(s)), Values: []*float64{figure(by[s])}})
		}
		out = append(out, f)
	}
	if v.kind.tells(api.GateSoA) && v.SoA != nil {
		out = append(out, v.statusFigure())
	}
	if v.kind.tells(api.GateMaturity) && v.MaturitySummary != nil {
		f := sheet.Figure{Title: "Maturity by domain, from 0 to 5, beside the target", First: "Domain", Most: float64(topLevel),
			Series: []sheet.Series{{Name: "Mean", Color: "2F74A6"}, {Name: "Target", Color: "B8BCC4"}}}
		for _, d := range v.MaturitySummary.Domains {
			f.Rows = append(f.Rows, sheet.Bar{Name: v.domain(d.DomainCode), Values: []*float64{rounded(d.Mean), rounded(d.TargetMean)}})
		}
		out = append(out, f)
	}
	if v.kind.tells(api.GatePOAM) && v.POAM != nil {
		f := sheet.Figure{Title: "Plan by status", First: "Status", Series: []sheet.Series{{Name: "Items", Color: "2F74A6"}}}
		by := map[string]int{}
		for i := range v.POAMItems {
			by[v.POAMItems[i].Status]++
		}
		for _, s := range planStatuses {
			f.Rows = append(f.Rows, sheet.Bar{Name: label(s), Values: []*float64{figure(by[s])}})
		}
		out = append(out, f)
	}
	return out
}

func (v *view) statusFigure() sheet.Figure {
	f := sheet.Figure{Title: "Controls by domain and where they stand", First: "Domain", Stacked: true}
	_, domains := tally(v.SoAItems)
	var shown []outcome
	for _, o := range outcomes {
		if o != outUnmapped {
			shown = append(shown, o)
			f.Series = append(f.Series, sheet.Series{Name: o.words(), Color: outcomeColors[o]})
		}
	}
	codes := sortedKeys(domains)
	slices.SortFunc(codes, catalog.Natural)
	for _, d := range codes {
		row := sheet.Bar{Name: v.domain(d)}
		for _, o := range shown {
			row.Values = append(row.Values, figure(domains[d][o]))
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

func figure(n int) *float64 {
	f := float64(n)
	return &f
}

func rounded(f *float64) *float64 {
	if f == nil {
		return nil
	}
	r := round(*f)
	return &r
}
