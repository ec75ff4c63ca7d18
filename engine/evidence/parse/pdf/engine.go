package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const pdfWorkers = 2 // number of documents read concurrently; each has its own memory, and only one of them may use a lot

// engine extracts the content of PDF pages: words with their positions, ruling lines and images.
// All further processing is independent of the engine, which is PDFium, or unipdf if built with the
// unipdf tag.
type engine interface {
	// open calls fn with a document that is valid until fn returns. It stops when ctx ends, and
	// calls beginHeavy before using a lot of memory.
	open(ctx context.Context, beginHeavy func() error, content io.ReaderAt, size int64, fn func(engineDocument) error) error
	// close releases the engine when no document is open.
	close() error
}

// engineDocument is an open PDF. Its methods return the errors described for Read.
type engineDocument interface {
	pageCount() (int, error)
	title() string
	// outlineLevels returns the level of each bookmark by its title as returned by comparableText.
	outlineLevels() (map[string]int, error)
	// readPage reads a page, counted from 1.
	readPage(n int) (*pageContent, error)
	// renderPage renders a page in gray, as a PNM file.
	renderPage(n int) ([]byte, error)
	// isStopped reports whether, after an error, no other page can be read either.
	isStopped() bool
}

// Options configures a Reader.
type Options struct {
	MaxPages int    // of a document
	CacheDir string // cache for compiled PDFium; if empty, it is compiled at each start, which takes 1 s
	// MaxMemory is the number of bytes that PDFium may use for a document; 0 means 512 MiB.
	MaxMemory int
}

// Reader reads PDFs. It is safe for concurrent use.
type Reader struct {
	opt     Options
	start   func(Options) (engine, error)
	closing context.Context // ends with Close
	stop    context.CancelFunc

	mu     sync.Mutex
	engine engine // nil until the first PDF
	open   sync.WaitGroup
	closed bool
}

// New returns a Reader. Its engine is started when the first PDF is read.
func New(opt Options) *Reader {
	r := &Reader{opt: opt, start: startEngine}
	r.closing, r.stop = context.WithCancel(context.Background())
	return r
}

// Close closes the engine. Reads in progress fail.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	r.stop()
	r.open.Wait()
	if r.engine == nil {
		return nil
	}
	return r.engine.close()
}

// openDocument opens a document, passes it to fn and closes it.
func (r *Reader) openDocument(b *document.Builder, content io.ReaderAt, size int64, fn func(engineDocument) error) error {
	e, err := r.acquireEngine()
	if err != nil {
		return err
	}
	defer r.open.Done()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	defer context.AfterFunc(r.closing, cancel)()
	return e.open(ctx, b.BeginHeavy, content, size, fn)
}

// acquireEngine returns the engine, starting it if necessary. The caller must call r.open.Done afterwards.
func (r *Reader) acquireEngine() (engine, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.New("parse: the PDF reader is closed")
	}
	if r.engine == nil {
		e, err := r.start(r.opt)
		if err != nil {
			return nil, fmt.Errorf("starting the PDF reader: %w", err)
		}
		r.engine = e
	}
	r.open.Add(1)
	return r.engine, nil
}
