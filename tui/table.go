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
	id         string
	cells      []string
	styles     []draw.Style
	filterText string
	record     any
}

// newEntry returns a row of a table.
func newEntry(id string, record any, styles []draw.Style, cells ...string) entry {
	return entry{id: id, cells: cells, styles: styles, filterText: strings.ToLower(strings.Join(cells, " ")), record: record}
}

// table is a screen that shows a list of records, with the selected record on the right.
type table struct {
	app *App
	// label names it in the help, parentTitle is shown in the header.
	label, parentTitle string
	// emptyText is shown if there are no rows.
	emptyText string
	list      list.List
	entries   []entry
	fetch     func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error)
	// renderRecord shows a record; nil if the rows show everything.
	renderRecord func(p *draw.Page, record any)
	// marker returns a one-character status of a record; nil if there is none.
	marker func(record any) string
	// extraActions returns actions in addition to the common ones; the record is nil if there is
	// none.
	extraActions func(record any) []action.Action
	// isLive reports whether a record is still changing; the table is then refreshed periodically.
	isLive func(record any) bool
	// followRecord follows the changes of a live record as they arrive, and calls again at the end. If it is
	// nil, live records are only polled.
	followRecord func(record any, again func() tea.Cmd) tea.Cmd
	// onRead is called with loaded rows, if not nil.
	onRead func()

	filterField           *input.Field
	loaded, detailFocused bool
	scroll, loadSeq       int
	total                 int
	next                  *string
	drawnRow              any
	drawnWidth            int
	drawn                 []draw.Line
}

// initialRows is the number of rows loaded at first. The key m loads more.
const initialRows = 1000

// refreshInterval is the time between refreshes of live tables.
const refreshInterval = 2 * time.Second

// withColumns sets the columns of a table, and returns the table.
func (t *table) withColumns(columns ...list.Column) *table {
	t.list = list.List{Columns: columns, Source: t}
	return t
}

func (t *table) name() string            { return t.label }
func (t *table) title() string           { return strings.TrimPrefix(t.parentTitle+" › ", " › ") + t.label }
func (t *table) Len() int                { return len(t.entries) }
func (t *table) ID(i int) string         { return t.entries[i].id }
func (t *table) FilterText(i int) string { return t.entries[i].filterText }

func (t *table) Marker(i int) string {
	if t.marker == nil {
		return ""
	}
	return t.marker(t.entries[i].record)
}

func (t *table) Cell(i, c int) (string, draw.Style) {
	e := &t.entries[i]
	style := draw.Plain
	if c < len(e.styles) {
		style = e.styles[c]
	}
	return e.cells[c], style
}

// selectedRecord returns the record under the cursor, or nil.
func (t *table) selectedRecord() any {
	if i, ok := t.list.CurrentRow(); ok {
		return t.entries[i].record
	}
	return nil
}

func (t *table) load() tea.Cmd {
	t.loadSeq++
	return t.readPages("", nil, max(initialRows, len(t.entries)), t.loadSeq)
}

// readPages loads further pages of the list until limit rows have been loaded.
func (t *table) readPages(cursor string, entriesSoFar []entry, limit, seq int) tea.Cmd {
	return t.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
		rows, at, err := t.fetch(ctx, t.app.Caller, api.Paging{Limit: api.MaxListLimit, Cursor: cursor})
		return func() tea.Cmd {
			switch {
			case seq != t.loadSeq:
				return nil
			case err != nil:
				return t.app.showErrorOrReconnect(err)
			}
			t.app.markConnected()
			entriesSoFar = append(entriesSoFar, rows...)
			t.total, t.next = max(at.Total, len(entriesSoFar)), at.NextCursor
			if len(rows) > 0 && at.NextCursor != nil && len(entriesSoFar) < limit {
				return t.readPages(*at.NextCursor, entriesSoFar, limit, seq)
			}
			t.entries, t.loaded, t.drawnRow = entriesSoFar, true, nil
			t.list.Refresh()
			if t.onRead != nil {
				t.onRead()
			}
			return t.refreshWhileLive()
		}
	})
}

// refreshWhileLive schedules a refresh if any record can still change.
func (t *table) refreshWhileLive() tea.Cmd {
	if t.isLive == nil || t.app.topScreen() != screen(t) {
		return nil
	}
	for i := range t.entries {
		if t.isLive(t.entries[i].record) {
			turn := t.loadSeq
			again := func() tea.Cmd {
				return t.app.schedule(refreshInterval, func() tea.Cmd {
					if turn != t.loadSeq || t.app.topScreen() != screen(t) {
						return nil
					}
					return t.load()
				})
			}
			if t.followRecord != nil {
				return t.followRecord(t.entries[i].record, again)
			}
			return again()
		}
	}
	return nil
}

func (t *table) actions() []action.Action {
	var out []action.Action
	if t.extraActions != nil {
		out = t.extraActions(t.selectedRecord())
	}
	out = append(
		out,
		action.Action{
			Keys:  []string{"/"},
			Label: "filter",
			Help:  "filters as you type: shows only rows that contain all the words",
			Do:    func() tea.Cmd { t.filterField = input.New(t.list.Filter(), false); return nil },
		},
	)
	if t.renderRecord != nil {
		out = append(
			out,
			action.Action{
				Keys:  []string{"tab"},
				Label: "pane",
				Help:  "goes from the list to the record and back",
				Do:    func() tea.Cmd { t.detailFocused = !t.detailFocused; return nil },
			},
		)
	}
	all := ""
	if t.next == nil {
		all = "everything is loaded"
	}
	none := ""
	if t.selectedRecord() == nil {
		none = "no row is selected"
	}
	out = append(
		out,
		action.Action{
			Keys:           []string{"m"},
			DisabledReason: all,
			Help:           "loads more (older) records",
			Do:             func() tea.Cmd { return t.readPages(*t.next, t.entries, len(t.entries)+initialRows, t.loadSeq) },
		},
		action.Action{Keys: []string{"Y"}, DisabledReason: none, Help: "copies the row to the clipboard (OSC 52)", Do: func() tea.Cmd {
			i, _ := t.list.CurrentRow()
			return t.app.copyToClipboard(strings.Join(t.entries[i].cells, "\t"))
		}},
		action.Action{
			Keys:           []string{"x"},
			DisabledReason: none,
			Help:           "exports the visible rows to a CSV file, with the same fields as in the API",
			Do:             t.exportVisibleRows,
		},
	)
	return append(out, movementActions(t.moveCursorOrScroll)...)
}

func (t *table) stepBack() (steppedBack bool) {
	if t.detailFocused {
		t.detailFocused = false
		return true
	}
	return clearFilterOrMarks(&t.list)
}

func (t *table) moveCursorOrScroll(direction string) tea.Cmd {
	if t.detailFocused && t.renderRecord != nil {
		t.scroll = max(0, t.scroll+map[string]int{"up": -1, "down": 1, "pgup": -10, "pgdown": 10, "home": -1 << 20, "end": 1 << 20}[direction])
		return nil
	}
	t.scroll = 0
	moveCursor(&t.list, direction)
	return nil
}

func (t *table) handleTextKey(k tea.KeyMsg) (tea.Cmd, bool) {
	return nil, handleFilterKey(&t.filterField, &t.list, k, func() { t.scroll = 0 })
}

func (t *table) view(w, h int) []draw.Line {
	p := draw.NewPage(w)
	switch {
	case !t.loaded:
		p.AddText(draw.Dim, "loading…")
		return p.Lines
	case len(t.entries) == 0:
		p.AddText(draw.Plain, t.emptyText)
		return p.Lines
	}
	head := filterLine(t.filterField, &t.list, w-16)
	if head == nil {
		text := fmt.Sprintf("%d of %d", t.list.CursorPosition(), len(t.list.VisibleRows()))
		if t.total > len(t.entries) {
			text += fmt.Sprintf(", %d in total (press m to load more)", t.total)
		}
		head = draw.TextLine(draw.Dim, text)
	}
	out := []draw.Line{head}
	h--
	switch {
	case t.renderRecord != nil && w >= minSplitWidth:
		lw := listWidth(w)
		return append(out, draw.SideBySide(t.list.Draw(lw, h, !t.detailFocused), t.detail(w-lw-2, h), lw, h)...)
	case t.renderRecord != nil && t.detailFocused:
		return append(out, t.detail(w, h)...)
	}
	return append(out, t.list.Draw(w, h, true)...)
}

func (t *table) detail(w, h int) []draw.Line {
	r := t.selectedRecord()
	if r == nil {
		return nil
	}
	if t.drawnRow != r || t.drawnWidth != w {
		p := draw.NewPage(w)
		t.renderRecord(p, r)
		t.drawnRow, t.drawnWidth, t.drawn = r, w, p.Lines
	}
	return draw.ScrollLines(t.drawn, &t.scroll, h, " (Tab, then ↓)")
}

func (t *table) click(x, y int) tea.Cmd {
	if t.renderRecord != nil && t.app.w >= minSplitWidth && x >= listWidth(t.app.w) {
		t.detailFocused = true
		return nil
	}
	t.detailFocused = false
	y--
	if t.list.HasHeader(t.app.h - 4) {
		y--
	}
	if before := t.list.CursorPosition(); t.list.MoveToLine(y) && t.list.CursorPosition() == before {
		if open := action.FindByKey(t.actions(), "enter"); open != nil && open.DisabledReason == "" { // a click on the selected row
			return open.Do()
		}
	}
	t.scroll = 0
	return nil
}

func (t *table) wheel(by int) tea.Cmd {
	if t.detailFocused {
		t.scroll = max(0, t.scroll+by)
	} else {
		t.list.Move(by)
	}
	return nil
}

func formatTimePtr(t *time.Time) string {
	if t == nil {
		return ""
	}
	return print.FormatTime(*t)
}
