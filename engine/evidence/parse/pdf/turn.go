package pdf

import "slices"

// turn is the direction of a line of text on the displayed page, in quarter turns counterclockwise.
type turn int

const (
	upright turn = iota
	upward
	upsideDown
	downward
)

func (t turn) isVertical() bool { return t == upward || t == downward }

// splitByDirection splits a page into its upright text and the text in each other direction, which is put on pages
// turned so that it is upright. Vertical text in a table of upright text, such as the name of a row, stays with the
// table.
func (p *pageContent) splitByDirection() []*pageContent {
	turned := 0
	for _, w := range p.words {
		if w.turn != upright {
			turned++
		}
	}
	if turned == 0 {
		return []*pageContent{p}
	}
	var tables []box
	for _, g := range findGrids(p.rules) {
		balance := 0
		for _, w := range p.words {
			switch {
			case !g.contains(w):
			case w.turn == upright:
				balance++
			default:
				balance--
			}
		}
		if balance > 0 {
			tables = append(tables, g.box)
		}
	}
	var parts [4]*pageContent
	for _, w := range p.words {
		t := w.turn
		if isInside(w, tables) {
			t = upright
		}
		if parts[t] == nil {
			parts[t] = p.turned(t)
		}
		if t != upright {
			w.box, w.turn = w.box.turned(t, p.w, p.h), upright
		}
		parts[t].words = append(parts[t].words, w)
	}
	var out []*pageContent
	for _, part := range parts {
		if part != nil {
			out = append(out, part)
		}
	}
	return out
}

// turned returns a page with the ruling lines of p, turned so that text of direction t is upright.
func (p *pageContent) turned(t turn) *pageContent {
	out := &pageContent{number: p.number, w: p.w, h: p.h, rules: p.rules}
	if t == upright {
		return out
	}
	if t.isVertical() {
		out.w, out.h = p.h, p.w
	}
	out.rules = make([]rule, len(p.rules))
	for i, r := range p.rules {
		line := box{x0: r.from, y0: r.at, x1: r.to, y1: r.at}
		if !r.horizontal {
			line = box{x0: r.at, y0: r.from, x1: r.at, y1: r.to}
		}
		line = line.turned(t, p.w, p.h)
		if r.horizontal = r.horizontal != t.isVertical(); r.horizontal {
			r.at, r.from, r.to = line.y0, line.x0, line.x1
		} else {
			r.at, r.from, r.to = line.x0, line.y0, line.y1
		}
		out.rules[i] = r
	}
	return out
}

// turned returns a rectangle of a page of width w and height h, turned so that text of direction t is upright.
func (b box) turned(t turn, w, h float64) box {
	switch t {
	case upward:
		return box{x0: h - b.y1, y0: b.x0, x1: h - b.y0, y1: b.x1}
	case upsideDown:
		return box{x0: w - b.x1, y0: h - b.y1, x1: w - b.x0, y1: h - b.y0}
	case downward:
		return box{x0: b.y0, y0: w - b.x1, x1: b.y1, y1: w - b.x0}
	}
	return b
}

func isInside(w word, areas []box) bool {
	return slices.ContainsFunc(areas, func(b box) bool { return b.contains(w) })
}

// turnWords returns the words of a cell as upright words. It preserves their relative positions, which is sufficient
// for joining them into lines.
func turnWords(words []word) []word {
	out := make([]word, len(words))
	for i, w := range words {
		w.box, w.turn = w.box.turned(w.turn, 0, 0), upright
		out[i] = w
	}
	return out
}
