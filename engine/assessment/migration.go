package assessment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// Migrate moves an assessment to another catalog version and to the newest revision of the
// organization's custom frameworks and controls. It drafts the next version of each existing deliverable
// and leaves older versions unchanged. Users' decisions are preserved for controls that have the same
// code in both versions; the result lists what needs review.
func (s *Service) Migrate(ctx context.Context, by api.Caller, in *api.MigrateInput) (*api.Migration, error) {
	defer s.locks.lock(in.AssessmentID)()
	a, err := s.readAssessment(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	if err := requireOpen(&a); err != nil {
		return nil, err
	}
	m, err := s.planMigration(ctx, by, &a, in.Body)
	if err != nil {
		return nil, err
	}
	m.result.DryRun = in.Body.DryRun
	if in.Body.DryRun {
		return m.result, nil
	}
	if err := m.checkNoFrameworkLost(); err != nil {
		return nil, err
	}
	return m.result, s.executeMigration(ctx, by, m)
}

// migration is a planned move to another catalog.
type migration struct {
	before   api.Assessment // as read
	after    api.Assessment // as it will be written
	from, to *scf.Snapshot
	result   *api.Migration
}

func (s *Service) planMigration(ctx context.Context, by api.Caller, a *api.Assessment, body api.MigrateBody) (*migration, error) {
	from, err := s.catalogSnapshot(ctx, a)
	if err != nil {
		return nil, err
	}
	to, customRevision, err := s.catalog.SnapshotWithLatestCustom(ctx, by.OrganizationID, body.To)
	if err != nil {
		return nil, err
	}
	m := &migration{before: *a, after: *a, from: from, to: to}
	m.result = &api.Migration{AssessmentID: a.ID, From: newCatalogPoint(from, a.CustomRevision), To: newCatalogPoint(to, customRevision)}
	if m.result.From == m.result.To {
		return nil, api.Conflict(
			"the assessment already uses catalog version %s and your current custom frameworks and controls",
			m.result.To.Label,
		)
	}
	for _, code := range body.DropFrameworks {
		if !slices.Contains(a.Frameworks, code) {
			return nil, api.Invalid(
				"drop_frameworks",
				"the assessment has no framework %q; it has %s",
				code,
				strings.Join(a.Frameworks, ", "),
			)
		}
	}
	var refs []string
	m.result.Frameworks, refs = merge.MatchFrameworks(from, to, a, body.DropFrameworks)
	if m.after.FrameworkIDs, m.after.Frameworks, err = resolveFrameworks(to, refs); err != nil {
		return nil, err
	}
	m.after.SCFVersionID, m.after.CustomRevision = to.Version().ID, customRevision
	decided, err := s.controlsWithUserEdits(ctx, by, a)
	if err != nil {
		return nil, err
	}
	before, after := merge.Catalog{Snapshot: from}, merge.Catalog{Snapshot: to}
	if before.Controls, before.Codes, err = frameworkControls(from, &m.before); err != nil {
		return nil, err
	}
	if after.Controls, after.Codes, err = frameworkControls(to, &m.after); err != nil {
		return nil, err
	}
	merge.CompareCatalogs(m.result, &before, &after, decided)
	return m, nil
}

func newCatalogPoint(snap *scf.Snapshot, customRevision int) api.CatalogPoint {
	v := snap.Version()
	return api.CatalogPoint{VersionID: v.ID, Label: v.Label, CustomRevision: customRevision}
}

// checkNoFrameworkLost returns an error if the other catalog lacks a framework and the user hasn't
// agreed to drop it, or if no framework would be left.
func (m *migration) checkNoFrameworkLost() error {
	for _, f := range m.result.Frameworks {
		if f.Status == "missing" {
			return api.Invalid(
				"drop_frameworks",
				"the framework %s is not in catalog version %s (%s); drop it with --drop-framework %s, or keep the current version",
				f.Code,
				m.result.To.Label,
				*f.Message,
				f.Code,
			)
		}
	}
	if len(m.before.Frameworks) > 0 && len(m.after.Frameworks) == 0 {
		return api.Invalid(
			"drop_frameworks",
			"no framework would be left, so the whole catalog would be assessed; create a new assessment for that",
		)
	}
	return nil
}

// controlsWithUserEdits returns the codes of the controls whose items users edited in the newest
// versions.
func (s *Service) controlsWithUserEdits(ctx context.Context, by api.Caller, a *api.Assessment) (map[string]bool, error) {
	out := map[string]bool{}
	return out, s.db.View(ctx, func(tx *store.Tx) error {
		for _, gate := range api.Gates {
			if err := deliverables[gate].collectEditedControls(tx, a, out); err != nil {
				return err
			}
		}
		return nil
	})
}

func (k deliverableType[V, I]) collectEditedControls(tx *store.Tx, a *api.Assessment, controls map[string]bool) error {
	_, items, err := k.readNewest(tx, a.OrganizationID, a.ID)
	for n := range items {
		if it := k.item(&items[n]); len(it.EditedFields) > 0 || it.EditedBy != nil {
			controls[it.ControlCode] = true
		}
	}
	return err
}

// recordMigration records the migration in the timeline, the lifecycle events and the audit trail.
func recordMigration(tx *store.Tx, by api.Caller, m *migration) error {
	what := fmt.Sprintf("moved from catalog %s to %s", m.result.From.Label, m.result.To.Label)
	if m.result.From.VersionID == m.result.To.VersionID {
		what = fmt.Sprintf("updated to your current custom frameworks and controls (revision %d)", m.result.To.CustomRevision)
	}
	warnings := []string{
		fmt.Sprintf(
			"%s to review, %s kept, %d dropped",
			prose.Count(len(m.result.Review), "control", "controls"),
			prose.Count(len(m.result.DecisionsKept), "decision", "decisions"),
			len(m.result.DecisionsDropped),
		),
	}
	return errors.Join(recordLifecycleEvent(tx, by, &m.after, m.after.State, m.after.State, "migrated", what, warnings),
		audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type: "assessment.migrated", AssessmentID: m.after.ID, Summary: what, ResourceType: "assessment", ResourceID: m.after.ID,
			Data: map[string]any{
				"from": m.result.From, "to": m.result.To, "review": len(m.result.Review), "decisions_kept": len(m.result.DecisionsKept),
				"decisions_dropped": m.result.DecisionsDropped, "frameworks": m.after.Frameworks,
			},
		}))
}
