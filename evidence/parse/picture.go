package parse

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // their sizes are looked at
	_ "image/jpeg" // their sizes are looked at
	_ "image/png"  // their sizes are looked at
	"io"
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
func (r *Reader) readScans(b *builder, doc pdfDocument, pages []int) (unread []int, err error) {
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
		picture, err := doc.draw(n)
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

// scanSide is how many pixels a side of so many points is drawn in.
func scanSide(points float64) int {
	return int(min(max(points*scanDPI/pointsInInch, minScanSide), maxScanSide))
}
