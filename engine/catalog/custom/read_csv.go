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
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Columns of a CSV file of requirements, and of a CSV file of controls.
var (
	requirementColumns = []string{"requirement", "title", "text", "controls", "relationship", "strength", "rationale"}
	controlColumns     = []string{
		"control",
		"title",
		"description",
		"question",
		"domain_name",
		"weight",
		"controls",
		"evidence_requests",
		"assessment_objectives",
		"tags",
	}
)

// maxRows is the maximum number of rows in a CSV file.
const maxRows = 100_000

// separatorPattern matches a first line that names the separator for spreadsheet programs.
var separatorPattern = lazyregexp.New(`^"?(?i:sep)=([,;|\t])"?[ \t]*\r?(?:\n|$)`)

// isCSV reports whether a file is CSV rather than YAML. It relies on the file name extension. If
// the extension is unknown, a first line with separators but no colon means CSV.
func isCSV(filename string, head []byte) bool {
	switch strings.ToLower(filepath.Ext(filename)) {
	case ".csv":
		return true
	case ".yaml", ".yml", ".json":
		return false
	}
	if separatorPattern.MatchString(string(head[:min(len(head), 10)])) {
		return true
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.ContainsAny(line, ",;\t") && !bytes.Contains(line, []byte(":"))
}

// detectSeparator returns the separator that occurs most often in the header.
func detectSeparator(data []byte) rune {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	best, most := ',', 0
	for _, r := range []rune{',', ';', '\t'} {
		if n := bytes.Count(line, []byte(string(r))); n > most {
			best, most = r, n
		}
	}
	return best
}

// csvTable reads a CSV file row by row.
type csvTable struct {
	reader  *csv.Reader
	columns map[string]int // index by name
	row     []string       // the current row
	line    int            // its line number
}

func (t *csvTable) trimmedCell(column string) string {
	if i, ok := t.columns[column]; ok && i < len(t.row) {
		return strings.TrimSpace(t.row[i])
	}
	return ""
}

// splitCell splits the current row's cell in a column at any of the separators.
func (t *csvTable) splitCell(column, separators string) []string {
	var out []string
	for _, v := range strings.FieldsFunc(t.trimmedCell(column), func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}

// controls returns the codes of controls in the current row. A slash may be between them.
func (t *csvTable) controls() []string {
	return slices.DeleteFunc(t.splitCell("controls", ",;\n "), func(code string) bool { return code == "/" })
}

func (t *csvTable) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", t.line, fmt.Sprintf(format, args...))
}

// nextRow reads the next row that is not blank.
func (t *csvTable) nextRow() error {
	for {
		row, err := t.reader.Read()
		if err != nil {
			return err
		}
		t.line, _ = t.reader.FieldPos(0)
		if slices.ContainsFunc(row, func(c string) bool { return strings.TrimSpace(c) != "" }) {
			t.row = row
			return nil
		}
	}
}

func readCSV(data []byte, o SetOptions) (*Set, error) {
	separator := detectSeparator(bytes.TrimLeft(data, "\r\n \t"))
	if line, _, _ := bytes.Cut(data, []byte("\n")); len(line) < 20 {
		if m := separatorPattern.FindStringSubmatch(string(line)); m != nil {
			separator, _ = utf8.DecodeRuneInString(m[1])
			data = data[len(line):] // keeps the line break, so that line numbers stay correct
		}
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = separator, -1, true
	t := &csvTable{reader: r, columns: map[string]int{}}
	if err := t.nextRow(); err != nil {
		return nil, csvError(err)
	}
	subject, err := t.readHeader()
	if err != nil {
		return nil, err
	}
	readRow := t.requirementRowReader(o)
	if subject == "control" {
		readRow = t.controlRowReader()
	}
	out := &Set{}
	for rows := 0; ; rows++ {
		err := t.nextRow()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, csvError(err)
		}
		if len(t.row) > len(t.columns) {
			return nil, t.errorf(
				"the row has %d cells, but the header has %d; put text that contains separators in quotation marks",
				len(t.row),
				len(t.columns),
			)
		}
		if rows >= maxRows {
			return nil, t.errorf("the table has more than %d rows", maxRows)
		}
		if err := readRow(out); err != nil {
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
		return errors.New("it is empty")
	}
	return err
}

// readHeader reads the column names. It returns what the rows are about: "requirement" or "control".
func (t *csvTable) readHeader() (subject string, err error) {
	for i, cell := range t.row {
		name := strings.ReplaceAll(strings.ToLower(scf.CollapseSpaces(cell)), " ", "_")
		if _, duplicate := t.columns[name]; duplicate {
			return "", t.errorf("the header contains the column %q twice", scf.Shorten(name))
		}
		t.columns[name] = i
	}
	allowed := requirementColumns
	subject = "requirement"
	if _, ok := t.columns[subject]; !ok {
		subject, allowed = "control", controlColumns
	}
	if _, ok := t.columns[subject]; !ok {
		return "", t.errorf("unknown header; the columns are %s for requirements and %s for controls",
			strings.Join(requirementColumns, ", "), strings.Join(controlColumns, ", "))
	}
	for _, cell := range t.row {
		name := strings.ReplaceAll(strings.ToLower(scf.CollapseSpaces(cell)), " ", "_")
		if !slices.Contains(allowed, name) {
			return "", t.errorf(
				"unknown column %q in the %s table; the columns are %s",
				scf.Shorten(name),
				subject,
				strings.Join(allowed, ", "),
			)
		}
	}
	return subject, nil
}

// requirementRowReader returns a function that adds the requirement in the current row to a set. Rows of the
// same requirement are merged.
func (t *csvTable) requirementRowReader(o SetOptions) func(*Set) error {
	at, lines := map[string]int{}, map[string]int{}
	return func(out *Set) error {
		if len(out.Frameworks) == 0 {
			out.Frameworks = append(out.Frameworks, api.CustomFrameworkBody{Code: o.Code, Name: o.Name})
		}
		f := &out.Frameworks[0]
		code := scf.CollapseSpaces(t.trimmedCell("requirement"))
		if code == "" {
			return t.errorf("the requirement has no code")
		}
		n, again := at[code]
		title, text := scf.NilIfEmpty(t.trimmedCell("title")), scf.NilIfEmpty(t.trimmedCell("text"))
		switch {
		case !again:
			n = len(f.Requirements)
			at[code], lines[code] = n, t.line
			f.Requirements = append(f.Requirements, api.CustomRequirement{Code: code, Title: title, Text: text})
		case isGivenAndDifferent(title, f.Requirements[n].Title) || isGivenAndDifferent(text, f.Requirements[n].Text):
			return t.errorf("requirement %s has a different title or text on line %d", scf.Shorten(code), lines[code])
		}
		return t.addRowControls(&f.Requirements[n])
	}
}

func isGivenAndDifferent(current, previous *string) bool {
	return current != nil && (previous == nil || *current != *previous)
}

// addRowControls adds the controls in the current row to a requirement.
func (t *csvTable) addRowControls(r *api.CustomRequirement) error {
	all := t.controls()
	strength, rationale := t.trimmedCell("strength"), t.trimmedCell("rationale")
	relationship := strings.ToLower(t.trimmedCell("relationship"))
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
				return t.errorf("the strength %q is not a number from 0 to 10", scf.Shorten(strength))
			}
			x.Strength = &n
		}
		r.Relations = append(r.Relations, x)
	}
	return nil
}

// controlRowReader returns a function that adds the control in the current row to a set.
func (t *csvTable) controlRowReader() func(*Set) error {
	lines := map[string]int{}
	return func(out *Set) error {
		c := api.CustomControlBody{
			Code: strings.ToUpper(t.trimmedCell("control")), Title: t.trimmedCell("title"), Description: t.trimmedCell("description"),
			Question: scf.NilIfEmpty(t.trimmedCell("question")), DomainName: scf.NilIfEmpty(t.trimmedCell("domain_name")),
			Controls: t.controls(), Evidence: t.splitCell("evidence_requests", ";\n"),
			Objectives: t.splitCell("assessment_objectives", ";\n"), Tags: t.splitCell("tags", ",;\n"),
		}
		if c.Code == "" {
			return t.errorf("the control has no code")
		}
		if first, duplicate := lines[c.Code]; duplicate {
			return t.errorf("control %s is already listed on line %d", scf.Shorten(c.Code), first)
		}
		lines[c.Code] = t.line
		if w := t.trimmedCell("weight"); w != "" {
			n, err := strconv.Atoi(w)
			if err != nil || n < 1 || n > 10 {
				return t.errorf("the weight %q is not a number from 1 to 10", scf.Shorten(w))
			}
			c.Weight = &n
		}
		out.Controls = append(out.Controls, c)
		return nil
	}
}
