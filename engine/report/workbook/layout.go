// Package workbook is what a workbook of a deliverable looks like: which columns there are, what
// each holds, which a person may change, and how what was changed is found again.
//
//	layout (data) ──► Book: writes sheets ──► .xlsx ──► person ──► Read ──► Edits
//
// A layout says everything once, for the way out and the way back. The package decides
// nothing about an assessment: it names what was changed, and the engine's operations take
// it or refuse it. The same content gives the same bytes. What is read is bounded.
package workbook

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// ColumnKind is what the cells of a column hold.
type ColumnKind string

// The kinds of cells. A cell's value is a text in all of them: a date as 2027-03-31, a
// choice as the contract's word, lines and choices one below the other, yesno as yes or no.
const (
	KindText    ColumnKind = "text"
	KindLines   ColumnKind = "lines"
	KindChoice  ColumnKind = "choice"
	KindChoices ColumnKind = "choices"
	KindNumber  ColumnKind = "number"
	KindDate    ColumnKind = "date"
	KindYesNo   ColumnKind = "yesno"
)

// Column is a column of a sheet.
type Column struct {
	// Header is the text in the head; a column is found by it.
	Header string `yaml:"header"`
	// Field is the contract's name of what it holds; empty where nothing is held for it.
	Field string     `yaml:"field"`
	Kind  ColumnKind `yaml:"kind"`
	// Width is in letters.
	Width float64 `yaml:"width"`
	// Editable: a change is taken back.
	Editable bool `yaml:"edit"`
	// Required: it can't be emptied.
	Required bool `yaml:"required"`
	// Optional: emptied, it is null in the contract.
	Optional bool `yaml:"optional"`
	Hidden   bool `yaml:"hidden"`
	// Values are a choice's words in the contract, Words how a profile writes them; where
	// it has none, the contract's word in plain letters. Two may be written alike: the
	// first is meant on the way back.
	Values []string          `yaml:"values"`
	Labels map[string]string `yaml:"words"`
	// Min and Max bound a number.
	Min float64 `yaml:"min"`
	Max float64 `yaml:"max"`
	// ReflectsColumn is the header of a column that this one only says yes or no about.
	ReflectsColumn string `yaml:"follows"`
	// ReadOnlyReason says where a change belongs that is not taken back here.
	ReadOnlyReason string `yaml:"why"`
}

// HasField tells whether the contract has anything for the column.
func (c Column) HasField() bool { return c.Field != "" }

// Page is one sheet of a layout.
type Page struct {
	Name string `yaml:"name"`
	// Statuses are those of the items that stand on this sheet; none: all. An item moved
	// here by a person gets the status Moved.
	Statuses     []string `yaml:"statuses"`
	StatusOnMove string   `yaml:"moved"`
}

// Layout is how one deliverable is laid out in a workbook.
type Layout struct {
	Name string `yaml:"name"`
	// Title says what it is, in a sentence's head.
	Title string `yaml:"title"`
	// Key is the field that names an item in a row.
	Key string `yaml:"key"`
	// Preface are rows above the head. A cell with $ before it is a word about the whole.
	Preface [][]string `yaml:"preface"`
	Pages   []Page     `yaml:"pages"`
	// FrozenColumns is how many columns stay when one scrolls.
	FrozenColumns int      `yaml:"frozen"`
	Columns       []Column `yaml:"columns"`
}

// IsPrescribed tells whether others have laid it out: it begins with what they ask for.
func (l Layout) IsPrescribed() bool { return len(l.Preface) > 0 }

// HeadersWithoutField are the headers of the columns that nothing is held for.
func (l Layout) HeadersWithoutField() (out []string) {
	for _, c := range l.Columns {
		if !c.HasField() {
			out = append(out, c.Header)
		}
	}
	return out
}

// ReadOnlyHeaders are the headers of the columns that are shown, and not taken back.
func (l Layout) ReadOnlyHeaders() (out []string) {
	for _, c := range l.Columns {
		if c.HasField() && !c.Editable && !c.Hidden && c.ReflectsColumn == "" {
			out = append(out, c.Header)
		}
	}
	return out
}

// FindColumn is the one with a header; false for none.
func (l Layout) FindColumn(header string) (Column, bool) {
	i := slices.IndexFunc(l.Columns, func(c Column) bool { return sameHeader(c.Header, header) })
	if i < 0 {
		return Column{}, false
	}
	return l.Columns[i], true
}

// sameHeader is generous about case, spaces and line ends, which change as people work.
func sameHeader(a, b string) bool { return normalizeHeader(a) == normalizeHeader(b) }

func normalizeHeader(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// pageIndex is the sheet that an item of that status stands on.
func (l Layout) pageIndex(status string) int {
	return max(0, slices.IndexFunc(l.Pages, func(p Page) bool { return len(p.Statuses) == 0 || slices.Contains(p.Statuses, status) }))
}

// formatValue is how a value is written in a cell.
func (c Column) formatValue(value string) string {
	switch c.Kind {
	case KindChoice:
		return c.labelFor(value)
	case KindChoices:
		all := strings.Split(value, "\n")
		for i := range all {
			all[i] = c.labelFor(all[i])
		}
		return strings.Join(all, "\n")
	case KindYesNo:
		return c.labelFor(value)
	}
	return value
}

// labelFor is a choice as it is written.
func (c Column) labelFor(value string) string {
	if w, ok := c.Labels[value]; ok {
		return w
	}
	return humanize(value)
}

func humanize(value string) string {
	s := strings.ReplaceAll(value, "_", " ")
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		s = string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// choiceLabels are a choice's values as they are written, each once.
func (c Column) choiceLabels() (out []string) {
	values := c.Values
	if c.Kind == KindYesNo {
		values = []string{"yes", "no"}
	}
	for _, v := range values {
		if w := c.labelFor(v); !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// parseChoice finds the value that somebody wrote.
func (c Column) parseChoice(written string) (string, bool) {
	values := c.Values
	if c.Kind == KindYesNo {
		values = []string{"yes", "no"}
		switch normalizeHeader(written) {
		case "true", "1":
			written = "yes"
		case "false", "0":
			written = "no"
		}
	}
	for _, v := range values {
		if normalizeHeader(written) == normalizeHeader(c.labelFor(v)) || normalizeHeader(written) == normalizeHeader(humanize(v)) ||
			normalizeHeader(written) == v {
			return v, true
		}
	}
	return "", false
}

//go:embed layouts/*.yaml
var layoutFiles embed.FS

var builtinLayouts = sync.OnceValue(func() map[string]Layout {
	out := map[string]Layout{}
	entries, err := layoutFiles.ReadDir("layouts")
	if err != nil {
		panic(err) // the program itself is broken
	}
	for _, e := range entries {
		data, err := layoutFiles.ReadFile("layouts/" + e.Name())
		if err != nil {
			panic(err)
		}
		l, err := parseLayout(data)
		if err != nil {
			panic(fmt.Errorf("layouts/%s: %w", e.Name(), err))
		}
		out[l.Name] = l
	}
	return out
})

// parseLayout reads a layout and refuses one that contradicts itself.
func parseLayout(data []byte) (Layout, error) {
	var l Layout
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	dec.KnownFields(true)
	if err := dec.Decode(&l); err != nil {
		return l, err
	}
	keyed := false
	for i := range l.Columns {
		c := &l.Columns[i]
		c.Kind = cmp.Or(c.Kind, KindText)
		keyed = keyed || c.Field == l.Key
		switch {
		case c.Header == "":
			return l, fmt.Errorf("column %d has no header", i+1)
		case c.Editable && !c.HasField():
			return l, fmt.Errorf("%q can't be edited: nothing is held for it", c.Header)
		case (c.Kind == KindChoice || c.Kind == KindChoices) && len(c.Values) == 0:
			return l, fmt.Errorf("%q has no values", c.Header)
		}
		if first, _ := l.FindColumn(c.Header); first.Field != c.Field {
			return l, fmt.Errorf("%q stands twice", c.Header)
		}
		if c.ReflectsColumn != "" {
			if _, ok := l.FindColumn(c.ReflectsColumn); !ok {
				return l, fmt.Errorf("%q follows %q, which is no column", c.Header, c.ReflectsColumn)
			}
		}
	}
	if l.Name == "" || len(l.Pages) == 0 || !keyed {
		return l, fmt.Errorf("a layout needs a name, pages, and a column for its key %q", l.Key)
	}
	return l, nil
}

// FindLayout is the layout of that name; false for none.
func FindLayout(name string) (Layout, bool) {
	l, ok := builtinLayouts()[name]
	return l, ok
}
