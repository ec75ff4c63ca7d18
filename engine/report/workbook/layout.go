// Package workbook writes deliverables as Excel workbooks and finds the edits in workbooks that users
// send back. A layout defines the columns, their values, and which of them may be edited, for both
// directions.
//
//	layout (data) ──► Writer ──► .xlsx ──► user ──► Read ──► edits
//
// The package doesn't decide about an assessment: it lists the edits, and the engine's operations
// accept or refuse them. The same content gives the same bytes. Input sizes are limited.
package workbook

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/scf-service/service/internal/prose"
)

// ColumnKind is the kind of values in a column.
type ColumnKind string

// Kinds of columns. All values are text: a date has the form 2027-03-31, a choice is its API value, lines and
// choices have one entry per line, and a yesno value is yes or no.
const (
	KindText    ColumnKind = "text"
	KindLines   ColumnKind = "lines"
	KindChoice  ColumnKind = "choice"
	KindChoices ColumnKind = "choices"
	KindNumber  ColumnKind = "number"
	KindDate    ColumnKind = "date"
	KindYesNo   ColumnKind = "yesno"
)

// Column is a column in the sheets of a layout.
type Column struct {
	// Header is the header text, by which the column is found on import.
	Header string `yaml:"header"`
	// Field is the API name of the value; empty if there is no such value.
	Field string     `yaml:"field"`
	Kind  ColumnKind `yaml:"kind"`
	// Width is in characters.
	Width float64 `yaml:"width"`
	// Editable columns can be imported.
	Editable bool `yaml:"edit"`
	// Required values can't be emptied.
	Required bool `yaml:"required"`
	// Optional values become null when emptied.
	Optional bool `yaml:"optional"`
	Hidden   bool `yaml:"hidden"`
	// Values are the API values of a choice, and Labels are the texts shown for them; without
	// labels, the API value is shown in plain words. If two values have the same label, an import
	// uses the first one.
	Values []string          `yaml:"values"`
	Labels map[string]string `yaml:"words"`
	// Members makes this a yes/no column about a list field: yes if the list contains one of these
	// values. An import of yes adds the first of them. If the list is empty, so is the column.
	Members []string `yaml:"members"`
	// Min and Max limit a number.
	Min float64 `yaml:"min"`
	Max float64 `yaml:"max"`
	// ReflectsColumn is the header of a column that this yes/no column reflects.
	ReflectsColumn string `yaml:"follows"`
	// ReadOnlyReason states where to make a change that can't be imported here.
	ReadOnlyReason string `yaml:"why"`
}

// HasField reports whether the column shows a field of the API.
func (c Column) HasField() bool { return c.Field != "" }

// Page is one sheet of a layout.
type Page struct {
	Name string `yaml:"name"`
	// Statuses lists the statuses of the items on this sheet; if empty, it contains all items. An
	// item that users move here gets the status StatusOnMove.
	Statuses     []string `yaml:"statuses"`
	StatusOnMove string   `yaml:"moved"`
}

// Layout defines the sheets and columns for the items of a deliverable.
type Layout struct {
	Name string `yaml:"name"`
	// Title is the deliverable's name.
	Title string `yaml:"title"`
	// Key is the field that identifies an item.
	Key string `yaml:"key"`
	// Preface holds the rows above the header. A cell starting with $ is replaced by a value.
	Preface [][]string `yaml:"preface"`
	Pages   []Page     `yaml:"pages"`
	// FrozenColumns is the number of columns that stay visible when scrolling.
	FrozenColumns int      `yaml:"frozen"`
	Columns       []Column `yaml:"columns"`
}

// IsPrescribed reports whether this layout is prescribed by a third party. Only prescribed layouts have rows above
// the header.
func (l Layout) IsPrescribed() bool { return len(l.Preface) > 0 }

// HeadersWithoutField returns the headers of the columns that do not correspond to a field of the API.
func (l Layout) HeadersWithoutField() (out []string) {
	for _, c := range l.Columns {
		if !c.HasField() {
			out = append(out, c.Header)
		}
	}
	return out
}

// ReadOnlyHeaders returns the headers of the visible columns whose values can't be changed by an import.
func (l Layout) ReadOnlyHeaders() (out []string) {
	for _, c := range l.Columns {
		if c.HasField() && !c.Editable && !c.Hidden && c.ReflectsColumn == "" {
			out = append(out, c.Header)
		}
	}
	return out
}

// FindColumn returns the column with the given header. ok is false if there is none.
func (l Layout) FindColumn(header string) (Column, bool) {
	i := slices.IndexFunc(l.Columns, func(c Column) bool { return isSameHeader(c.Header, header) })
	if i < 0 {
		return Column{}, false
	}
	return l.Columns[i], true
}

// isSameHeader reports whether two headers are the same, ignoring case, spaces and line ends.
func isSameHeader(a, b string) bool { return normalizeHeader(a) == normalizeHeader(b) }

func normalizeHeader(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// pageIndex returns the index of the sheet on which items with the given status are listed.
func (l Layout) pageIndex(status string) int {
	return max(0, slices.IndexFunc(l.Pages, func(p Page) bool { return len(p.Statuses) == 0 || slices.Contains(p.Statuses, status) }))
}

// formatValue returns the text that a cell shows for a value.
func (c Column) formatValue(value string) string {
	if len(c.Members) > 0 && value != "" {
		all := strings.Split(value, "\n")
		value = formatYesNo(slices.ContainsFunc(c.Members, func(m string) bool { return slices.Contains(all, m) }))
	}
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

// labelFor returns the label that the workbook shows for a value.
func (c Column) labelFor(value string) string {
	if w, ok := c.Labels[value]; ok {
		return w
	}
	return prose.Label(value)
}

// choiceLabels returns the labels of the values that a cell can have, without duplicates.
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

// parseChoice returns the value for the label in a cell. It returns false if no value has that label.
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
		if normalizeHeader(written) == normalizeHeader(c.labelFor(v)) || normalizeHeader(written) == normalizeHeader(prose.Label(v)) ||
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
		panic(err) // embedded data is broken
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

// parseLayout parses a layout. It returns an error if the layout is inconsistent.
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
			return l, fmt.Errorf("the column %q can't be editable, because the program stores no value for it", c.Header)
		case (c.Kind == KindChoice || c.Kind == KindChoices) && len(c.Values) == 0:
			return l, fmt.Errorf("%q has no values", c.Header)
		}
		if first, _ := l.FindColumn(c.Header); first.Field != c.Field {
			return l, fmt.Errorf("%q appears twice", c.Header)
		}
		if c.ReflectsColumn != "" {
			if _, ok := l.FindColumn(c.ReflectsColumn); !ok {
				return l, fmt.Errorf("the column %q depends on %q, which is not a column", c.Header, c.ReflectsColumn)
			}
		}
	}
	if l.Name == "" || len(l.Pages) == 0 || !keyed {
		return l, fmt.Errorf("the layout needs a name, pages, and a column for its key %q", l.Key)
	}
	return l, nil
}

// FindLayout returns the layout with the given name. ok is false if there is none.
func FindLayout(name string) (Layout, bool) {
	l, ok := builtinLayouts()[name]
	return l, ok
}
