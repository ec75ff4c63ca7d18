package api

import (
	"slices"
	"strings"
)

// Permission is what an operation asks for: "<resource>:<action>".
type Permission string

// Role is a person's role in one organization.
type Role string

// The roles, from most to least.
const (
	RoleOwner  Role = "owner"
	RoleAdmin  Role = "admin"
	RoleMember Role = "member"
	RoleViewer Role = "viewer"
)

// Permissions that code names; every other one stands in its operation's declaration.
const (
	ApprovalDecide Permission = "approval:decide"
	APIKeyWrite    Permission = "apikey:write"
	SCFImport      Permission = "scf:import"
)

// rolePermissions says which least role has each permission. A role has all that the lesser ones have.
var rolePermissions = map[Role][]Permission{
	RoleViewer: {
		"assessment:read", "document:read", "kb:read", "kb:search", "scf:read", "scope:read", "soa:read", "gap:read",
		"maturity:read", "poam:read", "approval:read", "report:read", "artifact:read", "workflow:read", "agent:read",
		"member:read",
	},
	RoleMember: {
		"assessment:write", "assessment:transition", "document:write", "document:delete", "scope:write", "soa:write",
		"gap:write", "maturity:write", "poam:write", "report:write", "workflow:write", "agent:run", "analysis:run",
		"audit:read", "metrics:read", "alert:read", "email:read", "sync:read", "sync:write",
	},
	RoleAdmin: {
		ApprovalDecide, SCFImport, "member:write", "apikey:read", APIKeyWrite, "webhook:read", "webhook:write",
		"integration:read", "integration:write", "email:write", "alert:write",
	},
	RoleOwner: {"assessment:delete"},
}

var roleOrder = []Role{RoleViewer, RoleMember, RoleAdmin, RoleOwner}

// Permissions returns all that the role may do, sorted; nil for an unknown role.
func (r Role) Permissions() []Permission {
	at := slices.Index(roleOrder, r)
	var out []Permission
	for i := 0; i <= at; i++ {
		out = append(out, rolePermissions[roleOrder[i]]...)
	}
	slices.Sort(out)
	return out
}

// May tells whether the role has the permission.
func (r Role) May(p Permission) bool {
	for i := 0; i <= slices.Index(roleOrder, r); i++ {
		if slices.Contains(rolePermissions[roleOrder[i]], p) {
			return true
		}
	}
	return false
}

// AllPermissions returns every permission there is, sorted.
func AllPermissions() []Permission { return RoleOwner.Permissions() }

// ParsePermission reads "<resource>:<action>", plural resource names included
// ("assessments:read" is assessment:read), and refuses what no operation asks for.
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
	return "", Invalid("scopes", "there is no permission %q", s)
}

// ActorType says what kind of thing acted.
type ActorType string

// The kinds of actor.
const (
	ActorUser     ActorType = "user"
	ActorAPIKey   ActorType = "api_key"
	ActorWorkflow ActorType = "workflow"
)

// Actor is who did something, as records and events name them.
type Actor struct {
	Type ActorType `json:"type"`
	ID   string    `json:"id"`
	Name string    `json:"name"`
}

// platformPermissions is what the platform flag gives beyond the role, for operations
// that are not an organization's own: nobody sees into a tenant by it.
var platformPermissions = []Permission{"scf:read", SCFImport, "member:read", "member:write", "metrics:read"}

// AnyScope stands for every permission but those that must be named.
const AnyScope = "*"

// explicitOnlyPermissions are the permissions that AnyScope leaves out.
var explicitOnlyPermissions = []Permission{ApprovalDecide, APIKeyWrite}

// ParseScopes reads the scopes of an API key: permissions, plural names normalised,
// and AnyScope; sorted, each once. An empty list is refused.
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
		return nil, Invalid("scopes", "name at least one scope, as assessment:read")
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// ExpandScopes are the permissions that parsed scopes stand for, sorted.
func ExpandScopes(scopes []string) []Permission {
	out := []Permission{}
	for _, s := range scopes {
		if s != AnyScope {
			out = append(out, Permission(s))
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

// Caller is who makes a request, and within which organization. Transports
// fill it in from what they have verified; the engine trusts it.
type Caller struct {
	Actor Actor
	// UserID is the person: the one signed in, or the one whose key it is.
	UserID string
	// OrganizationID is the tenant of the request; empty where the operation has none.
	OrganizationID string
	Role           Role
	PlatformAdmin  bool
	// Scopes limit an API key; nil for a person, who has all the role has.
	Scopes []Permission
	// SessionID is the session of a signed-in browser; empty for keys and the local person.
	SessionID string
	// Delegate: an owner or admin lets the person decide for them at some gate.
	Delegate bool
	// Local is the person whose machine it is, vouched for by the listener.
	Local   bool
	TraceID string
	Address string
	// AgentRunID is the agent run that acts for the caller; empty where the person does.
	// An agent never decides.
	AgentRunID string
}

// May tells whether the caller has the permission in the organization of the
// request: by role, and by scope where a key is used.
func (c Caller) May(p Permission) bool { return c.isInScope(p) && c.Role.May(p) }

func (c Caller) isInScope(p Permission) bool {
	return (c.AgentRunID == "" || p != ApprovalDecide) && (c.Scopes == nil || slices.Contains(c.Scopes, p))
}

// Require returns a FORBIDDEN error unless the caller has the permission.
func (c Caller) Require(p Permission) error {
	switch {
	case c.May(p):
		return nil
	case c.AgentRunID != "" && p == ApprovalDecide:
		return Forbidden("an agent can't decide; a person has to")
	case !c.isInScope(p):
		return Forbidden(
			"this needs the permission %s, which is not among the scopes of this API key; use a key that names it, or sign in",
			p,
		)
	case c.Role == "":
		return Forbidden("this needs the permission %s, and you belong to no organization that gives it", p)
	}
	return Forbidden("this needs the permission %s, which the role %q does not have", p, c.Role)
}

// Authorize returns a FORBIDDEN error unless the caller may call the operation.
func (c Caller) Authorize(op *Operation) error {
	p := op.Permission
	if op.Access == Platform && !c.PlatformAdmin {
		return Forbidden("only a platform admin may do this")
	}
	if p == "" {
		return nil
	}
	if op.Access != Tenant && c.PlatformAdmin && slices.Contains(platformPermissions, p) && c.isInScope(p) {
		return nil
	}
	if op.Delegable && c.Delegate && c.IsPerson() {
		return nil
	}
	return c.Require(p)
}

// IsPerson tells a person from a key, an agent and a workflow that act for one.
func (c Caller) IsPerson() bool {
	return c.Actor.Type == ActorUser && c.Scopes == nil && c.AgentRunID == "" && c.UserID != ""
}
