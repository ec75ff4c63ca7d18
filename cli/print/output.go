// Package print shows records to people and scripts: pages and tables fitted to
// the terminal, JSON, YAML and CSV, a jq filter, and progress on the side. It
// makes text from strangers safe to show. It knows no command and no record.
package print

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/itchyny/gojq"
)

// Formats are the ways to print, the default first.
var Formats = []string{"table", "json", "yaml", "csv"}

// Output is where results go, and how.
type Output struct {
	W io.Writer
	// Context ends a filter that would go on; nil for none.
	Context context.Context
	Format  string
	// Query is a jq filter over the JSON form; nil for none.
	Query *gojq.Code
	// Width is the terminal's; 0 where there is none, and then no table is cut.
	Width int
	Color bool
}

// CompileQuery reads a jq filter; the error says where it is wrong.
func CompileQuery(expr string) (*gojq.Code, error) {
	q, err := gojq.Parse(expr)
	if err != nil {
		return nil, fmt.Errorf("the jq filter can't be read: %w", err)
	}
	code, err := gojq.Compile(q)
	if err != nil {
		return nil, fmt.Errorf("the jq filter can't be used: %w", err)
	}
	return code, nil
}

// IsHumanReadable tells whether a page is shown rather than records.
func (o *Output) IsHumanReadable() bool {
	return o.Query == nil && (o.Format == "" || o.Format == "table")
}

// Print shows v: as a page where people read, else as the record it is.
func (o *Output) Print(v any, page func(*Page)) error {
	if o.IsHumanReadable() {
		return o.Page(page)
	}
	return o.Record(v)
}

// Page shows a page in any format; for what is no record.
func (o *Output) Page(page func(*Page)) error {
	p := &Page{width: o.Width, color: o.Color}
	page(p)
	_, err := o.W.Write(p.buf.Bytes())
	return err
}

// Record shows v as JSON, YAML or CSV, or what the jq filter makes of it.
func (o *Output) Record(v any) error {
	b, err := encodeJSON(v)
	if err != nil {
		return err
	}
	switch {
	case o.Query != nil:
		b, err = o.runQuery(b)
	case o.Format == "yaml":
		b, err = toYAML(b)
	case o.Format == "csv":
		b, err = toCSV(b)
	default:
		b, err = indentJSON(b)
	}
	if err != nil {
		return err
	}
	_, err = o.W.Write(b)
	return err
}

// CheckFormat refuses a format that there is not.
func CheckFormat(name string) error {
	for _, f := range Formats {
		if f == name {
			return nil
		}
	}
	return fmt.Errorf("there is no output format %q; choose one of %s", name, strings.Join(Formats, ", "))
}
