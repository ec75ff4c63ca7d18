package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// TestCommittedDocumentsAreCurrent checks that the committed documents equal the generated ones, byte for byte.
func TestCommittedDocumentsAreCurrent(t *testing.T) {
	made := t.TempDir()
	if err := convertMarkdownFiles(os.DirFS("../source"), made); err != nil {
		t.Fatal(err)
	}
	committed := filepath.Join("..", "evidence")
	entries, err := os.ReadDir(committed)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, e := range entries {
		if writersByExtension[filepath.Ext(e.Name())] == nil {
			continue
		}
		compared++
		want, err := os.ReadFile(filepath.Join(committed, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(made, e.Name()))
		if err != nil {
			t.Errorf("%s has no source", e.Name())
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from its source: run go run ./make in examples/harbor", e.Name())
		}
	}
	fresh, err := os.ReadDir(made)
	if err != nil {
		t.Fatal(err)
	}
	if len(fresh) != compared {
		t.Errorf("%d documents are made, %d are committed", len(fresh), compared)
	}
}

// TestPlantedFlaws checks that the flaws named in README.md are in the sources.
func TestPlantedFlaws(t *testing.T) {
	for name, want := range map[string]string{
		"HQ-PLN-02-business-continuity-plan.docx.md":       "[insert name]",
		"HQ-POL-02-access-control-policy.docx.md":          "at least **14 characters**",
		"HQ-POL-04-acceptable-use-policy.pdf.md":           "| Next review due | 2022-02-08 |",
		"HQ-POL-08-remote-working-policy-DRAFT.docx.md":    "Not approved, not in force.",
		"HQ-REG-04-record-of-processing.xlsx.md":           "not defined",
		"Internal Audit Report ISMS 2026.pdf.md":           "no security testing before release",
		"Asset Register (export Nov 2026).xlsx.md":         "| HQ-L-0412 | Laptop | Finance | Femi Okonreve | 2024-03-04 | Yes | 6 | No |",
		"Management Review Minutes 2026-09-24.docx.md":     "scanning is to begin in Q2 2027",
		"HQ-POL-06-supplier-security-policy.docx.md":       "will be issued in Q2 2027",
		"HQ-REG-03-supplier-register.xlsx.md":              "No incident notice clause, risk R-17",
		"HQ-REG-02 Risk Register 2026.xlsx.md":             "No vulnerability scanning",
		"HQ-STD-04-network-and-monitoring-standard.pdf.md": "weighbridge terminals in Rotterdam cannot run Barnacle",
	} {
		text, err := os.ReadFile(filepath.Join("..", "source", name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s no longer says %q", name, want)
		}
	}
}

func TestMakeAllRefuses(t *testing.T) {
	const front = "---\ntitle: T\nauthor: A\ndate: 2026-01-02\n---\n"
	for _, c := range []struct{ name, file, text, want string }{
		{"no texts", "notes.txt", "", "no .md files in the source folder"},
		{"unknown ending", "a.odt.md", front, "name it .docx.md"},
		{"no front matter", "a.docx.md", "# T\n", "line 1: begin with ---"},
		{"open front matter", "a.docx.md", "---\ntitle: T", "no closing ---"},
		{"no author", "a.docx.md", "---\ntitle: T\ndate: 2026-01-02\n---\n", "title, author and date"},
		{"unknown key", "a.docx.md", "---\ncolour: red\n---\n", `unknown key "colour"`},
		{"bad date", "a.docx.md", "---\ndate: 2 May\n---\n", "write the date as"},
		{"short row", "a.pdf.md", front + "| a | b |\n| c |\n", "line 7: the row has 1 cells, its header 2"},
		{"open row", "a.pdf.md", front + "| a | b\n", "must end with |"},
		{"no sheet", "a.xlsx.md", front + "| a |\n| b |\n", "begin the workbook with a # heading"},
		{"list in a sheet", "a.xlsx.md", front + "# S\n- a\n", `sheet "S": only headings`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := convertMarkdownFiles(fstest.MapFS{c.file: {Data: []byte(c.text)}}, t.TempDir())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	doc, err := parseDocument(
		"---\ntitle: T\nauthor: A\ndate: 2026-01-02\n---\n# One\ntext\nof two lines\n\n- a\n  more\n- b\n\n1. x\n| h | i |\n" +
			"| --- | --- |\n| c |  |\n",
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []block{
		{kind: kindHeading, level: 1, text: "One"},
		{kind: kindParagraph, text: "text of two lines"},
		{kind: kindBullets, items: []string{"a more", "b"}},
		{kind: kindNumbers, items: []string{"x"}},
		{kind: kindTable, rows: [][]string{{"h", "i"}, {"c", ""}}},
	}
	if len(doc.blocks) != len(want) {
		t.Fatalf("got %d blocks: %+v", len(doc.blocks), doc.blocks)
	}
	for i, w := range want {
		g := doc.blocks[i]
		same := g.kind == w.kind && g.level == w.level && g.text == w.text &&
			strings.Join(g.items, "|") == strings.Join(w.items, "|") && len(g.rows) == len(w.rows)
		for r := range min(len(g.rows), len(w.rows)) {
			same = same && strings.Join(g.rows[r], "|") == strings.Join(w.rows[r], "|")
		}
		if !same {
			t.Errorf("block %d: got %+v, want %+v", i, g, w)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\ntitle: T\nauthor: A\ndate: 2026-01-02\n---\n# One\n- a\n| b |\n")
	f.Add("---\n---\n|\n|\n")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := parseDocument(text)
		if err != nil {
			return
		}
		for _, b := range doc.blocks {
			for _, row := range b.rows {
				if len(row) != len(b.rows[0]) {
					t.Fatalf("a table of unequal rows: %q", b.rows)
				}
			}
		}
	})
}
