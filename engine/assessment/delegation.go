package assessment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

const statusActive = "active"

// CreateDelegation lets a member decide on the caller's behalf until a given time.
func (s *Service) CreateDelegation(ctx context.Context, by api.Caller, in *api.CreateDelegationInput) (*api.Delegation, error) {
	b := in.Body
	if !by.IsPerson() {
		return nil, api.Forbidden("only a signed-in person can delegate decisions; a key, agent or workflow can't")
	}
	for _, g := range b.Gates {
		if !slices.Contains(api.Gates, g) {
			return nil, api.Invalid("gates", "unknown gate %q; choose from %v", g, api.Gates)
		}
	}
	var out api.Delegation
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		if may, err := mayDecide(tx, by.OrganizationID, by.UserID); err != nil {
			return err
		} else if !may {
			return api.Forbidden("only an owner or admin can delegate decisions; delegated rights can't be passed on")
		}
		now := tx.Now()
		switch {
		case !b.ExpiresAt.After(now):
			return api.Invalid("expires_at", "the time is in the past; specify a future time")
		case b.ExpiresAt.After(now.AddDate(0, 0, api.MaxDelegationDays)):
			return api.Invalid("expires_at", "a delegation can last at most %d days", api.MaxDelegationDays)
		case b.DelegateID == by.UserID:
			return api.Invalid("delegate_id", "you can't delegate to yourself; choose another member")
		}
		delegate, err := activeMemberName(tx, by.OrganizationID, b.DelegateID)
		if err != nil {
			return err
		}
		if may, err := mayDecide(tx, by.OrganizationID, b.DelegateID); err != nil {
			return err
		} else if may {
			return api.Conflict("%s can already decide because of their own role", delegate)
		}
		where := "in every assessment"
		if b.AssessmentID != nil {
			a, err := getAssessment(tx, by, *b.AssessmentID)
			if err != nil {
				return err
			}
			if err := requireOpen(&a); err != nil {
				return err
			}
			where = "in " + a.Name
		}
		out = api.Delegation{
			TenantRecord: newTenantRecord(
				tx,
				by,
			),
			DelegatorID:   by.UserID,
			DelegatorName: by.Actor.Name,
			DelegateID:    b.DelegateID,
			DelegateName:  delegate,
			AssessmentID:  b.AssessmentID,
			Gates:         normalizeGates(b.Gates),
			Reason:        strings.TrimSpace(b.Reason),
			ExpiresAt:     b.ExpiresAt.UTC().Truncate(time.Second),
			Status:        api.DelegationActive,
		}
		return errors.Join(store.Delegations.Insert(tx, by.OrganizationID, &out), auditDelegation(tx, by, &out, "delegated",
			fmt.Sprintf("%s lets %s decide %s until %s", out.DelegatorName, delegate, where, out.ExpiresAt.Format(time.RFC3339))))
	})
	return &out, err
}

// normalizeGates returns the given gates in lifecycle order and without duplicates, or all gates if none
// is given.
func normalizeGates(named []api.Gate) []api.Gate {
	if len(named) == 0 {
		return slices.Clone(api.Gates)
	}
	return slices.DeleteFunc(slices.Clone(api.Gates), func(g api.Gate) bool { return !slices.Contains(named, g) })
}

func auditDelegation(tx *store.Tx, by api.Caller, d *api.Delegation, action, summary string) error {
	assessment := ""
	if d.AssessmentID != nil {
		assessment = *d.AssessmentID
	}
	return audit.RecordAndPublishEvent(tx, by, audit.Event{
		Type: "approval." + action, AssessmentID: assessment, Summary: summary, ResourceType: "delegation", ResourceID: d.ID,
		Data: map[string]any{"delegator_id": d.DelegatorID, "delegate_id": d.DelegateID, "gates": d.Gates, "expires_at": d.ExpiresAt},
	})
}

// activeMemberName returns the name of an active member of the organization, or an error if the user is
// not one.
func activeMemberName(tx *store.Tx, org, userID string) (string, error) {
	m, err := store.Memberships.Get(tx, userID, org)
	if err != nil {
		return "", store.ToNotFound(err, "member", userID)
	}
	u, err := store.Users.Get(tx, userID)
	if err != nil {
		return "", err
	}
	name := u.Name
	if name == "" {
		name = u.Email
	}
	if m.Status != statusActive || u.Status != statusActive {
		return "", api.Conflict("%s is %s and can't decide; choose an active member", name, m.Status)
	}
	return name, nil
}

// mayDecide reports whether the user's own role currently permits decisions at gates.
func mayDecide(tx *store.Tx, org, userID string) (bool, error) {
	m, err := store.Memberships.Get(tx, userID, org)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil || m.Status != statusActive || !m.Role.May(api.ApprovalDecide) {
		return false, err
	}
	u, err := store.Users.Get(tx, userID)
	return err == nil && u.Status == statusActive, err
}

// delegationStatus returns a delegation's current status. A delegation that starts in the future,
// because the clock was set back, is not active.
func delegationStatus(d *api.Delegation, now time.Time) api.DelegationStatus {
	if d.Status == api.DelegationActive && (!now.Before(d.ExpiresAt) || now.Before(d.CreatedAt)) {
		return api.DelegationExpired
	}
	return d.Status
}

func delegationCovers(d *api.Delegation, assessment string, gate api.Gate) bool {
	return (d.AssessmentID == nil || *d.AssessmentID == assessment) && slices.Contains(d.Gates, gate)
}

// requireDecisionRight returns the delegation under which the caller may decide, or nil if the
// caller's own role permits it. Without either, it returns an error. If the organization requires a
// second person to decide, neither the decider nor the delegator may have submitted or edited the
// content.
func requireDecisionRight(tx *store.Tx, by api.Caller, p *api.Approval, authorIDs []string) (*api.DecidedFor, error) {
	if err := enforceSecondPersonRule(tx, by.OrganizationID, p, authorIDs, by.UserID, by.Actor.ID); err != nil {
		return nil, err
	}
	hasOwnRight, err := mayDecide(tx, by.OrganizationID, by.UserID)
	if err != nil {
		return nil, err
	}
	if hasOwnRight {
		return nil, by.Require(api.ApprovalDecide)
	}
	refused := by.Require(api.ApprovalDecide)
	if refused == nil { // the role was revoked since the request was authorized
		refused = api.Forbidden("your role no longer includes the right to decide")
	}
	if !by.IsPerson() {
		return nil, refused
	}
	if _, err := activeMemberName(tx, by.OrganizationID, by.UserID); err != nil {
		return nil, err
	}
	for d, err := range store.Delegations.By("delegate").Scan(tx, by.OrganizationID, store.Prefix(by.UserID)) {
		if err != nil {
			return nil, err
		}
		switch {
		case d.Status == api.DelegationRevoked || d.Status == api.DelegationVoid:
			continue
		case delegationStatus(&d, tx.Now()) != api.DelegationActive:
			refused = api.Forbidden("the delegation from %s ended at %s", d.DelegatorName, d.ExpiresAt.Format(time.RFC3339))
			continue
		case !delegationCovers(&d, p.AssessmentID, p.Gate):
			refused = api.Forbidden("the delegation from %s doesn't cover this gate of this assessment", d.DelegatorName)
			continue
		}
		if may, err := mayDecide(tx, by.OrganizationID, d.DelegatorID); err != nil {
			return nil, err
		} else if !may {
			refused = api.Forbidden("%s, who delegated decisions to you, no longer has the right to decide", d.DelegatorName)
			continue
		}
		if err := enforceSecondPersonRule(tx, by.OrganizationID, p, authorIDs, d.DelegatorID, ""); err != nil {
			if !api.IsCode(err, api.CodeForbidden) {
				return nil, err
			}
			refused = api.Forbidden(
				"this organization requires a second person to decide; %s, on whose behalf you would decide, "+
					"submitted or edited this deliverable",
				d.DelegatorName,
			)
			continue
		}
		return &api.DecidedFor{DelegationID: d.ID, DelegatorID: d.DelegatorID, DelegatorName: d.DelegatorName}, nil
	}
	return nil, refused
}

// addDelegates sets, on each pending approval, the delegates who may decide on it.
func addDelegates(tx *store.Tx, org string, approvals []api.Approval) error {
	var activeDelegations []api.Delegation
	for d, err := range store.Delegations.Scan(tx, org) {
		if err != nil {
			return err
		}
		if delegationStatus(&d, tx.Now()) != api.DelegationActive {
			continue
		}
		may, err := mayDecide(tx, org, d.DelegatorID)
		if err != nil {
			return err
		}
		if _, err := activeMemberName(tx, org, d.DelegateID); may && err == nil {
			activeDelegations = append(activeDelegations, d)
		}
	}
	for n := range approvals {
		p := &approvals[n]
		p.Delegates = nil
		for _, d := range activeDelegations {
			if p.Status == api.ApprovalPending && delegationCovers(&d, p.AssessmentID, p.Gate) {
				p.Delegates = append(p.Delegates, api.Delegate{
					DecidedFor: api.DecidedFor{DelegationID: d.ID, DelegatorID: d.DelegatorID, DelegatorName: d.DelegatorName},
					UserID:     d.DelegateID, Name: d.DelegateName, Until: d.ExpiresAt,
				})
			}
		}
	}
	return nil
}

// ListDelegations lists delegations, newest first.
func (s *Service) ListDelegations(ctx context.Context, by api.Caller, in *api.DelegationsInput) (*api.List[api.Delegation], error) {
	now := s.clock()
	l, err := store.List(ctx, s.db, store.Delegations, by.OrganizationID, in.Paging, store.PageQuery[api.Delegation]{
		Reverse: true,
		Filter: store.FilterIf(api.HasFilters(in), func(d *api.Delegation) bool {
			return (in.Status == "" || delegationStatus(d, now) == in.Status) && (in.DelegateID == "" || d.DelegateID == in.DelegateID) &&
				(in.AssessmentID == "" || d.AssessmentID == nil || *d.AssessmentID == in.AssessmentID)
		}),
	})
	if err != nil {
		return nil, err
	}
	for n := range l.Data {
		l.Data[n].Status = delegationStatus(&l.Data[n], now)
	}
	return l, nil
}

func getDelegation(tx *store.Tx, by api.Caller, id string) (api.Delegation, error) {
	d, err := store.Delegations.Get(tx, by.OrganizationID, id)
	return d, store.ToNotFound(err, "delegation", id)
}

// GetDelegation returns a delegation.
func (s *Service) GetDelegation(ctx context.Context, by api.Caller, in *api.DelegationInput) (*api.Delegation, error) {
	var d api.Delegation
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		d, err = getDelegation(tx, by, in.DelegationID)
		d.Status = delegationStatus(&d, tx.Now())
		return err
	})
	return &d, err
}

// RevokeDelegation ends a delegation immediately; any owner or admin may do so. It is idempotent.
func (s *Service) RevokeDelegation(ctx context.Context, by api.Caller, in *api.DelegationInput) (*api.None, error) {
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		d, err := getDelegation(tx, by, in.DelegationID)
		if err != nil || delegationStatus(&d, tx.Now()) != api.DelegationActive {
			return err
		}
		now, why := tx.Now(), "revoked by "+by.Actor.Name
		d.Status, d.EndedAt, d.EndReason, d.UpdatedAt = api.DelegationRevoked, &now, &why, now
		return errors.Join(
			store.Delegations.Update(tx, by.OrganizationID, &d),
			auditDelegation(
				tx,
				by,
				&d,
				"delegation_revoked",
				fmt.Sprintf("%s revoked the delegation from %s to %s", by.Actor.Name, d.DelegatorName, d.DelegateName),
			),
		)
	})
	return &api.None{}, err
}
