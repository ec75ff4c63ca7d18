package pdf

import (
	"math"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
)

const (
	pdfBodySize  = 9.5
	pdfSmallSize = 8.2
	lineSpacing  = 1.36
)

// drawBlocks draws blocks. It keeps each heading on the same page as the beginning of the block after it.
func (p *pdfWriter) drawBlocks(all []block.Block) {
	for i, b := range all {
		if _, ok := b.(block.Heading); ok && i+1 < len(all) {
			p.ensureSpace(34 + p.minStartHeight(all[i+1]) + p.heightOfPictureAfterText(all[i+1:]))
		}
		p.drawBlock(b)
	}
}

// heightOfPictureAfterText returns the height of a picture that follows a single paragraph, so that both can be kept
// together with their heading. If the blocks don't begin with a paragraph and a picture, it returns 0.
func (p *pdfWriter) heightOfPictureAfterText(all []block.Block) float64 {
	if len(all) < 2 {
		return 0
	}
	_, text := all[0].(block.Para)
	b, picture := all[1].(block.Picture)
	if !text || !picture {
		return 0
	}
	return p.pictureScale(b)*b.Height + pictureTitleHeight
}

// minStartHeight returns the height of the first part of a block, which must stay on the same page as the heading
// above it.
func (p *pdfWriter) minStartHeight(b block.Block) float64 {
	switch b := b.(type) {
	case block.Table:
		return 6 + p.headAndFirstRowHeight(b, p.columnWidths(b))
	case block.Picture:
		return p.pictureScale(b)*b.Height + pictureTitleHeight
	case block.Card:
		return p.cardStartHeight(b)
	}
	return 40
}

// drawBlock draws a block of any type.
func (p *pdfWriter) drawBlock(b block.Block) {
	body := textStyle{face: p.fonts.regular, size: p.bodyTextSize(), color: drawing.Ink}
	switch b := b.(type) {
	case block.Heading:
		p.addSpaceUnlessAtTop(12)
		p.ensureSpace(60)
		p.setAnchor(b.ID)
		if !b.Minor {
			p.addBookmark(b.Text, 1)
		}
		kind := "H2"
		if b.Minor {
			kind = "H3"
		}
		p.tag(kind, "", func() {
			p.drawParagraph(block.UserText(b.Text), textStyle{face: p.fonts.bold, size: 12, color: drawing.Ink}, 4)
		})
	case block.Para:
		switch b.Class {
		case "lead":
			body.size = 10.5
		case "headline":
			body.size = 15
		case "decision":
			p.drawPanel(b.Text, drawing.Accent, drawing.InfoGround)
			return
		case "empty":
			body.face, body.color = p.fonts.italic, drawing.Soft
		}
		p.drawParagraph(b.Text, body, 5)
	case block.List:
		p.tag("L", "", func() {
			for _, c := range b.Items {
				p.tag("LI", "", func() { p.tag("LBody", "", func() { p.drawBullet(c, body) }) })
			}
		})
		p.addSpaceUnlessAtTop(4)
	case block.Facts:
		if b.Tiles {
			p.drawTiles(b)
		} else {
			p.drawFacts(b)
		}
	case block.Quotes:
		for _, q := range b.Items {
			p.tag("BlockQuote", "", func() { p.drawQuote(q) })
		}
	case block.Card:
		p.drawCard(b)
	case block.LinkList:
		p.drawLinkList(b)
	case block.Table:
		p.drawTable(b)
	case block.Picture:
		p.drawPicture(b)
	}
}

// bodyTextSize returns the size of body text. It is smaller inside items, which are marked by a strip at the side.
func (p *pdfWriter) bodyTextSize() float64 {
	if len(p.strips) > 0 {
		return pdfSmallSize
	}
	return pdfBodySize
}

// drawParagraph draws a cell as a paragraph, with the given space below it.
func (p *pdfWriter) drawParagraph(c block.Cell, st textStyle, below float64) {
	if groupingKinds[p.tags.elements[p.tags.current].kind] {
		p.tag("P", "", func() { p.drawLines(c, st) })
	} else {
		p.drawLines(c, st)
	}
	p.addSpaceUnlessAtTop(below)
}

func (p *pdfWriter) drawLines(c block.Cell, st textStyle) {
	for _, l := range p.breakLines(p.splitWords(c, st), p.right-p.left) {
		h := st.size * lineSpacing
		p.drawLine(l, p.left, p.reserveHeight(h), h)
	}
}

func (p *pdfWriter) drawBullet(c block.Cell, st textStyle) {
	for i, l := range p.breakLines(p.splitWords(c, st), p.right-p.left-12) {
		h := st.size * lineSpacing
		y := p.reserveHeight(h)
		if i == 0 {
			p.setFillColor(st.color)
			p.file.Circle(p.left+4, y+h*0.5+0.6, 1.3, "F")
		}
		p.drawLine(l, p.left+12, y, h)
	}
}

const factLabelWidth = 112.0

func (p *pdfWriter) drawFacts(b block.Facts) {
	for _, it := range b.Items {
		p.tag("P", "", func() { p.drawFact(it) })
	}
	p.addSpaceUnlessAtTop(6)
}

// drawFact draws a label and, next to it, its value or list of values.
func (p *pdfWriter) drawFact(it block.Fact) {
	size := p.bodyTextSize()
	label := p.breakLines(
		p.splitWords(block.Text(it.Label), textStyle{face: p.fonts.bold, size: size * 0.95, color: drawing.Soft}),
		factLabelWidth-8,
	)
	values := [][]textLine{
		p.breakLines(
			p.splitWords(it.Value, textStyle{face: p.fonts.regular, size: size, color: drawing.Ink}),
			p.right-p.left-factLabelWidth,
		),
	}
	if it.List != nil {
		values = nil
		for _, c := range it.List {
			values = append(
				values,
				p.breakLines(
					p.splitWords(c, textStyle{face: p.fonts.regular, size: size, color: drawing.Ink}),
					p.right-p.left-factLabelWidth-10,
				),
			)
		}
	}
	h := size * lineSpacing
	p.ensureSpace(h * float64(min(max(len(label), 2), 4)))
	p.reserveHeight(2)
	n := 0
	beside := func(y float64) {
		if n < len(label) {
			p.drawLine(label[n], p.left, y, h)
		}
		n++
	}
	for _, lines := range values {
		for i, l := range lines {
			y := p.reserveHeight(h)
			beside(y)
			x := p.left + factLabelWidth
			if it.List != nil {
				if i == 0 {
					p.setFillColor(drawing.Soft)
					p.file.Circle(x+3, y+h*0.5+0.6, 1.2, "F")
				}
				x += 10
			}
			p.drawLine(l, x, y, h)
		}
	}
	for n < len(label) {
		beside(p.reserveHeight(h))
	}
	y := p.reserveHeight(3)
	p.drawRule(p.left, y+2, p.right, y+2, 0.4, drawing.Rule)
}

// drawTiles draws key figures in boxes, five per row.
func (p *pdfWriter) drawTiles(b block.Facts) {
	const across, space = 5, 6.0
	w := (p.right - p.left - space*(across-1)) / across
	for at := 0; at < len(b.Items); at += across {
		items := b.Items[at:min(at+across, len(b.Items))]
		labels, figures, most, large := make([][]textLine, len(items)), make([][]textLine, len(items)), 1, 1
		for i, it := range items {
			labels[i] = p.breakLines(
				p.splitWords(block.Text(it.Label), textStyle{face: p.fonts.regular, size: 7.8, color: drawing.Soft}),
				w-14,
			)
			figures[i] = p.breakLines(p.splitWords(it.Value, textStyle{face: p.fonts.bold, size: 17, color: drawing.Ink}), w-14)
			most, large = max(most, len(labels[i])), max(large, len(figures[i]))
		}
		h := 12 + 21*float64(large) + 10*float64(most)
		p.ensureSpace(h + 8)
		y := p.reserveHeight(h)
		for i := range items {
			x := p.left + float64(i)*(w+space)
			p.setFillColor(drawing.Panel)
			p.file.Rect(x, y, w, h, "F")
			p.setFillColor(drawing.Accent)
			p.file.Rect(x, y, w, 2.4, "F")
			p.tag("P", "", func() {
				for k, l := range figures[i] {
					p.drawLine(l, x+7, y+5+21*float64(k), 21)
				}
				for k, l := range labels[i] {
					p.drawLine(l, x+7, y+6+21*float64(large)+10*float64(k), 10)
				}
			})
		}
		p.addSpaceUnlessAtTop(8)
	}
	p.addSpaceUnlessAtTop(4)
}

func (p *pdfWriter) drawQuote(q block.Quote) {
	p.addSpaceUnlessAtTop(3)
	p.ensureSpace(50)
	p.withInset(0, 0, []strip{{p.left, p.right, drawing.Panel}, {p.left, p.left + 2.6, drawing.Accent}}, func() {
		p.withInset(11, 9, nil, func() {
			p.reserveHeight(4)
			p.drawParagraph(block.Prose(q.Text), textStyle{face: p.fonts.regular, size: pdfSmallSize + 0.3, color: drawing.Ink}, 2)
			p.drawParagraph(q.Source(), textStyle{face: p.fonts.regular, size: 7.2, color: drawing.Soft}, 0)
			p.reserveHeight(4)
		})
	})
	p.addSpaceUnlessAtTop(3)
}

// maxUnbrokenCard is the maximum height of a card that isn't split across pages, as a share of the page.
const maxUnbrokenCard = 0.45

// cardStartHeight returns the height of the part of a card that must not be split across pages, which is the whole
// card unless it is long.
func (p *pdfWriter) cardStartHeight(b block.Card) float64 {
	h := p.estimateHeight(b.Blocks) + 24
	if h > maxUnbrokenCard*(p.bottom()-pdfTop) {
		return 90
	}
	return max(80, h)
}

// estimateHeight estimates the height of blocks from the length of their texts, without laying them out. A block
// that is higher than a page counts as one page.
func (p *pdfWriter) estimateHeight(blocks []block.Block) (h float64) {
	const letter = 0.5 // average width of a letter, as a share of the text size
	page := p.bottom() - pdfTop
	lines := func(c block.Cell, width float64) float64 {
		n := 0
		for _, s := range c {
			n += len(s.Text)
		}
		return math.Ceil(float64(n) * pdfSmallSize * letter / width)
	}
	full := p.right - p.left - 20
	for _, b := range blocks {
		switch b := b.(type) {
		case block.Facts:
			for _, f := range b.Items {
				n := lines(f.Value, full-factLabelWidth)
				for _, c := range f.List {
					n += lines(c, full-factLabelWidth-10)
				}
				h += 5 + max(1, n)*pdfSmallSize*lineSpacing
			}
		case block.Quotes:
			for _, q := range b.Items {
				h += 16 + (lines(block.Text(q.Text), full)+lines(q.Source(), full))*pdfSmallSize*lineSpacing
			}
		case block.Para:
			h += 5 + lines(b.Text, full)*pdfSmallSize*lineSpacing
		default:
			h += page
		}
		if h > page {
			return page
		}
	}
	return h
}

func (p *pdfWriter) drawCard(b block.Card) {
	p.addSpaceUnlessAtTop(8)
	p.ensureSpace(p.cardStartHeight(b))
	p.setAnchor(b.ID)
	p.withInset(0, 0, []strip{{left: p.left, right: p.left, fill: drawing.Accent}}, func() {
		p.withInset(10, 0, nil, func() {
			p.tag("H3", "", func() {
				p.drawParagraph(b.Title, textStyle{face: p.fonts.bold, size: 10.5, color: drawing.Ink}, 4)
			})
			p.drawBlocks(b.Blocks)
		})
	})
	p.addSpaceUnlessAtTop(6)
}

func (p *pdfWriter) drawLinkList(b block.LinkList) {
	var c block.Cell
	for i, it := range b.Items {
		if i > 0 {
			c = c.With(block.Span{Text: "   "})
		}
		c = c.With(it...)
	}
	p.drawParagraph(c, textStyle{face: p.fonts.regular, size: pdfSmallSize, color: drawing.Ink}, 6)
}
