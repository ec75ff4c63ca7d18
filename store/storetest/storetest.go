// Package storetest is the conformance test for the store's drivers:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) kv.Driver { … })
//	}
package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/store/kv"
)

// Run tests that a driver meets the requirements of kv.Driver. open returns a new, empty driver for each test,
// which Run closes.
func Run(t *testing.T, open func(t *testing.T) kv.Driver) {
	tests := []struct {
		name string
		test func(*testing.T, kv.Driver)
	}{
		{"Values", testValues},
		{"Limits", testLimits},
		{"Tables", testTables},
		{"Order", testOrder},
		{"ScanStops", testScanStops},
		{"ScanWhileWriting", testScanWhileWriting},
		{"ScanOverDeleted", testScanOverDeleted},
		{"LargeValues", testLargeValues},
		{"ManyKeys", testManyKeys},
		{"Rollback", testRollback},
		{"Isolation", testIsolation},
		{"ViewCannotWrite", testViewCannotWrite},
		{"Ended", testEnded},
		{"Cancelled", testCancelled},
		{"WaitingWriterLeaves", testWaitingWriter},
		{"Counter", testNoLostUpdates},
		{"ReadersAndWriter", testReadersAndWriter},
		{"Model", testAgainstModel},
		{"Expected", testExpectedReads},
		{"ReadsAfterManyWrites", testReadsAfterManyWrites},
		{"ScanAhead", testScanAhead},
		{"Close", testClose},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t)
			t.Cleanup(func() {
				if err := d.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			tt.test(t, d)
		})
	}
}

func view(t testing.TB, d kv.Driver, fn func(kv.KV)) {
	t.Helper()
	if err := d.View(t.Context(), func(k kv.KV) error { fn(k); return nil }); err != nil {
		t.Fatalf("View: %v", err)
	}
}

func update(t testing.TB, d kv.Driver, fn func(kv.KV)) {
	t.Helper()
	if err := d.Update(t.Context(), func(k kv.KV) error { fn(k); return nil }); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func put(t testing.TB, k kv.KV, table, key, value string) {
	t.Helper()
	if err := k.Put(table, []byte(key), []byte(value)); err != nil {
		t.Fatalf("Put %s %q: %v", table, key, err)
	}
}

func del(t testing.TB, k kv.KV, table, key string) {
	t.Helper()
	if err := k.Delete(table, []byte(key)); err != nil {
		t.Fatalf("Delete %s %q: %v", table, key, err)
	}
}

// get returns the value of a key, or "<none>" if the key doesn't exist.
func get(t testing.TB, k kv.KV, table, key string) string {
	t.Helper()
	v, err := k.Get(table, []byte(key))
	if err != nil {
		t.Fatalf("Get %s %q: %v", table, key, err)
	}
	if v == nil {
		return "<none>"
	}
	return string(v)
}

// listEntries returns the pairs of a scan as "key=value".
func listEntries(t testing.TB, k kv.KV, table string, r kv.Range) []string {
	t.Helper()
	got := []string{}
	for p, err := range k.Scan(table, r) {
		if err != nil {
			t.Fatalf("Scan %s: %v", table, err)
		}
		got = append(got, string(p.Key)+"="+string(p.Value))
	}
	return got
}

func want(t testing.TB, what string, got, expected any) {
	t.Helper()
	form := "%q" // nil and empty lists look the same
	if _, number := got.(int); number {
		form = "%d"
	}
	if g, e := fmt.Sprintf(form, got), fmt.Sprintf(form, expected); g != e {
		t.Fatalf("%s: got %.300s, want %.300s", what, g, e)
	}
}

func wantErr(t testing.TB, what string, err, expected error) {
	t.Helper()
	if !errors.Is(err, expected) {
		t.Fatalf("%s: got error %v, want %v", what, err, expected)
	}
}

func testValues(t *testing.T, d kv.Driver) {
	check := func(k kv.KV) {
		want(t, "a", get(t, k, "t", "a"), "1")
		want(t, "empty", get(t, k, "t", "empty"), "")
		want(t, "binary", get(t, k, "t", "\x00\xff\x00"), "\xff\x00\n")
		want(t, "missing key", get(t, k, "t", "zz"), "<none>")
		want(t, "prefix of a key", get(t, k, "t", "emp"), "<none>")
		want(t, "other table", get(t, k, "u", "a"), "<none>")
		want(t, "all", listEntries(t, k, "t", kv.Range{}), []string{"\x00\xff\x00=\xff\x00\n", "a=1", "empty="})
	}
	update(t, d, func(k kv.KV) {
		put(t, k, "t", "a", "0")
		put(t, k, "t", "a", "1")
		if err := k.Put("t", []byte("empty"), nil); err != nil {
			t.Fatal(err)
		}
		put(t, k, "t", "\x00\xff\x00", "\xff\x00\n")
		check(k)
	})
	view(t, d, check)
	update(t, d, func(k kv.KV) {
		del(t, k, "t", "a")
		del(t, k, "t", "a")
		del(t, k, "nowhere", "a")
		want(t, "deleted", get(t, k, "t", "a"), "<none>")
	})
	view(t, d, func(k kv.KV) { want(t, "deleted", get(t, k, "t", "a"), "<none>") })
}

func testLimits(t *testing.T, d kv.Driver) {
	update(t, d, func(k kv.KV) {
		wantErr(t, "empty key", k.Put("t", nil, []byte("v")), kv.ErrBadKey)
		wantErr(t, "empty table", k.Put("", []byte("k"), []byte("v")), kv.ErrBadKey)
		wantErr(t, "long table", k.Put(strings.Repeat("t", kv.MaxTable+1), []byte("k"), nil), kv.ErrBadKey)
		wantErr(t, "long key", k.Put("t", make([]byte, kv.MaxKey+1), nil), kv.ErrTooLarge)
		wantErr(t, "long value", k.Put("t", []byte("k"), make([]byte, kv.MaxValue+1)), kv.ErrTooLarge)
		_, err := k.Get("t", nil)
		wantErr(t, "get empty key", err, kv.ErrBadKey)
		wantErr(t, "delete empty key", k.Delete("t", nil), kv.ErrBadKey)
		for _, err := range k.Scan("", kv.Range{}) {
			wantErr(t, "scan without a table", err, kv.ErrBadKey)
		}
		put(t, k, strings.Repeat("t", kv.MaxTable), strings.Repeat("k", kv.MaxKey), "v")
	})
	view(t, d, func(k kv.KV) {
		want(t, "longest", get(t, k, strings.Repeat("t", kv.MaxTable), strings.Repeat("k", kv.MaxKey)), "v")
	})
}

func testTables(t *testing.T, d kv.Driver) {
	tables := func(k kv.KV) []string {
		names, err := k.Tables()
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	view(t, d, func(k kv.KV) { want(t, "at first", tables(k), []string{}) })
	update(t, d, func(k kv.KV) {
		put(t, k, "b", "k", "1")
		put(t, k, "a", "k", "2")
		put(t, k, "a.x", "k", "3")
	})
	update(t, d, func(k kv.KV) {
		want(t, "made", tables(k), []string{"a", "a.x", "b"})
		if err := errors.Join(k.Drop("a"), k.Drop("a"), k.Drop("never")); err != nil {
			t.Fatal(err)
		}
		want(t, "dropped", get(t, k, "a", "k"), "<none>")
		want(t, "dropped", listEntries(t, k, "a", kv.Range{}), []string{})
		want(t, "the neighbour", get(t, k, "a.x", "k"), "3")
		want(t, "left", tables(k), []string{"a.x", "b"})
		put(t, k, "a", "new", "4")
	})
	view(t, d, func(k kv.KV) { want(t, "again", listEntries(t, k, "a", kv.Range{}), []string{"new=4"}) })
}

func testOrder(t *testing.T, d kv.Driver) {
	keys := []string{
		"\x00",
		"\x00\x00",
		"\x00\xff",
		"\x01",
		"A",
		"a",
		"a\x00",
		"a\x00b",
		"aa",
		"ab",
		"b",
		"\x7f",
		"\x80",
		"é",
		"\xff",
		"\xff\xff",
	}
	update(t, d, func(k kv.KV) {
		for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(keys)) {
			put(t, k, "t", keys[i], "")
		}
	})
	bounds := append([]string{"", "0", "a\x00a", "zz", "\xff\xff\xff"}, keys...)
	view(t, d, func(k kv.KV) {
		for _, start := range bounds {
			for _, end := range bounds {
				r := kv.Range{Start: []byte(start), End: []byte(end)}
				expected := []string{}
				for _, key := range keys {
					if key >= start && key < end {
						expected = append(expected, key+"=")
					}
				}
				want(t, fmt.Sprintf("%q to %q", start, end), listEntries(t, k, "t", r), expected)
				slices.Reverse(expected)
				r.Reverse = true
				want(t, fmt.Sprintf("%q to %q backwards", start, end), listEntries(t, k, "t", r), expected)
			}
		}
		want(t, "open end", len(listEntries(t, k, "t", kv.Range{Start: []byte("b")})), 6)
		want(t, "open start", listEntries(t, k, "t", kv.Range{End: []byte("\x00\x00"), Reverse: true}), []string{"\x00="})
		want(t, "all backwards", listEntries(t, k, "t", kv.Range{Reverse: true})[0], "\xff\xff=")
		want(t, "no such table", listEntries(t, k, "none", kv.Range{Reverse: true}), []string{})
	})
}

func testScanStops(t *testing.T, d kv.Driver) {
	update(t, d, func(k kv.KV) {
		for i := range 100 {
			put(t, k, "t", fmt.Sprintf("%03d", i), "")
		}
	})
	view(t, d, func(k kv.KV) {
		for _, reverse := range []bool{false, true} {
			n := 0
			for _, err := range k.Scan("t", kv.Range{Reverse: reverse}) {
				if n++; err != nil || n == 7 {
					break
				}
			}
			want(t, "stopped", n, 7)
		}
		n := 0
		for range k.Scan("t", kv.Range{}) {
			for range k.Scan("t", kv.Range{Reverse: true}) {
				n++
			}
		}
		want(t, "scan in a scan", n, 100*100)
	})
}

// testScanWhileWriting checks that a loop can write to the table that it scans, and that it sees each key as it is when
// the loop reaches it.
func testScanWhileWriting(t *testing.T, d kv.Driver) {
	fill := func(k kv.KV) {
		if err := k.Drop("t"); err != nil {
			t.Fatal(err)
		}
		for i := range 400 {
			put(t, k, "t", fmt.Sprintf("%03d", i), strings.Repeat("x", 100))
		}
	}
	for _, reverse := range []bool{false, true} {
		update(t, d, fill)
		update(t, d, func(k kv.KV) {
			n := 0
			for p, err := range k.Scan("t", kv.Range{Reverse: reverse}) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				del(t, k, "t", string(p.Key))
			}
			want(t, "keys deleted in the loop", n, 400)
			want(t, "nothing left", len(listEntries(t, k, "t", kv.Range{})), 0)

			fill(k)
			var met []string
			for p, err := range k.Scan("t", kv.Range{Start: []byte("100"), End: []byte("104"), Reverse: reverse}) {
				if err != nil {
					t.Fatal(err)
				}
				key := string(p.Key)
				met = append(met, key)
				if len(key) == 3 {
					put(t, k, "t", key, "changed")    // changed in place, so it must not be visited twice
					put(t, k, "t", key+"a", "behind") // ahead of the scan if ascending, behind it if descending
				}
				if key == "101" {
					del(t, k, "t", "102")
				}
			}
			if reverse {
				want(t, "met", met, []string{"103", "102", "101", "100"})
			} else {
				want(t, "met", met, []string{"100", "100a", "101", "101a", "103", "103a"})
			}
		})
	}
}

// testScanOverDeleted checks that scans skip the gaps left by deletions in the same transaction.
func testScanOverDeleted(t *testing.T, d kv.Driver) {
	const n = 3000
	update(t, d, func(k kv.KV) {
		for i := range n {
			put(t, k, "t", fmt.Sprintf("%04d", i), strings.Repeat("v", 200))
		}
	})
	update(t, d, func(k kv.KV) {
		for i := 10; i < n-10; i++ {
			del(t, k, "t", fmt.Sprintf("%04d", i))
		}
		up := listEntries(t, k, "t", kv.Range{})
		want(t, "upwards", len(up), 20)
		down := listEntries(t, k, "t", kv.Range{Reverse: true})
		slices.Reverse(down)
		want(t, "downwards", down, up)
		want(t, "keys before the gap, in reverse", len(listEntries(t, k, "t", kv.Range{End: []byte("1500"), Reverse: true})), 10)
		want(t, "keys after the gap", len(listEntries(t, k, "t", kv.Range{Start: []byte("1500")})), 10)
		for i := range 10 {
			del(t, k, "t", fmt.Sprintf("%04d", i))
			del(t, k, "t", fmt.Sprintf("%04d", n-1-i))
		}
		want(t, "empty upwards", listEntries(t, k, "t", kv.Range{}), []string{})
		want(t, "empty downwards", listEntries(t, k, "t", kv.Range{Reverse: true}), []string{})
	})
}

func testLargeValues(t *testing.T, d kv.Driver) {
	large := make([]byte, kv.MaxValue)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range large {
		large[i] = byte(r.Uint32())
	}
	sizes := []int{4095, 4096, 65_535, 1 << 20, kv.MaxValue}
	update(t, d, func(k kv.KV) {
		for _, n := range sizes {
			if err := k.Put("t", fmt.Append(nil, n), large[:n]); err != nil {
				t.Fatal(err)
			}
		}
	})
	view(t, d, func(k kv.KV) {
		for _, n := range sizes {
			v, err := k.Get("t", fmt.Append(nil, n))
			if err != nil || !bytes.Equal(v, large[:n]) {
				t.Fatalf("a value of %d bytes was changed when read back (%d bytes, %v)", n, len(v), err)
			}
		}
	})
}

func testManyKeys(t *testing.T, d kv.Driver) {
	const n = 20_000
	update(t, d, func(k kv.KV) {
		for _, i := range rand.New(rand.NewPCG(5, 6)).Perm(n) {
			put(t, k, "t", fmt.Sprintf("key %08d", i), fmt.Sprint(i))
		}
	})
	view(t, d, func(k kv.KV) {
		i := 0
		for p, err := range k.Scan("t", kv.Range{}) {
			if err != nil {
				t.Fatal(err)
			}
			want(t, "key", string(p.Key), fmt.Sprintf("key %08d", i))
			want(t, "value", string(p.Value), fmt.Sprint(i))
			i++
		}
		want(t, "count", i, n)
	})
}
