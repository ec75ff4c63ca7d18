package officelayout

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/render/docx"
	"github.com/scf-service/service/engine/report/render/pptx"
	"github.com/scf-service/service/internal/prose"
)

// Sizes of pictures; EMUs are the unit of lengths in Office files.
const (
	emuPerCentimeter = 360_000
	maxInlineWidth   = 16 * emuPerCentimeter
	maxPictureWidth  = 50 // in centimeters
)

const pictureNamespaces = ` xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"` +
	` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

// imageStore holds the pictures of a document without duplicates.
type imageStore struct {
	stored map[*content.LayoutImage]storedImage
	files  []mediaFile
	charts []chartPart
}

// chartPart is a part of a chart in the package. Its media type is "" if none has to be declared.
type chartPart struct {
	name, mediaType string
	data            []byte
}

// storedImage is a picture in the document, identified by its name in the folder media. Its size is in EMUs.
type storedImage struct {
	name          string
	width, height float64
}

// mediaFile is a picture in the package, identified by its name in the folder media.
type mediaFile struct {
	name string
	data []byte
}

func newImageStore() *imageStore {
	return &imageStore{stored: map[*content.LayoutImage]storedImage{}}
}

// placedImage is a picture that the part being written refers to. Its size is in EMUs.
type placedImage struct {
	relation, title string
	width, height   float64
}

// evalImage evaluates an expression that names a picture. It adds the picture to the current part and returns it, or
// returns nil if there is none.
func (x *executor) evalImage(e expression) *placedImage {
	image := x.evalLayoutImage(e)
	if image == nil {
		return nil
	}
	stored, ok := x.images.stored[image]
	if !ok {
		var err error
		if stored, err = x.storeImage(image); err != nil {
			x.err = err
			return nil
		}
	}
	x.printed = true
	return &placedImage{x.part.addRelation(relImage, x.media+stored.name), describeImage(image), stored.width, stored.height}
}

// evalLayoutImage returns the picture that an expression names, or nil if there is none.
func (x *executor) evalLayoutImage(e expression) *content.LayoutImage {
	v := e.eval(x)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	image, _ := v.Interface().(*content.LayoutImage)
	return image
}

// describeImage returns the alternative text of a picture or chart.
func describeImage(image *content.LayoutImage) string {
	alt := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(image.Title), ".") + ". " + image.Description)
	return prose.Truncate(alt, docx.MaxImageDescription)
}

// placeChart writes a native PowerPoint chart in place of a text box, with a workbook that contains the chart's
// data. Each location gets a separate chart, because slides can't share one.
func (x *executor) placeChart(o slideImage) {
	image := x.evalLayoutImage(o.image)
	if image == nil || image.Chart == nil || x.err != nil {
		return
	}
	properties := x.numbers
	properties.Title = image.Chart.Title
	chart, numbers, err := pptx.ChartParts(image.Chart, false, properties)
	if err != nil {
		x.err = err
		return
	}
	x.charts++
	for x.hasPart(fmt.Sprintf("ppt/charts/report-chart%d.xml", x.charts)) { // the layout may be a report
		x.charts++
	}
	name := fmt.Sprintf("report-chart%d", x.charts)
	relations, err := withRelations(nil, []relation{{id: "rId1", kind: relPackage, target: "../embeddings/" + name + ".xlsx"}})
	if err != nil {
		x.err = err
		return
	}
	x.images.charts = append(
		x.images.charts, chartPart{"ppt/charts/" + name + ".xml", pptx.ChartType, chart},
		chartPart{"ppt/charts/_rels/" + name + ".xml.rels", "", relations},
		chartPart{"ppt/embeddings/" + name + ".xlsx", pptx.WorkbookType, numbers},
	)
	x.finished += len(chart) + len(numbers)
	x.printed = true
	id := x.part.addRelation(relChart, "../charts/"+name+".xml")
	fmt.Fprintf(
		x.out,
		`<p:graphicFrame xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"%s><p:nvGraphicFramePr>`+
			`<p:cNvPr id="%s" name="%s" descr="%s"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>`+
			`<p:xfrm><a:off x="%d" y="%d"/><a:ext cx="%.0f" cy="%.0f"/></p:xfrm>%s</p:graphicFrame>`,
		pictureNamespaces, escaped(o.id), escaped(o.name), escaped(describeImage(image)), o.box.x, o.box.y, o.box.width, o.box.height,
		pptx.ChartGraphic(id),
	)
}

// storeImage adds a picture to the document.
func (x *executor) storeImage(image *content.LayoutImage) (out storedImage, err error) {
	data := image.PNG
	if d := image.Drawing; d != nil {
		var b bytes.Buffer
		if err := d.WritePNG(&b, x.theme); err != nil {
			return out, fmt.Errorf("draw %q: %w", image.Title, err)
		}
		data, out.width, out.height = b.Bytes(), d.Width*docx.EMUPerUnit, d.Height*docx.EMUPerUnit
	} else {
		size, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return out, fmt.Errorf("the picture %q: %w", image.Title, err)
		}
		out.width, out.height = float64(size.Width)*docx.EMUPerUnit, float64(size.Height)*docx.EMUPerUnit
	}
	s := x.images
	out.name = fmt.Sprintf("report-picture%d.png", len(s.files)+1)
	s.stored[image] = out
	s.files = append(s.files, mediaFile{out.name, data})
	x.finished += len(data)
	return out, nil
}

// fit returns the size of the picture when it is scaled to fit into a box without changing its proportions.
func (p *placedImage) fit(width, height float64) (w, h int) {
	scale := math.Min(width/p.width, height/p.height)
	return int(p.width * scale), int(p.height * scale)
}

// frameBox is the position and size of a picture or text box of the layout, in EMUs.
type frameBox struct {
	x, y          int
	width, height float64
}

// newFrameBox reads a position, which may be nil, and a size.
func newFrameBox(offset, extent *node) (b frameBox) {
	b.x, _ = strconv.Atoi(offset.attr("x"))
	b.y, _ = strconv.Atoi(offset.attr("y"))
	b.width, _ = strconv.ParseFloat(extent.attr("cx"), 64)
	b.height, _ = strconv.ParseFloat(extent.attr("cy"), 64)
	return b
}

// isUsable reports whether the box is large enough for a picture.
func (b frameBox) isUsable() bool {
	return b.width >= 1 && b.height >= 1 && b.width <= 1e9 && b.height <= 1e9
}

// centered returns the position and size of a picture that is scaled to fit and centered in the box.
func (b frameBox) centered(p *placedImage) (x, y, w, h int) {
	w, h = p.fit(b.width, b.height)
	return b.x + (int(b.width)-w)/2, b.y + (int(b.height)-h)/2, w, h
}

// parseImageArguments parses the arguments of "image": a picture and, optionally, its width in centimeters.
func (l *compiler) parseImageArguments(n *node, t *tag) (image expression, width float64) {
	p, err := newParser(l.schema, l.scopes, t.rest)
	if err == nil {
		image, err = p.parsePrimary()
	}
	if err == nil && dereferenceType(image.typ()) != imageType {
		err = &unknownName{"the value is not a picture", "use logo or a field of charts, such as {{image charts.heat_map}}"}
	}
	if err == nil && len(p.tokens) > 0 {
		width, err = p.parsePictureWidth()
	}
	if err != nil {
		l.addParseError(n, t.source, err)
		return nil, 0
	}
	l.recordFields(image)
	return image, width
}

// parsePictureWidth reads the width of a picture, such as "width 12".
func (p *parser) parsePictureWidth() (float64, error) {
	if p.nextToken() != "width" {
		return 0, errors.New("the picture can only be followed by its width in centimeters, such as width 12")
	}
	width, err := strconv.ParseFloat(strings.TrimSuffix(p.nextToken(), "cm"), 64)
	if err != nil || width < 0.5 || width > maxPictureWidth {
		return 0, fmt.Errorf("the width must be a number of centimeters from 0.5 to %d", maxPictureWidth)
	}
	return width, nil
}

// compileInlineImage compiles {{image …}} in the text of a Word document.
func (l *compiler) compileInlineImage(out *program, n *node) {
	t := n.ancestor("w:t")
	if t == nil {
		l.addError(n, n.tag.source, "on slides, a picture replaces a whole text box", "put the placeholder in a separate text box")
		return
	}
	if image, width := l.parseImageArguments(n, n.tag); image != nil {
		out.add(inlineImage{image, width, t.prefix, t.start, t.end})
	}
}

// inlineImage is a picture within the text of a Word document.
type inlineImage struct {
	image      expression
	width      float64 // in centimeters; 0 means the picture's own width
	prefix     string
	start, end string // the tags of the enclosing text element
}

func (o inlineImage) run(x *executor) {
	p := x.evalImage(o.image)
	if p == nil {
		return
	}
	width := math.Min(p.width, maxInlineWidth)
	if o.width > 0 {
		width = o.width * emuPerCentimeter
	}
	w, h := p.fit(width, 22*emuPerCentimeter)
	x.drawingID++
	id := x.drawingID
	fmt.Fprintf(
		x.out,
		`%[1]s<%[2]sdrawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"%[3]s`+
			` distT="0" distB="0" distL="0" distR="0">`+
			`<wp:extent cx="%[4]d" cy="%[5]d"/><wp:docPr id="%[6]d" name="Picture %[6]d" descr="%[7]s"/>`+
			`<wp:cNvGraphicFramePr><a:graphicFrameLocks noChangeAspect="1"/></wp:cNvGraphicFramePr>`+
			`<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture">`+
			`<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:nvPicPr>`+
			`<pic:cNvPr id="%[6]d" name="Picture %[6]d"/><pic:cNvPicPr/></pic:nvPicPr>`+
			`<pic:blipFill><a:blip r:embed="%[8]s"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>`+
			`<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="%[4]d" cy="%[5]d"/></a:xfrm>`+
			`<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr>`+
			`</pic:pic></a:graphicData></a:graphic></wp:inline></%[2]sdrawing>%[9]s`,
		o.end, o.prefix, pictureNamespaces, w, h, id, escaped(p.title), p.relation, o.start,
	)
}

// imagePlaceholder returns the placeholder in a picture's alternative text, or nil if there is none.
func imagePlaceholder(properties *node) *tag {
	if properties == nil {
		return nil
	}
	text := properties.attr("descr")
	all, _ := findTags(text)
	for _, s := range all {
		if t := newTag(text[s.from+2 : s.to-2]); t.kind == tagImage {
			return t
		}
	}
	return nil
}

// propertiesTagWithoutImage returns the start tag of a drawing's properties. It reports placeholders in the
// alternative text as errors, because only a picture can have them.
func (l *compiler) propertiesTagWithoutImage(n *node) string {
	if all, unclosed := findTags(n.attr("descr")); len(all) > 0 || unclosed != "" {
		l.addError(n, n.attr("descr"), "only pictures can have a placeholder ({{image …}}) as their alternative text", "")
	}
	return n.start
}

// compilePicture compiles a picture of the layout whose alternative text is {{image …}}. Such a picture is replaced
// with one from the report, scaled to fit. It returns false for other pictures.
func (l *compiler) compilePicture(out *program, n *node) (isImage bool) {
	properties := n.find("wp:docPr")
	if n.hasName("p:pic") {
		properties = n.find("p:cNvPr")
	}
	t := imagePlaceholder(properties)
	if t == nil {
		return false
	}
	l.tags++
	image, _ := l.parseImageArguments(n, t)
	blip, extent := n.find("a:blip"), n.find("wp:extent")
	var offset *node
	if n.hasName("p:pic") {
		extent = nil
		if f := n.find("a:xfrm"); f != nil {
			offset, extent = f.child("a:off"), f.child("a:ext")
		}
	}
	if blip == nil || extent == nil {
		l.addError(
			n, t.source, "only pictures can have a placeholder as their alternative text",
			"insert a picture and set its alternative text to this placeholder",
		)
		return true
	}
	if image == nil {
		return true
	}
	frame := pictureFrame{image: image, box: newFrameBox(offset, extent)}
	if !frame.box.isUsable() {
		l.addError(n, t.source, "the picture has no size", "insert the picture again")
		return true
	}
	var body program
	l.compilePictureFrame(&body, n)
	frame.body = body.ops()
	out.add(frame)
	return true
}

// compilePictureFrame compiles a picture of the layout so that its size, description and file are replaced.
func (l *compiler) compilePictureFrame(out *program, n *node) {
	switch {
	case n.isText():
		out.add(raw(n.start))
		return
	case n.hasName("wp:docPr", "p:cNvPr", "pic:cNvPr"):
		out.add(frameTag{n.start, "properties"})
	case n.hasName("wp:extent"), n.hasName("a:ext") && n.parent.hasName("a:xfrm"):
		out.add(frameTag{n.start, "size"})
	case n.hasName("a:off") && n.parent.parent.hasName("p:spPr"):
		out.add(frameTag{n.start, "position"})
	case n.hasName("a:blip"):
		out.add(frameTag{n.start, n.attrName("embed")})
		if n.end != "" {
			out.add(raw(n.end)) // omits the effects and the vector version that the picture may have
		}
		return
	case n.hasName("a:srcRect"):
		return // omits the cropping of the replaced picture
	default:
		out.add(raw(n.start))
	}
	for _, c := range n.children {
		l.compilePictureFrame(out, c)
	}
	out.add(raw(n.end))
}

// attrName returns the name of an attribute in the namespace of relationships, including its prefix.
func (n *node) attrName(local string) string {
	for _, a := range n.attrs {
		if a.Name.Local == local && a.Name.Space != "" && a.Name.Space != "xmlns" {
			return a.Name.Space + ":" + local
		}
	}
	return "r:" + local
}

// pictureFrame is a picture in the layout that is replaced with a picture from the report.
type pictureFrame struct {
	image expression
	body  []op
	box   frameBox
}

func (o pictureFrame) run(x *executor) {
	p := x.evalImage(o.image)
	if p == nil {
		return
	}
	left, top, w, h := o.box.centered(p)
	x.frame = frameState{p, left, top, w, h}
	x.run(o.body)
}

// frameState is the picture that fills the current frame.
type frameState struct {
	*placedImage
	x, y, w, h int
}

// frameTag is a start tag within a picture of the layout. It is adapted to the picture from the report.
type frameTag struct{ start, change string }

func (o frameTag) run(x *executor) {
	f, s := x.frame, o.start
	switch o.change {
	case "size":
		s = setAttr(setAttr(s, "cx", strconv.Itoa(f.w)), "cy", strconv.Itoa(f.h))
	case "position":
		s = setAttr(setAttr(s, "x", strconv.Itoa(f.x)), "y", strconv.Itoa(f.y))
	case "properties":
		if strings.Contains(s, "descr") {
			s = setAttr(s, "descr", f.title)
		}
		if !strings.HasPrefix(s, "<p:") { // shape numbers on a slide are already unique
			x.drawingID++
			s = setAttr(s, "id", strconv.Itoa(x.drawingID))
		}
	default:
		s = setAttr(s, o.change, f.relation)
	}
	x.out.WriteString(s)
}

// compilePictureBox compiles a text box of a slide that contains nothing but {{image …}} or {{chart …}}. Such a box
// is replaced with the picture or chart. It returns false for other shapes.
func (l *compiler) compilePictureBox(out *program, n *node) (isImage bool) {
	body := n.child("p:txBody")
	if body == nil {
		return false
	}
	var found *node
	alone := true
	body.walk(func(c *node) bool {
		switch {
		case c.tag != nil && (c.tag.kind == tagImage || c.tag.kind == tagChart) && found == nil:
			found = c
		case c.tag != nil, c.isText() && c.parent.hasName("a:t") && strings.TrimSpace(c.text) != "":
			alone = false
		}
		return alone
	})
	if found == nil || !alone {
		return false
	}
	l.tags++
	source, _ := l.parseImageArguments(found, found.tag)
	if source == nil {
		return true
	}
	properties := n.find("p:cNvPr")
	image := slideImage{image: source, name: properties.attr("name"), id: properties.attr("id"), native: found.tag.kind == tagChart}
	if name := found.tag.rest[strings.LastIndex(found.tag.rest, ".")+1:]; image.native && !slices.Contains(content.NativeCharts, name) {
		l.addError(
			found, found.tag.source, "PowerPoint has no chart of this type; use one of charts."+strings.Join(content.NativeCharts, ", charts."),
			"write {{image "+found.tag.rest+"}} to insert the chart as a picture",
		)
		return true
	}
	if f := n.find("a:xfrm"); f != nil && f.child("a:off") != nil {
		image.box = newFrameBox(f.child("a:off"), f.child("a:ext"))
	}
	if !image.box.isUsable() {
		l.addError(
			found, found.tag.source, "the text box inherits its position from the slide layout",
			"move or resize the text box once so that it has its own position",
		)
		return true
	}
	out.add(image)
	return true
}

// slideImage is a picture that replaces a text box.
type slideImage struct {
	image    expression
	name, id string
	box      frameBox // of the text box
	native   bool     // as a chart of PowerPoint's own
}

func (o slideImage) run(x *executor) {
	if o.native {
		x.placeChart(o)
		return
	}
	p := x.evalImage(o.image)
	if p == nil {
		return
	}
	left, top, w, h := o.box.centered(p)
	fmt.Fprintf(
		x.out,
		`<p:pic xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"%s><p:nvPicPr><p:cNvPr id="%s" name="%s" descr="%s"/>`+
			`<p:cNvPicPr><a:picLocks noChangeAspect="1"/></p:cNvPicPr><p:nvPr/></p:nvPicPr>`+
			`<p:blipFill><a:blip r:embed="%s"/><a:stretch><a:fillRect/></a:stretch></p:blipFill>`+
			`<p:spPr><a:xfrm><a:off x="%d" y="%d"/><a:ext cx="%d" cy="%d"/></a:xfrm>`+
			`<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>`,
		pictureNamespaces, escaped(o.id), escaped(o.name), escaped(p.title), p.relation, left, top, w, h,
	)
}
