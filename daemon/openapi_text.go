package daemon

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scf-service/service/api"
)

const apiIntroduction = `Runs security, compliance and maturity assessments: upload evidence, search it by meaning, draft a scope,
a Statement of Applicability, gaps, maturity and a plan, let people approve each of them, and write reports.

**Credentials.** A program sends an API key as ` + "`Authorization: Bearer service_live_…`" + `; a browser signs in and has a cookie.
Over the local socket no credential is needed.

**Organizations.** Most operations act within one organization, named in the header ` + "`X-Service-Tenant-Id`" + `. Records of
another organization do not exist as far as a caller can tell.

**Lists** answer ` + "`data` and `pagination`" + `. Filters are applied before ` + "`limit`" + `; the order is stable, and a cursor stays right while
records are added or changed. ` + "`sort`" + ` takes field names, separated by commas, each with ` + "`-`" + ` before it for descending.

**Errors** have one envelope and nine codes; ` + "`message`" + ` says what to do, ` + "`details`" + ` where, ` + "`trace_id`" + ` finds the request in the log.

**Trying again.** A POST with an ` + "`Idempotency-Key`" + ` is done once, however often it is sent. A PATCH with ` + "`If-Match`" + ` is refused
where the record has moved on.`

// apiTags are the tags, in the order in which one meets them.
var apiTags = []*huma.Tag{
	{Name: "Health", Description: "Whether the service and its parts answer."},
	{Name: "Session and user", Description: "Signing in, and the organizations one belongs to."},
	{
		Name:        "SCF catalog",
		Description: "Controls, frameworks, requirements, and how they map to each other. A path that takes an id also takes the code.",
	},
	{Name: "SCF import", Description: "Bringing a release of the catalog in, whole or not at all."},
	{Name: "Custom frameworks and controls", Description: "What an organization adds to the catalog for itself, mapped to it."},
	{Name: "Organizations", Description: "Organizations, their members and their API keys."},
	{Name: "Administration", Description: "People of the whole service, for its platform admins."},
	{Name: "Assessments", Description: "The central record and its lifecycle of 22 states."},
	{Name: "Documents", Description: "The evidence. It is read in the background after its upload."},
	{Name: "Knowledge base", Description: "Passages of the evidence, found by meaning, each with the place it stands at."},
	{Name: "Scope and SoA", Description: "What is assessed, and which controls apply, with reasons and evidence."},
	{Name: "Gap analysis", Description: "Where the evidence falls short of what a control asks for."},
	{Name: "Maturity", Description: "A level from 0 to 5 for each control."},
	{Name: "POA&M", Description: "The plan of action and milestones."},
	{Name: "Reports", Description: "Documents for people and machines, made from the deliverables."},
	{Name: "Approvals", Description: "Decisions that only a person can make. One binds the hash of what was approved."},
	{Name: "Artifacts", Description: "The deliverables with all their numbered versions."},
	{Name: "Workflows", Description: "Durable runs over an assessment."},
	{Name: "Agents", Description: "Runs of the nine pipeline agents. What they propose is a draft."},
	{Name: "Specialised analyses", Description: "Seven questions answered at once, in a fixed form."},
	{
		Name:        "Synchronisation",
		Description: "Clones of an assessment that are worked on without a network, and how they and its home are brought together.",
	},
	{Name: "Webhooks", Description: "Addresses that are told of events."},
	{
		Name:        "Integrations",
		Description: "Messages in chats, files in buckets, items of plans as issues and back, mail servers. Secrets are written, never read.",
	},
	{Name: "E-mail", Description: "Mails and their wording."},
	{Name: "Observability", Description: "Metrics, the audit chain and alert rules."},
}

const (
	schemeKey     = "apiKey"
	schemeSession = "session"
)

var securitySchemes = map[string]*huma.SecurityScheme{
	schemeKey: {
		Type: "http", Scheme: "bearer", BearerFormat: api.APIKeyPrefix + "<64 hexadecimal digits>",
		Description: "An API key of an organization. It has the scopes it was made with, and never more than its maker has now.",
	},
	schemeSession: {
		Type: "apiKey", In: "cookie", Name: api.SessionCookie,
		Description: "The cookie that signing in sets. Calls that change something also need an Origin the operator allows.",
	},
}

func stringSchema(pattern string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: pattern}
}

func countSchema() *huma.Schema { return &huma.Schema{Type: huma.TypeInteger, Minimum: new(float64)} }

func sharedParameters() map[string]*huma.Param {
	in := func(name, words string, schema *huma.Schema, example string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Description: words, Schema: schema, Example: example}
	}
	tenant := in(api.TenantHeader, "The organization to act in.", &huma.Schema{Type: huma.TypeString, Format: "uuid"}, exampleOrganization)
	tenant.Required = true
	key := stringSchema("")
	key.MinLength, key.MaxLength = intPtr(1), intPtr(255)
	return map[string]*huma.Param{
		"TenantId": tenant,
		"OptionalTenantId": in(api.TenantHeader, "The organization whose role counts; where absent, the one the caller works in.",
			&huma.Schema{Type: huma.TypeString, Format: "uuid"}, exampleOrganization),
		"TraceId": in(api.TraceHeader, "A name for this request, 1 to 128 visible ASCII characters; one is made where there is none.",
			&huma.Schema{Type: huma.TypeString}, exampleTraceID),
		"IdempotencyKey": in(
			api.IdempotencyHeader,
			"Any text of your own. The same key with the same body within 24 hours gets the first answer again.",
			key,
			"create-acme-2026",
		),
		"Range": in("Range", "The bytes wanted.", stringSchema("^bytes="), "bytes=0-1023"),
		"IfNoneMatch": in(
			"If-None-Match",
			"An ETag that the caller has; 304 where it is still the file's.",
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
			"The name of the request, in the log and in errors too.",
			&huma.Schema{Type: huma.TypeString},
			exampleTraceID,
		),
		api.RateLimitHeader:     in("Requests that the category allows in a window. Absent over the local socket.", countSchema(), 120),
		api.RateRemainingHeader: in("Requests that are left in this window. Absent over the local socket.", countSchema(), 117),
		api.RateResetHeader:     in("Seconds until the next window. Absent over the local socket.", countSchema(), 42),
		"Retry-After":           in("Seconds to wait.", countSchema(), 42),
		"Location": in(
			"The path of the record that was made.",
			&huma.Schema{Type: huma.TypeString, Format: "uri-reference"},
			api.Prefix+"/assessments/"+exampleID,
		),
		api.IdempotencyReplayed: in(
			"true where the answer is that of an earlier request with the same key.",
			&huma.Schema{Type: huma.TypeString, Enum: []any{"true"}},
			"true",
		),
		"ETag": in("The SHA-256 of the file, in quotes.", &huma.Schema{Type: huma.TypeString}, `"`+exampleHash+`"`),
		"Content-Disposition": in(
			"Whether to save or to show, and under which name.",
			&huma.Schema{Type: huma.TypeString},
			`attachment; filename="access-control-policy.pdf"`,
		),
		"Accept-Ranges": in("bytes where parts can be asked for.", &huma.Schema{Type: huma.TypeString}, "bytes"),
	}
}

// errorCodeDescriptions says when each code comes.
var errorCodeDescriptions = map[api.ErrorCode]string{
	api.CodeUnauthorized:   "no credential, or one that is wrong, expired or revoked",
	api.CodeForbidden:      "the caller's role or scopes do not allow this",
	api.CodeNotFound:       "there is no such record, or it is another organization's",
	api.CodeValidation:     "the request is not as it should be; details name the fields",
	api.CodeTenantRequired: "the header " + api.TenantHeader + " is missing",
	api.CodeInvalidState:   "the state of the record does not allow this; details name what would be allowed",
	api.CodeApproval:       "a person has to decide first; details name the gate and the approval",
	api.CodeRateLimit:      "too many requests in this window",
	api.CodeInternal:       "something went wrong inside, or the operator has to mend something; the log has it under the trace id",
}

// operationDescription says of an operation what its declaration doesn't show: what it does,
// who may, how often.
func operationDescription(op *api.Operation) string {
	var b strings.Builder
	if op.Description != "" {
		b.WriteString(op.Description + "\n\n")
	}
	switch {
	case op.Access == api.Public:
		b.WriteString("No credential is needed.")
	case op.Access == api.Platform:
		b.WriteString("For platform admins.")
	case op.Permission == "":
		b.WriteString("For anyone who is signed in.")
	default:
		fmt.Fprintf(&b, "Needs the permission `%s`, which the role %s has.", op.Permission, lowestRoleWith(op.Permission))
	}
	fmt.Fprintf(&b, " Counted as `%s`: %d requests in %d seconds.", op.Rate, api.RateLimits[op.Rate], api.RateWindowSeconds)
	return b.String()
}

// lowestRoleWith names the least role that has a permission.
func lowestRoleWith(p api.Permission) string {
	roles := api.Role("").Values()
	for i := len(roles) - 1; i >= 0; i-- {
		if roles[i].May(p) {
			if i == 0 {
				return string(roles[i])
			}
			return string(roles[i]) + " (or more)"
		}
	}
	return "of no member"
}

// successDescription says what an operation's good answer is.
func successDescription(op *api.Operation) string {
	switch {
	case op.Form == api.Events:
		return "The events, as they come"
	case op.Form == api.Download || op.Form == api.Markup:
		return "The file"
	case op.Status == http.StatusCreated:
		return "It was made; this is the record"
	case op.Status == http.StatusAccepted:
		return "It was taken and goes on in the background"
	case op.Status == http.StatusNoContent:
		return "It is done; there is nothing to say"
	case strings.HasPrefix(op.ID, "list-"):
		return "One page of the list"
	case op.Method == http.MethodGet:
		return "What was asked for"
	}
	return "It is done; this is how it stands now"
}
