package audit

import (
	"context"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// Service implements the operations that read the audit trail.
type Service struct{ db *store.DB }

// New returns a Service.
func New(db *store.DB) *Service { return &Service{db} }

// List lists the audit chain of the caller's organization, newest first.
func (s *Service) List(ctx context.Context, by api.Caller, in *api.AuditInput) (*api.List[api.AuditEvent], error) {
	keep, err := newFilter(&in.AuditFilter)
	if err != nil {
		return nil, err
	}
	return store.List(ctx, s.db, store.Audit, by.OrganizationID, in.Paging,
		store.PageQuery[api.AuditEvent]{Reverse: true, Filter: store.FilterIf(api.HasFilters(in), keep)})
}

// newFilter returns a function that reports whether a record matches the filter.
func newFilter(in *api.AuditFilter) (func(*api.AuditEvent) bool, error) {
	within, err := in.Matcher()
	return func(e *api.AuditEvent) bool {
		return MatchesAction(in.Action, e.Action) && MatchesActor(in.Actor, e.Actor) && within(e.At) &&
			matchesOrAny(in.ResourceType, e.ResourceType) && matchesOrAny(in.ResourceID, e.ResourceID) &&
			matchesOrAny(in.ActorID, e.Actor.ID) &&
			matchesOrAny(in.Outcome, e.Outcome)
	}, err
}

// RecordDenied records a denied operation and the reason in the audit chain of the caller's
// organization. It does nothing if the caller has no organization.
func (s *Service) RecordDenied(ctx context.Context, by api.Caller, op *api.Operation, reason string) error {
	return s.appendEntry(
		ctx,
		by,
		Entry{Action: op.ID, ResourceType: "operation", ResourceID: op.ID, Outcome: Denied, Changes: map[string]any{"reason": reason}},
	)
}

// RecordExport records the download of a file.
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

// MatchesAction reports whether an action matches want: "soa.approved" matches exactly, "soa." matches every action
// with that prefix. An empty want matches everything.
func MatchesAction(want, action string) bool {
	return matchesOrAny(want, action) || strings.HasSuffix(want, ".") && strings.HasPrefix(action, want)
}

// MatchesActor reports whether an actor's ID or part of its name matches want.
func MatchesActor(want string, who api.Actor) bool {
	return matchesOrAny(want, who.ID) || strings.Contains(strings.ToLower(who.Name), strings.ToLower(want))
}

func matchesOrAny(want, have string) bool { return want == "" || want == have }
