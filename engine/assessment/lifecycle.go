package assessment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// Transition moves an assessment to its next state, doing the work of the step
// where it has not been done. When the work fails, nothing moves.
func (s *Service) Transition(ctx context.Context, by api.Caller, in *api.TransitionInput) (*api.AssessmentStatus, error) {
	defer s.moving.lock(in.AssessmentID)()
	a, err := s.read(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	to := in.Body.TargetState
	if submitted, err := s.bySubmission(ctx, &a, to); err != nil {
		return nil, err
	} else if submitted {
		return s.Status(ctx, by, &api.AssessmentInput{AssessmentID: in.AssessmentID})
	}
	if err := api.CheckMove(a.State, to); err != nil {
		return nil, err
	}
	warnings, err := s.do(ctx, by, &a, to)
	if err != nil {
		return nil, err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if a, err = get(tx, by, in.AssessmentID); err != nil {
			return err
		}
		// Another process may have moved it, or content may have changed, while the work was done.
		if err := api.CheckMove(a.State, to); err != nil {
			return err
		}
		step, _ := a.State.Next()
		for _, gate := range gatesOf(step) {
			if err := gateOpen(tx, by, &a, gate); err != nil {
				return err
			}
		}
		return move(tx, by, &a, to, eventTransition, in.Body.Reason, warnings)
	})
	if err != nil {
		return nil, err
	}
	return s.Status(ctx, by, &api.AssessmentInput{AssessmentID: in.AssessmentID})
}

// bySubmission tells whether a move that is asked for was made already by submitting
// the deliverable: who submits and then moves has both.
func (s *Service) bySubmission(ctx context.Context, a *api.Assessment, to api.State) (made bool, err error) {
	if a.State != to {
		return false, nil
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		for e, err := range store.LifecycleEvents.Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
			made = err == nil && e.EventType == eventSubmitted
			return err
		}
		return nil
	})
	return made, err
}

// gatesOf are the gates that must be open for a step: its own, and for closing
// all four, since what was changed after its approval would be closed unapproved.
func gatesOf(step api.Move) []api.Gate {
	switch {
	case step.Gate != "":
		return []api.Gate{step.Gate}
	case step.To == api.StateClosed:
		return api.Gates
	}
	return nil
}

// The kinds of lifecycle event besides "created".
const (
	eventTransition = "transition"
	eventSubmitted  = "submitted" // the move into review that comes with a submission
	eventRework     = "rework"    // a rejection
	eventReopened   = "reopened"  // a change of what was under review
)

// move writes a change of state with its event, which also tells what is outdated of what is decided.
func move(tx *store.Tx, by api.Caller, a *api.Assessment, to api.State, kind, reason string, warnings []string) error {
	from := a.State
	step, _ := from.Next()
	after, _ := to.Next()
	if gates := slices.Concat(gatesOf(step), gatesOf(after)); len(gates) > 0 && to == step.To {
		more, err := doubts(tx, a, gates...)
		if err != nil {
			return err
		}
		warnings = slices.Concat(more, warnings)
	}
	a.State, a.UpdatedAt = to, tx.Now()
	a.Revision++
	if to == api.StateClosed {
		now := tx.Now()
		a.ClosedAt = &now
	}
	name := "assessment.state_changed"
	if to == api.StateClosed {
		name = "assessment.closed"
	}
	return errors.Join(store.Assessments.Put(tx, by.OrganizationID, a), event(tx, by, a, from, to, kind, reason, warnings),
		audit.Tell(tx, by, audit.Event{Type: name, AssessmentID: a.ID, Summary: fmt.Sprintf("moved from %s to %s", from, to),
			ResourceType: "assessment", ResourceID: a.ID, Data: map[string]any{"from_state": from, "to_state": to, "reason": reason}}))
}

// rework takes an assessment back to the drafted state of the step under review.
func rework(tx *store.Tx, by api.Caller, a *api.Assessment, to api.State, kind, reason string) error {
	return move(tx, by, a, to, kind, reason, nil)
}

// maxWarnings is how many an event lists; thousands of documents can each be worth one.
const maxWarnings = 50

func few(warnings []string) []string {
	if len(warnings) <= maxWarnings {
		return warnings
	}
	return append(slices.Clone(warnings[:maxWarnings]), fmt.Sprintf("and %d more like these", len(warnings)-maxWarnings))
}

func event(tx *store.Tx, by api.Caller, a *api.Assessment, from, to api.State, kind, reason string, warnings []string) error {
	var was *api.State
	if from != "" {
		was = &from
	}
	return store.LifecycleEvents.Insert(tx, by.OrganizationID, &api.LifecycleEvent{
		TenantRecord: tenantRecord(tx, by), AssessmentID: a.ID, FromState: was, ToState: to, EventType: kind, Actor: by.Actor,
		Reason: reason, Warnings: few(warnings), TraceID: by.TraceID,
	})
}

// Status tells where an assessment stands, and what the next move waits for.
func (s *Service) Status(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.AssessmentStatus, error) {
	out := &api.AssessmentStatus{AssessmentID: in.AssessmentID}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		a, err := get(tx, by, in.AssessmentID)
		if err != nil {
			return err
		}
		out.State, out.Progress = a.State, a.State.Progress()
		if out.Outdated, err = outdated(tx, &a); err != nil {
			return err
		}
		step, ok := a.State.Next()
		if !ok {
			return nil
		}
		out.NextStates = []api.State{step.To}
		return blockers(tx, by, &a, step, out)
	})
	return out, err
}

// blockers says in words what a move waits for.
func blockers(tx *store.Tx, by api.Caller, a *api.Assessment, move api.Move, out *api.AssessmentStatus) error {
	for _, gate := range gatesOf(move) {
		p, found, err := pendingApproval(tx, by.OrganizationID, a.ID, gate)
		if err != nil {
			return err
		}
		if found {
			out.PendingApprovalID = &p.ID
		}
		if err := gateOpen(tx, by, a, gate); err != nil {
			var e *api.Error
			if !errors.As(err, &e) {
				return err
			}
			out.BlockedBy, out.BlockedGates = append(out.BlockedBy, e.Message), append(out.BlockedGates, gate)
		}
	}
	for _, st := range []struct {
		state api.State
		why   func() (string, error)
	}{
		{api.StateDocumentsIngested, func() (string, error) {
			waiting := 0
			for d, err := range store.Documents.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(a.ID)) {
				if err != nil {
					return "", err
				}
				if d.Status == api.DocumentUploaded || d.Status == api.DocumentProcessing {
					waiting++
				}
			}
			if waiting > 0 {
				return fmt.Sprintf("%d documents are still being read", waiting), nil
			}
			return "", nil
		}},
		{api.StateSoAUnderReview, func() (string, error) { return blockedSubmission(tx, by, a, soa) }},
		{api.StateGapAnalysisUnderReview, func() (string, error) { return blockedSubmission(tx, by, a, gap) }},
		{api.StateMaturityUnderReview, func() (string, error) { return blockedSubmission(tx, by, a, maturity) }},
		{api.StatePOAMUnderReview, func() (string, error) { return blockedSubmission(tx, by, a, poam) }},
	} {
		if st.state != move.To {
			continue
		}
		why, err := st.why()
		if err != nil {
			return err
		}
		if why != "" {
			out.BlockedBy = append(out.BlockedBy, why)
		}
	}
	return nil
}

func blockedSubmission[V, I any](tx *store.Tx, by api.Caller, a *api.Assessment, k kind[V, I]) (string, error) {
	v, ok, err := k.newest(tx, by.OrganizationID, a.ID)
	if err != nil {
		return "", err
	}
	if ok && k.version(&v).Status == api.VersionRejected {
		return rejectedWords(k, &v), nil
	}
	return "", nil
}

func rejectedWords[V, I any](k kind[V, I], v *V) string {
	return fmt.Sprintf("version %d of the %s was rejected: change an item or regenerate it, then submit again", k.version(v).VersionNumber, k.gate.Title())
}

// ListEvents lists lifecycle events, oldest first.
func (s *Service) ListEvents(ctx context.Context, by api.Caller, in *api.LifecycleEventsInput) (*api.List[api.LifecycleEvent], error) {
	within, err := in.Holds()
	if err != nil {
		return nil, err
	}
	if _, err := s.read(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	return store.List(ctx, s.db, store.LifecycleEvents, by.OrganizationID, in.Paging, store.PageQuery[api.LifecycleEvent]{Prefix: store.K(in.AssessmentID),
		Filter: func(e *api.LifecycleEvent) bool {
			return (in.EventType == "" || e.EventType == in.EventType) && (in.ToState == "" || e.ToState == in.ToState) && within(e.CreatedAt)
		}})
}

// Timeline lists what happened, newest first.
func (s *Service) Timeline(ctx context.Context, by api.Caller, in *api.TimelineInput) (*api.List[api.TimelineEvent], error) {
	within, err := in.Holds()
	if err != nil {
		return nil, err
	}
	q := strings.ToLower(in.Q)
	if _, err := s.read(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	l, err := store.List(ctx, s.db, store.Timeline, by.OrganizationID, in.Paging, store.PageQuery[store.TimelineEvent]{Prefix: store.K(in.AssessmentID), Reverse: true,
		Filter: func(e *store.TimelineEvent) bool {
			return audit.Kind(in.Type, e.Type) && audit.By(in.Actor, e.Actor) && (in.ResourceType == "" || e.ResourceType == in.ResourceType) &&
				mentions(q, e.Summary) && within(e.At)
		}})
	if err != nil {
		return nil, err
	}
	return api.ListOf(l, func(e *store.TimelineEvent) api.TimelineEvent { return e.TimelineEvent }), nil
}

// do does the work of the step to a state, where it has not been done, and
// returns what a person should know of it.
func (s *Service) do(ctx context.Context, by api.Caller, a *api.Assessment, to api.State) (warnings []string, err error) {
	switch to {
	case api.StateDocumentsUploaded:
		return s.countDocuments(ctx, by, a)
	case api.StateDocumentsIngested:
		return s.ingested(ctx, by, a)
	case api.StatePreAnalysisReady:
		return s.lookThrough(ctx, by, a)
	case api.StateFrameworkSelected:
		if len(a.Frameworks) == 0 {
			return []string{"no framework is chosen: the whole SCF catalog is assessed"}, nil
		}
		return nil, nil
	case api.StateScopeDrafted:
		return nil, s.ensureScope(ctx, by, a)
	case api.StateSoADrafted:
		return nil, ensureDraft(ctx, s, by, a, soa, s.soaInputs, s.draftSoA)
	case api.StateSoAUnderReview:
		if err := ensureSubmitted(ctx, s, by, a, soa, submitSoA); err != nil {
			return nil, err
		}
		return s.underminedSoA(ctx, by, a)
	case api.StateSoAApproved:
		return s.underminedSoA(ctx, by, a)
	case api.StateEvidenceAnalysisReady:
		return s.newSince(ctx, by, a)
	case api.StateGapAnalysisDrafted:
		return nil, ensureDraft(ctx, s, by, a, gap, s.afterSoA, s.draftGap)
	case api.StateGapAnalysisUnderReview:
		return nil, ensureSubmitted(ctx, s, by, a, gap, nil)
	case api.StateMaturityAssessed:
		return nil, ensureDraft(ctx, s, by, a, maturity, s.afterSoA, s.draftMaturity)
	case api.StateMaturityUnderReview:
		return nil, ensureSubmitted(ctx, s, by, a, maturity, nil)
	case api.StatePOAMDrafted:
		return nil, ensureDraft(ctx, s, by, a, poam, s.afterGap, s.draftPOAM)
	case api.StatePOAMUnderReview:
		return nil, ensureSubmitted(ctx, s, by, a, poam, nil)
	case api.StateReportGenerated:
		return nil, s.reports(ctx, by, a.ID)
	}
	return nil, nil
}

func (s *Service) documents(ctx context.Context, by api.Caller, a *api.Assessment) (docs []api.Document, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		docs, err = documentsIn(tx, by.OrganizationID, a.ID)
		return err
	})
	return docs, err
}

func documentsIn(tx *store.Tx, org, assessment string) (docs []api.Document, err error) {
	for d, err := range store.Documents.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
		if err != nil {
			return nil, err
		}
		docs = append(docs, d.Document)
	}
	return docs, nil
}

func (s *Service) countDocuments(ctx context.Context, by api.Caller, a *api.Assessment) ([]string, error) {
	docs, err := s.documents(ctx, by, a)
	if err == nil && len(docs) == 0 {
		return []string{"there are no documents: nothing will be evidenced"}, nil
	}
	return nil, err
}

func (s *Service) ingested(ctx context.Context, by api.Caller, a *api.Assessment) ([]string, error) {
	if err := s.evidence.Wait(ctx, by, a.ID); err != nil {
		return nil, err
	}
	docs, err := s.documents(ctx, by, a)
	if err != nil {
		return nil, err
	}
	var warnings []string
	for _, d := range docs {
		if d.Status == api.DocumentFailed && d.Error != nil {
			warnings = append(warnings, fmt.Sprintf("%s could not be read: %s", d.Filename, *d.Error))
		}
	}
	return warnings, nil
}

// lookThrough tells what the evidence consists of, and readies search for the drafts.
func (s *Service) lookThrough(ctx context.Context, by api.Caller, a *api.Assessment) ([]string, error) {
	session, err := s.evidence.Open(ctx, by, a.ID)
	if err != nil {
		return nil, err
	}
	kinds := map[string]int{}
	var warnings []string
	for _, d := range session.Documents {
		if d.Status == api.DocumentIngested {
			kinds[d.Category]++
			if d.Foreign() {
				warnings = append(warnings, fmt.Sprintf("%s is written in %q; the built-in rules read English best", d.Filename, d.Language))
			}
		}
	}
	for _, need := range []string{"policy", "record"} {
		if kinds[need] == 0 {
			warnings = append(warnings, fmt.Sprintf("no document looks like a %s", need))
		}
	}
	slices.Sort(warnings)
	return warnings, nil
}

// newSince tells of documents that came after the approved SoA looked at the evidence.
func (s *Service) newSince(ctx context.Context, by api.Caller, a *api.Assessment) ([]string, error) {
	if err := s.evidence.Wait(ctx, by, a.ID); err != nil {
		return nil, err
	}
	docs, err := s.documents(ctx, by, a)
	if err != nil {
		return nil, err
	}
	var warnings []string
	err = s.db.View(ctx, func(tx *store.Tx) error {
		v, ok, err := soa.approved(tx, a)
		if err != nil || !ok {
			return err
		}
		for _, d := range docs {
			if d.CreatedAt.After(v.CreatedAt) {
				warnings = append(warnings, fmt.Sprintf("%s came after the Statement of Applicability was drafted; refresh its evidence to take it in", d.Filename))
			}
		}
		return nil
	})
	return warnings, err
}

// ensureDraft drafts a deliverable where there is none, and anew where what there is
// was drafted early, of something else than there is now. What a person has submitted
// or decided on stays.
func ensureDraft[V, I any](ctx context.Context, s *Service, by api.Caller, a *api.Assessment, k kind[V, I], now inputs, make maker[I]) error {
	have, last := false, ""
	from, err := now(ctx, by, a)
	if err != nil {
		return err
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		v, ok, err := k.newest(tx, by.OrganizationID, a.ID)
		last = k.version(&v).ID
		have = ok && (k.version(&v).Status != api.VersionDraft || maps.Equal(k.version(&v).Inputs, from))
		return err
	})
	if err != nil || have {
		return err
	}
	_, err = writeDraft(ctx, s, by, a.ID, k, make, &last)
	return err
}

// inputs names what a deliverable would be drafted from now, by ids and hashes.
type inputs func(context.Context, api.Caller, *api.Assessment) (map[string]string, error)

// maker makes a draft.
type maker[I any] func(context.Context, api.Caller, *api.Assessment) (draft[I], error)

// writeDraft makes a draft outside of a transaction and writes it as the next version: with
// after, only where that is the newest still. Else somebody has drafted meanwhile, as the
// process that took over from one that hung, and theirs stands.
func writeDraft[V, I any](ctx context.Context, s *Service, by api.Caller, assessment string, k kind[V, I], make maker[I], after *string) (*V, error) {
	a, err := s.read(ctx, by, assessment)
	if err != nil {
		return nil, err
	}
	if err := stillOpen(&a); err != nil {
		return nil, err
	}
	d, err := make(ctx, by, &a)
	if err != nil {
		return nil, err
	}
	old, err := before(ctx, s, &a, k, d.items)
	if err != nil {
		return nil, err
	}
	rules := d
	d = rules.with(&old)
	in := &s.memories.get(a.ID).keeps
	if d.ready, err = k.ready(ctx, d.items, k.kept(in, "")); err != nil {
		return nil, err
	}
	var v V
	var lines []*store.Written[I]
	gone := ""
	err = s.db.Update(ctx, func(tx *store.Tx) (err error) {
		lines, gone = nil, ""
		if a, err = get(tx, by, assessment); err != nil {
			return err
		}
		if err := stillOpen(&a); err != nil {
			return err
		}
		last, there, err := k.newest(tx, by.OrganizationID, assessment)
		if err != nil {
			return err
		}
		if after != nil && there && k.version(&last).ID != *after {
			v = last
			return nil
		}
		if !k.still(&old, &last) {
			// Somebody edited while the draft was made: their words are in what is there now.
			if old, err = k.formerOf(tx, s, &a, rules.items); err != nil {
				return err
			}
			d = rules.with(&old)
		}
		if there && d.again {
			if same, err := k.unchanged(k.version(&last), &d); err != nil || same {
				v = last
				return err
			}
		}
		if k.version(&last).Status != api.VersionApproved {
			gone = k.version(&last).ID // nothing builds on it any more
		}
		v, lines, err = k.write(tx, by, &a, d)
		return err
	})
	if err == nil && lines != nil {
		in.forget(gone)
		k.keep(in, k.version(&v).ID, lines)
	}
	return &v, err
}

// stillOpen refuses to change what is closed.
func stillOpen(a *api.Assessment) error {
	if a.State == api.StateClosed {
		return api.Conflict("the assessment is closed and does not change")
	}
	return nil
}
