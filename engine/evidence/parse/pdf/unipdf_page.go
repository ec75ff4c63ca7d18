//go:build unipdf

package pdf

import (
	"fmt"
	"math"

	"github.com/unidoc/unipdf/v3/contentstream"
	"github.com/unidoc/unipdf/v3/core"
	"github.com/unidoc/unipdf/v3/extractor"
	"github.com/unidoc/unipdf/v3/model"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// unipdfPage extracts words and rules from a page in unipdf.
type unipdfPage struct {
	page *model.PdfPage
	out  *pageContent
	left int // number of objects that may still be examined
}

func newUnipdfPage(page *model.PdfPage, n int) (*unipdfPage, error) {
	area, err := page.GetMediaBox()
	if page.CropBox != nil {
		area, err = page.CropBox, nil
	}
	if err != nil {
		return nil, err
	}
	area = &model.PdfRectangle{
		Llx: min(area.Llx, area.Urx),
		Lly: min(area.Lly, area.Ury),
		Urx: max(area.Llx, area.Urx),
		Ury: max(area.Lly, area.Ury),
	}
	r := &unipdfPage{page: page, left: maxPageObjects}
	r.out = &pageContent{number: n, x: area.Llx, y: area.Lly, w: area.Urx - area.Llx, h: area.Ury - area.Lly}
	if !(r.out.w > 0 && r.out.h > 0) || math.IsInf(r.out.w+r.out.h, 0) {
		return nil, fmt.Errorf("the page is %g by %g points in size", r.out.w, r.out.h)
	}
	if turned, err := page.GetRotate(); err == nil {
		r.out.rotation = int((turned%360+360)%360) / 90
	}
	if r.out.rotation%2 == 1 {
		r.out.w, r.out.h = r.out.h, r.out.w
	}
	return r, nil
}

func (r *unipdfPage) readWords() error {
	e, err := extractor.NewWithOptions(r.page, &extractor.Options{UseSimplerExtractionProcess: true, DisableDocumentTags: true})
	if err != nil {
		return err
	}
	text, _, _, err := e.ExtractPageText()
	if err != nil {
		return err
	}
	return r.buildWords(text.Marks().Elements())
}

// buildWords joins marks into words. Each mark is a character or a ligature, whose box rests on the baseline and
// has the height of the font size.
func (r *unipdfPage) buildWords(marks []extractor.TextMark) error {
	if len(marks) > maxPageChars {
		return document.NewError(document.ErrTooLarge, formatPage(r.out.number), "the page has too many characters (%d)", len(marks))
	}
	b := wordBuilder{page: r.out}
	for i, m := range marks {
		g := r.out.toDisplayBox(m.BBox.Llx, m.BBox.Lly, m.BBox.Urx, m.BBox.Ury)
		for _, c := range m.Text {
			if c = visibleRune(c); c == 0 || m.Meta {
				b.endWord()
				continue
			}
			b.addRune(c, g, true, func() typeface { return r.typefaceOf(marks[i:], g) })
		}
	}
	b.endWord()
	return nil
}

// typefaceOf returns the typeface of the first of the marks.
func (r *unipdfPage) typefaceOf(marks []extractor.TextMark, g box) typeface {
	m := marks[0]
	t := typeface{size: g.height(), base: g.y1}
	if m.Orientation%180 == 90 {
		t.size = g.x1 - g.x0
	}
	if t.setTilt(float64(m.Orientation-90*r.out.rotation) * math.Pi / 180); t.turn == downward {
		t.base = g.x0
	} else if t.turn == upward {
		t.base = g.x1
	}
	t.isTilted = t.isTilted || isDiagonal(marks)
	if m.Font != nil {
		t.bold = isBoldFont(m.Font.BaseFont())
	}
	return t
}

// isDiagonal reports whether text runs diagonally although its marks are not rotated. That is the
// case if the first three marks lie on a slope. Two marks are not enough, because the second may be
// a superscript.
func isDiagonal(marks []extractor.TextMark) bool {
	if len(marks) < 3 || marks[1].Meta || marks[2].Meta || marks[0].Orientation != 0 {
		return false
	}
	slope := func(a, b extractor.TextMark) float64 {
		return math.Atan2(b.BBox.Lly-a.BBox.Lly, b.BBox.Llx-a.BBox.Llx)
	}
	first, second := slope(marks[0], marks[1]), slope(marks[1], marks[2])
	return math.Abs(first) > 0.1 && math.Abs(first) < math.Pi/2-0.1 && math.Abs(first-second) < 0.1
}

// readObjects reads ruling lines and images. Unreadable content is ignored.
func (r *unipdfPage) readObjects() {
	contents, err := r.page.GetAllContentStreams()
	if err != nil {
		return
	}
	r.readContents(contents, r.page.Resources, matrix{a: 1, d: 1}, 0)
}

// readContents reads a content stream. outer is the transformation that places it on the page.
func (r *unipdfPage) readContents(stream string, resources *model.PdfPageResources, outer matrix, depth int) {
	ops, err := contentstream.NewContentStreamParser(stream).Parse()
	if err != nil || ops == nil {
		return
	}
	pen := pen{page: r.out}
	p := contentstream.NewContentStreamProcessor(*ops)
	p.AddHandler(
		contentstream.HandlerConditionEnumAllOperands,
		"",
		func(op *contentstream.ContentStreamOperation, g contentstream.GraphicsState, from *model.PdfPageResources) error {
			t := matrix{a: g.CTM[0], b: g.CTM[1], c: g.CTM[3], d: g.CTM[4], e: g.CTM[6], f: g.CTM[7]}.multiply(outer)
			switch op.Operand {
			case "Do", "BI", "S", "s", "f", "F", "f*", "B", "B*", "b", "b*":
				if r.left--; r.left < 0 {
					return errEnough
				}
			}
			switch op.Operand {
			case "BI":
				r.out.addPictureShare(t)
			case "Do":
				if len(op.Params) == 1 {
					r.readXObject(op.Params[0], from, t, depth)
				}
			default:
				pen.executePathOperator(op, t)
			}
			return nil
		},
	)
	_ = p.Process(resources) // whatever was found before an error is used
}

var errEnough = fmt.Errorf("more than %d objects", maxPageObjects)

func (r *unipdfPage) readXObject(name core.PdfObject, resources *model.PdfPageResources, t matrix, depth int) {
	n, ok := core.GetName(name)
	if !ok || resources == nil {
		return
	}
	switch _, kind := resources.GetXObjectByName(*n); kind {
	case model.XObjectTypeImage:
		r.out.addPictureShare(t)
	case model.XObjectTypeForm:
		form, err := resources.GetXObjectFormByName(*n)
		if err != nil || form == nil || depth >= maxFormDepth {
			return
		}
		stream, err := form.GetContentStream()
		if err != nil {
			return
		}
		if m, ok := core.GetArray(form.Matrix); ok && m.Len() == 6 {
			t = matrix{
				a: numberOf(m.Get(0)),
				b: numberOf(m.Get(1)),
				c: numberOf(m.Get(2)),
				d: numberOf(m.Get(3)),
				e: numberOf(m.Get(4)),
				f: numberOf(m.Get(5)),
			}.multiply(
				t,
			)
		}
		if form.Resources != nil {
			resources = form.Resources
		}
		r.readContents(string(stream), resources, t, depth+1)
	}
}

// pen collects the straight lines of a path and adds them to the page when the path is painted.
type pen struct {
	page         *pageContent
	x, y         float64
	fromX, fromY float64
	lines        [][4]float64
}

const maxPathLines = 4000

func (p *pen) executePathOperator(op *contentstream.ContentStreamOperation, t matrix) {
	var v [6]float64
	for i := range min(len(op.Params), len(v)) {
		v[i] = numberOf(op.Params[i])
	}
	at := func(x, y float64) (float64, float64) { return p.page.toDisplayPoint(t.apply(x, y)) }
	switch op.Operand {
	case "m":
		p.x, p.y = at(v[0], v[1])
		p.fromX, p.fromY = p.x, p.y
	case "l":
		p.lineTo(at(v[0], v[1]))
	case "c":
		p.x, p.y = at(v[4], v[5])
	case "v", "y":
		p.x, p.y = at(v[2], v[3])
	case "h":
		p.lineTo(p.fromX, p.fromY)
	case "re":
		p.x, p.y = at(v[0], v[1])
		p.fromX, p.fromY = p.x, p.y
		p.lineTo(at(v[0]+v[2], v[1]))
		p.lineTo(at(v[0]+v[2], v[1]+v[3]))
		p.lineTo(at(v[0], v[1]+v[3]))
		p.lineTo(p.fromX, p.fromY)
	case "s", "b", "b*":
		p.lineTo(p.fromX, p.fromY)
		p.flushToRules()
	case "S", "f", "F", "f*", "B", "B*":
		p.flushToRules()
	case "n":
		p.lines = p.lines[:0]
	}
}

func (p *pen) lineTo(x, y float64) {
	if len(p.lines) < maxPathLines {
		p.lines = append(p.lines, [4]float64{p.x, p.y, x, y})
	}
	p.x, p.y = x, y
}

// flushToRules adds the lines drawn so far to the rules of the page.
func (p *pen) flushToRules() {
	for _, l := range p.lines {
		if len(p.page.rules) <= maxPageRules {
			p.page.addRule(l[0], l[1], l[2], l[3])
		}
	}
	p.lines = p.lines[:0]
}
