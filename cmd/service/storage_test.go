package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/cli"
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

// TestCopyNamesTheBucket checks that a wrong bucket is not reported as a problem of the database.
func TestCopyNamesTheBucket(t *testing.T) {
	from := cli.StorePlace{Store: "postgres://grc@127.0.0.1:1/grc", Blobs: "s3://key:secret@files"}
	_, err := copyStore(t.Context(), from, cli.StorePlace{Data: t.TempDir()}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "can't open the bucket for files: the bucket address") ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
