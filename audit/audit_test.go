package audit_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/scf-service/service/audit"
	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

func openStore(t *testing.T) *store.DB {
	t.Helper()
	now, n := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), 0
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Schema: store.Tables,
		Clock: func() time.Time { now = now.Add(time.Second); return now },
		NewID: func() string { n++; return fmt.Sprintf("id-%04d", n) }})
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
			return audit.Append(tx, api.Caller{OrganizationID: org, Actor: api.Actor{Type: api.ActorUser, ID: "u", Name: "Ada"}},
				audit.Entry{Action: "test.done", ResourceType: "test", ResourceID: fmt.Sprint(i), Changes: map[string]any{"n": i, "text": "ü"}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func verify(t *testing.T, db *store.DB, org string) (n uint64, head string, err error) {
	t.Helper()
	verr := db.View(t.Context(), func(tx *store.Tx) error { n, head, err = audit.Verify(tx, org); return nil })
	if verr != nil {
		t.Fatal(verr)
	}
	return n, head, err
}

// Each organization has a chain of its own, and an untouched one holds.
func TestChainHolds(t *testing.T) {
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

// Changing, removing or moving a record breaks the chain at that place.
func TestTamperingIsFound(t *testing.T) {
	for name, tamper := range map[string]func(*store.Tx, api.AuditEvent) error{
		"changed": func(tx *store.Tx, e api.AuditEvent) error {
			e.Outcome = audit.Denied
			return store.Audit.Put(tx, "a", &e)
		},
		"removed": func(tx *store.Tx, e api.AuditEvent) error { return store.Audit.Delete(tx, "a", int64(e.Sequence)) },
		"rehashed": func(tx *store.Tx, e api.AuditEvent) (err error) {
			e.Action = "other"
			if e.Hash, err = audit.Hash(e); err != nil {
				return err
			}
			return store.Audit.Put(tx, "a", &e)
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := openStore(t)
			append20(t, db, "a")
			err := db.Update(t.Context(), func(tx *store.Tx) error {
				e, err := store.Audit.Get(tx, "a", int64(7))
				if err != nil {
					return err
				}
				return tamper(tx, e)
			})
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = verify(t, db, "a")
			var broken *audit.BrokenError
			if !errors.As(err, &broken) || broken.Sequence < 7 || broken.Sequence > 8 {
				t.Errorf("found as %v", err)
			}
		})
	}
}

// The list is the organization's own, newest first, filtered before the limit.
func TestList(t *testing.T) {
	db := openStore(t)
	append20(t, db, "a")
	append20(t, db, "b")
	s := audit.New(db)
	l, err := s.List(t.Context(), api.Caller{OrganizationID: "a"}, &api.AuditInput{Paging: api.Paging{Limit: 5}})
	if err != nil || len(l.Data) != 5 || l.Pagination.Total != 20 || l.Data[0].Sequence != 20 || !l.Pagination.HasMore {
		t.Fatalf("%+v, %v", l, err)
	}
	next, err := s.List(t.Context(), api.Caller{OrganizationID: "a"}, &api.AuditInput{Paging: api.Paging{Limit: 5, Cursor: *l.Pagination.NextCursor}})
	if err != nil || next.Data[0].Sequence != 15 {
		t.Fatalf("%+v, %v", next, err)
	}
	one, err := s.List(t.Context(), api.Caller{OrganizationID: "a"}, &api.AuditInput{Paging: api.Paging{Limit: 5}, ResourceID: "3"})
	if err != nil || len(one.Data) != 1 || one.Pagination.Total != 1 {
		t.Fatalf("%+v, %v", one, err)
	}
	_, err = s.List(t.Context(), api.Caller{OrganizationID: "b"}, &api.AuditInput{Paging: api.Paging{Limit: 5, Cursor: *l.Pagination.NextCursor}})
	if !api.IsCode(err, api.CodeValidation) {
		t.Errorf("another organization's cursor gives %v", err)
	}
}
