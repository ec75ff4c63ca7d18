package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// compressible returns n bytes of compressible text.
func compressible(n int) []byte {
	var b []byte
	for i := 0; len(b) < n; i++ {
		b = append(strconv.AppendInt(append(b, "control "...), int64(i), 10), " is implemented and reviewed once a year; "...)
	}
	return b[:n]
}

// incompressible returns n random bytes.
func incompressible(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

func putBlob(t testing.TB, db *DB, content []byte) (blob Blob, path string) {
	t.Helper()
	blob, err := db.Blobs().Put(t.Context(), bytes.NewReader(content), 1<<30)
	is(t, "Put", err, nil)
	if sum := sha256.Sum256(content); blob != (Blob{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content))}) {
		t.Fatalf("%d bytes: got %+v", len(content), blob)
	}
	path, err = db.Blobs().path(blob.SHA256)
	is(t, "path", err, nil)
	return blob, path
}

// TestCompressedBlobs checks that a blob reads the same whether it is stored compressed or not, and that large text
// is compressed.
func TestCompressedBlobs(t *testing.T) {
	db := openNew(t)
	for name, c := range map[string]struct {
		content    []byte
		compressed bool
	}{
		"text":                           {compressible(50_000), true},
		"less than a block":              {compressible(minCompressedContent - 1), false},
		"a little more than a block":     {compressible(minCompressedContent), true},
		"random":                         {incompressible(50_000), false},
		"the most that is compressed":    {compressible(maxCompressedContent), true},
		"more":                           {compressible(maxCompressedContent + 1), false},
		"much more":                      {compressible(2*maxCompressedContent + 5), false},
		"random, begins like compressed": {append(binary.BigEndian.AppendUint64([]byte(compressedMark), 1000), incompressible(50_000)...), false},
		"text, begins like compressed":   {append(binary.BigEndian.AppendUint64([]byte(compressedMark), 1000), compressible(50_000)...), true},
		"the compressed form of another": {compressBlob(compressible(50_001)), false},
	} {
		blob, path := putBlob(t, db, c.content)
		if got := read(t, db, blob.SHA256); got != string(c.content) {
			t.Errorf("%s: the content was changed", name)
		}
		is(t, name, db.Blobs().Verify(t.Context(), blob.SHA256), nil)
		info, err := os.Stat(path)
		is(t, "Stat", err, nil)
		if size := info.Size(); c.compressed != (size < blob.Size/2) || size > blob.Size {
			t.Errorf("%s: %d bytes are stored in %d", name, blob.Size, size)
		}
		if size, err := db.Blobs().Size(t.Context(), blob.SHA256); err != nil || size != blob.Size {
			t.Errorf("%s: size %d, %v, want %d", name, size, err, blob.Size)
		}
		if !c.compressed {
			continue
		}
		stored, err := os.ReadFile(path)
		is(t, "ReadFile", err, nil)
		z, err := zstd.NewReader(bytes.NewReader(stored))
		is(t, "NewReader", err, nil)
		if plain, err := io.ReadAll(z); err != nil || !bytes.Equal(plain, c.content) {
			t.Errorf("%s: another zstd program can't read it: %v", name, err)
		}
		z.Close()
	}
}

// TestBlobRanges reads parts of a compressed blob in any order, even after it has been deleted.
func TestBlobRanges(t *testing.T) {
	db := openNew(t)
	content := compressible(100_000)
	blob, _ := putBlob(t, db, content)
	f, size, err := db.Blobs().Open(t.Context(), blob.SHA256)
	is(t, "Open", err, nil)
	defer f.Close()
	is(t, "Delete", db.Blobs().Delete(t.Context(), blob.SHA256), nil)
	for _, from := range []int64{99_000, 10, 0, 50_000, 99_999, 100_000} {
		_, err := f.Seek(from, io.SeekStart)
		is(t, "Seek", err, nil)
		part := make([]byte, min(1000, size-from))
		if _, err := io.ReadFull(f, part); err != nil || !bytes.Equal(part, content[from:from+int64(len(part))]) {
			t.Errorf("from %d: %v", from, err)
		}
	}
}

// TestUncompressedBlobsOfBefore reads blobs written before compression was introduced. Storing one again replaces it.
func TestUncompressedBlobsOfBefore(t *testing.T) {
	db := openNew(t)
	for _, content := range [][]byte{compressible(50_000), append([]byte(compressedMark), compressible(50_000)...)} {
		blob, path := putBlob(t, db, content)
		is(t, "WriteFile", os.WriteFile(path, content, 0o600), nil)
		is(t, "Verify", db.Blobs().Verify(t.Context(), blob.SHA256), nil)
		if got := read(t, db, blob.SHA256); got != string(content) {
			t.Error("the content was changed")
		}
		putBlob(t, db, content)
		if info, err := os.Stat(path); err != nil || info.Size() > 5000 {
			t.Errorf("not replaced: %v", err)
		}
	}
}

// TestDamagedCompressedBlob changes each byte of a compressed blob, and truncates the blob at each byte. If it can
// still be read, the content must be correct.
func TestDamagedCompressedBlob(t *testing.T) {
	o := options(t.TempDir())
	o.Schema = ServiceSchema
	db := open(t, o)
	content := compressible(minCompressedContent)
	blob, path := putBlob(t, db, content)
	stored, err := os.ReadFile(path)
	if is(t, "ReadFile", err, nil); len(stored) > 4000 {
		t.Fatalf("stored in %d bytes", len(stored))
	}
	refused := 0
	try := func(what string, damaged []byte) {
		t.Helper()
		is(t, "WriteFile", os.WriteFile(path, damaged, 0o600), nil)
		f, _, err := db.Blobs().Open(t.Context(), blob.SHA256)
		if err == nil { // a bit that decoders ignore
			got, err := io.ReadAll(f)
			is(t, "Close", f.Close(), nil)
			if err != nil || !bytes.Equal(got, content) {
				t.Fatalf("%s: damage was not noticed", what)
			}
			return
		}
		refused++
		if is(t, what, err, ErrCorrupt); !strings.Contains(err.Error(), blob.SHA256[2:]) {
			t.Fatalf("%s: not named in %v", what, err)
		}
		_, err = db.Blobs().Size(t.Context(), blob.SHA256)
		is(t, what, err, nil)
	}
	for i := range stored {
		try(fmt.Sprintf("torn at %d", i), stored[:i])
		damaged := bytes.Clone(stored)
		damaged[i] ^= 1 << (i % 8)
		try(fmt.Sprintf("bit of byte %d", i), damaged)
	}
	if refused < len(stored) {
		t.Errorf("of %d attempts only %d were refused", 2*len(stored), refused)
	}
	try("a byte too many", append(bytes.Clone(stored), 0))
	putBlob(t, db, content)
	is(t, "Verify when mended", db.Blobs().Verify(t.Context(), blob.SHA256), nil)
	c, err := db.CheckFiles(t.Context(), FileCheckOptions{})
	if is(t, "CheckFiles", err, nil); c.Checked != 1 || len(c.Problems) != 0 {
		t.Errorf("got %s", c)
	}
}

// TestBlobBombs opens small files that decompress to more than the size they state, or that state a huge size.
func TestBlobBombs(t *testing.T) {
	db := openNew(t)
	z, err := zstd.NewWriter(nil)
	is(t, "NewWriter", err, nil)
	zeros := z.EncodeAll(make([]byte, 64<<20), nil)
	bomb := func(size uint64, frames ...[]byte) []byte {
		return append(binary.BigEndian.AppendUint64([]byte(compressedMark), size), bytes.Join(frames, nil)...)
	}
	many := bytes.Repeat(z.EncodeAll(make([]byte, 1<<20), nil), 64)
	blob, path := putBlob(t, db, compressible(8000))
	for name, content := range map[string][]byte{
		"more than its size":   bomb(8000, zeros),
		"many frames":          bomb(8000, many),
		"more than is allowed": bomb(64<<20, zeros),
		"an impossible size":   bomb(1<<63, zeros),
		"a size without data":  bomb(maxCompressedContent),
	} {
		is(t, "WriteFile", os.WriteFile(path, content, 0o600), nil)
		is(t, name, db.Blobs().Verify(t.Context(), blob.SHA256), ErrCorrupt)
		decoded, ok, err := decompressBlob(openFile(t, path))
		if err != nil || ok || cap(decoded) > maxCompressedContent {
			t.Errorf("%s: %d bytes, %t, %v", name, cap(decoded), ok, err)
		}
	}
}

func openFile(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	is(t, "Open", err, nil)
	t.Cleanup(func() { f.Close() })
	return f
}

// TestBackupOfCompressedBlobs checks that a backup contains a blob's content, regardless of how it is stored.
func TestBackupOfCompressedBlobs(t *testing.T) {
	db := openNew(t)
	content := compressible(50_000)
	blob, path := putBlob(t, db, content)
	large, _ := putBlob(t, db, incompressible(50_000))
	backup, other := filepath.Join(t.TempDir(), "b"), options(t.TempDir())
	is(t, "Backup", backUp(t.Context(), db, backup), nil)
	_, err := Restore(t.Context(), backup, other, ReadOptions{})
	is(t, "Restore", err, nil)
	restored := open(t, other)
	if read(t, restored, blob.SHA256) != string(content) {
		t.Error("the content was changed")
	}
	is(t, "Verify", restored.Blobs().Verify(t.Context(), large.SHA256), nil)

	is(t, "rot", os.WriteFile(path, content[:49_000], 0o600), nil)
	is(t, "Backup of rot", backUp(t.Context(), db, backup+"2"), ErrCorrupt)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	is(t, "cancelled", restored.Blobs().Verify(ctx, large.SHA256), context.Canceled)
}
