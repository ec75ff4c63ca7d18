package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// ErrorCode is one of the nine codes of an error response.
type ErrorCode string

// The error codes of section 7 of the API specification.
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

// ErrorDetail is one of an error's details: the field and message of invalid input, the gate of a missing decision,
// the states of a rejected transition, or the exhausted budget.
type ErrorDetail struct {
	Field               string  `json:"field,omitempty"`
	Message             string  `json:"message,omitempty"`
	Gate                Gate    `json:"gate,omitempty"`
	Reason              string  `json:"reason,omitempty"`
	ApprovalID          *string `json:"approval_id,omitempty"`
	CurrentState        string  `json:"current_state,omitempty"`
	AttemptedTransition string  `json:"attempted_transition,omitempty"`
	AllowedTransitions  []State `json:"allowed_transitions,omitempty"`
	Budget              Budget  `json:"budget,omitempty"`
}

// MarshalJSON writes approval_id as null if the error is that a decision is missing and nothing has been submitted for approval.
func (d ErrorDetail) MarshalJSON() ([]byte, error) {
	type plain ErrorDetail
	if d.Gate == "" || d.ApprovalID != nil {
		return json.Marshal(plain(d))
	}
	return json.Marshal(struct {
		plain
		ApprovalID *string `json:"approval_id"`
	}{plain: plain(d)})
}

// Error is the error that a caller sees: a code, and a message that says what to do. The wrapped cause is only
// logged.
type Error struct {
	Code         ErrorCode     `json:"code"`
	Message      string        `json:"message"`
	Details      []ErrorDetail `json:"details"`
	TraceID      string        `json:"trace_id"`
	cause        error
	status       int // if it differs from the code's usual status
	retryAfter   int
	requestLimit int
}

// ErrorEnvelope is the body of every error response.
type ErrorEnvelope struct {
	Error *Error `json:"error"`
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.cause }

// HTTPStatus returns the HTTP status of the error: that of its code, unless a more specific one applies.
func (e *Error) HTTPStatus() int { return cmp.Or(e.status, httpStatuses[e.Code]) }

// WithCause attaches a cause for the log; the caller does not see it.
func (e *Error) WithCause(cause error) *Error { e.cause = cause; return e }

// WithDetails adds details to the error.
func (e *Error) WithDetails(d ...ErrorDetail) *Error { e.Details = append(e.Details, d...); return e }

// AsError returns the Error in err's chain, or an internal error that hides err behind a general
// message.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return newError(CodeInternal, hiddenMessage).WithCause(err)
}

// hiddenMessage is shown to the caller instead of a cause that is only logged.
const hiddenMessage = "internal error; to find the details, search the service log for this trace ID"

// IsCauseHidden reports whether the cause is withheld from the caller and appears only in the log, under
// the trace ID.
func (e *Error) IsCauseHidden() bool { return e.Code == CodeInternal && e.Message == hiddenMessage }

// IsCode reports whether err is, or wraps, an Error with the code.
func IsCode(err error, code ErrorCode) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// IsRevisionConflict reports whether a change was rejected because the record has changed since it was read.
func IsRevisionConflict(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == CodeValidation &&
		slices.ContainsFunc(e.Details, func(d ErrorDetail) bool { return d.Field == "If-Match" })
}

func newError(code ErrorCode, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Details: []ErrorDetail{}}
}

// Invalid returns a VALIDATION_ERROR about one input field, whose name may be empty.
func Invalid(field, format string, args ...any) *Error {
	e := newError(CodeValidation, format, args...)
	if field != "" {
		e.Details = []ErrorDetail{{Field: field, Message: e.Message}}
	}
	return e
}

// NotFound returns a NOT_FOUND error for a record of the given kind.
func NotFound(kind, id string) *Error {
	return newError(CodeNotFound, "there is no %s %q, or you don't have access to it", kind, id)
}

// Forbidden returns a FORBIDDEN error.
func Forbidden(format string, args ...any) *Error { return newError(CodeForbidden, format, args...) }

// NotMember returns the FORBIDDEN error for an organization that the caller is not a member of. Its
// detail names the tenant header.
func NotMember() *Error {
	e := Forbidden("you are not a member of the organization given in the %s header", TenantHeader)
	return e.WithDetails(ErrorDetail{Field: TenantHeader, Message: e.Message})
}

// UnsupportedMediaType returns a VALIDATION_ERROR with status 415 about a body whose type is missing or
// can't be read.
func UnsupportedMediaType(format string, args ...any) *Error {
	e := Invalid("Content-Type", format, args...)
	e.status = http.StatusUnsupportedMediaType
	return e
}

// Misdirected returns a FORBIDDEN error with status 421, for a request to a host name that this server
// doesn't serve.
func Misdirected(format string, args ...any) *Error {
	e := Forbidden(format, args...)
	e.status = http.StatusMisdirectedRequest
	return e
}

// Unauthorized returns an UNAUTHORIZED error.
func Unauthorized(format string, args ...any) *Error {
	return newError(CodeUnauthorized, format, args...)
}

// TenantRequired returns the error for a missing tenant header.
func TenantRequired() *Error {
	return newError(CodeTenantRequired, "specify the organization in the %s header", TenantHeader)
}

// ChooseOrganization returns the error for a user who is a member of these organizations but has not made one of them
// active.
func ChooseOrganization(names []string) *Error {
	return newError(CodeTenantRequired, "no organization is selected; choose one of: %s", strings.Join(names, ", "))
}

// RateLimited returns the error for a caller that has exhausted its requests. seconds is how long to wait before
// retrying.
func RateLimited(seconds int) *Error {
	e := newError(CodeRateLimit, "too many requests; try again in %s", formatCount(seconds, "second", "seconds"))
	e.retryAfter = seconds
	return e
}

// BudgetExceeded returns the error for a request whose budget is exhausted. limit is the number of requests per
// minute.
func BudgetExceeded(of Budget, limit, seconds int) *Error {
	e := newError(
		CodeRateLimit, "too many requests: %s has reached its limit of %d per minute; try again in %s",
		budgetHolders[of], limit, formatCount(seconds, "second", "seconds"),
	)
	e.Details = []ErrorDetail{{Budget: of, Message: e.Message}}
	e.retryAfter = seconds
	return e
}

// RetryAfter returns the number of seconds after which a RATE_LIMIT_EXCEEDED request can be
// retried, or 0 for other errors.
func (e *Error) RetryAfter() int { return e.retryAfter }

// Unavailable returns an INTERNAL_ERROR with the status 503: something that the service needs is not available, and
// the request can be retried after the given number of seconds.
func Unavailable(seconds int, format string, args ...any) *Error {
	e := Internal(format, args...)
	e.status, e.retryAfter = http.StatusServiceUnavailable, seconds
	return e
}

// RequestLimit returns the number of requests per minute that the server allows, or 0 if unknown.
func (e *Error) RequestLimit() int { return e.requestLimit }

// WithRetryHeaders sets the retry values of a RATE_LIMIT_EXCEEDED error to those of the response
// headers.
func (e *Error) WithRetryHeaders(waitSeconds, requestsPerMinute int) *Error {
	e.retryAfter, e.requestLimit = waitSeconds, requestsPerMinute
	return e
}

// Internal returns an INTERNAL_ERROR whose message is shown to the caller, who can act on it.
func Internal(format string, args ...any) *Error { return newError(CodeInternal, format, args...) }

// Conflict returns an INVALID_STATE_TRANSITION error for a conflict in a record without a lifecycle.
func Conflict(format string, args ...any) *Error { return newError(CodeInvalidState, format, args...) }

// ApprovalRequired returns the APPROVAL_REQUIRED error for a step that requires approval at the gate. approvalID may
// be empty.
func ApprovalRequired(gate Gate, approvalID, format string, args ...any) *Error {
	e := newError(CodeApproval, format, args...)
	d := ErrorDetail{Gate: gate, Reason: e.Message}
	if approvalID != "" {
		d.ApprovalID = &approvalID
	}
	return e.WithDetails(d)
}

// Headers, cookies, prefixes and limits of the API.
const (
	TenantHeader         = "X-Service-Tenant-Id"
	TraceHeader          = "X-Trace-Id"
	IdempotencyHeader    = "Idempotency-Key"
	IdempotencyReplayed  = "Idempotent-Replayed"
	SessionCookie        = "service-native-auth.session_token"
	DeviceCookie         = "service-native-auth.known_device"
	APIKeyPrefix         = "service_live_"
	RateLimitHeader      = "RateLimit-Limit"
	RateRemainingHeader  = "RateLimit-Remaining"
	RateResetHeader      = "RateLimit-Reset"
	MaxBodyBytes         = 1 << 20
	MaxUploadBytes       = 512 << 20 // size of an uploaded file with its form
	DefaultListLimit     = 50
	MaxListLimit         = 200
	DefaultSearchResults = 10
)

// ErrorType returns the error type recorded in traces.
func (e *Error) ErrorType() string { return string(e.Code) }

// TooLarge returns a VALIDATION_ERROR with status 413 about a request that exceeds a limit.
func TooLarge(field, format string, args ...any) *Error {
	e := Invalid(field, format, args...)
	e.status = http.StatusRequestEntityTooLarge
	return e
}
