package daemon

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scf-service/service/api"
)

const apiIntroduction = `Runs security, compliance and maturity assessments: upload evidence, search it by meaning, draft a scope,
a Statement of Applicability, gaps, maturity and a plan, have people approve each of them, and generate reports.

**Credentials.** A program sends an API key as ` + "`Authorization: Bearer service_live_…`" + `; a browser signs in and gets a session cookie.
Over the local socket, no credentials are needed.

**Organizations.** Most operations act within one organization, specified in the ` + "`X-Service-Tenant-Id`" + ` header. To a
caller, records of other organizations appear not to exist.

**Lists** return ` + "`data` and `pagination`" + `. Filters are applied before ` + "`limit`" + `; the order is stable, and a cursor stays valid while
records are added or changed. ` + "`sort`" + ` takes field names separated by commas; put ` + "`-`" + ` before a name to sort in descending order.

**Errors** share one format and nine codes. ` + "`message`" + ` says what to do, ` + "`details`" + ` contains specifics such as invalid fields, and
` + "`trace_id`" + ` identifies the request in the log.

**Retries.** A POST with an ` + "`Idempotency-Key`" + ` is executed only once, however often it is sent. A PATCH, PUT or DELETE with
` + "`If-Match`" + ` is rejected if the record has changed since.`

// apiTags lists the tags in display order.
var apiTags = []*huma.Tag{
	{Name: "Health", Description: "Health of the service and its parts."},
	{Name: "Session and user", Description: "Sign-in, sessions, and the caller's organizations."},
	{
		Name:        "SCF catalog",
		Description: "Controls, frameworks, requirements, and the mappings between them. Paths that contain an ID also accept a code.",
	},
	{Name: "SCF import", Description: "Imports of catalog releases. A release is imported completely or not at all."},
	{Name: "Custom frameworks and controls", Description: "An organization's own frameworks and controls, mapped to the catalog."},
	{Name: "Organizations", Description: "Organizations, their members and their API keys."},
	{Name: "Administration", Description: "All users of the service. Available only to platform admins."},
	{Name: "Assessments", Description: "Assessments and their lifecycle of 22 states."},
	{Name: "Documents", Description: "Documents that contain the evidence. Uploads are processed in the background."},
	{Name: "Knowledge base", Description: "Passages of the evidence, searchable by meaning, each with its location in the document."},
	{Name: "Scope and SoA", Description: "The scope of an assessment, and the controls that apply, with reasons and evidence."},
	{Name: "Readers", Description: "Readers, which judge the evidence. Requirements and their passages can be " +
		"exported, and the judgments of people or models can be imported."},
	{Name: "Corrections", Description: "Users' decisions about what passages show, which the organization's later " +
		"drafts apply. They are never exported, but a clone of an assessment receives those made for the same " +
		"client."},
	{Name: "Gap analysis", Description: "Controls whose requirements the evidence doesn't meet."},
	{Name: "Maturity", Description: "Maturity scores: a level from 0 to 5 for each control."},
	{Name: "POA&M", Description: "The plan of action and milestones."},
	{Name: "Reports", Description: "Human- and machine-readable documents generated from the deliverables."},
	{Name: "Approvals", Description: "Decisions that only a user can make. Each applies to the hash of the approved content."},
	{Name: "Artifacts", Description: "The deliverables, with all of their numbered versions."},
	{Name: "Workflows", Description: "Runs that carry out the steps of an assessment and continue after a restart."},
	{Name: "Agents", Description: "Runs of the nine pipeline agents. Their output is a draft."},
	{Name: "Specialized analyses", Description: "Seven specialized analyses. Each returns its result immediately, in a fixed format."},
	{
		Name:        "Sync",
		Description: "Clones of assessments for offline work, and their synchronization with the remote.",
	},
	{Name: "Webhooks", Description: "Addresses that receive events."},
	{
		Name:        "Integrations",
		Description: "Connections to chat tools, storage buckets, issue trackers and mail servers. Secrets are write-only.",
	},
	{Name: "Email", Description: "Emails and their templates."},
	{Name: "Observability", Description: "Metrics, the audit chain and alert rules."},
}

const (
	schemeKey     = "apiKey"
	schemeSession = "session"
)

var securitySchemes = map[string]*huma.SecurityScheme{
	schemeKey: {
		Type: "http", Scheme: "bearer", BearerFormat: api.APIKeyPrefix + "<64 hexadecimal digits>",
		Description: "An API key of an organization. It has the scopes it was created with, limited to its owner's current permissions.",
	},
	schemeSession: {
		Type: "apiKey", In: "cookie", Name: api.SessionCookie,
		Description: "The session cookie, set at sign-in. Requests that change data also need an `Origin` header that the operator allows.",
	},
}

func stringSchema(pattern string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: pattern}
}

func nonNegativeIntegerSchema() *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Minimum: new(float64)}
}

func sharedParameters() map[string]*huma.Param {
	in := func(name, words string, schema *huma.Schema, example string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Description: words, Schema: schema, Example: example}
	}
	tenant := in(api.TenantHeader, "The ID of the organization that the request applies to.",
		&huma.Schema{Type: huma.TypeString, Format: "uuid"}, exampleOrganization)
	tenant.Required = true
	key := stringSchema("")
	key.MinLength, key.MaxLength = intPtr(1), intPtr(255)
	return map[string]*huma.Param{
		"TenantId": tenant,
		"OptionalTenantId": in(api.TenantHeader, "The organization whose role applies; defaults to the caller's active one.",
			&huma.Schema{Type: huma.TypeString, Format: "uuid"}, exampleOrganization),
		"TraceId": in(api.TraceHeader, "A name for this request, 1 to 128 visible ASCII characters; generated if omitted.",
			&huma.Schema{Type: huma.TypeString}, exampleTraceID),
		"IdempotencyKey": in(
			api.IdempotencyHeader,
			"Any text. If the same key and body are sent again within 24 hours, the original response is returned.",
			key,
			"create-acme-2026",
		),
		"Range": in("Range", "The requested bytes.", stringSchema("^bytes="), "bytes=0-1023"),
		"IfNoneMatch": in(
			"If-None-Match",
			"The ETag of the caller's copy; the response is 304 if the file is unchanged.",
			&huma.Schema{Type: huma.TypeString},
			`"`+exampleHash+`"`,
		),
	}
}

func intPtr(n int) *int { return &n }

func sharedHeaders() map[string]*huma.Header {
	in := func(words string, schema *huma.Schema, example any) *huma.Header {
		return &huma.Header{Description: words, Schema: schema, Example: example}
	}
	return map[string]*huma.Header{
		api.TraceHeader: in(
			"The request's trace id, also used in the log and in errors.",
			&huma.Schema{Type: huma.TypeString},
			exampleTraceID,
		),
		api.RateLimitHeader: in(
			"Requests allowed per rate limit window in this category. Absent over the local socket.",
			nonNegativeIntegerSchema(),
			120,
		),
		api.RateRemainingHeader: in("Requests remaining in the current rate limit window. Absent over the local "+
			"socket.", nonNegativeIntegerSchema(), 117),
		api.RateResetHeader: in("Seconds until the next rate limit window. Absent over the local socket.", nonNegativeIntegerSchema(), 42),
		"Retry-After":       in("Seconds to wait.", nonNegativeIntegerSchema(), 42),
		"Location": in(
			"The path of the created record.",
			&huma.Schema{Type: huma.TypeString, Format: "uri-reference"},
			api.Prefix+"/assessments/"+exampleID,
		),
		api.IdempotencyReplayed: in(
			"`true` if this is the response to an earlier request with the same key.",
			&huma.Schema{Type: huma.TypeString, Enum: []any{"true"}},
			"true",
		),
		"ETag": in(
			"In quotes: a record's revision or the hash of its content, or a file's SHA-256 hash.",
			&huma.Schema{Type: huma.TypeString},
			`"`+exampleHash+`"`,
		),
		"Content-Disposition": in(
			"Whether the client should save or display the file, and the file name.",
			&huma.Schema{Type: huma.TypeString},
			`attachment; filename="access-control-policy.pdf"`,
		),
		"Accept-Ranges": in("`bytes` if range requests are supported.", &huma.Schema{Type: huma.TypeString}, "bytes"),
	}
}

// errorCodeDescriptions describes the meaning of each code.
var errorCodeDescriptions = map[api.ErrorCode]string{
	api.CodeUnauthorized:   "the credential is missing, invalid, expired or revoked",
	api.CodeForbidden:      "the caller's role or scopes do not allow this",
	api.CodeNotFound:       "the record doesn't exist or belongs to another organization",
	api.CodeValidation:     "the request is invalid; details name the fields",
	api.CodeTenantRequired: "the header " + api.TenantHeader + " is missing",
	api.CodeInvalidState:   "the state of the record does not allow this; details list the allowed states",
	api.CodeApproval:       "a user must decide first; details name the gate and the approval",
	api.CodeRateLimit:      "too many requests in the current rate limit window",
	api.CodeInternal:       "an internal error, or a problem for the operator to fix; to find the details, search the log for the trace ID",
}

// operationDescription returns the description of an operation, followed by who may call it and its rate
// limit.
func operationDescription(op *api.Operation) string {
	var b strings.Builder
	if op.Description != "" {
		b.WriteString(op.Description + "\n\n")
	}
	switch {
	case op.Access == api.Public:
		b.WriteString("No credentials are required.")
	case op.Access == api.Platform && op.Permission == api.SCFImport:
		fmt.Fprintf(&b, "Available to platform admins. An API key needs the scope `%s`.", api.SCFImport)
	case op.Access == api.Platform:
		fmt.Fprintf(&b, "Available to platform admins. An API key needs the scope `%s`.", api.PlatformAdmin)
	case op.Permission == "":
		b.WriteString("Available to all signed-in users.")
	default:
		fmt.Fprintf(&b, "Requires the permission `%s`, available to the role %s.", op.Permission, describeLowestRole(op.Permission))
		if op.Access == api.SignedIn {
			b.WriteString(" The caller's role is checked in the organization in the path. If there is none in the " +
				"path, it is checked in the organization in the tenant header, or else in the active organization.")
		}
	}
	if op.Status == http.StatusCreated && api.CollectionPath(reflect.New(op.Out).Interface()) == "" {
		b.WriteString(" The created record has no address of its own, so the response has no `Location` header.")
	}
	if op.ReturnsSecret() {
		b.WriteString(" The response contains a secret that is shown once; caches must not store it.")
	}
	fmt.Fprintf(&b, " Rate limit category `%s`: %d requests in %d seconds for each key or session, and %d for each "+
		"organization.",
		op.Rate, api.RateLimits[op.Rate], api.RateWindowSeconds, api.OrgRateFactor*api.RateLimits[op.Rate])
	return b.String()
}

// describeLowestRole describes the lowest role that has a permission, for example "member (or higher)".
func describeLowestRole(p api.Permission) string {
	roles := api.Role("").Values()
	for i := len(roles) - 1; i >= 0; i-- {
		if roles[i].May(p) {
			if i == 0 {
				return string(roles[i])
			}
			return string(roles[i]) + " (or higher)"
		}
	}
	return "(no role)"
}

// successDescription describes an operation's successful response.
func successDescription(op *api.Operation) string {
	switch {
	case op.Form == api.Events:
		return "A stream of events"
	case op.Form == api.Download || op.Form == api.Markup:
		return "The file"
	case op.Status == http.StatusCreated:
		return "The created record"
	case op.Status == http.StatusAccepted:
		return "Accepted; processing continues in the background"
	case op.Status == http.StatusNoContent:
		return "Done; no content"
	case strings.HasPrefix(op.ID, "list-"):
		return "One page of the list"
	case op.Method == http.MethodGet:
		return "The requested record"
	}
	return "The updated record"
}
