package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/scf-service/service/store/kv"
)

func testRollback(t *testing.T, d kv.Driver) {
	update(t, d, func(k kv.KV) { put(t, k, "t", "a", "1"); put(t, k, "t", "b", "1") })
	change := func(k kv.KV) {
		put(t, k, "t", "a", "2")
		del(t, k, "t", "b")
		put(t, k, "t", "c", "2")
		put(t, k, "new", "c", "2")
	}
	unchanged := func(after string) {
		t.Helper()
		view(t, d, func(k kv.KV) {
			want(t, after, listEntries(t, k, "t", kv.Range{}), []string{"a=1", "b=1"})
			names, err := k.Tables()
			want(t, after, names, []string{"t"})
			wantErr(t, after, err, nil)
		})
	}
	failure := errors.New("no")
	wantErr(t, "Update", d.Update(t.Context(), func(k kv.KV) error { change(k); return failure }), failure)
	unchanged("after an error")

	func() {
		defer func() { want(t, "panic", recover(), "oh") }()
		_ = d.Update(t.Context(), func(k kv.KV) error { change(k); panic("oh") })
	}()
	unchanged("after a panic")
	update(t, d, func(k kv.KV) { put(t, k, "t", "d", "3") })
	view(t, d, func(k kv.KV) { want(t, "still writable", get(t, k, "t", "d"), "3") })
	wantErr(t, "View", d.View(t.Context(), func(kv.KV) error { return failure }), failure)
}

func testIsolation(t *testing.T, d kv.Driver) {
	update(t, d, func(k kv.KV) { put(t, k, "t", "a", "1") })
	view(t, d, func(before kv.KV) {
		want(t, "first read", get(t, before, "t", "a"), "1")
		done := make(chan struct{})
		go func() { // one goroutine must not nest transactions
			defer close(done)
			update(t, d, func(k kv.KV) {
				put(t, k, "t", "a", "2")
				put(t, k, "t", "b", "2")
				view(t, d, func(other kv.KV) {
					want(t, "not committed yet", get(t, other, "t", "a"), "1")
				})
			})
		}()
		<-done
		want(t, "the view doesn't see later changes", listEntries(t, before, "t", kv.Range{}), []string{"a=1"})
		view(t, d, func(k kv.KV) {
			want(t, "a later view", listEntries(t, k, "t", kv.Range{}), []string{"a=2", "b=2"})
		})
	})
}

func testViewCannotWrite(t *testing.T, d kv.Driver) {
	update(t, d, func(k kv.KV) { put(t, k, "t", "a", "1") })
	view(t, d, func(k kv.KV) {
		wantErr(t, "Put", k.Put("t", []byte("a"), []byte("2")), kv.ErrReadOnlyTx)
		wantErr(t, "Delete", k.Delete("t", []byte("a")), kv.ErrReadOnlyTx)
		wantErr(t, "Drop", k.Drop("t"), kv.ErrReadOnlyTx)
		want(t, "unchanged", get(t, k, "t", "a"), "1")
	})
}

func testEnded(t *testing.T, d kv.Driver) {
	for _, run := range []func(context.Context, func(kv.KV) error) error{d.View, d.Update} {
		var kept kv.KV
		if err := run(t.Context(), func(k kv.KV) error { kept = k; return nil }); err != nil {
			t.Fatal(err)
		}
		_, err := kept.Get("t", []byte("a"))
		wantErr(t, "Get", err, kv.ErrTxDone)
		_, err = kept.Tables()
		wantErr(t, "Tables", err, kv.ErrTxDone)
		wantErr(t, "Put", kept.Put("t", []byte("a"), nil), kv.ErrTxDone)
		n := 0
		for _, err := range kept.Scan("t", kv.Range{}) {
			wantErr(t, "Scan", err, kv.ErrTxDone)
			n++
		}
		want(t, "errors of a scan", n, 1)
	}
}

func testCancelled(t *testing.T, d kv.Driver) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	never := func(kv.KV) error { t.Error("the function ran with a canceled context"); return nil }
	wantErr(t, "View", d.View(gone, never), context.Canceled)
	wantErr(t, "Update", d.Update(gone, never), context.Canceled)

	ctx, cancel := context.WithCancel(t.Context())
	err := d.Update(ctx, func(k kv.KV) error {
		put(t, k, "t", "a", "1")
		cancel()
		return nil
	})
	wantErr(t, "cancelled before the commit", err, context.Canceled)
	view(t, d, func(k kv.KV) { want(t, "rolled back", get(t, k, "t", "a"), "<none>") })

	update(t, d, func(k kv.KV) { put(t, k, "t", "a", "1"); put(t, k, "t", "b", "1") })
	ctx, cancel = context.WithCancel(t.Context())
	met := 0
	err = d.View(ctx, func(k kv.KV) error {
		for _, err := range k.Scan("t", kv.Range{}) {
			if err != nil {
				return err
			}
			met++
			cancel()
		}
		return nil
	})
	wantErr(t, "cancelled in a scan", err, context.Canceled)
	want(t, "keys met", met, 1)
}

func testWaitingWriter(t *testing.T, d kv.Driver) {
	update(t, d, func(k kv.KV) {
		put(t, k, "t", "a", "1")
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			// A driver may already run it, but must not commit it.
			left <- d.Update(ctx, func(k kv.KV) error {
				<-ctx.Done()
				return k.Put("t", []byte("a"), []byte("2"))
			})
		}()
		cancel()
		wantErr(t, "the waiting writer", <-left, context.Canceled)
	})
	view(t, d, func(k kv.KV) { want(t, "the first writer's", get(t, k, "t", "a"), "1") })
}

// testNoLostUpdates checks that no write is lost when concurrent updates write values that depend on what
// they read.
func testNoLostUpdates(t *testing.T, d kv.Driver) {
	const workers, rounds = 4, 10
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range rounds {
				err := d.Update(t.Context(), func(k kv.KV) error {
					v, err := k.Get("t", []byte("n"))
					if err != nil {
						return err
					}
					return k.Put("t", []byte("n"), append(bytes.Clone(v), '|'))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	view(t, d, func(k kv.KV) { want(t, "count", len(get(t, k, "t", "n")), workers*rounds) })
}

// testReadersAndWriter checks that readers running concurrently with a writer only see whole transactions: all
// keys have the same value.
func testReadersAndWriter(t *testing.T, d kv.Driver) {
	const keys, rounds = 50, 30
	write := func(round int) {
		update(t, d, func(k kv.KV) {
			for i := range keys {
				put(t, k, "t", fmt.Sprint(i), strings.Repeat(fmt.Sprint(round, " "), 1+round%7*40))
			}
		})
	}
	write(0)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				err := d.View(t.Context(), func(k kv.KV) error {
					values := map[string]bool{}
					n := 0
					for p, err := range k.Scan("t", kv.Range{}) {
						if err != nil {
							return err
						}
						values[string(p.Value)] = true
						n++
					}
					if len(values) != 1 || n != keys {
						return fmt.Errorf("%d keys have %d different values", n, len(values))
					}
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for round := range rounds {
		write(round + 1)
	}
	stop()
	wg.Wait()
}

func testClose(t *testing.T, d kv.Driver) {
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	nothing := func(kv.KV) error { return nil }
	wantErr(t, "View", d.View(t.Context(), nothing), kv.ErrClosed)
	wantErr(t, "Update", d.Update(t.Context(), nothing), kv.ErrClosed)
}
