package parse

import (
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// Kind says what a block is.
type Kind string

// The kinds of block.
const (
	Heading   Kind = "heading"
	Paragraph Kind = "paragraph"
	ListItem  Kind = "list_item"
	TableRow  Kind = "table_row"
	Line      Kind = "line" // a run of code, or lines of a log
)

// Document is one document as read. Blocks are in reading order.
type Document struct {
	MIME      string
	Title     string
	Language  string // ISO 639-1, or "und"
	PageCount int    // pages of a PDF, sheets of a workbook; 0 where the format has none

	// What the document says about itself; empty where it doesn't.
	EffectiveDate *time.Time // date only, UTC
	Version       string
	Owner         string
	ApprovedBy    string

	Blocks []Block
	// Furniture is text set aside from the flow: running headers and footers, contents
	// pages, table headers repeated on a later page. No HeadingPath.
	Furniture []Block
	// Warnings are sentences for a person: what was left out and why.
	Warnings []string
}

// Block is one piece of a document. Text is one line of clean text (a Line block
// keeps its line breaks).
type Block struct {
	Kind   Kind
	Level  int // heading: 1 the highest; list item: 1 the outermost; else 0
	Text   string
	Marker string // list item: its own number or letter as shown ("2.", "(a)"); empty for bullets
	// Header and Cells are a table row's columns and values; Text is the row rendered as
	// "Column: value; …". Header is nil where the table has none.
	Header []string
	Cells  []string
	// Table numbers the tables of the document from 1, so that rows can be told apart by table.
	Table       int
	Locator     api.Locator
	HeadingPath []string // the headings above, outermost first; shared between blocks, don't change it
}

// DisplayText is what stands on the page: a list item with its mark, for a table row the cells
// without the column names.
func (b Block) DisplayText() string {
	switch {
	case b.Kind == TableRow:
		return strings.Join(b.Cells, " ")
	case b.Marker != "":
		return b.Marker + " " + b.Text
	}
	return b.Text
}
