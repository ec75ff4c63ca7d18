package pdf

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/reporttest"
	"github.com/scf-service/service/internal/testutil/longtest"
)

// TestPDFLinks checks that all links have a target and that the table of contents shows the page
// numbers.
func TestPDFLinks(t *testing.T) {
	for name, s := range reporttest.Sources(longtest.Enabled()) {
		for _, k := range content.Templates {
			v := content.New(s, k.Name, "", false)
			d := v.Document()
			p, err := layOutDocument(d, Fonts{})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range p.links {
				if _, known := p.anchors[l.ref]; !known {
					t.Errorf("%s, %s: page %d links to %q, which is nowhere", name, k.Name, l.page, l.ref)
				}
			}
			for _, e := range p.contentsEntries {
				if to := p.anchors[e.ref]; to.page == 0 || to.page > p.file.PageCount() {
					t.Errorf("%s, %s: the contents send to page %d for %q", name, k.Name, to.page, e.ref)
				}
			}
		}
	}
}

// TestPDFStaysOnThePage checks that lines are not wider than their column and lose no text, whatever the texts.
func TestPDFStaysOnThePage(t *testing.T) {
	p, err := layOutDocument(block.Document{Time: reporttest.HostileSource().AsOf}, Fonts{})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 10_000)
	for _, width := range []float64{6, 40, 200} {
		for _, c := range []block.Cell{
			block.Prose(long),
			block.Prose("a b\n\n  c\td"),
			block.Badge("high", "Very "+long),
			block.UserText("日本語のテキスト" + strings.Repeat("長", 400)),
			block.Text("").With(block.Span{Text: long, Mono: true}),
			block.Prose("👍🏽 \u202eabc\u0301"),
		} {
			var all strings.Builder
			for _, l := range p.breakLines(p.splitWords(c, textStyle{p.fonts.regular, 8, drawing.Ink}), width) {
				if l.width > width+1 && width > 2*badgePad+8 {
					t.Errorf("a line of %.0f points in %.0f: %+v", l.width, width, l.runs)
				}
				for _, r := range l.runs {
					all.WriteString(r.text)
				}
			}
			squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
			if want := squeeze(c[len(c)-1].Text); len(p.missing) == 0 && squeeze(all.String()) != want {
				t.Errorf("%d bytes of text became %d", len(want), len(squeeze(all.String())))
			}
		}
	}
}

// TestPDFDraftMarks checks that the mark in the header of each page has its own color, whatever else the page shows.
func TestPDFDraftMarks(t *testing.T) {
	d := content.New(reporttest.Sources(false)["under review"], "client", "", false).Document()
	d.Draft = []string{"The plan is a draft."}
	p, err := layOutDocument(d, Fonts{})
	if err != nil {
		t.Fatal(err)
	}
	p.setFillColor(drawing.Bad) // as if the last page ended with a mark of that color
	p.drawHeadersAndResolveLinks()
	p.file.SetCompression(false)
	var b bytes.Buffer
	if err := p.file.Output(&b); err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf("BT %.2f %.2f Td", p.pageRight()-p.fonts.bold.textWidth("DRAFT", 9), p.height-38)
	r, g, blue := p.rgb(drawing.Bad)
	colored := fmt.Sprintf("q %.3f %.3f %.3f rg %s", float64(r)/255, float64(g)/255, float64(blue)/255, at)
	n, marks := bytes.Count(b.Bytes(), []byte(colored)), bytes.Count(b.Bytes(), []byte(at))
	if n != marks || marks != 2*(p.file.PageCount()-1) {
		t.Errorf("%d of %d marks on %d pages have their color", n, marks, p.file.PageCount())
	}
}
