package docx

import (
	"archive/zip"
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/reporttest"
)

// styleFile returns a DOCX file with only the parts that define styles.
func styleFile(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(parts[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const germanStyles = `<?xml version="1.0"?><w:styles xmlns:w="` + nsWord + `"><w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>` +
	`<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:basedOn w:val="Standard"/><w:pPr><w:numPr><w:numId w:val="7"/></w:numPr></w:pPr><w:rPr><w:color w:val="ABCDEF"/></w:rPr></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Fact"><w:name w:val="Something else"/></w:style></w:styles>`

// TestOwnStyles checks that styles are found by name, whatever their IDs, and that missing ones get
// the defaults.
func TestOwnStyles(t *testing.T) {
	file := styleFile(
		t,
		map[string]string{
			"word/styles.xml":       germanStyles,
			"word/theme/theme1.xml": `<a:theme xmlns:a="x"/>`,
			"word/document.xml":     "never read",
		},
	)
	var b bytes.Buffer
	if err := Write(&b, content.New(reporttest.SampleSource(2), content.TemplateFull, "", false).Document(), file); err != nil {
		t.Fatal(err)
	}
	parts := reporttest.UnzipParts(t, b.Bytes())
	styles, body := parts["word/styles.xml"], parts["word/document.xml"]
	for _, want := range []string{
		`w:styleId="berschrift1"`,
		"ABCDEF",
		`w:styleId="Fact_"`,
		`w:styleId="TableText"`,
		`<w:basedOn w:val="Standard"/>`,
	} {
		if !strings.Contains(styles, want) {
			t.Errorf("the styles lack %s", want)
		}
	}
	if strings.Contains(styles, `w:numId w:val="7"`) || strings.Count(styles, `w:val="heading 1"`) != 1 ||
		strings.Count(styles, `w:default="1" w:styleId="Standard"`) != 1 {
		t.Error("a style stands twice, or is numbered by what isn't there")
	}
	if !strings.Contains(body, `<w:pStyle w:val="berschrift1"/>`) || strings.Contains(body, `<w:pStyle w:val="Heading1"/>`) ||
		!strings.Contains(body, `<w:pStyle w:val="Fact_"/>`) {
		t.Error("the text does not use them")
	}
	if parts["word/theme/theme1.xml"] == "" || !strings.Contains(parts["word/_rels/document.xml.rels"], "theme1.xml") ||
		!strings.Contains(parts["[Content_Types].xml"], "/word/theme/theme1.xml") {
		t.Error("the theme is missing")
	}
	for name, tc := range map[string]struct {
		file []byte
		want string
	}{
		"no zip":    {[]byte("text"), "is not a .docx file"},
		"no styles": {styleFile(t, map[string]string{"a": "b"}), "word/styles.xml"},
		"entities": {
			styleFile(t, map[string]string{"word/styles.xml": `<!DOCTYPE x [<!ENTITY a "b">]>` + germanStyles[21:]}),
			"declares entities",
		},
		"not closed": {styleFile(t, map[string]string{"word/styles.xml": strings.TrimSuffix(germanStyles, "</w:styles>")}), "can't be read"},
		"outside": {
			styleFile(
				t,
				map[string]string{"word/styles.xml": germanStyles, "word/theme/theme1.xml": `<a xmlns:r="` + nsRelations + `" r:embed="rId1"/>`},
			),
			"refers to other parts",
		},
		"a bomb":    {styleFile(t, map[string]string{"word/styles.xml": strings.Repeat(" ", maxStylePart+1)}), "too large"},
		"too large": {make([]byte, api.MaxStyleBytes+1), "the maximum is"},
	} {
		err := Write(&bytes.Buffer{}, content.New(reporttest.SampleSource(1), content.TemplateSoA, "", false).Document(), tc.file)
		if !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// FuzzOwnStyles checks that any style file is rejected or gives valid styles.
func FuzzOwnStyles(f *testing.F) {
	f.Add(germanStyles)
	f.Add(`<w:styles xmlns:w="` + nsWord + `"></w:styles>`)
	f.Fuzz(func(t *testing.T, styles string) {
		if len(styles) > 1<<16 {
			return
		}
		got, err := mergeStyles(styleFile(t, map[string]string{"word/styles.xml": styles}), docxStylesXML(drawing.Theme{}))
		if err != nil {
			if !api.IsCode(err, api.CodeValidation) {
				t.Errorf("%q: %v", styles, err)
			}
			return
		}
		if err := rejectUnsafeXML(got.styles); err != nil {
			t.Errorf("%q: %v", styles, err)
		}
	})
}
