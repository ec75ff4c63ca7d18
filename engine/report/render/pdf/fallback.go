package pdf

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
)

// Fonts are the fonts for characters that the built-in fonts lack.
type Fonts struct {
	// Named is the TrueType font chosen by the operator, or nil. If it can't be used, writing the report fails.
	Named []byte
	// Installed contains functions that load the machine's fonts, which are tried next, in order.
	// Fonts that can't be used are skipped.
	Installed []func() ([]byte, error)
}

// maxInstalledFonts is the maximum number of installed fonts that a report uses.
const maxInstalledFonts = 4

// fallbackFor returns the font, other than the built-in ones, that can show a character, or nil if there is none. If
// load is set, installed fonts are loaded when they are needed.
func (p *pdfWriter) fallbackFor(r rune, load bool) *face {
	for _, f := range p.fonts.fallbacks {
		if f.runeWidthOrNegative(r) >= 0 {
			return f
		}
	}
	if !load || p.missing[r] {
		return nil
	}
	for len(p.installed) > 0 && len(p.fonts.fallbacks) < maxInstalledFonts {
		data, err := p.installed[0]()
		p.installed = p.installed[1:]
		if err != nil {
			continue
		}
		f, err := newFallback(fmt.Sprintf("installed%d", len(p.installed)), data)
		if err != nil || f.runeWidthOrNegative(r) < 0 || f.checkCharacter(r) != nil {
			continue
		}
		f.register(p.file)
		p.fonts.fallbacks = append(p.fonts.fallbacks, f)
		return f
	}
	return nil
}

// newFallback reads a fallback font. If data is a font collection, it uses the first font.
func newFallback(name string, data []byte) (*face, error) {
	data, err := firstOfCollection(data)
	if err != nil {
		return nil, err
	}
	return newFace(name, data)
}

// checkCharacter returns an error if a character can't be written with the font. This check is needed because the
// library doesn't validate font tables and may panic.
func (f *face) checkCharacter(r rune) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the fallback font can't be used: %v", r)
		}
	}()
	file := fpdf.New("P", "pt", "A4", "")
	f.register(file)
	file.AddPage()
	file.SetFont(f.name, "", 10)
	file.Text(10, 10, string(r))
	return file.Output(io.Discard)
}

// fullName returns the font's name in the form that users know.
func (f *face) fullName() string {
	name, err := f.font.Name(&f.buf, sfnt.NameIDFull)
	if err != nil {
		return f.name
	}
	return cmp.Or(name, f.name)
}

// firstOfCollection returns the first font of a TrueType collection as a separate font. It returns
// other data unchanged.
func firstOfCollection(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte("ttcf")) {
		return data, nil
	}
	errCut := errors.New("the font collection is damaged")
	if len(data) < 16 {
		return nil, errCut
	}
	at := uint64(binary.BigEndian.Uint32(data[12:]))
	if at+12 > uint64(len(data)) {
		return nil, errCut
	}
	const entry, maxTables = 16, 64
	n := uint64(binary.BigEndian.Uint16(data[at+4:]))
	head := 12 + n*entry
	if n == 0 || n > maxTables || at+head > uint64(len(data)) {
		return nil, errCut
	}
	out := bytes.Clone(data[at : at+head])
	for i := range n {
		record := out[12+i*entry:]
		from, size := uint64(binary.BigEndian.Uint32(record[8:])), uint64(binary.BigEndian.Uint32(record[12:]))
		if from+size > uint64(len(data)) || uint64(len(out))+size > uint64(len(data))+head {
			return nil, errCut
		}
		binary.BigEndian.PutUint32(record[8:], uint32(len(out)))
		out = append(out, data[from:from+size]...)
		out = append(out, make([]byte, (4-len(out)%4)%4)...)
	}
	return out, nil
}
