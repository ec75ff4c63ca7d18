package enginetest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/store"
)

// passages returns a document and its passages.
func (d *syncEngine) passages(t *testing.T, id string) (doc store.Document, all []api.Chunk) {
	t.Helper()
	mustSucceed(t, d.db.View(t.Context(), func(tx *store.Tx) (err error) {
		if doc, err = store.Documents.Get(tx, d.by.OrganizationID, id); err == nil {
			all, err = evidence.DocumentPassages(tx, &doc)
		}
		return err
	}))
	for i := range all {
		all[i].OrganizationID = ""
	}
	return doc, all
}

func (d *syncEngine) add(t *testing.T, assessment, name, content string) string {
	t.Helper()
	doc, err := d.Evidence.Upload(
		t.Context(),
		d.by,
		&api.UploadDocumentInput{
			AssessmentInput: api.AssessmentInput{AssessmentID: assessment},
			File:            api.UploadFile{Filename: name, Content: strings.NewReader(content)},
		},
	)
	mustSucceed(t, err)
	mustSucceed(t, d.Evidence.WaitForDocuments(t.Context(), d.by, assessment))
	return doc.ID
}

// setEvidence sets the evidence of the first line of the Statement of Applicability.
func (d *syncEngine) setEvidence(t *testing.T, assessment string, e ...api.Evidence) {
	t.Helper()
	line := d.soaItems(t, assessment)[0].ID
	mustSucceed(t, d.db.Update(t.Context(), func(tx *store.Tx) error {
		it, err := store.SoAItems.Get(tx, d.by.OrganizationID, line)
		if err == nil {
			it.Evidence = e
			err = store.SoAItems.Put(tx, d.by.OrganizationID, &it)
		}
		return err
	}))
}

// syncNotes syncs both engines and returns the remote's notes.
func (d *syncEngine) syncNotes(t *testing.T, home *syncEngine, id string) string {
	t.Helper()
	p, err := d.Sync.PrepareBatch(t.Context(), d.by, &api.PrepareSyncInput{AssessmentID: id})
	mustSucceed(t, err)
	home.carry(t, d, p)
	out, err := home.Sync.Push(
		t.Context(),
		home.by,
		&api.PushSyncInput{AssessmentID: id, File: api.UploadFile{Filename: "b", Content: bytes.NewReader(p.Data)}},
	)
	mustSucceed(t, err)
	d.sync(t, home, id)
	return strings.Join(out.Notes, "\n")
}

const honest = "# Access\n\nAccess rights are approved by the head of IT.\n\n# Review\n\nRights are reviewed every quarter by their owners."

// TestPassagesAreTheFiles checks that the remote reads a clone's files itself, and ignores the
// clone's passages and quotes that don't match them.
func TestPassagesAreTheFiles(t *testing.T) {
	home, away := newSyncEngine(t), newSyncEngine(t)
	id := home.large(t, 3, 1)
	away.cloneFrom(t, home, id)
	away.sync(t, home, id)

	// Correct passages keep the IDs that they got offline.
	doc := away.add(t, id, "access.md", honest)
	_, there := away.passages(t, doc)
	true1 := api.Evidence{ChunkID: there[0].ID, DocumentID: doc, Quote: "approved by the head of IT", Stance: "supports"}
	away.setEvidence(t, id, true1)
	if notes := away.syncNotes(t, home, id); notes != "" {
		t.Errorf("of an honest document the home says %q", notes)
	}
	same := func(doc string) (store.Document, []api.Chunk) {
		t.Helper()
		atHome, a := home.passages(t, doc)
		_, b := away.passages(t, doc)
		if len(a) != len(b) {
			t.Fatalf("%d passages at the home, and %d at the clone", len(a), len(b))
		}
		for i := range a {
			if a[i].ID != b[i].ID || a[i].Text != b[i].Text || a[i].Locator != b[i].Locator {
				t.Errorf("the home has %+v, and the clone %+v", a[i], b[i])
			}
		}
		return atHome, a
	}
	if _, now := same(doc); len(now) != len(there) || now[0].ID != there[0].ID {
		t.Errorf("they came as %+v and are %+v", there, now)
	}

	// This passage has more text than its file, is from another page, and names a false approver.
	doc = away.add(t, id, "more.md", strings.ReplaceAll(honest, "IT", "operations"))
	_, there = away.passages(t, doc)
	mustSucceed(t, away.db.Update(t.Context(), func(tx *store.Tx) error {
		c := there[0]
		c.OrganizationID, c.Text, c.Locator.Page = away.by.OrganizationID, c.Text+" Every sign-in needs a second factor.", 7
		d, err := store.Documents.Get(tx, away.by.OrganizationID, doc)
		if err != nil {
			return err
		}
		d.ApprovedBy, d.PageCount = "the board", 70
		if err := store.Documents.Put(tx, away.by.OrganizationID, &d); err != nil {
			return err
		}
		return store.Chunks.Put(tx, away.by.OrganizationID, &store.Chunk{Chunk: c, Set: d.PassageSet})
	}))
	true2 := api.Evidence{ChunkID: there[0].ID, DocumentID: doc, Quote: "approved by the head of operations", Stance: "supports"}
	away.setEvidence(
		t,
		id,
		true2,
		api.Evidence{ChunkID: there[0].ID, DocumentID: doc, Quote: "Every sign-in needs a second factor.", Stance: "supports"},
	)
	if notes := away.syncNotes(
		t,
		home,
		id,
	); !strings.Contains(notes, "more.md: received passages that do not occur in this copy of the file were omitted (1)") ||
		!strings.Contains(notes, "1 quote in") {
		t.Errorf("the home says %q", notes)
	}
	at, now := same(doc)
	if at.ApprovedBy != "" || at.PageCount == 70 || strings.Contains(now[0].Text, "second factor") || now[0].ID != there[0].ID ||
		now[0].Locator.Page != 0 {
		t.Errorf("the home has %+v with %+v", at, now[0])
	}
	for _, d := range []*syncEngine{home, away} {
		if e := d.soaItems(t, id)[0].Evidence; len(e) != 1 || e[0].Quote != true2.Quote {
			t.Errorf("the line rests on %+v", e)
		}
	}

	// An unreadable file has no passages here, whatever was sent.
	doc = away.add(t, id, "scan.bin", "\x00\x01\x02 nothing to read\x00")
	mustSucceed(t, away.db.Update(t.Context(), func(tx *store.Tx) error {
		d, err := store.Documents.Get(tx, away.by.OrganizationID, doc)
		if err != nil {
			return err
		}
		d.Status, d.Error, d.ChunkCount = api.DocumentIngested, nil, 1
		c := api.Chunk{
			ID:             "01a00000-0000-7000-8000-00000000abcd",
			OrganizationID: away.by.OrganizationID,
			DocumentID:     doc,
			AssessmentID:   id,
			Text:           "The vault is guarded.",
			SHA256:         strings.Repeat("a", 64),
		}
		if err := store.Documents.Put(tx, away.by.OrganizationID, &d); err != nil {
			return err
		}
		return store.Chunks.Insert(tx, away.by.OrganizationID, &store.Chunk{Chunk: c, Set: d.PassageSet})
	}))
	away.setEvidence(
		t,
		id,
		true2,
		api.Evidence{ChunkID: "01a00000-0000-7000-8000-00000000abcd", DocumentID: doc, Quote: "The vault is guarded.", Stance: "supports"},
	)
	if notes := away.syncNotes(t, home, id); !strings.Contains(notes, "scan.bin can't be parsed on this machine") ||
		!strings.Contains(notes, "1 quote in") {
		t.Errorf("the home says %q", notes)
	}
	if at, now := same(doc); at.Status != api.DocumentFailed || at.Error == nil || len(now) != 0 || at.ChunkCount != 0 {
		t.Errorf("the home has %+v with %+v", at, now)
	}
	for _, d := range []*syncEngine{home, away} {
		if e := d.soaItems(t, id)[0].Evidence; len(e) != 1 || e[0].Quote != true2.Quote {
			t.Errorf("the line rests on %+v", e)
		}
	}
}
