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
	keep, err := filter(&in.AuditFilter)
	if err != nil {
		return nil, err
	}
	return store.List(ctx, s.db, store.Audit, by.OrganizationID, in.Paging,
		store.PageQuery[api.AuditEvent]{Reverse: true, Filter: keep})
}

// filter tells of a record whether it is among those that are wanted.
func filter(in *api.AuditFilter) (func(*api.AuditEvent) bool, error) {
	within, err := in.Holds()
	return func(e *api.AuditEvent) bool {
		return Kind(in.Action, e.Action) && By(in.Actor, e.Actor) && within(e.At) && is(in.ResourceType, e.ResourceType) && is(in.ResourceID, e.ResourceID) &&
			is(in.ActorID, e.Actor.ID) && is(in.Outcome, e.Outcome)
	}, err
}

// Refused writes to the chain of the caller's organization that an operation was denied,
// and why; outside of any organization nothing.
func (s *Service) Refused(ctx context.Context, by api.Caller, op *api.Operation, why string) error {
	return s.note(ctx, by, Entry{Action: op.ID, ResourceType: "operation", ResourceID: op.ID, Outcome: Denied, Changes: map[string]any{"reason": why}})
}

// Exported writes that a file was handed out.
func (s *Service) Exported(ctx context.Context, by api.Caller, op *api.Operation, f *api.File) error {
	return s.note(ctx, by, Entry{Action: op.ID, ResourceType: "export", ResourceID: f.Filename, Changes: map[string]any{"sha256": f.SHA256}})
}

func (s *Service) note(ctx context.Context, by api.Caller, e Entry) error {
	if by.OrganizationID == "" {
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return Append(tx, by, e) })
}

// Kind tells whether an event is of the kind that is wanted: "soa.approved", or
// "soa." for all that begin so. An empty one is all.
func Kind(want, have string) bool {
	return is(want, have) || strings.HasSuffix(want, ".") && strings.HasPrefix(have, want)
}

// By tells whether an actor has an id, or a name with a part, as wanted.
func By(want string, who api.Actor) bool {
	return is(want, who.ID) || strings.Contains(strings.ToLower(who.Name), strings.ToLower(want))
}

func is(want, have string) bool { return want == "" || want == have }
