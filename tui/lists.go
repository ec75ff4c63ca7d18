package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
	"github.com/scf-service/service/tui/list"
)

// moveCursor moves in a list by the word of a key.
func moveCursor(l *list.List, direction string) {
	switch direction {
	case "up":
		l.Move(-1)
	case "down":
		l.Move(1)
	case "pgup":
		l.MovePage(-1)
	case "pgdown":
		l.MovePage(1)
	case "home":
		l.MoveToEdge(false)
	case "end":
		l.MoveToEdge(true)
	}
}

// handleFilterKey takes a key of a filter that is typed, if one is; false where it is none of its.
func handleFilterKey(f **input.Field, l *list.List, k tea.KeyMsg, onMove func()) bool {
	if *f == nil {
		return false
	}
	switch s := k.String(); s {
	case "enter":
		*f = nil
	case "esc":
		*f = nil
		l.SetFilter("")
		onMove()
	case "up", "down", "pgup", "pgdown":
		moveCursor(l, s)
		onMove()
	default:
		if (*f).HandleKey(k) {
			l.SetFilter((*f).Value())
			onMove()
		}
	}
	return true
}

// clearFilterOrMarks takes a filter or the marks away; false where there is neither.
func clearFilterOrMarks(l *list.List) bool {
	switch {
	case l.Filter() != "":
		l.SetFilter("")
	case l.MarkedCount() > 0:
		l.ClearMarks()
	default:
		return false
	}
	return true
}

// filterLine is the filter as it is typed or on; nil where there is none.
func filterLine(f *input.Field, l *list.List, w int) draw.Line {
	switch {
	case f != nil:
		return append(draw.Line{{Text: "/", Style: draw.Bold}}, f.Draw(max(2, w-2), 1)[0]...)
	case l.Filter() != "":
		return draw.Line{{Text: "/" + l.Filter(), Style: draw.Bold}, {Text: "  (Esc shows all)", Style: draw.Dim}}
	}
	return nil
}
