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

// Limits bound what reading a workbook may cost.
type Limits struct {
	File     int64 // bytes of the file
	Unpacked int64 // bytes of all parts that are read
	Parts    int
	Sheets   int
	Cells    int
	Columns  int
}

// DefaultLimits have room for all four deliverables of the largest catalog.
var DefaultLimits = Limits{File: 64 << 20, Unpacked: 192 << 20, Parts: 2000, Sheets: 60, Cells: 600_000, Columns: 500}

// ErrWorkbook is why a file is no workbook that can be taken.
var ErrWorkbook = errors.New("the workbook can't be read")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrWorkbook, fmt.Sprintf(format, args...))
}

// Workbook is a workbook as it was read: its cells, nothing more. No formula is
// evaluated and no link followed.
type Workbook struct {
	sheets   []grid
	from1904 bool
}

// grid is a sheet's cells by row.
type grid struct {
	name string
	rows []gridRow
}

type gridRow struct {
	number int
	cells  map[int]cell
}

// cell is what stands in a cell.
type cell struct {
	text string
	// number is set where the cell holds one; text is then as it is stored.
	number  float64
	numeric bool
	bool    bool
	// fault says why the cell has no value that can be taken.
	fault string
}

// Read reads a workbook of the given size.
func Read(ctx context.Context, r io.ReaderAt, size int64, limits Limits) (*Workbook, error) {
	if size > limits.File {
		return nil, refuse("it has %d MiB; at most %d are taken", size>>20, limits.File>>20)
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, refuse("it is no .xlsx file (%v); save it as an Excel workbook", err)
	}
	if len(archive.File) > limits.Parts {
		return nil, refuse("it has %d parts; at most %d are taken", len(archive.File), limits.Parts)
	}
	b := &reader{ctx: ctx, limits: limits, left: limits.Unpacked, cells: limits.Cells, parts: map[string]*zip.File{}}
	for _, f := range archive.File {
		b.parts[strings.ToLower(strings.TrimPrefix(f.Name, "/"))] = f
	}
	return b.read()
}

// reader unpacks a workbook within its limits.
type reader struct {
	ctx    context.Context
	limits Limits
	left   int64
	cells  int
	parts  map[string]*zip.File
	shared []string
}

// part is a part's bytes; nil where there is none.
func (b *reader) part(name string) ([]byte, error) {
	f := b.parts[strings.ToLower(name)]
	if f == nil {
		return nil, nil
	}
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	in, err := f.Open()
	if err != nil {
		return nil, refuse("its part %s is damaged: %v", name, err)
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, b.left+1))
	if err != nil {
		return nil, refuse("its part %s is damaged: %v", name, err)
	}
	if b.left -= int64(len(data)); b.left < 0 {
		return nil, refuse("it unpacks to more than %d MiB", b.limits.Unpacked>>20)
	}
	return data, nil
}

func (b *reader) read() (*Workbook, error) {
	main := "xl/workbook.xml"
	rels, err := b.relations("_rels/.rels", "")
	if err != nil {
		return nil, err
	}
	for _, r := range rels {
		if strings.HasSuffix(r.kind, "/officeDocument") {
			main = r.target
		}
	}
	data, err := b.part(main)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, refuse("it has no list of sheets; save it as an Excel workbook (.xlsx)")
	}
	var book struct {
		Properties struct {
			Date1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name string `xml:"name,attr"`
			// Of whatever namespace: there are two forms of the format.
			Attrs []xml.Attr `xml:",any,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := xml.Unmarshal(data, &book); err != nil {
		return nil, refuse("its list of sheets is damaged: %v", err)
	}
	if len(book.Sheets) > b.limits.Sheets {
		return nil, refuse("it has %d sheets; at most %d are taken", len(book.Sheets), b.limits.Sheets)
	}
	rels, err = b.relations(path.Dir(main)+"/_rels/"+path.Base(main)+".rels", path.Dir(main))
	if err != nil {
		return nil, err
	}
	for _, r := range rels {
		if strings.HasSuffix(r.kind, "/sharedStrings") {
			if err := b.sharedTexts(r.target); err != nil {
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
			continue // a chart's own sheet, or one that is not there
		}
		data, err := b.part(target)
		if err != nil {
			return nil, err
		}
		g, err := b.sheet(s.Name, data)
		if err != nil {
			return nil, err
		}
		w.sheets = append(w.sheets, g)
	}
	return w, nil
}

type relation struct{ target, kind string }

func (b *reader) relations(name, folder string) (map[string]relation, error) {
	data, err := b.part(name)
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
		return nil, refuse("its part %s is damaged: %v", name, err)
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

// walk goes over a part's elements; deep nesting is no workbook's.
func (b *reader) walk(name string, data []byte, each func(t xml.Token) error) error {
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
				return refuse("its part %s is cut off", name)
			}
			return nil
		}
		if err != nil {
			return refuse("its part %s is damaged: %v", name, err)
		}
		switch t.(type) {
		case xml.StartElement:
			if depth++; depth > 64 {
				return refuse("its part %s is nested too deep", name)
			}
		case xml.EndElement:
			if depth--; depth < 0 {
				return refuse("its part %s is damaged: an element ends that never began", name)
			}
		}
		if err := each(t); err != nil {
			return err
		}
	}
}

// sharedTexts are the texts that cells point to.
func (b *reader) sharedTexts(name string) error {
	data, err := b.part(name)
	if err != nil {
		return err
	}
	var text strings.Builder
	in, phonetic := false, 0
	return b.walk(name, data, func(t xml.Token) error {
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
				if len(b.shared) >= b.limits.Cells {
					return refuse("it has more than %d texts", b.limits.Cells)
				}
				b.shared = append(b.shared, unescape(text.String()))
			}
		}
		return nil
	})
}

// sheet reads a sheet's cells.
func (b *reader) sheet(name string, data []byte) (grid, error) {
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
		g.rows = append(g.rows, gridRow{number: n, cells: map[int]cell{}})
		return &g.rows[len(g.rows)-1]
	}
	err := b.walk(name, data, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "row":
				n, err := strconv.Atoi(attr(t, "r"))
				if err != nil {
					n = at.row + 1
				}
				if n <= at.row || n > 1<<20 {
					return refuse("sheet %q: row %d stands after row %d", name, n, at.row)
				}
				at.row, at.column = n, 0
			case "c":
				if b.cells--; b.cells < 0 {
					return refuse("it has more than %d cells", b.limits.Cells)
				}
				at.column++
				if ref := attr(t, "r"); ref != "" {
					at.column = columnOf(ref)
				}
				if at.row == 0 || at.column < 1 || at.column > b.limits.Columns {
					return refuse("sheet %q, row %d: more than %d columns, or a cell without its place", name, at.row, b.limits.Columns)
				}
				at.kind, at.formula, at.phonetic = attr(t, "t"), false, 0
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
				c := b.cell(at.kind, at.value.String(), at.text.String(), at.formula)
				if c.text != "" || c.fault != "" {
					row(at.row).cells[at.column] = c
				}
			}
		}
		return nil
	})
	return g, err
}

func (b *reader) cell(kind, value, text string, formula bool) cell {
	if formula && value == "" && kind != "inlineStr" {
		return cell{fault: "it holds a formula that was never worked out; write the value itself"}
	}
	switch kind {
	case "s":
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 || n >= len(b.shared) {
			return cell{fault: "it points to a text that is not in the file"}
		}
		return cell{text: b.shared[n]}
	case "inlineStr":
		return cell{text: unescape(text)}
	case "str", "d":
		return cell{text: unescape(value)}
	case "b":
		return cell{text: value, bool: true}
	case "e":
		return cell{fault: "it holds the error " + value}
	}
	if value == "" {
		return cell{}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return cell{fault: fmt.Sprintf("it is stored as a number and holds %.40q", value)}
	}
	return cell{text: shortest(n), number: n, numeric: true}
}

func attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// columnOf is the column of a cell's name; 0 for none.
func columnOf(ref string) int {
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

// unescape undoes _x000D_, by which the format writes what XML can't.
func unescape(s string) string {
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
