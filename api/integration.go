package api

import "time"

// Integration is a connection to another tool. Its secrets are written, never read.
type Integration struct {
	TenantRecord
	Type       string         `json:"type" enum:"slack,teams,jira,github,servicenow,s3,smtp,generic"`
	Name       string         `json:"name"`
	Config     map[string]any `json:"config"`
	SecretsSet []string       `json:"secrets_set" doc:"The names of the secrets that it has."`
	Enabled    bool           `json:"enabled"`
	Events     []string       `json:"events"`
	// LastStatus is "ok", or why it did not work.
	LastStatus   *string    `json:"last_status" doc:"ok, or why the last try did not work; null before the first."`
	LastStatusAt *time.Time `json:"last_status_at"`
	SyncedAt     *time.Time `json:"synced_at" doc:"When plan and issues were last compared; of jira, github and servicenow."`
	NextSyncAt   *time.Time `json:"next_sync_at"`
}

// CreateIntegrationInput makes an integration.
type CreateIntegrationInput struct {
	Body struct {
		Type    string            `json:"type" enum:"slack,teams,jira,github,servicenow,s3,smtp,generic"`
		Name    string            `json:"name" minLength:"1" maxLength:"200"`
		Config  map[string]any    `json:"config,omitempty"`
		Secrets map[string]string `json:"secrets,omitempty"`
		Enabled *bool             `json:"enabled,omitempty"`
		Events  []string          `json:"events,omitempty" maxItems:"100"`
	}
}

// IntegrationInput names an integration.
type IntegrationInput struct {
	IntegrationID string `path:"integrationId"`
}

// UpdateIntegrationInput changes an integration.
type UpdateIntegrationInput struct {
	IntegrationInput
	Body struct {
		Name    *string           `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Config  map[string]any    `json:"config,omitempty" doc:"Only what is named changes; null takes a value away."`
		Secrets map[string]string `json:"secrets,omitempty" doc:"Only what is named changes; an empty text takes a secret away."`
		Enabled *bool             `json:"enabled,omitempty"`
		Events  *[]string         `json:"events,omitempty" maxItems:"100"`
	}
}

// IntegrationTest is what a try of an integration came to.
type IntegrationTest struct {
	OK         bool      `json:"ok"`
	Message    string    `json:"message" doc:"What was found, or why it does not work."`
	CheckedAt  time.Time `json:"checked_at"`
	DurationMS int64     `json:"duration_ms"`
}

// IntegrationSync is what a comparison of plan and issues came to.
type IntegrationSync struct {
	Created   int `json:"created" doc:"Issues made."`
	Pushed    int `json:"pushed" doc:"Issues that follow a change of the plan."`
	Pulled    int `json:"pulled" doc:"Items of the plan that follow a change of their issue."`
	Conflicts int `json:"conflicts" doc:"Links of which both sides changed; nothing was done about them."`
	Failed    int `json:"failed" doc:"Links that could not be brought together; the next sync tries again."`
	Links     int `json:"links"`
	// Waits is set where the other side asked for time.
	WaitsUntil *time.Time `json:"waits_until" doc:"The other side asked to wait so long; the rest comes then."`
}

// IssueSide is what an item and its issue are compared by.
type IssueSide struct {
	Closed  bool  `json:"closed"`
	DueDate *Date `json:"due_date"`
}

// IssueLink ties an item of a plan to an issue elsewhere.
type IssueLink struct {
	TenantRecord
	IntegrationID string `json:"integration_id"`
	AssessmentID  string `json:"assessment_id"`
	ControlCode   string `json:"control_code"`
	POAMItemID    string `json:"poam_item_id"`
	POAMCode      string `json:"poam_code"`
	IssueKey      string `json:"issue_key" doc:"As the tool names it; empty until it is made."`
	IssueURL      string `json:"issue_url"`
	Status        string `json:"status" enum:"creating,linked,conflict,failed,gone,dropped" doc:"creating: the issue is not made yet. conflict: both sides changed. failed: the last try did not work. gone: the issue was deleted. dropped: the plan has the item no more."`
	// Here, There and Agreed are the item, the issue, and what both last were.
	Here    IssueSide  `json:"here"`
	There   *IssueSide `json:"there"`
	Agreed  *IssueSide `json:"agreed"`
	Message *string    `json:"message"`
}

// IssueLinksInput lists links.
type IssueLinksInput struct {
	IntegrationInput
	Paging
	Status string `query:"status" enum:"creating,linked,conflict,failed,gone,dropped"`
}

// ResolveIssueLinkInput says which side of a conflict holds.
type ResolveIssueLinkInput struct {
	IntegrationInput
	LinkID string `path:"linkId"`
	Body   struct {
		Keep string `json:"keep" enum:"plan,issue"`
	}
}

// IntegrationDeliveriesInput lists deliveries.
type IntegrationDeliveriesInput struct {
	IntegrationInput
	Paging
	Status string `query:"status"`
}

// SecretKey tells of the keys that secrets are sealed with, and not what they are.
type SecretKey struct {
	Place      string   `json:"place" enum:"environment,file,keyring,memory"`
	KeyID      string   `json:"key_id" doc:"Names the key in use."`
	OldKeyIDs  []string `json:"old_key_ids" doc:"Keys that still open what was sealed before."`
	Sealed     int      `json:"sealed" doc:"Secrets that the key in use opens."`
	SealedOld  int      `json:"sealed_old" doc:"Secrets that an old key opens; a rotation seals them again."`
	Unreadable []string `json:"unreadable" doc:"Webhooks and integrations whose secret no key opens; give them a new one."`
}

// RotateSecretKeyInput asks for a new key.
type RotateSecretKeyInput struct {
	Body struct {
		KeepIn string `json:"keep_in,omitempty" enum:"file,keyring" doc:"Where to keep the keys from now on; where they are if it is left out."`
		Forget bool   `json:"forget,omitempty" doc:"Forget the old keys once nothing needs them; copies of the database from before can't be opened then."`
	}
}

// IntegrationField is one entry of an integration's config, or one of its secrets.
type IntegrationField struct {
	Name string
	// Kind is text, url, host, mail, number, bool, list, map or choice.
	Kind     string
	Choices  []string
	Default  any
	Required bool
	Doc      string
}

// IntegrationType says what an integration of a type is made of.
type IntegrationType struct {
	Type, Doc string
	Config    []IntegrationField
	Secrets   []IntegrationField
	// FreeSecrets: any name can be given as one; it is the name of a header.
	FreeSecrets bool
	// Events that it can be told of: nil: all.
	Events []string
	// Tracks: it ties items of plans to issues.
	Tracks bool
}

var trackerFields = []IntegrationField{
	{Name: "assessments", Kind: "list", Doc: "ids of the assessments whose plans are followed; without it, of all"},
	{
		Name:    "items",
		Kind:    "choice",
		Choices: []string{"approved", "drafted"},
		Default: "approved",
		Doc:     "approved: items get an issue once a version of their plan was approved; drafted: at once",
	},
	{Name: "sync_minutes", Kind: "number", Default: 5, Doc: "minutes between two comparisons, 1 to 1440"},
}

// IntegrationTypes are the tools that can be spoken to.
var IntegrationTypes = []IntegrationType{
	{Type: "slack", Doc: "messages in a Slack channel, by an incoming webhook or as an app", Config: []IntegrationField{
		{Name: "channel", Kind: "text", Doc: "the channel's id or name; needed with a token"},
		{Name: "url", Kind: "url", Default: "https://slack.com/api", Doc: "where Slack's API is"},
	}, Secrets: []IntegrationField{
		{Name: "webhook_url", Kind: "url", Doc: "the address of an incoming webhook"},
		{Name: "token", Kind: "text", Doc: "a bot token (xoxb-…) with chat:write, instead of the webhook"},
	}},
	{Type: "teams", Doc: "cards in a Microsoft Teams channel or chat, by a workflow's webhook", Secrets: []IntegrationField{
		{
			Name:     "webhook_url",
			Kind:     "url",
			Required: true,
			Doc:      "the address that the workflow \"When a Teams webhook request is received\" shows",
		},
	}},
	{Type: "generic", Doc: "each event as JSON to an HTTP endpoint, with headers of yours", Config: []IntegrationField{
		{Name: "url", Kind: "url", Required: true, Doc: "where to send"},
		{Name: "method", Kind: "choice", Choices: []string{"POST", "PUT", "PATCH"}, Default: "POST", Doc: "how"},
		{Name: "headers", Kind: "map", Doc: "headers that are no secret"},
	}, FreeSecrets: true},
	{Type: "s3", Doc: "reports, and archives of closed assessments, into an S3-compatible bucket", Config: []IntegrationField{
		{Name: "endpoint", Kind: "url", Required: true, Doc: "https://s3.eu-central-1.amazonaws.com, or a server of your own"},
		{Name: "bucket", Kind: "text", Required: true, Doc: "the bucket, which has to be there"},
		{Name: "region", Kind: "text", Default: "us-east-1", Doc: "its region"},
		{Name: "prefix", Kind: "text", Doc: "what keys begin with"},
		{Name: "path_style", Kind: "bool", Default: true, Doc: "the bucket in the path, not in the host's name"},
	}, Secrets: []IntegrationField{
		{Name: "access_key_id", Kind: "text", Required: true, Doc: "the key's id"},
		{Name: "secret_access_key", Kind: "text", Required: true, Doc: "the key"},
		{Name: "session_token", Kind: "text", Doc: "of temporary keys"},
	}, Events: []string{"assessment.closed", "report.ready"}},
	{Type: "jira", Doc: "POA&M items as Jira issues, and back", Tracks: true, Events: []string{}, Config: append([]IntegrationField{
		{Name: "url", Kind: "url", Required: true, Doc: "https://acme.atlassian.net, or your server"},
		{Name: "project", Kind: "text", Required: true, Doc: "the project's key"},
		{Name: "issue_type", Kind: "text", Default: "Task", Doc: "the type of new issues"},
		{Name: "email", Kind: "mail", Doc: "whose token it is (Jira Cloud); without it, a personal access token (Data Center)"},
		{Name: "api", Kind: "choice", Choices: []string{"3", "2"}, Default: "3", Doc: "3: Jira Cloud; 2: Jira Data Center"},
		{Name: "labels", Kind: "list", Doc: "labels of new issues"},
	}, trackerFields...), Secrets: []IntegrationField{{Name: "token", Kind: "text", Required: true, Doc: "the API token"}}},
	{Type: "github", Doc: "POA&M items as GitHub issues, and back", Tracks: true, Events: []string{}, Config: append([]IntegrationField{
		{Name: "repository", Kind: "text", Required: true, Doc: "owner/name"},
		{Name: "url", Kind: "url", Default: "https://api.github.com", Doc: "of GitHub Enterprise: https://HOST/api/v3"},
		{Name: "label", Kind: "text", Default: "poam", Doc: "the label that all these issues have, and are found by"},
	}, trackerFields...), Secrets: []IntegrationField{{Name: "token", Kind: "text", Required: true, Doc: "a token that may read and write issues"}}},
	{
		Type:   "servicenow",
		Doc:    "POA&M items as ServiceNow records, and back",
		Tracks: true,
		Events: []string{},
		Config: append([]IntegrationField{
			{Name: "url", Kind: "url", Required: true, Doc: "https://acme.service-now.com"},
			{Name: "table", Kind: "text", Default: "incident", Doc: "a table that extends task"},
			{Name: "username", Kind: "text", Doc: "with a password; without it, a token is sent as bearer"},
			{Name: "open_state", Kind: "text", Default: "1", Doc: "the value of state for what is open again"},
			{Name: "closed_state", Kind: "text", Default: "7", Doc: "the value of state for what is done"},
			{Name: "fields", Kind: "map", Doc: "further fields of new records, as assignment_group"},
			{Name: "close_fields", Kind: "map", Doc: "further fields when one is closed, as close_code"},
		}, trackerFields...),
		Secrets: []IntegrationField{
			{Name: "password", Kind: "text", Doc: "of the user"},
			{Name: "token", Kind: "text", Doc: "an OAuth token, instead of user and password"},
		},
	},
	{Type: "smtp", Doc: "the organization's own mail server", Events: []string{}, Config: []IntegrationField{
		{Name: "host", Kind: "host", Required: true, Doc: "the server"},
		{Name: "port", Kind: "number", Default: 587, Doc: "its port, 1 to 65535"},
		{
			Name:    "tls",
			Kind:    "choice",
			Choices: []string{"starttls", "tls", "none"},
			Default: "starttls",
			Doc:     "starttls: encrypted after the greeting; tls: from the first byte; none: not, without a password",
		},
		{Name: "from", Kind: "mail", Required: true, Doc: "the sender's address"},
		{Name: "username", Kind: "text", Doc: "who signs in; without it, nobody does"},
	}, Secrets: []IntegrationField{{Name: "password", Kind: "text", Doc: "of the user"}}},
}

// FindIntegrationType is the type of that name.
func FindIntegrationType(name string) (IntegrationType, bool) {
	for _, t := range IntegrationTypes {
		if t.Type == name {
			return t, true
		}
	}
	return IntegrationType{}, false
}

const tagIntegration = "Integrations"

// Operations of the interface's part 4.18 on integrations, and what makes them whole.
var (
	ListIntegrations = Get[Paging, List[Integration]](
		"list-integrations",
		"/integrations",
		WithPermission("integration:read"),
		WithTag(tagIntegration),
		WithSummary("List integrations"),
	)
	CreateIntegration = Create[CreateIntegrationInput, Integration](
		"create-integration",
		"/integrations",
		WithPermission("integration:write"),
		WithTag(tagIntegration),
		WithSummary("Create an integration"),
	)
	GetIntegration = Get[IntegrationInput, Integration](
		"get-integration",
		"/integrations/{integrationId}",
		WithPermission("integration:read"),
		WithTag(tagIntegration),
		WithSummary("Read an integration"),
	)
	UpdateIntegration = Patch[UpdateIntegrationInput, Integration](
		"update-integration",
		"/integrations/{integrationId}",
		WithPermission("integration:write"),
		WithTag(tagIntegration),
		WithSummary("Change an integration"),
	)
	DeleteIntegration = Delete[IntegrationInput](
		"delete-integration",
		"/integrations/{integrationId}",
		WithPermission("integration:write"),
		WithTag(tagIntegration),
		WithSummary("Delete an integration"),
	)
	TestIntegration = Post[IntegrationInput, IntegrationTest](
		"test-integration",
		"/integrations/{integrationId}/test",
		WithPermission("integration:write"),
		WithTag(tagIntegration),
		WithSummary("Try whether an integration works"),
	)
	SyncIntegration = Post[IntegrationInput, IntegrationSync](
		"sync-integration",
		"/integrations/{integrationId}/sync",
		WithPermission("integration:write"),
		WithTag(tagIntegration),
		WithSummary("Compare plan and issues now"),
	)
	ListIssueLinks = Get[IssueLinksInput, List[IssueLink]](
		"list-issue-links",
		"/integrations/{integrationId}/links",
		WithPermission("integration:read"),
		WithTag(tagIntegration),
		WithSummary("List which item is which issue"),
	)
	ResolveIssueLink = Post[ResolveIssueLinkInput, IssueLink](
		"resolve-issue-link",
		"/integrations/{integrationId}/links/{linkId}/resolve",
		WithPermission("integration:write"),
		WithTag(tagIntegration),
		WithSummary("Say which side of a conflict holds"),
	)

	ListIntegrationDeliveries = Get[IntegrationDeliveriesInput, List[Delivery]](
		"list-integration-deliveries",
		"/integrations/{integrationId}/deliveries",
		WithPermission("integration:read"),
		WithTag(tagIntegration),
		WithSummary("List what was sent, with every attempt"),
	)

	GetSecretKey = Get[None, SecretKey](
		"get-secret-key",
		"/admin/secret-key",
		WithAccess(Platform),
		WithPermission(memberRead),
		WithTag(tagAdmin),
		WithSummary("Tell with which key secrets are sealed"),
	)
	RotateSecretKey = Post[RotateSecretKeyInput, SecretKey](
		"rotate-secret-key",
		"/admin/secret-key/rotate",
		WithAccess(Platform),
		WithPermission(memberWrite),
		WithTag(tagAdmin),
		WithSummary("Seal all secrets with a new key"),
	)
)
