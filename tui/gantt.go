package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/draw"
)

// ganttSpan is the period of a plan item, from the creation of its version to its due date.
type ganttSpan struct {
	from, to  time.Time
	dates     []time.Time // due dates of the milestones
	completed bool
}

const ganttDay = 24 * time.Hour

// ganttSpanFor returns the period of a row, or false if its dates can't be parsed.
func (v *review) ganttSpanFor(r *row) (ganttSpan, bool) {
	to, err := time.Parse(time.DateOnly, r.currentValue("due_date"))
	if err != nil || to.Year() < 1 || to.Year() > 9999 {
		return ganttSpan{}, false
	}
	s := ganttSpan{from: v.version.CreatedAt.UTC().Truncate(ganttDay), to: to, completed: r.currentValue("status") == "completed"}
	for _, m := range r.item.(*api.POAMItem).Milestones {
		if at, err := m.DueDate.Time(); err == nil {
			s.dates = append(s.dates, at)
		}
	}
	if s.to.Before(s.from) {
		s.from = s.to
	}
	return s, true
}

// drawGantt draws the plan as a Gantt chart. Overdue items are also marked in words.
func (v *review) drawGantt(w, h int) []draw.Line {
	today := v.app.Clock().UTC().Truncate(ganttDay)
	first, last := today, today.Add(30*ganttDay)
	for _, i := range v.list.VisibleRows() {
		if s, ok := v.ganttSpanFor(v.rows[i]); ok {
			if s.from.Before(first) {
				first = s.from
			}
			if s.to.After(last) {
				last = s.to
			}
		}
	}
	name := min(32, w/2)
	if w >= 120 {
		name = w * 2 / 5
	}
	room := max(1, w-name-1)
	days := int64(last.Sub(first)/ganttDay) + 1
	cell := func(t time.Time) int {
		return max(0, min(room-1, int(int64(t.Sub(first)/ganttDay)*int64(room)/max(1, days))))
	}
	scale := []rune(strings.Repeat(" ", room))
	for t, free := time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(
		0,
		1,
		0,
	), 0; !t.After(last); t = t.AddDate(0, 1, 0) {
		if label := t.Format("Jan 06"); cell(t) >= free && cell(t)+len(label) <= room {
			writeAt(scale, cell(t), label)
			free = cell(t) + len(label) + 1
		}
	}
	out := []draw.Line{
		append(
			draw.TextLine(draw.Dim, "today "+print.FormatDay(today)).Fit(name+1, draw.Plain),
			draw.Span{Text: string(scale), Style: draw.Dim},
		),
	}
	h--
	shown := v.list.VisibleRows()
	at := v.list.CursorPosition() - 1
	from := max(0, min(at-h/2, len(shown)-h))
	day := print.FormatDay(today)
	for n, i := range shown[from:min(len(shown), from+max(0, h))] {
		r := v.rows[i]
		late := isOverdue(r, day)
		bar, style := v.ganttBar(r, cell, room, cell(today)), severityStyle(string(r.item.(*api.POAMItem).Severity))
		note := ""
		switch {
		case late:
			note, style = " overdue", draw.Red|draw.Bold
		case r.currentValue("status") == "completed":
			note, style = " done", draw.Green
		}
		line := draw.Line{{Text: " "}}
		if from+n == at {
			line = draw.Line{{Text: "›", Style: draw.Bold}}
		}
		line = append(
			append(
				line,
				draw.Span{Text: v.kind.keyOf(r.item) + note, Style: style},
				draw.Span{Text: " " + r.currentValue("due_date") + "  " + r.item.(*api.POAMItem).Weakness},
			).Fit(
				name,
				draw.Plain,
			),
			draw.Span{Text: " "},
			draw.Span{Text: bar, Style: style},
		)
		if from+n == at {
			line = line.AddStyle(draw.Bold)
		}
		out = append(out, line)
	}
	return out
}

// writeAt overwrites a line with a text from the given position.
func writeAt(line []rune, at int, text string) {
	for i, r := range []rune(text) {
		if at+i < len(line) {
			line[at+i] = r
		}
	}
}

// ganttBar draws an item: ━ its period, ◇ milestones, ◆ the due date, │ today.
func (v *review) ganttBar(r *row, columnOf func(time.Time) int, width, todayColumn int) string {
	line := []rune(strings.Repeat(" ", width))
	line[todayColumn] = '│'
	s, ok := v.ganttSpanFor(r)
	if !ok {
		return fmt.Sprintf("no date: %q", r.currentValue("due_date"))
	}
	symbol := '━'
	if s.completed {
		symbol = '─'
	}
	for i := columnOf(s.from); i <= columnOf(s.to); i++ {
		if i != todayColumn {
			line[i] = symbol
		}
	}
	for _, d := range s.dates {
		line[columnOf(d)] = '◇'
	}
	line[columnOf(s.to)] = '◆'
	return string(line)
}
