package parse

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
)

const (
	odfContent   = "content.xml"
	maxRowRepeat = 1000 // how often a filled row is written out where the file says "the same again"
)

// readODF reads an OpenDocument text, spreadsheet or presentation. Deleted text, comments
// and macros are passed over; formulas are not computed, their stored value is read.
func readODF(b *builder, format *format, content io.ReaderAt, size int64) error {
	z, err := openZip(content, size)
	if err != nil {
		return err
	}
	if manifest, err := readPart(z, "META-INF/manifest.xml", maxSidePart); err == nil && strings.Contains(string(manifest), "encryption-data") {
		return fail(ErrEncrypted, "", "%s", format.called)
	}
	if findPart(z, odfContent) == nil {
		return fail(ErrDamaged, odfContent, "the main part is missing")
	}
	readODFMeta(b, z)
	w := &odfWalker{b: b, name: odfContent, kind: format, numbered: map[string]bool{}, parents: map[string]string{}}
	if err := w.walk(z); err != nil {
		return err
	}
	if format == formatODT {
		aside := &odfWalker{b: b, name: "styles.xml", kind: format, asideOnly: true, numbered: map[string]bool{}, parents: map[string]string{}}
		if err := aside.walk(z); err != nil {
			return err
		}
	}
	b.doc.PageCount = w.sheets + w.slides
	return b.err
}

func readODFMeta(b *builder, z *zip.Reader) {
	raw, err := readPart(z, "meta.xml", maxSidePart)
	if err != nil {
		return
	}
	var meta struct {
		Title   string `xml:"meta>title"`
		Defined []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:",chardata"`
		} `xml:"meta>user-defined"`
	}
	if xml.Unmarshal(raw, &meta) != nil {
		return
	}
	b.doc.Title = clean(meta.Title)
	for _, d := range meta.Defined {
		b.facts = append(b.facts, fact{d.Name, d.Value})
	}
}

// odfWalker walks one part of an OpenDocument file.
type odfWalker struct {
	b         *builder
	name      string
	kind      *format
	asideOnly bool // only running headers and footers are of interest

	texts  []*odfText // open paragraphs and headings, the innermost last
	lists  []odfList
	item   bool // the next paragraph opens a list item
	skip   int  // open elements whose text is not part of the document
	aside  int  // open elements whose text is not part of the flow
	notes  int  // open speaker notes
	note   []string
	inNote int

	tables []*odfTable
	sheet  string
	sheets int
	slides int
	title  bool     // the open frame is the title of a slide
	frames []string // what the open frames are
	// What a slide holds, kept until its title is known.
	held      []slideBlock
	heldNotes []Block
	head      string

	numbered map[string]bool   // list styles that are numbered
	parents  map[string]string // what a style is made from
	style    string            // the list style being defined
}

type odfText struct {
	text  strings.Builder
	style string
	level int // of a heading; 0 is a paragraph
}

type odfList struct {
	numbered bool
	count    int
}

type odfTable struct {
	out       *tableWriter
	cells     []string
	cell      []string
	columns   int // how often the open cell counts
	repeat    int // how often the open row counts
	row       int // of the sheet, from 1
	rowFilled bool
	rows      [][]string // of a slide, kept until its title is known
}

func (w *odfWalker) walk(z *zip.Reader) error {
	return walkXML(w.b, z, w.name, w.start, w.end, func(text []byte) error {
		if w.skip > 0 || len(w.texts) == 0 {
			return nil
		}
		t := &w.texts[len(w.texts)-1].text
		if t.Len()+len(text) > 8<<20 {
			return fail(ErrTooLarge, w.name, "a paragraph of more than 8 MiB")
		}
		t.Write(text)
		return nil
	})
}

// odfSkipped are elements whose text a reader of the document doesn't see.
var odfSkipped = map[string]bool{"tracked-changes": true, "annotation": true, "scripts": true, "forms": true, "script": true, "desc": true, "bibliography-mark": false, "hidden-text": true, "hidden-paragraph": false, "sequence-decls": true, "settings": true}

func (w *odfWalker) start(e xml.StartElement) {
	name := e.Name.Local
	if w.skip > 0 || odfSkipped[name] {
		w.skip++
		return
	}
	switch name {
	case "header", "footer", "header-left", "footer-left", "header-first", "footer-first", "table-of-content", "illustration-index", "table-index", "alphabetical-index":
		w.aside++
	case "p", "h":
		t := &odfText{style: val(e, "style-name")}
		if name == "h" {
			t.level = 1
			if n, err := strconv.Atoi(val(e, "outline-level")); err == nil && n > 0 {
				t.level = min(n, 9)
			}
		}
		w.texts = append(w.texts, t)
	case "s":
		w.write(strings.Repeat(" ", number(val(e, "c"), 100)))
	case "tab", "line-break":
		w.write(" ")
	case "note":
		w.inNote++
	case "note-citation", "ruby-text", "page-number", "page-count":
		w.skip++
	case "style":
		if val(e, "family") == "paragraph" && len(w.parents) < 10_000 {
			w.parents[val(e, "name")] = val(e, "parent-style-name")
		}
	case "list-style":
		w.style = val(e, "name")
	case "list-level-style-number":
		if val(e, "level") == "1" && val(e, "num-format") != "" {
			w.numbered[w.style] = true
		}
	case "list":
		numbered := w.numbered[val(e, "style-name")]
		if n := len(w.lists); val(e, "style-name") == "" && n > 0 {
			numbered = w.lists[n-1].numbered
		}
		w.lists = append(w.lists, odfList{numbered: numbered})
	case "list-item":
		w.item = true
		if n := len(w.lists); n > 0 {
			w.lists[n-1].count++
		}
	case "list-header":
		w.item = false
	case "table":
		w.openTable(e)
	case "table-row":
		if t := w.table(); t != nil {
			t.repeat = number(val(e, "number-rows-repeated"), 1<<21)
			t.cells, t.rowFilled = nil, false
		}
	case "table-cell", "covered-table-cell":
		if t := w.table(); t != nil {
			t.cell, t.columns = nil, number(val(e, "number-columns-repeated"), 1<<15)
		}
	case "page":
		w.slides++
		w.b.levels, w.b.path = nil, nil
		w.held, w.heldNotes, w.head = nil, nil, ""
		if val(e, "visibility") == "hidden" {
			w.b.warn("Slide %d is hidden; it was read all the same.", w.slides)
		}
	case "frame":
		w.frames = append(w.frames, val(e, "class"))
		w.title = val(e, "class") == "title"
	case "notes":
		w.notes++
	}
}

func (w *odfWalker) write(s string) {
	if n := len(w.texts); n > 0 {
		w.texts[n-1].text.WriteString(s)
	}
}

func (w *odfWalker) table() *odfTable {
	if len(w.tables) == 0 {
		return nil
	}
	return w.tables[len(w.tables)-1]
}

func (w *odfWalker) openTable(e xml.StartElement) {
	t := &odfTable{row: 1}
	if len(w.tables) == 0 {
		if w.kind == formatODS {
			w.sheets++
			w.sheet = val(e, "name")
			w.b.levels, w.b.path = nil, nil
			w.b.heading(1, w.sheet, api.Locator{Sheet: w.sheet})
		}
		t.out = w.b.table()
	}
	w.tables = append(w.tables, t)
}

func (w *odfWalker) end(e xml.EndElement) {
	if w.skip > 0 {
		w.skip--
		return
	}
	switch e.Name.Local {
	case "header", "footer", "header-left", "footer-left", "header-first", "footer-first", "table-of-content", "illustration-index", "table-index", "alphabetical-index":
		w.aside = max(0, w.aside-1)
	case "p", "h":
		if n := len(w.texts); n > 0 {
			t := w.texts[n-1]
			w.texts = w.texts[:n-1]
			w.paragraph(clean(t.text.String()), t.style, t.level)
		}
	case "note":
		w.inNote = max(0, w.inNote-1)
	case "list":
		if n := len(w.lists); n > 0 {
			w.lists = w.lists[:n-1]
		}
	case "table-cell", "covered-table-cell":
		w.endCell()
	case "table-row":
		w.endRow()
	case "table":
		if t := w.table(); t != nil {
			w.tables = w.tables[:len(w.tables)-1]
			if t.out != nil {
				t.out.end()
			}
			if len(t.rows) > 0 {
				w.held = append(w.held, slideBlock{rows: t.rows})
			}
		}
	case "frame":
		if n := len(w.frames); n > 0 {
			w.frames = w.frames[:n-1]
		}
		w.title = len(w.frames) > 0 && w.frames[len(w.frames)-1] == "title"
	case "notes":
		w.notes = max(0, w.notes-1)
	case "page":
		w.endSlide()
	}
}

func (w *odfWalker) here() api.Locator {
	if w.kind == formatODP {
		return api.Locator{Slide: w.slides}
	}
	return api.Locator{}
}

// paragraph puts a finished paragraph where it belongs.
func (w *odfWalker) paragraph(text, style string, level int) {
	if text == "" {
		return
	}
	if w.asideOnly || w.aside > 0 {
		if w.aside > 0 {
			w.b.aside(Block{Kind: Paragraph, Text: text, Locator: w.here()})
		}
		return
	}
	if w.inNote > 0 { // after the paragraph that it is a note to
		w.note = append(w.note, text)
		return
	}
	if t := w.table(); t != nil {
		t.cell = append(t.cell, text)
		t.cell = append(t.cell, w.note...)
		w.note = nil
		return
	}
	blk := Block{Kind: Paragraph, Text: text, Locator: w.here()}
	switch {
	case w.title && w.notes == 0:
		w.head = strings.TrimSpace(w.head + " " + text)
		return
	case level > 0:
		blk.Kind, blk.Level = Heading, level
	case len(w.lists) > 0:
		blk.Kind, blk.Level = ListItem, len(w.lists)
		if l := w.lists[len(w.lists)-1]; l.numbered && w.item {
			blk.Mark = strconv.Itoa(l.count) + "."
		}
		w.item = false
	case w.isTitle(style):
		if w.b.doc.Title == "" {
			w.b.doc.Title = text
		}
		blk.Kind, blk.Level = Heading, 1
	}
	w.add(blk)
	for _, n := range w.note {
		w.add(Block{Kind: Paragraph, Text: n, Locator: w.here()})
	}
	w.note = nil
}

// isTitle reports whether a style is that of the document's title, or made from it.
func (w *odfWalker) isTitle(style string) bool {
	for range 5 {
		if style == "Title" {
			return true
		}
		style = w.parents[style]
	}
	return false
}

// add writes a block, or keeps it until the slide is over: its title may stand last.
func (w *odfWalker) add(blk Block) {
	switch {
	case w.kind == formatODP:
		if w.notes > 0 {
			blk.Kind, blk.Level = Paragraph, 0
			w.heldNotes = append(w.heldNotes, blk)
			return
		}
		w.held = append(w.held, slideBlock{Block: blk})
	case blk.Kind == Heading:
		w.b.heading(blk.Level, blk.Text, blk.Locator)
	default:
		w.b.add(blk)
	}
}

func (w *odfWalker) endSlide() {
	w.b.heading(1, w.head, w.here())
	w.b.slideBlocks(w.held, w.here())
	if len(w.heldNotes) > 0 {
		w.b.heading(2, "Speaker notes", w.here())
	}
	for _, n := range w.heldNotes {
		w.b.add(n)
	}
	w.held, w.heldNotes, w.head = nil, nil, ""
}

func (w *odfWalker) endCell() {
	t := w.table()
	if t == nil {
		return
	}
	text := strings.Join(t.cell, " ")
	t.rowFilled = t.rowFilled || text != ""
	n := t.columns
	if text == "" && n > 50 { // the rest of an empty row
		n = 1
	}
	for range min(n, maxColumns-min(len(t.cells), maxColumns)) {
		t.cells = append(t.cells, text)
	}
	t.cell = nil
}

func (w *odfWalker) endRow() {
	t := w.table()
	if t == nil {
		return
	}
	if t.out == nil { // a table in a cell is the cell's text
		if outer := len(w.tables) - 2; outer >= 0 {
			if row := compact(t.cells); len(row) > 0 {
				w.tables[outer].cell = append(w.tables[outer].cell, strings.Join(row, " | "))
			}
		}
		return
	}
	times := 1
	if t.rowFilled {
		if times = t.repeat; times > maxRowRepeat {
			w.b.warn("A row that is repeated %d times was read %d times.", times, maxRowRepeat)
			times = maxRowRepeat
		}
	}
	for i := range times {
		if !t.rowFilled || w.b.err != nil {
			break
		}
		at := w.here()
		if w.kind == formatODS {
			at = api.Locator{Sheet: w.sheet, CellRange: cellRange(t.cells, min(t.row+i, excelize.TotalRows))}
		}
		if w.kind == formatODP {
			t.rows = append(t.rows, slices.Clone(t.cells))
			continue
		}
		t.out.add(slices.Clone(t.cells), at)
	}
	t.row += t.repeat
	t.repeat = 1
}

// sniffODF tells which OpenDocument file an archive is by what it says first of itself.
func sniffODF(z *zip.Reader) (*format, error) {
	raw, err := readPart(z, "mimetype", 1024)
	if errors.Is(err, errNoPart) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kind := strings.TrimSuffix(strings.TrimSpace(string(raw)), "-template")
	for _, f := range []*format{formatODT, formatODS, formatODP} {
		if kind == f.mime {
			return f, nil
		}
	}
	if strings.HasPrefix(kind, "application/vnd.oasis.opendocument") {
		return nil, fail(ErrUnsupported, "", "it is an OpenDocument file that holds neither text, tables nor slides; save it as PDF")
	}
	if kind == "application/epub+zip" {
		return nil, fail(ErrUnsupported, "", "it is an e-book; save it as .docx or PDF")
	}
	return nil, nil
}
