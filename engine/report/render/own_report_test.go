package render

import (
	"archive/zip"
	"bytes"
	"errors"
	"strings"
	"testing"

	docparse "github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/reporttest"
	"github.com/scf-service/service/internal/opc"
	"github.com/scf-service/service/internal/testutil/testdir"
)

// TestReportsAreNoEvidence checks that reports added as evidence are recognized in every format, because they would
// confirm their own conclusions.
func TestReportsAreNoEvidence(t *testing.T) {
	r, err := docparse.New(docparse.Options{CacheDir: testdir.CacheFolder(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	s := reporttest.SampleSource(1)
	s.Tool = "service 1.2.3-rc.1"
	eachFormat(func(template, format string) {
		if template != content.TemplateExecutiveSummary && template != content.TemplateSoA {
			return // the other templates contain it in the same places
		}
		f, _ := findFormat(format)
		raw := write(t, s, template, format)
		_, err := r.Read(t.Context(), "file"+f.extension, bytes.NewReader(raw), int64(len(raw)))
		if !errors.Is(err, document.ErrOwnReport) {
			t.Errorf("%s as %s: %v", template, format, err)
		}
	})
	// Reports made with a user's own layout or template aren't evidence either, whatever text it adds.
	const types = "http://schemas.openxmlformats.org/package/2006/content-types"
	const office = "http://schemas.openxmlformats.org/officeDocument/2006/"
	parts := []string{
		"[Content_Types].xml", `<Types xmlns="` + types + `"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
		"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="rId1" Type="` + office + `relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
		"word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` +
			`<w:p><w:r><w:t>Backups of {{client.name}} are tested each month.</w:t></w:r></w:p></w:body></w:document>`,
	}
	plain := zipOf(t, parts...)
	withProperties := zipOf(t, parts[0], strings.Replace(parts[1], `</Types>`, `<Override PartName="/docProps/own.xml" `+
		`ContentType="application/vnd.openxmlformats-officedocument.custom-properties+xml"/></Types>`, 1),
		parts[2], strings.Replace(parts[3], `</Relationships>`, `<Relationship Id="rId2" Type="`+office+
			`relationships/custom-properties" Target="docProps/own.xml"/></Relationships>`, 1), parts[4], parts[5],
		"docProps/own.xml", `<c:Properties xmlns:c="`+office+`custom-properties" xmlns:vt="`+office+`docPropsVTypes">`+
			`<c:property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="7" name="Matter"><vt:lpwstr>4711</vt:lpwstr></c:property>`+
			`<c:property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="8" name="Written by"><vt:lpwstr>Ada</vt:lpwstr></c:property></c:Properties>`)
	if _, err := r.Read(t.Context(), "layout.docx", bytes.NewReader(plain), int64(len(plain))); err != nil {
		t.Fatalf("the layout itself is refused: %v", err)
	}
	for name, request := range map[string]Request{
		"a.docx": {Format: FormatDOCX, Layout: plain},
		"b.docx": {Format: FormatDOCX, Layout: withProperties},
		"c.html": {Format: FormatHTML, CustomTemplate: "<p>Backups are tested each month.</p>"},
		"d.md":   {Format: FormatMarkdown, CustomTemplate: "Backups are tested each month."},
	} {
		request.Template = content.TemplateClient
		var b bytes.Buffer
		if err := Write(t.Context(), &b, s, request); err != nil {
			t.Fatal(err)
		}
		if name == "b.docx" {
			own := reporttest.UnzipParts(t, b.Bytes())["docProps/own.xml"]
			if !strings.Contains(own, "4711") || strings.Contains(own, "Ada") || !strings.Contains(own, "Final") {
				t.Errorf("properties: %s", own)
			}
		}
		_, err := r.Read(t.Context(), name, bytes.NewReader(b.Bytes()), int64(b.Len()))
		if !errors.Is(err, document.ErrOwnReport) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// zipOf returns an archive of parts, given as names and contents.
func zipOf(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		if err := opc.WritePart(z, parts[i], []byte(parts[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
