// Package print displays records for users and scripts: pages and tables fitted to the terminal, JSON, YAML and CSV,
// a jq filter, and progress messages. It makes untrusted text safe to display. It depends on no command or record
// type.
package print

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/itchyny/gojq"
)

// Formats lists the output formats, with the default format first.
var Formats = []string{"table", "json", "yaml", "csv"}

// Output is the destination and format of results.
type Output struct {
	W io.Writer
	// Context interrupts a running filter when it ends; it may be nil.
	Context context.Context
	Format  string
	// Query is a jq filter over the JSON form; nil if there is none.
	Query *gojq.Code
	// Width is the width of the terminal, or 0 if there is none; tables then fit FileWidth columns, by wrapping instead of
	// truncating.
	Width int
	// FileWidth is the width of tables without a terminal; 0 for 100 columns.
	FileWidth int
	Color     bool
}

// CompileQuery compiles a jq filter. The error for an invalid filter gives the position of the mistake.
func CompileQuery(expr string) (*gojq.Code, error) {
	q, err := gojq.Parse(expr)
	if err != nil {
		return nil, fmt.Errorf("the jq filter has a syntax error: %w", err)
	}
	code, err := gojq.Compile(q)
	if err != nil {
		return nil, fmt.Errorf("the jq filter is invalid: %w", err)
	}
	return code, nil
}

// IsHumanReadable reports whether the output is formatted for people rather than for programs.
func (o *Output) IsHumanReadable() bool {
	return o.Query == nil && (o.Format == "" || o.Format == "table")
}

// Print prints v as a page if the format is for people, and otherwise as a record.
func (o *Output) Print(v any, page func(*Page)) error {
	if o.IsHumanReadable() {
		return o.PrintPage(page)
	}
	return o.PrintRecord(v)
}

// PrintPage prints a page regardless of the output format. It is for output that has no corresponding record.
func (o *Output) PrintPage(page func(*Page)) error {
	p := &Page{width: o.Width, fileWidth: o.FileWidth, color: o.Color}
	page(p)
	_, err := o.W.Write(p.buf.Bytes())
	return err
}

// PrintRecord prints v as JSON, YAML or CSV. If there is a jq filter, it prints the filter's results instead.
func (o *Output) PrintRecord(v any) error {
	b, err := encodeJSON(v)
	if err != nil {
		return err
	}
	switch {
	case o.Query != nil:
		b, err = o.runQuery(b)
	case o.Format == "yaml":
		b, err = jsonToYAML(b)
	case o.Format == "csv":
		b, err = jsonToCSV(b)
	default:
		b, err = indentJSON(b)
	}
	if err != nil {
		return err
	}
	_, err = o.W.Write(b)
	return err
}

// CheckFormat returns an error for an unknown format.
func CheckFormat(name string) error {
	for _, f := range Formats {
		if f == name {
			return nil
		}
	}
	return fmt.Errorf("unknown output format %q; choose one of %s", name, strings.Join(Formats, ", "))
}
