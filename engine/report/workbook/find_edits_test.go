package workbook

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
)

func ptr[T any](v T) *T { return &v }

func plan(n int) (out []Fields) {
	for i := range n {
		it := &api.POAMItem{
			POAMCode: fmt.Sprintf(
				"POAM-%03d",
				i+1,
			), Weakness: "=1+1", CorrectiveAction: "Name an owner.", Priority: 1 + i, Severity: api.SeverityHigh, Effort: "small",
			DueDate: "2027-03-31", Status: []string{"open", "in_progress", "completed"}[i%3], VendorDependency: []*string{nil, ptr("ERP 7")}[i%2],
		}
		it.ID, it.ControlCode, it.ControlTitle, it.Revision = fmt.Sprintf("id-%d", i+1), "IAC-06", "Second factor", 4
		out = append(out, POAMItemFields(it))
	}
	return out
}

func layout(t testing.TB, name string) Layout {
	t.Helper()
	l, ok := FindLayout(name)
	if !ok {
		t.Fatalf("no layout %q", name)
	}
	return l
}

func bookOf(t testing.TB, l Layout, items []Fields) []byte {
	t.Helper()
	b, err := NewWriter(Properties{Title: "Plan", Assessment: "assessment-1", AsOf: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var out bytes.Buffer
	if err := b.AddItemSheets(l, items, map[string]string{"as_of": "2026-11-20"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func editWorkbook(t testing.TB, b []byte, edit func(f *excelize.File) error) []byte {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := edit(f); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := f.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(b []byte, limits Limits) (*Workbook, error) {
	return Read(context.Background(), bytes.NewReader(b), int64(len(b)), limits)
}

func edits(t testing.TB, b []byte, l Layout) ([]ChangedRow, []Problem, []string) {
	t.Helper()
	w, err := read(b, DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	x, err := w.ReadExportInfo()
	if err != nil {
		t.Fatal(err)
	}
	if x.Assessment != "assessment-1" || !slices.Equal(x.Layouts, []string{l.Name}) {
		t.Fatalf("exported: %+v", x)
	}
	return w.FindEdits(x, l)
}

// formatFindings returns one line for each edit, problem and note.
func formatFindings(rows []ChangedRow, problems []Problem, notes []string) string {
	var b strings.Builder
	for _, r := range rows {
		for _, e := range r.Edits {
			fmt.Fprintf(&b, "%s %s r%d %s=%q %v\n", e.Cell, r.Item, r.Revision, e.Field, e.NewValue, e.JSONValue)
		}
	}
	for _, p := range problems {
		b.WriteString(p.String() + "\n")
	}
	for _, n := range notes {
		b.WriteString("note " + n + "\n")
	}
	return b.String()
}

func TestReasonsForInclusion(t *testing.T) {
	l := layout(t, "soa")
	it := &api.SoAItem{Applicability: api.Applicable, InclusionReasons: []string{"legal", "framework"}}
	it.ID, it.ControlCode, it.Revision = "id-1", "IAC-06", 4
	sheet := l.Pages[0].Name
	column := func(header string) string {
		name, err := excelize.ColumnNumberToName(1 + slices.IndexFunc(l.Columns, func(c Column) bool { return c.Header == header }))
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	b := editWorkbook(t, bookOf(t, l, []Fields{SoAFields(it)}), func(f *excelize.File) error {
		for header, want := range map[string]string{
			"Included: law": "Yes", "Included: contract": "No", "Included: best practice": "Yes", "Included: risk": "No",
		} {
			if got, err := f.GetCellValue(sheet, column(header)+"2"); err != nil || got != want {
				t.Errorf("%s: %q, want %q (%v)", header, got, want, err)
			}
		}
		return errors.Join(f.SetCellValue(sheet, column("Included: law")+"2", "no"), f.SetCellValue(sheet, column("Included: risk")+"2", "Yes"))
	})
	rows, problems, notes := edits(t, b, l)
	want := sheet + "!" + column("Included: law") + `2 id-1 r4 inclusion_reasons="best_practice\nrisk" [best_practice risk]` + "\n"
	if got := formatFindings(rows, problems, notes); got != want {
		t.Fatalf("got %swant %s", got, want)
	}
	if !rows[0].IsUnchangedElsewhere(SoAFields(it)) || rows[0].IsApplied(SoAFields(it)) {
		t.Error("the row is taken for changed elsewhere, or for applied")
	}
	it.InclusionReasons = []string{"contractual"}
	if rows[0].IsUnchangedElsewhere(SoAFields(it)) {
		t.Error("a change elsewhere is not seen")
	}
}

const open, closed = "Open POA&M Items", "Closed POA&M Items"

func TestEdits(t *testing.T) {
	fedramp, emass, own := layout(t, "fedramp_poam"), layout(t, "emass_poam"), layout(t, "poam")
	type set = func(f *excelize.File) error
	cell := func(sheet, at string, v any) set {
		return func(f *excelize.File) error { return f.SetCellValue(sheet, at, v) }
	}
	for _, tc := range []struct {
		name   string
		layout Layout
		edit   set
		want   string
	}{
		{"nothing", fedramp, func(*excelize.File) error { return nil }, ""},
		{"a text", fedramp, cell(open, "H6", "Head of IT"), `Open POA&M Items!H6 id-1 r4 owner="Head of IT" Head of IT`},
		{"emptied", own, cell("Plan of action", "Z3", ""), `Plan of action!Z3 id-2 r4 vendor_dependency="" <nil>`},
		{
			"a date as such",
			fedramp,
			cell(open, "L6", time.Date(2027, 5, 1, 0, 0, 0, 0, time.UTC)),
			`Open POA&M Items!L6 id-1 r4 due_date="2027-05-01" 2027-05-01`,
		},
		{"a date as text", fedramp, cell(open, "L6", "2027-05-01 "), `due_date="2027-05-01"`},
		{
			"no date",
			fedramp,
			cell(open, "L6", "next May"),
			`Open POA&M Items!L6: Scheduled Completion Date: "next May" is not a date; write it as 2027-03-31`,
		},
		{"a date out of the world", fedramp, cell(open, "L6", 1e300), `is not a date`},
		{"no date at all", fedramp, cell(open, "L6", ""), `Scheduled Completion Date: the cell can't be empty`},
		{"a choice in any case", own, cell("Plan of action", "M2", "IN progress"), `status="in_progress"`},
		{"the contract's own word", own, cell("Plan of action", "M2", "risk_accepted"), `status="risk_accepted"`},
		{
			"no choice",
			own,
			cell("Plan of action", "M2", "Done"),
			`Plan of action!M2: Status: there is no "Done"; write one of Open, In progress, Blocked, Completed, Risk accepted, Cancelled`,
		},
		{"a profile's word", emass, cell("POA&M", "K6", "Completed"), `status="completed"`},
		{"the same word of a profile", emass, cell("POA&M", "K7", "Ongoing"), ""},
		{"a number", own, cell("Plan of action", "K2", 7), `priority="7" 7`},
		{"half a number", own, cell("Plan of action", "K2", 1.5), `Plan of action!K2: Priority: "1.5" is not a whole number from 1 to 100000`},
		{"too low a number", own, cell("Plan of action", "K2", 0), `is not a whole number`},
		{
			"what is fixed",
			fedramp,
			cell(open, "S6", "Low"),
			`Open POA&M Items!S6: Original Risk Rating can't be imported; restore the cell's original value (it is the finding's)`,
		},
		{
			"what is not held",
			fedramp,
			cell(open, "AD6", "CVE-2026-1"),
			`Open POA&M Items!AD6: CVE is not stored by this program; clear the cell (write it into Comments)`,
		},
		{
			"a yes that disagrees",
			fedramp,
			cell(open, "P6", "Yes"),
			`Open POA&M Items!P6: Vendor Dependency is Yes, which doesn't match Vendor Dependent Product Name at Open POA&M Items!R6`,
		},
		{"a yes that agrees", fedramp, func(f *excelize.File) error {
			return errors.Join(f.SetCellValue(open, "P6", "Yes"), f.SetCellValue(open, "R6", "ERP 9"))
		}, `vendor_dependency="ERP 9"`},
		{
			"a formula without a value",
			fedramp,
			func(f *excelize.File) error { return f.SetCellFormula(open, "Z6", "A6") },
			`Comments: the cell contains a formula without a computed value`,
		},
		{"rows above", fedramp, func(f *excelize.File) error {
			return errors.Join(f.InsertRows(open, 1, 3), f.SetCellValue(open, "H9", "CISO"))
		}, `Open POA&M Items!H9 id-1 r4 owner="CISO"`},
		{"columns moved", fedramp, func(f *excelize.File) error {
			return errors.Join(f.InsertCols(open, "B", 1), f.SetCellValue(open, "B5", "My remark"), f.SetCellValue(open, "I6", "CISO"))
		}, "Open POA&M Items!I6 id-1 r4 owner=\"CISO\" CISO\nnote Open POA&M Items!B5: unknown column \"My remark\" ignored\n"},
		{"a head in other letters", fedramp, func(f *excelize.File) error {
			return errors.Join(f.SetCellValue(open, "H5", " point  of\ncontact"), f.SetCellValue(open, "H6", "CISO"))
		}, `owner="CISO"`},
		{"a column twice", fedramp, cell(open, "I5", "Point of Contact"), `the column "Point of Contact" appears twice`},
		{
			"a row twice",
			fedramp,
			cell(open, "A7", "POAM-001"),
			"Open POA&M Items!A7: the item also appears at Open POA&M Items!A6; remove one of the two rows",
		},
		{"a new row", fedramp, cell(open, "D30", "A new weakness"), "Open POA&M Items!A30: the row has no item key; new rows can't be added"},
		{"a row of another plan", fedramp, cell(open, "A7", "POAM-900"), `Open POA&M Items!A7: the export contained no item "POAM-900"`},
		{"a row gone", fedramp, func(f *excelize.File) error { return f.RemoveRow(open, 6) }, ""},
		{"moved to the closed ones", fedramp, func(f *excelize.File) error {
			row, err := f.GetRows(open, excelize.Options{RawCellValue: true})
			for i, v := range row[5] {
				at, _ := excelize.CoordinatesToCellName(i+1, 20)
				err = errors.Join(err, f.SetCellValue(closed, at, v))
			}
			// The row's dates were read as raw numbers; this one is written as a date.
			return errors.Join(err, f.SetCellValue(closed, "L20", time.Date(2027, 3, 31, 0, 0, 0, 0, time.UTC)), f.RemoveRow(open, 6))
		}, `Closed POA&M Items!A20 id-1 r4 status="completed"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := formatFindings(edits(t, editWorkbook(t, bookOf(t, tc.layout, plan(6)), tc.edit), tc.layout))
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
			if tc.want != "" && strings.Count(got, "\n") > max(1, strings.Count(tc.want, "\n")) {
				t.Errorf("more than was done: %s", got)
			}
		})
	}
}

// TestColumnsReadBackAsWritten checks that every column is read back as written, in each layout.
func TestColumnsReadBackAsWritten(t *testing.T) {
	for _, l := range builtinLayouts() {
		items := plan(3)
		if l.Key == "id" && l.Name != "poam" {
			items = []Fields{func(field string) string {
				i := slices.IndexFunc(l.Columns, func(c Column) bool { return c.Field == field })
				if i < 0 {
					return ""
				}
				switch c := l.Columns[i]; {
				case field == "revision":
					return "4"
				case c.Kind == KindNumber:
					return "3"
				case c.Kind == KindDate:
					return "2027-01-31"
				case c.Kind == KindYesNo:
					return "yes"
				case len(c.Values) > 0:
					return c.Values[0]
				}
				return " +=@- \u202eنص\ta\n\n" + field + "_x0041_"
			}}
		}
		if got := formatFindings(edits(t, bookOf(t, l, items), l)); got != "" {
			t.Errorf("%s: %s", l.Name, got)
		}
	}
}

func TestDisturbedWorkbooksAreRefused(t *testing.T) {
	l := layout(t, "fedramp_poam")
	good := bookOf(t, l, plan(3))
	for _, tc := range []struct {
		name, want string
		edit       func(f *excelize.File) error
	}{
		{"without its source", "the hidden sheet \"Source\" is missing", func(f *excelize.File) error { return f.DeleteSheet(sourceSheet) }},
		{
			"source of another form",
			"another version of this program",
			func(f *excelize.File) error { return f.SetCellValue(sourceSheet, "B2", "9") },
		},
		{
			"source without a revision",
			"row 5 of the hidden sheet",
			func(f *excelize.File) error { return f.SetCellValue(sourceSheet, "G5", "x") },
		},
	} {
		w, err := read(editWorkbook(t, good, tc.edit), DefaultLimits)
		if err == nil {
			_, err = w.ReadExportInfo()
		}
		if !errors.Is(err, ErrWorkbook) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// archive returns a zip file of parts.
func archive(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range parts {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func parts(sheet string) map[string]string {
	return map[string]string{
		"xl/workbook.xml":            `<workbook xmlns:r="r"><sheets><sheet name="POA&amp;M" r:id="a"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" Type="x/worksheet" Target="worksheets/s.xml"/></Relationships>`,
		"xl/worksheets/s.xml":        sheet,
	}
}

func TestBombsAreRefused(t *testing.T) {
	small := Limits{File: 1 << 20, Unpacked: 1 << 20, Parts: 10, Sheets: 3, Cells: 100, Columns: 50}
	many := parts("")
	for i := range 12 {
		many[fmt.Sprint("x", i)] = ""
	}
	sheets := parts("")
	sheets["xl/workbook.xml"] = `<workbook><sheets>` + strings.Repeat(`<sheet name="a"/>`, 4) + `</sheets></workbook>`
	texts := parts("<worksheet/>")
	texts["xl/_rels/workbook.xml.rels"] = `<Relationships><Relationship Id="s" Type="x/sharedStrings" Target="/t.xml"/></Relationships>`
	texts["t.xml"] = "<sst>" + strings.Repeat("<si/>", 101) + "</sst>"
	for _, tc := range []struct {
		name, want string
		file       []byte
	}{
		{"no archive", "not an .xlsx file", []byte("hello")},
		{"nothing", "not an .xlsx file", nil},
		{"too large", "the maximum is 1", make([]byte, 2<<20)},
		{"unpacks to too much", "unpacks to more than 1 MiB", archive(t, parts("<worksheet>"+strings.Repeat(" ", 2<<20)+"</worksheet>"))},
		{"parts", "parts; the maximum is 10", archive(t, many)},
		{"sheets", "4 sheets; the maximum is 3", archive(t, sheets)},
		{
			"cells",
			"more than 100 cells",
			archive(
				t,
				parts("<worksheet><sheetData><row>"+strings.Repeat(
					"<c><v>1</v></c>",
					40,
				)+"</row><row>"+strings.Repeat("<c/>", 40)+"</row><row>"+strings.Repeat("<c/>", 40)+"</row></sheetData></worksheet>"),
			),
		},
		{"columns", "more than 50 columns", archive(t, parts(`<worksheet><row r="1"><c r="ZZ1"><v>1</v></c></row></worksheet>`))},
		{"rows backwards", "row 1 follows row 5", archive(t, parts(`<worksheet><row r="5"/><row r="1"/></worksheet>`))},
		{"texts", "more than 100 strings", archive(t, texts)},
		{"nested", "nested too deep", archive(t, parts(strings.Repeat("<a>", 70)))},
		{"cut off", "truncated", archive(t, parts("<worksheet><row>"))},
		{"no XML", "damaged", archive(t, parts("<<<"))},
		{"no sheets", "no list of sheets", archive(t, map[string]string{"a": ""})},
	} {
		if _, err := read(tc.file, small); !errors.Is(err, ErrWorkbook) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %q", tc.name, err, tc.want)
		}
	}
}

// TestColumnsAreTheContracts checks that each editable column is an editable field of the API, with
// the same values.
func TestColumnsAreTheContracts(t *testing.T) {
	bodies := map[string]any{
		"soa": api.UpdateSoAItemInput{}.Body, "gap_analysis": api.UpdateFindingInput{}.Body, "maturity": api.UpdateMaturityScoreInput{}.Body,
		"poam": api.UpdatePOAMItemInput{}.Body, "fedramp_poam": api.UpdatePOAMItemInput{}.Body, "emass_poam": api.UpdatePOAMItemInput{}.Body,
	}
	for name, l := range builtinLayouts() {
		fields := map[string]reflect.StructField{}
		body := reflect.TypeOf(bodies[name])
		for i := range body.NumField() {
			tag, _, _ := strings.Cut(body.Field(i).Tag.Get("json"), ",")
			fields[tag] = body.Field(i)
		}
		for _, c := range l.Columns {
			if c.Kind == KindMilestoneChanges {
				c.Field = fieldMilestones // a part of them
			}
			f, ok := fields[c.Field]
			if c.Editable && !ok {
				t.Errorf("%s: %q: the contract has no %q to change", name, c.Header, c.Field)
			}
			if !c.Editable || !ok {
				continue
			}
			if enum := f.Tag.Get("enum"); enum != "" &&
				!slices.Equal(slices.Sorted(strings.SplitSeq(enum, ",")), slices.Sorted(slices.Values(c.Values))) {
				t.Errorf("%s: %q has the values %v, the contract %s", name, c.Header, c.Values, enum)
			}
			if opt := strings.HasPrefix(f.Type.Name(), "Opt["); opt != c.Optional {
				t.Errorf("%s: %q: optional is %v", name, c.Header, c.Optional)
			}
			if c.Kind == KindNumber && (f.Tag.Get("minimum") != fmt.Sprint(c.Min) || f.Tag.Get("maximum") != fmt.Sprint(int(c.Max))) {
				t.Errorf(
					"%s: %q: from %v to %v, the contract %q to %q",
					name,
					c.Header,
					c.Min,
					c.Max,
					f.Tag.Get("minimum"),
					f.Tag.Get("maximum"),
				)
			}
		}
	}
}

func TestLayoutsThatContradictThemselves(t *testing.T) {
	for text, want := range map[string]string{
		"name: a\nkey: id\npages: [{name: A}]\ncolumns: [{header: A, edit: true}]":                          "the program stores no value for it",
		"name: a\nkey: id\npages: [{name: A}]\ncolumns: [{field: id}]":                                      "no header",
		"name: a\nkey: id\npages: [{name: A}]\ncolumns: [{header: A, field: id}, {header: ' a', field: b}]": "appears twice",
		"name: a\nkey: id\npages: [{name: A}]\ncolumns: [{header: A, field: id, kind: choice}]":             "no values",
		"name: a\nkey: id\npages: [{name: A}]\ncolumns: [{header: A, field: id, kind: yesno, follows: B}]":  "not a column",
		"name: a\nkey: id\npages: [{name: A}]\ncolumns: [{header: A, field: b}]":                            "needs a name",
		"name: a\nkey: id\npages: [{name: A}]\nunknown: 1":                                                  "not found",
	} {
		if _, err := parseLayout([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}
