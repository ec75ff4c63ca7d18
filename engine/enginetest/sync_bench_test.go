package enginetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/testutil/secretboxtest"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
)

// syncEngine is an engine with access to its store.
type syncEngine struct {
	bench
	db *store.DB
}

func newSyncEngine(t testing.TB) *syncEngine {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	db, err := store.Open(
		ctx,
		store.Options{
			Dir:         t.TempDir(),
			Schema:      store.ServiceSchema,
			CheckUpdate: updatelimit.Check,
			Clock:       time.Now,
			NewID:       enginetest.NewID,
			Logger:      enginetest.WarningLogger(),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(ctx, engine.Options{
		DB:         db,
		Logger:     enginetest.WarningLogger(),
		Clock:      time.Now,
		Version:    "test",
		CacheDir:   enginetest.CacheDir(t),
		Build:      enginetest.EmbedderSourceHash(t),
		LocalName:  "Ada Auditor",
		LocalEmail: "ada@local",
		Box: secretboxtest.New(
			secretbox.Key{},
		),
		MailServer: enginetest.MailServer(t),
		Networks:   []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(e.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	by := localUser(t, e)
	return &syncEngine{bench{e, by}, db}
}

func mustSucceed(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// large creates an assessment with a Statement of Applicability of this many lines, and documents
// of about five passages, and returns its ID.
func (d *syncEngine) large(t testing.TB, lines, documents int) string {
	t.Helper()
	in := &api.CreateAssessmentInput{}
	in.Body.Name, in.Body.FrameworkID = "Large", "lgpd"
	a, err := d.Assessments.Create(t.Context(), d.by, in)
	mustSucceed(t, err)
	for n := range documents {
		var b strings.Builder
		for p := range 5 {
			fmt.Fprintf(&b, "# Part %d of document %d\n\n", p, n)
			for s := range 12 {
				fmt.Fprintf(
					&b,
					"Access to system %d is approved by the owner of area %d, and reviewed every %d months by those who run it. ",
					n*7+s,
					p*13+n,
					s+1,
				)
			}
			b.WriteString("\n\n")
		}
		_, err := d.Evidence.Upload(
			t.Context(),
			d.by,
			&api.UploadDocumentInput{
				AssessmentInput: api.AssessmentInput{AssessmentID: a.ID},
				File:            api.UploadFile{Filename: fmt.Sprintf("document-%03d.md", n), Content: strings.NewReader(b.String())},
			},
		)
		mustSucceed(t, err)
	}
	mustSucceed(t, d.Evidence.WaitForDocuments(t.Context(), d.by, a.ID))
	mustSucceed(t, d.db.Update(t.Context(), func(tx *store.Tx) error {
		rec := func() api.TenantRecord {
			return api.TenantRecord{
				Record:         api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()},
				OrganizationID: d.by.OrganizationID,
			}
		}
		v := api.SoAVersion{}
		v.DeliverableVersion = api.DeliverableVersion{
			TenantRecord:  rec(),
			AssessmentID:  a.ID,
			VersionNumber: 1,
			Status:        api.VersionDraft,
			CreatedBy:     "rules",
			Inputs:        map[string]string{},
		}
		if err := store.SoAVersions.Put(tx, d.by.OrganizationID, &v); err != nil {
			return err
		}
		for n := range lines {
			it := api.SoAItem{
				Applicability:        api.Applicable,
				ImplementationStatus: api.NotEvidenced,
				Rationale:            fmt.Sprintf("It concerns %d systems that hold data of customers.", n),
				InclusionReasons:     []string{"risk"},
			}
			it.Item = api.Item{
				TenantRecord: rec(),
				AssessmentID: a.ID,
				VersionID:    v.ID,
				Revision:     1,
				ControlCode:  fmt.Sprintf("XYZ-%04d", n),
				ControlTitle: "A control of some length in words",
				DomainCode:   "XYZ",
			}
			it.Evidence = []api.Evidence{
				{
					Quote:     fmt.Sprintf("Access to system %d is approved by the owner of area %d", n, n),
					Statement: "Access is approved.",
					Stance:    "supports",
					Filename:  "document-001.md",
				},
			}
			if err := store.SoAItems.Put(tx, d.by.OrganizationID, &it); err != nil {
				return err
			}
		}
		return assessment.Synced(api.GateSoA).RehashDraft(tx, d.by.OrganizationID, v.ID)
	}))
	return a.ID
}

// cloneFrom makes the engine's copy a clone of home's assessment and reads its documents.
func (d *syncEngine) cloneFrom(t testing.TB, home *syncEngine, id string) {
	t.Helper()
	join := &api.JoinSyncInput{}
	join.Body.AssessmentID = id
	j, err := home.Sync.Join(t.Context(), home.by, join)
	mustSucceed(t, err)
	at := &api.AttachSyncInput{}
	at.Body.AssessmentID, at.Body.Server, at.Body.ReplicaID, at.Body.CatalogSHA256 = id, "https://home", j.ReplicaID, j.CatalogSHA256
	_, err = d.Sync.Attach(t.Context(), d.by, at)
	mustSucceed(t, err)
}

func (d *syncEngine) carry(t testing.TB, from *syncEngine, p *api.SyncBatch) (n int) {
	ask := &api.MissingSyncInput{AssessmentID: p.AssessmentID}
	ask.Body.SHA256 = p.Files
	m, err := d.Sync.ListMissingFiles(t.Context(), d.by, ask)
	mustSucceed(t, err)
	if ask.Body.SHA256 = m.SHA256; len(m.SHA256) == 0 {
		return 0
	}
	f, err := from.Sync.DownloadFiles(t.Context(), from.by, ask)
	mustSucceed(t, err)
	defer f.Content.Close()
	_, err = d.Sync.UploadFiles(
		t.Context(),
		d.by,
		&api.UploadSyncInput{AssessmentID: p.AssessmentID, File: api.UploadFile{Filename: "t", Content: f.Content}},
	)
	mustSucceed(t, err)
	return len(m.SHA256)
}

// spent holds the duration of each part of a sync.
type spent struct{ gather, files, take time.Duration }

// sync syncs both engines and returns the bytes of records sent and read.
func (d *syncEngine) sync(t testing.TB, home *syncEngine, id string) (sent, read int) {
	return d.timed(t, home, id, &spent{})
}

func (d *syncEngine) timed(t testing.TB, home *syncEngine, id string, s *spent) (sent, read int) {
	for {
		p, err := d.Sync.PrepareBatch(t.Context(), d.by, &api.PrepareSyncInput{AssessmentID: id})
		mustSucceed(t, err)
		if p.ChangeCount == 0 {
			break
		}
		home.carry(t, d, p)
		_, err = home.Sync.Push(
			t.Context(),
			home.by,
			&api.PushSyncInput{AssessmentID: id, File: api.UploadFile{Filename: "b", Content: bytes.NewReader(p.Data)}},
		)
		mustSucceed(t, err)
		ack := &api.AcknowledgeSyncInput{AssessmentID: id}
		ack.Body.Counter = p.Counter
		_, err = d.Sync.RecordBatchReceived(t.Context(), d.by, ack)
		mustSucceed(t, err)
		sent += len(p.Data)
	}
	for {
		st, err := d.Sync.Status(t.Context(), d.by, &api.SyncInput{AssessmentID: id})
		mustSucceed(t, err)
		began := time.Now()
		p, err := home.Sync.ReadChanges(
			t.Context(),
			home.by,
			&api.ChangesSyncInput{
				AssessmentID:   id,
				ReplicaID:      st.ReplicaID,
				Since:          int(st.Since),
				AnchorSequence: int(st.AnchorSequence),
				AnchorHash:     st.AnchorHash,
			},
		)
		mustSucceed(t, err)
		gathered := time.Now()
		d.carry(t, home, p)
		carried := time.Now()
		out, err := d.Sync.ApplyRemoteChanges(
			t.Context(),
			d.by,
			&api.UploadSyncInput{AssessmentID: id, File: api.UploadFile{Filename: "c", Content: bytes.NewReader(p.Data)}},
		)
		mustSucceed(t, err)
		s.gather, s.files, s.take = s.gather+gathered.Sub(began), s.files+carried.Sub(gathered), s.take+time.Since(carried)
		if read += len(p.Data); !out.More {
			return sent, read
		}
	}
}

// BenchmarkSyncClone measures the first clone of a large assessment, including embedding; as a
// baseline for the disk, it also writes just the files, each flushed with its folder.
func BenchmarkSyncClone(b *testing.B) {
	home := newSyncEngine(b)
	id := home.large(b, 1468, 200)
	b.Run("clone", func(b *testing.B) { benchmarkClone(b, home, id) })
	b.Run("plain", func(b *testing.B) {
		files := home.files(b, id)
		for b.Loop() {
			dir := b.TempDir()
			for n, content := range files {
				writeFlushed(b, filepath.Join(dir, strconv.Itoa(n)), content)
			}
		}
	})
}

// files returns the contents of an assessment's documents.
func (d *syncEngine) files(b *testing.B, id string) (all [][]byte) {
	mustSucceed(b, d.db.View(b.Context(), func(tx *store.Tx) error {
		for doc, err := range store.Documents.By("assessment").Scan(tx, d.by.OrganizationID, store.Prefix(id)) {
			if err != nil {
				return err
			}
			f, _, err := d.db.Blobs().Open(b.Context(), doc.SHA256)
			if err != nil {
				return err
			}
			content, err := io.ReadAll(f)
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
			all = append(all, content)
		}
		return nil
	}))
	return all
}

// writeFlushed writes a file that survives a power failure.
func writeFlushed(b *testing.B, path string, content []byte) {
	f, err := os.Create(path)
	mustSucceed(b, err)
	_, err = f.Write(content)
	mustSucceed(b, errors.Join(err, f.Sync(), f.Close()))
	dir, err := os.Open(filepath.Dir(path))
	mustSucceed(b, err)
	mustSucceed(b, errors.Join(dir.Sync(), dir.Close()))
}

func benchmarkClone(b *testing.B, home *syncEngine, id string) {
	read := 0
	var spent spent
	for b.Loop() {
		b.StopTimer()
		away := newSyncEngine(b)
		away.large(b, 1, 1) // the embedder is trained once for each data folder
		away.cloneFrom(b, home, id)
		b.StartTimer()
		_, read = away.timed(b, home, id, &spent)
	}
	b.ReportMetric(float64(read), "bytes")
	for name, d := range map[string]time.Duration{"gather-ms": spent.gather, "files-ms": spent.files, "take-ms": spent.take} {
		b.ReportMetric(float64(d.Milliseconds())/float64(b.N), name)
	}
}

// BenchmarkSyncBundle measures writing and reading the same as a bundle.
func BenchmarkSyncBundle(b *testing.B) {
	home := newSyncEngine(b)
	id := home.large(b, 1468, 200)
	keys := func(of *syncEngine) string {
		k, err := of.Sync.GetOrCreateKey(b.Context(), of.by, &api.CreateSyncKeyInput{})
		mustSucceed(b, err)
		return k.Key
	}
	trust := func(at *syncEngine, key string) *api.SyncPeer {
		in := &api.TrustSyncPeerInput{}
		in.Body.Key = key
		p, err := at.Sync.TrustPeer(b.Context(), at.by, in)
		mustSucceed(b, err)
		return p
	}
	own := keys(home)
	var size bytes.Buffer
	for b.Loop() {
		b.StopTimer()
		away := newSyncEngine(b)
		away.large(b, 1, 1)
		peer := trust(home, keys(away))
		trust(away, own)
		b.StartTimer()
		in := &api.WriteSyncBundleInput{AssessmentID: id}
		in.Body.PeerID = peer.ID
		f, err := home.Sync.WriteBundle(b.Context(), home.by, in)
		mustSucceed(b, err)
		size.Reset()
		_, err = size.ReadFrom(f.Content)
		mustSucceed(b, err)
		n := size.Len()
		_, err = away.Sync.ImportBundle(
			b.Context(),
			away.by,
			&api.ImportSyncBundleInput{File: api.UploadFile{Filename: "b", Content: &size}},
		)
		mustSucceed(b, err)
		b.ReportMetric(float64(n), "bytes")
	}
}

// BenchmarkSyncEmpty measures a sync without changes, BenchmarkSyncTen one of ten edits, with the
// bytes sent.
func BenchmarkSyncEmpty(b *testing.B) {
	home, away := newSyncEngine(b), newSyncEngine(b)
	id := home.large(b, 1468, 20)
	away.cloneFrom(b, home, id)
	away.sync(b, home, id)
	for b.Loop() {
		away.sync(b, home, id)
	}
}

func BenchmarkSyncTen(b *testing.B) {
	home, away := newSyncEngine(b), newSyncEngine(b)
	id := home.large(b, 1468, 2)
	away.cloneFrom(b, home, id)
	away.sync(b, home, id)
	items := away.soaItems(b, id)
	sent, round := 0, 0
	for b.Loop() {
		b.StopTimer()
		for n := range 10 {
			away.edit(b, items[n*17].ID, fmt.Sprintf("asked on site in round %d, answer %d", round, n))
		}
		round++
		b.StartTimer()
		sent, _ = away.sync(b, home, id)
	}
	b.ReportMetric(float64(sent), "bytes-sent")
}

func (d *syncEngine) edit(t testing.TB, id, note string) {
	in := &api.UpdateSoAItemInput{SoAItemID: id}
	in.Body.Note = api.Some(note)
	_, err := d.Assessments.UpdateSoAItem(t.Context(), d.by, in)
	mustSucceed(t, err)
}

// BenchmarkSyncLog measures the cost of the change log for an edit: of an assessment that is not
// synced, of a remote, and of a clone.
func BenchmarkSyncLog(b *testing.B) {
	for _, role := range []string{"alone", "home", "clone"} {
		b.Run(role, func(b *testing.B) {
			d, other := newSyncEngine(b), newSyncEngine(b)
			id := d.large(b, 100, 1)
			on := d
			if role != "alone" {
				other.cloneFrom(b, d, id)
				other.sync(b, d, id)
			}
			if role == "clone" {
				on = other
			}
			item := on.soaItems(b, id)[0].ID
			n := 0
			for b.Loop() {
				on.edit(b, item, fmt.Sprintf("note %d", n))
				n++
			}
		})
	}
}
