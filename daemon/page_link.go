package daemon

import (
	"embed"
	"net/http"
)

// The page that opens one-time links, /link#TOKEN. Browsers do not send what stands
// behind the #, so the secret is in no log; the page's script reads it and asks the
// same operations as any other client.
//
//go:embed page_link.html page_link.css page_link.js
var linkFiles embed.FS

// linkPolicy lets the page load its own two files and an empty icon, and call this service; nothing
// else, and it can't be framed.
const linkPolicy = "default-src 'none'; img-src data:; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (s *Server) mountLinkPage() {
	for path, file := range map[string]struct{ name, kind string }{
		"/link":          {"page_link.html", "text/html; charset=utf-8"},
		"/link/page.css": {"page_link.css", "text/css; charset=utf-8"},
		"/link/page.js":  {"page_link.js", "text/javascript; charset=utf-8"},
	} {
		content, err := linkFiles.ReadFile(file.name)
		if err != nil {
			panic("daemon: " + err.Error()) // it is in the program
		}
		s.mountPage(path, file.kind, content)
	}
}

// mountPage serves one of the program's own pages or files.
func (s *Server) mountPage(path, kind string, content []byte) {
	serve := func(w http.ResponseWriter, _ *http.Request) {
		setPageHeaders(w.Header(), kind, linkPolicy)
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(content)
	}
	s.mux.Get(path, serve)
	s.mux.Head(path, serve)
}

func setPageHeaders(h http.Header, kind, policy string) {
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}
