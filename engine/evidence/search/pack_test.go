package search

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func packed(t testing.TB, document string, passages ...Passage) Packed {
	t.Helper()
	data, err := Pack(passages)
	if err != nil {
		t.Fatal(err)
	}
	return Packed{
		DocumentID:   document,
		AssessmentID: passages[0].AssessmentID,
		Category:     passages[0].Category,
		Date:         passages[0].Date,
		Data:         data,
	}
}

func inTurn(packs ...Packed) iter.Seq2[Packed, error] {
	return func(yield func(Packed, error) bool) {
		for _, p := range packs {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// documents returns random passages: all of them, by document, and the order of the documents. Some have no
// vector.
func documents(n int) (all []Passage, by map[string][]Passage, order []string) {
	rng := rand.New(rand.NewPCG(7, 7))
	by = map[string][]Passage{}
	for i := range n {
		p := random(rng, fmt.Sprintf("p%04d", i), 16)
		p.Prior = 0
		p.DocumentID, p.AssessmentID, p.Category, p.Date = fmt.Sprintf("d%d", i/40), "a", fmt.Sprint("c", i/80), "2026-01-02"
		p.HeadingPath = []string{"Part", fmt.Sprint("Section ", i%9)}
		if len(by[p.DocumentID]) == 0 {
			order = append(order, p.DocumentID)
		}
		by[p.DocumentID] = append(by[p.DocumentID], p)
		all = append(all, p)
	}
	return all, by, order
}

func TestLoadIsAsPut(t *testing.T) {
	all, by, order := documents(400)
	for _, flatFrom := range []int{0, 100} {
		want, got := New(Options{FlatFrom: flatFrom}), New(Options{FlatFrom: flatFrom})
		fill(t, want, all...)
		var packs []Packed
		for _, d := range order {
			packs = append(packs, packed(t, d, by[d]...))
		}
		if err := got.FillFromPacks(inTurn(packs...)); err != nil {
			t.Fatal(err)
		}
		same := func(when string) {
			t.Helper()
			for _, p := range all[:40] {
				for _, q := range []Query{
					{Text: p.Text, Vector: p.Vector},
					{Text: p.Text},
					{Text: `"section 3"`, DocumentIDs: []string{"d3", "d4"}},
					{Text: p.Text, Category: "c2", Deduplicate: true, TopK: 3},
				} {
					if a, b := find(t, want, q), find(t, got, q); !reflect.DeepEqual(a, b) {
						t.Fatalf("%s, %q: loaded finds %v, put finds %v", when, q.Text, b, a)
					}
				}
			}
		}
		same("loaded")
		for _, x := range []*Index{want, got} {
			x.Remove("p0007", "p0200")
			fill(t, x, Passage{ID: "new", DocumentID: "d1", Text: "A passage on section 3 that came later", Vector: all[3].Vector})
		}
		same("after changes")
	}
}

// Vectors come out of a pack as an index would scale them, and packing them again changes no bit.
func TestUnpackVectors(t *testing.T) {
	all, _, _ := documents(100)
	all = append(all, Passage{ID: "no vector"})
	first, err := UnpackVectors(packed(t, "d", all...).Data)
	if err != nil || len(first) != len(all) {
		t.Fatalf("%d of %d, %v", len(first), len(all), err)
	}
	for i := range all {
		want := append(make([]float32, 0, 16), all[i].Vector...)[:16]
		normalizeAndRound(want)
		if !reflect.DeepEqual(first[all[i].ID], want) {
			t.Errorf("%s: got %v, want %v", all[i].ID, first[all[i].ID], want)
		}
		all[i].Vector = first[all[i].ID]
	}
	if again, err := UnpackVectors(packed(t, "d", all...).Data); err != nil || !reflect.DeepEqual(again, first) {
		t.Errorf("packing them again changes them: %v", err)
	}
	if none, err := UnpackVectors(packed(t, "d", Passage{ID: "a"}).Data); err != nil || len(none) != 0 {
		t.Errorf("without vectors: %v, %v", none, err)
	}
}

// withFloats returns a pack as version 1 stored it, with four bytes per number.
func withFloats(data []byte, passages []Passage) []byte {
	u := newPackReader(data)
	n, dims := u.readHeader()
	u.readVectors(n, dims)
	b := binary.AppendUvarint(binary.AppendUvarint([]byte{packVersionWithFloats}, uint64(n)), uint64(dims))
	for _, p := range passages {
		row := append(make([]float32, 0, dims), p.Vector...)[:dims]
		normalize(row)
		for _, v := range row {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	return append(b, u.Data...)
}

// Packs with four bytes per number give the same index and vectors as new ones.
func TestPackWithFloats(t *testing.T) {
	all, by, order := documents(400)
	fresh, old := New(Options{}), New(Options{})
	for x, change := range map[*Index]func(Packed, []Passage) []byte{
		fresh: func(p Packed, _ []Passage) []byte { return p.Data },
		old:   func(p Packed, of []Passage) []byte { return withFloats(p.Data, of) },
	} {
		var packs []Packed
		for _, d := range order {
			p := packed(t, d, by[d]...)
			p.Data = change(p, by[d])
			packs = append(packs, p)
		}
		if err := x.FillFromPacks(inTurn(packs...)); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range all {
		if !reflect.DeepEqual(fresh.vectors.row(i), old.vectors.row(i)) {
			t.Fatalf("vector %d is %v, not %v", i, old.vectors.row(i), fresh.vectors.row(i))
		}
		if q := (Query{Text: p.Text, Vector: p.Vector}); i%20 == 0 && !reflect.DeepEqual(find(t, fresh, q), find(t, old, q)) {
			t.Fatalf("%s is found otherwise", p.ID)
		}
	}
	one := packed(t, order[0], by[order[0]]...).Data
	want, _ := UnpackVectors(one)
	if got, err := UnpackVectors(withFloats(one, by[order[0]])); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("other vectors, %v", err)
	}
	if len(withFloats(one, by[order[0]]))-len(one) != 40*2*16 {
		t.Errorf("packs take %d bytes", len(one))
	}
}

// Rounded vectors stay as they are, and the largest rounding error is that of 16 bits.
func TestNormalizeAndRound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for n := range 2_000 {
		v, exact := make([]float32, 1+n%300), make([]float32, 1+n%300)
		for i := range v {
			v[i] = float32(rng.NormFloat64() * math.Exp(rng.NormFloat64()))
		}
		copy(exact, v)
		normalize(exact)
		normalizeAndRound(v)
		again := slices.Clone(v)
		if normalizeAndRound(again); !slices.Equal(again, v) {
			t.Fatalf("rounding again changes %v to %v", v, again)
		}
		for i := range v {
			if math.Abs(float64(v[i]-exact[i])) > 0.51/maxFixed {
				t.Fatalf("%v became %v", exact[i], v[i])
			}
		}
	}
	if zero := make([]float32, 3); normalizeAndRound(zero) {
		t.Error("a zero vector is no vector")
	}
	for _, v := range [][]float32{{2, 0}, {1.0002, 0}, {-1.0003, 0.0001}} {
		if normalizeAndRound(v); math.Abs(math.Abs(float64(v[0]))-1) > 1e-4 {
			t.Errorf("got %v", v)
		}
	}
}

// Packs are stored as bytes: if this test fails, packVersion must be raised.
func TestPackForm(t *testing.T) {
	p := packed(
		t,
		"d",
		Passage{
			ID:          "a",
			Text:        "Organisations review IAC-06 yearly, the owner's analysis too.",
			HeadingPath: []string{"Access"},
			Vector:      []float32{3, 4},
		},
		Passage{ID: "b", Text: "Résumé of 30 backups"},
	)
	if got := fmt.Sprintf(
		"%d %x",
		packVersion,
		sha256.Sum256(p.Data),
	); got != "2 c56d5c97cbd2fcc077c86658dea3a2ae5a63e02e9b97c65943cf6aec5410803d" {
		t.Errorf("form and bytes are %s", got)
	}
}

func TestLoadRefuses(t *testing.T) {
	one := packed(t, "d", Passage{ID: "a", Text: "x", Vector: []float32{1, 0}})
	other := packed(t, "e", Passage{ID: "b", Text: "x", Vector: []float32{1, 0, 0}})
	for name, packs := range map[string][]Packed{
		"an id twice":          {one, one},
		"vectors of two sizes": {one, other},
		"nothing":              {{}},
		"cut":                  {{Data: one.Data[:9]}},
	} {
		if err := New(Options{}).FillFromPacks(inTurn(packs...)); !errors.Is(err, ErrPack) {
			t.Errorf("%s: %v", name, err)
		}
	}
	x := New(Options{})
	fill(t, x, Passage{ID: "a"})
	if err := x.FillFromPacks(inTurn(other)); !errors.Is(err, ErrPassage) {
		t.Errorf("into a full index: %v", err)
	}
	if _, err := Pack([]Passage{{Text: "without id"}}); !errors.Is(err, ErrPassage) {
		t.Errorf("packing without an id: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	_, by, order := documents(50)
	f.Add(packed(f, order[0], by[order[0]]...).Data)
	f.Add(packed(f, "d", Passage{ID: "a", Text: "IAC-06 asks"}).Data)
	f.Add([]byte{packVersion, 1, 0})
	f.Add(withFloats(packed(f, order[0], by[order[0]]...).Data, by[order[0]]))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := UnpackVectors(data); err != nil && !errors.Is(err, ErrPack) {
			t.Fatal(err)
		}
		x := New(Options{})
		if err := x.FillFromPacks(inTurn(Packed{DocumentID: "d", Data: data})); err != nil {
			if !errors.Is(err, ErrPack) {
				t.Fatal(err)
			}
			return
		}
		find(t, x, Query{Text: "who reviews IAC-06 and \"the access review\"", Deduplicate: true})
		x.Remove("a", "p0000")
	})
}
