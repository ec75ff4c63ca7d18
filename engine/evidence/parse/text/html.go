package text

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const (
	maxHTMLTags   = 500_000 // each takes about 600 bytes
	lightHTMLTags = 100_000
)

// ReadHTML reads the visible text of an HTML page. Nothing is executed or fetched.
func ReadHTML(b *document.Builder, text string) error { return (&htmlReader{b: b}).read(text) }

func (h *htmlReader) read(text string) error {
	b := h.b
	switch n := strings.Count(text, "<"); {
	case n > maxHTMLTags:
		return document.NewError(document.ErrTooLarge, "", "the document contains more than %d HTML tags; split it", maxHTMLTags)
	case n > lightHTMLTags:
		if err := b.BeginHeavy(); err != nil {
			return err
		}
	}
	root, err := html.Parse(strings.NewReader(removeFormatting(text)))
	if err != nil {
		return document.DamagedError("the HTML", err)
	}
	restoreFormatting(root)
	if err := removeAndCountInvisible(b, root); err != nil {
		return err
	}
	h.visitChildren(root, 0, 0)
	h.flush()
	return h.b.Err()
}

const (
	formattingPrefix  = "x-formatting-"
	maxOpenFormatting = 100
)

// removeFormatting removes the tags of visible formatting elements and replaces those of hidden ones with <s>. The
// HTML parser reopens unclosed formatting elements in every later paragraph: a 200 KB file with 400 such elements and
// 20,000 paragraphs took 1.4 GB. It reopens at most three identical elements, such as <s>. On a page with styles, an
// element that may only be hidden by a style is renamed so that the parser does not reopen it; see restoreFormatting.
func removeFormatting(text string) string {
	hasStyles := strings.Contains(text, "<style") || strings.Contains(text, "<STYLE")
	z := html.NewTokenizer(strings.NewReader(text))
	var sb strings.Builder
	open := map[atom.Atom][]string{} // by element: the tag written for each open one
	renamed := 0                     // open elements with another name
	var raw []byte
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return sb.String()
		}
		raw = append(raw[:0], z.Raw()...) // copied, because later calls may overwrite it
		if kind != html.StartTagToken && kind != html.EndTagToken && kind != html.SelfClosingTagToken {
			sb.Write(raw)
			continue
		}
		name, hasMore := z.TagName()
		t := html.Token{DataAtom: atom.Lookup(name)}
		switch t.DataAtom {
		case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong,
			atom.Tt, atom.U:
		default:
			sb.Write(raw)
			continue
		}
		for hasMore {
			var key, value []byte
			key, value, hasMore = z.TagAttr()
			t.Attr = append(t.Attr, html.Attribute{Key: string(key), Val: string(value)})
		}
		stack := open[t.DataAtom]
		if kind == html.EndTagToken {
			if n := len(stack) - 1; n >= 0 {
				if stack[n] != "" {
					sb.WriteString("</" + stack[n] + ">")
				}
				if strings.HasPrefix(stack[n], formattingPrefix) {
					renamed--
				}
				open[t.DataAtom] = stack[:n]
			}
			continue
		}
		tag := ""
		switch {
		case isHiddenOrStruckThrough(&html.Node{DataAtom: t.DataAtom, Attr: t.Attr}):
			tag = "s"
			if hasAttr(&html.Node{Attr: t.Attr}, "hidden") {
				sb.WriteString("<s hidden>")
			} else {
				sb.WriteString("<s>")
			}
		case renamed < maxOpenFormatting && (hasStyles || hasAttr(&html.Node{Attr: t.Attr}, "style") || hasAttr(&html.Node{Attr: t.Attr},
			"color") || hasAttr(&html.Node{Attr: t.Attr}, "face")):
			tag = formattingPrefix + t.DataAtom.String()
			t.Data, t.Type = tag, html.StartTagToken
			sb.WriteString(t.String())
			renamed++
		}
		open[t.DataAtom] = append(stack, tag)
	}
}

// restoreFormatting restores the names of elements renamed by removeFormatting.
func restoreFormatting(root *html.Node) {
	for n := range root.Descendants() {
		if name, ok := strings.CutPrefix(n.Data, formattingPrefix); ok && n.Type == html.ElementNode {
			n.Data, n.DataAtom = name, atom.Lookup([]byte(name))
		}
	}
}

// extractHTMLText returns the text of HTML embedded in other formats.
func extractHTMLText(raw string) string {
	z := html.NewTokenizer(strings.NewReader(raw))
	var sb strings.Builder
	hidden := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return sb.String()
		case html.TextToken:
			if hidden == "" {
				sb.Write(z.Text())
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			if n := string(name); n == "script" || n == "style" {
				hidden = n
			}
			sb.WriteByte(' ')
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == hidden {
				hidden = ""
			}
			sb.WriteByte(' ')
		case html.SelfClosingTagToken:
			sb.WriteByte(' ')
		}
	}
}

const maxHTMLDepth = 600 // the parser's own limit is lower

// htmlReader reads an HTML page. It collects inline text until a block begins or ends.
type htmlReader struct {
	b          *document.Builder
	text       strings.Builder
	kind       document.Kind // of the open block; empty means paragraph
	listDepth  int           // its list depth
	mark       string        // number of the open list item
	asideDepth int           // open elements that are not part of the flow
	mail       *htmlMail     // set if the page is the text of an email
}

// flush ends the current block and adds it to the document.
func (h *htmlReader) flush() {
	text := h.text.String()
	h.text.Reset()
	kind := h.kind
	if h.kind = ""; kind == "" {
		kind = document.Paragraph
	}
	blk := document.Block{Kind: kind, Text: text}
	if kind == document.ListItem && strings.TrimSpace(text) != "" {
		blk.Level, blk.Marker = h.listDepth, h.mark
		h.mark = ""
	}
	if h.asideDepth > 0 {
		h.b.AddPageFurniture(blk)
		return
	}
	if h.mail != nil {
		h.readMailMarks(text)
	}
	h.b.AddBlock(blk)
}

func (h *htmlReader) visitChildren(n *html.Node, depth, lists int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if h.b.Err() != nil || depth > maxHTMLDepth {
			return
		}
		switch c.Type {
		case html.TextNode:
			if len(c.Data) > 0 {
				h.text.WriteString(c.Data)
			}
		case html.ElementNode:
			h.visitElement(c, depth+1, lists)
		case html.DocumentNode:
			h.visitChildren(c, depth+1, lists)
		}
	}
}

func (h *htmlReader) visitElement(n *html.Node, depth, lists int) {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Math, atom.Iframe, atom.Object:
		return
	case atom.Head:
		h.readHead(n)
		return
	case atom.Br:
		h.text.WriteByte('\n')
		return
	case atom.Hr:
		h.flush()
		return
	}
	if h.mail != nil && h.mail.isQuote(n) {
		h.readQuote(n, depth, lists)
		return
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		h.flush()
		text := nodeText(n)
		if h.asideDepth > 0 {
			h.b.AddPageFurniture(document.Block{Kind: document.Paragraph, Text: text})
			return
		}
		if hasClass(n, "title") && h.b.Doc.Title != "" && document.CleanLine(text) == document.CleanLine(h.b.Doc.Title) {
			return // the title, repeated by pandoc and other programs
		}
		h.b.AddHeading(int(n.Data[1]-'0'), text, api.Locator{})
	case atom.Table:
		h.flush()
		h.readTable(n)
	case atom.Dl:
		h.flush()
		if !h.readPairs(n) {
			h.visitBlock(n, depth, lists)
		}
	case atom.Ul, atom.Ol, atom.Menu:
		h.visitBlock(n, depth, lists+1)
	case atom.Li, atom.Dt, atom.Dd:
		h.flush()
		h.kind, h.listDepth, h.mark = document.ListItem, max(lists, 1), orderedItemNumber(n)
		h.visitChildren(n, depth, lists)
		h.flush()
	case atom.Pre:
		h.flush()
		if h.asideDepth == 0 {
			h.b.AddBlock(document.Block{Kind: document.Line, Text: nodeText(n)})
		}
	case atom.Nav, atom.Footer:
		h.flush()
		h.asideDepth++
		h.visitChildren(n, depth, lists)
		h.flush()
		h.asideDepth--
	case atom.P:
		// A paragraph in a list item is the item's text.
		kind, deep := h.kind, h.listDepth
		if strings.TrimSpace(h.text.String()) != "" {
			h.flush()
		}
		h.kind, h.listDepth = kind, deep
		if kind == "" && lists > 0 {
			h.kind, h.listDepth = document.ListItem, lists
		}
		h.visitChildren(n, depth, lists)
		h.flush()
	case atom.Div,
		atom.Section,
		atom.Article,
		atom.Main,
		atom.Header,
		atom.Aside,
		atom.Blockquote,
		atom.Body,
		atom.Html,
		atom.Figure,
		atom.Figcaption,
		atom.Address,
		atom.Details,
		atom.Summary,
		atom.Form,
		atom.Fieldset,
		atom.Center,
		atom.Caption,
		atom.Hgroup:
		if isContentsOrNavigation(n) {
			h.flush()
			h.asideDepth++
			defer func() { h.flush(); h.asideDepth-- }()
		}
		h.visitBlock(n, depth, lists)
	case atom.Td, atom.Th: // only outside a table, which is invalid HTML
		h.visitChildren(n, depth, lists)
		h.text.WriteByte(' ')
	default:
		h.visitChildren(n, depth, lists)
	}
}

// orderedItemNumber returns the number of an ordered list item as displayed by a browser.
func orderedItemNumber(n *html.Node) string {
	list := n.Parent
	if list == nil || list.DataAtom != atom.Ol {
		return ""
	}
	v := document.ParsePositiveOrOne(attr(list, "start"), 1<<20)
	for c := list.FirstChild; c != nil && c != n; c = c.NextSibling {
		if c.DataAtom == atom.Li {
			v++
		}
	}
	format := map[string]string{"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}[attr(list, "type")]
	return document.FormatListNumber(v, format) + "."
}

func (h *htmlReader) visitBlock(n *html.Node, depth, lists int) {
	if strings.TrimSpace(h.text.String()) != "" {
		h.flush()
	}
	h.visitChildren(n, depth, lists)
	if strings.TrimSpace(h.text.String()) != "" {
		h.flush()
	}
}

func (h *htmlReader) readHead(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Title:
			h.b.Doc.Title = document.CleanLine(nodeText(c))
		case atom.Meta:
			name := strings.ToLower(attr(c, "name"))
			if name != "" {
				h.b.AddFact(strings.TrimPrefix(name, "dcterms."), attr(c, "content"))
			}
		}
	}
}

// readTable writes the rows of a table. Cells that span columns or rows are repeated, and a nested
// table becomes text in the enclosing cell.
func (h *htmlReader) readTable(n *html.Node) {
	t := h.b.NewTableWriter()
	var rows []*html.Node
	var find func(*html.Node)
	find = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch c.DataAtom {
			case atom.Tr:
				rows = append(rows, c)
			case atom.Thead, atom.Tbody, atom.Tfoot:
				find(c)
			case atom.Caption:
				h.b.AddBlock(document.Block{Kind: document.Paragraph, Text: nodeText(c)})
			}
		}
	}
	find(n)
	below := map[int]int{} // number of following rows covered by a cell, by column
	var heads [][]string
	for i, tr := range rows {
		if h.b.Err() != nil {
			return
		}
		var cells []string
		headCells, all := 0, 0
		fill := func() {
			for below[len(cells)] > 0 && len(cells) < document.MaxColumns {
				below[len(cells)]--
				cells = append(cells, document.MergedUp)
			}
		}
		for c := tr.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom != atom.Td && c.DataAtom != atom.Th {
				continue
			}
			fill()
			all++
			if c.DataAtom == atom.Th {
				headCells++
			}
			text, rowspan := document.CleanLine(nodeText(c)), document.ParsePositiveOrOne(attr(c, "rowspan"), len(rows))
			for range document.ParsePositiveOrOne(attr(c, "colspan"), 100) {
				below[len(cells)] = rowspan - 1
				cells = append(cells, text)
				text = document.MergedLeft
			}
		}
		fill()
		marked := tr.Parent.DataAtom == atom.Thead || headCells == all && all > 1
		if i == len(heads) && marked && i+1 < len(rows) && document.CountFilled(cells) > 0 {
			heads = append(heads, cells)
			continue
		}
		if i == len(heads) && i > 0 {
			t.SetHeaders(heads, api.Locator{})
		}
		t.AddRow(cells, api.Locator{})
	}
	t.Finish()
}

// readPairs reads a list of labels with one value each, such as "Owner" and "Ann Roe". It returns false for other
// lists.
func (h *htmlReader) readPairs(list *html.Node) bool {
	var rows []document.Row
	for c := list.FirstChild; c != nil; c = c.NextSibling {
		switch text := document.CleanLine(nodeText(c)); {
		case c.DataAtom == atom.Dt && (len(rows) == 0 || len(rows[len(rows)-1].Cells) == 2):
			rows = append(rows, document.Row{Cells: []string{text}})
		case c.DataAtom == atom.Dd && len(text) <= 120 && len(rows) > 0 && len(rows[len(rows)-1].Cells) == 1:
			rows[len(rows)-1].Cells = append(rows[len(rows)-1].Cells, text)
		case c.Type == html.ElementNode:
			return false
		}
	}
	if len(rows) < 2 || len(rows[len(rows)-1].Cells) != 2 || !document.IsKeyValueTable(rows) {
		return false
	}
	table := h.b.NextTableNumber()
	for _, r := range rows {
		h.b.AddRowAboveHeader(table, r)
	}
	return true
}

// nodeText returns the text below n, with spaces between blocks.
func nodeText(n *html.Node) string {
	var sb strings.Builder
	var visit func(*html.Node)
	visit = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch c.Type {
			case html.TextNode:
				sb.WriteString(c.Data)
			case html.ElementNode:
				switch c.DataAtom {
				case atom.Script, atom.Style, atom.Template:
					continue
				case atom.Br:
					sb.WriteByte('\n')
					continue
				}
				if c.DataAtom == atom.Table {
					sb.WriteString(" " + document.RenderNestedTable(nestedRows(c)) + " ")
					continue
				}
				apart := c.DataAtom == atom.P || c.DataAtom == atom.Div || c.DataAtom == atom.Li || c.DataAtom == atom.Td ||
					c.DataAtom == atom.Th ||
					c.DataAtom == atom.Tr
				if apart && sb.Len() > 0 {
					sb.WriteByte(' ')
				}
				visit(c)
				if apart {
					sb.WriteByte(' ')
				}
			}
		}
	}
	visit(n)
	return sb.String()
}

// nestedRows returns the cells of a nested table, by row.
func nestedRows(table *html.Node) (rows [][]string) {
	var visit func(*html.Node)
	visit = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch {
			case c.DataAtom == atom.Tr:
				rows = append(rows, nil)
				visit(c)
			case c.DataAtom != atom.Td && c.DataAtom != atom.Th:
				visit(c)
			case len(rows) > 0:
				rows[len(rows)-1] = append(rows[len(rows)-1], document.CleanLine(nodeText(c)))
			}
		}
	}
	visit(table)
	return rows
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasClass(n *html.Node, name string) bool {
	return slices.Contains(strings.Fields(attr(n, "class")), name)
}

// isHiddenOrStruckThrough reports whether a formatting element itself hides its text or strikes it
// through in a way that nested elements can't undo.
func isHiddenOrStruckThrough(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Del, atom.S, atom.Strike: // struck through
		return true
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "style":
			style := strings.ReplaceAll(strings.ToLower(a.Val), " ", "")
			return strings.Contains(style, "display:none") || strings.Contains(style, "line-through")
		}
	}
	return false
}

// isContentsOrNavigation reports whether an element is a table of contents or navigation.
func isContentsOrNavigation(n *html.Node) bool {
	id := strings.ToLower(attr(n, "id"))
	return id == "toc" || id == "table-of-contents" || attr(n, "role") == "doc-toc" || attr(n, "role") == "navigation" || hasClass(n, "toc")
}
