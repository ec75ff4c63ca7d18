package sync_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

// TestRestoredRemoteBundles checks that a remote that was restored from a backup and changed since
// is detected: its bundles are rejected, and the clone stays as it was.
func TestRestoredRemoteBundles(t *testing.T) {
	w := newWorld(t, 12, 1)
	s, h := w.sites[0], w.remote
	peer := s.exchangeKeys()
	exchange := func() {
		t.Helper()
		there, err := s.writeBundle(nil)
		must(t, err)
		_, err = h.importBundle(there)
		must(t, err)
		back, err := h.writeBundle(peer)
		must(t, err)
		_, err = s.importBundle(back)
		must(t, err)
	}
	exchange()
	must(t, h.db.Close())
	h.db = nil
	backup := filepath.Join(t.TempDir(), "backup")
	must(t, os.CopyFS(backup, os.DirFS(h.dir)))
	h.reopen()
	must(t, h.addDocument("what is lost"))
	h.setNote("what is lost as well")
	exchange()
	must(t, h.db.Close())
	h.db, h.dir = nil, backup
	h.reopen()
	w.now = w.now.Add(time.Hour)
	before := s.dumpRecords()
	refused := func(words string) {
		t.Helper()
		back, err := h.writeBundle(peer)
		must(t, err)
		if _, err := s.importBundle(back); !api.IsCode(err, api.CodeInvalidState) || !strings.Contains(err.Error(), words) {
			t.Errorf("it is %v, not a refusal with %q", err, words)
		}
		if s.dumpRecords() != before {
			t.Fatal("the clone has changed")
		}
	}
	for n := range 40 {
		h.setNote(fmt.Sprintf("written after it was restored, %d", n))
		must(t, h.addDocument(fmt.Sprintf("another document %d", n)))
	}
	refused("was already imported with different content")
	refused("differs from the history that this clone has read")
	// In the other direction, the remote rejects the clone.
	there, err := s.writeBundle(nil)
	must(t, err)
	if _, err := h.importBundle(there); !api.IsCode(err, api.CodeInvalidState) ||
		!strings.Contains(err.Error(), "the remote was restored from a backup") {
		t.Errorf("a bundle of a clone that has read more: %v", err)
	}
}

// TestTwoCopiesOfAClone checks that a copied or restored clone folder does not treat changes that
// the remote applied for the other copy as its own.
func TestTwoCopiesOfAClone(t *testing.T) {
	w := newWorld(t, 13, 1)
	s, h := w.sites[0], w.remote
	s.sync()
	peer := s.exchangeKeys()
	must(t, s.db.Close())
	s.db = nil
	copied := *s
	copied.name, copied.dir = "copy", filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(copied.dir, os.DirFS(s.dir)))
	s.reopen()
	copied.reopen()
	t.Cleanup(func() { _ = errors.Join(s.db.Close(), copied.db.Close()) })
	must(t, s.addDocument("of the one"))
	must(t, copied.addDocument("of the other"))
	one, err := s.writeBundle(nil)
	must(t, err)
	other, err := copied.writeBundle(nil)
	must(t, err)
	_, err = h.importBundle(one)
	must(t, err)
	if _, err := h.importBundle(other); !api.IsCode(err, api.CodeInvalidState) ||
		!strings.Contains(err.Error(), "two copies of that data are in use") {
		t.Errorf("the other's bundle: %v", err)
	}
	answer, err := h.writeBundle(peer)
	must(t, err)
	if _, err := copied.importBundle(answer); !api.IsCode(err, api.CodeInvalidState) ||
		!strings.Contains(err.Error(), "differs from the changes pending here") {
		t.Errorf("the answer to the one, at the other: %v", err)
	}
	st, err := copied.sy.Status(context.Background(), copied.localCaller, &api.SyncInput{AssessmentID: assessmentID})
	must(t, err)
	if st.Ahead == 0 {
		t.Error("what the other did counts as sent")
	}
	_, err = s.importBundle(answer)
	must(t, err)
}
