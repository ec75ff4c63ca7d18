package parse

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // their sizes are looked at
	_ "image/jpeg" // their sizes are looked at
	_ "image/png"  // their sizes are looked at
	"io"
	"math"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/api"
)

const (
	maxPixels    = 100 << 20 // of a picture
	maxPicture   = 64 << 20  // bytes of a picture
	maxOCRPages  = 200       // scanned pages of one document that are recognised
	scanDPI      = 300
	maxScanSide  = 5000 // pixels of a side of a page, as drawn for recognising
	minScanSide  = 16
	bitmapGray   = 1
	renderFlags  = 0x01 | 0x08 | 0x800 // annotations, grey, as printed
	pointsInInch = 72
)

// installOCR is what to do where a picture can't be read.
const installOCR = "install tesseract to have pictures of text read, or add a version with text"

// readPicture recognises the text of a picture. A TIFF may have several pages.
func (r *Reader) readPicture(b *builder, format *format, content io.ReaderAt, size int64) error {
	if r.opt.OCR == nil {
		return fail(ErrNoTextLayer, "", "it is %s; %s", format.called, installOCR)
	}
	if size > maxPicture {
		return fail(ErrTooLarge, "", "a picture of %d bytes, the limit is %d", size, maxPicture)
	}
	raw, err := whole(content, size)
	if err != nil {
		return err
	}
	if c, _, err := image.DecodeConfig(bytes.NewReader(raw)); err == nil && int64(c.Width)*int64(c.Height) > maxPixels {
		return fail(ErrTooLarge, "", "a picture of %d by %d pixels", c.Width, c.Height)
	}
	b.recognise()
	text, err := r.opt.OCR.Text(b.ctx, raw)
	if err != nil {
		return damaged("the picture", err)
	}
	pages := strings.Split(strings.TrimRight(text, "\f\n "), "\f")
	for i, page := range pages {
		var at api.Locator
		if len(pages) > 1 {
			at.Page = i + 1
		}
		blocks, err := b.scanned(page, at)
		if err != nil {
			return err
		}
		b.doc.Blocks = append(b.doc.Blocks, blocks...)
	}
	if len(pages) > 1 {
		b.doc.PageCount = len(pages)
	}
	if len(b.doc.Blocks) == 0 {
		return fail(ErrEmpty, "", "no text was recognised in the picture")
	}
	return nil
}

// recognise notes that text of the document is recognised rather than read, which takes
// longer.
func (b *builder) recognise() {
	if b.moreTime != nil {
		b.moreTime()
	}
	b.warn("Text was recognised in pictures (OCR): letters and figures may be wrong. Compare quotes with the original.")
}

// scanned makes blocks of the recognised text of one page.
func (b *builder) scanned(text string, at api.Locator) ([]Block, error) {
	child := newBuilder(b.ctx, "", b.left)
	child.max = b.max
	if err := readPlain(child, strings.ReplaceAll(text, "\f", "\n")); err != nil {
		return nil, err
	}
	b.left = child.left
	for i := range child.doc.Blocks {
		child.doc.Blocks[i].Locator = at
	}
	return child.doc.Blocks, nil
}

// readScans recognises the pages of a PDF that have no text layer, and puts their text
// between the others' by page. The pages that stay unread are returned.
func (r *Reader) readScans(b *builder, m *pdfModule, doc uint64, pages []int) (unread []int, err error) {
	if r.opt.OCR == nil || len(pages) == 0 {
		return pages, nil
	}
	b.recognise()
	var found []Block
	for i, n := range pages {
		if i >= maxOCRPages {
			b.warn("More than %d pages are pictures; those after it were left out.", maxOCRPages)
			return append(unread, pages[i:]...), b.insert(found)
		}
		picture, err := m.draw(doc, n)
		if err != nil {
			return nil, err
		}
		text, err := r.opt.OCR.Text(b.ctx, picture)
		if ctxErr := b.ctx.Err(); ctxErr != nil {
			return nil, ctxErr
		}
		if err != nil {
			b.warn("%s: %s.", capitalPage(n), clean(err.Error()))
			unread = append(unread, n)
			continue
		}
		blocks, err := b.scanned(text, api.Locator{Page: n})
		if err != nil {
			return nil, err
		}
		if len(blocks) == 0 {
			unread = append(unread, n)
		}
		found = append(found, blocks...)
	}
	return unread, b.insert(found)
}

func capitalPage(n int) string { return fmt.Sprintf("Page %d", n) }

// insert puts blocks of pages between those of other pages.
func (b *builder) insert(found []Block) error {
	b.doc.Blocks = append(b.doc.Blocks, found...)
	slices.SortStableFunc(b.doc.Blocks, func(x, y Block) int { return x.Locator.Page - y.Locator.Page })
	return b.err
}

// draw renders a page in grey, as a PNM file.
func (m *pdfModule) draw(doc uint64, n int) ([]byte, error) {
	page := m.call("FPDF_LoadPage", doc, uint64(n-1))
	if page == 0 {
		return nil, m.failedOr(n, "it can't be drawn")
	}
	defer m.call("FPDF_ClosePage", page)
	side := func(function string) int {
		points := float64(math.Float32frombits(uint32(m.call(function, page))))
		return int(min(max(points*scanDPI/pointsInInch, minScanSide), maxScanSide))
	}
	w, h := side("FPDF_GetPageWidthF"), side("FPDF_GetPageHeightF")
	bitmap := m.call("FPDFBitmap_CreateEx", uint64(w), uint64(h), bitmapGray, 0, 0)
	if bitmap == 0 {
		return nil, m.failedOr(n, "there is no memory to draw it")
	}
	defer m.call("FPDFBitmap_Destroy", bitmap)
	m.call("FPDFBitmap_FillRect", bitmap, 0, 0, uint64(w), uint64(h), 0xFFFFFFFF)
	m.call("FPDF_RenderPageBitmap", bitmap, page, 0, 0, uint64(w), uint64(h), 0, renderFlags)
	at, stride := uint32(m.call("FPDFBitmap_GetBuffer", bitmap)), uint32(m.call("FPDFBitmap_GetStride", bitmap))
	if m.err != nil || stride < uint32(w) {
		return nil, m.failedOr(n, "it can't be drawn")
	}
	out := fmt.Appendf(make([]byte, 0, w*h+32), "P5\n%d %d\n255\n", w, h)
	for y := range h {
		row, ok := m.mem.Read(at+uint32(y)*stride, uint32(w))
		if !ok {
			return nil, m.failedOr(n, "it can't be drawn")
		}
		out = append(out, row...)
	}
	return out, nil
}

// failedOr is what stopped the module, or else damage of a page.
func (m *pdfModule) failedOr(n int, detail string) error {
	if m.err != nil {
		return m.failed(pageName(n))
	}
	return &Error{Kind: ErrDamaged, Place: pageName(n), Detail: detail, Cause: errors.New("PDFium gave no picture")}
}
