package html

import (
	"bytes"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/report/block"
)

// TestWideTableOnPhone checks that the cells of a wide table are labeled on a phone, whatever its columns are called.
func TestWideTableOnPhone(t *testing.T) {
	wide := block.Table{
		Caption: "Measures",
		Columns: []block.Column{{Name: "Control", Width: 9}, {Name: `Owner "</style>`, Width: 9}},
		Rows:    []block.Row{{Cells: []block.Cell{block.Text("AST-01"), block.Text("Ada")}}},
	}
	narrow := block.Table{Caption: "Levels", Columns: []block.Column{{Name: "Level", Width: 3}}}
	d := block.Document{Sections: []block.Section{
		{ID: "a", Title: "A", Blocks: []block.Block{block.Card{Blocks: []block.Block{wide}}, wide, narrow}},
	}}
	var b bytes.Buffer
	if err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	page, class := b.String(), columnsClass(wide)
	for want, n := range map[string]int{
		`<table class="stack ` + class + `"`: 2,
		"." + class + `>tbody>tr>:nth-child(2)::before{content:"Owner \000022\00003c\00002fstyle\00003e"}`: 1,
		columnsClass(narrow): 0,
	} {
		if got := strings.Count(page, want); got != n {
			t.Errorf("%d times %s, want %d", got, want, n)
		}
	}
}
