package daemon

import (
	"embed"
	"net/http"
	"path"
	"strings"

	"github.com/scf-service/service/api"
)

//go:embed docspage
var docsFiles embed.FS

// docsPagePolicy lets the page load its own files and nothing else: no inline scripts, no other
// host, no framing.
const docsPagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'"

// mountDocsPage serves the page that shows the OpenAPI document and sends requests. Its files are
// embedded, so it works offline.
func (s *Server) mountDocsPage() {
	for name, kind := range map[string]string{
		"index.html": "text/html; charset=utf-8",
		"page.css":   "text/css; charset=utf-8",
		"page.js":    "text/javascript; charset=utf-8",
	} {
		at := DocsPath
		if !strings.HasSuffix(name, ".html") {
			at = path.Join(DocsPath, name)
		}
		s.mux.Get(at, func(w http.ResponseWriter, r *http.Request) {
			body, err := docsFiles.ReadFile("docspage/" + name)
			if err != nil {
				s.writeError(w, r, api.AsError(err))
				return
			}
			h := w.Header()
			h.Set("Content-Security-Policy", docsPagePolicy)
			h.Set("Referrer-Policy", "no-referrer")
			newStaticAsset(kind, body).serve(w, r)
		})
	}
}
