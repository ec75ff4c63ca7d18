package officelayout

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// tag is a placeholder in a layout.
type tag struct {
	// source is the text between the braces.
	source string
	kind   tagKind
	// word is the kind of block that a closing tag closes: each, if or unless.
	word string
	// rest is the source without the words that determine the kind.
	rest string
}

type tagKind int

const (
	tagValue tagKind = iota
	tagImage
	tagChart
	tagComment
	tagOpen // #each, #if, #unless
	tagElse // else, else if
	tagClose
	tagSlide // #slide each, #slide if
)

func (t *tag) isBlock() bool { return t.kind == tagOpen || t.kind == tagElse || t.kind == tagClose }

// newTag returns the placeholder that has the given text between its braces.
func newTag(source string) *tag {
	clean := strings.Join(strings.FieldsFunc(source, func(r rune) bool { return unicode.IsSpace(r) || r == '\u00a0' || r == '\u200b' }), " ")
	t := &tag{source: clean, rest: clean}
	first, rest, _ := strings.Cut(clean, " ")
	switch {
	case strings.HasPrefix(clean, "!"):
		t.kind = tagComment
	case first == "#slide":
		t.kind, t.rest = tagSlide, rest
	case strings.HasPrefix(clean, "#"):
		t.kind, t.word, t.rest = tagOpen, first[1:], rest
	case strings.HasPrefix(clean, "/"):
		t.kind, t.word, t.rest = tagClose, strings.TrimSpace(clean[1:]), ""
	case first == "else":
		t.kind, t.rest = tagElse, rest
	case first == "image":
		t.kind, t.rest = tagImage, rest
	case first == "chart":
		t.kind, t.rest = tagChart, rest
	}
	return t
}

// maxTagLength is the maximum length of a placeholder in bytes. It also limits how far the search for the end of an
// unclosed placeholder goes.
const maxTagLength = 1000

// span is the position of a placeholder in a text, including its braces.
type span struct{ from, to int }

// findTags returns the placeholders in a text. If a placeholder isn't closed, unclosed is the beginning of that
// placeholder.
func findTags(text string) (all []span, unclosed string) {
	for at := 0; ; {
		open := strings.Index(text[at:], "{{")
		if open < 0 {
			return all, ""
		}
		open += at
		end := strings.Index(text[open:min(len(text), open+maxTagLength)], "}}")
		if end < 0 {
			rest := []rune(text[open:min(len(text), open+4*30)])
			return all, string(rest[:min(len(rest), 30)])
		}
		end += open + 2
		all = append(all, span{open, end})
		at = end
	}
}

// extractTags replaces the placeholders in the paragraphs of a part with separate nodes. Word often splits a
// placeholder into several runs with different formats; in that case, the format of the first run applies. Opening,
// closing and else tags are moved out of their runs, so that they can delimit runs.
func (l *compiler) extractTags(root *node) {
	contents := textsInTableOfContents(root)
	var paragraphs []*node
	root.walk(func(n *node) bool {
		if n.hasName("w:p", "a:p") {
			paragraphs = append(paragraphs, n)
		}
		return true
	})
	for _, p := range paragraphs {
		l.extractFromParagraph(p, contents)
	}
	if strings.HasPrefix(l.part.name, "docProps/") {
		l.extractFromProperties(root)
	}
}

// extractFromProperties extracts the placeholders of the document's properties, such as its title.
func (l *compiler) extractFromProperties(root *node) {
	root.walk(func(n *node) bool {
		if len(n.children) != 1 || !n.children[0].isText() {
			return true
		}
		text := n.children[0].text
		tags, unclosed := findTags(text)
		if unclosed != "" {
			l.addError(n, unclosed, "the placeholder is not closed", "add }} at its end")
		}
		if len(tags) == 0 || !l.countTags(n, len(tags)) {
			return true
		}
		var parts []*node
		at := 0
		for _, s := range tags {
			parts = append(parts, &node{text: text[at:s.from]}, &node{tag: newTag(text[s.from+2 : s.to-2])})
			at = s.to
		}
		n.setChildren(append(parts, &node{text: text[at:]}))
		return false
	})
}

// countTags counts n placeholders in an element. It reports an error and returns false if the layout has too many.
func (l *compiler) countTags(at *node, n int) (isWithinLimit bool) {
	if l.extracted > maxTags {
		return false
	}
	if l.extracted += n; l.extracted > maxTags {
		l.addError(at, "", fmt.Sprintf("the layout has more than %d placeholders", maxTags), "")
		return false
	}
	return true
}

// textsOf returns the text elements of a paragraph, except those in nested paragraphs, such as the paragraphs in
// text boxes.
func textsOf(p *node) (out []*node) {
	var visit func(n *node)
	visit = func(n *node) {
		for _, c := range n.children {
			switch {
			case c.hasName("w:p", "a:p", "a:fld"):
			case c.hasName("w:t", "a:t"):
				if c.parent.hasName("w:r", "a:r") {
					out = append(out, c)
				}
			default:
				visit(c)
			}
		}
	}
	visit(p)
	return out
}

func (l *compiler) extractFromParagraph(p *node, contents map[*node]bool) {
	texts := textsOf(p)
	var whole strings.Builder
	starts := make([]int, len(texts)+1)
	for i, t := range texts {
		whole.WriteString(t.allText())
		starts[i+1] = whole.Len()
	}
	text := whole.String()
	tags, unclosed := findTags(text)
	if unclosed != "" {
		l.addError(p, unclosed, "the placeholder is not closed in its paragraph", "add }} at its end")
	}
	if strings.Contains(text, "{%") {
		l.addWarning(p, "{%", "placeholders from other tools are left unchanged", "write {{#each …}} and {{#if …}}")
	}
	if len(tags) == 0 || !l.countTags(p, len(tags)) {
		return
	}
	next := 0
	for i, t := range texts {
		var parts []*node
		add := func(from, to int) {
			if from < to {
				parts = append(parts, &node{text: text[from:to]})
			}
		}
		at, end := starts[i], starts[i+1]
		if next > 0 {
			at = min(max(at, tags[next-1].to), end) // the rest of a placeholder that began in an earlier run
		}
		for ; next < len(tags) && tags[next].from < end; next++ {
			add(at, tags[next].from)
			made := newTag(text[tags[next].from+2 : tags[next].to-2])
			if contents[t] {
				made.kind = tagComment
			}
			parts = append(parts, &node{tag: made})
			at = min(tags[next].to, end)
		}
		add(at, end)
		t.setChildren(parts)
		t.start, t.end = "<"+t.prefix+"t>", "</"+t.prefix+"t>"
		if t.hasName("w:t") {
			t.start = "<" + t.prefix + `t xml:space="preserve">`
		}
	}
	done := map[*node]bool{}
	for _, t := range texts {
		if holder := t.parent.parent; !done[holder] {
			done[holder] = true
			splitRuns(holder)
		}
	}
}

// splitRuns moves block tags out of the runs in a paragraph, link or other element that contains runs.
func splitRuns(holder *node) {
	var out []*node
	for _, c := range holder.children {
		if c.hasName("w:r", "a:r") && hasBlockTag(c) {
			out = append(out, splitRun(c)...)
		} else {
			out = append(out, c)
		}
	}
	holder.setChildren(out)
}

// hasBlockTag reports whether a run's text contains a block tag.
func hasBlockTag(run *node) bool {
	return slices.ContainsFunc(run.children, func(t *node) bool {
		return slices.ContainsFunc(t.children, func(c *node) bool { return c.tag != nil && c.tag.isBlock() })
	})
}

// splitRun splits a run at its block tags. It returns runs of the same format with the tags between them.
func splitRun(r *node) (out []*node) {
	var format *node
	newRun := func() *node {
		run := &node{name: r.name, prefix: r.prefix, start: r.start, end: r.end, attrs: r.attrs}
		if format != nil {
			run.children = []*node{format}
		}
		return run
	}
	current := newRun()
	flush := func() {
		if len(current.children) > 1 || len(current.children) == 1 && current.children[0] != format {
			current.setChildren(current.children)
			out = append(out, current)
		}
		current = newRun()
	}
	for _, c := range r.children {
		if c.hasName("w:rPr", "a:rPr") {
			format = c
			current = newRun()
			continue
		}
		if !c.hasName("w:t", "a:t") {
			current.children = append(current.children, c)
			continue
		}
		var text *node
		for _, part := range c.children {
			if part.tag != nil && part.tag.isBlock() {
				flush()
				out = append(out, part)
				text = nil
				continue
			}
			if text == nil {
				text = &node{name: c.name, prefix: c.prefix, start: c.start, end: c.end}
				current.children = append(current.children, text)
			}
			part.parent = text
			text.children = append(text.children, part)
		}
	}
	flush()
	return out
}
