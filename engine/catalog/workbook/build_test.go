package workbook

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/engine/catalog/scf"
)

// grid is a made-up sheet, row by row; values are strings, numbers, or one of the types below.
type grid struct {
	name string
	rows [][]any
}

type (
	formula string   // without a stored value
	rich    []string // runs of one cell
)

// mainGrid is the smallest main sheet, with further columns appended to each row.
func mainGrid(name string, extra ...[]any) grid {
	g := grid{name, [][]any{
		{
			"SCF Domain",
			"SCF Control",
			"SCF #",
			"Secure Controls Framework (SCF)\nControl Description",
			"Relative Control\nWeighting (1-10)",
		},
		{"Access ", "Who is who", "IAC-01", "We know people.", 9},
		{"Access", "Second factor ", " IAC-06\u00a0", "We ask twice.", "10"},
		{"Networks", "Edges", "NET-03", "We guard edges.", 0},
	}}
	for _, column := range extra {
		for i, value := range column {
			g.rows[i] = append(g.rows[i], value)
		}
	}
	return g
}

func build(t testing.TB, grids ...grid) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	for i, g := range grids {
		if i == 0 {
			must(t, f.SetSheetName("Sheet1", g.name))
		} else {
			_, err := f.NewSheet(g.name)
			must(t, err)
		}
		for r, row := range g.rows {
			for c, value := range row {
				cell := cellName(r+1, c+1)
				switch v := value.(type) {
				case nil:
				case formula:
					must(t, f.SetCellFormula(g.name, cell, string(v)))
				case rich:
					var runs []excelize.RichTextRun
					for _, text := range v {
						runs = append(runs, excelize.RichTextRun{Text: text, Font: &excelize.Font{Bold: true}})
					}
					must(t, f.SetCellRichText(g.name, cell, runs))
				default:
					must(t, f.SetCellValue(g.name, cell, v))
				}
			}
		}
	}
	var out bytes.Buffer
	_, err := f.WriteTo(&out)
	must(t, err)
	return out.Bytes()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rezip rewrites the parts of an archive; a part for which edit returns nil is dropped.
func rezip(t testing.TB, data []byte, edit func(name string, body []byte) []byte) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range z.File {
		r, err := f.Open()
		must(t, err)
		body, err := io.ReadAll(r)
		must(t, err)
		if body = edit(f.Name, body); body == nil {
			continue
		}
		part, err := w.Create(f.Name)
		must(t, err)
		_, err = part.Write(body)
		must(t, err)
	}
	must(t, w.Close())
	return out.Bytes()
}

func readBytes(data []byte, o Options) (*scf.Source, error) {
	return Read(context.Background(), bytes.NewReader(data), int64(len(data)), o)
}

func importGrids(t testing.TB, o Options, grids ...grid) *scf.Source {
	t.Helper()
	src, err := readBytes(build(t, grids...), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scf.NewSnapshot(src, scf.Version{ID: versionID}); err != nil {
		t.Fatal(err)
	}
	return src
}

// wantWarning fails if no warning at the cell contains the words.
func wantWarning(t testing.TB, src *scf.Source, cell, words string) {
	t.Helper()
	for _, w := range src.Warnings {
		if w.Cell == cell && strings.Contains(w.Message, words) {
			return
		}
	}
	t.Errorf("no warning at %q with %q in %v", cell, words, src.Warnings)
}

func framework(t testing.TB, src *scf.Source, code string) (index int, codes []string) {
	t.Helper()
	for i, f := range src.Frameworks {
		if f.Code == code {
			for _, q := range f.Requirements {
				codes = append(codes, q.Code)
			}
			return i, codes
		}
	}
	t.Fatalf("no framework %s in %+v", code, src.Frameworks)
	return 0, nil
}
