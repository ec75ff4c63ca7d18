package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/store/bolt"
	"github.com/scf-service/service/store/kv"
)

func TestOpenRefuses(t *testing.T) {
	key := func(c *control) Key { return K(c.Code) }
	keys := func(c *control) []Key { return nil }
	for _, tt := range []struct {
		name   string
		schema Schema
		says   string
	}{
		{"double name", Schema{Tables: []AnyTable{controls, NewTable("controls", key)}}, "two tables are named controls"},
		{"bad name", Schema{Tables: []AnyTable{NewTable("Controls!", key)}}, "Controls!"},
		{"the store's own name", Schema{Tables: []AnyTable{NewTable("_meta", key)}}, "_meta"},
		{"nil table", Schema{Tables: []AnyTable{nil}}, "nil"},
		{"no key", Schema{Tables: []AnyTable{NewTable[control]("x", nil)}}, "primary key"},
		{"no tenant", Schema{Tables: []AnyTable{NewTenantTable("x", nil, key)}}, "primary key"},
		{"bad index", Schema{Tables: []AnyTable{NewTable("x", key, Index("by name", keys))}}, "by name"},
		{"double index", Schema{Tables: []AnyTable{NewTable("x", key, Index("by_a", keys), Unique("by_a", keys))}}, "by_a"},
		{"index without keys", Schema{Tables: []AnyTable{NewTable("x", key, Index[control]("by_a", nil))}}, "by_a"},
		{"migrations out of order", Schema{Migrations: []Migration{step(2), step(1)}}, "migration 1"},
		{"migration 0", Schema{Migrations: []Migration{step(0)}}, "migration 0"},
		{"empty migration", Schema{Migrations: []Migration{{Version: 1}}}, "no name or no function"},
	} {
		o := options(t.TempDir())
		o.Schema = tt.schema
		_, err := Open(t.Context(), o)
		if !errors.Is(err, ErrInvalidSchema) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	for _, o := range []Options{{}, {Dir: t.TempDir()}} {
		if _, err := Open(t.Context(), o); err == nil {
			t.Errorf("opened with %+v", o)
		}
	}
}

func step(version int) Migration {
	return Migration{Version: version, Name: "step", Apply: func(context.Context, *Tx) error { return nil }}
}

func TestUnknownTables(t *testing.T) {
	dir := t.TempDir()
	db := open(t, options(dir))
	stranger := NewTable("strangers", func(c *control) Key { return K(c.Code) })
	impostor := NewTable("controls", func(c *control) Key { return K(c.Code) })
	update(t, db, func(tx *Tx) error {
		is(t, "a table outside the schema", stranger.Put(tx, &control{Code: "a"}), ErrUnknownTable)
		is(t, "another table of the same name", impostor.Put(tx, &control{Code: "a"}), ErrUnknownTable)
		return controls.Put(tx, &control{Code: "a"})
	})
	is(t, "Close", db.Close(), nil)
	o := options(dir)
	o.Schema = Schema{Tables: []AnyTable{documents}}
	_, err := Open(t.Context(), o)
	if is(t, "a schema without controls", err, ErrUnknownTable); !strings.Contains(err.Error(), "controls") {
		t.Errorf("the error doesn't name the table: %v", err)
	}
	open(t, options(dir))
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	db := open(t, options(dir))
	_, err := Open(t.Context(), options(dir))
	if is(t, "Open", err, ErrLocked); !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v", err)
	}
	_, err = Restore(t.Context(), filepath.Join(dir, "none"), options(dir), ReadOptions{})
	is(t, "Restore of none", err, os.ErrNotExist)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Open(ctx, options(dir))
	is(t, "cancelled", err, context.Canceled)
	is(t, "Close", errors.Join(db.Close(), db.Close()), nil)
	is(t, "View", db.View(t.Context(), func(*Tx) error { return nil }), ErrClosed)
	open(t, options(dir))
}

func TestDamagedDatabase(t *testing.T) {
	dir := t.TempDir()
	db := open(t, options(dir))
	fillControls(t, db, 3000)
	is(t, "Close", db.Close(), nil)
	path := filepath.Join(dir, fileDatabase)
	whole, err := os.ReadFile(path)
	is(t, "ReadFile", err, nil)
	page := os.Getpagesize()
	for name, b := range map[string][]byte{
		"cut in the header": whole[:page],
		"cut to the header": whole[:2*page],
		"cut in the middle": whole[:20*page],
		"not a database":    []byte(strings.Repeat("hello ", 5000)),
		"one byte":          {1},
	} {
		is(t, "WriteFile", os.WriteFile(path, b, 0o600), nil)
		if db, err := Open(t.Context(), options(dir)); err == nil {
			t.Errorf("%s: it was opened", name)
			db.Close()
		} else if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	is(t, "WriteFile", os.WriteFile(path, whole, 0o600), nil)
	open(t, options(dir))

	db = openNew(t)
	update(t, db, func(tx *Tx) error { return tx.kv.Put("controls", K("x").b, []byte("\x01{")) })
	view(t, db, func(tx *Tx) error {
		_, err := controls.Get(tx, "x")
		if is(t, "Get", err, ErrCorrupt); !strings.Contains(err.Error(), `controls "x"`) {
			t.Errorf("the error doesn't name the place: %v", err)
		}
		for _, err := range controls.Scan(tx) {
			is(t, "Scan", err, ErrCorrupt)
		}
		return nil
	})
}

func TestTx(t *testing.T) {
	db := openNew(t)
	var kept *Tx
	ran := 0
	update(t, db, func(tx *Tx) error {
		kept = tx
		tx.AfterCommit(func() { ran++ })
		first, second := tx.NewID(), tx.NewID()
		if !tx.Now().Equal(day) || first == second || !tx.IsWritable() || tx.Context() == nil {
			t.Error("the transaction doesn't carry what it was given")
		}
		return controls.Put(tx, &control{Code: "a"})
	})
	is(t, "an ended transaction", controls.Put(kept, &control{Code: "b"}), ErrTxDone)
	_, err := controls.Get(kept, "a")
	is(t, "an ended transaction", err, ErrTxDone)
	undo := errors.New("undo")
	is(t, "rollback", db.Update(t.Context(), func(tx *Tx) error {
		tx.AfterCommit(func() { ran += 100 })
		return undo
	}), undo)
	if ran != 1 {
		t.Errorf("AfterCommit ran %d times", ran)
	}
	long := strings.Repeat("x", 3000)
	is(t, "a key too long", db.Update(t.Context(), func(tx *Tx) error {
		return controls.Put(tx, &control{Code: long})
	}), ErrTooLarge)
}

// TestGivenDriver opens a store with a driver opened by the caller, without service.db.
func TestGivenDriver(t *testing.T) {
	o := options(t.TempDir())
	path := filepath.Join(t.TempDir(), "other.db")
	for round := range 2 {
		d, err := bolt.Open(t.Context(), path, bolt.Options{})
		is(t, "opening the driver", err, nil)
		o.Driver = d
		db := open(t, o)
		fillControls(t, db, 10*(1-round))
		view(t, db, func(tx *Tx) error {
			n, err := controls.Count(tx)
			if n != 10 {
				t.Errorf("round %d: %d controls", round, n)
			}
			return err
		})
		is(t, "Close", db.Close(), nil)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, fileDatabase)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("service.db: %v", err)
	}
	if _, err := Restore(t.Context(), path, o, ReadOptions{}); err == nil {
		t.Error("restored over a driver that isn't ours")
	}
	// If opening fails, the store closes the given driver.
	d, err := bolt.Open(t.Context(), path, bolt.Options{})
	is(t, "opening the driver", err, nil)
	_, err = Open(t.Context(), Options{Driver: d})
	if err == nil {
		t.Error("opened without a folder")
	}
	is(t, "View", d.View(t.Context(), func(kv.KV) error { return nil }), ErrClosed)
}
