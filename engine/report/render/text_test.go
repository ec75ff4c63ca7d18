package render

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gfmast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/render/markdown"
	"github.com/scf-service/service/engine/report/reporttest"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/testutil/longtest"
)

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// checkHarmless parses Markdown and checks that no text creates a link, picture or block, and that each table
// row has as many cells as its header.
func checkHarmless(t *testing.T, source []byte) {
	t.Helper()
	ours := regexp.MustCompile(`^(<br>|<a id="[a-z-]+">|</a>)$`)
	err := ast.Walk(gfm.Parser().Parse(gmtext.NewReader(source)), func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if !enter {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			if !bytes.HasPrefix(n.Destination, []byte("#")) {
				t.Errorf("a link to %s", n.Destination)
			}
		case *ast.Image, *ast.AutoLink, *ast.CodeBlock, *ast.FencedCodeBlock, *ast.CodeSpan, *ast.HTMLBlock:
			t.Errorf("a %s: %s", n.Kind(), textBelow(n, source))
		case *ast.RawHTML:
			if raw := string(n.Segments.Value(source)); !ours.MatchString(raw) {
				t.Errorf("raw HTML %s", raw)
			}
		case *gfmast.TableRow:
			if got, want := n.ChildCount(), n.Parent().FirstChild().ChildCount(); got != want {
				t.Errorf("a row of %d cells under a head of %d: %.200s", got, want, textBelow(n, source))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// textBelow returns the text below a node.
func textBelow(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if text, ok := n.(*ast.Text); ok && enter {
			b.Write(text.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

func TestMarkdownIsHarmless(t *testing.T) {
	for _, s := range reporttest.Sources(longtest.Enabled()) {
		for _, k := range content.Templates {
			if !slices.Contains(supportedFormatNames(k), FormatMarkdown) {
				continue
			}
			checkHarmless(t, write(t, s, k.Name, FormatMarkdown))
		}
	}
}

// TestMarkdownTablesHoldTogether checks that each row of the source is one row of a table, whatever
// its texts.
func TestMarkdownTablesHoldTogether(t *testing.T) {
	s := reporttest.HostileSource()
	raw := write(t, s, content.TemplatePOAM, FormatMarkdown)
	rows := 0
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "| **'") || strings.HasPrefix(line, `| **=HYPER`) || strings.HasPrefix(line, `| **\=HYPER`) {
			rows++
			if cells := regexp.MustCompile(`[^\\]\|`).FindAllString(line, -1); len(cells) != 8 {
				t.Errorf("%d cells: %s", len(cells), line)
			}
		}
	}
	if rows != len(s.POAMItems) {
		t.Errorf("%d rows of %d items", rows, len(s.POAMItems))
	}
}

func FuzzMarkdownText(f *testing.F) {
	for _, s := range []string{
		"plain", "| a |", "a\n===\n", "1. x", "    code", "<b>", "[x](http://y)",
		"https://x.y", "www.x.y", "\\|", "`", "&lt;", "~~~\n", "- a\n- b", "\t# h", "> q", "![i](j)", "*a*",
		"$x$", "a\r\nb",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = wording.ReplaceControlCharacters(s)
		line := markdown.Escape(s)
		if strings.ContainsAny(line, "\n\r") {
			t.Fatalf("%q became more than a line: %q", s, line)
		}
		// Renderers may link a bare URL; all other markup must be escaped.
		if strings.Contains(s, "@") {
			return
		}
		checkHarmless(t, []byte(line+"\n\n> "+line+"\n\n- "+line+"\n\n| a | b |\n| --- | --- |\n| "+line+" | "+line+" |\n"))
	})
}

func TestCSV(t *testing.T) {
	s := reporttest.SampleSource(66)
	counts := map[string]int{
		content.TemplateSoA:         len(s.SoAItems),
		content.TemplateGapAnalysis: len(s.Findings),
		content.TemplateMaturity:    len(s.Scores),
		content.TemplatePOAM:        len(s.POAMItems),
	}
	for template, want := range counts {
		raw := write(t, s, template, FormatCSV)
		r := csv.NewReader(bytes.NewReader(raw))
		rows, err := r.ReadAll() // rejects rows of unequal length
		if err != nil {
			t.Fatalf("%s: %v", template, err)
		}
		if len(rows) != want+1 {
			t.Errorf("%s: %d rows for %d items", template, len(rows)-1, want)
		}
		if lines := bytes.Count(raw, []byte("\n")); lines != bytes.Count(raw, []byte("\r\n")) {
			t.Errorf("%s: a line does not end as RFC 4180 says", template)
		}
		empty := write(t, &content.Source{}, template, FormatCSV)
		if bytes.Count(empty, []byte("\r\n")) != 1 || !bytes.HasPrefix(empty, []byte("id,")) {
			t.Errorf("%s of nothing: %s", template, empty)
		}
	}
}

func TestCSVHoldsNoFormula(t *testing.T) {
	s := reporttest.HostileSource()
	for _, template := range []string{content.TemplateSoA, content.TemplateGapAnalysis, content.TemplateMaturity, content.TemplatePOAM} {
		rows, err := csv.NewReader(bytes.NewReader(write(t, s, template, FormatCSV))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			for _, c := range row {
				if c != "" && strings.ContainsRune("=+-@\t\r\n", rune(c[0])) {
					t.Errorf("%s: a cell begins with %q: %.60s", template, c[0], c)
				}
			}
		}
	}
	for in, want := range map[string]string{
		"": "", "a=b": "a=b", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1",
		"@x": "'@x", "\tx": "'\tx", " =1": "' =1", "'": "'",
	} {
		if got := escapeFormula(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
