package render

import (
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/engine/report/drawing"
)

func (x *docx) block(b block) {
	switch b := b.(type) {
	case heading:
		level := 2
		if b.Minor {
			level = 3
		}
		x.head(level, b.ID, b.Text, false)
	case para:
		x.styled(map[string]string{"empty": "Empty", "lead": "Lead"}[b.Class], b.Text)
	case list:
		for _, c := range b.Items {
			x.styled("ListBullet", c)
		}
	case facts:
		x.facts(b)
	case quotes:
		for _, q := range b.Items {
			x.quote(q)
		}
	case card:
		x.put(`<w:p><w:pPr><w:pStyle w:val="Heading3"/></w:pPr>`)
		x.anchored(b.ID, func() { x.spans(b.Title) })
		x.put(`</w:p>`)
		for _, inner := range b.Blocks {
			x.block(inner)
		}
	case table:
		x.table(b)
	case picture:
		x.picture(b.Titled())
	}
}

// styled is a paragraph of a style; none for the body's own. A text from the right stands
// in a paragraph of its own.
func (x *docx) styled(style string, c cell) { x.paragraphs(style, "", c) }

// paragraphs writes a cell: one paragraph, and one more for each longer text in it.
func (x *docx) paragraphs(style, align string, c cell) {
	open := func(rtl bool) {
		x.put(`<w:p><w:pPr>`)
		if style != "" {
			x.put(`<w:pStyle w:val="`, style, `"/>`)
		}
		if rtl {
			x.put(`<w:bidi/>`)
		}
		if align != "" {
			x.put(`<w:jc w:val="`, align, `"/>`)
		}
		x.put(`</w:pPr>`)
	}
	open(len(c) > 0 && rightToLeft(c[0].Text))
	for i, s := range c {
		if i > 0 && s.Prose {
			x.put(`</w:p>`)
			open(rightToLeft(s.Text))
		}
		x.span(s)
	}
	x.put(`</w:p>`)
}

func (x *docx) bidi(s string) {
	if rightToLeft(s) {
		x.put(`<w:bidi/>`)
	}
}

func (x *docx) spans(c cell) {
	for _, s := range c {
		x.span(s)
	}
}

func (x *docx) span(s span) {
	switch {
	case s.Bar != nil:
	case s.Ref != "":
		x.link(s.Ref, s.Text, "")
	default:
		x.run(s)
	}
}

// link leads to another place in the document.
func (x *docx) link(to, text, style string) {
	x.put(`<w:hyperlink w:anchor="`, x.bookmark(to), `" w:history="1">`)
	x.run(span{Text: text, Badge: style, Ref: to})
	x.put(`</w:hyperlink>`)
}

// run is text of one kind, its line ends as breaks.
func (x *docx) run(s span) {
	if s.Text == "" {
		return
	}
	x.put(`<w:r><w:rPr>`)
	switch {
	case s.Mono:
		x.put(`<w:rStyle w:val="Mono"/>`)
	case s.Ref != "":
		x.put(`<w:rStyle w:val="Hyperlink"/>`)
	case s.Badge != "":
		x.put(`<w:rStyle w:val="Badge"/>`)
	}
	if s.Strong {
		x.put(`<w:b/><w:bCs/>`)
	}
	if s.Badge != "" {
		ink, ground := drawing.Badge(s.Badge)
		x.put(`<w:color w:val="`, x.theme.Of(ink).Hex(), `"/><w:shd w:val="clear" w:color="auto" w:fill="`, x.theme.Of(ground).Hex(), `"/>`)
	}
	if rightToLeft(s.Text) {
		x.put(`<w:rtl/>`)
	}
	x.put(`</w:rPr>`)
	text := strings.Trim(s.Text, "\n")
	if s.Badge != "" {
		text = "\u00a0" + text + "\u00a0"
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			x.put(`<w:br/>`)
		}
		for j, part := range strings.Split(line, "\t") {
			if j > 0 {
				x.put(`<w:tab/>`)
			}
			if s.Keep { // a date is not broken over lines
				for k, bit := range strings.Split(part, "-") {
					if k > 0 {
						x.put(`<w:noBreakHyphen/>`)
					}
					x.text(bit)
				}
				continue
			}
			x.text(isolated(part))
		}
	}
	x.put(`</w:r>`)
}

func (x *docx) text(s string) {
	if s == "" {
		return
	}
	x.put(`<w:t xml:space="preserve">`)
	escape(x.w, s)
	x.put(`</w:t>`)
}

// isolated ends what marks of direction in a text have begun, so that they don't turn
// what comes after it.
func isolated(s string) string {
	open := ""
	for _, r := range s {
		switch {
		case r >= 0x202a && r <= 0x202e && r != 0x202c:
			open = "\u202c" + open
		case r >= 0x2066 && r <= 0x2068:
			open = "\u2069" + open
		case (r == 0x202c || r == 0x2069) && strings.HasPrefix(open, string(r)):
			open = strings.TrimPrefix(open, string(r))
		}
	}
	return s + open
}

func (x *docx) facts(f facts) {
	if f.Tiles {
		x.tiles(f.Items)
		return
	}
	for _, one := range f.Items {
		name := span{Text: one.Label + ":", Strong: true}
		if one.List == nil && len(one.Value) > 0 && !rightToLeft(one.Value[0].Text) {
			x.styled("Fact", append(cell{name, {Text: "\t"}}, inlined(one.Value)...))
			continue
		}
		x.styled("Fact", cell{name})
		if one.List == nil {
			x.styled("FactText", one.Value)
		}
		for _, c := range one.List {
			x.styled("FactList", c)
		}
	}
}

// inlined is a cell whose first text goes on in the line before it.
func inlined(c cell) cell {
	out := append(cell{}, c...)
	out[0].Prose = false
	return out
}

// tilesAcross is how many figures stand side by side.
const tilesAcross = 4

// tiles are figures with their names above them.
func (x *docx) tiles(all []fact) {
	for len(all) > 0 {
		line := all[:min(len(all), tilesAcross)]
		all = all[len(line):]
		x.put(`<w:tbl><w:tblPr><w:tblStyle w:val="Tiles"/>`)
		x.putf(`<w:tblW w:w="%d" w:type="dxa"/><w:tblLayout w:type="fixed"/></w:tblPr><w:tblGrid>`, x.width/tilesAcross*len(line))
		for range line {
			x.putf(`<w:gridCol w:w="%d"/>`, x.width/tilesAcross)
		}
		x.put(`</w:tblGrid><w:tr><w:trPr><w:cantSplit/></w:trPr>`)
		for _, f := range line {
			x.putf(`<w:tc><w:tcPr><w:tcW w:w="%d" w:type="dxa"/><w:shd w:val="clear" w:color="auto" w:fill="%s"/></w:tcPr>`, x.width/tilesAcross, x.theme.Of(drawing.Panel).Hex())
			x.styled("TileName", plain(f.Label))
			value := f.Value
			for _, c := range f.List {
				value = append(value, c...)
			}
			x.styled("TileFigure", value)
			x.put(`</w:tc>`)
		}
		x.put(`</w:tr></w:tbl><w:p><w:pPr><w:pStyle w:val="Gap"/></w:pPr></w:p>`)
	}
}

func (x *docx) quote(q quote) {
	x.styled("Quote", prose(q.Text))
	where := []string{q.Document}
	for _, s := range []string{q.Place, q.Headings} {
		if s != "" {
			where = append(where, s)
		}
	}
	s := ". "
	if q.Stance != "" {
		s += "Reading: " + q.Stance + ". "
	}
	if q.Supports != "" {
		s += "On: " + q.Supports + " "
	}
	c := cell{{Text: strings.Join(where, ", ")}, {Text: s + "Score " + q.Score + "."}}
	if q.SHA256 != "" {
		c = append(c, span{Text: " SHA-256 "}, span{Text: q.SHA256, Mono: true})
	}
	x.styled("QuoteSource", c)
}

// table writes a table under its caption, its head repeated on each page; the rows' details
// follow it, each under its row's name.
func (x *docx) table(t table) {
	x.styled("Caption", cell{{Text: t.Caption}})
	if len(t.Rows) == 0 {
		x.styled("Empty", plain(or(t.Empty, "There is nothing to list.")))
		return
	}
	x.put(`<w:tbl><w:tblPr><w:tblStyle w:val="ReportTable"/>`)
	x.putf(`<w:tblW w:w="%d" w:type="dxa"/><w:tblLayout w:type="fixed"/><w:tblLook w:val="0420" w:firstRow="1" w:lastRow="0" w:firstColumn="0" w:lastColumn="0" w:noHBand="0" w:noVBand="1"/>`, x.width)
	x.put(`</w:tblPr><w:tblGrid>`)
	widths := x.widths(&t)
	for i, c := range t.Columns {
		if !c.Picture {
			x.putf(`<w:gridCol w:w="%d"/>`, widths[i])
		}
	}
	x.put(`</w:tblGrid><w:tr><w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>`)
	for i, c := range t.Columns {
		if c.Picture {
			continue
		}
		x.putf(`<w:tc><w:tcPr><w:tcW w:w="%d" w:type="dxa"/><w:shd w:val="clear" w:color="auto" w:fill="%s"/><w:vAlign w:val="bottom"/></w:tcPr>`, widths[i], x.theme.Of(drawing.Panel).Hex())
		x.paragraphs("TableHead", align(c), plain(c.Name))
		x.put(`</w:tc>`)
	}
	x.put(`</w:tr>`)
	for i := range t.Rows {
		x.row(&t, &t.Rows[i], widths)
	}
	x.put(`</w:tbl><w:p><w:pPr><w:pStyle w:val="Gap"/></w:pPr></w:p>`)
	for _, d := range t.charts() {
		x.picture(d)
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		if len(r.Detail) == 0 {
			continue
		}
		x.put(`<w:p><w:pPr><w:pStyle w:val="Heading4"/></w:pPr>`)
		x.spans(r.Cells[0])
		x.put(`</w:p>`)
		for _, b := range r.Detail {
			x.block(b)
		}
	}
}

// docxLetter is about what a letter of a table's head takes, and docxCellMargins what a
// cell has beside its text.
const (
	docxLetter      = 88
	docxCellMargins = 130
)

// docxWholeRow is how much text a row may have to be kept on one page.
const docxWholeRow = 600

func (x *docx) row(t *table, r *row, widths []int) {
	size := 0
	for _, c := range r.Cells {
		for _, s := range c {
			size += len(s.Text)
		}
	}
	x.put(`<w:tr>`)
	if size < docxWholeRow {
		x.put(`<w:trPr><w:cantSplit/></w:trPr>`)
	}
	first := true
	for i, c := range r.Cells {
		if t.Columns[i].Picture {
			continue
		}
		x.putf(`<w:tc><w:tcPr><w:tcW w:w="%d" w:type="dxa"/></w:tcPr>`, widths[i])
		if first && r.ID != "" {
			x.used++
			x.putf(`<w:bookmarkStart w:id="%d" w:name="%s"/>`, x.used, x.bookmark(r.ID))
			x.putf(`<w:bookmarkEnd w:id="%d"/>`, x.used)
		}
		first = false
		x.paragraphs("TableText", align(t.Columns[i]), c)
		x.put(`</w:tc>`)
	}
	x.put(`</w:tr>`)
}

func align(c column) string {
	if c.Number {
		return "right"
	}
	return ""
}

// widths share the text's width among the columns as the page does, with room for the
// longest word of each head where the others can spare it.
func (x *docx) widths(t *table) []int {
	sum := 0
	for _, c := range t.Columns {
		if !c.Picture {
			sum += max(c.Width, 1)
		}
	}
	out, least := make([]int, len(t.Columns)), make([]int, len(t.Columns))
	short, spare := 0, 0
	for i, c := range t.Columns {
		if c.Picture {
			continue
		}
		out[i] = x.width * max(c.Width, 1) / sum
		for _, word := range strings.Fields(c.Name) {
			least[i] = max(least[i], docxCellMargins+docxLetter*utf8.RuneCountInString(word))
		}
		if d := out[i] - least[i]; d < 0 {
			short -= d
		} else {
			spare += d
		}
	}
	if short == 0 || short > spare {
		return out
	}
	for i := range out {
		if d := out[i] - least[i]; d < 0 {
			out[i] = least[i]
		} else if !t.Columns[i].Picture {
			out[i] -= d * short / spare
		}
	}
	return out
}
