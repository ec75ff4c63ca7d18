package document

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

const (
	minEncodedBytes = 120 // shorter text isn't classified
	minCodeBytes    = 80
	minEncodedWord  = 40  // bytes of a word in Base64
	minHexWord      = 200 // of one in hexadecimal; shorter ones are hashes
)

var tagPattern = lazyregexp.New(`</?[A-Za-z][\w:.-]*(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*/?>|<[?!][^<>]*>`)

// unreadKind returns the api.Unread… kind of a text that isn't prose: encoded bytes, markup, data or a minified
// program. It returns "" for other text, and for all short text.
func unreadKind(text string) string {
	switch {
	case len(text) >= minEncodedBytes && isEncoded(text):
		return api.UnreadEncodedText
	case len(text) >= minCodeBytes && (isMarkup(text) || isMinified(text)):
		return api.UnreadCode
	}
	return ""
}

// isEncoded reports whether most of a text consists of words that are too long for natural
// language, such as encoded bytes.
func isEncoded(text string) bool {
	encoded := 0
	var length, upper, lower, digits int
	for i := range len(text) + 1 {
		c := byte(' ')
		if i < len(text) {
			c = text[i]
		}
		switch {
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= '0' && c <= '9':
			digits++
		case c == '+', c == '/', c == '=':
		default:
			if length >= minHexWord || length >= minEncodedWord && upper > 0 && lower > 0 && digits > 0 {
				encoded += length
			}
			length, upper, lower, digits = 0, 0, 0, 0
			continue
		}
		length++
	}
	return encoded*10 >= len(text)*6
}

// isMarkup reports whether a text consists mainly of tags, or is a JSON object or list.
func isMarkup(text string) bool {
	text = strings.TrimSpace(text)
	switch text[0] {
	case '<':
		tags := tagPattern.FindAllString(text, -1)
		n := 0
		for _, t := range tags {
			n += len(t)
		}
		return n*10 >= len(text)*4 || len(tags) >= 4 && strings.HasSuffix(text, ">")
	case '{', '[':
		return json.Valid([]byte(text)) && strings.Contains(text, `"`)
	}
	return false
}

// isMinified reports whether a text is a program or a style sheet without spaces.
func isMinified(text string) bool {
	if !strings.ContainsRune(text, '{') || !strings.ContainsRune(text, '}') || !strings.ContainsAny(text, ";:=") {
		return false
	}
	marks, letters, spaces := 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsSpace(r):
			spaces++
		case r < 0x80 && r != '-' && (r < '0' || r > '9'):
			marks++
		}
	}
	return marks*5 >= letters && spaces*25 <= len(text)
}
