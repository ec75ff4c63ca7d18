package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
)

func openStore(t *testing.T) *store.DB {
	t.Helper()
	now, n := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), 0
	db, err := store.Open(t.Context(), store.Options{
		Dir: t.TempDir(), Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check,
		Clock: func() time.Time { now = now.Add(time.Second); return now },
		NewID: func() string { n++; return fmt.Sprintf("id-%04d", n) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func append20(t *testing.T, db *store.DB, org string) {
	t.Helper()
	for i := range 20 {
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			return audit.Append(
				tx,
				api.Caller{OrganizationID: org, Actor: api.Actor{Type: api.ActorUser, ID: "u", Name: "Ada"}},
				audit.Entry{
					Action:       "test.done",
					ResourceType: "test",
					ResourceID:   fmt.Sprint(i),
					Changes:      map[string]any{"n": i, "text": "ü"},
				},
			)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func verify(t *testing.T, db *store.DB, org string) (n uint64, head string, err error) {
	t.Helper()
	verr := db.View(t.Context(), func(tx *store.Tx) error { n, head, err = audit.VerifyStored(tx, org); return nil })
	if verr != nil {
		t.Fatal(verr)
	}
	return n, head, err
}

// TestIntactChainVerifies checks that each organization has its own chain and that an unmodified
// one verifies.
func TestIntactChainVerifies(t *testing.T) {
	db := openStore(t)
	append20(t, db, "a")
	append20(t, db, "b")
	na, ha, err := verify(t, db, "a")
	if err != nil || na != 20 {
		t.Fatalf("%d records, %v", na, err)
	}
	if _, hb, _ := verify(t, db, "b"); ha == hb || ha == "" {
		t.Errorf("two chains have one head %q", ha)
	}
}

// TestTamperingIsDetected checks that each kind of tampering is reported with the affected record.
func TestTamperingIsDetected(t *testing.T) {
	for name, c := range map[string]struct {
		tamper func(*store.Tx, api.AuditEvent) error
		kind   string
		at     uint64
	}{
		"changed": {func(tx *store.Tx, e api.AuditEvent) error {
			e.Outcome = audit.Denied
			return store.Audit.Put(tx, "a", &e)
		}, audit.Changed, 7},
		"removed": {func(tx *store.Tx, e api.AuditEvent) error { return store.Audit.Delete(tx, "a", int64(e.Sequence)) }, audit.Removed, 7},
		"rehashed": {func(tx *store.Tx, e api.AuditEvent) (err error) {
			e.Action = "other"
			if e.Hash, err = audit.Hash(e); err != nil {
				return err
			}
			return store.Audit.Put(tx, "a", &e)
		}, audit.Changed, 7},
		"cut off":           {func(tx *store.Tx, _ api.AuditEvent) error { return store.Audit.Delete(tx, "a", int64(20)) }, audit.Removed, 20},
		"the first removed": {func(tx *store.Tx, _ api.AuditEvent) error { return store.Audit.Delete(tx, "a", int64(1)) }, audit.Removed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			db := openStore(t)
			append20(t, db, "a")
			err := db.Update(t.Context(), func(tx *store.Tx) error {
				e, err := store.Audit.Get(tx, "a", int64(7))
				if err != nil {
					return err
				}
				return c.tamper(tx, e)
			})
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = verify(t, db, "a")
			var broken *audit.BrokenError
			if !errors.As(err, &broken) || broken.Sequence != c.at || broken.Kind != c.kind {
				t.Errorf("found as %v", err)
			}
			v, err := audit.New(db).VerifyChain(t.Context(), api.Caller{OrganizationID: "a"}, nil)
			if err != nil || v.OK || v.Problem == nil || v.Problem.Sequence != c.at {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

// TestVerifyExport checks that moved or inserted records and any flipped bit in an export are
// detected.
func TestVerifyExport(t *testing.T) {
	db := openStore(t)
	append20(t, db, "a")
	f, err := audit.New(db).Export(t.Context(), api.Caller{OrganizationID: "a"}, &api.AuditExportInput{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f.Content)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if len(lines) != 20 {
		t.Fatalf("%d lines", len(lines))
	}
	follow := func(lines [][]byte) (uint64, error) {
		n, _, err := audit.VerifyRecords(func(yield func(api.AuditEvent, error) bool) {
			for _, l := range lines {
				var e api.AuditEvent
				if err := json.Unmarshal(l, &e); !yield(e, err) || err != nil {
					return
				}
			}
		})
		return n, err
	}
	if n, err := follow(lines); n != 20 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	swapped := slices.Clone(lines)
	swapped[4], swapped[5] = swapped[5], swapped[4]
	twice := slices.Insert(slices.Clone(lines), 9, lines[3])
	for name, c := range map[string]struct {
		lines [][]byte
		kind  string
		at    uint64
	}{
		"reordered": {swapped, audit.Reordered, 5},
		"inserted":  {twice, audit.Inserted, 4},
		"removed":   {slices.Delete(slices.Clone(lines), 11, 12), audit.Removed, 12},
	} {
		_, err := follow(c.lines)
		var broken *audit.BrokenError
		if !errors.As(err, &broken) || broken.Kind != c.kind || broken.Sequence != c.at {
			t.Errorf("%s is found as %v", name, err)
		}
	}
	whole := bytes.Join(lines, nil)
	random := rand.New(rand.NewPCG(7, 7))
	for range 500 {
		bad := bytes.Clone(whole)
		at := random.IntN(len(bad))
		bad[at] ^= 1 << random.IntN(7)
		var was, is api.AuditEvent
		split := bytes.SplitAfter(bad, []byte("\n"))
		line := bytes.Count(whole[:at], []byte("\n"))
		if len(split) == len(lines) && json.Unmarshal(lines[line], &was) == nil && json.Unmarshal(split[line], &is) == nil &&
			reflect.DeepEqual(was, is) {
			continue // still the same record, because JSON field names are read in either case
		}
		if n, err := follow(split); err == nil && n == 20 {
			t.Errorf("a flipped bit at %d is not found: %q", at, split[line])
		}
	}
}

// TestHead checks that a head is signed by the installation's persistent key and that the signature
// fits no other text.
func TestHead(t *testing.T) {
	db := openStore(t)
	append20(t, db, "a")
	s := audit.New(db)
	h, err := s.Head(t.Context(), api.Caller{OrganizationID: "a"}, nil)
	if err != nil || h.Sequence != 20 || audit.VerifyHead(h) != nil {
		t.Fatalf("%+v, %v, %v", h, err, audit.VerifyHead(h))
	}
	again, err := s.Head(t.Context(), api.Caller{OrganizationID: "b"}, nil)
	if err != nil || again.PublicKey != h.PublicKey || again.Sequence != 0 {
		t.Errorf("%+v, %v", again, err)
	}
	h.Sequence--
	if audit.VerifyHead(h) == nil {
		t.Error("another head passes")
	}
}

// TestList checks that the list contains only the organization's records, newest first, and that filters apply before
// the limit.
func TestList(t *testing.T) {
	db := openStore(t)
	append20(t, db, "a")
	append20(t, db, "b")
	s := audit.New(db)
	l, err := s.List(t.Context(), api.Caller{OrganizationID: "a"}, &api.AuditInput{Paging: api.Paging{Limit: 5}})
	if err != nil || len(l.Data) != 5 || l.Pagination.Total != 20 || l.Data[0].Sequence != 20 || !l.Pagination.HasMore {
		t.Fatalf("%+v, %v", l, err)
	}
	next, err := s.List(
		t.Context(),
		api.Caller{OrganizationID: "a"},
		&api.AuditInput{Paging: api.Paging{Limit: 5, Cursor: *l.Pagination.NextCursor}},
	)
	if err != nil || next.Data[0].Sequence != 15 {
		t.Fatalf("%+v, %v", next, err)
	}
	one, err := s.List(
		t.Context(),
		api.Caller{OrganizationID: "a"},
		&api.AuditInput{Paging: api.Paging{Limit: 5}, AuditFilter: api.AuditFilter{ResourceID: "3"}},
	)
	if err != nil || len(one.Data) != 1 || one.Pagination.Total != 1 {
		t.Fatalf("%+v, %v", one, err)
	}
	_, err = s.List(
		t.Context(),
		api.Caller{OrganizationID: "b"},
		&api.AuditInput{Paging: api.Paging{Limit: 5, Cursor: *l.Pagination.NextCursor}},
	)
	if !api.IsCode(err, api.CodeValidation) {
		t.Errorf("another organization's cursor gives %v", err)
	}
}
