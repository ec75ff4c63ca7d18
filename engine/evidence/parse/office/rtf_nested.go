package office

import (
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const maxRTFNesting = 20 // maximum nesting of tables

// rtfNestedTable is a table in a cell that is being read.
type rtfNestedTable struct {
	rows  [][]string
	cells []string // of the open row
	cell  []string // paragraphs of the open cell
}

// openNested opens or closes nested tables until n are open. A closed table becomes text in the enclosing cell.
func (r *rtfReader) openNested(n int) {
	for len(r.nested) > max(n, 0) {
		t := &r.nested[len(r.nested)-1]
		if len(t.cells)+len(t.cell) > 0 { // the last row has no end mark
			t.rows = append(t.rows, append(t.cells, t.cell...))
		}
		rows := t.rows
		r.nested = r.nested[:len(r.nested)-1]
		if text := document.RenderNestedTable(rows); text != "" {
			cell := r.openCell()
			*cell = append(*cell, text)
		}
	}
	for len(r.nested) < n {
		r.nested = append(r.nested, rtfNestedTable{})
	}
}

// openCell returns the paragraphs of the innermost open cell.
func (r *rtfReader) openCell() *[]string {
	if n := len(r.nested); n > 0 {
		return &r.nested[n-1].cell
	}
	return &r.cell
}

func (r *rtfReader) endNestedCell() {
	r.para.nesting = max(r.para.nesting, 2)
	r.endParagraph()
	if t := &r.nested[len(r.nested)-1]; len(t.cells) < document.MaxColumns {
		t.cells, t.cell = append(t.cells, strings.Join(t.cell, " ")), nil
	}
}

func (r *rtfReader) endNestedRow() {
	if len(r.nested) == 0 {
		return
	}
	t := &r.nested[len(r.nested)-1]
	if len(t.rows) < maxNestedRows {
		t.rows = append(t.rows, t.cells)
	}
	t.cells, t.cell = nil, nil
}
