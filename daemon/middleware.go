package daemon

import (
	"context"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"github.com/scf-service/service/engine/api"
)

type traceKey struct{}

func traceID(ctx context.Context) string {
	id, _ := ctx.Value(traceKey{}).(string)
	return id
}

// trace takes the caller's trace id where it is 1 to 128 visible ASCII characters, else makes one.
func (s *Server) trace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(api.TraceHeader)
		if !visible(id) {
			id = s.newID()
		}
		w.Header().Set(api.TraceHeader, id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), traceKey{}, id)))
	})
}

func visible(s string) bool {
	if len(s) < 1 || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// observe logs each request and turns a panic into an INTERNAL_ERROR.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := s.clock()
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("panic", "trace_id", traceID(r.Context()), "panic", p, "stack", string(debug.Stack()))
				if ww.Status() == 0 {
					s.writeError(ww, r, api.AsError(nil))
				}
			}
			s.log.Debug("request", "trace_id", traceID(r.Context()), "method", r.Method, "path", r.URL.Path,
				"status", ww.Status(), "bytes", ww.BytesWritten(), "ms", float64(s.clock().Sub(began))/float64(time.Millisecond))
		}()
		next.ServeHTTP(ww, r)
	})
}

// admit runs the checks that op declares, in the order the package tells, and returns who calls.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, op *api.Operation) (api.Caller, error) {
	ctx := r.Context()
	by := api.Caller{TraceID: traceID(ctx), Address: remoteHost(r)}
	if op.Access != api.Public {
		principal, err := s.engine.Identity.Local(ctx, isLocal(ctx))
		if err != nil {
			return by, err
		}
		tenant := r.Header.Get(api.TenantHeader)
		if op.Access == api.Tenant && tenant == "" {
			return by, api.TenantRequired()
		}
		caller, err := s.engine.Identity.Caller(ctx, principal, tenant)
		if err != nil {
			return by, err
		}
		caller.TraceID, caller.Address = by.TraceID, by.Address
		by = caller
		if op.Access == api.Platform && !by.PlatformAdmin {
			return by, api.Forbidden("only a platform admin may do this")
		}
		if op.Permission != "" {
			if err := by.Require(op.Permission); err != nil {
				return by, err
			}
		}
	}
	if !isLocal(ctx) {
		return by, s.limits.take(w, by, op.Rate)
	}
	return by, nil
}

func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return strings.Trim(r.RemoteAddr, "[]")
	}
	return host
}
