package api_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/scf-service/service/api"
)

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		role api.Role
		may  []api.Permission
		not  []api.Permission
	}{
		{
			api.RoleViewer,
			[]api.Permission{"assessment:read", "kb:search", "scf:read"},
			[]api.Permission{"assessment:write", "approval:decide", "agent:run"},
		},
		{
			api.RoleMember,
			[]api.Permission{"assessment:write", "document:delete", "analysis:run", "soa:read"},
			[]api.Permission{"approval:decide", "member:write", "assessment:delete"},
		},
		{
			api.RoleAdmin,
			[]api.Permission{"approval:decide", "apikey:write", "webhook:write", "poam:write"},
			[]api.Permission{"assessment:delete"},
		},
		{
			api.RoleApprover,
			[]api.Permission{"approval:decide", "comment:write", "soa:read", "audit:read"},
			[]api.Permission{"soa:write", "member:write", "apikey:read", "apikey:write", "assessment:transition"},
		},
		{
			api.RoleAuditor,
			append(api.ReadPermissions(), "comment:write"),
			[]api.Permission{"approval:decide", "soa:write", "report:write", "member:write"},
		},
		{api.RoleOwner, []api.Permission{"assessment:delete", "approval:decide"}, nil},
		{"stranger", nil, []api.Permission{"assessment:read"}},
	} {
		for _, p := range c.may {
			if !c.role.May(p) {
				t.Errorf("%s may not %s", c.role, p)
			}
		}
		for _, p := range c.not {
			if c.role.May(p) {
				t.Errorf("%s may %s", c.role, p)
			}
		}
	}
}

// TestKeyIsBoundedTwice checks that a key has neither permissions outside its scopes nor permissions that its user no
// longer has.
func TestKeyIsBoundedTwice(t *testing.T) {
	key := api.Caller{Role: api.RoleMember, Scopes: []api.Permission{"soa:write", "approval:decide"}}
	if !key.May("soa:write") || key.May("soa:read") || key.May("approval:decide") {
		t.Errorf(
			"the key may soa:write %v, soa:read %v, approval:decide %v",
			key.May("soa:write"),
			key.May("soa:read"),
			key.May("approval:decide"),
		)
	}
	if err := key.Require("soa:read"); !api.IsCode(err, api.CodeForbidden) {
		t.Errorf("refused as %v", err)
	}
}

func TestParsePermission(t *testing.T) {
	for in, want := range map[string]api.Permission{
		"assessment:read": "assessment:read", "assessments:read": "assessment:read",
		"analyses:run": "analysis:run", "api-keys:write": "apikey:write",
		" SoA:Write ": "soa:write", "approvals:decide": "approval:decide", "scf:import": "scf:import",
	} {
		if p, err := api.ParsePermission(in); err != nil || p != want {
			t.Errorf("%q is %q, %v", in, p, err)
		}
	}
	for _, in := range []string{"", "assessment", "assessment:fly", "moon:read", ":"} {
		if p, err := api.ParsePermission(in); !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%q is %q, %v", in, p, err)
		}
	}
}

func TestErrors(t *testing.T) {
	cause := errors.New("the disk is gone")
	e := api.AsError(fmt.Errorf("reading: %w", cause))
	if e.Code != api.CodeInternal || !errors.Is(e, cause) || e.Error() == cause.Error() {
		t.Errorf("an unknown error becomes %v", e)
	}
	if e := api.AsError(fmt.Errorf("more: %w", api.NotFound("document", "x"))); e.Code != api.CodeNotFound || e.HTTPStatus() != 404 {
		t.Errorf("a known error becomes %v", e)
	}
}

func TestKeysThatEditMayComment(t *testing.T) {
	if got := api.ExpandScopes([]string{"assessment:write"}); !slices.Contains(got, api.CommentWrite) {
		t.Error(got)
	}
	if got := api.ExpandScopes([]string{"assessment:read"}); slices.Contains(got, api.CommentWrite) {
		t.Error(got)
	}
}
