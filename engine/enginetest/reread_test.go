package enginetest_test

import (
	"context"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/store"
)

// reader is an OCR program that can be replaced by a better one.
type reader struct{ text atomic.Value }

func (r *reader) RecognizeText(context.Context, []byte) (string, error) {
	return r.text.Load().(string), nil
}

// TestOutdatedDocuments checks that a document read by an older reader is outdated until it is read again, and that
// lines keep the quotes that a user saw at the time.
func TestOutdatedDocuments(t *testing.T) {
	ocr := &reader{}
	ocr.text.Store("Access policy\n\nAdministrators use multi-factor authentication at every login.\n" +
		"The IT lead reviews the access rights of all users each quarter.\n")
	e, db, _ := openEngine(t, engine.Options{OCR: ocr})
	b := &bench{Engine: e, by: localUser(t, e)}
	a := b.assess(t, "iso-27001-2022", fstest.MapFS{
		"scan.png":  {Data: []byte("\x89PNG\r\n\x1a\n")},
		"broken.7z": {Data: []byte("7z\xbc\xaf\x27\x1c")},
		"notes.md":  {Data: []byte("# Notes\n\nBackups are made each night.\n")},
	}, api.StateSoADrafted)

	outdated := func() (names []string) {
		t.Helper()
		docs, err := b.Evidence.List(t.Context(), b.by, &api.DocumentsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range docs.Data {
			if d.Outdated {
				names = append(names, d.Filename)
			}
		}
		st, err := b.Assessments.Status(t.Context(), b.by, &api.AssessmentInput{AssessmentID: a.ID})
		if err != nil {
			t.Fatal(err)
		}
		stats, err := b.Evidence.Stats(t.Context(), b.by, nil)
		if err != nil {
			t.Fatal(err)
		}
		if st.OutdatedDocuments != len(names) || stats.OutdatedDocuments != len(names) {
			t.Errorf("%q, but %d in the status and %d in the statistics", names, st.OutdatedDocuments, stats.OutdatedDocuments)
		}
		slices.Sort(names)
		return names
	}
	if got := outdated(); got != nil {
		t.Fatalf("just read: %q", got)
	}
	var ids []string
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		for d, err := range store.Documents.Scan(tx, b.by.OrganizationID) {
			if err != nil {
				return err
			}
			if d.Filename == "notes.md" {
				continue
			}
			for name := range d.Readers {
				d.Readers[name]-- // as if an older version had read it
			}
			if err := store.Documents.Put(tx, b.by.OrganizationID, &d); err != nil {
				return err
			}
			ids = append(ids, d.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := outdated(); !slices.Equal(got, []string{"broken.7z", "scan.png"}) {
		t.Errorf("read by an older version: %q", got)
	}

	quoted := func() *api.SoAItem {
		t.Helper()
		for _, i := range b.soaItems(t, a.ID) {
			if len(i.Evidence) > 0 && i.Evidence[0].Filename == "scan.png" {
				return &i
			}
		}
		t.Fatal("no line quotes the picture")
		return nil
	}
	decided, err := b.setOwner(t, quoted().ID, "Zoë", api.Match{})
	if err != nil {
		t.Fatal(err)
	}
	ocr.text.Store("Access policy\n\nThe canteen opens at noon.\n")
	for _, id := range ids {
		if _, err := b.Evidence.Reprocess(t.Context(), b.by, &api.DocumentInput{DocumentID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if got := outdated(); slices.Contains(got, "scan.png") && slices.Contains(got, "broken.7z") {
		t.Errorf("queued documents are outdated: %q", got)
	}
	if err := b.Evidence.WaitForDocuments(t.Context(), b.by, a.ID); err != nil {
		t.Fatal(err)
	}
	if got := outdated(); got != nil {
		t.Errorf("read again: %q", got)
	}
	if got := quoted(); got.ID != decided.ID || !reflect.DeepEqual(got.Evidence, decided.Evidence) || !got.NeedsReview {
		t.Errorf("the line had the quotes %+v and has %+v; needs review: %v", decided.Evidence, got.Evidence, got.NeedsReview)
	}
}
