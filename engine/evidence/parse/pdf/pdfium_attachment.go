package pdf

import "errors"

var errNoMemory = errors.New("PDFium has no memory left")

const (
	maxAttachments     = 2000
	maxAttachmentBytes = 64 << 20 // of all files in a PDF
)

// attachedFiles returns the files inside the document: its own, and those of the pages that were read.
func (m *pdfiumDocument) attachedFiles() []attachment {
	count := min(int(int32(m.call("FPDFDoc_GetAttachmentCount", m.doc))), maxAttachments)
	for i := range max(count, 0) {
		if file := m.call("FPDFDoc_GetAttachment", m.doc, uint64(i)); file != 0 {
			m.addAttachment(file)
		}
	}
	return m.files
}

// addAttachment reads a file, unless it has been read already.
func (m *pdfiumDocument) addAttachment(file uint64) {
	if m.fileHandles[file] || len(m.files) >= maxAttachments {
		return
	}
	m.fileHandles[file] = true
	f := attachment{name: m.callForText("FPDFAttachment_GetName", file)}
	size := uint64(m.scratch)
	if m.call("FPDFAttachment_GetFile", file, 0, 0, size) != 0 {
		length, _ := m.mem.ReadUint32Le(m.scratch)
		f.isTooLarge = m.fileBytes+int64(length) > maxAttachmentBytes
		if at := m.call("malloc", uint64(max(length, 1))); at != 0 && !f.isTooLarge &&
			m.call("FPDFAttachment_GetFile", file, at, uint64(length), size) != 0 {
			if raw, ok := m.mem.Read(uint32(at), length); ok {
				f.content = append([]byte(nil), raw...)
				m.fileBytes += int64(length)
			}
			m.call("free", at)
		}
	}
	m.files = append(m.files, f)
}
