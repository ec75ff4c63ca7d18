package pdf

import (
	"bytes"
	"errors"
)

var errNoMemory = errors.New("PDFium ran out of memory")

const (
	maxAttachments     = 2000
	maxAttachmentBytes = 64 << 20 // maximum bytes of all files in a PDF
)

// attachedFiles returns the files inside the document: its own, and those of the pages that were read.
func (m *pdfiumDocument) attachedFiles() []attachment {
	count := min(int(int32(m.call("FPDFDoc_GetAttachmentCount", m.doc))), maxAttachments)
	for i := range max(count, 0) {
		if file := m.call("FPDFDoc_GetAttachment", m.doc, uint64(i)); file != 0 {
			m.addAttachment(file)
		}
	}
	return m.attachments
}

// addAttachment reads a file, unless it has been read already.
func (m *pdfiumDocument) addAttachment(file uint64) {
	if m.attachmentHandles[file] || len(m.attachments) >= maxAttachments {
		return
	}
	m.attachmentHandles[file] = true
	a := attachment{name: m.callForText("FPDFAttachment_GetName", file)}
	if m.call("FPDFAttachment_GetFile", file, 0, 0, uint64(m.scratch)) != 0 {
		length, _ := m.mem.ReadUint32Le(m.scratch)
		if a.isTooLarge = m.attachmentBytes+int64(length) > maxAttachmentBytes; !a.isTooLarge {
			a.content = m.attachmentContent(file, length)
			m.attachmentBytes += int64(len(a.content))
		}
	}
	m.attachments = append(m.attachments, a)
}

// attachmentContent returns the content of a file, or nil if it can't be read.
func (m *pdfiumDocument) attachmentContent(file uint64, length uint32) []byte {
	at := m.call("malloc", uint64(max(length, 1)))
	if at == 0 {
		return nil
	}
	defer m.call("free", at)
	if m.call("FPDFAttachment_GetFile", file, at, uint64(length), uint64(m.scratch)) == 0 {
		return nil
	}
	raw, _ := m.mem.Read(uint32(at), length)
	return bytes.Clone(raw)
}
