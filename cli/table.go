package cli

import (
	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func field(name, value string) print.Field { return print.Field{Name: name, Value: value} }

// The kinds of table columns: column shrinks to fit the terminal and is then truncated, wrapped continues on the next
// line, and fixed never shrinks. Numbers are right-aligned.

func column(title string) print.Column  { return print.Column{Title: title} }
func wrapped(title string) print.Column { return print.Column{Title: title, Wrap: true} }
func fixed(title string) print.Column   { return print.Column{Title: title, NoShrink: true} }
func number(title string) print.Column  { return print.Column{Title: title, AlignRight: true} }

func fixedNumber(title string) print.Column {
	return print.Column{Title: title, AlignRight: true, NoShrink: true}
}

// idColumn is the column of IDs, which without a terminal are on a line of their own if there is not enough room.
func idColumn() print.Column { return print.Column{Title: "id", NoShrink: true, BelowRow: true} }

// optional returns a copy of c that tables drop if the terminal is too narrow.
func optional(c print.Column) print.Column {
	c.Optional = true
	return c
}

// printList prints the records of a list. In human-readable output they form a table, or emptyText if there
// are none. emptyText may be empty.
func printList[T any](
	a *app, list *api.List[T], columns []print.Column, row func(T) []string, emptyText string, args ...any,
) error {
	defer a.printMoreResultsNotice(len(list.Data), list.Pagination)
	return a.out.Print(list, func(p *print.Page) {
		renderTable(p, list.Data, columns, row)
		renderTextIfEmpty(p, len(list.Data), emptyText, args...)
	})
}

func renderTable[T any](p *print.Page, records []T, columns []print.Column, row func(T) []string) {
	rows := make([][]string, len(records))
	for i, r := range records {
		rows[i] = row(r)
	}
	p.Table(columns, rows)
}
