package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
