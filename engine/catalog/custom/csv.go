package custom

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

// The columns of a table of requirements, and of one of controls.
var (
	requirementColumns = []string{"requirement", "title", "text", "controls", "relationship", "strength", "rationale"}
	controlColumns     = []string{"control", "title", "description", "question", "domain_name", "weight", "controls", "evidence_requests", "assessment_objectives", "tags"}
)

// maxRows bounds a table.
const maxRows = 100_000

// looksCSV tells a table from YAML: by the file's ending, or a first line with separators and no colon.
func looksCSV(filename string, head []byte) bool {
	switch strings.ToLower(filepath.Ext(filename)) {
	case ".csv":
		return true
	case ".yaml", ".yml", ".json":
		return false
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.ContainsAny(line, ",;\t") && !bytes.Contains(line, []byte(":"))
}

// separator is the one that the header uses most.
func separator(data []byte) rune {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	best, most := ',', 0
	for _, r := range []rune{',', ';', '\t'} {
		if n := bytes.Count(line, []byte(string(r))); n > most {
			best, most = r, n
		}
	}
	return best
}

// table is a CSV file, row by row.
type table struct {
	r       *csv.Reader
	columns map[string]int
	row     []string
	line    int
}

func (t *table) get(column string) string {
	if i, ok := t.columns[column]; ok && i < len(t.row) {
		return strings.TrimSpace(t.row[i])
	}
	return ""
}

// list is a cell with several values.
func (t *table) list(column, separators string) []string {
	var out []string
	for _, v := range strings.FieldsFunc(t.get(column), func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}

func (t *table) wrong(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", t.line, fmt.Sprintf(format, args...))
}

// next reads a row that says something.
func (t *table) next() error {
	for {
		row, err := t.r.Read()
		if err != nil {
			return err
		}
		t.line, _ = t.r.FieldPos(0)
		if slices.ContainsFunc(row, func(c string) bool { return strings.TrimSpace(c) != "" }) {
			t.row = row
			return nil
		}
	}
}

func readCSV(data []byte, o Options) (*Set, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = separator(bytes.TrimLeft(data, "\r\n \t")), -1, true
	t := &table{r: r, columns: map[string]int{}}
	if err := t.next(); err != nil {
		return nil, csvError(err)
	}
	known, err := t.header()
	if err != nil {
		return nil, err
	}
	take := t.framework(o)
	if known == "control" {
		take = t.controlRow()
	}
	out := &Set{}
	for rows := 0; ; rows++ {
		err := t.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, csvError(err)
		}
		if len(t.row) > len(t.columns) {
			return nil, t.wrong("it has %d cells and the header %d; put text with separators in it into quotes", len(t.row), len(t.columns))
		}
		if rows >= maxRows {
			return nil, t.wrong("it has more than %d rows", maxRows)
		}
		if err := take(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func csvError(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("line %d: %w", p.Line, p.Err)
	}
	if errors.Is(err, io.EOF) {
		return errors.New("there is nothing in it")
	}
	return err
}

// header reads the names of the columns, and which of them a row is about.
func (t *table) header() (about string, err error) {
	for i, cell := range t.row {
		name := strings.ReplaceAll(strings.ToLower(scf.Collapse(cell)), " ", "_")
		if _, twice := t.columns[name]; twice {
			return "", t.wrong("the column %q stands twice in the header", short(name))
		}
		t.columns[name] = i
	}
	allowed := requirementColumns
	about = "requirement"
	if _, ok := t.columns[about]; !ok {
		about, allowed = "control", controlColumns
	}
	if _, ok := t.columns[about]; !ok {
		return "", t.wrong("the header is not one that is known: a table of requirements has the columns %s; one of controls has %s",
			strings.Join(requirementColumns, ", "), strings.Join(controlColumns, ", "))
	}
	for _, cell := range t.row {
		name := strings.ReplaceAll(strings.ToLower(scf.Collapse(cell)), " ", "_")
		if !slices.Contains(allowed, name) {
			return "", t.wrong("there is no column %q in a table of %ss; the columns are %s", short(name), about, strings.Join(allowed, ", "))
		}
	}
	return about, nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// framework takes rows of requirements; several rows of one requirement add up.
func (t *table) framework(o Options) func(*Set) error {
	at, lines := map[string]int{}, map[string]int{}
	return func(out *Set) error {
		if len(out.Frameworks) == 0 {
			out.Frameworks = append(out.Frameworks, api.CustomFrameworkBody{Code: o.Code, Name: o.Name})
		}
		f := &out.Frameworks[0]
		code := scf.Collapse(t.get("requirement"))
		if code == "" {
			return t.wrong("the requirement has no code")
		}
		n, again := at[code]
		title, text := optional(t.get("title")), optional(t.get("text"))
		switch {
		case !again:
			n = len(f.Requirements)
			at[code], lines[code] = n, t.line
			f.Requirements = append(f.Requirements, api.CustomRequirement{Code: code, Title: title, Text: text})
		case differs(title, f.Requirements[n].Title) || differs(text, f.Requirements[n].Text):
			return t.wrong("the requirement %s stands on line %d with another title or text", short(code), lines[code])
		}
		return t.controls(&f.Requirements[n])
	}
}

func differs(now, before *string) bool {
	return now != nil && (before == nil || *now != *before)
}

// controls adds those of a row to a requirement.
func (t *table) controls(r *api.CustomRequirement) error {
	all := t.list("controls", ",;\n ")
	strength, rationale := t.get("strength"), t.get("rationale")
	relationship := strings.ToLower(t.get("relationship"))
	if relationship == "" && strength == "" && rationale == "" {
		for _, c := range all {
			if !slices.Contains(r.Controls, c) {
				r.Controls = append(r.Controls, c)
			}
		}
		return nil
	}
	for _, c := range all {
		x := api.CustomRelation{Control: c, Relationship: relationship, Rationale: rationale}
		if strength != "" {
			n, err := strconv.Atoi(strength)
			if err != nil || n < 0 || n > 10 {
				return t.wrong("the strength %q is no number from 0 to 10", short(strength))
			}
			x.Strength = &n
		}
		r.Relations = append(r.Relations, x)
	}
	return nil
}

// controlRow takes rows of controls.
func (t *table) controlRow() func(*Set) error {
	lines := map[string]int{}
	return func(out *Set) error {
		c := api.CustomControlBody{
			Code: strings.ToUpper(t.get("control")), Title: t.get("title"), Description: t.get("description"), Question: optional(t.get("question")),
			DomainName: optional(t.get("domain_name")), Controls: t.list("controls", ",;\n "), Evidence: t.list("evidence_requests", ";\n"),
			Objectives: t.list("assessment_objectives", ";\n"), Tags: t.list("tags", ",;\n"),
		}
		if c.Code == "" {
			return t.wrong("the control has no code")
		}
		if first, twice := lines[c.Code]; twice {
			return t.wrong("the control %s stands on line %d already", short(c.Code), first)
		}
		lines[c.Code] = t.line
		if w := t.get("weight"); w != "" {
			n, err := strconv.Atoi(w)
			if err != nil || n < 1 || n > 10 {
				return t.wrong("the weight %q is no number from 1 to 10", short(w))
			}
			c.Weight = &n
		}
		out.Controls = append(out.Controls, c)
		return nil
	}
}
