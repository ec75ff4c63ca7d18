// Package pdf reads PDFs: the text layer with its columns and tables, and scanned pages by OCR. Pages are read
// by PDFium in a WebAssembly sandbox, or by unipdf in a build with that tag.
package pdf

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const (
	maxBookmarks = 5000
	maxOutline   = 9
)

func formatPage(n int) string { return "page " + strconv.Itoa(n) }

// Read reads the text of a PDF page by page and joins the pages into continuous text.
func (r *Reader) Read(b *document.Builder, content io.ReaderAt, size int64) error {
	var files []attachment
	err := r.openDocument(b, content, size, func(doc engineDocument) error {
		pages, err := doc.pageCount()
		if err != nil {
			return err
		}
		if pages <= 0 {
			return document.NewError(document.ErrDamaged, "", "the PDF has no pages")
		}
		if pages > r.opt.MaxPages {
			return document.NewError(document.ErrTooLarge, "", "the PDF has %d pages (the limit is %d); split it", pages, r.opt.MaxPages)
		}
		b.Doc.PageCount = pages
		b.Doc.Title = cleanPDFTitle(doc.title())
		flow := &flowWriter{b: b}
		if flow.outline, err = doc.outlineLevels(); err != nil {
			return err
		}
		err = readPages(b, doc, flow)
		if d, ok := doc.(attachedFiles); ok && (err == nil || isNoTextError(err)) {
			files = d.attachedFiles()
		}
		return err
	})
	if err != nil && (len(files) == 0 || !isNoTextError(err)) {
		return err
	}
	// Attachments are read after the document has been closed, because a PDF among them needs an
	// engine instance, too.
	if readErr := readAttachments(b, files); readErr != nil {
		return readErr
	}
	if len(b.Doc.Blocks) == 0 {
		return err
	}
	return nil
}

// isNoTextError reports whether an error says that a document's pages have no text.
func isNoTextError(err error) bool {
	return errors.Is(err, document.ErrEmpty) || errors.Is(err, document.ErrNoTextLayer)
}

func readPages(b *document.Builder, doc engineDocument, flow *flowWriter) error {
	var broken []int
	var scans []scannedPage
	finder := pictureFinder{}
	var pictures []pagePictures
	for n := 1; n <= b.Doc.PageCount; n++ {
		if err := b.Context().Err(); err != nil {
			return err
		}
		page, err := doc.readPage(n)
		if err != nil {
			if doc.isStopped() || !errors.Is(err, document.ErrDamaged) {
				return err
			}
			broken = append(broken, n)
			continue
		}
		page.readOCRLayer()
		page.removeStruckWords()
		page.removeWordsIn(page.struckAreas)
		page.countUnseen(b.Doc)
		page.addFields()
		layout := layoutPage(page)
		if page.isScan() {
			scans = append(scans, scannedPage{number: n, words: len(page.words), layout: layout})
		} else {
			pictures = append(pictures, finder.find(page))
		}
		chars := 0
		for _, w := range page.words {
			chars += len(w.text) + 1
		}
		if flow.textBytes += int64(chars); flow.textBytes > b.MaxTextBytes() {
			return document.NewError(document.ErrTooLarge, formatPage(n), "the document contains more than %d bytes of text", b.MaxTextBytes())
		}
		flow.pages = append(flow.pages, layout)
	}
	if len(broken) > 0 {
		b.Warn("%s could not be read and was skipped.", formatPages(broken))
	}
	found, err := recognizeScans(b, doc, scans)
	if err != nil {
		return err
	}
	shown, err := readPictures(b, doc, pictures)
	if err != nil {
		return err
	}
	found = append(found, shown...)
	flow.writeBlocks()
	if b.Err() != nil {
		return b.Err()
	}
	insertByPage(b.Doc, found)
	silent := warnUnreadScans(b, scans)
	if flow.textBytes > 0 || len(found) > 0 {
		return b.Err()
	}
	switch {
	case len(broken) == b.Doc.PageCount:
		return document.NewError(document.ErrDamaged, "", "none of the PDF's %d pages can be read", b.Doc.PageCount)
	case len(silent) > 0 && b.HasOCR():
		return document.NewError(document.ErrEmpty, "", "%d of %d pages are images in which no text was recognized", len(silent), b.Doc.PageCount)
	case len(silent) > 0:
		return document.NewError(document.ErrNoTextLayer, "", "%d of %d pages are images; %s", len(silent), b.Doc.PageCount, document.InstallOCRHint)
	}
	return document.NewError(document.ErrEmpty, "", "the PDF's %d pages are blank", b.Doc.PageCount)
}

// formatPages formats page numbers, as in "Page 3" or "Pages 3, 5–9". It shortens runs and truncates long lists.
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

// cleanPDFTitle returns a document's title, or "" if it is only a placeholder or a file name, as written by
// printer drivers.
func cleanPDFTitle(s string) string {
	s = document.CleanLine(s)
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
	return strings.Join(strings.FieldsFunc(strings.ToLower(document.CleanLine(s)), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 0x7f)
	}), " ")
}
