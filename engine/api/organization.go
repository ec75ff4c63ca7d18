package api

import "time"

// Organization is a tenant: everything but the catalog belongs to one.
type Organization struct {
	Record
	Name     string         `json:"name"`
	Slug     string         `json:"slug"`
	Status   string         `json:"status" enum:"active,suspended"`
	Settings map[string]any `json:"settings"`
}

// OrganizationInput names an organization in the path.
type OrganizationInput struct {
	OrganizationID string `path:"organizationId"`
}

// TenantInput names a tenant in the path.
type TenantInput struct {
	TenantID string `path:"tenantId"`
}

// UpdateTenantInput replaces what an organization says of itself.
type UpdateTenantInput struct {
	TenantInput
	Body struct {
		Name     string         `json:"name" minLength:"1" maxLength:"200"`
		Slug     string         `json:"slug,omitempty" maxLength:"63"`
		Status   string         `json:"status,omitempty" enum:"active,suspended"`
		Settings map[string]any `json:"settings,omitempty"`
	}
}

// WaitingFor is a decision that waits for someone.
type WaitingFor struct {
	AssessmentID   string    `json:"assessment_id"`
	AssessmentName string    `json:"assessment_name"`
	ApprovalID     string    `json:"approval_id"`
	Gate           Gate      `json:"gate"`
	Since          time.Time `json:"since"`
	Who            string    `json:"who"`
}

// Dashboard is an organization at a glance.
type Dashboard struct {
	OrganizationID     string           `json:"organization_id"`
	AssessmentsByState map[State]int    `json:"assessments_by_state"`
	CompliancePct      float64          `json:"compliance_pct"`
	ComplianceFormula  string           `json:"compliance_formula"`
	OpenPOAMItems      int              `json:"open_poam_items"`
	FindingsBySeverity map[Severity]int `json:"findings_by_severity"`
	Waiting            []WaitingFor     `json:"waiting"`
}

// Member is a person's place in an organization.
type Member struct {
	TenantRecord
	UserID string `json:"user_id"`
	Email  string `json:"email"`
	Name   string `json:"name"`
	Role   Role   `json:"role"`
	Status string `json:"status" enum:"invited,active,suspended"`
}

// OrgMembersInput lists members.
type OrgMembersInput struct {
	OrgInput
	Paging
}

// InviteMemberInput invites a person.
type InviteMemberInput struct {
	OrgInput
	Body struct {
		Email string `json:"email" format:"email" maxLength:"254"`
		Role  Role   `json:"role" enum:"owner,admin,member,viewer"`
	}
}

// APIKey is a machine's credential, without its secret.
type APIKey struct {
	TenantRecord
	Name       string     `json:"name"`
	MaskedKey  string     `json:"masked_key"`
	Scopes     []string   `json:"scopes"`
	CreatedBy  string     `json:"created_by"`
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	Status     string     `json:"status" enum:"active,revoked,expired"`
}

// NewAPIKey is an API key with its secret, which is shown this once.
type NewAPIKey struct {
	APIKey
	Key string `json:"key"`
}

// APIKeyBody is what a new key is made from.
type APIKeyBody struct {
	Name      string     `json:"name" minLength:"1" maxLength:"200"`
	Scopes    []string   `json:"scopes" minItems:"1" maxItems:"100"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// CreateAPIKeyInput makes a key in the organization of the request.
type CreateAPIKeyInput struct {
	Body APIKeyBody
}

// CreateOrgAPIKeyInput makes a key in the organization of the path.
type CreateOrgAPIKeyInput struct {
	OrgInput
	Body APIKeyBody
}

// APIKeyInput names a key.
type APIKeyInput struct {
	KeyID string `path:"keyId"`
}

// RotateAPIKeyInput replaces a key's secret; the old one goes on for a grace time.
type RotateAPIKeyInput struct {
	APIKeyInput
	Body *struct {
		GraceSeconds int `json:"grace_seconds,omitempty" minimum:"0" maximum:"604800"`
	}
}

// UsersInput lists users.
type UsersInput struct {
	Paging
	Q string `query:"q"`
}

// BanUserInput bans a person.
type BanUserInput struct {
	UserID string `path:"userId"`
	Body   struct {
		Reason string `json:"reason" minLength:"1" maxLength:"1000"`
	}
}

const tagOrganization = "Organizations"

// Operations of the interface's part 4.5.
var (
	ListTenants       = Get[Paging, List[Organization]]("list-tenants", "/tenants", For(Platform), Tagged(tagOrganization), Summary("List all organizations"))
	GetTenant         = Get[TenantInput, Organization]("get-tenant", "/tenants/{tenantId}", For(SignedIn), Needs("member:read"), Tagged(tagOrganization), Summary("Read an organization"))
	UpdateTenant      = Put[UpdateTenantInput, Organization]("update-tenant", "/tenants/{tenantId}", For(SignedIn), Needs("member:write"), Tagged(tagOrganization), Summary("Update an organization"))
	ListOrganizations = Get[Paging, List[Organization]]("list-organizations", "/organizations", For(SignedIn), Tagged(tagOrganization), Summary("List the organizations the caller may see"))
	GetOrganization   = Get[OrganizationInput, Organization]("get-organization", "/organizations/{organizationId}", For(SignedIn), Needs("member:read"), Tagged(tagOrganization), Summary("Read an organization"))
	GetDashboard      = Get[OrgInput, Dashboard]("get-dashboard", "/organizations/{orgId}/dashboard", Needs("assessment:read"), Tagged(tagOrganization), Summary("Read an organization's dashboard"))
	ListMembers       = Get[OrgMembersInput, List[Member]]("list-members", "/organizations/{orgId}/members", Needs("member:read"), Tagged(tagOrganization), Summary("List members"))
	InviteMember      = Create[InviteMemberInput, Member]("invite-member", "/organizations/{orgId}/members/invite", Needs("member:write"), Tagged(tagOrganization), Summary("Invite a person"))
	ListAPIKeys       = Get[Paging, List[APIKey]]("list-api-keys", "/api-keys", Needs("apikey:read"), Tagged(tagOrganization), Summary("List API keys"))
	CreateAPIKey      = Create[CreateAPIKeyInput, NewAPIKey]("create-api-key", "/api-keys", Needs(APIKeyWrite), Tagged(tagOrganization), Summary("Create an API key; its secret is shown once"))
	RevokeAPIKey      = Delete[APIKeyInput]("revoke-api-key", "/api-keys/{keyId}", Needs(APIKeyWrite), Tagged(tagOrganization), Summary("Revoke an API key"))
	RotateAPIKey      = Post[RotateAPIKeyInput, NewAPIKey]("rotate-api-key", "/api-keys/{keyId}/rotate", Needs(APIKeyWrite), Tagged(tagOrganization), Summary("Replace an API key's secret; shown once"))
	CreateOrgAPIKey   = Create[CreateOrgAPIKeyInput, NewAPIKey]("create-organization-api-key", "/organizations/{orgId}/api-keys", Needs(APIKeyWrite), Tagged(tagOrganization), Summary("Create an API key of an organization"))
	ListUsers         = Get[UsersInput, List[User]]("list-users", "/admin/users", For(Platform), Tagged(tagOrganization), Summary("List all users"))
	BanUser           = Post[BanUserInput, User]("ban-user", "/admin/users/{userId}/ban", For(Platform), Tagged(tagOrganization), Summary("Ban a person: their sessions and keys end at once"))
)
