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

// Options limits the cost of one document. Zero fields take their defaults.
type Options struct {
	MaxBytes int64         // size of the file; 100 MiB
	MaxText  int64         // bytes of text extracted; 24 MiB, some 8,000 pages
	MaxPages int           // pages of a PDF; 5,000
	Timeout  time.Duration // for one Read; 2 minutes
	// OCRTimeout replaces Timeout for a document that needs OCR; 10 minutes.
	OCRTimeout time.Duration
	// OCR recognizes text in images; if nil, images can't be read.
	OCR      OCR
	CacheDir string // cache of PDFium's compiled form; if empty, it is compiled at each start, 1 s
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

// OCR recognizes the text in one image, as plain text.
type OCR interface {
	// RecognizeText returns the text in an image (PNG, JPEG, TIFF, GIF, BMP, WebP or PNM); pages of
	// a TIFF are separated by form feeds. It stops when ctx ends.
	RecognizeText(ctx context.Context, picture []byte) (string, error)
}

// Reader reads documents. It is safe for concurrent use.
type Reader struct {
	opt Options

	mu       sync.Mutex
	pdf      pdfState
	openPDFs sync.WaitGroup // running PDF reads
	closed   bool
}

// New returns a Reader. Nothing is started until a PDF is read.
func New(opt Options) (*Reader, error) {
	if opt.MaxBytes < 0 || opt.MaxText < 0 || opt.MaxPages < 0 || opt.Timeout < 0 {
		return nil, errors.New("parse: a limit is negative; leave it zero for the default")
	}
	r := &Reader{opt: opt.withDefaults(), pdf: pdfState{start: startPDF}}
	r.pdf.closing, r.pdf.stop = context.WithCancel(context.Background())
	return r, nil
}

// Close releases the PDF reader. Running reads of PDFs fail.
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

// Read reads one document of size bytes. The format is detected from the content; the name only
// distinguishes text formats and provides a title if the document has none. The error is an *Error,
// or the context's when ctx ended.
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
		// The time limit is extended at the first image, so that documents without images can't use
		// it.
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
		// A library may wrap the context's error; the context decides what ended the read.
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

// readInto reads a document according to its format into b.
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

// readText decodes a document of a text format and passes it to its reader.
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

// titleFromName returns the file name without folder and extension, the last resort for a title.
func titleFromName(name string) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	base = strings.TrimSuffix(base, path.Ext(base))
	return cleanText(strings.NewReplacer("_", " ", "-", " ").Replace(base))
}
