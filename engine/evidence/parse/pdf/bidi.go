package pdf

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// direction is the direction in which letters are written.
type direction int

const (
	neutral direction = iota // punctuation
	leftToRight
	rightToLeft
)

func runeDirection(r rune) direction {
	switch {
	case r < 0x590:
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return leftToRight
		}
		return neutral
	case r <= 0x8FF || r >= 0xFB1D && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFF:
		switch {
		case unicode.Is(unicode.Mn, r):
			return rightToLeft
		case unicode.IsDigit(r):
			return leftToRight
		case unicode.IsLetter(r):
			return rightToLeft
		}
		return neutral
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return leftToRight
	}
	return neutral
}

// textDirection returns the direction of the first letter or digit that is written from right to
// left or, if there is none, of the first letter or digit.
func textDirection(s string) direction {
	d := neutral
	for _, r := range s {
		switch runeDirection(r) {
		case rightToLeft:
			return rightToLeft
		case leftToRight:
			d = leftToRight
		}
	}
	return d
}

// readingOrder sorts the items of a line, given from left to right, into the order in which they are read. base is
// the direction of the line.
func readingOrder[T any](items []T, base direction, directionOf func(T) direction) []T {
	turned := leftToRight
	if base == rightToLeft {
		slices.Reverse(items)
	} else {
		turned = rightToLeft
	}
	// A run in the other direction includes the punctuation inside it.
	for i := 0; i < len(items); i++ {
		if directionOf(items[i]) != turned {
			continue
		}
		end := i + 1
		for k := end; k < len(items); k++ {
			d := directionOf(items[k])
			if d == turned {
				end = k + 1
			} else if d != neutral {
				break
			}
		}
		slices.Reverse(items[i:end])
		i = end
	}
	return items
}

// placedRune is a character of a word.
type placedRune struct {
	r rune
	x float64
}

// wordText returns the text of a word. Letters that are written from right to left are put into reading order; their
// shapes within words are replaced with the letters themselves.
func wordText(runes []placedRune) string {
	var sb strings.Builder
	isTurned := false
	for _, p := range runes {
		isTurned = isTurned || runeDirection(p.r) == rightToLeft
		sb.WriteRune(p.r)
	}
	if !isTurned {
		return sb.String()
	}
	// The letters of a ligature have the same position, and are ordered from left to right.
	ordered := slices.Clone(runes)
	slices.SortStableFunc(ordered, func(a, b placedRune) int {
		switch {
		case a.x < b.x-0.01:
			return -1
		case a.x > b.x+0.01:
			return 1
		}
		return 0
	})
	ordered = readingOrder(ordered, rightToLeft, func(p placedRune) direction { return runeDirection(p.r) })
	sb.Reset()
	for _, p := range ordered {
		sb.WriteRune(p.r)
	}
	return norm.NFKC.String(sb.String())
}

// orderWords returns the text of a line's words, which are given from left to right. It also returns the right-to-left
// script of most of them, or nil if most are written from left to right.
func orderWords(words []word) (text string, script *unicode.RangeTable) {
	turned, letters := 0, 0
	for _, w := range words {
		for _, r := range w.text {
			switch runeDirection(r) {
			case rightToLeft:
				turned++
				if script = unicode.Arabic; unicode.Is(unicode.Hebrew, r) {
					script = unicode.Hebrew
				}
			case leftToRight:
				letters++
			}
		}
	}
	base := leftToRight
	if turned > letters {
		base = rightToLeft
	} else {
		script = nil
	}
	if turned > 0 {
		words = readingOrder(slices.Clone(words), base, func(w word) direction { return textDirection(w.text) })
	}
	var sb strings.Builder
	for i, w := range words {
		if i > 0 {
			sb.WriteByte(' ')
		}
		sb.WriteString(w.text)
	}
	return sb.String(), script
}
