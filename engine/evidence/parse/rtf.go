package parse

import (
	"io"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"github.com/scf-service/service/api"
)

const (
	maxRTFDepth = 1000
	maxRTFWord  = 32 // letters of a control word
)

// readRTF reads Rich Text: paragraphs by their styles and outline levels, lists by the
// marks that the file brings along, tables row by row, footnotes after their paragraph.
// Pictures, embedded objects, field codes and hidden or deleted text are passed over.
func readRTF(b *builder, content io.ReaderAt, size int64) error {
	raw, err := whole(content, size)
	if err != nil {
		return err
	}
	r := &rtfReader{b: b, raw: raw, styles: map[int]docxStyle{}, fonts: map[int]*charmap.Charmap{}, page: charmap.Windows1252}
	r.stack = []rtfGroup{{skipBytes: 1}}
	return r.read()
}

// rtfInto says where the text of a group goes.
type rtfInto int

const (
	rtfBody rtfInto = iota
	rtfNowhere
	rtfFonts
	rtfStyles
	rtfTitle
	rtfMark  // the number or bullet of a list item, as it was last shown
	rtfAside // running headers and footers
	rtfNote
)

// rtfGroup is what holds until the brace is closed.
type rtfGroup struct {
	into      rtfInto
	hidden    bool
	bold      bool
	font      int
	style     int // in the style sheet: the one being defined
	skipBytes int // how many characters stand for a \u where Unicode is not known
	starred   bool
}

// rtfPara is what holds until \pard.
type rtfPara struct {
	style, outline, list int // outline from 1, list the number of the list; 0 is none
	level                int
	hangs                bool // the first line begins left of the others, as the mark of a list does
	left                 int  // indent in twentieths of a point
	inTable              bool
}

type rtfReader struct {
	b   *builder
	raw []byte
	at  int

	stack  []rtfGroup
	para   rtfPara
	text   strings.Builder
	high   uint16 // the first half of a character of two
	skip   int    // characters to pass over after a \u
	page   *charmap.Charmap
	fonts  map[int]*charmap.Charmap
	styles map[int]docxStyle

	mark  strings.Builder
	side  strings.Builder // of the open style, title, header or footer
	notes []string
	plain bool // something in the paragraph is not bold

	table *tableWriter
	cells []string
	cell  []string
}

func (r *rtfReader) top() *rtfGroup { return &r.stack[len(r.stack)-1] }

func (r *rtfReader) read() error {
	for n := 0; r.at < len(r.raw) && r.b.err == nil; n++ {
		if n%4096 == 0 {
			if err := r.b.ctx.Err(); err != nil {
				return err
			}
		}
		c := r.raw[r.at]
		r.at++
		switch c {
		case '{':
			if len(r.stack) > maxRTFDepth {
				return fail(ErrDamaged, "", "groups nested deeper than %d", maxRTFDepth)
			}
			g := *r.top()
			g.starred = false
			r.stack = append(r.stack, g)
		case '}':
			r.close()
		case '\\':
			r.control()
		case '\r', '\n':
		default:
			r.byte(c)
		}
	}
	r.endParagraph()
	r.endTable()
	r.b.headingsByBold()
	return r.b.err
}

// close ends a group and puts the text of a destination where it belongs.
func (r *rtfReader) close() {
	if len(r.stack) == 1 {
		return
	}
	g := *r.top()
	r.stack = r.stack[:len(r.stack)-1]
	if g.into == rtfStyles && g.style >= 0 {
		if name := strings.TrimRight(clean(r.side.String()), ";"); name != "" {
			r.styles[g.style] = styleOfName(name)
		}
		r.side.Reset()
	}
	if g.into == r.top().into {
		return
	}
	switch text := clean(r.side.String()); g.into {
	case rtfTitle:
		if r.b.doc.Title == "" {
			r.b.doc.Title = text
		}
	case rtfAside:
		r.b.aside(Block{Kind: Paragraph, Text: text})
	case rtfNote:
		if text != "" {
			r.notes = append(r.notes, text)
		}
	case rtfMark, rtfBody, rtfNowhere, rtfFonts, rtfStyles:
		return
	}
	r.side.Reset()
}

// control reads what follows a backslash.
func (r *rtfReader) control() {
	if r.at >= len(r.raw) {
		return
	}
	c := r.raw[r.at]
	if c < 'a' || c > 'z' {
		r.symbol(c)
		return
	}
	start := r.at
	for r.at < len(r.raw) && r.at-start < maxRTFWord && r.raw[r.at] >= 'a' && r.raw[r.at] <= 'z' || r.at < len(r.raw) && r.raw[r.at] >= 'A' && r.raw[r.at] <= 'Z' && r.at-start < maxRTFWord {
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
		r.at = min(len(r.raw), r.at+value)
		return
	}
	r.word(word, value, given)
}

func (r *rtfReader) symbol(c byte) {
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
				r.put(string(r.charset().DecodeByte(byte(v))))
			}
		}
	case '*':
		r.top().starred = true
	case '~':
		r.put(" ")
	case '_':
		r.put("-")
	case '\\', '{', '}':
		r.byte(c)
	case '\r', '\n':
		r.endParagraph()
	}
}

func (r *rtfReader) charset() *charmap.Charmap {
	if p, ok := r.fonts[r.top().font]; ok {
		return p
	}
	return r.page
}

func (r *rtfReader) byte(c byte) {
	if r.skip > 0 {
		r.skip--
		return
	}
	if c < 0x80 {
		r.put(string(rune(c)))
		return
	}
	r.put(string(r.charset().DecodeByte(c)))
}

// put adds text to where the open group's goes.
func (r *rtfReader) put(s string) {
	g := r.top()
	if g.hidden {
		return
	}
	switch g.into {
	case rtfBody:
		if r.text.Len() > 8<<20 {
			r.b.err = fail(ErrTooLarge, "", "a paragraph of more than 8 MiB")
			return
		}
		if !g.bold && strings.TrimSpace(s) != "" {
			r.plain = true
		}
		r.text.WriteString(s)
	case rtfMark:
		if r.mark.Len() < 100 {
			r.mark.WriteString(s)
		}
	case rtfStyles, rtfTitle, rtfAside, rtfNote:
		if r.side.Len() < 1<<20 {
			r.side.WriteString(s)
		}
	case rtfNowhere, rtfFonts:
	}
}

// rtfNowheres are destinations without text of the document.
var rtfNowheres = map[string]bool{"colortbl": true, "pict": true, "nonshppict": true, "fldinst": true, "objdata": true, "datafield": true, "sp": true, "author": true, "operator": true, "creatim": true, "revtim": true, "printim": true, "buptim": true, "company": true, "doccomm": true, "comment": true, "keywords": true, "subject": true, "category": true, "manager": true, "hlinkbase": true, "listtable": true, "listoverridetable": true, "revtbl": true, "rsidtbl": true, "generator": true, "xmlnstbl": true, "themedata": true, "colorschememapping": true, "datastore": true, "latentstyles": true, "annotation": true, "atnid": true, "atnauthor": true, "bkmkstart": true, "bkmkend": true, "filetbl": true, "private": true, "ftnsep": true, "ftnsepc": true, "ftncn": true, "aftnsep": true, "aftnsepc": true, "aftncn": true, "background": true, "mmath": false, "txe": true, "xe": true, "tc": true, "tcn": true}

// rtfCharsets are the code pages of the character sets that a font names.
var rtfCharsets = map[int]int{77: 10000, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 255: 850}

func (r *rtfReader) word(word string, v int, given bool) {
	g := r.top()
	on := !given || v != 0
	if into, ok := rtfDestination(word); ok {
		if g.into == rtfBody || into == rtfNowhere {
			if g.into, g.style = into, -1; into == rtfMark {
				r.mark.Reset()
			} else if into != rtfNowhere {
				r.side.Reset()
			}
		}
		g.starred = false
		return
	}
	if g.starred { // a destination that we don't know says that it may be passed over
		g.starred = false
		if word != "shpinst" && word != "shptxt" && word != "cs" && word != "ds" && word != "ts" {
			g.into = rtfNowhere
			return
		}
		if g.into == rtfStyles {
			g.style = -1
			return
		}
	}
	switch word {
	case "ansicpg":
		r.page = codePage(v)
	case "mac":
		r.page = charmap.Macintosh
	case "pc":
		r.page = charmap.CodePage437
	case "pca":
		r.page = charmap.CodePage850
	case "f":
		g.font = v
	case "fcharset":
		if page, ok := rtfCharsets[v]; ok && g.into == rtfFonts && len(r.fonts) < 10_000 {
			r.fonts[g.font] = codePage(page)
		}
	case "uc":
		g.skipBytes = min(max(v, 0), 10)
	case "u":
		r.unicode(v)
	case "s":
		if g.into == rtfStyles {
			g.style = v
			r.side.Reset()
		} else {
			r.para.style = v
		}
	case "outlinelevel":
		if v >= 0 && v < 9 && g.into == rtfBody {
			r.para.outline = v + 1
		}
	case "ls":
		r.para.list = v
	case "ilvl":
		r.para.level = min(max(v, 0), 8)
	case "pard":
		if g.into == rtfBody {
			r.para = rtfPara{}
		}
	case "fi":
		r.para.hangs = v < 0
	case "li":
		r.para.left = v
	case "intbl":
		r.para.inTable = true
	case "plain":
		g.hidden, g.bold = false, false
	case "b":
		g.bold = on
	case "v", "deleted":
		g.hidden = on
	case "par", "sect", "page":
		r.breakOr(g, r.endParagraph)
	case "cell", "nestcell":
		r.breakOr(g, r.endCell)
	case "row", "nestrow":
		r.breakOr(g, r.endRow)
	case "line", "tab", "emspace", "enspace":
		r.put(" ")
	case "emdash":
		r.put("—")
	case "endash":
		r.put("–")
	case "lquote":
		r.put("‘")
	case "rquote":
		r.put("’")
	case "ldblquote":
		r.put("“")
	case "rdblquote":
		r.put("”")
	case "bullet":
		r.put("•")
	}
}

// breakOr ends what is open in the text; elsewhere a break is a space.
func (r *rtfReader) breakOr(g *rtfGroup, end func()) {
	if g.into == rtfBody {
		end()
		return
	}
	r.put(" ")
}

// rtfDestination is where the text of a group goes that begins with a word.
func rtfDestination(word string) (rtfInto, bool) {
	switch word {
	case "fonttbl":
		return rtfFonts, true
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
	}
	return rtfNowhere, rtfNowheres[word]
}

func (r *rtfReader) unicode(v int) {
	r.skip = r.top().skipBytes
	u := uint16(v) //nolint:gosec // negative numbers are the upper half by the format
	switch {
	case utf16.IsSurrogate(rune(u)) && r.high == 0:
		r.high = u
	case r.high != 0:
		r.put(string(utf16.DecodeRune(rune(r.high), rune(u))))
		r.high = 0
	default:
		r.put(string(rune(u)))
	}
}

// takeText ends the open text and gives it, with its notes behind it.
func (r *rtfReader) takeText() (text string, bold bool, notes []string) {
	text, notes = clean(r.text.String()), r.notes
	bold = !r.plain && text != ""
	r.text.Reset()
	r.notes, r.plain, r.high = nil, false, 0
	return text, bold, notes
}

func (r *rtfReader) endParagraph() {
	text, bold, notes := r.takeText()
	mark := clean(r.mark.String())
	r.mark.Reset()
	if r.para.inTable {
		if text != "" {
			r.cell = append(r.cell, strings.TrimSpace(mark+" "+text))
		}
		r.cell = append(r.cell, notes...)
		return
	}
	if text == "" && len(notes) == 0 {
		return
	}
	r.endTable()
	r.write(text, mark, bold)
	for _, n := range notes {
		r.b.add(Block{Kind: Paragraph, Text: n})
	}
}

func (r *rtfReader) write(text, mark string, bold bool) {
	if m := listMark.FindStringSubmatch(text); mark == "" && r.para.hangs && m != nil { // a mark that is but text
		mark, text = m[2], m[3]
		r.para.level = min(max(r.para.left/360-1, 0), 8)
	}
	st := r.styles[r.para.style]
	if r.para.outline > 0 && !st.toc {
		st.level = r.para.outline
	}
	switch {
	case st.toc:
		r.b.aside(Block{Kind: Paragraph, Text: text})
	case st.title:
		if r.b.doc.Title == "" {
			r.b.doc.Title = text
		}
		r.b.heading(1, text, api.Locator{})
	case st.level > 0:
		r.b.heading(st.level, mark+" "+text, api.Locator{})
	case mark != "" || r.para.list > 0:
		if !strings.ContainsAny(mark, ".)0123456789") { // a bullet, in whichever font
			mark = ""
		}
		r.b.add(Block{Kind: ListItem, Level: r.para.level + 1, Text: text, Mark: mark})
	default:
		r.b.paragraph(text, bold, api.Locator{})
	}
}

func (r *rtfReader) endCell() {
	r.para.inTable = true
	r.endParagraph()
	if len(r.cells) < maxColumns {
		r.cells = append(r.cells, strings.Join(r.cell, " "))
	}
	r.cell = nil
}

func (r *rtfReader) endRow() {
	if r.table == nil {
		r.table = r.b.table()
	}
	r.table.add(r.cells, api.Locator{})
	r.cells, r.cell = nil, nil
	r.para.inTable = false
}

func (r *rtfReader) endTable() {
	if len(r.cells) > 0 || len(r.cell) > 0 { // a row that was cut off
		r.cells = append(r.cells, r.cell...)
		r.endRow()
	}
	if r.table != nil {
		r.table.end()
		r.table = nil
	}
}
