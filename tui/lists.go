package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
	"github.com/scf-service/service/tui/list"
)

// moveCursor moves the cursor of a list in a direction, such as "down", "pgdown" or "end".
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

// handleFilterKey handles a key while a filter is typed; it returns false if the key doesn't belong
// to it.
func handleFilterKey(f **input.Field, l *list.List, k tea.KeyMsg, onMove func()) (handled bool) {
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

// clearFilterOrMarks clears the filter or else the marks; it returns false if there are none.
func clearFilterOrMarks(l *list.List) (cleared bool) {
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

// filterLine returns the filter being typed or active, or nil if there is none.
func filterLine(f *input.Field, l *list.List, w int) draw.Line {
	switch {
	case f != nil:
		return append(draw.Line{{Text: "/", Style: draw.Bold}}, f.Draw(max(2, w-2), 1)[0]...)
	case l.Filter() != "":
		return draw.Line{{Text: "/" + l.Filter(), Style: draw.Bold}, {Text: "  (Esc shows all)", Style: draw.Dim}}
	}
	return nil
}
