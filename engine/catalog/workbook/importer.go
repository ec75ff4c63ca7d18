// Package workbook reads the SCF's official Excel workbooks, from 2018.1 on, into a scf.Source. A
// workbook is accepted whole or rejected; irregularities are reported as warnings with sheet and
// cell.
//
// Sheets and columns are recognized by their headers, never by their position. The package
// evaluates no formulas, follows no links, and does not correct what the source states.
package workbook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Options configures Read.
type Options struct {
	// Label is the release, such as "2026.1.1". The default is the release in the file name, or
	// else the one in the main sheet's name, which often differs.
	Label    string
	Filename string
	// Aliases are a user's own aliases, which take precedence over the built-in ones; may be nil.
	Aliases *scf.Aliases
	Limits  Limits
}

// Limits bounds the size of a workbook. Zero means the default.
type Limits struct {
	File      int64 // bytes of the file; default 64 MiB
	Unpacked  int64 // bytes of all parts; default 160 MiB (2026.1.1 has about 60 MiB)
	Parts     int   // in the archive; default 5,000
	Sheets    int   // default 100
	Controls  int   // rows of the main sheet; default 10,000
	Rows      int   // of any other sheet; default 50,000
	Columns   int   // of any sheet; default 2,000
	Cells     int   // of all sheets; default 3,000,000 (2026.1.1 has 800,000)
	CellBytes int   // bytes of a cell's text; default 100,000 (Excel allows 32,767 characters)
	Warnings  int   // warnings that are kept, the others are only counted; default 2,000
}

func (l Limits) withDefaults() Limits {
	return Limits{
		File:      cmp.Or(l.File, 64<<20),
		Unpacked:  cmp.Or(l.Unpacked, 160<<20),
		Parts:     cmp.Or(l.Parts, 5000),
		Sheets:    cmp.Or(l.Sheets, 100),
		Controls:  cmp.Or(l.Controls, 10_000),
		Rows:      cmp.Or(l.Rows, 50_000),
		Columns:   cmp.Or(l.Columns, 2000),
		Cells:     cmp.Or(l.Cells, 3_000_000),
		CellBytes: cmp.Or(l.CellBytes, 100_000),
		Warnings:  cmp.Or(l.Warnings, 2000),
	}
}

// Read reads a workbook of the given size. If the file is rejected, the error is a *ReadError.
func Read(ctx context.Context, r io.ReaderAt, size int64, o Options) (src *scf.Source, err error) {
	defer func() { // the library may panic on malicious files
		if p := recover(); p != nil {
			src, err = nil, readErrorf(ErrDamaged, "", "", "the workbook can't be read: %v", p)
		}
	}()
	o.Limits = o.Limits.withDefaults()
	b, notes, err := openWorkbook(r, size, o.Limits)
	if err != nil {
		return nil, err
	}
	defer b.file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(r, 0, size)); err != nil {
		return nil, fmt.Errorf("reading the workbook: %w", err)
	}
	filename := ""
	if o.Filename != "" {
		filename = path.Base(strings.ReplaceAll(o.Filename, `\`, "/"))
	}
	im := &importer{
		book: b,
		src: &scf.Source{
			Filename: filename, SHA256: hex.EncodeToString(sum.Sum(nil)), Warnings: []api.ImportWarning{},
		},
		byCode: map[string]int{}, evidenceCodesByControl: map[string][]string{}, aliases: o.Aliases,
	}
	for _, note := range notes {
		im.warn("", "", "%s", note)
	}
	if err := im.importSheets(ctx, o); err != nil {
		return nil, err
	}
	return im.src, nil
}

// openWorkbook checks an archive and unpacks it.
func openWorkbook(r io.ReaderAt, size int64, limits Limits) (book *workbookReader, warnings []string, _ error) {
	parts, notes, err := inspectArchive(r, size, limits)
	if err != nil {
		return nil, nil, err
	}
	// The limits must be equal, because excelize writes sheets larger than the second one to temporary files.
	file, err := excelize.OpenReader(io.NewSectionReader(r, 0, size), excelize.Options{
		UnzipSizeLimit: limits.Unpacked, UnzipXMLSizeLimit: limits.Unpacked, RawCellValue: true,
	})
	if err != nil {
		return nil, nil, readErrorf(ErrDamaged, "", "", "the workbook can't be read: %v", err)
	}
	if raw, _ := file.Pkg.Load("xl/sharedStrings.xml"); raw != nil {
		// excelize decodes all texts when the first one is used.
		if texts, _ := raw.([]byte); bytes.Count(texts, []byte("<")) > limits.Cells {
			return nil, nil, errors.Join(
				readErrorf(ErrTooManyCells, "", "", "the workbook has more than %d strings", limits.Cells),
				file.Close(),
			)
		}
	}
	b := &workbookReader{file: file, parts: parts, limits: limits, surveys: map[string]sheetSurvey{}}
	b.dropUnusedParts()
	return b, notes, nil
}

// importer builds a Source from a workbook.
type importer struct {
	book    *workbookReader
	src     *scf.Source
	byCode  map[string]int // control code to index
	aliases *scf.Aliases

	main      *sheet
	headerRow int // of main
	columns   []mainColumn
	// headerlessColumns is the number of columns without a header; they are at the end of columns.
	headerlessColumns int
	controlRows       []int           // row in main of each control
	sources           []focalDocument // the list of authoritative sources
	droppedWarnings   int             // warnings beyond the limit

	// Indexes of evidence requests by code, and the links of controls to requests: codes in the
	// main sheet, indexes in the list of evidence requests.
	evidenceByCode           map[string]int
	evidenceCodesByControl   map[string][]string
	evidenceEntriesByControl map[string][]int
}

func (im *importer) warn(sheet, cell, message string, args ...any) {
	im.src.Statistics.Warnings++
	if len(im.src.Warnings) >= im.book.limits.Warnings {
		im.droppedWarnings++
		return
	}
	im.src.Warnings = append(im.src.Warnings, api.ImportWarning{Sheet: sheet, Cell: cell, Message: fmt.Sprintf(message, args...)})
}

func (im *importer) importSheets(ctx context.Context, o Options) error {
	heads := make([]*sheet, len(im.book.parts))
	for i, p := range im.book.parts {
		head, err := im.book.readHead(ctx, p)
		if err != nil {
			return err
		}
		heads[i] = head
	}
	which, err := im.selectMainSheet(heads)
	if err != nil {
		return err
	}
	im.main = heads[which]
	im.setReleaseLabel(o)
	// Read the list of sources first, because it helps to classify the main sheet's columns.
	for _, step := range []func() error{
		func() error { return im.readAuxiliary(ctx, heads, which, beforeMain) },
		func() error { return im.readMainSheet(ctx, im.book.parts[which]) },
		func() error { return im.readAuxiliary(ctx, heads, which, afterMain) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	im.linkEvidenceToControls()
	im.buildDomains()
	im.countStatistics()
	return nil
}

// selectMainSheet returns the index of the only sheet with controls, and records its header row and columns.
// In every release, the header is the first row, but users may have inserted rows above it.
func (im *importer) selectMainSheet(firstRows []*sheet) (index int, _ error) {
	found := -1
	var almost *sheet
	for i, h := range firstRows {
		row, columns := findMainHeader(h)
		switch {
		case row >= 0 && found >= 0:
			return 0, readErrorf(ErrTwoMainSheets, h.name, "", "this sheet and %q both contain controls; remove one of them", firstRows[found].name)
		case row >= 0:
			found, im.headerRow, im.columns = i, row, columns
		case len(h.rows) > 0 && (mainSheetName.MatchString(strings.TrimSpace(h.name)) || len(missingColumns(classifyHeaders(h.rows[0]))) == 1):
			almost = h
		}
	}
	if found >= 0 {
		return found, im.resolveDuplicateColumns(firstRows[found].name)
	}
	if almost != nil {
		if lacks := missingColumns(classifyHeaders(almost.rows[0])); len(lacks) > 0 {
			return 0, readErrorf(ErrMissingColumn, almost.name, "A1", "row 1 lacks %s", quoteColumns(lacks))
		}
	}
	var names []string
	for _, h := range firstRows {
		names = append(names, h.name)
	}
	return 0, readErrorf(
		ErrNoMainSheet,
		"",
		"",
		"none of the sheets (%q) has the SCF's columns (SCF Domain, SCF Control, SCF #, description)",
		names,
	)
}

// quoteColumns returns a phrase such as: the columns "a" and "b".
func quoteColumns(columns []string) string {
	if len(columns) == 1 {
		return fmt.Sprintf("the column %q", columns[0])
	}
	out := "the columns "
	for i, c := range columns {
		switch {
		case i == len(columns)-1:
			out += " and "
		case i > 0:
			out += ", "
		}
		out += fmt.Sprintf("%q", c)
	}
	return out
}

// resolveDuplicateColumns returns an error if a mandatory column occurs twice. Other duplicates become
// unknown columns.
func (im *importer) resolveDuplicateColumns(name string) error {
	first := map[string]mainColumn{}
	for i := range im.columns {
		c := &im.columns[i]
		if c.role == roleUnknown || c.role == roleCrosswalk || c.role == roleErrata || c.role == roleNote || c.role == roleSummary {
			continue
		}
		key := fmt.Sprint(c.role, c.name, c.level)
		before, duplicate := first[key]
		if !duplicate {
			first[key] = *c
			continue
		}
		where := cellName(im.headerRow+1, c.index+1)
		for _, m := range mandatoryColumns {
			if m.role == c.role {
				return readErrorf(
					ErrDoubledColumn,
					name,
					where,
					"column %q also appears at %s; remove one of them",
					c.header,
					cellName(im.headerRow+1, before.index+1),
				)
			}
		}
		im.warn(name, where, "column %q repeats the one at %s and was treated as unknown", c.header, cellName(im.headerRow+1, before.index+1))
		c.role = roleUnknown
	}
	if _, ok := first[fmt.Sprint(roleWeight, "", 0)]; !ok {
		im.warn(name, cellName(im.headerRow+1, 1), "the sheet has no weight column")
	}
	return nil
}

// releasePattern matches a release in a name, such as 2022.3 or 2026-1-1. In the form with hyphens, the parts
// after the year have one digit, because two digits would be a date.
var releasePattern = lazyregexp.New(`(?:^|\D)(20\d{2})(?:\.(\d{1,2})(?:\.(\d{1,2}))?|-(\d)(?:-(\d))?)(?:\D|$)`)

func findRelease(text string) string {
	m := releasePattern.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	label := m[1]
	for _, part := range m[2:] {
		if part != "" {
			label += "." + part
		}
	}
	return label
}

// setReleaseLabel sets the release label to the first of these that is known: the label in the options, the
// release in the file name, the release in the sheet name.
func (im *importer) setReleaseLabel(o Options) {
	name := im.main.name
	hint := findRelease(name)
	label := cmp.Or(strings.TrimSpace(o.Label), findRelease(im.src.Filename), hint)
	switch {
	case label == "":
		label = cmp.Or(strings.TrimSuffix(im.src.Filename, path.Ext(im.src.Filename)), "unknown")
		im.warn(name, "", "the SCF release is unknown, so the import is labeled %q; specify a label to change this", label)
	case hint != "" && hint != label:
		im.warn(name, "", "the sheet name indicates release %s, but the import is labeled %s", hint, label)
	}
	im.src.Label = label
}

func (im *importer) countStatistics() {
	im.src.SetContentStatistics()
	st := &im.src.Statistics // warnings, cells and unknown columns have been counted while reading
	st.Sheets, st.Columns, st.Sources = len(im.book.parts), len(im.columns)-im.headerlessColumns, len(im.sources)
	st.FormulaCells = im.main.survey.formulas
	if im.droppedWarnings > 0 {
		im.src.Warnings = append(
			im.src.Warnings,
			api.ImportWarning{Message: fmt.Sprintf("%d more warnings are not listed", im.droppedWarnings)},
		)
	}
}
