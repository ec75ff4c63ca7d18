package docx

import (
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
)

func (x *docxWriter) writeBlock(b block.Block) {
	switch b := b.(type) {
	case block.Heading:
		level := 2
		if b.Minor {
			level = 3
		}
		x.writeHeading(level, b.ID, b.Text, false)
	case block.Para:
		x.writeParagraph(map[string]string{"empty": "Empty", "lead": "Lead", "headline": "Lead", "decision": "Decision"}[b.Class], b.Text)
	case block.List:
		for _, c := range b.Items {
			x.writeParagraph("ListBullet", c)
		}
	case block.Facts:
		x.writeFacts(b)
	case block.Quotes:
		for _, q := range b.Items {
			x.writeQuote(q)
		}
	case block.Card:
		x.writeRawXML(`<w:p><w:pPr><w:pStyle w:val="Heading3"/></w:pPr>`)
		x.writeAnchored(b.ID, func() { x.writeSpans(b.Title) })
		x.writeRawXML(`</w:p>`)
		for _, inner := range b.Blocks {
			x.writeBlock(inner)
		}
	case block.Table:
		x.writeTable(b)
	case block.Picture:
		x.writePicture(b.WithTitle())
	}
}

// writeParagraph writes a cell in a paragraph style, or in the body style if style is "". Like
// writeParagraphs, it may start further paragraphs.
func (x *docxWriter) writeParagraph(style string, c block.Cell) { x.writeParagraphs(style, "", c) }

// writeParagraphs writes a cell as a paragraph. If a span other than the first may have several lines (Prose), it
// starts a new paragraph with its own text direction.
func (x *docxWriter) writeParagraphs(style, align string, c block.Cell) {
	open := func(rtl bool) {
		x.writeRawXML(`<w:p><w:pPr>`)
		if style != "" {
			x.writeRawXML(`<w:pStyle w:val="`, style, `"/>`)
		}
		if rtl {
			x.writeRawXML(`<w:bidi/>`)
		}
		if align != "" {
			x.writeRawXML(`<w:jc w:val="`, align, `"/>`)
		}
		x.writeRawXML(`</w:pPr>`)
	}
	open(len(c) > 0 && isRightToLeft(c[0].Text))
	for i, s := range c {
		if i > 0 && s.Prose {
			x.writeRawXML(`</w:p>`)
			open(isRightToLeft(s.Text))
		}
		x.writeSpan(s)
	}
	x.writeRawXML(`</w:p>`)
}

func (x *docxWriter) writeBidiIfRightToLeft(s string) {
	if isRightToLeft(s) {
		x.writeRawXML(`<w:bidi/>`)
	}
}

func (x *docxWriter) writeSpans(c block.Cell) {
	for _, s := range c {
		x.writeSpan(s)
	}
}

func (x *docxWriter) writeSpan(s block.Span) {
	switch {
	case s.Bar != nil:
	case s.Ref != "":
		x.writeLink(s.Ref, s.Text, "")
	default:
		x.writeRun(s)
	}
}

// writeLink writes a link to an anchor in the same document.
func (x *docxWriter) writeLink(anchorID, text, style string) {
	x.writeRawXML(`<w:hyperlink w:anchor="`, x.bookmarkName(anchorID), `" w:history="1">`)
	x.writeRun(block.Span{Text: text, Badge: style, Ref: anchorID})
	x.writeRawXML(`</w:hyperlink>`)
}

// writeRun writes a span as a run of text, in which line ends become line breaks.
func (x *docxWriter) writeRun(s block.Span) {
	if s.Text == "" {
		return
	}
	x.writeRawXML(`<w:r><w:rPr>`)
	switch {
	case s.Mono:
		x.writeRawXML(`<w:rStyle w:val="Mono"/>`)
	case s.Ref != "":
		x.writeRawXML(`<w:rStyle w:val="Hyperlink"/>`)
	case s.Badge != "":
		x.writeRawXML(`<w:rStyle w:val="Badge"/>`)
	}
	if s.Strong {
		x.writeRawXML(`<w:b/><w:bCs/>`)
	}
	if s.Badge != "" {
		ink, ground := drawing.BadgeColors(s.Badge)
		x.writeRawXML(
			`<w:color w:val="`,
			x.theme.Color(ink).HexDigits(),
			`"/><w:shd w:val="clear" w:color="auto" w:fill="`,
			x.theme.Color(ground).HexDigits(),
			`"/>`,
		)
	}
	if isRightToLeft(s.Text) {
		x.writeRawXML(`<w:rtl/>`)
	}
	x.writeRawXML(`</w:rPr>`)
	text := strings.Trim(s.Text, "\n")
	if s.Badge != "" {
		text = "\u00a0" + text + "\u00a0"
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			x.writeRawXML(`<w:br/>`)
		}
		for j, part := range strings.Split(line, "\t") {
			if j > 0 {
				x.writeRawXML(`<w:tab/>`)
			}
			if s.NoBreak { // for example, dates must not be broken across lines
				for k, bit := range strings.Split(part, "-") {
					if k > 0 {
						x.writeRawXML(`<w:noBreakHyphen/>`)
					}
					x.writeText(bit)
				}
				continue
			}
			x.writeText(closeDirectionMarks(part))
		}
	}
	x.writeRawXML(`</w:r>`)
}

func (x *docxWriter) writeText(s string) {
	if s == "" {
		return
	}
	x.writeRawXML(`<w:t xml:space="preserve">`)
	writeEscapedXML(x.w, s)
	x.writeRawXML(`</w:t>`)
}

// closeDirectionMarks appends the characters that close all direction marks that are still open in s, so that the
// marks do not affect the text after it.
func closeDirectionMarks(s string) string {
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

func (x *docxWriter) writeFacts(f block.Facts) {
	if f.Tiles {
		x.writeTiles(f.Items)
		return
	}
	for _, one := range f.Items {
		name := block.Span{Text: one.Label + ":", Strong: true}
		if one.List == nil && len(one.Value) > 0 && !isRightToLeft(one.Value[0].Text) {
			x.writeParagraph("Fact", append(block.Cell{name, {Text: "\t"}}, inlineFirstSpan(one.Value)...))
			continue
		}
		x.writeParagraph("Fact", block.Cell{name})
		if one.List == nil {
			x.writeParagraph("FactText", one.Value)
		}
		for _, c := range one.List {
			x.writeParagraph("FactList", c)
		}
	}
}

// inlineFirstSpan returns a copy of a cell whose first span continues the preceding line instead of starting a new
// paragraph.
func inlineFirstSpan(c block.Cell) block.Cell {
	out := append(block.Cell{}, c...)
	out[0].Prose = false
	return out
}

// tilesPerRow is the number of tiles in a row.
const tilesPerRow = 5

// writeTiles writes key figures, each in a box with its label above it.
func (x *docxWriter) writeTiles(all []block.Fact) {
	for len(all) > 0 {
		line := all[:min(len(all), tilesPerRow)]
		all = all[len(line):]
		x.writeRawXML(`<w:tbl><w:tblPr><w:tblStyle w:val="Tiles"/>`)
		x.writeRawXMLf(`<w:tblW w:w="%d" w:type="dxa"/><w:tblLayout w:type="fixed"/></w:tblPr><w:tblGrid>`, x.textWidth/tilesPerRow*len(line))
		for range line {
			x.writeRawXMLf(`<w:gridCol w:w="%d"/>`, x.textWidth/tilesPerRow)
		}
		x.writeRawXML(`</w:tblGrid><w:tr><w:trPr><w:cantSplit/></w:trPr>`)
		for _, f := range line {
			x.writeRawXMLf(
				`<w:tc><w:tcPr><w:tcW w:w="%d" w:type="dxa"/><w:shd w:val="clear" w:color="auto" w:fill="%s"/></w:tcPr>`,
				x.textWidth/tilesPerRow,
				x.theme.Color(drawing.Panel).HexDigits(),
			)
			x.writeParagraph("TileName", block.Text(f.Label))
			value := f.Value
			for _, c := range f.List {
				value = append(value, c...)
			}
			x.writeParagraph("TileFigure", value)
			x.writeRawXML(`</w:tc>`)
		}
		x.writeRawXML(`</w:tr></w:tbl><w:p><w:pPr><w:pStyle w:val="Gap"/></w:pPr></w:p>`)
	}
}

func (x *docxWriter) writeQuote(q block.Quote) {
	x.writeParagraph("Quote", block.Prose(q.Text))
	x.writeParagraph("QuoteSource", q.Source())
}

// writeTable writes a table below its caption. The header row is repeated on each page. The details of the rows
// follow below the table, each introduced by the name of its row.
func (x *docxWriter) writeTable(t block.Table) {
	x.writeParagraph("Caption", block.Cell{{Text: t.Caption}})
	if len(t.Rows) == 0 {
		x.writeParagraph("Empty", block.Text(wording.OrDefault(t.Empty, "Nothing to list.")))
		return
	}
	x.writeRawXML(`<w:tbl><w:tblPr><w:tblStyle w:val="ReportTable"/>`)
	x.writeRawXMLf(
		`<w:tblW w:w="%d" w:type="dxa"/><w:tblLayout w:type="fixed"/><w:tblLook w:val="0420" w:firstRow="1" w:lastRow="0" w:firstColumn="0" w:lastColumn="0" w:noHBand="0" w:noVBand="1"/>`,
		x.textWidth,
	)
	x.writeRawXML(`</w:tblPr><w:tblGrid>`)
	widths := x.columnWidths(&t)
	for i, c := range t.Columns {
		if !c.Picture {
			x.writeRawXMLf(`<w:gridCol w:w="%d"/>`, widths[i])
		}
	}
	x.writeRawXML(`</w:tblGrid><w:tr><w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>`)
	for i, c := range t.Columns {
		if c.Picture {
			continue
		}
		x.writeRawXMLf(
			`<w:tc><w:tcPr><w:tcW w:w="%d" w:type="dxa"/><w:shd w:val="clear" w:color="auto" w:fill="%s"/><w:vAlign w:val="bottom"/></w:tcPr>`,
			widths[i],
			x.theme.Color(drawing.Panel).HexDigits(),
		)
		x.writeParagraphs("TableHead", columnAlignment(c), block.Text(c.Name))
		x.writeRawXML(`</w:tc>`)
	}
	x.writeRawXML(`</w:tr>`)
	for i := range t.Rows {
		x.writeRow(&t, &t.Rows[i], widths)
	}
	x.writeRawXML(`</w:tbl><w:p><w:pPr><w:pStyle w:val="Gap"/></w:pPr></w:p>`)
	if !x.brief {
		for _, d := range t.BarCharts() {
			x.writePicture(d)
		}
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		if len(r.Detail) == 0 {
			continue
		}
		x.writeRawXML(`<w:p><w:pPr><w:pStyle w:val="Heading4"/></w:pPr>`)
		x.writeSpans(r.Cells[0])
		x.writeRawXML(`</w:p>`)
		for _, b := range r.Detail {
			x.writeBlock(b)
		}
	}
}

// docxLetterWidth is the approximate width of a letter in a table header or badge. docxCellMargins is the horizontal
// padding of a cell. docxSampledRows is the number of rows that are checked for badges when the width of a column is
// determined.
const (
	docxLetterWidth = 96
	docxCellMargins = 130
	docxSampledRows = 100
)

// docxMaxUnbrokenRow is the maximum length of the text in a row for the row to be kept on one page.
const docxMaxUnbrokenRow = 600

func (x *docxWriter) writeRow(t *block.Table, r *block.Row, widths []int) {
	size := 0
	for _, c := range r.Cells {
		for _, s := range c {
			size += len(s.Text)
		}
	}
	x.writeRawXML(`<w:tr>`)
	if size < docxMaxUnbrokenRow {
		x.writeRawXML(`<w:trPr><w:cantSplit/></w:trPr>`)
	}
	first := true
	for i, c := range r.Cells {
		if t.Columns[i].Picture {
			continue
		}
		x.writeRawXMLf(`<w:tc><w:tcPr><w:tcW w:w="%d" w:type="dxa"/></w:tcPr>`, widths[i])
		if first && r.ID != "" {
			x.bookmarkCount++
			x.writeRawXMLf(`<w:bookmarkStart w:id="%d" w:name="%s"/>`, x.bookmarkCount, x.bookmarkName(r.ID))
			x.writeRawXMLf(`<w:bookmarkEnd w:id="%d"/>`, x.bookmarkCount)
		}
		first = false
		x.writeParagraphs("TableText", columnAlignment(t.Columns[i]), c)
		x.writeRawXML(`</w:tc>`)
	}
	x.writeRawXML(`</w:tr>`)
}

func columnAlignment(c block.Column) string {
	if c.Number {
		return "right"
	}
	return ""
}

// columnWidths divides the text width among the columns in the same proportions as on the HTML page. If the other
// columns have enough spare room, a column is widened to fit its badges and the longest word of its header.
func (x *docxWriter) columnWidths(t *block.Table) []int {
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
		out[i] = x.textWidth * max(c.Width, 1) / sum
		for _, word := range strings.Fields(c.Name) {
			least[i] = max(least[i], docxCellMargins+docxLetterWidth*utf8.RuneCountInString(word))
		}
		for _, r := range t.Rows[:min(len(t.Rows), docxSampledRows)] {
			if i < len(r.Cells) && len(r.Cells[i]) > 0 && r.Cells[i][0].Badge != "" {
				for _, word := range strings.Fields(r.Cells[i][0].Text) { // beside spaces that belong to the badge
					least[i] = max(least[i], docxCellMargins+docxLetterWidth*(utf8.RuneCountInString(word)+2))
				}
			}
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
