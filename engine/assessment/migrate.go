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

// Migrate moves an assessment to another catalog version, and to the newest of the
// organization's own frameworks and controls. For each deliverable there is it drafts
// the next version; those before stay as they were. What people decided is kept where
// the control kept its code; the answer lists what they must look at again.
func (s *Service) Migrate(ctx context.Context, by api.Caller, in *api.MigrateInput) (*api.Migration, error) {
	defer s.moving.lock(in.AssessmentID)()
	a, err := s.read(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	if err := stillOpen(&a); err != nil {
		return nil, err
	}
	m, err := s.planMigration(ctx, by, &a, in.Body)
	if err != nil {
		return nil, err
	}
	m.out.DryRun = in.Body.DryRun
	if in.Body.DryRun {
		return m.out, nil
	}
	if err := m.allowed(); err != nil {
		return nil, err
	}
	return m.out, s.carryOut(ctx, by, m)
}

// migration is a move that has been thought through.
type migration struct {
	was      api.Assessment // as it was read
	now      api.Assessment // as it will be
	from, to *scf.Snapshot
	out      *api.Migration
	review   map[string]bool
}

func (s *Service) planMigration(ctx context.Context, by api.Caller, a *api.Assessment, body api.MigrateBody) (*migration, error) {
	from, err := s.snapshot(ctx, a)
	if err != nil {
		return nil, err
	}
	to, own, err := s.catalog.Newest(ctx, by.OrganizationID, body.To)
	if err != nil {
		return nil, err
	}
	m := &migration{was: *a, now: *a, from: from, to: to, review: map[string]bool{}}
	m.out = &api.Migration{AssessmentID: a.ID, From: point(from, a.CustomRevision), To: point(to, own)}
	if m.out.From == m.out.To {
		return nil, api.Conflict("the assessment is at catalog version %s already, with your own frameworks and controls as they are", m.out.To.Label)
	}
	if err := m.frameworks(body.DropFrameworks); err != nil {
		return nil, err
	}
	m.now.SCFVersionID, m.now.CustomRevision = to.Version().ID, own
	decided, err := s.decided(ctx, by, a)
	if err != nil {
		return nil, err
	}
	return m, m.compare(decided)
}

func point(snap *scf.Snapshot, own int) api.CatalogPoint {
	v := snap.Version()
	return api.CatalogPoint{VersionID: v.ID, Label: v.Label, CustomRevision: own}
}

// frameworks finds those of the assessment in the other catalog, by their codes.
func (m *migration) frameworks(drop []string) error {
	for _, code := range drop {
		if !slices.Contains(m.was.Frameworks, code) {
			return api.Invalid("drop_frameworks", "the assessment has no framework %q; it has %s", code, strings.Join(m.was.Frameworks, ", "))
		}
	}
	var refs []string
	for n, code := range m.was.Frameworks {
		f := api.MigratedFramework{Code: code, Status: "kept"}
		custom := false
		if old, err := m.from.Framework(m.was.FrameworkIDs[n]); err == nil {
			custom = old.IsCustom
		}
		found, err := m.find(code, custom)
		switch {
		case slices.Contains(drop, code):
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
		m.out.Frameworks = append(m.out.Frameworks, f)
	}
	var err error
	m.now.FrameworkIDs, m.now.Frameworks, err = frameworks(m.to, refs)
	return err
}

// find looks a framework up by its code. One of the organization's own stays its own,
// also where a release has the code by now.
func (m *migration) find(code string, custom bool) (api.Framework, error) {
	f, err := m.to.Framework(code)
	if custom && (err != nil || !f.IsCustom) {
		if f, err := m.to.Framework(code + "-custom"); err == nil && f.IsCustom {
			return f, nil
		}
		return f, &scf.NotFound{Kind: "framework", Ref: code}
	}
	return f, err
}

// allowed refuses to leave a framework behind that nobody said to leave behind.
func (m *migration) allowed() error {
	for _, f := range m.out.Frameworks {
		if f.Status == "gone" {
			return api.Invalid("drop_frameworks", "the framework %s is not in catalog version %s (%s); leave it behind with --drop-framework %s, or stay",
				f.Code, m.out.To.Label, *f.Message, f.Code)
		}
	}
	if len(m.was.Frameworks) > 0 && len(m.now.Frameworks) == 0 {
		return api.Invalid("drop_frameworks", "no framework would be left, and the whole catalog be assessed instead; begin a new assessment for that")
	}
	return nil
}

// decided are the controls on which a person set something in the newest versions.
func (s *Service) decided(ctx context.Context, by api.Caller, a *api.Assessment) (map[string]bool, error) {
	out := map[string]bool{}
	return out, s.db.View(ctx, func(tx *store.Tx) error {
		return errors.Join(edited(tx, a, soa, out), edited(tx, a, gap, out), edited(tx, a, maturity, out), edited(tx, a, poam, out))
	})
}

func edited[V, I any](tx *store.Tx, a *api.Assessment, k kind[V, I], out map[string]bool) error {
	_, items, err := newestWithItems(tx, a.OrganizationID, a.ID, k)
	for n := range items {
		if it := k.item(&items[n]); len(it.EditedFields) > 0 || it.EditedBy != nil {
			out[it.ControlCode] = true
		}
	}
	return err
}

// compare lists what is other in the controls that the assessment is about.
func (m *migration) compare(decided map[string]bool) error {
	before, was, err := controlsOf(m.from, &m.was)
	if err != nil {
		return err
	}
	after, is, err := controlsOf(m.to, &m.now)
	if err != nil {
		return err
	}
	m.out.ControlsBefore, m.out.ControlsAfter = len(before), len(after)
	changed := map[string]api.ControlChange{}
	for _, c := range scf.Diff(m.from, m.to).Changed {
		changed[c.Code] = c
	}
	here := map[string]bool{}
	for _, c := range before {
		here[c.Code] = true
	}
	stays := map[string]bool{}
	for _, c := range after {
		stays[c.Code] = true
		r := api.MigrationReview{ControlCode: c.Code, Title: c.Title, Decided: decided[c.Code]}
		if !here[c.Code] {
			r.Reasons, r.Gained = []string{api.ReviewNew}, is[c.Code]
		} else {
			r.Reasons = reasons(changed[c.Code])
			if r.Gained, r.Lost = m.requirements(was[c.Code], is[c.Code]); len(r.Gained)+len(r.Lost) > 0 {
				r.Reasons = append(r.Reasons, api.ReviewRequirements)
			}
		}
		if len(r.Reasons) == 0 {
			m.out.ControlsUnchanged++
			continue
		}
		m.out.Review = append(m.out.Review, r)
		m.review[c.Code] = true
	}
	for _, c := range before {
		if stays[c.Code] {
			continue
		}
		why := api.ReviewGone
		if _, err := m.to.Control(c.Code); err == nil {
			why = api.ReviewUnmapped
		}
		m.out.Review = append(m.out.Review, api.MigrationReview{ControlCode: c.Code, Title: c.Title, Reasons: []string{why}, Lost: was[c.Code], Decided: decided[c.Code]})
	}
	slices.SortFunc(m.out.Review, func(a, b api.MigrationReview) int { return scf.Natural(a.ControlCode, b.ControlCode) })
	for code := range decided {
		if stays[code] {
			m.out.DecisionsKept = append(m.out.DecisionsKept, code)
		} else {
			m.out.DecisionsLeft = append(m.out.DecisionsLeft, code)
		}
	}
	slices.SortFunc(m.out.DecisionsKept, scf.Natural)
	slices.SortFunc(m.out.DecisionsLeft, scf.Natural)
	return nil
}

func reasons(c api.ControlChange) (out []string) {
	for _, r := range []struct {
		is   bool
		name string
	}{{c.Renamed, api.ReviewRenamed}, {c.Reworded, api.ReviewReworded}, {c.Reweighted, api.ReviewReweighted}, {c.Deprecated, api.ReviewDeprecated}} {
		if r.is {
			out = append(out, r.name)
		}
	}
	return out
}

// requirements are the codes a control gained and lost, by what the frameworks are
// called now. A code that is only spelt otherwise is the same.
func (m *migration) requirements(was, is api.RequirementCodes) (gained, lost api.RequirementCodes) {
	called := map[string]string{}
	for _, f := range m.out.Frameworks {
		if f.ToCode != nil {
			called[f.Code] = *f.ToCode
		}
	}
	before := map[string][]string{}
	for f, codes := range was {
		if now, ok := called[f]; ok {
			f = now
		}
		before[f] = append(before[f], codes...)
	}
	return missing(is, before), missing(before, is)
}

// missing are the codes of a that b does not have.
func missing(a, b map[string][]string) api.RequirementCodes {
	out := api.RequirementCodes{}
	for f, codes := range a {
		has := map[string]bool{}
		for _, c := range b[f] {
			has[scf.LooseCode(c)] = true
		}
		for _, c := range codes {
			if !has[scf.LooseCode(c)] {
				out[f] = append(out[f], c)
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// tellMigration writes that an assessment moved to its timeline, events and audit trail.
func tellMigration(tx *store.Tx, by api.Caller, m *migration) error {
	what := fmt.Sprintf("moved from catalog %s to %s", m.out.From.Label, m.out.To.Label)
	if m.out.From.VersionID == m.out.To.VersionID {
		what = fmt.Sprintf("took in your own frameworks and controls as they are now (revision %d)", m.out.To.CustomRevision)
	}
	warnings := []string{fmt.Sprintf("%d controls to look at again, %d decisions kept, %d left behind", len(m.out.Review), len(m.out.DecisionsKept), len(m.out.DecisionsLeft))}
	return errors.Join(event(tx, by, &m.now, m.now.State, m.now.State, "migrated", what, warnings),
		audit.Tell(tx, by, audit.Event{Type: "assessment.migrated", AssessmentID: m.now.ID, Summary: what, ResourceType: "assessment", ResourceID: m.now.ID,
			Data: map[string]any{"from": m.out.From, "to": m.out.To, "review": len(m.out.Review), "decisions_kept": len(m.out.DecisionsKept),
				"decisions_left": m.out.DecisionsLeft, "frameworks": m.now.Frameworks}}))
}
