package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestFileSample checks that a sample has the requested size, that it differs between checks but not between stores
// with the same IDs, and that a missing file is found even if it is not in the sample.
func TestFileSample(t *testing.T) {
	openFilled := func() *DB {
		o := options(filepath.Join(t.TempDir(), "data"))
		o.Schema = ServiceSchema
		db := open(t, o)
		for i := range 40 {
			_, err := db.Blobs().Put(t.Context(), strings.NewReader(fmt.Sprint("file ", i)), 100)
			is(t, "Put", err, nil)
		}
		return db
	}
	sample := func(db *DB) (chosen []string) {
		existing, err := db.listBlobs(t.Context())
		is(t, "listBlobs", err, nil)
		var names []string
		for sha := range existing {
			names = append(names, sha)
		}
		for sha := range db.chooseSample(names, existing, 10) {
			chosen = append(chosen, sha)
		}
		slices.Sort(chosen)
		return chosen
	}
	db, same := openFilled(), openFilled()
	first, again := sample(db), sample(same)
	if len(first) != 10 || !slices.Equal(first, again) {
		t.Errorf("the samples of equal stores are %v and %v", first, again)
	}
	if second := sample(db); slices.Equal(first, second) {
		t.Errorf("two checks read the same files: %v", first)
	}
	c, err := db.CheckFiles(t.Context(), FileCheckOptions{Sample: 10})
	is(t, "CheckFiles", err, nil)
	if want := "10 of 40 files checked, none damaged; to check all files, run `service audit verify`"; c.String() != want {
		t.Errorf("got %s, want %s", c, want)
	}
	for _, n := range []int{0, 40, 41} {
		if c, err := db.CheckFiles(t.Context(), FileCheckOptions{Sample: n}); err != nil || c.String() != "40 read, none damaged" {
			t.Errorf("sample of %d: got %s, %v", n, c, err)
		}
	}

	d := Document{Document: api.Document{TenantRecord: api.TenantRecord{OrganizationID: "acme"}}}
	d.ID, d.Filename, d.SHA256 = "d", "gone.md", strings.Repeat("ab", 32)
	update(t, db, func(tx *Tx) error { return Documents.Insert(tx, "acme", &d) })
	c, err = db.CheckFiles(t.Context(), FileCheckOptions{Sample: 10})
	is(t, "CheckFiles", err, nil)
	if want := `11 of 41 files checked, 1 of 11 damaged: document "gone.md" (blob abab`; !strings.HasPrefix(c.String(), want) {
		t.Errorf("got %s, want %s", c, want)
	}
	path, err := db.blobs.path(first[0])
	is(t, "path", err, nil)
	is(t, "damage", os.WriteFile(path, []byte("filf 1"), 0o600), nil)
	if c, err = db.CheckFiles(t.Context(), FileCheckOptions{}); err != nil || len(c.Problems) != 2 {
		t.Errorf("got %s, %v", c, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = db.CheckFiles(ctx, FileCheckOptions{})
	is(t, "canceled", err, context.Canceled)
}
