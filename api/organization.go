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

// RequireSecondPerson is the setting of an organization that the approver is not the author.
const RequireSecondPerson = "require_second_person"

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
	Role   Role   `query:"role" enum:"owner,admin,member,viewer"`
	Status string `query:"status" enum:"invited,active,suspended"`
	Q      string `query:"q" doc:"Part of an e-mail address or a name."`
}

// NewMember is a member who was invited, with the one-time link, which is shown this once.
type NewMember struct {
	Member
	InviteToken string `json:"invite_token" doc:"Good once, until invite_expires_at."`
	// InvitePath is where the invited person sets a password in a browser, below the server's address.
	InvitePath      string    `json:"invite_path"`
	InviteExpiresAt time.Time `json:"invite_expires_at"`
	Emailed         bool      `json:"emailed" doc:"Whether a mail with the link is on its way."`
}

// MemberInput names a member of an organization.
type MemberInput struct {
	OrgInput
	MemberID string `path:"memberId" doc:"Id of the membership, or of the person."`
}

// UpdateMemberInput changes a member's role, or suspends a member.
type UpdateMemberInput struct {
	MemberInput
	Body struct {
		Role   Role   `json:"role,omitempty" enum:"owner,admin,member,viewer"`
		Status string `json:"status,omitempty" enum:"active,suspended"`
	}
}

// NewOrganizationInput makes an organization with its owner.
type NewOrganizationInput struct {
	Body struct {
		Name  string `json:"name" minLength:"1" maxLength:"200"`
		Slug  string `json:"slug,omitempty" maxLength:"63" doc:"Made from the name where absent."`
		Owner struct {
			Email         string `json:"email" format:"email" maxLength:"254"`
			Name          string `json:"name,omitempty" maxLength:"200"`
			Password      string `json:"password,omitempty" maxLength:"128" doc:"12 to 128 characters; made, and answered once, where absent."`
			PlatformAdmin bool   `json:"platform_admin,omitempty"`
		} `json:"owner"`
		APIKeyName   string   `json:"api_key_name,omitempty" maxLength:"200" doc:"Make the owner an API key of this name."`
		APIKeyScopes []string `json:"api_key_scopes,omitempty" maxItems:"100" doc:"Its scopes; * alone where absent."`
	}
}

// NewOrganization is an organization that was made, with the secrets that are shown this once.
type NewOrganization struct {
	Organization
	Owner         Member     `json:"owner"`
	OwnerPassword *string    `json:"owner_password" doc:"Null where it was given, or the person was there before."`
	APIKey        *NewAPIKey `json:"api_key"`
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
	CreatedBy  string     `json:"created_by" doc:"The person whose key it is: it never may more than they."`
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
	Scopes    []string   `json:"scopes" minItems:"1" maxItems:"100" doc:"<resource>:<action>; * is all but approval:decide and apikey:write, which must be named."`
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
	Status string `query:"status" enum:"active,banned,invited"`
	Q      string `query:"q" doc:"Part of an e-mail address or a name."`
}

// BanUserInput bans a person.
type BanUserInput struct {
	UserID string `path:"userId"`
	Body   struct {
		Reason string `json:"reason" minLength:"1" maxLength:"1000"`
	}
}

// UserInput names a person.
type UserInput struct {
	UserID string `path:"userId"`
}

// PasswordLink is a one-time link to set a password, shown this once.
type PasswordLink struct {
	Token     string    `json:"token"`
	Path      string    `json:"path" doc:"Where to open it, below the server's address."`
	ExpiresAt time.Time `json:"expires_at"`
}

const (
	tagOrganization = "Organizations"
	tagAdmin        = "Administration"
	memberRead      = Permission("member:read")
	memberWrite     = Permission("member:write")
)

// Operations of the interface's part 4.5, and what makes them whole.
var (
	ListTenants = Get[Paging, List[Organization]](
		"list-tenants",
		"/tenants",
		WithAccess(Platform),
		WithPermission(memberRead),
		WithTag(tagOrganization),
		WithSummary("List all organizations"),
	)
	GetTenant = Get[TenantInput, Organization](
		"get-tenant",
		"/tenants/{tenantId}",
		WithAccess(SignedIn),
		WithPermission(memberRead),
		WithTag(tagOrganization),
		WithSummary("Read an organization"),
	)
	UpdateTenant = Put[UpdateTenantInput, Organization](
		"update-tenant",
		"/tenants/{tenantId}",
		WithAccess(SignedIn),
		WithPermission(memberWrite),
		WithTag(tagOrganization),
		WithSummary("Update an organization"),
	)
	ListOrganizations = Get[Paging, List[Organization]](
		"list-organizations",
		"/organizations",
		WithAccess(SignedIn),
		WithPermission(memberRead),
		WithTag(tagOrganization),
		WithSummary("List the organizations the caller may see"),
	)
	CreateOrganization = Create[NewOrganizationInput, NewOrganization](
		"create-organization",
		"/organizations",
		WithAccess(Platform),
		WithPermission(memberWrite),
		WithTag(tagOrganization),
		WithSummary("Make an organization with its owner; secrets are shown once"),
	)
	GetOrganization = Get[OrganizationInput, Organization](
		"get-organization",
		"/organizations/{organizationId}",
		WithAccess(SignedIn),
		WithPermission(memberRead),
		WithTag(tagOrganization),
		WithSummary("Read an organization"),
	)
	GetDashboard = Get[OrgInput, Dashboard](
		"get-dashboard",
		"/organizations/{orgId}/dashboard",
		WithPermission("assessment:read"),
		WithTag(tagOrganization),
		WithSummary("Read an organization's dashboard"),
	)
	ListMembers = Get[OrgMembersInput, List[Member]](
		"list-members",
		"/organizations/{orgId}/members",
		WithPermission(memberRead),
		WithTag(tagOrganization),
		WithSummary("List members"),
	)
	InviteMember = Create[InviteMemberInput, NewMember](
		"invite-member",
		"/organizations/{orgId}/members/invite",
		WithPermission(memberWrite),
		WithTag(tagOrganization),
		WithSummary("Invite a person by a one-time link; again for a new link"),
	)
	UpdateMember = Patch[UpdateMemberInput, Member](
		"update-member",
		"/organizations/{orgId}/members/{memberId}",
		WithPermission(memberWrite),
		WithTag(tagOrganization),
		WithSummary("Change a member's role, suspend or restore a member"),
	)
	RemoveMember = Delete[MemberInput](
		"remove-member",
		"/organizations/{orgId}/members/{memberId}",
		WithPermission(memberWrite),
		WithTag(tagOrganization),
		WithSummary("Remove a member, or take back an invitation"),
	)
	ListAPIKeys = Get[Paging, List[APIKey]](
		"list-api-keys",
		"/api-keys",
		WithPermission("apikey:read"),
		WithTag(tagOrganization),
		WithSummary("List API keys"),
	)
	CreateAPIKey = Create[CreateAPIKeyInput, NewAPIKey](
		"create-api-key",
		"/api-keys",
		WithPermission(APIKeyWrite),
		WithTag(tagOrganization),
		WithSummary("Create an API key; its secret is shown once"),
	)
	RevokeAPIKey = Delete[APIKeyInput](
		"revoke-api-key",
		"/api-keys/{keyId}",
		WithPermission(APIKeyWrite),
		WithTag(tagOrganization),
		WithSummary("Revoke an API key"),
	)
	RotateAPIKey = Post[RotateAPIKeyInput, NewAPIKey](
		"rotate-api-key",
		"/api-keys/{keyId}/rotate",
		WithPermission(APIKeyWrite),
		WithTag(tagOrganization),
		WithSummary("Replace an API key's secret; shown once"),
	)
	CreateOrgAPIKey = Create[CreateOrgAPIKeyInput, NewAPIKey](
		"create-organization-api-key",
		"/organizations/{orgId}/api-keys",
		WithPermission(APIKeyWrite),
		WithTag(tagOrganization),
		WithSummary("Create an API key of an organization"),
	)

	ListUsers = Get[UsersInput, List[User]](
		"list-users",
		"/admin/users",
		WithAccess(Platform),
		WithPermission(memberRead),
		WithTag(tagAdmin),
		WithSummary("List all users"),
	)
	BanUser = Post[BanUserInput, User](
		"ban-user",
		"/admin/users/{userId}/ban",
		WithAccess(Platform),
		WithPermission(memberWrite),
		WithTag(tagAdmin),
		WithSummary("Ban a person: their sessions and keys end at once"),
	)
	UnbanUser = Post[UserInput, User](
		"unban-user",
		"/admin/users/{userId}/unban",
		WithAccess(Platform),
		WithPermission(memberWrite),
		WithTag(tagAdmin),
		WithSummary("Let a banned person sign in again; what was ended stays ended"),
	)
	CreatePasswordLink = Create[UserInput, PasswordLink](
		"create-password-link",
		"/admin/users/{userId}/password-link",
		WithAccess(Platform),
		WithPermission(memberWrite),
		WithTag(tagAdmin),
		WithSummary("Make a one-time link with which a person sets a new password"),
	)
)
