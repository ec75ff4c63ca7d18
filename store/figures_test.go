package store

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/scf-service/service/api"
)

// countFigures counts an assessment's figures by reading every record.
func countFigures(t *testing.T, tx *Tx, a *api.Assessment) *AssessmentFigures {
	t.Helper()
	f := &AssessmentFigures{OrganizationID: a.OrganizationID, AssessmentID: a.ID, Closed: a.State == api.StateClosed}
	soa, findings, plan := map[SoAItemCount]int{}, map[FindingCount]int{}, map[POAMItemCount]int{}
	newest := func(ids []string) string {
		if len(ids) == 0 {
			return "none"
		}
		return ids[len(ids)-1]
	}
	in := Prefix(a.ID)
	org := a.OrganizationID
	v := newest(collect(t, SoAVersions.By("assessment").Scan(tx, org, in), func(v api.SoAVersion) string { return v.ID }))
	for i := range SoAItems.By("version").Scan(tx, org, Prefix(v)) {
		soa[SoAItemCount{Applicable: i.Applicability.IsApplicable(), Status: i.ImplementationStatus}]++
	}
	v = newest(collect(t, MaturityVersions.By("assessment").Scan(tx, org, in), func(v api.MaturityVersion) string { return v.ID }))
	for s := range MaturityScores.By("version").Scan(tx, org, Prefix(v)) {
		f.Scores.All++
		if s.Assessed {
			f.Scores.Assessed++
			f.Scores.Levels += s.Level
		}
	}
	v = newest(collect(t, POAMVersions.By("assessment").Scan(tx, org, in), func(v api.POAMVersion) string { return v.ID }))
	for i := range POAMItems.By("version").Scan(tx, org, Prefix(v)) {
		c := POAMItemCount{Status: i.Status}
		if i.IsOpen() {
			c.Due = i.CurrentDueDate()
		} else if i.Status == "risk_accepted" && i.RiskAcceptedUntil != nil {
			c.Due = *i.RiskAcceptedUntil
		}
		plan[c]++
	}
	var versions []api.GapVersion
	before := ""
	for v := range GapVersions.By("assessment").Scan(tx, org, in) {
		if versions = append(versions, v); v.ApprovedAt != nil || before == "" {
			before = v.ID
		}
	}
	was := map[string]int{}
	for g := range Findings.By("version").Scan(tx, org, Prefix(before)) {
		if g.IsGap() {
			was[g.ControlCode] = max(was[g.ControlCode], len(api.Severities)-g.Severity.Rank())
		}
	}
	if n := len(versions); n > 0 {
		for g := range Findings.By("version").Scan(tx, org, Prefix(versions[n-1].ID)) {
			findings[FindingCount{IsGap: g.IsGap(), Severity: g.Severity}]++
			if g.IsGap() && !f.Closed && len(api.Severities)-g.Severity.Rank() > was[g.ControlCode] {
				if f.NewFindings == nil {
					f.NewFindings = map[api.Severity]int{}
				}
				f.NewFindings[g.Severity]++
			}
		}
	}
	if f.Closed {
		for d := range Documents.By("assessment").Scan(tx, org, in) {
			if d.EffectiveDate != nil {
				if f.ClosedDocuments == nil {
					f.ClosedDocuments = map[api.Date]int{}
				}
				f.ClosedDocuments[*d.EffectiveDate]++
			}
		}
	}
	for c, n := range soa {
		c.N = n
		f.SoAItems = append(f.SoAItems, c)
	}
	for c, n := range findings {
		c.N = n
		f.Findings = append(f.Findings, c)
	}
	for c, n := range plan {
		c.N = n
		f.POAMItems = append(f.POAMItems, c)
	}
	return f
}

// figuresByKey returns the amounts that figures add to the sums, to be compared in any order.
func figuresByKey(f *AssessmentFigures) map[string]int {
	out := map[string]int{"all": f.Scores.All, "assessed": f.Scores.Assessed, "levels": f.Scores.Levels}
	for _, a := range f.sums() {
		out[a.Key.String()] += a.N
	}
	for _, c := range f.POAMItems {
		out[c.Status+string(c.Due)] += c.N
	}
	maps.DeleteFunc(out, func(_ string, n int) bool { return n == 0 })
	return out
}

// TestFiguresModel makes random changes, with rollbacks, and compares figures and tallies with counts of all records.
func TestFiguresModel(t *testing.T) {
	o := options(t.TempDir())
	o.Schema = ServiceSchema
	db := open(t, o)
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	date := func() *api.Date {
		if r.IntN(4) == 0 {
			return nil
		}
		d := api.Date(pick("2026-01-01", "2026-02-01", "2027-01-01"))
		return &d
	}
	step := func(tx *Tx) error {
		id := pick("a", "b")
		rec := func(id string) api.TenantRecord {
			return api.TenantRecord{Record: api.Record{ID: id, CreatedAt: day}, OrganizationID: "one"}
		}
		if has, err := Assessments.Has(tx, "one", id); err != nil || !has {
			a := api.Assessment{TenantRecord: rec(id), State: api.State(pick("draft", "closed")), Frameworks: []string{pick("x", "y")}}
			return Assessments.Put(tx, "one", &a)
		}
		number := 1 + r.IntN(3)
		version := fmt.Sprint(id, number)
		head := api.DeliverableVersion{TenantRecord: rec(version), AssessmentID: id, VersionNumber: number}
		if r.IntN(4) == 0 {
			head.ApprovedAt = &head.CreatedAt
		}
		item := api.Item{TenantRecord: rec(version + pick("i", "j", "k")), AssessmentID: id, VersionID: version, ControlCode: pick("C1", "C2")}
		switch r.IntN(12) {
		case 0:
			a := api.Assessment{TenantRecord: rec(id), State: api.State(pick("draft", "soa_approved", "closed"))}
			return Assessments.Put(tx, "one", &a)
		case 1:
			if r.IntN(3) == 0 {
				for n := range 3 { // as in assessment.Service.Delete, items are left
					_, soaErr := SoAVersions.DeleteAll(tx, "one", fmt.Sprint(id, n+1))
					_, gapErr := GapVersions.DeleteAll(tx, "one", fmt.Sprint(id, n+1))
					_, maturityErr := MaturityVersions.DeleteAll(tx, "one", fmt.Sprint(id, n+1))
					_, poamErr := POAMVersions.DeleteAll(tx, "one", fmt.Sprint(id, n+1))
					_, docErr := Documents.DeleteAll(tx, "one", id+[]string{"d", "e", "f"}[n])
					if err := errors.Join(soaErr, gapErr, maturityErr, poamErr, docErr); err != nil {
						return err
					}
				}
				return Assessments.Delete(tx, "one", id)
			}
			return SoAVersions.Put(tx, "one", &api.SoAVersion{DeliverableVersion: head})
		case 2:
			return GapVersions.Put(tx, "one", &api.GapVersion{DeliverableVersion: head})
		case 3:
			return MaturityVersions.Put(tx, "one", &api.MaturityVersion{DeliverableVersion: head})
		case 4:
			return POAMVersions.Put(tx, "one", &api.POAMVersion{DeliverableVersion: head})
		case 5, 6:
			return SoAItems.Put(tx, "one", &api.SoAItem{
				Item: item, Applicability: api.Applicability(pick("applicable", "not_applicable")),
				ImplementationStatus: api.Implementation(pick("implemented", "planned")),
			})
		case 7, 8:
			return Findings.Put(tx, "one", &api.Finding{
				Item: item, Result: api.Result(pick("met", "not_met")), Severity: api.Severity(pick("high", "low", "critical")),
			})
		case 9:
			return MaturityScores.Put(tx, "one", &api.MaturityScore{Item: item, Level: r.IntN(4), Assessed: r.IntN(2) == 0})
		case 10:
			due := date()
			it := &api.POAMItem{Item: item, Status: pick("open", "completed", "risk_accepted"), RiskAcceptedUntil: date()}
			if due != nil {
				it.DueDate = *due
			}
			return POAMItems.Put(tx, "one", it)
		}
		n, err := GapVersions.DeleteAll(tx, "one", version)
		if err == nil && n == 0 {
			d := Document{Document: api.Document{TenantRecord: rec(id + pick("d", "e")), AssessmentID: id, EffectiveDate: date()}}
			d.SHA256, d.Status, d.ChunkCount = d.ID, api.DocumentState(pick("ingested", "failed")), r.IntN(3)
			err = Documents.Put(tx, "one", &d)
		}
		return err
	}
	for range 300 {
		rollback := r.IntN(5) == 0
		err := db.Update(t.Context(), func(tx *Tx) error {
			for range 1 + r.IntN(4) {
				if err := step(tx); err != nil {
					return err
				}
			}
			if rollback {
				return ErrNotFound
			}
			return nil
		})
		if !rollback {
			is(t, "Update", err, nil)
		}
		view(t, db, func(tx *Tx) error {
			for a := range Assessments.Scan(tx, "one") {
				want := figuresByKey(countFigures(t, tx, &a))
				f, _ := Figures.Get(tx, "one", a.ID)
				if got := figuresByKey(&f); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s: got %v, want %v", a.ID, got, want)
				}
			}
			if has, _ := Assessments.Has(tx, "one", "a"); !has {
				has, err := Figures.Has(tx, "one", "a")
				if has || err != nil {
					t.Fatalf("figures of a deleted assessment, %v", err)
				}
			}
			checkIndexes(t, tx, Figures.table)
			checkIndexes(t, tx, Assessments.table)
			checkIndexes(t, tx, Documents.table)
			checkIndexes(t, tx, Findings.table)
			return nil
		})
	}
	// A database without tallies and figures gets them when it is opened.
	read := func(db *DB) (out []AssessmentFigures) {
		view(t, db, func(tx *Tx) error {
			for f, err := range Figures.Scan(tx, "one") {
				if err != nil {
					return err
				}
				out = append(out, f)
			}
			return nil
		})
		return out
	}
	want := read(db)
	update(t, db, func(tx *Tx) error {
		for _, name := range []string{"findings", "soa_items", "documents", "poam_items", "figures"} {
			is(t, "dropIndexes", tx.dropIndexesForRebuild(name), nil)
		}
		return tx.kv.Drop("figures")
	})
	is(t, "Close", db.Close(), nil)
	if got := read(open(t, o)); !reflect.DeepEqual(got, want) || len(want) == 0 {
		t.Errorf("after Open: got %+v, want %+v", got, want)
	}
}
