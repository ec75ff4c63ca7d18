// Package html writes a report as one self-contained page.
package html

import (
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

	// pageTemplate is parsed on first use so that it does not slow down every command.
	pageTemplate = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("page").Funcs(template.FuncMap{"cell": cellHTML, "drawn": pictureHTML}).Parse(pageSource))
	})
)

// htmlPage is a document with its style.
type htmlPage struct {
	block.Document
	Style template.CSS
	Defs  template.HTML
	// Image is the logo as a data URL; empty if there is none.
	Image template.URL
}

// pictureHTML returns a picture as SVG; the drawing escapes its text.
func pictureHTML(p block.Picture) template.HTML { return template.HTML(p.SVG()) }

// Write writes one self-contained page without scripts or network access.
func Write(w io.Writer, d block.Document) error {
	var image template.URL
	if len(d.Logo) > 0 {
		image = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(d.Logo))
	}
	return pageTemplate().Execute(
		w,
		htmlPage{Document: d, Style: template.CSS(d.Theme.CSS() + pageCSS), Defs: template.HTML(drawing.SVGPatternDefs()), Image: image},
	)
}

// cellHTML returns a cell as the content of an element, with all text escaped. A large report has a
// hundred thousand cells, so they are written here rather than by the template.
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

// writeBarHTML writes a bar that fills its container, with segments distinguished by pattern.
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
