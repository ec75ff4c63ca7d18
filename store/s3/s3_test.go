package s3

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/s3test"
	"github.com/scf-service/service/store/kv"
)

func TestMain(m *testing.M) { s3test.Main(m) }

func noEnv(string) string { return "" }

func open(t *testing.T, address string) *Bucket {
	t.Helper()
	b, err := Open(t.Context(), address, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t *testing.T, b *Bucket, name, content string) error {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	return b.Put(t.Context(), name, f, int64(3*len(content)))
}

func get(t *testing.T, b *Bucket, name string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := b.Get(t.Context(), name, &out)
	return out.String(), err
}

func TestBucket(t *testing.T) {
	server := s3test.Start(t)
	b := open(t, server.Address("files", "grc/blobs"))
	other := open(t, server.Address("files", "other"))
	if err := put(t, b, "ab/cd", "content"); err != nil {
		t.Fatal(err)
	}
	if got, err := get(t, b, "ab/cd"); got != "content" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	at, size, err := b.Stat(t.Context(), "ab/cd")
	if size != 21 || time.Since(at).Abs() > time.Hour || err != nil {
		t.Errorf("%d bytes at %s, %v", size, at, err)
	}
	if err := b.Copy(t.Context(), "ab/cd", "trash/ab/cd"); err != nil {
		t.Fatal(err)
	}
	if _, size, err := b.Stat(t.Context(), "trash/ab/cd"); size != 21 || err != nil {
		t.Errorf("the copy has a size of %d, %v", size, err)
	}
	var names []string
	list := func(b *Bucket) []string {
		names = nil
		if err := b.List(t.Context(), "", func(name string, _ time.Time) error { names = append(names, name); return nil }); err != nil {
			t.Fatal(err)
		}
		return names
	}
	if got := list(b); !slices.Equal(got, []string{"ab/cd", "trash/ab/cd"}) {
		t.Errorf("the objects are %q", got)
	}
	if got := list(other); len(got) > 0 {
		t.Errorf("another prefix has %q", got)
	}
	for range 2 {
		if err := b.Delete(t.Context(), "ab/cd"); err != nil {
			t.Error(err)
		}
	}
	if _, err := get(t, b, "ab/cd"); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("a deleted object: %v", err)
	}
	if _, _, err := b.Stat(t.Context(), "ab/cd"); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("a deleted object: %v", err)
	}
}

func TestUnavailableBucket(t *testing.T) {
	server := s3test.Start(t)
	b := open(t, server.Address("files", ""))
	server.Answer(t, 503)
	if err := put(t, b, "a", "x"); !errors.Is(err, kv.ErrUnavailable) {
		t.Errorf("a bucket that answers 503: %v", err)
	}
	server.Answer(t, 403)
	if err := put(t, b, "a", "x"); !errors.Is(err, kv.ErrReadOnly) {
		t.Errorf("a bucket that answers 403: %v", err)
	}
	server.Answer(t, 0)
	if err := put(t, b, "a", "x"); err != nil {
		t.Error(err)
	}
	// An error of a full disk must not be attributed to the bucket.
	closed, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	if err := b.Get(t.Context(), "a", closed); err == nil || errors.Is(err, kv.ErrUnavailable) {
		t.Errorf("into a file that can't be written: %v", err)
	}
	if _, err := Open(t.Context(), server.Address("missing", ""), noEnv); err == nil {
		t.Error("opened a bucket that doesn't exist")
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{
		"", "files", "https://files", "s3://", "s3://key:secret@files", "s3://files?end_point=https://a", "s3://files?endpoint=a:9000",
		"s3://files?endpoint=https://a/b", "s3://files?path_style=perhaps",
	} {
		if _, err := parse(address, noEnv); err == nil {
			t.Errorf("%q was accepted", address)
		}
	}
}
