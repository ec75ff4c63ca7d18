package evidence

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/store"
)

// The indexes in memory are bounded: the least recently used are evicted, and a search in one of them reloads
// it.
func TestIndexesAreBounded(t *testing.T) {
	x := indexCache{byKey: map[string]*assessmentIndex{}}
	there := func() (out []string) {
		for place := range x.byKey {
			out = append(out, place)
		}
		slices.Sort(out)
		return out
	}
	for n := range 5 {
		x.recordSizeAndEvict(x.getOrAddEntry(fmt.Sprint("assessment ", n)), maxIndexSize/4-minIndexSize)
	}
	if got, want := there(), []string{"assessment 1", "assessment 2", "assessment 3", "assessment 4"}; !slices.Equal(got, want) {
		t.Fatalf("after five of a quarter each there are %q, want %q", got, want)
	}
	x.getOrAddEntry("assessment 1") // used again
	x.recordSizeAndEvict(x.getOrAddEntry("assessment 5"), maxIndexSize/4-minIndexSize)
	if got, want := there(), []string{"assessment 1", "assessment 3", "assessment 4", "assessment 5"}; !slices.Equal(got, want) {
		t.Fatalf("the one not used longest did not go: there are %q, want %q", got, want)
	}
	x.recordSizeAndEvict(x.getOrAddEntry("large"), 3*maxIndexSize)
	if got := there(); !slices.Equal(got, []string{"large"}) {
		t.Fatalf("beside one that is too large alone there are %q", got)
	}
	for n := range maxIndexSize/minIndexSize + 10 {
		x.recordSizeAndEvict(x.getOrAddEntry(fmt.Sprint("empty ", n)), 0)
	}
	if got := len(there()); got != maxIndexSize/minIndexSize {
		t.Fatalf("%d indexes without passages are kept, want %d", got, maxIndexSize/minIndexSize)
	}
}

// An idle index is evicted by TrimCaches, and reloaded with the same content by the next search.
func TestIndexesGoAtRest(t *testing.T) {
	db := packedStore(t)
	keepPassages(t, db, 60, true)
	s := &Service{db: db}
	s.indexes.byKey = map[string]*assessmentIndex{}
	find := func() (ids []string) {
		ix, err := s.loadIndexFrom(context.Background(), packedOrg, packedAssessment, packedAssessment, search.Options{}, store.Vectors)
		if err != nil {
			t.Fatal(err)
		}
		found, err := ix.Search(t.Context(), search.Query{Text: packedWord(3), TopK: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			ids = append(ids, r.ID)
		}
		return ids
	}
	before := find()
	if len(before) == 0 {
		t.Fatal("nothing is found")
	}
	for n := range maxIdleTrims {
		if gone := s.TrimCaches(); gone != 0 {
			t.Fatalf("rest %d let %d passages go", n, gone)
		}
	}
	find() // starts its idle count again
	for range maxIdleTrims {
		s.TrimCaches()
	}
	if gone := s.TrimCaches(); gone != 60 {
		t.Fatalf("an index of 60 passages that nobody asked for went with %d", gone)
	}
	if n, _ := s.indexes.countLoaded(); n != 0 {
		t.Fatalf("%d indexes are held after the last rest", n)
	}
	if after := find(); !slices.Equal(before, after) {
		t.Errorf("before it was let go %v, after %v", before, after)
	}
}
