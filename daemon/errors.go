package daemon

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/api"
)

// statusError is the error envelope as huma wants it.
type statusError struct {
	api.ErrorEnvelope
}

func (e *statusError) Error() string  { return e.ErrorEnvelope.Error.Message }
func (e *statusError) GetStatus() int { return e.ErrorEnvelope.Error.HTTPStatus() }

func init() {
	huma.DefaultArrayNullable = false
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return &statusError{api.ErrorEnvelope{Error: fromHuma(status, message, errs)}}
	}
}

// fromHuma gives what huma found wrong with a request the contract's code and words.
func fromHuma(status int, message string, errs []error) *api.Error {
	if status >= http.StatusInternalServerError {
		return api.AsError(nil)
	}
	e := api.Invalid("", "%s", message)
	for _, err := range errs {
		d := api.ErrorDetail{Message: err.Error()}
		if det, ok := err.(huma.ErrorDetailer); ok {
			hd := det.ErrorDetail()
			d.Message = plainer(hd.Message)
			d.Field = strings.TrimPrefix(strings.TrimPrefix(hd.Location, "body."), "body")
			if m := missingProperty.FindStringSubmatch(hd.Message); m != nil {
				d.Field, d.Message = strings.TrimPrefix(d.Field+"."+m[1], "."), "this field is required"
			}
			for _, part := range []string{"path.", "query.", "header.", "cookie."} {
				d.Field = strings.TrimPrefix(d.Field, part)
			}
		}
		e.Details = append(e.Details, d)
	}
	if len(e.Details) > 0 {
		first := e.Details[0]
		e.Message = strings.TrimSpace(first.Field + ": " + first.Message)
		if first.Field == "" {
			e.Message = first.Message
		}
		if n := len(e.Details); n > 1 {
			e.Message += " (and more: see details)"
		}
	}
	return e
}

var missingProperty = regexp.MustCompile(`^expected required property (\S+) to be present$`)

func plainer(m string) string {
	switch m {
	case "unexpected property":
		return "there is no such field"
	case "expected string to be RFC 3339 date":
		return "write a date as 2027-01-29"
	case "expected string to be RFC 3339 date-time":
		return "write a time as 2027-01-29T09:00:00Z"
	}
	return m
}

// fillTraceID puts the request's trace id into every error answer, wherever it was made.
func fillTraceID(ctx huma.Context, _ string, v any) (any, error) {
	if e, ok := v.(*statusError); ok {
		filled := *e.ErrorEnvelope.Error
		filled.TraceID = traceID(ctx.Context())
		return &statusError{api.ErrorEnvelope{Error: &filled}}, nil
	}
	return v, nil
}

// fail logs what the caller is not told and returns the error in huma's form.
func (s *Server) fail(ctx context.Context, op *api.Operation, err error) error {
	return &statusError{api.ErrorEnvelope{Error: s.explain(ctx, op, err)}}
}

func (s *Server) explain(ctx context.Context, op *api.Operation, err error) *api.Error {
	e := engine.Explain(err)
	if e.Code == api.CodeInternal {
		level := slog.LevelError
		if !e.Hidden() { // the caller is told, and can mend it
			level = slog.LevelWarn
		}
		s.log.Log(ctx, level, "operation failed", "trace_id", traceID(ctx), "operation", op.ID, "error", err)
	}
	return e
}

// writeError answers outside of huma: unknown routes, uploads, panics.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, e *api.Error) {
	filled := *e
	filled.TraceID = traceID(r.Context())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.HTTPStatus())
	_ = json.NewEncoder(w).Encode(api.ErrorEnvelope{Error: &filled})
}

func (s *Server) unknownRoute(w http.ResponseWriter, r *http.Request) {
	s.writeError(w, r, api.NotFound("route", r.Method+" "+r.URL.Path))
}
