package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/identity"
	"github.com/scf-service/service/internal/tracing"
)

// requestContext carries per-request state through the middleware.
type requestContext struct {
	traceID   string
	w         http.ResponseWriter
	r         *http.Request
	op        *api.Operation // nil until the path is known
	caller    api.Caller
	body      []byte // the JSON body, once it has been read
	startedAt time.Time
	span      *tracing.Span // nil until the request is authorized
	// refusedBudget is the exhausted budget that caused the request to be rejected, or "".
	refusedBudget api.Budget
}

type requestContextKey struct{}

// requestContextFrom returns the state of a request, or an empty one outside of any request.
func requestContextFrom(ctx context.Context) *requestContext {
	if x, ok := ctx.Value(requestContextKey{}).(*requestContext); ok {
		return x
	}
	return &requestContext{}
}

func traceIDFrom(ctx context.Context) string { return requestContextFrom(ctx).traceID }

func callerFrom(ctx context.Context) api.Caller { return requestContextFrom(ctx).caller }

// assignTraceID uses the caller's trace ID if it has 1 to 128 visible ASCII characters, and otherwise generates
// one.
func (s *Server) assignTraceID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &requestContext{traceID: r.Header.Get(api.TraceHeader)}
		if !isValidTraceID(x.traceID) {
			x.traceID = s.newID()
		}
		w.Header().Set(api.TraceHeader, x.traceID)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestContextKey{}, x)))
	})
}

func isValidTraceID(s string) bool {
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

// logAndRecover logs and counts each request and turns a panic into an INTERNAL_ERROR.
func (s *Server) logAndRecover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := s.clock()
		x := requestContextFrom(r.Context())
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		x.w, x.r, x.startedAt = ww, r, began
		s.metrics.inFlight.Inc()
		defer func() {
			s.metrics.inFlight.Dec()
			if p := recover(); p != nil {
				if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(p) // http.ErrAbortHandler aborts the response on purpose
				}
				s.log.Error("panic", "trace_id", x.traceID, "panic", p, "stack", string(debug.Stack()))
				if ww.Status() == 0 {
					s.writeError(ww, r, api.AsError(nil))
				}
			}
			duration := s.clock().Sub(began)
			status := ww.Status()
			if status >= http.StatusInternalServerError && hasClientDisconnected(r.Context()) {
				status = statusClientClosed
			}
			s.metrics.countRequest(x.op, status, duration, x.refusedBudget)
			s.endSpan(x, status)
			attrs := []any{
				"trace_id",
				x.traceID,
				"method",
				r.Method,
				"path",
				r.URL.Path[:min(len(r.URL.Path), maxPath)],
				"operation",
				operationID(x.op),
				"status",
				status,
				"bytes",
				ww.BytesWritten(),
				"ms",
				float64(duration) / float64(time.Millisecond),
				"address",
				x.caller.Address,
				"actor",
				x.caller.Actor.ID,
			}
			if id := x.span.TraceID(); id != "" {
				attrs = append(attrs, "trace", id)
			}
			s.log.Log(r.Context(), logLevel(x.op), "request", attrs...)
		}()
		next.ServeHTTP(ww, r)
	})
}

// statusClientClosed is the status counted for a request whose caller disconnected before the
// response. It is never sent; proxies use 499 for this case.
const statusClientClosed = 499

// hasClientDisconnected reports whether a request was canceled because its client disconnected.
func hasClientDisconnected(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// logLevel returns Debug for health checks and metrics scrapes, Info otherwise.
func logLevel(op *api.Operation) slog.Level {
	if op == nil || op == metricsOperation || op.Tag == api.GetHealth.Tag {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// operationID returns the ID of an operation for logs and metrics, or "none" for a request that matches no operation.
func operationID(op *api.Operation) string {
	if op == nil {
		return "none"
	}
	return op.ID
}

// maxHeaders and maxPath exceed anything a real client sends.
const (
	maxHeaders = 200
	maxPath    = 8 << 10
)

// singleValueHeaders are headers that identify the caller or the target. If one of them is duplicated, a proxy
// may have trusted the other value.
var singleValueHeaders = []string{
	"Authorization",
	api.TenantHeader,
	api.IdempotencyHeader,
	"Origin",
	"Sec-Fetch-Site",
	"If-Match",
	"Content-Type",
}

// rejectMalformed rejects malformed or oversized headers, paths and queries.
func (s *Server) rejectMalformed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := validateHeadersAndURL(r); err != nil {
			s.writeError(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// validateHeadersAndURL returns an error if the headers, the path or the query are malformed or too large.
func validateHeadersAndURL(r *http.Request) *api.Error {
	n := 0
	for _, values := range r.Header {
		n += len(values)
	}
	if n > maxHeaders {
		return api.Invalid("headers", "the request has %d headers; the maximum is %d", n, maxHeaders)
	}
	for _, name := range singleValueHeaders {
		if len(r.Header.Values(name)) > 1 {
			return api.Invalid(name, "header %s appears more than once", name)
		}
	}
	// Browsers send a body without a type to other sites without a preflight request.
	if r.ContentLength != 0 && r.Header.Get("Content-Type") == "" {
		return api.UnsupportedMediaType("set the Content-Type header to the type of the request body, for example application/json")
	}
	if len(r.URL.EscapedPath()) > maxPath {
		return api.Invalid("path", "the path exceeds %d characters", maxPath)
	}
	if !isValidText(r.URL.Path) {
		return api.Invalid("path", "the path is not valid UTF-8")
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return api.Invalid("query", "invalid query: %v", err)
	}
	for name, values := range query {
		for _, v := range append(values, name) {
			if !isValidText(v) {
				return api.Invalid(strings.ToValidUTF8(name, "?"), "the query is not valid UTF-8")
			}
		}
	}
	return nil
}

// isValidText reports whether s is UTF-8 without NUL characters; every store can hold such strings.
func isValidText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// largeBodyWait is the time for which a request with a body above api.MaxValidatedBody waits for its turn. Such
// requests are handled one at a time, because each takes several times its size in memory.
const largeBodyWait = 20 * time.Second

// mountWithChecks registers an operation together with the checks that precede it.
func (s *Server) mountWithChecks(op *api.Operation, serve http.HandlerFunc) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		requestContextFrom(r.Context()).op = op
		if err := s.authenticateAndAuthorize(w, r, op); err != nil { // already recorded in the audit chain if necessary
			s.writeError(w, r, s.logAndConvertError(r.Context(), op, err))
			return
		}
		r = s.beginSpan(r, op)
		if op.Form == api.Upload { // an upload's body is streamed: see bindUpload
			serve(w, r)
			return
		}
		if op.LargeText && (r.ContentLength < 0 || r.ContentLength > api.MaxValidatedBody) {
			ctx, cancel := context.WithTimeout(r.Context(), largeBodyWait)
			select {
			case s.largeBodies <- struct{}{}:
				cancel()
				defer func() { <-s.largeBodies }()
			case <-ctx.Done():
				cancel()
				s.sendOperationError(w, r, op, api.RateLimited(int(largeBodyWait/time.Second)))
				return
			}
		}
		body, err := readJSON(w, r, bodyLimit(op))
		if err != nil {
			s.sendOperationError(w, r, op, err)
			return
		}
		requestContextFrom(r.Context()).body = body
		s.serveIdempotent(w, r, op, hashParts(body), serve)
	}
	if op.Form == api.JSON || op.Form == api.Upload {
		handler = compressJSON(handler)
	}
	s.mux.MethodFunc(op.Method, op.Path, handler)
}

// authenticateAndAuthorize runs the checks that op declares, in the order given in the package documentation,
// and records the caller.
func (s *Server) authenticateAndAuthorize(w http.ResponseWriter, r *http.Request, op *api.Operation) error {
	ctx := r.Context()
	x := requestContextFrom(ctx)
	x.caller = api.Caller{TraceID: x.traceID, Address: s.clientAddress(r)}
	if op.Access == api.Public {
		if c, err := r.Cookie(api.DeviceCookie); err == nil {
			x.caller.DeviceToken = c.Value
		}
		if err := s.limiter.countAndLimitRequest(ctx, w, s.addressBudget(r, op.Rate)); err != nil {
			return err
		}
		return s.checkOrigin(r)
	}
	principal, err := s.engine.Identity.Authenticate(ctx, requestCredential(r, op))
	if err != nil {
		// Rejected requests are cheap, and are rejected because of the credential rather than the request rate.
		// They are counted, but not limited.
		_ = s.limiter.countAndLimitRequest(ctx, w, s.addressBudget(r, op.Rate))
		return err
	}
	if !isPageCall(ctx) { // page views have their own limit
		if err := s.limiter.countAndLimitRequest(ctx, w, credentialBudget(principal, op)); err != nil {
			return err
		}
	}
	if principal.IsFromBrowser() {
		if err := s.checkCSRF(r); err != nil {
			by, _ := s.resolveCaller(r, principal, op)
			s.auditEarlyRefusal(ctx, principal, by, op, err)
			return err
		}
		s.resendCookieIfRenewed(w, r, principal)
	}
	by, err := s.resolveCaller(r, principal, op)
	if err != nil {
		s.auditEarlyRefusal(ctx, principal, by, op, err)
		return err
	}
	by.TraceID, by.Address = x.caller.TraceID, x.caller.Address
	x.caller = by
	if by.OrganizationID != "" && !isPageCall(ctx) {
		if err := s.limiter.countAndLimitRequest(ctx, w, budget{api.BudgetOrganization, by.OrganizationID, op.Rate}); err != nil {
			return err
		}
	}
	return s.checkPermission(ctx, by, op)
}

// checkPermission rejects callers without the required permission, and records that in the audit chain.
func (s *Server) checkPermission(ctx context.Context, by api.Caller, op *api.Operation) error {
	err := by.Authorize(op)
	if err == nil {
		return nil
	}
	if auditErr := s.engine.Identity.RecordDenied(ctx, by, op); auditErr != nil {
		// Reject the request even if the audit record can't be written, for example because the disk is full.
		s.log.Error("recording a rejected request in the audit chain failed", "trace_id", traceIDFrom(ctx), "operation", op.ID, "error", auditErr)
	}
	return err
}

// auditEarlyRefusal records that a known caller was rejected before the permission check because of the tenant
// header, a foreign origin, or a suspended organization. The record is added to the audit chain of the
// organization that the caller acts in, or else to that of the caller's default organization.
func (s *Server) auditEarlyRefusal(ctx context.Context, p identity.Principal, by api.Caller, op *api.Operation, err error) {
	if !api.IsCode(err, api.CodeForbidden) {
		return
	}
	if by.OrganizationID == "" {
		if by, _ = s.engine.Identity.ResolveCaller(ctx, p, ""); by.OrganizationID == "" {
			return
		}
	}
	x := requestContextFrom(ctx)
	by.TraceID, by.Address = x.traceID, x.caller.Address
	s.recordRefusal(ctx, by, op, err)
}

// recordRefusal records in the audit chain of the caller's organization that a request was denied.
func (s *Server) recordRefusal(ctx context.Context, by api.Caller, op *api.Operation, err error) {
	if auditErr := s.engine.Audit.RecordDenied(ctx, by, op, api.AsError(err).Message); auditErr != nil {
		// Reject the request even if the audit record can't be written, for example because the disk is full.
		s.log.Error("recording a rejected request in the audit chain failed", "trace_id", traceIDFrom(ctx), "operation", op.ID, "error", auditErr)
	}
}

// reauthorize authenticates and authorizes a request again if its body took a long time to arrive. If the user has
// been banned, the key revoked or the role lowered in the meantime, the request is rejected.
func (s *Server) reauthorize(r *http.Request, op *api.Operation) error {
	ctx := r.Context()
	principal, err := s.engine.Identity.Authenticate(ctx, requestCredential(r, op))
	if err != nil {
		return err
	}
	by, err := s.resolveCaller(r, principal, op)
	if err != nil {
		return err
	}
	return s.checkPermission(ctx, by, op)
}

// organizationPathParams are the path parameters that name an organization.
var organizationPathParams = []string{"orgId", "organizationId", "tenantId"}

// pathOrganizationID returns the organization in the path, or "" if there is none.
func pathOrganizationID(r *http.Request) string {
	for _, name := range organizationPathParams {
		if id := chi.URLParam(r, name); id != "" {
			return id
		}
	}
	return ""
}
