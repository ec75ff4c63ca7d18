// Package parsetest reads documents in tests, with one reader shared by all tests of a package.
package parsetest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/testdir"
)

// New returns a Reader, which is closed when the test ends.
func New(t testing.TB, opt parse.Options) *parse.Reader {
	t.Helper()
	opt.CacheDir = testdir.CacheFolder(os.TempDir())
	r, err := parse.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

var shared = sync.OnceValue(func() *parse.Reader {
	r, err := parse.New(parse.Options{CacheDir: testdir.CacheFolder(os.TempDir())})
	if err != nil {
		panic(err)
	}
	return r
})

// Read reads a document, and fails the test if that is not possible.
func Read(t testing.TB, name string, raw []byte) *document.Document {
	t.Helper()
	doc, err := shared().Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return doc
}

// ReadError returns the error from reading a document.
func ReadError(t testing.TB, opt parse.Options, name string, raw []byte) error {
	t.Helper()
	_, err := New(t, opt).Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
	return err
}

// CheckReadInvariants reads arbitrary bytes and checks the invariants of all formats.
func CheckReadInvariants(t *testing.T, name string, raw []byte) {
	t.Helper()
	doc, err := shared().Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		var own *document.Error
		if !errors.As(err, &own) {
			t.Fatalf("%T %v is no *Error", err, err)
		}
		if errors.Is(err, document.ErrTimeout) || errors.Is(own.Kind, document.ErrDamaged) && strings.Contains(own.Detail, "unexpectedly") {
			t.Fatalf("it took too long, or a panic was caught: %v", err)
		}
		return
	}
	if len(doc.Blocks)+len(doc.Furniture) == 0 || doc.MIME == "" || doc.Language == "" {
		t.Fatalf("an empty success: %+v", doc)
	}
	for _, b := range doc.Blocks {
		if b.Text == "" || !utf8.ValidString(b.Text) || b.Kind == "" || b.Kind == document.Heading && b.Level < 1 {
			t.Fatalf("block %+v", b)
		}
	}
	again, err := shared().Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
	if err != nil || documenttest.Outline(again.Blocks) != documenttest.Outline(doc.Blocks) {
		t.Fatal("a second reading differs")
	}
}

// Fuzz fuzzes the reading of text under the given file name.
func Fuzz(f *testing.F, name string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { CheckReadInvariants(t, name, raw) })
}
