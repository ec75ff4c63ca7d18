package parse

import (
	"strings"
	"unicode"

	"github.com/scf-service/service/api"
)

const (
	maxHeaderRows = 20   // rows looked at for the header
	maxColumns    = 2000 // cells of one row that are kept
)

// renderRow renders a row so that it can be read on its own: "Column: value; …". Empty cells are
// omitted. Without a header, two columns are read as key and value.
func renderRow(header, cells []string) string {
	var parts []string
	for i, c := range cells {
		if c == "" {
			continue
		}
		if i < len(header) && header[i] != "" && header[i] != c {
			c = header[i] + ": " + c
		}
		parts = append(parts, c)
	}
	if header == nil && len(parts) == 2 && len(cells) == 2 && len(parts[0]) <= 60 {
		return strings.TrimRight(parts[0], ":") + ": " + parts[1]
	}
	if header == nil {
		return strings.Join(parts, " | ")
	}
	return strings.Join(parts, "; ")
}

// tableRow is a row with its locator.
type tableRow struct {
	cells []string
	at    api.Locator
}

// tableWriter turns rows that arrive one by one into blocks. It holds back the first rows until the
// header is known; lines above the header become paragraphs.
type tableWriter struct {
	b           *builder
	tableNumber int
	pending     []tableRow
	header      []string
	headerKnown bool
}

func (b *builder) newTableWriter() *tableWriter {
	return &tableWriter{b: b, tableNumber: b.nextTableNumber()}
}

func (t *tableWriter) addRow(cells []string, at api.Locator) {
	if len(cells) > maxColumns {
		cells = cells[:maxColumns]
		t.b.warn("A table is wider than %d columns; the rest was skipped.", maxColumns)
	}
	for i := range cells {
		cells[i] = cleanText(cells[i])
	}
	if countFilled(cells) == 0 {
		return
	}
	if t.headerKnown {
		t.b.addRow(t.header, cells, t.tableNumber, at)
		return
	}
	t.pending = append(t.pending, tableRow{cells, at})
	if len(t.pending) >= maxHeaderRows {
		t.resolveHeader()
	}
}

// finish writes the remaining rows.
func (t *tableWriter) finish() { t.resolveHeader() }

// setHeader sets the header, for formats that mark it.
func (t *tableWriter) setHeader(header []string) {
	for i := range header {
		header[i] = cleanText(header[i])
	}
	t.header, t.headerKnown = header, true
}

func (t *tableWriter) resolveHeader() {
	if t.headerKnown {
		return
	}
	t.headerKnown = true
	at := findHeader(t.pending)
	for i, r := range t.pending {
		switch {
		case i < at:
			t.writeLead(r)
		case i == at:
			t.header = r.cells
		default:
			t.b.addRow(t.header, r.cells, t.tableNumber, r.at)
		}
	}
	if at >= 0 && at == len(t.pending)-1 { // a header and nothing below is all there is
		t.b.addRow(nil, t.header, t.tableNumber, t.pending[at].at)
	}
	t.pending = nil
}

// writeLead writes a row above the header: a title, or a key with its value.
func (t *tableWriter) writeLead(r tableRow) {
	if countFilled(r.cells) > 1 {
		t.b.addRow(nil, nonEmptyCells(r.cells), t.tableNumber, r.at)
		return
	}
	t.b.addBlock(Block{Kind: Paragraph, Text: strings.Join(r.cells, " "), Locator: r.at})
}

func countFilled(cells []string) int {
	n := 0
	for _, c := range cells {
		if c != "" {
			n++
		}
	}
	return n
}

func nonEmptyCells(cells []string) []string {
	out := make([]string, 0, len(cells))
	for _, c := range cells {
		if c != "" {
			out = append(out, c)
		}
	}
	return out
}

// findHeader returns the index of the row with the column names, or -1: the first that fills most
// columns with short, distinct texts, above rows of the same width.
func findHeader(rows []tableRow) int {
	if len(rows) == 0 || isKeyValueTable(rows) {
		return -1
	}
	widest := 0
	for _, r := range rows {
		widest = max(widest, countFilled(r.cells))
	}
	if widest < 2 {
		return -1
	}
	for i, r := range rows {
		if n := countFilled(r.cells); n < 2 || n*10 < widest*6 {
			continue
		}
		if looksLikeHeader(r.cells) {
			return i
		}
		return -1
	}
	return -1
}

func looksLikeHeader(cells []string) bool {
	seen := map[string]bool{}
	for _, c := range cells {
		if c == "" {
			continue
		}
		letters := strings.ContainsFunc(c, unicode.IsLetter)
		if len(c) > 120 || !letters && c != "#" && c != "%" || seen[c] ||
			strings.HasSuffix(c, ".") && strings.Contains(c, " ") && len(c) > 40 {
			return false
		}
		if _, ok, _ := parseDate(c); ok {
			return false
		}
		seen[c] = true
	}
	return true
}

// isKeyValueTable reports whether a table is a list of facts ("Version | 1.2") and so has no header.
func isKeyValueTable(rows []tableRow) bool {
	known, colons := 0, 0
	for _, r := range rows {
		c := nonEmptyCells(r.cells)
		if len(c) == 0 || len(c) > 4 {
			return false
		}
		if _, ok := factKindFor(c[0]); ok {
			known++
		}
		if strings.HasSuffix(c[0], ":") {
			colons++
		}
		if len(c) > 2 {
			if _, ok := factKindFor(c[2]); !ok && !strings.HasSuffix(c[2], ":") {
				return false
			}
		}
	}
	return known >= 2 || colons == len(rows) || len(rows) == 1 && known == 1
}
