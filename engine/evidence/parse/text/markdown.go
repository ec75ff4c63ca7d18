package text

import (
	"html"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	gmtext "github.com/yuin/goldmark/text"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// Limits of the Markdown parser. Text beyond them is read as plain text, because parsing time could
// grow faster than the text.
const (
	maxMarkdown     = 8 << 20
	maxMarkdownLine = 256 << 10
	maxQuoteDepth   = 64
	maxBrackets     = 4000 // in one line
	maxReferences   = 2000 // "[name]: link" lines
)

// ReadMarkdown reads the front matter and the blocks of a Markdown text.
func ReadMarkdown(b *document.Builder, text string) error {
	body, skipped := readFrontMatter(b, text)
	if !isSafeMarkdown(body) {
		b.Warn("The Markdown is too long or too deeply nested to be parsed; it was read as plain text.")
		return ReadPlain(b, text)
	}
	m := &mdReader{b: b, src: []byte(body), newlines: findNewlines(body), firstLine: skipped + 1}
	m.prepareHTML(body)
	root := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough)).Parser().Parse(gmtext.NewReader(m.src))
	m.readBlocks(root, 0)
	return b.Err()
}

// readFrontMatter reads the front matter, a block between lines of "---" at the top, as facts. It returns the
// rest of the text and the number of lines removed.
func readFrontMatter(b *document.Builder, text string) (body string, lines int) {
	if !strings.HasPrefix(text, "---\n") {
		return text, 0
	}
	end := strings.Index(text[4:], "\n---")
	if end < 0 || end > 64<<10 {
		return text, 0
	}
	head := text[4 : 4+end]
	if !strings.Contains(head, ":") {
		return text, 0
	}
	for _, l := range strings.Split(head, "\n") {
		if key, value, ok := strings.Cut(l, ":"); ok && key == strings.TrimSpace(key) {
			b.AddFact(key, strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	rest := text[4+end+4:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[i+1:]
	} else {
		rest = ""
	}
	return rest, strings.Count(text[:len(text)-len(rest)], "\n")
}

func isSafeMarkdown(s string) bool {
	if len(s) > maxMarkdown {
		return false
	}
	references := 0
	for len(s) > 0 {
		line, rest, _ := strings.Cut(s, "\n")
		s = rest
		if strings.Contains(line, "]:") {
			references++
		}
		if len(line) > maxMarkdownLine || references > maxReferences {
			return false
		}
		depth, brackets := 0, 0
		inLead := true
		for i := 0; i < len(line); i++ {
			switch c := line[i]; {
			case c == '[' || c == '(' || c == '<' || c == '*' || c == '_' || c == '`' || c == '~' || c == '!':
				brackets++
			case !inLead || c == ' ' || c == '\t':
			case c == '>' || c == '-' || c == '+':
			default:
				inLead = c >= '0' && c <= '9' || c == '.' || c == ')'
			}
			if inLead && line[i] != ' ' {
				depth++
			}
		}
		if depth > maxQuoteDepth && strings.Trim(line, "-=*_ +") != "" || brackets > maxBrackets {
			return false
		}
	}
	return true
}

type mdReader struct {
	b         *document.Builder
	src       []byte
	newlines  newlines
	firstLine int    // of the body in the file
	mark      string // number of the list item about to begin

	visibility *visibilityPass
	styles     []string    // the style sheets in the text
	open       []mdElement // of HTML
}

// locatorFor returns the range of lines of a block. List items and similar blocks have no lines of their own, so
// those of their children are used.
func (m *mdReader) locatorFor(n ast.Node) api.Locator {
	from, to := -1, -1
	var visit func(ast.Node)
	visit = func(n ast.Node) {
		if n.Type() == ast.TypeBlock {
			for i := range n.Lines().Len() {
				s := n.Lines().At(i)
				if from < 0 || s.Start < from {
					from = s.Start
				}
				to = max(to, s.Stop-1)
			}
		}
		for c := n.FirstChild(); c != nil && n.Type() != ast.TypeInline; c = c.NextSibling() {
			visit(c)
		}
		if t, ok := n.(*ast.Text); ok { // the lines of a table cell are those of its text
			if from < 0 || t.Segment.Start < from {
				from = t.Segment.Start
			}
			to = max(to, t.Segment.Stop-1)
		}
	}
	visit(n)
	if from < 0 {
		return api.Locator{}
	}
	return lineRange(m.lineNumberAt(from), m.lineNumberAt(max(from, to)))
}

func (m *mdReader) lineNumberAt(offset int) int { return m.firstLine + m.newlines.countBefore(offset) }

// readBlocks writes the child blocks of parent. depth is the number of enclosing lists.
func (m *mdReader) readBlocks(parent ast.Node, depth int) {
	for n := parent.FirstChild(); n != nil && m.b.Err() == nil; n = n.NextSibling() {
		m.readBlock(n, depth)
	}
}

func (m *mdReader) readBlock(n ast.Node, depth int) {
	if _, isHTML := n.(*ast.HTMLBlock); !isHTML && m.countIfInvisible(m.locatorFor(n)) {
		return
	}
	switch n := n.(type) {
	case *ast.Heading:
		m.b.AddHeading(n.Level, m.inlineText(n), m.locatorFor(n))
	case *ast.Paragraph, *ast.TextBlock:
		kind := document.Paragraph
		if depth > 0 {
			kind = document.ListItem
		}
		m.b.AddBlock(document.Block{Kind: kind, Level: depth, Text: m.inlineText(n), Marker: m.mark, Locator: m.locatorFor(n)})
		m.mark = ""
	case *ast.List:
		number := n.Start
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			if m.mark = ""; n.IsOrdered() {
				m.mark = strconv.Itoa(number) + string(n.Marker)
				number++
			}
			m.readBlocks(item, depth+1)
		}
		m.mark = ""
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		m.b.AddBlock(document.Block{Kind: document.Line, Text: string(n.Lines().Value(m.src)), Locator: m.locatorFor(n)})
	case *ast.HTMLBlock:
		raw := string(n.Lines().Value(m.src))
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(m.src))
		}
		m.readHTML(raw, m.locatorFor(n))
	case *extast.Table:
		m.readTable(n)
	case *ast.ThematicBreak, *ast.LinkReferenceDefinition:
	default: // quotes and the blocks of extensions
		m.readBlocks(n, depth)
	}
}

func (m *mdReader) readTable(n *extast.Table) {
	t := m.b.NewTableWriter()
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, m.inlineText(c))
		}
		if _, head := row.(*extast.TableHeader); head && document.CountFilled(cells) > 0 &&
			!document.IsKeyValueTable([]document.Row{{Cells: cells}}) {
			t.SetHeader(cells, m.locatorFor(row))
			continue
		}
		t.AddRow(cells, m.locatorFor(row))
	}
	t.Finish()
}

// inlineText returns the visible text of a block, without its markup.
func (m *mdReader) inlineText(n ast.Node) string {
	var sb strings.Builder
	at, outside := m.locatorFor(n), len(m.open)
	defer func() { m.closeElements(min(outside, len(m.open))) }()
	_ = ast.Walk(n, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if !enter {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			if !m.countIfInvisible(at) {
				sb.Write(n.Segment.Value(m.src))
			}
			if n.SoftLineBreak() || n.HardLineBreak() {
				sb.WriteByte('\n')
			}
		case *extast.Strikethrough:
			sb.WriteByte(' ')
			m.b.Doc.AddNotRead(api.UnreadStruckText, 1, at)
			return ast.WalkSkipChildren, nil
		case *ast.Image:
			m.b.Doc.AddNotRead(api.UnreadPicture, 1, at) // its text is the alternative text
		case *ast.String:
			sb.Write(n.Value)
		case *ast.AutoLink:
			sb.Write(n.Label(m.src))
		case *ast.RawHTML:
			if tag := string(n.Segments.Value(m.src)); isPlaceholderTag(tag) {
				sb.WriteString(tag)
			} else {
				m.readTags(tag, at, &sb)
			}
		}
		return ast.WalkContinue, nil
	})
	return unescapeMarkdown(sb.String())
}

// isPlaceholderTag reports whether a tag is not an HTML element but a blank to be filled in, such as "<name of
// the company>".
func isPlaceholderTag(tag string) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(tag, "<"), ">")
	if len(name) == len(tag) || strings.ContainsAny(name, "/=!?:\"'") || name == "" {
		return false
	}
	first, _, _ := strings.Cut(name, " ")
	return !htmlElements[strings.ToLower(first)]
}

// htmlElements lists the HTML elements that occur in documents.
var htmlElements = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`a abbr acronym address article aside audio b base bdi bdo big blockquote body br button canvas caption center cite
		code col colgroup data dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame h1 h2 h3 h4 h5 h6 head
		header hr html i iframe img input ins kbd label legend li link main map mark menu meta nav nobr noscript object ol option p param path picture pre q rb rp rt ruby
		s samp script section select small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time tr tt
		u ul var video wbr`) {
		m[name] = true
	}
	return m
}()

// unescapeMarkdown resolves backslash escapes and character references in Markdown.
func unescapeMarkdown(s string) string {
	if strings.IndexByte(s, '\\') >= 0 {
		var sb strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[i+1]) >= 0 {
				i++
			}
			sb.WriteByte(s[i])
		}
		s = sb.String()
	}
	return html.UnescapeString(s)
}
