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
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/internal/leangc"
	"github.com/scf-service/service/store"
)

// Transition moves an assessment to its next state and does the work that this requires. If the work
// fails, the state doesn't change.
func (s *Service) Transition(ctx context.Context, by api.Caller, in *api.TransitionInput) (*api.AssessmentStatus, error) {
	defer s.locks.lock(in.AssessmentID)()
	a, err := s.readAssessment(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	to := in.Body.TargetState
	if submitted, err := s.wasMovedBySubmission(ctx, &a, to); err != nil {
		return nil, err
	} else if submitted {
		return s.Status(ctx, by, &api.AssessmentInput{AssessmentID: in.AssessmentID})
	}
	if err := api.CheckMove(a.State, to); err != nil {
		return nil, err
	}
	warnings, err := s.performStep(ctx, by, &a, to, in.Body.InAdvance)
	if err != nil {
		return nil, err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if a, err = getAssessment(tx, by, in.AssessmentID); err != nil {
			return err
		}
		// Another process may have moved the assessment, or content may have changed, in the
		// meantime.
		if err := api.CheckMove(a.State, to); err != nil {
			return err
		}
		step, _ := a.State.NextMove()
		for _, gate := range requiredGates(step) {
			if err := deliverables[gate].requireCurrentContentApproved(tx, &a); err != nil {
				return err
			}
		}
		return changeState(tx, by, &a, to, eventTransition, in.Body.Reason, warnings)
	})
	if err != nil {
		return nil, err
	}
	return s.Status(ctx, by, &api.AssessmentInput{AssessmentID: in.AssessmentID})
}

// wasMovedBySubmission reports whether submitting the deliverable has already moved the assessment to
// the requested state.
func (s *Service) wasMovedBySubmission(ctx context.Context, a *api.Assessment, to api.State) (made bool, err error) {
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

// requiredGates returns the gates at which approval is required for a step. For most steps, that is
// the step's own gate; for closing, it is all four, so that content changed after its approval is
// noticed.
func requiredGates(step api.Move) []api.Gate {
	switch {
	case step.Gate != "":
		return []api.Gate{step.Gate}
	case step.To == api.StateClosed:
		return api.Gates
	}
	return nil
}

// Types of lifecycle events, except for "created".
const (
	eventTransition = "transition"
	eventSubmitted  = "submitted" // a submission moved the assessment to review
	eventRework     = "rework"    // a rejection returned it to its drafted state
	eventReopened   = "reopened"  // a change during review returned it to its drafted state
)

// changeState stores a new state and its lifecycle event, with warnings about decisions that are based
// on outdated inputs.
func changeState(tx *store.Tx, by api.Caller, a *api.Assessment, to api.State, eventType, reason string, warnings []string) error {
	from := a.State
	step, _ := from.NextMove()
	after, _ := to.NextMove()
	if gates := slices.Concat(requiredGates(step), requiredGates(after)); len(gates) > 0 && to == step.To {
		more, err := outdatedWarnings(tx, a, gates...)
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
	return errors.Join(
		store.Assessments.Put(tx, by.OrganizationID, a),
		recordLifecycleEvent(tx, by, a, from, to, eventType, reason, warnings),
		audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type: name, AssessmentID: a.ID, Summary: fmt.Sprintf("moved from %s to %s", from, to),
			ResourceType: "assessment", ResourceID: a.ID, Data: map[string]any{"from_state": from, "to_state": to, "reason": reason},
		}),
	)
}

// returnToDraft moves an assessment from review back to the drafted state.
func returnToDraft(tx *store.Tx, by api.Caller, a *api.Assessment, to api.State, eventType, reason string) error {
	return changeState(tx, by, a, to, eventType, reason, nil)
}

// maxWarnings is the maximum number of warnings listed in an event.
const maxWarnings = 50

func truncateWarnings(warnings []string) []string {
	if len(warnings) <= maxWarnings {
		return warnings
	}
	return append(slices.Clone(warnings[:maxWarnings]), fmt.Sprintf("and %d more warnings like these", len(warnings)-maxWarnings))
}

func recordLifecycleEvent(
	tx *store.Tx,
	by api.Caller,
	a *api.Assessment,
	from, to api.State,
	eventType, reason string,
	warnings []string,
) error {
	var fromState *api.State
	if from != "" {
		fromState = &from
	}
	return store.LifecycleEvents.Insert(tx, by.OrganizationID, &api.LifecycleEvent{
		TenantRecord: newTenantRecord(tx, by), AssessmentID: a.ID, FromState: fromState, ToState: to, EventType: eventType, Actor: by.Actor,
		Reason: reason, Warnings: truncateWarnings(warnings), TraceID: by.TraceID,
	})
}

// Status returns the state of an assessment and what blocks the move to the next one.
func (s *Service) Status(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.AssessmentStatus, error) {
	out := &api.AssessmentStatus{AssessmentID: in.AssessmentID}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		a, err := getAssessment(tx, by, in.AssessmentID)
		if err != nil {
			return err
		}
		out.State, out.Progress = a.State, a.State.ProgressPercent()
		if out.Outdated, err = listOutdated(tx, &a); err != nil {
			return err
		}
		if out.FormerOwners, err = s.owners.listFormerOwners(tx, &a); err != nil {
			return err
		}
		if err := addReadingStatus(tx, &a, out); err != nil {
			return err
		}
		step, ok := a.State.NextMove()
		if !ok {
			return nil
		}
		out.NextStates = []api.State{step.To}
		return addBlockers(tx, by, &a, step, out)
	})
	out.NextStep = out.DescribeNextStep()
	return out, err
}

// addReadingStatus adds to out the unread contents of the documents, and the number of outdated documents.
func addReadingStatus(tx *store.Tx, a *api.Assessment, out *api.AssessmentStatus) error {
	var notRead []api.NotRead
	for d, err := range store.Documents.By("assessment").Scan(tx, a.OrganizationID, store.Prefix(a.ID)) {
		if err != nil {
			return err
		}
		notRead = append(notRead, d.NotRead...)
		if evidence.ToAPIDocument(&d).Outdated && a.State != api.StateClosed {
			out.OutdatedDocuments++
		}
	}
	out.NotRead = api.SumNotRead(notRead)
	return nil
}

// addBlockers adds the reasons to out that block the move to the next state.
func addBlockers(tx *store.Tx, by api.Caller, a *api.Assessment, move api.Move, out *api.AssessmentStatus) error {
	for _, gate := range requiredGates(move) {
		if move.To == api.StateClosed && out.ReadyForReview == nil { // a version drafted after its gate was passed
			head, err := deliverables[gate].currentHeader(tx, a)
			if err != nil {
				return err
			}
			if head != nil && head.Status == api.VersionDraft {
				out.ReadyForReview = &gate
			}
		}
		p, found, err := pendingApproval(tx, by.OrganizationID, a.ID, gate)
		if err != nil {
			return err
		}
		if found && out.PendingApprovalID == nil {
			out.PendingApprovalID = &p.ID
		}
		if err := deliverables[gate].requireCurrentContentApproved(tx, a); err != nil {
			var e *api.Error
			if !errors.As(err, &e) {
				return err
			}
			out.BlockedBy, out.BlockedGates = append(out.BlockedBy, e.Message), append(out.BlockedGates, gate)
		}
	}
	if move.To == api.StateDocumentsIngested {
		waiting, err := store.Documents.By("unread").Count(tx, by.OrganizationID, a.ID)
		if err != nil {
			return err
		}
		switch waiting {
		case 0:
		case 1:
			out.BlockedBy = append(out.BlockedBy, "1 document is still being read")
		default:
			out.BlockedBy = append(out.BlockedBy, fmt.Sprintf("%d documents are still being read", waiting))
		}
	}
	if after, ok := move.To.NextMove(); ok && after.Gate != "" { // the move submits a version for review
		head, err := deliverables[after.Gate].currentHeader(tx, a)
		if err != nil {
			return err
		}
		switch {
		case head == nil:
		case head.Status == api.VersionRejected:
			out.BlockedBy = append(out.BlockedBy, rejectedMessage(head, after.Gate))
		case head.Status == api.VersionDraft:
			out.ReadyForReview = &after.Gate
		}
	}
	return nil
}

func rejectedMessage(head *api.DeliverableVersion, gate api.Gate) string {
	return fmt.Sprintf(
		"version %d of the %s was rejected: change an item or regenerate it, then submit again",
		head.VersionNumber,
		gate.Title(),
	)
}

// ListEvents lists lifecycle events, oldest first.
func (s *Service) ListEvents(ctx context.Context, by api.Caller, in *api.LifecycleEventsInput) (*api.List[api.LifecycleEvent], error) {
	inTimeRange, err := in.Matcher()
	if err != nil {
		return nil, err
	}
	if _, err := s.readAssessment(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	return store.List(ctx, s.db, store.LifecycleEvents, by.OrganizationID, in.Paging, store.PageQuery[api.LifecycleEvent]{
		Prefix: store.K(in.AssessmentID),
		Filter: store.FilterIf(api.HasFilters(in), func(e *api.LifecycleEvent) bool {
			return (in.EventType == "" || e.EventType == in.EventType) && (in.ToState == "" || e.ToState == in.ToState) &&
				inTimeRange(e.CreatedAt)
		}),
	})
}

// Timeline lists timeline entries, newest first.
func (s *Service) Timeline(ctx context.Context, by api.Caller, in *api.TimelineInput) (*api.List[api.TimelineEvent], error) {
	inTimeRange, err := in.Matcher()
	if err != nil {
		return nil, err
	}
	q := strings.ToLower(in.Q)
	if _, err := s.readAssessment(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	l, err := store.List(ctx, s.db, store.Timeline, by.OrganizationID, in.Paging, store.PageQuery[store.TimelineEvent]{
		Prefix: store.K(in.AssessmentID), Reverse: true,
		Filter: store.FilterIf(api.HasFilters(in), func(e *store.TimelineEvent) bool {
			return audit.MatchesAction(in.Type, e.Type) && audit.MatchesActor(in.Actor, e.Actor) &&
				(in.ResourceType == "" || e.ResourceType == in.ResourceType) &&
				matchesQuery(q, e.Summary) &&
				inTimeRange(e.At)
		}),
	})
	if err != nil {
		return nil, err
	}
	return api.MapList(l, func(e *store.TimelineEvent) api.TimelineEvent {
		e.CreatedAt, e.UpdatedAt = e.At, e.At // the same as At, so not stored
		return e.TimelineEvent
	}), nil
}

// performStep does the work that a move to a state requires, if any, and returns warnings.
// inAdvance marks a submission requested without reviewing the version.
func (s *Service) performStep(
	ctx context.Context,
	by api.Caller,
	a *api.Assessment,
	to api.State,
	inAdvance bool,
) (warnings []string, err error) {
	if gate, _, ok := to.ReviewGate(); ok {
		if err := deliverables[gate].ensureSubmitted(ctx, s, by, a, inAdvance); err != nil {
			return nil, err
		}
	}
	if step, _ := a.State.NextMove(); step.Gate != "" {
		if err := deliverables[step.Gate].resubmitEdited(ctx, s, by, a); err != nil {
			return nil, err
		}
	}
	switch to {
	case api.StateDocumentsUploaded:
		return s.warnIfNoDocuments(ctx, by, a)
	case api.StateDocumentsIngested:
		return s.waitForIngestion(ctx, by, a)
	case api.StatePreAnalysisReady:
		return s.evidenceWarnings(ctx, by, a)
	case api.StateFrameworkSelected:
		if len(a.Frameworks) == 0 {
			return []string{"no framework selected: the whole SCF catalog is assessed"}, nil
		}
		return nil, nil
	case api.StateScopeDrafted:
		return nil, s.ensureScopeTraits(ctx, by, a)
	case api.StateSoADrafted:
		return nil, ensureCurrentDraft(ctx, s, by, a, soaType, s.currentSoAInputs, s.draftSoA)
	case api.StateSoAUnderReview, api.StateSoAApproved:
		return s.staleSoASourceWarnings(ctx, by, a)
	case api.StateEvidenceAnalysisReady:
		return s.newDocumentWarnings(ctx, by, a)
	case api.StateGapAnalysisDrafted:
		return nil, ensureCurrentDraft(ctx, s, by, a, gapType, s.currentInputsFromSoA, s.draftGap)
	case api.StateMaturityAssessed:
		return nil, ensureCurrentDraft(ctx, s, by, a, maturityType, s.currentInputsFromSoA, s.draftMaturity)
	case api.StatePOAMDrafted:
		return nil, ensureCurrentDraft(ctx, s, by, a, poamType, s.currentPOAMInputs, s.draftPOAM)
	case api.StateReportGenerated:
		return nil, s.writeReports(ctx, by, a.ID)
	}
	return nil, nil
}

func (s *Service) listDocuments(ctx context.Context, by api.Caller, a *api.Assessment) (docs []api.Document, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		docs, err = documentsInTx(tx, by.OrganizationID, a.ID)
		return err
	})
	return docs, err
}

func documentsInTx(tx *store.Tx, org, assessment string) (docs []api.Document, err error) {
	for d, err := range store.Documents.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
		if err != nil {
			return nil, err
		}
		docs = append(docs, d.Document)
	}
	return docs, nil
}

func (s *Service) warnIfNoDocuments(ctx context.Context, by api.Caller, a *api.Assessment) ([]string, error) {
	docs, err := s.listDocuments(ctx, by, a)
	if err == nil && len(docs) == 0 {
		return []string{"there are no documents, so no control will have evidence"}, nil
	}
	return nil, err
}

// waitForIngestion waits until all documents have been processed and returns warnings about those
// that could not be read.
func (s *Service) waitForIngestion(ctx context.Context, by api.Caller, a *api.Assessment) ([]string, error) {
	if err := s.evidence.WaitForDocuments(ctx, by, a.ID); err != nil {
		return nil, err
	}
	docs, err := s.listDocuments(ctx, by, a)
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

// evidenceWarnings returns warnings about the evidence, such as documents in other languages.
func (s *Service) evidenceWarnings(ctx context.Context, by api.Caller, a *api.Assessment) ([]string, error) {
	documents, err := s.listDocuments(ctx, by, a)
	if err != nil {
		return nil, err
	}
	kinds := map[string]int{}
	var warnings []string
	for _, d := range documents {
		if d.Status == api.DocumentIngested {
			kinds[d.Category]++
			if unread := d.UnreadLanguages(); len(unread) > 0 {
				warnings = append(warnings, fmt.Sprintf("%s: not read: %s", d.Filename, api.DescribeNotRead(unread)))
			}
		}
	}
	for _, need := range []string{"policy", "record"} {
		if kinds[need] == 0 {
			warnings = append(warnings, fmt.Sprintf("no document appears to be a %s", need))
		}
	}
	slices.Sort(warnings)
	return warnings, nil
}

// newDocumentWarnings returns warnings about documents added after the approved Statement of
// Applicability was drafted.
func (s *Service) newDocumentWarnings(ctx context.Context, by api.Caller, a *api.Assessment) ([]string, error) {
	if err := s.evidence.WaitForDocuments(ctx, by, a.ID); err != nil {
		return nil, err
	}
	docs, err := s.listDocuments(ctx, by, a)
	if err != nil {
		return nil, err
	}
	var warnings []string
	err = s.db.View(ctx, func(tx *store.Tx) error {
		v, ok, err := soaType.approvedVersion(tx, a)
		if err != nil || !ok {
			return err
		}
		for _, d := range docs {
			if d.CreatedAt.After(v.CreatedAt) {
				warnings = append(
					warnings,
					fmt.Sprintf("%s was added after the Statement of Applicability was drafted; refresh the evidence to include it", d.Filename),
				)
			}
		}
		return nil
	})
	return warnings, err
}

// ensureCurrentDraft drafts a deliverable if there is no version yet, or if the newest is a draft whose
// inputs have changed since. Submitted, approved and rejected versions are left alone.
func ensureCurrentDraft[V, I any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	a *api.Assessment,
	k deliverableType[V, I],
	currentInputs inputsFunc,
	makeDraft draftFunc[I],
) error {
	have, last := false, ""
	wantedInputs, err := currentInputs(ctx, by, a)
	if err != nil {
		return err
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		v, ok, err := k.newestVersion(tx, by.OrganizationID, a.ID)
		last = k.version(&v).ID
		inputs := maps.Clone(k.version(&v).Inputs)
		delete(inputs, notReadInput)
		have = ok && (k.version(&v).Status != api.VersionDraft || maps.Equal(inputs, wantedInputs))
		return err
	})
	if err != nil || have {
		return err
	}
	_, err = writeDraft(ctx, s, by, a.ID, k, makeDraft, &last)
	return err
}

// inputsFunc returns the inputs, by ID and hash, that would be recorded if a deliverable were drafted
// now.
type inputsFunc func(context.Context, api.Caller, *api.Assessment) (map[string]string, error)

// draftFunc drafts a deliverable.
type draftFunc[I any] func(context.Context, api.Caller, *api.Assessment) (draft[I], error)

// writeDraft creates a draft outside of a transaction and then stores it as the next version. If
// onlyIfNewestID is set, the draft is stored only if that version is still the newest; if it isn't,
// another process has drafted in the meantime, and that version is used instead.
func writeDraft[V, I any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	assessment string,
	k deliverableType[V, I],
	makeDraft draftFunc[I],
	onlyIfNewestID *string,
) (*V, error) {
	a, err := s.readAssessment(ctx, by, assessment)
	if err != nil {
		return nil, err
	}
	if err := requireOpen(&a); err != nil {
		return nil, err
	}
	if !s.draftCaches.hasEvaluation(a.ID) {
		defer leangc.Begin()() // a first draft allocates several times what it keeps
	}
	d, err := makeDraft(ctx, by, &a)
	if err != nil {
		return nil, err
	}
	previous, err := loadPreviousInView(ctx, s, &a, k, d.items)
	if err != nil {
		return nil, err
	}
	rules := d
	d = rules.withEdits(&previous)
	cache := &s.draftCaches.getOrCreate(a.ID).versions
	if d.encoded, err = k.encodeItems(ctx, d.items, k.cachedItems(cache, "")); err != nil {
		return nil, err
	}
	var v V
	var lines []*store.EncodedRecord[I]
	supersededID := ""
	err = s.db.Update(ctx, func(tx *store.Tx) (err error) {
		lines, supersededID = nil, ""
		if a, err = getAssessment(tx, by, assessment); err != nil {
			return err
		}
		if err := requireOpen(&a); err != nil {
			return err
		}
		last, hasVersion, err := k.newestVersion(tx, by.OrganizationID, assessment)
		if err != nil {
			return err
		}
		if onlyIfNewestID != nil && hasVersion && k.version(&last).ID != *onlyIfNewestID {
			v = last
			return nil
		}
		if !k.isStillNewest(&previous, &last) {
			// A user has edited items while the draft was being created, so include those edits.
			if previous, err = k.loadPreviousWithOlderEdits(tx, s, &a, rules.items); err != nil {
				return err
			}
			d = rules.withEdits(&previous)
		}
		if hasVersion && d.skipIfUnchanged {
			current, _, err := k.currentVersion(tx, &a)
			if err != nil {
				return err
			}
			if same, err := k.isReviewedAndUnchanged(k.version(&current), &d); err != nil || same {
				v = current
				return err
			}
		}
		if k.version(&last).Status != api.VersionApproved {
			supersededID = k.version(&last).ID // no other version is based on it now
		}
		v, lines, err = k.insertNextVersionReturningItems(tx, by, &a, d)
		return err
	})
	if err == nil && lines != nil {
		cache.remove(supersededID)
		k.cacheItems(cache, k.version(&v).ID, lines)
	}
	return &v, err
}

// requireOpen returns a conflict error if the assessment is closed.
func requireOpen(a *api.Assessment) error {
	if a.State == api.StateClosed {
		return api.Conflict("the assessment is closed and can't be changed")
	}
	return nil
}
