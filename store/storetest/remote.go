package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scf-service/service/store/kv"
)

// remote returns a transaction as a kv.Remote, or skips the test if the transaction doesn't implement kv.Remote.
func remote(t *testing.T, k kv.KV) kv.Remote {
	t.Helper()
	r, ok := k.(kv.Remote)
	if !ok {
		t.Skip("the driver has no remote transactions")
	}
	return r
}

// testExpectedReads checks that telling a driver about future reads doesn't change any results.
func testExpectedReads(t *testing.T, d kv.Driver) {
	update(t, d, func(k kv.KV) {
		remote(t, k)
		put(t, k, "t", "a", "1")
		put(t, k, "t", "b", "1")
		put(t, k, "t", "c", "1")
	})
	ref := func(key string) kv.Ref { return kv.Ref{Table: "t", Key: []byte(key)} }
	update(t, d, func(k kv.KV) {
		r := remote(t, k)
		r.Expect(ref("a"), ref("b"), ref("b"), ref("none"), ref(""), kv.Ref{Key: []byte("no table")})
		del(t, k, "t", "b")
		want(t, "expected", get(t, k, "t", "a"), "1")
		want(t, "expected, then deleted", get(t, k, "t", "b"), "<none>")
		want(t, "expected and missing", get(t, k, "t", "none"), "<none>")
		wantErr(t, "an invalid key", r.Prefetch(ref("")), kv.ErrBadKey)

		r.AssumeMissing("t", []byte("new"))
		want(t, "assumed missing", get(t, k, "t", "new"), "<none>")
		put(t, k, "t", "new", "2")
		r.AssumeMissing("t", []byte("new"))
		want(t, "assumed missing, then written", get(t, k, "t", "new"), "2")
		want(t, "the scan", listEntries(t, k, "t", kv.Range{}), []string{"a=1", "c=1", "new=2"})
	})
	update(t, d, func(k kv.KV) {
		r := remote(t, k)
		r.Expect(ref("new"))
		r.AssumeMissing("t", []byte("other"))
		want(t, "the committed value", get(t, k, "t", "new"), "2")
	})
	// The second and third Update know what the one before them read. Others have changed it.
	for n := range 3 {
		value := fmt.Sprint(n)
		update(t, d, func(k kv.KV) {
			remote(t, k).ReadAhead("plan")
			want(t, "a planned read", get(t, k, "t", "a"), "1")
			want(t, "reading ahead a value that changes", get(t, k, "t", "x"), []string{"<none>", "0", "1"}[n])
			put(t, k, "t", "x", value)
			put(t, k, "t", "y"+value, "own")
			expected := []string{"y0=own", "y1=own", "y2=own"}[:n+1]
			want(t, "a planned scan", listEntries(t, k, "t", kv.Range{Start: []byte("y")}), expected)
			want(t, "a planned scan in reverse", listEntries(t, k, "t", kv.Range{End: []byte("b"), Reverse: true}), []string{"a=1"})
		})
	}
}

// testReadsAfterManyWrites checks that reads see writes that were too large to hold back until the commit.
func testReadsAfterManyWrites(t *testing.T, d kv.Driver) {
	large := strings.Repeat("x", 3<<20)
	for n := range 3 {
		update(t, d, func(k kv.KV) {
			r := remote(t, k)
			r.ReadAhead("many writes")
			key := fmt.Sprint(n)
			want(t, "before", len(listEntries(t, k, "t", kv.Range{})), n)
			want(t, "missing", get(t, k, "t", "0"+key), "<none>")
			put(t, k, "t", key, "small")
			put(t, k, "large", "a"+key, large)
			put(t, k, "large", "b"+key, large)
			r.AssumeMissing("t", []byte(key))
			want(t, "own write", get(t, k, "t", key), "small")
			want(t, "after", len(listEntries(t, k, "t", kv.Range{})), n+1)
		})
	}
}

// testScanAhead checks that each pair is announced once, in order, before the scan reaches it.
func testScanAhead(t *testing.T, d kv.Driver) {
	const n = 200
	update(t, d, func(k kv.KV) {
		remote(t, k)
		for i := range n {
			put(t, k, "t", fmt.Sprintf("%03d", i), fmt.Sprint(i))
			put(t, k, "other", fmt.Sprintf("%03d", i), fmt.Sprint(-i))
		}
	})
	for _, first := range []int{0, 1, 7} {
		for _, reverse := range []bool{false, true} {
			view(t, d, func(k kv.KV) {
				r := remote(t, k)
				var announced []string
				ahead := func(pairs []kv.Pair) error {
					var refs []kv.Ref
					for _, p := range pairs {
						announced = append(announced, string(p.Key))
						refs = append(refs, kv.Ref{Table: "other", Key: p.Key})
					}
					return r.Prefetch(refs...)
				}
				reached := 0
				for p, err := range r.ScanAhead("t", kv.Range{Reverse: reverse}, first, ahead) {
					if err != nil {
						t.Fatal(err)
					}
					i := reached
					if reverse {
						i = n - 1 - reached
					}
					key := fmt.Sprintf("%03d", i)
					want(t, "key", string(p.Key), key)
					if reached >= len(announced) || announced[reached] != key {
						t.Fatalf("first %d: %s was reached after %d were announced", first, key, len(announced))
					}
					want(t, "the related value", get(t, k, "other", key), fmt.Sprint(-i))
					reached++
				}
				want(t, "pairs", reached, n)
				want(t, "pairs announced", len(announced), n)
			})
		}
	}
	failure := errors.New("no")
	view(t, d, func(k kv.KV) {
		met := 0
		for _, err := range remote(t, k).ScanAhead("t", kv.Range{}, 0, func([]kv.Pair) error { return failure }) {
			wantErr(t, "a failed announcement", err, failure)
			met++
		}
		want(t, "ends the scan", met, 1)
	})
}
