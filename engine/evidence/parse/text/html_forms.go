package text

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// replaceControl replaces a form control with its value as text. look is the appearance of the surrounding text.
func (p *visibilityPass) replaceControl(n *html.Node, look appearance) {
	value, isBox := controlValue(n)
	kind := look.unreadKind()
	if !isBox { // pages may draw their own boxes over invisible ones
		inner := p.lookOf(n, look)
		kind = inner.unreadKind()
	}
	switch {
	case value == "" || kind != "" && isBox:
		value = ""
	case kind != "":
		p.b.Doc.AddNotRead(kind, 1, api.Locator{})
		value = ""
	}
	if value == "" && kind == "" && n.DataAtom == atom.Select && n.FirstChild != nil {
		p.b.Doc.AddNotRead(api.UnreadPrompt, 1, api.Locator{})
	}
	text := &html.Node{Type: html.TextNode, Data: " " + value + " "}
	n.Parent.InsertBefore(text, n)
	n.Parent.RemoveChild(n)
}

// controlValue returns the initial value of a form control, and whether the control is a checkbox
// or radio button. Prompts don't count as values.
func controlValue(n *html.Node) (value string, isBox bool) {
	switch n.DataAtom {
	case atom.Textarea:
		return nodeText(n), false
	case atom.Select:
		return selectedOptions(n), false
	}
	switch strings.ToLower(attr(n, "type")) {
	case "checkbox", "radio":
		return document.FormBox(hasAttr(n, "checked")), true
	case "hidden", "submit", "button", "reset", "image", "file", "password":
		return "", false
	}
	return attr(n, "value"), false
}

// addDrawnBox puts a box in front of the text of an element with the role of a check box or radio button, because the
// page only draws one.
func addDrawnBox(n *html.Node) {
	switch strings.ToLower(attr(n, "role")) {
	case "checkbox", "radio", "menuitemcheckbox", "menuitemradio", "switch":
		if state := attr(n, "aria-checked"); state == "true" || state == "false" {
			n.InsertBefore(&html.Node{Type: html.TextNode, Data: document.FormBox(state == "true") + " "}, n.FirstChild)
		}
	}
}

// selectedOptions returns the text of the chosen options. If none is chosen, it returns the first
// option of a drop-down list, as displayed by browsers.
func selectedOptions(list *html.Node) string {
	var first *html.Node
	var chosen []string
	for n := range list.Descendants() {
		if n.DataAtom != atom.Option {
			continue
		}
		if first == nil && !hasAttr(n, "disabled") {
			first = n
		}
		if hasAttr(n, "selected") {
			chosen = append(chosen, optionText(n))
		}
	}
	if chosen == nil && first != nil && !hasAttr(list, "multiple") && (attr(list, "size") == "" || attr(list, "size") == "1") {
		return optionText(first)
	}
	return strings.Join(chosen, ", ")
}

// isFirstElement reports whether no element precedes n in its parent.
func isFirstElement(n *html.Node) bool {
	p := n.PrevSibling
	for p != nil && p.Type != html.ElementNode {
		p = p.PrevSibling
	}
	return p == nil
}

// optionText returns an option's text, or "" if it is only a prompt, which has no value.
func optionText(n *html.Node) string {
	if hasAttr(n, "value") && attr(n, "value") == "" || hasAttr(n, "disabled") && isFirstElement(n) {
		return ""
	}
	if label := attr(n, "label"); label != "" {
		return label
	}
	return strings.TrimSpace(nodeText(n))
}
