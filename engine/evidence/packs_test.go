package evidence

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
)

const (
	packedOrg        = "org"
	packedAssessment = "assessment"
	packedPerDoc     = 50
)

func packedStore(tb testing.TB) *store.DB {
	tb.Helper()
	db, err := store.Open(tb.Context(), store.Options{
		Dir: tb.TempDir(), Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check, Clock: time.Now,
		NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// keepPassages writes documents of packedPerDoc passages as ingestion would: 120 words, of a vocabulary in
// which few words are frequent and many rare, and vectors of 256 numbers.
func keepPassages(tb testing.TB, db *store.DB, n int, packed bool) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 8, 30_000)
	for from := 0; from < n; {
		d := store.Document{Embedder: "builtin-test"}
		d.ID, d.OrganizationID, d.AssessmentID, d.Status = fmt.Sprintf("document-%06d", from), packedOrg, packedAssessment, api.DocumentIngested
		d.SHA256 = d.ID
		var chunks []api.Chunk
		var vectors [][]float32
		for range min(packedPerDoc, n-from) {
			var text strings.Builder
			for range 120 {
				text.WriteString(packedWord(zipf.Uint64()))
			}
			vector := make([]float32, 256)
			for i := range vector {
				vector[i] = float32(rng.NormFloat64())
			}
			chunks = append(chunks, api.Chunk{
				ID: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, from)).String(), OrganizationID: packedOrg, AssessmentID: packedAssessment,
				DocumentID: d.ID, Index: len(chunks), Text: text.String(), HeadingPath: []string{"Policy", fmt.Sprint("Section ", from)},
			})
			vectors = append(vectors, vector)
			from++
		}
		d.ChunkCount = len(chunks)
		p, err := preparePassages(&d, chunks, vectors)
		if err == nil {
			err = db.Update(tb.Context(), func(tx *store.Tx) error {
				if err := errors.Join(p.writeBatch(tx, &d, 0, 0), store.Documents.Put(tx, packedOrg, &d)); err != nil || packed {
					return err
				}
				return writeOldVectors(tx, &d)
			})
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// writeOldVectors turns a stored document into one of a version that kept vectors in a table of their own, and had no packs.
func writeOldVectors(tx *store.Tx, d *store.Document) error {
	vectors, err := readVectors(tx, d, store.Vectors)
	if err != nil {
		return err
	}
	for id, v := range vectors {
		if err := store.Vectors.Put(tx, packedOrg, &store.Vector{
			OrganizationID: packedOrg, AssessmentID: packedAssessment, DocumentID: d.Passages().Key(), ChunkID: id, Values: v,
		}); err != nil {
			return err
		}
	}
	_, err = store.PassagePacks.DeleteAll(tx, packedOrg, packedAssessment, d.Passages().Key())
	return err
}

func filled(tb testing.TB, db *store.DB) *search.Index {
	tb.Helper()
	s := &Service{db: db}
	s.indexes.byKey = map[string]*assessmentIndex{}
	ix, err := s.loadIndexFrom(context.Background(), packedOrg, packedAssessment, packedAssessment, search.Options{}, store.Vectors)
	if err != nil {
		tb.Fatal(err)
	}
	return ix
}

// An index filled from packs finds the same as one filled with the passages themselves, even if some documents
// have no packs, too few, or unreadable ones.
func TestPacksFillTheSameIndex(t *testing.T) {
	plain := packedStore(t)
	keepPassages(t, plain, 400, false)
	want := filled(t, plain)
	packed := packedStore(t)
	keepPassages(t, packed, 400, true)
	for name, spoil := range map[string]func(tx *store.Tx) error{
		"all packed": func(*store.Tx) error { return nil },
		"one without": func(tx *store.Tx) error {
			d, err := store.Documents.Get(tx, packedOrg, "document-000100")
			if err != nil {
				return err
			}
			return writeOldVectors(tx, &d)
		},
		"one of another form": func(tx *store.Tx) error {
			p, err := store.PassagePacks.Get(tx, packedOrg, packedAssessment, "document-000150", 0)
			if err != nil {
				return err
			}
			d, err := store.Documents.Get(tx, packedOrg, "document-000150")
			if err == nil {
				err = writeOldVectors(tx, &d)
			}
			p.Data[0]++
			return errors.Join(err, store.PassagePacks.Put(tx, packedOrg, &p))
		},
		"one of a document that is gone": func(tx *store.Tx) error {
			p, err := store.PassagePacks.Get(tx, packedOrg, packedAssessment, "document-000200", 0)
			if err != nil {
				return err
			}
			p.DocumentID = "document-gone"
			return store.PassagePacks.Put(tx, packedOrg, &p)
		},
	} {
		if err := packed.Update(t.Context(), spoil); err != nil {
			t.Fatal(name, err)
		}
		got := filled(t, packed)
		if got.Len() != want.Len() {
			t.Fatalf("%s: %d passages, want %d", name, got.Len(), want.Len())
		}
		for _, text := range []string{"woom", "wocom wodom", "section 42", `"policy section 7"`, "wofom wogcom wohdom"} {
			a, errA := want.Search(t.Context(), search.Query{Text: text})
			b, errB := got.Search(t.Context(), search.Query{Text: text})
			if errA != nil || errB != nil || len(a) == 0 || !reflect.DeepEqual(a, b) {
				t.Errorf("%s: %s: packs find %v, %v; passages find %v, %v", name, text, b, errB, a, errA)
			}
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			db := packedStore(b)
			keepPassages(b, db, n, true)
			b.ReportAllocs()
			for b.Loop() {
				if got := filled(b, db).Len(); got != n {
					b.Fatalf("%d passages", got)
				}
			}
		})
	}
}

// packedWord writes a number in letters, as a word that no other number has.
func packedWord(n uint64) string {
	word := []byte("wo")
	for ; n > 0; n /= 20 {
		word = append(word, "bcdfghjklmnpqrstvwxz"[n%20])
	}
	return string(append(word, "om "...))
}
