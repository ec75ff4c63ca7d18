package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// preparedTexts returns n prepared passages of a document.
func preparedTexts(t *testing.T, doc *store.Document, version string, n int) *preparedPassages {
	t.Helper()
	var chunks []api.Chunk
	var vectors [][]float32
	for i := range n {
		chunks = append(chunks, api.Chunk{
			ID: fmt.Sprint("passage ", i), OrganizationID: doc.OrganizationID, AssessmentID: doc.AssessmentID, DocumentID: doc.ID,
			Index: i, Text: fmt.Sprint(version, " ", i), SHA256: fmt.Sprint(version, " ", i),
		})
		vectors = append(vectors, []float32{1, 0})
	}
	p, err := preparePassages(doc, chunks, vectors)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A new version of a document is invisible until it is complete, whatever its size, and the former one is
// invisible afterwards. What a crash leaves behind is deleted.
func TestPassagesAreReplacedWhole(t *testing.T) {
	db := packedStore(t)
	s := &Service{db: db}
	doc := store.Document{}
	doc.ID, doc.OrganizationID, doc.AssessmentID, doc.Status = "document", packedOrg, packedAssessment, api.DocumentIngested
	ctx := t.Context()
	activate := func(p *preparedPassages) {
		t.Helper()
		err := db.Update(ctx, func(tx *store.Tx) error {
			if err := s.activatePassages(tx, &doc, p); err != nil {
				return err
			}
			doc.ChunkCount = len(p.chunks)
			return store.Documents.Put(tx, packedOrg, &doc)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(what, version string, n, stored int) {
		t.Helper()
		err := db.View(ctx, func(tx *store.Tx) error {
			all, passages, err := readPassagesWithVectors(tx, &doc, store.Vectors)
			if err != nil {
				return err
			}
			if len(all) != n || n > 0 && (all[n-1].Text != fmt.Sprint(version, " ", n-1) || len(passages[n-1].Vector) != 2) {
				t.Errorf("%s: the document has %d passages", what, len(all))
			}
			if c, err := ReadPassage(tx, packedOrg, "passage 0"); n > 0 && (err != nil || c.Text != version+" 0") {
				t.Errorf("%s: the first passage is %q, %v", what, c.Text, err)
			}
			if rows, err := store.Chunks.Count(tx, packedOrg); err != nil || rows != stored {
				t.Errorf("%s: %d passages are stored, %v", what, rows, err)
			}
			vectors, err := store.Vectors.Count(tx, packedOrg)
			packs, _ := store.PassagePacks.Count(tx, packedOrg)
			left, _ := store.DiscardedPassages.Count(tx, packedOrg)
			if vectors != 0 || left == 0 && packs != (stored+passageBatch-1)/passageBatch {
				t.Errorf("%s: %d vectors, %d packs, %v", what, vectors, packs, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.ListDocumentChunks(
			ctx,
			api.Caller{OrganizationID: packedOrg},
			&api.DocumentChunksInput{DocumentInput: api.DocumentInput{DocumentID: doc.ID}},
		)
		all, _ := s.ListChunks(ctx, api.Caller{OrganizationID: packedOrg}, &api.ChunksInput{AssessmentID: packedAssessment})
		if err != nil || list.Pagination.Total != n || all.Pagination.Total != n {
			t.Errorf("%s: %d passages are listed, %d of all documents, %v", what, list.Pagination.Total, all.Pagination.Total, err)
		}
	}
	activate(preparedTexts(t, &doc, "small", 3))
	check("a small document", "small", 3, 3)
	large := preparedTexts(t, &doc, "large", 600)
	if err := s.stagePassages(ctx, &doc, large); err != nil {
		t.Fatal(err)
	}
	check("while a large version is written", "small", 3, 603)
	crashed := &Service{db: db}
	if err := crashed.deleteDiscarded(ctx); err != nil {
		t.Fatal(err)
	}
	check("after a crash", "small", 3, 3)
	ending, end := context.WithCancel(ctx)
	db.ObserveUpdates(func(time.Duration) { end() })
	if err := s.stagePassages(ending, &doc, preparedTexts(t, &doc, "large", 600)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	check("after the time was over between two batches", "small", 3, 3)
	large = preparedTexts(t, &doc, "large", 600)
	if err := s.stagePassages(ctx, &doc, large); err != nil {
		t.Fatal(err)
	}
	activate(large)
	check("a large document", "large", 600, 603)
	s.releasePassages(ctx, large)
	check("and nothing else", "large", 600, 600)
	activate(preparedTexts(t, &doc, "short", 5))
	check("a small version of it", "short", 5, 605)
	if err := s.deleteDiscarded(ctx); err != nil {
		t.Fatal(err)
	}
	check("at the end", "short", 5, 5)
	err := db.Update(ctx, func(tx *store.Tx) error {
		for set := range doc.PassageSet + 10 {
			other := doc.Passages()
			other.Set = set
			n, err := store.DeletePacks(tx, packedOrg, 1000, other.Key())
			if err != nil {
				return err
			}
			if isCurrent := set == doc.PassageSet; n > 0 != isCurrent {
				t.Errorf("set %d of %d has %d packs of the store", set, doc.PassageSet, n)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Passages and documents from data folders that predate passage sets are read unchanged.
func TestPassagesWithoutSet(t *testing.T) {
	old := api.Chunk{ID: "c", DocumentID: "d", AssessmentID: "a", Text: "text"}
	was, _ := json.Marshal(old)
	now, _ := json.Marshal(store.Chunk{Chunk: old})
	var read store.Chunk
	if err := json.Unmarshal(was, &read); err != nil || string(was) != string(now) || !reflect.DeepEqual(read.Chunk, old) || read.Set != 0 {
		t.Errorf("%s became %s: %v", was, now, err)
	}
	if k := store.ChunkKey("c", 0); k.String() != store.K("c").String() || (&store.Document{Document: api.Document{
		TenantRecord: api.TenantRecord{Record: api.Record{ID: "d"}},
	}}).Passages().Key() != "d" {
		t.Errorf("the keys are %s", k)
	}
}
