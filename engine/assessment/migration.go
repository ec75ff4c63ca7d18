package assessment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/store"
)

// Migrate moves an assessment to another catalog version and to the newest of the organization's
// custom frameworks and controls. It drafts the next version of each existing deliverable and keeps
// older versions unchanged. Users' decisions are kept for controls that kept their code; the result
// lists what needs review.
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
	if err := m.checkAllowed(); err != nil {
		return nil, err
	}
	return m.result, s.executeMigration(ctx, by, m)
}

// migration is a planned move.
type migration struct {
	before      api.Assessment // as read
	after       api.Assessment // as it will be written
	from, to    *scf.Snapshot
	result      *api.Migration
	needsReview map[string]bool
}

func (s *Service) planMigration(ctx context.Context, by api.Caller, a *api.Assessment, body api.MigrateBody) (*migration, error) {
	from, err := s.catalogSnapshot(ctx, a)
	if err != nil {
		return nil, err
	}
	to, customRevision, err := s.catalog.LatestSnapshot(ctx, by.OrganizationID, body.To)
	if err != nil {
		return nil, err
	}
	m := &migration{before: *a, after: *a, from: from, to: to, needsReview: map[string]bool{}}
	m.result = &api.Migration{AssessmentID: a.ID, From: catalogPoint(from, a.CustomRevision), To: catalogPoint(to, customRevision)}
	if m.result.From == m.result.To {
		return nil, api.Conflict(
			"the assessment already uses catalog version %s and your current custom frameworks and controls",
			m.result.To.Label,
		)
	}
	if err := m.mapFrameworks(body.DropFrameworks); err != nil {
		return nil, err
	}
	m.after.SCFVersionID, m.after.CustomRevision = to.Version().ID, customRevision
	decided, err := s.decidedControls(ctx, by, a)
	if err != nil {
		return nil, err
	}
	return m, m.compareControls(decided)
}

func catalogPoint(snap *scf.Snapshot, customRevision int) api.CatalogPoint {
	v := snap.Version()
	return api.CatalogPoint{VersionID: v.ID, Label: v.Label, CustomRevision: customRevision}
}

// mapFrameworks finds the assessment's frameworks in the other catalog by their codes.
func (m *migration) mapFrameworks(dropped []string) error {
	for _, code := range dropped {
		if !slices.Contains(m.before.Frameworks, code) {
			return api.Invalid(
				"drop_frameworks",
				"the assessment has no framework %q; it has %s",
				code,
				strings.Join(m.before.Frameworks, ", "),
			)
		}
	}
	var refs []string
	for n, code := range m.before.Frameworks {
		f := api.MigratedFramework{Code: code, Status: "kept"}
		custom := false
		if old, err := m.from.Framework(m.before.FrameworkIDs[n]); err == nil {
			custom = old.IsCustom
		}
		found, err := m.findFramework(code, custom)
		switch {
		case slices.Contains(dropped, code):
			f.Status = "dropped"
		case err != nil:
			why := err.Error()
			f.Status, f.Message = "gone", &why
		default:
			f.ToCode = &found.Code
			if found.Code != code {
				f.Status = "renamed"
			}
			refs = append(refs, found.ID)
		}
		m.result.Frameworks = append(m.result.Frameworks, f)
	}
	var err error
	m.after.FrameworkIDs, m.after.Frameworks, err = resolveFrameworks(m.to, refs)
	return err
}

// findFramework looks up a framework by code. A custom framework stays custom, even if a release
// has the same code.
func (m *migration) findFramework(code string, custom bool) (api.Framework, error) {
	f, err := m.to.Framework(code)
	if custom && (err != nil || !f.IsCustom) {
		if f, err := m.to.Framework(code + "-custom"); err == nil && f.IsCustom {
			return f, nil
		}
		return f, &scf.NotFoundError{Kind: "framework", Ref: code}
	}
	return f, err
}

// checkAllowed returns an error if a framework would be dropped without the user's consent.
func (m *migration) checkAllowed() error {
	for _, f := range m.result.Frameworks {
		if f.Status == "gone" {
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

// decidedControls returns the controls on which users set something in the newest versions.
func (s *Service) decidedControls(ctx context.Context, by api.Caller, a *api.Assessment) (map[string]bool, error) {
	out := map[string]bool{}
	return out, s.db.View(ctx, func(tx *store.Tx) error {
		return errors.Join(
			addEditedControls(tx, a, soa, out),
			addEditedControls(tx, a, gap, out),
			addEditedControls(tx, a, maturity, out),
			addEditedControls(tx, a, poam, out),
		)
	})
}

func addEditedControls[V, I any](tx *store.Tx, a *api.Assessment, k deliverableType[V, I], out map[string]bool) error {
	_, items, err := newestVersionWithItems(tx, a.OrganizationID, a.ID, k)
	for n := range items {
		if it := k.item(&items[n]); len(it.EditedFields) > 0 || it.EditedBy != nil {
			out[it.ControlCode] = true
		}
	}
	return err
}

// compareControls lists the changes in the controls of the assessment.
func (m *migration) compareControls(decided map[string]bool) error {
	before, codesBefore, err := frameworkControls(m.from, &m.before)
	if err != nil {
		return err
	}
	after, codesAfter, err := frameworkControls(m.to, &m.after)
	if err != nil {
		return err
	}
	m.result.ControlsBefore, m.result.ControlsAfter = len(before), len(after)
	changed := map[string]api.ControlChange{}
	for _, c := range scf.Diff(m.from, m.to).Changed {
		changed[c.Code] = c
	}
	here := map[string]bool{}
	for _, c := range before {
		here[c.Code] = true
	}
	remains := map[string]bool{}
	for _, c := range after {
		remains[c.Code] = true
		r := api.MigrationReview{ControlCode: c.Code, Title: c.Title, Decided: decided[c.Code]}
		if !here[c.Code] {
			r.Reasons, r.Gained = []string{api.ReviewNew}, codesAfter[c.Code]
		} else {
			r.Reasons = reviewReasons(changed[c.Code])
			if r.Gained, r.Lost = m.diffRequirements(codesBefore[c.Code], codesAfter[c.Code]); len(r.Gained)+len(r.Lost) > 0 {
				r.Reasons = append(r.Reasons, api.ReviewRequirements)
			}
		}
		if len(r.Reasons) == 0 {
			m.result.ControlsUnchanged++
			continue
		}
		m.result.Review = append(m.result.Review, r)
		m.needsReview[c.Code] = true
	}
	for _, c := range before {
		if remains[c.Code] {
			continue
		}
		why := api.ReviewGone
		if _, err := m.to.Control(c.Code); err == nil {
			why = api.ReviewUnmapped
		}
		m.result.Review = append(
			m.result.Review,
			api.MigrationReview{
				ControlCode: c.Code,
				Title:       c.Title,
				Reasons:     []string{why},
				Lost:        codesBefore[c.Code],
				Decided:     decided[c.Code],
			},
		)
	}
	slices.SortFunc(m.result.Review, func(a, b api.MigrationReview) int { return scf.CompareNatural(a.ControlCode, b.ControlCode) })
	for code := range decided {
		if remains[code] {
			m.result.DecisionsKept = append(m.result.DecisionsKept, code)
		} else {
			m.result.DecisionsLeft = append(m.result.DecisionsLeft, code)
		}
	}
	slices.SortFunc(m.result.DecisionsKept, scf.CompareNatural)
	slices.SortFunc(m.result.DecisionsLeft, scf.CompareNatural)
	return nil
}

func reviewReasons(c api.ControlChange) (out []string) {
	for _, r := range []struct {
		is   bool
		name string
	}{
		{c.Renamed, api.ReviewRenamed},
		{c.Reworded, api.ReviewReworded},
		{c.Reweighted, api.ReviewReweighted},
		{c.Deprecated, api.ReviewDeprecated},
	} {
		if r.is {
			out = append(out, r.name)
		}
	}
	return out
}

// diffRequirements returns the requirement codes a control gained and lost, under the current
// framework names. Spelling differences don't count.
func (m *migration) diffRequirements(was, is api.RequirementCodes) (gained, lost api.RequirementCodes) {
	renamedTo := map[string]string{}
	for _, f := range m.result.Frameworks {
		if f.ToCode != nil {
			renamedTo[f.Code] = *f.ToCode
		}
	}
	before := map[string][]string{}
	for f, codes := range was {
		if now, ok := renamedTo[f]; ok {
			f = now
		}
		before[f] = append(before[f], codes...)
	}
	return missingCodes(is, before), missingCodes(before, is)
}

// missingCodes returns the codes of a that b lacks.
func missingCodes(a, b map[string][]string) api.RequirementCodes {
	out := api.RequirementCodes{}
	for f, codes := range a {
		has := map[string]bool{}
		for _, c := range b[f] {
			has[scf.NormalizeCode(c)] = true
		}
		for _, c := range codes {
			if !has[scf.NormalizeCode(c)] {
				out[f] = append(out[f], c)
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// recordMigration records the move in timeline, events and audit trail.
func recordMigration(tx *store.Tx, by api.Caller, m *migration) error {
	what := fmt.Sprintf("moved from catalog %s to %s", m.result.From.Label, m.result.To.Label)
	if m.result.From.VersionID == m.result.To.VersionID {
		what = fmt.Sprintf("updated to your current custom frameworks and controls (revision %d)", m.result.To.CustomRevision)
	}
	warnings := []string{
		fmt.Sprintf(
			"%d controls to review, %d decisions kept, %d dropped",
			len(m.result.Review),
			len(m.result.DecisionsKept),
			len(m.result.DecisionsLeft),
		),
	}
	return errors.Join(recordLifecycleEvent(tx, by, &m.after, m.after.State, m.after.State, "migrated", what, warnings),
		audit.PublishEvent(tx, by, audit.Event{
			Type: "assessment.migrated", AssessmentID: m.after.ID, Summary: what, ResourceType: "assessment", ResourceID: m.after.ID,
			Data: map[string]any{
				"from": m.result.From, "to": m.result.To, "review": len(m.result.Review), "decisions_kept": len(m.result.DecisionsKept),
				"decisions_left": m.result.DecisionsLeft, "frameworks": m.after.Frameworks,
			},
		}))
}
