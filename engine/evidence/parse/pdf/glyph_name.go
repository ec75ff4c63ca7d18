package pdf

import (
	"bytes"
	"compress/zlib"
	"io"
	"strconv"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// glyphNames holds the text of glyphs whose names PDFium doesn't know, such as f_f_i, the name of a ligature.
type glyphNames map[glyphCode]string

// glyphCode is a character code of a font. The font is empty if it isn't known.
type glyphCode struct {
	font string
	code int
}

const (
	maxObjectStreams = 32 << 20 // maximum bytes of decompressed objects that are searched
	maxGlyphNames    = 10_000
)

var (
	differencesPattern = lazyregexp.New(`/Differences\s*\[([^\]]*)\]`)
	baseFontPattern    = lazyregexp.New(`/BaseFont\s*/([^\s/<>\[\]()]+)`)
	encodingPattern    = lazyregexp.New(`/Encoding\s+(\d+)\s+\d+\s+R\b`)
	// numberPairs matches an object's number and its position in an object stream.
	numberPairs = lazyregexp.New(`^\s*(\d+)\s+(\d+)`)
)

// readGlyphNames finds the glyph names in a PDF's font encodings that represent several letters.
func readGlyphNames(raw []byte) glyphNames {
	names := glyphNames{}
	fonts := map[string][]string{} // by the number of the object with their encoding
	encodings := map[string][]glyph{}
	for _, o := range pdfObjects(raw) {
		font := ""
		if m := baseFontPattern.FindStringSubmatch(o.content); m != nil {
			font = m[1]
		}
		if m := encodingPattern.FindStringSubmatch(o.content); m != nil && font != "" {
			fonts[m[1]] = append(fonts[m[1]], font)
		}
		for _, m := range differencesPattern.FindAllStringSubmatch(o.content, -1) {
			found := compositeGlyphs(m[1])
			if font == "" {
				encodings[o.number] = append(encodings[o.number], found...)
			}
			names.add(font, found)
		}
	}
	for number, found := range encodings {
		for _, font := range fonts[number] {
			names.add(font, found)
		}
	}
	return names
}

// add adds the glyphs of a font. Codes that have different texts in fonts of the same name are treated as unknown.
func (n glyphNames) add(font string, glyphs []glyph) {
	for _, g := range glyphs {
		key := glyphCode{font, g.code}
		if text, ok := n[key]; ok && text != g.text {
			n[key] = ""
		} else if len(n) < maxGlyphNames {
			n[key] = g.text
		}
	}
}

// lookup returns the text of a glyph, or "" if it is unknown.
func (n glyphNames) lookup(font string, code int) string {
	return n[glyphCode{font, code}]
}

// glyph is a character code and its text.
type glyph struct {
	code int
	text string
}

// compositeGlyphs returns those glyphs in an array of differences whose names consist of several parts.
func compositeGlyphs(differences string) []glyph {
	var out []glyph
	code := 0
	for _, token := range strings.Fields(strings.ReplaceAll(differences, "/", " /")) {
		name, isName := strings.CutPrefix(token, "/")
		if !isName {
			code, _ = strconv.Atoi(token)
			continue
		}
		if text := glyphText(name); text != "" {
			out = append(out, glyph{code, text})
		}
		code++
	}
	return out
}

// glyphText returns the text of a name such as f_f_i or T_h.liga by the rules of the Adobe glyph
// list, or "" if the name has only one part or an unknown one.
func glyphText(name string) string {
	name, _, _ = strings.Cut(name, ".")
	parts := strings.Split(name, "_")
	if len(parts) < 2 {
		return ""
	}
	var sb strings.Builder
	for _, p := range parts {
		digits, isCode := strings.CutPrefix(p, "uni")
		r, err := strconv.ParseUint(digits, 16, 16)
		switch {
		case len(p) == 1:
			sb.WriteString(p)
		case isCode && len(digits) == 4 && err == nil:
			sb.WriteRune(rune(r))
		case p == "hyphen":
			sb.WriteByte('-')
		case p == "dotlessi":
			sb.WriteRune('ı')
		case p == "germandbls":
			sb.WriteRune('ß')
		default:
			return ""
		}
	}
	return sb.String()
}

// pdfObject is the dictionary of a font or encoding.
type pdfObject struct{ number, content string }

// pdfObjects finds the dictionaries of fonts and encodings in a file, which may be damaged.
func pdfObjects(raw []byte) []pdfObject {
	var out []pdfObject
	left := int64(maxObjectStreams)
	keyword := []byte(" obj")
	for {
		before, rest, found := bytes.Cut(raw, keyword)
		if !found {
			return out
		}
		number := ""
		if fields := bytes.Fields(before[max(0, len(before)-20):]); len(fields) > 1 {
			number = string(fields[len(fields)-2])
		}
		raw = rest
		content := rest
		if end := bytes.Index(rest, []byte("endobj")); end >= 0 {
			content, raw = rest[:end], rest[end:]
		}
		dictionary, stream, isStream := bytes.Cut(content, []byte("stream"))
		switch {
		case isStream && bytes.Contains(dictionary, []byte("/ObjStm")) && left > 0:
			unpacked := inflate(stream, left)
			left -= int64(len(unpacked))
			out = append(out, splitObjectStream(string(unpacked))...)
		case bytes.Contains(dictionary, []byte("/Differences")) || bytes.Contains(dictionary, []byte("/BaseFont")):
			out = append(out, pdfObject{number, string(dictionary)})
		}
	}
}

// inflate decompresses the beginning of a stream.
func inflate(stream []byte, limit int64) []byte {
	r, err := zlib.NewReader(bytes.NewReader(bytes.TrimLeft(stream, "\r\n")))
	if err != nil {
		return nil
	}
	out, _ := io.ReadAll(io.LimitReader(r, limit)) // whatever could be read before an error is used
	return out
}

// splitObjectStream splits the content of an object stream, which begins with the number and
// position of each object.
func splitObjectStream(content string) []pdfObject {
	type entry struct {
		number string
		at     int
	}
	var entries []entry
	rest := content
	for {
		m := numberPairs.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		at, _ := strconv.Atoi(m[2])
		entries = append(entries, entry{m[1], at})
		rest = rest[len(m[0]):]
	}
	first := len(content) - len(rest)
	var out []pdfObject
	for i, e := range entries {
		from, to := first+e.at, len(content)
		if i+1 < len(entries) {
			to = first + entries[i+1].at
		}
		if from = max(from-1, 0); from < to && to <= len(content) { // the first object may begin right after the numbers
			out = append(out, pdfObject{e.number, content[from:to]})
		}
	}
	return out
}
