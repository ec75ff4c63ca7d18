package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"
)

// Options configures New.
type Options struct {
	// Endpoint is the collector's URL. If it is empty, it is taken from OpenTelemetry's environment variables. If
	// they don't set it either, nothing is traced.
	Endpoint string
	Env      func(string) string
	Logger   *slog.Logger
	Version  string
}

// Tracer creates spans and sends them. A nil Tracer creates none.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   otel.Tracer
}

const (
	instrumentationName = "service"
	tracesPath          = "/v1/traces"
)

// New returns a Tracer, or nil if no collector is configured. It does not connect yet.
//
// The OpenTelemetry library reads the remaining environment variables: headers, timeouts,
// compression, certificates, sampler, resource attributes and batch sizes.
func New(ctx context.Context, o Options) (*Tracer, error) {
	endpoint, explicit, err := resolveEndpoint(o.Env, o.Endpoint)
	if err != nil || endpoint == nil {
		return nil, err
	}
	var options []otlptracehttp.Option
	if explicit {
		options = append(options, otlptracehttp.WithEndpointURL(endpoint.String()))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("traces can't be sent: %w", err)
	}
	// Attributes from the environment come last and override the others.
	res, err := resource.New(
		ctx,
		resource.WithAttributes(attribute.String("service.name", "service"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES must have the form name=value,name=value: %w", err)
	}
	provider := sdk.NewTracerProvider(
		sdk.WithResource(res),
		sdk.WithBatcher(&loggingExporter{SpanExporter: exporter, log: o.Logger, endpoint: endpoint.Scheme + "://" + endpoint.Host}),
	)
	return &Tracer{provider: provider, tracer: provider.Tracer(instrumentationName)}, nil
}

// resolveEndpoint returns the collector's URL, or nil if tracing is disabled. explicit reports whether the URL was
// given rather than read from the environment.
func resolveEndpoint(env func(string) string, given string) (endpoint *url.URL, explicit bool, err error) {
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return nil, false, nil
	}
	switch e := env("OTEL_TRACES_EXPORTER"); {
	case e == "none" && given == "":
		return nil, false, nil
	case e != "" && e != "none" && e != "otlp":
		return nil, false, fmt.Errorf("OTEL_TRACES_EXPORTER=%q: use otlp, or none to disable tracing", e)
	}
	name, text := "the trace endpoint", given
	for _, v := range []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		if text == "" {
			name, text = v, strings.TrimSpace(env(v))
		}
	}
	if text == "" {
		return nil, false, nil
	}
	endpoint, err = url.Parse(text)
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
		return nil, false, fmt.Errorf("%s is not an http or https address; use the form http://127.0.0.1:4318", name)
	}
	if endpoint.User != nil {
		return nil, false, fmt.Errorf("%s must not contain a password; put the password in OTEL_EXPORTER_OTLP_HEADERS", name)
	}
	for _, v := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := env(v); p != "" {
			if p != "http/protobuf" {
				return nil, false, fmt.Errorf("%s=%q: only http/protobuf is supported, usually on port 4318", v, p)
			}
			break
		}
	}
	if explicit = given != ""; explicit && (endpoint.Path == "" || endpoint.Path == "/") {
		endpoint.Path = tracesPath
	}
	return endpoint, explicit, nil
}

// Flush sends the pending spans.
func (t *Tracer) Flush(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.ForceFlush(ctx)
}

// Close sends the pending spans, at most until ctx ends, and stops the tracer.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// loggingExporter logs the first failure to send spans and the next success, so that an unavailable collector does
// not fill the log.
type loggingExporter struct {
	sdk.SpanExporter
	log      *slog.Logger
	endpoint string
	failing  atomic.Bool
	lost     atomic.Int64
}

func (e *loggingExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		e.lost.Add(int64(len(spans)))
		if !e.failing.Swap(true) {
			var urlErr *url.Error
			if errors.As(err, &urlErr) {
				err = urlErr.Err // the URL may contain a secret
			}
			e.log.Warn("traces can't be sent", "endpoint", e.endpoint, "error", err)
		}
		return nil
	}
	if e.failing.Swap(false) {
		e.log.Info("traces can be sent again", "endpoint", e.endpoint, "spans_lost", e.lost.Swap(0))
	}
	return nil
}
