package office

import (
	"cmp"
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const maxControls = 10_000

// startForm tracks form fields and controls, whose values are stored separately from their position. It returns true
// for an element that needs no further processing.
func (w *odfWalker) startForm(e xml.StartElement) (isFinished bool) {
	name := e.Name.Local
	switch {
	case name == "forms":
		w.inForms++
		if w.controls == nil {
			w.controls = map[string]string{}
		}
	case w.inForms > 0:
		w.readControl(e)
	case name == "control":
		w.showControl(w.controls[attrValue(e, "control")])
	case name == "fieldmark" || name == "fieldmark-start":
		w.field = &wordField{
			isCheckBox: strings.HasSuffix(attrValue(e, "type"), "FORMCHECKBOX"), isList: strings.HasSuffix(attrValue(e, "type"), "FORMDROPDOWN"),
		}
	case name == "param" && w.field != nil:
		switch value := attrValue(e, "value"); attrValue(e, "name") {
		case "Checkbox_Checked":
			if value == "true" {
				w.field.isTicked = flagOn
			}
		case "Dropdown_ListEntry":
			w.field.entries = append(w.field.entries, value)
		case "Dropdown_Selected":
			if n, err := strconv.Atoi(value); err == nil {
				w.field.chosen = n
			}
		}
	default:
		return false
	}
	return true
}

// endForm reports whether the element that ends is part of a form.
func (w *odfWalker) endForm(name string) (isFormElement bool) {
	switch {
	case name == "forms" && w.inForms > 0:
		w.inForms--
	case w.inForms > 0 || name == "control" || name == "param":
	case name == "fieldmark" || name == "fieldmark-start":
		if f := w.field; f != nil {
			w.field = nil
			w.showControl(f.value())
		}
	default:
		return false
	}
	return true
}

// value returns the text that a form field shows, or "" if it is stored as ordinary text.
func (f *wordField) value() string {
	switch {
	case f.isCheckBox:
		return document.FormBox(cmp.Or(f.isTicked, f.isDefault) == flagOn)
	case f.isList && f.chosen >= 0 && f.chosen < len(f.entries):
		return f.entries[f.chosen]
	}
	return ""
}

// readControl records the text that a control shows.
func (w *odfWalker) readControl(e xml.StartElement) {
	if len(w.controls) >= maxControls {
		return
	}
	id := cmp.Or(attrValue(e, "id"), attrValue(e, "name"))
	isOn := func(names ...string) bool {
		value := ""
		for _, name := range names {
			value = cmp.Or(value, attrValue(e, name))
		}
		return value == "checked" || value == "true"
	}
	switch e.Name.Local {
	case "checkbox":
		w.controls[id] = document.FormBox(isOn("current-state", "state")) + " " + attrValue(e, "label")
	case "radio":
		w.controls[id] = document.FormBox(isOn("current-selected", "selected")) + " " + attrValue(e, "label")
	case "text", "textarea", "date", "time", "number", "formatted-text", "combobox":
		w.controls[id] = cmp.Or(attrValue(e, "current-value"), attrValue(e, "value"))
	case "fixed-text", "frame":
		w.controls[id] = attrValue(e, "label")
	case "listbox":
		w.control = id
	case "option":
		if isOn("current-selected", "selected") {
			w.controls[w.control] = strings.TrimSpace(w.controls[w.control] + " " + attrValue(e, "label"))
		}
	}
}

// showControl writes the text that a control shows, at its position.
func (w *odfWalker) showControl(text string) {
	switch {
	case strings.TrimSpace(text) == "":
	case len(w.texts) > 0:
		_ = w.appendCharData([]byte(" " + text + " ")) // a paragraph that is too long causes an error at its next text
	default:
		w.storeParagraph(document.CleanLine(text), "", 0)
	}
}

// isPrompt reports whether an element shows the prompt of an unfilled field.
func isPrompt(e xml.StartElement) bool {
	return e.Name.Local == "placeholder" || e.Name.Local == "content-control" && attrValue(e, "showing-place-holder") == "true"
}
