package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/text"
)

const (
	ruleTolerance = 2.5 // maximum distance, in points, of rules that are treated as one
	meetTolerance = 3.0 // maximum distance, in points, of rules that are treated as meeting
	maxCrossings  = 4_000_000
	columnPadding = 2.0 // minimum distance, in points, of the text of two columns
)

// grid is a table on a page, usually found by its ruling lines.
type grid struct {
	box
	xs, ys []float64
	rows   []gridRow
	cellOf []int // for each field, another field of its cell, or itself; see cellRoot
	// size and letters are the height of the first word, and the number of bytes in all of them.
	size    float64
	letters int
}

// gridRow is one row of a grid. cells holds the text of the cells that begin in the row; effective
// also includes cells that begin above and extend into it. merged is like cells, with
// document.MergedLeft or document.MergedUp in those covered by another cell.
type gridRow struct {
	cells, effective, merged []string
}

// findGrids finds the tables formed by rules (ruling lines) that cross. Frames and single boxes are not tables.
func findGrids(rules []rule) []*grid {
	hs, vs := mergeRules(rules, true, ruleTolerance), mergeRules(append(rules, impliedColumnRules(rules)...), false, ruleTolerance)
	if len(hs) < 2 || len(vs) < 2 || len(hs)*len(vs) > maxCrossings {
		return nil
	}
	// Rules that cross, directly or through others, form one table.
	parent := make([]int, len(hs)+len(vs))
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for i, h := range hs {
		for j, v := range vs {
			if v.at >= h.from-meetTolerance && v.at <= h.to+meetTolerance && h.at >= v.from-meetTolerance && h.at <= v.to+meetTolerance {
				parent[root(i)] = root(len(hs) + j)
			}
		}
	}
	var order []int
	groups := map[int]*[2][]rule{}
	for i := range parent {
		g := groups[root(i)]
		if g == nil {
			g = &[2][]rule{}
			groups[root(i)] = g
			order = append(order, root(i))
		}
		if i < len(hs) {
			g[0] = append(g[0], hs[i])
		} else {
			g[1] = append(g[1], vs[i-len(hs)])
		}
	}
	var out []*grid
	for _, r := range order {
		if g := newGrid(groups[r][0], groups[r][1]); g != nil {
			out = append(out, g)
		}
	}
	return out
}

// impliedColumnRules returns vertical rules for tables that have only horizontal rules, drawn cell by cell. A column
// boundary is assumed where, at several heights, one piece of a rule ends and the next begins.
func impliedColumnRules(rules []rule) []rule {
	type joint struct{ x, y float64 }
	var joints []joint
	var level []rule
	for _, r := range rules {
		if r.horizontal {
			level = append(level, r)
		}
	}
	if len(level) > 4000 {
		return nil
	}
	slices.SortStableFunc(level, func(a, b rule) int { return cmp.Compare(a.at, b.at) })
	for i, a := range level {
		for _, b := range level[i+1:] {
			if b.at-a.at > ruleTolerance {
				break
			}
			if math.Abs(a.to-b.from) < 1 || math.Abs(b.to-a.from) < 1 {
				joints = append(joints, joint{a.from, a.at}, joint{a.to, a.at}, joint{b.from, b.at}, joint{b.to, b.at})
			}
		}
	}
	slices.SortFunc(joints, func(a, b joint) int { return cmp.Compare(a.x, b.x) })
	var out []rule
	for i := 0; i < len(joints); {
		j, top, bottom := i, joints[i].y, joints[i].y
		for ; j < len(joints) && joints[j].x-joints[i].x < ruleTolerance; j++ {
			top, bottom = min(top, joints[j].y), max(bottom, joints[j].y)
		}
		if bottom-top > 3*ruleTolerance {
			out = append(out, rule{horizontal: false, at: joints[i].x, from: top, to: bottom})
		}
		i = j
	}
	return out
}

// mergeRules merges rules of one direction that touch and are no further apart than tolerance.
func mergeRules(rules []rule, horizontal bool, tolerance float64) []rule {
	var in []rule
	for _, r := range rules {
		if r.horizontal == horizontal {
			in = append(in, r)
		}
	}
	slices.SortFunc(in, func(a, b rule) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.from, b.from)) })
	var out []rule
	for start := 0; start < len(in); {
		end := start + 1
		for end < len(in) && in[end].at-in[start].at <= tolerance {
			end++
		}
		line := in[start:end]
		at := line[len(line)/2].at
		slices.SortFunc(line, func(a, b rule) int { return cmp.Compare(a.from, b.from) })
		cur := rule{horizontal: horizontal, at: at, from: line[0].from, to: line[0].to}
		for _, r := range line[1:] {
			if r.from <= cur.to+meetTolerance {
				cur.to = max(cur.to, r.to)
				continue
			}
			out = append(out, cur)
			cur = rule{horizontal: horizontal, at: at, from: r.from, to: r.to}
		}
		out = append(out, cur)
		start = end
	}
	return out
}

// distinctPositions returns the positions of the rules in ascending order. Nearly equal positions count as one.
func distinctPositions(rules []rule) []float64 {
	var at []float64
	for _, r := range rules {
		at = append(at, r.at)
	}
	slices.Sort(at)
	out := at[:0]
	for _, v := range at {
		if len(out) == 0 || v-out[len(out)-1] > ruleTolerance {
			out = append(out, v)
		}
	}
	return out
}

func newGrid(hs, vs []rule) *grid {
	ys, xs := distinctPositions(hs), distinctPositions(vs)
	if len(xs) < 3 || len(ys) < 2 { // one column is a frame, not a table
		return nil
	}
	if len(ys) > 2000 || len(xs) > 200 {
		return nil
	}
	g := &grid{xs: xs, ys: ys, box: box{x0: xs[0], y0: ys[0], x1: xs[len(xs)-1], y1: ys[len(ys)-1]}}
	g.assignCells(hs, vs)
	return g
}

// assignCells joins neighboring fields of the grid into one cell if no rule separates them.
func (g *grid) assignCells(hs, vs []rule) {
	rows, cols := len(g.ys)-1, len(g.xs)-1
	g.rows = make([]gridRow, rows)
	for i := range g.rows {
		g.rows[i] = gridRow{cells: make([]string, cols), effective: make([]string, cols), merged: make([]string, cols)}
	}
	g.cellOf = make([]int, rows*cols)
	for i := range g.cellOf {
		g.cellOf[i] = i
	}
	parted := func(rules []rule, at, mid float64) bool {
		for _, r := range rules {
			if math.Abs(r.at-at) <= ruleTolerance && r.from-meetTolerance <= mid && mid <= r.to+meetTolerance {
				return true
			}
		}
		return false
	}
	for i := range rows {
		midY := (g.ys[i] + g.ys[i+1]) / 2
		for j := range cols {
			midX := (g.xs[j] + g.xs[j+1]) / 2
			if j > 0 && !parted(vs, g.xs[j], midY) {
				g.mergeCells(i*cols+j, i*cols+j-1)
			}
			if i > 0 && !parted(hs, g.ys[i], midX) {
				g.mergeCells(i*cols+j, (i-1)*cols+j)
			}
		}
	}
}

// cellRoot returns the cell that represents the merged cell that contains cell i.
func (g *grid) cellRoot(i int) int {
	for g.cellOf[i] != i {
		g.cellOf[i] = g.cellOf[g.cellOf[i]]
		i = g.cellOf[i]
	}
	return i
}

// mergeCells merges two cells. The merged cell is represented by its upper left field.
func (g *grid) mergeCells(a, b int) {
	a, b = g.cellRoot(a), g.cellRoot(b)
	g.cellOf[max(a, b)] = min(a, b)
}

// fillWords assigns words to the cells of the grid.
func (g *grid) fillWords(words []word) {
	cols := len(g.xs) - 1
	g.measure(words)
	byCell := map[int][]word{}
	for _, w := range words {
		j, _ := slices.BinarySearch(g.xs, (w.x0+w.x1)/2)
		i, _ := slices.BinarySearch(g.ys, (w.y0+w.y1)/2)
		i, j = min(max(i-1, 0), len(g.ys)-2), min(max(j-1, 0), cols-1)
		k := g.cellRoot(i*cols + j)
		byCell[k] = append(byCell[k], w)
	}
	for k, ws := range byCell {
		g.rows[k/cols].cells[k%cols] = cellText(ws)
	}
	for i := range g.rows {
		for j := range cols {
			k := g.cellRoot(i*cols + j)
			// A cell that spans columns is read once; one that spans rows is read for each of them.
			switch {
			case k%cols != j:
				g.rows[i].merged[j] = document.MergedLeft
				continue
			case k/cols != i:
				g.rows[i].merged[j] = document.MergedUp
			default:
				g.rows[i].merged[j] = g.rows[i].cells[j]
			}
			g.rows[i].effective[j] = g.rows[k/cols].cells[j]
		}
	}
	g.splitTallRows(words)
	g.rows = slices.DeleteFunc(g.rows, func(r gridRow) bool { return document.CountFilled(r.cells) == 0 })
	g.dropEmptyColumns()
}

func (g *grid) measure(words []word) {
	for i, w := range words {
		if i == 0 {
			g.size = w.height()
		}
		g.letters += len(w.text)
	}
}

// splitTallRows splits the last row of a table into the rows formed by its aligned lines. It is
// meant for tables that have rules only around the header or between the columns, which makes the
// last row too tall.
func (g *grid) splitTallRows(words []word) {
	if len(g.rows) > 3 {
		return
	}
	var out []gridRow
	for i, r := range g.rows {
		var in []word
		for _, w := range words {
			if mid := (w.y0 + w.y1) / 2; mid > g.ys[i] && mid < g.ys[i+1] {
				in = append(in, w)
			}
		}
		isTurned := slices.ContainsFunc(in, func(w word) bool { return w.turn != upright })
		if parts := groupRows(in, g.xs[1:len(g.xs)-1]); len(parts) > 1 && i+1 == len(g.rows) && !isTurned {
			out = append(out, parts...)
			continue
		}
		out = append(out, r)
	}
	g.rows = out
}

// groupRows groups aligned words into rows, given the column bounds. Rows are further apart than the lines within a
// row. A line also begins a row if its text would have fit into the line above. If all distances are equal, each line
// with text in the first column begins a row; if the lines are too far apart to belong to one cell, each line does.
func groupRows(words []word, bounds []float64) []gridRow {
	byColumn := make([][]word, len(bounds)+1)
	for _, w := range words {
		j, _ := slices.BinarySearch(bounds, (w.x0+w.x1)/2)
		byColumn[j] = append(byColumn[j], w)
	}
	type piece struct {
		*textLine
		column int
	}
	var pieces []piece
	tight := math.Inf(1)
	for j, ws := range byColumn {
		lines := groupLines(ws)
		for i, l := range lines {
			pieces = append(pieces, piece{l, j})
			if i > 0 {
				tight = min(tight, max(l.y0-lines[i-1].y1, 0))
			}
		}
	}
	if len(pieces) == 0 {
		return nil
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.y0, b.y0) })
	var groups [][]piece // separated by any gap, however small
	var spaces []float64
	bottom := math.Inf(-1)
	wide := 0
	for _, p := range pieces {
		if space := p.y0 - bottom; len(groups) == 0 || space > -0.1*p.size {
			groups = append(groups, nil)
			spaces = append(spaces, space)
			if len(groups) > 1 && space > 1.4*tight+1 {
				wide++
			}
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], p)
		bottom = max(bottom, p.y1)
	}
	var out []gridRow
	var cells [][]string
	flush := func() {
		if cells == nil {
			return
		}
		row := make([]string, len(cells))
		for j, lines := range cells {
			row[j] = document.CleanLine(text.JoinLines(lines))
		}
		out = append(out, gridRow{row, row, row})
	}
	right := make([]float64, len(byColumn)) // where the text of a column ends, or the next column begins
	for _, p := range pieces {
		right[p.column] = max(right[p.column], p.x1)
	}
	for j := range bounds {
		next := math.Inf(1)
		for _, w := range byColumn[j+1] {
			next = min(next, w.x0-columnPadding)
		}
		if !math.IsInf(next, 1) {
			right[j] = max(right[j], next)
		}
	}
	last := make([]*textLine, len(byColumn)) // of each cell of the row
	// hadRoom reports whether most texts of a group can't continue the cells above, where their first words had room. Where
	// the last column ends is not known.
	hadRoom := func(group []piece) bool {
		had, lacked := 0, 0
		for _, p := range group {
			above, first := last[p.column], p.words[0]
			switch {
			case above == nil:
			case above.x1+0.25*p.size+first.x1-first.x0 < right[p.column]:
				had++
			case p.column < len(bounds):
				lacked++
			}
		}
		return had > 1 && had > lacked
	}
	for i, group := range groups {
		fresh := i == 0 || spaces[i] > 1.4*tight+1 || hadRoom(group)
		if wide == 0 && !fresh {
			fresh = tight > 0.9*group[0].size || slices.ContainsFunc(group, func(p piece) bool { return p.column == 0 })
		}
		if fresh {
			flush()
			cells = make([][]string, len(byColumn))
			clear(last)
		}
		for _, p := range group {
			cells[p.column], last[p.column] = append(cells[p.column], p.text), p.textLine
		}
	}
	flush()
	return out
}

func cellText(words []word) string {
	if words[0].turn != upright {
		words = turnWords(words)
	}
	var lines []string
	for _, l := range groupLines(words) {
		lines = append(lines, l.text)
	}
	return document.CleanLine(text.JoinLines(lines))
}

func (g *grid) dropEmptyColumns() {
	if len(g.rows) == 0 {
		return
	}
	var keep []int
	for j := range g.rows[0].effective {
		if slices.ContainsFunc(g.rows, func(r gridRow) bool { return r.effective[j] != "" }) {
			keep = append(keep, j)
		}
	}
	for i := range g.rows {
		var row gridRow
		for _, j := range keep {
			row.cells = append(row.cells, g.rows[i].cells[j])
			row.effective = append(row.effective, g.rows[i].effective[j])
			row.merged = append(row.merged, g.rows[i].merged[j])
		}
		g.rows[i] = row
	}
}

// comparableKey returns a key for comparing the grid with those of other pages, ignoring numbers.
func (g *grid) comparableKey() string {
	var sb strings.Builder
	for _, r := range g.rows {
		sb.WriteString(strings.Join(r.cells, " "))
		sb.WriteByte(' ')
	}
	return textKeyIgnoringNumbers(sb.String())
}
