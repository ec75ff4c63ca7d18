package parse

import (
	"bytes"
	"context"
	"testing"
)

// testEngine is an engine that the tests of PDFs are run on.
type testEngine struct {
	name    string
	start   func(Options) (pdfEngine, error)
	missing string // why it can't be tested here; empty: it can
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

func (e testEngine) reader(t testing.TB, opt Options) *Reader {
	t.Helper()
	if e.name == pdfiumName && opt == (Options{}) {
		return shared()
	}
	r, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	r.pdf.start = e.start
	t.Cleanup(func() { r.Close() })
	return r
}

func (e testEngine) read(t testing.TB, name string, raw []byte) *Document {
	t.Helper()
	doc, err := e.reader(t, Options{}).Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return doc
}

func (e testEngine) readErr(t testing.TB, opt Options, name string, raw []byte) error {
	t.Helper()
	_, err := e.reader(t, opt).Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
	return err
}

const pdfiumName = "pdfium"

var pdfiumTest = testEngine{name: pdfiumName, start: startCached}
