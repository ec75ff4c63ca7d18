package assessment

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// Progress is what a workflow needs to know about an assessment's state.
type Progress struct {
	State api.State
	// GateError is set if the next transition is waiting for a decision.
	GateError *api.Error
	// PendingApprovalID is the approval pending at that gate, if any.
	PendingApprovalID string
	// ReturnReason is why the assessment was returned to its drafted state; empty if it wasn't, or
	// if it has been resubmitted.
	ReturnReason string
	// ReadyForReview is the gate of the draft that the next transition submits, or "" if it doesn't submit any.
	ReadyForReview api.Gate
	// SoAVersionID and SoAStatus describe the current Statement of Applicability; empty if there is
	// none.
	SoAVersionID string
	SoAStatus    api.VersionStatus
}

// Progress returns what a workflow needs to know about an assessment's state.
func (s *Service) Progress(ctx context.Context, by api.Caller, id string) (st Progress, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		st = Progress{}
		a, err := getAssessment(tx, by, id)
		if err != nil {
			return err
		}
		st.State = a.State
		v, ok, err := soaType.currentVersion(tx, &a)
		if err != nil {
			return err
		}
		if ok {
			st.SoAVersionID, st.SoAStatus = v.ID, v.Status
		}
		move, ok := a.State.NextMove()
		if !ok {
			return nil
		}
		if move.Gate != "" {
			return st.fillGateError(tx, by, &a, move.Gate)
		}
		if st.ReturnReason, err = unresolvedReturnReason(tx, &a); err != nil {
			return err
		}
		if gate := gateAfterDraft(a.State); gate != "" {
			head, err := deliverables[gate].currentHeader(tx, &a)
			if err == nil && head != nil && head.Status == api.VersionDraft {
				st.ReadyForReview = gate
			}
			return err
		}
		return nil
	})
	return st, err
}

// fillGateError sets GateError to the reason why the gate blocks the next transition, if there is
// one, and the ID of the pending approval.
func (st *Progress) fillGateError(tx *store.Tx, by api.Caller, a *api.Assessment, gate api.Gate) error {
	err := deliverables[gate].requireCurrentContentApproved(tx, a)
	if err == nil {
		return nil
	}
	if !api.IsCode(err, api.CodeApproval) {
		return err
	}
	st.GateError = api.AsError(err)
	p, found, err := pendingApproval(tx, a.OrganizationID, a.ID, gate)
	if found {
		st.PendingApprovalID = p.ID
	}
	return err
}

// unresolvedReturnReason returns why the last transition returned the assessment to its drafted
// state. It returns "" if it did not, or if the deliverable has been resubmitted since.
func unresolvedReturnReason(tx *store.Tx, a *api.Assessment) (string, error) {
	for e, err := range store.LifecycleEvents.Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return "", err
		}
		if e.EventType != eventRework && e.EventType != eventReopened {
			return "", nil
		}
		if gate := gateAfterDraft(a.State); gate != "" {
			head, err := deliverables[gate].currentHeader(tx, a)
			if err != nil || head != nil && (head.Status == api.VersionUnderReview || head.Status == api.VersionApproved) {
				return "", err
			}
		}
		return e.Reason, nil
	}
	return "", nil
}

// gateAfterDraft returns the gate at which the deliverable of a drafted state is approved, or "" for
// other states.
func gateAfterDraft(s api.State) api.Gate {
	for n, m := range api.Moves {
		if m.From == s && n+1 < len(api.Moves) {
			return api.Moves[n+1].Gate
		}
	}
	return ""
}

// StateAndVersionsSummary returns a line that changes whenever a waiting workflow may be able to continue. It
// contains the assessment's state, and the newest version of each deliverable with its status. Edits of a draft don't
// change it.
func StateAndVersionsSummary(tx *store.Tx, org, id string) (string, error) {
	a, err := store.Assessments.Get(tx, org, id)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(string(a.State))
	for _, gate := range api.Gates {
		head, err := deliverables[gate].newestHeader(tx, org, id)
		if err != nil {
			return "", err
		}
		if head != nil {
			fmt.Fprintf(&b, " %s %s", head.ID, head.Status)
		}
	}
	return b.String(), nil
}

// RedraftIfInputsChanged drafts the next version of the Statement of Applicability or the gap
// analysis if its inputs have changed. Users' decisions are preserved. The result reports whether a
// version was drafted.
func (s *Service) RedraftIfInputsChanged(ctx context.Context, by api.Caller, id string, gate api.Gate) (redrafted bool, err error) {
	defer s.locks.lock(id)()
	a, err := s.readAssessment(ctx, by, id)
	if err != nil {
		return false, err
	}
	if gate == api.GateSoA {
		return redraftIfInputsChanged(ctx, s, by, &a, soaType, s.currentSoAInputs, s.draftSoA)
	}
	return redraftIfInputsChanged(ctx, s, by, &a, gapType, s.currentInputsFromSoA, s.draftGap)
}

func redraftIfInputsChanged[V, I any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	a *api.Assessment,
	k deliverableType[V, I],
	currentInputs inputsFunc,
	makeDraft draftFunc[I],
) (redrafted bool, _ error) {
	wantedInputs, err := currentInputs(ctx, by, a)
	if err != nil {
		return false, err
	}
	same, last := false, ""
	err = s.db.View(ctx, func(tx *store.Tx) error {
		v, ok, err := k.newestVersion(tx, by.OrganizationID, a.ID)
		last = k.version(&v).ID
		same = ok && maps.Equal(k.version(&v).Inputs, wantedInputs)
		return err
	})
	if err != nil || same {
		return false, err
	}
	_, err = writeDraft(ctx, s, by, a.ID, k, makeDraft, &last)
	return err == nil, err
}
