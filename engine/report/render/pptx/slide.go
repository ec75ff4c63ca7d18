package pptx

import (
	"fmt"
	"strings"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/workbook"
)

// Slide size of 13.33 by 7.5 inches in EMUs; an inch has 914,400 EMUs.
const (
	slideWidth    = 12_192_000
	slideHeight   = 6_858_000
	margin        = 560_000
	coverLeft     = 900_000
	contentWidth  = slideWidth - 2*margin
	contentTop    = 1_450_000
	contentBottom = 6_330_000
	emuPerPoint   = 12_700
	gap           = 180_000
)

// box is a rectangle on a slide, in EMUs.
type box struct{ x, y, w, h int }

func (b box) xfrmXML() string {
	return fmt.Sprintf(`<a:xfrm><a:off x="%d" y="%d"/><a:ext cx="%d" cy="%d"/></a:xfrm>`, b.x, b.y, b.w, b.h)
}

// run is text in one format; a paragraph consists of runs.
type run struct {
	text string
	bold bool
}

type paragraph struct {
	runs   []run
	bullet bool
	after  int // space after it, in points
}

// plainParagraph returns a paragraph of text in one format.
func plainParagraph(text string) paragraph { return paragraph{runs: []run{{text: text}}} }

// shapeTreeXML returns the shapes of a slide.
func shapeTreeXML(shapes string) string {
	return `<p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr><a:xfrm>` +
		`<a:off x="0" y="0"/><a:ext cx="0" cy="0"/><a:chOff x="0" y="0"/><a:chExt cx="0" cy="0"/></a:xfrm></p:grpSpPr>` +
		shapes + `</p:spTree>`
}

// placeholderXML returns a title placeholder of the master or a layout. The titles of slides inherit their position
// and format from it.
func placeholderXML(id int, name, kind string, b box, style string) string {
	return fmt.Sprintf(`<p:sp><p:nvSpPr><p:cNvPr id="%d" name="%s"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr>`+
		`<p:ph type="%s"/></p:nvPr></p:nvSpPr><p:spPr>%s<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>`, id, name, kind, b.xfrmXML()) +
		`<p:txBody><a:bodyPr lIns="0" rIns="0" tIns="0" bIns="0" anchor="b"><a:normAutofit/></a:bodyPr>` +
		`<a:lstStyle>` + style + `</a:lstStyle><a:p><a:r><a:rPr lang="en-US"/><a:t>Title</a:t></a:r></a:p></p:txBody></p:sp>`
}

// titleXML returns the title of a slide.
func titleXML(kind, text string) string {
	return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="Title"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr>` +
		`<p:ph type="` + kind + `"/></p:nvPr></p:nvSpPr><p:spPr/>` +
		`<p:txBody><a:bodyPr/><a:lstStyle/>` + paragraphXML(plainParagraph(text), 0, "", "") + `</p:txBody></p:sp>`
}

// paragraphXML returns a paragraph. If no size or color is given, the paragraph inherits them from its
// placeholder.
func paragraphXML(p paragraph, size int, color, align string) string {
	var b strings.Builder
	b.WriteString(`<a:p><a:pPr`)
	if align != "" {
		b.WriteString(` algn="` + align + `"`)
	}
	if p.bullet {
		b.WriteString(` marL="228600" indent="-228600"`)
	}
	b.WriteString(`>`)
	if p.after > 0 {
		fmt.Fprintf(&b, `<a:spcAft><a:spcPts val="%d"/></a:spcAft>`, 100*p.after)
	}
	if p.bullet {
		b.WriteString(`<a:buFont typeface="Arial"/><a:buChar char="•"/>`)
	}
	b.WriteString(`</a:pPr>`)
	for _, r := range p.runs {
		format := `lang="en-US"`
		if size > 0 {
			format += fmt.Sprintf(` sz="%d"`, size)
		}
		if r.bold {
			format += ` b="1"`
		}
		for i, line := range strings.Split(r.text, "\n") {
			if i > 0 {
				b.WriteString(`<a:br><a:rPr ` + format + `/></a:br>`)
			}
			if line == "" {
				continue
			}
			b.WriteString(`<a:r><a:rPr ` + format + `>`)
			if color != "" {
				b.WriteString(`<a:solidFill><a:srgbClr val="` + color + `"/></a:solidFill>`)
			}
			b.WriteString(`</a:rPr><a:t>` + escapeXML(line) + `</a:t></a:r>`)
		}
	}
	return b.String() + `</a:p>`
}

// textBoxXML returns a text box with paragraphs of one size, in hundredths of a point.
func textBoxXML(id int, name string, at box, size int, color, align string, all ...paragraph) string {
	anchor := "t"
	if name == "Footer" {
		anchor = "ctr"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<p:sp><p:nvSpPr><p:cNvPr id="%d" name="%s"/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr>`+
		`<p:spPr>%s<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:noFill/></p:spPr><p:txBody>`+
		`<a:bodyPr wrap="square" lIns="0" rIns="0" tIns="0" bIns="0" anchor="%s"><a:normAutofit/></a:bodyPr><a:lstStyle/>`,
		id, name, at.xfrmXML(), anchor)
	for _, p := range all {
		b.WriteString(paragraphXML(p, size, color, align))
	}
	if len(all) == 0 {
		b.WriteString(`<a:p/>`)
	}
	return b.String() + `</p:txBody></p:sp>`
}

func filledBoxXML(id int, name string, at box, color string) string {
	return fmt.Sprintf(`<p:sp><p:nvSpPr><p:cNvPr id="%d" name="%s"/><p:cNvSpPr/><p:nvPr userDrawn="1"/></p:nvSpPr>`+
		`<p:spPr>%s<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:solidFill><a:srgbClr val="%s"/></a:solidFill><a:ln><a:noFill/></a:ln>`+
		`</p:spPr><p:txBody><a:bodyPr/><a:lstStyle/><a:p><a:endParaRPr lang="en-US"/></a:p></p:txBody></p:sp>`, id, name, at.xfrmXML(), color)
}

// slideWriter collects the shapes and relationships of a slide.
type slideWriter struct {
	*writer
	shapes    strings.Builder
	relations [][3]string
	id        int
}

func (x *slideWriter) nextID() int {
	x.id++
	return x.id
}

// addSlide adds a slide. It has tiles at the top and, below them, either a chart next to texts or a table, or texts
// above a table.
func (x *writer) addSlide(index int, s *content.Slide) error {
	w := &slideWriter{writer: x, id: 2}
	layout, kind := "slideLayout2.xml", "title"
	if s.Cover {
		layout, kind = "slideLayout1.xml", "ctrTitle"
	}
	w.relations = append(w.relations, [3]string{"rId1", "slideLayout", "../slideLayouts/" + layout})
	w.shapes.WriteString(titleXML(kind, s.Title))
	var err error
	if s.Cover {
		w.writeCover(s)
	} else {
		err = w.writeContent(s)
	}
	if err != nil {
		return err
	}
	x.addXML(fmt.Sprintf("ppt/slides/slide%d.xml", index+1), typePrefix+"slide+xml",
		`<p:sld `+namespaces+`><p:cSld>`+shapeTreeXML(w.shapes.String())+`</p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>`)
	x.addXML(fmt.Sprintf("ppt/slides/_rels/slide%d.xml.rels", index+1), "", relationsXML(w.relations...))
	return nil
}

func toParagraphs(all []content.SlideText, after int) (out []paragraph) {
	for _, t := range all {
		p := paragraph{bullet: t.Bullet, after: after}
		if t.Lead != "" {
			p.runs = append(p.runs, run{t.Lead, true})
		}
		if t.Text != "" {
			p.runs = append(p.runs, run{t.Text, false})
		}
		out = append(out, p)
	}
	return out
}

// writeCover writes the first slide.
func (x *slideWriter) writeCover(s *content.Slide) {
	if w, h := x.doc.Frame.FitLogo(3_000_000, 1_100_000); w > 0 {
		x.relations = append(x.relations, [3]string{"rId2", "image", "../media/logo.png"})
		fmt.Fprintf(&x.shapes, `<p:pic><p:nvPicPr><p:cNvPr id="%d" name="Logo" descr="%s"/><p:cNvPicPr><a:picLocks noChangeAspect="1"/>`+
			`</p:cNvPicPr><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed="rId2"/><a:stretch><a:fillRect/></a:stretch></p:blipFill>`+
			`<p:spPr>%s<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>`,
			x.nextID(), escapeXML("Logo of "+x.doc.Frame.Organization), box{coverLeft, 700_000, int(w), int(h)}.xfrmXML())
	}
	below := box{coverLeft, 3_700_000, 10_600_000, 1_500_000}
	x.shapes.WriteString(textBoxXML(x.nextID(), "Subtitle", below, 2000, "{ink}", "l", toParagraphs(s.Texts, 6)...))
	if s.Small != "" {
		bottom := box{coverLeft, 5_350_000, 10_600_000, 950_000}
		x.shapes.WriteString(textBoxXML(x.nextID(), "Note", bottom, 1200, "{bad}", "l", plainParagraph(s.Small)))
	}
}

// writeContent writes everything below the title.
func (x *slideWriter) writeContent(s *content.Slide) error {
	room := box{margin, contentTop, contentWidth, contentBottom - contentTop}
	if s.Small != "" {
		lines := textLines(s.Small, 1000, contentWidth)
		h := lines * 165_000
		bottom := box{margin, contentBottom - h, contentWidth, h}
		x.shapes.WriteString(textBoxXML(x.nextID(), "Note", bottom, 1000, "{soft}", "l", plainParagraph(s.Small)))
		room.h -= h + gap/2
	}
	if len(s.Tiles) > 0 {
		const high = 1_080_000
		x.writeTiles(s.Tiles, box{room.x, room.y, room.w, high})
		room.y, room.h = room.y+high+2*gap, room.h-high-2*gap
	}
	side := room
	if s.Chart != nil {
		if len(s.Texts) > 0 || s.Table != nil {
			room.w = contentWidth*58/100 - gap
			side = box{room.x + room.w + 2*gap, room.y, contentWidth - room.w - 2*gap, room.h}
		}
		at := room
		if !s.Columns && s.Chart.Type != workbook.ChartRadar { // avoid thick bars if there are only a few
			at.h = min(at.h, 1_300_000+600_000*len(s.Chart.Rows))
		}
		if err := x.addChart(s, at); err != nil {
			return err
		}
	}
	if len(s.Texts) > 0 {
		size := 2000
		if s.Chart != nil || s.Table != nil {
			size = 1600
		}
		h := side.h
		if s.Table != nil {
			h = textHeight(s.Texts, size, side.w)
		} else {
			size = fitText(s.Texts, size, side)
		}
		x.shapes.WriteString(textBoxXML(x.nextID(), "Text", box{side.x, side.y, side.w, h}, size, "{ink}", "l", toParagraphs(s.Texts, 8)...))
		side.y, side.h = side.y+h+gap, side.h-h-gap
	}
	if s.Table != nil {
		x.writeTable(s.Table, side)
	}
	return nil
}

// textLines returns the approximate number of lines that a text takes up. size is in hundredths of
// a point, width in EMUs.
func textLines(text string, size, width int) int {
	lines := 0
	room := float64(width) / emuPerPoint / 1.06 // other fonts may be wider
	for _, line := range strings.Split(text, "\n") {
		lines++
		used := 0.0
		for _, word := range strings.Fields(line) {
			w := drawing.TextWidth(word+" ", float64(size)/100, false)
			if used > 0 && used+w > room {
				lines, used = lines+1, 0
			}
			used += w
			lines, used = lines+int(used/room), used-float64(int(used/room))*room // a word that is longer than a line
		}
	}
	return lines
}

// fitText returns the largest text size that lets the texts fit into a box, in hundredths of a point. It is at most
// size.
func fitText(all []content.SlideText, size int, in box) int {
	for size > 1200 && textHeight(all, size, in.w-230_000) > in.h {
		size -= 100
	}
	return size
}

// textHeight returns the total height of texts that are placed one below the other.
func textHeight(all []content.SlideText, size, width int) (h int) {
	for _, t := range all {
		h += linesHeight(textLines(t.Lead+t.Text, size, width), size) + 8*emuPerPoint
	}
	return h
}

// linesHeight returns the height of lines of text with the given size.
func linesHeight(lines, size int) int { return lines * size * emuPerPoint / 100 * 12 / 10 }

// writeTiles writes key figures next to each other.
func (x *slideWriter) writeTiles(all []content.SlideTile, in box) {
	w := (in.w - gap*(len(all)-1)) / len(all)
	for i, t := range all {
		at := box{in.x + i*(w+gap), in.y, w, in.h}
		size := 2800
		for size > 1400 && textLines(t.Value, size, w-2*gap) > 1 {
			size -= 200
		}
		fmt.Fprintf(&x.shapes, `<p:sp><p:nvSpPr><p:cNvPr id="%d" name="Figure %d"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr>`+
			`<p:spPr>%s<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:solidFill><a:srgbClr val="{panel}"/></a:solidFill><a:ln w="9525">`+
			`<a:solidFill><a:srgbClr val="{rule}"/></a:solidFill></a:ln></p:spPr><p:txBody>`+
			`<a:bodyPr lIns="140000" rIns="100000" tIns="60000" bIns="60000" anchor="ctr"><a:normAutofit/></a:bodyPr>`+
			`<a:lstStyle/>%s%s</p:txBody></p:sp>`,
			x.nextID(), i+1, at.xfrmXML(),
			paragraphXML(paragraph{runs: []run{{t.Value, true}}}, size, "{accent}", "l"),
			paragraphXML(plainParagraph(t.Label), 1200, "{soft}", "l"))
	}
}

// tableSizes are the text sizes for tables, in hundredths of a point, in order of preference.
var tableSizes = []int{1400, 1300, 1200, 1100, 1000, 900}

// writeTable writes a table, with the largest text size that fits.
func (x *slideWriter) writeTable(t *content.SlideTable, in box) {
	sum := 0
	for _, w := range t.Widths {
		sum += w
	}
	widths := make([]int, len(t.Widths))
	for i, w := range t.Widths {
		widths[i] = in.w * w / sum
	}
	const padding = 70_000
	rowHeight := func(row []content.SlideCell, size int) int {
		lines := 1
		for i, c := range row {
			lines = max(lines, textLines(c.Text, size, widths[i]-2*padding))
		}
		return linesHeight(lines, size) + padding
	}
	size := tableSizes[0]
	for _, size = range tableSizes {
		h := rowHeight(nil, size)
		for _, r := range t.Rows {
			h += rowHeight(r, size)
		}
		if h <= in.h {
			break
		}
	}
	var b strings.Builder
	for _, w := range widths {
		fmt.Fprintf(&b, `<a:gridCol w="%d"/>`, w)
	}
	b.WriteString(`</a:tblGrid>`)
	total := 0
	line := func(side, color string) string {
		return `<a:` + side + ` w="9525"><a:solidFill><a:srgbClr val="` + color + `"/></a:solidFill></a:` + side + `>`
	}
	none := func(side string) string { return `<a:` + side + ` w="0"><a:noFill/></a:` + side + `>` }
	writeRow := func(row []content.SlideCell, head bool) {
		h := rowHeight(row, size)
		total += h
		fmt.Fprintf(&b, `<a:tr h="%d">`, h)
		for i, c := range row {
			align, color, fill := "l", "{ink}", "<a:noFill/>"
			if t.Centered > 0 && i >= t.Centered {
				align = "ctr"
			}
			if c.Fill != "" {
				fill = `<a:solidFill><a:srgbClr val="` + x.colorPlaceholder(c.Fill) + `"/></a:solidFill>`
				color = x.colorPlaceholder(drawing.TextColorOn(c.Fill))
			}
			if head {
				color, fill = "{soft}", `<a:solidFill><a:srgbClr val="{panel}"/></a:solidFill>`
			}
			fmt.Fprintf(&b, `<a:tc><a:txBody><a:bodyPr/><a:lstStyle/>%s</a:txBody>`+
				`<a:tcPr marL="%d" marR="%d" marT="%d" marB="%d" anchor="ctr">%s%s%s%s%s</a:tcPr></a:tc>`,
				paragraphXML(paragraph{runs: []run{{c.Text, c.Strong || head}}}, size, color, align), padding, padding, padding/2, padding/2,
				none("lnL"), none("lnR"), line("lnT", "{rule}"), line("lnB", "{rule}"), fill)
		}
		b.WriteString(`</a:tr>`)
	}
	var head []content.SlideCell
	for _, name := range t.Columns {
		head = append(head, content.SlideCell{Text: name})
	}
	writeRow(head, true)
	for _, r := range t.Rows {
		writeRow(r, false)
	}
	fmt.Fprintf(&x.shapes, `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="%d" name="Table"/><p:cNvGraphicFramePr>`+
		`<a:graphicFrameLocks noGrp="1"/></p:cNvGraphicFramePr><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="%d" y="%d"/>`+
		`<a:ext cx="%d" cy="%d"/></p:xfrm><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl>`+
		`<a:tblPr firstRow="1"/><a:tblGrid>%s</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`,
		x.nextID(), in.x, in.y, in.w, total, b.String())
}
