package daemon

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/web"
)

// LocalPagesOptions are the dependencies of the pages for the local user of this machine.
type LocalPagesOptions struct {
	Logger *slog.Logger
	Clock  func() time.Time
	// Transport carries the calls that the pages make on behalf of the local user.
	Transport http.RoundTripper
	// Host is the loopback address and port that the pages are served on.
	Host string
	// Stopping is closed when open-ended responses have to end.
	Stopping <-chan struct{}
}

// LocalPages serves the pages to the local user of this machine, who needs no account: a single-use link starts
// the browser's session. It serves no API other than its OpenAPI document, and must only be served on a loopback address.
type LocalPages struct {
	http.Handler
	o              LocalPagesOptions
	origins        originChecker
	site           *web.Site
	cookie, secret string

	mu  sync.Mutex
	key string // of the link; "" once the link has been used
	// open holds the time of the last report of each open page. viewed is the time at which a page was sent
	// that has not reported yet.
	open           map[string]time.Time
	viewed, closed time.Time
}

// originChecker checks where a form comes from, as the server does.
type originChecker struct{ host string }

// allows reports whether a request is for this host and, if it is a change, comes from one of its pages.
func (c originChecker) allows(r *http.Request) bool {
	if r.Host != c.host {
		return false
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	return r.Header.Get("Origin") == "http://"+c.host
}

// withoutRoute is a transport that hides the route of the calling page.
type withoutRoute struct{ http.RoundTripper }

// RoundTrip sends a call.
func (t withoutRoute) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.RoundTripper.RoundTrip(r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, (*chi.Context)(nil))))
}

const (
	// openPath is the path of the single-use link, and pagePath the path that open pages report to.
	openPath, pagePath = "/open", "/open/page"
	// pageTimeout is how long a page counts as open after its last report. It is long because browsers slow
	// down hidden pages.
	pageTimeout = 150 * time.Second
	// closeGrace is how long to wait after the last page was closed.
	closeGrace = time.Minute
	// silentTimeout is how long a page counts as open if it never reports, because the browser runs no scripts.
	silentTimeout = 30 * time.Minute
)

// NewLocalPages returns the pages for the local user of this machine.
func NewLocalPages(o LocalPagesOptions) *LocalPages {
	_, port, _ := strings.Cut(o.Host, ":")
	// Cookies don't distinguish ports, so the name does.
	p := &LocalPages{
		o: o, origins: originChecker{o.Host}, cookie: "service-open-" + port, secret: rand.Text(), key: rand.Text(), //nolint:forbidigo // secrets are random
		open: map[string]time.Time{}, viewed: o.Clock(),
	}
	mux := chi.NewMux()
	mux.Use(middleware.GetHead, middleware.Compress(5, "text/html", "text/css", "text/javascript"), p.requireSession)
	mux.Get(openPath, p.exchangeLinkForSession)
	mux.Post(pagePath, p.recordPageOpenOrClosed)
	mux.Get(OpenAPIPath, p.forwardOpenAPI)
	mux.Get(OpenAPIYAMLPath, p.forwardOpenAPI)
	p.site = web.RegisterPages(mux, web.Options{
		Logger: o.Logger, Clock: o.Clock, Transport: withoutRoute{o.Transport}, SessionCookie: p.cookie, IsLocal: true, Stopping: o.Stopping,
		BaseURL:    func(*http.Request) string { return "http://" + o.Host },
		CountView:  func(http.ResponseWriter, *http.Request, string) error { return nil },
		CountFile:  func(http.ResponseWriter, *http.Request, string) error { return nil },
		StreamBody: func(http.ResponseWriter, *http.Request) {},
	})
	mux.NotFound(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, api.Prefix) { // the API reference sent a request
			w.Header().Set("Content-Type", "application/json")
			e := api.Forbidden("`service open` serves only pages; to send requests to the API, start a server with `service daemon`")
			w.WriteHeader(e.HTTPStatus())
			_ = json.NewEncoder(w).Encode(api.ErrorEnvelope{Error: e})
			return
		}
		p.site.WriteError(w, r, api.NotFound("page", r.URL.Path))
	})
	p.Handler = mux
	return p
}

// forwardOpenAPI serves the OpenAPI document of the server that the pages call.
func (p *LocalPages) forwardOpenAPI(w http.ResponseWriter, r *http.Request) {
	proxy := httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "service.local"})
			r.Out.Header.Del("Cookie")
		},
		Transport: withoutRoute{p.o.Transport},
	}
	proxy.ServeHTTP(w, r)
}

// Link returns the single-use link that starts the session.
func (p *LocalPages) Link() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "http://" + p.o.Host + openPath + "?key=" + p.key
}

// isSignedIn reports whether the browser has the session.
func (p *LocalPages) isSignedIn(r *http.Request) bool {
	c, err := r.Cookie(p.cookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(p.secret)) == 1
}

// requireSession serves pages only to the browser that was opened with the link.
func (p *LocalPages) requireSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !p.origins.allows(r):
			p.site.WriteError(w, r, api.Forbidden("only pages at http://%s are allowed to do this", p.o.Host))
		case r.URL.Path == openPath || strings.HasPrefix(r.URL.Path, "/static/"):
			next.ServeHTTP(w, r)
		case !p.isSignedIn(r):
			p.site.WriteError(w, r, api.Unauthorized("the link was already used, or opened in another browser; run `service open` for a new one"))
		default:
			if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
				p.mu.Lock()
				p.viewed = p.o.Clock()
				p.mu.Unlock()
			}
			next.ServeHTTP(w, r)
		}
	})
}

// exchangeLinkForSession exchanges the link's key for a session.
func (p *LocalPages) exchangeLinkForSession(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	valid := p.key != "" && subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("key")), []byte(p.key)) == 1
	if valid {
		p.key = ""
	}
	p.mu.Unlock()
	switch {
	case valid:
		http.SetCookie(w, &http.Cookie{Name: p.cookie, Value: p.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	case !p.isSignedIn(r):
		p.site.WriteError(w, r, api.Unauthorized("the link was already used or is incomplete; run `service open` for a new one"))
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// maxPages is the maximum number of open pages that are counted.
const maxPages = 1000

// recordPageOpenOrClosed records that a page is open or has been closed.
func (p *LocalPages) recordPageOpenOrClosed(w http.ResponseWriter, r *http.Request) {
	id, now := r.URL.Query().Get("id"), p.o.Clock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.viewed = time.Time{}
	if r.URL.Query().Has("closed") {
		delete(p.open, id)
		p.closed = now
	} else if len(id) <= 40 && len(p.open) < maxPages {
		p.open[id] = now
	}
	w.WriteHeader(http.StatusNoContent)
}

// IsUnused reports whether no page is open, and the last one was closed at least closeGrace ago.
func (p *LocalPages) IsUnused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.o.Clock()
	for id, at := range p.open {
		if now.Sub(at) > pageTimeout {
			delete(p.open, id)
			p.closed = at.Add(pageTimeout)
		}
	}
	return len(p.open) == 0 && now.Sub(p.viewed) > silentTimeout && now.Sub(p.closed) >= closeGrace
}
