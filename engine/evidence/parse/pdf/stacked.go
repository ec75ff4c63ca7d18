package pdf

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/engine/evidence/parse/text"
)

const (
	minStack    = 3    // minimum number of letters in a stack
	maxStackGap = 0.12 // maximum gap as a share of the font size; lines of text and table rows are farther apart
)

// joinStacked joins upright letters that are stacked on top of each other into words that run downward. Such letters
// occur in Japanese text written from top to bottom, and in the names of narrow columns.
func (p *pageContent) joinStacked() {
	var out []word
	var last *word // the stack to the right of the following words
	for i := 0; i < len(p.words); {
		n := stackLength(p.words[i:])
		letters := 0
		for _, w := range p.words[i : i+n] {
			if r, _ := utf8.DecodeRuneInString(w.text); unicode.IsLetter(r) {
				letters++
			}
		}
		first := p.words[i]
		isEnd := last != nil && text.IsUnspaced(first.text) && first.x1 < last.x1 && math.Abs(first.y0-last.y0) < first.height()
		if (n < minStack || 2*letters <= n) && !isEnd {
			out = append(out, p.words[i:i+max(n, 1)]...)
			i, last = i+max(n, 1), nil
			continue
		}
		var sb strings.Builder
		joined := first
		for _, w := range p.words[i : i+n] {
			sb.WriteString(w.text)
			joined.box = joined.union(w.box)
		}
		joined.text, joined.turn = sb.String(), downward
		out = append(out, joined)
		i, last = i+n, &joined
	}
	p.words = out
}

// stackLength returns how many of the first words are single letters stacked on top of each other, or 0 if the first
// word isn't a single letter.
func stackLength(words []word) int {
	n := 0
	for n < len(words) && words[n].turn == upright && utf8.RuneCountInString(words[n].text) == 1 {
		if n > 0 {
			above, w := words[n-1], words[n]
			size := above.height()
			aside := math.Abs(above.x0+above.x1-w.x0-w.x1) / 2
			most := maxStackGap * size
			if text.IsUnspaced(w.text) {
				most = 2 * most
			}
			if gap := w.y0 - above.y1; aside > 0.3*size || gap > most || gap < -0.5*size || w.y0 <= above.y0 {
				break
			}
		}
		n++
	}
	return n
}
