package xlsx

import (
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/engine/report/workbook"
	"github.com/scf-service/service/internal/prose"
)

// sheetBuilder converts blocks to the lines of a sheet. Each column is as wide as its widest content.
type sheetBuilder struct {
	widths []float64
	lines  []workbook.Line
}

func (p *sheetBuilder) addLine(cells ...workbook.Cell) {
	p.lines = append(p.lines, workbook.Line{Cells: cells})
}

func (p *sheetBuilder) widenColumn(column int, width float64) {
	for len(p.widths) <= column {
		p.widths = append(p.widths, 14)
	}
	p.widths[column] = max(p.widths[column], width)
}

func (p *sheetBuilder) addMergedLine(look workbook.CellStyle, text string) {
	p.lines = append(p.lines, workbook.Line{Cells: []workbook.Cell{{Text: text, Style: look}}, Merged: true})
}

func (p *sheetBuilder) addBlankLine() { p.lines = append(p.lines, workbook.Line{}) }

func (p *sheetBuilder) addBlocks(all []block.Block) {
	for _, b := range all {
		p.addBlock(b)
	}
}

func (p *sheetBuilder) addBlock(b block.Block) {
	switch b := b.(type) {
	case block.Heading:
		p.addBlankLine()
		p.addMergedLine(workbook.StyleHeading, b.Text)
	case block.Para:
		p.addMergedLine(workbook.StyleLead, b.Text.Text())
	case block.List:
		for _, c := range b.Items {
			p.addMergedLine(workbook.StyleLead, "• "+c.Text())
		}
	case block.Facts:
		for _, f := range b.Items {
			p.addFact(f)
		}
	case block.Quotes:
		for _, q := range b.Items {
			where := []string{q.Document}
			for _, s := range []string{q.Place, q.Headings, q.Stance} {
				if s != "" {
					where = append(where, s)
				}
			}
			if q.Passage > 0 {
				where = append(where, "passage "+prose.GroupThousands(q.Passage))
			}
			p.widenColumn(1, 50)
			p.widenColumn(2, 30)
			p.addLine(workbook.Cell{Text: ""}, workbook.Cell{Text: q.Text}, workbook.Cell{Text: strings.Join(where, "; ")})
		}
	case block.Card:
		p.addMergedLine(workbook.StyleHeading, b.Title.Text())
		p.addBlocks(b.Blocks)
	case block.Table:
		p.addTable(b)
	}
}

func (p *sheetBuilder) addFact(f block.Fact) {
	p.widenColumn(0, 26)
	p.widenColumn(1, 50)
	if f.List == nil {
		p.addLine(workbook.Cell{Text: f.Label, Style: workbook.StyleLabel}, toWorkbookCell(f.Value))
		return
	}
	for i, c := range f.List {
		name := workbook.Cell{Style: workbook.StyleLabel}
		if i == 0 {
			name.Text = f.Label
		}
		p.addLine(name, toWorkbookCell(c))
	}
}

func (p *sheetBuilder) addTable(t block.Table) {
	p.addMergedLine(workbook.StyleHeading, t.Caption)
	if len(t.Rows) == 0 {
		p.addMergedLine(workbook.StyleLead, wording.OrDefault(t.Empty, "Nothing to list."))
		return
	}
	var head []workbook.Cell
	for _, c := range t.Columns {
		if !c.Picture {
			p.widenColumn(len(head), min(float64(c.Width)*4.6, 66))
			head = append(head, workbook.Cell{Text: c.Name, Style: workbook.StyleHead})
		}
	}
	p.addLine(head...)
	for _, r := range t.Rows {
		var cells []workbook.Cell
		for i, c := range r.Cells {
			if t.Columns[i].Picture {
				continue
			}
			s := toWorkbookCell(c)
			if t.Columns[i].Number {
				if n, err := strconv.ParseFloat(strings.ReplaceAll(s.Text, ",", ""), 64); err == nil {
					s = workbook.Cell{Number: &n}
				}
			}
			cells = append(cells, s)
		}
		p.addLine(cells...)
		p.addBlocks(r.Detail)
	}
	p.addBlankLine()
}

// toWorkbookCell converts a cell to a workbook cell in the corresponding style.
func toWorkbookCell(c block.Cell) workbook.Cell {
	s := workbook.Cell{Text: c.Text()}
	if len(c) == 1 && c[0].Mono {
		s.Style = workbook.StyleMono
	}
	if len(c) == 1 && c[0].Strong {
		s.Style = workbook.StyleStrong
	}
	return s
}
