package identity

import (
	"context"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// toMember returns a membership with its user in the form of the API. Until an invitation is accepted, the
// only data about the user is the email address that the invitation was sent to. It thus doesn't reveal
// whether that person has an account.
func toMember(m store.Membership, u api.User) api.Member {
	out := api.Member{TenantRecord: api.TenantRecord{
		Record:         api.Record{ID: m.ID, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt},
		OrganizationID: m.OrganizationID,
	}, Revised: api.Revised{Revision: m.Revision}, Email: u.Email, Role: m.Role, Status: m.Status}
	if m.Status != statusInvited {
		out.UserID, out.Name = u.ID, u.Name
	}
	return out
}

// listMembers returns an organization's members, sorted by email address.
func listMembers(tx *store.Tx, org string) ([]api.Member, error) {
	var out []api.Member
	for m, err := range store.Memberships.By("organization").Scan(tx, store.Prefix(org)) {
		if err != nil {
			return nil, err
		}
		u, err := store.Users.Get(tx, m.UserID)
		if err != nil {
			return nil, err
		}
		out = append(out, toMember(m, u))
	}
	slices.SortFunc(out, func(a, b api.Member) int { return strings.Compare(a.Email+a.ID, b.Email+b.ID) })
	return out, nil
}

// ListMembers lists an organization's members, sorted by email address.
func (s *Service) ListMembers(ctx context.Context, by api.Caller, in *api.OrgMembersInput) (*api.List[api.Member], error) {
	var all []api.Member
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		all, err = listMembers(tx, by.OrganizationID)
		return err
	})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m api.Member) bool {
		return (in.Role != "" && m.Role != in.Role) || (in.Status != "" && m.Status != in.Status) ||
			!strings.Contains(strings.ToLower(m.Email+" "+m.Name), strings.ToLower(in.Q))
	})
	return store.PageSlice(all, in.Paging, func(m *api.Member) string { return m.Email + m.ID })
}

// checkRoleChange returns an error if one of the roles is owner and the caller is not an owner, because only owners
// can appoint, change or remove owners.
func checkRoleChange(by api.Caller, roles ...api.Role) error {
	if by.Role != api.RoleOwner && slices.Contains(roles, api.RoleOwner) {
		return api.Forbidden("only an owner can appoint, change or remove an owner")
	}
	return nil
}

// InviteMember creates an invited membership and a single-use link to accept it. Inviting the same person
// again before they have accepted creates a new link. The response does not depend on whether the person
// has an account; a banned user can't use the link.
func (s *Service) InviteMember(ctx context.Context, by api.Caller, in *api.InviteMemberInput) (*api.NewMember, error) {
	if err := checkRoleChange(by, in.Body.Role); err != nil {
		return nil, err
	}
	email := normalizeEmail(in.Body.Email)
	var out *api.NewMember
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		u, _, err := findOrCreateUser(tx, email, "")
		if err != nil {
			return err
		}
		m, err := store.Memberships.Get(tx, u.ID, by.OrganizationID)
		isMember, err := foundFromError(err)
		switch {
		case err != nil:
			return err
		case isMember && m.Status != statusInvited:
			return api.Conflict("%s is already a member, with the role %s", email, m.Role)
		case isMember:
			if err := checkRoleChange(by, m.Role); err != nil {
				return err
			}
			m.Role, m.UpdatedAt = in.Body.Role, tx.Now()
			err = store.Memberships.Update(tx, &m)
		default:
			if err = addMember(tx, by.OrganizationID, u.ID, in.Body.Role, statusInvited); err == nil {
				m, err = store.Memberships.Get(tx, u.ID, by.OrganizationID)
			}
		}
		if err != nil {
			return err
		}
		token, expires, err := replaceOneTimeLink(
			tx,
			store.OneTimeLink{Purpose: purposeInvite, UserID: u.ID, OrganizationID: by.OrganizationID, CreatedBy: by.UserID},
			inviteLifetime,
		)
		if err != nil {
			return err
		}
		out = &api.NewMember{Member: toMember(m, u), InviteToken: token, InvitePath: linkPath + token, InviteExpiresAt: expires}
		if s.sendInvitation != nil {
			if out.Emailed, err = s.sendInvitation(tx, by, u.Email, m.Role, out.InvitePath, expires); err != nil {
				return err
			}
		}
		return appendAudit(tx, by, "member.invited", "member", m.ID, map[string]any{"email": email, "role": string(m.Role)})
	})
	return out, err
}

// findMember finds a membership of the organization by its ID or its user's ID.
func findMember(tx *store.Tx, org, memberOrUserID string) (store.Membership, api.User, error) {
	for m, err := range store.Memberships.By("organization").Scan(tx, store.Prefix(org)) {
		if err != nil {
			return m, api.User{}, err
		}
		if m.ID == memberOrUserID || m.UserID == memberOrUserID {
			u, err := store.Users.Get(tx, m.UserID)
			return m, u, err
		}
	}
	return store.Membership{}, api.User{}, api.NotFound("member", memberOrUserID)
}

// UpdateMember changes a member's role, or suspends or restores a member.
func (s *Service) UpdateMember(ctx context.Context, by api.Caller, in *api.UpdateMemberInput) (*api.Member, error) {
	var out api.Member
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		m, u, err := findMember(tx, by.OrganizationID, in.MemberID)
		if err != nil {
			return err
		}
		if err := in.Match.Check(m.Revision); err != nil {
			return err
		}
		m.Revision++
		if err := checkRoleChange(by, m.Role, in.Body.Role); err != nil {
			return err
		}
		if m.Status == statusInvited && in.Body.Status != "" {
			return api.Conflict("%s has not accepted the invitation yet; withdraw it instead", u.Email)
		}
		changes := map[string]any{}
		role := string(m.Role)
		setAndRecordIfChanged(changes, "role", &role, string(in.Body.Role))
		setAndRecordIfChanged(changes, "status", &m.Status, in.Body.Status)
		m.Role, m.UpdatedAt = api.Role(role), tx.Now()
		if err := store.Memberships.Update(tx, &m); err != nil {
			return err
		}
		out = toMember(m, u)
		if err := requireActiveOwner(tx, by.OrganizationID); err != nil {
			return err
		}
		if m.Status != statusActive || !m.Role.May(api.ApprovalDecide) {
			if err := endDelegationsGivenBy(tx, by, m.UserID, displayName(u)+" can no longer decide", false); err != nil {
				return err
			}
		}
		return appendAudit(tx, by, "member.updated", "member", m.ID, changes)
	})
	return &out, err
}

// RemoveMember ends a membership; the user's work stays under their name.
func (s *Service) RemoveMember(ctx context.Context, by api.Caller, in *api.RemoveMemberInput) (*api.None, error) {
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		m, u, err := findMember(tx, by.OrganizationID, in.MemberID)
		if err != nil {
			return err
		}
		if err := checkRoleChange(by, m.Role); err != nil {
			return err
		}
		if err := in.Match.Check(m.Revision); err != nil {
			return err
		}
		if err := store.Memberships.Delete(tx, m.UserID, m.OrganizationID); err != nil {
			return err
		}
		if m.Status != statusInvited {
			former := store.FormerMember{OrganizationID: m.OrganizationID, UserID: u.ID, Name: u.Name, Email: u.Email, LeftAt: tx.Now()}
			if err := store.FormerMembers.Put(tx, m.OrganizationID, &former); err != nil {
				return err
			}
		}
		// Keys end with the membership: otherwise, they would become valid again if the user rejoined.
		if err := revokeUserKeysInOrganization(tx, by, m.UserID); err != nil {
			return err
		}
		if err := endDelegationsGivenBy(tx, by, m.UserID, displayName(u)+" left the organization", true); err != nil {
			return err
		}
		mine := func(l store.OneTimeLink) bool { return l.OrganizationID == by.OrganizationID }
		if err := deleteMatchingOrExpiredLinks(tx, m.UserID, mine); err != nil {
			return err
		}
		if err := requireActiveOwner(tx, by.OrganizationID); err != nil {
			return err
		}
		return appendAudit(tx, by, "member.removed", "member", m.ID, map[string]any{"email": u.Email})
	})
	return &api.None{}, err
}

// requireActiveOwner returns an error if an organization would be left without an active owner.
func requireActiveOwner(tx *store.Tx, org string) error {
	for m, err := range store.Memberships.By("organization").Scan(tx, store.Prefix(org)) {
		if err != nil {
			return err
		}
		if m.Role != api.RoleOwner || m.Status != statusActive {
			continue
		}
		u, err := store.Users.Get(tx, m.UserID)
		if err != nil || u.Status == statusActive {
			return err
		}
	}
	return api.Conflict("an organization needs at least one owner who can sign in; appoint another owner first")
}
