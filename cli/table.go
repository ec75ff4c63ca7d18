package cli

import "github.com/scf-service/service/cli/print"

func field(name, value string) print.Field { return print.Field{Name: name, Value: value} }

// The kinds of table columns: column shrinks to fit the terminal and is then truncated, wrapped
// continues on the next line, and fixed never shrinks. Numbers are aligned to the right.

func column(title string) print.Column  { return print.Column{Title: title} }
func wrapped(title string) print.Column { return print.Column{Title: title, Wrap: true} }
func fixed(title string) print.Column   { return print.Column{Title: title, NoShrink: true} }
func number(title string) print.Column  { return print.Column{Title: title, AlignRight: true} }

func fixedNumber(title string) print.Column {
	return print.Column{Title: title, AlignRight: true, NoShrink: true}
}

// optional makes a column one that is left out if the terminal is too narrow.
func optional(c print.Column) print.Column {
	c.Optional = true
	return c
}
