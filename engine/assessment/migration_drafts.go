package assessment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// migratedDrafts holds the next drafts of an assessment's deliverables; the draft of a deliverable
// that doesn't exist yet is nil. Each draft is based on the preceding one, and all are created
// before anything is stored. Until the records get their IDs, references between them are
// placeholders.
type migratedDrafts struct {
	soa      *draft[api.SoAItem]
	gap      *draft[api.Finding]
	maturity *draft[api.MaturityScore]
	poam     *draft[api.POAMItem]
}

// executeMigration drafts the existing deliverables again, from evidence embedded for the other catalog
// version. It stores the drafts, the vectors and the changed assessment in one transaction.
func (s *Service) executeMigration(ctx context.Context, by api.Caller, m *migration) error {
	if err := s.evidence.WaitForDocuments(ctx, by, m.after.ID); err != nil {
		return err
	}
	evidence, err := s.evidence.PrepareReembedding(ctx, by, m.after.ID, m.after.SCFVersionID)
	if err != nil {
		return err
	}
	defer s.evidence.FinishReembedding(ctx, by, evidence)
	exists := map[api.Gate]bool{}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		for _, gate := range api.Gates {
			head, err := deliverables[gate].newestHeader(tx, by.OrganizationID, m.after.ID)
			if err != nil {
				return err
			}
			exists[gate] = head != nil
		}
		return nil
	})
	if err != nil {
		return err
	}
	var d migratedDrafts
	var items []api.SoAItem
	if exists[api.GateSoA] {
		made, err := s.draftSoAFromSession(ctx, by, &m.after, evidence.Session)
		if err != nil {
			return err
		}
		if d.soa, err = withStoredEdits(ctx, s, &m.after, soaType, made); err != nil {
			return err
		}
		items = d.soa.items
		needsReview := map[string]bool{}
		for _, r := range m.result.Review {
			needsReview[r.ControlCode] = true
		}
		for n := range items {
			items[n].NeedsReview = items[n].NeedsReview || needsReview[items[n].ControlCode]
		}
	}
	if exists[api.GateGapAnalysis] {
		if d.gap, err = s.draftMigratedGap(ctx, m, exists[api.GateSoA], items); err != nil {
			return err
		}
	}
	if exists[api.GateMaturity] {
		made, err := s.draftMaturityFrom(ctx, &m.after, &api.SoAVersion{}, items)
		if err != nil {
			return err
		}
		if d.maturity, err = withStoredEdits(ctx, s, &m.after, maturityType, made); err != nil {
			return err
		}
	}
	if exists[api.GatePOAM] {
		made, err := s.draftPOAMFrom(ctx, by, &m.after, &api.GapVersion{}, d.findingsWithPlaceholderIDs())
		if err != nil {
			return err
		}
		if d.poam, err = withStoredEdits(ctx, s, &m.after, poamType, made); err != nil {
			return err
		}
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return s.writeMigration(tx, by, m, &d, func() error { return s.evidence.SaveReembedding(tx, by, evidence) })
	})
}

// draftMigratedGap drafts the gap analysis. Manually added gaps are preserved, even if the other catalog
// lacks their control.
func (s *Service) draftMigratedGap(ctx context.Context, m *migration, fromSoA bool, items []api.SoAItem) (*draft[api.Finding], error) {
	rules := draft[api.Finding]{method: "manual", mergePrevious: mergeFindingEdits}
	var err error
	if fromSoA {
		if rules, err = s.draftGapFrom(ctx, &m.after, &api.SoAVersion{}, items); err != nil {
			return nil, err
		}
	}
	d, err := withStoredEdits(ctx, s, &m.after, gapType, rules)
	if err != nil {
		return nil, err
	}
	_, codes, err := frameworkControls(m.to, &m.after)
	if err != nil {
		return nil, err
	}
	for n := range d.items {
		f := &d.items[n]
		if f.Source != sourceManual {
			continue
		}
		c, err := m.to.Control(f.ControlCode)
		if f.InCatalog = err == nil; f.InCatalog {
			f.ControlID, f.ControlTitle, f.DomainCode = c.ID, c.Title, c.DomainCode
		}
		f.RequirementCodes = codes[f.ControlCode]
	}
	return d, nil
}

// findingsWithPlaceholderIDs returns the findings of the new draft with placeholder IDs.
func (d *migratedDrafts) findingsWithPlaceholderIDs() []api.Finding {
	if d.gap == nil {
		return nil
	}
	out := append([]api.Finding(nil), d.gap.items...)
	for n := range out {
		out[n].ID = fmt.Sprint(n)
	}
	return out
}

// writeMigration stores the changed assessment and the drafts, and replaces the placeholders with
// the IDs of the stored records.
func (s *Service) writeMigration(tx *store.Tx, by api.Caller, m *migration, d *migratedDrafts, saveVectors func() error) error {
	a, err := getAssessment(tx, by, m.after.ID)
	if err != nil {
		return err
	}
	if err := requireOpen(&a); err != nil {
		return err
	}
	if a.Revision != m.before.Revision {
		return api.Conflict("the assessment changed in the meantime; try again")
	}
	now := tx.Now()
	m.after.MigratedAt, m.after.UpdatedAt = &now, now
	m.after.Revision++
	if err := errors.Join(
		checkCustomRevisionExists(tx, by, m.after.CustomRevision),
		store.Assessments.Put(tx, by.OrganizationID, &m.after),
		saveVectors(),
		recordMigration(tx, by, m),
	); err != nil {
		return err
	}
	var from map[string]string
	if d.soa != nil {
		v, err := addMigratedVersion(tx, by, m, soaType, *d.soa)
		if err != nil {
			return err
		}
		from = soaType.toInputEntries(&v)
	}
	var found api.GapVersion
	if d.gap != nil {
		d.gap.inputs = from
		if found, err = addMigratedVersion(tx, by, m, gapType, *d.gap); err != nil {
			return err
		}
	}
	var levels api.MaturityVersion
	if d.maturity != nil {
		d.maturity.inputs = from
		if levels, err = addMigratedVersion(tx, by, m, maturityType, *d.maturity); err != nil {
			return err
		}
	}
	if d.poam != nil {
		var inputs map[string]string
		if found.ID != "" {
			inputs = poamInputsFrom(&found, &levels)
		}
		if err := addMigratedPOAM(tx, by, m, d, inputs); err != nil {
			return err
		}
	}
	return returnMigratedReviewToDraft(tx, by, m)
}

// addMigratedPOAM stores the plan, with the IDs of the new findings in place of the placeholders.
func addMigratedPOAM(tx *store.Tx, by api.Caller, m *migration, d *migratedDrafts, inputs map[string]string) error {
	d.poam.inputs = inputs
	ids := map[string]string{}
	if d.gap != nil {
		for n := range d.gap.items {
			ids[fmt.Sprint(n)] = d.gap.items[n].ID
		}
	}
	for n := range d.poam.items {
		d.poam.items[n].FindingID = ids[d.poam.items[n].FindingID]
	}
	_, err := addMigratedVersion(tx, by, m, poamType, *d.poam)
	return err
}

// returnMigratedReviewToDraft returns an assessment to the drafted state if the deliverable of the
// current step was under review or had just been approved, because users have to decide on its new
// version.
func returnMigratedReviewToDraft(tx *store.Tx, by api.Caller, m *migration) error {
	gate, drafted, ok := m.after.State.ReviewGate()
	if !ok || !slices.ContainsFunc(m.result.Versions, func(v api.MigratedVersion) bool { return v.Gate == gate }) {
		return nil
	}
	return returnToDraft(tx, by, &m.after, drafted, "reopened", "the assessment moved to catalog "+m.result.To.Label)
}

func addMigratedVersion[V, I any](tx *store.Tx, by api.Caller, m *migration, k deliverableType[V, I], d draft[I]) (V, error) {
	v, added, err := k.insertNextVersionUnlessChanged(tx, by, &m.after, d)
	if err == nil {
		m.result.Versions = append(m.result.Versions, added)
	}
	return v, err
}

// insertNextVersionUnlessChanged is like insertNextVersion but returns a conflict error if the
// version whose edits the draft carries over is no longer the newest, or was changed. It also
// returns a description of the stored version.
func (k deliverableType[V, I]) insertNextVersionUnlessChanged(
	tx *store.Tx,
	by api.Caller,
	a *api.Assessment,
	d draft[I],
) (v V, added api.MigratedVersion, err error) {
	last, _, err := k.newestVersion(tx, by.OrganizationID, a.ID)
	if err != nil {
		return last, added, err
	}
	if !k.isStillNewest(d.previous, &last) {
		return last, added, api.Conflict("the %s changed in the meantime; try again", k.gate.Title())
	}
	if v, err = k.insertNextVersion(tx, by, a, d); err != nil {
		return v, added, err
	}
	head := k.version(&v)
	return v, api.MigratedVersion{Gate: k.gate, ID: head.ID, VersionNumber: head.VersionNumber, ItemCount: head.ItemCount}, nil
}
