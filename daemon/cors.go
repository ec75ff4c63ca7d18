package daemon

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// corsRequestHeaders are the request headers that a page from another origin may send: those in section 5 of
// the API specification, and those that make it safe to repeat a change.
var corsRequestHeaders = []string{
	"Content-Type", "Authorization", "X-Trace-Id", "X-Tenant-Id", "x-service-tenant-id",
	api.IdempotencyHeader, "If-Match", "If-None-Match", "Range",
}

// corsExposedHeaders are the response headers that a page from another origin may read.
var corsExposedHeaders = []string{
	api.TraceHeader, "Location", "ETag", "Content-Disposition", "Content-Range", "Retry-After", api.RateLimitHeader,
	api.RateRemainingHeader, api.RateResetHeader, api.IdempotencyReplayed,
}

// ParseOrigin returns the origin of a URL (scheme, host and port, as sent by browsers), or an error if the URL
// is not an origin.
func ParseOrigin(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", api.Invalid("", "%q is not a web origin; use the format https://app.example.com", address)
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// handleCORS adds the CORS headers for the configured origins.
func (s *Server) handleCORS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		preflight := r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
		w.Header().Add("Vary", "Origin")
		if origin != "" && slices.Contains(s.origins, strings.ToLower(origin)) {
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Allow-Credentials", "true")
			h.Set("Access-Control-Expose-Headers", strings.Join(corsExposedHeaders, ", "))
			if preflight {
				h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
				h.Set("Access-Control-Allow-Headers", strings.Join(corsRequestHeaders, ", "))
				h.Set("Access-Control-Max-Age", "600")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		} else if preflight {
			s.writeError(w, r, api.Forbidden("pages from %s are not allowed to call this service; its operator can "+
				"allow them with --web-origin", origin))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkOrigin rejects a change that a browser sends from a foreign page: Origin and Sec-Fetch-Site, if present,
// must show that the request comes from this service's own pages or from an allowed origin. The check also
// applies to requests without a cookie: otherwise, a foreign page could sign a user in to another user's
// account.
func (s *Server) checkOrigin(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	switch {
	case origin != "" && slices.Contains(s.origins, strings.ToLower(origin)), site == "same-origin":
		return nil
	case (site == "" || site == "none") && (origin == "" || s.isOwnOrigin(r, origin)):
		return nil
	case origin == "" || origin == "null":
		origin = "another site"
	}
	return api.Forbidden("pages from %s are not allowed to make changes in this service; its operator can allow "+
		"them with --web-origin", origin)
}

// isOwnOrigin reports whether an origin is the one that the request was sent to.
func (s *Server) isOwnOrigin(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && u.User == nil && strings.EqualFold(u.Host, r.Host) &&
		(u.Scheme == "https" || !s.isHTTPS(r)) // an http page may have been forged on the network
}

// checkCSRF rejects a change that a foreign page makes with a session's cookie. The page's origin must be
// known, because browsers send the cookie automatically.
func (s *Server) checkCSRF(r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead &&
		r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		return api.Forbidden(
			"a request that makes changes with a session cookie must have an Origin or Sec-Fetch-Site header from " +
				"an allowed page; programs should use an API key",
		)
	}
	return s.checkOrigin(r)
}

// rejectCrossOriginChanges rejects changes from foreign pages on routes that are not operations.
func (s *Server) rejectCrossOriginChanges(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.checkOrigin(r); err != nil {
			s.writeError(w, r, api.AsError(err))
			return
		}
		next.ServeHTTP(w, r)
	})
}
