package pdf

import (
	"bytes"
	"context"
	"os"
	"sync"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/facts"
	"github.com/scf-service/service/internal/testutil/testdir"
)

// testEngine is an engine that the PDF tests run on.
type testEngine struct {
	name    string
	start   func(Options) (engine, error)
	missing string // why it can't be tested here; empty if it can
}

func onEachEngine(t *testing.T, test func(*testing.T, testEngine)) {
	for _, e := range testEngines() {
		t.Run(e.name, func(t *testing.T) {
			if e.missing != "" {
				t.Skip(e.missing)
			}
			test(t, e)
		})
	}
}

const pdfiumName = "pdfium"

var pdfiumTest = testEngine{name: pdfiumName, start: startPDFium}

// testOptions shares one compilation of PDFium between all tests: it takes a second on both cores.
var testOptions = Options{MaxPages: 5000, CacheDir: testdir.CacheFolder(os.TempDir())}

// shared is the reader of most tests. Everything unrelated to engines is tested with PDFium.
var shared = sync.OnceValue(func() *Reader { return pdfiumTest.newReader(testOptions) })

func (e testEngine) newReader(opt Options) *Reader {
	r := New(opt)
	r.start = e.start
	return r
}

func (e testEngine) reader(t testing.TB) *Reader {
	t.Helper()
	if e.name == pdfiumName {
		return shared()
	}
	r := e.newReader(testOptions)
	t.Cleanup(func() { r.Close() })
	return r
}

func (e testEngine) read(t testing.TB, raw []byte) *document.Document {
	t.Helper()
	doc, err := read(t.Context(), e.reader(t), document.Options{}, raw)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// read reads a document as package parse does.
func read(ctx context.Context, r *Reader, opt document.Options, raw []byte) (*document.Document, error) {
	if opt.MaxText == 0 {
		opt.MaxText = 24 << 20
	}
	b := document.NewBuilder(ctx, opt)
	if err := r.Read(b, bytes.NewReader(raw), int64(len(raw))); err != nil {
		return nil, err
	}
	return facts.Complete(b, "a.pdf"), nil
}

func readWith(t testing.TB, o document.OCR, raw []byte) (*document.Document, error) {
	t.Helper()
	return read(t.Context(), shared(), document.Options{OCR: o}, raw)
}
