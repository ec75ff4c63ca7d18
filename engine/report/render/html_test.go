package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/reporttest"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/testutil/longtest"
)

// tree is a parsed page.
type tree struct{ all []*html.Node }

func parse(t testing.TB, page []byte) tree {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var out tree
	for n := range root.Descendants() {
		out.all = append(out.all, n)
	}
	return out
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func (p tree) byID(id string) *html.Node {
	for _, n := range p.all {
		if attribute(n, "id") == id {
			return n
		}
	}
	return nil
}

// policy returns the element that contains the page's content security policy.
func (p tree) policy() *html.Node {
	for _, n := range p.all {
		if attribute(n, "http-equiv") == "Content-Security-Policy" {
			return n
		}
	}
	return &html.Node{}
}

func (p tree) text() string {
	var b strings.Builder
	for _, n := range p.all {
		if n.Type == html.TextNode && n.Parent.Data != "style" && n.Parent.Data != "script" {
			b.WriteString(n.Data)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// TestHTMLIsSoundAndSelfContained checks that every page is well-formed, self-contained and
// accessible.
func TestHTMLIsSoundAndSelfContained(t *testing.T) {
	for name, s := range reporttest.Sources(longtest.Enabled()) {
		for _, k := range content.Templates {
			if !slices.Contains(supportedFormatNames(k), FormatHTML) {
				continue
			}
			raw := write(t, s, k.Name, FormatHTML)
			page := parse(t, raw)
			ids := map[string]bool{}
			mains, captions, tables, scripts := 0, 0, 0, 0
			for _, n := range page.all {
				if id := attribute(n, "id"); id != "" {
					if ids[id] {
						t.Errorf("%s %s: the id %s is there twice", name, k.Name, id)
					}
					ids[id] = true
				}
				if n.Type != html.ElementNode {
					continue
				}
				switch n.Data {
				case "script":
					sum := sha256.Sum256([]byte(n.FirstChild.Data))
					policy := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
					if scripts++; scripts > 1 || !strings.Contains(attribute(page.policy(), "content"), policy) {
						t.Errorf("%s %s: a script that the policy does not allow by its hash", name, k.Name)
					}
				case "link",
					"img",
					"iframe",
					"object",
					"embed",
					"form",
					"input",
					"base",
					"video",
					"audio",
					"foreignobject",
					"use",
					"image":
					t.Errorf("%s %s: there is a <%s>", name, k.Name, n.Data)
				case "main":
					mains++
				case "table":
					tables++
				case "caption":
					captions++
				case "th":
					if attribute(n, "scope") == "" {
						t.Errorf("%s %s: a heading cell without a scope", name, k.Name)
					}
				case "svg":
					if attribute(n, "aria-hidden") == "" &&
						(attribute(n, "role") != "img" || attribute(n, "aria-label") == "" || n.FirstChild.Data != "title") {
						t.Errorf("%s %s: a picture without words", name, k.Name)
					}
				}
				for _, a := range n.Attr {
					if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
						t.Errorf("%s %s: <%s %s=%q>", name, k.Name, n.Data, a.Key, a.Val)
					}
				}
			}
			for _, n := range page.all {
				if to := strings.TrimPrefix(attribute(n, "href"), "#"); to != "" && !ids[to] {
					t.Errorf("%s %s: a link to %q, which is not there", name, k.Name, to)
				}
				for _, to := range strings.Fields(attribute(n, "aria-labelledby")) {
					if !ids[to] {
						t.Errorf("%s %s: labelled by %q, which is not there", name, k.Name, to)
					}
				}
			}
			if mains != 1 || tables != captions {
				t.Errorf("%s %s: %d main, %d tables, %d captions", name, k.Name, mains, tables, captions)
			}
			if bytes.Contains(raw, []byte("ZgotmplZ")) {
				t.Errorf("%s %s: the template refused a value", name, k.Name)
			}
		}
	}
}

// TestHTMLShowsEveryText checks that all texts from users and documents are shown in full.
func TestHTMLShowsEveryText(t *testing.T) {
	for name, s := range reporttest.Sources(longtest.Enabled()) {
		text := parse(t, write(t, s, content.TemplateFull, FormatHTML)).text()
		has := func(what, s string) {
			if s = wording.ReplaceControlCharacters(s); s != "" && !strings.Contains(text, s) {
				t.Errorf("%s: %s is not in the report: %.80q", name, what, s)
			}
		}
		quotes := func(all []api.Evidence) {
			for _, e := range all {
				has("a quote", e.Quote)
				has("a hash", e.SHA256)
				has("a place", wording.FormatLocator(e.Locator))
			}
		}
		for i := range s.SoAItems {
			it := &s.SoAItems[i]
			has("a control", it.ControlCode)
			has("a rationale", it.Rationale)
			quotes(it.Evidence)
		}
		for i := range s.Findings {
			f := &s.Findings[i]
			for _, x := range []string{f.ControlTitle, f.Condition, f.Criteria, f.Cause, f.Effect, f.Recommendation, f.SeverityReason} {
				has("a finding's text", x)
			}
			quotes(f.Evidence)
		}
		for i := range s.Scores {
			has("a level's criteria", s.Scores[i].Criteria)
			quotes(s.Scores[i].Evidence)
		}
		for i := range s.POAMItems {
			has("a plan item", s.POAMItems[i].POAMCode)
			has("a weakness", s.POAMItems[i].Weakness)
			for _, m := range s.POAMItems[i].Milestones {
				has("a milestone", m.Title)
			}
		}
		for _, d := range s.Documents {
			has("a document", d.Filename)
			has("a document's hash", d.SHA256)
			if d.Error != nil {
				has("why a document was not read", *d.Error)
			}
		}
		for _, a := range s.Approvals {
			has("an approver", a.DecidedBy.Name)
			has("an approved hash", a.TargetSHA256)
		}
	}
}

func TestStarterIsSaid(t *testing.T) {
	s := reporttest.SampleSource(2)
	if strings.Contains(string(write(t, s, content.TemplateFull, FormatHTML)), "STARTER CATALOG") {
		t.Error("an official catalog is called the starter")
	}
	s.Catalog.IsStarter = true
	eachFormat(func(template, format string) {
		// PDF and XLSX are compressed; their content has separate tests.
		text := write(t, s, template, format)
		switch format {
		case FormatDOCX:
			text = []byte(reporttest.UnzipParts(t, text)["word/document.xml"])
		case FormatPPTX:
			text = []byte(reporttest.UnzipParts(t, text)["ppt/slides/slide1.xml"])
		}
		if format != FormatCSV && format != FormatPDF && format != FormatXLSX &&
			!strings.Contains(strings.ToLower(string(text)), "starter catalog") {
			t.Errorf("%s as %s does not say that the catalog is the starter", template, format)
		}
	})
}

// insideFrame fails if a shape is outside its drawing.
func insideFrame(t *testing.T, d drawing.Drawing) {
	t.Helper()
	in := func(x, y float64) {
		if !(x >= -1 && x <= d.Width+1 && y >= -1 && y <= d.Height+1) {
			t.Errorf("%s: a shape at %.0f, %.0f of %.0f × %.0f", d.Title, x, y, d.Width, d.Height)
		}
	}
	for _, s := range d.Shapes {
		switch s := s.(type) {
		case drawing.Box:
			in(s.X, s.Y)
			in(s.X+s.W, s.Y+s.H)
		case drawing.Line:
			for _, p := range s.Points {
				in(p.X, p.Y)
			}
		case drawing.Area:
			for _, p := range s.Points {
				in(p.X, p.Y)
			}
		case drawing.Dot:
			in(s.X-s.R, s.Y-s.R)
			in(s.X+s.R, s.Y+s.R)
		case drawing.Label:
			x, w := s.X, drawing.TextWidth(s.Text, s.Size, s.Bold)
			switch s.Anchor {
			case drawing.Middle:
				x -= w / 2
			case drawing.End:
				x -= w
			}
			in(x, s.Y)
			in(x+w, s.Y)
		}
	}
}

// TestPicturesStayInsideTheirFrames checks that every picture stays inside its frame and has a text
// alternative.
func TestPicturesStayInsideTheirFrames(t *testing.T) {
	for name, s := range reporttest.Sources(longtest.Enabled()) {
		for _, k := range content.Templates {
			v := content.New(s, k.Name, "", false)
			var look func(all []block.Block)
			look = func(all []block.Block) {
				for _, b := range all {
					switch b := b.(type) {
					case block.Picture:
						insideFrame(t, b.Drawing)
						if b.Title == "" || b.Description == "" || len(b.Shapes) == 0 {
							t.Errorf("%s %s: a picture without words: %q", name, k.Name, b.Title)
						}
					case block.Table:
						for _, d := range b.BarCharts() {
							insideFrame(t, d)
						}
					case block.Card:
						look(b.Blocks)
					}
				}
			}
			for _, sec := range v.Document().Sections {
				look(sec.Blocks)
			}
		}
	}
}
