package api

import "time"

// LocalOrganizationSlug is the slug of the organization in which a single user works without a server.
const LocalOrganizationSlug = "local"

// Organization is a tenant. Every record outside the catalog belongs to one.
type Organization struct {
	Record
	Revised
	Name     string         `json:"name"`
	Slug     string         `json:"slug"`
	Status   string         `json:"status" enum:"active,suspended"`
	Settings map[string]any `json:"settings"`
}

// RequireSecondPerson is the setting that requires a version to be approved by a user other than its author.
const RequireSecondPerson = "require_second_person"

// NoRemoteModel is the setting that prevents language models on other machines from reading an organization's
// evidence.
const NoRemoteModel = "no_remote_model"

// OrganizationInput identifies an organization in the path.
type OrganizationInput struct {
	OrganizationID string `path:"organizationId"`
}

// RequiresSecondPerson reports whether a version must be decided on by a user other than its authors.
func (o *Organization) RequiresSecondPerson() bool {
	on, _ := o.Settings[RequireSecondPerson].(bool)
	return on
}

// TenantInput identifies a tenant in the path.
type TenantInput struct {
	TenantID string `path:"tenantId"`
}

// UpdateTenantInput is the input for changing an organization's name, slug, status or settings.
type UpdateTenantInput struct {
	TenantInput
	Match
	Body struct {
		Name                string         `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"Unchanged if omitted."`
		Slug                string         `json:"slug,omitempty" maxLength:"63"`
		Status              string         `json:"status,omitempty" enum:"active,suspended"`
		RequireSecondPerson *bool          `json:"require_second_person,omitempty" doc:"Whether somebody other than its authors has to decide on a version; changes only this setting."`
		NoRemoteModel       *bool          `json:"no_remote_model,omitempty" doc:"Whether language models on other machines are forbidden to read the organization's evidence; changes only this setting."`
		Settings            map[string]any `json:"settings,omitempty" doc:"Replaces all settings."`
	}
}

// WaitingFor is a pending decision, and who must make it.
type WaitingFor struct {
	AssessmentID   string    `json:"assessment_id"`
	AssessmentName string    `json:"assessment_name"`
	ApprovalID     string    `json:"approval_id"`
	Gate           Gate      `json:"gate"`
	Since          time.Time `json:"since"`
	Who            string    `json:"who"`
}

// Dashboard is an overview of an organization.
type Dashboard struct {
	OrganizationID     string           `json:"organization_id"`
	AssessmentsByState map[State]int    `json:"assessments_by_state"`
	CompliancePct      float64          `json:"compliance_pct"`
	ComplianceFormula  string           `json:"compliance_formula"`
	OpenPOAMItems      int              `json:"open_poam_items"`
	FindingsBySeverity map[Severity]int `json:"findings_by_severity"`
	Waiting            []WaitingFor     `json:"waiting"`
}

// Member is a user's membership in an organization.
type Member struct {
	TenantRecord
	Revised
	UserID string `json:"user_id" doc:"Empty until the invitation is accepted."`
	Email  string `json:"email"`
	Name   string `json:"name" doc:"Empty until the invitation is accepted."`
	Role   Role   `json:"role"`
	Status string `json:"status" enum:"invited,active,suspended"`
}

// OrgMembersInput is the input for listing the members of an organization.
type OrgMembersInput struct {
	OrgInput
	Paging
	Role   Role   `query:"role" enum:"owner,admin,approver,member,auditor,viewer"`
	Status string `query:"status" enum:"invited,active,suspended"`
	Q      string `query:"q" doc:"Part of an email address or a name."`
}

// NewMember is an invited member with a single-use link, which is shown only once.
type NewMember struct {
	Member
	InviteToken string `json:"invite_token" doc:"Single use, valid until invite_expires_at."`
	// InvitePath is the page where the invitee sets a password in a browser, relative to the
	// server's address.
	InvitePath      string    `json:"invite_path"`
	InviteExpiresAt time.Time `json:"invite_expires_at"`
	Emailed         bool      `json:"emailed" doc:"Whether an email with the link has been queued."`
}

// MemberInput identifies a member of an organization.
type MemberInput struct {
	OrgInput
	MemberID string `path:"memberId" doc:"Id of the membership or of the user."`
}

// UpdateMemberInput is the input for changing a member's role or suspending a member.
type UpdateMemberInput struct {
	MemberInput
	Match
	Body struct {
		Role   Role   `json:"role,omitempty" enum:"owner,admin,approver,member,auditor,viewer"`
		Status string `json:"status,omitempty" enum:"active,suspended"`
	}
}

// NewOrganizationInput is the input for creating an organization with its owner.
type NewOrganizationInput struct {
	Body struct {
		Name  string `json:"name" minLength:"1" maxLength:"200"`
		Slug  string `json:"slug,omitempty" maxLength:"63" doc:"Derived from the name if omitted."`
		Owner struct {
			Email         string `json:"email" format:"email" maxLength:"254"`
			Name          string `json:"name,omitempty" maxLength:"200"`
			Password      string `json:"password,omitempty" maxLength:"128" doc:"12 to 128 characters; generated, and returned once, if omitted."`
			PlatformAdmin bool   `json:"platform_admin,omitempty"`
		} `json:"owner"`
		APIKeyName   string   `json:"api_key_name,omitempty" maxLength:"200" doc:"Create an API key with this name for the owner."`
		APIKeyScopes []string `json:"api_key_scopes,omitempty" minItems:"1" maxItems:"100" doc:"The key's scopes; default: *."`
	}
}

// NewOrganization is a newly created organization with its secrets, which are shown only once.
type NewOrganization struct {
	Organization
	Owner         Member     `json:"owner"`
	OwnerPassword *string    `json:"owner_password" doc:"Null if it was given in the request, or the user already existed."`
	APIKey        *NewAPIKey `json:"api_key"`
}

// InviteMemberInput is the input for inviting a user to an organization.
type InviteMemberInput struct {
	OrgInput
	Body struct {
		Email string `json:"email" format:"email" maxLength:"254"`
		Role  Role   `json:"role" enum:"owner,admin,approver,member,auditor,viewer"`
	}
}

// APIKey is a credential for programs, without its secret.
type APIKey struct {
	TenantRecord
	Name       string     `json:"name"`
	MaskedKey  string     `json:"masked_key"`
	Scopes     []string   `json:"scopes"`
	CreatedBy  string     `json:"created_by" doc:"The owner of the key, whose permissions limit it."`
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	Status     string     `json:"status" enum:"active,revoked,expired"`
}

// NewAPIKey is an API key with its secret, which is shown only once.
type NewAPIKey struct {
	APIKey
	Key string `json:"key"`
}

// APIKeyBody holds the settings of a new key.
type APIKeyBody struct {
	Name      string     `json:"name" minLength:"1" maxLength:"200"`
	Scopes    []string   `json:"scopes" minItems:"1" maxItems:"100" doc:"<resource>:<action>; * means all except approval:decide and apikey:write, which must be named."`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// CreateAPIKeyInput is the input for creating a key in the organization of the request.
type CreateAPIKeyInput struct {
	Body APIKeyBody
}

// CreateOrgAPIKeyInput is the input for creating a key in the organization named in the path.
type CreateOrgAPIKeyInput struct {
	OrgInput
	Body APIKeyBody
}

// APIKeyInput identifies a key.
type APIKeyInput struct {
	KeyID string `path:"keyId"`
}

// RotateAPIKeyInput is the input for replacing an API key's secret. The old secret stays valid for a
// grace period.
type RotateAPIKeyInput struct {
	APIKeyInput
	Body *struct {
		GraceSeconds int `json:"grace_seconds,omitempty" minimum:"0" maximum:"604800"`
	}
}

// UsersInput is the input for listing users.
type UsersInput struct {
	Paging
	Status string `query:"status" enum:"active,banned,invited"`
	Q      string `query:"q" doc:"Part of an email address or a name."`
}

// BanUserInput is the input for banning a user.
type BanUserInput struct {
	UserID string `path:"userId"`
	Body   struct {
		Reason string `json:"reason" minLength:"1" maxLength:"1000"`
	}
}

// UserInput identifies a user.
type UserInput struct {
	UserID string `path:"userId"`
}

// PasswordLink is a single-use link to set a password, shown only once.
type PasswordLink struct {
	Token     string    `json:"token"`
	Path      string    `json:"path" doc:"Page to open, relative to the server's address."`
	ExpiresAt time.Time `json:"expires_at"`
}

const (
	tagOrganization = "Organizations"
	tagAdmin        = "Administration"
	memberRead      = Permission("member:read")
	memberWrite     = Permission("member:write")
)

// RemoveMemberInput is the input for removing a member.
type RemoveMemberInput struct {
	MemberInput
	Match
}

// Operations on organizations, members and API keys, defined in section 4.5 of the API specification,
// and related ones.
var (
	ListTenants = Get[Paging, List[Organization]](
		"list-tenants", "/tenants", memberRead, tagOrganization,
		"List all organizations", WithAccess(Platform),
	)
	GetTenant = Get[TenantInput, Organization](
		"get-tenant", "/tenants/{tenantId}", memberRead, tagOrganization,
		"Get an organization", WithAccess(SignedIn),
	)
	UpdateTenant = Put[UpdateTenantInput, Organization](
		"update-tenant", "/tenants/{tenantId}", memberWrite, tagOrganization,
		"Update an organization", WithAccess(SignedIn),
	)
	ListOrganizations = Get[Paging, List[Organization]](
		"list-organizations", "/organizations", memberRead, tagOrganization,
		"List the organizations the caller can see", WithAccess(SignedIn),
	)
	CreateOrganization = Create[NewOrganizationInput, NewOrganization](
		"create-organization", "/organizations", memberWrite, tagOrganization,
		"Create an organization and its owner; secrets are shown only once", WithAccess(Platform),
	)
	GetOrganization = Get[OrganizationInput, Organization](
		"get-organization", "/organizations/{organizationId}", memberRead, tagOrganization,
		"Get an organization", WithAccess(SignedIn),
	)
	GetDashboard = Get[OrgInput, Dashboard](
		"get-dashboard", "/organizations/{orgId}/dashboard", "assessment:read", tagOrganization,
		"Get an organization's dashboard",
	)
	ListMembers = Get[OrgMembersInput, List[Member]](
		"list-members", "/organizations/{orgId}/members", memberRead, tagOrganization,
		"List members",
	)
	InviteMember = Create[InviteMemberInput, NewMember](
		"invite-member", "/organizations/{orgId}/members/invite", memberWrite, tagOrganization,
		"Invite a user with a single-use link; repeat to issue a new link",
	)
	UpdateMember = Patch[UpdateMemberInput, Member](
		"update-member", "/organizations/{orgId}/members/{memberId}", memberWrite, tagOrganization,
		"Update a member's role, suspend or restore a member",
	)
	RemoveMember = Delete[RemoveMemberInput](
		"remove-member", "/organizations/{orgId}/members/{memberId}", memberWrite, tagOrganization,
		"Remove a member, or revoke an invitation",
	)
	ListAPIKeys = Get[Paging, List[APIKey]](
		"list-api-keys", "/api-keys", "apikey:read", tagOrganization,
		"List API keys",
	)
	CreateAPIKey = Create[CreateAPIKeyInput, NewAPIKey](
		"create-api-key", "/api-keys", APIKeyWrite, tagOrganization,
		"Create an API key; its secret is shown once",
	)
	RevokeAPIKey = Delete[APIKeyInput](
		"revoke-api-key", "/api-keys/{keyId}", APIKeyWrite, tagOrganization,
		"Revoke an API key",
	)
	RotateAPIKey = Post[RotateAPIKeyInput, NewAPIKey](
		"rotate-api-key", "/api-keys/{keyId}/rotate", APIKeyWrite, tagOrganization,
		"Rotate an API key's secret; the new one is shown once",
	)
	CreateOrgAPIKey = Create[CreateOrgAPIKeyInput, NewAPIKey](
		"create-organization-api-key", "/organizations/{orgId}/api-keys", APIKeyWrite, tagOrganization,
		"Create an API key in an organization",
	)

	ListUsers = Get[UsersInput, List[User]](
		"list-users", "/admin/users", memberRead, tagAdmin,
		"List all users", WithAccess(Platform),
	)
	BanUser = Post[BanUserInput, User](
		"ban-user", "/admin/users/{userId}/ban", memberWrite, tagAdmin,
		"Ban a user, and immediately end their sessions and revoke their keys", WithAccess(Platform),
	)
	UnbanUser = Post[UserInput, User](
		"unban-user", "/admin/users/{userId}/unban", memberWrite, tagAdmin,
		"Lift a user's ban; sessions and keys that the ban ended are not restored", WithAccess(Platform),
	)
	CreatePasswordLink = Create[UserInput, PasswordLink](
		"create-password-link", "/admin/users/{userId}/password-link", memberWrite, tagAdmin,
		"Create a single-use link for a user to set a new password", WithAccess(Platform),
	)
)
