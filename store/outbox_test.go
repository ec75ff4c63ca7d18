package store

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func topics(events []Event) []string {
	var s []string
	for _, e := range events {
		s = append(s, fmt.Sprint(e.Sequence, " ", e.Topic))
	}
	return s
}

func next(t testing.TB, db *DB, consumer string, limit int) (events []Event) {
	t.Helper()
	view(t, db, func(tx *Tx) (err error) {
		events, err = Outbox.Next(tx, consumer, limit)
		return err
	})
	return events
}

func TestOutbox(t *testing.T) {
	dir := t.TempDir()
	db := open(t, options(dir))
	appendEvent := func(topic string) error {
		return db.Update(t.Context(), func(tx *Tx) error {
			_, err := Outbox.Append(tx, Event{Topic: topic, OrganizationID: "one", Payload: []byte(`{"a":1}`)})
			return err
		})
	}
	for _, topic := range []string{"a", "b", "c"} {
		is(t, "Append", appendEvent(topic), nil)
	}
	undo := errors.New("undo")
	is(t, "rolled back", db.Update(t.Context(), func(tx *Tx) error {
		e, err := Outbox.Append(tx, Event{Topic: "lost"})
		if is(t, "Append", err, nil); e.Sequence != 4 {
			t.Errorf("got %+v", e)
		}
		return undo
	}), undo)
	if err := appendEvent(""); err == nil {
		t.Error("an event without a topic was taken")
	}
	is(t, "bad payload", db.Update(t.Context(), func(tx *Tx) error {
		if _, err := Outbox.Append(tx, Event{Topic: "x", Payload: []byte("{")}); err == nil {
			t.Error("a payload that is not JSON was taken")
		}
		return undo
	}), undo)

	same(t, "mail", topics(next(t, db, "mail", 2)), "1 a", "2 b")
	same(t, "mail, not acknowledged", topics(next(t, db, "mail", 10)), "1 a", "2 b", "3 c")
	ack := func(consumer string, n int64) error {
		return db.Update(t.Context(), func(tx *Tx) error { return Outbox.Ack(tx, consumer, n) })
	}
	is(t, "Ack", ack("mail", 2), nil)
	is(t, "Ack backwards", ack("mail", 1), nil)
	is(t, "Ack of the future", ack("mail", 4), ErrNotFound)
	is(t, "Close", db.Close(), nil)

	db = open(t, options(dir))
	same(t, "mail after reopening", topics(next(t, db, "mail", 10)), "3 c")
	same(t, "hooks", topics(next(t, db, "hooks", 1)), "1 a")
	e := next(t, db, "mail", 1)[0]
	if e.ID == "" || !e.Time.Equal(day) || e.OrganizationID != "one" || string(e.Payload) != `{"a":1}` {
		t.Errorf("got %+v", e)
	}
	is(t, "Append", appendEvent("d"), nil)
	same(t, "the sequence goes on", topics(next(t, db, "mail", 10)), "3 c", "4 d")
	same(t, "none", topics(next(t, db, "mail", 0)))

	prune := func(limit int, consumers ...string) (n int, err error) {
		err = db.Update(t.Context(), func(tx *Tx) error {
			n, err = Outbox.Prune(tx, day.Add(time.Minute), limit, consumers...)
			return err
		})
		return n, err
	}
	if _, err := prune(10); err == nil {
		t.Error("pruned for nobody")
	}
	n, err := prune(10, "mail", "hooks")
	if is(t, "Prune before hooks has begun", err, nil); n != 0 {
		t.Errorf("pruned %d", n)
	}
	is(t, "Ack", ack("hooks", 3), nil)
	n, err = prune(10, "mail", "hooks")
	if is(t, "Prune", err, nil); n != 2 {
		t.Errorf("pruned %d", n)
	}
	is(t, "Ack", ack("mail", 4), nil)
	n, err = prune(0, "mail", "hooks")
	if is(t, "Prune none", err, nil); n != 0 {
		t.Errorf("pruned %d", n)
	}
	same(t, "audit", topics(next(t, db, "audit", 10)), "3 c", "4 d")
	same(t, "hooks", topics(next(t, db, "hooks", 10)), "4 d")
	if _, err := Outbox.Next(nil, "mail", 1); !errors.Is(err, ErrTxDone) {
		t.Errorf("got %v", err)
	}
}

func TestSequences(t *testing.T) {
	dir := t.TempDir()
	db := open(t, options(dir))
	take := func(db *DB, name string, want int64) {
		t.Helper()
		update(t, db, func(tx *Tx) error {
			n, err := tx.NextSequence(name)
			if n != want {
				t.Errorf("%s: got %d, want %d", name, n, want)
			}
			return err
		})
	}
	take(db, "poam", 1)
	take(db, "poam", 2)
	take(db, "soa", 1)
	undo := errors.New("undo")
	is(t, "rolled back", db.Update(t.Context(), func(tx *Tx) error {
		if n, err := tx.NextSequence("poam"); n != 3 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
		return undo
	}), undo)
	is(t, "Close", db.Close(), nil)
	db = open(t, options(dir))
	take(db, "poam", 3)
	view(t, db, func(tx *Tx) error {
		_, err := tx.NextSequence("poam")
		is(t, "in a view", err, ErrReadOnlyTx)
		return nil
	})
}
