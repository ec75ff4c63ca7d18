package assessment

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/store"
)

// ChangeFrameworks adds and removes frameworks of an assessment that isn't closed. If the Statement
// of Applicability has been drafted, it drafts the next version: controls that are new are judged,
// and all other items stay as they are. Older versions don't change, so that an approval covers
// what it covered before.
func (s *Service) ChangeFrameworks(ctx context.Context, by api.Caller, in *api.ChangeFrameworksInput) (*api.FrameworkChange, error) {
	defer s.locks.lock(in.AssessmentID)()
	a, err := s.readAssessment(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	if err := requireOpen(&a); err != nil {
		return nil, err
	}
	c, err := s.planFrameworkChange(ctx, by, &a, in.Body.Add, in.Body.Remove)
	if err != nil {
		return nil, err
	}
	c.result.DryRun = in.Body.DryRun
	if in.Body.DryRun || len(c.result.Added)+len(c.result.Removed) == 0 {
		return c.result, nil
	}
	if c.soa == nil {
		return c.result, s.db.Update(ctx, func(tx *store.Tx) error { return c.saveAndRecord(tx, by) })
	}
	made, err := s.draftSoA(ctx, by, &c.after)
	if err != nil {
		return nil, err
	}
	d, err := withStoredEdits(ctx, s, &c.after, soaType, c.keepOtherItems(made))
	if err != nil {
		return nil, err
	}
	return c.result, s.db.Update(ctx, func(tx *store.Tx) error {
		if err := c.saveAndRecord(tx, by); err != nil {
			return err
		}
		_, added, err := soaType.insertNextVersionUnlessChanged(tx, by, &c.after, *d)
		c.result.Version = &added
		return err
	})
}

// frameworkChange is a planned change of an assessment's frameworks.
type frameworkChange struct {
	before, after api.Assessment
	soa           *api.SoAVersion // the newest version; nil if there is none
	result        *api.FrameworkChange
}

func (s *Service) planFrameworkChange(
	ctx context.Context,
	by api.Caller,
	a *api.Assessment,
	add, remove []string,
) (*frameworkChange, error) {
	c := &frameworkChange{before: *a, after: *a}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		if err := requireNotClone(tx, a); err != nil {
			return err
		}
		v, ok, err := soaType.newestVersion(tx, by.OrganizationID, a.ID)
		if ok {
			c.soa = &v
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	snap, err := s.catalogSnapshot(ctx, a)
	if c.soa == nil && err == nil {
		snap, c.after.CustomRevision, err = s.catalog.SnapshotWithLatestCustom(ctx, by.OrganizationID, a.SCFVersionID)
	}
	if err != nil {
		return nil, err
	}
	added, removed, err := c.setFrameworks(snap, add, remove)
	if err != nil {
		return nil, err
	}
	c.result = &api.FrameworkChange{AssessmentID: a.ID, FrameworkCodes: c.after.Frameworks}
	if c.result.Added, err = countFrameworkParts(snap, added); err != nil {
		return nil, err
	}
	if c.result.Removed, err = countFrameworkParts(snap, removed); err != nil {
		return nil, err
	}
	decided, err := s.controlsWithUserEdits(ctx, by, a)
	if err != nil {
		return nil, err
	}
	return c, c.fillControlChanges(snap, decided)
}

// countFrameworkParts counts the requirements and controls of frameworks.
func countFrameworkParts(snap *scf.Snapshot, codes []string) ([]api.FrameworkPart, error) {
	out := []api.FrameworkPart{}
	for _, code := range codes {
		c, err := snap.Coverage(code)
		if err != nil {
			return nil, err
		}
		out = append(out, api.FrameworkPart{Code: code, RequirementCount: c.RequirementCount, ControlCount: c.ControlCount})
	}
	return out, nil
}

// requireNotClone returns an error if the assessment is a clone, because only its remote can change its frameworks.
func requireNotClone(tx *store.Tx, a *api.Assessment) error {
	link, err := store.SyncLinks.Get(tx, a.OrganizationID, a.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil && link.Role == store.SyncRoleClone {
		err = api.Conflict("this assessment is a clone; change the frameworks in the remote assessment, then sync")
	}
	return err
}

// setFrameworks sets the frameworks after the change and returns the codes of those added and removed.
func (c *frameworkChange) setFrameworks(snap *scf.Snapshot, add, remove []string) (added, removed []string, err error) {
	ids, codes, err := resolveFrameworks(snap, add)
	if err != nil {
		return nil, nil, err
	}
	_, gone, err := resolveFrameworks(snap, remove)
	if err != nil {
		return nil, nil, err
	}
	for _, code := range gone {
		if slices.Contains(codes, code) {
			return nil, nil, api.Invalid("remove", "%s can't be added and removed at once; choose one", code)
		}
		if slices.Contains(c.before.Frameworks, code) {
			removed = append(removed, code)
		}
	}
	if len(gone) > 0 && len(removed) == 0 {
		return nil, nil, api.Invalid(
			"remove", "the assessment has no framework %s; it has %s", gone[0], strings.Join(c.before.Frameworks, ", "),
		)
	}
	c.after.FrameworkIDs, c.after.Frameworks = nil, nil
	keep := func(id, code string) {
		c.after.FrameworkIDs, c.after.Frameworks = append(c.after.FrameworkIDs, id), append(c.after.Frameworks, code)
	}
	for n, code := range c.before.Frameworks {
		if !slices.Contains(removed, code) {
			keep(c.before.FrameworkIDs[n], code)
		}
	}
	for n, code := range codes {
		if !slices.Contains(c.before.Frameworks, code) {
			added = append(added, code)
			keep(ids[n], code)
		}
	}
	switch {
	case len(add)+len(remove) == 0:
		return nil, nil, api.Invalid("add", "specify a framework to add or remove")
	case len(added)+len(removed) == 0: // it has them already
	case len(c.before.Frameworks) == 0 && c.soa != nil:
		return nil, nil, api.Conflict(
			"the whole catalog is assessed, which includes every framework; to assess fewer controls, create a new assessment",
		)
	case len(c.after.Frameworks) == 0 && len(c.before.Frameworks) > 0:
		return nil, nil, api.Invalid("remove", "no framework would be left, so the whole catalog would be assessed; add another one first")
	}
	return added, removed, nil
}

// fillControlChanges fills the result with the controls that are added and removed, and counts those whose requirements change.
func (c *frameworkChange) fillControlChanges(snap *scf.Snapshot, decided map[string]bool) error {
	before, had, err := frameworkControls(snap, &c.before)
	if err != nil {
		return err
	}
	after, has, err := frameworkControls(snap, &c.after)
	if err != nil {
		return err
	}
	only := func(controls []api.Control, other map[string]api.RequirementCodes, otherIsAll bool) []api.FrameworkControl {
		out := []api.FrameworkControl{}
		for _, x := range controls {
			if other[x.Code] == nil && !otherIsAll {
				out = append(out, api.FrameworkControl{ControlCode: x.Code, ControlTitle: x.Title, Decided: decided[x.Code]})
			}
		}
		return out
	}
	c.result.ControlsBefore, c.result.ControlsAfter = len(before), len(after)
	c.result.ControlsAdded = only(after, had, len(c.before.Frameworks) == 0)
	c.result.ControlsRemoved = only(before, has, len(c.after.Frameworks) == 0)
	for code, requirements := range has {
		if had[code] != nil && !maps.EqualFunc(requirements, had[code], slices.Equal) {
			c.result.RequirementsChanged++
		}
	}
	return nil
}

// keepOtherItems returns a draft in which only the items of controls that the previous version
// lacks are new. All other items are copied from that version, with their requirements updated to
// the new frameworks.
func (c *frameworkChange) keepOtherItems(made draft[api.SoAItem]) draft[api.SoAItem] {
	mergeEdits := made.mergePrevious
	made.mergePrevious = func(d *draft[api.SoAItem], previous *previousVersion[api.SoAItem]) {
		mergeEdits(d, previous)
		for n, line := range soaType.matchItems(d.items, previous.items) {
			if line == nil || line.VersionID != previous.versionID {
				continue
			}
			kept := *line
			if previous.status == api.VersionApproved {
				soaType.clearApproved(&kept)
			}
			kept.ControlID, kept.RequirementCodes = d.items[n].ControlID, d.items[n].RequirementCodes
			if !kept.IsManual("rationale") && kept.Applicability == d.items[n].Applicability {
				kept.Rationale = d.items[n].Rationale
			}
			if !kept.IsManual("inclusion_reasons") {
				kept.InclusionReasons = d.items[n].InclusionReasons
			}
			d.items[n] = kept
		}
	}
	// The kept items are based on the previous version's documents and rules, so the inputs must
	// still show if these are outdated.
	inputs := maps.Clone(c.soa.Inputs)
	if inputs == nil {
		inputs = map[string]string{}
	}
	inputs["frameworks"] = made.inputs["frameworks"]
	made.inputs, made.method = inputs, c.soa.Method
	return made
}

// saveAndRecord stores the assessment with its new frameworks and records the change.
func (c *frameworkChange) saveAndRecord(tx *store.Tx, by api.Caller) error {
	now, err := getAssessment(tx, by, c.before.ID)
	if err != nil {
		return err
	}
	if err := requireOpen(&now); err != nil {
		return err
	}
	if !slices.Equal(now.FrameworkIDs, c.before.FrameworkIDs) || now.SCFVersionID != c.before.SCFVersionID {
		return api.Conflict("the assessment changed in the meantime; try again")
	}
	now.FrameworkIDs, now.Frameworks, now.CustomRevision = c.after.FrameworkIDs, c.after.Frameworks, c.after.CustomRevision
	now.Revision++
	now.UpdatedAt = tx.Now()
	c.after = now
	return errors.Join(
		checkCustomRevisionExists(tx, by, now.CustomRevision),
		store.Assessments.Put(tx, by.OrganizationID, &now),
		audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type: "assessment.frameworks_changed", AssessmentID: now.ID, Summary: c.summary(),
			ResourceType: "assessment", ResourceID: now.ID,
			Data: map[string]any{
				"frameworks": now.Frameworks, "controls_added": len(c.result.ControlsAdded),
				"controls_removed": len(c.result.ControlsRemoved),
			},
		}),
	)
}

// summary describes which frameworks were added and removed.
func (c *frameworkChange) summary() string {
	var changes []string
	for _, part := range []struct {
		verb       string
		frameworks []api.FrameworkPart
	}{{"added", c.result.Added}, {"removed", c.result.Removed}} {
		var codes []string
		for _, f := range part.frameworks {
			codes = append(codes, f.Code)
		}
		if len(codes) > 0 {
			changes = append(changes, part.verb+" the framework "+strings.Join(codes, ", "))
		}
	}
	return strings.Join(changes, "; ")
}
