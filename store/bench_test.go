package store

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/store/internal/disk"
)

func benchControl(i int) control {
	return control{
		Code: fmt.Sprintf("C-%06d", i), Domain: fmt.Sprintf("D%d", i%33), Weight: i % 10,
		Tags: []string{"policy"}, Text: strings.Repeat("the organization reviews it ", 20),
	}
}

func benchFill(b *testing.B, n int) *DB {
	b.Helper()
	db := openNew(b)
	update(b, db, func(tx *Tx) error { return insertMany(tx, 0, n) })
	return db
}

func insertMany(tx *Tx, from, n int) error {
	for i := range n {
		c := benchControl(from + i)
		if err := controls.Insert(tx, &c); err != nil {
			return err
		}
	}
	return nil
}

func BenchmarkInsert(b *testing.B) {
	db := openNew(b)
	i := 0
	for b.Loop() {
		update(b, db, func(tx *Tx) error { return insertMany(tx, i, 1) })
		i++
	}
}

func BenchmarkInsert1500(b *testing.B) {
	db := openNew(b)
	i := 0
	for b.Loop() {
		update(b, db, func(tx *Tx) error { return insertMany(tx, i, 1500) })
		i += 1500
	}
}

func BenchmarkGet(b *testing.B) {
	db := benchFill(b, 1500)
	i := 0
	for b.Loop() {
		view(b, db, func(tx *Tx) error {
			_, err := controls.Get(tx, fmt.Sprintf("C-%06d", i%1500))
			return err
		})
		i++
	}
}

func BenchmarkPage50(b *testing.B) {
	db := benchFill(b, 1500)
	for name, q := range map[string]PageQuery[control]{
		"primary":  {},
		"index":    {Index: "by_tag", Prefix: K("policy")},
		"no total": {SkipTotal: true},
		"filter":   {Filter: func(c *control) bool { return c.Weight > 3 }},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				view(b, db, func(tx *Tx) error {
					p, err := controls.Page(tx, q)
					if len(p.Items) != 50 {
						b.Fatalf("%d items", len(p.Items))
					}
					return err
				})
			}
		})
	}
}

func BenchmarkKey(b *testing.B) {
	for b.Loop() {
		_ = K("0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", "by_name", 7)
	}
}

// BenchmarkOpen measures opening a database, which reads the whole file.
func BenchmarkOpen(b *testing.B) {
	o := options(b.TempDir())
	db := open(b, o)
	for i := range 20 {
		update(b, db, func(tx *Tx) error { return insertMany(tx, 1500*i, 1500) })
	}
	var size int64
	for b.Loop() {
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		db = open(b, o)
	}
	if info, err := os.Stat(filepath.Join(o.Dir, fileDatabase)); err == nil {
		size = info.Size()
	}
	b.ReportMetric(float64(size)/(1<<20), "MB")
}

// BenchmarkBackup reports how long a backup takes as a multiple of copying the folder, by how much it slows down
// continuous writes, and how long it takes during such writes. One fifth of the data is records. With long tests
// enabled, the folder has 1 GB.
func BenchmarkBackup(b *testing.B) {
	size := 16 << 20
	if longtest.Enabled() {
		size = 1 << 30
	}
	o := options(b.TempDir())
	o.Clock = time.Now // the backup measures its own time
	db := open(b, o)
	noise := rand.NewChaCha8([32]byte{3})
	text := make([]byte, 600)
	for i := 0; i < size/5/len(text); i += 1500 {
		update(b, db, func(tx *Tx) error {
			for j := range 1500 {
				_, _ = noise.Read(text)
				c := control{Code: fmt.Sprintf("B-%08d", i+j), Text: base64.StdEncoding.EncodeToString(text[:400])}
				if err := controls.Insert(tx, &c); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for i := 0; i < size/5*4; i += 4 << 20 {
		_, err := db.Blobs().Put(b.Context(), io.LimitReader(noise, 4<<20), 1<<30)
		is(b, "Put", err, nil)
	}
	dir := b.TempDir()
	var copies, backups, backupsBeside time.Duration
	alone, beside := 0.0, 0.0 // in writes per second
	n := 0
	for b.Loop() {
		n++
		path := filepath.Join(dir, "copy")
		copies += elapsed(func() { copyFolder(b, db.dir, path) })
		is(b, "RemoveAll", os.RemoveAll(path), nil)
		backup := func() { is(b, "Backup", backUp(b.Context(), db, path), nil) }
		took := elapsed(backup)
		backups += took
		is(b, "Remove", os.Remove(path), nil)

		// Measure before and after, because the load of the machine changes.
		wait := func() { <-time.After(took) }
		before := writesPerSecond(b, db, wait)
		backupsBeside += elapsed(func() { beside += writesPerSecond(b, db, backup) })
		is(b, "Remove", os.Remove(path), nil)
		alone += (before + writesPerSecond(b, db, wait)) / 2
	}
	b.ReportMetric(backups.Seconds()/copies.Seconds(), "copies")
	b.ReportMetric(backupsBeside.Seconds()/copies.Seconds(), "copies-beside-writes")
	b.ReportMetric(100*(1-beside/alone), "%slower-writes")
	b.ReportMetric(float64(size)/(1<<20)*float64(n)/backups.Seconds(), "MB/s")
}

func elapsed(fn func()) time.Duration {
	begin := time.Now()
	fn()
	return time.Since(begin)
}

// copyFolder copies a folder durably.
func copyFolder(b testing.TB, from, to string) {
	b.Helper()
	is(b, "copying", filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return disk.WriteTemp(target, 0o600, func(w io.Writer) error { _, err := io.Copy(w, f); return err })
	}), nil)
}

// writesPerSecond returns the rate of small writes while fn runs.
func writesPerSecond(b *testing.B, db *DB, fn func()) float64 {
	b.Helper()
	done := make(chan struct{})
	begin := time.Now()
	go func() {
		defer close(done)
		fn()
	}()
	for n := 0; ; n++ {
		select {
		case <-done:
			return float64(n) / time.Since(begin).Seconds()
		default:
			update(b, db, func(tx *Tx) error { return controls.Put(tx, &control{Code: "written", Weight: n}) })
		}
	}
}

// BenchmarkDeleteUnusedBlobs looks for files without references among those of 20,000 documents, as the cleanup does
// once a day.
func BenchmarkDeleteUnusedBlobs(b *testing.B) {
	n := 200
	if longtest.Enabled() {
		n = 20_000
	}
	o := options(b.TempDir())
	o.Schema = ServiceSchema
	db := open(b, o)
	for from := 0; from < n; from += 200 {
		update(b, db, func(tx *Tx) error {
			for i := from; i < from+200; i++ {
				blob, err := db.Blobs().Put(b.Context(), strings.NewReader(fmt.Sprint("document ", i)), 1<<10)
				if err != nil {
					return err
				}
				record := api.TenantRecord{Record: api.Record{ID: tx.NewID()}, OrganizationID: "acme"}
				d := Document{Document: api.Document{TenantRecord: record, Filename: fmt.Sprint(i, ".md"), SHA256: blob.SHA256}}
				if err := Documents.Insert(tx, "acme", &d); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for b.Loop() {
		var used map[string]string
		view(b, db, func(tx *Tx) (err error) {
			used, err = ReferencedBlobs(tx)
			return err
		})
		deleted, err := db.Blobs().DeleteUnused(b.Context(), func(sha string) bool { return used[sha] != "" }, 0)
		if err != nil || len(deleted) > 0 || len(used) != n {
			b.Fatal(len(used), deleted, err)
		}
	}
}
