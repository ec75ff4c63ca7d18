package bolt_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/scf-service/service/store/bolt"
	"github.com/scf-service/service/store/kv"
)

// TestGroups runs many Updates concurrently, some of which fail, panic, end their goroutine or are canceled.
// Afterwards, the writes of each successful Update must be present exactly once, and those of the others must not.
// Whatever an Update read must be committed by the time it returns.
func TestGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := bolt.Open(t.Context(), path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const writers, rounds = 32, 25
	undo := errors.New("undo")
	var mu sync.Mutex
	acknowledged := map[string]uint64{} // the number of each Update that succeeded
	update := func(name string, r *rand.Rand) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		fate, number := r.IntN(8), uint64(0)
		defer func() {
			if p := recover(); p != nil && p != any(undo) {
				panic(p)
			}
		}()
		err := db.Update(ctx, func(k kv.KV) error {
			last, err := k.Get("counter", []byte("n"))
			if err != nil {
				return err
			}
			number = 1
			if last != nil {
				number += binary.BigEndian.Uint64(last)
			}
			n := binary.BigEndian.AppendUint64(nil, number)
			err = errors.Join(k.Put("counter", []byte("n"), n), k.Put("done", []byte(name), n))
			if fate < 4 { // fails after changing what others have written
				err = errors.Join(err, k.Put("created by "+name, []byte("x"), n), k.Put("empty "+name, []byte("x"), n),
					k.Delete("empty "+name, []byte("x")), k.Drop("empty "+name))
				for p, e := range k.Scan("done", kv.Range{}) {
					if err = errors.Join(err, e); r.IntN(4) == 0 {
						err = errors.Join(err, k.Delete("done", append([]byte{}, p.Key...)))
					}
				}
				if r.IntN(3) == 0 {
					err = errors.Join(err, k.Drop("done"), k.Put("done", []byte("other"), n))
				}
			}
			switch {
			case err != nil:
				t.Error(err)
			case fate == 0:
				return undo
			case fate == 1:
				panic(undo)
			case fate == 2:
				runtime.Goexit()
			case fate == 3:
				cancel()
			}
			return err
		})
		switch {
		case fate >= 4 && err == nil:
			mu.Lock()
			acknowledged[name] = number
			mu.Unlock()
		case fate >= 4:
			t.Errorf("%s: %v", name, err)
		case fate == 0 && !errors.Is(err, undo) || fate == 3 && !errors.Is(err, context.Canceled):
			t.Errorf("%s with %d: %v", name, fate, err)
		}
		if err != nil { // possibly because of what it read
			err := db.View(t.Context(), func(k kv.KV) error {
				n, err := k.Get("counter", []byte("n"))
				if number > 1 && (n == nil || binary.BigEndian.Uint64(n) < number-1) {
					t.Errorf("%s read %d, which was not committed when it failed", name, number-1)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for i := range rounds {
				var one sync.WaitGroup // because Goexit ends the goroutine
				one.Go(func() { update(fmt.Sprintf("%02d-%02d", w, i), r) })
				one.Wait()
			}
		})
	}
	all.Wait()
	check := func() {
		t.Helper()
		err := db.View(t.Context(), func(k kv.KV) error {
			names, err := k.Tables()
			if len(names) != 2 {
				t.Errorf("tables: %q", names)
			}
			found, numbers := 0, map[uint64]bool{}
			for p, err := range k.Scan("done", kv.Range{}) {
				if err != nil {
					return err
				}
				n := binary.BigEndian.Uint64(p.Value)
				if acknowledged[string(p.Key)] != n || numbers[n] {
					t.Errorf("%s has number %d, want %d, once", p.Key, n, acknowledged[string(p.Key)])
				}
				numbers[n] = true
				found++
			}
			last, _ := k.Get("counter", []byte("n"))
			if found != len(acknowledged) || binary.BigEndian.Uint64(last) != uint64(found) {
				t.Errorf("%d of %d are there, and the counter says %d", found, len(acknowledged), binary.BigEndian.Uint64(last))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	check()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = bolt.Open(t.Context(), path, bolt.Options{}); err != nil {
		t.Fatal(err)
	}
	check()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
