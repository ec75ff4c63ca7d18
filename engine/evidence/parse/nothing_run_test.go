package parse_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"codeberg.org/go-pdf/fpdf"
	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// Whatever network or disk access a document requests, by link, image, macro, formula, entity or include,
// nothing is fetched, opened or run.
func TestNothingIsRunOrFetched(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	dir := t.TempDir()
	secret, made := filepath.Join(dir, "secret.txt"), filepath.Join(dir, "made")
	if err := os.WriteFile(secret, []byte("the-word-of-the-disk"), 0o600); err != nil {
		t.Fatal(err)
	}
	web, disk := server.URL+"/x", "file://"+secret
	rels := fmt.Sprintf(
		`<Relationships><Relationship Id="r1" Type="http://s/image" Target="%s" TargetMode="External"/>
		<Relationship Id="r2" Type="http://s/attachedTemplate" Target="%s" TargetMode="External"/>
		<Relationship Id="r3" Type="http://s/footnotes" Target="%s" TargetMode="External"/><Relationship Id="r4" Type="http://s/oleObject" Target="../../../..%s"/></Relationships>`,
		web,
		disk,
		disk,
		secret,
	)
	macro := "Sub AutoOpen()\nShell \"touch " + made + "\"\nEnd Sub"
	word := documenttest.Docx(t, documenttest.DocxParagraph("", "Words."), map[string]string{
		"word/_rels/document.xml.rels": rels,
		"word/vbaProject.bin":          macro,
		"word/embeddings/o.bin":        macro,
		"word/document.xml": `<!DOCTYPE w [<!ENTITY e SYSTEM "` + disk + `"><!ENTITY f SYSTEM "` + web + `">]><w:document ` + documenttest.WordNS + `><w:body>` + documenttest.DocxParagraph(
			"",
			"Words. &e;&f;",
		) + `</w:body></w:document>`,
	})
	reader := parsetest.New(t, parse.Options{})
	for name, raw := range map[string][]byte{
		"macro.docx": documenttest.Docx(t, documenttest.DocxParagraph("", "Words."), map[string]string{
			"word/_rels/document.xml.rels": rels, "word/vbaProject.bin": macro, "word/embeddings/o.bin": macro,
			"[Content_Types].xml": strings.Replace(
				documenttest.DocxTypes,
				"vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
				"vnd.ms-word.document.macroEnabled.main+xml",
				1,
			),
		}),
		"entity.docx": word,
		"formula.xlsx": documenttest.Workbook(t, func(x *excelize.File) {
			x.SetSheetRow("Sheet1", "A1", &[]any{"Words", "Value"})
			x.SetSheetRow("Sheet1", "A2", &[]any{"Words.", 1})
			x.SetCellFormula("Sheet1", "B2", `WEBSERVICE("`+web+`")`)
			x.SetCellHyperLink("Sheet1", "A2", web, "External")
		}),
		"page.html": []byte(`<html><head><link rel="stylesheet" href="` + web + `"><base href="` + web + `"></head><body><script src="` + web + `"></script><p>Words.</p><img src="` + web + `"><iframe src="` + disk + `"></iframe><object data="` + disk + `"></object></body></html>`),
		"page.md":   []byte("Words. ![a](" + web + ") <img src=\"" + disk + "\">\n\n[a]: " + web + "\n"),
		"page.rst":  []byte("Words.\n\n.. include:: " + secret + "\n\n.. raw:: html\n   :file: " + secret + "\n\n.. image:: " + web + "\n\n.. csv-table::\n   :url: " + web + "\n"),
		"page.rtf":  []byte(`{\rtf1 Words. {\field{\*\fldinst INCLUDEPICTURE "` + web + `"}} {\field{\*\fldinst INCLUDETEXT "` + secret + `"}}{\object\objdata 00}{\*\template ` + web + `}\par}`),
		"list.csv":  []byte("a,b\nWords.,=cmd|' /c touch " + made + "'!A0\n=WEBSERVICE(\"" + web + "\"),1\n"),
		"data.yaml": []byte("a: Words.\nb: !!python/object/apply:os.system ['touch " + made + "']\nc: !include " + secret + "\n"),
		"data.json": []byte(`{"$ref": "` + disk + `", "a": "Words."}`),
		"mail.eml": []byte("From: a@example.com\r\nSubject: s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
			"--b\r\nContent-Type: text/html\r\n\r\n" +
			"<p>Words.</p><img src=\"" + web + "\">\r\n--b\r\nContent-Type: message/external-body; " +
			"access-type=URL; URL=\"" + web + "\"\r\n\r\nContent-Type: text/plain\r\n\r\n--b--\r\n"),
		"link.pdf": documenttest.PDF(t, func(p *fpdf.Fpdf) {
			p.AddPage()
			p.SetJavascript(`this.submitForm("` + web + `"); app.launchURL("` + web + `");`)
			p.CellFormat(0, 8, "Words.", "", 1, "L", false, 0, web)
			p.SetAttachments([]fpdf.Attachment{{Content: []byte(macro), Filename: "run.vbs"}})
		}),
	} {
		doc, err := reader.Read(context.Background(), name, strings.NewReader(string(raw)), int64(len(raw)))
		if err != nil {
			if name != "entity.docx" { // which may be rejected
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		text := documenttest.Outline(append(doc.Blocks, doc.Furniture...))
		if !strings.Contains(text, "Words.") || strings.Contains(text, "the-word-of-the-disk") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests were made", n)
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("something was run")
	}
}
