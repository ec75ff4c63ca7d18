package pdf

import (
	"image/color"
	"math"
)

const (
	darkBrightness  = 110 // of 255: text at most this bright is visible on white and light paper
	lightBrightness = 180 // of 255: dark text on a background at least this bright is visible
	maxComparisons  = 4_000_000

	testScale    = 1.0     // pixels per point of the rendering that shows which text is visible
	maxTestSize  = 8 << 20 // maximum number of pixels of the rendering
	minTestText  = 4       // minimum number of pixels of text that is tested
	maxLayers    = 8
	similarColor = 10 // of 255: colors whose channels differ by less look the same
)

// addText records a text object and whether the text may be visible.
func (r *objectReader) addText(obj uint64, outer matrix, depth int) {
	const stroke, invisible, clip = 1, 3, 7
	t := &textObject{handle: obj, order: r.paintOrder()}
	r.texts = append(r.texts, t)
	at, ok := r.bounds(obj, outer)
	t.at = at
	fill, hasFill := r.colorOf("FPDFPageObj_GetFillColor", obj)
	switch mode := r.m.callQuick("FPDFTextObj_GetTextRenderMode", obj); {
	case mode == invisible:
		t.unseen = notPainted
		return
	case mode == clip:
		t.unseen = clipOnly
		return
	case mode == stroke:
		if c, ok := r.colorOf("FPDFPageObj_GetStrokeColor", obj); ok && c.A == 0 {
			t.unseen = notPainted
			return
		}
		t.isDoubtful = true
	case hasFill && fill.A == 0 && mode != stroke+1:
		t.unseen = notPainted
		return
	}
	t.isDoubtful = t.isDoubtful || !ok || depth > 0 || !hasFill || fill.A < math.MaxUint8 || brightness(fill) > darkBrightness ||
		r.m.callQuick("FPDFPageObj_HasTransparency", obj) != 0 || r.isInLayer(obj) || r.isClipped(obj, at)
}

// isInLayer reports whether an object is optional content.
func (r *objectReader) isInLayer(obj uint64) bool {
	count := r.m.callQuick("FPDFPageObj_CountMarks", obj)
	for i := range min(count, 100) {
		mark := r.m.callQuick("FPDFPageObj_GetMark", obj, i)
		size := uint64(r.m.scratch) + 16
		if r.m.callQuick("FPDFPageObjMark_GetName", mark, uint64(r.m.scratch), 16, size) == 0 {
			continue
		}
		if raw, ok := r.m.mem.Read(r.m.scratch, 6); ok && string(raw) == "O\x00C\x00\x00\x00" {
			return true
		}
	}
	return count > 100
}

// isClipped reports whether part of an object may be outside its clipping path.
func (r *objectReader) isClipped(obj uint64, at box) bool {
	const line, maxPaths, maxSegments = 0, 10, 8
	m := r.m
	clip := m.callQuick("FPDFPageObj_GetClipPath", obj)
	count := int(int32(m.callQuick("FPDFClipPath_CountPaths", clip)))
	if clip == 0 || count <= 0 {
		return false
	}
	if count > maxPaths {
		return true
	}
	// Font boxes are taller than the letters, so table cells may clip the excess.
	margin := 0.2 * min(at.height(), at.x1-at.x0)
	for i := range count {
		segments := int(int32(m.callQuick("FPDFClipPath_CountPathSegments", clip, uint64(i))))
		if segments < 4 || segments > maxSegments {
			return true
		}
		var area box
		var last [2]float64
		for k := range segments {
			seg := m.callQuick("FPDFClipPath_GetPathSegment", clip, uint64(i), uint64(k))
			if seg == 0 || m.callQuick("FPDFPathSegment_GetPoint", seg, uint64(m.scratch), uint64(m.scratch)+4) == 0 {
				return true
			}
			x, y := r.out.toDisplayPoint(m.readFloat(0), m.readFloat(4))
			if k == 0 {
				area = pointBox(x, y)
			} else if math.Abs(x-last[0]) > 0.1 && math.Abs(y-last[1]) > 0.1 {
				return true // not a rectangle
			}
			area, last = area.union(pointBox(x, y)), [2]float64{x, y}
		}
		if at.x0+margin < area.x0 || at.x1-margin > area.x1 || at.y0+margin < area.y0 || at.y1-margin > area.y1 {
			return true
		}
	}
	return false
}

// markDoubtfulText marks text as doubtful if something is painted over it, or if dark text is on something that isn't light.
func (r *objectReader) markDoubtfulText() {
	tooMany := len(r.texts)*len(r.paints) > maxComparisons
	for _, t := range r.texts {
		for _, p := range r.paints {
			if tooMany {
				break
			}
			if !p.at.overlaps(t.at) || p.order < t.order && p.isLight {
				continue
			}
			switch {
			case t.unseen == clipOnly && p.order > t.order:
				t.unseen = seen // text that only clips is filled by what is painted over it
			case t.unseen == seen:
				t.isDoubtful = true
			}
			if p.order > t.order {
				t.isUnderImage = t.isUnderImage || p.isImage
			}
		}
		t.isDoubtful = t.isDoubtful || tooMany
	}
}

// visibility determines which characters of a page are visible.
type visibility struct {
	objects map[uint64]*textObject // text objects by handle; nil if all text is visible
	changed [maxLayers][]bool      // the pixels that text of a layer changes
	scale   float64
	// Rendered area of the page, which contains all text that may be invisible, and size of the
	// whole page, in pixels.
	x, y, w, h, pageW, pageH int
}

// testVisibility renders the page with and without the text that may be invisible. Where the results are the same, the
// text is invisible, whether because of its color, a clipping path, a hidden layer, or something painted over it.
func (r *objectReader) testVisibility() *visibility {
	r.markDoubtfulText()
	v := &visibility{}
	var doubtful []*textObject
	isAllSeen := true
	for _, t := range r.texts {
		if t.unseen == seen && t.isDoubtful {
			doubtful = append(doubtful, t)
		}
		isAllSeen = isAllSeen && t.unseen == seen && !t.isDoubtful
	}
	if isAllSeen {
		return v
	}
	v.objects = make(map[uint64]*textObject, len(r.texts))
	for _, t := range r.texts {
		v.objects[t.handle] = t
	}
	if len(doubtful) == 0 {
		return v
	}
	layers := assignLayers(doubtful)
	v.scale = min(testScale, math.Sqrt(maxTestSize/(r.out.w*r.out.h)))
	v.setArea(r.out, doubtful)
	if v.w < 1 || v.h < 1 {
		return v
	}
	bitmap := r.m.call("FPDFBitmap_CreateEx", uint64(v.w), uint64(v.h), bitmapBGRx, 0, 0)
	if bitmap == 0 {
		return v
	}
	defer r.m.call("FPDFBitmap_Destroy", bitmap)
	for _, t := range r.texts {
		r.setActive(t.handle, false)
	}
	for _, p := range r.images {
		if !overlapsAny(doubtful, p.at) {
			r.setActive(p.handle, false) // decoding it would take too long
		}
	}
	without := append([]byte(nil), r.renderPage(bitmap, v)...)
	for layer := range layers {
		for _, t := range doubtful {
			r.setActive(t.handle, t.layer == layer)
		}
		v.changed[layer] = changedPixels(without, r.renderPage(bitmap, v))
	}
	return v
}

// setArea sets the area to be rendered.
func (v *visibility) setArea(p *pageContent, texts []*textObject) {
	const margin = 3
	all := texts[0].at
	for _, t := range texts {
		all = all.union(t.at)
	}
	v.pageW, v.pageH = int(p.w*v.scale), int(p.h*v.scale)
	edge := func(points float64, add, limit int) int {
		return int(min(max(math.Floor(points*v.scale)+float64(add), 0), float64(limit)))
	}
	v.x, v.y = edge(all.x0, -margin, v.pageW), edge(all.y0, -margin, v.pageH)
	v.w, v.h = edge(all.x1, margin, v.pageW)-v.x, edge(all.y1, margin, v.pageH)-v.y
}

func overlapsAny(texts []*textObject, at box) bool {
	for _, t := range texts {
		if t.at.overlaps(at) {
			return true
		}
	}
	return false
}

// assignLayers distributes text over layers so that no texts overlap within a layer, and returns the number of layers.
func assignLayers(texts []*textObject) int {
	layers := 1
	if len(texts)*len(texts) > maxComparisons {
		return layers
	}
	for i, t := range texts {
		var taken [maxLayers]bool
		for _, u := range texts[:i] {
			if u.at.overlapsMuch(t.at) {
				taken[u.layer] = true
			}
		}
		for t.layer < maxLayers-1 && taken[t.layer] {
			t.layer++
		}
		layers = max(layers, t.layer+1)
	}
	return layers
}

func (r *objectReader) setActive(obj uint64, active bool) {
	var flag uint64
	if active {
		flag = 1
	}
	r.m.callQuick("FPDFPageObj_SetIsActive", obj, flag)
}

const bitmapBGRx = 3

// renderPage renders the page into bitmap and returns its pixels, four bytes each (BGRx), or nil if
// that fails. The pixels are valid until the next call.
func (r *objectReader) renderPage(bitmap uint64, v *visibility) []byte {
	m, w, h := r.m, uint64(v.w), uint64(v.h)
	left, top := uint64(uint32(-v.x)), uint64(uint32(-v.y))
	m.call("FPDFBitmap_FillRect", bitmap, 0, 0, w, h, 0xFFFFFFFF)
	m.call("FPDF_RenderPageBitmap", bitmap, r.page, left, top, uint64(v.pageW), uint64(v.pageH), 0, 0)
	at, stride := uint32(m.call("FPDFBitmap_GetBuffer", bitmap)), uint32(m.call("FPDFBitmap_GetStride", bitmap))
	if m.err != nil || stride != 4*uint32(v.w) {
		return nil
	}
	raw, ok := m.mem.Read(at, stride*uint32(v.h))
	if !ok {
		return nil
	}
	return raw
}

// changedPixels reports which pixels of two images have different colors.
func changedPixels(a, b []byte) []bool {
	if len(a) != len(b) || len(a) == 0 {
		return nil
	}
	out := make([]bool, len(a)/4)
	for i := range out {
		p, q := (*[4]byte)(a[4*i:]), (*[4]byte)(b[4*i:])
		if *p == *q {
			continue
		}
		for c := range 3 {
			out[i] = out[i] || max(p[c], q[c])-min(p[c], q[c]) >= similarColor
		}
	}
	return out
}

// shows reports whether a character of a text object is visible at a position on the displayed page.
func (v *visibility) shows(t *textObject, g box) bool {
	changed := v.changed[t.layer]
	if changed == nil || min(g.height(), g.x1-g.x0)*v.scale < minTestText/2 && g.height()*v.scale < minTestText {
		return true // its visibility can't be tested
	}
	const inset = 0.1 // because adjacent letters may be visible
	dx, dy := inset*(g.x1-g.x0), inset*g.height()
	x0, x1 := v.pixelRange(g.x0+dx, g.x1-dx, v.x, v.w)
	y0, y1 := v.pixelRange(g.y0+dy, g.y1-dy, v.y, v.h)
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			if changed[y*v.w+x] {
				return true
			}
		}
	}
	return false
}

// pixelRange returns the range of pixels in the rendered area that lie between two points.
func (v *visibility) pixelRange(from, to float64, start, length int) (first, end int) {
	first = int(max(math.Floor(from*v.scale)-float64(start), 0))
	end = int(min(math.Floor(to*v.scale)-float64(start)+1, float64(length)))
	return first, end
}

// brightness returns the brightness of a color, from 0 to 255.
func brightness(c color.NRGBA) int {
	return (299*int(c.R) + 587*int(c.G) + 114*int(c.B)) / 1000
}
