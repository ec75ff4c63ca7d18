// Package trace tells where the time of a request or a job goes, in spans that a collector
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

// Link is a place in a trace, as W3C's Trace Context has it.
type Link struct{ at otel.SpanContext }

// Span is a piece of work under way. It belongs to one goroutine.
type Span struct {
	span   otel.Span
	failed bool
}

// Begin says how a span begins.
type Begin struct {
	Kind Kind
	// At is when it began; now where zero.
	At time.Time
	// Parent is where in another program's trace it belongs; After what it comes of, in
	// another trace.
	Parent, After *Link
	Attrs         []Attr
}

// Start begins a span under the one in ctx, else under its parent, else a trace.
func (t *Tracer) Start(ctx context.Context, name string, b Begin) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	options := []otel.SpanStartOption{otel.WithSpanKind(b.Kind), otel.WithAttributes(attributes(b.Attrs)...)}
	if !b.At.IsZero() {
		options = append(options, otel.WithTimestamp(b.At))
	}
	if b.After != nil {
		options = append(options, otel.WithLinks(otel.Link{SpanContext: b.After.at}))
	}
	if b.Parent != nil && !otel.SpanContextFromContext(ctx).IsValid() {
		ctx = otel.ContextWithRemoteSpanContext(ctx, b.Parent.at)
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
	ctx, span := above.TracerProvider().Tracer(scope).Start(ctx, name, otel.WithSpanKind(kind), otel.WithAttributes(attributes(attrs)...))
	return ctx, &Span{span: span}
}

// TraceID is that of its trace, as the collector shows it; empty where nothing is traced.
func (s *Span) TraceID() string {
	if s == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// Set says more of a span.
func (s *Span) Set(attrs ...Attr) {
	if s != nil {
		s.span.SetAttributes(attributes(attrs)...)
	}
}

// Fail marks a span as failed; kind is what sort of failure it was, in one of our own words.
func (s *Span) Fail(kind string) {
	if s != nil {
		s.failed = true
		s.span.SetStatus(codes.Error, "")
		s.Set(Attr{"error.type", kind})
	}
}

// End ends a span. Of an error it keeps the type: its words may be anybody's.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil && !s.failed {
		s.Fail(typeOf(err))
	}
	s.span.End()
}

// typeOf is the kind of an error: the code that one of ours has, else the type at its root.
func typeOf(err error) string {
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

// Here is the place of ctx in its trace, for what goes on later; nil where it is in none that
// is kept.
func Here(ctx context.Context) *Link {
	at := otel.SpanContextFromContext(ctx)
	if !at.IsSampled() {
		return nil
	}
	return &Link{at}
}

const parentHeader = "traceparent"

var headers propagation.TraceContext

// String is the place as the header traceparent has it.
func (l *Link) String() string {
	if l == nil {
		return ""
	}
	carrier := propagation.MapCarrier{}
	headers.Inject(otel.ContextWithSpanContext(context.Background(), l.at), carrier)
	return carrier[parentHeader]
}

// Parse reads a traceparent; nil where it is none.
func Parse(text string) *Link {
	if text == "" {
		return nil
	}
	return extract(propagation.MapCarrier{parentHeader: text})
}

// Extract reads the place that a request names; nil where it names none, or none that is valid.
func Extract(h http.Header) *Link {
	if len(h.Values(parentHeader)) != 1 {
		return nil
	}
	return extract(propagation.HeaderCarrier(h))
}

func extract(c propagation.TextMapCarrier) *Link {
	at := otel.SpanContextFromContext(headers.Extract(context.Background(), c))
	if !at.IsValid() {
		return nil
	}
	return &Link{at}
}

// Inject tells the program that a request goes to which span it is of. It is for programs
// of the operator's own: strangers have no business with the operator's traces.
func Inject(ctx context.Context, h http.Header) {
	headers.Inject(ctx, propagation.HeaderCarrier(h))
}

func attributes(all []Attr) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(all))
	for _, a := range all {
		k := attribute.Key(a.Key)
		switch v := a.Value.(type) {
		case string:
			out = append(out, k.String(clip(v)))
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

func clip(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= maxValue {
		return s
	}
	for s = s[:maxValue]; !utf8.ValidString(s); {
		s = s[:len(s)-1]
	}
	return s
}
