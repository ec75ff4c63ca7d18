package report

import (
	"strconv"
	"strings"

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
