package workbook

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

var named = regexp.MustCompile(`![A-Z]{1,3}[1-9][0-9]*$`)

// FuzzEdits reads arbitrary sheets with the source of a real export: each change and each problem
// must name a cell, and no change may go beyond its column.
func FuzzEdits(f *testing.F) {
	l := layout(f, "emass_poam")
	good, err := read(bookOf(f, l, plan(3)), DefaultLimits)
	if err != nil {
		f.Fatal(err)
	}
	from, err := good.ReadExportInfo()
	if err != nil {
		f.Fatal(err)
	}
	row := func(cells ...string) string {
		return "<row><c t=\"inlineStr\"><is><t>" + strings.Join(cells, "</t></is></c><c t=\"inlineStr\"><is><t>") + "</t></is></c></row>"
	}
	var heads []string
	for _, c := range l.Columns {
		heads = append(heads, strings.ReplaceAll(c.Header, "&", "&amp;"))
	}
	for _, rest := range []string{
		row("POAM-001", "=1+1", "IAC-06", "CISO"), row("POAM-002") + row("POAM-002"), row("", "x"),
		`<row r="9"><c r="A9" t="inlineStr"><is><t>POAM-001</t></is></c><c r="G9"><v>46477</v></c><c r="K9" t="e"><v>#N/A</v></c><c r="L9"><f>A1</f></c></row>`,
	} {
		f.Add("<worksheet><sheetData>" + row(heads...) + rest + "</sheetData></worksheet>")
	}
	f.Add("<worksheet>")
	f.Fuzz(func(t *testing.T, sheet string) {
		w, err := read(archive(t, parts(sheet)), Limits{File: 1 << 20, Unpacked: 1 << 20, Parts: 10, Sheets: 3, Cells: 5000, Columns: 100})
		if err != nil {
			if !errors.Is(err, ErrWorkbook) {
				t.Fatalf("%v is no refusal", err)
			}
			return
		}
		rows, problems, _ := w.FindEdits(from, l)
		if len(problems) > maxProblems+1 {
			t.Errorf("%d problems", len(problems))
		}
		for _, p := range problems {
			if !named.MatchString(p.Cell) || p.Message == "" {
				t.Errorf("%q: %q", p.Cell, p.Message)
			}
		}
		for _, r := range rows {
			if r.Item == "" || len(r.Edits) == 0 {
				t.Errorf("row %+v", r)
			}
			for _, e := range r.Edits {
				if !named.MatchString(e.Cell) || !e.column.Editable {
					t.Errorf("%+v", e)
				}
				if e.column.Required && e.NewValue == "" {
					t.Errorf("%s was emptied", e.Field)
				}
			}
		}
	})
}
