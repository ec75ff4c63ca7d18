package office

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const maxODFStyles = 50_000

// odfFormat holds the formatting, of a style, or of an element and its enclosing elements, that
// determines whether text is visible.
type odfFormat struct {
	hidden, struck    flag
	tiny              flag
	color, background string // RGB; unknownColor; empty if not set
	isAbsent          flag   // the sheet, slide or drawing itself isn't displayed
	isPrompt          flag   // the prompt of a form field
	font              string // empty if not set
}

// inherit copies from base the properties that f doesn't set. An element that is hidden hides everything inside it.
func (f *odfFormat) inherit(base odfFormat) {
	f.hidden, f.struck, f.tiny = cmp.Or(f.hidden, base.hidden), cmp.Or(f.struck, base.struck), cmp.Or(f.tiny, base.tiny)
	f.color, f.background = cmp.Or(f.color, base.color), cmp.Or(f.background, base.background)
	f.isAbsent, f.isPrompt = cmp.Or(f.isAbsent, base.isAbsent), cmp.Or(f.isPrompt, base.isPrompt)
	f.font = cmp.Or(f.font, base.font)
}

type odfStyleKey struct{ family, name string }

// odfStyles holds the formats of styles by family and name. The default style of a family has an empty name.
type odfStyles struct {
	formats  map[odfStyleKey]odfFormat
	parents  map[odfStyleKey]string
	open     odfStyleKey // the style being defined
	pageSize [2]float64  // in points, of the largest page
	// pageStyles are the page styles of sheets.
	pageStyles map[string]bool
	// resolved caches the formats including inherited properties. It is cleared when a style is defined.
	resolved map[odfStyleKey]odfFormat
}

func newODFStyles() *odfStyles {
	return &odfStyles{
		pageStyles: map[string]bool{}, formats: map[odfStyleKey]odfFormat{},
		parents: map[odfStyleKey]string{}, resolved: map[odfStyleKey]odfFormat{},
	}
}

// startElement reads the definitions of styles. Styles defined in the content replace styles of the
// same name in the whole document.
func (s *odfStyles) startElement(e xml.StartElement) {
	switch name := e.Name.Local; name {
	case "page-layout-properties":
		for axis, attr := range []string{"page-width", "page-height"} {
			if v, ok := parsePoints(attrValue(e, attr)); ok {
				s.pageSize[axis] = max(s.pageSize[axis], v)
			}
		}
	case "style", "default-style":
		s.open = odfStyleKey{attrValue(e, "family"), attrValue(e, "name")}
		clear(s.resolved)
		if page := attrValue(e, "master-page-name"); page != "" && s.open.family == "table" && len(s.pageStyles) < maxODFStyles {
			s.pageStyles[page] = true
		}
		if len(s.formats) < maxODFStyles {
			s.formats[s.open] = odfFormat{}
			s.parents[s.open] = attrValue(e, "parent-style-name")
		}
	case "text-properties", "paragraph-properties", "table-cell-properties", "graphic-properties", "table-properties",
		"drawing-page-properties", "section-properties", "table-row-properties":
		f, ok := s.formats[s.open]
		if !ok {
			return
		}
		f.set(name, e)
		s.formats[s.open] = f
	}
}

// set applies the properties of a style.
func (f *odfFormat) set(properties string, e xml.StartElement) {
	fill, fillColor := attrValue(e, "fill"), odfColor(attrValue(e, "fill-color"))
	for _, a := range e.Attr {
		switch a.Name.Local {
		case "display":
			on := flagOff
			if a.Value == "none" || a.Value == "false" {
				on = flagOn
			}
			if properties == "text-properties" {
				f.hidden = on
			} else {
				f.isAbsent = on
			}
		case "visibility":
			if properties == "drawing-page-properties" && a.Value == "hidden" {
				f.isAbsent = flagOn
			}
		case "text-line-through-style", "text-line-through-type":
			f.struck = flagOn
			if a.Value == "none" {
				f.struck = flagOff
			}
		case "color":
			f.color = cmp.Or(odfColor(a.Value), f.color)
		case "use-window-font-color":
			if a.Value == "true" {
				f.color = unknownColor // automatic color, which contrasts with the background
			}
		case "background-color":
			f.background = cmp.Or(odfColor(a.Value), f.background)
		case "font-name":
			f.font = a.Value
		case "font-size":
			f.tiny = flagOff
			if number, ok := strings.CutSuffix(a.Value, "pt"); ok && isTinySize(number) {
				f.tiny = flagOn
			}
		}
	}
	if (properties == "graphic-properties" || properties == "drawing-page-properties") && fill != "" {
		switch {
		case fill == "solid" && fillColor != "":
			f.background = fillColor
		case fill != "none":
			f.background = unknownColor
		}
	}
}

// odfColor returns a color as hexadecimal red, green and blue, or "" if it has none.
func odfColor(s string) string {
	if rgb, ok := strings.CutPrefix(s, "#"); ok && len(rgb) == 6 {
		return strings.ToUpper(rgb)
	}
	return ""
}

// get returns the format of a style, including inherited properties.
func (s *odfStyles) get(family, name string) odfFormat {
	var f odfFormat
	key := odfStyleKey{family, name}
	if f, ok := s.resolved[key]; ok {
		return f
	}
	defer func() { s.resolved[odfStyleKey{family, name}] = f }()
	for range 20 { // limited because styles may be circular
		f.inherit(s.formats[key])
		if key.name == "" {
			break
		}
		key.name = s.parents[key]
	}
	if key.name != "" {
		f.inherit(s.formats[odfStyleKey{family, ""}])
	}
	return f
}

// odfStyleWalker reads only the styles of a part.
type odfStyleWalker struct{ styles *odfStyles }

func (w odfStyleWalker) isSkipped(e xml.StartElement) bool {
	return e.Name.Local == "body" || e.Name.Local == "master-styles"
}
func (w odfStyleWalker) startElement(e xml.StartElement, _ int) { w.styles.startElement(e) }
func (odfStyleWalker) endElement(xml.EndElement, int)           {}
func (odfStyleWalker) appendCharData([]byte) error              { return nil }

// readODFStyles reads the styles of the whole document.
func readODFStyles(b *document.Builder, z *zip.Reader, folder string) (*odfStyles, error) {
	s := newODFStyles()
	return s, walkXML(b, z, folder+"styles.xml", odfStyleWalker{s})
}

// odfLook is the appearance of text in an open element.
type odfLook struct {
	element string
	format  odfFormat
	counted *string // the kinds of unread text already counted in the paragraph
}

// odfFamilies are the elements that give their text a format, with the family of their style.
var odfFamilies = map[string]string{
	"p": "paragraph", "h": "paragraph", "span": "text", "table-cell": "table-cell", "covered-table-cell": "table-cell", "section": "section",
	"frame": "graphic", "custom-shape": "graphic", "rect": "graphic", "ellipse": "graphic", "g": "graphic", "line": "graphic",
	"text-box": "", "page": "drawing-page", "placeholder": "", "content-control": "",
}

// startVisibility tracks the properties that determine whether the following text is visible. It returns true for an
// element that isn't displayed at all.
func (w *odfWalker) startVisibility(e xml.StartElement) (isHidden bool) {
	w.styles.startElement(e)
	name := e.Name.Local
	family, ok := odfFamilies[name]
	if !ok {
		return false
	}
	look := odfLook{element: name}
	var outer odfLook
	if n := len(w.looks); n > 0 {
		outer = w.looks[n-1]
	}
	style := cmp.Or(attrValue(e, "style-name"), w.cellStyle(name))
	if family != "" && (style != "" || family == "paragraph" && len(w.looks) == 0) {
		look.format = w.styles.get(family, style)
	}
	if style != "" && family == "graphic" {
		look.format.inherit(w.styles.get("presentation", style))
	}
	switch {
	case family == "graphic" && w.isOffPage(e):
		look.format.isAbsent = flagOn
	case family == "drawing-page":
		w.isPageCovered = false
	case family == "graphic":
		fill := look.format.background
		if fill == "" && w.format != MIMEODS && (w.isPageCovered || outer.format.background == "") {
			look.format.background = unknownColor // the actual background is unknown
		}
		w.isPageCovered = w.isPageCovered || fill != ""
	case name == "p" || name == "h":
		look.counted = new(string)
	case isPrompt(e):
		look.format.isPrompt = flagOn
	}
	if look.counted == nil {
		look.counted = outer.counted
	}
	absent := look.format.isAbsent == flagOn || attrValue(e, "display") == "none" && name != "span" ||
		attrValue(e, "is-hidden") == "true" || name == "page" && attrValue(e, "visibility") == "hidden"
	look.format.isAbsent = 0
	look.format.inherit(outer.format)
	if absent {
		kind := api.UnreadHiddenText
		at := w.locator()
		if name == "page" {
			w.slides++
			kind, at = api.UnreadHiddenSlide, api.Locator{Slide: w.slides}
		}
		w.b.Doc.AddNotRead(kind, 1, at)
		return true
	}
	w.looks = append(w.looks, look)
	return false
}

// isOffPage reports whether a drawing is completely outside the page. In text documents, positions
// are relative to something on the page, so a drawing must be farther away to count.
func (w *odfWalker) isOffPage(e xml.StartElement) bool {
	if w.format == MIMEODS || attrValue(e, "transform") != "" {
		return false
	}
	for axis, attrs := range [][2]string{{"x", "width"}, {"y", "height"}} {
		at, ok := parsePoints(attrValue(e, attrs[0]))
		size, _ := parsePoints(attrValue(e, attrs[1]))
		page := w.styles.pageSize[axis]
		before := 0.0
		if w.format == MIMEODT {
			before = page / 2
		}
		if ok && page > 0 && (at >= page || at+size <= -before) {
			return true
		}
	}
	return false
}

// cellStyle returns the style that the next cell of the open table inherits from its row or column.
func (w *odfWalker) cellStyle(element string) string {
	t := w.currentTable()
	if t == nil || element != "table-cell" {
		return ""
	}
	if t.rowStyle != "" {
		return t.rowStyle
	}
	column := len(t.cells) + 1
	for _, c := range t.columnStyles {
		if column >= c.first && column <= c.last {
			return c.style
		}
	}
	return ""
}

func (w *odfWalker) endVisibility(name string) {
	if n := len(w.looks); n > 0 && w.looks[n-1].element == name {
		w.looks = w.looks[:n-1]
	}
}

// countIfUnread reports whether text isn't visible. If so, it counts the text, once per paragraph and kind.
func (w *odfWalker) countIfUnread(text []byte) (isUnread bool) {
	if len(w.looks) == 0 {
		return false
	}
	look := &w.looks[len(w.looks)-1]
	f, kind := &look.format, ""
	switch {
	case f.hidden == flagOn, f.tiny == flagOn, isSameColor(f.color, cmp.Or(f.background, "FFFFFF")):
		kind = api.UnreadHiddenText
	case f.struck == flagOn:
		kind = api.UnreadStruckText
	case f.isPrompt == flagOn:
		kind = api.UnreadPrompt
	default:
		return false
	}
	if look.counted != nil && !strings.Contains(*look.counted, kind) && len(bytes.TrimSpace(text)) > 0 {
		*look.counted += kind + " "
		w.b.Doc.AddNotRead(kind, 1, w.locator())
	}
	return true
}

// odfUnreadElements are the elements whose content is counted as unread.
var odfUnreadElements = map[string]string{
	"annotation": api.UnreadComment, "deletion": api.UnreadDeletedText, "image": api.UnreadPicture, "object": api.UnreadEmbeddedFile,
	"object-ole": api.UnreadEmbeddedFile, "hidden-text": api.UnreadHiddenText,
}

// columnStyle is the style of those cells in certain columns that have no style of their own.
type columnStyle struct {
	columnRange
	style string
}

// addColumn records the columns that an element of the open table describes.
func (t *odfTable) addColumn(e xml.StartElement) {
	n := document.ParsePositiveOrOne(attrValue(e, "number-columns-repeated"), 1<<15)
	at := columnRange{t.columnCount + 1, t.columnCount + n}
	t.columnCount += n
	if len(t.columnStyles) >= document.MaxColumns {
		return
	}
	if attrValue(e, "visibility") == "collapse" {
		t.hiddenColumns = append(t.hiddenColumns, at)
	}
	if style := attrValue(e, "default-cell-style-name"); style != "" {
		t.columnStyles = append(t.columnStyles, columnStyle{at, style})
	}
}

// removeAndCountHidden clears the cells of the finished row that are in hidden columns, and counts
// each hidden column once. It returns true if the row itself is hidden.
func (w *odfWalker) removeAndCountHidden(t *odfTable) (isRowHidden bool) {
	if t.isRowHidden {
		if t.rowFilled {
			w.b.Doc.AddNotRead(api.UnreadHiddenRow, min(t.repeat, maxRowRepeat), w.cellLocator(strconv.Itoa(t.row)+":"+strconv.Itoa(t.row)))
		}
		return true
	}
	for _, hidden := range t.hiddenColumns {
		for i := hidden.first; i <= min(hidden.last, len(t.cells)); i++ {
			if t.cells[i-1] == "" {
				continue
			}
			if t.cells[i-1] = ""; !t.countedColumns[i] {
				if t.countedColumns == nil {
					t.countedColumns = map[int]bool{}
				}
				t.countedColumns[i] = true
				w.b.Doc.AddNotRead(api.UnreadHiddenColumn, 1, w.cellLocator(""))
			}
		}
	}
	return false
}

func (w *odfWalker) cellLocator(cells string) api.Locator {
	if w.format == MIMEODS {
		return api.Locator{Sheet: w.sheet, CellRange: cells}
	}
	return w.locator()
}
