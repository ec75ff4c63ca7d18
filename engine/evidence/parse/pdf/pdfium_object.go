package pdf

import "image/color"

// The types of page objects in PDFium.
const (
	textType    = 1
	pathType    = 2
	imageType   = 3
	shadingType = 4
	formType    = 5
)

// objectReader reads the objects of a page: ruling lines, images, and how each text object is painted.
type objectReader struct {
	*pageReader
	left   int // number of objects that may still be examined
	texts  []*textObject
	paints []paint
	images []pageImage
}

// textObject is a piece of text painted by a single operator.
type textObject struct {
	handle uint64
	at     box
	order  int // position among all objects of the page, in painting order
	unseen unseenReason
	// isDoubtful is set if the object may be invisible, which can only be determined by rendering the page.
	isDoubtful bool
	layer      int // index of the rendering of doubtful objects that contains it
	// isUnderImage is set if an image is painted over the object.
	isUnderImage bool
}

// paint is a filled area of a page. It may cover text, or make text of the same color invisible.
type paint struct {
	at      box
	order   int
	isLight bool // dark text on the area is visible
	isImage bool
}

type pageImage struct {
	handle uint64
	at     box
}

// readObjects reads the objects of the page.
func (r *pageReader) readObjects() *objectReader {
	o := &objectReader{pageReader: r, left: maxPageObjects}
	count := int(int32(r.m.callQuick("FPDFPage_CountObjects", r.page)))
	for i := 0; i < count && o.left > 0 && r.m.err == nil; i++ {
		o.readObject(r.m.callQuick("FPDFPage_GetObject", r.page, uint64(i)), matrix{a: 1, d: 1}, 0)
	}
	return o
}

func (r *objectReader) readObject(obj uint64, outer matrix, depth int) {
	m := r.m
	if r.left--; obj == 0 || r.left < 0 {
		return
	}
	kind := m.callQuick("FPDFPageObj_GetType", obj)
	switch kind {
	case textType:
		r.addText(obj, outer, depth)
		return
	case shadingType:
		if at, ok := r.bounds(obj, outer); ok {
			r.paints = append(r.paints, paint{at: at, order: r.paintOrder()})
		}
		return
	case pathType, formType, imageType:
	default:
		return
	}
	t := outer
	if m.callQuick("FPDFPageObj_GetMatrix", obj, uint64(m.scratch)) != 0 {
		t = m.readMatrix().multiply(outer)
	}
	switch kind {
	case pathType:
		r.addPaint(obj, outer)
		if len(r.out.rules) <= maxPageRules {
			r.readPathRules(obj, t)
		}
	case imageType:
		r.out.addPictureShare(t)
		if at, ok := r.bounds(obj, outer); ok {
			r.out.pictures = append(r.out.pictures, at)
			r.images = append(r.images, pageImage{obj, at})
			r.paints = append(r.paints, paint{at: at, order: r.paintOrder(), isImage: true})
		}
	case formType:
		if depth >= maxFormDepth {
			return
		}
		count := int(int32(m.callQuick("FPDFFormObj_CountObjects", obj)))
		for i := 0; i < count && r.left > 0 && m.err == nil; i++ {
			r.readObject(m.callQuick("FPDFFormObj_GetObject", obj, uint64(i)), t, depth+1)
		}
	}
}

// paintOrder returns the position of the current object in painting order.
func (r *objectReader) paintOrder() int { return maxPageObjects - r.left }

func (m *pdfiumDocument) readMatrix() matrix {
	return matrix{
		a: m.readFloat(0), b: m.readFloat(4), c: m.readFloat(8), d: m.readFloat(12), e: m.readFloat(16), f: m.readFloat(20),
	}
}

// bounds returns the rectangle of the displayed page that an object covers.
func (r *objectReader) bounds(obj uint64, outer matrix) (box, bool) {
	m, at := r.m, uint64(r.m.scratch)
	if m.callQuick("FPDFPageObj_GetBounds", obj, at, at+4, at+8, at+12) == 0 {
		return box{}, false
	}
	return r.toDisplay(box{x0: m.readFloat(0), y0: m.readFloat(4), x1: m.readFloat(8), y1: m.readFloat(12)}, outer), true
}

// toDisplay converts a rectangle in the space of a page or form to the displayed page.
func (r *objectReader) toDisplay(b box, outer matrix) box {
	corner := func(x, y float64) box { return pointBox(r.out.toDisplayPoint(outer.apply(x, y))) }
	return corner(b.x0, b.y0).union(corner(b.x1, b.y0)).union(corner(b.x0, b.y1)).union(corner(b.x1, b.y1))
}

// colorOf returns a color of an object. It returns false for patterns and shadings.
func (r *objectReader) colorOf(name string, obj uint64) (c color.NRGBA, ok bool) {
	m, at := r.m, uint64(r.m.scratch)
	if m.callQuick(name, obj, at, at+4, at+8, at+12) == 0 {
		return c, false
	}
	raw, ok := m.mem.Read(m.scratch, 16)
	if !ok {
		return c, false
	}
	return color.NRGBA{R: raw[0], G: raw[4], B: raw[8], A: raw[12]}, true
}

// addPaint records the filled area of a path.
func (r *objectReader) addPaint(obj uint64, outer matrix) {
	const thin = 2 // maximum thickness, in points, of a rectangle that counts as a line
	m, at := r.m, uint64(r.m.scratch)
	if m.callQuick("FPDFPath_GetDrawMode", obj, at, at+4) == 0 {
		return
	}
	if mode, _ := m.mem.ReadUint32Le(m.scratch); mode == 0 {
		return
	}
	b, ok := r.bounds(obj, outer)
	if !ok || b.height() < thin || b.x1-b.x0 < thin {
		return
	}
	fill, ok := r.colorOf("FPDFPageObj_GetFillColor", obj)
	r.paints = append(r.paints, paint{at: b, order: r.paintOrder(), isLight: ok && brightness(fill) > lightBrightness})
}

// readPathRules reads the straight horizontal and vertical lines of a path: strokes, thin filled
// rectangles and edges of cells.
func (r *pageReader) readPathRules(obj uint64, t matrix) {
	const line, bezier, move = 0, 1, 2
	m := r.m
	count := int(int32(m.callQuick("FPDFPath_CountSegments", obj)))
	var x, y, startX, startY float64
	for i := 0; i < min(count, 4000) && m.err == nil && len(r.out.rules) <= maxPageRules; i++ {
		seg := m.callQuick("FPDFPath_GetPathSegment", obj, uint64(i))
		if seg == 0 || m.callQuick("FPDFPathSegment_GetPoint", seg, uint64(m.scratch), uint64(m.scratch)+4) == 0 {
			continue
		}
		px, py := t.apply(m.readFloat(0), m.readFloat(4))
		px, py = r.out.toDisplayPoint(px, py)
		switch m.callQuick("FPDFPathSegment_GetType", seg) {
		case move:
			startX, startY = px, py
		case line:
			r.out.addRule(x, y, px, py)
		}
		x, y = px, py
		if m.callQuick("FPDFPathSegment_GetClose", seg) != 0 {
			r.out.addRule(x, y, startX, startY)
			x, y = startX, startY
		}
	}
}
