package daemon_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/store"
)

// growthVariable overrides the sizes of TestGrowth: "ORGANIZATIONS RECORDS".
const growthVariable = "SERVICE_GROWTH"

// TestGrowth calls every operation on an empty installation, on one with many organizations, and on one whose own
// organization has many records, in a data folder and on PostgreSQL, and lists the operations whose time grows. In a
// data folder, it also counts what they read, which must not grow except for the operations in readsEverything and
// growsAsAsked.
func TestGrowth(t *testing.T) {
	longtest.SkipUnlessEnabled(t)
	postgrestest.NewURL(t)
	organizations, records := 10_000, 100_000
	if sizes := os.Getenv(growthVariable); sizes != "" {
		if _, err := fmt.Sscan(sizes, &organizations, &records); err != nil {
			t.Fatal(growthVariable, err)
		}
	}
	nothing := func(*store.DB, *tour) error { return nil }
	for _, kind := range []string{"", "postgres"} {
		t.Run("store "+cmp.Or(kind, "bolt"), func(t *testing.T) {
			t.Setenv(enginetest.StoreVariable, kind)
			timeOperations(t, nothing) // caches fill
			before := timeOperations(t, nothing)
			compareGrowth(t, fmt.Sprint(organizations, " organizations"), before, timeOperations(t, func(db *store.DB, r *tour) error {
				return addOrganizations(t, db, r, organizations)
			}))
			compareGrowth(t, fmt.Sprint(records, " records in the organization"), before, timeOperations(t, func(db *store.DB, r *tour) error {
				return addRecords(t, db, r, records)
			}))
		})
	}
}

// timeOperations returns how long the calls of each operation took on an installation to which add has added
// something.
func timeOperations(t *testing.T, add func(db *store.DB, r *tour) error) map[string]operationCost {
	t.Helper()
	var took map[string]operationCost
	t.Run("tour", func(t *testing.T) { // ends the engine
		var db *store.DB
		s := tourServer(t, func(o *engine.Options) { db = o.DB })
		r := tourOf(t, s, func(h http.Handler) http.Handler { return h })
		r.countsReads = !enginetest.OnPostgres() // on PostgreSQL, it would take longer then
		took = r.took                            // even if the tour fails later
		began := time.Now()
		if err := add(db, r); err != nil {
			t.Fatal(err)
		}
		added := time.Since(began)
		began = time.Now()
		r.callAll()
		t.Logf("added in %v; %d operations in %v", added.Round(time.Millisecond), len(r.took), time.Since(began).Round(time.Millisecond))
	})
	return took
}

// growsAsAsked lists further operations that are asked to read everything: the tour looks for users by a part of their
// email address, sorts assessments and audit events by every field, searches and syncs the plans of all assessments,
// and waits for an agent run. A change of the custom catalog deletes the revisions that no assessment uses.
var growsAsAsked = []string{
	api.VerifyData.ID, api.ListUsers.ID, api.ListAuditEvents.ID, api.ListAssessments.ID, api.SearchKB.ID, api.GetAgentRun.ID,
	api.ResolveIssueLink.ID, api.ImportCustom.ID, api.CreateCustomControl.ID, api.PutCustomControl.ID, api.DeleteCustomControl.ID,
	api.CreateCustomFramework.ID, api.PutCustomFramework.ID, api.DeleteCustomFramework.ID,
}

// compareGrowth logs the median ratios, and the operations that take more than twice as long and 10 ms longer. It fails
// if operations read more.
func compareGrowth(t *testing.T, with string, before, after map[string]operationCost) {
	t.Helper()
	median := func(of func(operationCost) time.Duration) float64 {
		var ratios []float64
		for op, took := range after {
			ratios = append(ratios, float64(of(took))/float64(max(of(before[op]), time.Microsecond)))
		}
		slices.Sort(ratios)
		return ratios[len(ratios)/2]
	}
	if len(after) == 0 {
		t.Fatal("no operation was called")
	}
	elapsed := func(o operationCost) time.Duration { return o.elapsed }
	cpu := func(o operationCost) time.Duration { return o.cpu }
	t.Logf("%s: %d operations, median ratio of elapsed time %.2f, of processor time %.2f", with, len(after), median(elapsed), median(cpu))
	for _, op := range slices.Sorted(maps.Keys(after)) {
		b, a := before[op], after[op]
		if a.reads > 2*b.reads+50 {
			t.Logf("  %-30s reads %d, then %d", op, b.reads, a.reads)
			if !readsEverything[op] && !slices.Contains(growsAsAsked, op) {
				t.Errorf("%s: %s read %d values, without them %d", with, op, a.reads, b.reads)
			}
		}
		for _, of := range []func(operationCost) time.Duration{elapsed, cpu} {
			if of(a) > 2*of(b) && of(a)-of(b) > 10*time.Millisecond {
				t.Logf("  %-30s %8.1f ms, then %8.1f ms; processor %8.1f ms, then %8.1f ms",
					op, milliseconds(b.elapsed), milliseconds(a.elapsed), milliseconds(b.cpu), milliseconds(a.cpu))
				break
			}
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// catalogVersion returns the ID of the active catalog version.
func (r *tour) catalogVersion() string {
	r.t.Helper()
	id, _ := r.call(api.GetLatestVersion.Operation, "", "")["id"].(string)
	return id
}

// addOrganizations adds n organizations with an owner, an assessment, five items and five events each.
func addOrganizations(t *testing.T, db *store.DB, r *tour, n int) error {
	catalog := r.catalogVersion()
	const perUpdate = 50
	for from := 0; from < n; from += perUpdate {
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			for i := from; i < min(from+perUpdate, n); i++ {
				record := api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
				org := api.Organization{Record: record, Name: fmt.Sprint("Organization ", i), Slug: fmt.Sprint("org-", i), Status: "active"}
				user := api.User{Record: record, Email: fmt.Sprintf("owner%d@example.com", i), Name: "Owner", Status: "active"}
				v, err := addAssessment(tx, org.ID, catalog, 5)
				if err := errors.Join(err, store.Organizations.Insert(tx, &org), store.Users.Insert(tx, &user),
					store.Memberships.Insert(tx, &store.Membership{
						ID: tx.NewID(), OrganizationID: org.ID, UserID: user.ID, Role: api.RoleOwner, Status: "active",
						CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
					}), addItems(tx, v, 0, 5)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// addRecords adds n records to an organization, in assessments of 1,000.
func addRecords(t *testing.T, db *store.DB, r *tour, n int) error {
	catalog := r.catalogVersion()
	const events, perUpdate = 5, 500
	for ; n > 0; n -= 1000 {
		var v *api.SoAVersion
		err := db.Update(t.Context(), func(tx *store.Tx) (err error) {
			v, err = addAssessment(tx, r.org, catalog, events)
			return err
		})
		for from := 0; err == nil && from < 1000-2*events-2; from += perUpdate {
			err = db.Update(t.Context(), func(tx *store.Tx) error {
				return addItems(tx, v, from, min(from+perUpdate, 1000-2*events-2))
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addAssessment adds an assessment with an empty Statement of Applicability and events, and returns the Statement.
func addAssessment(tx *store.Tx, org, catalog string, events int) (*api.SoAVersion, error) {
	newRecord := func() api.TenantRecord {
		return api.TenantRecord{Record: api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}, OrganizationID: org}
	}
	a := api.Assessment{TenantRecord: newRecord(), Name: "Assessment", SCFVersionID: catalog, State: api.StateSoADrafted}
	v := &api.SoAVersion{DeliverableVersion: api.DeliverableVersion{
		TenantRecord: newRecord(), AssessmentID: a.ID, VersionNumber: 1, Status: api.VersionDraft,
	}}
	by := api.Caller{OrganizationID: org, UserID: "ada", Role: api.RoleOwner, Actor: api.Actor{Type: api.ActorUser, ID: "ada", Name: "Ada"}}
	err := errors.Join(store.Assessments.Insert(tx, org, &a), store.SoAVersions.Insert(tx, org, v))
	for n := range events {
		err = errors.Join(err, audit.RecordEvent(tx, by, audit.Event{
			Type: "assessment.changed", AssessmentID: a.ID, Summary: fmt.Sprint("change ", n), ResourceType: "assessment", ResourceID: a.ID,
		}))
	}
	return v, err
}

// addItems adds items to a Statement of Applicability.
func addItems(tx *store.Tx, v *api.SoAVersion, from, to int) error {
	for n := from; n < to; n++ {
		i := api.SoAItem{Item: api.Item{
			TenantRecord: api.TenantRecord{
				Record: api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}, OrganizationID: v.OrganizationID,
			},
			AssessmentID: v.AssessmentID, VersionID: v.ID, Revision: 1, ControlCode: fmt.Sprintf("XYZ-%04d", n), ControlTitle: "A control",
		}}
		if err := store.SoAItems.Insert(tx, v.OrganizationID, &i); err != nil {
			return err
		}
	}
	return nil
}
