// Package html writes a report as one self-contained page.
package html

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
)

var (
	//go:embed page.html.tmpl
	pageSource string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageScript string

	// pageTemplate returns the template of the page. It is parsed on first use, because parsing it at startup would
	// slow down every command.
	pageTemplate = sync.OnceValue(func() *template.Template {
		functions := template.FuncMap{"cell": cellHTML, "drawn": pictureHTML, "tableClass": tableClass}
		return template.Must(template.New("page").Funcs(functions).Parse(pageSource))
	})
)

// ScriptSource returns the source expression (a hash) that allows the page's only script in a content security
// policy. The script finds and filters entries; without it, the page shows everything.
func ScriptSource() string {
	sum := sha256.Sum256([]byte(pageScript))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// htmlPage is the data of the page template: a document and its style sheet.
type htmlPage struct {
	block.Document
	Style template.CSS
	Defs  template.HTML
	// Script is the script element, and ScriptSource its source in the page's policy.
	Script       template.HTML
	ScriptSource string
	// Image is the logo as a data URL; empty if there is none.
	Image template.URL
}

// pictureHTML returns a picture as an SVG element, in which all text is escaped.
func pictureHTML(p block.Picture) template.HTML { return template.HTML(p.SVG()) }

// Write writes a report as a single HTML page. It loads nothing from the network, and its content
// security policy allows only its own script.
func Write(w io.Writer, d block.Document) error {
	var image template.URL
	if len(d.Logo) > 0 {
		image = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(d.Logo))
	}
	return pageTemplate().Execute(
		w,
		&htmlPage{
			Document: d, Style: template.CSS(d.Theme.CSS() + pageCSS + labelRules(&d)), Defs: template.HTML(drawing.SVGPatternDefs()), Image: image,
			Script: template.HTML("<script>" + pageScript + "</script>"), ScriptSource: ScriptSource(),
		},
	)
}

// cellHTML returns the HTML of a cell's content, with all text escaped. The template isn't used for cells, because
// it would be too slow for the hundred thousand cells of a large report.
func cellHTML(c block.Cell) template.HTML {
	var b strings.Builder
	for _, s := range c {
		text := template.HTMLEscapeString(s.Text)
		switch {
		case s.UserText:
			b.WriteString("<bdi>" + text + "</bdi>")
		case s.Prose:
			b.WriteString(`<div class="prose" dir="auto">` + text + "</div>")
		case s.Badge != "":
			b.WriteString(`<span class="badge is-` + s.BadgeClass() + `">` + text + "</span>")
		case s.Ref != "":
			b.WriteString(`<a href="#` + template.HTMLEscapeString(s.Ref) + `"><bdi>` + text + "</bdi></a>")
		case s.Mono:
			b.WriteString("<code>" + text + "</code>")
		case s.NoBreak:
			b.WriteString(`<span class="keep">` + text + "</span>")
		case s.Strong:
			b.WriteString("<strong><bdi>" + text + "</bdi></strong>")
		case s.Bar != nil:
			writeBarHTML(&b, s.Bar)
		default:
			b.WriteString(text)
		}
	}
	return template.HTML(b.String())
}

// writeBarHTML writes a bar that is as wide as its container. Patterns distinguish its segments.
func writeBarHTML(b *strings.Builder, r *block.Bar) {
	name := template.HTMLEscapeString(r.Label)
	fmt.Fprintf(
		b,
		`<svg class="bar" role="img" width="100%%" height="16" aria-label="%s"><title>%s</title><rect width="100%%" height="16" class="track"/>`,
		name,
		name,
	)
	for _, s := range r.Segments() {
		fmt.Fprintf(b, `<rect x="%v%%" width="%v%%" height="16" class="f-%s"/>`, s.X, s.Width, s.Fill)
	}
	if at := r.MarkPercent(); at >= 0 {
		fmt.Fprintf(b, `<line x1="%v%%" x2="%v%%" y1="0" y2="16" class="mark"/>`, at, at)
	}
	b.WriteString("</svg>")
}
