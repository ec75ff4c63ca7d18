package api

import (
	"strings"
	"unicode"
)

// IsUnsafeRune tells of runes that no name has: controls, which steer a terminal, and those that
// turn the order of what is read, so that one name looks like another.
func IsUnsafeRune(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// IsBlank tells of a text that shows nothing: of spaces, controls, or signs without a width.
func IsBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != '\u2800' &&
			!unicode.In(r, unicode.Mn, unicode.Other_Default_Ignorable_Code_Point)
	})
}
