package audit

import (
	"context"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// Service answers the operations that read what happened.
type Service struct{ db *store.DB }

// New makes the service.
func New(db *store.DB) *Service { return &Service{db} }

// List is the chain of the caller's organization, newest first.
func (s *Service) List(ctx context.Context, by api.Caller, in *api.AuditInput) (*api.List[api.AuditEvent], error) {
	keep := func(e *api.AuditEvent) bool {
		return is(in.Action, e.Action) && is(in.ResourceType, e.ResourceType) && is(in.ResourceID, e.ResourceID) &&
			is(in.ActorID, e.Actor.ID) && is(in.Outcome, e.Outcome)
	}
	return store.List(ctx, s.db, store.Audit, by.OrganizationID, in.Paging,
		store.PageQuery[api.AuditEvent]{Reverse: true, Filter: keep})
}

func is(want, have string) bool { return want == "" || want == have }
