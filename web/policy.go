package web

import "net/http"

// contentPolicy is a content security policy that only lets a page load files from this service and call it.
// The page can't be framed. The allowed targets of forms must be appended.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'; form-action "

// withSecurityHeaders adds security headers to files, and to pages that submit no form.
func withSecurityHeaders(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header(), contentPolicy+"'none'")
		h.ServeHTTP(w, r)
	})
}

// setSecurityHeaders sets the security headers of a response, with the given content security policy.
func setSecurityHeaders(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}
