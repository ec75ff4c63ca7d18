package pdf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/text"
)

const (
	maxOCRPages = 200 // maximum number of scanned pages per document
	scanDPI     = 300
	maxScanSide = 5000 // maximum side length, in pixels, of a page rendered for recognition
	minScanSide = 16
	// minRecognizedGain is the number of words that recognized text must have, beyond twice those of the page's text
	// layer, to be used instead of it.
	minRecognizedGain = 10
	pointsInInch      = 72
)

// A page is a scan if images cover at least scanShare of it and its text layer has at most
// stampWords words, such as a stamp or a page number. A page without text is a scan unless it is
// blank.
const (
	scanShare  = 0.6
	stampWords = 20
)

func (p *pageContent) isScan() bool {
	if len(p.words) == 0 {
		return p.pictureShare > 0 || len(p.rules) > 0 || p.isUnreadable
	}
	return p.pictureShare >= scanShare && len(p.words) <= stampWords
}

// scannedPage is a page whose text may be in an image.
type scannedPage struct {
	number     int
	words      int // of its text layer
	layout     *pageLayout
	recognized bool // the text in the page's image was recognized
}

// recognizeScans recognizes the text of scans. If a page has a text layer, such as a stamp, the recognized text
// is used only if it is clearly longer, since the text layer has no recognition errors.
func recognizeScans(b *document.Builder, doc engineDocument, scans []scannedPage) (found []document.Block, err error) {
	if !b.HasOCR() || len(scans) == 0 {
		return nil, nil
	}
	for i := range scans {
		s := &scans[i]
		if i >= maxOCRPages {
			b.Warn("More than %d pages are images; images after that were skipped.", maxOCRPages)
			break
		}
		picture, err := doc.renderPage(s.number)
		if err != nil {
			return nil, err
		}
		recognized, err := b.RecognizeText(picture)
		if ctxErr := b.Context().Err(); ctxErr != nil {
			return nil, ctxErr
		}
		if err != nil {
			b.Warn("%s: %s.", pageLabel(s.number), document.CleanLine(err.Error()))
			continue
		}
		if s.words > 0 && len(strings.Fields(recognized)) < 2*s.words+minRecognizedGain {
			s.recognized = true // the recognized text adds nothing to the text layer
			continue
		}
		blocks, err := text.ParseRecognizedText(b, recognized, api.Locator{Page: s.number})
		if err != nil {
			return nil, err
		}
		if s.recognized = len(blocks) > 0; s.recognized {
			s.layout.items = nil
			found = append(found, blocks...)
		}
	}
	if len(found) > 0 {
		b.Warn("%s", document.RecognizedWarning)
	}
	return found, nil
}

// warnUnreadScans adds warnings about scans whose text was not recognized, and returns the numbers of the pages
// without any text.
func warnUnreadScans(b *document.Builder, scans []scannedPage) (pagesWithoutText []int) {
	var stamped []int
	for _, s := range scans {
		switch {
		case s.recognized:
		case s.words > 0:
			stamped = append(stamped, s.number)
		default:
			pagesWithoutText = append(pagesWithoutText, s.number)
			b.Doc.AddNotRead(api.UnreadPage, 1, api.Locator{Page: s.number})
		}
	}
	if len(pagesWithoutText) > 0 && !b.HasOCR() {
		b.Warn("%s: there is no text layer, so OCR is needed: %s.", formatPages(pagesWithoutText), document.InstallOCRHint)
	} else if len(pagesWithoutText) > 0 {
		b.Warn("%s: there is no text layer, and no text was recognized.", formatPages(pagesWithoutText))
	}
	if len(stamped) > 0 && !b.HasOCR() {
		b.Warn("%s: only a few words of text were read, because everything else is an image: %s.", formatPages(stamped), document.InstallOCRHint)
	} else if len(stamped) > 0 {
		b.Warn("%s: only a few words of text were read, because everything else is an image.", formatPages(stamped))
	}
	return pagesWithoutText
}

func pageLabel(n int) string { return fmt.Sprintf("Page %d", n) }

// insertByPage inserts blocks into the document in page order.
func insertByPage(d *document.Document, blocks []document.Block) {
	d.Blocks = append(d.Blocks, blocks...)
	slices.SortStableFunc(d.Blocks, func(x, y document.Block) int { return x.Locator.Page - y.Locator.Page })
}

// scanPixels returns the number of pixels for rendering a side whose length is given in points.
func scanPixels(points float64) int {
	return int(min(max(points*scanDPI/pointsInInch, minScanSide), maxScanSide))
}
