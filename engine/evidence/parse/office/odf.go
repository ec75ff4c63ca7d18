package office

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
)

// MIME types of OpenDocument files.
const (
	MIMEODT = "application/vnd.oasis.opendocument.text"
	MIMEODS = "application/vnd.oasis.opendocument.spreadsheet"
	MIMEODP = "application/vnd.oasis.opendocument.presentation"
)

const (
	odfContent   = "content.xml"
	maxRowRepeat = 1000 // maximum repetitions of a repeated row that are written
)

// ReadODF reads an OpenDocument text, spreadsheet or presentation. Deleted text, comments and macros are
// skipped. Formulas are not computed; their stored values are used.
func ReadODF(b *document.Builder, content io.ReaderAt, size int64) error {
	z, err := zipfile.OpenOfficeDocument(b, content, size)
	if err != nil {
		return err
	}
	if zipfile.FindPart(z, odfContent) == nil {
		return document.NewError(document.ErrDamaged, odfContent, "the main document part is missing")
	}
	readODFMeta(b, z)
	return readODFContent(b, z, "", b.Doc.MIME, 0)
}

// readODFContent reads a document, or an embedded one that is in a folder of the file.
func readODFContent(b *document.Builder, z *zip.Reader, folder, format string, nesting int) error {
	styles, err := readODFStyles(b, z, folder)
	if err != nil {
		return err
	}
	newWalker := func(part string, styles *odfStyles) *odfWalker {
		return &odfWalker{
			b: b, z: z, folder: folder, name: folder + part, format: format, styles: styles, nesting: nesting,
			numbered: map[string]bool{}, parents: map[string]string{},
		}
	}
	w := newWalker(odfContent, styles)
	if err := walkXML(b, z, w.name, w); err != nil {
		return err
	}
	if w.format == MIMEODT || w.format == MIMEODS {
		aside := newWalker("styles.xml", newODFStyles())
		aside.styles.pageStyles = w.styles.pageStyles
		aside.asideOnly = true
		if err := walkXML(b, z, aside.name, aside); err != nil {
			return err
		}
	}
	b.Doc.PageCount = w.sheets + w.slides
	return b.Err()
}

func readODFMeta(b *document.Builder, z *zip.Reader) {
	raw, err := zipfile.ReadPart(z, "meta.xml", maxSidePart)
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
	b.Doc.Title = document.CleanLine(meta.Title)
	for _, d := range meta.Defined {
		b.AddFact(d.Name, d.Value)
	}
}

// odfWalker walks one part of an OpenDocument file.
type odfWalker struct {
	b             *document.Builder
	z             *zip.Reader
	folder        string // folder of an embedded document, with a slash; otherwise empty
	nesting       int    // number of enclosing documents
	name          string
	format        string // its MIME type
	asideOnly     bool   // read only running headers and footers
	styles        *odfStyles
	looks         []odfLook // the formats of the open elements that have one
	isPageCovered bool      // a shape of the slide has a fill, so that the background of later ones is unknown

	texts         []*odfText // open paragraphs and headings, the innermost last
	lists         []odfList
	opensItem     bool     // the next paragraph opens a list item
	skipDepth     int      // open elements whose text is not part of the document
	asideDepth    int      // open elements whose text is not part of the flow
	notesDepth    int      // open speaker notes
	after         []string // footnotes and texts of pictures, to be added after the open paragraph
	footnoteDepth int

	tables       []*odfTable
	sheet        string
	sheets       int
	slides       int
	inTitleFrame bool     // the open frame is the title of a slide
	frames       []string // kinds of the open frames
	// Content of a slide, held back until its title is known.
	slideBlocks  []slideBlock
	speakerNotes []document.Block
	slideTitle   string

	numbered map[string]bool   // list styles that are numbered
	parents  map[string]string // parent styles
	style    string            // the list style being defined

	inForms  int               // open elements with the controls of forms
	controls map[string]string // what controls show, by ID
	control  string            // ID of the list whose options are being read
	field    *wordField        // the open legacy form field of a word processor

	objects []*document.Builder // embedded documents, held back until the paragraph, table or slide ends
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
	out       *document.TableWriter
	cells     []string
	cell      []string
	inCell    bool
	isCovered bool // the open cell is covered by a merged one
	span      int  // number of columns to its right that the open cell covers
	spanLeft  int  // number of following cells that the cell on their left covers
	columns   int  // columns the open cell spans
	repeat    int  // repetitions of the open row
	row       int  // of the sheet, from 1
	rowFilled bool
	rows      [][]string // of a slide, held back until its title is known, or of a nested table

	columnCount    int
	columnStyles   []columnStyle
	hiddenColumns  []columnRange
	countedColumns map[int]bool
	isRowHidden    bool
	hasNoValue     bool // the open cell has a formula without a stored value
	rowStyle       string
}

func (w *odfWalker) appendCharData(text []byte) error {
	if w.skipDepth > 0 || len(w.texts) == 0 || w.countIfUnread(text) {
		return nil
	}
	font := ""
	if n := len(w.looks); n > 0 {
		font = w.looks[n-1].format.font
	}
	if document.IsSymbolFont(font) || bytes.IndexByte(text, '\xEF') >= 0 {
		text = []byte(document.DecodeSymbols(font, string(text)))
	}
	return appendText(&w.texts[len(w.texts)-1].text, text, w.name)
}

func (w *odfWalker) isSkipped(xml.StartElement) bool { return false }

// odfSkipped lists elements whose text is not visible in the document.
var odfSkipped = map[string]bool{
	"tracked-changes": true,
	"annotation":      true,
	"scripts":         true,
	"script":          true,
	"hidden-text":     true,
	"sequence-decls":  true,
	"settings":        true,
	"binary-data":     true,
}

// isUnusedHeader reports whether an element is a page header or footer that isn't displayed, or a
// field in a sheet's header or footer. Such fields are ignored, because spreadsheet programs write
// a header with the sheet name, and a style for printed reports, into every file.
func (w *odfWalker) isUnusedHeader(e xml.StartElement) bool {
	switch name := e.Name.Local; name {
	case "header", "footer", "header-left", "footer-left", "header-first", "footer-first":
		return attrValue(e, "display") == "false"
	case "master-page":
		return w.format == MIMEODS && len(w.styles.pageStyles) > 0 && !w.styles.pageStyles[attrValue(e, "name")]
	case "sheet-name", "page-number", "page-count", "date", "time", "title", "file-name":
		return w.format == MIMEODS && w.asideDepth > 0
	}
	return false
}

func (w *odfWalker) startElement(e xml.StartElement, _ int) {
	name := e.Name.Local
	if kind := odfUnreadElements[name]; kind != "" && (w.skipDepth == 0 || name == "deletion") && (!w.asideOnly || w.asideDepth > 0) {
		w.readOrCountMedia(kind, e)
	}
	if w.skipDepth == 0 && w.startForm(e) {
		return
	}
	if w.skipDepth > 0 || odfSkipped[name] || w.isUnusedHeader(e) || w.startVisibility(e) {
		w.skipDepth++
		return
	}
	switch name {
	case "header",
		"footer",
		"header-left",
		"footer-left",
		"header-first",
		"footer-first",
		"table-of-content",
		"illustration-index",
		"table-index",
		"alphabetical-index":
		w.asideDepth++
	case "p", "h", "desc":
		t := &odfText{style: attrValue(e, "style-name")}
		if name == "h" {
			t.level = 1
			if n, err := strconv.Atoi(attrValue(e, "outline-level")); err == nil && n > 0 {
				t.level = min(n, 9)
			}
		}
		w.texts = append(w.texts, t)
	case "s":
		w.appendText(strings.Repeat(" ", document.ParsePositiveOrOne(attrValue(e, "c"), 100)))
	case "tab", "line-break":
		w.appendText(" ")
	case "note":
		w.footnoteDepth++
	case "ruby-text":
		w.b.Doc.AddNotRead(api.UnreadRuby, 1, w.locator())
		w.skipDepth++
	case "note-citation", "page-number", "page-count":
		w.skipDepth++
	case "style":
		if attrValue(e, "family") == "paragraph" && len(w.parents) < 10_000 {
			w.parents[attrValue(e, "name")] = attrValue(e, "parent-style-name")
		}
	case "list-style":
		w.style = attrValue(e, "name")
	case "list-level-style-number":
		if attrValue(e, "level") == "1" && attrValue(e, "num-format") != "" {
			w.numbered[w.style] = true
		}
	case "list":
		numbered := w.numbered[attrValue(e, "style-name")]
		if n := len(w.lists); attrValue(e, "style-name") == "" && n > 0 {
			numbered = w.lists[n-1].numbered
		}
		w.lists = append(w.lists, odfList{numbered: numbered})
	case "list-item":
		w.opensItem = true
		if n := len(w.lists); n > 0 {
			w.lists[n-1].count++
		}
	case "list-header":
		w.opensItem = false
	case "table":
		if w.styles.get("table", attrValue(e, "style-name")).isAbsent == flagOn {
			w.b.Doc.AddNotRead(api.UnreadHiddenSheet, 1, api.Locator{Sheet: attrValue(e, "name")})
			w.skipDepth++
			return
		}
		w.openTable(e)
	case "table-column":
		if t := w.currentTable(); t != nil {
			t.addColumn(e)
		}
	case "hidden-paragraph":
		if n := len(w.looks); n > 0 && len(w.texts) > 0 && attrValue(e, "is-hidden") == "true" {
			w.looks[n-1].format.hidden = flagOn
			w.texts[len(w.texts)-1].text.Reset()
		}
	case "table-row":
		if t := w.currentTable(); t != nil {
			t.isRowHidden, t.rowStyle = attrValue(e, "visibility") == "collapse", attrValue(e, "default-cell-style-name")
			t.repeat = document.ParsePositiveOrOne(attrValue(e, "number-rows-repeated"), 1<<21)
			t.cells, t.rowFilled, t.spanLeft = nil, false, 0
		}
	case "table-cell", "covered-table-cell":
		if t := w.currentTable(); t != nil {
			t.hasNoValue = attrValue(e, "formula") != "" && attrValue(e, "value-type") == ""
			t.inCell, t.isCovered, t.span = true, name == "covered-table-cell", 0
			if !t.isCovered {
				t.span = document.ParsePositiveOrOne(attrValue(e, "number-columns-spanned"), document.MaxColumns) - 1
			}
			t.cell, t.columns = nil, document.ParsePositiveOrOne(attrValue(e, "number-columns-repeated"), 1<<15)
		}
	case "page":
		w.slides++
		w.b.CloseHeadings()
		w.slideBlocks, w.speakerNotes, w.slideTitle = nil, nil, ""
	case "frame":
		w.frames = append(w.frames, attrValue(e, "class"))
		w.inTitleFrame = attrValue(e, "class") == "title"
	case "notes":
		w.notesDepth++
	}
}

func (w *odfWalker) appendText(s string) {
	if n := len(w.texts); n > 0 {
		w.texts[n-1].text.WriteString(s)
	}
}

func (w *odfWalker) currentTable() *odfTable {
	if len(w.tables) == 0 {
		return nil
	}
	return w.tables[len(w.tables)-1]
}

func (w *odfWalker) openTable(e xml.StartElement) {
	t := &odfTable{row: 1}
	if len(w.tables) == 0 {
		if w.format == MIMEODS {
			w.sheets++
			w.sheet = attrValue(e, "name")
			w.b.CloseHeadings()
			w.b.AddHeading(1, w.sheet, api.Locator{Sheet: w.sheet})
		}
		t.out = w.b.NewTableWriter()
	}
	w.tables = append(w.tables, t)
}

func (w *odfWalker) endElement(e xml.EndElement, _ int) {
	if w.skipDepth > 0 {
		w.skipDepth--
		return
	}
	if w.endForm(e.Name.Local) {
		return
	}
	w.endVisibility(e.Name.Local)
	switch e.Name.Local {
	case "header",
		"footer",
		"header-left",
		"footer-left",
		"header-first",
		"footer-first",
		"table-of-content",
		"illustration-index",
		"table-index",
		"alphabetical-index":
		w.asideDepth = max(0, w.asideDepth-1)
	case "p", "h":
		if n := len(w.texts); n > 0 {
			t := w.texts[n-1]
			w.texts = w.texts[:n-1]
			w.storeParagraph(document.CleanLine(t.text.String()), t.style, t.level)
		}
	case "desc": // an alternative text
		if n := len(w.texts); n > 0 {
			text := document.AlternativeText(w.texts[n-1].text.String())
			w.texts = w.texts[:n-1]
			w.addTextsOfPicture(text)
		}
	case "note":
		w.footnoteDepth = max(0, w.footnoteDepth-1)
	case "list":
		if n := len(w.lists); n > 0 {
			w.lists = w.lists[:n-1]
		}
	case "table-cell", "covered-table-cell":
		w.endCell()
	case "table-row":
		w.endRow()
	case "table":
		if t := w.currentTable(); t != nil {
			w.tables = w.tables[:len(w.tables)-1]
			if outer := w.currentTable(); t.out == nil && outer != nil {
				outer.cell = append(outer.cell, document.RenderNestedTable(t.rows))
				break
			}
			if t.out != nil {
				t.out.Finish()
			}
			if len(t.rows) > 0 {
				w.slideBlocks = append(w.slideBlocks, slideBlock{rows: t.rows})
			}
		}
	case "frame":
		if n := len(w.frames); n > 0 {
			w.frames = w.frames[:n-1]
		}
		w.inTitleFrame = len(w.frames) > 0 && w.frames[len(w.frames)-1] == "title"
	case "notes":
		w.notesDepth = max(0, w.notesDepth-1)
	case "page":
		w.endSlide()
	}
	w.addObjects(e.Name.Local)
}

func (w *odfWalker) locator() api.Locator {
	if w.format == MIMEODP {
		return api.Locator{Slide: w.slides}
	}
	return api.Locator{}
}

// storeParagraph adds a finished paragraph to the structure it belongs to, such as the body, a
// table cell or a footnote.
func (w *odfWalker) storeParagraph(text, style string, level int) {
	if text == "" && len(w.after) == 0 {
		return
	}
	if w.asideOnly || w.asideDepth > 0 {
		for _, text := range append([]string{text}, w.after...) {
			if w.asideDepth > 0 {
				w.b.AddPageFurniture(document.Block{Kind: document.Paragraph, Text: text, Locator: w.locator()})
			}
		}
		w.after = nil
		return
	}
	if w.footnoteDepth > 0 { // to be added after the paragraph with the reference
		w.after = append(w.after, text)
		return
	}
	if t := w.currentTable(); t != nil && (t.inCell || w.format == MIMEODP) {
		t.cell = append(t.cell, document.NonEmptyCells(append([]string{text}, w.after...))...)
		w.after = nil
		return
	}
	blk := document.Block{Kind: document.Paragraph, Text: text, Locator: w.locator()}
	switch {
	case w.inTitleFrame && w.notesDepth == 0:
		w.slideTitle = strings.TrimSpace(w.slideTitle + " " + text)
		return
	case level > 0:
		blk.Kind, blk.Level = document.Heading, level
	case len(w.lists) > 0:
		blk.Kind, blk.Level = document.ListItem, len(w.lists)
		if l := w.lists[len(w.lists)-1]; l.numbered && w.opensItem {
			blk.Marker = strconv.Itoa(l.count) + "."
		}
		w.opensItem = false
	case w.isTitleStyle(style):
		if w.b.Doc.Title == "" {
			w.b.Doc.Title = text
		}
		blk.Kind, blk.Level = document.Heading, 1
	}
	w.addBlock(blk)
	for _, n := range w.after {
		w.addBlock(document.Block{Kind: document.Paragraph, Text: n, Locator: w.locator()})
	}
	w.after = nil
}

// isTitleStyle reports whether a style is the document title's style or derived from it.
func (w *odfWalker) isTitleStyle(style string) bool {
	for range 5 {
		if style == "Title" {
			return true
		}
		style = w.parents[style]
	}
	return false
}

// addBlock adds a block. In a presentation, blocks are held back until the end of the slide, since its title may
// come last.
func (w *odfWalker) addBlock(blk document.Block) {
	switch {
	case w.format == MIMEODP:
		if w.notesDepth > 0 {
			blk.Kind, blk.Level = document.Paragraph, 0
			w.speakerNotes = append(w.speakerNotes, blk)
			return
		}
		w.slideBlocks = append(w.slideBlocks, slideBlock{Block: blk})
	case blk.Kind == document.Heading:
		w.b.AddHeading(blk.Level, blk.Text, blk.Locator)
	default:
		w.b.AddBlock(blk)
	}
}

func (w *odfWalker) endSlide() {
	w.b.AddHeading(1, w.slideTitle, w.locator())
	addSlideBlocks(w.b, w.slideBlocks, w.locator())
	if len(w.speakerNotes) > 0 {
		w.b.AddHeading(2, "Speaker notes", w.locator())
	}
	for _, n := range w.speakerNotes {
		w.b.AddBlock(n)
	}
	w.slideBlocks, w.speakerNotes, w.slideTitle = nil, nil, ""
}

func (w *odfWalker) endCell() {
	t := w.currentTable()
	if t == nil {
		return
	}
	text := strings.Join(t.cell, " ")
	if text == "" && t.hasNoValue {
		w.b.Doc.AddNotRead(api.UnreadFormula, 1, w.cellLocator(""))
	}
	t.rowFilled = t.rowFilled || text != ""
	n := t.columns
	if text == "" && n > 50 { // the remainder of an empty row
		n = 1
	}
	for range min(n, document.MaxColumns-min(len(t.cells), document.MaxColumns)) {
		value := text
		switch {
		case t.isCovered && t.spanLeft > 0:
			t.spanLeft--
			value = document.MergedLeft
		case t.isCovered && text == "":
			value = document.MergedUp
		}
		t.cells = append(t.cells, value)
	}
	if !t.isCovered {
		t.spanLeft = t.span
	}
	t.cell, t.inCell = nil, false
}

func (w *odfWalker) endRow() {
	t := w.currentTable()
	if t == nil {
		return
	}
	if w.removeAndCountHidden(t) {
		t.row += t.repeat
		t.repeat = 1
		return
	}
	if t.out == nil { // a nested table becomes text in the enclosing cell
		if len(t.rows) < maxNestedRows {
			t.rows = append(t.rows, slices.Clone(t.cells))
		}
		return
	}
	times := 1
	if t.rowFilled {
		if times = t.repeat; times > maxRowRepeat {
			w.b.Warn("A row that is repeated %d times was read only %d times.", times, maxRowRepeat)
			times = maxRowRepeat
		}
	}
	for i := range times {
		if w.b.Err() != nil {
			break
		}
		if !t.rowFilled {
			if t.out != nil && w.format != MIMEODP {
				t.out.AddRow(nil, api.Locator{})
			}
			break
		}
		at := w.locator()
		if w.format == MIMEODS {
			at = api.Locator{Sheet: w.sheet, CellRange: document.FormatCellRange(t.cells, 0, min(t.row+i, excelize.TotalRows))}
		}
		if w.format == MIMEODP {
			t.rows = append(t.rows, slices.Clone(t.cells))
			continue
		}
		t.out.AddRow(slices.Clone(t.cells), at)
	}
	t.row += t.repeat
	t.repeat = 1
}
