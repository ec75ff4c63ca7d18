package pdf

import (
	"cmp"
	"math"
	"slices"
)

const (
	alignTolerance = 1.0 // points between the beginnings of words that are aligned
	maxOverlap     = 4.0 // points by which a letter cut off at the end of a cell may reach into the next one
	sameSpacing    = 1.5 // points by which the distances of lines that are equally far apart differ
	maxHeaderLines = 2   // whose names may span several columns
	maxRefined     = 200 // lines of a table that are examined for further columns
)

// completeTable finds the gaps of a table without rules that its first line doesn't show, and the lines below that
// belong to the table. lines starts with the table's first line; the first n lines share the gaps.
func completeTable(lines []*textLine, n int, gaps []gap) (lineCount int, all []gap) {
	band := lines[:min(n, maxRefined)]
	for i, l := range band {
		for _, g := range l.wideGaps() {
			if f, ok := sharedGap(band, i, g); ok {
				gaps = insertGap(gaps, f)
			}
		}
	}
	for i, w := range lines[0].words {
		if i == 0 {
			continue
		}
		if left, ok := isAligned(band, w.x0); ok {
			gaps = insertGap(gaps, gap{left, w.x0})
		}
	}
	gaps = joinNameColumns(band, gaps)
	starts := columnStarts(lines[:n], gaps)
	most := 0.0
	for i := 1; i < n; i++ {
		most = max(most, lines[i].y0-lines[i-1].y1)
	}
	for n < len(lines) && lines[n].y0-lines[n-1].y1 <= most+1 && continuesTable(lines[n], gaps, starts) {
		n++
	}
	return n, gaps
}

// joinNameColumns removes gaps between the name of a column and the text below it. Such a gap exists if only one of
// the two is aligned to the right.
func joinNameColumns(lines []*textLine, gaps []gap) []gap {
	inHeader, below := make([]bool, len(gaps)+1), make([]bool, len(gaps)+1)
	for i, l := range lines {
		for k, part := range splitAtGaps(l, gaps) {
			if i == 0 {
				inHeader[k] = len(part) > 0
			} else {
				below[k] = below[k] || len(part) > 0
			}
		}
	}
	var out []gap
	for k, g := range gaps {
		isName := inHeader[k] && !below[k] && !inHeader[k+1] && below[k+1]
		isText := !inHeader[k] && below[k] && inHeader[k+1] && !below[k+1]
		if isName || isText {
			inHeader[k+1], below[k+1] = true, true
			continue
		}
		out = append(out, g)
	}
	return out
}

// columnBound returns the x position that separates the columns on both sides of a gap. It is the middle of the gap,
// unless that would split a name in the header: the name of a column of right-aligned figures may begin far to their
// left.
func columnBound(g gap, lines []*textLine) float64 {
	middle := (g.from + g.to) / 2
	lo, hi := math.Inf(-1), math.Inf(1) // between the middles of the words on both sides
	for _, l := range lines[1:min(len(lines), maxRefined)] {
		for _, w := range l.words {
			if x := (w.x0 + w.x1) / 2; x < middle {
				lo = max(lo, x)
			} else {
				hi = min(hi, x)
			}
		}
	}
	best, bound := minGap, middle
	header := lines[0].words
	for i := 1; i < len(header); i++ {
		from, to := header[i-1].x1, header[i].x0
		at := (from + to) / 2
		switch {
		case to-from >= minGap && from <= middle && middle <= to:
			return middle
		case to-from > best && at > lo && at < hi:
			best, bound = to-from, at
		}
	}
	return bound
}

// firstEmptyRow returns the index of the first line of a table below an empty row, or the number of lines. It requires
// two lines above, and nearly equal distances between all other lines.
func firstEmptyRow(lines []*textLine) int {
	var spaces []float64
	for i, l := range lines[1:] {
		spaces = append(spaces, l.y0-lines[i].y1)
	}
	if len(spaces) < 3 {
		return len(lines)
	}
	sorted := slices.Sorted(slices.Values(spaces))
	usual, first, wide := sorted[len(sorted)/2], len(lines), 0
	for i, space := range spaces {
		switch l := lines[i+1]; {
		case space > usual+0.8*l.size:
			first = min(first, i+1)
			wide++
		case math.Abs(space-usual) > sameSpacing:
			return len(lines)
		}
	}
	if first == 1 || 3*wide > len(spaces) {
		return len(lines)
	}
	return first
}

// beginsTable reports whether the first line has text in all columns of the lines below.
func beginsTable(lines []*textLine) bool {
	n, gaps := findBand(lines, 3)
	return n > 0 && !slices.ContainsFunc(splitAtGaps(lines[0], gaps), func(part []word) bool { return len(part) == 0 })
}

// insertGap adds a gap, unless it overlaps an existing one.
func insertGap(gaps []gap, g gap) []gap {
	for _, known := range gaps {
		if g.from < known.to && known.from < g.to || g.to == known.to {
			return gaps
		}
	}
	gaps = append(slices.Clone(gaps), g)
	slices.SortFunc(gaps, func(a, b gap) int { return cmp.Compare(a.from, b.from) })
	return gaps
}

// sharedGap returns the part of a line's gap that is common to all lines, ignoring names in the header that span
// columns. At least a third of the lines must have text on both sides.
func sharedGap(lines []*textLine, own int, g gap) (shared gap, ok bool) {
	for i, l := range lines {
		f := l.freeGap(g)
		switch {
		case f.to-f.from >= minGap:
			g = f
		case i >= maxHeaderLines || i == own:
			return g, false
		}
	}
	both := 0
	for _, l := range lines {
		if l.hasWordsOnBothSides(g) {
			both++
		}
	}
	return g, both >= 2 && both*3 >= len(lines)
}

// isAligned reports whether a column begins at x, even if the column to its left ends close to it. Most lines must
// have a word that begins at x, and none a word that crosses it. left is where the text on the left ends.
func isAligned(lines []*textLine, x float64) (left float64, ok bool) {
	begin := 0
	for _, l := range lines {
		at := slices.IndexFunc(l.words, func(w word) bool { return math.Abs(w.x0-x) <= alignTolerance })
		if at > 0 {
			begin++
		}
		for _, w := range l.words {
			if w.x0 < x-alignTolerance && w.x1 > x+alignTolerance && (at < 0 || w.x1 > x+maxOverlap) {
				return 0, false
			}
			if w.x0 < x-alignTolerance {
				left = max(left, min(w.x1, x))
			}
		}
	}
	return left, begin >= 3 && begin*5 >= len(lines)*3
}

// columnStarts returns the positions at which the texts of each column begin.
func columnStarts(lines []*textLine, gaps []gap) [][]float64 {
	out := make([][]float64, len(gaps)+1)
	for _, l := range lines {
		for k, part := range splitAtGaps(l, gaps) {
			if len(part) > 0 {
				out[k] = append(out[k], part[0].x0)
			}
		}
	}
	return out
}

// continuesTable reports whether a line has text in several columns of the table above, each starting at the same
// position as others in its column.
func continuesTable(l *textLine, gaps []gap, starts [][]float64) bool {
	filled := 0
	for k, part := range splitAtGaps(l, gaps) {
		if len(part) == 0 {
			continue
		}
		first, last := part[0], part[len(part)-1]
		isStart := func(x float64) bool { return math.Abs(x-first.x0) <= alignTolerance }
		if k > 0 && !slices.ContainsFunc(starts[k], isStart) || k < len(gaps) && last.x1 > gaps[k].to+maxOverlap {
			return false
		}
		filled++
	}
	return filled > 1
}

// isNameAbove reports whether the line above a table contains names that span several of its columns.
func isNameAbove(l *textLine, table []*textLine, gaps []gap) bool {
	if len(l.wideGaps()) == 0 || len(gaps) < 2 || l.y1 > table[0].y0 || table[0].y0-l.y1 > table[0].size {
		return false
	}
	starts := columnStarts(table, gaps)
	isStart := func(w word) bool {
		return slices.ContainsFunc(starts, func(column []float64) bool { // a column may be empty
			return len(column) > 0 && math.Abs(column[0]-w.x0) <= alignTolerance
		})
	}
	for i, w := range l.words {
		if (i == 0 || w.x0-l.words[i-1].x1 >= minGap) && !isStart(w) {
			return false
		}
	}
	return true
}

// joinNames returns a line whose words are names that span several columns. Each name is placed in the first of these
// columns.
func joinNames(l *textLine) *textLine {
	var names []word
	for i, w := range l.words {
		if n := len(names) - 1; i > 0 && w.x0-l.words[i-1].x1 < minGap {
			names[n].text += " " + w.text
			continue
		}
		names = append(names, w)
	}
	return newLine(names)
}

// isSmallTable reports whether two lines form a table with two rows: in each column, both rows have a few words that
// begin at the same position, and there are no other gaps.
func isSmallTable(lines []*textLine, gaps []gap) bool {
	starts := columnStarts(lines, gaps)
	for _, l := range lines {
		if len(l.wideGaps()) != len(gaps) {
			return false
		}
		for k, part := range splitAtGaps(l, gaps) {
			if len(part) == 0 || len(part) > 4 || math.Abs(starts[k][0]-part[0].x0) > alignTolerance {
				return false
			}
		}
	}
	return len(lines) == 2
}
