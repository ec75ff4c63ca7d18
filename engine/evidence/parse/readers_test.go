package parse_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

var updateReadings = flag.Bool("update", false, "write testdata/readings.txt")

// TestReaderVersions checks that a reader's version changes whenever its output does. For each document, the file has
// the readers with their versions and the hash of the output.
func TestReaderVersions(t *testing.T) {
	const path = "testdata/readings.txt"
	raw, err := os.ReadFile(path)
	if err != nil && !*updateReadings {
		t.Fatal(err)
	}
	old := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		name, reading, _ := strings.Cut(strings.TrimSpace(line), "\t")
		old[name] = reading
	}
	var sb strings.Builder
	read := map[string]bool{}
	for _, d := range readings(t) {
		doc := parsetest.Read(t, d.name, d.raw)
		for reader := range doc.Readers {
			read[reader] = true
		}
		readers, err := json.Marshal(doc.Readers)
		if err != nil {
			t.Fatal(err)
		}
		doc.TimeLimit = 0
		content, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		reading := string(readers) + "\t" + hex.EncodeToString(sum[:8])
		fmt.Fprintf(&sb, "%s\t%s\n", d.name, reading)
		oldReaders, _, _ := strings.Cut(old[d.name], "\t")
		switch {
		case old[d.name] == reading:
		case oldReaders == string(readers):
			t.Errorf("%s is read differently: increment the version of its reader in readerVersions, then run this test with -update", d.name)
		case !*updateReadings:
			t.Errorf("%s: a version changed: run this test with -update", d.name)
		}
	}
	for _, name := range parse.ReaderNames() {
		if !read[name] && name != "picture" && name != "unknown" {
			t.Errorf("no document is read by %q", name)
		}
	}
	if !*updateReadings || t.Failed() {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(sb.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

type namedDocument struct {
	name string
	raw  []byte
}

// readings returns a document of each format.
func readings(t *testing.T) (out []namedDocument) {
	add := func(name string, raw []byte) { out = append(out, namedDocument{name, raw}) }
	rows := [][]string{
		{"Backup register", "<", "<"},
		{"System", "Restored on", "Result"},
		{"Payroll", "2026-05-04", "Restored in two hours"},
		{"Orders", "2026-06-02", "Failed"},
	}
	for _, name := range []string{"a.xlsx", "a.docx", "a.html", "a.ods", "a.pptx", "a.rtf"} {
		add("table "+name, tableFormats[name](t, rows))
	}
	const front = "Access policy\nVersion 1.4, in force since 20 May 2026. Owner: Ann Roe.\n\n"
	add("text a.docx", documenttest.Docx(t, documenttest.DocxParagraph("Heading1", "Access")+
		documenttest.DocxParagraph("", "Rights are reviewed each quarter.")+
		`<w:p><w:r><w:rPr><w:strike/></w:rPr><w:t>Never.</w:t></w:r><w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r></w:p>`, nil))
	add("text a.odt", documenttest.ODF(t, "text", `<text:h text:outline-level="1">Access</text:h><text:p>Rights are reviewed.</text:p>`, nil))
	add("text a.html", []byte(`<!doctype html><h1>Access</h1><p>Rights <del>never</del> reviewed.<ol><li>By the IT lead</ol><p><input type=checkbox checked> Yes`))
	add("a.csv", []byte("System,Owner,MFA\nPayroll,Ann Roe,yes\nOrders,Bo Lind,no\n"))
	add("a.txt", []byte(front+"1. Scope\n\nAll users.\n\n  - Administrators\n  - Guests\n"))
	add("a.md", []byte("---\ntitle: Access\nowner: Ann Roe\n---\n# Access\n\n- [x] Reviewed\n\n| System | Owner |\n|---|---|\n| Payroll | Ann |\n"))
	add("a.rst", []byte("Access\n======\n\n* Reviewed\n\n====== =====\nSystem Owner\n====== =====\nCRM    Ann\n====== =====\n"))
	add("a.yaml", []byte("title: Access\nrules:\n  - mfa: true\n    owner: Ann Roe\n"))
	add("a.json", []byte(`{"title": "Access", "rules": [{"mfa": true, "owner": "Ann Roe"}]}`))
	add("a.xml", []byte(`<?xml version="1.0"?><policy title="Access"><rule>MFA is on.</rule></policy>`))
	page := []byte("<!doctype html><p>Rights are reviewed.")
	add("a.zip", documenttest.Zip(t, map[string]string{"b/a.html": string(page)}))
	add("a.eml", []byte("From: ann@example.com\r\nTo: bo@example.com\r\nSubject: Review\r\nDate: Mon, 4 May 2026 10:00:00 +0000\r\n"+
		"Content-Type: text/plain\r\n\r\nThe rights were reviewed.\r\n"))
	add("a.pdf", documenttest.PDF(t, func(p *fpdf.Fpdf) {
		p.AddPage()
		p.SetFont("Helvetica", "B", 18)
		p.Cell(0, 12, "Access policy")
		p.Ln(12)
		p.SetFont("Helvetica", "", 11)
		p.MultiCell(0, 6, "Rights are reviewed each quarter by the IT lead.", "", "", false)
	}))
	return out
}
