package sync_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/sync"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
)

// stubServices stores documents without passages and has no catalog, because these tests do not
// look at their content.
type stubServices struct{}

func (stubServices) EmbedForImport(
	_ context.Context,
	org, _ string,
	doc store.Document,
	_ []api.Chunk,
) (*evidence.ImportedDocument, error) {
	doc.OrganizationID = org
	return &evidence.ImportedDocument{Document: doc}, nil
}

func (b stubServices) ReparseForImport(
	ctx context.Context,
	org, version string,
	doc store.Document,
	came []api.Chunk,
) (*evidence.ImportedDocument, int, error) {
	a, err := b.EmbedForImport(ctx, org, version, doc, came)
	return a, 0, err
}

func (stubServices) SaveImport(tx *store.Tx, _ api.Caller, a *evidence.ImportedDocument, _ bool) error {
	return store.Documents.Put(tx, a.Document.OrganizationID, &a.Document)
}

func (stubServices) DeleteDocument(tx *store.Tx, _ api.Caller, doc *store.Document, _ bool) error {
	return store.Documents.Delete(tx, doc.OrganizationID, doc.ID)
}

func (stubServices) ReleaseImports(context.Context, []*evidence.ImportedDocument) {}

func (stubServices) DropCachedIndexAndWakeEmbedder(string) {}
func (stubServices) SnapshotWithCustom(context.Context, string, string, int) (*scf.Snapshot, error) {
	return nil, nil
}

func (stubServices) StoreReceivedCustom(context.Context, api.Caller, []byte) error {
	return errors.New("not here")
}

func (stubServices) StoreReceivedSnapshot(context.Context, api.Caller, []byte) (string, error) {
	return "", errors.New("not here")
}

const assessmentID = "01a00000-0000-7000-8000-000000000001"

var catalogContent = strings.Repeat("c", 64)

// site is one installation: the remote, or the clone of one user.
type site struct {
	t     testing.TB
	name  string
	dir   string
	org   string
	skew  time.Duration
	world *world

	db *store.DB
	as *assessment.Service
	sy *sync.Service
	// localCaller is the user at this site, remoteCaller the same user at the remote.
	localCaller, remoteCaller api.Caller
	replica                   string
}

// world is a remote with clones, and a clock that only the test advances.
type world struct {
	t      testing.TB
	rng    *rand.Rand
	ids    gosync.Mutex
	now    time.Time
	remote *site
	sites  []*site
	roles  map[string]api.Role
}

func person(org, id, name string, role api.Role) api.Caller {
	return api.Caller{OrganizationID: org, UserID: id, Role: role, Actor: api.Actor{Type: api.ActorUser, ID: id, Name: name}}
}

func newWorld(t testing.TB, seed uint64, clones int) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	w.remote = w.newSite("home", 0)
	w.roles = map[string]api.Role{"u0": api.RoleOwner, "u1": api.RoleMember, "u2": api.RoleAdmin, "u3": api.RoleMember, "u4": api.RoleOwner}
	must(t, w.remote.db.Update(context.Background(), func(tx *store.Tx) error {
		for id, role := range w.roles {
			if err := errors.Join(store.Users.Put(
				tx,
				&api.User{Record: api.Record{ID: id}, Email: id + "@acme.example", Name: "person " + id, Status: "active"},
			),
				store.Memberships.Put(
					tx,
					&store.Membership{ID: "m" + id, OrganizationID: w.remote.org, UserID: id, Role: role, Status: "active"},
				)); err != nil {
				return err
			}
		}
		return nil
	}))
	w.remote.localCaller = person(w.remote.org, "u0", "person u0", api.RoleOwner)
	w.createAssessment()
	for i := range clones {
		s := w.newSite(fmt.Sprintf("clone%d", i+1), time.Duration(w.rng.IntN(96)-48)*time.Hour)
		id := fmt.Sprintf("u%d", i+1)
		s.remoteCaller = person(w.remote.org, id, "person "+id, w.roles[id])
		s.localCaller = person(s.org, "local-"+id, "person "+id, api.RoleOwner)
		must(t, s.db.Update(context.Background(), func(tx *store.Tx) error {
			return errors.Join(
				store.Users.Put(
					tx,
					&api.User{Record: api.Record{ID: s.localCaller.UserID}, Email: id + "@laptop", Name: "person " + id, Status: "active"},
				),
				store.Memberships.Put(
					tx,
					&store.Membership{ID: "m", OrganizationID: s.org, UserID: s.localCaller.UserID, Role: api.RoleOwner, Status: "active"},
				),
			)
		}))
		s.join(false)
		w.sites = append(w.sites, s)
	}
	return w
}

func must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

func (w *world) newSite(name string, skew time.Duration) *site {
	s := &site{t: w.t, name: name, dir: w.t.TempDir(), org: "org-" + name, skew: skew, world: w}
	s.reopen()
	must(w.t, s.db.Update(context.Background(), func(tx *store.Tx) error {
		sum := "source"
		return errors.Join(
			store.Organizations.Put(
				tx,
				&api.Organization{Record: api.Record{ID: s.org}, Name: name, Slug: name, Status: "active", Settings: map[string]any{}},
			),
			store.CatalogVersions.Put(
				tx,
				&store.CatalogVersion{
					CatalogVersion: api.CatalogVersion{ID: "catalog-" + name, Label: "1", Status: api.CatalogActive, SourceSHA256: &sum},
					SnapshotBlob:   catalogContent,
				},
			),
		)
	}))
	return s
}

// reopen opens the site's store, closing it first if it is open.
func (s *site) reopen() {
	if s.db != nil {
		must(s.t, s.db.Close())
	}
	clock := func() time.Time { return s.world.now.Add(s.skew) }
	db, err := store.Open(
		context.Background(),
		store.Options{Dir: s.dir, Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check, Clock: clock, NewID: func() string {
			var b [16]byte
			ms := uint64(clock().UnixMilli())
			for i := range 6 {
				b[i] = byte(ms >> (40 - 8*i))
			}
			s.world.ids.Lock() // several files are stored at once
			for i := 6; i < 16; i++ {
				b[i] = byte(s.world.rng.Uint32())
			}
			s.world.ids.Unlock()
			b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
			x := hex.EncodeToString(b[:])
			return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
		}},
	)
	must(s.t, err)
	s.db = db
	s.as = assessment.New(assessment.Options{DB: db, Clock: clock})
	s.sy = sync.New(sync.Options{
		DB:       db,
		Catalog:  stubServices{},
		Evidence: stubServices{},
		Clock:    clock,
		Seal:     func(secret string) ([]byte, error) { return []byte(secret), nil },
		Open:     func(sealed []byte) (string, error) { return string(sealed), nil },
	})
}

// createAssessment creates an assessment with a drafted Statement of Applicability.
func (w *world) createAssessment() {
	h := w.remote
	must(w.t, h.db.Update(context.Background(), func(tx *store.Tx) error { return insertAssessment(tx, h.org, "catalog-home", 6) }))
}

func insertAssessment(tx *store.Tx, org, catalog string, lines int) error {
	rec := func(id string) api.TenantRecord {
		return api.TenantRecord{Record: api.Record{ID: id, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}, OrganizationID: org}
	}
	v := api.SoAVersion{}
	v.DeliverableVersion = api.DeliverableVersion{
		TenantRecord:  rec(tx.NewID()),
		AssessmentID:  assessmentID,
		VersionNumber: 1,
		Status:        api.VersionDraft,
		CreatedBy:     "rules",
		Inputs:        map[string]string{},
	}
	errs := []error{
		store.Assessments.Put(
			tx,
			org,
			&api.Assessment{
				TenantRecord: rec(assessmentID),
				Name:         "Acme",
				State:        api.StateSoADrafted,
				SCFVersionID: catalog,
				FrameworkIDs: []string{},
				Frameworks:   []string{},
				Revision:     1,
			},
		),
		store.SoAVersions.Put(tx, org, &v),
	}
	for i := range lines {
		it := api.SoAItem{
			Applicability:        api.Applicable,
			ImplementationStatus: api.NotEvidenced,
			Rationale:            "because",
			InclusionReasons:     []string{"risk"},
		}
		it.Item = api.Item{
			TenantRecord: rec(tx.NewID()),
			AssessmentID: assessmentID,
			VersionID:    v.ID,
			Revision:     1,
			ControlCode:  fmt.Sprintf("IAC-%02d", i+1),
		}
		errs = append(errs, store.SoAItems.Put(tx, org, &it))
	}
	errs = append(errs, assessment.Synced(api.GateSoA).RehashDraft(tx, org, v.ID))
	return errors.Join(errs...)
}

// join registers the site as a clone of the remote.
func (s *site) join(publish bool) {
	in := &api.JoinSyncInput{}
	in.Body.AssessmentID, in.Body.Name, in.Body.Publish = assessmentID, s.name, publish
	j, err := s.world.remote.sy.Join(context.Background(), s.remoteCaller, in)
	must(s.t, err)
	at := &api.AttachSyncInput{}
	at.Body.AssessmentID, at.Body.Server, at.Body.ReplicaID, at.Body.CatalogSHA256 = assessmentID, "https://home", j.ReplicaID, catalogContent
	at.Body.RemoteOrganization = s.world.remote.org
	_, err = s.sy.Attach(context.Background(), s.localCaller, at)
	must(s.t, err)
	s.replica = j.ReplicaID
}

func upload(data []byte) api.UploadFile {
	return api.UploadFile{Filename: "f", Content: bytes.NewReader(data)}
}

func (s *site) prepare() (*api.SyncBatch, error) {
	return s.sy.PrepareBatch(context.Background(), s.localCaller, &api.PrepareSyncInput{AssessmentID: assessmentID})
}

// transferFiles uploads the files of a batch that the other site is missing.
func transferFiles(from, to *site, by, as api.Caller, p *api.SyncBatch) error {
	ask := &api.MissingSyncInput{AssessmentID: assessmentID}
	ask.Body.SHA256 = p.Files
	lacks, err := to.sy.ListMissingFiles(context.Background(), as, ask)
	if err != nil || len(lacks.SHA256) == 0 {
		return err
	}
	ask.Body.SHA256 = lacks.SHA256
	f, err := from.sy.DownloadFiles(context.Background(), by, ask)
	if err != nil {
		return err
	}
	defer f.Content.Close()
	_, err = to.sy.UploadFiles(
		context.Background(),
		as,
		&api.UploadSyncInput{AssessmentID: assessmentID, File: api.UploadFile{Filename: "t", Content: f.Content}},
	)
	return err
}

func (s *site) push(data []byte) (*api.PushedSync, error) {
	return s.world.remote.sy.Push(context.Background(), s.remoteCaller, &api.PushSyncInput{AssessmentID: assessmentID, File: upload(data)})
}

func (s *site) acknowledge(counter int64) error {
	in := &api.AcknowledgeSyncInput{AssessmentID: assessmentID}
	in.Body.Counter = counter
	_, err := s.sy.RecordBatchReceived(context.Background(), s.localCaller, in)
	return err
}

func (s *site) fetch() (*api.SyncBatch, error) {
	st, err := s.sy.Status(context.Background(), s.localCaller, &api.SyncInput{AssessmentID: assessmentID})
	if err != nil {
		return nil, err
	}
	return s.world.remote.sy.ReadChanges(context.Background(), s.remoteCaller, &api.ChangesSyncInput{
		AssessmentID: assessmentID, ReplicaID: st.ReplicaID, Since: int(st.Since),
		AnchorSequence: int(st.AnchorSequence), AnchorHash: st.AnchorHash,
	})
}

func (s *site) applyPush(data []byte) (*api.ImportedSync, error) {
	return s.sy.ApplyRemoteChanges(
		context.Background(),
		s.localCaller,
		&api.UploadSyncInput{AssessmentID: assessmentID, File: upload(data)},
	)
}

// sync pushes and pulls until both sides have all changes.
func (s *site) sync() {
	s.t.Helper()
	h := s.world.remote
	for {
		p, err := s.prepare()
		must(s.t, err)
		if p.ChangeCount == 0 {
			break
		}
		must(s.t, transferFiles(s, h, s.localCaller, s.remoteCaller, p))
		_, err = s.push(p.Data)
		must(s.t, err)
		must(s.t, s.acknowledge(p.Counter))
	}
	for {
		p, err := s.fetch()
		must(s.t, err)
		must(s.t, transferFiles(h, s, s.remoteCaller, s.localCaller, p))
		out, err := s.applyPush(p.Data)
		must(s.t, err)
		if !out.More {
			return
		}
	}
}

// dumpRecords returns a site's synced records as text, without fields that differ between
// installations.
func (s *site) dumpRecords() string {
	var b strings.Builder
	must(s.t, s.db.View(context.Background(), func(tx *store.Tx) error { return sync.Dump(tx, s.org, assessmentID, &b) }))
	return b.String()
}

// addDocument adds a document with the given content, unless it exists.
func (s *site) addDocument(content string) error {
	blob, err := s.db.Blobs().Put(context.Background(), strings.NewReader(content), 1<<20)
	if err != nil {
		return err
	}
	return s.db.Update(context.Background(), func(tx *store.Tx) error {
		if _, err := store.Documents.By("content").Get(tx, s.org, assessmentID, blob.SHA256); err == nil {
			return nil
		}
		d := store.Document{
			Document: api.Document{
				AssessmentID: assessmentID,
				Filename:     content + ".txt",
				SHA256:       blob.SHA256,
				SizeBytes:    blob.Size,
				Status:       api.DocumentIngested,
			},
		}
		d.TenantRecord = api.TenantRecord{
			Record:         api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()},
			OrganizationID: s.org,
		}
		return errors.Join(store.Documents.Put(tx, s.org, &d), audit.Append(tx, s.localCaller, audit.Entry{Action: "document.uploaded"}))
	})
}
