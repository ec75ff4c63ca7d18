package pdf

import (
	"errors"
	"fmt"
	"math"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const (
	bitmapGray  = 1
	renderFlags = 0x01 | 0x08 | 0x800 // annotations, gray, as printed
)

// renderPage renders a page in grayscale, as a PNM file.
func (m *pdfiumDocument) renderPage(n int) ([]byte, error) {
	page := m.call("FPDF_LoadPage", m.doc, uint64(n-1))
	if page == 0 {
		return nil, m.pageRenderError(n, "the page can't be rendered")
	}
	defer m.call("FPDF_ClosePage", page)
	side := func(function string) int {
		return scanPixels(float64(math.Float32frombits(uint32(m.call(function, page)))))
	}
	w, h := side("FPDF_GetPageWidthF"), side("FPDF_GetPageHeightF")
	bitmap := m.call("FPDFBitmap_CreateEx", uint64(w), uint64(h), bitmapGray, 0, 0)
	if bitmap == 0 {
		return nil, m.pageRenderError(n, "there is not enough memory to render the page")
	}
	defer m.call("FPDFBitmap_Destroy", bitmap)
	m.call("FPDFBitmap_FillRect", bitmap, 0, 0, uint64(w), uint64(h), 0xFFFFFFFF)
	m.call("FPDF_RenderPageBitmap", bitmap, page, 0, 0, uint64(w), uint64(h), 0, renderFlags)
	at, stride := uint32(m.call("FPDFBitmap_GetBuffer", bitmap)), uint32(m.call("FPDFBitmap_GetStride", bitmap))
	if m.err != nil || stride < uint32(w) {
		return nil, m.pageRenderError(n, "the page can't be rendered")
	}
	out := fmt.Appendf(make([]byte, 0, w*h+32), "P5\n%d %d\n255\n", w, h)
	for y := range h {
		row, ok := m.mem.Read(at+uint32(y)*stride, uint32(w))
		if !ok {
			return nil, m.pageRenderError(n, "the page can't be rendered")
		}
		out = append(out, row...)
	}
	return out, nil
}

// pageRenderError returns the error that stopped PDFium or, if nothing stopped it, an error saying that the page is
// damaged.
func (m *pdfiumDocument) pageRenderError(n int, detail string) error {
	if m.isStopped() {
		return m.documentError(formatPage(n))
	}
	return &document.Error{Kind: document.ErrDamaged, Place: formatPage(n), Detail: detail, Cause: errors.New("PDFium returned no image")}
}
