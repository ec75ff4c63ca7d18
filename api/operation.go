package api

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// Prefix is the beginning of every path, except for those of session sign-in.
const Prefix = "/api/v1"

// Access is the kind of credential that an operation requires.
type Access int

const (
	// Public operations need no credential.
	Public Access = iota
	// SignedIn operations need a session or key, but no organization.
	SignedIn
	// Tenant operations act within the organization that the tenant header names.
	Tenant
	// Platform operations need the platform_admin flag.
	Platform
)

// RateCategory is a group of operations that share one rate limit.
type RateCategory string

// The rate limit categories of section 8 of the API specification, with the number of requests allowed per window.
const (
	RateDocuments RateCategory = "documents"
	RateSearch    RateCategory = "search"
	RateAgents    RateCategory = "agents"
	RateRender    RateCategory = "render"
	RateAdmin     RateCategory = "admin"
	RateDefault   RateCategory = "default"
)

// Health checks and sign-in are limited like RateDefault, but counted separately, so that other requests from the same
// address don't use up their requests.
const (
	RateHealth RateCategory = "health"
	RateSignIn RateCategory = "sign-in"
)

// Budget identifies whose requests are counted together.
type Budget string

// The budgets of a request: the budget of its credential, or of its network address if there is no valid credential,
// and the budget of the organization that it acts in.
const (
	BudgetKey          Budget = "key"
	BudgetSession      Budget = "session"
	BudgetAddress      Budget = "address"
	BudgetOrganization Budget = "organization"
)

// Values returns the budgets.
func (Budget) Values() []Budget {
	return []Budget{BudgetKey, BudgetSession, BudgetAddress, BudgetOrganization}
}

// budgetHolders names the holder of a budget in messages.
var budgetHolders = map[Budget]string{
	BudgetKey: "this API key", BudgetSession: "this session", BudgetAddress: "this network address", BudgetOrganization: "the organization",
}

// OrgRateFactor is the rate limit of an organization as a multiple of the limit of a single credential.
const OrgRateFactor = 10

// RateWindowSeconds is the length of a rate limit's time window, after which counting starts again.
const RateWindowSeconds = 60

// RateLimits maps each category to the number of requests that a credential may make per window.
var RateLimits = map[RateCategory]int{
	RateDocuments: 30, RateSearch: 60, RateAgents: 10, RateRender: 20, RateAdmin: 15, RateDefault: 120,
	RateHealth: 120, RateSignIn: 120,
}

// Form is the encoding of an operation's request and response bodies.
type Form int

const (
	// JSON is used for both the request and the response.
	JSON Form = iota
	// Upload means multipart/form-data with one part named "file"; the input has a File field.
	Upload
	// Download means that a file is returned; the output type is *File.
	Download
	// Markup means that an HTML page is returned; the output type is *File.
	Markup
	// Events means that server-sent events are streamed until the stream ends; the output type is *File.
	Events
)

// Operation is the declaration of one endpoint without its Go types.
type Operation struct {
	// ID identifies the operation in OpenAPI, in the audit trail and on the command line, for example
	// "transition-assessment".
	ID     string
	Method string
	// Path is the complete path, with its prefix and {parameters}.
	Path    string
	Summary string
	// Description adds details that the summary leaves out; it may be empty.
	Description string
	Access      Access
	Permission  Permission
	// Delegable allows calls by users to whom an owner or admin has delegated decisions.
	Delegable bool
	Rate      RateCategory
	// Status is the HTTP status of a successful response.
	Status int
	Form   Form
	// MaxBody is the maximum size of a JSON body in bytes, if not MaxBodyBytes.
	MaxBody int64
	// LargeText reports whether bodies above MaxValidatedBody are that large because of a single text, so that they can
	// be validated too.
	LargeText bool
	// Tag is the documentation section of the operation.
	Tag string
	// In and Out are the Go types of input and output; Out is None if there is no body.
	In, Out reflect.Type
}

// Op is an operation with its input and output types.
//
// An input is a struct whose fields are tagged path, query or header, and
// whose Body field, if any, is the JSON body.
type Op[I, O any] struct{ *Operation }

// None is the type used for an operation without input or without output.
type None struct{}

// UploadFile is the file part of an upload. Content is read once, from beginning to end.
type UploadFile struct {
	Filename string
	Content  io.Reader
}

// File is a download. The caller must close Content.
type File struct {
	Filename    string
	ContentType string
	Size        int64
	SHA256      string
	// ScriptSource is the source of the only script that a page may run, in the form used in content security
	// policies; empty if there is none.
	ScriptSource string
	// Content also implements io.Seeker if ranges can be served.
	Content io.ReadCloser
}

// StreamFile returns a download of unknown size. Its content is produced by write while it is being
// read; write is stopped when the file is closed or ctx ends.
func StreamFile(ctx context.Context, name, contentType string, write func(context.Context, io.Writer) error) *File {
	pr, pw := io.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		pw.CloseWithError(write(ctx, pw))
	}()
	return &File{Filename: name, ContentType: contentType, Size: -1, Content: &stream{pr, cancel}}
}

// stream is the reading end of a StreamFile download; closing it stops the writer.
type stream struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (s *stream) Close() error {
	s.cancel()
	return s.PipeReader.Close()
}

// Option sets an optional part of an operation's declaration.
type Option func(*Operation)

// WithDelegatesAllowed also lets members call the operation if an owner or admin has delegated decisions to them.
// Whether a delegation covers the gate and the time is checked when they decide.
func WithDelegatesAllowed() Option { return func(o *Operation) { o.Delegable = true } }

// WithStatus sets the HTTP status of a successful response, if it differs from the method's usual status.
func WithStatus(code int) Option { return func(o *Operation) { o.Status = code } }

// WithAccess sets who may call the operation; the default is Tenant.
func WithAccess(a Access) Option { return func(o *Operation) { o.Access = a } }

// MaxValidatedBody is the maximum size of a body that is validated against its schema, because
// validation takes several times as much memory. If an operation's MaxBody is larger, its bodies are
// only decoded strictly, and the operation's method validates them, except for operations WithLargeText.
const MaxValidatedBody = 4 << 20

// WithMaxBody sets the maximum size of a JSON request body in bytes.
func WithMaxBody(maxBytes int64) Option { return func(o *Operation) { o.MaxBody = maxBytes } }

// WithLargeText sets the maximum size in bytes of a JSON request body that is large because of a single text, such as
// a base64-encoded file. Bodies larger than MaxValidatedBody are handled one at a time.
func WithLargeText(maxBytes int64) Option {
	return func(o *Operation) { o.MaxBody, o.LargeText = maxBytes, true }
}

// WithBodyEncoding sets the encoding of the request and response bodies; the default is JSON.
func WithBodyEncoding(f Form) Option { return func(o *Operation) { o.Form = f } }

var operationTable []*Operation

// Operations returns every declared operation, ordered by path, then method.
func Operations() []*Operation {
	out := slices.Clone(operationTable)
	slices.SortFunc(out, func(a, b *Operation) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Method, b.Method))
	})
	return out
}

// OperationByID finds an operation by its ID.
func OperationByID(id string) (*Operation, bool) {
	for _, o := range operationTable {
		if o.ID == id {
			return o, true
		}
	}
	return nil, false
}

// The following functions declare an operation with its ID, path, required permission (empty if none), documentation
// section and one-line summary. They register it in the operation table.

// Get declares a read operation: a GET that returns 200.
func Get[I, O any](id, path string, p Permission, tag, summary string, opts ...Option) Op[I, O] {
	return declare[I, O](http.MethodGet, http.StatusOK, id, path, p, tag, summary, opts)
}

// Post declares a POST operation for a change, decision or analysis. It returns 200 unless WithStatus
// sets another status.
func Post[I, O any](id, path string, p Permission, tag, summary string, opts ...Option) Op[I, O] {
	return declare[I, O](http.MethodPost, http.StatusOK, id, path, p, tag, summary, opts)
}

// Create declares an operation that creates a record: a POST that returns 201.
func Create[I, O any](id, path string, p Permission, tag, summary string, opts ...Option) Op[I, O] {
	return declare[I, O](http.MethodPost, http.StatusCreated, id, path, p, tag, summary, opts)
}

// Put declares an operation that replaces a record: a PUT that returns 200.
func Put[I, O any](id, path string, p Permission, tag, summary string, opts ...Option) Op[I, O] {
	return declare[I, O](http.MethodPut, http.StatusOK, id, path, p, tag, summary, opts)
}

// Patch declares an operation that changes the fields given in the body: a PATCH that returns 200.
func Patch[I, O any](id, path string, p Permission, tag, summary string, opts ...Option) Op[I, O] {
	return declare[I, O](http.MethodPatch, http.StatusOK, id, path, p, tag, summary, opts)
}

// Delete declares an operation that removes a record: a DELETE that returns 204.
func Delete[I any](id, path string, p Permission, tag, summary string, opts ...Option) Op[I, None] {
	return declare[I, None](http.MethodDelete, http.StatusNoContent, id, path, p, tag, summary, opts)
}

// declare adds an operation to the operation table.
func declare[I, O any](method string, status int, id, path string, p Permission, tag, summary string, opts []Option) Op[I, O] {
	if _, declared := OperationByID(id); declared {
		panic(fmt.Sprintf("api: operation %q is declared twice", id))
	}
	if !strings.HasPrefix(path, "/api/") {
		path = Prefix + path
	}
	o := &Operation{
		ID: id, Method: method, Path: path, Status: status, Access: Tenant, Permission: p, Rate: rateCategoryFor(path),
		Tag: tag, Summary: summary, Description: descriptions[id], In: reflect.TypeFor[I](), Out: reflect.TypeFor[O](),
	}
	for _, opt := range opts {
		opt(o)
	}
	operationTable = append(operationTable, o)
	return Op[I, O]{o}
}

// rateCategoryFor returns the rate limit category of an operation, which is determined by its path as defined in
// section 8 of the API specification.
func rateCategoryFor(path string) RateCategory {
	switch {
	case strings.HasPrefix(path, Prefix+"/health"):
		return RateHealth
	case strings.HasPrefix(path, "/api/auth/sign-in"):
		return RateSignIn
	case strings.Contains(path, "/admin/"):
		return RateAdmin
	case strings.HasSuffix(path, "/render"):
		return RateRender
	case strings.HasSuffix(path, "/kb/search"):
		return RateSearch
	case strings.Contains(path, "/agent-runs"):
		return RateAgents
	case strings.Contains(path, "/documents"):
		return RateDocuments
	}
	return RateDefault
}
