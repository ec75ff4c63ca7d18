package web

import (
	"bytes"
	"html/template"
	"net/http"
	"sync"
)

// view is the data of the pages that an email or a one-time link leads to, without signing in.
type view struct {
	Title, Text, Script string
	// Token is the token to unsubscribe with, or "" for a page without that button.
	Token string
}

// linkTemplates returns the templates of these pages by file name; they are parsed on first use.
var linkTemplates = sync.OnceValue(func() map[string]*template.Template {
	out := map[string]*template.Template{}
	for _, name := range []string{"link.html", "unsubscribe.html"} {
		out[name] = template.Must(template.ParseFS(files, "templates/linkpage.html", "templates/"+name))
	}
	return out
})

// scriptedPage returns a page whose content is filled in by its script.
func scriptedPage(name, script string) http.Handler {
	page := sync.OnceValue(func() Asset {
		var b bytes.Buffer
		if err := linkTemplates()[name].Execute(&b, view{Script: script}); err != nil {
			panic("web: " + err.Error()) // the template is embedded
		}
		return NewAsset("text/html; charset=utf-8", b.Bytes())
	})
	return withSecurityHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { page().ServeHTTP(w, r) }))
}

// contentPolicy is a content security policy that allows a page to load files of this service and to call
// it, and nothing else. The page can't be framed. The sources to which forms may be sent must be appended.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'; form-action "

// withSecurityHeaders adds security headers to pages whose forms are submitted by their scripts, so the
// policy forbids submission by the browser.
func withSecurityHeaders(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header(), contentPolicy+"'none'")
		h.ServeHTTP(w, r)
	})
}

func setSecurityHeaders(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}
