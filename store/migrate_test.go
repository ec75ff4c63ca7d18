package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/store/bolt"
	"github.com/scf-service/service/store/kv"
)

// oldPeople holds people in the old form, with a single name and no index, as stored by the first version of the
// program.
var oldPeople = map[string]string{
	"p1": "\x01" + `{"id":"p1","name":"Ada Lovelace"}`,
	"p2": "\x01" + `{"id":"p2","name":"Plato"}`,
	"p3": "\x01" + `{"id":"p3","name":""}`,
}

type oldPerson struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type person struct {
	ID    string `json:"id"`
	First string `json:"first"`
	Last  string `json:"last"`
}

func oldSchema() Schema {
	return Schema{Tables: []AnyTable{
		NewTable("persons", func(p *oldPerson) Key { return K(p.ID) }),
		NewTable("leftovers", func(p *oldPerson) Key { return K(p.ID) }),
	}}
}

func splitNames(old []byte) ([]byte, error) {
	var o oldPerson
	if err := json.Unmarshal(old, &o); err != nil {
		return nil, err
	}
	if o.Name == "" {
		return nil, nil
	}
	first, last, _ := strings.Cut(o.Name, " ")
	return json.Marshal(person{ID: o.ID, First: first, Last: last})
}

func newSchema(people *Table[person], after func(*Tx) error) Schema {
	return Schema{
		Tables: []AnyTable{people},
		Migrations: []Migration{
			{Version: 1, Name: "persons are people", Apply: func(_ context.Context, tx *Tx) error {
				return errors.Join(tx.DropTable("leftovers"), tx.RenameTable("persons", "people"))
			}},
			{Version: 3, Name: "split names", Apply: func(_ context.Context, tx *Tx) error {
				return errors.Join(tx.RewriteRecords("people", splitNames), after(tx))
			}},
		},
	}
}

func newPeople() *Table[person] {
	return NewTable("people", func(p *person) Key { return K(p.ID) },
		Unique("by_first", func(p *person) []Key { return []Key{K(p.First)} }))
}

// oldDatabase creates a folder as left by the first version of the program.
func oldDatabase(t *testing.T) Options {
	t.Helper()
	o := options(t.TempDir())
	o.Schema = oldSchema()
	db := open(t, o)
	update(t, db, func(tx *Tx) error {
		for id, b := range oldPeople {
			if err := tx.kv.Put("persons", K(id).b, []byte(b)); err != nil {
				return err
			}
		}
		return tx.kv.Put("leftovers", K("x").b, []byte("\x01{}"))
	})
	is(t, "Close", db.Close(), nil)
	return o
}

func nothing(*Tx) error { return nil }

func TestMigration(t *testing.T) {
	old := oldDatabase(t)
	people := newPeople()
	o := old
	o.Schema = newSchema(people, nothing)
	db := open(t, o)
	if db.SchemaVersion() != 3 {
		t.Errorf("the version is %d", db.SchemaVersion())
	}
	view(t, db, func(tx *Tx) error {
		same(t, "people", collect(t, people.Scan(tx), func(p person) string { return p.First + "|" + p.Last }), "Ada|Lovelace", "Plato|")
		p, err := people.By("by_first").Get(tx, "Plato")
		if is(t, "by the new index", err, nil); p.ID != "p2" {
			t.Errorf("got %+v", p)
		}
		checkIndexes(t, tx, people)
		names, err := tx.kv.Tables()
		same(t, "tables", names, "_meta", "people", "people.by_first")
		return err
	})
	is(t, "Close", db.Close(), nil)

	backups, err := filepath.Glob(filepath.Join(old.Dir, dirBackups, "*"))
	if is(t, "Glob", err, nil); len(backups) != 1 || filepath.Base(backups[0]) != "20261120T090000.000Z-before-schema-3.backup" {
		t.Fatalf("backups: %v", backups)
	}
	_, err = Open(t.Context(), old)
	var newer *NewerSchemaError
	if is(t, "the old program", err, ErrNewerSchema); !errors.As(err, &newer) || newer.Database != 3 || newer.Program != 0 {
		t.Errorf("got %v", err)
	}
	db = open(t, o) // nothing to migrate, so there is no second backup
	is(t, "Close", db.Close(), nil)
	again, _ := filepath.Glob(filepath.Join(old.Dir, dirBackups, "*"))
	if len(again) != 1 {
		t.Errorf("backups after opening again: %v", again)
	}

	// Restore the backup to return to the old version.
	m, err := Restore(t.Context(), backups[0], old, ReadOptions{})
	if is(t, "Restore", err, nil); m.Schema != 0 || m.Blobs {
		t.Errorf("manifest %+v", m)
	}
	db = open(t, old)
	view(t, db, func(tx *Tx) error {
		for id, want := range oldPeople {
			b, err := tx.kv.Get("persons", K(id).b)
			if err != nil || string(b) != want {
				t.Errorf("%s: got %q, %v", id, b, err)
			}
		}
		return nil
	})
}

func TestFailedMigration(t *testing.T) {
	old := oldDatabase(t)
	fail := errors.New("no")
	for name, o := range map[string]Schema{
		"its own error": newSchema(newPeople(), func(*Tx) error { return fail }),
		"an index that can't be": newSchema(NewTable("people", func(p *person) Key { return K(p.ID) },
			Unique("by_one", func(*person) []Key { return []Key{K(1)} })), nothing),
		"a table forgotten": {Migrations: []Migration{step(1)}},
	} {
		opts := old
		opts.Dir = t.TempDir()
		b, err := os.ReadFile(filepath.Join(old.Dir, fileDatabase))
		is(t, "ReadFile", err, nil)
		is(t, "WriteFile", os.WriteFile(filepath.Join(opts.Dir, fileDatabase), b, 0o600), nil)
		opts.Schema = o
		if _, err := Open(t.Context(), opts); err == nil {
			t.Fatalf("%s: no error", name)
		} else if !strings.Contains(err.Error(), "the database remains at version") {
			t.Errorf("%s: got %v", name, err)
		}
		// Earlier migrations are kept, and the failed one has left nothing behind.
		db := open(t, func() Options {
			opts.Schema = newSchema(newPeople(), nothing)
			return opts
		}())
		if db.SchemaVersion() != 3 {
			t.Errorf("%s: version %d", name, db.SchemaVersion())
		}
	}
}

// TestIndexesSettle checks that new indexes are built and removed ones dropped without a migration.
func TestIndexesSettle(t *testing.T) {
	o := options(t.TempDir())
	key := func(c *control) Key { return K(c.Code) }
	byDomain := func(c *control) []Key { return []Key{K(c.Domain)} }
	first := NewTable("controls", key, Index("by_old", byDomain), Index("by_domain", byDomain))
	o.Schema = Schema{Tables: []AnyTable{first}}
	db := open(t, o)
	update(t, db, func(tx *Tx) error {
		return errors.Join(first.Put(tx, &control{Code: "a", Domain: "x"}), first.Put(tx, &control{Code: "b", Domain: "y"}))
	})
	is(t, "Close", db.Close(), nil)

	second := NewTable("controls", key, Unique("by_domain", byDomain), Index("by_new", byDomain))
	o.Schema = Schema{Tables: []AnyTable{second}}
	db = open(t, o)
	view(t, db, func(tx *Tx) error {
		checkIndexes(t, tx, second)
		c, err := second.By("by_domain").Get(tx, "y")
		if is(t, "Get", err, nil); c.Code != "b" {
			t.Errorf("got %+v", c)
		}
		names, err := tx.kv.Tables()
		same(t, "tables", names, "_meta", "controls", "controls.by_domain", "controls.by_new")
		return err
	})
}

// TestTalliesInMigrations checks that migrations may write to tables whose tallies are missing, and that all tallies
// are correct afterwards.
func TestTalliesInMigrations(t *testing.T) {
	o := options(t.TempDir())
	key := func(c *control) Key { return K(c.Code) }
	old, kept := NewTable("controls", key), NewTable("kept", key, CountBy[control]("", 0))
	o.Schema = Schema{Tables: []AnyTable{old, kept}}
	db := open(t, o)
	update(t, db, func(tx *Tx) (err error) {
		for _, code := range []string{"a", "b", "c"} {
			err = errors.Join(err, old.Put(tx, &control{Code: code, Weight: 2}), kept.Put(tx, &control{Code: code}))
		}
		return err
	})
	is(t, "Close", db.Close(), nil)

	counted := NewTable("controls", key, CountBy[control]("", 0),
		Tally("weights", func(c *control) []Amount { return []Amount{{K(c.Domain), c.Weight}} }))
	o.Schema.Tables = []AnyTable{counted, kept}
	o.Schema.Migrations = []Migration{
		{Version: 1, Name: "delete", Apply: func(_ context.Context, tx *Tx) error {
			return errors.Join(counted.Delete(tx, "a"), kept.Delete(tx, "a"))
		}},
		{Version: 2, Name: "rewrite and add", Apply: func(_ context.Context, tx *Tx) error {
			return errors.Join(counted.Delete(tx, "b"), tx.RewriteRecords("controls", func(b []byte) ([]byte, error) { return b, nil }),
				counted.Put(tx, &control{Code: "d", Weight: 3}), kept.Put(tx, &control{Code: "d"}))
		}},
	}
	view(t, open(t, o), func(tx *Tx) error {
		for _, table := range []*Table[control]{counted, kept} {
			checkIndexes(t, tx, table)
			n, err := table.Count(tx)
			if is(t, "Count", err, nil); table == counted && n != 2 || table == kept && n != 3 {
				t.Errorf("%s: %d records", table.Name(), n)
			}
		}
		return nil
	})
}

// TestRemovedIndex checks that an index that is no longer declared is dropped without rebuilding the others.
func TestRemovedIndex(t *testing.T) {
	o := options(t.TempDir())
	key := func(c *control) Key { return K(c.Code) }
	byDomain := Index("by_domain", func(c *control) []Key { return []Key{K(c.Domain)} })
	first := NewTable("controls", key, byDomain, Index("by_weight", func(c *control) []Key { return []Key{K(c.Weight)} }))
	o.Schema = Schema{Tables: []AnyTable{first}}
	db := open(t, o)
	update(t, db, func(tx *Tx) error { return first.Put(tx, &control{Code: "a", Domain: "x"}) })
	is(t, "Close", db.Close(), nil)

	second := NewTable("controls", key, byDomain)
	second.untyped.def.reindex = func(*Tx) error { return errors.New("it was built again") }
	o.Schema = Schema{Tables: []AnyTable{second}}
	view(t, open(t, o), func(tx *Tx) error {
		checkIndexes(t, tx, second)
		names, err := tx.kv.Tables()
		same(t, "tables", names, "_meta", "controls", "controls.by_domain")
		return err
	})
}

// TestOtherFormats checks that a database in another format is rejected and left unchanged, and that the error says
// whether it is too old or too new.
func TestOtherFormats(t *testing.T) {
	for format, want := range map[int]error{1: ErrOldFormat, 2: ErrOldFormat, formatVersion + 1: ErrNewerSchema} {
		o := options(t.TempDir())
		db := open(t, o)
		meta := db.meta
		meta.Format = format
		update(t, db, func(tx *Tx) error { return tx.putMeta(metaKey, meta) })
		is(t, "Close", db.Close(), nil)
		for range 2 {
			_, err := Open(t.Context(), o)
			is(t, fmt.Sprintf("format %d", format), err, want)
		}
	}
}

// removeChecksums converts a database to the format without checksums.
func removeChecksums(t *testing.T, o Options) {
	t.Helper()
	d, err := bolt.Open(t.Context(), filepath.Join(o.Dir, fileDatabase), bolt.Options{})
	is(t, "bolt.Open", err, nil)
	err = d.Update(t.Context(), func(k kv.KV) error {
		tables, err := k.Tables()
		if err != nil {
			return err
		}
		for _, table := range tables {
			for p, err := range k.Scan(table, kv.Range{}) {
				if err != nil {
					return err
				}
				value := bytes.Clone(p.Value[:len(p.Value)-checksumSize])
				if table == metaTable && bytes.Equal(p.Key, metaKey.b) {
					value = bytes.Replace(value, []byte(fmt.Sprintf(`"format":%d`, formatVersion)), []byte(`"format":3`), 1)
				}
				if err := k.Put(table, bytes.Clone(p.Key), value); err != nil {
					return err
				}
			}
		}
		return k.Delete(metaTable, totalKey.b)
	})
	is(t, "Update", errors.Join(err, d.Close(), os.Remove(filepath.Join(o.Dir, fileID))), nil)
}

// TestFormat3 checks that a database without checksums gets them, after a backup, and that the backup can be migrated
// as well.
func TestFormat3(t *testing.T) {
	o := options(t.TempDir())
	fillForDamage(t, o)
	want := readAll(t, o)
	removeChecksums(t, o)
	check := func(what string) {
		t.Helper()
		if got := readAll(t, o); !maps.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
		db := open(t, o)
		c, err := db.CheckRecords(t.Context())
		if is(t, "CheckRecords", err, nil); c.Damaged > 0 {
			t.Errorf("%s: %s", what, c)
		}
		if db.meta.Format != formatVersion || db.meta.ID == "" || db.meta.Secret == "" {
			t.Errorf("%s: %+v", what, db.meta)
		}
		is(t, "Close", db.Close(), nil)
	}
	check("migrated")
	backups, err := filepath.Glob(filepath.Join(o.Dir, dirBackups, fmt.Sprintf("*-before-format-%d%s", formatVersion, BackupSuffix)))
	if is(t, "Glob", err, nil); len(backups) != 1 {
		t.Fatalf("backups: %v", backups)
	}
	_, err = Restore(t.Context(), backups[0], o, ReadOptions{})
	is(t, "Restore", err, nil)
	check("restored and migrated")
}

// TestFormat4 checks that a database from before compressed blobs is only marked with the new format. Everything in
// it remains readable, but programs that only support the old format reject it from then on.
func TestFormat4(t *testing.T) {
	o := options(t.TempDir())
	db := open(t, o)
	blob, path := putBlob(t, db, compressible(50_000))
	is(t, "WriteFile", os.WriteFile(path, compressible(50_000), 0o600), nil)
	meta := db.meta
	meta.Format = 4
	update(t, db, func(tx *Tx) error { return tx.putMeta(metaKey, meta) })
	is(t, "Close", db.Close(), nil)
	for range 2 {
		db = open(t, o)
		is(t, "Verify", db.Blobs().Verify(t.Context(), blob.SHA256), nil)
		if meta.Format = formatVersion; db.meta != meta {
			t.Errorf("got %+v, want %+v", db.meta, meta)
		}
		same(t, "backups", files(t, db, dirBackups))
		is(t, "Close", db.Close(), nil)
	}
}

// TestFormat3Schema checks that an old format and an old schema are both migrated in a single start.
func TestFormat3Schema(t *testing.T) {
	o := oldDatabase(t)
	removeChecksums(t, o)
	people := newPeople()
	o.Schema = newSchema(people, nothing)
	view(t, open(t, o), func(tx *Tx) error {
		same(t, "people", collect(t, people.Scan(tx), func(p person) string { return p.First + "|" + p.Last }), "Ada|Lovelace", "Plato|")
		return nil
	})
}
