package sync_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/fulldisktest"
	"github.com/scf-service/service/store"
)

// TestDiskFull checks that a full disk on either side changes nothing, and that syncing continues
// once there is space again.
func TestDiskFull(t *testing.T) {
	if fulldisktest.RunInSubprocess(t) {
		return
	}
	w := newWorld(t, 7, 1)
	s, h := w.sites[0], w.remote
	s.sync()
	peer := s.exchangeKeys()
	content := strings.Repeat("a file that is larger than what is left. ", 20_000)
	must(t, s.addDocument(content))
	s.setNote("offline")
	data, err := s.writeBundle(nil)
	must(t, err)
	p, err := s.prepare()
	must(t, err)
	before := h.dumpRecords()
	full := func(what string, try func() error) {
		t.Helper()
		undo := fulldisktest.LimitFileSize(t, 4<<10)
		err := try()
		undo()
		if !errors.Is(err, store.ErrDiskFull) {
			t.Errorf("%s on a full disk: %v", what, err)
		}
	}
	full("bringing files", func() error { return transferFiles(s, h, s.localCaller, s.remoteCaller, p) })
	full("a bundle to the home", func() error { _, err := h.importBundle(data); return err })
	if h.dumpRecords() != before {
		t.Error("the home has changed")
	}
	_, err = h.importBundle(data)
	must(t, err)
	must(t, h.addDocument(strings.Repeat("another large file, of the home. ", 20_000)))
	back, err := h.writeBundle(peer)
	must(t, err)
	mine := s.dumpRecords()
	full("a bundle to the clone", func() error { _, err := s.importBundle(back); return err })
	if s.dumpRecords() != mine {
		t.Error("the clone has changed")
	}
	_, err = s.importBundle(back)
	must(t, err)
	if got, want := s.dumpRecords(), h.dumpRecords(); got != want {
		t.Errorf("they differ:\n%s", difference(want, got))
	}
}
