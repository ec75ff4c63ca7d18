package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"testing"
)

// objectStream returns the objects 7 and 8 as an object stream.
func objectStream(t testing.TB, first, second string) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	if _, err := fmt.Fprintf(w, "7 0 8 %d %s %s", len(first)+1, first, second); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(nil, "%%PDF-1.7\n1 0 obj\n<< /Type /ObjStm /N 2 /First 9 /Filter /FlateDecode >>\n"+
		"stream\n%s\nendstream\nendobj\n", packed.Bytes())
}

func TestGlyphNames(t *testing.T) {
	const font = "<< /Type /Font /BaseFont /Own /Encoding 8 0 R >>"
	raw := objectStream(t, font, "<< /Differences [3 /a /f_f_i 65 /f_t] >>")
	raw = append(raw, []byte("9 0 obj << /BaseFont /Two /Encoding << /Differences [4/f_l] >> >> endobj\n"+
		"10 0 obj << /BaseFont /Two /Encoding << /Differences [4/s_t 5/f_l] >> >> endobj")...)
	names := readGlyphNames(raw)
	for code, want := range map[glyphCode]string{
		{"Own", 4}: "ffi", {"Own", 65}: "ft", {"Own", 3}: "", {"Other", 4}: "", {"Two", 4}: "", {"Two", 5}: "fl",
	} {
		if got := names.lookup(code.font, code.code); got != want {
			t.Errorf("%v: %q, want %q", code, got, want)
		}
	}
}

func FuzzGlyphNames(f *testing.F) {
	f.Add(objectStream(f, "<< /BaseFont /Own /Encoding 8 0 R >>", "<< /Differences [3 /a /f_f_i 65 /f_t] >>"))
	f.Add([]byte("1 0 obj << /BaseFont /A /Differences [1 /f_f 99999999999999999999 /uni00_g .] >> stream"))
	f.Add([]byte(" obj obj 1 0 obj/ObjStm stream endobj"))
	f.Fuzz(func(_ *testing.T, raw []byte) { readGlyphNames(raw) })
}
