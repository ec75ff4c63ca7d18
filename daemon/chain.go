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

// exchange is what is known of a request on its way through the chain.
type exchange struct {
	traceID string
	w       http.ResponseWriter
	r       *http.Request
	op      *api.Operation // nil until the path is known
	by      api.Caller
	body    []byte // of JSON, when it has come
	began   time.Time
	span    *tracing.Span // nil until it is admitted
}

type exchangeKey struct{}

// of is the exchange of a request; an empty one outside of any.
func of(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}

func traceID(ctx context.Context) string { return of(ctx).traceID }

func caller(ctx context.Context) api.Caller { return of(ctx).by }

// trace takes the caller's trace id where it is 1 to 128 visible ASCII characters, else makes one.
func (s *Server) trace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{traceID: r.Header.Get(api.TraceHeader)}
		if !visible(x.traceID) {
			x.traceID = s.newID()
		}
		w.Header().Set(api.TraceHeader, x.traceID)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
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

// observe logs and counts each request and turns a panic into an INTERNAL_ERROR.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := s.clock()
		x := of(r.Context())
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		x.w, x.r, x.began = ww, r, began
		s.metrics.inFlight.Inc()
		defer func() {
			s.metrics.inFlight.Dec()
			if p := recover(); p != nil {
				if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(p) // the server's own way to break off an answer
				}
				s.log.Error("panic", "trace_id", x.traceID, "panic", p, "stack", string(debug.Stack()))
				if ww.Status() == 0 {
					s.writeError(ww, r, api.AsError(nil))
				}
			}
			took := s.clock().Sub(began)
			status := ww.Status()
			if status >= http.StatusInternalServerError && gone(r.Context()) {
				status = statusGone
			}
			s.metrics.done(x.op, status, took)
			s.endSpan(x, status)
			said := []any{"trace_id", x.traceID, "method", r.Method, "path", r.URL.Path[:min(len(r.URL.Path), maxPath)], "operation", operationID(x.op),
				"status", status, "bytes", ww.BytesWritten(), "ms", float64(took) / float64(time.Millisecond), "address", x.by.Address, "actor", x.by.Actor.ID}
			if id := x.span.TraceID(); id != "" {
				said = append(said, "trace", id)
			}
			s.log.Log(r.Context(), worth(x.op), "request", said...)
		}()
		next.ServeHTTP(ww, r)
	})
}

// statusGone is how a request is counted whose caller hung up before the answer: it is
// no failure of ours. Nobody reads it; 499 is what proxies call it.
const statusGone = 499

func gone(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// worth is how much a request is worth telling: little where machines ask again and
// again whether all is well.
func worth(op *api.Operation) slog.Level {
	if op == nil || op == scrape || op.Tag == api.GetHealth.Tag {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

func operationID(op *api.Operation) string {
	if op == nil {
		return "none"
	}
	return op.ID
}

// maxHeaders and maxPath are more than any client sends.
const (
	maxHeaders = 200
	maxPath    = 8 << 10
)

// onceHeaders say who calls and what is meant: of two, a proxy before the service may
// have believed the other.
var onceHeaders = []string{"Authorization", api.TenantHeader, api.IdempotencyHeader, "Origin", "Sec-Fetch-Site", "If-Match", "Content-Type"}

// plain refuses requests whose headers, path or query no client means.
func (s *Server) plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkPlain(r); err != nil {
			s.writeError(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func checkPlain(r *http.Request) *api.Error {
	n := 0
	for _, values := range r.Header {
		n += len(values)
	}
	if n > maxHeaders {
		return api.Invalid("headers", "the request has %d headers; at most %d are taken", n, maxHeaders)
	}
	for _, name := range onceHeaders {
		if len(r.Header.Values(name)) > 1 {
			return api.Invalid(name, "the header %s stands more than once in the request", name)
		}
	}
	if len(r.URL.EscapedPath()) > maxPath {
		return api.Invalid("path", "the path has more than %d characters", maxPath)
	}
	if !plainText(r.URL.Path) {
		return api.Invalid("path", "the path holds bytes that are no text")
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return api.Invalid("query", "the query can't be read: %v", err)
	}
	for name, values := range query {
		for _, v := range append(values, name) {
			if !plainText(v) {
				return api.Invalid(strings.ToValidUTF8(name, "?"), "the query holds bytes that are no text")
			}
		}
	}
	return nil
}

// plainText is UTF-8 without NUL: what every store can keep.
func plainText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// mount serves an operation behind its checks.
func (s *Server) mount(op *api.Operation, serve http.HandlerFunc) {
	s.mux.MethodFunc(op.Method, op.Path, func(w http.ResponseWriter, r *http.Request) {
		of(r.Context()).op = op
		if err := s.admit(w, r, op); err != nil { // noted already, where it is to be
			s.writeError(w, r, s.explain(r.Context(), op, err))
			return
		}
		r = s.beginSpan(r, op)
		if op.Form == api.Upload { // its body is a stream: see bindUpload
			serve(w, r)
			return
		}
		body, err := readJSON(w, r, maxBody(op))
		if err != nil {
			s.refuse(w, r, op, err)
			return
		}
		of(r.Context()).body = body
		s.once(w, r, op, hashOf(body), serve)
	})
}

// admit runs the checks that op declares, in the order the package tells, and notes who calls.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, op *api.Operation) error {
	ctx := r.Context()
	x := of(ctx)
	x.by = api.Caller{TraceID: x.traceID, Address: s.address(r)}
	if op.Access == api.Public {
		return s.limits.take(ctx, w, identity.Network(x.by.Address), op.Rate)
	}
	principal, err := s.engine.Identity.Identify(ctx, credentialOf(r))
	if err != nil {
		// It costs nothing to say no, and what is wrong is the credential, not how often it comes.
		_ = s.limits.take(ctx, w, identity.Network(x.by.Address), op.Rate)
		return err
	}
	if err := s.limits.take(ctx, w, principal.ID, op.Rate); err != nil {
		return err
	}
	if principal.FromBrowser() {
		if err := s.fromOurPages(r); err != nil {
			by, _ := s.within(r, principal, op)
			s.noteRefusal(ctx, principal, by, op, err)
			return err
		}
		s.keepCookie(w, r, principal)
	}
	by, err := s.within(r, principal, op)
	if err != nil {
		s.noteRefusal(ctx, principal, by, op, err)
		return err
	}
	by.TraceID, by.Address = x.by.TraceID, x.by.Address
	x.by = by
	return s.permit(ctx, by, op)
}

// permit refuses what the caller may not do, and notes it.
func (s *Server) permit(ctx context.Context, by api.Caller, op *api.Operation) error {
	err := by.Admit(op)
	if err == nil {
		return nil
	}
	if noted := s.engine.Identity.Denied(ctx, by, op); noted != nil {
		// It is refused all the same, on a full disk too.
		s.log.Error("a refusal could not be noted in the audit chain", "trace_id", traceID(ctx), "operation", op.ID, "error", noted)
	}
	return err
}

// noteRefusal writes to the audit chain that somebody who is known was refused before
// their permission was looked at: by the tenant header, as a stranger's page, or because
// the organization is suspended. It goes to the organization they act in, else to their own.
func (s *Server) noteRefusal(ctx context.Context, p identity.Principal, by api.Caller, op *api.Operation, err error) {
	if !api.IsCode(err, api.CodeForbidden) {
		return
	}
	if by.OrganizationID == "" {
		if by, _ = s.engine.Identity.Caller(ctx, p, ""); by.OrganizationID == "" {
			return
		}
	}
	x := of(ctx)
	by.TraceID, by.Address = x.traceID, x.by.Address
	s.noteDenied(ctx, by, op, err)
}

// noteDenied writes a refusal to the chain of the caller's organization.
func (s *Server) noteDenied(ctx context.Context, by api.Caller, op *api.Operation, err error) {
	if noted := s.engine.Audit.Refused(ctx, by, op, api.AsError(err).Message); noted != nil {
		// It is refused all the same, on a full disk too.
		s.log.Error("a refusal could not be noted in the audit chain", "trace_id", traceID(ctx), "operation", op.ID, "error", noted)
	}
}

// stillAdmitted looks again, when a request has taken its time to come: a ban, a
// revoked key or a lower role hold for what was under way too.
func (s *Server) stillAdmitted(r *http.Request, op *api.Operation) error {
	ctx := r.Context()
	principal, err := s.engine.Identity.Identify(ctx, credentialOf(r))
	if err != nil {
		return err
	}
	by, err := s.within(r, principal, op)
	if err != nil {
		return err
	}
	return s.permit(ctx, by, op)
}

// organizationParameters are the path parameters that name an organization.
var organizationParameters = []string{"orgId", "organizationId", "tenantId"}

// organizationIn is the organization that the path names; "" where it names none.
func organizationIn(r *http.Request) string {
	for _, name := range organizationParameters {
		if id := chi.URLParam(r, name); id != "" {
			return id
		}
	}
	return ""
}
