package pdf

import (
	"strings"

	"github.com/scf-service/service/api"
)

// The types of form fields in PDFium.
const (
	pdfiumCheckBox = 2
	pdfiumRadio    = 3
	pdfiumComboBox = 4
	pdfiumListBox  = 5
	pdfiumText     = 6
)

// dynamicXFAForm is PDFium's form type of documents whose pages only Adobe's programs can display.
const dynamicXFAForm = 2

const (
	passwordFlag = 1 << 13
	maxOptions   = 2000
)

// openForm prepares reading the form fields. It reports whether there are any.
func (m *pdfiumDocument) openForm() bool {
	if m.isFormTried || m.call("FPDF_GetFormType", m.doc) == 0 {
		return m.form != 0
	}
	m.isFormTried = true
	size := m.call("FPDF_FORMFILLINFO_Size")
	info := m.call("malloc", size)
	if m.err != nil || info == 0 || size > 1<<16 || !m.mem.Write(uint32(info), make([]byte, size)) {
		return false
	}
	// No callbacks are set, so nothing is filled in and no script is run.
	for version := uint32(1); version <= 2 && m.form == 0; version++ {
		m.mem.WriteUint32Le(uint32(info), version)
		m.form = m.call("FPDFDOC_InitFormFillEnvironment", m.doc, info)
	}
	return m.form != 0
}

// readField reads a form field.
func (r *pageReader) readField(annotation uint64, at box, isHidden bool) {
	m := r.m
	if !m.openForm() {
		return
	}
	f := formField{
		at:   at,
		name: m.callForText("FPDFAnnot_GetFormFieldName", m.form, annotation),
		hint: m.callForText("FPDFAnnot_GetFormFieldAlternateName", m.form, annotation),
	}
	flags := m.call("FPDFAnnot_GetFormFieldFlags", m.form, annotation)
	switch m.call("FPDFAnnot_GetFormFieldType", m.form, annotation) {
	case pdfiumCheckBox:
		f.kind = checkField
	case pdfiumRadio:
		f.kind = radioField
	case pdfiumText:
		if f.kind = textField; flags&passwordFlag != 0 {
			return
		}
		f.value = m.callForText("FPDFAnnot_GetFormFieldValue", m.form, annotation)
	case pdfiumComboBox, pdfiumListBox:
		f.kind = textField
		f.value = r.selectedOptions(annotation)
	default:
		return // buttons and signatures
	}
	if f.kind != textField {
		f.value = m.callForText("FPDFAnnot_GetFormFieldExportValue", m.form, annotation)
		f.isOn = r.isChecked(annotation)
	}
	if f.value = strings.TrimSpace(f.value); !isHidden {
		r.out.fields = append(r.out.fields, f)
	} else if f.kind == textField && f.value != "" || f.isOn {
		r.out.countUnread(api.UnreadHiddenText)
	}
}

// isChecked reports whether a check box or radio button is on.
func (r *pageReader) isChecked(annotation uint64) bool {
	m := r.m
	if state := m.callForText("FPDFAnnot_GetStringValue", annotation, m.keyAddress("AS")); state != "" {
		return state != "Off"
	}
	if m.call("FPDFAnnot_IsChecked", m.form, annotation) != 0 {
		return true
	}
	value := m.callForText("FPDFAnnot_GetStringValue", annotation, m.keyAddress("V"))
	return value != "" && value != "Off"
}

// selectedOptions returns the labels of a list's selected options, or the value typed into the list.
func (r *pageReader) selectedOptions(annotation uint64) string {
	m := r.m
	var selected []string
	count := min(int(int32(m.call("FPDFAnnot_GetOptionCount", m.form, annotation))), maxOptions)
	for i := range max(count, 0) {
		if m.call("FPDFAnnot_IsOptionSelected", m.form, annotation, uint64(i)) != 0 {
			selected = append(selected, m.callForText("FPDFAnnot_GetOptionLabel", m.form, annotation, uint64(i)))
		}
	}
	if len(selected) == 0 {
		return m.callForText("FPDFAnnot_GetFormFieldValue", m.form, annotation)
	}
	return strings.Join(selected, ", ")
}
