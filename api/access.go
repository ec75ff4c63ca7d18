package api

import (
	"slices"
	"strings"
)

// Permission is a permission that a role or an API key needs to call an operation: "<resource>:<action>".
type Permission string

// Role is a user's role in one organization.
type Role string

// The roles, from most to least privileged. Each is a set of permissions: an approver can decide but not edit, and an
// auditor can read everything.
const (
	RoleOwner    Role = "owner"
	RoleAdmin    Role = "admin"
	RoleApprover Role = "approver"
	RoleMember   Role = "member"
	RoleAuditor  Role = "auditor"
	RoleViewer   Role = "viewer"
)

// Roles lists all roles, from most to least privileged.
var Roles = []Role{RoleOwner, RoleAdmin, RoleApprover, RoleMember, RoleAuditor, RoleViewer}

// Permissions that code refers to by name; all others appear only in their operation's declaration.
const (
	ApprovalDecide Permission = "approval:decide"
	APIKeyWrite    Permission = "apikey:write"
	SCFImport      Permission = "scf:import"
	CommentWrite   Permission = "comment:write"
	// PlatformAdmin is the scope that a platform admin's key needs to have the powers of a platform admin, except for
	// importing catalogs. No role has it.
	PlatformAdmin Permission = "platform:admin"
)

// The sets of permissions that roles are composed of.
var (
	readWork = []Permission{
		"assessment:read", "document:read", "kb:read", "kb:search", "scf:read", "scope:read", "soa:read", "gap:read",
		"maturity:read", "poam:read", "approval:read", "report:read", "artifact:read", "workflow:read", "agent:read",
		"member:read",
	}
	readRecords = []Permission{"audit:read", "metrics:read", "alert:read", "email:read", "sync:read"}
	readAccess  = []Permission{"apikey:read", "webhook:read", "integration:read"}
	work        = []Permission{
		"assessment:write", "assessment:transition", "document:write", "document:delete", "scope:write", "soa:write",
		"gap:write", "maturity:write", "poam:write", "report:write", "workflow:write", "agent:run", "analysis:run", "sync:write",
	}
	administer = []Permission{SCFImport, "member:write", APIKeyWrite, "webhook:write", "integration:write", "email:write", "alert:write"}
	comment    = []Permission{CommentWrite}
	decide     = []Permission{ApprovalDecide}
)

// rolePermissions maps each role to its permissions.
var rolePermissions = map[Role][]Permission{
	RoleViewer:   readWork,
	RoleAuditor:  slices.Concat(readWork, readRecords, readAccess, comment),
	RoleMember:   slices.Concat(readWork, readRecords, comment, work),
	RoleApprover: slices.Concat(readWork, readRecords, comment, decide),
	RoleAdmin:    slices.Concat(readWork, readRecords, readAccess, comment, work, decide, administer),
	RoleOwner: slices.Concat(
		readWork, readRecords, readAccess, comment, work, decide, administer, []Permission{"assessment:delete"},
	),
}

// Permissions returns all permissions of the role, sorted, or nil for an unknown role.
func (r Role) Permissions() []Permission {
	return slices.Sorted(slices.Values(rolePermissions[r]))
}

// May reports whether the role has the permission.
func (r Role) May(p Permission) bool { return slices.Contains(rolePermissions[r], p) }

// AllPermissions returns every existing permission, sorted.
func AllPermissions() []Permission {
	return slices.Sorted(slices.Values(append(RoleOwner.Permissions(), PlatformAdmin)))
}

// ParsePermission reads "<resource>:<action>", accepting plural resource names ("assessments:read"
// means assessment:read). It returns an error if no operation requires the permission.
func ParsePermission(s string) (Permission, error) {
	resource, action, ok := strings.Cut(strings.ToLower(strings.TrimSpace(s)), ":")
	if !ok {
		return "", Invalid("scopes", "%q is not of the form <resource>:<action>", s)
	}
	resource = strings.NewReplacer("-", "", "_", "").Replace(resource)
	all := AllPermissions()
	for _, r := range []string{
		resource, strings.TrimSuffix(resource, "s"), strings.TrimSuffix(resource, "ies") + "y",
		strings.TrimSuffix(resource, "es") + "is",
	} {
		if p := Permission(r + ":" + action); slices.Contains(all, p) {
			return p, nil
		}
	}
	return "", Invalid("scopes", "unknown permission %q", s)
}

// ActorType is the kind of actor that performed an action.
type ActorType string

// The kinds of actor that can perform an action.
const (
	ActorUser     ActorType = "user"
	ActorAPIKey   ActorType = "api_key"
	ActorWorkflow ActorType = "workflow"
)

// Actor identifies who performed an action, as recorded in records and events.
type Actor struct {
	Type ActorType `json:"type"`
	ID   string    `json:"id"`
	Name string    `json:"name"`
}

// platformPermissions are the permissions that a user's platform administrator flag adds, for operations
// outside any organization. The flag gives no access to tenant data.
var platformPermissions = []Permission{"scf:read", SCFImport, "member:read", "member:write", "metrics:read"}

// AnyScope is the scope that grants every permission except those that must be listed explicitly.
const AnyScope = "*"

// explicitOnlyPermissions are the permissions that AnyScope does not include.
var explicitOnlyPermissions = []Permission{ApprovalDecide, APIKeyWrite}

// ParseScopes reads the scopes of an API key: permissions (plural names are normalized) and
// AnyScope. The result is sorted and free of duplicates; an empty list is an error.
func ParseScopes(scopes []string) ([]string, error) {
	var out []string
	for _, s := range scopes {
		if strings.TrimSpace(s) == AnyScope {
			out = append(out, AnyScope)
			continue
		}
		p, err := ParsePermission(s)
		if err != nil {
			return nil, err
		}
		out = append(out, string(p))
	}
	if len(out) == 0 {
		return nil, Invalid("scopes", "specify at least one scope, such as assessment:read")
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// ExpandScopes returns the permissions that parsed scopes grant, sorted.
func ExpandScopes(scopes []string) []Permission {
	out := []Permission{}
	for _, s := range scopes {
		if s != AnyScope {
			out = append(out, Permission(s))
			if s == "assessment:write" {
				out = append(out, CommentWrite) // anyone who may change an assessment may comment on it
			}
			continue
		}
		for _, p := range AllPermissions() {
			if !slices.Contains(explicitOnlyPermissions, p) {
				out = append(out, p)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ReadPermissions returns the permissions that don't allow any changes.
func ReadPermissions() []Permission {
	return slices.DeleteFunc(AllPermissions(), func(p Permission) bool {
		return !strings.HasSuffix(string(p), ":read") && p != "kb:search"
	})
}

// Caller identifies who makes a request, and within which organization. Transports fill it in with verified
// information; the engine trusts it.
type Caller struct {
	Actor Actor
	// UserID is the signed-in user, or the owner of the API key.
	UserID string
	// OrganizationID is the tenant of the request; empty if the operation has none.
	OrganizationID string
	Role           Role
	// PlatformAdmin is true if the caller has the powers of a platform admin. ImportsCatalogs is true for a platform
	// admin's key without the scope PlatformAdmin: of these powers, it only has that of importing catalogs, if its
	// scopes include it.
	PlatformAdmin, ImportsCatalogs bool
	// Scopes limit an API key; nil for a user, who has all permissions of the role.
	Scopes []Permission
	// SessionID is the session of a signed-in browser; empty for keys and the local user.
	SessionID string
	// Delegate is true if an owner or admin has delegated decisions at some gate to the user.
	Delegate bool
	// Local is true for the local user of the machine, as verified by the listener.
	Local   bool
	TraceID string
	Address string
	// DeviceToken is the unverified token of a browser that may have signed in before. It is only set for requests
	// that need no credential.
	DeviceToken string
	// AgentRunID is the agent run acting for the caller; empty if the user acts directly. An agent
	// never decides.
	AgentRunID string
	// Peer is the trusted key of the bundle that contains the user's action; nil if the user acts directly.
	Peer *SyncPeer
}

// May reports whether the caller has the permission in the organization of the request: the caller's
// role must include it and, if an API key is used, so must the key's scopes.
func (c Caller) May(p Permission) bool { return c.isInScope(p) && c.Role.May(p) }

// isInScope reports whether the caller's scopes, if any, include a permission. An agent or a limited peer is never
// allowed to decide.
func (c Caller) isInScope(p Permission) bool {
	return (p != ApprovalDecide || c.AgentRunID == "" && !c.isLimitedPeer()) && (c.Scopes == nil || slices.Contains(c.Scopes, p))
}

// isLimitedPeer reports whether the caller acts through a sync bundle whose signing key is not trusted
// to submit decisions.
func (c Caller) isLimitedPeer() bool { return c.Peer != nil && c.Peer.May != PeerMayApprove }

// Require returns a FORBIDDEN error unless the caller has the permission.
func (c Caller) Require(p Permission) error {
	switch {
	case c.May(p):
		return nil
	case c.AgentRunID != "" && p == ApprovalDecide:
		return Forbidden("an agent can't make this decision; a user must make it")
	case p == ApprovalDecide && c.isLimitedPeer():
		return Forbidden("the key %q is trusted for changes but not for decisions; make the decision on this side, "+
			"or run `%s` before importing the next bundle",
			c.Peer.Name, c.Peer.TrustCommand(PeerMayApprove))
	case !c.isInScope(p) && c.Local:
		return Forbidden("the local user can read this organization, but only its members can change it: sign in with `service login URL`")
	case !c.isInScope(p):
		return Forbidden(
			"this needs the scope %s, which this API key doesn't have; use a key that has it, or sign in",
			p,
		)
	case c.Role == "":
		return Forbidden("this needs the permission %s, which you don't have in any of your organizations", p)
	}
	return Forbidden("this needs the permission %s, which the role %q doesn't include", p, c.Role)
}

// Authorize returns a FORBIDDEN error unless the caller may call the operation.
func (c Caller) Authorize(op *Operation) error {
	p := op.Permission
	if op.Access == Platform && !c.PlatformAdmin {
		switch {
		case !c.ImportsCatalogs:
			return Forbidden("only a platform admin can do this")
		case p != SCFImport:
			return Forbidden("this needs the scope %s, which this API key doesn't have; use a key that has it, or "+
				"sign in", PlatformAdmin)
		case c.isInScope(p):
			return nil
		}
	}
	if p == "" {
		return nil
	}
	if op.Access != Tenant && c.PlatformAdmin && slices.Contains(platformPermissions, p) && (c.Local || c.isInScope(p)) {
		return nil
	}
	if op.Delegable && c.Delegate && c.IsPerson() {
		return nil
	}
	return c.Require(p)
}

// IsPerson reports whether a signed-in user acts directly, as opposed to a key, agent, workflow or bundle acting on a
// user's behalf.
func (c Caller) IsPerson() bool {
	return c.Actor.Type == ActorUser && c.Scopes == nil && c.AgentRunID == "" && c.Peer == nil && c.UserID != ""
}
