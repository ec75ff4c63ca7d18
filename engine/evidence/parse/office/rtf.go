package office

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/charset"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/text"
)

const (
	maxRTFDepth = 1000
	maxRTFWord  = 32 // letters of a control word
)

// ReadRTF reads Rich Text: paragraphs by their styles and outline levels, lists by the markers stored in the
// file, tables row by row, and footnotes after their paragraphs. Images, embedded objects, field codes and
// hidden or deleted text are skipped.
func ReadRTF(b *document.Builder, content io.ReaderAt, size int64) error {
	raw, err := document.ReadAll(content, size)
	if err != nil {
		return err
	}
	r := &rtfReader{
		b:              b,
		raw:            raw,
		styles:         map[int]docxStyle{},
		fonts:          map[int]encoding.Encoding{},
		defaultCharset: charmap.Windows1252,
		formats:        map[rtfStyleKey]rtfStyleFormat{},
		symbolFonts:    map[int]string{},
	}
	r.stack = []rtfGroup{{skipBytes: 1}}
	return r.read()
}

// rtfDest is the destination of a group's text.
type rtfDest int

const (
	rtfBody rtfDest = iota
	rtfIgnored
	rtfFonts
	rtfColors
	rtfStyles
	rtfTitle
	rtfMark  // the number or bullet of a list item, as last displayed
	rtfAside // running headers and footers
	rtfNote
	rtfInstruction // of a field
	rtfEntry       // of a list in a form field
	rtfPicture     // a picture's bytes, in hex
	rtfProperty    // the name or value of a property of a shape or picture
)

// rtfGroup is the state of an open group.
type rtfGroup struct {
	dest      rtfDest
	format    rtfFormat
	basedOn   int // of the style being defined
	bold      bool
	font      int
	style     int // in the style sheet: number of the style being defined
	skipBytes int // number of fallback characters after a \u
	starred   bool
	ofNested  bool // the group contains the row properties of a nested table
}

// rtfPara is the formatting of a paragraph, which \pard resets.
type rtfPara struct {
	style, outline, list int // outline level from 1, number of the list; 0 if none
	level                int
	hangs                bool // the first line begins left of the others, like a list marker
	left                 int  // indent in twentieths of a point
	inTable              bool
	nesting              int // number of enclosing tables, if more than one
	background           int // in the color table
}

type rtfReader struct {
	b   *document.Builder
	raw []byte
	at  int

	stack          []rtfGroup
	para           rtfPara
	text           strings.Builder
	highSurrogate  uint16 // first half of a surrogate pair
	skip           int    // fallback characters still to skip
	defaultCharset encoding.Encoding
	fonts          map[int]encoding.Encoding
	pending        []byte // the first bytes of a multi-byte character
	styles         map[int]docxStyle
	formats        map[rtfStyleKey]rtfStyleFormat

	colors     []string // in hex; empty for the automatic color
	color      [3]int   // being defined
	isColorSet bool
	cellColors []int // backgrounds of the row's cells, in the color table
	cellColor  int
	kind       string // the kind of unread content that the text is, if kindKnown
	kindKnown  bool
	counted    string // the kinds of unread text already counted in the paragraph

	cellMerge   string          // how the cell being defined is covered by a merged cell
	cellMerges  []string        // of the row
	cellEdges   []int           // right edges of the row's cells, in twips
	form        *wordField      // the open or last form field
	instruction strings.Builder // of the last field
	symbol      string          // shown by the open field if it has no result
	symbolAt    int             // length of the text at the field
	fieldDepth  int
	fontName    string         // being read
	symbolFonts map[int]string // names by number

	picture       []byte // the open picture
	halfByte      int    // the first digit of its next byte; -1 if none
	property      strings.Builder
	propertyName  string // the last
	hiddenShapeAt int    // nesting depth of the hidden shape's group; 0 if no open shape is hidden

	mark       strings.Builder
	sideText   strings.Builder // of the open style, title, header or footer
	notes      []string
	hasNonBold bool // something in the paragraph is not bold

	table  *document.TableWriter
	rows   []rtfRow // rows of the table, held back until its columns are known
	cells  []string
	cell   []string
	nested []rtfNestedTable // the open tables in the cell, the innermost last
}

func (r *rtfReader) currentGroup() *rtfGroup { return &r.stack[len(r.stack)-1] }

func (r *rtfReader) read() error {
	for n := 0; r.at < len(r.raw) && r.b.Err() == nil; n++ {
		if n%4096 == 0 {
			if err := r.b.Context().Err(); err != nil {
				return err
			}
		}
		c := r.raw[r.at]
		r.at++
		switch c {
		case '{':
			if len(r.stack) > maxRTFDepth {
				return document.NewError(document.ErrDamaged, "", "groups nested deeper than %d", maxRTFDepth)
			}
			g := *r.currentGroup()
			g.starred = false
			if g.dest == rtfStyles {
				g.format, g.basedOn = rtfFormat{}, 0
			}
			r.stack = append(r.stack, g)
		case '}':
			r.pending = r.pending[:0]
			r.closeGroup()
			r.kindKnown = false
		case '\\':
			r.readAndExecuteControl()
		case '\r', '\n':
		default:
			end := r.at
			for end < len(r.raw) && end-r.at < 1<<16 && r.raw[end] < 0x80 && !strings.ContainsRune("{}\\\r\n", rune(r.raw[end])) {
				end++
			}
			if end == r.at || r.skip > 0 || c >= 0x80 || len(r.pending) > 0 {
				r.putByte(c)
				break
			}
			r.putText(string(r.raw[r.at-1 : end]))
			r.at = end
		}
	}
	r.endParagraph()
	r.endTable()
	r.b.PromoteBoldHeadings()
	return r.b.Err()
}

// closeGroup closes the current group. If the group has its own destination, such as the title, it
// stores the collected text there.
func (r *rtfReader) closeGroup() {
	if len(r.stack) == 1 {
		return
	}
	g := *r.currentGroup()
	r.stack = r.stack[:len(r.stack)-1]
	r.endField(g)
	r.endMedia(g)
	if g.dest == rtfStyles && g.format.character > 0 && len(r.formats) < maxRTFColors {
		r.formats[rtfStyleKey{"cs", g.format.character}] = rtfStyleFormat{g.format, g.basedOn}
	}
	if g.dest == rtfStyles && g.style >= 0 {
		if len(r.formats) < maxRTFColors {
			r.formats[rtfStyleKey{"s", g.style}] = rtfStyleFormat{g.format, g.basedOn}
		}
		if name := strings.TrimRight(document.CleanLine(r.sideText.String()), ";"); name != "" {
			r.styles[g.style] = builtInStyleFor(name)
		}
		r.sideText.Reset()
	}
	if g.dest == r.currentGroup().dest {
		return
	}
	switch text := document.CleanLine(r.sideText.String()); g.dest {
	case rtfTitle:
		if r.b.Doc.Title == "" {
			r.b.Doc.Title = text
		}
	case rtfAside:
		r.b.AddPageFurniture(document.Block{Kind: document.Paragraph, Text: text})
	case rtfNote:
		if text != "" {
			r.notes = append(r.notes, text)
		}
	case rtfEntry:
		if r.form != nil {
			r.form.entries = append(r.form.entries, text)
		}
	case rtfMark, rtfBody, rtfIgnored, rtfFonts, rtfStyles, rtfColors, rtfInstruction, rtfPicture, rtfProperty:
		return
	}
	r.counted = ""
	r.sideText.Reset()
}

// readAndExecuteControl reads the control word or symbol after a backslash and executes it.
func (r *rtfReader) readAndExecuteControl() {
	if r.at >= len(r.raw) {
		return
	}
	c := r.raw[r.at]
	if c < 'a' || c > 'z' {
		r.executeControlSymbol(c)
		return
	}
	start := r.at
	for r.at < len(r.raw) && r.at-start < maxRTFWord && r.raw[r.at] >= 'a' && r.raw[r.at] <= 'z' ||
		r.at < len(r.raw) && r.raw[r.at] >= 'A' && r.raw[r.at] <= 'Z' && r.at-start < maxRTFWord {
		r.at++
	}
	word := string(r.raw[start:r.at])
	numberAt := r.at
	if r.at < len(r.raw) && r.raw[r.at] == '-' {
		r.at++
	}
	for r.at < len(r.raw) && r.at-numberAt < 11 && r.raw[r.at] >= '0' && r.raw[r.at] <= '9' {
		r.at++
	}
	value, err := strconv.Atoi(string(r.raw[numberAt:r.at]))
	given := err == nil
	if r.at < len(r.raw) && r.raw[r.at] == ' ' {
		r.at++
	}
	if word == "bin" && given && value > 0 {
		end := min(len(r.raw), r.at+value)
		if r.currentGroup().dest == rtfPicture {
			r.picture = append(r.picture, r.raw[r.at:end]...)
		}
		r.at = end
		return
	}
	r.pending = r.pending[:0] // a control word ends an incomplete character
	r.executeControlWord(word, value, given)
}

func (r *rtfReader) executeControlSymbol(c byte) {
	r.at++
	switch c {
	case '\'':
		if r.at+2 <= len(r.raw) {
			if v, err := strconv.ParseUint(string(r.raw[r.at:r.at+2]), 16, 8); err == nil {
				r.at += 2
				if r.skip > 0 {
					r.skip--
					return
				}
				r.putEncoded(byte(v))
			}
		}
	case '*':
		r.currentGroup().starred = true
	case '~':
		r.putText(" ")
	case '_':
		r.putText("-")
	case '\\', '{', '}':
		r.putByte(c)
	case '\r', '\n':
		r.endParagraph()
	}
}

func (r *rtfReader) currentCharset() encoding.Encoding {
	if p, ok := r.fonts[r.currentGroup().font]; ok {
		return p
	}
	return r.defaultCharset
}

// putByte adds a byte of text, which may be part of a multi-byte character.
func (r *rtfReader) putByte(c byte) {
	if r.skip > 0 {
		r.skip--
		return
	}
	if c < 0x80 && len(r.pending) == 0 {
		r.putText(string(rune(c)))
		return
	}
	r.putEncoded(c)
}

// putEncoded adds a byte in the character set of the font. A multi-byte character is added when its
// last byte is read.
func (r *rtfReader) putEncoded(c byte) {
	set := r.currentCharset()
	if single, ok := set.(*charmap.Charmap); ok {
		r.putText(string(single.DecodeByte(c)))
		return
	}
	r.pending = append(r.pending, c)
	var out [8]byte
	n, _, err := set.NewDecoder().Transform(out[:], r.pending, false)
	if errors.Is(err, transform.ErrShortSrc) && len(r.pending) < utf8.UTFMax {
		return
	}
	r.pending = r.pending[:0]
	r.putText(string(out[:n]))
}

// putText adds text to the destination of the current group.
func (r *rtfReader) putText(s string) {
	if s == "" {
		return
	}
	g := r.currentGroup()
	switch g.dest {
	case rtfBody, rtfMark, rtfAside, rtfNote:
		if r.countIfUnread(s) {
			return
		}
		font := ""
		if len(r.symbolFonts) > 0 {
			font = r.symbolFonts[g.font]
		}
		if g.dest != rtfMark && (font != "" || s[0] == 0xEF) {
			s = document.DecodeSymbols(font, s)
		}
	case rtfColors:
		for range strings.Count(s, ";") {
			r.endColor()
		}
	case rtfFonts:
		r.readFontName(s)
	case rtfInstruction:
		if r.instruction.Len() < 1000 {
			r.instruction.WriteString(s)
		}
	case rtfPicture:
		r.putPictureDigits(s)
	case rtfProperty:
		if r.property.Len() < maxRTFProperty {
			r.property.WriteString(s)
		}
	case rtfIgnored, rtfStyles, rtfTitle, rtfEntry:
	}
	switch g.dest {
	case rtfBody:
		if r.text.Len() > 8<<20 {
			r.b.Fail(document.NewError(document.ErrTooLarge, "", "a paragraph is larger than 8 MiB"))
			return
		}
		if !g.bold && strings.TrimSpace(s) != "" {
			r.hasNonBold = true
		}
		r.text.WriteString(s)
	case rtfMark:
		if r.mark.Len() < 100 {
			r.mark.WriteString(s)
		}
	case rtfStyles, rtfTitle, rtfAside, rtfNote, rtfEntry:
		if r.sideText.Len() < 1<<20 {
			r.sideText.WriteString(s)
		}
	case rtfIgnored, rtfFonts, rtfColors, rtfInstruction, rtfPicture, rtfProperty:
	}
}

// rtfIgnoredWords lists the destinations whose text is not part of the document.
var rtfIgnoredWords = map[string]bool{
	"nonshppict":         true,
	"objdata":            true,
	"datafield":          true,
	"sp":                 true,
	"author":             true,
	"operator":           true,
	"creatim":            true,
	"revtim":             true,
	"printim":            true,
	"buptim":             true,
	"company":            true,
	"doccomm":            true,
	"comment":            true,
	"keywords":           true,
	"subject":            true,
	"category":           true,
	"manager":            true,
	"hlinkbase":          true,
	"listtable":          true,
	"listoverridetable":  true,
	"revtbl":             true,
	"rsidtbl":            true,
	"generator":          true,
	"xmlnstbl":           true,
	"themedata":          true,
	"colorschememapping": true,
	"datastore":          true,
	"latentstyles":       true,
	"annotation":         true,
	"atnid":              true,
	"atnauthor":          true,
	"bkmkstart":          true,
	"bkmkend":            true,
	"filetbl":            true,
	"private":            true,
	"ftnsep":             true,
	"ftnsepc":            true,
	"ftncn":              true,
	"aftnsep":            true,
	"aftnsepc":           true,
	"aftncn":             true,
	"background":         true,
	"txe":                true,
	"nonesttables":       true,
	"xe":                 true,
	"tc":                 true,
	"tcn":                true,
}

// rtfStarredWords are the words of those optional groups that contain text or properties of the document.
var rtfStarredWords = map[string]bool{
	"shpinst": true, "shptxt": true, "shppict": true, "nesttableprops": true, "cs": true, "ds": true, "ts": true,
}

// rtfCharsets maps the character sets of fonts to code pages.
var rtfCharsets = map[int]int{
	77:  10000,
	128: 932,
	129: 949,
	134: 936,
	136: 950,
	161: 1253,
	162: 1254,
	163: 1258,
	177: 1255,
	178: 1256,
	186: 1257,
	204: 1251,
	222: 874,
	238: 1250,
	255: 850,
}

func (r *rtfReader) executeControlWord(word string, v int, given bool) {
	g := r.currentGroup()
	on := !given || v != 0
	r.kindKnown = false
	if r.readFormWord(word, v) {
		return
	}
	if r.startMedia(word, v) {
		return
	}
	if into, ok := destinationFor(word); ok {
		if g.dest == rtfBody || into == rtfIgnored {
			switch g.dest, g.style = into, -1; {
			case into == rtfMark:
				r.mark.Reset()
			case into == rtfInstruction:
				r.instruction.Reset()
			case into != rtfIgnored:
				r.sideText.Reset()
			}
		}
		g.starred = false
		return
	}
	if g.starred { // an unknown optional destination
		g.starred = false
		if !rtfStarredWords[word] {
			g.dest = rtfIgnored
			return
		}
		if g.dest == rtfStyles {
			if g.style = -1; word == "cs" {
				g.format.character = v
			}
			return
		}
	}
	if g.ofNested && word != "nestrow" || r.setFormat(word, v, on) {
		return
	}
	switch word {
	case "ansicpg":
		r.defaultCharset = charset.CodePage(v)
	case "mac":
		r.defaultCharset = charmap.Macintosh
	case "pc":
		r.defaultCharset = charmap.CodePage437
	case "pca":
		r.defaultCharset = charmap.CodePage850
	case "f":
		g.font = v
	case "fcharset":
		if page, ok := rtfCharsets[v]; ok && g.dest == rtfFonts && len(r.fonts) < 10_000 {
			r.fonts[g.font] = charset.CodePage(page)
		}
	case "uc":
		g.skipBytes = min(max(v, 0), 10)
	case "u":
		r.putUnicode(v)
	case "s":
		if g.dest == rtfStyles {
			g.style = v
			r.sideText.Reset()
		} else {
			r.para.style = v
		}
	case "outlinelevel":
		if v >= 0 && v < 9 && g.dest == rtfBody {
			r.para.outline = v + 1
		}
	case "ls":
		r.para.list = v
	case "ilvl":
		r.para.level = min(max(v, 0), 8)
	case "pard":
		if g.dest == rtfBody {
			r.para = rtfPara{}
		}
	case "fi":
		r.para.hangs = v < 0
	case "li":
		r.para.left = v
	case "intbl":
		r.para.inTable = true
	case "itap":
		r.para.nesting = min(v, maxRTFNesting)
	case "nesttableprops":
		g.ofNested = true
	case "b":
		g.bold = on
	case "par", "sect", "page":
		r.breakOrSpace(g, r.endParagraph)
	case "cell":
		r.breakOrSpace(g, r.endCell)
	case "nestcell":
		r.breakOrSpace(g, r.endNestedCell)
	case "row":
		r.breakOrSpace(g, r.endRow)
	case "nestrow":
		r.breakOrSpace(g, r.endNestedRow)
	case "line", "tab", "emspace", "enspace":
		r.putText(" ")
	case "emdash":
		r.putText("—")
	case "endash":
		r.putText("–")
	case "lquote":
		r.putText("‘")
	case "rquote":
		r.putText("’")
	case "ldblquote":
		r.putText("“")
	case "rdblquote":
		r.putText("”")
	case "bullet":
		r.putText("•")
	}
}

// breakOrSpace handles a line, cell or similar break. In the body, it calls end; elsewhere, it adds a space.
func (r *rtfReader) breakOrSpace(g *rtfGroup, end func()) {
	if g.dest == rtfBody {
		end()
		return
	}
	r.putText(" ")
}

// destinationFor returns the destination of the text that follows a control word, and whether the control word
// begins a destination.
func destinationFor(word string) (rtfDest, bool) {
	switch word {
	case "fonttbl":
		return rtfFonts, true
	case "colortbl":
		return rtfColors, true
	case "stylesheet":
		return rtfStyles, true
	case "title":
		return rtfTitle, true
	case "listtext", "pntext":
		return rtfMark, true
	case "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf":
		return rtfAside, true
	case "footnote":
		return rtfNote, true
	case "fldinst":
		return rtfInstruction, true
	}
	return rtfIgnored, rtfIgnoredWords[word]
}

func (r *rtfReader) putUnicode(v int) {
	r.skip = r.currentGroup().skipBytes
	u := uint16(v) //nolint:gosec // negative numbers are the upper half by the format
	switch {
	case utf16.IsSurrogate(rune(u)) && r.highSurrogate == 0:
		r.highSurrogate = u
	case r.highSurrogate != 0:
		r.putText(string(utf16.DecodeRune(rune(r.highSurrogate), rune(u))))
		r.highSurrogate = 0
	default:
		r.putText(string(rune(u)))
	}
}

// takeText returns and clears the text collected for the current paragraph, whether all of it is
// bold, and its footnotes.
func (r *rtfReader) takeText() (text string, bold bool, notes []string) {
	text, notes = document.CleanLine(r.text.String()), r.notes
	bold = !r.hasNonBold && text != ""
	r.text.Reset()
	r.notes, r.hasNonBold, r.highSurrogate, r.counted = nil, false, 0, ""
	return text, bold, notes
}

func (r *rtfReader) endParagraph() {
	text, bold, notes := r.takeText()
	mark := document.CleanLine(r.mark.String())
	r.mark.Reset()
	if r.para.inTable || r.para.nesting > 0 {
		r.openNested(r.para.nesting - 1)
		cell := r.openCell()
		if text != "" {
			*cell = append(*cell, strings.TrimSpace(mark+" "+text))
		}
		*cell = append(*cell, notes...)
		return
	}
	if text == "" && len(notes) == 0 {
		return
	}
	r.endTable()
	r.writeParagraph(text, mark, bold)
	for _, n := range notes {
		r.b.AddBlock(document.Block{Kind: document.Paragraph, Text: n})
	}
}

func (r *rtfReader) writeParagraph(content, mark string, bold bool) {
	if m, rest, ok := text.SplitListItem(content); mark == "" && r.para.hangs && ok { // a list marker typed as text
		mark, content = m, rest
		r.para.level = min(max(r.para.left/360-1, 0), 8)
	}
	st := r.styles[r.para.style]
	if r.para.outline > 0 && !st.toc {
		st.level = r.para.outline
	}
	switch {
	case st.toc:
		r.b.AddPageFurniture(document.Block{Kind: document.Paragraph, Text: content})
	case st.title:
		if r.b.Doc.Title == "" {
			r.b.Doc.Title = content
		}
		r.b.AddHeading(1, content, api.Locator{})
	case st.level > 0:
		r.b.AddHeading(st.level, mark+" "+content, api.Locator{})
	case mark != "" || r.para.list > 0:
		if !strings.ContainsAny(mark, ".)0123456789") { // a bullet, in whichever font
			mark = ""
		}
		r.b.AddBlock(document.Block{Kind: document.ListItem, Level: r.para.level + 1, Text: content, Marker: mark})
	default:
		r.b.AddParagraph(content, bold, api.Locator{})
	}
}

func (r *rtfReader) endCell() {
	r.para.inTable, r.para.nesting = true, 1
	r.endParagraph()
	if len(r.cells) < document.MaxColumns {
		r.cells = append(r.cells, strings.Join(r.cell, " "))
	}
	r.cell = nil
}

func (r *rtfReader) endRow() {
	if r.table == nil {
		r.table = r.b.NewTableWriter()
	}
	for i, merge := range r.cellMerges[:min(len(r.cellMerges), len(r.cells))] {
		if r.cells[i] == "" && merge != "" {
			r.cells[i] = merge
		}
	}
	if r.rows = append(r.rows, rtfRow{r.cells, slices.Clone(r.cellEdges)}); len(r.rows) == maxRTFRows {
		r.writeRows()
	}
	r.cells, r.cell = nil, nil
	r.para.inTable, r.para.nesting = false, 0
}

func (r *rtfReader) endTable() {
	r.openNested(0)
	if len(r.cells) > 0 || len(r.cell) > 0 { // the last row has no end mark
		r.cells = append(r.cells, r.cell...)
		r.endRow()
	}
	if r.table != nil {
		r.writeRows()
		r.table.Finish()
		r.table = nil
	}
}
