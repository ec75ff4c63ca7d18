package workbook

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Exported is what a workbook says of where it came from.
type Exported struct {
	// Assessment is the id of the one it was made from.
	Assessment string
	// Layouts are those it has sheets of.
	Layouts []string
	items   map[string]map[string]origin // by layout and key
}

// origin is an item as it was exported.
type origin struct {
	sheet, item   string
	control, plan string
	revision      int
	cells         []string // fingerprints, by the layout's columns
}

// Edit is one changed cell.
type Edit struct {
	// Cell is its sheet and place, as Gap analysis!E12.
	Cell string
	// Field is the contract's name of what was changed.
	Field string
	// To is the new value as the contract has it.
	To string
	// Value is To for JSON.
	Value  any
	column Column
}

// Row is an item of which something was changed.
type Row struct {
	// Cell is where the row's name stands.
	Cell string
	// Key names the item in its layout; Item is its id when it was exported, and Revision
	// the one it had then.
	Key, Item string
	Revision  int
	// Control and Plan are the codes of its control and, in a plan, of itself.
	Control, Plan string
	Edits         []Edit
	layout        Layout
	was           origin
}

// Problem is something that can't be taken, and where.
type Problem struct{ Cell, Message string }

func (p Problem) String() string { return p.Cell + ": " + p.Message }

// mostProblems is how many are told; a workbook of another kind has them in each cell.
const mostProblems = 40

// Exported reads the hidden sheet that an export leaves.
func (w *Workbook) Exported() (*Exported, error) {
	i := slices.IndexFunc(w.sheets, func(g grid) bool { return g.name == sourceName })
	if i < 0 {
		return nil, refuse("its hidden sheet %q is gone, so nobody can tell what was changed; export again and make the changes there", sourceName)
	}
	x := &Exported{items: map[string]map[string]origin{}}
	form, head := "", false
	for _, r := range w.sheets[i].rows {
		t := func(column int) string { return r.cells[column].text }
		switch {
		case !head && t(1) == "form":
			form = t(2)
		case !head && t(1) == "assessment":
			x.Assessment = t(2)
		case !head && t(1) == sourceHead[0] && t(3) == sourceHead[2]:
			head = true
		case head:
			revision, err := strconv.Atoi(t(7))
			if err != nil || t(3) == "" {
				return nil, refuse("row %d of its hidden sheet %q was changed; export again", r.number, sourceName)
			}
			if x.items[t(1)] == nil {
				x.items[t(1)] = map[string]origin{}
				x.Layouts = append(x.Layouts, t(1))
			}
			x.items[t(1)][keyed(t(3))] = origin{t(2), t(4), t(5), t(6), revision, strings.Fields(t(8))}
		}
	}
	if form != sourceForm {
		return nil, refuse("it was written by another version of this program; export again")
	}
	return x, nil
}

// keyed is a key as it is found again.
func keyed(s string) string { return settled(Clean(s)) }

// Edits are the rows of a layout that differ from what was exported, in the workbook's
// order. notes tell what is passed over.
func (w *Workbook) Edits(x *Exported, l Layout) (rows []Row, problems []Problem, notes []string) {
	f := finder{workbook: w, layout: l, origins: x.items[l.Name], seen: map[string]string{}}
	for name, other := range layouts() {
		if name != l.Name {
			f.others = append(f.others, other)
		}
	}
	for i := range w.sheets {
		if w.sheets[i].name != sourceName && w.sheets[i].name != longName {
			f.sheet(&w.sheets[i])
		}
	}
	return f.rows, f.problems, f.notes
}

type finder struct {
	workbook *Workbook
	layout   Layout
	others   []Layout // a sheet may be of one of them
	origins  map[string]origin
	seen     map[string]string
	rows     []Row
	problems []Problem
	notes    []string
}

func (f *finder) problem(cell, format string, args ...any) {
	switch len(f.problems) {
	case mostProblems:
		f.problems = append(f.problems, Problem{cell, fmt.Sprintf("there are more than %d such cells; the rest is not told", mostProblems)})
	case mostProblems + 1:
	default:
		f.problems = append(f.problems, Problem{cell, fmt.Sprintf(format, args...)})
	}
}

func at(sheet string, column, row int) string { return sheet + "!" + place(column, row) }

// headRows is how far down a head is looked for.
const headRows = 40

// sheet looks for the layout's head and takes the rows below it.
func (f *finder) sheet(g *grid) {
	for n, r := range g.rows {
		if r.number > headRows {
			return
		}
		where, known := f.head(g, r)
		if known {
			f.items(g, g.rows[n+1:], where)
			return
		}
	}
}

// head finds columns by their headers. A row with its key and most others is a head.
func (f *finder) head(g *grid, r gridRow) (map[int]int, bool) {
	where, found := map[int]int{}, map[int]bool{}
	var unknown []int
	for column, c := range r.cells {
		i := slices.IndexFunc(f.layout.Columns, func(x Column) bool { return sameHeader(x.Header, c.text) })
		switch {
		case i < 0:
			unknown = append(unknown, column)
		case found[i]:
			where[column] = -1 // told below, where the row is a head
		default:
			where[column], found[i] = i, true
		}
	}
	key := slices.IndexFunc(f.layout.Columns, func(c Column) bool { return c.Field == f.layout.Key })
	share := f.layout.share(r)
	if !found[key] || share < 0.5 || slices.ContainsFunc(f.others, func(o Layout) bool { return o.share(r) > share }) {
		return nil, false
	}
	for column, i := range where {
		if i < 0 {
			f.problem(at(g.name, column, r.number), "the column %q stands twice; remove one", r.cells[column].text)
			delete(where, column)
		}
	}
	slices.Sort(unknown)
	for _, column := range unknown {
		f.notes = append(f.notes, fmt.Sprintf("%s: the column %q is not known and is left out", at(g.name, column, r.number), short(r.cells[column].text)))
	}
	return where, true
}

// share is how many of a layout's headers stand in a row.
func (l Layout) share(r gridRow) float64 {
	n := 0
	for _, c := range l.Columns {
		for _, stands := range r.cells {
			if sameHeader(c.Header, stands.text) {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(l.Columns))
}

func short(s string) string {
	if parts := split(s, 60); len(parts) > 1 {
		return parts[0] + "…"
	}
	return s
}

func (f *finder) items(g *grid, rows []gridRow, where map[int]int) {
	columns := make([]int, 0, len(where))
	keyAt := 0
	for column, i := range where {
		columns = append(columns, column)
		if f.layout.Columns[i].Field == f.layout.Key {
			keyAt = column
		}
	}
	slices.Sort(columns)
	for _, r := range rows {
		key := keyed(r.cells[keyAt].text)
		place := at(g.name, keyAt, r.number)
		if key == "" {
			if slices.ContainsFunc(columns, func(c int) bool { return settled(r.cells[c].text) != "" }) {
				f.problem(place, "the row does not say which item it is; rows can't be added here")
			}
			continue
		}
		was, known := f.origins[key]
		switch {
		case !known:
			f.problem(place, "no item %q was exported; rows can't be added here", short(key))
			continue
		case f.seen[key] != "":
			f.problem(place, "the item stands twice, also at %s; remove one", f.seen[key])
			continue
		case len(was.cells) != len(f.layout.Columns):
			f.problem(place, "it was exported by another version of this program; export again")
			continue
		}
		f.seen[key] = place
		row := Row{Cell: place, Key: key, Item: was.item, Revision: was.revision, Control: was.control, Plan: was.plan, layout: f.layout, was: was}
		f.cells(g, r, columns, where, &row)
		f.moved(g, &row)
		if len(row.Edits) > 0 {
			f.rows = append(f.rows, row)
		}
	}
}

// cells compares a row's cells with what was exported.
func (f *finder) cells(g *grid, r gridRow, columns []int, where map[int]int, row *Row) {
	for _, column := range columns {
		i := where[column]
		c := f.layout.Columns[i]
		if c.Field == f.layout.Key {
			continue
		}
		stands, place := r.cells[column], at(g.name, column, r.number)
		if stands.fault != "" {
			f.problem(place, "%s: %s", c.Header, stands.fault)
			continue
		}
		if fingerprint(f.reads(c, stands)) == row.was.cells[i] {
			continue
		}
		switch {
		case c.Follows != "":
			f.follows(g, r, columns, where, c, stands, place)
		case !c.Held():
			f.problem(place, "%s is not held by this program; empty the cell%s", c.Header, because(c.Why))
		case !c.Edit:
			f.problem(place, "%s is not taken back; set the cell to what it was%s", c.Header, because(c.Why))
		default:
			edit := Edit{Cell: place, Field: c.Field, column: c}
			var wrong string
			if edit.To, edit.Value, wrong = c.parse(f.reads(c, stands)); wrong != "" {
				f.problem(place, "%s: %s", c.Header, wrong)
				continue
			}
			row.Edits = append(row.Edits, edit)
		}
	}
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// reads is a cell's value as its column's kind would write it.
func (f *finder) reads(c Column, stands cell) string {
	if c.Kind == Date && stands.numeric {
		if s, ok := dateOf(stands.number, f.workbook.from1904); ok {
			return s
		}
	}
	return settled(Clean(stands.text))
}

// follows checks that a yes or no agrees with the cell that it speaks of.
func (f *finder) follows(g *grid, r gridRow, columns []int, where map[int]int, c Column, stands cell, place string) {
	said, ok := c.choose(settled(stands.text))
	if !ok {
		f.problem(place, "%s: write %s", c.Header, strings.Join(c.allowed(), " or "))
		return
	}
	for _, column := range columns {
		if sameHeader(f.layout.Columns[where[column]].Header, c.Follows) && (said == "yes") != (settled(r.cells[column].text) != "") {
			f.problem(place, "%s says %s, and %s at %s says otherwise; make them agree", c.Header, settled(stands.text), c.Follows, at(g.name, column, r.number))
		}
	}
}

// moved takes a row that a person put on another sheet as a change of its status.
func (f *finder) moved(g *grid, row *Row) {
	page := func(name string) int {
		return slices.IndexFunc(f.layout.Pages, func(p Page) bool { return sameHeader(p.Name, name) })
	}
	from, to := page(row.was.sheet), page(g.name)
	if from < 0 || to < 0 || from == to || f.layout.Pages[to].Moved == "" {
		return
	}
	status := f.layout.Pages[to].Moved
	row.Edits = append(row.Edits, Edit{Cell: row.Cell, Field: "status", To: status, Value: status, column: Column{Field: "status", Header: "Status", Kind: Choice}})
}

// parse is a cell's text as the contract has it, and for JSON; wrong says what can't be.
func (c Column) parse(s string) (to string, value any, wrong string) {
	if s == "" {
		if c.Required {
			return "", nil, "it can't be empty" + c.expects()
		}
		if c.Optional {
			return "", nil, ""
		}
		if c.Kind == Choices {
			return "", []string{}, ""
		}
		return "", "", ""
	}
	switch c.Kind {
	case Choice, YesNo:
		v, ok := c.choose(s)
		if !ok {
			return "", nil, fmt.Sprintf("there is no %q%s", short(s), c.expects())
		}
		if c.Kind == YesNo {
			return v, v == "yes", ""
		}
		return v, v, ""
	case Choices:
		all := []string{}
		for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == ',' || r == ';' }) {
			if settled(part) == "" {
				continue
			}
			v, ok := c.choose(part)
			if !ok {
				return "", nil, fmt.Sprintf("there is no %q%s", short(settled(part)), c.expects())
			}
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		return strings.Join(all, "\n"), all, ""
	case Number:
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || n != math.Trunc(n) || n < c.Min || n > c.Max {
			return "", nil, fmt.Sprintf("%q is not%s", short(s), strings.TrimPrefix(c.expects(), "; write"))
		}
		return shortest(n), int(n), ""
	case Date:
		if _, ok := day(s); !ok {
			return "", nil, fmt.Sprintf("%q is no date%s", short(s), c.expects())
		}
		return s, s, ""
	case MilestoneLines:
		all, wrong := parsePlanned(s)
		return lined(all), nil, wrong
	case ChangeLines:
		all, wrong := parseMoved(s)
		return lined(all), nil, wrong
	}
	if units(s) > maxCell-300 {
		return "", nil, "it is longer than a cell can hold; change it with the program's own commands"
	}
	return s, s, ""
}

// expects says what may be written.
func (c Column) expects() string {
	switch c.Kind {
	case Choice, YesNo:
		return "; write one of " + strings.Join(c.allowed(), ", ")
	case Choices:
		return "; write any of " + strings.Join(c.allowed(), ", ") + ", one on each line"
	case Number:
		return fmt.Sprintf("; write a whole number from %v to %v", c.Min, c.Max)
	case Date:
		return "; write it as 2027-03-31"
	}
	return ""
}

// Follows tells whether an item says what the row's said when it was exported, or what
// the row now says: one that nobody else has changed.
func (r *Row) Follows(now Fields) bool {
	for i, c := range r.layout.Columns {
		if !c.Edit || fingerprint(Clean(c.shown(now(c.Field)))) == r.was.cells[i] {
			continue
		}
		if !slices.ContainsFunc(r.Edits, func(e Edit) bool { return e.Field == c.Field && !e.Differs(now) }) {
			return false
		}
	}
	return true
}

// Done tells whether an item says all that the row changes.
func (r *Row) Done(now Fields) bool {
	return !slices.ContainsFunc(r.Edits, func(e Edit) bool { return e.Differs(now) })
}

// Differs tells whether an edit would change an item as it is now.
func (e Edit) Differs(now Fields) bool { return settled(Clean(now(e.Field))) != e.To }
