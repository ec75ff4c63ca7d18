package document

import (
	"slices"
	"strings"
	"unicode"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/questionnaire"
)

const (
	MaxColumns    = 2000 // cells of one row that are kept
	maxHeaderRows = 20   // maximum number of rows searched for the header
)

// RenderRow renders a row so that it can be read on its own: "Column: value; …". Empty cells are
// omitted, except in columns of answers, where a missing answer matters. If there is no header, a
// row of two cells is shown as a key and its value.
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
	if header == nil && len(parts) == 2 && CountFilled(cells[:2]) == 2 && len(parts[0]) <= 60 {
		return strings.TrimRight(parts[0], ":") + ": " + parts[1]
	}
	if header == nil && len(parts) == 4 && isLabel(parts[0]) && isLabel(parts[2]) {
		return strings.TrimRight(parts[0], ":") + ": " + parts[1] + "; " + strings.TrimRight(parts[2], ":") + ": " + parts[3]
	}
	if header == nil {
		return strings.Join(parts, " | ")
	}
	return strings.Join(parts, "; ")
}

// answerColumns returns the columns that contain answers, or that represent an answer to be marked. It returns nil if
// there are no such columns.
func answerColumns(header []string) []bool {
	var out []bool
	yes, no := false, false
	for i, h := range header {
		option := questionnaire.AnswerOfColumn(h)
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
			out[i] = out[i] || questionnaire.AnswerOfColumn(h) != questionnaire.None
		}
	}
	return out
}

// Row is a table row with its locator.
type Row struct {
	Cells   []string
	Locator api.Locator
}

// Markers that a reader puts into the cells covered by a merged cell, so that their meaning is
// decided in one place.
const (
	MergedLeft = "\x00left" // belongs to the cell on its left
	MergedUp   = "\x00up"   // belongs to the cell above
)

// TableWriter converts rows, added one by one, to blocks. It holds back the first rows until the header is known; rows
// above the header become paragraphs. After an empty row, it looks for the header of another table.
type TableWriter struct {
	b           *Builder
	number      int
	pairs       [][]Row // groups of two-cell rows at the beginning, held back because a wider table may follow
	pending     []Row
	header      []string   // nil if there is none
	headerRows  [][]string // the rows that the header consists of, used to recognize repetitions
	headerAt    api.Locator
	headerKnown bool
	isBroken    bool     // an empty row was found below the header, so the pending rows may be another table
	hasRows     bool     // there are rows below the header
	last        []string // the last row written, whose cells may reach into the next one
	sides       *sideTables
	sideCount   int // tables on the left of this one
}

// NewTableWriter returns a TableWriter for the next table of the document.
func (b *Builder) NewTableWriter() *TableWriter {
	return &TableWriter{b: b, number: b.NextTableNumber()}
}

// AddRow adds a row. An empty row may separate two tables.
func (t *TableWriter) AddRow(cells []string, locator api.Locator) {
	if len(cells) > MaxColumns {
		cells = cells[:MaxColumns]
		t.b.Warn("A table has more than %d columns; the columns after that were skipped.", MaxColumns)
	}
	filled := false
	for i, c := range cells {
		if c == MergedLeft || c == MergedUp {
			continue
		}
		cells[i] = CleanLine(c)
		filled = filled || cells[i] != ""
	}
	if !filled {
		t.endGroupOfRows()
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

// endGroupOfRows ends a group of rows that belong together.
func (t *TableWriter) endGroupOfRows() {
	if !t.headerKnown {
		rows := 0
		for _, r := range t.pending {
			if CountFilled(withoutMerged(r.Cells)) > 1 {
				rows++
			}
		}
		if rows < 2 {
			return
		}
		if !t.isBroken && mayBePairs(readableRows(t.pending)) && len(slices.Concat(t.pairs...))+len(t.pending) < maxHeaderRows {
			t.pairs, t.pending = append(t.pairs, t.pending), nil
			return
		}
		t.resolveHeader()
	}
	t.endRows()
}

func (t *TableWriter) endRows() {
	if t.sides != nil {
		t.sides.addRow(Row{})
	}
	t.headerKnown, t.isBroken, t.last = false, true, nil
}

// SetHeader sets the header, for formats that mark header rows.
func (t *TableWriter) SetHeader(header []string, locator api.Locator) {
	t.SetHeaders([][]string{header}, locator)
}

// SetHeaders sets a header that consists of several rows.
func (t *TableWriter) SetHeaders(rows [][]string, locator api.Locator) {
	for len(rows) > 1 && countNames(rows[0]) < 2 { // a title above the table
		t.b.AddBlock(Block{Kind: Paragraph, Text: strings.Join(withoutMerged(rows[0]), " "), Locator: locator})
		rows = rows[1:]
	}
	for _, r := range rows {
		for i := range r {
			if r[i] != MergedLeft && r[i] != MergedUp {
				r[i] = CleanLine(r[i])
			}
		}
	}
	t.setHeader(rows, locator)
}

func (t *TableWriter) setHeader(rows [][]string, locator api.Locator) {
	t.header, t.headerAt, t.headerKnown, t.headerRows, t.last = combineHeader(rows), locator, true, nil, nil
	for _, r := range rows {
		t.headerRows = append(t.headerRows, withoutMerged(r))
	}
	for _, r := range t.headerRows[1:] { // rows with names that are missing in the header
		t.b.AddPageFurniture(Block{Kind: TableRow, Text: RenderRow(nil, NonEmptyCells(r)), Cells: r, Locator: locator})
	}
}

// Finish writes the rows that were held back. A table that consists only of a header is written as a row.
func (t *TableWriter) Finish() {
	t.resolveHeader()
	t.finishSides()
	t.finishHeader()
}

func (t *TableWriter) finishHeader() {
	if t.header != nil && !t.hasRows {
		t.b.AddRow(nil, t.header, t.number, t.headerAt)
	}
}

func (t *TableWriter) resolveHeader() {
	if t.headerKnown {
		return
	}
	groups, pending := t.pairs, t.pending
	t.pairs, t.pending = nil, nil
	if pairs := readableRows(slices.Concat(groups...)); arePairsAbove(pairs, readableRows(pending)) {
		for _, r := range pairs {
			t.b.AddRowAboveHeader(t.number, r)
		}
		groups = nil
	}
	for _, group := range groups {
		t.resolveRows(group)
		t.endRows()
	}
	t.resolveRows(pending)
}

// resolveRows finds the header in a group of rows, and writes the rows.
func (t *TableWriter) resolveRows(pending []Row) {
	t.headerKnown = true
	if len(pending) == 0 {
		return
	}
	if t.haveSides(pending) {
		for _, r := range pending {
			t.sides.addRow(r)
		}
		return
	}
	t.finishSides()
	rows := readableRows(pending)
	at := FindHeaderRow(rows, pending)
	if t.isBroken {
		t.isBroken = false
		switch {
		case !isTable(rows):
			for _, r := range rows {
				t.b.AddRowAboveHeader(t.number, r)
			}
			return
		case t.header != nil && !(at >= 0 && isOtherHeader(t.header, rows, at)):
			for _, r := range pending {
				t.writeRow(r)
			}
			return
		}
		t.finishHeader()
		t.number, t.header, t.headerRows, t.hasRows = t.b.NextTableNumber(), nil, nil, false
	}
	if t.splitSides(pending) {
		return
	}
	for i := 0; i < len(pending); i++ {
		switch {
		case i < at:
			t.b.AddRowAboveHeader(t.number, rows[i])
		case i == at:
			header := headerRows(pending[i:])
			i += len(header) - 1
			t.setHeader(header, rows[at].Locator)
		default:
			t.writeRow(pending[i])
		}
	}
}

// mayBePairs reports whether rows may be pairs of labels and values rather than a table with two columns.
func mayBePairs(rows []Row) bool {
	first := slices.IndexFunc(rows, func(r Row) bool { return CountFilled(r.Cells) == 2 })
	return widestRow(rows) == 2 && !isLabel(NonEmptyCells(rows[first].Cells)[1])
}

// arePairsAbove reports whether the rows after the pairs form a table that is too wide for one of
// the pairs to be its header.
func arePairsAbove(pairs, rows []Row) bool {
	widest := widestRow(rows)
	return !slices.ContainsFunc(pairs, func(r Row) bool { return mayBeHeader(r, widest) })
}

// headerRows returns the header rows at the beginning of a table.
func headerRows(rows []Row) [][]string {
	header := [][]string{rows[0].Cells}
	for n := 1; n+1 < len(rows) && continuesHeader(rows[n-1].Cells, rows[n].Cells, withoutMerged(rows[n+1].Cells)); n++ {
		header = append(header, rows[n].Cells)
	}
	return header
}

// JoinHeader returns the column names of a table whose header starts in the first row, and the number of header rows.
// Cells covered by a merged cell must contain MergedLeft or MergedUp.
func JoinHeader(rows []Row) (header []string, count int) {
	head := headerRows(rows)
	return combineHeader(head), len(head)
}

func (t *TableWriter) writeRow(r Row) {
	if t.sides != nil {
		t.sides.addRow(r)
		return
	}
	for i, c := range r.Cells {
		switch {
		case c == MergedLeft:
			r.Cells[i] = ""
		case c != MergedUp:
		case i < len(t.last):
			r.Cells[i] = t.last[i]
		default:
			r.Cells[i] = ""
		}
	}
	t.last = r.Cells
	if slices.ContainsFunc(t.headerRows, func(h []string) bool { return haveSameTexts(h, r.Cells) }) {
		return // the repeated header
	}
	t.hasRows = true
	t.b.AddRow(t.header, r.Cells, t.number, r.Locator)
}

// readableRows returns the rows with the cells covered by merged cells set to "".
func readableRows(rows []Row) []Row {
	out := make([]Row, len(rows))
	for i, r := range rows {
		out[i] = Row{withoutMerged(r.Cells), r.Locator}
	}
	return out
}

// withoutMerged returns the cells after setting those covered by merged cells to "".
func withoutMerged(cells []string) []string {
	out := slices.Clone(cells)
	for i, c := range out {
		if c == MergedLeft || c == MergedUp {
			out[i] = ""
		}
	}
	return out
}

// haveSameTexts reports whether two rows have the same texts in the same columns.
func haveSameTexts(a, b []string) bool {
	for i := range max(len(a), len(b)) {
		if cellAt(a, i) != cellAt(b, i) {
			return false
		}
	}
	return true
}

// countNames returns the number of different names in a header row.
func countNames(cells []string) int {
	names := NonEmptyCells(withoutMerged(cells))
	slices.Sort(names)
	return len(slices.Compact(names))
}

// combineHeader combines the rows of a header into column names: a name that spans several columns precedes the name
// of each. A name that spans only one column is used alone.
func combineHeader(rows [][]string) []string {
	if len(rows) == 1 {
		return withoutMerged(rows[0])
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r))
	}
	out := make([]string, width)
	groups := columnGroups(rows[0], rows[1])
	for column := range out {
		upper := cellAt(rows[0], groups[column])
		isGroup := groups[column] != column || column+1 < len(groups) && groups[column+1] == column
		if out[column] = upper; upper != "" && !isGroup {
			continue
		}
		lower := ""
		if rest := combineHeader(rows[1:]); column < len(rest) {
			lower = rest[column]
		}
		if lower != "" && lower != upper {
			out[column] = strings.TrimSpace(upper + " " + lower)
		}
	}
	return out
}

func cellAt(cells []string, i int) string {
	if i >= len(cells) || cells[i] == MergedLeft || cells[i] == MergedUp {
		return ""
	}
	return cells[i]
}

// columnGroups returns, for each column of two header rows, the first column of the upper name that spans it.
func columnGroups(upper, lower []string) []int {
	out := make([]int, max(len(upper), len(lower)))
	hasMerged := slices.Contains(upper, MergedLeft)
	for i := range out {
		out[i] = i
		covered := i < len(upper) && upper[i] == MergedLeft
		if !hasMerged { // a name may span the empty cells to its right
			covered = cellAt(upper, i) == "" && cellAt(lower, i) != "" && (i >= len(upper) || upper[i] != MergedUp)
		}
		if covered && i > 0 && cellAt(upper, out[i-1]) != "" {
			out[i] = out[i-1]
		}
	}
	return out
}

// continuesHeader reports whether a row continues the header that begins in the row above, because
// it names the columns below a name that spans several. next is the row after it.
func continuesHeader(upper, row, next []string) bool {
	groups := columnGroups(upper, row)
	hasMerged := slices.Contains(upper, MergedLeft)
	spans, alone, named := false, 0, 0
	for i, first := range groups {
		isGroup := first != i || i+1 < len(groups) && groups[i+1] == i
		switch c := cellAt(row, i); {
		case isGroup && c == "":
			return false
		case isGroup:
			spans = true
		case c != "":
			named++
		case cellAt(next, i) != "":
			alone++
		}
	}
	if !hasMerged && (named > 0 || alone == 0) && !hasRepeatedNames(row) {
		return false
	}
	return spans && areNames(withoutMerged(row)) && !strings.ContainsFunc(strings.Join(withoutMerged(row), ""), unicode.IsDigit)
}

// isTable reports whether any row has more than one cell with text.
func isTable(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return CountFilled(r.Cells) > 1 })
}

// isOtherHeader reports whether the rows after an empty row begin another table, with its header at index at, rather
// than continue the table above.
func isOtherHeader(header []string, rows []Row, at int) bool {
	cells, below := rows[at].Cells, rows[at+1:]
	if len(below) == 0 {
		return false
	}
	sameColumns := true
	for i := range max(len(cells), len(header)) {
		c := cellAt(cells, i)
		if c != "" && strings.EqualFold(c, cellAt(header, i)) {
			return true
		}
		sameColumns = sameColumns && (c == "") == (cellAt(header, i) == "")
	}
	if !sameColumns && at > 0 {
		return true
	}
	hasDigit := func(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }
	if hasDigit(strings.Join(cells, "")) || len(below) < 2 && sameColumns {
		return false
	}
	for i, c := range cells { // words above figures
		figures := 0
		for _, r := range below {
			if hasDigit(cellAt(r.Cells, i)) {
				figures++
			}
		}
		if c != "" && figures == len(below) {
			return true
		}
	}
	return false
}

// RenderNestedTable returns the text of a table that is nested in a cell of another table.
func RenderNestedTable(rows [][]string) string {
	var lines []string
	at := -1
	var header []string
	if len(rows) > 1 {
		list := make([]Row, len(rows))
		for i, r := range rows {
			list[i] = Row{Cells: withoutMerged(r)}
		}
		if at = FindHeaderRow(list, list); at >= 0 {
			header = list[at].Cells
		}
	}
	for i, r := range rows {
		cells := withoutMerged(r)
		switch {
		case i == at || CountFilled(cells) == 0:
		case i < at || header == nil:
			lines = append(lines, strings.Join(NonEmptyCells(cells), " | "))
		default:
			for k := range cells {
				if name := cellAt(header, k); name != "" && cells[k] != "" {
					cells[k] = name + ": " + cells[k]
				}
			}
			lines = append(lines, strings.Join(NonEmptyCells(cells), ", "))
		}
	}
	return strings.Join(lines, " / ")
}

// AddRowAboveHeader adds a row that precedes a table's header, such as a title or a key with its value.
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

// FindHeaderRow returns the index of the header, or -1 if there is none. The first row with text in most columns is
// the header if its cells are short and distinct. merged are the same rows with the cells covered by a merged cell set
// to MergedLeft or MergedUp, because a name is counted for each column that it spans.
func FindHeaderRow(rows, merged []Row) int {
	if len(rows) == 0 || IsKeyValueTable(rows) {
		return -1
	}
	widest := widestRow(rows)
	for i, r := range rows {
		if !mayBeHeader(r, widest) && !mayBeGroupHeader(merged[i:], widest) {
			continue
		}
		if looksLikeHeader(r.Cells) && !startsWithQuestionAndAnswer(rows[i:]) {
			return i
		}
		return -1
	}
	return -1
}

// widestRow returns the largest number of nonempty cells in a row.
func widestRow(rows []Row) int {
	widest := 0
	for _, r := range rows {
		widest = max(widest, CountFilled(r.Cells))
	}
	return widest
}

// mayBeHeader reports whether a row has text in most columns, so that it may be a header.
func mayBeHeader(r Row, widest int) bool {
	n := CountFilled(r.Cells)
	return n > 1 && n*10 >= widest*6
}

// mayBeGroupHeader reports whether the first row has several names that together span most columns of a table. To
// distinguish such a header from a title with a date, one of two conditions must hold: the row below has no column
// names under at least one of the names, or it repeats names that only the first row tells apart.
func mayBeGroupHeader(rows []Row, widest int) bool {
	if len(rows) < 2 {
		return false
	}
	upper, lower := rows[0].Cells, rows[1].Cells
	spanned, isDistinct := 0, hasRepeatedNames(lower)
	for i, first := range columnGroups(upper, lower) {
		if cellAt(upper, first) != "" {
			spanned++
		}
		isDistinct = isDistinct || cellAt(upper, i) != "" && cellAt(lower, i) == ""
	}
	return countNames(upper) > 1 && isDistinct && spanned*10 >= widest*6 && len(headerRows(rows)) > 1
}

// hasRepeatedNames reports whether a row has the same text in several cells that aren't merged.
func hasRepeatedNames(row []string) bool {
	names := NonEmptyCells(withoutMerged(row))
	return countNames(row) < len(names)
}

// startsWithQuestionAndAnswer reports whether the first row is a question, with or without an
// answer, rather than a header.
func startsWithQuestionAndAnswer(rows []Row) bool {
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
		if c != "" && seen[c] {
			return false
		}
		seen[c] = true
	}
	return areNames(cells)
}

// areNames reports whether all cells may be names of columns.
func areNames(cells []string) bool {
	for _, c := range cells {
		if c == "" {
			continue
		}
		letters := strings.ContainsFunc(c, unicode.IsLetter)
		if len(c) > 120 || !letters && c != "#" && c != "№" && c != "%" ||
			strings.HasSuffix(c, ".") && strings.Contains(c, " ") && len(c) > 40 {
			return false
		}
		if _, ok, _ := FindDate(c); ok {
			return false
		}
	}
	return true
}
