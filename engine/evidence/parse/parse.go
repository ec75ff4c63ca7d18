package parse

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/facts"
	"github.com/scf-service/service/engine/evidence/parse/mail"
	"github.com/scf-service/service/engine/evidence/parse/office"
	"github.com/scf-service/service/engine/evidence/parse/pdf"
	"github.com/scf-service/service/internal/charset"
)

// Options limits the resources used for one document. Zero fields take their defaults.
type Options struct {
	MaxBytes int64         // size of the file; default 100 MiB
	MaxText  int64         // bytes of text extracted; default 24 MiB, some 8,000 pages
	MaxPages int           // pages of a PDF; default 5,000
	Timeout  time.Duration // for one Read; default 2 minutes
	// OCRTimeout replaces Timeout for a document that needs OCR; default 10 minutes.
	OCRTimeout time.Duration
	// OCR recognizes text in images; if nil, images can't be read.
	OCR      document.OCR
	CacheDir string // cache for compiled PDFium; if empty, it is compiled at each start, which takes 1 s
	// Clock measures how long a document waits for memory; this time extends its TimeLimit; if nil,
	// TimeLimit isn't extended.
	Clock func() time.Time
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

// Reader reads documents. It is safe for concurrent use.
type Reader struct {
	opt   Options
	pdfs  *pdf.Reader
	heavy chan struct{} // a slot for the one document that may use much memory
}

// New returns a Reader. The PDF engine is started when the first PDF is read.
func New(opt Options) (*Reader, error) {
	if opt.MaxBytes < 0 || opt.MaxText < 0 || opt.MaxPages < 0 || opt.Timeout < 0 {
		return nil, errors.New("parse: a limit is negative; set it to 0 to use the default")
	}
	opt = opt.withDefaults()
	return &Reader{
		opt: opt, pdfs: pdf.New(pdf.Options{MaxPages: opt.MaxPages, CacheDir: opt.CacheDir}), heavy: make(chan struct{}, 1),
	}, nil
}

// Close closes the PDF reader. PDF reads in progress fail.
func (r *Reader) Close() error { return r.pdfs.Close() }

// Read reads a document of size bytes. It detects the format from the content; the name only helps to
// distinguish text formats, and provides a title if the document has none. The error is a *document.Error, or
// the context's error if ctx is done.
func (r *Reader) Read(ctx context.Context, name string, content io.ReaderAt, size int64) (doc *document.Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc, err = nil, document.PanicError(p)
		}
	}()
	if size == 0 {
		return nil, document.NewError(document.ErrEmpty, "", "0 bytes")
	}
	if size < 0 || size > r.opt.MaxBytes {
		return nil, document.NewError(document.ErrTooLarge, "", "the file has %d bytes (the limit is %d)", size, r.opt.MaxBytes)
	}
	limit := newTimeLimit(ctx, r.opt.Timeout, r.opt.Clock)
	defer limit.stop()
	var isHeavy bool
	defer func() {
		if isHeavy {
			debug.FreeOSMemory()
			<-r.heavy
		}
	}()
	b := document.NewBuilder(limit.ctx, document.Options{
		MaxText: r.opt.MaxText, MaxBytes: r.opt.MaxBytes, OCR: r.opt.OCR,
		// Only documents with images get the additional time for OCR.
		ExtendDeadline: sync.OnceFunc(func() { limit.extend(r.opt.OCRTimeout) }),
		BeginHeavy: sync.OnceValue(func() error {
			err := limit.waitFor(r.heavy)
			isHeavy = err == nil
			return err
		}),
		ReadDocument: func(b *document.Builder, name string, content []byte) error {
			return r.readInto(b, name, bytes.NewReader(content), int64(len(content)))
		},
	})
	if err = r.readInto(b, name, content, size); err == nil {
		doc = facts.Complete(b, name)
		doc.AddReader(readerOfFacts, readerVersions[readerOfFacts])
		doc.AddReader(readerOfPassages, readerVersions[readerOfPassages])
		doc.TimeLimit = limit.total()
	}
	if err != nil {
		// A library may hide the context's error, so check the context itself.
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if limit.ctx.Err() != nil {
			return nil, document.TimeoutError(limit.total())
		}
		return nil, err
	}
	return doc, nil
}

// readInto detects the format of a document and reads the document into b.
func (r *Reader) readInto(b *document.Builder, name string, content io.ReaderAt, size int64) error {
	format, err := sniff(name, content, size)
	if err != nil {
		b.Doc.AddReader(readerOfUnknown, readerVersions[readerOfUnknown])
		return err
	}
	b.Doc.MIME = format.mime
	b.Doc.AddReader(format.reader, readerVersions[format.reader])
	if format != formatPDF { // the PDF reader reserves memory itself
		if err := b.ReserveMemory(size); err != nil {
			return err
		}
	}
	if w := extensionWarning(name, format); w != "" {
		b.Warn("%s", w)
	}
	switch format {
	case formatPDF:
		err = r.pdfs.Read(b, content, size)
	case formatDocx:
		err = office.ReadDocx(b, content, size)
	case formatXlsx:
		err = office.ReadXlsx(b, content, size)
	case formatPptx:
		err = office.ReadPptx(b, content, size)
	case formatODT, formatODS, formatODP:
		err = office.ReadODF(b, content, size)
	case formatZip:
		err = r.readArchive(b, content, size)
	case formatTar:
		err = r.readTar(b, content, size)
	case formatGzip:
		err = r.readGzip(b, name, content, size)
	case formatTNEF:
		err = mail.ReadTNEF(b, content, size)
	case formatFlatOPC, formatFlatODF, formatWord2003:
		err = r.readFlat(b, format, name, content, size)
	case formatMsg:
		err = mail.ReadOutlook(b, content, size)
	case formatMail:
		err = mail.ReadMail(b, content, size)
	case formatSigned:
		err = mail.ReadSigned(b, name, content, size)
	case formatMHTML:
		err = mail.ReadWebArchive(b, content, size)
	case formatRTF:
		err = office.ReadRTF(b, content, size)
	default:
		if format.isPicture {
			err = recognizePictureText(b, format, content, size)
		} else {
			err = readText(b, format, content, size)
		}
	}
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		return err
	}
	if len(b.Doc.Blocks) == 0 && len(b.Doc.Furniture) == 0 {
		return emptyError(b.Doc)
	}
	if isOwnReport(b.Doc) {
		return errOwnReport
	}
	return nil
}

// emptyError returns the error for a document without readable text. It names what the document contains
// instead, such as images.
func emptyError(d *document.Document) error {
	unread := api.DescribeNotRead(d.NotRead)
	switch {
	case unread == "":
		return document.NewError(document.ErrEmpty, "", "the document contains no text")
	case slices.ContainsFunc(d.NotRead, func(n api.NotRead) bool { return n.Kind == api.UnreadPicture }):
		return document.NewError(document.ErrNoTextLayer, "", "the document contains only %s", unread)
	}
	return document.NewError(document.ErrEmpty, "", "the document contains no readable text, only %s", unread)
}

// readText decodes a document in a text format and passes the text to the reader for that format.
func readText(b *document.Builder, format *format, content io.ReaderAt, size int64) error {
	raw, err := document.ReadAll(content, size)
	if err != nil {
		return err
	}
	decoded, warning := charset.Decode(raw)
	if warning != "" {
		b.Warn("%s", warning)
	}
	if strings.TrimSpace(decoded) == "" {
		return document.NewError(document.ErrEmpty, "", "the document contains no text")
	}
	if strings.Contains(decoded, originComment) && originPattern.MatchString(decoded) {
		return errOwnReport
	}
	// Readers hold each line as a string, which takes 16 bytes in addition to the text.
	if err := b.ReserveMemory(size + 16*int64(strings.Count(decoded, "\n"))); err != nil {
		return err
	}
	return format.read(b, decoded)
}
