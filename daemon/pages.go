package daemon

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/web"
)

// pageViews is the rate category of page views, and maxPageViews the maximum per user and window. pageFiles and
// maxPageFiles are the same for files uploaded on pages. The API's own limits are meant for programs.
const (
	pageViews    = api.RateCategory("page views")
	maxPageViews = 600
	pageFiles    = api.RateCategory("page files")
	maxPageFiles = 300
)

// mountPages registers the handlers of the web pages.
func (s *Server) mountPages(setupCode string) *web.Site {
	router := s.mux.With(
		middleware.Compress(5, "text/html", "text/css", "text/javascript"),
		s.rejectCrossOriginChanges,
	)
	return web.RegisterPages(router, web.Options{
		Logger:      s.log,
		Clock:       s.clock,
		Unsubscribe: s.engine.Mail.Unsubscribe,
		Calls:       s.newPageCallHandler,
		FirstRun:    s.firstRun(setupCode),
		CountView:   s.newPageLimiter(pageViews),
		CountFile:   s.newPageLimiter(pageFiles),
		BaseURL:     s.baseURL,
		Stopping:    s.engine.StreamsClosed(),
		StreamBody: func(w http.ResponseWriter, r *http.Request) {
			r.Body = &minRateReader{eofTracker: eofTracker{ReadCloser: r.Body}, conn: http.NewResponseController(w)}
		},
	})
}

// baseURL returns the URL under which a browser reaches the service, without a trailing slash.
func (s *Server) baseURL(r *http.Request) string {
	switch {
	case s.publicURL != "":
		return strings.TrimSuffix(s.publicURL, "/")
	case s.isHTTPS(r):
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// newPageLimiter returns a function that counts a user's actions on pages, and returns an error once there are
// too many.
func (s *Server) newPageLimiter(category api.RateCategory) func(http.ResponseWriter, *http.Request, string) error {
	return func(w http.ResponseWriter, r *http.Request, userID string) error {
		return s.limiter.countAndLimitRequest(r.Context(), w, budget{api.BudgetSession, "page " + userID, category})
	}
}

// firstRun returns the options for creating the first organization in the browser, or nil if there is no code.
func (s *Server) firstRun(code string) *web.FirstRun {
	if code == "" {
		return nil
	}
	return &web.FirstRun{
		Code: code,
		IsNew: func(ctx context.Context) (bool, error) {
			has, err := s.engine.HasPasswordAccounts(ctx)
			return !has, err
		},
		Calls: func(w http.ResponseWriter, r *http.Request) http.Handler {
			return asLocalUser(s.newPageCallHandler(w, r))
		},
	}
}

type pageCallKey struct{}

// isPageCall reports whether an operation is called by a page of the service.
func isPageCall(ctx context.Context) bool {
	call, _ := ctx.Value(pageCallKey{}).(bool)
	return call
}

// newPageCallHandler returns the handler for the operations that a page calls in response to r. A call has the
// address, the device and the trace ID of r, and the cookies that it sets are sent with w. Its origin counts as
// the service's own, because rejectCrossOriginChanges has checked the origin of r.
func (s *Server) newPageCallHandler(w http.ResponseWriter, r *http.Request) http.Handler {
	return http.HandlerFunc(func(inner http.ResponseWriter, call *http.Request) {
		ctx := context.WithValue(call.Context(), pageCallKey{}, true)
		ctx = context.WithValue(ctx, chi.RouteCtxKey, (*chi.Context)(nil)) // otherwise, the route of r would be used
		call = call.WithContext(ctx)
		call.RemoteAddr, call.TLS, call.Host = r.RemoteAddr, r.TLS, r.Host
		for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto"} {
			if values := r.Header.Values(name); len(values) > 0 {
				call.Header[name] = values
			}
		}
		call.Header.Del("Origin")
		call.Header.Set("Sec-Fetch-Site", "same-origin")
		call.Header.Set(api.TraceHeader, traceIDFrom(r.Context()))
		if device, err := r.Cookie(api.DeviceCookie); err == nil {
			call.AddCookie(device)
		}
		s.mux.ServeHTTP(&cookieForwarder{ResponseWriter: inner, page: w}, call)
	})
}

// cookieForwarder sends the cookies of a call with the page's response.
type cookieForwarder struct {
	http.ResponseWriter
	page http.ResponseWriter
	once sync.Once
}

func (f *cookieForwarder) WriteHeader(status int) {
	f.once.Do(func() {
		for _, cookie := range f.Header().Values("Set-Cookie") {
			f.page.Header().Add("Set-Cookie", cookie)
		}
	})
	f.ResponseWriter.WriteHeader(status)
}

func (f *cookieForwarder) Write(b []byte) (int, error) {
	f.WriteHeader(http.StatusOK)
	return f.ResponseWriter.Write(b)
}

// isPageRequest reports whether a browser requests a page rather than the API.
func isPageRequest(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, "/api/") &&
		!isPageCall(r.Context())
}
