package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/judge/criteria"
	"github.com/scf-service/service/store"
)

// trainedElsewherePoll is how often a process checks whether another one has finished training.
const trainedElsewherePoll = 500 * time.Millisecond

// maxModelSize is the maximum size of a stored embedder in bytes.
const maxModelSize = 256 << 20

// embedders holds the trained models by catalog version. Each is trained or loaded only once.
type embedders struct {
	mu        sync.Mutex
	byVersion map[string]*embedderSlot
	// requested holds the most recently requested version, which is trained next in the background.
	requested chan string
	// progress holds the progress of running trainings by catalog version.
	progress map[string]api.EmbedderTraining
	// ahead is true if embedders are trained in advance. Documents read in the meantime are embedded afterwards.
	ahead atomic.Bool
	// unembedded is held while passages are embedded that were stored without vectors.
	unembedded sync.Mutex
}

func (e *embedders) init() {
	e.byVersion, e.requested = map[string]*embedderSlot{}, make(chan string, 1)
	e.progress = map[string]api.EmbedderTraining{}
}

type embedderSlot struct {
	mu    sync.Mutex
	model *embed.Model
}

// TrainAhead starts training the embedder of a catalog version in the background. TrainAhead returns immediately.
// Documents read in the meantime are stored at once and embedded once the embedder is trained. If several versions are
// requested while another one is being trained, only the last of them is trained next; the others are trained when they
// are needed.
func (s *Service) TrainAhead(version string) {
	s.embedders.ahead.Store(true)
	for {
		select {
		case s.embedders.requested <- version:
			return
		default:
		}
		select {
		case <-s.embedders.requested:
		default:
		}
	}
}

// runRequestedTrainings trains the versions requested by TrainAhead, one at a time, until ctx ends.
func (s *Service) runRequestedTrainings(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case version := <-s.embedders.requested:
			_, err := s.loadOrTrainEmbedder(ctx, version)
			if err == nil {
				err = s.embedUnembedded(ctx)
			}
			if err != nil && ctx.Err() == nil {
				s.log.Warn(
					"the embedding model could not be trained in the background; this will be retried with the next document or draft",
					"error",
					err,
				)
			}
		}
	}
}

// Embedder returns the embedder trained on the catalog version of an assessment, after embedding the passages of
// documents that were read before it was trained.
func (s *Service) Embedder(ctx context.Context, by api.Caller, assessment string) (*embed.Model, error) {
	version, err := s.embedderVersion(ctx, by, assessment)
	if err != nil {
		return nil, err
	}
	embedder, err := s.loadOrTrainEmbedder(ctx, version)
	if err != nil {
		return nil, err
	}
	return embedder, s.embedUnembeddedOf(ctx, by.OrganizationID, assessment, embedder)
}

// embedderVersion returns the catalog version whose embedder an assessment uses.
func (s *Service) embedderVersion(ctx context.Context, by api.Caller, assessment string) (version string, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		a, err := store.Assessments.Get(tx, by.OrganizationID, assessment)
		version = a.SCFVersionID
		return store.ToNotFound(err, "assessment", assessment)
	})
	return version, err
}

// isLoaded reports whether the embedder of a catalog version is in memory.
func (e *embedders) isLoaded(version string) bool {
	e.mu.Lock()
	slot := e.byVersion[version]
	e.mu.Unlock()
	if slot == nil || !slot.mu.TryLock() { // it is being trained or loaded
		return false
	}
	defer slot.mu.Unlock()
	return slot.model != nil
}

func (s *Service) loadOrTrainEmbedder(ctx context.Context, version string) (*embed.Model, error) {
	s.embedders.mu.Lock()
	slot := s.embedders.byVersion[version]
	if slot == nil {
		slot = &embedderSlot{}
		s.embedders.byVersion[version] = slot
	}
	s.embedders.mu.Unlock()

	slot.mu.Lock()
	defer slot.mu.Unlock()
	if slot.model != nil {
		return slot.model, nil
	}
	model, err := s.loadOrTrainOnce(ctx, version)
	if err != nil {
		return nil, fmt.Errorf("the embedding model for catalog version %s: %w", version, err)
	}
	slot.model = model
	return model, nil
}

// loadOrTrainOnce loads the stored model, or trains it. If another process on the same database is training it, it
// waits for that process.
func (s *Service) loadOrTrainOnce(ctx context.Context, version string) (*embed.Model, error) {
	work := "training on catalog " + version
	for {
		model, err := s.loadStoredEmbedder(ctx, version)
		if err != nil || model != nil {
			return model, err
		}
		claimed := false
		err = s.db.Update(ctx, func(tx *store.Tx) error {
			rec, err := store.CatalogVersions.Get(tx, version)
			if err != nil || rec.EmbedderBlob != "" { // trained by another process since
				return err
			}
			claimed, err = tx.Claim(work)
			return err
		})
		if err != nil {
			return nil, err
		}
		if claimed {
			model, err := s.trainAndStoreEmbedder(ctx, version)
			released := s.db.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.Release(work) })
			return model, errors.Join(err, released)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(trainedElsewherePoll):
		}
	}
}

// loadStoredEmbedder loads the stored model, or returns nil if none has been trained yet.
func (s *Service) loadStoredEmbedder(ctx context.Context, version string) (*embed.Model, error) {
	var blob string
	err := s.db.View(ctx, func(tx *store.Tx) error {
		rec, err := store.CatalogVersions.Get(tx, version)
		blob = rec.EmbedderBlob
		return err
	})
	if err != nil || blob == "" {
		return nil, err
	}
	f, _, err := s.db.Blobs().Open(ctx, blob)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return embed.UnmarshalModel(data)
}

// trainAndStoreEmbedder trains a model on the texts of the catalog and stores it with the catalog version.
func (s *Service) trainAndStoreEmbedder(ctx context.Context, version string) (*embed.Model, error) {
	snap, err := s.catalog.Snapshot(ctx, version)
	if err != nil {
		return nil, err
	}
	started := s.clock()
	defer s.embedders.removeProgress(version)
	progress := func(done, total int) {
		s.embedders.setProgress(
			api.EmbedderTraining{SCFVersionID: version, Label: snap.Version().Label, Progress: 100 * done / max(total, 1)},
		)
	}
	progress(0, 1)
	model, data, err := s.trainOrLoadCached(ctx, snap, progress)
	if err != nil {
		return nil, err
	}
	s.log.Info("trained the embedder", "catalog", snap.Version().Label, "embedder", model.Name(), "took", s.clock().Sub(started))
	blob, err := s.db.Blobs().Put(ctx, bytes.NewReader(data), maxModelSize)
	if err != nil {
		return nil, err
	}
	return model, s.db.Update(ctx, func(tx *store.Tx) error {
		rec, err := store.CatalogVersions.Get(tx, version)
		if err != nil {
			return err
		}
		rec.EmbedderBlob = blob.SHA256
		return store.CatalogVersions.Put(tx, &rec)
	})
}

func (e *embedders) setProgress(t api.EmbedderTraining) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.progress[t.SCFVersionID] = t
}

func (e *embedders) removeProgress(version string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.progress, version)
}

// TrainingProgress returns the progress of the running training on a catalog version in percent, or nil if there is none.
func (s *Service) TrainingProgress(version string) *int {
	s.embedders.mu.Lock()
	defer s.embedders.mu.Unlock()
	if t, running := s.embedders.progress[version]; running {
		return &t.Progress
	}
	return nil
}

// slowestTraining returns the running training with the least progress, or nil if none is running.
func (e *embedders) slowestTraining() *api.EmbedderTraining {
	e.mu.Lock()
	defer e.mu.Unlock()
	var least *api.EmbedderTraining
	for _, version := range slices.Sorted(maps.Keys(e.progress)) {
		if t := e.progress[version]; least == nil || t.Progress < least.Progress {
			least = &t
		}
	}
	return least
}

// trainingCorpus returns the training data of a catalog: each control with its various wordings, including our
// own criteria, and the texts of requirements with the controls they map to.
func trainingCorpus(src *scf.Source) embed.Corpus {
	var out embed.Corpus
	codes := make([][]string, len(src.Controls))
	type key struct{ framework, requirement int }
	texts := map[key][]string{}
	for _, m := range src.Mappings {
		f := src.Frameworks[m.Framework]
		r := f.Requirements[m.Requirement]
		codes[m.Control] = append(codes[m.Control], f.Code+":"+r.Code)
		if r.Text != "" || r.Title != "" {
			k := key{m.Framework, m.Requirement}
			texts[k] = append(texts[k], src.Controls[m.Control].Code)
		}
	}
	for i, c := range src.Controls {
		t := []string{c.Title, c.Description, c.Question}
		for _, o := range c.Objectives {
			t = append(t, o.Text)
		}
		if e, ok := criteria.Lookup(c.Code); ok && !src.IsStarter { // the starter catalog has its own criteria as objectives
			t = append(t, e.AllTexts()...)
		}
		for _, p := range c.Solutions {
			t = append(t, p.Text)
		}
		t = append(t, c.Maturity[:]...)
		for _, e := range c.Evidence {
			t = append(t, src.Evidence[e].Artifact)
		}
		out.Documents = append(out.Documents, embed.Document{ID: c.Code, Texts: dropEmptyTexts(t), Codes: codes[i]})
	}
	for f, fw := range src.Frameworks {
		for r, req := range fw.Requirements {
			if ids := texts[key{f, r}]; len(ids) > 0 {
				out.Pairs = append(out.Pairs, embed.Pair{Text: req.Title + ". " + req.Text, IDs: ids})
			}
		}
	}
	return out
}

// dropEmptyTexts removes empty texts, except for the title and description, whose positions must not change.
func dropEmptyTexts(texts []string) []string {
	return append(texts[:2:2], slices.DeleteFunc(slices.Clone(texts[2:]), func(t string) bool { return t == "" })...)
}
