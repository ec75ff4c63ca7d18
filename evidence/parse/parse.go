package parse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"time"
)

// Options bound what one document may cost. A zero field takes its default.
type Options struct {
	MaxBytes int64         // size of the file; 100 MiB
	MaxText  int64         // bytes of text taken from it; 24 MiB, some 8,000 pages
	MaxPages int           // pages of a PDF; 5,000
	Timeout  time.Duration // for one Read; 2 minutes
	CacheDir string        // where PDFium's compiled form is kept between starts; empty: compiled at each start, 1 s
}

func (o Options) withDefaults() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 100 << 20
	}
	if o.MaxText <= 0 {
		o.MaxText = 24 << 20
	}
	if o.MaxPages <= 0 {
		o.MaxPages = 5000
	}
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Minute
	}
	return o
}

// Reader reads documents. It is safe for use by several goroutines.
type Reader struct {
	opt Options

	mu     sync.Mutex
	pdf    *pdfEngine // nil until the first PDF
	closed bool
}

// New returns a Reader. It costs nothing until a PDF is read.
func New(opt Options) (*Reader, error) {
	if opt.MaxBytes < 0 || opt.MaxText < 0 || opt.MaxPages < 0 || opt.Timeout < 0 {
		return nil, errors.New("parse: a limit is negative; leave it zero for the default")
	}
	return &Reader{opt: opt.withDefaults()}, nil
}

// Close frees PDFium. Reads of PDFs still running fail.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	if r.pdf == nil {
		return nil
	}
	return r.pdf.close()
}

// Read reads one document of size bytes. The name tells Markdown from plain text and
// gives a title where the document has none; the type comes from the content.
// The error is an *Error, or the context's when ctx ended.
func (r *Reader) Read(ctx context.Context, name string, content io.ReaderAt, size int64) (doc *Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc, err = nil, fail(ErrDamaged, "", "its reader stopped unexpectedly (%v)", p)
		}
	}()
	if size == 0 {
		return nil, fail(ErrEmpty, "", "0 bytes")
	}
	if size < 0 || size > r.opt.MaxBytes {
		return nil, fail(ErrTooLarge, "", "%d bytes, the limit is %d", size, r.opt.MaxBytes)
	}
	limited, cancel := context.WithTimeout(ctx, r.opt.Timeout)
	defer cancel()

	doc, err = r.read(limited, name, content, size)
	if err != nil {
		// A library may dress up the context's error; what ended the read decides.
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if limited.Err() != nil {
			return nil, fail(ErrTimeout, "", "stopped after %s", r.opt.Timeout)
		}
		return nil, err
	}
	return doc, nil
}

func (r *Reader) read(ctx context.Context, name string, content io.ReaderAt, size int64) (*Document, error) {
	format, err := sniff(name, content, size)
	if err != nil {
		return nil, err
	}
	b := newBuilder(ctx, format.mime, r.opt.MaxText)
	if w := nameWarning(name, format); w != "" {
		b.warn("%s", w)
	}
	switch format {
	case formatPDF:
		err = r.readPDF(b, content, size)
	case formatDocx:
		err = readDocx(b, content, size)
	case formatXlsx:
		err = readXlsx(b, content, size)
	default:
		err = readText(b, format, content, size)
	}
	if err == nil {
		err = b.err
	}
	if err != nil {
		return nil, err
	}
	if len(b.doc.Blocks) == 0 && len(b.doc.Furniture) == 0 {
		return nil, fail(ErrEmpty, "", "it holds no text")
	}
	return b.finish(name), nil
}

// readText decodes a document of one of the text formats and hands it to its reader.
func readText(b *builder, format *format, content io.ReaderAt, size int64) error {
	raw := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(content, 0, size), raw); err != nil {
		return fmt.Errorf("read the file: %w", err)
	}
	text, warning := decode(raw)
	if warning != "" {
		b.warn("%s", warning)
	}
	if strings.TrimSpace(text) == "" {
		return fail(ErrEmpty, "", "it holds no text")
	}
	return format.read(b, text)
}

// titleFromName is the last resort for a title: the file's name without folder and ending.
func titleFromName(name string) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	base = strings.TrimSuffix(base, path.Ext(base))
	return clean(strings.NewReplacer("_", " ", "-", " ").Replace(base))
}
