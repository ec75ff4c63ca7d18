package render

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

// docxImage is an image in the package.
type docxImage struct {
	name string
	data []byte
}

// firstImageRelation is the number of the first relationship that an image has.
const firstImageRelation = 10

// writeRelations name the parts that the document uses.
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

// A picture's unit is so many EMUs, of which an inch has 914,400; a page has room for so many.
const (
	emuPerUnit   = 8890
	maxEMUWidth  = docxTextWidth * 635
	maxEMUHeight = 8600000
)

// writePicture shows a drawing. One that stands in the document already, as those of the summary
// in their chapters, is the same image once more.
func (x *docxWriter) writePicture(d drawing.Drawing) {
	at := slices.IndexFunc(x.placedDrawings, func(o placedDrawing) bool {
		return o.Width == d.Width && o.Height == d.Height && reflect.DeepEqual(o.Shapes, d.Shapes)
	})
	if at < 0 {
		var b bytes.Buffer
		if err := d.PNG(&b, x.theme); err != nil {
			x.err = fmt.Errorf("drawing %q: %w", d.Title, err)
			return
		}
		at = len(x.placedDrawings)
		x.placedDrawings = append(x.placedDrawings, placedDrawing{d, x.addImage("png", b.Bytes())})
	}
	x.placeImage(x.placedDrawings[at].image, d.Title, d.Description, d.Width*emuPerUnit, d.Height*emuPerUnit)
}

// placedDrawing is a drawing with its image in the package.
type placedDrawing struct {
	drawing.Drawing
	image int
}

// addImage puts an image into the package and gives its number there.
func (x *docxWriter) addImage(ending string, data []byte) int {
	x.images = append(x.images, docxImage{fmt.Sprintf("media/image%d.%s", len(x.images)+1, ending), data})
	return len(x.images) - 1
}

// maxImageDescription is how long the description of a picture is; screen readers read it at one go.
const maxImageDescription = 2000

// placeImage places an image of a size in EMUs in a paragraph of its own, smaller where it has no room.
func (x *docxWriter) placeImage(image int, title, text string, width, height float64) {
	x.imageCount++
	n := x.imageCount
	scale := min(1, maxEMUWidth/width, maxEMUHeight/height)
	cx, cy := int(width*scale), int(height*scale)
	x.writeXML(`<w:p><w:pPr><w:pStyle w:val="Picture"/></w:pPr><w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0">`)
	x.writeXMLf(`<wp:extent cx="%d" cy="%d"/><wp:docPr id="%d" name="Picture %d" descr="`, cx, cy, n, n)
	if r := []rune(text); len(r) > maxImageDescription {
		text = string(r[:maxImageDescription-1]) + "…"
	}
	writeEscapedXML(x.w, strings.TrimSpace(title+". "+text))
	x.writeXML(
		`"/><wp:cNvGraphicFramePr><a:graphicFrameLocks noChangeAspect="1"/></wp:cNvGraphicFramePr><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic>`,
	)
	x.writeXMLf(
		`<pic:nvPicPr><pic:cNvPr id="%d" name="Picture %d"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="rId%d"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>`,
		n,
		n,
		firstImageRelation+image,
	)
	x.writeXMLf(
		`<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="%d" cy="%d"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`,
		cx,
		cy,
	)
}
