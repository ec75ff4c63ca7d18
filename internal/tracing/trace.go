// Package tracing tells where the time of a request or a job goes, in spans that a collector
// of the operator's gets by OTLP over HTTP. Without a collector nothing is made or kept: a
// nil Tracer and a nil Span are good for every call.
//
//	Tracer.Start  begins what comes from outside, or by itself
//	Start         begins a part of it, found in the context
//
// What a span says is read by whoever runs the collector: names of operations, sizes, counts
// and states, never what people wrote, names of theirs, or secrets. An error is its kind
// alone. The package knows nothing of the domain and must not decide anything.
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

// Kind is a span's place between two programs.
type Kind = otel.SpanKind

// The kinds that there are here.
const (
	Internal = otel.SpanKindInternal
	Server   = otel.SpanKindServer
	Client   = otel.SpanKindClient
)

// Attr is one thing that is said of a span. Its value is a string, bool, int or float64.
type Attr struct {
	Key   string
	Value any
}

// SpanRef is a place in a trace, as W3C's Trace Context has it.
type SpanRef struct{ spanContext otel.SpanContext }

// Span is a piece of work under way. It belongs to one goroutine.
type Span struct {
	span   otel.Span
	failed bool
}

// StartOptions says how a span begins.
type StartOptions struct {
	Kind Kind
	// StartedAt is when it began; now where zero.
	StartedAt time.Time
	// Parent is where in another program's trace it belongs; After what it comes of, in
	// another trace.
	Parent, FollowsFrom *SpanRef
	Attrs               []Attr
}

// Start begins a span under the one in ctx, else under its parent, else a trace.
func (t *Tracer) Start(ctx context.Context, name string, b StartOptions) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	options := []otel.SpanStartOption{otel.WithSpanKind(b.Kind), otel.WithAttributes(toAttributes(b.Attrs)...)}
	if !b.StartedAt.IsZero() {
		options = append(options, otel.WithTimestamp(b.StartedAt))
	}
	if b.FollowsFrom != nil {
		options = append(options, otel.WithLinks(otel.Link{SpanContext: b.FollowsFrom.spanContext}))
	}
	if b.Parent != nil && !otel.SpanContextFromContext(ctx).IsValid() {
		ctx = otel.ContextWithRemoteSpanContext(ctx, b.Parent.spanContext)
	}
	ctx, span := t.tracer.Start(ctx, name, options...)
	return ctx, &Span{span: span}
}

// Start begins a part of what ctx is in; nothing where that is not traced.
func Start(ctx context.Context, name string, kind Kind, attrs ...Attr) (context.Context, *Span) {
	above := otel.SpanFromContext(ctx)
	if !above.IsRecording() {
		return ctx, nil
	}
	ctx, span := above.TracerProvider().Tracer(
		instrumentationName,
	).Start(
		ctx,
		name,
		otel.WithSpanKind(kind),
		otel.WithAttributes(toAttributes(attrs)...),
	)
	return ctx, &Span{span: span}
}

// TraceID is that of its trace, as the collector shows it; empty where nothing is traced.
func (s *Span) TraceID() string {
	if s == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// SetAttributes says more of a span.
func (s *Span) SetAttributes(attrs ...Attr) {
	if s != nil {
		s.span.SetAttributes(toAttributes(attrs)...)
	}
}

// Fail marks a span as failed; kind is what sort of failure it was, in one of our own words.
func (s *Span) Fail(kind string) {
	if s != nil {
		s.failed = true
		s.span.SetStatus(codes.Error, "")
		s.SetAttributes(Attr{"error.type", kind})
	}
}

// End ends a span. Of an error it keeps the type: its words may be anybody's.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil && !s.failed {
		s.Fail(errorType(err))
	}
	s.span.End()
}

// errorType is the kind of an error: the code that one of ours has, else the type at its root.
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

// Current is the place of ctx in its trace, for what goes on later; nil where it is in none that
// is kept.
func Current(ctx context.Context) *SpanRef {
	at := otel.SpanContextFromContext(ctx)
	if !at.IsSampled() {
		return nil
	}
	return &SpanRef{at}
}

const parentHeader = "traceparent"

var propagator propagation.TraceContext

// String is the place as the header traceparent has it.
func (l *SpanRef) String() string {
	if l == nil {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagator.Inject(otel.ContextWithSpanContext(context.Background(), l.spanContext), carrier)
	return carrier[parentHeader]
}

// ParseTraceparent reads a traceparent; nil where it is none.
func ParseTraceparent(text string) *SpanRef {
	if text == "" {
		return nil
	}
	return extractSpanRef(propagation.MapCarrier{parentHeader: text})
}

// Extract reads the place that a request names; nil where it names none, or none that is valid.
func Extract(h http.Header) *SpanRef {
	if len(h.Values(parentHeader)) != 1 {
		return nil
	}
	return extractSpanRef(propagation.HeaderCarrier(h))
}

func extractSpanRef(c propagation.TextMapCarrier) *SpanRef {
	at := otel.SpanContextFromContext(propagator.Extract(context.Background(), c))
	if !at.IsValid() {
		return nil
	}
	return &SpanRef{at}
}

// Inject tells the program that a request goes to which span it is of. It is for programs
// of the operator's own: strangers have no business with the operator's traces.
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

// maxValue bounds what is said in one attribute.
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
