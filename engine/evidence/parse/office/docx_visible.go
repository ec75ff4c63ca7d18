package office

import (
	"cmp"
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
)

// flag is a property that is on or off, or not set.
type flag int8

const (
	flagOn  flag = 1
	flagOff flag = -1
)

// wordFormat holds the formatting, of a run or a style, that determines whether text is visible.
type wordFormat struct {
	vanish, strike      flag // toggle properties: one style inverts the value set by another
	specVanish, dstrike flag
	color, shade        string // RGB; unknownColor; empty if not set
	paragraphShade      string
	halfPoints          int // size; 0 if not set
	// The following apply to styles of tables.
	hasConditionalFormats bool
	rowBand, columnBand   int // rows and columns that have the same conditional format
}

// unknownColor represents a background of unknown color, which doesn't hide any text.
const unknownColor = "?"

// set sets a run property.
func (f *wordFormat) set(name, val string, shade func() string) {
	on := flagOn
	if val == "0" || val == "false" || val == "off" || val == "none" {
		on = flagOff
	}
	switch name {
	case "vanish":
		f.vanish = on
	case "specVanish":
		f.specVanish = on
	case "strike":
		f.strike = on
	case "dstrike":
		f.dstrike = on
	case "color":
		f.color = cmp.Or(strings.ToUpper(val), unknownColor)
	case "shd", "highlight":
		f.shade = cmp.Or(shade(), f.shade)
	case "sz":
		if n, err := strconv.Atoi(val); err == nil && n > 0 {
			f.halfPoints = n
		}
	}
}

// shadeColor returns the color of a w:shd or w:highlight, or "" if it shades nothing.
func shadeColor(name, val, fill, color string) string {
	switch {
	case name == "highlight":
		return map[string]string{
			"none": "", "white": "FFFFFF", "black": "000000", "yellow": "FFFF00", "red": "FF0000", "blue": "0000FF", "green": "00FF00",
		}[val]
	case val == "solid":
		return strings.ToUpper(cmp.Or(color, unknownColor))
	case val != "" && val != "clear" && val != "nil":
		return unknownColor
	case fill == "" || fill == "auto" || val == "nil":
		return ""
	}
	return strings.ToUpper(fill)
}

// inherit copies from base the properties that f doesn't set.
func (f *wordFormat) inherit(base wordFormat) {
	f.vanish, f.strike = cmp.Or(f.vanish, base.vanish), cmp.Or(f.strike, base.strike)
	f.specVanish, f.dstrike = cmp.Or(f.specVanish, base.specVanish), cmp.Or(f.dstrike, base.dstrike)
	f.color, f.shade = cmp.Or(f.color, base.color), cmp.Or(f.shade, base.shade)
	f.paragraphShade, f.halfPoints = cmp.Or(f.paragraphShade, base.paragraphShade), cmp.Or(f.halfPoints, base.halfPoints)
	f.hasConditionalFormats = f.hasConditionalFormats || base.hasConditionalFormats
	f.rowBand, f.columnBand = cmp.Or(f.rowBand, base.rowBand), cmp.Or(f.columnBand, base.columnBand)
}

// wordStyles holds the formats of all styles.
type wordStyles struct {
	defaults      wordFormat
	formats       map[string]wordFormat // including inherited properties, once resolved
	basedOn       map[string]string
	conditional   map[string]map[string]wordFormat // of the styles of tables, by the name of the condition
	defaultByType map[string]string                // the default styles for paragraphs, tables and so on
	resolved      map[string]bool
}

// wordProperties are the children of a w:rPr or w:pPr.
type wordProperties struct {
	Property []struct {
		XMLName xml.Name
		Val     string `xml:"val,attr"`
		Fill    string `xml:"fill,attr"`
		Color   string `xml:"color,attr"`
	} `xml:",any"`
}

func (p wordProperties) format() (f wordFormat) {
	for _, e := range p.Property {
		f.set(e.XMLName.Local, e.Val, func() string { return shadeColor(e.XMLName.Local, e.Val, e.Fill, e.Color) })
	}
	return f
}

// get returns the format of a style, including inherited properties.
func (s *wordStyles) get(id string) wordFormat {
	f := s.formats[id]
	if s.resolved[id] {
		return f
	}
	for base, n := s.basedOn[id], 0; base != "" && n < 50; base, n = s.basedOn[base], n+1 { // limited because styles may be circular
		f.inherit(s.formats[base])
	}
	if s.formats != nil {
		s.formats[id], s.resolved[id] = f, true
	}
	return f
}

// wordBox is a table or a text box, which has one background for all its text.
type wordBox struct {
	isTextBox  bool
	isHidden   bool   // a text box that isn't displayed
	style      string // the style of a table
	place      tablePlace
	shade      string
	cellShade  string
	rowKind    string // the kind of unread content that the row is; empty if it is read
	rowCounted bool
	cellKind   string
}

// unreadKind returns the api.Unread… kind that hides the text of the open run, or "" if it is visible.
func (w *wordWalker) unreadKind() string {
	s := &w.d.looks
	run := w.direct
	background := ""
	table, conditional := wordFormat{}, wordFormat{}
	for i := len(w.boxes) - 1; i >= 0; i-- {
		b := &w.boxes[i]
		switch {
		case b.isHidden:
			return api.UnreadHiddenText
		case b.rowKind != "":
			return b.rowKind
		case b.cellKind != "":
			return b.cellKind
		}
		if !b.isTextBox && i == len(w.boxes)-1 {
			table, conditional = w.tableFormat(b, cmp.Or(b.style, s.defaultByType["table"]))
			background = cmp.Or(b.cellShade, conditional.paragraphShade)
		}
		if background == "" {
			background = cmp.Or(b.cellShade, b.shade)
			if b.isTextBox {
				background = cmp.Or(background, unknownColor)
			} else if background == "" && s.get(b.style).hasConditionalFormats && conditional.color == "" {
				background = unknownColor
			}
		}
	}
	if w.isPrompt() {
		return api.UnreadPrompt
	}
	p := w.paras[len(w.paras)-1]
	paragraph := s.get(cmp.Or(p.style, s.defaultByType["paragraph"]))
	character := s.get(cmp.Or(w.runStyle, s.defaultByType["character"]))

	toggle := func(direct, character, paragraph, table, defaults flag) bool {
		switch {
		case direct != 0:
			return direct == flagOn
		case defaults == flagOn:
			return true
		}
		return (character == flagOn) != (paragraph == flagOn) != (table == flagOn)
	}
	vanishes := toggle(run.vanish, character.vanish, paragraph.vanish, table.vanish, s.defaults.vanish)
	struck := toggle(run.strike, character.strike, paragraph.strike, table.strike, s.defaults.strike)
	for _, f := range []wordFormat{character, paragraph, table, s.defaults} {
		run.inherit(f)
	}
	background = cmp.Or(run.shade, p.shade, paragraph.paragraphShade, background, table.paragraphShade, w.d.pageColor, "FFFFFF")
	switch {
	case vanishes, run.specVanish == flagOn, run.halfPoints > 0 && run.halfPoints <= 2, isSameColor(run.color, background):
		return api.UnreadHiddenText
	case struck, run.dstrike == flagOn:
		return api.UnreadStruckText
	}
	return ""
}

// countUnread counts unread text of the open paragraph, once per paragraph and kind or, in a hidden
// row, once per row.
func (w *wordWalker) countUnread(kind string) {
	p := w.paras[len(w.paras)-1]
	if kind == api.UnreadHiddenRow {
		for i := range w.boxes {
			if b := &w.boxes[i]; b.rowKind == kind && !b.rowCounted {
				b.rowCounted = true
				w.d.b.Doc.AddNotRead(kind, 1, w.locator())
			}
		}
		return
	}
	if !strings.Contains(p.counted, kind) {
		p.counted += kind + " "
		w.d.b.Doc.AddNotRead(kind, 1, w.locator())
	}
}

// locator returns the location of the text being read, if it is in the body.
func (w *wordWalker) locator() api.Locator {
	if w.onRow == nil {
		return api.Locator{}
	}
	return api.Locator{Page: w.d.page}
}

// wordSections are the Word elements that hold properties, such as those of a run or a paragraph.
var wordSections = map[string]bool{
	"rPr": true, "pPr": true, "tblPr": true, "trPr": true, "tcPr": true, "spPr": true, "ln": true, "solidFill": true,
}

// section returns the innermost open element with properties.
func (w *wordWalker) section() string {
	if n := len(w.sections); n > 0 {
		return w.sections[n-1]
	}
	return ""
}

// startVisibility tracks the properties that determine whether the following text is visible.
func (w *wordWalker) startVisibility(e xml.StartElement) {
	name, section := e.Name.Local, w.section()
	var box *wordBox
	if n := len(w.boxes); n > 0 {
		box = &w.boxes[n-1]
	}
	shade := func() string {
		if fill := attrValue(e, "fill"); (fill == "" || fill == "auto") && attrValue(e, "themeFill") != "" {
			return unknownColor
		}
		return shadeColor(name, attrValue(e, "val"), attrValue(e, "fill"), attrValue(e, "color"))
	}
	switch {
	case wordSections[name]:
		w.sections = append(w.sections, name)
	case name == "r" && section == "":
		w.direct, w.runStyle, w.kindKnown = wordFormat{}, "", false
	case name == "tbl":
		w.tableCount++
		w.boxes = append(w.boxes, wordBox{place: tablePlace{number: w.tableCount}})
	case name == "txbxContent":
		isHidden := w.drawingHidden || w.direct.vanish == flagOn && len(w.paras) > 0
		w.boxes = append(w.boxes, wordBox{isTextBox: true, isHidden: isHidden, shade: w.shapeFill})
	case name == "drawing" || name == "pict" || name == "object":
		w.drawingHidden, w.shapeFill, w.anchor = false, "", nil
	case name == "anchor":
		w.anchor = &wordAnchor{}
	case w.anchor != nil && w.anchor.startElement(e):
		if name == "extent" {
			w.drawingHidden = w.drawingHidden || w.d.isOffPage(w.anchor)
		}
	case name == "docPr":
		w.drawingHidden = w.drawingHidden || attrValue(e, "hidden") == "1" || attrValue(e, "hidden") == "true"
	case name == "shape" || name == "rect" || name == "roundrect":
		style := strings.ReplaceAll(strings.ToLower(attrValue(e, "style")), " ", "")
		w.drawingHidden = w.drawingHidden || strings.Contains(style, "visibility:hidden") || strings.Contains(style, "display:none") ||
			w.d.isOffPage(vmlAnchor(style))
	case name == "srgbClr":
		if n := len(w.sections); n >= 2 && section == "solidFill" && w.sections[n-2] == "spPr" {
			w.shapeFill = strings.ToUpper(attrValue(e, "val"))
		}
	case box != nil && name == "tr":
		box.rowKind, box.rowCounted = "", false
		box.place.row, box.place.column = box.place.row+1, 0
	case box != nil && name == "tc":
		box.cellShade, box.cellKind = "", ""
		box.place.column++
	case section == "rPr" && name == "rStyle":
		w.runStyle = attrValue(e, "val")
	case section == "rPr":
		if n := len(w.sections); n < 2 || w.sections[n-2] != "pPr" { // except those of the paragraph mark
			w.direct.set(name, attrValue(e, "val"), shade)
		}
	case section == "pPr" && name == "shd" && len(w.paras) > 0:
		w.paras[len(w.paras)-1].shade = shade()
	case box != nil && section == "tblPr" && name == "tblStyle":
		box.style = attrValue(e, "val")
	case box != nil && section == "tblPr" && name == "tblLook":
		box.place.readLook(e)
	case box != nil && section == "tblPr" && name == "shd":
		box.shade = shade()
	case box != nil && section == "tcPr" && name == "shd":
		box.cellShade = shade()
	case box != nil && section == "trPr" && name == "hidden" && isToggleOn(e):
		box.rowKind = api.UnreadHiddenRow
	case box != nil && section == "trPr" && name == "trHeight" && attrValue(e, "hRule") == "exact":
		if n, err := strconv.Atoi(attrValue(e, "val")); err == nil && n <= 40 { // two points, in twentieths of a point
			box.rowKind = api.UnreadHiddenRow
		}
	}
}

// trackDeletion processes tracked deletions, whose content the walker skips.
func (w *wordWalker) trackDeletion(e xml.StartElement) {
	var box *wordBox
	if n := len(w.boxes); n > 0 {
		box = &w.boxes[n-1]
	}
	switch name := e.Name.Local; {
	case box != nil && name == "del" && w.section() == "trPr":
		box.rowKind = api.UnreadDeletedText
	case box != nil && name == "cellDel":
		box.cellKind = api.UnreadDeletedText
	case (name == "del" || name == "moveFrom") && w.section() == "" && len(w.paras) > 0:
		w.countUnread(api.UnreadDeletedText)
	}
}

// endVisibility ends the effect of an element on what is visible.
func (w *wordWalker) endVisibility(e xml.EndElement) {
	switch name := e.Name.Local; name {
	case "tbl", "txbxContent":
		if n := len(w.boxes); n > 0 {
			w.boxes = w.boxes[:n-1]
		}
		w.kindKnown = false
	case "drawing", "pict", "object":
		w.drawingHidden = false
	default:
		if n := len(w.sections); n > 0 && w.sections[n-1] == name {
			w.sections = w.sections[:n-1]
		}
	}
}
