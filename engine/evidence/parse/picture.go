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

	"github.com/scf-service/service/api"
)

const (
	maxPixels   = 100 << 20 // of a picture
	maxPicture  = 64 << 20  // bytes of a picture
	maxOCRPages = 200       // maximum number of scanned pages per document
	scanDPI     = 300
	maxScanSide = 5000 // pixels of a side of a page, as drawn for recognising
	minScanSide = 16
	// A page with recognized text must have this many words more than twice its text layer.
	minRecognizedGain = 10
	pointsInInch      = 72
)

// installOCRHint tells the user what to do if an image can't be read.
const installOCRHint = "install tesseract to have pictures of text read, or add a version with text"

// readPicture recognizes the text in an image. A TIFF may have several pages.
func (r *Reader) readPicture(b *builder, format *format, content io.ReaderAt, size int64) error {
	if r.opt.OCR == nil {
		return newError(ErrNoTextLayer, "", "it is %s; %s", format.label, installOCRHint)
	}
	if size > maxPicture {
		return newError(ErrTooLarge, "", "an image of %d bytes, the limit is %d", size, maxPicture)
	}
	raw, err := readAll(content, size)
	if err != nil {
		return err
	}
	if c, _, err := image.DecodeConfig(bytes.NewReader(raw)); err == nil && int64(c.Width)*int64(c.Height) > maxPixels {
		return newError(ErrTooLarge, "", "an image of %d by %d pixels", c.Width, c.Height)
	}
	b.extendForOCR()
	b.warn("%s", recognizedWarning)
	text, err := r.opt.OCR.RecognizeText(b.ctx, raw)
	if err != nil {
		return damagedError("the picture", err)
	}
	pages := strings.Split(strings.TrimRight(text, "\f\n "), "\f")
	for i, page := range pages {
		var at api.Locator
		if len(pages) > 1 {
			at.Page = i + 1
		}
		blocks, err := b.parseRecognized(page, at)
		if err != nil {
			return err
		}
		b.doc.Blocks = append(b.doc.Blocks, blocks...)
	}
	if len(pages) > 1 {
		b.doc.PageCount = len(pages)
	}
	if len(b.doc.Blocks) == 0 {
		return newError(ErrEmpty, "", "no text was recognized in the image")
	}
	return nil
}

// recognizedWarning is added to documents with recognized text.
const recognizedWarning = "Text was recognized in images (OCR); letters and figures may be wrong. Compare quotes with the original."

// extendForOCR extends the time limit of a document to that for OCR.
func (b *builder) extendForOCR() {
	if b.extendDeadline != nil {
		b.extendDeadline()
	}
}

// parseRecognized converts the recognized text of one page to blocks.
func (b *builder) parseRecognized(text string, locator api.Locator) ([]Block, error) {
	child := newBuilder(b.ctx, "", b.remaining)
	child.maxText = b.maxText
	if err := readPlain(child, strings.ReplaceAll(text, "\f", "\n")); err != nil {
		return nil, err
	}
	b.remaining = child.remaining
	for i := range child.doc.Blocks {
		child.doc.Blocks[i].Locator = locator
	}
	return child.doc.Blocks, nil
}

// A page is a scan if images cover most of it and its text layer is no more than a stamp or a page
// number; a page without text is one if it shows anything at all.
const (
	scanShare  = 0.6
	stampWords = 20
)

func (p *pdfPage) isScan() bool {
	if len(p.words) == 0 {
		return p.pictureShare > 0 || len(p.rules) > 0
	}
	return p.pictureShare >= scanShare && len(p.words) <= stampWords
}

// scannedPage is a page whose text may be in an image.
type scannedPage struct {
	number     int
	words      int // of its text layer
	layout     *pageLayout
	recognized bool // its text was recognised
}

// readScans recognizes the text of scans. If a page has a stamp, the recognized text is used if it
// is clearly longer, else the text layer, which has no recognition errors.
func (r *Reader) readScans(b *builder, doc pdfDocument, scans []scannedPage) (found []Block, err error) {
	if r.opt.OCR == nil || len(scans) == 0 {
		return nil, nil
	}
	b.extendForOCR()
	for i := range scans {
		s := &scans[i]
		if i >= maxOCRPages {
			b.warn("More than %d pages are images; the rest were skipped.", maxOCRPages)
			break
		}
		picture, err := doc.draw(s.number)
		if err != nil {
			return nil, err
		}
		text, err := r.opt.OCR.RecognizeText(b.ctx, picture)
		if ctxErr := b.ctx.Err(); ctxErr != nil {
			return nil, ctxErr
		}
		if err != nil {
			b.warn("%s: %s.", pageLabel(s.number), cleanText(err.Error()))
			continue
		}
		if s.words > 0 && len(strings.Fields(text)) < 2*s.words+minRecognizedGain {
			s.recognized = true // there is no more to it
			continue
		}
		blocks, err := b.parseRecognized(text, api.Locator{Page: s.number})
		if err != nil {
			return nil, err
		}
		if s.recognized = len(blocks) > 0; s.recognized {
			s.layout.items = nil
			found = append(found, blocks...)
		}
	}
	if len(found) > 0 {
		b.warn("%s", recognizedWarning)
	}
	return found, nil
}

// warnUnreadScans adds warnings about scans that were not read, and returns those without any text.
func (r *Reader) warnUnreadScans(b *builder, scans []scannedPage) (silent []int) {
	var stamped []int
	for _, s := range scans {
		switch {
		case s.recognized:
		case s.words > 0:
			stamped = append(stamped, s.number)
		default:
			silent = append(silent, s.number)
		}
	}
	if len(silent) > 0 && r.opt.OCR == nil {
		b.warn("%s: no text layer, needs OCR: %s.", formatPages(silent), installOCRHint)
	} else if len(silent) > 0 {
		b.warn("%s: no text layer, and no text was recognized.", formatPages(silent))
	}
	if len(stamped) > 0 && r.opt.OCR == nil {
		b.warn("%s: an image with a few words of text; only these were read: %s.", formatPages(stamped), installOCRHint)
	} else if len(stamped) > 0 {
		b.warn("%s: an image with a few words of text; only these were read.", formatPages(stamped))
	}
	return silent
}

func pageLabel(n int) string { return fmt.Sprintf("Page %d", n) }

// insertByPage inserts blocks by page number.
func (b *builder) insertByPage(found []Block) error {
	b.doc.Blocks = append(b.doc.Blocks, found...)
	slices.SortStableFunc(b.doc.Blocks, func(x, y Block) int { return x.Locator.Page - y.Locator.Page })
	return b.err
}

// scanPixels returns the number of pixels used to render a side of the given length in points.
func scanPixels(points float64) int {
	return int(min(max(points*scanDPI/pointsInInch, minScanSide), maxScanSide))
}
