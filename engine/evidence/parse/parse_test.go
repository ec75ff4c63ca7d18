package parse_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/cfbtest"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestReadRefuses(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500)
	for name, tt := range map[string]struct {
		file string
		raw  []byte
		opt  parse.Options
		want error
	}{
		"nothing":         {"a.txt", nil, parse.Options{}, document.ErrEmpty},
		"only space":      {"a.md", []byte(" \n\t\n"), parse.Options{}, document.ErrEmpty},
		"only markup":     {"a.html", []byte("<!doctype html><html><body><p></p></body></html>"), parse.Options{}, document.ErrEmpty},
		"program as docx": {"a.docx", []byte("MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00"), parse.Options{}, document.ErrUnsupported},
		"elf":             {"a.txt", []byte("\x7fELF\x02\x01\x01"), parse.Options{}, document.ErrUnsupported},
		"noise":           {"a.txt", bytes.Repeat([]byte{1, 2, 3, 0x80, 5, 0x91, 7, 8}, 100), parse.Options{}, document.ErrUnsupported},
		"picture":         {"a.pdf", []byte("\x89PNG\r\n\x1a\n0000"), parse.Options{}, document.ErrNoTextLayer},
		"other office":    {"a.vsdx", documenttest.Zip(t, map[string]string{"[Content_Types].xml": "visio"}), parse.Options{}, document.ErrUnsupported},
		"broken zip":      {"a.docx", []byte("PK\x03\x04 and then nothing"), parse.Options{}, document.ErrDamaged},
		"locked office": {
			"a.docx",
			cfbtest.BuildFile(map[string]string{"EncryptedPackage": "x", "EncryptionInfo": "y"}),
			parse.Options{},
			document.ErrEncrypted,
		},
		"old word":          {"a.doc", cfbtest.BuildFile(map[string]string{"WordDocument": "x"}), parse.Options{}, document.ErrUnsupported},
		"old excel":         {"a.xlsx", cfbtest.BuildFile(map[string]string{"Workbook": "x"}), parse.Options{}, document.ErrUnsupported},
		"old slides":        {"a.ppt", cfbtest.BuildFile(map[string]string{"PowerPoint Document": "x"}), parse.Options{}, document.ErrUnsupported},
		"broken ole":        {"a.doc", append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 600)...), parse.Options{}, document.ErrDamaged},
		"too many bytes":    {"a.txt", []byte("12345"), parse.Options{MaxBytes: 4}, document.ErrTooLarge},
		"too much text":     {"a.txt", []byte(strings.Repeat("word ", 100)), parse.Options{MaxText: 99}, document.ErrTooLarge},
		"broken json":       {"a.json", []byte(`{"a": [1, 2, {"b": 3}, {"c": "d"` + "\n" + `}}`), parse.Options{}, nil}, // read as text
		"deep json":         {"a.json", []byte(deep), parse.Options{}, document.ErrDamaged},
		"deep html":         {"a.html", []byte("<html>" + strings.Repeat("<div>", 5000) + "x"), parse.Options{}, document.ErrDamaged},
		"docx without body": {"a.docx", documenttest.Zip(t, map[string]string{"[Content_Types].xml": documenttest.DocxTypes}), parse.Options{}, document.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			err := parsetest.ReadError(t, tt.opt, tt.file, tt.raw)
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			var own *document.Error
			if tt.want != nil && !errors.As(err, &own) {
				t.Errorf("%T is no *Error", err)
			}
		})
	}
}

func TestReadHonoursContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	raw := []byte("text")
	if _, err := parsetest.New(t, parse.Options{}).
		Read(ctx, "a.txt", bytes.NewReader(raw), int64(len(raw))); !errors.Is(
		err,
		context.Canceled,
	) {
		t.Errorf("got %v", err)
	}
}

// badReaderAt is a reader that fails or lies about its size; this must result in an error, not a panic.
type badReaderAt struct{ fail error }

func (b badReaderAt) ReadAt([]byte, int64) (int, error) {
	if b.fail == nil {
		panic("no bytes here")
	}
	return 0, b.fail
}

func TestReadSurvivesItsSource(t *testing.T) {
	for _, src := range []badReaderAt{{}, {os.ErrPermission}} {
		if _, err := parsetest.New(t, parse.Options{}).Read(context.Background(), "a.txt", src, 10); !errors.Is(err, document.ErrDamaged) {
			t.Errorf("got %v", err)
		}
	}
}

func TestNameWarning(t *testing.T) {
	doc := parsetest.Read(t, "report.pdf", []byte("# Only text\n\nwith words."))
	if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "the content is") {
		t.Errorf("warnings %q", doc.Warnings)
	}
	if doc := parsetest.Read(t, "notes.unknown", []byte("Just words.")); len(doc.Warnings) != 0 || doc.MIME != "text/plain" ||
		doc.Title != "notes" {
		t.Errorf("%q %s %q", doc.Warnings, doc.MIME, doc.Title)
	}
}

func TestSniff(t *testing.T) {
	for _, tt := range []struct{ name, text, mime string }{
		{"x", "<!-- c --><html><body>hi", "text/html"},
		{"x.txt", "<p>a</p><p>b</p><div>c</div>", "text/html"},
		{"x.md", "<p>a</p><p>b</p><div>c</div>\n\n# T", "text/markdown"},
		{"x.txt", "[not json] but text in brackets", "text/plain"},
		{"x", "# A\n\n- b\n- c\n\n[d](e)", "text/markdown"},
		{"x.txt", `{"a": 1}`, "application/json"},
		{"x.csv", "just one column\nof words\n", "text/csv"},
		{"x", "a,b\n1,2\n3,4\n", "text/csv"},
		{"x", "Words, with commas.\nAnd a line without.\nAnother, yes, two.", "text/plain"},
		{"MZ.txt", "MZ is how some words begin.", "text/plain"},
	} {
		if got := parsetest.Read(t, tt.name, []byte(tt.text)).MIME; got != tt.mime {
			t.Errorf("%q %q is %s, want %s", tt.name, tt.text, got, tt.mime)
		}
	}
}
