package office

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/text"
)

// oldSheetCell is a cell of a workbook in XML (SpreadsheetML 2003). A cell without an index follows
// the preceding one.
type oldSheetCell struct {
	Index   int    `xml:"Index,attr"`
	Across  int    `xml:"MergeAcross,attr"`
	Style   string `xml:"StyleID,attr"`
	Formula string `xml:"Formula,attr"`
	Data    struct {
		Content []byte `xml:",innerxml"`
	} `xml:"Data"`
	Comment *struct{} `xml:"Comment"`
}

// oldSheetReader reads the sheets of a workbook in XML.
type oldSheetReader struct {
	b             *document.Builder
	struck        map[string]bool // styles that strike text through
	hiddenColumns map[int]bool    // of the open sheet, from 1
	sheet         api.Locator
	isShown       bool
	part          *document.Builder // content of the open sheet, held back because its visibility is stated after its cells
	table         *document.TableWriter

	row      int // number of the open row, from 1
	rowStyle string
	isHidden bool // the open row is hidden
	cells    []string
}

// ReadSheet2003 reads a workbook that was saved as a single XML file by Excel 2003 or a program
// that uses its format.
func ReadSheet2003(b *document.Builder, content string) error {
	r := &oldSheetReader{b: b, struck: map[string]bool{}}
	dec := text.NewXMLDecoder(content)
	for b.Err() == nil {
		if err := b.Context().Err(); err != nil {
			return err
		}
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		switch e := tok.(type) {
		case xml.StartElement:
			err = r.startElement(dec, e)
		case xml.EndElement:
			r.endElement(e.Name.Local)
		}
		if err != nil {
			return document.DamagedError(r.sheet.Sheet, err)
		}
	}
	return b.Err()
}

func (r *oldSheetReader) startElement(dec *xml.Decoder, e xml.StartElement) error {
	switch e.Name.Local {
	case "Workbook", "Styles", "Table", "WorksheetOptions":
		return nil
	case "Style":
		var s struct {
			ID     string `xml:"ID,attr"`
			Parent string `xml:"Parent,attr"`
			Font   struct {
				Struck string `xml:"StrikeThrough,attr"`
			} `xml:"Font"`
		}
		err := dec.DecodeElement(&s, &e)
		r.struck[s.ID] = s.Font.Struck == "1" || s.Font.Struck == "" && r.struck[s.Parent]
		return err
	case "Worksheet":
		r.b.Doc.PageCount++
		r.sheet, r.row, r.isShown = api.Locator{Sheet: document.CleanLine(attrValue(e, "Name"))}, 0, true
		r.hiddenColumns, r.part = map[int]bool{}, r.b.NewPart()
		r.table = r.part.NewTableWriter()
		return nil
	}
	if r.part == nil {
		return dec.Skip()
	}
	number := func(name string) int { return max(parseDigits([]byte(attrValue(e, name))), 0) }
	switch e.Name.Local {
	case "Column":
		first := max(number("Index"), len(r.hiddenColumns)+1)
		for n := first; n <= min(first+number("Span"), document.MaxColumns); n++ {
			r.hiddenColumns[n] = attrValue(e, "Hidden") == "1" || attrValue(e, "Width") == "0"
		}
	case "Row":
		r.row = max(r.row+1, number("Index"))
		r.rowStyle, r.cells = attrValue(e, "StyleID"), nil
		r.isHidden = attrValue(e, "Hidden") == "1" || attrValue(e, "Height") == "0"
	case "Cell":
		var c oldSheetCell
		err := dec.DecodeElement(&c, &e)
		r.addCell(&c)
		return err
	case "Visible": // the visibility of the sheet, which is stated after the cells
		var state string
		err := dec.DecodeElement(&state, &e)
		r.isShown = state == "" || state == "SheetVisible"
		return err
	default:
		return dec.Skip()
	}
	return nil
}

// addCell adds a cell to the open row, or counts it as unread if it isn't visible.
func (r *oldSheetReader) addCell(c *oldSheetCell) {
	if n := min(c.Index-1, document.MaxColumns); n > len(r.cells) {
		r.cells = append(r.cells, make([]string, n-len(r.cells))...)
	}
	if len(r.cells) >= document.MaxColumns {
		return
	}
	if c.Comment != nil {
		r.part.Doc.AddNotRead(api.UnreadComment, 1, r.sheet)
	}
	words, kind := elementText(c.Data.Content), ""
	switch {
	case words == "" && c.Formula != "":
		kind = api.UnreadFormula
	case words == "" || r.isHidden: // hidden rows are counted as a whole
	case r.hiddenColumns[len(r.cells)+1]:
		kind = api.UnreadHiddenColumn
	case c.Style != "" && r.struck[c.Style], c.Style == "" && r.struck[r.rowStyle]:
		kind = api.UnreadStruckText
	}
	if kind != "" {
		r.part.Doc.AddNotRead(kind, 1, r.sheet)
		words = ""
	}
	r.cells = append(r.cells, words)
	for range min(c.Across, document.MaxColumns-len(r.cells)) {
		r.cells = append(r.cells, document.MergedLeft)
	}
}

func (r *oldSheetReader) endElement(name string) {
	switch {
	case r.part == nil:
	case name == "Row" && r.isHidden && document.CountFilled(r.cells) > 0:
		r.part.Doc.AddNotRead(api.UnreadHiddenRow, 1, r.sheet)
	case name == "Row" && document.CountFilled(r.cells) > 0:
		at := r.sheet
		at.CellRange = document.FormatCellRange(r.cells, 0, r.row)
		r.table.AddRow(r.cells, at)
	case name == "Row":
		r.table.AddRow(nil, api.Locator{}) // an empty row separates tables
	case name == "Worksheet":
		r.finishSheet()
	}
	if r.part != nil && r.part.Err() != nil {
		r.b.Fail(r.part.Err())
	}
}

// finishSheet adds the blocks of the open sheet, unless it is hidden.
func (r *oldSheetReader) finishSheet() {
	if r.table.Finish(); !r.isShown {
		r.b.Doc.AddNotRead(api.UnreadHiddenSheet, 1, r.sheet)
	} else {
		r.b.CloseHeadings()
		r.b.AddHeading(1, r.sheet.Sheet, r.sheet)
		r.b.AppendPart(r.part)
	}
	if err := r.part.Err(); err != nil {
		r.b.Fail(err)
	}
	r.part = nil
}

// elementText returns the text of an element's content, which may contain formatting tags, without
// text that is struck through.
func elementText(content []byte) string {
	if !bytes.ContainsAny(content, "<&") {
		return string(content)
	}
	dec, words, struck := xml.NewDecoder(bytes.NewReader(content)), []byte(nil), 0
	for {
		tok, err := dec.Token()
		switch e := tok.(type) {
		case xml.CharData:
			if struck == 0 {
				words = append(words, e...)
			}
		case xml.StartElement:
			if struck > 0 || e.Name.Local == "S" {
				struck++
			}
		case xml.EndElement:
			struck = max(struck-1, 0)
		}
		if err != nil {
			return string(words)
		}
	}
}
