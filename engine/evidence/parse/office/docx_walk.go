package office

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const (
	listNone      = -2     // a paragraph that removes its style's numbering
	maxNestedRows = 10_000 // of a table in a cell
)

// wordPara is a paragraph that is being read.
type wordPara struct {
	text    strings.Builder
	style   string
	outline int // its own heading level; 0 if none
	list    int // list level from 0; -1 if none
	numID   string
	notes   []string
	bold    bool // all its runs so far are bold
	toc     bool
	shade   string   // its own background color
	counted string   // the kinds of unread text that have already been counted
	beside  []string // texts of pictures
	links   []string // relations of diagrams
	charts  []string // relations of charts
	// pictures are the relations of pictures.
	pictures []string
	// embedded are the relations of embedded documents.
	embedded []string
}

// wordTable is a table that is being read, with the cells of the current row read so far.
type wordTable struct {
	out      *document.TableWriter
	cells    []string
	cell     []string // paragraphs in the open cell
	span     int
	isMerged bool       // the open cell is merged with the one above
	rows     [][]string // rows of a nested table
}

// wordWalker walks one WordprocessingML part and calls functions for paragraphs and rows. It skips
// deleted text, the original copies of moved text, fallbacks, field codes and invisible text.
type wordWalker struct {
	d           *docxReader
	name        string
	onParagraph func(*wordPara)
	onRow       func(*document.TableWriter, []string) // if nil, tables are read as paragraphs
	onStart     func(xml.StartElement)
	onEnd       func(xml.EndElement)

	paras    []*wordPara
	tables   []*wordTable
	embedded []string // relations of documents that are embedded in the open table
	bold     bool
	inText   bool
	inObject bool
	tocDepth int // depth at which a table of contents began; 0 if none

	// State that determines the visibility of text; see unreadKind.
	sections      []string // open elements with properties
	boxes         []wordBox
	direct        wordFormat // of the open run
	runStyle      string
	kind          string // the kind of unread content that the open run is, if kindKnown
	kindKnown     bool
	drawingHidden bool
	anchor        *wordAnchor // of the open drawing; nil if the drawing is inline
	tableCount    int         // tables of the part so far
	sizes         []tableSize // of the tables of the part; nil until needed
	shapeFill     string

	prompts []bool     // of the open content controls: whether they show a prompt instead of content
	field   *wordField // whose properties are open
	font    string     // of the open run
}

func (w *wordWalker) walk() error { return walkXML(w.d.b, w.d.z, w.name, w) }

func (w *wordWalker) appendCharData(text []byte) error {
	if w.anchor != nil && w.anchor.inOffset {
		w.anchor.setOffset(string(text))
		return nil
	}
	if !w.inText || len(w.paras) == 0 {
		return nil
	}
	if !w.kindKnown {
		w.kind, w.kindKnown = w.unreadKind(), true
	}
	if w.kind != "" {
		if len(bytes.TrimSpace(text)) > 0 {
			w.countUnread(w.kind)
		}
		return nil
	}
	if document.IsSymbolFont(w.font) || bytes.IndexByte(text, '\xEF') >= 0 {
		text = []byte(document.DecodeSymbols(w.font, string(text)))
	}
	return appendText(&w.paras[len(w.paras)-1].text, text, w.name)
}

// isSkippedInWord reports whether an element's text is not part of the current document. If the element counts as unread
// content, unread is its kind.
func isSkippedInWord(e xml.StartElement) (unread string, isSkipped bool) {
	switch e.Name.Local {
	case "del", "moveFrom", "Fallback", "instrText", "delText", "delInstrText", "pPrChange", "rPrChange", "tblPrChange",
		"sectPrChange", "trPrChange", "tcPrChange", "numberingChange", "cellDel":
		return "", true
	case "annotation": // in Word 2003, other kinds enclose insertions, deletions and bookmarks
		switch attrValue(e, "type") {
		case "Word.Comment":
			return api.UnreadComment, true
		case "Word.Deletion":
			return api.UnreadDeletedText, true
		}
	case "rt": // the pronunciation in a ruby annotation
		return api.UnreadRuby, true
	}
	return "", false
}

func (w *wordWalker) isSkipped(e xml.StartElement) bool {
	w.trackDeletion(e)
	unread, isSkipped := isSkippedInWord(e)
	if unread != "" {
		w.d.b.Doc.AddNotRead(unread, 1, w.locator())
	}
	return isSkipped
}

func isToggleOn(e xml.StartElement) bool {
	v := attrValue(e, "val")
	return v != "0" && v != "false" && v != "none" && v != "off"
}

func (w *wordWalker) startElement(e xml.StartElement, depth int) {
	if w.onStart != nil {
		w.onStart(e)
	}
	w.startVisibility(e)
	w.readForm(e)
	var p *wordPara
	if len(w.paras) > 0 {
		p = w.paras[len(w.paras)-1]
	}
	switch e.Name.Local {
	case "p":
		if e.Name.Space != "" && strings.Contains(e.Name.Space, "drawingml") {
			return
		}
		w.paras = append(w.paras, &wordPara{list: -1, bold: true, toc: w.tocDepth > 0})
	case "tbl":
		if w.onRow != nil {
			t := &wordTable{}
			if len(w.tables) == 0 {
				t.out = w.d.b.NewTableWriter()
			}
			w.tables = append(w.tables, t)
		}
	case "tc":
		if t := w.currentTable(); t != nil {
			t.cell, t.span, t.isMerged = nil, 1, false
		}
	case "vMerge":
		if t := w.currentTable(); t != nil {
			t.isMerged = attrValue(e, "val") != "restart"
		}
	case "gridBefore":
		if t := w.currentTable(); t != nil {
			for range document.ParsePositiveOrOne(attrValue(e, "val"), 100) {
				t.cells = append(t.cells, "")
			}
		}
	case "gridSpan":
		if t := w.currentTable(); t != nil {
			t.span = document.ParsePositiveOrOne(attrValue(e, "val"), 100)
		}
	case "docPartGallery":
		if strings.EqualFold(attrValue(e, "val"), "Table of Contents") {
			w.tocDepth = max(1, depth-3) // sdt > sdtPr > docPartObj > docPartGallery
		}
	case "lastRenderedPageBreak":
		w.d.hasPageBreaks = true
		w.d.page++
	case "r":
		w.bold, w.font = false, ""
	}
	if p == nil {
		return
	}
	w.countMedia(p, e)
	switch e.Name.Local {
	case "pStyle":
		p.style = attrValue(e, "val")
	case "outlineLvl":
		if n, err := strconv.Atoi(attrValue(e, "val")); err == nil && n >= 0 && n < 9 {
			p.outline = n + 1
		}
	case "ilvl":
		if n, err := strconv.Atoi(attrValue(e, "val")); err == nil && p.list != listNone {
			p.list = min(max(n, 0), 8)
		}
	case "numId":
		if p.numID = attrValue(e, "val"); p.numID == "0" {
			p.list = listNone
		} else if p.list == -1 {
			p.list = 0
		}
	case "b":
		w.bold = isToggleOn(e)
	case "t":
		w.inText = true
		if !w.bold {
			p.bold = false
		}
	case "tab", "br", "cr", "ptab":
		p.text.WriteByte(' ')
	case "noBreakHyphen":
		p.text.WriteByte('-')
	case "footnoteReference":
		p.notes = append(p.notes, "footnote "+attrValue(e, "id"))
	case "endnoteReference":
		p.notes = append(p.notes, "endnote "+attrValue(e, "id"))
	}
}

func (w *wordWalker) currentTable() *wordTable {
	if len(w.tables) == 0 {
		return nil
	}
	return w.tables[len(w.tables)-1]
}

func (w *wordWalker) endElement(e xml.EndElement, depth int) {
	w.endVisibility(e)
	w.endForm(e.Name.Local)
	switch e.Name.Local {
	case "t":
		w.inText = false
	case "object":
		w.inObject = false
	case "p":
		if len(w.paras) > 0 && !strings.Contains(e.Name.Space, "drawingml") {
			w.endParagraph()
		}
	case "tc":
		if t := w.currentTable(); t != nil && len(t.cells) < document.MaxColumns {
			text := strings.Join(t.cell, " ")
			if text == "" && t.isMerged {
				text = document.MergedUp
			}
			t.cells = append(t.cells, text)
			for range t.span - 1 {
				t.cells = append(t.cells, document.MergedLeft)
			}
			t.cell = nil
		}
	case "tr":
		if t := w.currentTable(); t != nil {
			w.endRow(t)
		}
	case "tbl":
		if t := w.currentTable(); t != nil {
			w.tables = w.tables[:len(w.tables)-1]
			if t.out != nil {
				t.out.Finish()
				w.d.addEmbedded(w.embedded)
				w.embedded = nil
			} else if outer := w.currentTable(); outer != nil {
				outer.cell = append(outer.cell, document.RenderNestedTable(t.rows))
			}
		}
	case "sdt":
		if w.tocDepth > 0 && depth <= w.tocDepth {
			w.tocDepth = 0
		}
	}
	if w.onEnd != nil {
		w.onEnd(e)
	}
}

func (w *wordWalker) endParagraph() {
	p := w.paras[len(w.paras)-1]
	w.paras = w.paras[:len(w.paras)-1]
	if t := w.currentTable(); t != nil {
		if s := strings.TrimSpace(p.text.String()); s != "" {
			t.cell = append(t.cell, s)
		}
		for _, n := range p.notes {
			t.cell = append(t.cell, w.d.notes[n])
		}
		t.cell = append(t.cell, w.d.textsOfMedia(p)...)
		w.embedded = append(w.embedded, p.embedded...)
		return
	}
	w.onParagraph(p)
}

// endRow passes a finished row to the table's writer. A nested table becomes text in the enclosing cell.
func (w *wordWalker) endRow(t *wordTable) {
	cells := t.cells
	t.cells = nil
	if t.out != nil {
		w.onRow(t.out, cells)
		return
	}
	if len(t.rows) < maxNestedRows {
		t.rows = append(t.rows, cells)
	}
}

// countMedia records pictures, charts and embedded files, so that they are counted and their texts are read.
func (w *wordWalker) countMedia(p *wordPara, e xml.StartElement) {
	if w.drawingHidden || w.direct.vanish == flagOn {
		return
	}
	doc := w.d.b.Doc
	switch e.Name.Local {
	case "docPr":
		if text := document.AlternativeText(attrValue(e, "descr")); text != "" {
			p.beside = append(p.beside, text)
		}
	case "textpath": // a watermark or other text drawn as a shape
		if text := document.CleanLine(attrValue(e, "string")); text != "" {
			p.beside = append(p.beside, text)
		}
	case "blip", "imagedata":
		if !w.inObject {
			p.pictures = append(p.pictures, cmp.Or(attrValue(e, "embed"), relationAttr(e)))
		}
	case "chart":
		doc.AddNotRead(api.UnreadChart, 1, w.locator())
		p.charts = append(p.charts, relationAttr(e))
	case "object":
		w.inObject = true
	case "OLEObject":
		p.embedded = append(p.embedded, relationAttr(e))
	case "relIds":
		p.links = append(p.links, attrValue(e, "dm"))
	}
}
