package api

import (
	"strings"
	"unicode"
)

// IsControlOrBidi reports whether r must not appear in single-line text: control characters can affect
// terminals, and characters that reverse the text direction can disguise the text.
func IsControlOrBidi(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// CheckName returns an error for the field if name contains control characters, line breaks or invisible
// characters.
func CheckName(field, name string) error {
	if r, found := hiddenRune(name); found {
		return Invalid(field, "names must be a single line without control characters or invisible characters: remove %U", r)
	}
	return nil
}

// RemoveHidden returns text without the characters that names can't contain.
func RemoveHidden(text string) string {
	if _, found := hiddenRune(text); !found {
		return text
	}
	// A removed rune can't justify the one after it, so only retained runes count as preceding.
	runes := []rune(text)
	kept := make([]rune, 0, len(runes))
	for i, r := range runes {
		if !isHidden(kept, r, runes[i+1:]) {
			kept = append(kept, r)
		}
	}
	return string(kept)
}

// hiddenRune returns the first rune that names can't contain.
func hiddenRune(text string) (rune, bool) {
	if isPrintableASCII(text) {
		return 0, false
	}
	runes := []rune(text)
	for i, r := range runes {
		if isHidden(runes[:i], r, runes[i+1:]) {
			return r, true
		}
	}
	return 0, false
}

func isPrintableASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// Characters that are themselves invisible but can change how adjacent ones look.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	textPresentation   = '\ufe0e'
	emojiPresentation  = '\ufe0f'
)

// isHidden reports whether r, which is between the preceding and the following runes, is a control character, or is
// invisible and has no effect on an adjacent letter or picture.
func isHidden(preceding []rune, r rune, following []rune) bool {
	before, after := rune(0), rune(0)
	if len(preceding) > 0 {
		before = preceding[len(preceding)-1]
	}
	if len(following) > 0 {
		after = following[0]
	}
	switch r {
	case zeroWidthJoiner:
		return !isVirama(before) && !(isPicture(before) && unicode.Is(unicode.So, after))
	case zeroWidthNonJoiner:
		return !isVirama(before) && !(isArabic(after) && joinsNext(lastLetter(preceding)))
	case textPresentation, emojiPresentation:
		return !unicode.Is(unicode.So, before)
	case '\u180b', '\u180c', '\u180d', '\u180e', '\u180f': // they select the form of a letter
		return !(unicode.Is(unicode.Mongolian, before) && unicode.IsLetter(before))
	case '\u2800', '\U0001d159': // the blank Braille pattern and the null notehead are as wide as a letter
		return true
	}
	if unicode.Is(unicode.Egyptian_Hieroglyphs, r) && unicode.Is(unicode.Cf, r) { // it arranges hieroglyphs
		return !unicode.Is(unicode.Egyptian_Hieroglyphs, before)
	}
	return IsControlOrBidi(r) || unicode.In(r, invisible...) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// invisible contains formatting characters, fillers, variation selectors, line separators and
// noncharacters.
var invisible = []*unicode.RangeTable{
	unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Zl, unicode.Zp,
	unicode.Noncharacter_Code_Point,
}

// isVirama reports whether r suppresses the vowel of an Indic letter. A joiner after it selects the form of the
// adjacent letters (RFC 5892, appendix A).
func isVirama(r rune) bool {
	return strings.ContainsRune("\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u103a\u17d2", r)
}

// isPicture reports whether r can be the last rune of a picture that a joiner combines with the next
// one: a symbol, a skin tone or the selector of emoji presentation.
func isPicture(r rune) bool {
	return unicode.Is(unicode.So, r) || r >= 0x1f3fb && r <= 0x1f3ff || r == emojiPresentation
}

func isArabic(r rune) bool { return unicode.Is(unicode.Arabic, r) && unicode.IsLetter(r) }

// lastLetter returns the last rune that is not a combining mark, such as a vowel sign.
func lastLetter(runes []rune) rune {
	for i := len(runes) - 1; i >= 0; i-- {
		if !unicode.IsMark(runes[i]) {
			return runes[i]
		}
	}
	return 0
}

// joinsNext reports whether r is an Arabic letter that is usually connected to the next one, so that a
// non-joiner between them is visible, as in Persian.
func joinsNext(r rune) bool { return isArabic(r) && !unicode.Is(notJoiningNext, r) }

// notJoiningNext contains the letters of the Arabic block that are never connected to the next letter
// (joining type right-joining or none).
var notJoiningNext = &unicode.RangeTable{R16: []unicode.Range16{
	{0x0621, 0x0625, 1},
	{0x0627, 0x0629, 2},
	{0x062f, 0x0632, 1},
	{0x0648, 0x0648, 1},
	{0x0671, 0x0677, 1},
	{0x0688, 0x0699, 1},
	{0x06c0, 0x06c0, 1},
	{0x06c3, 0x06cb, 1},
	{0x06cd, 0x06cf, 2},
	{0x06d2, 0x06d3, 1},
	{0x06d5, 0x06d5, 1},
	{0x06ee, 0x06ef, 1},
}}

// IsBlank reports whether nothing in text is visible: it has only spaces, control characters and zero-width
// characters.
func IsBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != '\u2800' &&
			!unicode.In(r, unicode.Mn, unicode.Other_Default_Ignorable_Code_Point)
	})
}
