package officelayout

import (
	"slices"
	"strings"

	"github.com/scf-service/service/internal/prose"
)

// loadingFields are the Word fields that load external content or run a program when a document is
// opened or updated.
var loadingFields = []string{
	"DDE", "DDEAUTO", "INCLUDEPICTURE", "INCLUDETEXT", "INCLUDE", "IMPORT", "LINK", "DATABASE",
	"MACROBUTTON", "AUTOTEXT",
}

// rejectActiveContent returns an error if a part has fields or actions that load or run something.
func (l *compiler) rejectActiveContent(root *node) error {
	for _, instruction := range fieldInstructions(root) {
		word, _, _ := strings.Cut(strings.TrimSpace(instruction), " ")
		if slices.Contains(loadingFields, strings.ToUpper(word)) {
			return refusalError(
				"%s of the layout contains the field %s, which loads content or runs a program; replace the field with its result (Ctrl+Shift+F9)",
				l.part.title, prose.Truncate(strings.TrimSpace(instruction), 80),
			)
		}
	}
	var err error
	root.walk(func(n *node) bool {
		if n.hasName("a:hlinkClick", "a:hlinkHover", "a:hlinkMouseOver") && strings.HasPrefix(n.attr("action"), "ppaction://") {
			action, _, _ := strings.Cut(strings.TrimPrefix(n.attr("action"), "ppaction://"), "?")
			if slices.Contains([]string{"macro", "program", "ole", "hlinkfile", "hlinkpres"}, action) {
				err = refusalError("%s of the layout has a button that runs a program or opens a file (%s); remove the action", l.part.title, action)
			}
		}
		return err == nil
	})
	return err
}

// field is a Word field whose end has not been reached yet.
type field struct {
	instruction strings.Builder
	result      bool
}

// visitFields walks a part in document order. It calls done with the instruction of each field, and it calls text
// with each text element and the fields that enclose the element.
func visitFields(root *node, done func(string), text func(n *node, around []*field)) {
	var open []*field
	var visit func(n *node)
	visit = func(n *node) {
		switch {
		case n.hasName("w:fldSimple"):
			done(n.attr("instr"))
		case n.hasName("w:fldChar"):
			switch last := len(open) - 1; n.attr("fldCharType") {
			case "begin":
				if len(open) < 50 {
					open = append(open, &field{})
				}
			case "separate":
				if last >= 0 {
					open[last].result = true
				}
			case "end":
				if last >= 0 {
					done(open[last].instruction.String())
					open = open[:last]
				}
			}
		case n.hasName("w:instrText"):
			if last := len(open) - 1; last >= 0 && !open[last].result {
				open[last].instruction.WriteString(n.allText())
			} else {
				done(n.allText())
			}
			return
		case n.hasName("w:t"):
			text(n, open)
			return
		}
		for _, c := range n.children {
			visit(c)
		}
	}
	visit(root)
	for _, f := range open {
		done(f.instruction.String())
	}
}

// fieldInstructions returns the instructions of all fields in a part, such as "PAGE".
func fieldInstructions(root *node) (out []string) {
	visitFields(root, func(s string) { out = append(out, s) }, func(*node, []*field) {})
	return out
}

// textsInTableOfContents returns the text elements in a table of contents. The table repeats the placeholders of
// headings, but they are not filled in, because Word rebuilds the table. To make Word do so, textsInTableOfContents
// marks the table's field.
func textsInTableOfContents(root *node) map[*node]bool {
	out := map[*node]bool{}
	visitFields(root, func(string) {}, func(n *node, around []*field) {
		for _, f := range around {
			if f.result && strings.HasPrefix(strings.ToUpper(strings.TrimSpace(f.instruction.String())), "TOC") {
				out[n] = true
			}
		}
	})
	if len(out) == 0 {
		return out
	}
	var begins []*node
	root.walk(func(n *node) bool {
		switch {
		case n.hasName("w:fldChar") && n.attr("fldCharType") == "begin":
			begins = append(begins, n)
		case n.hasName("w:instrText") && len(begins) > 0 && strings.HasPrefix(strings.ToUpper(strings.TrimSpace(n.allText())), "TOC"):
			b := begins[len(begins)-1]
			b.start = setAttr(b.start, b.prefix+"dirty", "true")
		}
		return true
	})
	return out
}
