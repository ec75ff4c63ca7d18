package workbook

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
)

// Properties specifies the properties of a workbook, such as its title.
type Properties struct {
	Title, Subject, Creator string
	// Provenance states the IDs and hashes of the data.
	Provenance string
	// Assessment is the assessment's ID; importing into another assessment is rejected.
	Assessment string
	// AsOf is the date of the data; the file contains no other date.
	AsOf  time.Time
	Theme drawing.Theme
	// Letter sets up pages of that size instead of A4.
	Letter bool
	// Footer is printed at the bottom of each page.
	Footer string
	// DraftMark is printed at the top of each page, such as DRAFT.
	DraftMark string
	// Logo is an optional PNG above the cover's title, with its size in pixels.
	Logo                  []byte
	LogoWidth, LogoHeight float64
}

// Writer writes a workbook sheet by sheet.
type Writer struct {
	properties Properties
	file       *excelize.File
	styles     styleIDs
	sheetNames []string
	longTexts  [][4]string // sheet, cell, part number, text
	sourceRows [][]string
	hasItems   bool
}

// NewWriter returns a Writer for a new workbook. The caller must close it.
func NewWriter(props Properties) (*Writer, error) {
	b := &Writer{properties: props, file: excelize.NewFile()}
	when := props.AsOf
	if when.IsZero() || when.Year() < 1901 || when.Year() > 9999 {
		when = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	stamp := when.UTC().Format("2006-01-02T15:04:05Z")
	status := "Final"
	if props.DraftMark != "" {
		status = "Draft"
	}
	plain := wording.ReplaceControlCharacters
	err := b.file.SetDocProps(&excelize.DocProperties{
		Title: plain(props.Title), Subject: plain(props.Subject), Creator: plain(props.Creator), LastModifiedBy: plain(props.Creator),
		Keywords: plain(props.Provenance), ContentStatus: status, Created: stamp, Modified: stamp,
	})
	if err == nil {
		b.styles, err = newStyles(b.file, props.Theme)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("a new workbook: %w", err), b.file.Close())
	}
	return b, nil
}

// Close releases the resources that the workbook uses, such as temporary files.
func (b *Writer) Close() error { return b.file.Close() }

// addSheet adds a sheet. If name is not valid or not unique, the sheet gets a similar name.
// addSheet returns the actual name.
func (b *Writer) addSheet(name string) (string, error) {
	name = uniqueSheetName(name, b.sheetNames)
	b.sheetNames = append(b.sheetNames, name)
	if len(b.sheetNames) == 1 {
		return name, b.file.SetSheetName("Sheet1", name)
	}
	_, err := b.file.NewSheet(name)
	return name, err
}

// uniqueSheetName returns a valid sheet name that is not in the list used. It changes name as little as necessary.
func uniqueSheetName(name string, used []string) string {
	name = strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`[]:*?/\`, r) || r < 0x20 {
			return ' '
		}
		return r
	}, name), " '")
	if name == "" {
		name = "Sheet"
	}
	cut := func(s string, most int) string { return splitText(s, most)[0] }
	out := cut(name, 31)
	for n := 2; slices.ContainsFunc(used, func(t string) bool { return strings.EqualFold(t, out) }); n++ {
		out = cut(name, 25) + " " + strconv.Itoa(n)
	}
	return out
}

// fitTextOrOverflow returns the text to write into a cell. If s is too long, it returns the beginning of s with a
// note that says where to find the remaining text, which is written to a separate sheet.
func (b *Writer) fitTextOrOverflow(s, sheet, cell string) string {
	s = wording.ReplaceControlCharacters(s)
	if utf16Length(s) <= maxCellUnits {
		return s
	}
	parts := splitText(s, maxCellUnits-200)
	first := len(b.longTexts) + 3 // below the sheet's title and header
	for i, p := range parts[1:] {
		b.longTexts = append(b.longTexts, [4]string{sheet, cell, fmt.Sprintf("%d of %d", i+2, len(parts)), p})
	}
	return parts[0] + fmt.Sprintf(
		"\n[part 1 of %d; continued in the sheet %q, rows %d to %d]",
		len(parts),
		longTextsSheet,
		first,
		first+len(parts)-2,
	)
}

const (
	longTextsSheet = "Long texts"
	sourceSheet    = "Source"
)

// WriteTo completes the workbook and writes it to w.
func (b *Writer) WriteTo(w io.Writer) (int64, error) {
	if err := errors.Join(b.writeLongTexts(), b.writeSourceSheet()); err != nil {
		return 0, err
	}
	if types := b.file.ContentTypes; types != nil { // excelize adds the content types of charts in random order
		sort.Slice(types.Defaults, func(i, j int) bool { return types.Defaults[i].Extension < types.Defaults[j].Extension })
	}
	raw, err := b.file.WriteToBuffer()
	if err != nil {
		return 0, fmt.Errorf("packing the workbook: %w", err)
	}
	return repackDeterministically(w, raw.Bytes())
}

// repackDeterministically writes the archive again, with its parts in a fixed order and with a fixed date, so that
// the same content always gives the same bytes.
func repackDeterministically(w io.Writer, raw []byte) (int64, error) {
	in, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return 0, fmt.Errorf("packing the workbook: %w", err)
	}
	const first = "[Content_Types].xml"
	slices.SortFunc(in.File, func(a, b *zip.File) int {
		if (a.Name == first) != (b.Name == first) {
			return map[bool]int{true: -1, false: 1}[a.Name == first]
		}
		return strings.Compare(a.Name, b.Name)
	})
	counted := &countingWriter{w: w}
	out := zip.NewWriter(counted)
	for _, f := range in.File {
		// 1980-01-01 is the earliest date in a zip archive.
		h := &zip.FileHeader{
			Name: f.Name, Method: f.Method, CRC32: f.CRC32, CompressedSize64: f.CompressedSize64,
			UncompressedSize64: f.UncompressedSize64,
			ModifiedDate:       1<<5 | 1, //nolint:staticcheck // CreateRaw writes this field
		}
		part, err := out.CreateRaw(h)
		if err != nil {
			return counted.n, err
		}
		from, err := f.OpenRaw()
		if err != nil {
			return counted.n, err
		}
		if _, err := io.Copy(part, from); err != nil {
			return counted.n, err
		}
	}
	return counted.n, out.Close()
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// writeLongTexts adds a sheet that contains the remaining parts of texts that are too long for their cells.
func (b *Writer) writeLongTexts() error {
	if len(b.longTexts) == 0 {
		return nil
	}
	rows := b.longTexts
	name, err := b.addSheet(longTextsSheet)
	if err != nil {
		return err
	}
	return b.streamRows(name, []float64{24, 8, 10, 120}, sheetPanes{rows: 2}, func(put func(height float64, cells ...any) error) error {
		if err := put(0, b.newCell(b.styles.title, "Continuation of texts that exceed the cell limit")); err != nil {
			return err
		}
		if err := put(0, b.headCells("Sheet", "Cell", "Part", "Text")...); err != nil {
			return err
		}
		for _, r := range rows {
			if err := put(
				120,
				b.newCell(b.styles.text, r[0]),
				b.newCell(b.styles.text, r[1]),
				b.newCell(b.styles.text, r[2]),
				b.newCell(b.styles.text, r[3]),
			); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeSourceSheet adds a hidden sheet that records the state of the exported items, so that an
// import can detect changes.
func (b *Writer) writeSourceSheet() error {
	if !b.hasItems {
		return nil // nothing can be imported
	}
	name, err := b.addSheet(sourceSheet)
	if err != nil {
		return err
	}
	// SetSheetVisible is not used, because it would read all sheets again.
	listed := b.file.WorkBook.Sheets.Sheet
	listed[len(listed)-1].State = "hidden"
	return b.streamRows(
		name,
		[]float64{14, 24, 38, 38, 12, 12, 10, 60},
		sheetPanes{},
		func(put func(height float64, cells ...any) error) error {
			for _, r := range append([][]string{
				{"An import compares the workbook with this sheet to find the changes. Do not edit it."},
				{"form", sourceFormatVersion},
				{"assessment", b.properties.Assessment},
				sourceHeader,
			}, b.sourceRows...) {
				cells := make([]any, len(r))
				for i, s := range r {
					cells[i] = b.newCell(b.styles.text, s)
				}
				if err := put(0, cells...); err != nil {
					return err
				}
			}
			return nil
		},
	)
}

// sourceFormatVersion is the version of the hidden sheet's format. It must be increased when the meaning of the
// sheet's rows changes.
const sourceFormatVersion = "1"

var sourceHeader = []string{"layout", "sheet", "key", "item", "control", "plan", "revision", "cells"}

func (b *Writer) newCell(style int, v any) excelize.Cell {
	return excelize.Cell{StyleID: style, Value: v}
}

func (b *Writer) headCells(names ...string) []any {
	out := make([]any, len(names))
	for i, n := range names {
		out[i] = b.newCell(b.styles.head, n)
	}
	return out
}

// sheetPanes specifies how many rows and columns of a sheet stay visible when scrolling, and which rows are
// merged.
type sheetPanes struct {
	rows, columns int
	mergedRows    []int
}

// streamRows writes the rows of a sheet one by one, so that they don't all have to be in memory at once.
func (b *Writer) streamRows(
	name string,
	widths []float64,
	panes sheetPanes,
	rows func(put func(height float64, cells ...any) error) error,
) error {
	if err := b.setPageLayout(name, len(widths)); err != nil {
		return err
	}
	out, err := b.file.NewStreamWriter(name)
	if err != nil {
		return err
	}
	for i, w := range widths {
		if err := out.SetColWidth(i+1, i+1, math.Min(math.Max(w, 4), 200)); err != nil {
			return err
		}
	}
	if panes.rows > 0 {
		active := "bottomLeft"
		if panes.columns > 0 {
			active = "bottomRight"
		}
		if err := out.SetPanes(&excelize.Panes{
			Freeze:      true,
			XSplit:      panes.columns,
			YSplit:      panes.rows,
			TopLeftCell: cellName(panes.columns+1, panes.rows+1),
			ActivePane:  active,
		}); err != nil {
			return err
		}
	}
	for _, row := range panes.mergedRows {
		if err := out.MergeCell(cellName(1, row), cellName(len(widths), row)); err != nil {
			return err
		}
	}
	row := 0
	err = rows(func(height float64, cells ...any) error {
		row++
		return out.SetRow("A"+strconv.Itoa(row), cells, excelize.RowOpts{Height: math.Min(height, 400)})
	})
	if err != nil {
		return fmt.Errorf("sheet %q, row %d: %w", name, row, err)
	}
	return out.Flush()
}

// truncateRunes shortens a text to at most maxRunes characters. If anything is cut off, the result ends in
// "…".
func truncateRunes(s string, maxRunes int) string {
	if r := []rune(s); len(r) > maxRunes {
		return strings.TrimSuffix(string(r[:maxRunes-1]), "&") + "…"
	}
	return s
}

// setPageLayout sets how a sheet is printed: the paper, orientation and width of the page, the page numbers, and the
// note that marks a draft.
func (b *Writer) setPageLayout(name string, columns int) error {
	landscape, wide, tall := "landscape", 1, 0
	if columns <= 2 {
		landscape = "portrait"
	}
	escaped := strings.ReplaceAll(b.properties.DraftMark, "&", "&&")
	if escaped != "" {
		escaped = "&C&B" + escaped
	}
	footer := ""
	if b.properties.Footer != "" {
		footer = "&C" + truncateRunes(strings.ReplaceAll(b.properties.Footer, "&", "&&"), 180) // a footer is limited to 255 characters
	}
	const a4, letter = 9, 1
	paper := a4
	if b.properties.Letter {
		paper = letter
	}
	fit := columns <= 12 // wider sheets are printed across several pages
	return errors.Join(
		b.file.SetPageLayout(name, &excelize.PageLayoutOptions{Orientation: &landscape, FitToWidth: &wide, FitToHeight: &tall, Size: &paper}),
		b.file.SetSheetProps(name, &excelize.SheetPropsOptions{FitToPage: &fit}),
		b.file.SetHeaderFooter(name, &excelize.HeaderFooterOptions{OddHeader: escaped, OddFooter: "&L&A" + footer + "&RPage &P of &N"}),
	)
}
