package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// stream returns a stream object whose content is compressed the given number of times.
func stream(t testing.TB, content, dictionary string, times int) string {
	t.Helper()
	data := []byte(content)
	for range times {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data = b.Bytes()
	}
	return fmt.Sprintf("<<%s/Filter[%s]/Length %d>>stream\n%s\nendstream", dictionary, strings.Repeat("/FlateDecode", times), len(data), data)
}

// onePage returns a PDF of one page: object 4 is its content, 5 a font, and the next are further objects.
func onePage(content, resources string, further ...string) []byte {
	return paddedPage(0, content, resources, further...)
}

// paddedPage is like onePage, with spaces in the file that nothing refers to.
func paddedPage(spaces int, content, resources string, further ...string) []byte {
	objects := append([]string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>" + resources + ">>>>",
		content,
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
	}, further...)
	file := []byte("%PDF-1.7\n")
	table := fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for i, o := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", len(file))
		file = fmt.Appendf(file, "%d 0 obj %s endobj\n", i+1, o)
	}
	file = append(file, bytes.Repeat([]byte(" "), spaces)...)
	return fmt.Appendf(file, "%strailer <</Root 1 0 R/Size %d>>\nstartxref\n%d\n%%%%EOF", table, len(objects)+1, len(file))
}

const sentence = "BT /F 12 Tf 50 700 Td (Access rights are reviewed.) Tj ET "

// nestedForms returns a PDF whose page draws 10 to the power of depth lines.
func nestedForms(t testing.TB, depth int) []byte {
	var forms []string
	for i := range depth {
		content := strings.Repeat(fmt.Sprintf("/X%d Do ", i+1), 10)
		if i == depth-1 {
			content = "0 0 m 9 9 l S "
		}
		forms = append(forms, stream(t, content, fmt.Sprintf(
			"/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</X%d %d 0 R>>>>", i+1, i+7,
		), 1))
	}
	return onePage(stream(t, sentence+"/X0 Do", "", 1), "/XObject<</X0 6 0 R>>", forms...)
}

func TestMemoryIsLimited(t *testing.T) {
	r := pdfiumTest.newReader(Options{MaxPages: 10, CacheDir: testOptions.CacheDir, MaxMemory: 20 << 20})
	defer r.Close()
	for name, raw := range map[string][]byte{
		"nested forms":           nestedForms(t, 12),
		"stream packed twice":    onePage(stream(t, strings.Repeat(" ", 30<<20)+sentence, "", 2), ""),
		"text packed twice":      onePage(stream(t, "BT /F 1 Tf "+strings.Repeat("(a)Tj ", 1<<18)+"ET", "", 2), ""),
		"lines packed twice":     onePage(stream(t, strings.Repeat("0 0 m 9 9 l S ", 1<<18), "", 2), ""),
		"longer than the memory": paddedPage(20<<20, stream(t, sentence, "", 1), ""),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t.Context(), r, document.Options{}, raw)
			if !errors.Is(err, document.ErrTooLarge) || !strings.Contains(err.Error(), "more memory than the 20 MB allowed") {
				t.Errorf("got %.300v", err)
			}
		})
	}
	if _, err := read(t.Context(), r, document.Options{}, onePage(stream(t, sentence, "", 1), "")); err != nil {
		t.Errorf("a small document after them: %v", err)
	}
}

// A stack overflow or another error in WebAssembly is not shown to users.
func TestErrorsHaveNoStackTrace(t *testing.T) {
	pages := []string{}
	for i := range 3000 {
		pages = append(pages, fmt.Sprintf("<</Type/Pages/Kids[%d 0 R]/Count 1>>", i+7))
	}
	for name, raw := range map[string][]byte{
		"deep page tree":     bytes.Replace(onePage(stream(t, sentence, "", 1), "", pages...), []byte("Kids[3"), []byte("Kids[6"), 1),
		"deep dictionary":    onePage(stream(t, sentence, "", 1), "/A "+strings.Repeat("<</A ", 1<<16)),
		"deep array":         onePage(stream(t, strings.Repeat("[", 1<<16), "", 1), ""),
		"very long row":      onePage(stream(t, sentence, "/DecodeParms[<</Predictor 12/Columns 2000000000>>]", 1), ""),
		"page of no size":    bytes.Replace(onePage(stream(t, sentence, "", 1), ""), []byte("0 0 600 800"), []byte("0 0 0 1e38"), 1),
		"pattern of a shape": onePage(stream(t, "/Pattern cs /P scn 0 0 9 9 re f", "", 1), "/Pattern<</P 4 0 R>>"),
	} {
		_, err := read(t.Context(), shared(), document.Options{}, raw)
		if err != nil && (strings.Contains(err.Error(), "wasm") || strings.Contains(err.Error(), "i32")) {
			t.Errorf("%s: %.300v", name, err)
		}
		t.Logf("%s: %v", name, err)
	}
}

func TestHeavyDocumentAsks(t *testing.T) {
	var asked int
	opt := document.Options{BeginHeavy: func() error { asked++; return nil }}
	if _, err := read(t.Context(), shared(), opt, onePage(stream(t, sentence, "", 1), "")); err != nil || asked != 0 {
		t.Errorf("a small document asked %d times for much memory: %v", asked, err)
	}
	heavy := paddedPage(document.LightMemory, stream(t, sentence, "", 1), "")
	if _, err := read(t.Context(), shared(), opt, heavy); err != nil || asked == 0 {
		t.Errorf("a heavy document asked %d times: %v", asked, err)
	}
	// Canceled while waiting.
	ctx, cancel := context.WithCancel(t.Context())
	opt.BeginHeavy = func() error { cancel(); return ctx.Err() }
	if _, err := read(ctx, shared(), opt, heavy); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
