package workbook

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/report/wording"
)

// ExportInfo holds what an exported workbook records about its origin.
type ExportInfo struct {
	// Assessment is the ID of the exported assessment.
	Assessment string
	// Layouts lists the layouts that the workbook has sheets for.
	Layouts []string
	origins map[string]map[string]exportedItem // by layout and key
}

// exportedItem is the state that an item had when it was exported.
type exportedItem struct {
	sheet, item   string
	control, plan string
	revision      int
	cells         []string // fingerprints, by the layout's columns
}

// Edit is a change to one field, made in a cell of the workbook.
type Edit struct {
	// Cell is the sheet and address, such as Gap analysis!E12.
	Cell string
	// Field is the API name of the changed field.
	Field string
	// NewValue is the new value in API form.
	NewValue string
	// JSONValue is NewValue for JSON.
	JSONValue any
	column    Column
}

// ChangedRow is an item that has at least one change in the workbook.
type ChangedRow struct {
	// Cell is the address of the cell that contains the item's key.
	Cell string
	// Key identifies the item in its layout; Item and Revision are its ID and revision when
	// exported.
	Key, Item string
	Revision  int
	// Control and Plan are the codes of the control and, in a plan, of the item.
	Control, Plan string
	Edits         []Edit
	layout        Layout
	exported      exportedItem
}

// Problem describes why a cell can't be imported.
type Problem struct{ Cell, Message string }

func (p Problem) String() string { return p.Cell + ": " + p.Message }

// maxProblems is the maximum number of problems that are reported.
const maxProblems = 40

// ReadExportInfo reads the hidden sheet in which the export recorded the state of the items.
func (w *Workbook) ReadExportInfo() (*ExportInfo, error) {
	i := slices.IndexFunc(w.sheets, func(g grid) bool { return g.name == sourceSheet })
	if i < 0 {
		return nil, unreadableErrorf(
			"the hidden sheet %q is missing, so changes can't be determined; export again and edit the new file",
			sourceSheet,
		)
	}
	x := &ExportInfo{origins: map[string]map[string]exportedItem{}}
	form, head := "", false
	for _, r := range w.sheets[i].rows {
		t := func(column int) string { return r.cells[column].text }
		switch {
		case !head && t(1) == "form":
			form = t(2)
		case !head && t(1) == "assessment":
			x.Assessment = t(2)
		case !head && t(1) == sourceHeader[0] && t(3) == sourceHeader[2]:
			head = true
		case head:
			revision, err := strconv.Atoi(t(7))
			if err != nil || t(3) == "" {
				return nil, unreadableErrorf("row %d of the hidden sheet %q was changed; export again", r.number, sourceSheet)
			}
			if x.origins[t(1)] == nil {
				x.origins[t(1)] = map[string]exportedItem{}
				x.Layouts = append(x.Layouts, t(1))
			}
			x.origins[t(1)][lookupKey(t(3))] = exportedItem{
				sheet:    t(2),
				item:     t(4),
				control:  t(5),
				plan:     t(6),
				revision: revision,
				cells:    strings.Fields(t(8)),
			}
		}
	}
	if form != sourceFormatVersion {
		return nil, unreadableErrorf("the workbook was written by another version of this program; export again")
	}
	return x, nil
}

// lookupKey returns the normalized form of an item's key, used for lookups.
func lookupKey(s string) string { return trimAndUnifyLineEnds(wording.ReplaceControlCharacters(s)) }

// FindEdits returns the items of a layout that differ from the export, in the order of the workbook. It also returns
// problems with cells that can't be imported, and notes about content that was ignored.
func (w *Workbook) FindEdits(x *ExportInfo, l Layout) (rows []ChangedRow, problems []Problem, notes []string) {
	f := editFinder{workbook: w, layout: l, origins: x.origins[l.Name], seen: map[string]string{}}
	for name, other := range builtinLayouts() {
		if name != l.Name {
			f.otherLayouts = append(f.otherLayouts, other)
		}
	}
	for i := range w.sheets {
		if w.sheets[i].name != sourceSheet && w.sheets[i].name != longTextsSheet {
			f.findSheetEdits(&w.sheets[i])
		}
	}
	return f.rows, f.problems, f.notes
}

// editFinder finds the edits in a workbook.
type editFinder struct {
	workbook     *Workbook
	layout       Layout
	otherLayouts []Layout // a sheet may belong to one of them
	origins      map[string]exportedItem
	seen         map[string]string
	rows         []ChangedRow
	problems     []Problem
	notes        []string
}

func (f *editFinder) addProblem(cell, format string, args ...any) {
	switch len(f.problems) {
	case maxProblems:
		f.problems = append(f.problems,
			Problem{cell, fmt.Sprintf("the workbook has more than %d problems; only the first are listed", maxProblems)})
	case maxProblems + 1:
	default:
		f.problems = append(f.problems, Problem{cell, fmt.Sprintf(format, args...)})
	}
}

func cellAddress(sheet string, column, row int) string { return sheet + "!" + cellName(column, row) }

// maxHeadRow is the last row in which the header may be.
const maxHeadRow = 40

// findSheetEdits looks for the header of the layout in a sheet, and then for changes in the rows below it.
func (f *editFinder) findSheetEdits(g *grid) {
	for n, r := range g.rows {
		if r.number > maxHeadRow {
			return
		}
		where, known := f.matchHeaderRow(g, r)
		if known {
			f.findItemEdits(g, g.rows[n+1:], where)
			return
		}
	}
}

// matchHeaderRow returns, for each column of the sheet, the index of the layout's column with the same header. It
// returns false if the row is not the header of the layout. A header must contain the key column and at least half
// of all columns, and no other layout may match it better.
func (f *editFinder) matchHeaderRow(g *grid, r gridRow) (indexes map[int]int, isHeader bool) {
	columnIndex, found := map[int]int{}, map[int]bool{}
	var unknown []int
	for column, c := range r.cells {
		i := slices.IndexFunc(f.layout.Columns, func(x Column) bool { return isSameHeader(x.Header, c.text) })
		switch {
		case i < 0:
			unknown = append(unknown, column)
		case found[i]:
			columnIndex[column] = -1 // reported below if the row is a header
		default:
			columnIndex[column], found[i] = i, true
		}
	}
	key := slices.IndexFunc(f.layout.Columns, func(c Column) bool { return c.Field == f.layout.Key })
	share := f.layout.headerShare(r)
	if !found[key] || share < 0.5 || slices.ContainsFunc(f.otherLayouts, func(o Layout) bool { return o.headerShare(r) > share }) {
		return nil, false
	}
	for column, i := range columnIndex {
		if i < 0 {
			f.addProblem(cellAddress(g.name, column, r.number), "the column %q appears twice; remove one of them", r.cells[column].text)
			delete(columnIndex, column)
		}
	}
	slices.Sort(unknown)
	for _, column := range unknown {
		f.notes = append(
			f.notes,
			fmt.Sprintf(
				"%s: unknown column %q ignored",
				cellAddress(g.name, column, r.number),
				truncateForMessage(r.cells[column].text),
			),
		)
	}
	return columnIndex, true
}

// headerShare returns the share of a layout's headers that a row contains, from 0 to 1.
func (l Layout) headerShare(r gridRow) float64 {
	n := 0
	for _, c := range l.Columns {
		for _, stands := range r.cells {
			if isSameHeader(c.Header, stands.text) {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(l.Columns))
}

func truncateForMessage(s string) string {
	if parts := splitText(s, 60); len(parts) > 1 {
		return parts[0] + "…"
	}
	return s
}

func (f *editFinder) findItemEdits(g *grid, rows []gridRow, columnIndex map[int]int) {
	columns := make([]int, 0, len(columnIndex))
	keyAt := 0
	for column, i := range columnIndex {
		columns = append(columns, column)
		if f.layout.Columns[i].Field == f.layout.Key {
			keyAt = column
		}
	}
	slices.Sort(columns)
	for _, r := range rows {
		key := lookupKey(r.cells[keyAt].text)
		place := cellAddress(g.name, keyAt, r.number)
		if key == "" {
			if slices.ContainsFunc(columns, func(c int) bool { return trimAndUnifyLineEnds(r.cells[c].text) != "" }) {
				f.addProblem(place, "the row has no item key; new rows can't be added")
			}
			continue
		}
		was, known := f.origins[key]
		switch {
		case !known:
			f.addProblem(place, "the export contained no item %q; new rows can't be added", truncateForMessage(key))
			continue
		case f.seen[key] != "":
			f.addProblem(place, "the item also appears at %s; remove one of the two rows", f.seen[key])
			continue
		case len(was.cells) != len(f.layout.Columns):
			f.addProblem(place, "the row was exported by another version of this program; export again")
			continue
		}
		f.seen[key] = place
		row := ChangedRow{
			Cell:     place,
			Key:      key,
			Item:     was.item,
			Revision: was.revision,
			Control:  was.control,
			Plan:     was.plan,
			layout:   f.layout,
			exported: was,
		}
		f.findCellEdits(g, r, columns, columnIndex, &row)
		f.addStatusEditIfMoved(g, &row)
		if len(row.Edits) > 0 {
			f.rows = append(f.rows, row)
		}
	}
}

// findCellEdits compares the cells of a row with the export. It adds every change to row. If a cell can't be
// imported, it adds a problem instead.
func (f *editFinder) findCellEdits(g *grid, r gridRow, columns []int, columnIndex map[int]int, row *ChangedRow) {
	for _, column := range columns {
		i := columnIndex[column]
		c := f.layout.Columns[i]
		if c.Field == f.layout.Key {
			continue
		}
		found, place := r.cells[column], cellAddress(g.name, column, r.number)
		if found.problem != "" {
			f.addProblem(place, "%s: %s", c.Header, found.problem)
			continue
		}
		if fingerprint(f.normalizeCellValue(c, found)) == row.exported.cells[i] {
			continue
		}
		switch {
		case c.ReflectsColumn != "":
			f.checkYesNoAgreement(g, r, columns, columnIndex, c, found, place)
		case !c.HasField():
			f.addProblem(place, "%s is not stored by this program; clear the cell%s", c.Header, parenthesizedSuffix(c.ReadOnlyReason))
		case !c.Editable:
			f.addProblem(place, "%s can't be imported; restore the cell's original value%s", c.Header, parenthesizedSuffix(c.ReadOnlyReason))
		default:
			edit := Edit{Cell: place, Field: c.Field, column: c}
			var wrong string
			if edit.NewValue, edit.JSONValue, wrong = c.parseValue(f.normalizeCellValue(c, found)); wrong != "" {
				f.addProblem(place, "%s: %s", c.Header, wrong)
				continue
			}
			if len(c.Members) == 0 {
				row.Edits = append(row.Edits, edit)
			} else if !slices.ContainsFunc(row.Edits, func(e Edit) bool { return e.Field == c.Field }) {
				all := f.membersIn(r, columnIndex, c.Field, row.exported)
				edit.NewValue, edit.JSONValue = strings.Join(all, "\n"), all
				row.Edits = append(row.Edits, edit)
			}
		}
	}
}

// membersIn returns the values of a list field, as given by the yes/no columns of a row. If the sheet lacks one of
// these columns, the exported answer is used.
func (f *editFinder) membersIn(r gridRow, columnIndex map[int]int, field string, exported exportedItem) []string {
	out := []string{}
	for i, c := range f.layout.Columns {
		if c.Field != field || len(c.Members) == 0 {
			continue
		}
		yes := exported.cells[i] == fingerprint(c.labelFor("yes"))
		for column, n := range columnIndex {
			if n == i {
				answer, _ := c.parseChoice(f.normalizeCellValue(c, r.cells[column]))
				yes = answer == "yes"
			}
		}
		if yes {
			out = append(out, c.Members[0])
		}
	}
	return out
}

func parenthesizedSuffix(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// normalizeCellValue returns the text of a cell in normalized form. In a column for dates, a date stored as a number
// is returned as a date.
func (f *editFinder) normalizeCellValue(c Column, found readCell) string {
	if c.Kind == KindDate && found.isNumber {
		if s, ok := dateFromSerial(found.number, f.workbook.from1904); ok {
			return s
		}
	}
	return trimAndUnifyLineEnds(wording.ReplaceControlCharacters(found.text))
}

// checkYesNoAgreement reports a problem if a yes/no cell contradicts the cell that it summarizes. The answer must be
// yes if the summarized cell has any text, and no otherwise.
func (f *editFinder) checkYesNoAgreement(
	g *grid,
	r gridRow,
	columns []int,
	columnIndex map[int]int,
	c Column,
	found readCell,
	place string,
) {
	answer, ok := c.parseChoice(trimAndUnifyLineEnds(found.text))
	if !ok {
		f.addProblem(place, "%s: write %s", c.Header, strings.Join(c.choiceLabels(), " or "))
		return
	}
	for _, column := range columns {
		if isSameHeader(f.layout.Columns[columnIndex[column]].Header, c.ReflectsColumn) &&
			(answer == "yes") != (trimAndUnifyLineEnds(r.cells[column].text) != "") {
			f.addProblem(
				place,
				"%s is %s, which doesn't match %s at %s; use the same value in both cells",
				c.Header,
				trimAndUnifyLineEnds(found.text),
				c.ReflectsColumn,
				cellAddress(g.name, column, r.number),
			)
		}
	}
}

// addStatusEditIfMoved adds a change of status if the row has been moved to the sheet of another status.
func (f *editFinder) addStatusEditIfMoved(g *grid, row *ChangedRow) {
	page := func(name string) int {
		return slices.IndexFunc(f.layout.Pages, func(p Page) bool { return isSameHeader(p.Name, name) })
	}
	from, to := page(row.exported.sheet), page(g.name)
	if from < 0 || to < 0 || from == to || f.layout.Pages[to].StatusOnMove == "" {
		return
	}
	status := f.layout.Pages[to].StatusOnMove
	row.Edits = append(
		row.Edits,
		Edit{
			Cell:      row.Cell,
			Field:     "status",
			NewValue:  status,
			JSONValue: status,
			column:    Column{Field: "status", Header: "Status", Kind: KindChoice},
		},
	)
}

// parseValue converts the text of a cell to the value that the API uses, both as text and as a JSON value. If the
// text is invalid, it returns a description of the problem.
func (c Column) parseValue(s string) (parsed string, jsonValue any, problem string) {
	if s == "" {
		if c.Required {
			return "", nil, "the cell can't be empty" + c.expectedInputHint()
		}
		if c.Optional {
			return "", nil, ""
		}
		if c.Kind == KindChoices {
			return "", []string{}, ""
		}
		return "", "", ""
	}
	switch c.Kind {
	case KindChoice, KindYesNo:
		v, ok := c.parseChoice(s)
		if !ok {
			return "", nil, fmt.Sprintf("there is no %q%s", truncateForMessage(s), c.expectedInputHint())
		}
		if c.Kind == KindYesNo {
			return v, v == "yes", ""
		}
		return v, v, ""
	case KindChoices:
		all := []string{}
		for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == ',' || r == ';' }) {
			if trimAndUnifyLineEnds(part) == "" {
				continue
			}
			v, ok := c.parseChoice(part)
			if !ok {
				return "", nil, fmt.Sprintf("there is no %q%s", truncateForMessage(trimAndUnifyLineEnds(part)), c.expectedInputHint())
			}
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		return strings.Join(all, "\n"), all, ""
	case KindNumber:
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || n != math.Trunc(n) || n < c.Min || n > c.Max {
			return "", nil, fmt.Sprintf("%q is not%s", truncateForMessage(s), strings.TrimPrefix(c.expectedInputHint(), "; write"))
		}
		return formatNumber(n), int(n), ""
	case KindDate:
		if _, ok := dateToSerial(s); !ok {
			return "", nil, fmt.Sprintf("%q is not a date%s", truncateForMessage(s), c.expectedInputHint())
		}
		return s, s, ""
	case KindMilestones:
		all, problem := parseMilestones(s)
		return joinLines(all), nil, problem
	case KindMilestoneChanges:
		all, problem := parseMilestoneChanges(s)
		return joinLines(all), nil, problem
	}
	if utf16Length(s) > maxCellUnits-300 {
		return "", nil, "the text is too long for a cell; edit it with the program's commands"
	}
	return s, s, ""
}

// expectedInputHint returns a hint about the input that the column accepts, for the end of an error message.
func (c Column) expectedInputHint() string {
	switch c.Kind {
	case KindChoice, KindYesNo:
		return "; write one of " + strings.Join(c.choiceLabels(), ", ")
	case KindChoices:
		return "; write any of " + strings.Join(c.choiceLabels(), ", ") + ", one per line"
	case KindNumber:
		return fmt.Sprintf("; write a whole number from %v to %v", c.Min, c.Max)
	case KindDate:
		return "; write it as 2027-03-31"
	}
	return ""
}

// IsUnchangedElsewhere reports whether the item has no changes other than those in this row. This is the case if
// every field has either the exported value or the value in the row.
func (r *ChangedRow) IsUnchangedElsewhere(current Fields) bool {
	for i, c := range r.layout.Columns {
		if !c.Editable || fingerprint(wording.ReplaceControlCharacters(c.formatValue(current(c.Field)))) == r.exported.cells[i] {
			continue
		}
		if !slices.ContainsFunc(r.Edits, func(e Edit) bool { return e.Field == c.Field && !e.WouldChange(current) }) {
			return false
		}
	}
	return true
}

// IsApplied reports whether an item already has all changes in the row.
func (r *ChangedRow) IsApplied(current Fields) bool {
	return !slices.ContainsFunc(r.Edits, func(e Edit) bool { return e.WouldChange(current) })
}

// WouldChange reports whether the edit would change an item that currently has the given fields.
func (e Edit) WouldChange(current Fields) bool {
	return trimAndUnifyLineEnds(wording.ReplaceControlCharacters(current(e.Field))) != e.NewValue
}
