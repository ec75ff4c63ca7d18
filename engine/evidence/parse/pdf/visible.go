package pdf

import (
	"math"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
)

// unseenReason is the reason why text is not visible.
type unseenReason int

const (
	seen unseenReason = iota
	notPainted
	clipOnly // the text only clips what is painted after it
	hidden   // by its color, position or size, or by what is painted over it
	struck
	unmapped // the font doesn't specify the letters
)

const tinySize = 2.0 // points: smaller text can't be read

// unseenWord is a word that is not visible.
type unseenWord struct {
	word
	reason unseenReason
	// mayBeRecognized is set for text that isn't painted or is under an image, as added to scanned pages by OCR.
	mayBeRecognized bool
}

// unseenReason returns the reason why the current word is not visible.
func (b *wordBuilder) unseenReason() unseenReason {
	x, y := (b.at.x0+b.at.x1)/2, (b.at.y0+b.at.y1)/2
	switch {
	case b.object != nil && b.object.unseen != seen:
		return b.object.unseen
	case x < 0 || y < 0 || x > b.page.w || y > b.page.h, b.size < tinySize, 2*b.shown < b.count:
		return hidden
	case b.isUnmapped():
		return unmapped
	}
	return seen
}

// readOCRLayer treats the invisible text of a scanned page as the page's text, because it comes from OCR.
func (p *pageContent) readOCRLayer() {
	n := 0
	for _, w := range p.unseen {
		if w.mayBeRecognized {
			n++
		}
	}
	if p.pictureShare < scanShare || n <= len(p.words) {
		return
	}
	p.unseen = slices.DeleteFunc(p.unseen, func(w unseenWord) bool {
		if w.mayBeRecognized {
			p.words = append(p.words, w.word)
		}
		return w.mayBeRecognized
	})
}

// removeStruckWords removes words that are struck through, and the lines through them.
func (p *pageContent) removeStruckWords() {
	for _, horizontal := range []bool{true, false} {
		strikes := p.findStrikes(horizontal)
		if len(strikes) == 0 {
			continue
		}
		p.words = slices.DeleteFunc(p.words, func(w word) bool {
			if w.turn.isVertical() == horizontal || !isStruck(w, strikes) {
				return false
			}
			p.unseen = append(p.unseen, unseenWord{word: w, reason: struck})
			return true
		})
		p.rules = slices.DeleteFunc(p.rules, func(r rule) bool {
			return r.horizontal == horizontal && slices.ContainsFunc(strikes, func(s rule) bool {
				return math.Abs(r.at-s.at) < strikeHeight && r.from >= s.from-1 && r.to <= s.to+1
			})
		})
	}
}

const strikeHeight = 1.5 // maximum thickness, in points, of a line that strikes text through

// findStrikes returns the lines that cross words in the middle and, unlike lines of tables, don't
// extend beyond them.
func (p *pageContent) findStrikes(horizontal bool) []rule {
	var out []rule
	lines := mergeRules(p.rules, horizontal, strikeHeight)
	if len(lines)*len(p.words) > maxCrossings {
		return nil
	}
	for _, r := range lines {
		from, to, size := math.Inf(1), math.Inf(-1), 0.0
		for _, w := range p.words {
			if w.turn.isVertical() != horizontal && w.isCrossedBy(r) {
				a, b := w.along()
				from, to, size = min(from, a), max(to, b), max(size, w.sizeAcrossText())
			}
		}
		if r.from > from-size && r.to < to+size {
			out = append(out, r)
		}
	}
	return out
}

// along returns the extent of a word in its writing direction.
func (w word) along() (from, to float64) {
	if w.turn.isVertical() {
		return w.y0, w.y1
	}
	return w.x0, w.x1
}

// sizeAcrossText returns the size of a word across its writing direction.
func (w word) sizeAcrossText() float64 {
	if w.turn.isVertical() {
		return w.x1 - w.x0
	}
	return w.height()
}

// isCrossedBy reports whether a line crosses a word at the height of a strikethrough, above the baseline.
func (w word) isCrossedBy(r rule) bool {
	from, to := w.along()
	if min(to, r.to)-max(from, r.from) < 0.3*(to-from) {
		return false
	}
	if w.turn.isVertical() {
		d := (r.at - w.x0) / w.sizeAcrossText()
		return d > 0.3 && d < 0.7
	}
	d := (r.at - w.y0) / w.sizeAcrossText()
	return d > 0.35 && d < 0.7
}

// isStruck reports whether most of a word is struck through.
func isStruck(w word, strikes []rule) bool {
	from, to := w.along()
	length := 0.0
	for _, r := range strikes {
		if w.isCrossedBy(r) {
			length += min(to, r.to) - max(from, r.from)
		}
	}
	return length > 0.6*(to-from)
}

// removeWordsIn removes the words in areas of the displayed page, because they are struck through.
func (p *pageContent) removeWordsIn(areas []box) {
	p.words = slices.DeleteFunc(p.words, func(w word) bool {
		if !isInside(w, areas) {
			return false
		}
		p.unseen = append(p.unseen, unseenWord{word: w, reason: struck})
		return true
	})
}

// countUnseen counts the lines of text on a page that were not read.
func (p *pageContent) countUnseen(d *document.Document) {
	var words [3][]word
	for _, w := range p.unseen {
		k := 0
		switch w.reason {
		case struck:
			k = 1
		case unmapped:
			k = 2
		}
		words[k] = append(words[k], w.word)
	}
	if p.isUnreadable = len(words[2]) > len(p.words); p.isUnreadable {
		p.words, words[2] = nil, nil // the rest is readable only by chance
	}
	at := api.Locator{Page: p.number}
	for _, kind := range p.notRead {
		d.AddNotRead(kind, 1, at)
	}
	d.AddNotRead(api.UnreadHiddenText, len(groupLines(words[0])), at)
	d.AddNotRead(api.UnreadStruckText, len(groupLines(words[1])), at)
	d.AddNotRead(api.UnreadUnmappedText, len(groupLines(words[2])), at)
}
