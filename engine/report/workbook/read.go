package workbook

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"
)

// Limits bounds the resources used to read a workbook.
type Limits struct {
	File     int64 // maximum file size in bytes
	Unpacked int64 // maximum size of all unpacked parts in bytes
	Parts    int
	Sheets   int
	Cells    int
	Columns  int
}

// DefaultLimits are large enough for a workbook with all four deliverables of the largest catalog.
var DefaultLimits = Limits{File: 64 << 20, Unpacked: 192 << 20, Parts: 2000, Sheets: 60, Cells: 600_000, Columns: 500}

// ErrWorkbook is returned if a file is not a readable workbook.
var ErrWorkbook = errors.New("the workbook can't be read")

func unreadableErrorf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrWorkbook, fmt.Sprintf(format, args...))
}

// Workbook contains the cells of a workbook that has been read. Formulas were not evaluated, and links were
// not followed.
type Workbook struct {
	sheets   []grid
	from1904 bool
}

// grid contains the cells of a sheet, grouped by row.
type grid struct {
	name string
	rows []gridRow
}

type gridRow struct {
	number int
	cells  map[int]readCell
}

// readCell is the content of a cell that has been read.
type readCell struct {
	text string
	// number is set for numeric cells; text then holds the stored form.
	number   float64
	isNumber bool
	isBool   bool
	// problem explains why the cell has no usable value.
	problem string
}

// Read reads a workbook of the given size.
func Read(ctx context.Context, r io.ReaderAt, size int64, limits Limits) (*Workbook, error) {
	if size > limits.File {
		return nil, unreadableErrorf("the file is %d MiB; the maximum is %d", size>>20, limits.File>>20)
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, unreadableErrorf("the file is not an .xlsx file (%v); save it as an Excel workbook", err)
	}
	if len(archive.File) > limits.Parts {
		return nil, unreadableErrorf("the file has %d parts; the maximum is %d", len(archive.File), limits.Parts)
	}
	b := &workbookReader{ctx: ctx, limits: limits, bytesLeft: limits.Unpacked, cellsLeft: limits.Cells, parts: map[string]*zip.File{}}
	for _, f := range archive.File {
		b.parts[strings.ToLower(strings.TrimPrefix(f.Name, "/"))] = f
	}
	return b.readWorkbook()
}

// workbookReader unpacks and reads a workbook. It enforces the limits.
type workbookReader struct {
	ctx           context.Context
	limits        Limits
	bytesLeft     int64
	cellsLeft     int
	parts         map[string]*zip.File
	sharedStrings []string
}

// readPartOrNil returns the content of a part of the workbook, or nil if there is no such part.
func (b *workbookReader) readPartOrNil(name string) ([]byte, error) {
	f := b.parts[strings.ToLower(name)]
	if f == nil {
		return nil, nil
	}
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	in, err := f.Open()
	if err != nil {
		return nil, unreadableErrorf("the part %s is damaged: %v", name, err)
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, b.bytesLeft+1))
	if err != nil {
		return nil, unreadableErrorf("the part %s is damaged: %v", name, err)
	}
	if b.bytesLeft -= int64(len(data)); b.bytesLeft < 0 {
		return nil, unreadableErrorf("the file unpacks to more than %d MiB", b.limits.Unpacked>>20)
	}
	return data, nil
}

func (b *workbookReader) readWorkbook() (*Workbook, error) {
	main := "xl/workbook.xml"
	rels, err := b.readRelations("_rels/.rels", "")
	if err != nil {
		return nil, err
	}
	for _, r := range rels {
		if strings.HasSuffix(r.kind, "/officeDocument") {
			main = r.target
		}
	}
	data, err := b.readPartOrNil(main)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, unreadableErrorf("the file has no list of sheets; save it as an Excel workbook (.xlsx)")
	}
	var book struct {
		Properties struct {
			Date1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name string `xml:"name,attr"`
			// Accept any namespace, because the format has two variants.
			Attrs []xml.Attr `xml:",any,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := xml.Unmarshal(data, &book); err != nil {
		return nil, unreadableErrorf("the list of sheets is damaged: %v", err)
	}
	if len(book.Sheets) > b.limits.Sheets {
		return nil, unreadableErrorf("the workbook has %d sheets; the maximum is %d", len(book.Sheets), b.limits.Sheets)
	}
	rels, err = b.readRelations(path.Dir(main)+"/_rels/"+path.Base(main)+".rels", path.Dir(main))
	if err != nil {
		return nil, err
	}
	for _, r := range rels {
		if strings.HasSuffix(r.kind, "/sharedStrings") {
			if err := b.readSharedStrings(r.target); err != nil {
				return nil, err
			}
		}
	}
	w := &Workbook{from1904: book.Properties.Date1904 == "1" || book.Properties.Date1904 == "true"}
	for _, s := range book.Sheets {
		id := ""
		for _, a := range s.Attrs {
			if a.Name.Local == "id" && a.Name.Space != "" {
				id = a.Value
			}
		}
		target, kind := rels[id].target, rels[id].kind
		if !strings.HasSuffix(kind, "/worksheet") {
			continue // a chart sheet or a missing part
		}
		data, err := b.readPartOrNil(target)
		if err != nil {
			return nil, err
		}
		g, err := b.readSheet(s.Name, data)
		if err != nil {
			return nil, err
		}
		w.sheets = append(w.sheets, g)
	}
	return w, nil
}

type relation struct{ target, kind string }

func (b *workbookReader) readRelations(name, folder string) (map[string]relation, error) {
	data, err := b.readPartOrNil(name)
	if err != nil || data == nil {
		return nil, err
	}
	var list struct {
		Relations []struct {
			ID     string `xml:"Id,attr"`
			Type   string `xml:"Type,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if err := xml.Unmarshal(data, &list); err != nil {
		return nil, unreadableErrorf("the part %s is damaged: %v", name, err)
	}
	out := map[string]relation{}
	for _, r := range list.Relations {
		target := r.Target
		if strings.HasPrefix(target, "/") {
			target = strings.TrimPrefix(target, "/")
		} else {
			target = path.Join(folder, target)
		}
		out[r.ID] = relation{target, r.Type}
	}
	return out, nil
}

// walkXMLTokens calls visit for each XML token of a part. It returns an error if elements are nested too deeply.
func (b *workbookReader) walkXMLTokens(name string, data []byte, visit func(t xml.Token) error) error {
	dec := xml.NewDecoder(bytes.NewReader(data))
	depth := 0
	for n := 0; ; n++ {
		if n%4096 == 0 {
			if err := b.ctx.Err(); err != nil {
				return err
			}
		}
		t, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			if depth != 0 {
				return unreadableErrorf("the part %s is truncated", name)
			}
			return nil
		}
		if err != nil {
			return unreadableErrorf("the part %s is damaged: %v", name, err)
		}
		switch t.(type) {
		case xml.StartElement:
			if depth++; depth > 64 {
				return unreadableErrorf("the part %s is nested too deeply", name)
			}
		case xml.EndElement:
			if depth--; depth < 0 {
				return unreadableErrorf("the part %s is damaged: an end tag has no start tag", name)
			}
		}
		if err := visit(t); err != nil {
			return err
		}
	}
}

// readSharedStrings reads the table of strings that cells refer to by index.
func (b *workbookReader) readSharedStrings(name string) error {
	data, err := b.readPartOrNil(name)
	if err != nil {
		return err
	}
	var text strings.Builder
	in, phonetic := false, 0
	return b.walkXMLTokens(name, data, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "si":
				text.Reset()
			case "rPh":
				phonetic++
			case "t":
				in = phonetic == 0
			}
		case xml.CharData:
			if in {
				text.Write(t)
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "t":
				in = false
			case "rPh":
				phonetic--
			case "si":
				if len(b.sharedStrings) >= b.limits.Cells {
					return unreadableErrorf("the workbook has more than %d strings", b.limits.Cells)
				}
				b.sharedStrings = append(b.sharedStrings, decodeCharEscapes(text.String()))
			}
		}
		return nil
	})
}

// readSheet reads a sheet's cells.
func (b *workbookReader) readSheet(name string, data []byte) (grid, error) {
	g := grid{name: name}
	var at struct {
		row, column int
		kind        string
		value, text strings.Builder
		formula     bool
		inValue, in bool
		phonetic    int
	}
	row := func(n int) *gridRow {
		if l := len(g.rows); l > 0 && g.rows[l-1].number == n {
			return &g.rows[l-1]
		}
		g.rows = append(g.rows, gridRow{number: n, cells: map[int]readCell{}})
		return &g.rows[len(g.rows)-1]
	}
	err := b.walkXMLTokens(name, data, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "row":
				n, err := strconv.Atoi(attribute(t, "r"))
				if err != nil {
					n = at.row + 1
				}
				if n <= at.row || n > 1<<20 {
					return unreadableErrorf("sheet %q: row %d follows row %d", name, n, at.row)
				}
				at.row, at.column = n, 0
			case "c":
				if b.cellsLeft--; b.cellsLeft < 0 {
					return unreadableErrorf("the workbook has more than %d cells", b.limits.Cells)
				}
				at.column++
				if ref := attribute(t, "r"); ref != "" {
					at.column = columnNumber(ref)
				}
				if at.row == 0 || at.column < 1 || at.column > b.limits.Columns {
					return unreadableErrorf("sheet %q, row %d has more than %d columns or a cell without a reference", name, at.row, b.limits.Columns)
				}
				at.kind, at.formula, at.phonetic = attribute(t, "t"), false, 0
				at.value.Reset()
				at.text.Reset()
			case "f":
				at.formula = true
			case "v":
				at.inValue = true
			case "rPh":
				at.phonetic++
			case "t":
				at.in = at.phonetic == 0
			}
		case xml.CharData:
			if at.inValue {
				at.value.Write(t)
			} else if at.in {
				at.text.Write(t)
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "v":
				at.inValue = false
			case "t":
				at.in = false
			case "rPh":
				at.phonetic--
			case "c":
				c := b.parseCell(at.kind, at.value.String(), at.text.String(), at.formula)
				if c.text != "" || c.problem != "" {
					row(at.row).cells[at.column] = c
				}
			}
		}
		return nil
	})
	return g, err
}

func (b *workbookReader) parseCell(kind, value, text string, formula bool) readCell {
	if formula && value == "" && kind != "inlineStr" {
		return readCell{problem: "the cell contains a formula without a computed value; enter the value instead"}
	}
	switch kind {
	case "s":
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 || n >= len(b.sharedStrings) {
			return readCell{problem: "the cell refers to a missing string"}
		}
		return readCell{text: b.sharedStrings[n]}
	case "inlineStr":
		return readCell{text: decodeCharEscapes(text)}
	case "str", "d":
		return readCell{text: decodeCharEscapes(value)}
	case "b":
		return readCell{text: value, isBool: true}
	case "e":
		return readCell{problem: "the cell contains the error " + value}
	}
	if value == "" {
		return readCell{}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return readCell{problem: fmt.Sprintf("the cell is stored as a number but contains %.40q", value)}
	}
	return readCell{text: formatNumber(n), number: n, isNumber: true}
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// columnNumber returns the number of the column in a cell address, starting at 1, or 0 if the address is invalid.
func columnNumber(ref string) int {
	n := 0
	for i := 0; i < len(ref) && i < 4; i++ {
		c := ref[i] &^ 0x20
		if c < 'A' || c > 'Z' {
			break
		}
		n = n*26 + int(c-'A') + 1
	}
	return n
}

// decodeCharEscapes decodes escapes such as _x000D_, which represent characters that XML can't contain.
func decodeCharEscapes(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if len(s)-i >= 7 && s[i] == '_' && s[i+1] == 'x' && s[i+6] == '_' {
			if n, err := strconv.ParseUint(s[i+2:i+6], 16, 16); err == nil {
				b.WriteRune(rune(n))
				i += 7
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
