package daemon_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/store"
)

// multiply inserts copies of a record of the organization, numbered from..to.
func multiply[R any](t testing.TB, tx *store.Tx, table *store.TenantTable[R], org string, from, to int, change func(r *R, n int)) {
	t.Helper()
	for original, err := range table.Scan(tx, org) {
		if err != nil {
			t.Fatal(err)
		}
		for n := from; n < to; n++ {
			r := original
			change(&r, n)
			if err := table.Insert(tx, org, &r); err != nil {
				t.Fatal(table.Name(), err)
			}
		}
		return
	}
	t.Fatalf("%s is empty", table.Name())
}

// copyID returns the ID of the n-th copy. Copies have lower IDs than any other record.
func copyID(n int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", n) }

// multiplyRecords adds copies, numbered from..to, of the records that are listed: organizations and, in the
// given one, assessments, documents, passages, versions, events and more.
func multiplyRecords(t testing.TB, db *store.DB, org string, from, to int) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		head := func(h *api.DeliverableVersion, n int) { h.ID, h.VersionNumber = copyID(n), -n }
		multiply(t, tx, store.Assessments, org, from, to, func(r *api.Assessment, n int) { r.ID = copyID(n) })
		multiply(t, tx, store.Documents, org, from, to, func(r *store.Document, n int) { r.ID, r.SHA256 = copyID(n), copyID(n) })
		multiply(t, tx, store.Chunks, org, from, to, func(r *store.Chunk, n int) { r.ID, r.Index = copyID(n), -n })
		multiply(t, tx, store.LifecycleEvents, org, from, to, func(r *api.LifecycleEvent, n int) { r.ID = copyID(n) })
		multiply(t, tx, store.Timeline, org, from, to, func(r *store.TimelineEvent, n int) { r.ID = copyID(n) })
		multiply(t, tx, store.Audit, org, from, to, func(r *api.AuditEvent, n int) { r.ID, r.Sequence = copyID(n), uint64(1e6+n) })
		multiply(t, tx, store.SoAVersions, org, from, to, func(r *api.SoAVersion, n int) { head(&r.DeliverableVersion, n) })
		multiply(t, tx, store.GapVersions, org, from, to, func(r *api.GapVersion, n int) { head(&r.DeliverableVersion, n) })
		multiply(t, tx, store.MaturityVersions, org, from, to, func(r *api.MaturityVersion, n int) { head(&r.DeliverableVersion, n) })
		multiply(t, tx, store.POAMVersions, org, from, to, func(r *api.POAMVersion, n int) { head(&r.DeliverableVersion, n) })
		multiply(t, tx, store.SoAItems, org, from, to, func(r *api.SoAItem, n int) { r.ID = copyID(n) })
		multiply(t, tx, store.Approvals, org, from, to, func(r *api.Approval, n int) { r.ID, r.TargetID = copyID(n), copyID(n) })
		multiply(t, tx, store.ArtifactVersions, org, from, to, func(r *api.ArtifactVersion, n int) { r.VersionNumber = 1e6 + n })
		multiply(t, tx, store.Reports, org, from, to, func(r *api.Report, n int) { r.ID = copyID(n) })
		for n := from; n < to; n++ {
			o := api.Organization{Record: api.Record{ID: copyID(n)}, Slug: copyID(n)}
			u := api.User{Record: api.Record{ID: copyID(n)}, Email: copyID(n)}
			if err := store.Organizations.Insert(tx, &o); err != nil {
				return err
			}
			if err := store.Users.Insert(tx, &u); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// readsEverything lists the operations that read all items of a version, all documents of an assessment, all
// passages or the whole audit chain. A trend reads the newest 24 versions.
var readsEverything = map[string]bool{
	api.ExportAssessment.ID: true, api.ExportAudit.ID: true, api.VerifyAudit.ID: true, api.RenderReport.ID: true, api.VerifyReport.ID: true,
	api.GetExecutiveSummary.ID: true, api.DiffArtifact.ID: true, api.ValidateSoA.ID: true, api.GetGapSummary.ID: true,
	api.GetPOAMSummary.ID: true, api.GetAssessmentStatus.ID: true, api.ExportReaderDecisions.ID: true, api.ExportReaderStatements.ID: true,
	api.GetKBStats.ID: true, api.GetEmbeddingStatus.ID: true, api.DownloadReport.ID: true, api.GetAssessmentTrend.ID: true,
	api.PreviewSoADraft.ID: true, api.GetDocumentUses.ID: true,
}

// TestReadsAreFlat checks that a page of a list, a summary or a figure doesn't read more records when there are
// many more organizations, assessments, documents, versions and events. Lists are read in the default order,
// with each filter that has an index.
func TestReadsAreFlat(t *testing.T) {
	var db *store.DB
	w := newTestServer(t, daemon.Options{}, func(o *engine.Options) {
		db = o.DB
	})
	owner, _ := w.createOrganization("Acme", "ada@acme.example")
	ids := owner.populate("Acme")
	count := func() map[string]int64 {
		out := map[string]int64{}
		read := func(op *api.Operation, query string) {
			path := fillPath(op, ids) + query
			for range 2 { // the first read fills the caches
				var reads atomic.Int64
				req := httptest.NewRequest(op.Method, origin+path, nil)
				req.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: owner.cookie})
				req.Header.Set("x-service-tenant-id", owner.org)
				rec := httptest.NewRecorder()
				w.net.ServeHTTP(rec, req.WithContext(store.WithReadCounter(req.Context(), &reads)))
				if rec.Code != http.StatusOK {
					return // the operation needs input other than IDs
				}
				out[op.ID+query] = reads.Load()
			}
		}
		for _, op := range api.Operations() {
			if op.Method != http.MethodGet || op.Access == api.Public || readsEverything[op.ID] {
				continue
			}
			if _, paged := queryFields(op.In)["cursor"]; !paged {
				read(op, "")
				continue
			}
			read(op, "?limit=3")
		}
		for _, filter := range []string{"state=closed", "status=closed", "framework=cis-controls-8.1"} {
			read(api.ListAssessments.Operation, "?limit=3&"+filter)
		}
		return out
	}
	few, many := 10, 300
	if longtest.Enabled() {
		many = 10_000
	}
	multiplyRecords(t, db, owner.org, 0, few)
	count()
	before := count()
	for n := few; n < many; n += 200 {
		multiplyRecords(t, db, owner.org, n, min(n+200, many))
	}
	count()
	after := count()
	if len(before) < 60 || before[api.ListAssessments.ID+"?limit=3"] == 0 {
		t.Errorf("only %d operations were counted, %v", len(before), before)
	}
	for what, n := range after {
		if n > before[what]+int64(many)/10 { // the number of reads for a credential depends on the caches
			t.Errorf("%s reads %d records of %d, and %d of %d", what, before[what], few, n, many)
		}
	}
}
