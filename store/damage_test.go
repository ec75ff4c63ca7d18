package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/store/bolt"
	"github.com/scf-service/service/store/kv"
)

func TestRecordNames(t *testing.T) {
	for _, table := range slices.Concat(ServiceSchema.Tables, builtinTables()) {
		if recordNames[table.Name()] == "" {
			t.Errorf("recordNames lacks %s: how do users call its records?", table.Name())
		}
	}
	e := &DamagedRecordError{Table: "chunks.position", Key: K("org", "assessment", "doc", 7, "org", "chunk")}
	if want := `index entry of passage "chunk"`; e.Record() != want {
		t.Errorf("got %s, want %s", e.Record(), want)
	}
	e = &DamagedRecordError{Table: "passage_packs", Key: K("org", "assessment", "set", 0)}
	if want := `passage pack "assessment"/"set"/0`; e.Record() != want {
		t.Errorf("got %s, want %s", e.Record(), want)
	}
}

func TestDamageSummary(t *testing.T) {
	c := DamageCheck{Checked: 90}
	if want := "90 read, none damaged"; c.String() != want {
		t.Errorf("got %s, want %s", c, want)
	}
	for _, name := range []string{"a", "b", "c"} {
		c.add("passages", "passage "+name)
	}
	c.add("", "report r")
	c.add("", "report s")
	if want := "5 of 90 damaged: passage a and 2 more of this kind; report r; report s"; c.String() != want {
		t.Errorf("got %s, want %s", c, want)
	}
	for range maxDamageKinds {
		c.add("", "report")
	}
	if want := "; 3 others"; !strings.HasSuffix(c.String(), want) {
		t.Errorf("got %s, want %s at the end", c, want)
	}
}

// fillForDamage fills a database with pages of each kind in several transactions, so that there are free pages with
// older content.
func fillForDamage(t *testing.T, o Options) {
	t.Helper()
	db := open(t, o)
	for round := range 4 {
		update(t, db, func(tx *Tx) error {
			var errs []error
			for i := range 40 {
				c := benchControl(i)
				c.Weight, c.Text = round, strings.Repeat(c.Text[:40], 1+i%5)
				if i == 7 {
					c.Text = strings.Repeat(fmt.Sprint("several pages ", round), 4000)[:20000]
				}
				errs = append(errs, controls.Put(tx, &c))
				for _, org := range []string{"one", "two"} {
					id := fmt.Sprintf("d%02d", i)
					errs = append(errs, documents.Put(tx, org, &document{
						OrganizationID: org, ID: id, Name: fmt.Sprint("name ", (i+round)%7), Hash: fmt.Sprint(org, i, round), Created: tx.Now(),
					}))
				}
			}
			_, err := tx.NextSequence("numbers")
			return errors.Join(append(errs, err)...)
		})
	}
	is(t, "Close", db.Close(), nil)
}

// readAll reads everything in every way. The result maps each way to the content read or to an ErrCorrupt.
func readAll(t *testing.T, o Options) map[string]string {
	out := map[string]string{}
	note := func(how string, v any, err error) {
		switch {
		case errors.Is(err, ErrCorrupt), errors.Is(err, ErrUnknownTable):
			out[how] = ErrCorrupt.Error()
		case err != nil:
			out[how] = "error: " + err.Error()
		default:
			out[how] = fmt.Sprintf("%+v", v)
		}
	}
	db, err := Open(t.Context(), o)
	note("open", nil, err)
	if err != nil {
		return out
	}
	defer db.Close()
	_ = db.View(t.Context(), func(tx *Tx) error {
		n, err := tx.LastSequence("numbers")
		note("sequence", n, err)
		for i := range 40 {
			c, err := controls.Get(tx, fmt.Sprintf("C-%06d", i))
			note(fmt.Sprint("control ", i), c, err)
			d, err := documents.Get(tx, "two", fmt.Sprintf("d%02d", i))
			note(fmt.Sprint("document ", i), d, err)
			d, err = documents.By("by_hash").Get(tx, "two", fmt.Sprint("two", i, 3))
			note(fmt.Sprint("hash ", i), d, err)
		}
		scan := func(how string, all func(yield func(any, error) bool)) {
			var rows []any
			for r, err := range all {
				if err != nil {
					note(how, nil, err)
					return
				}
				rows = append(rows, r)
			}
			note(how, rows, nil)
		}
		scan("controls", func(yield func(any, error) bool) {
			for c, err := range controls.Scan(tx) {
				if !yield(c, err) {
					return
				}
			}
		})
		scan("controls by tag", func(yield func(any, error) bool) {
			for c, err := range controls.By("by_tag").Scan(tx, Prefix("policy")) {
				if !yield(c, err) {
					return
				}
			}
		})
		scan("documents by name", func(yield func(any, error) bool) {
			for d, err := range documents.By("by_name").Scan(tx, "one", Reverse) {
				if !yield(d, err) {
					return
				}
			}
		})
		count, err := documents.Count(tx, "one")
		note("count", count, err)
		return nil
	})
	return out
}

// checkDamaged writes a damaged database and fails the test unless everything read from it is as in one of wants or an
// ErrCorrupt. It reports whether anything was rejected.
func checkDamaged(t *testing.T, o Options, name string, b []byte, wants ...map[string]string) (refused bool) {
	t.Helper()
	is(t, "WriteFile", os.WriteFile(filepath.Join(o.Dir, fileDatabase), b, 0o600), nil)
	for how, got := range readAll(t, o) {
		if got == ErrCorrupt.Error() {
			refused = true
		} else if !slices.ContainsFunc(wants, func(want map[string]string) bool { return got == want[how] }) {
			t.Errorf("%s: %s: got %.300s, want %.300s", name, how, got, wants[0][how])
		}
	}
	return refused
}

// TestDamagedBytes changes single bytes, anywhere in the database.
func TestDamagedBytes(t *testing.T) {
	o := options(t.TempDir())
	fillForDamage(t, o)
	whole, want := readDatabase(t, o), readAll(t, o)
	r := rand.New(rand.NewPCG(21, 22))
	tries := 500
	if longtest.Enabled() {
		tries = 20_000
	}
	tried, refused := 0, 0
	for at := 0; at < len(whole); at += 1 + r.IntN(2*len(whole)/tries) {
		b := bytes.Clone(whole)
		b[at] ^= byte(1 + r.IntN(255))
		tried++
		if checkDamaged(t, o, fmt.Sprint("byte ", at), b, want) {
			refused++
		}
	}
	if refused < tried/10 {
		t.Errorf("of %d, only %d were refused: most of the file seems to be unused", tried, refused)
	}
}

// TestMixedPages replaces single pages of the database with older ones, as happens if the disk loses a write, or if
// the file is copied while in use.
func TestMixedPages(t *testing.T) {
	o := options(t.TempDir())
	fillForDamage(t, o)
	older := readDatabase(t, o)
	db := open(t, o)
	update(t, db, func(tx *Tx) error {
		return errors.Join(controls.Put(tx, &control{Code: "C-000001", Tags: []string{"policy"}, Text: "new"}), controls.Delete(tx, "C-000002"))
	})
	update(t, db, func(tx *Tx) error { return controls.Put(tx, &control{Code: "C-000003", Text: "new"}) })
	is(t, "Close", db.Close(), nil)
	whole, want := readDatabase(t, o), readAll(t, o)
	page := os.Getpagesize()
	refused := 0
	// The first two pages are the headers. An older header means an older state, as after a crash.
	for at := 2 * page; at+page <= min(len(older), len(whole)); at += page {
		b := bytes.Clone(whole)
		copy(b[at:at+page], older[at:])
		if checkDamaged(t, o, fmt.Sprint("page ", at/page), b, want) {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no page in use differs")
	}
	// Which pages the two states share depends on where bbolt put them, so one cut may leave the older state whole, and
	// with an older header a record may be read from a newer page. It must be the record of one of the two states.
	refused, before := 0, readAllOf(t, o, older)
	for at := 2 * page; at < min(len(older), len(whole)); at += page {
		copied := append(bytes.Clone(older[:at]), whole[at:]...)
		if checkDamaged(t, o, fmt.Sprint("older up to page ", at/page), copied, before, want) {
			refused++
		}
	}
	if refused == 0 {
		t.Error("all copies of an older beginning and a newer end were accepted")
	}
}

func readAllOf(t *testing.T, o Options, b []byte) map[string]string {
	t.Helper()
	is(t, "WriteFile", os.WriteFile(filepath.Join(o.Dir, fileDatabase), b, 0o600), nil)
	return readAll(t, o)
}

// readDatabase returns the used pages of a database file.
func readDatabase(t *testing.T, o Options) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(o.Dir, fileDatabase))
	is(t, "ReadFile", err, nil)
	page := os.Getpagesize()
	return b[:(len(bytes.TrimRight(b, "\x00"))+page-1)/page*page]
}

// TestTruncatedDatabase truncates the file, both while it is closed and while it is open.
func TestTruncatedDatabase(t *testing.T) {
	o := options(t.TempDir())
	fillForDamage(t, o)
	whole, want := readDatabase(t, o), readAll(t, o)
	r := rand.New(rand.NewPCG(23, 24))
	for _, size := range []int{0, 1, 16, 79, 4095, 4096, 8192, 3 * 4096, len(whole) / 2, len(whole) - 1} {
		if !checkDamaged(t, o, fmt.Sprint(size, " bytes"), whole[:size], want) && size < len(whole)/2 {
			t.Errorf("%d bytes: it was opened", size)
		}
	}
	for range 20 {
		checkDamaged(t, o, "cut", whole[:r.IntN(len(whole))], want)
	}
	if runtime.GOOS == "windows" {
		return // an open file can't be truncated on Windows
	}
	is(t, "WriteFile", os.WriteFile(filepath.Join(o.Dir, fileDatabase), whole, 0o600), nil)
	db := open(t, o)
	for _, size := range []int{2 * os.Getpagesize(), os.Getpagesize(), 1, 0} {
		is(t, "Truncate", os.Truncate(filepath.Join(o.Dir, fileDatabase), int64(size)), nil)
		is(t, "Backup", backUp(t.Context(), db, filepath.Join(t.TempDir(), "b")), ErrCorrupt)
		is(t, "View", db.View(t.Context(), func(tx *Tx) error { _, err := controls.Get(tx, "C-000001"); return err }), ErrCorrupt)
		is(t, "Update", db.Update(t.Context(), func(tx *Tx) error { return controls.Put(tx, &control{Code: "C-000001"}) }), ErrCorrupt)
	}
	is(t, "Close", db.Close(), nil)
}

// TestPanicsOfOthers checks that only panics about the file are converted to errors.
func TestPanicsOfOthers(t *testing.T) {
	db := openNew(t)
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("got %v", p)
		}
	}()
	_ = db.View(t.Context(), func(*Tx) error { panic("mine") })
}

// changeStored changes stored bytes including their checksums, but without updating the total.
func changeStored(t *testing.T, db *DB, change func(k kv.KV) error) {
	t.Helper()
	is(t, "Update", db.driver.Update(t.Context(), change), nil)
}

func TestMisplacedValues(t *testing.T) {
	key := func(code string) []byte { return K(code).b }
	for name, change := range map[string]func(k kv.KV) error{
		"swapped": func(k kv.KV) error {
			a, _ := k.Get("controls", key("C-000001"))
			b, _ := k.Get("controls", key("C-000002"))
			a, b = bytes.Clone(a), bytes.Clone(b)
			return errors.Join(k.Put("controls", key("C-000001"), b), k.Put("controls", key("C-000002"), a))
		},
		"of another table": func(k kv.KV) error {
			v, _ := k.Get("documents", K("one", "C-000001").b)
			return k.Put("controls", key("C-000001"), bytes.Clone(v))
		},
		"without a checksum": func(k kv.KV) error { return k.Put("controls", key("C-000001"), []byte(`{}`)) },
		"changed": func(k kv.KV) error {
			v, _ := k.Get("controls", key("C-000001"))
			v = bytes.Clone(v)
			v[len(v)/2] ^= 1
			return k.Put("controls", key("C-000001"), v)
		},
	} {
		db := openNew(t)
		update(t, db, func(tx *Tx) error {
			return errors.Join(insertMany(tx, 0, 5), documents.Put(tx, "one", &document{OrganizationID: "one", ID: "C-000001"}))
		})
		changeStored(t, db, change)
		view(t, db, func(tx *Tx) error {
			_, err := controls.Get(tx, "C-000001")
			is(t, name, err, ErrCorrupt)
			var damaged *DamagedRecordError
			if !errors.As(err, &damaged) || damaged.Table != "controls" || damaged.Key.String() != `"C-000001"` ||
				!strings.Contains(err.Error(), "service doctor") {
				t.Errorf("%s: got %v", name, err)
			}
			_, err = controls.Get(tx, "C-000003")
			is(t, name+": another record", err, nil)
			return nil
		})
		c, err := db.CheckRecords(t.Context())
		if is(t, "CheckRecords", err, nil); c.Damaged == 0 || c.Kinds[0].First != `record "C-000001" (table controls)` {
			t.Errorf("%s: got %+v", name, c)
		}
	}
}

// TestMissingRecords removes and reverts records together with their index entries.
func TestMissingRecords(t *testing.T) {
	o := options(t.TempDir())
	db := open(t, o)
	update(t, db, func(tx *Tx) error { return insertMany(tx, 0, 5) })
	update(t, db, func(tx *Tx) (err error) {
		for i := range 4 {
			_, e := tx.NextSequence(fmt.Sprint("number", i))
			err = errors.Join(err, e)
		}
		return err
	})
	old := map[string][]byte{}
	view(t, db, func(tx *Tx) error {
		v, err := tx.kv.driver.Get("controls", K("C-000001").b)
		old["C-000001"] = bytes.Clone(v)
		return err
	})
	update(t, db, func(tx *Tx) error {
		return controls.Put(tx, &control{Code: "C-000001", Domain: "D1", Weight: 1, Tags: []string{"policy"}, Text: "new"})
	})
	c, err := db.CheckRecords(t.Context())
	if is(t, "CheckRecords", err, nil); c.Damaged > 0 || c.Checked < 15 {
		t.Errorf("got %+v", c)
	}
	whole := func() []byte { is(t, "Close", db.Close(), nil); return readDatabase(t, o) }()
	for name, change := range map[string]func(k kv.KV) error{
		"an old value": func(k kv.KV) error { return k.Put("controls", K("C-000001").b, old["C-000001"]) },
		"a changed checksum": func(k kv.KV) error {
			v, _ := k.Get("controls", K("C-000001").b)
			v = bytes.Clone(v)
			v[len(v)-1]++
			return k.Put("controls", K("C-000001").b, v)
		},
		"the checksum of the total":          func(k kv.KV) error { return k.Put(metaTable, totalKey.b, make([]byte, 12)) },
		"a record without its index entries": func(k kv.KV) error { return k.Delete("controls", K("C-000001").b) },
		"consecutive records with equal values": func(k kv.KV) (err error) {
			for i := range 4 {
				err = errors.Join(err, k.Delete(sequencesTable, K(fmt.Sprint("number", i)).b))
			}
			return err
		},
		"a table":   func(k kv.KV) error { return k.Drop("controls.by_tag") },
		"the total": func(k kv.KV) error { return k.Delete(metaTable, totalKey.b) },
	} {
		is(t, "WriteFile", os.WriteFile(filepath.Join(o.Dir, fileDatabase), whole, 0o600), nil)
		d, err := bolt.Open(t.Context(), filepath.Join(o.Dir, fileDatabase), bolt.Options{})
		is(t, "bolt.Open", err, nil)
		is(t, "Update", errors.Join(d.Update(t.Context(), change), d.Close()), nil)
		_, err = Open(t.Context(), o)
		if is(t, name, err, ErrCorrupt); err != nil && !strings.Contains(err.Error(), "records are missing, outdated or damaged") {
			t.Errorf("%s: got %v", name, err)
		}
		named := strings.Contains(fmt.Sprint(err), `1 of 28 damaged: record "C-000001" (table controls)`)
		if named != (name == "a changed checksum") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestFolderWithoutDatabase(t *testing.T) {
	put := func(t *testing.T, dir, name, content string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		is(t, "MkdirAll", os.MkdirAll(filepath.Dir(path), 0o700), nil)
		is(t, "WriteFile", os.WriteFile(path, []byte(content), 0o600), nil)
	}
	blob := "blobs/ab/" + strings.Repeat("c", 62)
	backup := "backups/20261120T090000.000Z-before-schema-3.backup"
	for name, tt := range map[string]struct {
		files []string
		trace string // "" if the folder is unused
	}{
		"new":                         {nil, ""},
		"prepared by an operator":     {[]string{".gitkeep", "lost+found/x", "secret.key", "config.yaml", "model.json", "README"}, ""},
		"left by a killed process":    {[]string{"service.sock", "tmp/unfinished", "blobs/.keep", "backups/.unfinished", "blobs/ab/.x"}, ""},
		"a folder beside no blob":     {[]string{"blobs/ab/notes.txt"}, ""},
		"an ID":                       {[]string{"service.id"}, "service.id"},
		"a blob":                      {[]string{blob}, blob},
		"a backup":                    {[]string{backup}, backup},
		"an ID and what may be there": {[]string{"service.id", ".gitkeep", "secret.key", blob}, "service.id"},
	} {
		for how, prepare := range map[string]func(t *testing.T, dir string){
			"missing": func(*testing.T, string) {},
			"empty":   func(t *testing.T, dir string) { put(t, dir, fileDatabase, "") },
			"without data": func(t *testing.T, dir string) {
				is(t, "Create", bolt.Create(filepath.Join(dir, fileDatabase), filepath.Join(dir, "x")), nil)
			},
		} {
			t.Run(name+", database "+how, func(t *testing.T) {
				dir := t.TempDir()
				for _, f := range tt.files {
					put(t, dir, f, "content")
				}
				prepare(t, dir)
				if unused := HoldsNoData(dir); unused != (tt.trace == "" && how == "missing") {
					t.Errorf("IsUnused: %v", unused)
				}
				for range 2 { // either an error or success, and the same the second time
					before := listFiles(t, dir)
					db, err := Open(t.Context(), options(dir))
					if tt.trace == "" {
						is(t, "Open", err, nil)
						is(t, "Close", db.Close(), nil)
						continue
					}
					is(t, "Open", err, ErrCorrupt)
					for _, want := range []string{filepath.Join(dir, fileDatabase), filepath.FromSlash(tt.trace), "restore a backup"} {
						if !strings.Contains(err.Error(), want) {
							t.Errorf("the error doesn't contain %s: %v", want, err)
						}
					}
					same(t, "files", listFiles(t, dir), before...)
				}
				if tt.trace != "" { // moving everything elsewhere must help
					entries, err := os.ReadDir(dir)
					is(t, "ReadDir", err, nil)
					for _, e := range entries {
						is(t, "Rename", os.Rename(filepath.Join(dir, e.Name()), filepath.Join(t.TempDir(), e.Name())), nil)
					}
					open(t, options(dir))
				}
			})
		}
	}
}

// listFiles lists the files in a folder and its subfolders, but not empty folders.
func listFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	is(t, "WalkDir", err, nil)
	return names
}

func TestExchangedDatabase(t *testing.T) {
	o, other := options(t.TempDir()), options(t.TempDir())
	for _, o := range []Options{o, other} {
		db := open(t, o)
		fillControls(t, db, 3)
		is(t, "Close", db.Close(), nil)
	}
	own := readDatabase(t, o)
	is(t, "WriteFile", os.WriteFile(filepath.Join(o.Dir, fileDatabase), readDatabase(t, other), 0o600), nil)
	for range 2 {
		_, err := Open(t.Context(), o)
		if is(t, "another folder's", err, ErrCorrupt); !strings.Contains(err.Error(), filepath.Join(o.Dir, fileID)) {
			t.Errorf("the error doesn't name the file to delete: %v", err)
		}
	}
	is(t, "WriteFile", os.WriteFile(filepath.Join(o.Dir, fileDatabase), own, 0o600), nil)
	is(t, "Close", open(t, o).Close(), nil)

	// The database is deliberately replaced.
	is(t, "WriteFile", os.WriteFile(filepath.Join(o.Dir, fileDatabase), readDatabase(t, other), 0o600), nil)
	is(t, "Remove", os.Remove(filepath.Join(o.Dir, fileID)), nil)
	for range 2 {
		is(t, "Close", open(t, o).Close(), nil)
	}

	// Restoring another folder's backup has the same effect.
	db := open(t, other)
	path := filepath.Join(t.TempDir(), "b")
	is(t, "Backup", errors.Join(backUp(t.Context(), db, path), db.Close()), nil)
	is(t, "WriteFile", os.WriteFile(filepath.Join(o.Dir, fileID), []byte("something else\n"), 0o600), nil)
	_, err := Open(t.Context(), o)
	is(t, "with a changed ID", err, ErrCorrupt)
	_, err = Restore(t.Context(), path, o, ReadOptions{})
	is(t, "Restore", err, nil)
	is(t, "Close", open(t, o).Close(), nil)
}
