package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
	"github.com/scf-service/service/tui/list"
)

// moveIn moves in a list by the word of a key.
func moveIn(l *list.List, to string) {
	switch to {
	case "up":
		l.Move(-1)
	case "down":
		l.Move(1)
	case "pgup":
		l.Screen(-1)
	case "pgdown":
		l.Screen(1)
	case "home":
		l.Ends(false)
	case "end":
		l.Ends(true)
	}
}

// typeFilter takes a key of a filter that is typed, if one is; false where it is none of its.
func typeFilter(f **input.Field, l *list.List, k tea.KeyMsg, moved func()) bool {
	if *f == nil {
		return false
	}
	switch s := k.String(); s {
	case "enter":
		*f = nil
	case "esc":
		*f = nil
		l.Filter("")
		moved()
	case "up", "down", "pgup", "pgdown":
		moveIn(l, s)
		moved()
	default:
		if (*f).Key(k) {
			l.Filter((*f).Value())
			moved()
		}
	}
	return true
}

// stepIn takes a filter or the marks away; false where there is neither.
func stepIn(l *list.List) bool {
	switch {
	case l.Filtered() != "":
		l.Filter("")
	case l.MarkedCount() > 0:
		l.Unmark()
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
	case l.Filtered() != "":
		return draw.Line{{Text: "/" + l.Filtered(), Style: draw.Bold}, {Text: "  (Esc shows all)", Style: draw.Dim}}
	}
	return nil
}
