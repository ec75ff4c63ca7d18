package text

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
)

const maxMarkdownTags = 100 // maximum number of open HTML tags

// mdElement is an open HTML element in Markdown with the appearance of its text.
type mdElement struct {
	node *html.Node
	look appearance
}

// prepareHTML reads the style sheets in a Markdown text.
func (m *mdReader) prepareHTML(body string) {
	if strings.Contains(body, "<style") {
		if root, err := html.Parse(strings.NewReader(body)); err == nil {
			m.styles = styleTexts(root)
		}
	}
	m.visibility = &visibilityPass{b: m.b, css: newStylesheet(m.styles)}
}

// currentAppearance returns the appearance of text in the open elements.
func (m *mdReader) currentAppearance() appearance {
	if n := len(m.open); n > 0 {
		return m.open[n-1].look
	}
	return defaultAppearance()
}

// countIfInvisible reports whether text in the open elements is invisible and, if so, counts it.
func (m *mdReader) countIfInvisible(at api.Locator) (isInvisible bool) {
	look := m.currentAppearance()
	kind := look.unreadKind()
	if kind != "" && !*look.counted {
		m.b.Doc.AddNotRead(kind, 1, at)
		*look.counted = true
	}
	return kind != ""
}

// readTags reads a piece of HTML in Markdown, which may consist only of tags, and writes its visible text to sb.
func (m *mdReader) readTags(raw string, at api.Locator, sb *strings.Builder) {
	z := html.NewTokenizer(strings.NewReader(raw))
	for {
		kind := z.Next()
		t := z.Token()
		switch kind {
		case html.ErrorToken:
			return
		case html.TextToken:
			if strings.TrimSpace(t.Data) == "" || !m.countIfInvisible(at) {
				sb.WriteString(t.Data)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if !isInlineElement(t.DataAtom) {
				sb.WriteByte(' ')
			}
			m.openElement(t, kind == html.SelfClosingTagToken, sb)
		case html.EndTagToken:
			if !isInlineElement(t.DataAtom) {
				sb.WriteByte(' ')
			}
			for i := len(m.open) - 1; i >= 0; i-- {
				if m.open[i].node.Data == t.Data {
					m.closeElements(i)
					break
				}
			}
		}
	}
}

// openElement handles a start tag. For an element without content, such as a check box, it writes a text that represents
// the element.
func (m *mdReader) openElement(t html.Token, isClosed bool, sb *strings.Builder) {
	n := &html.Node{Type: html.ElementNode, DataAtom: t.DataAtom, Data: t.Data, Attr: t.Attr}
	outer := m.currentAppearance()
	if len(m.open) > 0 {
		n.Parent = m.open[len(m.open)-1].node
	}
	look := m.visibility.lookOf(n, outer)
	kind := look.unreadKind()
	if kind != outer.unreadKind() {
		look.counted = new(bool)
	}
	switch t.DataAtom {
	case atom.Script, atom.Style, atom.Rp:
		look.removed, look.counted = true, new(true)
	case atom.Rt:
		if kind == "" {
			m.b.Doc.AddNotRead(api.UnreadRuby, 1, api.Locator{})
		}
		look.removed, look.counted = true, new(true)
	}
	switch t.DataAtom {
	case atom.Input, atom.Img: // replaced with their text
		around := &html.Node{Type: html.ElementNode, DataAtom: atom.Span, Data: "span"}
		n.Parent = nil
		around.AppendChild(n)
		if t.DataAtom == atom.Input {
			m.visibility.replaceControl(n, outer)
		} else if kind == "" {
			m.visibility.countMedia(n)
		}
		for c := range around.Descendants() {
			if c.Type == html.TextNode {
				sb.WriteString(c.Data)
			}
		}
		return
	}
	if kind == "" {
		m.visibility.countMedia(n)
	}
	switch t.DataAtom {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Link, atom.Meta, atom.Source, atom.Track, atom.Wbr:
		return
	}
	if !isClosed && len(m.open) < maxMarkdownTags {
		m.visibility.css.countAncestor(n, 1)
		m.open = append(m.open, mdElement{n, look})
	}
}

// closeElements closes all open elements except the first n.
func (m *mdReader) closeElements(n int) {
	for _, e := range m.open[n:] {
		m.visibility.css.countAncestor(e.node, -1)
	}
	m.open = m.open[:n]
}

// isInlineElement reports whether an element is part of a line of text, so that it isn't separated by spaces.
func isInlineElement(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.Code, atom.Del, atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.S, atom.Small, atom.Span,
		atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Tt, atom.U:
		return true
	case atom.Ruby, atom.Rb, atom.Rt, atom.Rp:
		return true
	}
	return false
}

// readHTML reads a block of raw HTML. A complete block is read like a page. If the block only opens
// or closes elements around Markdown, only its tags are processed.
func (m *mdReader) readHTML(raw string, at api.Locator) {
	if len(m.open) == 0 && m.isComplete(raw) {
		part := m.b.NewPart()
		page := raw
		if len(m.styles) > 0 {
			page = "<style>" + strings.Join(m.styles, "\n") + "</style>" + raw
		}
		if err := ReadHTML(part, page); err != nil {
			m.b.Fail(err)
			return
		}
		for i := range part.Doc.Blocks {
			part.Doc.Blocks[i].Locator = at
		}
		m.b.AppendPart(part)
		return
	}
	var sb strings.Builder
	m.readTags(raw, at, &sb)
	m.b.AddBlock(document.Block{Kind: document.Paragraph, Text: sb.String(), Locator: at})
}

// isComplete reports whether a block of HTML closes all elements that it opens, and no others.
func (m *mdReader) isComplete(raw string) bool {
	probe := &mdReader{b: m.b.NewPart(), visibility: &visibilityPass{b: m.b.NewPart(), css: newStylesheet(nil)}}
	z := html.NewTokenizer(strings.NewReader(raw))
	for {
		kind := z.Next()
		t := z.Token()
		switch kind {
		case html.ErrorToken:
			return len(probe.open) == 0
		case html.StartTagToken:
			if len(probe.open) == maxMarkdownTags {
				return false
			}
			probe.openElement(t, false, new(strings.Builder))
		case html.EndTagToken:
			n := len(probe.open)
			for n > 0 && probe.open[n-1].node.Data != t.Data && endsByItself(probe.open[n-1].node.DataAtom) {
				n--
			}
			if n == 0 || probe.open[n-1].node.Data != t.Data {
				return false
			}
			probe.closeElements(n - 1)
		}
	}
}

// endsByItself reports whether an element needs no end tag, because it ends where the enclosing element ends.
func endsByItself(a atom.Atom) bool {
	switch a {
	case atom.P, atom.Li, atom.Td, atom.Th, atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot, atom.Dt, atom.Dd, atom.Option:
		return true
	}
	return false
}
