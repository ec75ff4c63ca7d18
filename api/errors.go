package api

import (
	"errors"
	"fmt"
	"net/http"
)

// ErrorCode is one of the nine codes that an error answer may carry.
type ErrorCode string

// The codes of the interface's part 7.
const (
	CodeUnauthorized   ErrorCode = "UNAUTHORIZED"
	CodeForbidden      ErrorCode = "FORBIDDEN"
	CodeNotFound       ErrorCode = "NOT_FOUND"
	CodeValidation     ErrorCode = "VALIDATION_ERROR"
	CodeTenantRequired ErrorCode = "TENANT_CONTEXT_REQUIRED"
	CodeInvalidState   ErrorCode = "INVALID_STATE_TRANSITION"
	CodeApproval       ErrorCode = "APPROVAL_REQUIRED"
	CodeRateLimit      ErrorCode = "RATE_LIMIT_EXCEEDED"
	CodeInternal       ErrorCode = "INTERNAL_ERROR"
)

var httpStatuses = map[ErrorCode]int{
	CodeUnauthorized:   http.StatusUnauthorized,
	CodeForbidden:      http.StatusForbidden,
	CodeNotFound:       http.StatusNotFound,
	CodeValidation:     http.StatusBadRequest,
	CodeTenantRequired: http.StatusBadRequest,
	CodeInvalidState:   http.StatusConflict,
	CodeApproval:       http.StatusConflict,
	CodeRateLimit:      http.StatusTooManyRequests,
	CodeInternal:       http.StatusInternalServerError,
}

// ErrorDetail is one item of an error's details: the field and message of bad
// input, the gate of a missing decision, or the states of a refused move.
type ErrorDetail struct {
	Field               string  `json:"field,omitempty"`
	Message             string  `json:"message,omitempty"`
	Gate                Gate    `json:"gate,omitempty"`
	Reason              string  `json:"reason,omitempty"`
	ApprovalID          string  `json:"approval_id,omitempty"`
	CurrentState        string  `json:"current_state,omitempty"`
	AttemptedTransition string  `json:"attempted_transition,omitempty"`
	AllowedTransitions  []State `json:"allowed_transitions,omitempty"`
}

// Error is what a caller is told: a code from the table and a sentence that
// says what to do. What else is known of the cause is wrapped, and only logged.
type Error struct {
	Code         ErrorCode     `json:"code"`
	Message      string        `json:"message"`
	Details      []ErrorDetail `json:"details"`
	TraceID      string        `json:"trace_id"`
	cause        error
	retryAfter   int
	requestLimit int
}

// ErrorEnvelope is the body of every error answer.
type ErrorEnvelope struct {
	Error *Error `json:"error"`
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.cause }

// HTTPStatus is the status the code is sent with.
func (e *Error) HTTPStatus() int { return httpStatuses[e.Code] }

// WithCause keeps the cause for the log; the caller is not shown it.
func (e *Error) WithCause(cause error) *Error { e.cause = cause; return e }

// WithDetails adds details.
func (e *Error) WithDetails(d ...ErrorDetail) *Error { e.Details = append(e.Details, d...); return e }

// AsError returns the api error in err's chain, or an internal error that hides err behind a general sentence.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return newError(CodeInternal, hiddenMessage).WithCause(err)
}

// hiddenMessage stands for a cause that only the log tells.
const hiddenMessage = "something went wrong inside the service; the log has the cause under this trace id"

// IsHidden tells whether the cause is only in the log, under the trace id.
func (e *Error) IsHidden() bool { return e.Code == CodeInternal && e.Message == hiddenMessage }

// IsCode tells whether err carries the code.
func IsCode(err error, code ErrorCode) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

func newError(code ErrorCode, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Details: []ErrorDetail{}}
}

// Invalid is a VALIDATION_ERROR about one field; field may be empty.
func Invalid(field, format string, args ...any) *Error {
	e := newError(CodeValidation, format, args...)
	if field != "" {
		e.Details = []ErrorDetail{{Field: field, Message: e.Message}}
	}
	return e
}

// NotFound is a NOT_FOUND about a kind of record.
func NotFound(kind, id string) *Error {
	return newError(CodeNotFound, "there is no %s %q here", kind, id)
}

// Forbidden is a FORBIDDEN.
func Forbidden(format string, args ...any) *Error { return newError(CodeForbidden, format, args...) }

// Unauthorized is an UNAUTHORIZED.
func Unauthorized(format string, args ...any) *Error {
	return newError(CodeUnauthorized, format, args...)
}

// TenantRequired is the answer where the tenant header is missing.
func TenantRequired() *Error {
	return newError(CodeTenantRequired, "name the organization in the header %s", TenantHeader)
}

// RateLimited is the answer where a window is used up.
func RateLimited(seconds int) *Error {
	unit := "seconds"
	if seconds == 1 {
		unit = "second"
	}
	e := newError(CodeRateLimit, "too many requests; try again in %d %s", seconds, unit)
	e.retryAfter = seconds
	return e
}

// RetryAfter is in how many seconds a RATE_LIMIT_EXCEEDED can be tried again; 0 for others.
func (e *Error) RetryAfter() int { return e.retryAfter }

// RequestLimit is how many requests a minute the server allows where one was too many; 0: not known.
func (e *Error) RequestLimit() int { return e.requestLimit }

// WithRetryHeaders adds to a RATE_LIMIT_EXCEEDED what the headers of the answer say of it.
func (e *Error) WithRetryHeaders(wait, window int) *Error {
	e.retryAfter, e.requestLimit = wait, window
	return e
}

// Internal is an INTERNAL_ERROR that the caller can do something about, and is told of.
func Internal(format string, args ...any) *Error { return newError(CodeInternal, format, args...) }

// Conflict is an INVALID_STATE_TRANSITION of a record, where no lifecycle move is meant.
func Conflict(format string, args ...any) *Error { return newError(CodeInvalidState, format, args...) }

// ApprovalRequired is an APPROVAL_REQUIRED at a gate. approvalID may be empty.
func ApprovalRequired(gate Gate, approvalID, format string, args ...any) *Error {
	e := newError(CodeApproval, format, args...)
	return e.WithDetails(ErrorDetail{Gate: gate, Reason: e.Message, ApprovalID: approvalID})
}

// The headers the contract names.
const (
	TenantHeader         = "X-Service-Tenant-Id"
	TraceHeader          = "X-Trace-Id"
	IdempotencyHeader    = "Idempotency-Key"
	IdempotencyReplayed  = "Idempotent-Replayed"
	SessionCookie        = "service-native-auth.session_token"
	APIKeyPrefix         = "service_live_"
	RateLimitHeader      = "RateLimit-Limit"
	RateRemainingHeader  = "RateLimit-Remaining"
	RateResetHeader      = "RateLimit-Reset"
	MaxBodyBytes         = 1 << 20
	DefaultListLimit     = 50
	MaxListLimit         = 200
	DefaultSearchResults = 10
)

// ErrorType is what traces keep of an error.
func (e *Error) ErrorType() string { return string(e.Code) }
