package parse

import (
	"strings"
	"unicode"

	"github.com/scf-service/service/api"
)

const (
	headerSearch = 20   // rows looked at for the header
	maxColumns   = 2000 // cells of one row that are kept
)

// renderRow writes a row so that it can be read on its own: "Column: value; …".
// Empty cells are left out. Without a header two columns read as key and value.
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

// tableRow is a row with its place.
type tableRow struct {
	cells []string
	at    api.Locator
}

// tableWriter turns rows that arrive one by one into blocks. It holds back the first
// rows until the header is known; lines above the header become paragraphs.
type tableWriter struct {
	b      *builder
	number int
	held   []tableRow
	header []string
	ready  bool
}

func (b *builder) table() *tableWriter { return &tableWriter{b: b, number: b.nextTable()} }

func (t *tableWriter) add(cells []string, at api.Locator) {
	if len(cells) > maxColumns {
		cells = cells[:maxColumns]
		t.b.warn("A table is wider than %d columns; the rest was left out.", maxColumns)
	}
	for i := range cells {
		cells[i] = clean(cells[i])
	}
	if filled(cells) == 0 {
		return
	}
	if t.ready {
		t.b.row(t.header, cells, t.number, at)
		return
	}
	t.held = append(t.held, tableRow{cells, at})
	if len(t.held) >= headerSearch {
		t.settle()
	}
}

// end writes what is still held back.
func (t *tableWriter) end() { t.settle() }

// withHeader is for formats that mark their header.
func (t *tableWriter) withHeader(header []string) {
	for i := range header {
		header[i] = clean(header[i])
	}
	t.header, t.ready = header, true
}

func (t *tableWriter) settle() {
	if t.ready {
		return
	}
	t.ready = true
	at := findHeader(t.held)
	for i, r := range t.held {
		switch {
		case i < at:
			t.lead(r)
		case i == at:
			t.header = r.cells
		default:
			t.b.row(t.header, r.cells, t.number, r.at)
		}
	}
	if at >= 0 && at == len(t.held)-1 { // a header and nothing below is all there is
		t.b.row(nil, t.header, t.number, t.held[at].at)
	}
	t.held = nil
}

// lead writes a row above the header: a title, or a key with its value.
func (t *tableWriter) lead(r tableRow) {
	if filled(r.cells) > 1 {
		t.b.row(nil, compact(r.cells), t.number, r.at)
		return
	}
	t.b.add(Block{Kind: Paragraph, Text: strings.Join(r.cells, " "), Locator: r.at})
}

func filled(cells []string) int {
	n := 0
	for _, c := range cells {
		if c != "" {
			n++
		}
	}
	return n
}

func compact(cells []string) []string {
	out := make([]string, 0, len(cells))
	for _, c := range cells {
		if c != "" {
			out = append(out, c)
		}
	}
	return out
}

// findHeader returns the index of the row that names the columns, or -1: the first
// that fills most columns with short, different words, above rows of its own width.
func findHeader(rows []tableRow) int {
	if len(rows) == 0 || keyValueTable(rows) {
		return -1
	}
	widest := 0
	for _, r := range rows {
		widest = max(widest, filled(r.cells))
	}
	if widest < 2 {
		return -1
	}
	for i, r := range rows {
		if n := filled(r.cells); n < 2 || n*10 < widest*6 {
			continue
		}
		if headerLike(r.cells) {
			return i
		}
		return -1
	}
	return -1
}

func headerLike(cells []string) bool {
	seen := map[string]bool{}
	for _, c := range cells {
		if c == "" {
			continue
		}
		letters := strings.ContainsFunc(c, unicode.IsLetter)
		if len(c) > 120 || !letters && c != "#" && c != "%" || seen[c] || strings.HasSuffix(c, ".") && strings.Contains(c, " ") && len(c) > 40 {
			return false
		}
		if _, ok, _ := parseDate(c); ok {
			return false
		}
		seen[c] = true
	}
	return true
}

// keyValueTable reports whether a table is a list of facts ("Version | 1.2") and so has no header.
func keyValueTable(rows []tableRow) bool {
	known, colons := 0, 0
	for _, r := range rows {
		c := compact(r.cells)
		if len(c) == 0 || len(c) > 4 {
			return false
		}
		if _, ok := factOf(c[0]); ok {
			known++
		}
		if strings.HasSuffix(c[0], ":") {
			colons++
		}
		if len(c) > 2 {
			if _, ok := factOf(c[2]); !ok && !strings.HasSuffix(c[2], ":") {
				return false
			}
		}
	}
	return known >= 2 || colons == len(rows) || len(rows) == 1 && known == 1
}
