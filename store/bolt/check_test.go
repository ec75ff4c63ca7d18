package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/store/kv"
)

// sample creates a file with every kind of page: branches, leaves, a value that spans several pages, and tables small
// enough to be stored in their entry.
func sample(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		err = db.Update(t.Context(), func(k kv.KV) error {
			var errs []error
			for i := range 600 {
				errs = append(errs, k.Put("many", fmt.Appendf(nil, "%05d", i*3+round), []byte(strings.Repeat("v", i%90))))
			}
			errs = append(errs,
				k.Put("small", []byte{byte(round)}, []byte("v")),
				k.Put("large", []byte{byte(round)}, make([]byte, 20_000)),
				k.Delete("many", fmt.Appendf(nil, "%05d", 300)))
			return errors.Join(errs...)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err := errors.Join(err, Verify(t.Context(), path, nil), db.Close()); !errors.Is(err, kv.ErrLocked) {
		t.Fatalf("checking an open file: %v", err)
	}
	if err := Verify(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

// use opens a file and performs every operation on it.
func use(t *testing.T, path string) error {
	db, err := Open(t.Context(), path, Options{LockTimeout: -1})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Update(t.Context(), func(k kv.KV) error {
		tables, err := k.Tables()
		for _, name := range tables {
			for p, e := range k.Scan(name, kv.Range{Reverse: true}) {
				if err = errors.Join(err, e); e == nil {
					err = errors.Join(err, k.Put(name, bytes.Clone(p.Key), []byte("new")))
				}
			}
		}
		return err
	})
}

// TestDamagedPages writes noise or flips bits anywhere in a file. The result must be an error or a working database,
// but never the end of the process.
func TestDamagedPages(t *testing.T) {
	whole := sample(t)
	page := os.Getpagesize()
	r := rand.New(rand.NewPCG(11, 12))
	path := filepath.Join(t.TempDir(), "db")
	refused := 0
	for i := range 60 {
		b := bytes.Clone(whole[:min(len(whole), 64*page)])
		at := (2 + r.IntN(60)) * page
		switch i % 3 {
		case 0:
			for j := range page {
				b[at+j] = byte(r.Uint32())
			}
		case 1:
			for range 3 {
				b[at+r.IntN(300)] ^= 1 << r.IntN(8)
			}
		case 2: // one page in place of another
			copy(b[at:at+page], whole[(2+r.IntN(60))*page:])
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := use(t, path); errors.Is(err, kv.ErrCorrupt) {
			refused++
		} else if err != nil {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if refused < 20 {
		t.Errorf("only %d of 60 were refused: the damage misses the pages in use", refused)
	}
}

// FuzzPage checks that checking a page terminates, whatever the page contains.
func FuzzPage(f *testing.F) {
	whole := sample(f)
	page := os.Getpagesize()
	for i := 2; i < 12; i++ {
		f.Add(whole[i*page : (i+1)*page])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w := pageChecker{content: noChecker{}}
		_, _ = w.checkPage(b, subtree{})
		_, _ = w.checkTable("name", b)
		if len(b) < page {
			return
		}
		// The bytes become page 2 of a file.
		at2 := append(bytes.Clone(whole[:2*page]), b...)
		byteOrder.PutUint64(at2[2*page:], 2)
		w = pageChecker{
			ctx: t.Context(), file: bytes.NewReader(at2), content: noChecker{}, pageSize: int64(page), pages: uint64(len(at2) / page),
		}
		w.seen = make([]bool, w.pages)
		if err := w.checkTree(2); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("read behind the end: %v", err)
		}
	})
}
