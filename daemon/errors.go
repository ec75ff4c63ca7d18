package daemon

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/internal/lazyregexp"
)

func init() {
	huma.DefaultArrayNullable = false
	// Otherwise, a field could be given twice with different capitalization.
	huma.ValidateStrictCasing = true
}

// validationError converts huma's validation errors to the contract's code and messages.
func validationError(errs []error) *api.Error {
	e := api.Invalid("", "validation failed")
	for _, err := range errs {
		d := api.ErrorDetail{Message: err.Error()}
		if det, ok := err.(huma.ErrorDetailer); ok {
			hd := det.ErrorDetail()
			d.Message = rewordValidationMessage(hd.Message)
			d.Field = strings.TrimPrefix(strings.TrimPrefix(hd.Location, "body."), "body")
			if m := missingPropertyPattern.FindStringSubmatch(hd.Message); m != nil {
				d.Field, d.Message = strings.TrimPrefix(d.Field+"."+m[1], "."), fieldRequired
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

// Messages for missing and unknown fields.
const (
	fieldRequired = "this field is required"
	fieldUnknown  = "unknown field"
)

var missingPropertyPattern = lazyregexp.New(`^expected required property (\S+) to be present$`)

// rewordValidationMessage rewords a validation message of huma for users.
func rewordValidationMessage(m string) string {
	if most, ok := strings.CutPrefix(m, "expected length <= "); ok {
		return "must have at most " + most + " characters"
	}
	if least, ok := strings.CutPrefix(m, "expected length >= "); ok && least != "1" {
		return "must have at least " + least + " characters"
	} else if ok {
		return "can't be empty"
	}
	if most, ok := strings.CutPrefix(m, "expected number <= "); ok {
		return "must be at most " + most
	}
	if least, ok := strings.CutPrefix(m, "expected number >= "); ok {
		return "must be at least " + least
	}
	if strings.HasPrefix(m, "expected string to be RFC 5322 email") {
		return "must be an email address such as ada@acme.example"
	}
	switch m {
	case "unexpected property":
		return fieldUnknown
	case "expected string to be RFC 3339 date":
		return "must be a date such as 2027-01-29"
	case "expected string to be RFC 3339 date-time":
		return "must be a time such as 2027-01-29T09:00:00Z"
	}
	return m
}

// sendOperationError sends an operation's error. If the operation itself denied the caller permission, that is
// recorded in the audit chain.
func (s *Server) sendOperationError(w http.ResponseWriter, r *http.Request, op *api.Operation, err error) {
	e := s.logAndConvertError(r.Context(), op, err)
	if e.Code == api.CodeForbidden || e.Code == api.CodeApproval {
		s.recordRefusal(r.Context(), callerFrom(r.Context()), op, e)
	}
	s.writeError(w, r, e)
}

// logAndConvertError returns the error to show to the caller, and logs the details that must not be shown.
func (s *Server) logAndConvertError(ctx context.Context, op *api.Operation, err error) *api.Error {
	e := engine.ToAPIError(err)
	if x := requestContextFrom(ctx); e.RetryAfter() > 0 && x.w != nil {
		x.w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter()))
	}
	if e.Code == api.CodeInternal && !hasClientDisconnected(ctx) {
		level := slog.LevelError
		if !e.IsCauseHidden() { // the caller sees it and can fix the cause
			level = slog.LevelWarn
		}
		s.log.Log(ctx, level, "operation failed", "trace_id", traceIDFrom(ctx), "operation", op.ID, "error", err)
	}
	return e
}

// writeError sends an error with the request's trace ID. Browsers get a page, unless they called the API.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, e *api.Error) {
	filled := *e
	filled.TraceID = traceIDFrom(r.Context())
	if s.pages != nil && isPageRequest(r) {
		s.pages.WriteError(w, r, &filled)
		return
	}
	s.countUncounted(w, r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.HTTPStatus())
	_ = json.NewEncoder(w).Encode(api.ErrorEnvelope{Error: &filled})
}

func (s *Server) serveUnknownRoute(w http.ResponseWriter, r *http.Request) {
	s.writeError(w, r, api.NotFound("route", r.Method+" "+r.URL.Path))
}
