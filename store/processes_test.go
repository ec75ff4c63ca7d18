package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/store/kv"
	"github.com/scf-service/service/store/postgres"
)

// openShared opens the same database for several processes that share a clock.
func openShared(t *testing.T, n int) (all []*DB, now *time.Time) {
	t.Helper()
	url := postgrestest.NewURL(t)
	start := day
	now = &start
	for range n {
		driver, err := postgres.Open(t.Context(), postgres.Options{URL: url})
		is(t, "postgres.Open", err, nil)
		o := options(t.TempDir())
		o.Driver, o.Clock = driver, func() time.Time { return *now }
		all = append(all, open(t, o))
	}
	return all, now
}

// stopBackground stops the heartbeats, so that the test can send them itself.
func stopBackground(all []*DB) {
	for _, db := range all {
		db.processes.stop()
		db.processes.running.Wait()
	}
}

func leaders(all []*DB) (found []int) {
	for i, db := range all {
		if db.IsLeader() {
			found = append(found, i)
		}
	}
	return found
}

func TestLeader(t *testing.T) {
	all, now := openShared(t, 3)
	stopBackground(all)
	if got := leaders(all); len(got) != 1 || got[0] != 0 {
		t.Fatalf("the leaders are %v", got)
	}
	// A killed process stops being the leader before another one takes over.
	*now = now.Add(aliveFor - heartbeatInterval)
	if got := leaders(all); len(got) != 0 {
		t.Errorf("the leaders are %v, although the only one has not renewed its record", got)
	}
	is(t, "heartbeat", all[2].renewAndClaimLeadership(t.Context()), nil)
	if got := leaders(all); len(got) != 0 {
		t.Errorf("the leaders are %v, although the last one's record has not expired", got)
	}
	*now = now.Add(heartbeatInterval + time.Second)
	is(t, "heartbeat", all[2].renewAndClaimLeadership(t.Context()), nil)
	if got := leaders(all); len(got) != 1 || got[0] != 2 {
		t.Errorf("the leaders are %v", got)
	}
	is(t, "heartbeat of the last one", all[0].renewAndClaimLeadership(t.Context()), nil)
	if got := leaders(all); len(got) != 1 {
		t.Errorf("the leaders are %v", got)
	}
	// A process that stops is removed immediately.
	is(t, "Close", all[2].Close(), nil)
	is(t, "heartbeat", all[1].renewAndClaimLeadership(t.Context()), nil)
	if got := leaders(all[:2]); len(got) != 1 || got[0] != 1 {
		t.Errorf("the leaders are %v", got)
	}
}

// A feature is used once the last process that doesn't support it has ended.
func TestAllSupport(t *testing.T) {
	all, now := openShared(t, 2)
	stopBackground(all)
	check := func(want bool) {
		t.Helper()
		for _, db := range all {
			is(t, "heartbeat", db.renewAndClaimLeadership(t.Context()), nil)
			is(t, "View", db.View(t.Context(), func(tx *Tx) error {
				if got := tx.AllSupport(ItemHashes); got != want {
					t.Errorf("supported by all: %v", got)
				}
				return nil
			}), nil)
		}
	}
	check(true)
	is(t, "a process of an earlier version", all[0].Update(t.Context(), func(tx *Tx) error {
		return tx.putMeta(processKey("earlier"), map[string]any{"until": now.Add(aliveFor)})
	}), nil)
	check(false)
	*now = now.Add(aliveFor)
	check(true)
}

func TestClaims(t *testing.T) {
	all, now := openShared(t, 2)
	stopBackground(all)
	claim := func(db *DB, want bool) {
		t.Helper()
		update(t, db, func(tx *Tx) error {
			got, err := tx.Claim("document 1")
			if got != want {
				t.Errorf("claimed: %t", got)
			}
			return err
		})
	}
	claim(all[0], true)
	claim(all[0], true)
	claim(all[1], false)
	*now = now.Add(aliveFor + time.Second) // the first one is killed
	is(t, "heartbeat", all[1].renewAndClaimLeadership(t.Context()), nil)
	claim(all[1], true)
	update(t, all[1], func(tx *Tx) error { return tx.Release("document 1") })
	is(t, "heartbeat", all[0].renewAndClaimLeadership(t.Context()), nil)
	claim(all[0], true)

	// A new leader removes the records of processes that ended long ago.
	update(t, all[1], func(tx *Tx) error { _, err := tx.Claim("document 2"); return err })
	_, err := all[1].ExchangeCounts(t.Context(), "requests", 7, map[string]int{"a": 1})
	is(t, "ExchangeCounts", err, nil)
	*now = now.Add(2 * time.Hour)
	is(t, "heartbeat", all[0].renewAndClaimLeadership(t.Context()), nil)
	view(t, all[0], func(tx *Tx) error {
		var left []string
		for p, err := range tx.kv.Scan(metaTable, kv.Range{}) {
			if is(t, "Scan", err, nil); isProcessMeta(p.Key) {
				left = append(left, Key{b: bytes.Clone(p.Key)}.String())
			}
		}
		want := []string{K("claim", "document 1").String(), leaderKey.String(), processKey(all[0].processes.id).String()}
		if !slices.Equal(left, want) {
			t.Errorf("the records of processes are %q, want %q", left, want)
		}
		return nil
	})
}

func TestExchangeCounts(t *testing.T) {
	all, now := openShared(t, 3)
	stopBackground(all)
	exchange := func(db *DB, period int64, own map[string]int, want int) {
		t.Helper()
		others, err := db.ExchangeCounts(t.Context(), "requests", period, own)
		is(t, "ExchangeCounts", err, nil)
		if others["a"] != want {
			t.Errorf("others have %d, want %d", others["a"], want)
		}
	}
	exchange(all[0], 7, map[string]int{"a": 3, "b": 1}, 0)
	exchange(all[1], 7, map[string]int{"a": 4}, 3)
	exchange(all[2], 7, nil, 7)
	exchange(all[0], 8, map[string]int{"a": 1}, 0)
	exchange(all[2], 8, nil, 1)
	exchange(all[0], 8, nil, 0)
	exchange(all[2], 8, nil, 0)
	exchange(all[2], 7, nil, 4)
	*now = now.Add(aliveFor + time.Second) // the others are killed
	is(t, "heartbeat", all[2].renewAndClaimLeadership(t.Context()), nil)
	exchange(all[2], 7, nil, 0)
}

// TestChangesOfOthers checks that a process notices writes by another process, and that a process whose program is
// older than the records refuses to write.
func TestChangesOfOthers(t *testing.T) {
	all, _ := openShared(t, 2)
	changed := all[1].Changed()
	update(t, all[0], func(tx *Tx) error { return controls.Put(tx, &control{Code: "a"}) })
	select {
	case <-changed:
	case <-time.After(time.Minute):
		t.Fatal("another process's change was not noticed")
	}
	err := all[0].driver.Update(t.Context(), func(k kv.KV) error {
		next := all[0].meta
		next.Schema++
		return all[0].newTx(t.Context(), k, true).putMeta(metaKey, next)
	})
	is(t, "a newer program's migration", err, nil)
	is(t, "an older program", all[1].Update(t.Context(), func(tx *Tx) error { return controls.Put(tx, &control{Code: "b"}) }), ErrNewerSchema)
}

// TestOpenTogether opens an empty database in several processes at the same time.
func TestOpenTogether(t *testing.T) {
	url := postgrestest.NewURL(t)
	const n = 4
	var opened [n]*DB
	errs := make(chan error, n)
	for i := range n {
		o := options(t.TempDir())
		go func() {
			driver, err := postgres.Open(context.WithoutCancel(t.Context()), postgres.Options{URL: url})
			if err == nil {
				o.Driver = driver
				opened[i], err = Open(context.WithoutCancel(t.Context()), o)
			}
			errs <- err
		}()
	}
	for range n {
		is(t, "Open", <-errs, nil)
	}
	if t.Failed() {
		return
	}
	for _, db := range opened {
		if db.meta.ID != opened[0].meta.ID {
			t.Errorf("the database has the IDs %s and %s", db.meta.ID, opened[0].meta.ID)
		}
		is(t, "Close", db.Close(), nil)
	}
}

// TestEventsOfLateCommits checks that an event whose transaction commits late, after events with a later ID have been
// numbered and processed, is numbered after them, and that a process issues IDs after those it has read.
func TestEventsOfLateCommits(t *testing.T) {
	all, _ := openShared(t, 2)
	next := func() (found []string) {
		t.Helper()
		update(t, all[0], func(tx *Tx) error {
			events, err := Outbox.Next(tx, "mail", 10)
			found = nil
			for _, e := range events {
				found = append(found, fmt.Sprint(e.Sequence, e.ID))
			}
			if err == nil && len(events) > 0 {
				err = Outbox.Ack(tx, "mail", events[len(events)-1].Sequence)
			}
			return err
		})
		return found
	}
	add := func(id string) func(*Tx) error {
		return func(tx *Tx) error {
			_, err := Outbox.Append(tx, Event{ID: id, Topic: "t"})
			return err
		}
	}
	done := false
	update(t, all[1], func(tx *Tx) error {
		if err := add("a-late")(tx); err != nil || done { // it may run again
			return err
		}
		done = true
		for n, id := range []string{"b", "c"} {
			update(t, all[0], add(id))
			same(t, "numbered meanwhile", next(), fmt.Sprint(n+1, id))
		}
		return nil
	})
	same(t, "the late event", next(), "3a-late")
	same(t, "after all", next())

	// What a process issues after reading an ID of another one follows it.
	ahead := all[0].idGenerator.next()
	for range 3 {
		update(t, all[1], func(tx *Tx) error {
			tx.FollowID(ahead)
			if id := tx.NewID(); id <= ahead {
				t.Errorf("%s follows %s", id, ahead)
			} else {
				ahead = id
			}
			return nil
		})
	}
}
