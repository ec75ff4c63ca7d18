package store

import (
	"bytes"
	"cmp"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestKeyOrder(t *testing.T) {
	// Each key sorts before the next.
	ordered := []Key{
		K(),
		K([]byte{}), K([]byte{0}), K([]byte{0, 0xFF}), K([]byte{1}), K([]byte{0xFF, 0xFF}),
		K(""), K("", ""), K("", "a"), K("\x00"), K("\x00", 1), K("\x00\x00"), K("\x00a"), K("\x00\xff"), K("\x01"),
		K(
			"a",
		), K("a", ""), K("a", "b"), K("a", math.MinInt64), K("a", -1), K("a", 0), K("a", 1), K("a", 255), K("a", 256), K("a", math.MaxInt64),
		K("a", time.Time{}), K("a", time.Unix(-1, 999)), K("a", time.Unix(0, 0)), K("a", time.Unix(0, 1)), K("a", time.Unix(1, 0)),
		K("a\x00"), K("a\x00b"), K("aa"), K("b"), K("é"), K("\xff"),
		K(false), K(true), K(true, false),
		K(1), K(1, 1), K(2),
	}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := bytes.Compare(a.b, b.b), cmp.Compare(i, j); got != want {
				t.Errorf("%v and %v compare as %d, want %d", a, b, got, want)
			}
		}
		if a.Err() != nil {
			t.Errorf("%v: %v", a, a.Err())
		}
	}
}

func TestKeyParts(t *testing.T) {
	type id string
	type level uint8
	berlin := time.FixedZone("", 3600)
	k := K("org", id("x\x00y"), level(3), -7, []byte{0, 1}, true, time.Unix(5, 6).In(berlin), K("in", 1))
	parts, err := k.Parts()
	if err != nil {
		t.Fatal(err)
	}
	want := []any{"org", "x\x00y", int64(3), int64(-7), []byte{0, 1}, true, time.Unix(5, 6).UTC(), "in", int64(1)}
	if !reflect.DeepEqual(parts, want) {
		t.Errorf("got %#v", parts)
	}
	if got, want := k.String(), `"org"/"x\x00y"/3/-7/0001/true/1970-01-01T00:00:05.000000006Z/"in"/1`; got != want {
		t.Errorf("String: got %s, want %s", got, want)
	}
	for _, bad := range []any{nil, 1.5, struct{}{}, &k, []string{"a"}, uint64(math.MaxUint64), K(nil)} {
		is(t, "K", K("a", bad).Err(), ErrBadKey)
		is(t, "Join", K("a").Join(K(bad)).Err(), ErrBadKey)
		_, err := K(bad).Parts()
		is(t, "Parts", err, ErrBadKey)
	}
	if a := K("a"); !bytes.Equal(a.Join(K("b")).b, K("a", "b").b) || !bytes.Equal(a.Join(K("c")).b, K("a", "c").b) {
		t.Error("Join shares memory")
	}
}

// FuzzKeyOrder checks that two tuples of the same kinds sort like their parts, and that one is in the range of the
// other's prefix only if the parts are equal.
func FuzzKeyOrder(f *testing.F) {
	f.Add("a", "a\x00", int64(1), int64(-1), []byte{0}, []byte{0, 0xFF}, int64(0), int64(1))
	f.Add("", "\x00\xff", int64(0), int64(math.MinInt64), []byte(nil), []byte{0xFF}, int64(-1), int64(1e18))
	f.Fuzz(func(t *testing.T, s1, s2 string, n1, n2 int64, b1, b2 []byte, t1, t2 int64) {
		u1, u2 := time.Unix(0, t1), time.Unix(0, t2)
		want := cmp.Or(strings.Compare(s1, s2), cmp.Compare(n1, n2), bytes.Compare(b1, b2), u1.Compare(u2))
		k1, k2 := K(s1, n1, b1, u1), K(s2, n2, b2, u2)
		if got := bytes.Compare(k1.b, k2.b); got != want {
			t.Fatalf("%v and %v compare as %d, want %d", k1, k2, got, want)
		}
		r, err := newScanOptions([]ScanOption{Prefix(s1)}).toRange()
		if err != nil {
			t.Fatal(err)
		}
		inside := bytes.Compare(k2.b, r.Start) >= 0 && bytes.Compare(k2.b, r.End) < 0
		if inside != (s1 == s2) {
			t.Fatalf("%v inside prefix %q: %v", k2, s1, inside)
		}
	})
}

// FuzzKeyParts checks that any bytes result either in an error or in parts that encode to the same bytes.
func FuzzKeyParts(f *testing.F) {
	f.Add(K("a\x00b", 1, []byte{0xFF}, true, time.Unix(1, 2)).b)
	f.Add([]byte{tagText, 'a'})
	f.Add([]byte{tagTime, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF})
	f.Fuzz(func(t *testing.T, b []byte) {
		k := Key{b: b}
		_ = k.String()
		parts, err := k.Parts()
		if err != nil {
			is(t, "Parts", err, ErrBadKey)
			return
		}
		if again := K(parts...); !bytes.Equal(again.b, b) {
			t.Fatalf("%x came back as %x", b, again.b)
		}
	})
}
