package store

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// control is a record that belongs to no organization, and document is one that does. They are used in the tests'
// example tables.
type control struct {
	Code   string   `json:"code"`
	Domain string   `json:"domain"`
	Weight int      `json:"weight"`
	Tags   []string `json:"tags,omitempty"`
	Text   string   `json:"text,omitempty"`
}

type document struct {
	OrganizationID string    `json:"organization_id"`
	ID             string    `json:"id"`
	Name           string    `json:"name"`
	Hash           string    `json:"hash,omitempty"`
	Created        time.Time `json:"created"`
}

var controls = NewTable("controls", func(c *control) Key { return K(c.Code) },
	Index("by_domain", func(c *control) []Key { return []Key{K(c.Domain, c.Weight)} }),
	Index("by_tag", func(c *control) []Key {
		var keys []Key
		for _, t := range c.Tags {
			keys = append(keys, K(t))
		}
		return keys
	}))

var documents = NewTenantTable("documents",
	func(d *document) string { return d.OrganizationID },
	func(d *document) Key { return K(d.ID) },
	Index("by_name", func(d *document) []Key { return []Key{K(d.Name)} }),
	Index("by_created", func(d *document) []Key { return []Key{K(d.Created)} }),
	Unique("by_hash", func(d *document) []Key {
		if d.Hash == "" {
			return nil
		}
		return []Key{K(d.Hash)}
	}),
	CountBy[document]("", 0), CountBy[document]("by_name", 1), CountBy[document]("by_hash", 0),
	Tally("name_lengths", func(d *document) []Amount { return []Amount{{K(d.Hash), len(d.Name)}, {K(), 1}} }))

var testSchema = Schema{Tables: []AnyTable{controls, documents}}

var day = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// clock stands still until the test advances it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// counter returns a function that returns id-1, id-2, …; the prefix distinguishes two counters in one folder.
func counter(prefix string) func() string {
	var mu sync.Mutex
	n := 0
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf("%s-%d", prefix, n)
	}
}

func options(dir string) Options {
	c := &clock{now: day}
	return Options{Dir: dir, Schema: testSchema, Clock: c.Now, NewID: counter(filepath.Base(dir)), LockTimeout: -1}
}

func open(t testing.TB, o Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func openNew(t testing.TB) *DB { t.Helper(); return open(t, options(t.TempDir())) }

func update(t testing.TB, db *DB, fn func(*Tx) error) {
	t.Helper()
	if err := db.Update(t.Context(), fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func view(t testing.TB, db *DB, fn func(*Tx) error) {
	t.Helper()
	if err := db.View(t.Context(), fn); err != nil {
		t.Fatalf("View: %v", err)
	}
}
