package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

var (
	rstRule      = lazyregexp.New(`^([=\-~^*+#"'` + "`" + `:.,_<>!$%&])[=\-~^*+#"'` + "`" + `:.,_<>!$%&]+\s*$`)
	rstDirective = lazyregexp.New(`^\.\. ([A-Za-z][\w.+-]*)::\s*(.*)$`)
	rstField     = lazyregexp.New(`^:([^:\n]{1,80}):\s+(\S.*)$`)
	rstInline    = lazyregexp.New(
		"``([^`]+)``|(?::[\\w:.+-]{1,40}:)?`([^`<]*?)(?:\\s*<[^>`]*>)?`_{0,2}|\\[(?:#?\\w*|\\*)\\]_()|\\*\\*([^*]+)\\*\\*|\\*([^*\\s][^*]*)\\*|\\|([^|\\s][^|]*)\\|_{0,2}",
	)
	rstNote         = lazyregexp.New(`^\.\. \[[^\]]{1,40}\]\s+(\S.*)$`)
	rstSimpleBorder = lazyregexp.New(`^\s*=+(\s+=+)+\s*$`)
	rstGridBorder   = lazyregexp.New(`^\s*\+([-=]+\+)+\s*$`)
)

// rstIgnored lists directives whose content is not part of the document's text.
var rstIgnored = map[string]bool{
	"toctree":        true,
	"image":          true,
	"contents":       true,
	"include":        true,
	"raw":            true,
	"index":          true,
	"meta":           true,
	"highlight":      true,
	"default-role":   true,
	"role":           true,
	"sectnum":        true,
	"target-notes":   true,
	"automodule":     true,
	"autoclass":      true,
	"literalinclude": true,
}

// ReadRST reads reStructuredText: titles, lists, tables and directives. Nothing is included or executed.
func ReadRST(b *document.Builder, text string) error {
	r := &rstReader{plainReader: plainReader{b: b, lines: strings.Split(text, "\n")}}
	for r.pos < len(r.lines) && b.Err() == nil {
		r.readNextBlock()
	}
	return b.Err()
}

// rstReader extends plainReader to reStructuredText.
type rstReader struct {
	plainReader
	titleStyles []string // line characters of the titles, in order of level
}

// parseRuleLine returns the character and length of a line of repeated punctuation, or zeros for
// any other line.
func parseRuleLine(line string) (byte, int) {
	line = strings.TrimRight(line, " \t")
	if len(line) < 2 || !rstRule.MatchString(line) || strings.Trim(line, line[:1]) != "" {
		return 0, 0
	}
	return line[0], len(line)
}

func (r *rstReader) lineAtOrEmpty(i int) string {
	if i < 0 || i >= len(r.lines) || len(r.lines[i]) > 4*document.MaxBlockBytes {
		return ""
	}
	return r.lines[i]
}

func (r *rstReader) readNextBlock() {
	line := r.lineAtOrEmpty(r.pos)
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "" && len(r.lines[r.pos]) > 4*document.MaxBlockBytes:
		r.b.AddBlock(document.Block{Kind: document.Paragraph, Text: r.lines[r.pos], Locator: lineRange(r.pos+1, r.pos+1)})
		r.pos++
	case trimmed == "":
		r.pos++
	case r.tryReadTitle():
	case strings.HasPrefix(line, ".. ") || line == "..":
		r.readDirective()
	case rstSimpleBorder.MatchString(line):
		r.readSimpleTable()
	case rstGridBorder.MatchString(line):
		r.readGridTable()
	default:
		if c, _ := parseRuleLine(line); c != 0 { // a transition
			r.pos++
			return
		}
		if m := rstField.FindStringSubmatch(line); m != nil {
			r.b.AddFact(m[1], m[2])
			r.b.AddRow(nil, []string{m[1], stripRSTMarkup(m[2])}, r.b.NextTableNumber(), lineRange(r.pos+1, r.pos+1))
			r.pos++
			return
		}
		r.readParagraphOrListItem()
	}
}

// tryReadTitle reads a title that is underlined, or has a rule above and below. It returns false if there is no
// title.
func (r *rstReader) tryReadTitle() bool {
	from := r.pos
	kind := ""
	over, overLen := parseRuleLine(r.lineAtOrEmpty(from))
	if over != 0 {
		if strings.TrimSpace(r.lineAtOrEmpty(from+1)) == "" {
			return false
		}
		if c, n := parseRuleLine(r.lineAtOrEmpty(from + 2)); c != over || n != overLen {
			return false
		}
		from, kind = from+1, "over"
	}
	text := strings.TrimSpace(r.lineAtOrEmpty(from))
	c, n := parseRuleLine(r.lineAtOrEmpty(from + 1))
	if c == 0 || text == "" || n+1 < utf8.RuneCountInString(text) || len(text) > document.MaxHeadingBytes ||
		rstSimpleBorder.MatchString(r.lineAtOrEmpty(from+1)) ||
		strings.HasPrefix(text, ".. ") {
		return false
	}
	kind += string(c)
	level := slices.Index(r.titleStyles, kind) + 1
	if level == 0 {
		r.titleStyles = append(r.titleStyles, kind)
		level = len(r.titleStyles)
	}
	r.b.AddHeading(level, stripRSTMarkup(text), lineRange(from+1, from+2))
	r.pos = from + 2
	return true
}

// indentedBlock returns the lines, beginning at from, that are indented deeper than column, and the index of the
// line after them.
func (r *rstReader) indentedBlock(from, column int) (lines []string, end int) {
	end = from
	for i := from; i < len(r.lines); i++ {
		l := r.lineAtOrEmpty(i)
		if strings.TrimSpace(l) == "" {
			lines = append(lines, "")
			continue
		}
		if indentBytes(l) <= column {
			break
		}
		lines, end = append(lines, l), i+1
	}
	return lines[:min(len(lines), end-from)], end
}

// readDirective reads a block that begins with "..": a directive or footnote, or a comment, which is ignored.
func (r *rstReader) readDirective() {
	start := r.pos
	m := rstDirective.FindStringSubmatch(r.lineAtOrEmpty(start))
	lines, end := r.indentedBlock(start+1, 0)
	r.pos = max(end, start+1)
	if note := rstNote.FindStringSubmatch(r.lineAtOrEmpty(start)); note != nil {
		r.readDirectiveBody(append([]string{note[1]}, lines...), start)
		return
	}
	if m == nil || rstIgnored[strings.ToLower(m[1])] {
		return
	}
	name := strings.ToLower(m[1])
	var body []string
	if m[2] != "" && name != "code-block" && name != "code" && name != "figure" && name != "container" && name != "class" {
		body = append(body, m[2])
	}
	options := true
	first := start + 1
	for i, l := range lines {
		if t := strings.TrimSpace(l); options && (t == "" || strings.HasPrefix(t, ":")) {
			continue
		}
		if options {
			options, first = false, start+1+i
		}
		body = append(body, l)
	}
	switch place := lineRange(first+1, max(first+1, r.pos)); name {
	case "code-block", "code", "parsed-literal", "math":
		r.b.AddBlock(document.Block{Kind: document.Line, Text: strings.Join(body, "\n"), Locator: place})
	case "csv-table":
		t := r.b.NewTableWriter()
		for _, l := range body {
			t.AddRow(strings.Split(strings.ReplaceAll(l, `"`, ""), ","), place)
		}
		t.Finish()
	default:
		r.readDirectiveBody(body, start)
	}
}

// readDirectiveBody reads the content of a directive as ordinary text.
func (r *rstReader) readDirectiveBody(body []string, start int) {
	var para []string
	flush := func() {
		if len(para) == 0 {
			return
		}
		text := JoinLines(para)
		blk := document.Block{Kind: document.Paragraph, Locator: lineRange(start+1, max(start+1, r.pos))}
		if m := listMarkPattern.FindStringSubmatch(text); m != nil {
			blk.Kind, blk.Level, blk.Marker, text = document.ListItem, 1, NumberedMarkOrEmpty(m[2]), m[3]
		}
		blk.Text = stripRSTMarkup(text)
		r.b.AddBlock(blk)
		para = nil
	}
	for _, l := range body {
		if strings.TrimSpace(l) == "" || listMarkPattern.MatchString(l) {
			flush()
		}
		if strings.TrimSpace(l) != "" {
			para = append(para, l)
		}
	}
	flush()
}

// readParagraphOrListItem reads a paragraph or list item, and the literal block that it may introduce.
func (r *rstReader) readParagraphOrListItem() {
	start := r.pos
	column := indentBytes(r.lineAtOrEmpty(start))
	if m := listMarkPattern.FindStringSubmatch(r.lineAtOrEmpty(start)); m != nil {
		text := []string{m[3]}
		for r.pos++; r.pos < len(r.lines) && indentBytes(r.lineAtOrEmpty(r.pos)) > column && strings.TrimSpace(r.lineAtOrEmpty(r.pos)) != "" &&
			!listMarkPattern.MatchString(r.lineAtOrEmpty(r.pos)); r.pos++ {
			text = append(text, r.lineAtOrEmpty(r.pos))
		}
		r.b.AddBlock(
			document.Block{
				Kind:    document.ListItem,
				Level:   1 + column/2,
				Text:    stripRSTMarkup(JoinLines(text)),
				Marker:  NumberedMarkOrEmpty(m[2]),
				Locator: lineRange(start+1, r.pos),
			},
		)
		return
	}
	for r.pos++; r.pos < len(r.lines) && strings.TrimSpace(r.lineAtOrEmpty(r.pos)) != "" && !listMarkPattern.MatchString(r.lineAtOrEmpty(r.pos)) &&
		!strings.HasPrefix(r.lineAtOrEmpty(r.pos), ".. "); r.pos++ {
		if c, _ := parseRuleLine(r.lineAtOrEmpty(r.pos)); c != 0 {
			break
		}
	}
	text := JoinLines(r.lines[start:r.pos])
	literal := strings.HasSuffix(text, "::")
	if literal {
		text = strings.TrimSuffix(text, ":")
	}
	if text != ":" {
		r.b.AddBlock(document.Block{Kind: document.Paragraph, Text: stripRSTMarkup(text), Locator: lineRange(start+1, r.pos)})
	}
	if !literal {
		return
	}
	if lines, end := r.indentedBlock(r.pos, column); len(lines) > 0 {
		r.b.AddBlock(document.Block{Kind: document.Line, Text: strings.Join(lines, "\n"), Locator: lineRange(r.pos+1, end)})
		r.pos = end
	}
}

// readSimpleTable reads a simple table, whose columns are marked by runs of equals signs.
func (r *rstReader) readSimpleTable() {
	border := r.lineAtOrEmpty(r.pos)
	var starts []int
	for i := range len(border) {
		if border[i] == '=' && (i == 0 || border[i-1] != '=') {
			starts = append(starts, i)
		}
	}
	cells := func(l string) []string {
		out := make([]string, len(starts))
		for i, s := range starts {
			end := len(l)
			if i+1 < len(starts) {
				end = min(end, starts[i+1])
			}
			if s < end {
				out[i] = stripRSTMarkup(strings.TrimSpace(strings.ToValidUTF8(l[s:end], "")))
			}
		}
		return out
	}
	var rows []document.Row
	borders := 1
	header := 0
	first := r.pos
	for r.pos++; r.pos < len(r.lines); r.pos++ {
		l := r.lineAtOrEmpty(r.pos)
		if rstSimpleBorder.MatchString(l) {
			if borders++; borders == 2 && strings.TrimSpace(r.lineAtOrEmpty(r.pos+1)) != "" {
				header = len(rows)
				continue
			}
			r.pos++
			break
		}
		if strings.TrimSpace(l) == "" && borders < 2 && r.pos-first > 500 {
			break
		}
		c := cells(l)
		if n := len(rows); n > header && c[0] == "" && document.CountFilled(c) > 0 { // continues the row above
			for i := range c {
				rows[n-1].Cells[i] = strings.TrimSpace(rows[n-1].Cells[i] + " " + c[i])
			}
			rows[n-1].Locator.LineEnd = r.pos + 1
			continue
		}
		if document.CountFilled(c) > 0 && strings.Trim(strings.TrimSpace(l), "- ") != "" {
			rows = append(rows, document.Row{Cells: c, Locator: api.Locator{LineStart: r.pos + 1, LineEnd: r.pos + 1}})
		}
	}
	r.writeRows(rows, header)
}

// readGridTable reads a table drawn with plus signs, dashes and bars.
func (r *rstReader) readGridTable() {
	var rows []document.Row
	var open []string
	header, from := 0, r.pos
	flush := func() {
		if document.CountFilled(open) > 0 {
			rows = append(rows, document.Row{Cells: open, Locator: api.Locator{LineStart: from + 1, LineEnd: r.pos}})
		}
		open = nil
	}
	for ; r.pos < len(r.lines); r.pos++ {
		l := strings.TrimSpace(r.lineAtOrEmpty(r.pos))
		if rstGridBorder.MatchString(l) {
			if flush(); strings.Contains(l, "=") {
				header = len(rows)
			}
			from = r.pos + 1
			continue
		}
		if !strings.HasPrefix(l, "|") {
			break
		}
		parts := strings.Split(strings.Trim(l, "|"), "|")
		if open == nil {
			open = make([]string, len(parts))
		}
		for i := range min(len(parts), len(open)) {
			open[i] = strings.TrimSpace(open[i] + " " + stripRSTMarkup(strings.TrimSpace(parts[i])))
		}
	}
	flush()
	r.writeRows(rows, header)
}

func (r *rstReader) writeRows(rows []document.Row, headerRowCount int) {
	t := r.b.NewTableWriter()
	if headerRowCount == 1 && len(rows) > 1 && !document.IsKeyValueTable(rows) {
		t.SetHeader(rows[0].Cells, rows[0].Locator)
		rows = rows[1:]
	}
	for _, row := range rows {
		t.AddRow(row.Cells, row.Locator)
	}
	t.Finish()
}

// stripRSTMarkup removes the markup of emphasis, roles and links from a text.
func stripRSTMarkup(s string) string {
	if !strings.ContainsAny(s, "`*|]") {
		return s
	}
	return rstInline.ReplaceAllStringFunc(s, func(m string) string {
		for _, part := range rstInline.FindStringSubmatch(m)[1:] {
			if part != "" {
				return part
			}
		}
		if m[0] == '[' { // the number of a footnote
			return ""
		}
		return m
	})
}
