package assessment

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// Standing is where an assessment stands, as a workflow needs to know it.
type Standing struct {
	State api.State
	// Gate is set where the next move waits for a person's decision that has not been made.
	Gate *api.Error
	// Pending is the approval that was asked for at that gate; empty where none is.
	Pending string
	// Returned says why the assessment came back to where it is drafted and has not
	// been submitted since; empty where it came here on its way forward.
	Returned string
	// SoA and SoAStatus are the newest Statement of Applicability; empty where there is none.
	SoA       string
	SoAStatus api.VersionStatus
}

// Standing tells where an assessment stands.
func (s *Service) Standing(ctx context.Context, by api.Caller, id string) (st Standing, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		st = Standing{}
		a, err := get(tx, by, id)
		if err != nil {
			return err
		}
		st.State = a.State
		v, ok, err := soa.newest(tx, by.OrganizationID, id)
		if err != nil {
			return err
		}
		if ok {
			st.SoA, st.SoAStatus = v.ID, v.Status
		}
		move, ok := a.State.Next()
		if !ok {
			return nil
		}
		if move.Gate != "" {
			return st.atGate(tx, by, &a, move.Gate)
		}
		st.Returned, err = returned(tx, &a)
		return err
	})
	return st, err
}

func (st *Standing) atGate(tx *store.Tx, by api.Caller, a *api.Assessment, gate api.Gate) error {
	err := gateOpen(tx, by, a, gate)
	if err == nil {
		return nil
	}
	if !api.IsCode(err, api.CodeApproval) {
		return err
	}
	st.Gate = api.AsError(err)
	p, found, err := pendingApproval(tx, a.OrganizationID, a.ID, gate)
	if found {
		st.Pending = p.ID
	}
	return err
}

// returned is why an assessment came back to its drafted state, where the last of its
// moves brought it there and its deliverable was not submitted since.
func returned(tx *store.Tx, a *api.Assessment) (string, error) {
	for e, err := range store.LifecycleEvents.Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return "", err
		}
		if e.EventType != eventRework && e.EventType != eventReopened {
			return "", nil
		}
		status, err := newestStatus(tx, a, gateBefore(a.State))
		if err != nil || status == api.VersionUnderReview || status == api.VersionApproved {
			return "", err
		}
		return e.Reason, nil
	}
	return "", nil
}

// gateBefore is the gate that a drafted state leads to; empty for other states.
func gateBefore(s api.State) api.Gate {
	for n, m := range api.Moves {
		if m.From == s && n+1 < len(api.Moves) {
			return api.Moves[n+1].Gate
		}
	}
	return ""
}

func newestStatus(tx *store.Tx, a *api.Assessment, gate api.Gate) (api.VersionStatus, error) {
	head, err := newestHead(tx, a, gate)
	if head == nil {
		return "", err
	}
	return head.Status, err
}

// newestHead is the newest version of a gate's deliverable; nil where there is none.
func newestHead(tx *store.Tx, a *api.Assessment, gate api.Gate) (*api.DeliverableVersion, error) {
	switch gate {
	case api.GateSoA:
		return headOf(tx, a, soa)
	case api.GateGapAnalysis:
		return headOf(tx, a, gap)
	case api.GateMaturity:
		return headOf(tx, a, maturity)
	case api.GatePOAM:
		return headOf(tx, a, poam)
	}
	return nil, nil
}

func headOf[V, I any](tx *store.Tx, a *api.Assessment, k kind[V, I]) (*api.DeliverableVersion, error) {
	v, ok, err := k.newest(tx, a.OrganizationID, a.ID)
	if !ok || err != nil {
		return nil, err
	}
	return k.version(&v), nil
}

// Situation says in one line what people can change of an assessment that lets a
// workflow go on: its state, and the newest version of each deliverable with its
// status. Edits within a draft leave it the same.
func Situation(tx *store.Tx, org, id string) (string, error) {
	a, err := store.Assessments.Get(tx, org, id)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(string(a.State))
	for _, gate := range api.Gates {
		head, err := newestHead(tx, &a, gate)
		if err != nil {
			return "", err
		}
		if head != nil {
			fmt.Fprintf(&b, " %s %s", head.ID, head.Status)
		}
	}
	return b.String(), nil
}

// Refresh drafts the next version of the Statement of Applicability or of the gap
// analysis where what it was made from has changed since, keeping what people
// decided; changed is false where it has not.
func (s *Service) Refresh(ctx context.Context, by api.Caller, id string, gate api.Gate) (changed bool, err error) {
	defer s.moving.lock(id)()
	a, err := s.read(ctx, by, id)
	if err != nil {
		return false, err
	}
	if gate == api.GateSoA {
		return refresh(ctx, s, by, &a, soa, s.soaInputs, s.draftSoA)
	}
	return refresh(ctx, s, by, &a, gap, s.afterSoA, s.draftGap)
}

func refresh[V, I any](ctx context.Context, s *Service, by api.Caller, a *api.Assessment, k kind[V, I], now inputs, make maker[I]) (bool, error) {
	from, err := now(ctx, by, a)
	if err != nil {
		return false, err
	}
	same, last := false, ""
	err = s.db.View(ctx, func(tx *store.Tx) error {
		v, ok, err := k.newest(tx, by.OrganizationID, a.ID)
		last = k.version(&v).ID
		same = ok && maps.Equal(k.version(&v).Inputs, from)
		return err
	})
	if err != nil || same {
		return false, err
	}
	_, err = writeDraft(ctx, s, by, a.ID, k, make, &last)
	return err == nil, err
}
