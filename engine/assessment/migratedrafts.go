package assessment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// migrated are the next drafts of the deliverables that an assessment has; nil where it
// has none. They are made before anything is written, each from the one before it, so
// what names a record of another carries a place until that record has its id.
type migrated struct {
	soa      *draft[api.SoAItem]
	gap      *draft[api.Finding]
	maturity *draft[api.MaturityScore]
	poam     *draft[api.POAMItem]
}

// carryOut drafts what there is anew, from the evidence embedded for the other catalog,
// and writes drafts, vectors and the move itself in one transaction.
func (s *Service) carryOut(ctx context.Context, by api.Caller, m *migration) error {
	if err := s.evidence.Wait(ctx, by, m.now.ID); err != nil {
		return err
	}
	evidence, err := s.evidence.Reembed(ctx, by, m.now.ID, m.now.SCFVersionID)
	if err != nil {
		return err
	}
	var have struct{ soa, gap, maturity, poam bool }
	err = s.db.View(ctx, func(tx *store.Tx) (err error) {
		for _, look := range []func() error{
			func() error { _, have.soa, err = soa.newest(tx, by.OrganizationID, m.now.ID); return err },
			func() error { _, have.gap, err = gap.newest(tx, by.OrganizationID, m.now.ID); return err },
			func() error { _, have.maturity, err = maturity.newest(tx, by.OrganizationID, m.now.ID); return err },
			func() error { _, have.poam, err = poam.newest(tx, by.OrganizationID, m.now.ID); return err },
		} {
			if err := look(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var d migrated
	var items []api.SoAItem
	if have.soa {
		made, err := s.soaFromEvidence(ctx, by, &m.now, evidence.Session)
		if err != nil {
			return err
		}
		if d.soa, err = overBefore(ctx, s, &m.now, soa, made); err != nil {
			return err
		}
		items = d.soa.items
		for n := range items {
			items[n].NeedsReview = items[n].NeedsReview || m.review[items[n].ControlCode]
		}
	}
	if have.gap {
		if d.gap, err = s.migratedGap(ctx, m, have.soa, items); err != nil {
			return err
		}
	}
	if have.maturity {
		made, err := s.maturityFrom(ctx, &m.now, &api.SoAVersion{}, items)
		if err != nil {
			return err
		}
		if d.maturity, err = overBefore(ctx, s, &m.now, maturity, made); err != nil {
			return err
		}
	}
	if have.poam {
		made, err := s.poamFrom(ctx, &m.now, &api.GapVersion{}, d.findings())
		if err != nil {
			return err
		}
		if d.poam, err = overBefore(ctx, s, &m.now, poam, made); err != nil {
			return err
		}
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		return s.writeMigration(tx, by, m, &d, func() error { return s.evidence.KeepReembedding(tx, by, evidence) })
	})
	if err != nil {
		return err
	}
	s.evidence.Reload(m.now.ID)
	return nil
}

// migratedGap drafts the gap analysis. Gaps that people added stay, also where the
// catalog has their control no more.
func (s *Service) migratedGap(ctx context.Context, m *migration, fromSoA bool, items []api.SoAItem) (*draft[api.Finding], error) {
	rules := draft[api.Finding]{method: "by hand", over: overFindings}
	var err error
	if fromSoA {
		if rules, err = s.gapFrom(ctx, &m.now, &api.SoAVersion{}, items); err != nil {
			return nil, err
		}
	}
	d, err := overBefore(ctx, s, &m.now, gap, rules)
	if err != nil {
		return nil, err
	}
	_, codes, err := controlsOf(m.to, &m.now)
	if err != nil {
		return nil, err
	}
	for n := range d.items {
		f := &d.items[n]
		if f.Source != manual {
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

// findings are those of the new draft, each with its place for an id.
func (d *migrated) findings() []api.Finding {
	if d.gap == nil {
		return nil
	}
	out := append([]api.Finding(nil), d.gap.items...)
	for n := range out {
		out[n].ID = fmt.Sprint(n)
	}
	return out
}

// writeMigration writes the move and the drafts. Ids are put in as the records get them.
func (s *Service) writeMigration(tx *store.Tx, by api.Caller, m *migration, d *migrated, keepVectors func() error) error {
	a, err := get(tx, by, m.now.ID)
	if err != nil {
		return err
	}
	if err := stillOpen(&a); err != nil {
		return err
	}
	if a.Revision != m.was.Revision {
		return api.Conflict("the assessment was changed meanwhile; try again")
	}
	now := tx.Now()
	m.now.MigratedAt, m.now.UpdatedAt = &now, now
	m.now.Revision++
	if err := errors.Join(ownKept(tx, by, m.now.CustomRevision), store.Assessments.Put(tx, by.OrganizationID, &m.now), keepVectors(), tellMigration(tx, by, m)); err != nil {
		return err
	}
	var from map[string]string
	if d.soa != nil {
		v, err := addMigrated(tx, by, m, soa, *d.soa)
		if err != nil {
			return err
		}
		from = soa.asInput(&v)
	}
	var found api.GapVersion
	if d.gap != nil {
		d.gap.inputs = from
		if found, err = addMigrated(tx, by, m, gap, *d.gap); err != nil {
			return err
		}
	}
	var levels api.MaturityVersion
	if d.maturity != nil {
		d.maturity.inputs = from
		if levels, err = addMigrated(tx, by, m, maturity, *d.maturity); err != nil {
			return err
		}
	}
	if d.poam != nil {
		var inputs map[string]string
		if found.ID != "" {
			inputs = planFrom(&found, &levels)
		}
		if err := addPOAM(tx, by, m, d, inputs); err != nil {
			return err
		}
	}
	return backToDraft(tx, by, m)
}

// addPOAM writes the plan, its items at the findings that the gap analysis was given.
func addPOAM(tx *store.Tx, by api.Caller, m *migration, d *migrated, from map[string]string) error {
	d.poam.inputs = from
	ids := map[string]string{}
	if d.gap != nil {
		for n := range d.gap.items {
			ids[fmt.Sprint(n)] = d.gap.items[n].ID
		}
	}
	for n := range d.poam.items {
		d.poam.items[n].FindingID = ids[d.poam.items[n].FindingID]
	}
	_, err := addMigrated(tx, by, m, poam, *d.poam)
	return err
}

// backToDraft takes an assessment whose deliverable was under review, or just approved,
// back to where that is drafted: what would be decided on is another version now.
func backToDraft(tx *store.Tx, by api.Caller, m *migration) error {
	gate, drafted, ok := m.now.State.Review()
	if !ok || !slices.ContainsFunc(m.out.Versions, func(v api.MigratedVersion) bool { return v.Gate == gate }) {
		return nil
	}
	return rework(tx, by, &m.now, drafted, "reopened", "the assessment moved to catalog "+m.out.To.Label)
}

func addMigrated[V, I any](tx *store.Tx, by api.Caller, m *migration, k kind[V, I], d draft[I]) (V, error) {
	last, _, err := k.newest(tx, by.OrganizationID, m.now.ID)
	if err != nil {
		return last, err
	}
	if !k.still(d.old, &last) {
		return last, api.Conflict("the %s was changed meanwhile; try again", k.gate.Title())
	}
	v, err := k.add(tx, by, &m.now, d)
	if err != nil {
		return v, err
	}
	head := k.version(&v)
	m.out.Versions = append(m.out.Versions, api.MigratedVersion{Gate: k.gate, ID: head.ID, VersionNumber: head.VersionNumber, ItemCount: head.ItemCount})
	return v, nil
}
