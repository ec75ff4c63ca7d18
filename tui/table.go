package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
	"github.com/scf-service/service/tui/list"
)

// entry is a row of a table.
type entry struct {
	id     string
	cells  []string
	styles []draw.Style
	words  string
	record any
}

func newEntry(id string, record any, styles []draw.Style, cells ...string) entry {
	return entry{id: id, cells: cells, styles: styles, words: strings.ToLower(strings.Join(cells, " ")), record: record}
}

// table is a screen of records to look through: a list, and the record on the right.
type table struct {
	app *App
	// label names it in the help, above says where one is.
	label, above string
	// what its rows are, where none are there.
	empty   string
	list    list.List
	entries []entry
	fetch   func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error)
	// page shows a record; nil where the rows say all.
	page func(p *draw.Page, record any)
	// sign is one sign of what goes on with a record; nil where none has one.
	sign func(record any) string
	// more are the actions beside those of every table; of a record, that is nil where there is none.
	more func(record any) []action.Action
	// live tells whether a record goes on changing; then the table is read again meanwhile.
	live func(record any) bool
	// follow tells of such a record's changes as they come, and calls again where no more
	// do; nil where it is only read again after a while.
	follow func(record any, again func() tea.Cmd) tea.Cmd
	// opened is told of rows that were read; nil for most.
	opened func()

	search         *input.Field
	read, onDetail bool
	scroll, turn   int
	total          int
	next           *string
	drawnRow       any
	drawnWidth     int
	drawn          []draw.Line
}

// pagesRead is how many rows are read by themselves; m reads more.
const rowsRead = 1000

// livePause is the time between two readings of what goes on.
const livePause = 2 * time.Second

func (t *table) start(columns ...list.Column) *table {
	t.list = list.List{Columns: columns, Source: t}
	return t
}

func (t *table) name() string       { return t.label }
func (t *table) title() string      { return strings.TrimPrefix(t.above+" › ", " › ") + t.label }
func (t *table) Len() int           { return len(t.entries) }
func (t *table) ID(i int) string    { return t.entries[i].id }
func (t *table) Words(i int) string { return t.entries[i].words }

func (t *table) Sign(i int) string {
	if t.sign == nil {
		return ""
	}
	return t.sign(t.entries[i].record)
}

func (t *table) Cell(i, c int) (string, draw.Style) {
	e := &t.entries[i]
	style := draw.Plain
	if c < len(e.styles) {
		style = e.styles[c]
	}
	return e.cells[c], style
}

// record is the one under the cursor; nil where there is none.
func (t *table) record() any {
	if i, ok := t.list.Row(); ok {
		return t.entries[i].record
	}
	return nil
}

func (t *table) load() tea.Cmd {
	t.turn++
	return t.readPage("", nil, max(rowsRead, len(t.entries)), t.turn)
}

func (t *table) readPage(cursor string, got []entry, most, turn int) tea.Cmd {
	return t.app.later(func(ctx context.Context) func() tea.Cmd {
		rows, at, err := t.fetch(ctx, t.app.Caller, api.Paging{Limit: api.MaxListLimit, Cursor: cursor})
		return func() tea.Cmd {
			switch {
			case turn != t.turn:
				return nil
			case err != nil:
				return t.app.fail(err)
			}
			t.app.found()
			got = append(got, rows...)
			t.total, t.next = max(at.Total, len(got)), at.NextCursor
			if len(rows) > 0 && at.NextCursor != nil && len(got) < most {
				return t.readPage(*at.NextCursor, got, most, turn)
			}
			t.entries, t.read, t.drawnRow = got, true, nil
			t.list.Refresh()
			if t.opened != nil {
				t.opened()
			}
			return t.watch()
		}
	})
}

// watch reads the table again after a while, where something on it goes on.
func (t *table) watch() tea.Cmd {
	if t.live == nil || t.app.top() != screen(t) {
		return nil
	}
	for i := range t.entries {
		if t.live(t.entries[i].record) {
			turn := t.turn
			again := func() tea.Cmd {
				return t.app.after(livePause, func() tea.Cmd {
					if turn != t.turn || t.app.top() != screen(t) {
						return nil
					}
					return t.load()
				})
			}
			if t.follow != nil {
				return t.follow(t.entries[i].record, again)
			}
			return again()
		}
	}
	return nil
}

func (t *table) actions() []action.Action {
	var out []action.Action
	if t.more != nil {
		out = t.more(t.record())
	}
	out = append(out, action.Action{Keys: []string{"/"}, Label: "filter", Help: "filters as you type: all words have to be in the row", Do: func() tea.Cmd { t.search = input.New(t.list.Filtered(), false); return nil }})
	if t.page != nil {
		out = append(out, action.Action{Keys: []string{"tab"}, Label: "pane", Help: "goes from the list to the record and back", Do: func() tea.Cmd { t.onDetail = !t.onDetail; return nil }})
	}
	all := ""
	if t.next == nil {
		all = "all of them are read"
	}
	none := ""
	if t.record() == nil {
		none = "there is nothing here"
	}
	out = append(out,
		action.Action{Keys: []string{"m"}, Off: all, Help: "reads older ones", Do: func() tea.Cmd { return t.readPage(*t.next, t.entries, len(t.entries)+rowsRead, t.turn) }},
		action.Action{Keys: []string{"Y"}, Off: none, Help: "copies the row to the clipboard (OSC 52)", Do: func() tea.Cmd {
			i, _ := t.list.Row()
			return t.app.copy(strings.Join(t.entries[i].cells, "\t"))
		}},
		action.Action{Keys: []string{"x"}, Off: none, Help: "exports what is shown as CSV, with the fields of the API", Do: t.export})
	return append(out, moving(t.move)...)
}

func (t *table) stepBack() bool {
	if t.onDetail {
		t.onDetail = false
		return true
	}
	return stepIn(&t.list)
}

func (t *table) move(to string) tea.Cmd {
	if t.onDetail && t.page != nil {
		t.scroll = max(0, t.scroll+map[string]int{"up": -1, "down": 1, "pgup": -10, "pgdown": 10, "home": -1 << 20, "end": 1 << 20}[to])
		return nil
	}
	t.scroll = 0
	moveIn(&t.list, to)
	return nil
}

func (t *table) typed(k tea.KeyMsg) (tea.Cmd, bool) {
	return nil, typeFilter(&t.search, &t.list, k, func() { t.scroll = 0 })
}

func (t *table) view(w, h int) []draw.Line {
	p := draw.NewPage(w)
	switch {
	case !t.read:
		p.Text(draw.Dim, "reading…")
		return p.Lines
	case len(t.entries) == 0:
		p.Text(draw.Plain, t.empty)
		return p.Lines
	}
	head := filterLine(t.search, &t.list, w-16)
	if head == nil {
		text := fmt.Sprintf("%d of %d", t.list.Place(), len(t.list.Shown()))
		if t.total > len(t.entries) {
			text += fmt.Sprintf(", %d in all (m reads more)", t.total)
		}
		head = draw.T(draw.Dim, text)
	}
	out := []draw.Line{head}
	h--
	switch {
	case t.page != nil && w >= splitFrom:
		lw := listWidth(w)
		return append(out, draw.Beside(t.list.Draw(lw, h, !t.onDetail), t.detail(w-lw-2, h), lw, h)...)
	case t.page != nil && t.onDetail:
		return append(out, t.detail(w, h)...)
	}
	return append(out, t.list.Draw(w, h, true)...)
}

func (t *table) detail(w, h int) []draw.Line {
	r := t.record()
	if r == nil {
		return nil
	}
	if t.drawnRow != r || t.drawnWidth != w {
		p := draw.NewPage(w)
		t.page(p, r)
		t.drawnRow, t.drawnWidth, t.drawn = r, w, p.Lines
	}
	return draw.Scrolled(t.drawn, &t.scroll, h, " (Tab, then ↓)")
}

func (t *table) click(x, y int) tea.Cmd {
	if t.page != nil && t.app.w >= splitFrom && x >= listWidth(t.app.w) {
		t.onDetail = true
		return nil
	}
	t.onDetail = false
	y--
	if t.list.Headed(t.app.h - 4) {
		y--
	}
	if before := t.list.Place(); t.list.At(y) && t.list.Place() == before {
		if open := action.Find(t.actions(), "enter"); open != nil && open.Off == "" { // once more on the same
			return open.Do()
		}
	}
	t.scroll = 0
	return nil
}

func (t *table) wheel(by int) tea.Cmd {
	if t.onDetail {
		t.scroll = max(0, t.scroll+by)
	} else {
		t.list.Move(by)
	}
	return nil
}

// capital is the text with a capital first letter.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func momentOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return print.Moment(*t)
}
