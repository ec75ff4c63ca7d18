package pdf

import (
	"strings"

	"github.com/scf-service/service/api"
)

// The subtypes of annotations in PDFium.
const (
	noteAnnotation      = 1
	linkAnnotation      = 2
	freeTextAnnotation  = 3
	lineAnnotation      = 4
	strikeOutAnnotation = 12
	stampAnnotation     = 13
	popupAnnotation     = 16
	fileAnnotation      = 17
	widgetAnnotation    = 20
)

// Flags of annotations that are not shown.
const hiddenFlags = 1<<1 | 1<<5 // Hidden, NoView

const maxAnnotations = 20_000 // maximum number of annotations on a page

// readAnnotations reads form fields, comments, strikethroughs and attached files of the page. Other
// annotations, such as typed text, become part of its content.
func (r *pageReader) readAnnotations() error {
	m := r.m
	count := min(int(int32(m.call("FPDFPage_GetAnnotCount", r.page))), maxAnnotations)
	drawn := false
	for i := count - 1; i >= 0 && m.err == nil; i-- {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		annotation := m.call("FPDFPage_GetAnnot", r.page, uint64(i))
		if annotation == 0 {
			continue
		}
		isDrawn := r.readAnnotation(annotation)
		m.call("FPDFPage_CloseAnnot", annotation)
		if drawn = drawn || isDrawn; !isDrawn {
			m.call("FPDFPage_RemoveAnnot", r.page, uint64(i))
		}
	}
	if !drawn || m.err != nil {
		return nil
	}
	const flattened, onScreen = 1, 0
	if m.call("FPDFPage_Flatten", r.page, onScreen) == flattened {
		m.call("FPDF_ClosePage", r.page)
		r.page = m.call("FPDF_LoadPage", m.doc, uint64(r.out.number-1))
	}
	if m.err != nil || r.page == 0 {
		return m.documentError(formatPage(r.out.number))
	}
	return nil
}

// readAnnotation reads an annotation. It returns true if the annotation's appearance is to be read as part of the
// page.
func (r *pageReader) readAnnotation(annotation uint64) (isDrawn bool) {
	m := r.m
	subtype := m.call("FPDFAnnot_GetSubtype", annotation)
	isHidden := m.call("FPDFAnnot_GetFlags", annotation)&hiddenFlags != 0
	at := uint64(m.scratch)
	var area box
	if m.call("FPDFAnnot_GetRect", annotation, at) != 0 { // left, top, right, bottom
		area = r.out.toDisplayBox(m.readFloat(0), m.readFloat(12), m.readFloat(8), m.readFloat(4))
	}
	hasAppearance := m.annotationHas(annotation, "AP")
	switch subtype {
	case linkAnnotation, popupAnnotation:
		return false
	case widgetAnnotation:
		r.readField(annotation, area, isHidden)
		return false
	case fileAnnotation:
		if file := m.call("FPDFAnnot_GetFileAttachment", annotation); file != 0 {
			m.addAttachment(file)
		}
		return false
	}
	contents := strings.TrimSpace(m.callForText("FPDFAnnot_GetStringValue", annotation, m.keyAddress("Contents")))
	if isHidden {
		if contents != "" {
			r.out.countUnread(api.UnreadHiddenText)
		}
		return false
	}
	switch subtype {
	case strikeOutAnnotation:
		r.addStruckAreas(annotation, area)
	case lineAnnotation:
		if !hasAppearance && m.call("FPDFAnnot_GetLine", annotation, at, at+8) != 0 {
			x0, y0 := r.out.toDisplayPoint(m.readFloat(0), m.readFloat(4))
			x1, y1 := r.out.toDisplayPoint(m.readFloat(8), m.readFloat(12))
			r.out.addRule(x0, y0, x1, y1)
		}
	case freeTextAnnotation:
		if !hasAppearance {
			r.out.fields = append(r.out.fields, formField{at: area, kind: textField, value: contents})
		}
		return hasAppearance
	case stampAnnotation:
		return hasAppearance
	}
	if contents != "" && subtype != strikeOutAnnotation {
		r.out.countUnread(api.UnreadComment)
	}
	return hasAppearance && subtype != noteAnnotation
}

// addStruckAreas adds the areas that an annotation strikes through.
func (r *pageReader) addStruckAreas(annotation uint64, whole box) {
	const maxAreas = 1000
	m := r.m
	count := int(int32(m.call("FPDFAnnot_CountAttachmentPoints", annotation)))
	if count <= 0 {
		r.out.struckAreas = append(r.out.struckAreas, whole)
	}
	for i := range min(count, maxAreas) {
		if m.callQuick("FPDFAnnot_GetAttachmentPoints", annotation, uint64(i), uint64(m.scratch)) == 0 {
			continue
		}
		corner := func(at uint32) box { return pointBox(r.out.toDisplayPoint(m.readFloat(at), m.readFloat(at+4))) }
		r.out.struckAreas = append(r.out.struckAreas, corner(0).union(corner(8)).union(corner(16)).union(corner(24)))
	}
}

// keyAddress returns the address of a key of a dictionary in the module's memory.
func (m *pdfiumDocument) keyAddress(name string) uint64 {
	if at, ok := m.keys[name]; ok {
		return at
	}
	at := m.call("malloc", uint64(len(name)+1))
	if m.err == nil && (at == 0 || !m.mem.Write(uint32(at), append([]byte(name), 0))) {
		m.err = errNoMemory
	}
	m.keys[name] = at
	return at
}

func (m *pdfiumDocument) annotationHas(annotation uint64, name string) bool {
	return m.call("FPDFAnnot_HasKey", annotation, m.keyAddress(name)) != 0
}
