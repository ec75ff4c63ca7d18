package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/s3test"
	"github.com/scf-service/service/store/s3"
)

// openWithBucket opens a store whose files are in a bucket. Its clock can be advanced.
func openWithBucket(t *testing.T) (db *DB, server *s3test.Server, ahead *time.Duration) {
	t.Helper()
	server, ahead = s3test.Start(t), new(time.Duration)
	bucket, err := s3.Open(t.Context(), server.Address("files", "grc"), os.Getenv)
	is(t, "s3.Open", err, nil)
	o := options(t.TempDir())
	o.Objects, o.Clock = bucket, func() time.Time { return time.Now().Add(*ahead) }
	return open(t, o), server, ahead
}

func listedBlobs(t *testing.T, db *DB) (all []string) {
	t.Helper()
	is(t, "ForEach", db.Blobs().ForEach(t.Context(), func(sha string) error { all = append(all, sha); return nil }), nil)
	return all
}

func TestBlobsInBucket(t *testing.T) {
	db, server, _ := openWithBucket(t)
	b := db.Blobs()
	for _, content := range []string{"x", "short", strings.Repeat("evidence ", 9000)} {
		blob, err := b.Put(t.Context(), strings.NewReader(content), 1<<20)
		is(t, "Put", err, nil)
		f, size, err := b.Open(t.Context(), blob.SHA256)
		is(t, "Open", err, nil)
		got, err := io.ReadAll(f)
		if is(t, "ReadAll", errors.Join(err, f.Close()), nil); string(got) != content || size != int64(len(content)) {
			t.Errorf("%d bytes instead of %d", size, len(content))
		}
		if size, err := b.Size(t.Context(), blob.SHA256); size != int64(len(content)) || err != nil {
			t.Errorf("Size: %d, %v", size, err)
		}
	}
	all := listedBlobs(t, db)
	if len(all) != 3 {
		t.Fatalf("the blobs are %q", all)
	}
	_, err := b.Put(t.Context(), strings.NewReader("too long"), 3)
	is(t, "too long", err, ErrTooLarge)

	// A lost object is an error that names the record it belongs to.
	server.Delete(t, "files", "grc/"+objectName(all[0]))
	is(t, "a lost object", b.Verify(t.Context(), all[0]), ErrNotFound)
	_, _, err = b.OpenFileOf(t.Context(), `document "policy.md"`, all[0])
	if is(t, "of a record", err, ErrCorrupt); !strings.Contains(err.Error(), `document "policy.md"`) {
		t.Error(err)
	}

	// While the bucket fails, nothing is stored or left behind. Afterwards, everything works again.
	server.Answer(t, 503)
	_, err = b.Put(t.Context(), strings.NewReader("later"), 100)
	is(t, "Put at 503", err, ErrUnavailable)
	is(t, "Verify at 503", b.Verify(t.Context(), all[1]), ErrUnavailable)
	server.Answer(t, 0)
	is(t, "Verify", b.Verify(t.Context(), all[1]), nil)
	if got := listedBlobs(t, db); len(got) != 2 {
		t.Errorf("the blobs are %q", got)
	}
	left, err := os.ReadDir(filepath.Join(db.dir, dirTemp))
	if is(t, "ReadDir", err, nil); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestUnusedBlobsInBucket deletes blobs that nothing refers to, while another process starts referring to one of
// them.
func TestUnusedBlobsInBucket(t *testing.T) {
	db, _, ahead := openWithBucket(t)
	b := db.Blobs()
	var blobs []Blob
	for _, content := range []string{"used", "unused", "used again"} {
		blob, err := b.Put(t.Context(), strings.NewReader(content), 100)
		is(t, "Put", err, nil)
		blobs = append(blobs, blob)
	}
	sweep := func(used ...Blob) int {
		t.Helper()
		deleted, err := b.DeleteUnused(t.Context(), func(sha string) bool {
			for _, u := range used {
				if u.SHA256 == sha {
					return true
				}
			}
			return false
		}, 24*time.Hour)
		is(t, "DeleteUnused", err, nil)
		return len(deleted)
	}
	if n := sweep(blobs[0]); n != 0 {
		t.Errorf("deleted %d blobs that are new", n)
	}
	*ahead = 25 * time.Hour
	if n := sweep(blobs[0]); n != 2 {
		t.Errorf("deleted %d blobs", n)
	}
	if got := listedBlobs(t, db); len(got) != 1 {
		t.Errorf("the blobs are %q", got)
	}
	is(t, "a blob that is used again", b.Verify(t.Context(), blobs[2].SHA256), nil)
	if got := listedBlobs(t, db); len(got) != 2 {
		t.Errorf("the blobs are %q", got)
	}
	*ahead = 9 * 24 * time.Hour
	sweep(blobs[0], blobs[2])
	is(t, "after a week", b.Verify(t.Context(), blobs[1].SHA256), ErrNotFound)
	is(t, "a used blob", b.Verify(t.Context(), blobs[2].SHA256), nil)
}

// TestBackupOfBucket backs up and restores a store whose files are in a bucket.
func TestBackupOfBucket(t *testing.T) {
	db, _, _ := openWithBucket(t)
	blob, err := db.Blobs().Put(t.Context(), bytes.NewReader(bytes.Repeat([]byte("evidence "), 9000)), 1<<20)
	is(t, "Put", err, nil)
	path := filepath.Join(t.TempDir(), "backup")
	is(t, "Backup", backUp(context.WithoutCancel(t.Context()), db, path), nil)
	o := options(t.TempDir())
	_, err = Restore(t.Context(), path, o, ReadOptions{})
	is(t, "Restore", err, nil)
	is(t, "Verify", open(t, o).Blobs().Verify(t.Context(), blob.SHA256), nil)
}
