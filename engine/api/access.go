package api

import (
	"fmt"
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

// grants says which least role has each permission. A role has all that the lesser ones have.
var grants = map[Role][]Permission{
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
		out = append(out, grants[roleOrder[i]]...)
	}
	slices.Sort(out)
	return out
}

// May tells whether the role has the permission.
func (r Role) May(p Permission) bool { return slices.Contains(r.Permissions(), p) }

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
	for _, r := range []string{resource, strings.TrimSuffix(resource, "s"), strings.TrimSuffix(resource, "ies") + "y",
		strings.TrimSuffix(resource, "es") + "is"} {
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
	Scopes  []Permission
	TraceID string
	Address string
}

// May tells whether the caller has the permission: by role, and by scope where a key is used.
func (c Caller) May(p Permission) bool {
	if c.Scopes != nil && !slices.Contains(c.Scopes, p) {
		return false
	}
	return c.Role.May(p) || (c.PlatformAdmin && c.Scopes == nil)
}

// Require returns a FORBIDDEN error unless the caller has the permission.
func (c Caller) Require(p Permission) error {
	if c.May(p) {
		return nil
	}
	who := fmt.Sprintf("the role %q", c.Role)
	if c.Scopes != nil {
		who = "this API key"
	}
	return Forbidden("this needs the permission %s, which %s does not have", p, who)
}
