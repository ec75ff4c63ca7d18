package parse

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	maxBookmarks = 5000
	maxOutline   = 9
)

func formatPage(n int) string { return "page " + strconv.Itoa(n) }

// readPDF reads the text layer of a PDF page by page and combines the pages into one flow.
func (r *Reader) readPDF(b *builder, content io.ReaderAt, size int64) error {
	return r.openPDF(b.ctx, content, size, func(doc pdfDocument) error {
		pages, err := doc.pages()
		if err != nil {
			return err
		}
		if pages <= 0 {
			return newError(ErrDamaged, "", "it has no pages")
		}
		if pages > r.opt.MaxPages {
			return newError(ErrTooLarge, "", "it has %d pages, the limit is %d; split it", pages, r.opt.MaxPages)
		}
		b.doc.PageCount = pages
		b.doc.Title = cleanPDFTitle(doc.title())
		flow := &pdfFlow{b: b}
		if flow.outline, err = doc.outline(); err != nil {
			return err
		}
		return r.readPages(b, doc, flow)
	})
}

func (r *Reader) readPages(b *builder, doc pdfDocument, flow *pdfFlow) error {
	var broken []int
	var scans []scannedPage
	for n := 1; n <= b.doc.PageCount; n++ {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		page, err := doc.page(n)
		if err != nil {
			if doc.stopped() || !errors.Is(err, ErrDamaged) {
				return err
			}
			broken = append(broken, n)
			continue
		}
		layout := layoutPage(page)
		if page.isScan() {
			scans = append(scans, scannedPage{number: n, words: len(page.words), layout: layout})
		}
		chars := 0
		for _, w := range page.words {
			chars += len(w.text) + 1
		}
		if flow.textBytes += int64(chars); flow.textBytes > b.maxText {
			return newError(ErrTooLarge, formatPage(n), "it contains more than %d bytes of text", b.maxText)
		}
		flow.pages = append(flow.pages, layout)
	}
	if len(broken) > 0 {
		b.warn("%s could not be read and was skipped.", formatPages(broken))
	}
	found, err := r.readScans(b, doc, scans)
	if err != nil {
		return err
	}
	flow.writeBlocks()
	if b.err != nil {
		return b.err
	}
	if err := b.insertByPage(found); err != nil {
		return err
	}
	silent := r.warnUnreadScans(b, scans)
	if flow.textBytes > 0 || len(found) > 0 {
		return b.err
	}
	switch {
	case len(broken) == b.doc.PageCount:
		return newError(ErrDamaged, "", "none of its %d pages can be read", b.doc.PageCount)
	case len(silent) > 0 && r.opt.OCR != nil:
		return newError(ErrEmpty, "", "%d of %d pages are images in which no text was recognized", len(silent), b.doc.PageCount)
	case len(silent) > 0:
		return newError(ErrNoTextLayer, "", "%d of %d pages are images; %s", len(silent), b.doc.PageCount, installOCRHint)
	}
	return newError(ErrEmpty, "", "its %d pages are blank", b.doc.PageCount)
}

// formatPages returns "Page 3" or "Pages 3, 5–9": runs are shortened, long lists truncated.
func formatPages(pages []int) string {
	var parts []string
	for i := 0; i < len(pages); {
		j := i
		for j+1 < len(pages) && pages[j+1] == pages[j]+1 {
			j++
		}
		if parts = append(parts, strconv.Itoa(pages[i])); j > i {
			parts[len(parts)-1] = fmt.Sprintf("%d–%d", pages[i], pages[j])
		}
		i = j + 1
	}
	if len(parts) > 20 {
		parts = append(parts[:20], "…")
	}
	if len(pages) == 1 {
		return "Page " + parts[0]
	}
	return "Pages " + strings.Join(parts, ", ")
}

// cleanPDFTitle removes what printer drivers put in place of a title.
func cleanPDFTitle(s string) string {
	s = cleanText(s)
	lower := strings.ToLower(s)
	for _, junk := range []string{"untitled", "microsoft word", "microsoft powerpoint", "powerpoint presentation", "slide 1", "document"} {
		if strings.HasPrefix(lower, junk) {
			return ""
		}
	}
	for _, ending := range []string{".doc", ".docx", ".pdf", ".xls", ".xlsx", ".indd", ".tmp", ".html", ".md"} {
		if strings.HasSuffix(lower, ending) {
			return ""
		}
	}
	return s
}

// comparableText reduces a text to lower-case letters and digits for comparison.
func comparableText(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(cleanText(s)), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 0x7f)
	}), " ")
}
