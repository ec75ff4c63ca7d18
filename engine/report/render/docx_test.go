package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/reporttest"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/programtest"
)

// TestDOCXIsSound checks that every part is well-formed, every link has its bookmark, bookmarks are
// unique, and nothing refers to external resources.
func TestDOCXIsSound(t *testing.T) {
	bookmark, anchor := regexp.MustCompile(`<w:bookmarkStart w:id="(\d+)" w:name="([^"]*)"`), regexp.MustCompile(`w:anchor="([^"]*)"`)
	for name, s := range reporttest.Sources(longtest.Enabled()) {
		for _, k := range content.Templates {
			if !slices.Contains(supportedFormatNames(k), FormatDOCX) {
				continue
			}
			parts := reporttest.UnzipParts(t, write(t, s, k.Name, FormatDOCX))
			for part, text := range parts {
				if strings.HasSuffix(part, ".png") {
					if _, err := png.Decode(strings.NewReader(text)); err != nil {
						t.Errorf("%s, %s: %s: %v", name, k.Name, part, err)
					}
					continue
				}
				d := xml.NewDecoder(strings.NewReader(text))
				for {
					_, err := d.Token()
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Fatalf("%s, %s: %s: %v", name, k.Name, part, err)
					}
				}
				if strings.Contains(text, "TargetMode") {
					t.Errorf("%s: %s refers to the outside", name, part)
				}
				if strings.HasSuffix(part, ".xml") && !strings.HasPrefix(part, "[") &&
					!strings.Contains(parts["[Content_Types].xml"], `PartName="/`+part+`"`) {
					t.Errorf("%s has no content type", part)
				}
			}
			named, ids := map[string]bool{}, map[string]bool{}
			body := parts["word/document.xml"]
			for _, m := range bookmark.FindAllStringSubmatch(body, -1) {
				if named[m[2]] || ids[m[1]] || len(m[2]) > 40 {
					t.Errorf("%s, %s: the bookmark %s stands twice, or is too long", name, k.Name, m[2])
				}
				named[m[2]], ids[m[1]] = true, true
			}
			for _, m := range anchor.FindAllStringSubmatch(body, -1) {
				if !named[m[1]] {
					t.Errorf("%s, %s: the link %s leads nowhere", name, k.Name, m[1])
				}
			}
			if strings.Count(body, "<w:tbl>") != strings.Count(body, "</w:tbl>") || strings.Contains(body, "</w:tbl></w:tc>") {
				t.Errorf("%s, %s: a table ends a cell", name, k.Name)
			}
		}
	}
}

func TestDOCXMarksDrafts(t *testing.T) {
	s := reporttest.SampleSource(5)
	parts := reporttest.UnzipParts(t, write(t, s, content.TemplateFull, FormatDOCX))
	if strings.Contains(parts["word/header1.xml"], "DRAFT") ||
		!strings.Contains(parts["docProps/core.xml"], "<cp:contentStatus>Final<") {
		t.Error("an approved report is marked as a draft")
	}
	s.Gap.Status = api.VersionUnderReview
	parts = reporttest.UnzipParts(t, write(t, s, content.TemplateFull, FormatDOCX))
	if !strings.Contains(parts["word/header1.xml"], "DRAFT") || !strings.Contains(parts["word/document.xml"], "DRAFT.") ||
		!strings.Contains(parts["docProps/core.xml"], "<cp:contentStatus>Draft<") {
		t.Error("a draft is not marked on every page")
	}
	for part, want := range map[string]string{
		"word/footer1.xml":  " NUMPAGES ",
		"word/document.xml": ` TOC \o`,
		"docProps/core.xml": "<dcterms:created xsi:type=\"dcterms:W3CDTF\">2026-11-20T09:30:00Z<",
	} {
		if !strings.Contains(parts[part], want) {
			t.Errorf("%s lacks %q", part, want)
		}
	}
	if !strings.Contains(parts["word/document.xml"], "<w:tblHeader/>") {
		t.Error("heads of tables are not repeated")
	}
}

// TestDOCXDirections checks that right-to-left text is in paragraphs with that direction and
// doesn't affect the next paragraph.
func TestDOCXDirections(t *testing.T) {
	body := reporttest.UnzipParts(t, write(t, reporttest.HostileSource(), content.TemplateGapAnalysis, FormatDOCX))["word/document.xml"]
	if !strings.Contains(body, `<w:bidi/>`) || !strings.Contains(body, `<w:rtl/>`) {
		t.Error("nothing is set from the right")
	}
	if over, ends := strings.Count(body, "\u202e"), strings.Count(body, "\u202c"); over == 0 || over != ends {
		t.Errorf("%d marks of direction, %d ends", over, ends)
	}
}

// TestDOCXSaysWhatMarkdownSays checks that pandoc reads the same words in the DOCX as in the
// Markdown, in the same order.
func TestDOCXSaysWhatMarkdownSays(t *testing.T) {
	pandoc := programtest.FindOrSkip(t, "pandoc")
	read := func(format string, data []byte) []string {
		cmd := exec.Command(pandoc, "-f", format, "-t", "json")
		cmd.Stdin = bytes.NewReader(data)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("pandoc: %v", err)
		}
		var tree struct {
			Meta   map[string]any `json:"meta"`
			Blocks any            `json:"blocks"`
		}
		if err := json.Unmarshal(out, &tree); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, part := range []string{"title", "subtitle", "date"} {
			pandocText(&b, tree.Meta[part])
			b.WriteByte(' ')
		}
		pandocText(&b, tree.Blocks)
		return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	for name, s := range reporttest.Sources(longtest.Enabled()) {
		for _, k := range content.Templates {
			if !slices.Contains(supportedFormatNames(k), FormatDOCX) || k.Name != content.TemplateFull && name != "one control" {
				continue // the full report has every part
			}
			md := bytes.ReplaceAll(write(t, s, k.Name, FormatMarkdown), []byte("<br>"), []byte(" "))
			want, got := read("gfm", md), read("docx", write(t, s, k.Name, FormatDOCX))
			if slices.Equal(want, got) {
				continue
			}
			for i := range max(len(want), len(got)) {
				if i >= len(want) || i >= len(got) || want[i] != got[i] {
					t.Errorf(
						"%s, %s: at word %d of %d and %d: Markdown %q, DOCX %q",
						name,
						k.Name,
						i,
						len(want),
						len(got),
						around(want, i),
						around(got, i),
					)
					break
				}
			}
		}
	}
}

func around(words []string, i int) string {
	return strings.Join(words[min(len(words), max(0, i-4)):min(len(words), i+5)], " ")
}

// pandocText appends the text of a pandoc document tree, with spaces between blocks.
func pandocText(b *strings.Builder, tree any) {
	switch x := tree.(type) {
	case []any:
		for _, one := range x {
			pandocText(b, one)
		}
	case map[string]any:
		switch c := x["c"].(type) {
		case string:
			if x["t"] == "Str" {
				b.WriteString(c)
			}
		case []any:
			if x["t"] == "Code" {
				fmt.Fprint(b, c[1])
				return
			}
			if x["t"] == "Image" { // the table next to it contains the same data
				return
			}
			if x["t"] == "RawInline" || x["t"] == "RawBlock" {
				return
			}
			if x["t"] == "Header" {
				c = c[2:] // the ID is not text
			}
			pandocText(b, c)
		}
		switch x["t"] {
		case "Space", "SoftBreak", "LineBreak", "Para", "Plain", "Header", "BlockQuote", "Table":
			b.WriteByte(' ')
		}
	}
}

func BenchmarkDOCX(b *testing.B) {
	s := reporttest.SampleSource(1468)
	for b.Loop() {
		b.SetBytes(int64(len(write(b, s, content.TemplateFull, FormatDOCX))))
	}
}
