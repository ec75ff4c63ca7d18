package main

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestNewIDAt(t *testing.T) {
	at := time.Date(2031, 2, 3, 4, 5, 6, 789e6, time.UTC)
	id, err := uuid.Parse(newIDAt(at))
	if err != nil || id.Version() != 7 {
		t.Fatalf("%s: %v", id, err)
	}
	seconds, nanoseconds := id.Time().UnixTime()
	if got := time.Unix(seconds, nanoseconds); got.Sub(at).Abs() > time.Millisecond {
		t.Errorf("the ID is of %s, want %s", got, at)
	}
	if a, b := newIDAt(at), newIDAt(at.Add(time.Millisecond)); a >= b {
		t.Errorf("%s is not before %s", a, b)
	}
}

func TestNameOfStore(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://grc:secret@db.internal:5433/grc?sslmode=require&password=secret": "postgres://db.internal:5433/grc",
		"postgres://grc:se cret@db": "given with --store",
	} {
		if got := (storage{database: address}).name(); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
