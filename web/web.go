// Package web holds the pages that the daemon serves to browsers: one-time links, approvals,
// unsubscribing from the daily email, and the API reference. Pages call the operations of the
// contract, as any other client does, and contain no rule of the domain.
package web

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"log/slog"
	"net/http"
	"sync"
)

// DocsPath is the address of the API reference.
const DocsPath = "/docs"

const unsubscribePath = "/unsubscribe"

// Options are the dependencies of the pages.
type Options struct {
	Logger *slog.Logger
	// Unsubscribe ends the daily email of the user to whom the token was sent.
	Unsubscribe func(ctx context.Context, token string) error
}

// Router registers a handler for a pattern such as "GET /link". http.ServeMux and chi.Mux are routers.
type Router interface {
	Handle(pattern string, h http.Handler)
}

// RegisterPages adds the pages and their files to r.
//
// The secret of a one-time link and the ID of an approval follow a "#" in the address. Browsers do not
// send that part, so it appears in no log; the page's script reads it.
func RegisterPages(r Router, o Options) {
	r.Handle("GET /link", scriptedPage("link.html", "link/page.js"))
	r.Handle("GET /approval", scriptedPage("approval.html", "approval/page.js"))
	u := unsubscriber{o}
	r.Handle("GET "+unsubscribePath, http.HandlerFunc(u.askToConfirm))
	r.Handle("POST "+unsubscribePath, http.HandlerFunc(u.unsubscribe))

	for path, file := range map[string]struct{ name, contentType string }{
		"/link/page.css":       {"page.css", "text/css; charset=utf-8"},
		"/link/page.js":        {"link.js", "text/javascript; charset=utf-8"},
		"/approval/page.js":    {"approval.js", "text/javascript; charset=utf-8"},
		DocsPath:               {"docs.html", "text/html; charset=utf-8"},
		DocsPath + "/page.css": {"docs.css", "text/css; charset=utf-8"},
		DocsPath + "/page.js":  {"docs.js", "text/javascript; charset=utf-8"},
	} {
		body, err := files.ReadFile("static/" + file.name)
		if err != nil {
			panic("web: " + err.Error()) // the file is embedded
		}
		r.Handle("GET "+path, withSecurityHeaders(NewAsset(file.contentType, body)))
	}
}

//go:embed static templates
var files embed.FS

// view is the data that the templates show.
type view struct {
	Title, Text, Script string
	// Token is the token to unsubscribe with, or "" for a page without that button.
	Token string
}

// templates returns the page templates by file name, each within the layout; they are parsed on first use.
var templates = sync.OnceValue(func() map[string]*template.Template {
	out := map[string]*template.Template{}
	for _, name := range []string{"link.html", "approval.html", "unsubscribe.html"} {
		out[name] = template.Must(template.ParseFS(files, "templates/layout.html", "templates/"+name))
	}
	return out
})

// scriptedPage returns a page whose content is filled in by its script.
func scriptedPage(name, script string) http.Handler {
	page := sync.OnceValue(func() Asset {
		var b bytes.Buffer
		if err := templates()[name].Execute(&b, view{Script: script}); err != nil {
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
