package api

import "time"

// Integration is a connection to another tool. Its secrets are write-only.
type Integration struct {
	TenantRecord
	Revised
	Type       string         `json:"type" enum:"slack,teams,jira,github,servicenow,s3,smtp,generic"`
	Name       string         `json:"name"`
	Config     map[string]any `json:"config"`
	SecretsSet []string       `json:"secrets_set" doc:"Names of the secrets that are set."`
	Enabled    bool           `json:"enabled"`
	Events     []string       `json:"events"`
	// LastStatus is "ok", or the reason for the last failure.
	LastStatus   *string    `json:"last_status" doc:"ok, or the reason for the last failure; null before the first attempt."`
	LastStatusAt *time.Time `json:"last_status_at"`
	SyncedAt     *time.Time `json:"synced_at" doc:"Time of the last sync between plan and issues; only for jira, github and servicenow."`
	NextSyncAt   *time.Time `json:"next_sync_at"`
}

// CreateIntegrationInput is the input for creating an integration.
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

// IntegrationInput identifies an integration.
type IntegrationInput struct {
	IntegrationID string `path:"integrationId"`
}

// UpdateIntegrationInput is the input for changing an integration.
type UpdateIntegrationInput struct {
	IntegrationInput
	Match
	Body struct {
		Name    *string           `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Config  map[string]any    `json:"config,omitempty" doc:"Only named entries change; null removes one."`
		Secrets map[string]string `json:"secrets,omitempty" doc:"Only named secrets change; an empty string removes one."`
		Enabled *bool             `json:"enabled,omitempty"`
		Events  *[]string         `json:"events,omitempty" maxItems:"100"`
	}
}

// IntegrationTest is the result of testing an integration.
type IntegrationTest struct {
	OK         bool      `json:"ok"`
	Message    string    `json:"message" doc:"Test result, or the reason for the failure."`
	CheckedAt  time.Time `json:"checked_at"`
	DurationMS int64     `json:"duration_ms"`
}

// IntegrationSync is the result of syncing the plan with the issues of another tool.
type IntegrationSync struct {
	Created   int `json:"created" doc:"Issues created."`
	Pushed    int `json:"pushed" doc:"Issues updated from the plan."`
	Pulled    int `json:"pulled" doc:"Plan items updated from their issue."`
	Conflicts int `json:"conflicts" doc:"Links changed on both sides; they were left unchanged."`
	Failed    int `json:"failed" doc:"Links that could not be synced; the next sync retries them."`
	Links     int `json:"links"`
	// WaitsUntil is set if the other side asked the service to wait.
	WaitsUntil *time.Time `json:"waits_until" doc:"The other side asked to wait until then; the rest follows later."`
}

// IssueSide holds the fields that are compared between a plan item and its issue, with the values of one of the two.
type IssueSide struct {
	Closed  bool  `json:"closed"`
	DueDate *Date `json:"due_date"`
}

// IssueLink links a plan item to an issue in another tool.
type IssueLink struct {
	TenantRecord
	IntegrationID string `json:"integration_id"`
	AssessmentID  string `json:"assessment_id"`
	ControlCode   string `json:"control_code"`
	POAMItemID    string `json:"poam_item_id"`
	POAMCode      string `json:"poam_code"`
	IssueKey      string `json:"issue_key" doc:"The tool's issue key; empty until the issue is created."`
	IssueURL      string `json:"issue_url"`
	Status        string `json:"status" enum:"creating,linked,conflict,failed,issue_deleted,item_removed" doc:"creating: the issue is not created yet. conflict: both sides changed. failed: the last attempt failed. issue_deleted: the issue was deleted. item_removed: the item is no longer in the plan."`
	// Item, Issue and LastSynced are the values of the item, of the issue, and of their last common state.
	Item       IssueSide  `json:"item"`
	Issue      *IssueSide `json:"issue"`
	LastSynced *IssueSide `json:"last_synced"`
	Message    *string    `json:"message"`
}

// IssueLinksInput is the input for listing the links between plan items and issues.
type IssueLinksInput struct {
	IntegrationInput
	Paging
	Status string `query:"status" enum:"creating,linked,conflict,failed,issue_deleted,item_removed"`
}

// ResolveIssueLinkInput is the input for choosing which side of a conflict wins.
type ResolveIssueLinkInput struct {
	IntegrationInput
	LinkID string `path:"linkId"`
	Body   struct {
		Keep string `json:"keep" enum:"plan,issue"`
	}
}

// IntegrationDeliveriesInput is the input for listing the deliveries of an integration.
type IntegrationDeliveriesInput struct {
	IntegrationInput
	Paging
	Status string `query:"status"`
}

// SecretKey describes the encryption keys for secrets, without revealing them.
type SecretKey struct {
	Location     string   `json:"location" enum:"environment,file,keyring,memory"`
	KeyID        string   `json:"key_id" doc:"Identifies the current key."`
	OldKeyIDs    []string `json:"old_key_ids" doc:"Old keys that can still decrypt."`
	Encrypted    int      `json:"encrypted" doc:"Secrets encrypted with the current key."`
	EncryptedOld int      `json:"encrypted_old" doc:"Secrets encrypted with an old key; rotating re-encrypts them."`
	Unreadable   []string `json:"unreadable" doc:"Webhooks and integrations whose secret no key can decrypt; set it again."`
}

// RotateSecretKeyInput is the input for replacing the key that encrypts stored secrets.
type RotateSecretKeyInput struct {
	Body struct {
		Location      string `json:"location,omitempty" enum:"file,keyring" doc:"Where to store the keys from now on; unchanged if omitted."`
		DeleteOldKeys bool   `json:"delete_old_keys,omitempty" doc:"Delete old keys that are no longer needed; older copies of the database can't be opened afterwards."`
	}
}

// IntegrationField describes one config entry or secret of an integration.
type IntegrationField struct {
	Name string
	// Kind is text, url, host, mail, number, bool, list, map or choice.
	Kind     string
	Choices  []string
	Default  any
	Required bool
	Doc      string
}

// IntegrationType describes one type of integration and its settings.
type IntegrationType struct {
	Type, Doc string
	Config    []IntegrationField
	Secrets   []IntegrationField
	// FreeSecrets allows secrets with any name, which is used as the name of a header.
	FreeSecrets bool
	// Events are the events that it can receive; nil means all.
	Events []string
	// Tracks is true if it links plan items to issues.
	Tracks bool
}

var trackerFields = []IntegrationField{
	{Name: "assessments", Kind: "list", Doc: "IDs of the assessments whose plans are synced; by default, all assessments"},
	{
		Name:    "items",
		Kind:    "choice",
		Choices: []string{"approved", "drafted"},
		Default: "approved",
		Doc:     "when issues are created: approved (once a version of the plan is approved) or drafted (immediately)",
	},
	{Name: "sync_minutes", Kind: "number", Default: 5, Doc: "the number of minutes between syncs, 1 to 1440"},
}

// IntegrationTypes lists the supported integration types.
var IntegrationTypes = []IntegrationType{
	{Type: "slack", Doc: "posts messages to a Slack channel through an incoming webhook or an app", Config: []IntegrationField{
		{Name: "channel", Kind: "text", Doc: "the channel's id or name; required with a token"},
		{Name: "url", Kind: "url", Default: "https://slack.com/api", Doc: "the address of the Slack API"},
	}, Secrets: []IntegrationField{
		{Name: "webhook_url", Kind: "url", Doc: "the address of the incoming webhook"},
		{Name: "token", Kind: "text", Doc: "a bot token (xoxb-…) with the chat:write scope; can be used instead of a webhook"},
	}},
	{Type: "teams", Doc: "posts cards to a Microsoft Teams channel or chat through a workflow webhook", Secrets: []IntegrationField{
		{
			Name:     "webhook_url",
			Kind:     "url",
			Required: true,
			Doc:      "the address shown by the workflow \"When a Teams webhook request is received\"",
		},
	}},
	{Type: "generic", Doc: "sends each event as JSON to an HTTP endpoint, with custom headers", Config: []IntegrationField{
		{Name: "url", Kind: "url", Required: true, Doc: "the address that events are sent to"},
		{Name: "method", Kind: "choice", Choices: []string{"POST", "PUT", "PATCH"}, Default: "POST", Doc: "HTTP method"},
		{Name: "headers", Kind: "map", Doc: "non-secret headers"},
	}, FreeSecrets: true},
	{Type: "s3", Doc: "stores reports and archives of closed assessments in an S3-compatible bucket", Config: []IntegrationField{
		{Name: "endpoint", Kind: "url", Required: true, Doc: "https://s3.eu-central-1.amazonaws.com, or the address of your own server"},
		{Name: "bucket", Kind: "text", Required: true, Doc: "an existing bucket"},
		{Name: "region", Kind: "text", Default: "us-east-1", Doc: "the bucket's region"},
		{Name: "prefix", Kind: "text", Doc: "a prefix for the object keys"},
		{Name: "path_style", Kind: "bool", Default: true, Doc: "put the bucket name in the path instead of the host name"},
	}, Secrets: []IntegrationField{
		{Name: "access_key_id", Kind: "text", Required: true, Doc: "the access key ID"},
		{Name: "secret_access_key", Kind: "text", Required: true, Doc: "the secret access key"},
		{Name: "session_token", Kind: "text", Doc: "the session token of temporary credentials"},
	}, Events: []string{"assessment.closed", "report.ready"}},
	{
		Type: "jira", Doc: "syncs POA&M items with Jira issues in both directions",
		Tracks: true, Events: []string{}, Config: append([]IntegrationField{
			{Name: "url", Kind: "url", Required: true, Doc: "https://acme.atlassian.net, or the address of your own server"},
			{Name: "project", Kind: "text", Required: true, Doc: "the project's key"},
			{Name: "issue_type", Kind: "text", Default: "Task", Doc: "the issue type for new issues"},
			{Name: "email", Kind: "mail", Doc: "the account the token belongs to (Jira Cloud); omit with a personal access token (Data Center)"},
			{Name: "api", Kind: "choice", Choices: []string{"3", "2"}, Default: "3", Doc: "3: Jira Cloud; 2: Jira Data Center"},
			{Name: "labels", Kind: "list", Doc: "labels to add to new issues"},
		}, trackerFields...), Secrets: []IntegrationField{{Name: "token", Kind: "text", Required: true, Doc: "the API token"}},
	},
	{
		Type:   "github",
		Doc:    "syncs POA&M items with GitHub issues in both directions",
		Tracks: true,
		Events: []string{},
		Config: append([]IntegrationField{
			{Name: "repository", Kind: "text", Required: true, Doc: "owner/name"},
			{Name: "url", Kind: "url", Default: "https://api.github.com", Doc: "the API address; for GitHub Enterprise, use https://HOST/api/v3"},
			{Name: "label", Kind: "text", Default: "poam", Doc: "the label that identifies issues created by this integration"},
		}, trackerFields...),
		Secrets: []IntegrationField{{Name: "token", Kind: "text", Required: true, Doc: "a token with read and write access to issues"}},
	},
	{
		Type:   "servicenow",
		Doc:    "syncs POA&M items with ServiceNow records in both directions",
		Tracks: true,
		Events: []string{},
		Config: append([]IntegrationField{
			{Name: "url", Kind: "url", Required: true, Doc: "https://acme.service-now.com"},
			{Name: "table", Kind: "text", Default: "incident", Doc: "a ServiceNow table that extends the task table"},
			{Name: "username", Kind: "text", Doc: "the user name for password sign-in; if omitted, the token is sent as a bearer token"},
			{Name: "open_state", Kind: "text", Default: "1", Doc: "the value of the state field in reopened records"},
			{Name: "closed_state", Kind: "text", Default: "7", Doc: "the value of the state field in closed records"},
			{Name: "fields", Kind: "map", Doc: "additional fields to set in new records, such as assignment_group"},
			{Name: "close_fields", Kind: "map", Doc: "additional fields to set when a record is closed, such as close_code"},
		}, trackerFields...),
		Secrets: []IntegrationField{
			{Name: "password", Kind: "text", Doc: "the user's password"},
			{Name: "token", Kind: "text", Doc: "an OAuth token; can be used instead of a user name and password"},
		},
	},
	{Type: "smtp", Doc: "sends email through the organization's own mail server", Events: []string{}, Config: []IntegrationField{
		{Name: "host", Kind: "host", Required: true, Doc: "the host name of the server"},
		{Name: "port", Kind: "number", Default: 587, Doc: "the server's port, 1 to 65535"},
		{
			Name:    "tls",
			Kind:    "choice",
			Choices: []string{"starttls", "tls", "none"},
			Default: "starttls",
			Doc: "starttls (encrypted after the greeting), tls (encrypted from the start) or none " +
				"(unencrypted; a password is not allowed)",
		},
		{Name: "from", Kind: "mail", Required: true, Doc: "the sender's address"},
		{Name: "username", Kind: "text", Doc: "the user name; omit if the server doesn't require sign-in"},
	}, Secrets: []IntegrationField{{Name: "password", Kind: "text", Doc: "the user's password"}}},
}

// FindIntegrationType returns the integration type with the given name.
func FindIntegrationType(name string) (IntegrationType, bool) {
	for _, t := range IntegrationTypes {
		if t.Type == name {
			return t, true
		}
	}
	return IntegrationType{}, false
}

// DeleteIntegrationInput is the input for deleting an integration.
type DeleteIntegrationInput struct {
	IntegrationInput
	Match
}

const tagIntegration = "Integrations"

// Operations on integrations, defined in section 4.18 of the API specification, and related ones.
var (
	ListIntegrations = Get[Paging, List[Integration]](
		"list-integrations", "/integrations", "integration:read", tagIntegration,
		"List integrations",
	)
	CreateIntegration = Create[CreateIntegrationInput, Integration](
		"create-integration", "/integrations", "integration:write", tagIntegration,
		"Create an integration",
	)
	GetIntegration = Get[IntegrationInput, Integration](
		"get-integration", "/integrations/{integrationId}", "integration:read", tagIntegration,
		"Get an integration",
	)
	UpdateIntegration = Patch[UpdateIntegrationInput, Integration](
		"update-integration", "/integrations/{integrationId}", "integration:write", tagIntegration,
		"Update an integration",
	)
	DeleteIntegration = Delete[DeleteIntegrationInput](
		"delete-integration", "/integrations/{integrationId}", "integration:write", tagIntegration,
		"Delete an integration",
	)
	TestIntegration = Post[IntegrationInput, IntegrationTest](
		"test-integration", "/integrations/{integrationId}/test", "integration:write", tagIntegration,
		"Test an integration",
	)
	SyncIntegration = Post[IntegrationInput, IntegrationSync](
		"sync-integration", "/integrations/{integrationId}/sync", "integration:write", tagIntegration,
		"Sync plan items and issues now",
	)
	ListIssueLinks = Get[IssueLinksInput, List[IssueLink]](
		"list-issue-links", "/integrations/{integrationId}/links", "integration:read", tagIntegration,
		"List links between plan items and issues",
	)
	ResolveIssueLink = Post[ResolveIssueLinkInput, IssueLink](
		"resolve-issue-link", "/integrations/{integrationId}/links/{linkId}/resolve", "integration:write", tagIntegration,
		"Resolve a conflict by choosing the side to keep",
	)

	ListIntegrationDeliveries = Get[IntegrationDeliveriesInput, List[Delivery]](
		"list-integration-deliveries", "/integrations/{integrationId}/deliveries", "integration:read", tagIntegration,
		"List deliveries with every attempt",
	)

	GetSecretKey = Get[None, SecretKey](
		"get-secret-key", "/admin/secret-key", memberRead, tagAdmin,
		"Get information about the key that encrypts secrets", WithAccess(Platform),
	)
	RotateSecretKey = Post[RotateSecretKeyInput, SecretKey](
		"rotate-secret-key", "/admin/secret-key/rotate", memberWrite, tagAdmin,
		"Re-encrypt all secrets with a new key", WithAccess(Platform),
	)
)
