package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

var (
	rstRule      = lazyregexp.Of(`^([=\-~^*+#"'` + "`" + `:.,_<>!$%&])[=\-~^*+#"'` + "`" + `:.,_<>!$%&]+\s*$`)
	rstDirective = lazyregexp.Of(`^\.\. ([A-Za-z][\w.+-]*)::\s*(.*)$`)
	rstField     = lazyregexp.Of(`^:([^:\n]{1,80}):\s+(\S.*)$`)
	rstInline    = lazyregexp.Of("``([^`]+)``|(?::[\\w:.+-]{1,40}:)?`([^`<]*?)(?:\\s*<[^>`]*>)?`_{0,2}|\\[(?:#?\\w*|\\*)\\]_()|\\*\\*([^*]+)\\*\\*|\\*([^*\\s][^*]*)\\*|\\|([^|\\s][^|]*)\\|_{0,2}")
	rstNote      = lazyregexp.Of(`^\.\. \[[^\]]{1,40}\]\s+(\S.*)$`)
	rstSimple    = lazyregexp.Of(`^\s*=+(\s+=+)+\s*$`)
	rstGrid      = lazyregexp.Of(`^\s*\+([-=]+\+)+\s*$`)
)

// rstSilent are directives that hold no text of the document.
var rstSilent = map[string]bool{"toctree": true, "image": true, "contents": true, "include": true, "raw": true, "index": true, "meta": true, "highlight": true, "default-role": true, "role": true, "sectnum": true, "target-notes": true, "automodule": true, "autoclass": true, "literalinclude": true, "csv-table": false, "only": false}

// readRST reads reStructuredText: titles by their lines, lists, tables and directives. What
// a directive would include or run is left alone.
func readRST(b *builder, text string) error {
	r := &rstReader{plainReader: plainReader{b: b, lines: strings.Split(text, "\n")}}
	for r.at < len(r.lines) && b.err == nil {
		r.next()
	}
	return b.err
}

// rstReader goes on where the reader of plain text knows too little.
type rstReader struct {
	plainReader
	titles []string // kinds of title in the order in which they came
}

// rstLine is the character of a line that consists of one, and its length; 0 where it doesn't.
func rstLine(line string) (byte, int) {
	line = strings.TrimRight(line, " \t")
	if len(line) < 2 || !rstRule.MatchString(line) || strings.Trim(line, line[:1]) != "" {
		return 0, 0
	}
	return line[0], len(line)
}

func (r *rstReader) line(i int) string {
	if i < 0 || i >= len(r.lines) || len(r.lines[i]) > 4*maxBlock {
		return ""
	}
	return r.lines[i]
}

func (r *rstReader) next() {
	line := r.line(r.at)
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "" && len(r.lines[r.at]) > 4*maxBlock:
		r.b.add(Block{Kind: Paragraph, Text: r.lines[r.at], Locator: at(r.at+1, r.at+1)})
		r.at++
	case trimmed == "":
		r.at++
	case r.title():
	case strings.HasPrefix(line, ".. ") || line == "..":
		r.explicit()
	case rstSimple.MatchString(line):
		r.simpleTable()
	case rstGrid.MatchString(line):
		r.gridTable()
	default:
		if c, _ := rstLine(line); c != 0 { // a transition
			r.at++
			return
		}
		if m := rstField.FindStringSubmatch(line); m != nil {
			r.b.facts = append(r.b.facts, fact{m[1], m[2]})
			r.b.row(nil, []string{m[1], inlineRST(m[2])}, r.b.nextTable(), at(r.at+1, r.at+1))
			r.at++
			return
		}
		r.paragraph()
	}
}

// title reads a title with a line below it, or above and below.
func (r *rstReader) title() bool {
	from := r.at
	kind := ""
	over, overLen := rstLine(r.line(from))
	if over != 0 {
		if strings.TrimSpace(r.line(from+1)) == "" {
			return false
		}
		if c, n := rstLine(r.line(from + 2)); c != over || n != overLen {
			return false
		}
		from, kind = from+1, "over"
	}
	text := strings.TrimSpace(r.line(from))
	c, n := rstLine(r.line(from + 1))
	if c == 0 || text == "" || n+1 < utf8.RuneCountInString(text) || len(text) > maxHeading || rstSimple.MatchString(r.line(from+1)) || strings.HasPrefix(text, ".. ") {
		return false
	}
	kind += string(c)
	level := 0
	for i, t := range r.titles {
		if t == kind {
			level = i + 1
		}
	}
	if level == 0 {
		r.titles = append(r.titles, kind)
		level = len(r.titles)
	}
	r.b.heading(level, inlineRST(text), at(from+1, from+2))
	r.at = from + 2
	return true
}

// block is the lines that are indented deeper than column, and where they end.
func (r *rstReader) block(from, column int) (lines []string, end int) {
	end = from
	for i := from; i < len(r.lines); i++ {
		l := r.line(i)
		if strings.TrimSpace(l) == "" {
			lines = append(lines, "")
			continue
		}
		if indent(l) <= column {
			break
		}
		lines, end = append(lines, l), i+1
	}
	return lines[:min(len(lines), end-from)], end
}

// explicit reads what begins with two dots: a directive, or a comment that says nothing.
func (r *rstReader) explicit() {
	start := r.at
	m := rstDirective.FindStringSubmatch(r.line(start))
	lines, end := r.block(start+1, 0)
	r.at = max(end, start+1)
	if note := rstNote.FindStringSubmatch(r.line(start)); note != nil {
		r.nested(append([]string{note[1]}, lines...), start)
		return
	}
	if m == nil || rstSilent[strings.ToLower(m[1])] {
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
	switch place := at(first+1, max(first+1, r.at)); name {
	case "code-block", "code", "parsed-literal", "math":
		r.b.add(Block{Kind: Line, Text: strings.Join(body, "\n"), Locator: place})
	case "csv-table":
		t := r.b.table()
		for _, l := range body {
			t.add(strings.Split(strings.ReplaceAll(l, `"`, ""), ","), place)
		}
		t.end()
	default:
		r.nested(body, start)
	}
}

// nested reads the content of a directive as text of its own, at its place.
func (r *rstReader) nested(body []string, start int) {
	var para []string
	flush := func() {
		if len(para) == 0 {
			return
		}
		text := joinLines(para)
		blk := Block{Kind: Paragraph, Locator: at(start+1, max(start+1, r.at))}
		if m := listMark.FindStringSubmatch(text); m != nil {
			blk.Kind, blk.Level, blk.Mark, text = ListItem, 1, ownMark(m[2]), m[3]
		}
		blk.Text = inlineRST(text)
		r.b.add(blk)
		para = nil
	}
	for _, l := range body {
		if strings.TrimSpace(l) == "" || listMark.MatchString(l) {
			flush()
		}
		if strings.TrimSpace(l) != "" {
			para = append(para, l)
		}
	}
	flush()
}

// paragraph reads a paragraph or list item, and the literal block that it may announce.
func (r *rstReader) paragraph() {
	start := r.at
	column := indent(r.line(start))
	if m := listMark.FindStringSubmatch(r.line(start)); m != nil {
		text := []string{m[3]}
		for r.at++; r.at < len(r.lines) && indent(r.line(r.at)) > column && strings.TrimSpace(r.line(r.at)) != "" && !listMark.MatchString(r.line(r.at)); r.at++ {
			text = append(text, r.line(r.at))
		}
		r.b.add(Block{Kind: ListItem, Level: 1 + column/2, Text: inlineRST(joinLines(text)), Mark: ownMark(m[2]), Locator: at(start+1, r.at)})
		return
	}
	for r.at++; r.at < len(r.lines) && strings.TrimSpace(r.line(r.at)) != "" && !listMark.MatchString(r.line(r.at)) && !strings.HasPrefix(r.line(r.at), ".. "); r.at++ {
		if c, _ := rstLine(r.line(r.at)); c != 0 {
			break
		}
	}
	text := joinLines(r.lines[start:r.at])
	literal := strings.HasSuffix(text, "::")
	if literal {
		text = strings.TrimSuffix(text, ":")
	}
	if text != ":" {
		r.b.add(Block{Kind: Paragraph, Text: inlineRST(text), Locator: at(start+1, r.at)})
	}
	if !literal {
		return
	}
	if lines, end := r.block(r.at, column); len(lines) > 0 {
		r.b.add(Block{Kind: Line, Text: strings.Join(lines, "\n"), Locator: at(r.at+1, end)})
		r.at = end
	}
}

// simpleTable reads a table whose columns stand under runs of equals signs.
func (r *rstReader) simpleTable() {
	border := r.line(r.at)
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
				out[i] = inlineRST(strings.TrimSpace(strings.ToValidUTF8(l[s:end], "")))
			}
		}
		return out
	}
	var rows []tableRow
	borders := 1
	header := 0
	first := r.at
	for r.at++; r.at < len(r.lines); r.at++ {
		l := r.line(r.at)
		if rstSimple.MatchString(l) {
			if borders++; borders == 2 && strings.TrimSpace(r.line(r.at+1)) != "" {
				header = len(rows)
				continue
			}
			r.at++
			break
		}
		if strings.TrimSpace(l) == "" && borders < 2 && r.at-first > 500 {
			break
		}
		c := cells(l)
		if n := len(rows); n > header && c[0] == "" && filled(c) > 0 { // goes on with the row above
			for i := range c {
				rows[n-1].cells[i] = strings.TrimSpace(rows[n-1].cells[i] + " " + c[i])
			}
			rows[n-1].at.LineEnd = r.at + 1
			continue
		}
		if filled(c) > 0 && strings.Trim(strings.TrimSpace(l), "- ") != "" {
			rows = append(rows, tableRow{c, api.Locator{LineStart: r.at + 1, LineEnd: r.at + 1}})
		}
	}
	r.rows(rows, header)
}

// gridTable reads a table that is drawn with plus signs, dashes and bars.
func (r *rstReader) gridTable() {
	var rows []tableRow
	var open []string
	header, from := 0, r.at
	flush := func() {
		if filled(open) > 0 {
			rows = append(rows, tableRow{open, api.Locator{LineStart: from + 1, LineEnd: r.at}})
		}
		open = nil
	}
	for ; r.at < len(r.lines); r.at++ {
		l := strings.TrimSpace(r.line(r.at))
		if rstGrid.MatchString(l) {
			if flush(); strings.Contains(l, "=") {
				header = len(rows)
			}
			from = r.at + 1
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
			open[i] = strings.TrimSpace(open[i] + " " + inlineRST(strings.TrimSpace(parts[i])))
		}
	}
	flush()
	r.rows(rows, header)
}

func (r *rstReader) rows(rows []tableRow, header int) {
	t := r.b.table()
	if header == 1 && len(rows) > 1 && !keyValueTable(rows) {
		t.withHeader(rows[0].cells)
		rows = rows[1:]
	}
	for _, row := range rows {
		t.add(row.cells, row.at)
	}
	t.end()
}

// inlineRST is a text without the marks of emphasis, roles and links.
func inlineRST(s string) string {
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
