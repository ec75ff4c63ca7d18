package document

import (
	"strings"
	"unicode"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/questionnaire"
)

const (
	MaxColumns    = 2000 // cells of one row that are kept
	maxHeaderRows = 20   // rows looked at for the header
)

// RenderRow renders a row so that it can be read on its own: "Column: value; …". Empty cells are omitted, except in a
// column of answers: that a question has no answer matters. If there is no header, a row of two cells is read as a key
// and its value.
func RenderRow(header, cells []string) string { return renderRow(header, cells, answerColumns(header)) }

func renderRow(header, cells []string, answers []bool) string {
	var parts []string
	for i, c := range cells {
		if c == "" {
			if i < len(answers) && answers[i] {
				parts = append(parts, header[i]+":")
			}
			continue
		}
		if i < len(header) && header[i] != "" && header[i] != c {
			c = header[i] + ": " + c
		}
		parts = append(parts, c)
	}
	if header == nil && len(parts) == 2 && strings.HasSuffix(parts[0], "?") {
		return parts[0] + " " + parts[1]
	}
	if header == nil && len(parts) == 2 && len(cells) == 2 && len(parts[0]) <= 60 {
		return strings.TrimRight(parts[0], ":") + ": " + parts[1]
	}
	if header == nil {
		return strings.Join(parts, " | ")
	}
	return strings.Join(parts, "; ")
}

// answerColumns returns which columns hold answers, or stand for an answer to be marked; nil if none do.
func answerColumns(header []string) []bool {
	var out []bool
	yes, no := false, false
	for i, h := range header {
		option := questionnaire.IsOption(h)
		yes, no = yes || option == questionnaire.Yes, no || option == questionnaire.No
		if option != questionnaire.None || questionnaire.IsColumn(h) {
			if out == nil {
				out = make([]bool, len(header))
			}
			out[i] = option == questionnaire.None
		}
	}
	if yes && no {
		for i, h := range header {
			out[i] = out[i] || questionnaire.IsOption(h) != questionnaire.None
		}
	}
	return out
}

// Row is a table row with its locator.
type Row struct {
	Cells   []string
	Locator api.Locator
}

// TableWriter turns rows that arrive one by one into blocks. It holds the first rows back until the header is
// known; lines above the header become paragraphs.
type TableWriter struct {
	b           *Builder
	number      int
	pending     []Row
	header      []string // nil if there is none
	headerAt    api.Locator
	headerKnown bool
	hasRows     bool // below the header
}

// NewTableWriter returns a TableWriter for the next table of the document.
func (b *Builder) NewTableWriter() *TableWriter {
	return &TableWriter{b: b, number: b.NextTableNumber()}
}

// AddRow adds a row. Empty rows are dropped.
func (t *TableWriter) AddRow(cells []string, locator api.Locator) {
	if len(cells) > MaxColumns {
		cells = cells[:MaxColumns]
		t.b.Warn("A table is wider than %d columns; the rest was skipped.", MaxColumns)
	}
	for i := range cells {
		cells[i] = CleanLine(cells[i])
	}
	if CountFilled(cells) == 0 {
		return
	}
	if t.headerKnown {
		t.writeRow(Row{cells, locator})
		return
	}
	t.pending = append(t.pending, Row{cells, locator})
	if len(t.pending) >= maxHeaderRows {
		t.resolveHeader()
	}
}

// SetHeader sets the header. It is for formats that mark header rows.
func (t *TableWriter) SetHeader(header []string, locator api.Locator) {
	for i := range header {
		header[i] = CleanLine(header[i])
	}
	t.header, t.headerAt, t.headerKnown = header, locator, true
}

// Finish writes the rows that were held back. If the table consists only of a header, it is written as a row.
func (t *TableWriter) Finish() {
	t.resolveHeader()
	if t.header != nil && !t.hasRows {
		t.b.AddRow(nil, t.header, t.number, t.headerAt)
	}
}

func (t *TableWriter) resolveHeader() {
	if t.headerKnown {
		return
	}
	t.headerKnown = true
	at := FindHeaderRow(t.pending)
	for i, r := range t.pending {
		switch {
		case i < at:
			t.b.AddRowAboveHeader(t.number, r)
		case i == at:
			t.header, t.headerAt = r.Cells, r.Locator
		default:
			t.writeRow(r)
		}
	}
	t.pending = nil
}

func (t *TableWriter) writeRow(r Row) {
	t.hasRows = true
	t.b.AddRow(t.header, r.Cells, t.number, r.Locator)
}

// AddRowAboveHeader adds a row found above a table's header, such as a title, or a key with its value.
func (b *Builder) AddRowAboveHeader(table int, r Row) {
	if CountFilled(r.Cells) > 1 {
		b.AddRow(nil, NonEmptyCells(r.Cells), table, r.Locator)
		return
	}
	b.AddBlock(Block{Kind: Paragraph, Text: strings.Join(r.Cells, " "), Locator: r.Locator})
}

// CountFilled returns the number of nonempty cells.
func CountFilled(cells []string) int {
	n := 0
	for _, c := range cells {
		if c != "" {
			n++
		}
	}
	return n
}

// NonEmptyCells returns the cells that contain text.
func NonEmptyCells(cells []string) []string {
	out := make([]string, 0, len(cells))
	for _, c := range cells {
		if c != "" {
			out = append(out, c)
		}
	}
	return out
}

// FindHeaderRow returns the index of the header, or -1 if there is none. The first row with text in most columns
// is the header if its cells are short and distinct.
func FindHeaderRow(rows []Row) int {
	if len(rows) == 0 || IsKeyValueTable(rows) {
		return -1
	}
	widest := 0
	for _, r := range rows {
		widest = max(widest, CountFilled(r.Cells))
	}
	if widest < 2 {
		return -1
	}
	for i, r := range rows {
		if n := CountFilled(r.Cells); n < 2 || n*10 < widest*6 {
			continue
		}
		if looksLikeHeader(r.Cells) && !asksAndAnswers(rows[i:]) {
			return i
		}
		return -1
	}
	return -1
}

// asksAndAnswers reports whether the first row is a question with its answer, or a question like those below it, rather
// than a header.
func asksAndAnswers(rows []Row) bool {
	for column, c := range rows[0].Cells {
		if !strings.HasSuffix(c, "?") || strings.Count(c, " ") < 2 {
			continue
		}
		for other, c := range rows[0].Cells {
			if other != column && questionnaire.Parse(c) != questionnaire.None {
				return true
			}
		}
		for _, r := range rows[1:] {
			if column < len(r.Cells) && strings.HasSuffix(r.Cells[column], "?") {
				return true
			}
		}
	}
	return false
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
		if _, ok, _ := FindDate(c); ok {
			return false
		}
		seen[c] = true
	}
	return true
}

// IsKeyValueTable reports whether a table is a list of facts ("Version | 1.2"), which has no header.
func IsKeyValueTable(rows []Row) bool {
	known, colons := 0, 0
	for _, r := range rows {
		c := NonEmptyCells(r.Cells)
		if len(c) == 0 || len(c) > 4 {
			return false
		}
		if _, ok := FactKindOf(c[0]); ok {
			known++
		}
		if strings.HasSuffix(c[0], ":") {
			colons++
		}
		if len(c) > 2 {
			if _, ok := FactKindOf(c[2]); !ok && !strings.HasSuffix(c[2], ":") {
				return false
			}
		}
	}
	return known >= 2 || colons == len(rows) || len(rows) == 1 && known == 1
}
