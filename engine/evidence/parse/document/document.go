// Package document defines the parts of a parsed document, and the Builder with which the readers of all
// formats write it.
package document

import (
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// Kind is the kind of a block.
type Kind string

// The kinds of blocks.
const (
	Heading   Kind = "heading"
	Paragraph Kind = "paragraph"
	ListItem  Kind = "list_item"
	TableRow  Kind = "table_row"
	Line      Kind = "line" // a run of code, or lines of a log
)

// Document is a parsed document. Blocks are in reading order.
type Document struct {
	MIME      string
	Title     string
	Language  string // ISO 639-1, or "und"
	PageCount int    // pages of a PDF, sheets of a workbook; 0 if the format has none

	// Metadata stated in the document; empty if absent.
	EffectiveDate *time.Time // date only, UTC
	Version       string
	Owner         string
	ApprovedBy    string

	Blocks []Block
	// Furniture is text outside the flow: running headers and footers, tables of contents, table
	// headers repeated on later pages. It has no HeadingPath.
	Furniture []Block
	// TimeLimit is how long the document may take from the start of reading until its passages are stored.
	TimeLimit time.Duration
	// Warnings are sentences for the user: what was skipped and why.
	Warnings []string
	// NotRead counts what was not read as text; see Builder.AddNotRead.
	NotRead []api.NotRead
	// Readers holds the readers that read the document and those within it, with their versions. It
	// is shared with all parts, including those that couldn't be read.
	Readers map[string]int
}

// AddReader records the name and version of a reader that read the document.
func (d *Document) AddReader(name string, version int) { d.Readers[name] = version }

// TimeoutError returns the error for a document that took longer than allowed.
func TimeoutError(limit time.Duration) error {
	return NewError(ErrTimeout, "", "stopped after %s", limit.Round(time.Second))
}

// Block is one piece of a document. Text is a single line of clean text, except that a Line block keeps its line
// breaks.
type Block struct {
	Kind   Kind
	Level  int // heading: 1 is the highest; list item: 1 is the outermost; 0 for other kinds
	Text   string
	Marker string // list item: its own number or letter as shown ("2.", "(a)"); empty for bullets
	// Header and Cells are a table row's columns and values; Text is the row rendered as "Column:
	// value; …". Header is nil if the table has none.
	Header []string
	Cells  []string
	// Table numbers the tables of the document from 1.
	Table       int
	Locator     api.Locator
	HeadingPath []string // the headings above, outermost first; shared between blocks, must not be modified
}

// DisplayText returns the text as shown on the page: a list item with its marker, a table row without its column
// names.
func (b Block) DisplayText() string {
	switch {
	case b.Kind == TableRow:
		return strings.Join(b.Cells, " ")
	case b.Marker != "":
		return b.Marker + " " + b.Text
	}
	return b.Text
}

const maxWarnings = 50

// NotInForceWarning is the beginning of the warning about a document that is marked as not in force.
const NotInForceWarning = api.NotInForceWarning

// AddWarning adds a warning for the user, unless it has already been added.
func (d *Document) AddWarning(warning string) {
	if len(d.Warnings) < maxWarnings && !slices.Contains(d.Warnings, warning) {
		d.Warnings = append(d.Warnings, warning)
	}
}

// maxNotRead is the maximum number of entries for unread content; further content is added to existing entries.
const maxNotRead = 100

// AddNotRead counts n pieces of unread content of one kind. Those on the same page, sheet or slide share an entry,
// which has the location of the first. Once there are maxNotRead entries, a kind's first entry counts all further
// pieces.
func (d *Document) AddNotRead(kind string, n int, at api.Locator) {
	if n <= 0 {
		return
	}
	same := func(e api.NotRead) bool {
		l := e.Locator
		return e.Kind == kind && (len(d.NotRead) >= maxNotRead || l.Page == at.Page && l.Sheet == at.Sheet && l.Slide == at.Slide)
	}
	if i := slices.IndexFunc(d.NotRead, same); i >= 0 {
		d.NotRead[i].Count += n
		return
	}
	d.NotRead = append(d.NotRead, api.NotRead{Kind: kind, Count: n, Locator: at})
}
