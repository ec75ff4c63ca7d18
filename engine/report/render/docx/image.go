package docx

import (
	"bufio"
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/report/drawing"
)

const drawingNamespaces = `xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"`

// docxImage is an image part of the package.
type docxImage struct {
	name string
	data []byte
}

// firstImageRelation is the number of the first image relationship.
const firstImageRelation = 10

// writeRelations writes the relationships to the document's parts.
func (x *docxWriter) writeRelations(b *bufio.Writer) {
	_, _ = b.WriteString(xmlHead + docxRelations)
	if x.hasTheme {
		_, _ = b.WriteString(`<Relationship Id="rId6" Type="` + nsRelations + `/theme" Target="theme/theme1.xml"/>`)
	}
	for i, m := range x.images {
		_, _ = fmt.Fprintf(b, `<Relationship Id="rId%d" Type="`+nsRelations+`/image" Target="%s"/>`, firstImageRelation+i, m.name)
	}
	_, _ = b.WriteString(`</Relationships>`)
}

// EMUs per picture unit (an inch has 914,400 EMUs), and the space available on a page.
const (
	emuPerUnit   = 8890
	maxEMUWidth  = docxTextWidth * 635
	maxEMUHeight = 8600000
)

// writePicture writes a drawing. A drawing that is already in the document, such as one shown both
// in the summary and in its section, reuses the same image part.
func (x *docxWriter) writePicture(d drawing.Drawing) {
	at := slices.IndexFunc(x.placedDrawings, func(o placedDrawing) bool {
		return o.Width == d.Width && o.Height == d.Height && reflect.DeepEqual(o.Shapes, d.Shapes)
	})
	if at < 0 {
		var b bytes.Buffer
		if err := d.WritePNG(&b, x.theme); err != nil {
			x.err = fmt.Errorf("drawing %q: %w", d.Title, err)
			return
		}
		at = len(x.placedDrawings)
		x.placedDrawings = append(x.placedDrawings, placedDrawing{d, x.addImage("png", b.Bytes())})
	}
	x.placeImage(x.placedDrawings[at].image, d.Title, d.Description, d.Width*emuPerUnit, d.Height*emuPerUnit)
}

// placedDrawing is a drawing and its image in the package.
type placedDrawing struct {
	drawing.Drawing
	image int
}

// addImage adds an image to the package and returns its number.
func (x *docxWriter) addImage(extension string, data []byte) int {
	x.images = append(x.images, docxImage{fmt.Sprintf("media/image%d.%s", len(x.images)+1, extension), data})
	return len(x.images) - 1
}

// maxImageDescription is the maximum length of a picture's description; screen readers read it in
// one go.
const maxImageDescription = 2000

// placeImage places an image of a size in EMUs in its own paragraph, scaled down if it does not
// fit.
func (x *docxWriter) placeImage(image int, title, text string, width, height float64) {
	x.imageCount++
	n := x.imageCount
	scale := min(1, maxEMUWidth/width, maxEMUHeight/height)
	cx, cy := int(width*scale), int(height*scale)
	x.writeRawXML(`<w:p><w:pPr><w:pStyle w:val="Picture"/></w:pPr><w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0">`)
	x.writeRawXMLf(`<wp:extent cx="%d" cy="%d"/><wp:docPr id="%d" name="Picture %d" descr="`, cx, cy, n, n)
	if r := []rune(text); len(r) > maxImageDescription {
		text = string(r[:maxImageDescription-1]) + "…"
	}
	writeEscapedXML(x.w, strings.TrimSpace(title+". "+text))
	x.writeRawXML(
		`"/><wp:cNvGraphicFramePr><a:graphicFrameLocks noChangeAspect="1"/></wp:cNvGraphicFramePr><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic>`,
	)
	x.writeRawXMLf(
		`<pic:nvPicPr><pic:cNvPr id="%d" name="Picture %d"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="rId%d"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>`,
		n,
		n,
		firstImageRelation+image,
	)
	x.writeRawXMLf(
		`<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="%d" cy="%d"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`,
		cx,
		cy,
	)
}
