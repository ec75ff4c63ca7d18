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

// Options are what a tracer is made of.
type Options struct {
	// Endpoint takes the traces; empty: the variables that OpenTelemetry names say where, and
	// where they don't, nothing is traced.
	Endpoint string
	Env      func(string) string
	Logger   *slog.Logger
	Version  string
}

// Tracer makes spans and sends them. A nil one makes none.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   otel.Tracer
}

const (
	instrumentationName = "service"
	tracesPath          = "/v1/traces"
)

// New makes a tracer; nil where no collector is named. It calls nobody yet.
//
// What it does not read itself of the variables, the library does: headers, time limits,
// compression, certificates, the sampler, the attributes of the resource, batches.
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
	// What the variables say of the resource comes last and wins.
	about, err := resource.New(
		ctx,
		resource.WithAttributes(attribute.String("service.name", "service"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES is not of the form name=value,name=value: %w", err)
	}
	provider := sdk.NewTracerProvider(
		sdk.WithResource(about),
		sdk.WithBatcher(&loggingExporter{SpanExporter: exporter, log: o.Logger, endpoint: endpoint.Scheme + "://" + endpoint.Host}),
	)
	return &Tracer{provider: provider, tracer: provider.Tracer(instrumentationName)}, nil
}

// resolveEndpoint is the collector's address; nil where there is none. own: no variable names it.
func resolveEndpoint(env func(string) string, given string) (at *url.URL, explicit bool, err error) {
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
	at, err = url.Parse(text)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, false, fmt.Errorf("%s is not an http or https address; use the form http://127.0.0.1:4318", name)
	}
	if at.User != nil {
		return nil, false, fmt.Errorf("%s must not contain a password; put it in OTEL_EXPORTER_OTLP_HEADERS", name)
	}
	for _, v := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := env(v); p != "" {
			if p != "http/protobuf" {
				return nil, false, fmt.Errorf("%s=%q: only http/protobuf is supported, usually at port 4318", v, p)
			}
			break
		}
	}
	if explicit = given != ""; explicit && (at.Path == "" || at.Path == "/") {
		at.Path = tracesPath
	}
	return at, explicit, nil
}

// Flush sends what waits.
func (t *Tracer) Flush(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.ForceFlush(ctx)
}

// Close sends what is left, while ctx lasts.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// loggingExporter is an exporter that tells once that it can't send, and once that it can again: a
// collector that is away must not fill the log.
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
			var asked *url.Error
			if errors.As(err, &asked) {
				err = asked.Err // its address may be secret
			}
			e.log.Warn("traces can't be sent", "endpoint", e.endpoint, "error", err)
		}
		return nil
	}
	if e.failing.Swap(false) {
		e.log.Info("traces are sent again", "endpoint", e.endpoint, "spans_lost", e.lost.Swap(0))
	}
	return nil
}
