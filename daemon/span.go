package daemon

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/tracing"
)

// beginSpan starts the span of an accepted request. Only authenticated callers can choose the trace it belongs
// to. Anyone else could force requests to be sampled, or add spans to other callers' traces.
func (s *Server) beginSpan(r *http.Request, op *api.Operation) *http.Request {
	if s.tracer == nil || !isTraced(op) {
		return r
	}
	x := requestContextFrom(r.Context())
	var parent *tracing.SpanRef
	if op.Access != api.Public {
		parent = tracing.Extract(r.Header)
	}
	ctx, span := s.tracer.Start(
		r.Context(),
		op.Method+" "+op.Path,
		tracing.StartOptions{Kind: tracing.Server, StartedAt: x.startedAt, Parent: parent, Attrs: spanAttributes(x)},
	)
	x.span = span
	return r.WithContext(ctx)
}

// endSpan ends the span of a request. Requests that were rejected before their span began are also recorded.
func (s *Server) endSpan(x *requestContext, status int) {
	if s.tracer == nil || x.op != nil && !isTraced(x.op) {
		return
	}
	if x.span == nil {
		name := spanMethod(x.r)
		if x.op != nil {
			name += " " + x.op.Path
		}
		_, x.span = s.tracer.Start(
			context.Background(),
			name,
			tracing.StartOptions{Kind: tracing.Server, StartedAt: x.startedAt, Attrs: spanAttributes(x)},
		)
	}
	x.span.SetAttributes(tracing.Attr{Key: "http.response.status_code", Value: max(status, http.StatusOK)})
	if status >= http.StatusInternalServerError {
		x.span.Fail(strconv.Itoa(status))
	}
	x.span.End(nil)
}

// spanAttributes returns the attributes of a request, without caller-supplied text.
func spanAttributes(x *requestContext) []tracing.Attr {
	out := []tracing.Attr{{Key: "http.request.method", Value: spanMethod(x.r)}}
	if x.op != nil {
		out = append(out, tracing.Attr{Key: "http.route", Value: x.op.Path}, tracing.Attr{Key: "service.operation", Value: x.op.ID})
	}
	return out
}

var knownMethods = []string{
	http.MethodGet,
	http.MethodHead,
	http.MethodPost,
	http.MethodPut,
	http.MethodPatch,
	http.MethodDelete,
	http.MethodOptions,
}

// spanMethod returns the request's method, or "_OTHER" if it isn't a standard one.
func spanMethod(r *http.Request) string {
	if slices.Contains(knownMethods, r.Method) {
		return r.Method
	}
	return "_OTHER"
}

// isTraced reports whether a request is traced; frequent automatic polling is not.
func isTraced(op *api.Operation) bool { return op != metricsOperation && op.Tag != api.GetHealth.Tag }
