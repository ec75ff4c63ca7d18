// Package tracing records the duration of requests and jobs as spans and sends them to the operator's collector (OTLP
// over HTTP). Without a collector, it records nothing: all methods accept a nil Tracer and a nil Span.
//
//	Tracer.Start  begins a request or job
//	Start         begins a child of the span in the context
//
// Anyone who operates the collector can read the spans. They contain operation names, sizes, counts and states, but
// no user content, personal names or secrets. Errors are reduced to their type.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	otel "go.opentelemetry.io/otel/trace"
)

// Kind is the role of a span in a call between two programs.
type Kind = otel.SpanKind

// Kinds of spans.
const (
	Internal = otel.SpanKindInternal
	Server   = otel.SpanKindServer
	Client   = otel.SpanKindClient
)

// Attr is an attribute of a span. Its value is a string, bool, int or float64.
type Attr struct {
	Key   string
	Value any
}

// SpanRef is a reference to a span, as defined by W3C Trace Context.
type SpanRef struct{ spanContext otel.SpanContext }

// Span is an operation in progress. It is not safe for concurrent use.
type Span struct {
	span   otel.Span
	failed bool
}

// StartOptions configures Tracer.Start.
type StartOptions struct {
	Kind Kind
	// StartedAt is the start time; the zero value means now.
	StartedAt time.Time
	// Parent is the parent span in another program; it is used only if the context contains no
	// span. FollowsFrom is a span of another trace that caused this one.
	Parent, FollowsFrom *SpanRef
	Attrs               []Attr
}

// Start begins a span. The span is a child of the span in ctx if there is one, or else of o.Parent if it is set, or
// else the root of a new trace.
func (t *Tracer) Start(ctx context.Context, name string, o StartOptions) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	options := []otel.SpanStartOption{otel.WithSpanKind(o.Kind), otel.WithAttributes(toAttributes(o.Attrs)...)}
	if !o.StartedAt.IsZero() {
		options = append(options, otel.WithTimestamp(o.StartedAt))
	}
	if o.FollowsFrom != nil {
		options = append(options, otel.WithLinks(otel.Link{SpanContext: o.FollowsFrom.spanContext}))
	}
	if o.Parent != nil && !otel.SpanContextFromContext(ctx).IsValid() {
		ctx = otel.ContextWithRemoteSpanContext(ctx, o.Parent.spanContext)
	}
	ctx, span := t.tracer.Start(ctx, name, options...)
	return ctx, &Span{span: span}
}

// Start begins a child of the span in ctx. It returns a nil Span if ctx is not being traced.
func Start(ctx context.Context, name string, kind Kind, attrs ...Attr) (context.Context, *Span) {
	parent := otel.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, nil
	}
	ctx, span := parent.TracerProvider().Tracer(
		instrumentationName,
	).Start(
		ctx,
		name,
		otel.WithSpanKind(kind),
		otel.WithAttributes(toAttributes(attrs)...),
	)
	return ctx, &Span{span: span}
}

// TraceID returns the ID of the span's trace as the collector shows it, or "" if nothing is traced.
func (s *Span) TraceID() string {
	if s == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// SetAttributes adds attributes to the span.
func (s *Span) SetAttributes(attrs ...Attr) {
	if s != nil {
		s.span.SetAttributes(toAttributes(attrs)...)
	}
}

// Fail marks a span as failed. kind is the kind of failure and must not contain user content.
func (s *Span) Fail(kind string) {
	if s != nil {
		s.failed = true
		s.span.SetStatus(codes.Error, "")
		s.SetAttributes(Attr{"error.type", kind})
	}
}

// End ends a span. If err is not nil, it records the error's type but not its message, which may
// contain user content.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil && !s.failed {
		s.Fail(errorType(err))
	}
	s.span.End()
}

// errorType returns an error's ErrorType if it has one, or else the Go type of the innermost error.
func errorType(err error) string {
	var coded interface{ ErrorType() string }
	if errors.As(err, &coded) {
		return coded.ErrorType()
	}
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
		}
		err = next
	}
}

// Current returns a reference to the span in ctx, or nil if that trace is not sampled.
func Current(ctx context.Context) *SpanRef {
	sc := otel.SpanContextFromContext(ctx)
	if !sc.IsSampled() {
		return nil
	}
	return &SpanRef{sc}
}

const parentHeader = "traceparent"

var propagator propagation.TraceContext

// String returns the reference as a traceparent header.
func (r *SpanRef) String() string {
	if r == nil {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagator.Inject(otel.ContextWithSpanContext(context.Background(), r.spanContext), carrier)
	return carrier[parentHeader]
}

// ParseTraceparent parses a traceparent header. It returns nil if the text is invalid.
func ParseTraceparent(text string) *SpanRef {
	if text == "" {
		return nil
	}
	return extractSpanRef(propagation.MapCarrier{parentHeader: text})
}

// Extract returns the span named by a request's traceparent header, or nil if there is no valid
// one.
func Extract(h http.Header) *SpanRef {
	if len(h.Values(parentHeader)) != 1 {
		return nil
	}
	return extractSpanRef(propagation.HeaderCarrier(h))
}

func extractSpanRef(c propagation.TextMapCarrier) *SpanRef {
	sc := otel.SpanContextFromContext(propagator.Extract(context.Background(), c))
	if !sc.IsValid() {
		return nil
	}
	return &SpanRef{sc}
}

// Inject adds a traceparent header for the span in ctx. Use it only for requests to the operator's
// own programs, not to third parties.
func Inject(ctx context.Context, h http.Header) {
	propagator.Inject(ctx, propagation.HeaderCarrier(h))
}

func toAttributes(all []Attr) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(all))
	for _, a := range all {
		k := attribute.Key(a.Key)
		switch v := a.Value.(type) {
		case string:
			out = append(out, k.String(truncate(v)))
		case bool:
			out = append(out, k.Bool(v))
		case int:
			out = append(out, k.Int(v))
		case float64:
			out = append(out, k.Float64(v))
		}
	}
	return out
}

// maxValue is the maximum length of an attribute's string value in bytes.
const maxValue = 256

func truncate(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= maxValue {
		return s
	}
	for s = s[:maxValue]; !utf8.ValidString(s); {
		s = s[:len(s)-1]
	}
	return s
}
