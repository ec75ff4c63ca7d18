package office

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// slideFormat holds the formatting that determines whether text is visible.
type slideFormat struct {
	strike        flag
	color         string // RGB or the name of a theme color; unknownColor; empty if not set
	isTransparent bool
	size          int // hundredths of a point; 0 if not set
}

func (f *slideFormat) inherit(base slideFormat) {
	f.strike, f.size = cmp.Or(f.strike, base.strike), cmp.Or(f.size, base.size)
	if f.color == "" && !f.isTransparent {
		f.color, f.isTransparent = base.color, base.isTransparent
	}
}

// slideLook holds the properties that determine whether a run on the slide is visible.
type slideLook struct {
	run          slideFormat
	level, place int
}

// slideLevels are the formats of the nine levels of a list.
type slideLevels [9]slideFormat

// slideRect is a rectangle on a slide or in a group, in EMUs.
type slideRect struct{ x, y, width, height float64 }

// slideShape is an open shape, picture, table frame or group.
type slideShape struct {
	kind        string
	isHidden    bool
	placeholder string // placeholder type; empty if the shape is not a placeholder
	index       string // of the placeholder
	at          *slideRect
	inside      slideRect // for a group: the coordinate system of its contents
	fill        string    // empty if it has none; unknownColor
	levels      slideLevels
	counted     string
}

// slideMaster holds the properties that slides inherit from a layout or a master.
type slideMaster struct {
	placeholders []slideShape
	styles       map[string]*slideLevels // "titleStyle", "bodyStyle", "otherStyle", "defaultTextStyle"
	background   string
	isDark       bool // its background is the dark theme color
	hasPaint     bool // has shapes or pictures that may be behind text
}

var shapeElements = []string{"sp", "pic", "graphicFrame", "grpSp", "cxnSp"}

// readMaster reads a layout, a master or the presentation.
func (p *pptxReader) readMaster(part string) *slideMaster {
	if m := p.masters[part]; m != nil {
		return m
	}
	m := &slideMaster{styles: map[string]*slideLevels{}}
	if p.masters[part] = m; part == "" {
		return m
	}
	w := &slideWalker{p: p, name: part, master: m}
	if err := w.walk(); err != nil { // the slides can be read without it
		p.b.Warn("The part %s could not be read, so hidden or struck-through text may have been included.", part)
	}
	return m
}

// relatedPart returns the part of the given kind to which another part refers, or "" if there is none.
func relatedPart(part, kind string, relations []relation) string {
	for _, r := range relations {
		if r.TargetMode != "External" && strings.HasSuffix(r.Type, kind) {
			return r.resolveTarget(part)
		}
	}
	return ""
}

// parentsOf returns the layout and the master of a slide.
func (p *pptxReader) parentsOf(slide string, relations []relation) []*slideMaster {
	layout := relatedPart(slide, "/slideLayout", relations)
	master, ok := p.masterOf[layout]
	if !ok {
		master = relatedPart(layout, "/slideMaster", readRelations(p.z, layout))
		p.masterOf[layout] = master
	}
	return []*slideMaster{p.readMaster(layout), p.readMaster(master), p.readMaster(p.main)}
}

// endsPathWith reports whether the innermost open elements have the given names, outermost first.
func (s *slideWalker) endsPathWith(names ...string) bool {
	n := len(s.path) - len(names)
	return n >= 0 && slices.Equal(s.path[n:], names)
}

func (s *slideWalker) topShape() *slideShape {
	if n := len(s.shapes); n > 0 {
		return &s.shapes[n-1]
	}
	return nil
}

// startVisibility tracks the properties that determine whether the following text is visible.
func (s *slideWalker) startVisibility(e xml.StartElement) {
	name := e.Name.Local
	shape := s.topShape()
	switch {
	case slices.Contains(shapeElements, name):
		s.shapes = append(s.shapes, slideShape{kind: name})
	case name == "r" || name == "fld":
		s.run, s.font = slideFormat{}, ""
	case (name == "latin" || name == "sym") && s.endsPathWith("rPr"):
		s.font = cmp.Or(s.font, attrValue(e, "typeface"))
	case name == "rPr":
		s.run.set(e)
	case name == "defRPr":
		if l := s.openLevel(); l != nil {
			l.set(e)
		}
	case name == "srgbClr" || name == "schemeClr" || name == "sysClr" || name == "prstClr":
		s.setColor(e)
	case name == "alpha" && attrValue(e, "val") == "0":
		if s.endsPathWith("rPr", "solidFill", "srgbClr") || s.endsPathWith("rPr", "solidFill", "schemeClr") {
			s.run.isTransparent = true
		}
	case name == "lumMod" || name == "lumOff" || name == "tint" || name == "shade" || name == "satMod":
		if s.lastColor != nil {
			*s.lastColor = unknownColor
		}
	case name == "noFill" && s.endsPathWith("rPr"):
		s.run.isTransparent = true
	case name == "gradFill" || name == "blipFill" || name == "pattFill" || name == "blip":
		switch {
		case s.endsPathWith("spPr") && shape != nil:
			shape.fill = unknownColor
		case s.endsPathWith("bgPr"):
			s.background = unknownColor
		case s.endsPathWith("rPr"):
			s.run.color = unknownColor
		}
		s.hasPaint = s.hasPaint || shape != nil
	case name == "fillRef" && shape != nil && shape.fill == "" && attrValue(e, "idx") != "0":
		shape.fill, s.hasPaint = unknownColor, true
	case name == "clrMap" && s.master != nil:
		s.master.isDark = strings.HasPrefix(attrValue(e, "bg1"), "dk")
	case name == "sldSz":
		s.p.width, s.p.height = floatAttr(e, "cx"), floatAttr(e, "cy")
	case shape == nil:
	case name == "cNvPr":
		shape.isHidden = shape.isHidden || attrValue(e, "hidden") == "1" || attrValue(e, "hidden") == "true"
	case name == "ph":
		shape.placeholder, shape.index = cmp.Or(attrValue(e, "type"), "obj"), cmp.Or(attrValue(e, "idx"), "0")
	case name == "xfrm":
		shape.at = &slideRect{}
	case shape.at == nil:
	case name == "off":
		shape.at.x, shape.at.y = floatAttr(e, "x"), floatAttr(e, "y")
	case name == "ext" && s.endsPathWith("xfrm"):
		shape.at.width, shape.at.height = floatAttr(e, "cx"), floatAttr(e, "cy")
	case name == "chOff":
		shape.inside.x, shape.inside.y = floatAttr(e, "x"), floatAttr(e, "y")
	case name == "chExt":
		shape.inside.width, shape.inside.height = floatAttr(e, "cx"), floatAttr(e, "cy")
	}
}

func floatAttr(e xml.StartElement, name string) float64 {
	v, err := strconv.ParseFloat(attrValue(e, name), 64)
	if err != nil {
		return 0
	}
	return v
}

// set applies the attributes of run properties.
func (f *slideFormat) set(e xml.StartElement) {
	switch attrValue(e, "strike") {
	case "sngStrike", "dblStrike":
		f.strike = flagOn
	case "noStrike":
		f.strike = flagOff
	}
	if n, err := strconv.Atoi(attrValue(e, "sz")); err == nil && n > 0 {
		f.size = n
	}
}

// openLevel returns the open level of a shape's or master's list style, or nil.
func (s *slideWalker) openLevel() *slideFormat {
	for i := len(s.path) - 1; i > 0; i-- {
		level, ok := strings.CutPrefix(s.path[i], "lvl")
		n, err := strconv.Atoi(strings.TrimSuffix(level, "pPr"))
		if !ok || err != nil || n < 1 || n > 9 {
			continue
		}
		switch owner := s.path[i-1]; owner {
		case "lstStyle":
			if shape := s.topShape(); shape != nil {
				return &shape.levels[n-1]
			}
		case "titleStyle", "bodyStyle", "otherStyle", "defaultTextStyle":
			if s.master != nil {
				if s.master.styles[owner] == nil {
					s.master.styles[owner] = &slideLevels{}
				}
				return &s.master.styles[owner][n-1]
			}
		}
		return nil
	}
	return nil
}

// setColor sets the color of the element that the open fill belongs to.
func (s *slideWalker) setColor(e xml.StartElement) {
	color := attrValue(e, "val")
	switch e.Name.Local {
	case "srgbClr":
		color = strings.ToUpper(color)
	case "sysClr":
		color = strings.ToUpper(attrValue(e, "lastClr"))
	case "prstClr":
		color = map[string]string{"white": "FFFFFF", "black": "000000"}[color]
	}
	color = cmp.Or(color, unknownColor)
	s.lastColor = nil
	shape := s.topShape()
	switch {
	case s.endsPathWith("rPr", "solidFill"):
		s.run.color, s.lastColor = color, &s.run.color
	case s.endsPathWith("defRPr", "solidFill"):
		if l := s.openLevel(); l != nil {
			l.color, s.lastColor = color, &l.color
		}
	case s.endsPathWith("spPr", "solidFill") && shape != nil:
		shape.fill, s.lastColor, s.hasPaint = color, &shape.fill, true
	case s.endsPathWith("bgPr", "solidFill"), s.endsPathWith("bg", "bgRef"):
		s.background, s.lastColor = color, &s.background
	}
}

func (s *slideWalker) endVisibility(name string) {
	if slices.Contains(shapeElements, name) && len(s.shapes) > 0 {
		if s.master != nil {
			s.master.placeholders = append(s.master.placeholders, s.shapes[len(s.shapes)-1])
		}
		s.shapes = s.shapes[:len(s.shapes)-1]
		s.isLookKnown = false
	}
	if s.master != nil {
		s.master.background, s.master.hasPaint = s.background, s.hasPaint
	}
}

// parentOf returns the placeholder of a layout or master that a shape inherits from, or nil.
func (m *slideMaster) parentOf(shape *slideShape) *slideShape {
	if shape.placeholder == "" {
		return nil
	}
	general := map[string]string{"ctrTitle": "title", "subTitle": "body", "obj": "body"}
	kind := cmp.Or(general[shape.placeholder], shape.placeholder)
	var found *slideShape
	for i := range m.placeholders {
		p := &m.placeholders[i]
		sameKind := p.placeholder != "" && cmp.Or(general[p.placeholder], p.placeholder) == kind
		if p.placeholder != "" && p.index == shape.index && p.index != "0" {
			return p
		}
		if sameKind && found == nil {
			found = p
		}
	}
	return found
}

// unreadKind returns the api.Unread… kind that hides the text of the open run, or "" if it is visible.
func (s *slideWalker) unreadKind() string {
	for i := range s.shapes {
		if s.shapes[i].isHidden {
			return api.UnreadHiddenText
		}
	}
	run, shape := s.run, s.topShape()
	var own slideShape
	if shape != nil {
		own = *shape
	}
	run.inherit(own.levels[s.level])
	style := "otherStyle"
	switch own.placeholder {
	case "":
	case "title", "ctrTitle":
		style = "titleStyle"
	default:
		style = "bodyStyle"
	}
	background, hasPaint, isDark := s.background, false, false
	for _, m := range s.parents {
		if parent := m.parentOf(&own); parent != nil {
			run.inherit(parent.levels[s.level])
			own.fill = cmp.Or(own.fill, parent.fill)
			if own.at == nil {
				own.at = parent.at
			}
		}
		for _, name := range []string{style, "defaultTextStyle"} {
			if levels := m.styles[name]; levels != nil {
				run.inherit(levels[s.level])
			}
		}
		background, hasPaint, isDark = cmp.Or(background, m.background), hasPaint || m.hasPaint, isDark || m.isDark
	}
	if run.color != "" && s.table == nil && own.fill == "" && !hasPaint && !s.paintsSlide() {
		own.fill = cmp.Or(background, "bg1")
	}
	switch {
	case run.isTransparent, run.size > 0 && run.size <= 100, s.isOffSlide(own.at),
		s.table == nil && len(s.shapes) > 0 && isSameColor(themeColor(run.color, isDark), themeColor(own.fill, isDark)):
		return api.UnreadHiddenText
	case run.strike == flagOn:
		return api.UnreadStruckText
	}
	return ""
}

// themeColor returns the usual RGB value if the name is one of a theme's main colors. It returns
// any other name unchanged.
func themeColor(name string, isDark bool) string {
	isLight := name == "lt1"
	switch name {
	case "bg1":
		isLight = !isDark
	case "tx1":
		isLight = isDark
	case "lt1", "dk1":
	default:
		return name
	}
	if isLight {
		return "FFFFFF"
	}
	return "000000"
}

// isOffSlide reports whether a rectangle, given in the coordinates of the open groups, is
// completely outside the slide.
func (s *slideWalker) isOffSlide(at *slideRect) bool {
	if at == nil || s.p.width <= 0 || s.p.height <= 0 {
		return false
	}
	r := *at
	for i := len(s.shapes) - 2; i >= 0; i-- {
		g := s.shapes[i]
		if g.kind != "grpSp" || g.at == nil || g.inside.width <= 0 || g.inside.height <= 0 {
			continue
		}
		scaleX, scaleY := g.at.width/g.inside.width, g.at.height/g.inside.height
		r = slideRect{g.at.x + (r.x-g.inside.x)*scaleX, g.at.y + (r.y-g.inside.y)*scaleY, r.width * scaleX, r.height * scaleY}
	}
	return r.x+r.width <= 0 || r.y+r.height <= 0 || r.x >= s.p.width || r.y >= s.p.height
}

// countUnread counts unread text of the open shape, once per shape and kind.
func (s *slideWalker) countUnread(kind string) {
	if s.master != nil {
		return
	}
	if shape := s.topShape(); shape != nil {
		if strings.Contains(shape.counted, kind) {
			return
		}
		shape.counted += kind + " "
	}
	s.p.b.Doc.AddNotRead(kind, 1, s.at)
}

// paintsSlide reports whether the slide has shapes or pictures that may be behind its text.
func (s *slideWalker) paintsSlide() bool {
	if s.paintKnown {
		return s.slideHasPaint
	}
	s.paintKnown = true
	found := false
	var path []string
	err := scanTags(s.p.b, s.p.z, s.name, func(s *tagScanner) bool {
		name, begins, ends := s.name()
		if begins {
			switch {
			case name == "blip" || name == "gradFill" || name == "pattFill":
				found = true
			case name == "solidFill" && len(path) > 0 && path[len(path)-1] == "spPr":
				found = true
			case name == "fillRef" && s.attr("idx") != "0":
				found = true
			}
			path = append(path, name)
		}
		if ends && len(path) > 0 {
			path = path[:len(path)-1]
		}
		return !found
	})
	s.slideHasPaint = found || err != nil
	return s.slideHasPaint
}

// countMedia adds alternative texts and the texts of pictures, records embedded documents to be
// read later, and counts media that isn't read.
func (s *slideWalker) countMedia(e xml.StartElement) {
	kind := map[string]string{
		"blip": api.UnreadPicture, "chart": api.UnreadChart, "oleObj": api.UnreadEmbeddedFile, "control": api.UnreadFormField,
	}[e.Name.Local]
	text := ""
	if e.Name.Local == "cNvPr" {
		text = document.AlternativeText(attrValue(e, "descr"))
	}
	if kind == "" && text == "" || s.master != nil || !s.countsMedia {
		return
	}
	for i := range s.shapes {
		if s.shapes[i].isHidden {
			return
		}
	}
	switch id := relationAttr(e); {
	case text != "":
		s.addBlock(document.Block{Kind: document.Paragraph, Text: text})
	case kind == api.UnreadEmbeddedFile && id != "" && !s.isSheet:
		s.embedded = append(s.embedded, id)
	case kind == api.UnreadFormField:
		countControl(s.p.b, attrValue(e, "name"), s.at)
	case kind == api.UnreadPicture:
		if s.relations == nil {
			s.relations = readRelations(s.p.z, s.name)
		}
		for _, text := range pictureTexts(s.p.b, s.p.z, relatedByID(s.name, attrValue(e, "embed"), s.relations), s.at) {
			s.addBlock(document.Block{Kind: document.Paragraph, Text: text})
		}
	default:
		s.p.b.Doc.AddNotRead(kind, 1, s.at)
	}
}
