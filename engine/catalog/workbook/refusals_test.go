package workbook

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/longtest"
)

// bomb returns an archive that declares a part of ten gigabytes.
func bomb(t testing.TB) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range []string{"xl/workbook.xml", "xl/worksheets/sheet1.xml"} {
		part, err := w.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, CompressedSize64: 5, UncompressedSize64: 10 << 30})
		must(t, err)
		_, err = part.Write([]byte("\x01\x00\x00\xff\xff"))
		must(t, err)
	}
	must(t, w.Close())
	return out.Bytes()
}

// editSheet changes the XML of the first sheet.
func editSheet(t testing.TB, data []byte, change func(xml string) string) []byte {
	return rezip(t, data, func(name string, body []byte) []byte {
		if strings.HasSuffix(name, "sheet1.xml") {
			return []byte(change(string(body)))
		}
		return body
	})
}

func TestRefusals(t *testing.T) {
	good := mainGrid("SCF 2022.3", []any{"NIST\nCSF\nv1.1", "a", "b", "c"})
	change := func(row, col int, value any) grid {
		g := mainGrid("SCF 2022.3")
		g.rows[row][col] = value
		return g
	}
	many := mainGrid("SCF 2022.3")
	for i := range 30 {
		many.rows = append(many.rows, []any{"Networks", "More", fmt.Sprintf("NET-%02d", i+40), "More.", 1})
	}
	cfb := append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 600)...)
	for _, test := range []struct {
		name        string
		data        []byte
		reason      error
		sheet, cell string
		words       string
	}{
		{"nothing", nil, ErrNotWorkbook, "", "", "not an .xlsx workbook"},
		{"text", []byte("SCF Domain,SCF Control"), ErrNotWorkbook, "", "", "not an .xlsx workbook"},
		{
			"rows without controls",
			build(t, grid{"SCF 2022.3", slices.Concat(good.rows, slices.Repeat([][]any{{}, {"a"}}, 30))}),
			ErrTooManyRows,
			"SCF 2022.3",
			"",
			"rows",
		},
		{"password", cfb, ErrNotWorkbook, "", "", "password-protected"},
		{"another archive", rezip(t, build(t, good), func(name string, body []byte) []byte {
			if name == "xl/workbook.xml" {
				return nil
			}
			return body
		}), ErrNotWorkbook, "", "", "xl/workbook.xml is missing"},
		{"half a file", build(t, good)[:3000], ErrNotWorkbook, "", "", "not an .xlsx workbook"},
		{"ten gigabytes", bomb(t), ErrTooLarge, "", "", "unpacks to more than"},
		{"no main sheet", build(t, grid{"Budget", [][]any{{"Month", "Sum"}, {"May", 3}}}), ErrNoMainSheet, "", "", `"Budget"`},
		{"an empty sheet", build(t, grid{"Empty", nil}), ErrNoMainSheet, "", "", "has the SCF's columns"},
		{"two main sheets", build(t, good, mainGrid("SCF 2022.3 (2)")), ErrTwoMainSheets, "SCF 2022.3 (2)", "", `"SCF 2022.3"`},
		{"no codes", build(t, change(0, 2, "Number")), ErrMissingColumn, "SCF 2022.3", "A1", `"SCF #"`},
		{"no texts", build(t, change(0, 3, "Words")), ErrMissingColumn, "SCF 2022.3", "A1", "Control Description"},
		{"codes twice", build(t, mainGrid("SCF 2022.3", []any{"SCF #", "IAC-01", "", ""})), ErrDoubledColumn, "SCF 2022.3", "F1", "C1"},
		{"a header alone", build(t, grid{"SCF 2022.3", good.rows[:1]}), ErrNoMainSheet, "SCF 2022.3", "", "no controls"},
		{"a bad code", build(t, change(2, 2, "IAC-6")), ErrBadCode, "SCF 2022.3", "C3", `"IAC-6"`},
		{"no code", build(t, change(2, 2, nil)), ErrBadCode, "SCF 2022.3", "C3", "no control code"},
		{"a code twice", build(t, change(3, 2, "IAC-01")), ErrDuplicateCode, "SCF 2022.3", "C4", "C2"},
		{"too many rows", build(t, many), ErrTooManyRows, "SCF 2022.3", "", "34 rows"},
		{"a far row", editSheet(t, build(t, good), func(xml string) string {
			return strings.Replace(xml, `<row r="4"`, `<row r="1000000"`, 1)
		}), ErrTooManyRows, "SCF 2022.3", "", "1000000 rows"},
		{
			"too many cells",
			build(t, good, grid{"x", slices.Repeat([][]any{slices.Repeat([]any{1}, 50)}, 40)}),
			ErrTooManyCells,
			"x",
			"",
			"more than 1000 cells",
		},
		{"too many texts", rezip(t, build(t, good), func(name string, body []byte) []byte {
			if strings.HasSuffix(name, "sharedStrings.xml") {
				return []byte("<sst>" + strings.Repeat("<si/>", 1100) + "</sst>")
			}
			return body
		}), ErrTooManyCells, "", "", "more than 1000 strings"},
		{"endless styles", rezip(t, build(t, good), func(name string, body []byte) []byte {
			if strings.HasSuffix(name, "styles.xml") {
				return bytes.Repeat([]byte("<xf/>"), 1<<20)
			}
			return body
		}), ErrTooLarge, "", "", "xl/styles.xml"},
		{
			"too many columns",
			build(
				t,
				grid{"SCF 2022.3", [][]any{append(slices.Clone(good.rows[0]), make([]any, 90)...), {}}},
				grid{"x", [][]any{slices.Repeat([]any{"y"}, 90)}},
			),
			ErrTooManyColumns,
			"x",
			"CL1",
			"90 columns",
		},
		{"a huge cell", build(t, change(1, 3, strings.Repeat("a", 20_000))), ErrCellTooLarge, "SCF 2022.3", "D2", "20000 bytes"},
		{
			"a sheet cut off", editSheet(t, build(t, good), func(xml string) string { return xml[:strings.Index(xml, `<row r="3"`)] }),
			ErrDamaged, "SCF 2022.3", "", "truncated",
		},
		{"broken XML", editSheet(t, build(t, good), func(xml string) string {
			return strings.Replace(xml, `<row r="3"`, `<broken></row><row r="3"`, 1)
		}), ErrDamaged, "SCF 2022.3", "A3", "the rest of the sheet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := readBytes(test.data, Options{Label: "1", Limits: Limits{Controls: 20, Columns: 80, Cells: 1000, CellBytes: 10_000}})
			var refusal *ReadError
			if !errors.As(err, &refusal) {
				t.Fatalf("got %v", err)
			}
			if !errors.Is(err, test.reason) || refusal.Sheet != test.sheet || refusal.Cell != test.cell ||
				!strings.Contains(err.Error(), test.words) {
				t.Errorf("got %v (%v)", err, refusal.Reason)
			}
		})
	}
}

func TestFileTooLarge(t *testing.T) {
	data := build(t, mainGrid("SCF 2022.3"))
	if _, err := readBytes(data, Options{Limits: Limits{File: 100}}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if _, err := readBytes(data, Options{Limits: Limits{Parts: 3}}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	// A part may contain more than it declares.
	lie := bytes.Clone(data)
	for at := 0; ; {
		next := bytes.Index(lie[at:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		at += next + 4
		binary.LittleEndian.PutUint32(lie[at+20:], 10)
	}
	if _, err := readBytes(lie, Options{}); err == nil {
		t.Error("a part longer than declared was taken")
	}
}

func TestMacrosAndLinksAreTold(t *testing.T) {
	data := build(t, mainGrid("SCF 2022.3"))
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	for _, f := range z.File {
		must(t, w.Copy(f))
	}
	for _, name := range []string{"xl/vbaProject.bin", "xl/externalLinks/externalLink1.xml"} {
		part, err := w.Create(name)
		must(t, err)
		_, err = part.Write([]byte("<x/>"))
		must(t, err)
	}
	must(t, w.Close())
	// This is how Excel saves an .xlsm file.
	macros := rezip(t, out.Bytes(), func(name string, body []byte) []byte {
		if name == "[Content_Types].xml" {
			return bytes.Replace(
				body,
				[]byte("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"),
				[]byte("application/vnd.ms-excel.sheet.macroEnabled.main+xml"),
				1,
			)
		}
		return body
	})
	for _, data := range [][]byte{out.Bytes(), macros} {
		src, err := readBytes(data, Options{Label: "2022.3"})
		must(t, err)
		wantWarning(t, src, "", "macros")
		wantWarning(t, src, "", "externalLink1.xml")
	}
}

// TestBombsAreBounded checks that highly compressed files are read with bounded memory.
func TestBombsAreBounded(t *testing.T) {
	// By default, test a tenth of the limits with a tenth of the data.
	scale, limits := 1, Limits{}
	if !longtest.Enabled() {
		scale, limits = 10, Limits{Cells: 300_000}
	}
	good := build(t, mainGrid("SCF 2022.3"))
	row := `<row>` + strings.Repeat("<c><v>1</v></c>", 1500) + `</row>`
	for name, change := range map[string]func(part string, body []byte) []byte{
		"cells": func(part string, body []byte) []byte {
			if strings.HasSuffix(part, "sheet1.xml") {
				return []byte("<worksheet><sheetData>" + strings.Repeat(row, 6000/scale) + "</sheetData></worksheet>")
			}
			return body
		},
		"one row": func(part string, body []byte) []byte {
			if strings.HasSuffix(part, "sheet1.xml") {
				return []byte("<worksheet><sheetData><row>" + strings.Repeat("<c/>", 30_000_000/scale) + "</row></sheetData></worksheet>")
			}
			return body
		},
		"texts": func(part string, body []byte) []byte {
			if strings.HasSuffix(part, "sharedStrings.xml") {
				return []byte("<sst>" + strings.Repeat("<si/>", 25_000_000/scale) + "</sst>")
			}
			return body
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := rezip(t, good, change)
			// Collect garbage often, whatever the environment's setting, so that the peak reflects the memory in use.
			defer debug.SetGCPercent(debug.SetGCPercent(20))
			runtime.GC()
			before, stop := watch()(), watch()
			_, err := readBytes(data, Options{Limits: limits})
			held := stop() - before
			if !errors.Is(err, ErrTooManyCells) {
				t.Errorf("got %v", err)
			}
			if held > 50+650/float64(scale) {
				t.Errorf("%.0f MB were held", held)
			}
			t.Logf("%d KB packed, %.0f MB held", len(data)>>10, held)
		})
	}
}

func TestCancelled(t *testing.T) {
	data := build(t, mainGrid("SCF 2022.3"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, bytes.NewReader(data), int64(len(data)), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
