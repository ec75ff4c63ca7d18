package audit

import (
	"context"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// Service answers the operations that read what happened.
type Service struct{ db *store.DB }

// New makes the service.
func New(db *store.DB) *Service { return &Service{db} }

// List is the chain of the caller's organization, newest first.
func (s *Service) List(ctx context.Context, by api.Caller, in *api.AuditInput) (*api.List[api.AuditEvent], error) {
	keep, err := newFilter(&in.AuditFilter)
	if err != nil {
		return nil, err
	}
	return store.List(ctx, s.db, store.Audit, by.OrganizationID, in.Paging,
		store.PageQuery[api.AuditEvent]{Reverse: true, Filter: keep})
}

// newFilter tells of a record whether it is among those that are wanted.
func newFilter(in *api.AuditFilter) (func(*api.AuditEvent) bool, error) {
	within, err := in.Matcher()
	return func(e *api.AuditEvent) bool {
		return MatchesAction(in.Action, e.Action) && MatchesActor(in.Actor, e.Actor) && within(e.At) && matchesOrAny(in.ResourceType, e.ResourceType) && matchesOrAny(in.ResourceID, e.ResourceID) &&
			matchesOrAny(in.ActorID, e.Actor.ID) &&
			matchesOrAny(in.Outcome, e.Outcome)
	}, err
}

// RecordDenied writes to the chain of the caller's organization that an operation was denied,
// and why; outside of any organization nothing.
func (s *Service) RecordDenied(ctx context.Context, by api.Caller, op *api.Operation, reason string) error {
	return s.appendEntry(
		ctx,
		by,
		Entry{Action: op.ID, ResourceType: "operation", ResourceID: op.ID, Outcome: Denied, Changes: map[string]any{"reason": reason}},
	)
}

// RecordExport writes that a file was handed out.
func (s *Service) RecordExport(ctx context.Context, by api.Caller, op *api.Operation, f *api.File) error {
	return s.appendEntry(
		ctx,
		by,
		Entry{Action: op.ID, ResourceType: "export", ResourceID: f.Filename, Changes: map[string]any{"sha256": f.SHA256}},
	)
}

func (s *Service) appendEntry(ctx context.Context, by api.Caller, e Entry) error {
	if by.OrganizationID == "" {
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return Append(tx, by, e) })
}

// MatchesAction reports whether an event is of the kind that is wanted: "soa.approved", or
// "soa." for all that begin so. An empty one is all.
func MatchesAction(want, have string) bool {
	return matchesOrAny(want, have) || strings.HasSuffix(want, ".") && strings.HasPrefix(have, want)
}

// MatchesActor reports whether an actor has an id, or a name with a part, as wanted.
func MatchesActor(want string, who api.Actor) bool {
	return matchesOrAny(want, who.ID) || strings.Contains(strings.ToLower(who.Name), strings.ToLower(want))
}

func matchesOrAny(want, have string) bool { return want == "" || want == have }
