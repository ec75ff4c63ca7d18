package render

import (
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/report/workbook"
)

// sheetPage turns blocks into the lines of a sheet, whose columns are as wide as the
// widest of what stands in them wants.
type sheetPage struct {
	widths []float64
	lines  []workbook.Line
}

func (p *sheetPage) add(cells ...workbook.Said) {
	p.lines = append(p.lines, workbook.Line{Cells: cells})
}

func (p *sheetPage) want(column int, width float64) {
	for len(p.widths) <= column {
		p.widths = append(p.widths, 14)
	}
	p.widths[column] = max(p.widths[column], width)
}

func (p *sheetPage) wide(look workbook.Look, text string) {
	p.lines = append(p.lines, workbook.Line{Cells: []workbook.Said{{Text: text, Look: look}}, Wide: true})
}

func (p *sheetPage) blank() { p.lines = append(p.lines, workbook.Line{}) }

func (p *sheetPage) blocks(all []block) {
	for _, b := range all {
		p.block(b)
	}
}

func (p *sheetPage) block(b block) {
	switch b := b.(type) {
	case heading:
		p.blank()
		p.wide(workbook.AsHeading, b.Text)
	case para:
		p.wide(workbook.AsLead, flat(b.Text))
	case list:
		for _, c := range b.Items {
			p.wide(workbook.AsLead, "• "+flat(c))
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
			p.add(workbook.Said{Text: ""}, workbook.Said{Text: q.Text}, workbook.Said{Text: strings.Join(where, "; ")})
		}
	case card:
		p.wide(workbook.AsHeading, flat(b.Title))
		p.blocks(b.Blocks)
	case table:
		p.table(b)
	}
}

func (p *sheetPage) fact(f fact) {
	p.want(0, 26)
	p.want(1, 50)
	if f.List == nil {
		p.add(workbook.Said{Text: f.Label, Look: workbook.AsLabel}, said(f.Value))
		return
	}
	for i, c := range f.List {
		name := workbook.Said{Look: workbook.AsLabel}
		if i == 0 {
			name.Text = f.Label
		}
		p.add(name, said(c))
	}
}

func (p *sheetPage) table(t table) {
	p.wide(workbook.AsHeading, t.Caption)
	if len(t.Rows) == 0 {
		p.wide(workbook.AsLead, or(t.Empty, "Nothing to list."))
		return
	}
	var head []workbook.Said
	for _, c := range t.Columns {
		if !c.Picture {
			p.want(len(head), min(float64(c.Width)*4.6, 66))
			head = append(head, workbook.Said{Text: c.Name, Look: workbook.AsHead})
		}
	}
	p.add(head...)
	for _, r := range t.Rows {
		var cells []workbook.Said
		for i, c := range r.Cells {
			if t.Columns[i].Picture {
				continue
			}
			s := said(c)
			if t.Columns[i].Number {
				if n, err := strconv.ParseFloat(strings.ReplaceAll(s.Text, ",", ""), 64); err == nil {
					s = workbook.Said{Number: &n}
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
func said(c cell) workbook.Said {
	s := workbook.Said{Text: flat(c)}
	if len(c) == 1 && c[0].Mono {
		s.Look = workbook.AsMono
	}
	if len(c) == 1 && c[0].Strong {
		s.Look = workbook.AsStrong
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
