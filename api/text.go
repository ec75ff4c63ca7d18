package api

import (
	"strings"
	"unicode"
)

// IsUnsafeRune reports whether names must not contain r: control characters, which affect
// terminals, and characters that reverse text direction, which make names look alike.
func IsUnsafeRune(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// IsBlank reports whether text shows nothing: only spaces, control characters or zero-width
// characters.
func IsBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != '\u2800' &&
			!unicode.In(r, unicode.Mn, unicode.Other_Default_Ignorable_Code_Point)
	})
}
