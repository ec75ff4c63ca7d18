package render

import (
	"slices"

	"github.com/scf-service/service/engine/report/drawing"
)

// A report is told once, as a document of sections and blocks; each format writes the
// same blocks its own way. All strings in it are plain text.

// document is a whole report.
type document struct {
	Title        string
	Organization string
	Assessment   string
	// Draft says what was not approved; empty for a final report.
	Draft    []string
	Notices  []string
	Facts    facts
	Versions table
	Sections []section
	AsOf     string
	Tool     string
	Theme    drawing.Theme
	// Line stands on the title page, Footer at the foot of each page; Logo is a PNG.
	Line, Footer string
	Logo         []byte
}

// section is a chapter with its own anchor.
type section struct {
	ID, Title string
	// Approved is who approved what the section tells; Draft why it is none. Both may
	// be empty for what is not approved by anyone, such as a register.
	Approved, Draft string
	Blocks          []block
}

// block is one of the types below. Kind is how a page's template tells them apart.
type block interface{ Kind() string }

// cell is text in a line, made of spans.
type cell []span

// span is a run of text. At most one of the fields beside Text is set.
type span struct {
	Text string
	// Ref is the anchor of another place in the report.
	Ref string
	// Badge is the class of a status: text in a frame, never colour alone.
	Badge string
	// Mono is for hashes and ids.
	Mono   bool
	Strong bool
	// NoBreak is for dates and the like, which are not broken over lines.
	NoBreak bool
	// UserText is other people's text in a line, Prose a text of theirs that may have lines.
	UserText, Prose bool
	Bar             *bar
}

// bar is a row of a bar chart: parts from left to right out of Max, and a mark.
type bar struct {
	Label string
	Parts []barPart
	Max   float64
	// Mark is where a target stands; negative for none.
	Mark float64
}

type barPart struct {
	Fill  string
	Value float64
}

type (
	// heading is a chapter's own; a minor one is left out of the contents.
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
		// Tiles shows figures large.
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

// quote is a passage of evidence, with its place.
type quote struct {
	Text, Document, Place, Headings, Stance, Supports, SHA256, Score string
}

// table is rows under a head. A row's detail follows it in full width.
type table struct {
	Caption string
	Columns []column
	Rows    []row
	// Empty says in words that there are no rows.
	Empty string
}

type column struct {
	Name string
	// Width is in units of about an em and a half, at least; columns share what is left.
	Width int
	// Number is right-aligned.
	Number bool
	// Picture is a column of bars: formats without pictures leave it out.
	Picture bool
	// Swatch is the fill that a bar's part has, shown before its name.
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

// addText adds a text of other people's, where there is any.
func (f *facts) addText(label, text string) {
	if text != "" {
		f.add(label, proseCell(text))
	}
}

// addList adds a list of other people's texts, where there are any.
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

// Class is how a column's cells are set.
func (c column) Class() string {
	switch {
	case c.Number:
		return "n"
	case c.Picture:
		return "pic"
	}
	return ""
}

// Share is a column's part of the width in percent.
func (t table) Share(c column) float64 {
	return roundTo2(100 * float64(max(c.Width, 1)) / float64(t.totalWidth()))
}

// MinWidth is what the table needs to be read, in rem.
func (t table) MinWidth() float64 { return roundTo2(1.5 * float64(t.totalWidth())) }

func (t table) totalWidth() int {
	sum := 0
	for _, c := range t.Columns {
		sum += max(c.Width, 1)
	}
	return sum
}

// hasRow tells whether a row bears the id.
func (t table) hasRow(id string) bool {
	return slices.ContainsFunc(t.Rows, func(r row) bool { return r.ID == id })
}

// Details tells whether any row has a detail.
func (t table) Details() bool {
	for _, r := range t.Rows {
		if len(r.Detail) > 0 {
			return true
		}
	}
	return false
}
