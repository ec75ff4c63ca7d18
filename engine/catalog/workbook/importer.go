// Package workbook reads the SCF's official Excel workbooks, from 2018.1 on, into a
// catalog.Source: whole or not at all, with every oddity named by sheet and cell.
//
// Columns and sheets are known by what their headers say, never by where a release put
// them. The package ships no text of the SCF, evaluates no formula, follows no link, and
// corrects nothing that the source states.
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

// Options tell Read what the file cannot.
type Options struct {
	// Label is the release, such as "2026.1.1". Empty: taken from the file's name, else
	// from the main sheet's. The sheet's name is often not the release.
	Label    string
	Filename string
	// Aliases are a user's own, before those that are built in; may be nil.
	Aliases *scf.Aliases
	Limits  Limits // zero fields take the default
}

// Limits bound what a file may cost. Sizes are in bytes.
type Limits struct {
	File      int64 // of the file; 64 MiB
	Unpacked  int64 // of all parts; 160 MiB (2026.1.1 has about 60)
	Parts     int   // in the archive; 5,000
	Sheets    int   // in the workbook; 100
	Controls  int   // rows of the main sheet; 10,000
	Rows      int   // rows of any other sheet; 50,000
	Columns   int   // of any sheet; 2,000
	Cells     int   // of all sheets; 3,000,000 (2026.1.1 has 0.8 million)
	CellBytes int   // text of a cell; 100,000 (Excel itself allows 32,767 letters)
	Warnings  int   // kept; the rest is counted; 2,000
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

// Read takes a workbook of the given size. A file that is refused is a *Refusal; other
// errors are of reading it or of ctx.
func Read(ctx context.Context, r io.ReaderAt, size int64, o Options) (src *scf.Source, err error) {
	defer func() { // the file is hostile and the library large
		if p := recover(); p != nil {
			src, err = nil, readErrorf(ErrDamaged, "", "", "the workbook cannot be read: %v", p)
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

// openWorkbook looks at the archive and unpacks it.
func openWorkbook(r io.ReaderAt, size int64, limits Limits) (*workbookReader, []string, error) {
	parts, notes, err := inspectArchive(r, size, limits)
	if err != nil {
		return nil, nil, err
	}
	// Both limits alike: larger sheets would go to temporary files.
	file, err := excelize.OpenReader(io.NewSectionReader(r, 0, size), excelize.Options{
		UnzipSizeLimit: limits.Unpacked, UnzipXMLSizeLimit: limits.Unpacked, RawCellValue: true,
	})
	if err != nil {
		return nil, nil, readErrorf(ErrDamaged, "", "", "the workbook cannot be read: %v", err)
	}
	if raw, _ := file.Pkg.Load("xl/sharedStrings.xml"); raw != nil {
		// They are all unpacked when the first is asked for.
		if texts, _ := raw.([]byte); bytes.Count(texts, []byte("<")) > limits.Cells {
			return nil, nil, errors.Join(
				readErrorf(ErrTooManyCells, "", "", "the workbook has more than %d texts", limits.Cells),
				file.Close(),
			)
		}
	}
	return &workbookReader{file: file, parts: parts, limits: limits, surveys: map[string]sheetSurvey{}}, notes, nil
}

// importer builds one Source.
type importer struct {
	book    *workbookReader
	src     *scf.Source
	byCode  map[string]int // control code to index
	aliases *scf.Aliases

	main      *sheet
	headerRow int // row of main that names the columns
	columns   []mainColumn
	// headerlessColumns are the columns at their end that have no header.
	headerlessColumns int
	controlRows       []int           // of main, for each control
	sources           []focalDocument // the list of authoritative sources
	droppedWarnings   int             // warnings beyond the limit

	// Evidence requests by code, and who links them: controls to codes as the main sheet
	// says, controls to entries as the list of evidence requests says.
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
	which, err := im.findMain(heads)
	if err != nil {
		return err
	}
	im.main = heads[which]
	im.setLabel(o)
	// What the main sheet's columns mean may hang on the list of sources: read that first.
	for _, step := range []func() error{
		func() error { return im.readAuxiliary(ctx, heads, which, beforeMain) },
		func() error { return im.readMain(ctx, im.book.parts[which]) },
		func() error { return im.readAuxiliary(ctx, heads, which, afterMain) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	im.joinEvidence()
	im.buildDomains()
	im.countStatistics()
	return nil
}

// findMain picks the one sheet that holds the controls, and the row that names its columns:
// the first in every release, a later one where somebody wrote a title above it.
func (im *importer) findMain(firstRows []*sheet) (int, error) {
	found := -1
	var almost *sheet
	for i, h := range firstRows {
		row, columns := findMainHeader(h)
		switch {
		case row >= 0 && found >= 0:
			return 0, readErrorf(ErrTwoMainSheets, h.name, "", "this sheet and %q both contain controls; remove one", firstRows[found].name)
		case row >= 0:
			found, im.headerRow, im.columns = i, row, columns
		case len(h.rows) > 0 && (mainSheetName.MatchString(strings.TrimSpace(h.name)) || len(missingColumns(classifyHeaders(h.rows[0]))) == 1):
			almost = h
		}
	}
	if found >= 0 {
		return found, im.checkColumns(firstRows[found].name)
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
		"no sheet has the SCF's columns (SCF Domain, SCF Control, SCF #, description); the sheets are %q",
		names,
	)
}

// quoteColumns names columns: the column "a", or the columns "a" and "b".
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

// checkColumns refuses what would leave the meaning of a control to chance.
func (im *importer) checkColumns(name string) error {
	first := map[string]mainColumn{}
	for i := range im.columns {
		c := &im.columns[i]
		if c.role == roleUnknown || c.role == roleCrosswalk || c.role == roleErrata || c.role == roleNote || c.role == roleSummary {
			continue
		}
		key := fmt.Sprint(c.role, c.name, c.level)
		before, twice := first[key]
		if !twice {
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
					"%q is also in %s: remove one",
					c.header,
					cellName(im.headerRow+1, before.index+1),
				)
			}
		}
		im.warn(name, where, "%q repeats %s; kept as an unknown column", c.header, cellName(im.headerRow+1, before.index+1))
		c.role = roleUnknown
	}
	if _, ok := first[fmt.Sprint(roleWeight, "", 0)]; !ok {
		im.warn(name, cellName(im.headerRow+1, 1), "there is no weight column")
	}
	return nil
}

// releasePattern finds a release in a name: 2022.3, 2026-1-1. Hyphens may also write a date,
// whose parts have two digits.
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

// setLabel settles the release: the caller's word, the file's name, the sheet's, in this order.
func (im *importer) setLabel(o Options) {
	name := im.main.name
	hint := findRelease(name)
	label := strings.TrimSpace(o.Label)
	if label == "" {
		label = findRelease(im.src.Filename)
	}
	if label == "" {
		label = hint
	}
	switch {
	case label == "":
		label = strings.TrimSuffix(im.src.Filename, path.Ext(im.src.Filename))
		if label == "" {
			label = "unknown"
		}
		im.warn(name, "", "the release is unknown; labeled %q. Specify a label to change this", label)
	case hint != "" && hint != label:
		im.warn(name, "", "the sheet name says release %s, but the import is labeled %s", hint, label)
	}
	im.src.Label = label
}

func (im *importer) countStatistics() {
	st := &im.src.Statistics // already counts warnings, cells and columns
	n := im.src.CountStatistics()
	st.Controls, st.Domains, st.Frameworks, st.Requirements, st.Mappings =
		n.Controls, n.Domains, n.Frameworks, n.Requirements, n.Mappings
	st.EvidenceRequests, st.Risks, st.Threats, st.Principles = n.EvidenceRequests, n.Risks, n.Threats, n.Principles
	st.AssessmentObjectives, st.CompensatingControls = n.AssessmentObjectives, n.CompensatingControls
	st.Sheets, st.Columns, st.Sources = len(im.book.parts), len(im.columns)-im.headerlessColumns, len(im.sources)
	st.FormulaCells = im.main.survey.formulas
	if im.droppedWarnings > 0 {
		im.src.Warnings = append(
			im.src.Warnings,
			api.ImportWarning{Message: fmt.Sprintf("%d more warnings are not listed", im.droppedWarnings)},
		)
	}
}
