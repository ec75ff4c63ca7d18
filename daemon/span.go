package daemon

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/tracing"
)

// beginSpan begins the span of a request that was admitted. Only who has shown a credential
// may say which trace it belongs to: a stranger could have all of theirs kept, or put them
// into somebody else's.
func (s *Server) beginSpan(r *http.Request, op *api.Operation) *http.Request {
	if s.tracer == nil || !traced(op) {
		return r
	}
	x := of(r.Context())
	var parent *tracing.Link
	if op.Access != api.Public {
		parent = tracing.Extract(r.Header)
	}
	ctx, span := s.tracer.Start(r.Context(), op.Method+" "+op.Path, tracing.Begin{Kind: tracing.Server, At: x.began, Parent: parent, Attrs: about(x)})
	x.span = span
	return r.WithContext(ctx)
}

// endSpan ends it; one that was not admitted is told of all the same.
func (s *Server) endSpan(x *exchange, status int) {
	if s.tracer == nil || x.op != nil && !traced(x.op) {
		return
	}
	if x.span == nil {
		name := methodOf(x.r)
		if x.op != nil {
			name += " " + x.op.Path
		}
		_, x.span = s.tracer.Start(context.Background(), name, tracing.Begin{Kind: tracing.Server, At: x.began, Attrs: about(x)})
	}
	x.span.Set(tracing.Attr{Key: "http.response.status_code", Value: max(status, http.StatusOK)})
	if status >= http.StatusInternalServerError {
		x.span.Fail(strconv.Itoa(status))
	}
	x.span.End(nil)
}

// about is what is told of a request: nothing that its caller wrote.
func about(x *exchange) []tracing.Attr {
	out := []tracing.Attr{{Key: "http.request.method", Value: methodOf(x.r)}}
	if x.op != nil {
		out = append(out, tracing.Attr{Key: "http.route", Value: x.op.Path}, tracing.Attr{Key: "service.operation", Value: x.op.ID})
	}
	return out
}

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

func methodOf(r *http.Request) string {
	if slices.Contains(methods, r.Method) {
		return r.Method
	}
	return "_OTHER"
}

// traced leaves out where machines ask again and again whether all is well.
func traced(op *api.Operation) bool { return op != scrape && op.Tag != api.GetHealth.Tag }
