package office

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strconv"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// wordField is a legacy form field whose properties are being read. Its value is stored separately from the text.
type wordField struct {
	isCheckBox, isList  bool
	isTicked, isDefault flag
	chosen              int
	entries             []string
}

// readForm processes form fields and content controls, and writes the values that aren't stored as text.
func (w *wordWalker) readForm(e xml.StartElement) {
	val := attrValue(e, "val")
	on := flagOff
	if isToggleOn(e) {
		on = flagOn
	}
	switch name := e.Name.Local; {
	case name == "sdt":
		w.prompts = append(w.prompts, false)
	case name == "showingPlcHdr":
		if n := len(w.prompts); n > 0 {
			w.prompts[n-1], w.kindKnown = on == flagOn, false
		}
	case name == "sym":
		if code, err := strconv.ParseUint(attrValue(e, "char"), 16, 16); err == nil {
			w.writeShown(document.SymbolText(attrValue(e, "font"), rune(code)))
		}
	case name == "rFonts" && w.section() == "rPr":
		w.font = cmp.Or(attrValue(e, "ascii"), attrValue(e, "hAnsi"))
	case name == "control":
		if !w.drawingHidden {
			countControl(w.d.b, attrValue(e, "name"), w.locator())
		}
	case name == "ffData":
		w.field = &wordField{}
	case w.field == nil:
	case name == "checkBox":
		w.field.isCheckBox = true
	case name == "ddList":
		w.field.isList = true
	case name == "checked":
		w.field.isTicked = on
	case name == "default" && w.field.isCheckBox:
		w.field.isDefault = on
	case name == "default" || name == "result":
		if n, err := strconv.Atoi(val); err == nil {
			w.field.chosen = n
		}
	case name == "listEntry":
		w.field.entries = append(w.field.entries, val)
	}
}

// endForm writes the value of a form field.
func (w *wordWalker) endForm(name string) {
	switch f := w.field; {
	case name == "sdt" && len(w.prompts) > 0:
		w.prompts = w.prompts[:len(w.prompts)-1]
		w.kindKnown = false
	case name != "ffData" || f == nil:
	default:
		w.field = nil
		w.writeShown(f.value())
	}
}

// writeShown adds text that is displayed in the document but not stored as text.
func (w *wordWalker) writeShown(text string) {
	if len(w.paras) == 0 || text == "" {
		return
	}
	open := w.inText
	w.inText = true
	_ = w.appendCharData([]byte(text)) // a paragraph that is too long causes an error at its next text
	w.inText = open
}

// isPrompt reports whether the open text is the prompt of a content control that was never filled in.
func (w *wordWalker) isPrompt() bool { return slices.Contains(w.prompts, true) }
