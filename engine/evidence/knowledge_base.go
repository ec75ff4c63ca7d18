package evidence

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/internal/language"
	"github.com/scf-service/service/store"
)

// loadIndex returns the search index of an assessment, loading it if necessary.
func (s *Service) loadIndex(ctx context.Context, org, assessment string, embedder *embed.Model) (*search.Index, error) {
	return s.loadIndexFrom(
		ctx,
		org,
		assessment,
		assessment,
		search.Options{Weight: embedder.StemImportance, Embed: embedder.EmbedAll},
		store.Vectors,
	)
}

// loadIndexFrom returns the cached search index for key. If there is none, it loads the passages of the
// assessment with their vectors from table.
func (s *Service) loadIndexFrom(
	ctx context.Context,
	org, assessment, key string,
	o search.Options,
	table *store.TenantTable[store.Vector],
) (*search.Index, error) {
	a := s.indexes.getOrAddEntry(key)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.index != nil {
		return a.index, nil
	}
	var ix *search.Index
	err := s.db.View(ctx, func(tx *store.Tx) error {
		ix = search.New(o)
		documents := map[string]store.Document{}
		for d, err := range store.Documents.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
			if err != nil {
				return err
			}
			if table == store.Vectors && isUnembedded(&d) {
				continue // read since the caller got the embedder; the next search includes it
			}
			documents[d.Passages().Key()] = d
		}
		if table == store.Vectors {
			if err := loadAndRemovePackedDocuments(ctx, tx, org, assessment, documents, ix); err != nil {
				return err
			}
		}
		var rest []search.Passage
		for _, id := range slices.Sorted(maps.Keys(documents)) {
			d := documents[id]
			some, err := readSearchPassages(tx, &d, table)
			if err != nil {
				return err
			}
			rest = append(rest, some...)
		}
		return ix.Put(rest...)
	})
	if err != nil {
		return nil, err
	}
	a.index = ix
	s.indexes.recordSizeAndEvict(a, ix.Len())
	return ix, nil
}

// readSearchPassages returns the passages of a document, with their vectors from table, in the form
// in which they are indexed.
func readSearchPassages(tx *store.Tx, d *store.Document, table *store.TenantTable[store.Vector]) ([]search.Passage, error) {
	_, all, err := readPassagesWithVectors(tx, d, table)
	return all, err
}

// readPassagesWithVectors returns the passages of a document, both in stored form and in indexed
// form, with their vectors.
func readPassagesWithVectors(
	tx *store.Tx,
	d *store.Document,
	table *store.TenantTable[store.Vector],
) ([]api.Chunk, []search.Passage, error) {
	vectors, err := readVectors(tx, d, table)
	if err != nil {
		return nil, nil, err
	}
	chunks, err := readPassages(tx, d)
	if err != nil {
		return nil, nil, err
	}
	all := make([]search.Passage, len(chunks))
	for i, c := range chunks {
		all[i] = toSearchPassage(c, d.Document, vectors[c.ID])
	}
	setLanguages(d, all)
	return chunks, all, nil
}

// setLanguages sets the language of each of a document's passages, if the document has passages in
// languages other than English.
func setLanguages(d *store.Document, passages []search.Passage) {
	if len(d.UnreadLanguages()) == 0 {
		return
	}
	texts := make([]string, len(passages))
	for i, p := range passages {
		texts[i] = p.Text
	}
	for i, code := range language.DetectEach(texts) {
		if language.IsForeign(code) {
			passages[i].Language = code
		}
	}
}

// readVectors returns the vectors of a document's passages. Those of the built-in embedder are in
// the packs; only earlier versions also wrote them to store.Vectors.
func readVectors(tx *store.Tx, d *store.Document, table *store.TenantTable[store.Vector]) (map[string][]float32, error) {
	vectors := map[string][]float32{}
	if table == store.Vectors {
		for p, err := range store.PassagePacks.Scan(tx, d.OrganizationID, store.Prefix(d.AssessmentID, d.Passages().Key())) {
			if err != nil {
				return nil, err
			}
			some, err := search.UnpackVectors(p.Data)
			if err != nil {
				break // written in another format by an earlier version, which also wrote the table
			}
			maps.Copy(vectors, some)
		}
	}
	if len(vectors) >= d.ChunkCount && d.ChunkCount > 0 {
		return vectors, nil
	}
	for v, err := range table.Scan(tx, d.OrganizationID, store.Prefix(d.AssessmentID, d.Passages().Key())) {
		if err != nil {
			return nil, err
		}
		vectors[v.ChunkID] = v.Values
	}
	return vectors, nil
}

func toSearchPassage(c api.Chunk, d api.Document, vector []float32) search.Passage {
	p := search.Passage{
		ID:           c.ID,
		DocumentID:   c.DocumentID,
		AssessmentID: c.AssessmentID,
		Category:     d.Category,
		Text:         c.Text,
		HeadingPath:  c.HeadingPath,
		Vector:       vector,
	}
	if d.EffectiveDate != nil {
		p.Date = string(*d.EffectiveDate)
	}
	return p
}

// Hit is a passage found by a search, with its document.
type Hit struct {
	search.Result
	Chunk    api.Chunk
	Document api.Document
}

// FindPassages searches the passages of one assessment for q and returns at most q.TopK.
func (s *Service) FindPassages(ctx context.Context, by api.Caller, assessment string, q search.Query) ([]Hit, string, error) {
	embedder, err := s.Embedder(ctx, by, assessment)
	if err != nil {
		return nil, "", err
	}
	a, err := s.prepareQuery(ctx, by.OrganizationID, assessment, embedder, q.Text)
	if err != nil {
		return nil, "", err
	}
	q.Vector = a.vector
	found, err := a.index.Search(ctx, q)
	if errors.Is(err, search.ErrQuery) {
		return nil, "", api.Invalid("query", "%v", err)
	}
	if err != nil {
		return nil, "", err
	}
	hits := make([]Hit, 0, len(found))
	err = s.db.View(ctx, func(tx *store.Tx) error {
		docs := map[string]store.Document{}
		for _, r := range found {
			c, err := ReadPassage(tx, by.OrganizationID, r.ID)
			if errors.Is(err, store.ErrNotFound) {
				continue // removed since the index was loaded
			}
			if err != nil {
				return err
			}
			d, ok := docs[c.DocumentID]
			if !ok {
				if d, err = store.Documents.Get(tx, by.OrganizationID, c.DocumentID); err != nil {
					return err
				}
				docs[c.DocumentID] = d
			}
			hits = append(hits, Hit{Result: r, Chunk: c, Document: d.Document})
		}
		return nil
	})
	return hits, a.embedder, err
}

// Search finds the passages that best answer a question, in one assessment or the whole
// organization.
func (s *Service) Search(ctx context.Context, by api.Caller, in *api.SearchInput) (*api.SearchAnswer, error) {
	body := in.Body
	if body.TopK == 0 {
		body.TopK = api.DefaultSearchResults
	}
	assessments := []string{body.AssessmentID}
	if body.AssessmentID == "" {
		assessments = nil
		err := s.db.View(ctx, func(tx *store.Tx) error {
			for a, err := range store.Assessments.Scan(tx, by.OrganizationID) {
				if err != nil {
					return err
				}
				assessments = append(assessments, a.ID)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	q := search.Query{Text: body.Query, Category: body.Category, TopK: body.TopK, MinScore: body.MinScore, Deduplicate: true}
	if body.EffectiveFrom != nil {
		q.From = string(*body.EffectiveFrom)
	}
	if body.EffectiveTo != nil {
		q.To = string(*body.EffectiveTo)
	}
	if body.DocumentID != "" {
		q.DocumentIDs = []string{body.DocumentID}
	}
	out := &api.SearchAnswer{
		Data: []api.SearchHit{}, Query: body.Query, TopK: body.TopK, MinScore: body.MinScore, Translations: []api.QueryTranslation{},
	}
	for _, a := range assessments {
		hits, embedder, err := s.FindPassages(ctx, by, a, q)
		if err != nil {
			return nil, err
		}
		out.Embedder = embedder
		for _, h := range hits {
			out.Data = append(out.Data, toSearchHit(h))
		}
	}
	sortHits(out)
	return out, nil
}

// sortHits sorts the results of a search, best first, and removes those beyond the limit.
func sortHits(out *api.SearchAnswer) {
	slices.SortStableFunc(out.Data, func(a, b api.SearchHit) int { return cmp.Compare(b.Score, a.Score) })
	out.Data = out.Data[:min(len(out.Data), out.TopK)]
}

func toSearchHit(h Hit) api.SearchHit {
	out := api.SearchHit{
		ChunkID:       h.Chunk.ID,
		DocumentID:    h.Document.ID,
		AssessmentID:  h.Chunk.AssessmentID,
		DocumentTitle: h.Document.Title,
		Filename:      h.Document.Filename,
		Text:          h.Chunk.Text,
		HeadingPath:   h.Chunk.HeadingPath,
		Highlights:    []string{},
		Marks:         []api.Mark{},
		DuplicateIDs:  h.Duplicates,
		EffectiveDate: h.Document.EffectiveDate,
		Category:      h.Document.Category,
		Locator:       h.Chunk.Locator,
		Score:         h.Score,
		Scores:        api.SearchScores{Semantic: h.Semantic, Keyword: h.Keyword},
	}
	for _, l := range h.Highlights {
		out.Highlights = append(out.Highlights, l.Text)
		for _, m := range l.Matches {
			out.Marks = append(
				out.Marks,
				api.Mark{Start: utf8.RuneCountInString(h.Chunk.Text[:m.Start]), End: utf8.RuneCountInString(h.Chunk.Text[:m.End])},
			)
		}
	}
	if out.DuplicateIDs == nil {
		out.DuplicateIDs = []string{}
	}
	return out
}

// ListChunks lists the organization's passages, optionally restricted to an assessment, a document
// or a text that they contain.
func (s *Service) ListChunks(ctx context.Context, by api.Caller, in *api.ChunksInput) (*api.List[api.Chunk], error) {
	q := store.PageQuery[store.Chunk]{Index: "position"}
	words := strings.ToLower(in.Q)
	if words != "" || in.DocumentID != "" && in.AssessmentID != "" {
		q.Filter = func(c *store.Chunk) bool {
			return (in.AssessmentID == "" || c.AssessmentID == in.AssessmentID) &&
				strings.Contains(strings.ToLower(strings.Join(c.HeadingPath, "\n")+"\n"+c.Text), words)
		}
	}
	if in.AssessmentID != "" {
		q.Prefix = store.K(in.AssessmentID)
	}
	return s.listPassages(ctx, by, in.Paging, in.DocumentID, q)
}

// listPassages returns a page of passages. If document is not empty, it lists only that document's passages.
func (s *Service) listPassages(
	ctx context.Context,
	by api.Caller,
	p api.Paging,
	document string,
	q store.PageQuery[store.Chunk],
) (*api.List[api.Chunk], error) {
	var l *api.List[store.Chunk]
	err := s.db.View(ctx, func(tx *store.Tx) error {
		if document != "" {
			d, err := store.Documents.Get(tx, by.OrganizationID, document)
			if err != nil {
				l = &api.List[store.Chunk]{Pagination: api.Pagination{Limit: p.Limit}}
				return ignoreMissing(err)
			}
			q.Index, q.Prefix = "position", store.K(d.AssessmentID, d.Passages().Key())
		} else if err := hideUnusedSets(tx, by.OrganizationID, &q); err != nil {
			return err
		}
		var err error
		l, err = store.ListInTx(tx, store.Chunks, by.OrganizationID, p, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.MapList(l, func(c *store.Chunk) api.Chunk {
		setFirstReadTime(&c.Chunk)
		return c.Chunk
	}), nil
}

// hideUnusedSets makes q skip passage sets that no document uses, such as sets that were replaced.
func hideUnusedSets(tx *store.Tx, org string, q *store.PageQuery[store.Chunk]) error {
	hidden, count := map[store.PassageSet]bool{}, 0
	for set, err := range store.DiscardedPassages.Scan(tx, org) {
		if err != nil {
			return err
		}
		hidden[set] = true
		if !q.Prefix.IsZero() && !bytes.Equal(q.Prefix.Bytes(), store.K(set.AssessmentID).Bytes()) {
			continue
		}
		n, err := store.Chunks.By("position").Count(tx, org, set.AssessmentID, set.Key())
		if err != nil {
			return err
		}
		count += n
	}
	if wanted := q.Filter; len(hidden) > 0 {
		if wanted == nil {
			q.Hidden = &count
		}
		q.Filter = func(c *store.Chunk) bool { return !hidden[c.PassageSet()] && (wanted == nil || wanted(c)) }
	}
	return nil
}

// GetChunk returns one passage.
func (s *Service) GetChunk(ctx context.Context, by api.Caller, in *api.ChunkInput) (*api.Chunk, error) {
	var c api.Chunk
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		c, err = ReadPassage(tx, by.OrganizationID, in.ChunkID)
		return store.ToNotFound(err, "passage", in.ChunkID)
	})
	setFirstReadTime(&c)
	return &c, err
}

// Stats returns statistics of the knowledge base.
func (s *Service) Stats(ctx context.Context, by api.Caller, _ *api.None) (*api.KBStats, error) {
	out, _, err := s.stats(ctx, by)
	return out, err
}

// stats is like Stats, but also returns the number of passages that must not be sent to the remote embedder.
func (s *Service) stats(ctx context.Context, by api.Caller) (_ *api.KBStats, bannedPassages int, err error) {
	out := &api.KBStats{OrganizationID: by.OrganizationID, DocumentsByStatus: map[api.DocumentState]int{}}
	err = s.db.View(ctx, func(tx *store.Tx) (err error) {
		var documents []store.Document
		closed, err := closedAssessments(tx, by.OrganizationID)
		if err != nil {
			return err
		}
		for d, err := range store.Documents.Scan(tx, by.OrganizationID) {
			if err != nil {
				return err
			}
			if needsRereading(&d) && !closed[d.AssessmentID] {
				out.OutdatedDocuments++
			}
			out.Documents++
			out.DocumentsByStatus[d.Status]++
			if d.Embedder != "" {
				out.Embedder = d.Embedder
			}
			out.Chunks += d.ChunkCount
			if !isUnembedded(&d) {
				out.Embedded += d.ChunkCount
			}
			documents = append(documents, d)
		}
		if out.EmbeddingDimensions, err = builtinDimensions(tx, by.OrganizationID, documents); err != nil {
			return err
		}
		out.ServedBy = out.Embedder
		if s.remote.embedder == nil {
			return nil
		}
		out.Embedder = s.remote.embedder.Name()
		if documents, bannedPassages, err = s.remote.splitBanned(tx, documents); err != nil {
			return err
		}
		out.EmbeddingDimensions, out.Embedded, err = countVectors(tx, documents, store.ExternalVectors, out.Embedder)
		if s.remote.lastError() == nil && out.Embedded > 0 && out.Embedded == out.Chunks-bannedPassages {
			out.ServedBy = out.Embedder
		}
		return err
	})
	return out, bannedPassages, err
}

// closedAssessments returns the organization's closed assessments. Their documents can't be read again.
func closedAssessments(tx *store.Tx, org string) (map[string]bool, error) {
	closed := map[string]bool{}
	for a, err := range store.Assessments.By("state").Scan(tx, org, store.Prefix(api.StateClosed)) {
		if err != nil {
			return nil, err
		}
		closed[a.ID] = true
	}
	return closed, nil
}

// builtinDimensions returns the number of dimensions of the built-in embedder's vectors, or 0 if there are none.
func builtinDimensions(tx *store.Tx, org string, documents []store.Document) (int, error) {
	for _, d := range documents {
		if d.ChunkCount == 0 || isUnembedded(&d) {
			continue
		}
		p, err := store.PassagePacks.Get(tx, org, d.AssessmentID, d.Passages().Key(), 0)
		if err == nil {
			if dims, err := search.VectorDimensions(p.Data); err == nil {
				return dims, nil
			}
		} else if !errors.Is(err, store.ErrNotFound) {
			return 0, err
		}
		dims, _, err := countVectors(tx, []store.Document{d}, store.Vectors, "") // written by an earlier version
		return dims, err
	}
	return 0, nil
}

// countVectors returns the dimensions and number of the documents' vectors in a table, or zeros if
// they come from another embedder than the given one. All vectors in a table come from the same
// embedder.
func countVectors(
	tx *store.Tx,
	documents []store.Document,
	table *store.TenantTable[store.Vector],
	embedder string,
) (dims, n int, err error) {
	for i := range documents {
		d := &documents[i]
		if dims == 0 {
			for v, err := range table.Scan(tx, d.OrganizationID, store.Prefix(d.AssessmentID, d.Passages().Key())) {
				if err != nil || embedder != "" && v.Embedder != embedder {
					return 0, 0, err
				}
				dims = len(v.Values)
				break
			}
		}
		one, err := table.Count(tx, d.OrganizationID, d.AssessmentID, d.Passages().Key())
		if err != nil {
			return 0, 0, err
		}
		n += one
	}
	return dims, n, nil
}

// EmbeddingStatus returns the progress of embedding the organization's passages.
func (s *Service) EmbeddingStatus(ctx context.Context, by api.Caller, _ *api.None) (*api.EmbeddingStatus, error) {
	if s.remote.embedder != nil {
		s.testRemoteEmbedderOrWait(ctx)
	}
	stats, bannedPassages, err := s.stats(ctx, by)
	if err != nil {
		return nil, err
	}
	out := &api.EmbeddingStatus{
		RequiredScore: float64(embed.MinScore), Forbidden: bannedPassages,
		Status: "idle", Embedder: stats.Embedder, Total: stats.Chunks, Embedded: stats.Embedded,
		Pending: stats.Chunks - stats.Embedded - bannedPassages, Failed: stats.DocumentsByStatus[api.DocumentFailed],
	}
	out.ServedBy = stats.ServedBy
	if _, score := s.remote.acceptedScore(); score != nil {
		out.TestScore = new(float64(*score))
	}
	if trouble := s.remote.lastError(); trouble != nil {
		out.UnavailableReason = new(trouble.Error())
	} else if s.remote.embedder != nil && out.Pending > 0 {
		out.Status = "embedding"
	}
	if out.Training = s.embedders.slowestTraining(); out.Training != nil {
		out.Status = "training"
	}
	if stats.DocumentsByStatus[api.DocumentUploaded]+stats.DocumentsByStatus[api.DocumentProcessing] > 0 {
		out.Status = "embedding"
	}
	return out, nil
}
