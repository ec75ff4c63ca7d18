package evidence

import (
	"context"
	"errors"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/store"
)

// A document's passages form a set, which its record names. Thus a set of any size is written and deleted in
// short transactions, and no reader sees half of it:
//
//	stage: in batches ─▶ activate: the record names the new set and discards the old one ─▶ deleteDiscarded: in batches
//
// A set listed in store.DiscardedPassages is invisible: it is being written, or no longer used. Start deletes
// those that a crash left behind.

// passageBatch is the number of passages written in one transaction. They make up one pack of at most 8 MB.
const passageBatch = search.PackPassages

// deleteBatch is the maximum number of passages deleted in one transaction. It is below passageBatch because
// deleting a passage takes longer than writing it.
const deleteBatch = passageBatch / 2

// passageSetSequence is the sequence that numbers passage sets.
const passageSetSequence = "passage sets"

// preparedPassages holds a document's passages as they will be stored. They are prepared outside of
// transactions.
type preparedPassages struct {
	chunks []api.Chunk
	packs  [][]byte // with the vectors; nil if they are added later
	// set is the set that the passages are stored in, or 0 if they have not been stored.
	set int64
}

// preparePassages prepares a document's passages for storing. Without vectors, the packs are empty.
func preparePassages(doc *store.Document, chunks []api.Chunk, vectors [][]float32) (*preparedPassages, error) {
	p := &preparedPassages{chunks: chunks}
	for from := 0; from < len(chunks); from += passageBatch {
		to := min(from+passageBatch, len(chunks))
		var data []byte
		if vectors != nil {
			var err error
			if data, err = packPassages(doc, chunks[from:to], vectors[from:to]); err != nil {
				return nil, err
			}
		}
		p.packs = append(p.packs, data)
	}
	return p, nil
}

// packPassages returns the pack of at most passageBatch passages with their vectors.
func packPassages(doc *store.Document, chunks []api.Chunk, vectors [][]float32) ([]byte, error) {
	part := make([]search.Passage, len(chunks))
	for i, c := range chunks {
		part[i] = toSearchPassage(c, doc.Document, vectors[i])
	}
	return search.Pack(part)
}

// writeBatch writes the passages of one pack to a set.
func (p *preparedPassages) writeBatch(tx *store.Tx, doc *store.Document, set int64, part int) error {
	current := doc.Passages()
	current.Set = set
	key := current.Key()
	var batch []store.PreparedRecord[store.Chunk]
	for i := part * passageBatch; i < min((part+1)*passageBatch, len(p.chunks)); i++ {
		batch = append(batch, store.PreparedRecord[store.Chunk]{Record: &store.Chunk{Chunk: p.chunks[i], Set: set}})
	}
	if _, err := store.InsertPrepared(tx, store.Chunks, doc.OrganizationID, batch); err != nil {
		return err
	}
	if p.packs[part] == nil {
		return nil
	}
	return putPack(tx, doc, key, part, p.packs[part])
}

func putPack(tx *store.Tx, doc *store.Document, key string, part int, data []byte) error {
	return store.PassagePacks.Put(tx, doc.OrganizationID, &store.PassagePack{
		OrganizationID: doc.OrganizationID, AssessmentID: doc.AssessmentID, DocumentID: key, Part: part, Data: data,
	})
}

// stagePassages writes the passages to a new set that no document uses yet. The caller must call activate or release.
func (s *Service) stagePassages(ctx context.Context, doc *store.Document, p *preparedPassages) error {
	for part := range p.packs {
		set := p.set
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			return tx.WithoutSyncLog(func() (err error) { // the sync log only records when a set becomes current
				if part == 0 {
					if set, err = s.newPassageSet(tx, doc, p); err != nil {
						return err
					}
				}
				return p.writeBatch(tx, doc, set, part)
			})
		})
		if p.set = set; err != nil {
			s.releasePassages(ctx, p)
			return err
		}
	}
	p.packs = nil // they are stored, and an import may hold many documents
	return nil
}

// newPassageSet returns the number of a new set for p. The set is listed as discarded, so that it is deleted after a
// crash, but it isn't deleted before p is released.
func (s *Service) newPassageSet(tx *store.Tx, doc *store.Document, p *preparedPassages) (int64, error) {
	set, err := tx.NextSequence(passageSetSequence)
	if err != nil {
		return 0, err
	}
	s.staging.add(set, p)
	row := doc.Passages()
	row.Set = set
	return set, store.DiscardedPassages.Insert(tx, doc.OrganizationID, &row)
}

// activatePassages makes the prepared passages the document's current ones. It also writes them if
// they were not staged, which is allowed for up to one batch. The caller must save the document's
// record.
func (s *Service) activatePassages(tx *store.Tx, doc *store.Document, p *preparedPassages) error {
	if p.set == 0 {
		n, err := store.Chunks.By("position").Count(tx, doc.OrganizationID, doc.AssessmentID, doc.Passages().Key())
		switch {
		case err != nil:
			return err
		case n > deleteBatch:
			err = s.discardPassages(tx, doc)
		default:
			_, err = deleteSomePassages(tx, doc.Passages(), deleteBatch)
		}
		if err != nil || len(p.packs) == 0 {
			return err
		}
		return p.writeBatch(tx, doc, doc.PassageSet, 0)
	}
	if err := s.discardPassages(tx, doc); err != nil {
		return err
	}
	doc.PassageSet = p.set
	return store.DiscardedPassages.Delete(tx, doc.OrganizationID, doc.AssessmentID, doc.ID, p.set)
}

// discardPassages replaces a document's passage set with an empty one and lists the old set for deletion. The
// caller must save or delete the document's record, and call deleteDiscarded after the transaction.
func (s *Service) discardPassages(tx *store.Tx, doc *store.Document) error {
	row := doc.Passages()
	err := errors.Join(store.DiscardedPassages.Put(tx, doc.OrganizationID, &row), markEmbedded(tx, doc))
	if err != nil {
		return err
	}
	doc.PassageSet, err = tx.NextSequence(passageSetSequence)
	return err
}

// releasePassages ends the use of prepared passages. If they were not activated, it deletes them; otherwise, it
// deletes the passages that they replaced.
func (s *Service) releasePassages(ctx context.Context, p *preparedPassages) {
	s.staging.remove(p)
	s.deleteDiscardedAndLog(ctx)
}

// deleteDiscardedAndLog deletes the passage sets that no document uses. Failures are only logged; the next document or start
// retries.
func (s *Service) deleteDiscardedAndLog(ctx context.Context) {
	if err := s.deleteDiscarded(context.WithoutCancel(ctx)); err != nil {
		s.log.Warn("could not delete passages that are no longer used; this will be retried later", "error", err)
	}
}

// deleteDiscarded deletes the passage sets that no document uses, in short transactions.
func (s *Service) deleteDiscarded(ctx context.Context) error {
	for {
		var sets []store.PassageSet
		err := s.db.View(ctx, func(tx *store.Tx) (err error) {
			sets, err = s.findUnusedPassageSets(tx)
			return err
		})
		if err != nil || len(sets) == 0 {
			return err
		}
		if err := s.db.Update(ctx, func(tx *store.Tx) error {
			return tx.WithoutSyncLog(func() error { return s.deleteDiscardedBatch(tx) })
		}); err != nil {
			return err
		}
	}
}

// findUnusedPassageSets returns up to deleteBatch passage sets that no document uses and that are not being written. Within
// an Update transaction, none of them can become used.
func (s *Service) findUnusedPassageSets(tx *store.Tx) (sets []store.PassageSet, err error) {
	for set, err := range store.DiscardedPassages.AcrossTenants().Scan(tx) {
		if err != nil {
			return nil, err
		}
		if s.staging.has(set.Set) {
			continue
		}
		if sets = append(sets, set); len(sets) == deleteBatch {
			break
		}
	}
	return sets, nil
}

// deleteDiscardedBatch deletes up to deleteBatch passages and packs of unused sets. Sets that are
// empty after that are removed from the list of discarded sets.
func (s *Service) deleteDiscardedBatch(tx *store.Tx) error {
	sets, err := s.findUnusedPassageSets(tx)
	if err != nil {
		return err
	}
	left := deleteBatch
	for _, set := range sets {
		for n := 1; n > 0; left -= n {
			if left <= 0 {
				return nil
			}
			if n, err = deleteSomePassages(tx, set, left); err != nil {
				return err
			}
		}
		if err := store.DiscardedPassages.Delete(tx, set.OrganizationID, set.AssessmentID, set.DocumentID, set.Set); err != nil {
			return err
		}
	}
	return nil
}

// deleteSomePassages deletes up to limit passages of a set, with their vectors, and one passage
// pack. After the last passage, it also deletes up to limit packs of the store. It returns the
// number of deleted records, which is 0 once nothing is left.
func deleteSomePassages(tx *store.Tx, set store.PassageSet, limit int) (n int, err error) {
	org, key := set.OrganizationID, set.Key()
	var some []string
	more := false
	for c, err := range store.Chunks.By("position").Scan(tx, org, store.Prefix(set.AssessmentID, key)) {
		if err != nil {
			return 0, err
		}
		if more = len(some) == limit; more {
			break
		}
		some = append(some, c.ID)
	}
	for _, id := range some {
		if err := errors.Join(
			store.Chunks.Delete(tx, org, store.ChunkKey(id, set.Set)),
			ignoreMissing(store.Vectors.Delete(tx, org, set.AssessmentID, key, id)),
			ignoreMissing(store.ExternalVectors.Delete(tx, org, set.AssessmentID, key, id)),
		); err != nil {
			return 0, err
		}
	}
	n, err = store.PassagePacks.DeleteSome(tx, org, 1, set.AssessmentID, key)
	n += len(some)
	if err != nil || more {
		return n, err
	}
	packs, err := store.DeletePacks(tx, org, limit, key)
	return n + packs, err
}

// ReadPassage returns the passage with the given ID, or store.ErrNotFound.
func ReadPassage(tx *store.Tx, org, id string) (api.Chunk, error) {
	c, err := readStoredPassage(tx, org, id)
	return c.Chunk, err
}

func readStoredPassage(tx *store.Tx, org, id string) (store.Chunk, error) {
	for c, err := range store.Chunks.Scan(tx, org, store.Prefix(id)) {
		if err != nil {
			return store.Chunk{}, err
		}
		hidden, err := store.DiscardedPassages.Has(tx, org, c.AssessmentID, c.DocumentID, c.Set)
		if err != nil || !hidden {
			return c, err
		}
	}
	return store.Chunk{}, store.ErrNotFound
}

// readPassages returns a document's passages in document order.
func readPassages(tx *store.Tx, doc *store.Document) (out []api.Chunk, err error) {
	for c, err := range store.Chunks.By("position").Scan(tx, doc.OrganizationID, store.Prefix(doc.AssessmentID, doc.Passages().Key())) {
		if err != nil {
			return nil, err
		}
		out = append(out, c.Chunk)
	}
	return out, nil
}

// stagedSets tracks which passage sets are being written, and for which prepared passages. A set's number alone is not
// unique, because it is reused if the transaction is rolled back. It is safe for concurrent use.
type stagedSets struct {
	mu     sync.Mutex
	owners map[int64]*preparedPassages
}

func (s *stagedSets) add(set int64, p *preparedPassages) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owners == nil {
		s.owners = map[int64]*preparedPassages{}
	}
	s.owners[set] = p
}

func (s *stagedSets) remove(p *preparedPassages) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owners[p.set] == p {
		delete(s.owners, p.set)
	}
}

func (s *stagedSets) has(set int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owners[set] != nil
}
