package tracing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/tracetest"
	"github.com/scf-service/service/internal/tracing"
)

type coded struct{}

func (coded) Error() string     { return "the password is sesame" }
func (coded) ErrorType() string { return "NOT_FOUND" }

// TestSpans checks that spans reach the collector with their parents, links, kinds and attributes, and that errors
// are reduced to their type.
func TestSpans(t *testing.T) {
	c := tracetest.Start(t)
	tracer := c.Tracer(t)
	far := tracing.ParseTraceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	ctx, outer := tracer.Start(
		t.Context(),
		"outer",
		tracing.StartOptions{
			Kind:   tracing.Server,
			Parent: far,
			Attrs:  []tracing.Attr{{Key: "n", Value: 7}, {Key: "half", Value: 0.5}, {Key: "yes", Value: true}},
		},
	)
	_, inner := tracing.Start(ctx, "inner", tracing.Client, tracing.Attr{Key: "long", Value: strings.Repeat("é", 400) + "\xff"})
	h := http.Header{}
	tracing.Inject(ctx, h)
	inner.End(fmt.Errorf("wrapped: %w", coded{}))
	_, other := tracer.Start(t.Context(), "later", tracing.StartOptions{Kind: tracing.Internal, FollowsFrom: tracing.Current(ctx)})
	other.End(errors.New("evidence of somebody's"))
	outer.End(nil)
	if err := tracer.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, in, later := c.SpansNamed("outer")[0], c.SpansNamed("inner")[0], c.SpansNamed("later")[0]
	if out.TraceID != "0af7651916cd43dd8448eb211c80319c" || out.ParentID != "b7ad6b7169203331" || out.Kind != "server" || out.Failed ||
		out.Attrs["n"] != "7" ||
		out.Attrs["half"] != "0.5" ||
		out.Attrs["yes"] != "true" ||
		out.Resource["service.name"] != "service" ||
		out.Resource["service.version"] != "test" {
		t.Errorf("%+v", out)
	}
	if in.TraceID != out.TraceID || in.ParentID != out.ID || in.Kind != "client" || !in.Failed || in.Message != "" || in.Events != 0 ||
		in.Attrs["error.type"] != "NOT_FOUND" ||
		len(in.Attrs["long"]) != 256 {
		t.Errorf("%+v", in)
	}
	if later.TraceID == out.TraceID || later.ParentID != "" || len(later.Links) != 1 || later.Links[0] != out.TraceID+"-"+out.ID ||
		later.Attrs["error.type"] != "errors.errorString" {
		t.Errorf("%+v", later)
	}
	if outer.TraceID() != out.TraceID {
		t.Errorf("%s, not %s", outer.TraceID(), out.TraceID)
	}
	if got := h.Get("traceparent"); got != "00-"+out.TraceID+"-"+out.ID+"-01" {
		t.Errorf("%q", got)
	}
	if text := fmt.Sprint(c.Spans()); strings.Contains(text, "sesame") || strings.Contains(text, "somebody") {
		t.Errorf("the words of an error: %s", text)
	}
}

// TestUnsampled checks that an unsampled trace is not recorded, including its children.
func TestUnsampled(t *testing.T) {
	c := tracetest.Start(t)
	tracer := c.Tracer(t)
	ctx, s := tracer.Start(
		t.Context(),
		"outer",
		tracing.StartOptions{Parent: tracing.ParseTraceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")},
	)
	_, in := tracing.Start(ctx, "inner", tracing.Internal)
	h := http.Header{}
	tracing.Inject(ctx, h)
	in.End(nil)
	s.End(nil)
	if err := tracer.Flush(t.Context()); err != nil || len(c.Spans()) != 0 || tracing.Current(ctx) != nil ||
		!strings.HasSuffix(h.Get("traceparent"), "-00") {
		t.Errorf("%v, %v, %v", err, c.Spans(), h)
	}
}

// TestOff checks that all methods do nothing without a tracer.
func TestOff(t *testing.T) {
	var tracer *tracing.Tracer
	ctx, s := tracer.Start(t.Context(), "x", tracing.StartOptions{})
	s.SetAttributes(tracing.Attr{Key: "a", Value: "b"})
	s.Fail("x")
	s.End(errors.New("x"))
	_, in := tracing.Start(ctx, "y", tracing.Internal)
	in.End(nil)
	h := http.Header{}
	tracing.Inject(ctx, h)
	if err := errors.Join(tracer.Flush(ctx), tracer.Close(ctx)); err != nil || ctx != t.Context() || len(h) != 0 || s.TraceID() != "" ||
		tracing.Current(ctx).String() != "" {
		t.Errorf("%v %v", err, h)
	}
}

// TestConfigured checks the environment variables, and that errors say how to fix the problem but contain no
// variable's value.
func TestConfigured(t *testing.T) {
	for name, c := range map[string]struct {
		own  string
		env  map[string]string
		on   bool
		want string
	}{
		"nothing": {},
		"general": {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, on: true},
		"for traces": {
			env: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://c.example/x", "OTEL_EXPORTER_OTLP_ENDPOINT": "nonsense"},
			on:  true,
		},
		"our own":          {own: "http://127.0.0.1:1", on: true},
		"disabled":         {own: "http://127.0.0.1:1", env: map[string]string{"OTEL_SDK_DISABLED": "true"}},
		"none":             {env: map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}},
		"another exporter": {own: "http://127.0.0.1:1", env: map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}, want: "otlp"},
		"grpc": {
			env:  map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
			want: "4318",
		},
		"no address": {
			env:  map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "sesame:4318"},
			want: "OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https address",
		},
		"another scheme":   {own: "unix:///sesame", want: "not an http or https address"},
		"with a password":  {own: "http://ada:sesame@c.example", want: "OTEL_EXPORTER_OTLP_HEADERS"},
		"not to be parsed": {own: "http://c.example/%zzsesame", want: "not an http or https address"},
		"protocol for traces": {
			own: "http://127.0.0.1:1",
			env: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
			on:  true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tracer, err := tracing.New(
				t.Context(),
				tracing.Options{Endpoint: c.own, Env: func(n string) string { return c.env[n] }, Logger: slog.New(slog.DiscardHandler)},
			)
			if (tracer != nil) != c.on || (err != nil) != (c.want != "") ||
				err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sesame")) {
				t.Errorf("%v, %v", tracer, err)
			}
			_ = tracer.Close(t.Context())
		})
	}
}

// TestEnvironment checks that headers, compression and the resource come from the environment.
func TestEnvironment(t *testing.T) {
	c := tracetest.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test,service.name=other")
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL}
	tracer, err := tracing.New(
		t.Context(),
		tracing.Options{Env: func(n string) string { return env[n] }, Logger: slog.New(slog.DiscardHandler)},
	)
	if err != nil {
		t.Fatal(err)
	}
	_, s := tracer.Start(t.Context(), "x", tracing.StartOptions{})
	s.End(nil)
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := c.Spans(); len(got) != 1 || got[0].Resource["deployment.environment"] != "test" ||
		got[0].Resource["service.name"] != "other" ||
		c.Headers()[0].Get("x-key") != "a b" {
		t.Errorf("%+v, %v", got, c.Headers())
	}
}

// TestCollectorAway checks that the failure of a collector is logged once, without its address, and so is its
// recovery.
func TestCollectorAway(t *testing.T) {
	c := tracetest.Start(t)
	c.SetStatus(http.StatusForbidden)
	var log bytes.Buffer
	tracer, err := tracing.New(
		t.Context(),
		tracing.Options{
			Endpoint: c.URL + "/v1/traces?token=sesame",
			Env:      func(string) string { return "" },
			Logger:   slog.New(slog.NewTextHandler(&log, nil)),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close(context.Background())
	for range 3 {
		_, s := tracer.Start(t.Context(), "x", tracing.StartOptions{})
		s.End(nil)
		_ = tracer.Flush(t.Context())
	}
	c.SetStatus(http.StatusOK)
	_, s := tracer.Start(t.Context(), "y", tracing.StartOptions{})
	s.End(nil)
	_ = tracer.Flush(t.Context())
	if text := log.String(); strings.Count(text, "can't be sent") != 1 || strings.Count(text, "sent again") != 1 ||
		!strings.Contains(text, "spans_lost=3") ||
		strings.Contains(text, "sesame") ||
		len(c.SpansNamed("y")) != 1 {
		t.Errorf("%s", text)
	}
}

// FuzzParse checks that any traceparent is either parsed or ignored.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01",
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what",
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
		"",
		"00--",
		strings.Repeat("0", 55),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l := tracing.ParseTraceparent(text)
		if l == nil {
			return
		}
		again := tracing.ParseTraceparent(l.String())
		if again == nil || again.String() != l.String() || len(l.String()) != 55 {
			t.Errorf("%q: %q", text, l)
		}
	})
}

// BenchmarkOff measures the cost to transactions and requests if nothing is traced.
func BenchmarkOff(b *testing.B) {
	ctx := b.Context()
	for b.Loop() {
		_, s := tracing.Start(ctx, "x", tracing.Internal)
		s.End(nil)
	}
}
