package charset

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/scf-service/service/internal/lazyregexp"
)

const (
	maxDeclaration = 1024     // bytes at the beginning of a file that are searched for a declared encoding
	maxGuessSample = 64 << 10 // bytes from which a code page is guessed
	minHighBytes   = 4        // minimum of bytes above ASCII for assuming an encoding other than Windows-1252
	minConfidence  = 25       // percent; minimum for assuming an encoding other than Windows-1252
	sureConfidence = 80       // percent; reached only by encodings with rules for their bytes, such as Shift JIS
)

// declarationPattern matches the encoding that an XML or HTML file declares.
var declarationPattern = lazyregexp.New(
	`(?i)<\?xml[^>]{0,200}\bencoding\s*=\s*["']([\w-]+)|<meta\b[^>]{0,200}\bcharset\s*=\s*["']?([\w-]+)`,
)

// A codePage is an encoding and the name under which users know it.
type codePage struct {
	encoding encoding.Encoding
	name     string
}

var (
	windows1252 = codePage{charmap.Windows1252, "Windows-1252 (Latin-1)"}
	windows1250 = codePage{charmap.Windows1250, "Windows-1250"}
	cyrillic    = script{unicode.Cyrillic, "оеаинтсрвл"}
	// scriptPages are the single-byte code pages of non-Latin scripts.
	scriptPages = []struct {
		codePage
		script
	}{
		{codePage{charmap.Windows1251, "Windows-1251"}, cyrillic},
		{codePage{charmap.KOI8R, "KOI8-R"}, cyrillic},
		{codePage{charmap.ISO8859_5, "ISO-8859-5"}, cyrillic},
		{codePage{charmap.CodePage866, "code page 866"}, cyrillic},
		{codePage{charmap.Windows1253, "Windows-1253"}, script{unicode.Greek, "αοιετσνηυρ"}},
		{codePage{charmap.Windows1255, "Windows-1255"}, script{unicode.Hebrew, "יוהלארתבמש"}},
		{codePage{charmap.Windows1256, "Windows-1256"}, script{unicode.Arabic, "اليمنوتربة"}},
	}
	// latinPages are the code pages of languages with Latin letters that the detector distinguishes from Windows-1252.
	latinPages = map[string]codePage{
		"windows-1250": windows1250, "ISO-8859-2": {charmap.ISO8859_2, "ISO-8859-2"},
		"windows-1254": {charmap.Windows1254, "Windows-1254"}, "ISO-8859-9": {charmap.Windows1254, "Windows-1254"},
	}
)

// A script is a writing system with its ten most frequent letters, which make up two thirds of a text.
type script struct {
	letters  *unicode.RangeTable
	frequent string
}

// multiByte holds the encodings that need several bytes for most of their characters.
var multiByte = map[string]bool{"Shift_JIS": true, "EUC-JP": true, "EUC-KR": true, "GB18030": true, "Big5": true}

// guessCodePage returns the code page of text that isn't Unicode, and whether the text declares it.
func guessCodePage(raw []byte) (page codePage, isDeclared bool) {
	if m := declarationPattern.FindStringSubmatch(string(raw[:min(len(raw), maxDeclaration)])); m != nil {
		name := strings.ToLower(m[1] + m[2])
		if e, err := htmlindex.Get(name); err == nil && !strings.HasPrefix(name, "utf") {
			return codePage{e, name}, true
		}
	}
	first := max(bytes.IndexFunc(raw, func(r rune) bool { return r >= 0x80 }), 0)
	sample := raw[first:min(len(raw), first+maxGuessSample)]
	high := 0
	for _, c := range sample {
		if c >= 0x80 {
			high++
		}
	}
	if high < minHighBytes {
		return windows1252, false
	}
	guess, err := chardet.NewTextDetector().DetectBest(sample)
	if err == nil && multiByte[guess.Charset] && (guess.Confidence >= sureConfidence || hasEvenRuns(sample)) {
		if e, err := htmlindex.Get(guess.Charset); err == nil {
			return codePage{e, guess.Charset}, false
		}
	}
	var best codePage
	bestShare := 0.0
	for _, p := range scriptPages {
		if share := p.frequentShare(p.encoding, sample); share > bestShare {
			best, bestShare = p.codePage, share
		}
	}
	switch {
	case bestShare > 0:
		return best, false
	case err != nil:
		return windows1252, false
	}
	if p, ok := latinPages[guess.Charset]; ok && guess.Confidence >= minConfidence {
		return p, false
	}
	if hasSymbolsInWords(sample) {
		return windows1250, false
	}
	return windows1252, false
}

// hasEvenRuns reports whether non-ASCII bytes always come in pairs, as in Chinese and Korean text.
func hasEvenRuns(sample []byte) bool {
	runs, length := 0, 0
	for i, c := range sample {
		if c >= 0x80 {
			if length++; i+1 < len(sample) {
				continue
			}
		}
		if length%2 == 1 {
			return false
		}
		if length > 0 {
			runs, length = runs+1, 0
		}
	}
	return runs > 3
}

// frequentShare returns the share of frequent letters among the script's letters in a text. It returns 0 if the text
// can't be in the encoding, because too many of its non-ASCII characters are neither letters of the script nor common
// punctuation, or because letters of the script rarely follow one another.
func (s script) frequentShare(e encoding.Encoding, sample []byte) float64 {
	text, err := e.NewDecoder().Bytes(sample)
	if err != nil {
		return 0
	}
	letters, adjacent, frequent, words, bad := 0, 0, 0, 0, 0
	last := ' '
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		switch {
		case unicode.Is(s.letters, r):
			letters++
			if strings.ContainsRune(s.frequent, unicode.ToLower(r)) {
				frequent++
			}
			switch {
			case unicode.Is(s.letters, last):
				adjacent++
			case last < utf8.RuneSelf && unicode.IsLetter(last):
				bad++
			default:
				words++
			}
		case r < utf8.RuneSelf:
			if unicode.IsLetter(r) && unicode.Is(s.letters, last) {
				bad++
			}
		case !strings.ContainsRune("«»„“”‘’–—…№§°\u00a0\u200e\u200f،؛؟·΄", r):
			bad++
		}
		last = r
	}
	if letters < minHighBytes || bad*20 > letters || adjacent < words {
		return 0
	}
	if share := float64(frequent) / float64(letters); share > 0.4 {
		return share
	}
	return 0
}

// hasSymbolsInWords reports whether text decoded as Windows-1252 has symbols within words. That is typical of Central
// European text, as in "w³a".
func hasSymbolsInWords(sample []byte) bool {
	isLetter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0xC0 }
	for i := 1; i+1 < len(sample); i++ {
		if bytes.IndexByte([]byte("\xa3\xa5\xaf\xb3\xb9\xbf"), sample[i]) >= 0 && isLetter(sample[i-1]) && isLetter(sample[i+1]) {
			return true
		}
	}
	return false
}
