package daemon

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// corsRequestHeaders are the headers a page from another origin may send: those of section 5 of the
// API specification, and those that make changes safe to repeat.
var corsRequestHeaders = []string{
	"Content-Type", "Authorization", "X-Trace-Id", "X-Tenant-Id", "x-service-tenant-id",
	api.IdempotencyHeader, "If-Match", "If-None-Match", "Range",
}

// corsExposedHeaders are the headers such a page may read.
var corsExposedHeaders = []string{
	api.TraceHeader, "Location", "ETag", "Content-Disposition", "Content-Range", "Retry-After", api.RateLimitHeader,
	api.RateRemainingHeader, api.RateResetHeader, api.IdempotencyReplayed,
}

// ParseOrigin returns the origin of a web address (scheme, host and port, as sent by browsers), or
// an error if it is invalid.
func ParseOrigin(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", api.Invalid("", "%q is no web origin; write it as https://app.example.com", address)
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
			s.writeError(w, r, api.Forbidden("pages of %s may not call this service; its operator can allow them with --web-origin", origin))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkCSRF refuses a change that a foreign page makes with the browser's cookie: Origin or
// Sec-Fetch-Site must show that the request comes from this service's own pages or an allowed
// origin.
func (s *Server) checkCSRF(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		own := err == nil && u.Host != "" && u.User == nil && strings.EqualFold(u.Host, r.Host) &&
			(u.Scheme == "https" || !s.isHTTPS(r)) // an http page may have been forged on the network
		if own || slices.Contains(s.origins, strings.ToLower(origin)) {
			return nil
		}
		return api.Forbidden("a session can't be used from pages of %s", origin)
	}
	if r.Header.Get("Sec-Fetch-Site") == "same-origin" {
		return nil
	}
	return api.Forbidden(
		"a change made with a session cookie needs the header Origin (or Sec-Fetch-Site) of an allowed page; programs use an API key",
	)
}
