// Package charset guesses the encoding of text and decodes it. It is independent of document formats.
package charset

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// Charset is a character encoding.
type Charset int

// The encodings that Guess distinguishes.
const (
	UTF8 Charset = iota
	UTF16LE
	UTF16BE
	OtherCharset // an older encoding; Decode guesses which
)

// Guess guesses the encoding of a sample from its byte order mark, or else from NUL bytes in positions typical of
// UTF-16, or else by checking whether it is valid UTF-8. The sample may end within a character.
func Guess(sample []byte) Charset {
	switch {
	case bytes.HasPrefix(sample, []byte{0xEF, 0xBB, 0xBF}):
		return UTF8
	case bytes.HasPrefix(sample, []byte{0xFF, 0xFE}):
		return UTF16LE
	case bytes.HasPrefix(sample, []byte{0xFE, 0xFF}):
		return UTF16BE
	}
	if len(sample) >= 8 {
		var even, odd int
		for i, c := range sample {
			if c == 0 && i%2 == 0 {
				even++
			} else if c == 0 {
				odd++
			}
		}
		// UTF-16 text in Latin letters has a NUL in nearly every second byte. Other scripts have NULs only in spaces,
		// so a byte order mark is required for them.
		half := len(sample) / 2
		if odd > half*3/5 && even < half/20 {
			return UTF16LE
		}
		if even > half*3/5 && odd < half/20 {
			return UTF16BE
		}
	}
	for i := 0; i < 4 && len(sample) > 0 && !utf8.Valid(sample); i++ {
		if c := sample[len(sample)-1]; c < 0x80 {
			break
		}
		sample = sample[:len(sample)-1]
	}
	if utf8.Valid(sample) {
		return UTF8
	}
	return OtherCharset
}

// Decode decodes raw to text with \n line endings. It returns a warning if the encoding was guessed or characters
// were dropped.
func Decode(raw []byte) (text, warning string) {
	sample := raw
	switch Guess(sample) {
	case UTF16LE:
		raw = utf16ToUTF8(raw, unicode.LittleEndian)
	case UTF16BE:
		raw = utf16ToUTF8(raw, unicode.BigEndian)
	case OtherCharset:
		page, isDeclared := guessCodePage(raw)
		out, err := page.encoding.NewDecoder().Bytes(raw)
		if err != nil {
			out = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
		}
		if raw = out; !isDeclared {
			warning = "The text is not Unicode; it was read as " + page.name + "."
		}
	}
	raw = bytes.TrimPrefix(raw, []byte{0xEF, 0xBB, 0xBF})
	if n := bytes.Count(raw, []byte{0}); n > 0 {
		raw = bytes.ReplaceAll(raw, []byte{0}, nil)
		warning = "NUL bytes in the text were removed."
	}
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	raw = bytes.ReplaceAll(raw, []byte("\r"), []byte("\n"))
	return string(raw), warning
}

// utf16ToUTF8 decodes UTF-16 with the given byte order.
func utf16ToUTF8(raw []byte, order unicode.Endianness) []byte {
	out, err := unicode.UTF16(order, unicode.UseBOM).NewDecoder().Bytes(raw)
	if err != nil {
		return bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return out
}

// DecodeUTF16LE decodes little-endian UTF-16 and removes NULs at the end.
func DecodeUTF16LE(raw []byte) string {
	u := make([]uint16, len(raw)/2)
	for i := range u {
		u[i] = binary.LittleEndian.Uint16(raw[2*i:])
	}
	return strings.TrimRight(string(utf16.Decode(u)), "\x00")
}

// CodePage returns the encoding of a code page number, or Windows-1252 if the number is unknown.
func CodePage(n int) encoding.Encoding {
	switch n {
	case 932:
		return japanese.ShiftJIS
	case 936:
		return simplifiedchinese.GBK
	case 949:
		return korean.EUCKR
	case 950:
		return traditionalchinese.Big5
	case 65001:
		return unicode.UTF8
	case 437:
		return charmap.CodePage437
	case 850:
		return charmap.CodePage850
	case 852:
		return charmap.CodePage852
	case 866:
		return charmap.CodePage866
	case 874:
		return charmap.Windows874
	case 1250:
		return charmap.Windows1250
	case 1251:
		return charmap.Windows1251
	case 1253:
		return charmap.Windows1253
	case 1254:
		return charmap.Windows1254
	case 1255:
		return charmap.Windows1255
	case 1256:
		return charmap.Windows1256
	case 1257:
		return charmap.Windows1257
	case 1258:
		return charmap.Windows1258
	case 10000:
		return charmap.Macintosh
	}
	return charmap.Windows1252
}
