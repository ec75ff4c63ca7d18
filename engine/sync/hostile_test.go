package sync_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/sync"
	"github.com/scf-service/service/store"
)

// setNote changes the note of the first SoA item at a site.
func (s *site) setNote(note string) {
	s.t.Helper()
	r := &run{world: s.world}
	_, items := r.latestSoA(s)
	in := &api.UpdateSoAItemInput{SoAItemID: items[0].ID}
	in.Body.Note = api.Opt[string]{Set: true, Value: &note}
	_, err := s.as.UpdateSoAItem(context.Background(), s.localCaller, in)
	must(s.t, err)
}

func (s *site) note() string {
	_, items := (&run{world: s.world}).latestSoA(s)
	if items[0].Note == nil {
		return ""
	}
	return *items[0].Note
}

type lines = []map[string]any

func rewriteFile(t *testing.T, data []byte, kind string, change func(head map[string]any, all lines) lines) []byte {
	t.Helper()
	out, err := sync.RewriteFile(data, kind, change)
	must(t, err)
	return out
}

// TestMaliciousRemote checks that a clone rejects changes with a wrong range or with records of
// another assessment, and stays as it was.
func TestMaliciousRemote(t *testing.T) {
	w := newWorld(t, 1, 1)
	s := w.sites[0]
	s.sync()
	w.remote.setNote("at the home")
	must(t, w.remote.addDocument("a document of the home"))
	page, err := s.fetch()
	must(t, err)
	// The file has been uploaded, so only the record can be rejected.
	must(t, transferFiles(w.remote, s, s.remoteCaller, s.localCaller, page))
	before := s.dumpRecords()
	for name, c := range map[string]struct {
		change func(head map[string]any, all lines) lines
		words  string
	}{
		"it ends before it begins": {
			func(h map[string]any, all lines) lines { h["next"], h["since"] = -1, 0; return all },
			"the end precedes the start",
		},
		"it begins later":        {func(h map[string]any, all lines) lines { h["since"], h["next"] = 50, 90; return all }, "start at 50"},
		"numbers beyond its end": {func(h map[string]any, all lines) lines { h["next"] = all[0]["sequence"]; return all }, "has number"},
		"numbers that go back": {
			func(_ map[string]any, all lines) lines { all[1]["sequence"] = all[0]["sequence"]; return all },
			"has number",
		},
		"another assessment": {func(h map[string]any, all lines) lines {
			h["assessment_id"] = strings.Replace(assessmentID, "1", "2", 1)
			return all
		}, "a different assessment"},
		"another clone": {func(h map[string]any, all lines) lines { h["replica_id"] = "another"; return all }, "another clone"},
		"another catalog": {
			func(h map[string]any, all lines) lines { h["catalog_sha256"] = strings.Repeat("d", 64); return all },
			"catalog version",
		},
		"a record of another assessment": {func(_ map[string]any, all lines) lines {
			all[len(all)-1]["record"].(map[string]any)["assessment_id"] = "another"
			return all
		}, "another assessment"},
		"a key of another record": {
			func(_ map[string]any, all lines) lines { all[len(all)-1]["key"] = all[len(all)-2]["key"]; return all },
			"does not match its key",
		},
		"a table that is not synchronised": {
			func(_ map[string]any, all lines) lines { all[0]["table"] = "memberships"; return all },
			"unknown table",
		},
		"the secrets of webhooks": {
			func(_ map[string]any, all lines) lines { all[0]["table"] = "webhooks"; return all },
			"unknown table",
		},
		"the assessment is gone": {func(_ map[string]any, all lines) lines {
			all[0]["op"], all[0]["table"], all[0]["key"] = "delete", "assessments", store.K(assessmentID).Bytes()
			return all
		}, "cannot delete the assessment"},
		"an operation of a clone": {func(_ map[string]any, all lines) lines { all[0]["op"] = "decide"; return all }, "unknown operation"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.applyPush(rewriteFile(t, page.Data, "changes", c.change))
			if err == nil || !strings.Contains(err.Error(), c.words) || api.IsCode(err, api.CodeInternal) {
				t.Errorf("it is %v, not a refusal with %q", err, c.words)
			}
			if s.dumpRecords() != before {
				t.Error("the clone has changed")
			}
		})
	}
	// A range that ends too late is detected by the next read.
	_, err = s.applyPush(rewriteFile(t, page.Data, "changes", func(h map[string]any, all lines) lines { h["next"] = 1 << 40; return all }))
	must(t, err)
	if _, err := s.fetch(); !api.IsCode(err, api.CodeInvalidState) ||
		!strings.Contains(err.Error(), "differs from the history that this clone has read") {
		t.Errorf("a head that is not there: %v", err)
	}
}

// TestMaliciousClone checks that a clone cannot reach another assessment or organization, or write
// what only the remote writes.
func TestMaliciousClone(t *testing.T) {
	w := newWorld(t, 2, 1)
	s, h := w.sites[0], w.remote
	s.sync()
	// Another assessment of the organization, with a document that the clone never received.
	other := store.Document{
		Document: api.Document{
			AssessmentID: "another",
			Filename:     "payroll.xlsx",
			SHA256:       strings.Repeat("e", 64),
			Status:       api.DocumentIngested,
		},
	}
	other.TenantRecord = api.TenantRecord{Record: api.Record{ID: "d1"}, OrganizationID: h.org}
	must(t, h.db.Update(context.Background(), func(tx *store.Tx) error { return store.Documents.Put(tx, h.org, &other) }))
	if _, err := h.sy.DownloadFiles(context.Background(), s.remoteCaller, files(other.SHA256)); !api.IsCode(err, api.CodeNotFound) {
		t.Errorf("a file of another assessment: %v", err)
	}
	if _, err := h.sy.ListMissingFiles(context.Background(), s.remoteCaller, files("../../service.db")); !api.IsCode(err, api.CodeValidation) {
		t.Errorf("a name that is no hash: %v", err)
	}
	stranger := person("org-other", "u1", "person u1", api.RoleOwner)
	if _, err := h.sy.Push(context.Background(), stranger, &api.PushSyncInput{AssessmentID: assessmentID, File: upload(nil)}); err == nil {
		t.Error("another tenant's batch was taken")
	}
	s.setNote("offline")
	p, err := s.prepare()
	must(t, err)
	before := h.dumpRecords()
	for name, c := range map[string]struct {
		change func(head map[string]any, all lines) lines
		words  string
		whole  bool
	}{
		"another assessment": {
			func(head map[string]any, all lines) lines { head["assessment_id"] = "another"; return all },
			"another assessment",
			true,
		},
		"another clone": {
			func(head map[string]any, all lines) lines { head["replica_id"] = "another"; return all },
			"there is no clone",
			true,
		},
		"a later batch": {
			func(head map[string]any, all lines) lines { head["counter"] = 7; return all },
			"that this clone sent: the remote was restored",
			true,
		},
		"a table of people": {func(_ map[string]any, all lines) lines { all[0]["table"] = "memberships"; return all }, "unknown table", true},
		"an approval as it is": {func(_ map[string]any, all lines) lines {
			return lines{{
				"op":     "insert",
				"table":  "approvals",
				"key":    store.K("x").Bytes(),
				"record": map[string]any{"id": "x", "assessment_id": assessmentID},
			}}
		}, "cannot be pushed", false},
		"a document of another assessment": {func(_ map[string]any, all lines) lines {
			key := store.K("d1").Bytes()
			return lines{{"op": "delete", "table": "documents", "key": key, "record": map[string]any{"id": "d1", "sha256": other.SHA256}}}
		}, "there is no document", false},
		"a record that says another tenant": {func(_ map[string]any, all lines) lines {
			key := store.K("c1").Bytes()
			return lines{{
				"op":     "insert",
				"table":  "comments",
				"key":    key,
				"record": map[string]any{"id": "c1", "assessment_id": "another", "organization_id": "org-other", "text": "x", "gate": "soa"},
			}}
		}, "another assessment", false},
	} {
		t.Run(name, func(t *testing.T) {
			data := rewriteFile(t, p.Data, "batch", c.change)
			in := &api.PushSyncInput{AssessmentID: assessmentID, File: upload(data), DryRun: "true"}
			out, err := h.sy.Push(context.Background(), s.remoteCaller, in)
			told := fmt.Sprint(err)
			if err == nil {
				told = strings.Join(out.Notes, "; ")
			}
			if c.whole != (err != nil) || !strings.Contains(told, c.words) || api.IsCode(err, api.CodeInternal) ||
				err == nil && out.Applied > 0 {
				t.Errorf("it is %v %+v, not a refusal with %q", err, out, c.words)
			}
			if h.dumpRecords() != before {
				t.Error("a dry run has changed the home")
			}
		})
	}
	s.sync()
	if h.note() != "offline" {
		t.Errorf("what was honest is %q at the home", h.note())
	}
}

// TestQuotes checks that a clone's quotes must occur in the passage they name; others are dropped
// and reported.
func TestQuotes(t *testing.T) {
	w := newWorld(t, 8, 1)
	s, h := w.sites[0], w.remote
	passage := func(x *site, id, of, text string) {
		must(t, x.db.Update(context.Background(), func(tx *store.Tx) error {
			return store.Chunks.Put(tx, x.org, &store.Chunk{
				Chunk: api.Chunk{ID: id, OrganizationID: x.org, AssessmentID: of, DocumentID: "d", Text: text},
			})
		}))
	}
	passage(h, "p1", assessmentID, "Rights are\n  reviewed every quarter. They are approved.")
	passage(h, "p2", "another", "Salaries are paid on the last day.")
	s.sync()
	rest := func(e ...api.Evidence) {
		must(t, s.db.Update(context.Background(), func(tx *store.Tx) error {
			_, items := (&run{world: w}).latestSoA(s)
			it := items[0]
			it.Evidence = e
			return store.SoAItems.Put(tx, s.org, &it)
		}))
		s.sync()
	}
	at := func(x *site) []string {
		_, items := (&run{world: w}).latestSoA(x)
		out := []string{}
		for _, e := range items[0].Evidence {
			out = append(out, e.ChunkID+": "+e.Quote)
		}
		return out
	}
	good := api.Evidence{ChunkID: "p1", Quote: "Rights are reviewed every quarter."}
	rest(good)
	if got := fmt.Sprint(at(h)); got != "[p1: Rights are reviewed every quarter.]" || len(w.conflicts()) > 0 {
		t.Fatalf("what stands there came as %s, with %v", got, w.conflicts())
	}
	// An accepted quote is kept even if the passage changes later.
	passage(h, "p1", assessmentID, "Rights are reviewed once a year.")
	rest(
		good,
		api.Evidence{ChunkID: "p1", Quote: "Nobody has rights."},
		api.Evidence{ChunkID: "p2", Quote: "Salaries are paid"},
		api.Evidence{ChunkID: "p9", Quote: "x"},
		api.Evidence{ChunkID: "p1"},
	)
	if got := fmt.Sprint(at(h)); got != "[p1: Rights are reviewed every quarter.]" {
		t.Errorf("the home rests on %s", got)
	}
	open := w.conflicts()
	if len(open) != 1 || open[0].Kind != api.ConflictRefused || !strings.Contains(open[0].Message, "4 quotes in IAC-01 do not occur") ||
		!strings.Contains(string(open[0].Clone.Value), "Nobody has rights") {
		t.Errorf("it is told as %+v", open)
	}
	if got, want := s.dumpRecords(), h.dumpRecords(); got != want {
		t.Errorf("they differ:\n%s", difference(want, got))
	}
}

func files(sha ...string) *api.MissingSyncInput {
	in := &api.MissingSyncInput{AssessmentID: assessmentID}
	in.Body.SHA256 = sha
	return in
}

// TestDecompressionBomb checks that the decompressed size of a file is limited.
func TestDecompressionBomb(t *testing.T) {
	w := newWorld(t, 3, 1)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(
		z,
		`{"format":"`+sync.Format+`","kind":"batch","assessment_id":"`+assessmentID+`"}`+"\n"+`{"op":"insert","reason":"`,
	)
	zeros := bytes.Repeat([]byte("0"), 1<<20)
	for range 80 {
		_, _ = z.Write(zeros)
	}
	must(t, z.Close())
	_, err := w.sites[0].push(b.Bytes())
	if !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), "exceeds 64 MiB") {
		t.Errorf("%d bytes that become 80 MiB: %v", b.Len(), err)
	}
}

// TestDryRun checks that a dry run stores nothing on either side: no batch, no file, no read
// position.
func TestDryRun(t *testing.T) {
	w := newWorld(t, 9, 1)
	s, h := w.sites[0], w.remote
	s.sync()
	s.setNote("offline")
	must(t, s.addDocument("a document of the clone"))
	h.setNote("at the home")
	w.now = w.now.Add(48 * time.Hour) // so late that a real sync would update when the clone was last seen
	all := func(x *site) string {
		var b strings.Builder
		must(t, x.db.View(context.Background(), func(tx *store.Tx) error {
			batch, err := store.SyncBatches.Has(tx, x.org, assessmentID)
			files, failed := store.SyncFiles.Count(tx, x.org, assessmentID)
			fmt.Fprintln(&b, batch, files, x.dumpRecords())
			for r, err := range store.SyncReplicas.Scan(tx, x.org) {
				fmt.Fprintln(&b, r, err)
			}
			records, hash, broken := audit.VerifyStored(tx, x.org)
			fmt.Fprintln(&b, records, hash)
			return errors.Join(err, failed, broken)
		}))
		return b.String()
	}
	away, home := all(s), all(h)
	ctx := context.Background()
	p, err := s.sy.PrepareBatch(ctx, s.localCaller, &api.PrepareSyncInput{AssessmentID: assessmentID, DryRun: "true"})
	must(t, err)
	out, err := h.sy.Push(ctx, s.remoteCaller, &api.PushSyncInput{AssessmentID: assessmentID, File: upload(p.Data), DryRun: "true"})
	must(t, err)
	if p.ChangeCount == 0 || out.Applied == 0 || out.Conflicts != 1 {
		t.Errorf("%d changes would come out as %+v", p.ChangeCount, out)
	}
	st, err := s.sy.Status(ctx, s.localCaller, &api.SyncInput{AssessmentID: assessmentID})
	must(t, err)
	_, err = h.sy.ReadChanges(
		ctx,
		s.remoteCaller,
		&api.ChangesSyncInput{AssessmentID: assessmentID, ReplicaID: st.ReplicaID, Since: int(st.Since), DryRun: "true"},
	)
	must(t, err)
	if all(s) != away || all(h) != home {
		t.Error("a dry run has left something")
	}
}

// TestTrust checks who may trust a key, and on whose behalf.
func TestTrust(t *testing.T) {
	w := newWorld(t, 10, 1)
	s, h := w.sites[0], w.remote
	key := s.key()
	try := func(by api.Caller, email string) error {
		in := &api.TrustSyncPeerInput{}
		in.Body.Key, in.Body.Email = key, email
		_, err := h.sy.TrustPeer(context.Background(), by, in)
		return err
	}
	member, admin := person(h.org, "u1", "person u1", api.RoleMember), person(h.org, "u2", "person u2", api.RoleAdmin)
	for name, c := range map[string]struct {
		by    api.Caller
		email string
		code  api.ErrorCode
	}{
		"a member, for another":      {member, "u2@acme.example", api.CodeForbidden},
		"an admin, for an owner":     {admin, "u0@acme.example", api.CodeForbidden},
		"an admin, for nobody there": {admin, "nobody@acme.example", api.CodeNotFound},
	} {
		if err := try(c.by, c.email); !api.IsCode(err, c.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, try(admin, "U3@acme.example "))
	if err := try(member, ""); !api.IsCode(err, api.CodeForbidden) {
		t.Errorf("a member takes a key that is trusted for another: %v", err)
	}
	must(t, try(h.localCaller, "u4@acme.example"))
	// The key of one user cannot import the clone of another.
	s.trustKey(s.localCaller, h.key(), "home")
	s.sync()
	s.setNote("offline")
	data, err := s.writeBundle(nil)
	must(t, err)
	if _, err := h.importBundle(data); !api.IsCode(err, api.CodeForbidden) {
		t.Errorf("the clone of another: %v", err)
	}
}

// revokeMembership ends the user's membership at the remote.
func (s *site) revokeMembership() {
	must(s.t, s.world.remote.db.Update(context.Background(), func(tx *store.Tx) error {
		m, err := store.Memberships.Get(tx, s.remoteCaller.UserID, s.remoteCaller.OrganizationID)
		m.Status = "suspended"
		return errors.Join(err, store.Memberships.Put(tx, &m))
	}))
}

func (w *world) conflicts() []api.SyncConflict {
	l, err := w.remote.sy.ListConflicts(
		context.Background(),
		w.remote.localCaller,
		&api.SyncConflictsInput{Paging: api.Paging{Limit: 200}, Status: "open"},
	)
	must(w.t, err)
	return l.Data
}

// TestRevokedMember checks that changes of a user who has lost access in the meantime wait for a
// user who may decide, whether they arrive over the network or in a bundle.
func TestRevokedMember(t *testing.T) {
	tarOf := func(t *testing.T, content string) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		must(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%x", sha256.Sum256([]byte(content))), Mode: 0o600, Size: int64(len(content))}))
		_, err := w.Write([]byte(content))
		must(t, errors.Join(err, w.Close()))
		return b.Bytes()
	}
	for _, way := range []string{"network", "bundle"} {
		for _, choice := range []string{"clone", "remote"} {
			t.Run(way+" "+choice, func(t *testing.T) {
				w := newWorld(t, 4, 1)
				s, h := w.sites[0], w.remote
				s.sync()
				s.exchangeKeys()
				s.setNote("offline")
				must(t, s.addDocument("seen on site"))
				s.revokeMembership()
				if way == "network" {
					p, err := s.prepare()
					must(t, err)
					must(t, transferFiles(s, h, s.localCaller, h.localCaller, p))
					// The user can no longer sign in, so an owner delivers the changes.
					_, err = h.sy.Push(context.Background(), h.localCaller, &api.PushSyncInput{AssessmentID: assessmentID, File: upload(p.Data)})
					must(t, err)
				} else {
					data, err := s.writeBundle(nil)
					must(t, err)
					out, err := h.importBundle(data)
					must(t, err)
					if out.Applied != 0 || out.Conflicts != 1 {
						t.Errorf("of somebody who is no member: %+v", out)
					}
				}
				open := w.conflicts()
				if len(open) != 1 || open[0].Kind != api.ConflictReplica || h.note() != "" {
					t.Fatalf("it waits as %+v, and the home has %q", open, h.note())
				}
				// The decision takes weeks, and other files arrive in the meantime; the files of the held batch are
				// kept.
				w.now = w.now.Add(30 * 24 * time.Hour)
				_, err := h.sy.UploadFiles(
					context.Background(),
					h.localCaller,
					&api.UploadSyncInput{AssessmentID: assessmentID, File: upload(tarOf(t, "of somebody else"))},
				)
				must(t, err)
				in := &api.ResolveSyncInput{SyncConflictInput: api.SyncConflictInput{ConflictID: open[0].ID}}
				in.Body.Choice = choice
				if _, err := h.sy.ResolveConflict(context.Background(), person(h.org, "u3", "person u3", api.RoleMember), in); !api.IsCode(
					err,
					api.CodeForbidden,
				) {
					t.Errorf("a member decides on it: %v", err)
				}
				_, err = h.sy.ResolveConflict(context.Background(), h.localCaller, in)
				must(t, err)
				if there := strings.Contains(h.dumpRecords(), "seen on site"); there != (choice == "clone") || len(w.conflicts()) > 0 {
					t.Errorf("decided for the %s, the document is there: %t; conflicts: %+v", choice, there, w.conflicts())
				}
				if want := map[string]string{"clone": "offline", "remote": ""}[choice]; h.note() != want {
					t.Errorf("decided for the %s, the home has %q", choice, h.note())
				}
				if way == "bundle" { // no bundle is written for a former member
					if _, err := h.writeBundle(nil); !api.IsCode(err, api.CodeInvalidState) {
						t.Errorf("a bundle for them: %v", err)
					}
				}
			})
		}
	}
}

// TestConcurrentSyncs checks that two concurrent syncs of the same clone lose nothing.
func TestConcurrentSyncs(t *testing.T) {
	w := newWorld(t, 5, 2)
	s, h := w.sites[0], w.remote
	s.sync()
	peer := s.exchangeKeys()
	s.setNote("offline")
	data, err := s.writeBundle(nil)
	must(t, err)
	once := func() error {
		p, err := s.prepare()
		if err != nil {
			return err
		}
		if p.ChangeCount > 0 {
			if _, err := s.push(p.Data); err != nil {
				return err
			}
			if err := s.acknowledge(p.Counter); err != nil {
				return err
			}
		}
		if p, err = s.fetch(); err != nil {
			return err
		}
		_, err = s.applyPush(p.Data)
		return err
	}
	var all gosync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			err := error(nil)
			if n%2 == 0 {
				err = once()
			} else {
				_, err = h.importBundle(data)
			}
			if err != nil && !api.IsCode(err, api.CodeInvalidState) {
				t.Errorf("beside others: %v", err)
			}
		})
	}
	all.Wait()
	s.sync()
	if got, want := s.dumpRecords(), h.dumpRecords(); got != want {
		t.Fatalf("they differ:\n%s", difference(want, got))
	}
	if h.note() != "offline" || len(w.conflicts()) != 0 {
		t.Errorf("the home has %q, with %v", h.note(), w.conflicts())
	}
	// Two concurrent imports of the same response have the effect of one.
	s.setNote("again")
	data, err = s.writeBundle(nil)
	must(t, err)
	_, err = h.importBundle(data)
	must(t, err)
	back, err := h.writeBundle(peer)
	must(t, err)
	for range 4 {
		all.Go(func() {
			if _, err := s.importBundle(back); err != nil && !api.IsCode(err, api.CodeInvalidState) {
				t.Errorf("beside others: %v", err)
			}
		})
	}
	all.Wait()
	if _, err := s.importBundle(back); err != nil {
		t.Error(err)
	}
	if got, want := s.dumpRecords(), h.dumpRecords(); got != want {
		t.Fatalf("they differ:\n%s", difference(want, got))
	}
	for _, x := range []*site{s, h} {
		must(t, x.db.View(context.Background(), func(tx *store.Tx) error { _, _, err := audit.VerifyStored(tx, x.org); return err }))
	}
}

// FuzzDecodeFile decodes any bytes as a file of the protocol.
func FuzzDecodeFile(f *testing.F) {
	w := newWorld(f, 6, 1)
	s := w.sites[0]
	page, err := s.fetch()
	must(f, err)
	s.sync()
	s.setNote("offline")
	batch, err := s.prepare()
	must(f, err)
	for _, data := range [][]byte{page.Data, batch.Data} {
		z, err := gzip.NewReader(bytes.NewReader(data))
		must(f, err)
		text, err := io.ReadAll(z)
		must(f, err)
		f.Add(text, true)
		f.Add(data, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, pack bool) {
		if pack {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(data)
			_ = z.Close()
			data = b.Bytes()
		}
		for _, kind := range []string{"batch", "changes"} {
			_, err := sync.CountChanges(data, kind)
			var told *api.Error
			if err != nil && !errors.As(err, &told) {
				t.Error(err)
			}
		}
	})
}
