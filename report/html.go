package report

import (
	_ "embed"
	"html/template"
	"io"
)

var (
	//go:embed page.html.tmpl
	pageSource string
	//go:embed page.css
	pageStyle string

	pageTemplate = template.Must(template.New("page").Parse(pageSource))
)

// htmlPage is a document and how it looks.
type htmlPage struct {
	document
	Style template.CSS
	// Fills are the patterns that tell a bar's parts apart without colour.
	Fills []string
}

// writeHTML writes one self-contained page: no script, no network.
func writeHTML(w io.Writer, d document) error {
	fills := []string{}
	for _, o := range outcomes {
		fills = append(fills, string(o))
	}
	return pageTemplate.Execute(w, htmlPage{document: d, Style: template.CSS(pageStyle), Fills: fills})
}
