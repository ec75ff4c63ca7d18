package document

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/scf-service/service/internal/lazyregexp"
)

// ligatures replaces ligatures found in PDFs with letters.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// CleanLine returns s as one line of clean text, with composed Unicode, single spaces and nothing invisible.
func CleanLine(s string) string {
	if isClean(s) {
		return s
	}
	s = stripInvisible(s)
	return strings.Join(strings.Fields(s), " ")
}

// programAltPattern matches names of pictures and shapes that programs give them, such as "Picture 1" and "image.png".
var programAltPattern = lazyregexp.New(`(?i)^(shape|image|picture|graphics?|object|frame|text ?box|bild|grafik|objekt|form|` +
	`\S+\.(png|jpe?g|gif|svg|bmp|tiff?|emf|wmf))\s*\d*$`)

// AlternativeText returns the text that describes a picture for people who can't see it, or "" if a program made it up.
func AlternativeText(s string) string {
	s = CleanLine(s)
	if strings.Contains(s, "generated") || programAltPattern.MatchString(s) {
		return ""
	}
	return s
}

// cleanLines is like CleanLine, but keeps line breaks and indentation.
func cleanLines(s string) string {
	lines := strings.Split(stripInvisible(strings.ReplaceAll(s, "\r\n", "\n")), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRightFunc(l, unicode.IsSpace)
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// isClean reports, without allocating, whether CleanLine would return s unchanged, which is usually the case.
func isClean(s string) bool {
	space := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return !space || s == ""
}

// stripInvisible removes control, zero-width and bidirectional characters, which hide text from
// readers or split words, and invalid Unicode.
func stripInvisible(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
			return r
		case r == '\r' || r == '\v' || r == '\f' || r == '\u2028' || r == '\u2029':
			return '\n'
		case r == '\u00ad' || r == '\ufeff' || r == '\u2060' || r >= '\u200b' && r <= '\u200f' || r >= '\u202a' && r <= '\u202e' ||
			r >= '\u2066' && r <= '\u2069':
			return -1
		case r >= 0xE0000 && r <= 0xE007F: // tag characters: invisible ASCII
			return -1
		case unicode.IsControl(r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s)
	if strings.ContainsRune(s, 'ﬁ') || strings.ContainsAny(s, "ﬀﬂﬃﬄﬅﬆ") {
		s = ligatures.Replace(s)
	}
	return norm.NFC.String(s)
}
