// Package block defines the parts a readable report is made of: sections of headings, paragraphs,
// tables, quotes and pictures. Package content builds them once, and each format in package render
// shows the same blocks in its own way. All strings are plain text.
package block

import (
	"bytes"
	"image/png"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/internal/prose"
)

// Document is a complete report, independent of any file format.
type Document struct {
	Title        string
	Organization string
	Assessment   string
	// Draft lists what has not been approved; empty for a final report.
	Draft []string
	// Unseen names the deliverables that were approved in advance, before anyone had seen their content.
	Unseen  []string
	Notices []string
	// Front is shown on the first page, before the table of contents; it may be empty.
	Front []Block
	// Brief is set for a report of few pages, which has no table of contents and little information
	// about the report itself.
	Brief bool
	// Facts, Versions and Passages are about the report itself and its evidence; they are shown at its end. Passages
	// lists the quoted passages and is omitted if it has no rows.
	Facts    Facts
	Versions Table
	Passages Table
	Sections []Section
	// Provenance states the IDs and hashes of the report's sources, for the properties of the file.
	Provenance string
	// AsOf is Time in the form shown to readers.
	AsOf  string
	Time  time.Time
	Tool  string
	Theme drawing.Theme
	// Paper is the size of the pages in formats that have pages.
	Paper Paper
	// Line is shown on the title page and Footer at the bottom of each page; Logo is a PNG.
	Line, Footer string
	Logo         []byte
}

// AboutBlocks returns the content of the last chapter, which is about the report itself.
func (d *Document) AboutBlocks() []Block {
	out := []Block{d.Facts, d.Versions}
	if len(d.Passages.Rows) > 0 {
		out = append(out, d.Passages)
	}
	return out
}

// Paper is a size of paper: A4, or Letter.
type Paper string

// Letter is the paper size used in North America; all other values mean A4.
const Letter Paper = "letter"

// Size returns the width and height of an upright page in points.
func (p Paper) Size() (width, height float64) {
	if p == Letter {
		return 612, 792
	}
	return 595.28, 841.89
}

// Section is a chapter of a report. Links can refer to it by its ID.
type Section struct {
	ID, Title string
	// Approved states who approved the section's deliverable; Draft states why it is not approved.
	// Both may be empty for content that needs no approval, such as a register.
	Approved, Draft string
	Blocks          []Block
}

// Block is a part of a report; it has one of the types below. Kind returns the name by which the page template
// recognizes the type.
type Block interface{ Kind() string }

// Cell is inline text, which consists of spans.
type Cell []Span

// Span is a piece of text in a single style. In a document, at most one of its fields is set in addition to Text.
type Span struct {
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
	Bar             *Bar
}

// Bar is a row of a bar chart. Its segments are arranged from left to right on a scale that ends at Max. It may also
// have a marker.
type Bar struct {
	Label string
	Parts []BarPart
	Max   float64
	// Mark is the position of the target; negative if there is none.
	Mark float64
}

type BarPart struct {
	Fill  string
	Value float64
}

type (
	// Heading is a heading within a section. A minor heading is not listed in the table of contents.
	Heading struct {
		ID, Text string
		Minor    bool
	}
	Para struct {
		Text  Cell
		Class string
	}
	List  struct{ Items []Cell }
	Facts struct {
		Items []Fact
		// Tiles shows the values as large figures.
		Tiles bool
	}
	Fact struct {
		Label string
		Value Cell
		List  []Cell
	}
	Quotes struct{ Items []Quote }
	Card   struct {
		ID     string
		Title  Cell
		Blocks []Block
	}
	LinkList struct {
		Label string
		Items []Cell
	}
)

// Quote is a passage of evidence with its location.
type Quote struct {
	Text, Document, Place, Headings, Stance, Supports, Score string
	// Passage is the passage's number in the table of quoted passages, or 0 if it isn't listed there.
	Passage int
}

// Table is a table with a header row. A row's detail, if it has one, is shown below the row at full width.
type Table struct {
	Caption string
	Columns []Column
	Rows    []Row
	// Empty is the text shown if there are no rows.
	Empty string
}

type Column struct {
	Name string
	// Width is the minimum width in units of about 1.5 em; columns share the remaining space.
	Width int
	// Number right-aligns the column.
	Number bool
	// Picture marks a column of bars, which formats without pictures omit.
	Picture bool
	// Swatch is the fill of the matching bar segment, shown before the column's name.
	Swatch string
}

type Row struct {
	ID     string
	Cells  []Cell
	Detail []Block
}

func (Heading) Kind() string  { return "heading" }
func (Para) Kind() string     { return "para" }
func (List) Kind() string     { return "list" }
func (Facts) Kind() string    { return "facts" }
func (Quotes) Kind() string   { return "quotes" }
func (Card) Kind() string     { return "card" }
func (LinkList) Kind() string { return "jumps" }
func (Table) Kind() string    { return "table" }

func Text(s string) Cell                  { return Cell{{Text: s}} }
func UserText(s string) Cell              { return Cell{{Text: s, UserText: true}} }
func Prose(s string) Cell                 { return Cell{{Text: s, Prose: true}} }
func NoBreak(s string) Cell               { return Cell{{Text: s, NoBreak: true}} }
func Mono(s string) Cell                  { return Cell{{Text: s, Mono: true}} }
func Badge(class, s string) Cell          { return Cell{{Text: s, Badge: class}} }
func Number(n int) Cell                   { return Text(prose.GroupThousands(n)) }
func (c Cell) With(s ...Span) Cell        { return append(c, s...) }
func NewPara(class, text string) Para     { return Para{Text: Text(text), Class: class} }
func (f *Facts) Add(label string, c Cell) { f.Items = append(f.Items, Fact{Label: label, Value: c}) }

// AddText adds a fact whose value is a text written by users. It does nothing if the text is empty.
func (f *Facts) AddText(label, text string) {
	if text != "" {
		f.Add(label, Prose(text))
	}
}

// AddList adds a fact whose value is a list of texts written by users. It does nothing if the list is empty.
func (f *Facts) AddList(label string, items []string) {
	if len(items) == 0 {
		return
	}
	l := make([]Cell, len(items))
	for i, s := range items {
		l[i] = Prose(s)
	}
	f.Items = append(f.Items, Fact{Label: label, List: l})
}

// Source returns a cell that describes where the quote is from, how it was assessed and which requirements it concerns.
func (q Quote) Source() Cell {
	c := UserText(q.Document)
	add := func(label, text string) {
		if text != "" {
			c = append(c, Span{Text: label}, Span{Text: text, UserText: true})
		}
	}
	add(", ", q.Place)
	add(", under ", q.Headings)
	add(". Assessment: ", q.Stance)
	add(". Concerns: ", strings.TrimSuffix(q.Supports, "."))
	add(". Score ", q.Score)
	c = append(c, Span{Text: "."})
	if q.Passage > 0 {
		c = append(c, Span{Text: " Passage " + prose.GroupThousands(q.Passage) + "."})
	}
	return c
}

// Class returns the CSS class of the column's cells.
func (c Column) Class() string {
	switch {
	case c.Number:
		return "n"
	case c.Picture:
		return "pic"
	}
	return ""
}

// Share returns the width of a column as a percentage of the table's width.
func (t Table) Share(c Column) float64 {
	return drawing.RoundTo2(100 * float64(max(c.Width, 1)) / float64(t.totalWidth()))
}

// MinWidth returns the minimum width of a readable table, in rem.
func (t Table) MinWidth() float64 { return drawing.RoundTo2(1.5 * float64(t.totalWidth())) }

// WithoutEmptyColumn returns the table without the column with the given name if that column is empty in every row.
func (t Table) WithoutEmptyColumn(name string) Table {
	at := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if at < 0 || slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[at].Text() != "–" }) {
		return t
	}
	return t.WithoutColumn(at)
}

func (t Table) totalWidth() int {
	sum := 0
	for _, c := range t.Columns {
		sum += max(c.Width, 1)
	}
	return sum
}

// HasDetails reports whether any row has a detail.
func (t Table) HasDetails() bool {
	for _, r := range t.Rows {
		if len(r.Detail) > 0 {
			return true
		}
	}
	return false
}

// Text returns the text of the cell, without its styles.
func (c Cell) Text() string {
	var b strings.Builder
	for _, s := range c {
		if s.Prose && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s.Text)
	}
	return strings.TrimSpace(b.String())
}

// FitLogo returns the size of the logo when it is scaled to fit into a box. The result has the same
// unit as the box.
func (d *Document) FitLogo(maxWidth, maxHeight float64) (w, h float64) {
	cfg, err := png.DecodeConfig(bytes.NewReader(d.Logo))
	if err != nil || cfg.Width == 0 || cfg.Height == 0 {
		return 0, 0
	}
	scale := min(maxWidth/float64(cfg.Width), maxHeight/float64(cfg.Height))
	return float64(cfg.Width) * scale, float64(cfg.Height) * scale
}

// BadgeClass returns the CSS class of the span's badge. It replaces invalid characters, because a badge may show a
// value from the data, such as a severity, which can contain any characters.
func (s Span) BadgeClass() string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, s.Badge)
}
