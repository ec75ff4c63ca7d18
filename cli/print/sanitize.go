package print

import (
	"strings"
	"unicode/utf8"
)

// SafeLine sanitizes text for a single terminal line: control characters become visible symbols,
// line breaks and tabs become spaces. Evidence is untrusted, so escape sequences in it must never
// take effect.
func SafeLine(s string) string { return sanitize(s, false) }

// SafeBlock is like SafeLine, but for multi-line text: it keeps line breaks and replaces tabs with spaces.
func SafeBlock(s string) string { return sanitize(s, true) }

// sanitize implements SafeLine and SafeBlock.
func sanitize(s string, keepLineBreaks bool) string {
	if isPrintableASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	s = strings.ReplaceAll(s, "\r\n", "\n")
	joiners := 0
	for _, r := range s {
		if r == '\u200d' {
			joiners++
			continue
		}
		if joiners > 0 && r < firstSymbol && r >= 0x80 {
			b.WriteString("\u200d") // required for the shapes of letters in some scripts
		}
		joiners = 0
		switch {
		case isVariationOrSkinTone(r):
		case r >= firstFlag && r <= lastFlag:
			b.WriteRune('A' + r - firstFlag)
		case r == '\n' && keepLineBreaks:
			b.WriteRune(r)
		case r == '\n' || r == '\t' || r == '\u2028' || r == '\u2029':
			b.WriteByte(' ')
		case r < 0x20:
			b.WriteRune('\u2400' + r) // Unicode's symbol for the control character
		case r == 0x7f:
			b.WriteRune('\u2421')
		case isUnsafeNonASCII(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

const (
	firstSymbol         = '\u2190'
	firstFlag, lastFlag = '\U0001f1e6', '\U0001f1ff'
)

// isVariationOrSkinTone reports whether r selects an emoji presentation or skin tone. Such runes are removed,
// because terminals disagree on the width of the resulting emoji, as they do for joined emoji and flags.
func isVariationOrSkinTone(r rune) bool {
	return r >= '\ufe00' && r <= '\ufe0f' || r >= '\U0001f3fb' && r <= '\U0001f3ff'
}

func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// isUnsafeNonASCII reports whether r is a non-ASCII rune that controls a terminal or changes the
// reading order: C1 controls, bidirectional marks, tags.
func isUnsafeNonASCII(r rune) bool {
	switch {
	case r >= 0x80 && r < 0xa0, r == '\u200e', r == '\u200f', r == '\u061c', r == '\ufeff':
		return true
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}
