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
	// OCRTimeout is instead of Timeout for a document with pictures of text; 10 minutes.
	OCRTimeout time.Duration
	// OCR recognises the text of pictures; nil: they can't be read.
	OCR      OCR
	CacheDir string // where PDFium's compiled form is kept between starts; empty: compiled at each start, 1 s
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
	if o.OCRTimeout <= 0 {
		o.OCRTimeout = 10 * time.Minute
	}
	return o
}

// OCR recognises the text of one picture, in a form of its own choice that is plain text.
type OCR interface {
	// RecognizeText returns the text of a picture (PNG, JPEG, TIFF, GIF, BMP, WebP or PNM); pages of a
	// TIFF are parted by form feeds. It ends with ctx.
	RecognizeText(ctx context.Context, picture []byte) (string, error)
}

// Reader reads documents. It is safe for use by several goroutines.
type Reader struct {
	opt Options

	mu       sync.Mutex
	pdf      pdfState
	openPDFs sync.WaitGroup // PDFs
	closed   bool
}

// New returns a Reader. It costs nothing until a PDF is read.
func New(opt Options) (*Reader, error) {
	if opt.MaxBytes < 0 || opt.MaxText < 0 || opt.MaxPages < 0 || opt.Timeout < 0 {
		return nil, errors.New("parse: a limit is negative; leave it zero for the default")
	}
	r := &Reader{opt: opt.withDefaults(), pdf: pdfState{start: startPDF}}
	r.pdf.closing, r.pdf.stop = context.WithCancel(context.Background())
	return r, nil
}

// Close frees the PDF reader. Reads of PDFs still running fail.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	r.pdf.stop()
	r.openPDFs.Wait()
	if r.pdf.engine == nil {
		return nil
	}
	return r.pdf.engine.close()
}

// Read reads one document of size bytes. The name tells Markdown from plain text and
// gives a title where the document has none; the type comes from the content.
// The error is an *Error, or the context's when ctx ended.
func (r *Reader) Read(ctx context.Context, name string, content io.ReaderAt, size int64) (doc *Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc, err = nil, newError(ErrDamaged, "", "its parser stopped unexpectedly (%v)", p)
		}
	}()
	if size == 0 {
		return nil, newError(ErrEmpty, "", "0 bytes")
	}
	if size < 0 || size > r.opt.MaxBytes {
		return nil, newError(ErrTooLarge, "", "%d bytes, the limit is %d", size, r.opt.MaxBytes)
	}
	allowed := r.opt.Timeout
	limited, cancel := context.WithTimeout(ctx, allowed)
	defer cancel()
	var moreTime func()
	if r.opt.OCR != nil && r.opt.OCRTimeout > allowed {
		// The time grows at the first picture, so that a document without any can't take it.
		limited, cancel = context.WithCancel(ctx)
		defer cancel()
		timer := time.AfterFunc(allowed, cancel)
		defer timer.Stop()
		moreTime = sync.OnceFunc(func() {
			if timer.Stop() {
				allowed = r.opt.OCRTimeout
				timer.Reset(allowed)
			}
		})
	}
	b := newBuilder(limited, "", r.opt.MaxText)
	b.extendDeadline = moreTime
	if err = r.readInto(b, name, content, size); err == nil {
		doc = b.finish(name)
	}
	if err != nil {
		// A library may dress up the context's error; what ended the read decides.
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if limited.Err() != nil {
			return nil, newError(ErrTimeout, "", "stopped after %s", allowed)
		}
		return nil, err
	}
	return doc, nil
}

// readInto reads a document by its format into b.
func (r *Reader) readInto(b *builder, name string, content io.ReaderAt, size int64) error {
	format, err := sniff(name, content, size)
	if err != nil {
		return err
	}
	b.doc.MIME = format.mime
	if w := extensionWarning(name, format); w != "" {
		b.warn("%s", w)
	}
	switch format {
	case formatPDF:
		err = r.readPDF(b, content, size)
	case formatDocx:
		err = readDocx(b, content, size)
	case formatXlsx:
		err = readXlsx(b, content, size)
	case formatPptx:
		err = readPptx(b, content, size)
	case formatODT, formatODS, formatODP:
		err = readODF(b, format, content, size)
	case formatZip:
		err = r.readArchive(b, content, size)
	case formatMsg:
		err = r.readMsg(b, content, size)
	case formatMail:
		err = r.readMail(b, content, size)
	case formatRTF:
		err = readRTF(b, content, size)
	default:
		if format.isPicture {
			err = r.readPicture(b, format, content, size)
		} else {
			err = readText(b, format, content, size)
		}
	}
	if err == nil {
		err = b.err
	}
	if err != nil {
		return err
	}
	if len(b.doc.Blocks) == 0 && len(b.doc.Furniture) == 0 {
		return newError(ErrEmpty, "", "it contains no text")
	}
	return nil
}

// readAll reads all of a document into memory.
func readAll(content io.ReaderAt, size int64) ([]byte, error) {
	raw := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(content, 0, size), raw); err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	return raw, nil
}

// readText decodes a document of one of the text formats and hands it to its reader.
func readText(b *builder, format *format, content io.ReaderAt, size int64) error {
	raw, err := readAll(content, size)
	if err != nil {
		return err
	}
	text, warning := decodeText(raw)
	if warning != "" {
		b.warn("%s", warning)
	}
	if strings.TrimSpace(text) == "" {
		return newError(ErrEmpty, "", "it contains no text")
	}
	return format.read(b, text)
}

// titleFromName is the last resort for a title: the file's name without folder and ending.
func titleFromName(name string) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	base = strings.TrimSuffix(base, path.Ext(base))
	return cleanText(strings.NewReplacer("_", " ", "-", " ").Replace(base))
}
