package render

import (
	"slices"

	"github.com/scf-service/service/engine/report/drawing"
)

// A report is built once, as a document of sections and blocks, and each format renders the same
// blocks in its own way. All strings are plain text.

// document is a complete report.
type document struct {
	Title        string
	Organization string
	Assessment   string
	// Draft lists what has not been approved; empty for a final report.
	Draft    []string
	Notices  []string
	Facts    facts
	Versions table
	Sections []section
	AsOf     string
	Tool     string
	Theme    drawing.Theme
	// Line is shown on the title page and Footer at the bottom of each page; Logo is a PNG.
	Line, Footer string
	Logo         []byte
}

// section is a chapter with its own anchor.
type section struct {
	ID, Title string
	// Approved states who approved the section's deliverable; Draft states why it is not approved.
	// Both may be empty for content that needs no approval, such as a register.
	Approved, Draft string
	Blocks          []block
}

// block is one of the types below. Kind returns the name by which the page template distinguishes
// them.
type block interface{ Kind() string }

// cell is inline text made of spans.
type cell []span

// span is a run of text. At most one of the fields other than Text is set.
type span struct {
	Text string
	// Ref is the anchor of the link's target in the report.
	Ref string
	// Badge is the class of a status, shown as framed text and never by color alone.
	Badge string
	// Mono marks hashes and IDs.
	Mono   bool
	Strong bool
	// NoBreak keeps text such as dates on one line.
	NoBreak bool
	// UserText is inline text written by users; Prose is such text that may span several lines.
	UserText, Prose bool
	Bar             *bar
}

// bar is a row of a bar chart: segments from left to right on a scale up to Max, and a marker.
type bar struct {
	Label string
	Parts []barPart
	Max   float64
	// Mark is the position of the target; negative if there is none.
	Mark float64
}

type barPart struct {
	Fill  string
	Value float64
}

type (
	// heading is a heading within a section; a minor one is omitted from the table of contents.
	heading struct {
		ID, Text string
		Minor    bool
	}
	para struct {
		Text  cell
		Class string
	}
	list  struct{ Items []cell }
	facts struct {
		Items []fact
		// Tiles shows the values as large figures.
		Tiles bool
	}
	fact struct {
		Label string
		Value cell
		List  []cell
	}
	quotes struct{ Items []quote }
	card   struct {
		ID     string
		Title  cell
		Blocks []block
	}
	linkList struct {
		Label string
		Items []cell
	}
)

// quote is a passage of evidence with its location.
type quote struct {
	Text, Document, Place, Headings, Stance, Supports, SHA256, Score string
}

// table is a table with a header row. A row's detail is shown below it at full width.
type table struct {
	Caption string
	Columns []column
	Rows    []row
	// Empty is the text shown if there are no rows.
	Empty string
}

type column struct {
	Name string
	// Width is the minimum width in units of about 1.5 em; columns share the remaining space.
	Width int
	// Number right-aligns the column.
	Number bool
	// Picture marks a column of bars; formats without pictures omit it.
	Picture bool
	// Swatch is the fill of the matching bar segment, shown before the column's name.
	Swatch string
}

type row struct {
	ID     string
	Cells  []cell
	Detail []block
}

func (heading) Kind() string  { return "heading" }
func (para) Kind() string     { return "para" }
func (list) Kind() string     { return "list" }
func (facts) Kind() string    { return "facts" }
func (quotes) Kind() string   { return "quotes" }
func (card) Kind() string     { return "card" }
func (linkList) Kind() string { return "jumps" }
func (table) Kind() string    { return "table" }

func plainCell(s string) cell             { return cell{{Text: s}} }
func userCell(s string) cell              { return cell{{Text: s, UserText: true}} }
func proseCell(s string) cell             { return cell{{Text: s, Prose: true}} }
func noBreakCell(s string) cell           { return cell{{Text: s, NoBreak: true}} }
func monoCell(s string) cell              { return cell{{Text: s, Mono: true}} }
func badgeCell(class, s string) cell      { return cell{{Text: s, Badge: class}} }
func numberCell(n int) cell               { return plainCell(formatCount(n)) }
func (c cell) with(s ...span) cell        { return append(c, s...) }
func newPara(class, text string) para     { return para{Text: plainCell(text), Class: class} }
func (f *facts) add(label string, c cell) { f.Items = append(f.Items, fact{Label: label, Value: c}) }

// addText adds a text written by users unless it is empty.
func (f *facts) addText(label, text string) {
	if text != "" {
		f.add(label, proseCell(text))
	}
}

// addList adds a list of texts written by users unless it is empty.
func (f *facts) addList(label string, items []string) {
	if len(items) == 0 {
		return
	}
	l := make([]cell, len(items))
	for i, s := range items {
		l[i] = proseCell(s)
	}
	f.Items = append(f.Items, fact{Label: label, List: l})
}

// Class returns the CSS class of the column's cells.
func (c column) Class() string {
	switch {
	case c.Number:
		return "n"
	case c.Picture:
		return "pic"
	}
	return ""
}

// Share returns a column's share of the table's width in percent.
func (t table) Share(c column) float64 {
	return roundTo2(100 * float64(max(c.Width, 1)) / float64(t.totalWidth()))
}

// MinWidth returns the minimum readable width of the table in rem.
func (t table) MinWidth() float64 { return roundTo2(1.5 * float64(t.totalWidth())) }

func (t table) totalWidth() int {
	sum := 0
	for _, c := range t.Columns {
		sum += max(c.Width, 1)
	}
	return sum
}

// hasRow reports whether a row has the ID.
func (t table) hasRow(id string) bool {
	return slices.ContainsFunc(t.Rows, func(r row) bool { return r.ID == id })
}

// Details reports whether any row has a detail.
func (t table) Details() bool {
	for _, r := range t.Rows {
		if len(r.Detail) > 0 {
			return true
		}
	}
	return false
}
