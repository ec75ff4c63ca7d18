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

const nsDrawing = `xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"`

// docxImage is an image in the package.
type docxImage struct {
	name string
	data []byte
}

// firstImage is the number of the first relationship that an image has.
const firstImage = 10

// relations name the parts that the document uses.
func (x *docx) relations(b *bufio.Writer) {
	_, _ = b.WriteString(xmlHead + docxRelations)
	if x.theme1 {
		_, _ = b.WriteString(`<Relationship Id="rId6" Type="` + nsRelations + `/theme" Target="theme/theme1.xml"/>`)
	}
	for i, m := range x.images {
		_, _ = fmt.Fprintf(b, `<Relationship Id="rId%d" Type="`+nsRelations+`/image" Target="%s"/>`, firstImage+i, m.name)
	}
	_, _ = b.WriteString(`</Relationships>`)
}

// A picture's unit is so many EMUs, of which an inch has 914,400; a page has room for so many.
const (
	emuUnit   = 8890
	emuWidth  = docxTextWidth * 635
	emuHeight = 8600000
)

// picture shows a drawing. One that stands in the document already, as those of the summary
// in their chapters, is the same image once more.
func (x *docx) picture(d drawing.Drawing) {
	at := slices.IndexFunc(x.drawn, func(o docxDrawn) bool {
		return o.Width == d.Width && o.Height == d.Height && reflect.DeepEqual(o.Shapes, d.Shapes)
	})
	if at < 0 {
		var b bytes.Buffer
		if err := d.PNG(&b, x.theme); err != nil {
			x.err = fmt.Errorf("drawing %q: %w", d.Title, err)
			return
		}
		at = len(x.drawn)
		x.drawn = append(x.drawn, docxDrawn{d, x.image("png", b.Bytes())})
	}
	x.show(x.drawn[at].image, d.Title, d.Text, d.Width*emuUnit, d.Height*emuUnit)
}

// docxDrawn is a drawing with its image in the package.
type docxDrawn struct {
	drawing.Drawing
	image int
}

// image puts an image into the package and gives its number there.
func (x *docx) image(ending string, data []byte) int {
	x.images = append(x.images, docxImage{fmt.Sprintf("media/image%d.%s", len(x.images)+1, ending), data})
	return len(x.images) - 1
}

// mostWords is how long the description of a picture is; screen readers read it at one go.
const mostWords = 2000

// show places an image of a size in EMUs in a paragraph of its own, smaller where it has no room.
func (x *docx) show(image int, title, text string, wide, high float64) {
	x.shown++
	n := x.shown
	scale := min(1, emuWidth/wide, emuHeight/high)
	cx, cy := int(wide*scale), int(high*scale)
	x.put(`<w:p><w:pPr><w:pStyle w:val="Picture"/></w:pPr><w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0">`)
	x.putf(`<wp:extent cx="%d" cy="%d"/><wp:docPr id="%d" name="Picture %d" descr="`, cx, cy, n, n)
	if r := []rune(text); len(r) > mostWords {
		text = string(r[:mostWords-1]) + "…"
	}
	escape(x.w, strings.TrimSpace(title+". "+text))
	x.put(`"/><wp:cNvGraphicFramePr><a:graphicFrameLocks noChangeAspect="1"/></wp:cNvGraphicFramePr><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic>`)
	x.putf(`<pic:nvPicPr><pic:cNvPr id="%d" name="Picture %d"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="rId%d"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>`, n, n, firstImage+image)
	x.putf(`<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="%d" cy="%d"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`, cx, cy)
}
