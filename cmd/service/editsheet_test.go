package main

import (
	"slices"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/xuri/excelize/v2"
)

// editSheet changes a cell of a workbook: FILE SHEET HEADER ROW VALUE. The header may be in any of
// the first rows.
func editSheet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 5 {
		ts.Fatalf("usage: edit-sheet FILE SHEET HEADER ROW VALUE")
	}
	f, err := excelize.OpenFile(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	rows, err := f.GetRows(args[1])
	ts.Check(err)
	for _, head := range rows[:min(len(rows), 10)] {
		column := slices.Index(head, args[2])
		if column < 0 {
			continue
		}
		row, err := strconv.Atoi(args[3])
		ts.Check(err)
		at, err := excelize.CoordinatesToCellName(column+1, row)
		ts.Check(err)
		ts.Check(f.SetCellStr(args[1], at, args[4]))
		ts.Check(f.Save())
		return
	}
	ts.Fatalf("%s has no column %q", args[1], args[2])
}
