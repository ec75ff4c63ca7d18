package parse

import (
	"context"
	"errors"
	"fmt"
	"io"
)

const pdfWorkers = 2 // documents read at once; each has its own memory

// pdfEngine extracts the content of PDF pages: words with their positions, ruling lines, images.
// Further processing is the same for all engines: PDFium, or unipdf in a build with that tag.
type pdfEngine interface {
	// open calls fn with a document that is valid until fn returns. It stops when ctx ends.
	open(ctx context.Context, content io.ReaderAt, size int64, fn func(pdfDocument) error) error
	// close releases the engine when no document is open any more.
	close() error
}

// pdfDocument is an open PDF. Its errors are those of Read.
type pdfDocument interface {
	pages() (int, error)
	title() string
	// outline returns the level of each bookmark by its title as returned by comparableText.
	outline() (map[string]int, error)
	// page reads a page, counted from 1.
	page(n int) (*pdfPage, error)
	// draw renders a page in gray, as a PNM file.
	draw(n int) ([]byte, error)
	// stopped reports whether, after an error, no other page can be read either.
	stopped() bool
}

// pdfState is a Reader's PDF state.
type pdfState struct {
	start   func(Options) (pdfEngine, error)
	engine  pdfEngine       // nil until the first PDF
	closing context.Context // ends with Close
	stop    context.CancelFunc
}

// openPDF starts the engine at the first PDF and opens a document.
func (r *Reader) openPDF(ctx context.Context, content io.ReaderAt, size int64, fn func(pdfDocument) error) error {
	e, err := r.acquirePDFEngine()
	if err != nil {
		return err
	}
	defer r.openPDFs.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.pdf.closing, cancel)()
	return e.open(ctx, content, size, fn)
}

func (r *Reader) acquirePDFEngine() (pdfEngine, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.New("parse: the reader is closed")
	}
	if r.pdf.engine == nil {
		e, err := r.pdf.start(r.opt)
		if err != nil {
			return nil, fmt.Errorf("start the PDF reader: %w", err)
		}
		r.pdf.engine = e
	}
	r.openPDFs.Add(1)
	return r.pdf.engine, nil
}
