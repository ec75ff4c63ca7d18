// Package tracetest provides a trace collector for tests. It receives OTLP over HTTP and decodes it
// with the types generated from the OTLP definition.
package tracetest

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/scf-service/service/internal/tracing"
)

// Span is a received span.
type Span struct {
	Name, TraceID, ID, ParentID, Kind string
	// Links are the spans that caused this one, as TRACE-SPAN.
	Links []string
	// Attrs are the span's attributes as text.
	Attrs    map[string]string
	Failed   bool
	Message  string // message of the span's status
	Events   int
	Nanos    uint64 // duration of the span
	Resource map[string]string
}

// Collector is a running collector.
type Collector struct {
	*httptest.Server
	mu       sync.Mutex
	spans    []Span
	headers  []http.Header
	status   int
	problems []string
}

// Start starts a collector, which runs until the test ends.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{status: http.StatusOK}
	c.Server = httptest.NewServer(http.HandlerFunc(c.receive))
	t.Cleanup(func() {
		c.Close()
		for _, b := range c.problems {
			t.Error(b)
		}
	})
	return c
}

// SetStatus sets the HTTP status of all further replies.
func (c *Collector) SetStatus(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

func (c *Collector) receive(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status != http.StatusOK {
		w.WriteHeader(c.status)
		return
	}
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			c.problems = append(c.problems, err.Error())
			return
		}
		body = z
	}
	b, err := io.ReadAll(body)
	var in tracepb.TracesData // same wire format as an export request
	if err == nil {
		err = proto.Unmarshal(b, &in)
	}
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.problems = append(c.problems, fmt.Sprintf("%s %s %s: %v", r.Method, r.URL.Path, r.Header.Get("Content-Type"), err))
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.headers = append(c.headers, r.Header.Clone())
	for _, rs := range in.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				c.spans = append(c.spans, newSpan(s, attrsAsText(rs.Resource.GetAttributes())))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func newSpan(s *tracepb.Span, resource map[string]string) Span {
	out := Span{
		Name:     s.Name,
		TraceID:  hex.EncodeToString(s.TraceId),
		ID:       hex.EncodeToString(s.SpanId),
		ParentID: hex.EncodeToString(s.ParentSpanId),
		Kind:     strings.ToLower(strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_")),
		Attrs:    attrsAsText(s.Attributes),
		Resource: resource,
		Failed:   s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR,
		Message:  s.Status.GetMessage(),
		Events:   len(s.Events),
		Nanos:    s.EndTimeUnixNano - s.StartTimeUnixNano,
	}
	for _, l := range s.Links {
		out.Links = append(out.Links, hex.EncodeToString(l.TraceId)+"-"+hex.EncodeToString(l.SpanId))
	}
	return out
}

func attrsAsText(all []*v1.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		switch v := a.Value.GetValue().(type) {
		case *v1.AnyValue_StringValue:
			out[a.Key] = v.StringValue
		case *v1.AnyValue_IntValue:
			out[a.Key] = fmt.Sprint(v.IntValue)
		case *v1.AnyValue_BoolValue:
			out[a.Key] = fmt.Sprint(v.BoolValue)
		case *v1.AnyValue_DoubleValue:
			out[a.Key] = fmt.Sprint(v.DoubleValue)
		default:
			out[a.Key] = a.Value.String()
		}
	}
	return out
}

// Spans returns the received spans in order.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// SpansNamed returns the received spans with the given name.
func (c *Collector) SpansNamed(name string) (out []Span) {
	for _, s := range c.Spans() {
		if s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

// Headers returns the headers of the accepted requests.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.headers)
}

// Tracer returns a tracer that only sends to the collector, regardless of the environment.
func (c *Collector) Tracer(t testing.TB) *tracing.Tracer {
	t.Helper()
	tracer, err := tracing.New(
		t.Context(),
		tracing.Options{Endpoint: c.URL, Env: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), Version: "test"},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tracer.Close(context.WithoutCancel(t.Context())) })
	return tracer
}
