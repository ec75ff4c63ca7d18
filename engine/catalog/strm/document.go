// Package strm reads set theory relationship mapping documents, which say of each element
// of a law or standard how it relates to SCF controls and how strongly, and lays them over
// a catalog.
//
// It is given lines of cells, from whichever file they came; it opens none. It ships no
// text of such documents, and it takes nothing away from a catalog: where a document and
// the workbook disagree it says so and keeps both.
package strm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Line is a row of a table, or one paragraph as a single cell.
type Line struct {
	Sheet string // the sheet's name, or "page 3"
	Cell  string // where the row begins in A1 notation, empty in a PDF
	Cells []string
}

// Document is what a mapping document says.
type Document struct {
	Focal      string // what it calls the framework
	Identifier string // by which its publisher files it, such as emea-eu-nis2-2022; may be empty
	Release    string // of the SCF it was written for; may be empty
	Elements   []Element
	Rows       int
	Warnings   []api.ImportWarning
}

// Element is a numbered part of the framework, as often a requirement.
type Element struct {
	Code, Name, Text string
	Relations        []Relation
	sheet, cell      string
}

// Relation is how an element relates to a control: equal, subset, superset, intersects or
// none, seen from the element.
type Relation struct {
	Control, Relationship string
	Strength              int // 0 to 10, -1 where the document states none
	Rationale, Notes      string
	sheet, cell           string
}

// Bounds of a document. The largest that is published has some 10,000 rows.
const (
	maxRows     = 200_000
	maxCode     = 200
	maxText     = 20_000
	maxWarnings = 500
)

// ErrNoTable says that no table has the columns of a mapping document.
var ErrNoTable = errors.New(`no table has the columns "FDE #", "STRM Relationship" and "SCF #" of a mapping document`)

// Read reads the first of the tables that has a mapping document's header; what stands
// before the header may tell what the document is about.
func Read(tables [][]Line) (*Document, error) {
	for _, table := range tables {
		for i, line := range table {
			if columns, ok := header(line.Cells); ok {
				r := &reader{doc: &Document{Warnings: []api.ImportWarning{}}, columns: columns, at: map[string]int{}}
				for _, before := range table[:i] {
					r.preamble(before.Cells)
				}
				return r.rows(table[i+1:])
			}
		}
	}
	return nil, ErrNoTable
}

// column is what a column of the table holds.
type column int

const (
	other column = iota
	element
	name
	text
	rationale
	relationship
	control
	strength
	notes
	columnCount
)

var elementHeader = lazyregexp.Of(`^(?:\w+ )?fde ?#`)

// header finds the columns by their headers, whose spelling varies from file to file.
func header(cells []string) (columns [columnCount]int, ok bool) {
	for i := range columns {
		columns[i] = -1
	}
	for i, cell := range cells {
		h := strings.TrimSpace(strings.ToLower(scf.Collapse(strings.ReplaceAll(cell, "▪", " "))))
		c := other
		switch {
		case len(h) > 200:
		case elementHeader.MatchString(h):
			c = element
		case strings.HasPrefix(h, "fde name"):
			c = name
		case strings.Contains(h, "fde") && strings.Contains(h, "description"):
			c = text
		case strings.HasPrefix(h, "strm rationale"):
			c = rationale
		case strings.HasPrefix(h, "strm relationship"):
			c = relationship
		case strings.HasPrefix(h, "scf #"):
			c = control
		case strings.HasPrefix(h, "strength of relationship"):
			c = strength
		case strings.HasPrefix(h, "notes"):
			c = notes
		}
		if c != other && columns[c] < 0 {
			columns[c] = i
		}
	}
	return columns, columns[element] >= 0 && columns[relationship] >= 0 && columns[control] >= 0
}

type reader struct {
	doc     *Document
	columns [columnCount]int
	at      map[string]int // element code to index
	last    string         // code of the row before
	torn    *Element       // the upper part of a row that a page break tore
}

var (
	published = lazyregexp.Of(`scf-strm-([a-z0-9_-]+?)\.(?:pdf|xlsx)`)
	forWhich  = lazyregexp.Of(`(?i)\(scf\)[^.]*?version (\d{4}\.\d+(?:\.\d+)*)`)
	label     = lazyregexp.Of(`(?i)^.*?focal document:\s*`)
)

// preamble takes the title of the document apart.
func (r *reader) preamble(cells []string) {
	all := scf.Collapse(strings.Join(cells, " "))
	if m := published.FindStringSubmatch(strings.ToLower(all)); m != nil && r.doc.Identifier == "" {
		r.doc.Identifier = m[1]
	}
	if m := forWhich.FindStringSubmatch(all); m != nil && r.doc.Release == "" {
		r.doc.Release = m[1]
	}
	if label.MatchString(all) && r.doc.Focal == "" {
		focal, _, _ := strings.Cut(label.ReplaceAllString(all, ""), "Reference document:")
		focal, _, _ = strings.Cut(focal, "Focal Document URL:")
		r.doc.Focal = cut(strings.TrimSpace(focal), 300)
	}
}

// IdentifierIn is the publisher's identifier in a file's name, empty where it has none.
func IdentifierIn(filename string) string {
	if m := published.FindStringSubmatch(strings.ToLower(filename)); m != nil {
		return m[1]
	}
	return ""
}

func (r *reader) warn(l Line, message string, args ...any) {
	if len(r.doc.Warnings) < maxWarnings {
		r.doc.Warnings = append(r.doc.Warnings, api.ImportWarning{Sheet: l.Sheet, Cell: l.Cell, Message: fmt.Sprintf(message, args...)})
	}
}

func (r *reader) rows(lines []Line) (*Document, error) {
	for _, l := range lines {
		if columns, again := header(l.Cells); again { // on each page
			r.columns = columns
			continue
		}
		if r.doc.Rows++; r.doc.Rows > maxRows {
			return nil, fmt.Errorf("the document has more than %d rows", maxRows)
		}
		r.row(l)
	}
	if len(r.doc.Elements) == 0 {
		return nil, errors.New("the document has no elements below its header")
	}
	return r.doc, nil
}

func (r *reader) cell(l Line, c column) string {
	if i := r.columns[c]; i >= 0 && i < len(l.Cells) {
		return strings.TrimSpace(l.Cells[i])
	}
	return ""
}

// words is a cell's text, empty where it says that there is none.
func (r *reader) words(l Line, c column) string {
	s := scf.Collapse(r.cell(l, c))
	if strings.EqualFold(s, "n/a") || s == "-" {
		return ""
	}
	return cut(s, maxText)
}

func (r *reader) row(l Line) {
	code, controls := scf.Collapse(r.cell(l, element)), r.cell(l, control)
	if code == "" && controls == "" && r.cell(l, relationship) == "" {
		// A page ended inside the row; its codes stand in the part below.
		if r.torn == nil && (r.words(l, text) != "" || r.words(l, name) != "") {
			r.torn = &Element{Name: r.words(l, name), Text: r.words(l, text)}
		} else {
			r.doc.Rows--
		}
		return
	}
	e := Element{Code: code, Name: r.words(l, name), Text: r.words(l, text), sheet: l.Sheet, cell: l.Cell}
	if r.torn != nil {
		e.Name, e.Text = scf.Collapse(r.torn.Name+" "+e.Name), scf.Collapse(r.torn.Text+" "+e.Text)
		r.torn = nil
		r.doc.Rows--
	}
	switch {
	case code == "" && r.last == "":
		r.warn(l, "the row has no element number and was left out")
		return
	case code == "": // merged with the row above
		e.Code = r.last
	case len(code) > maxCode:
		r.warn(l, "the element number has %d letters: the row was left out", len(code))
		return
	}
	r.last = e.Code
	i, known := r.at[e.Code]
	if !known {
		i = len(r.doc.Elements)
		r.at[e.Code] = i
		r.doc.Elements = append(r.doc.Elements, e)
	}
	into := &r.doc.Elements[i]
	// What a page break tore is the shorter.
	if len(e.Name) > len(into.Name) {
		into.Name = e.Name
	}
	if len(e.Text) > len(into.Text) {
		into.Text = e.Text
	}
	r.relate(into, l, controls)
}

func (r *reader) relate(e *Element, l Line, controls string) {
	how := relationOf(r.cell(l, relationship))
	for _, code := range strings.FieldsFunc(controls, func(c rune) bool { return c == '\n' || c == ',' || c == ';' }) {
		code = strings.ToUpper(strings.Join(strings.Fields(code), "")) // a narrow column breaks them
		if code == "" || code == "N/A" || code == "NONE" || code == "-" {
			continue
		}
		if !scf.ValidCode(code) {
			r.warn(l, "%s: %q is not a control code such as GOV-01: left out", e.Code, cut(code, 40))
			continue
		}
		if how == "" {
			r.warn(l, "%s and %s: %q is no relationship that is known: left out", e.Code, code, cut(r.cell(l, relationship), 40))
			continue
		}
		rel := Relation{Control: code, Relationship: how, Strength: r.strength(l, e.Code), Rationale: strings.ToLower(r.words(l, rationale)),
			Notes: r.words(l, notes), sheet: l.Sheet, cell: l.Cell}
		for _, before := range e.Relations {
			if before.Control != code {
				continue
			}
			if before.Relationship != how || before.Strength != rel.Strength {
				r.warn(l, "%s and %s are related twice, once as %s and once as %s: the first counts", e.Code, code, before.Relationship, how)
			}
			return
		}
		e.Relations = append(e.Relations, rel)
	}
}

// relationOf reads a relationship in any of the spellings that documents have.
func relationOf(s string) string {
	s = strings.ToLower(scf.Collapse(s))
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

func (r *reader) strength(l Line, code string) int {
	s := r.words(l, strength)
	if s == "" {
		return -1
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || n > 10 || n != float64(int(n)) {
		r.warn(l, "%s: strength %q is no whole number from 0 to 10: taken as none", code, cut(s, 40))
		return -1
	}
	return int(n)
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
