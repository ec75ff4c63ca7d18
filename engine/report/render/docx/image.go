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

// docxImage is an image file in the package.
type docxImage struct {
	name string
	data []byte
}

// firstImageRelation is the number of the first relationship to an image; lower numbers belong to other
// parts.
const firstImageRelation = 10

// writeRelations writes the relationships from the document to its other parts.
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

// EMUPerUnit is the number of EMUs per drawing unit; an inch has 914,400 EMUs.
const EMUPerUnit = 8890

// emuPerTwip is the number of EMUs per twentieth of a point.
const emuPerTwip = 635

// maxPictureSize returns the largest size of a picture that fits on a page with its title, in EMUs.
func (x *docxWriter) maxPictureSize() (width, height float64) {
	const margins = 3290 // above and below, with the title
	_, h := pageSize(x.paper)
	return float64(x.textWidth * emuPerTwip), float64((h - margins) * emuPerTwip)
}

// writePicture writes a drawing as an image. If the document already contains the same drawing, for example
// in the summary, both share one image file.
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
	x.placeImage(x.placedDrawings[at].image, d.Title, d.Description, d.Width*EMUPerUnit, d.Height*EMUPerUnit)
}

// placedDrawing is a drawing for which the package already contains an image.
type placedDrawing struct {
	drawing.Drawing
	image int
}

// addImage adds an image file to the package and returns its number.
func (x *docxWriter) addImage(extension string, data []byte) int {
	x.images = append(x.images, docxImage{fmt.Sprintf("media/image%d.%s", len(x.images)+1, extension), data})
	return len(x.images) - 1
}

// MaxImageDescription is the maximum length of a picture's description. It is limited because screen readers read a
// description aloud without a pause.
const MaxImageDescription = 2000

// placeImage writes a paragraph with an image, whose size is given in EMUs. If the image does not fit on a
// page, it is scaled down.
func (x *docxWriter) placeImage(image int, title, text string, width, height float64) {
	x.imageCount++
	n := x.imageCount
	maxWidth, maxHeight := x.maxPictureSize()
	scale := min(1, maxWidth/width, maxHeight/height)
	cx, cy := int(width*scale), int(height*scale)
	x.writeRawXML(`<w:p><w:pPr><w:pStyle w:val="Picture"/></w:pPr><w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0">`)
	x.writeRawXMLf(`<wp:extent cx="%d" cy="%d"/><wp:docPr id="%d" name="Picture %d" descr="`, cx, cy, n, n)
	if r := []rune(text); len(r) > MaxImageDescription {
		text = string(r[:MaxImageDescription-1]) + "…"
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
