package pdf

import (
	"math"
	"unicode/utf16"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// pageReader extracts words and rules from a page in PDFium.
type pageReader struct {
	m    *pdfiumDocument
	page uint64
	out  *pageContent
}

// readPage reads page n, counted from 1.
func (m *pdfiumDocument) readPage(n int) (*pageContent, error) {
	page := m.call("FPDF_LoadPage", m.doc, uint64(n-1))
	if m.err != nil || page == 0 {
		return nil, m.documentError(formatPage(n))
	}
	r := &pageReader{m: m, page: page, out: &pageContent{number: n}}
	r.out.w = float64(math.Float32frombits(uint32(m.call("FPDF_GetPageWidthF", page))))
	r.out.h = float64(math.Float32frombits(uint32(m.call("FPDF_GetPageHeightF", page))))
	r.out.rotation = int(m.call("FPDFPage_GetRotation", page) & 3)
	if m.call("FPDF_GetPageBoundingBox", page, uint64(m.scratch)) != 0 { // left, top, right, bottom
		r.out.x, r.out.y = m.readFloat(0), m.readFloat(12)
	}
	if err := r.readAnnotations(); err != nil {
		return nil, err
	}
	if err := r.readWords(r.readObjects()); err != nil {
		return nil, err
	}
	m.call("FPDF_ClosePage", r.page)
	if m.isStopped() {
		return nil, m.documentError(formatPage(n))
	}
	return r.out, nil
}

func (r *pageReader) readWords(objects *objectReader) error {
	m := r.m
	text := m.call("FPDFText_LoadPage", r.page)
	if m.err != nil {
		return m.documentError(formatPage(r.out.number))
	}
	if text == 0 {
		return nil
	}
	count := int(int32(m.call("FPDFText_CountChars", text)))
	if count > maxPageChars {
		return document.NewError(document.ErrTooLarge, formatPage(r.out.number), "the page has too many characters (%d)", count)
	}
	v := objects.testVisibility()
	b := wordBuilder{page: r.out}
	fonts := typefaces{r: r, text: text}
	chars := m.pageChars(text, count)
	for i := range count {
		var c rune
		if chars != nil {
			c = rune(chars[i])
		} else {
			c = rune(uint32(m.callQuick("FPDFText_GetUnicode", text, uint64(i))))
		}
		if m.err != nil {
			return m.documentError(formatPage(r.out.number))
		}
		if c == '\r' || c == '\n' { // inserted by PDFium; on a page with vertical text, they may be between any letters
			continue
		}
		several := ""
		if (c < ' ' || c > '~') && m.callQuick("FPDFText_HasUnicodeMapError", text, uint64(i)) == 1 {
			if several = m.glyphText(r.fontName(text, i), int(c)); several == "" {
				c = noUnicode
			}
		} else if c = visibleRune(c); c == 0 {
			b.endWord()
			continue
		}
		if m.callQuick("FPDFText_GetLooseCharBox", text, uint64(i), uint64(m.scratch)) == 0 {
			continue
		}
		// FS_RECTF: left, top, right, bottom.
		g := r.out.toDisplayBox(m.readFloat(0), m.readFloat(12), m.readFloat(8), m.readFloat(4))
		isShown := true
		if v.objects != nil {
			t := v.objects[m.callQuick("FPDFText_GetTextObject", text, uint64(i))]
			isShown = t == nil || !t.isDoubtful || t.unseen != seen || v.shows(t, g)
			if t != b.object {
				b.setObject(t, isShown)
			}
		}
		typefaceOf := func() typeface {
			t := fonts.typefaceOfChar(i, g)
			t.hasNoUnicode = c <= '~' && several == "" && m.callQuick("FPDFText_HasUnicodeMapError", text, uint64(i)) == 1
			return t
		}
		if several == "" {
			b.addRune(c, g, isShown, typefaceOf)
		}
		for _, c := range several {
			b.addRune(c, g, isShown, typefaceOf)
		}
	}
	b.endWord()
	m.call("FPDFText_ClosePage", text)
	if m.err != nil {
		return m.documentError(formatPage(r.out.number))
	}
	return nil
}

// pageChars reads all characters of a page at once. This is a hundred times cheaper than reading them one by one,
// because calls with a time limit are expensive. It returns nil if the characters can't be matched to their positions
// because some have no Unicode value or need two UTF-16 units.
func (m *pdfiumDocument) pageChars(text uint64, count int) []uint16 {
	size := uint32(2 * (count + 1))
	at := uint32(m.call("malloc", uint64(size)))
	if at == 0 {
		return nil
	}
	defer func() { m.call("free", uint64(at)) }()
	if n := m.call("FPDFText_GetText", text, 0, uint64(count), uint64(at)); uint32(n) != uint32(count)+1 {
		return nil
	}
	raw, ok := m.mem.Read(at, size)
	if !ok {
		return nil
	}
	units := make([]uint16, count)
	for i := range units {
		units[i] = uint16(raw[2*i]) | uint16(raw[2*i+1])<<8
		if utf16.IsSurrogate(rune(units[i])) {
			return nil
		}
	}
	return units
}

// typefaces reads typefaces from PDFium. All words of a text object have the same font and baseline, so these are read
// only once per object.
type typefaces struct {
	r      *pageReader
	text   uint64
	object uint64 // the text object of last
	last   typeface
}

func (f *typefaces) typefaceOfChar(i int, g box) typeface {
	m, at := f.r.m, uint64(i)
	object := m.callQuick("FPDFText_GetTextObject", f.text, at)
	if object != 0 && object == f.object {
		return f.last
	}
	t := typeface{size: math.Float64frombits(m.callQuick("FPDFText_GetFontSize", f.text, at))}
	angle := 0.0
	if m.callQuick("FPDFText_GetMatrix", f.text, at, uint64(m.scratch)) != 0 {
		t.size *= math.Hypot(m.readFloat(8), m.readFloat(12))
		angle = math.Atan2(m.readFloat(4), m.readFloat(0))
		if m.readFloat(0)*m.readFloat(12) < 0 {
			angle = 0 // the text is mirrored
		}
	}
	if !(t.size > 0.5 && t.size < 2000) {
		t.size = g.height()
	}
	t.setTilt(angle - float64(f.r.out.rotation)*math.Pi/2)
	if t.base = g.y1 - 0.2*t.size; t.turn.isVertical() {
		t.base = (g.x0 + g.x1) / 2
	}
	if m.callQuick("FPDFText_GetCharOrigin", f.text, at, uint64(m.scratch), uint64(m.scratch)+8) != 0 {
		x, _ := m.mem.ReadFloat64Le(m.scratch)
		y, _ := m.mem.ReadFloat64Le(m.scratch + 8)
		if x, y = f.r.out.toDisplayPoint(x, y); t.turn.isVertical() {
			t.base = x
		} else {
			t.base = y
		}
	}
	t.bold = isBoldFont(f.r.fontName(f.text, i))
	f.object, f.last = object, t
	return t
}

// glyphText returns the text of a character for which the font has no Unicode value, but a name that represents several
// letters.
func (m *pdfiumDocument) glyphText(font string, code int) string {
	if m.glyphNames == nil {
		m.glyphNames = glyphNames{}
		if raw, ok := m.mem.Read(m.fileAt, m.fileSize); ok {
			m.glyphNames = readGlyphNames(raw)
		}
	}
	return m.glyphNames.lookup(font, code)
}

// fontName returns the name of a character's font, or "".
func (r *pageReader) fontName(text uint64, i int) string {
	m := r.m
	n := uint32(m.callQuick("FPDFText_GetFontInfo", text, uint64(i), uint64(m.scratch), 256, uint64(m.scratch)+256))
	if m.err != nil || n == 0 || n > 256 {
		return ""
	}
	raw, _ := m.mem.Read(m.scratch, n-1)
	return string(raw)
}
