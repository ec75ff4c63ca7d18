// Package strm reads set theory relationship mapping (STRM) documents and merges them into a
// catalog. For each element of a law or standard, such a document states how, and how
// strongly, it relates to SCF controls.
//
// Input is lines of cells; the caller reads the files. Merging never removes anything from a
// catalog: if a document and the workbook disagree, both are kept, with a warning.
package strm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
)

// Line is a row of a table. A paragraph is represented as a row with a single cell.
type Line struct {
	Sheet string // the sheet's name, or "page 3"
	Cell  string // first cell of the row in A1 notation; empty in a PDF
	Cells []string
}

// Document is the content of a mapping document.
type Document struct {
	FocalDocument string // its name for the framework
	Identifier    string // its publisher's identifier, such as emea-eu-nis2-2022; may be empty
	Release       string // the SCF release it was written for; may be empty
	Elements      []Element
	Rows          int
	Warnings      []api.ImportWarning
}

// Element is a numbered part of the framework that the document maps, usually a requirement.
type Element struct {
	Code, Name, Text string
	Relations        []Relation
	sheet, cell      string
}

// Relation describes how an element relates to a control, from the element's point of view. The relationship
// is equal, subset, superset, intersects or none.
type Relation struct {
	Control, Relationship string
	Strength              int // 0 to 10, or -1 if the document states none
	Rationale, Notes      string
	sheet, cell           string
}

// Limits of a mapping document. The largest published one has about 10,000 rows.
const (
	maxRows       = 200_000
	maxCodeLength = 200
	maxTextLength = 20_000
	maxWarnings   = 500
)

// ErrNoTable is returned if no table has the columns of a mapping document.
var ErrNoTable = errors.New(`no table has the columns of a mapping document ("FDE #", "STRM Relationship" and "SCF #")`)

// Read returns the mapping document in the first table that has the header of one. It also reads the lines
// above the header, which may contain the document's title, identifier and release.
func Read(tables [][]Line) (*Document, error) {
	for _, table := range tables {
		for i, line := range table {
			if columns, ok := findColumns(line.Cells); ok {
				r := &reader{doc: &Document{Warnings: []api.ImportWarning{}}, columns: columns, elementIndex: map[string]int{}}
				for _, before := range table[:i] {
					r.readPreamble(before.Cells)
				}
				return r.readRows(table[i+1:])
			}
		}
	}
	return nil, ErrNoTable
}

// column identifies a column of the table by what it contains.
type column int

const (
	columnOther column = iota
	columnElement
	columnName
	columnText
	columnRationale
	columnRelationship
	columnControl
	columnStrength
	columnNotes
	columnCount
)

var elementHeader = lazyregexp.New(`^(?:\w+ )?fde ?#`)

// findColumns returns the index of each column, found by its header, or -1 for a column that is missing. ok
// reports whether the mandatory columns are there.
func findColumns(cells []string) (columns [columnCount]int, ok bool) {
	for i := range columns {
		columns[i] = -1
	}
	for i, cell := range cells {
		h := strings.TrimSpace(strings.ToLower(scf.CollapseSpaces(strings.ReplaceAll(cell, "▪", " "))))
		c := columnOther
		switch {
		case len(h) > 200:
		case elementHeader.MatchString(h):
			c = columnElement
		case strings.HasPrefix(h, "fde name"):
			c = columnName
		case strings.Contains(h, "fde") && strings.Contains(h, "description"):
			c = columnText
		case strings.HasPrefix(h, "strm rationale"):
			c = columnRationale
		case strings.HasPrefix(h, "strm relationship"):
			c = columnRelationship
		case strings.HasPrefix(h, "scf #"):
			c = columnControl
		case strings.HasPrefix(h, "strength of relationship"):
			c = columnStrength
		case strings.HasPrefix(h, "notes"):
			c = columnNotes
		}
		if c != columnOther && columns[c] < 0 {
			columns[c] = i
		}
	}
	return columns, columns[columnElement] >= 0 && columns[columnRelationship] >= 0 && columns[columnControl] >= 0
}

type reader struct {
	doc          *Document
	columns      [columnCount]int
	elementIndex map[string]int // element code to index
	lastCode     string         // code of the row before
	splitRow     *Element       // upper part of a row that a page break divides
}

var (
	identifierPattern = lazyregexp.New(`scf-strm-([a-z0-9_-]+?)\.(?:pdf|xlsx)`)
	releasePattern    = lazyregexp.New(`(?i)\(scf\)[^.]*?version (\d{4}\.\d+(?:\.\d+)*)`)
	focalLabel        = lazyregexp.New(`(?i)^.*?focal document:\s*`)
)

// readPreamble reads a line above the table header, which may contain the document's identifier, the release,
// or the name of the focal document.
func (r *reader) readPreamble(cells []string) {
	all := scf.CollapseSpaces(strings.Join(cells, " "))
	if m := identifierPattern.FindStringSubmatch(strings.ToLower(all)); m != nil && r.doc.Identifier == "" {
		r.doc.Identifier = m[1]
	}
	if m := releasePattern.FindStringSubmatch(all); m != nil && r.doc.Release == "" {
		r.doc.Release = m[1]
	}
	if focalLabel.MatchString(all) && r.doc.FocalDocument == "" {
		focal, _, _ := strings.Cut(focalLabel.ReplaceAllString(all, ""), "Reference document:")
		focal, _, _ = strings.Cut(focal, "Focal Document URL:")
		r.doc.FocalDocument = prose.Truncate(strings.TrimSpace(focal), 300)
	}
}

// IdentifierFromFilename returns the identifier that the publisher put into a file name, or "" if there is
// none.
func IdentifierFromFilename(filename string) string {
	if m := identifierPattern.FindStringSubmatch(strings.ToLower(filename)); m != nil {
		return m[1]
	}
	return ""
}

func (r *reader) warn(l Line, message string, args ...any) {
	if len(r.doc.Warnings) < maxWarnings {
		r.doc.Warnings = append(r.doc.Warnings, api.ImportWarning{Sheet: l.Sheet, Cell: l.Cell, Message: fmt.Sprintf(message, args...)})
	}
}

func (r *reader) readRows(lines []Line) (*Document, error) {
	for _, l := range lines {
		if columns, again := findColumns(l.Cells); again { // the header is repeated on each page
			r.columns = columns
			continue
		}
		if r.doc.Rows++; r.doc.Rows > maxRows {
			return nil, fmt.Errorf("the document has more than %d rows", maxRows)
		}
		r.readRow(l)
	}
	if len(r.doc.Elements) == 0 {
		return nil, errors.New("the document has no rows below the header")
	}
	return r.doc, nil
}

func (r *reader) rawCell(l Line, c column) string {
	if i := r.columns[c]; i >= 0 && i < len(l.Cells) {
		return strings.TrimSpace(l.Cells[i])
	}
	return ""
}

// cellText returns the text of a line's cell in a column. It returns "" if the cell contains "N/A" or "-".
func (r *reader) cellText(l Line, c column) string {
	s := scf.CollapseSpaces(r.rawCell(l, c))
	if strings.EqualFold(s, "n/a") || s == "-" {
		return ""
	}
	return prose.Truncate(s, maxTextLength)
}

func (r *reader) readRow(l Line) {
	code, controls := scf.CollapseSpaces(r.rawCell(l, columnElement)), r.rawCell(l, columnControl)
	if code == "" && controls == "" && r.rawCell(l, columnRelationship) == "" {
		// A page break divides the row; its codes are in the lower part.
		if r.splitRow == nil && (r.cellText(l, columnText) != "" || r.cellText(l, columnName) != "") {
			r.splitRow = &Element{Name: r.cellText(l, columnName), Text: r.cellText(l, columnText)}
		} else {
			r.doc.Rows--
		}
		return
	}
	e := Element{Code: code, Name: r.cellText(l, columnName), Text: r.cellText(l, columnText), sheet: l.Sheet, cell: l.Cell}
	if r.splitRow != nil {
		e.Name, e.Text = scf.CollapseSpaces(r.splitRow.Name+" "+e.Name), scf.CollapseSpaces(r.splitRow.Text+" "+e.Text)
		r.splitRow = nil
		r.doc.Rows--
	}
	switch {
	case code == "" && r.lastCode == "":
		r.warn(l, "the row has no element number and was skipped")
		return
	case code == "": // merged with the row above
		e.Code = r.lastCode
	case len(code) > maxCodeLength:
		r.warn(l, "the element number is too long (%d characters); the row was skipped", len(code))
		return
	}
	r.lastCode = e.Code
	i, known := r.elementIndex[e.Code]
	if !known {
		i = len(r.doc.Elements)
		r.elementIndex[e.Code] = i
		r.doc.Elements = append(r.doc.Elements, e)
	}
	into := &r.doc.Elements[i]
	// The longer of two texts is the complete one.
	if len(e.Name) > len(into.Name) {
		into.Name = e.Name
	}
	if len(e.Text) > len(into.Text) {
		into.Text = e.Text
	}
	r.addRelations(into, l, controls)
}

func (r *reader) addRelations(e *Element, l Line, controls string) {
	how := parseRelationship(r.rawCell(l, columnRelationship))
	for _, code := range strings.FieldsFunc(controls, func(c rune) bool { return c == '\n' || c == ',' || c == ';' }) {
		code = strings.ToUpper(strings.Join(strings.Fields(code), "")) // narrow columns wrap codes
		if code == "" || code == "N/A" || code == "NONE" || code == "-" {
			continue
		}
		if !scf.IsControlCode(code) {
			r.warn(l, "%s: %q is not a control code such as GOV-01; skipped", e.Code, prose.Truncate(code, 40))
			continue
		}
		if how == "" {
			r.warn(
				l,
				"%s and %s: unknown relationship %q; skipped",
				e.Code,
				code,
				prose.Truncate(r.rawCell(l, columnRelationship), 40),
			)
			continue
		}
		rel := Relation{
			Control: code, Relationship: how, Strength: r.parseStrength(l, e.Code), Rationale: strings.ToLower(r.cellText(l, columnRationale)),
			Notes: r.cellText(l, columnNotes), sheet: l.Sheet, cell: l.Cell,
		}
		for _, before := range e.Relations {
			if before.Control != code {
				continue
			}
			if before.Relationship != how || before.Strength != rel.Strength {
				r.warn(
					l,
					"the relationship of %s and %s is listed twice, as %s and as %s; using the first",
					e.Code,
					code,
					before.Relationship,
					how,
				)
			}
			return
		}
		e.Relations = append(e.Relations, rel)
	}
}

// parseRelationship returns the relationship that a text names in one of the published spellings, or "" if it
// is unknown.
func parseRelationship(s string) string {
	s = strings.ToLower(scf.CollapseSpaces(s))
	switch {
	case strings.HasPrefix(s, "no"), s == "n/a":
		return "none"
	case strings.HasPrefix(s, "equal"):
		return "equal"
	case strings.HasPrefix(s, "super"):
		return "superset"
	case strings.HasPrefix(s, "sub"):
		return "subset"
	case strings.HasPrefix(s, "in") && strings.Contains(s, "sect"):
		return "intersects"
	}
	return ""
}

// parseStrength returns the strength of the relationship in a line, or -1 if it is missing or invalid.
func (r *reader) parseStrength(l Line, code string) int {
	s := r.cellText(l, columnStrength)
	if s == "" {
		return -1
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || n > 10 || n != float64(int(n)) {
		r.warn(l, "%s: strength %q is not a whole number from 0 to 10; ignored", code, prose.Truncate(s, 40))
		return -1
	}
	return int(n)
}
