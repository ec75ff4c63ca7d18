package tui

import (
	"maps"
	"slices"

	tea "github.com/charmbracelet/bubbletea"
)

// maxUndoSteps is the maximum number of undo steps, and maxUndoRows the maximum number of rows in all of them. The
// last step is always kept.
const maxUndoSteps, maxUndoRows = 200, 30_000

// undoGroup is an undo step. It holds the previous state of the rows that the step changed.
type undoGroup struct{ rows []undoRow }

// undoRow is the previous state of one row.
type undoRow struct {
	key string
	// values holds the values of the deliverable type's fields, in order.
	values []string
	// edited lists the fields that had manual values.
	edited []string
}

// trimUndo drops the oldest steps beyond the limits.
func trimUndo(all []undoGroup) []undoGroup {
	rows := 0
	for i := len(all) - 1; i >= 0; i-- {
		rows += len(all[i].rows)
		if n := len(all) - i; n > 1 && (n > maxUndoSteps || rows > maxUndoRows) {
			return slices.Clone(all[i+1:])
		}
	}
	return all
}

// newUndoRow returns the current state of a row, so that undo can restore it.
func (v *review) newUndoRow(r *row) undoRow {
	out := undoRow{key: v.kind.keyOf(r.item), values: make([]string, len(v.kind.attrs)), edited: r.head.EditedFields}
	for i := range v.kind.attrs {
		out.values[i] = r.currentValue(v.kind.attrs[i].name)
	}
	return out
}

// undo reverts the last step. Fields whose previous values had been drafted are reset to those values.
func (v *review) undo() tea.Cmd {
	if len(v.undoStack) == 0 {
		return nil
	}
	group := v.undoStack[len(v.undoStack)-1]
	v.undoStack = v.undoStack[:len(v.undoStack)-1]
	unsent := v.app.saver.queuedEditsByKey(v)
	n := 0
	for _, was := range group.rows {
		r := v.byKey[was.key]
		if r == nil {
			continue
		}
		set := map[string]string{}
		restore := []string{}
		for i, value := range was.values {
			name := v.kind.attrs[i].name
			isUnconfirmed := name == "needs_review" && !slices.Contains(was.edited, name) && slices.Contains(r.head.EditedFields, name)
			if r.currentValue(name) != value || isUnconfirmed {
				set[name] = value
				if !slices.Contains(was.edited, name) {
					restore = append(restore, name)
				}
			}
		}
		if len(set) == 0 {
			continue
		}
		// Excluding a control requires the reason in the same change.
		for name, value := range maps.Clone(set) {
			if at := v.kind.findAttr(name); at.relatedField != nil {
				if also, _ := at.relatedField(value); also != "" {
					set[also] = was.values[slices.IndexFunc(v.kind.attrs, func(a attr) bool { return a.name == also })]
				}
			}
		}
		slices.Sort(restore)
		v.queueChange(r, set, restore, unsent, false)
		n++
	}
	if n == 0 {
		v.app.setStatus("there is nothing to undo")
		return nil
	}
	v.app.setStatus("undone for %s", formatCodeOrCount(n, group.rows[0].key))
	return v.app.saver.sendNextEdits(v.app)
}
