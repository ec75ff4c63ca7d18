package web

import (
	"slices"
	"testing"
)

// TestSheetSegments checks that rows of a sheet become a table, that values may contain the separators, and that other lines
// stay texts.
func TestSheetSegments(t *testing.T) {
	got := sheetSegments("Assets\nID: 1; Owner: Ada; Note: a: b; c\nID: 2; Note: none\nTotal 3", "ID: 2; Note: none")
	if len(got) != 3 || got[0].Parts[0].Text != "Assets" || got[2].Parts[0].Text != "Total 3" {
		t.Fatalf("%+v", got)
	}
	table := got[1]
	if !slices.Equal(table.Columns, []string{"ID", "Owner", "Note"}) || len(table.Rows) != 2 {
		t.Fatalf("%+v", table)
	}
	if !slices.Equal(table.Rows[0].Cells, []string{"1", "Ada", "a: b; c"}) || table.Rows[0].Mark {
		t.Errorf("the first row: %+v", table.Rows[0])
	}
	if !slices.Equal(table.Rows[1].Cells, []string{"2", "", "none"}) || !table.Rows[1].Mark {
		t.Errorf("the quoted row: %+v", table.Rows[1])
	}
	if one := sheetSegments("ID: 1; Owner: Ada", "Ada"); len(one) != 1 || len(one[0].Parts) != 3 || !one[0].Parts[1].Mark {
		t.Errorf("a single row: %+v", one)
	}
}

// TestFragmentOf checks that a quote can't end the part of the address that it is in.
func TestFragmentOf(t *testing.T) {
	for quote, want := range map[string]string{
		"":                              "",
		" a-b,  c & d#page ":            ":~:text=a%2Db%2C%20c%20%26%20d%23page",
		"1 2 3 4 5 6 7 8 9 10 11 12 13": ":~:text=1%202%203%204,10%2011%2012%2013",
	} {
		if got := fragmentOf(quote); got != want {
			t.Errorf("%q: %q, not %q", quote, got, want)
		}
	}
}
