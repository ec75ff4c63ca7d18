package web

import (
	"html/template"
	"path"
	"reflect"
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
		panic("web: " + err.Error()) // can't happen, because the templates are embedded
	}
	functions := template.FuncMap{
		"label":       label,
		"consequence": consequence,
		"words":       func(s any) string { return prose.Humanize(text(s)) },
		"lower":       strings.ToLower,
		"cite":        print.FormatCitation,
		"place":       func(l api.Locator) string { return print.FormatLocation(nil, l) },
		"where":       print.FormatLocation,
		"time":        print.FormatTime,
		"iso":         func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"count":       prose.Count,
		"changes":     changesText,
		"percent":     func(p *float64) string { return prose.Decimal(*p) + "%" },
		"sentence":    func(s any) string { return sentence(text(s)) },
	}
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html", "templates/parts.html"))
	for _, e := range entries {
		out[e.Name()] = template.Must(template.Must(layout.Clone()).ParseFS(files, path.Join("templates/pages", e.Name())))
	}
	return out
})

// label returns an API value as capitalized words.
func label(s any) string { return prose.Capitalize(prose.Humanize(text(s))) }

// text returns a value of a string type, or the string that v points to, as a string.
func text(v any) string { return reflect.Indirect(reflect.ValueOf(v)).String() }

// sentence returns a message as a sentence.
func sentence(s string) string {
	s = prose.Capitalize(strings.TrimSpace(s))
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}
