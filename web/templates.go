package web

import (
	"html/template"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// templates returns the templates of the pages by file name, each within the layout; they are parsed on
// first use.
var templates = sync.OnceValue(func() map[string]*template.Template {
	out := map[string]*template.Template{}
	entries, err := files.ReadDir("templates/pages")
	if err != nil {
		panic("web: " + err.Error()) // the templates are embedded
	}
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html"))
	for _, e := range entries {
		out[e.Name()] = template.Must(template.Must(layout.Clone()).ParseFS(files, path.Join("templates/pages", e.Name())))
	}
	return out
})

var functions = template.FuncMap{
	"label":    label,
	"words":    func(s any) string { return prose.Humanize(text(s)) },
	"lower":    strings.ToLower,
	"cite":     print.FormatCitation,
	"place":    func(l api.Locator) string { return print.FormatLocation(nil, l) },
	"where":    print.FormatLocation,
	"time":     print.FormatTime,
	"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"count":    prose.Count,
	"percent":  func(p *float64) int { return int(*p + 0.5) },
	"sentence": func(s any) string { return sentence(text(s)) },
}

func label(s any) string { return prose.Capitalize(prose.Humanize(text(s))) }

// text returns a value of one of the contract's enumerations as a string.
func text(v any) string {
	switch s := v.(type) {
	case string:
		return s
	case *string:
		return *s
	case api.DocumentState:
		return string(s)
	case api.State:
		return string(s)
	case api.Gate:
		return string(s)
	case api.Role:
		return string(s)
	case api.VersionStatus:
		return string(s)
	case api.Implementation:
		return string(s)
	case api.Applicability:
		return string(s)
	case api.Severity:
		return string(s)
	}
	return ""
}

// sentence returns a message as a sentence.
func sentence(s string) string {
	s = prose.Capitalize(strings.TrimSpace(s))
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}
