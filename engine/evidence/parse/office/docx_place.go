package office

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// wordAnchor is the position (left and top) of a drawing, in points relative to its reference.
type wordAnchor struct {
	axis     int // 0 for horizontal
	inOffset bool
	isPage   [2]bool // relative to the page
	isKnown  [2]bool // given as a number; otherwise, it is an alignment
	offset   [2]float64
	size     [2]float64
}

const emuPerPoint = 12700

// startElement processes an element of a drawing's position. It returns false for other elements.
func (a *wordAnchor) startElement(e xml.StartElement) (isAnchorElement bool) {
	switch a.inOffset = false; e.Name.Local {
	case "positionH", "positionV":
		a.axis = strings.Index("HV", e.Name.Local[len("position"):])
		a.isPage[a.axis] = attrValue(e, "relativeFrom") == "page"
	case "posOffset":
		a.inOffset = true
	case "extent":
		a.size = [2]float64{floatAttr(e, "cx") / emuPerPoint, floatAttr(e, "cy") / emuPerPoint}
	default:
		return false
	}
	return true
}

func (a *wordAnchor) setOffset(text string) {
	a.inOffset = false
	if v, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
		a.offset[a.axis], a.isKnown[a.axis] = v/emuPerPoint, true
	}
}

// vmlAnchor returns the position of a legacy drawing (VML). style is its style attribute without spaces.
func vmlAnchor(style string) *wordAnchor {
	a := &wordAnchor{}
	if !strings.Contains(style, "position:absolute") {
		return a
	}
	for declaration := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		v, ok := parsePoints(value)
		switch name {
		case "margin-left", "left":
			a.offset[0], a.isKnown[0] = v, ok
		case "margin-top", "top":
			a.offset[1], a.isKnown[1] = v, ok
		case "width":
			a.size[0] = v
		case "height":
			a.size[1] = v
		case "mso-position-horizontal-relative":
			a.isPage[0] = value == "page"
		case "mso-position-vertical-relative":
			a.isPage[1] = value == "page"
		}
	}
	return a
}

// parsePoints parses a length and returns it in points.
func parsePoints(s string) (float64, bool) {
	unit := strings.TrimLeft(s, "+-.0123456789")
	v, err := strconv.ParseFloat(s[:len(s)-len(unit)], 64)
	perUnit := map[string]float64{"pt": 1, "in": 72, "cm": 72 / 2.54, "mm": 72 / 25.4, "px": 0.75, "pc": 12, "": 1 / emuPerPoint}[unit]
	return v * perUnit, err == nil && perUnit > 0
}

// wordPages holds the largest page size and margins in a document, in points.
type wordPages struct{ size, margin [2]float64 }

// isOffPage reports whether a drawing is completely outside the page.
func (d *docxReader) isOffPage(a *wordAnchor) bool {
	if a.isKnown == [2]bool{} {
		return false
	}
	if d.pages == nil {
		d.pages = &wordPages{}
		err := scanTags(d.b, d.z, d.main, func(s *tagScanner) bool {
			twips := func(name string) float64 {
				v, err := strconv.ParseFloat(s.attr(":"+name), 64)
				if err != nil {
					return 0
				}
				return v / 20
			}
			p := d.pages
			switch name, begins, _ := s.name(); {
			case !begins:
			case name == "pgSz":
				p.size = [2]float64{max(p.size[0], twips("w")), max(p.size[1], twips("h"))}
			case name == "pgMar":
				p.margin = [2]float64{max(p.margin[0], twips("left")), max(p.margin[1], twips("top"))}
			}
			return true
		})
		if err != nil {
			d.b.Fail(err)
		}
	}
	for axis, known := range a.isKnown {
		// Anything that isn't positioned relative to the page begins within it.
		before := 0.0
		if !a.isPage[axis] {
			if before = d.pages.margin[axis]; axis == 1 {
				before = d.pages.size[axis]
			}
		}
		size := d.pages.size[axis]
		if known && size > 0 && (a.offset[axis] >= size || a.offset[axis]+a.size[axis] <= -before) {
			return true
		}
	}
	return false
}
