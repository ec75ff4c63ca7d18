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
	"testing/iotest"
	"time"
)

// files returns the names of the files below a folder of the data folder.
func files(t testing.TB, db *DB, folder string) []string {
	t.Helper()
	got := []string{}
	err := filepath.WalkDir(filepath.Join(db.dir, folder), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			got = append(got, d.Name())
		}
		return err
	})
	is(t, "walking", err, nil)
	return got
}

func read(t testing.TB, db *DB, sha string) string {
	t.Helper()
	f, size, err := db.Blobs().Open(t.Context(), sha)
	is(t, "Open", err, nil)
	defer f.Close()
	b, err := io.ReadAll(f)
	if is(t, "read", err, nil); int64(len(b)) != size {
		t.Fatalf("%d bytes, the size is %d", len(b), size)
	}
	return string(b)
}

func TestBlobs(t *testing.T) {
	db := openNew(t)
	b := db.Blobs()
	blob, err := b.Put(t.Context(), iotest.OneByteReader(strings.NewReader("policy")), 6)
	is(t, "Put", err, nil)
	if blob.Size != 6 || read(t, db, blob.SHA256) != "policy" {
		t.Errorf("got %+v", blob)
	}
	again, err := b.Put(t.Context(), strings.NewReader("policy"), 100)
	if is(t, "Put again", err, nil); again != blob {
		t.Errorf("the same content has two names: %v, %v", blob, again)
	}
	empty, err := b.Put(t.Context(), strings.NewReader(""), 0)
	if is(t, "Put nothing", err, nil); read(t, db, empty.SHA256) != "" {
		t.Errorf("got %+v", empty)
	}
	same(t, "files", files(t, db, dirBlobs), blob.SHA256[2:], empty.SHA256[2:])

	_, err = b.Put(t.Context(), strings.NewReader("policy!"), 6)
	is(t, "too large", err, ErrTooLarge)
	broken := errors.New("broken pipe")
	_, err = b.Put(t.Context(), io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), 100)
	is(t, "broken reader", err, broken)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = b.Put(ctx, readerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil }), 1<<40)
	is(t, "cancelled", err, context.Canceled)
	_, err = b.Put(ctx, strings.NewReader("x"), 1)
	is(t, "cancelled before", err, context.Canceled)
	same(t, "nothing half-written", files(t, db, dirTemp))

	for _, bad := range []string{"", "..", "../../service.db", strings.Repeat("A", 64), strings.Repeat("a", 63), strings.Repeat("/", 64)} {
		_, _, err := b.Open(t.Context(), bad)
		is(t, "Open "+bad, err, ErrBadKey)
		is(t, "Delete "+bad, b.Delete(t.Context(), bad), ErrBadKey)
	}
	_, _, err = b.Open(t.Context(), strings.Repeat("0a", 32))
	is(t, "Open of none", err, ErrNotFound)
	is(t, "Verify of none", b.Verify(t.Context(), strings.Repeat("0a", 32)), ErrNotFound)
	is(t, "Delete of none", b.Delete(t.Context(), strings.Repeat("0a", 32)), ErrNotFound)

	f, _, err := b.Open(t.Context(), blob.SHA256)
	is(t, "Open", err, nil)
	is(t, "Delete", b.Delete(t.Context(), blob.SHA256), nil)
	_, err = f.Seek(3, io.SeekStart)
	is(t, "Seek", err, nil)
	rest, err := io.ReadAll(f)
	if is(t, "reading what was deleted", errors.Join(err, f.Close()), nil); string(rest) != "icy" {
		t.Errorf("got %q", rest)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestBlobRot(t *testing.T) {
	db := openNew(t)
	b := db.Blobs()
	blob, err := b.Put(t.Context(), strings.NewReader("policy"), 100)
	is(t, "Put", err, nil)
	is(t, "Verify", b.Verify(t.Context(), blob.SHA256), nil)
	path, err := b.path(blob.SHA256)
	is(t, "path", err, nil)
	for _, rotten := range []string{"pulicy", "poli", ""} {
		is(t, "rot", os.WriteFile(path, []byte(rotten), 0o600), nil)
		is(t, "Verify of rot", b.Verify(t.Context(), blob.SHA256), ErrCorrupt)
		_, err = b.Put(t.Context(), strings.NewReader("policy"), 100)
		is(t, "Put again", err, nil)
		is(t, "Verify when mended", b.Verify(t.Context(), blob.SHA256), nil)
	}
}

func TestSweep(t *testing.T) {
	o := options(t.TempDir())
	c := &clock{now: day}
	o.Clock = c.Now
	db := open(t, o)
	b := db.Blobs()
	put := func(s string) string {
		t.Helper()
		blob, err := b.Put(t.Context(), strings.NewReader(s), 100)
		is(t, "Put", err, nil)
		return blob.SHA256
	}
	wanted, unwanted, again := put("wanted"), put("unwanted"), put("again")
	is(t, "a stranger's file", os.WriteFile(filepath.Join(b.dir, "README"), nil, 0o600), nil)
	c.add(2 * time.Hour)
	fresh := put("fresh")
	put("again") // deduplicated; its record has not been written yet
	gone, err := b.DeleteUnused(t.Context(), func(sha string) bool { return sha == wanted }, time.Hour)
	is(t, "Sweep", err, nil)
	same(t, "deleted", gone, unwanted)
	for _, sha := range []string{wanted, again, fresh} {
		is(t, "Verify", b.Verify(t.Context(), sha), nil)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = b.DeleteUnused(ctx, func(string) bool { return false }, 0)
	is(t, "cancelled", err, context.Canceled)
}

// TestUnfinishedFilesAreDeleted checks that nothing else is deleted in a folder that contained other files before.
func TestUnfinishedFilesAreDeleted(t *testing.T) {
	dir := t.TempDir()
	is(t, "Mkdir", os.Mkdir(filepath.Join(dir, dirTemp), 0o700), nil)
	is(t, "WriteFile", os.WriteFile(filepath.Join(dir, dirTemp, "precious"), nil, 0o600), nil)
	db := open(t, options(dir))
	is(t, "WriteFile", os.WriteFile(tempPath(dir, "half"), bytes.Repeat([]byte("x"), 100), 0o600), nil)
	is(t, "Close", db.Close(), nil)
	db = open(t, options(dir))
	same(t, "tmp", files(t, db, dirTemp), "precious")
}
