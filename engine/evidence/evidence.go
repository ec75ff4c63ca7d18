// Package evidence keeps the documents of an assessment: it takes files in, has
// them read into passages with their place, embeds and indexes the passages, and
// searches them by meaning.
//
// Files are hostile: they are read with bounds on time and memory, and one that
// can't be read is kept with the reason, beside the others. What evidence proves
// is not known here.
package evidence

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// Options are what the service is made of.
type Options struct {
	DB      *store.DB
	Catalog *catalog.Service
	Logger  *slog.Logger
	Clock   func() time.Time
	// CacheDir is where compiled readers are kept between starts; empty: nowhere.
	CacheDir string
	// Build tells this program from others. With it, what was learned of the starter catalog
	// is kept in CacheDir for other data folders; empty: it is not.
	Build string
	// OCR recognises the text of pictures; nil: they can't be read.
	OCR parse.OCR
	// Tracer tells where work takes its time; nil: nothing is traced.
	Tracer *tracing.Tracer
	// Workers is how many documents are read at once; 2 where zero.
	Workers int
	// RemoteEmbedder embeds with a model elsewhere, beside the built-in embedder; nil: none is chosen.
	RemoteEmbedder embed.Embedder
	// RemoteRetry is how long to wait for a model that is away; a minute where zero.
	RemoteRetry time.Duration
	// Categorize guesses the category of a document from its name, title and text.
	Categorize func(filename, title, text string) string
	// OnPassagesChanged is told, in the transaction in which it happens, of the passages of a document
	// that say something else from now on or are gone, by their ids. Nil: nobody is told.
	OnPassagesChanged func(tx *store.Tx, by api.Caller, assessment, filename string, passages map[string]bool) error
}

// Service answers the operations on documents and the knowledge base.
type Service struct {
	db                *store.DB
	catalog           *catalog.Service
	log               *slog.Logger
	tracer            *tracing.Tracer
	clock             func() time.Time
	reader            *parse.Reader
	categorize        func(filename, title, text string) string
	onPassagesChanged func(tx *store.Tx, by api.Caller, assessment, filename string, passages map[string]bool) error
	workers           int
	// modelCacheDir is the folder of what was learned of the starter catalog, by build; empty: nowhere.
	modelCacheDir, build string

	indexes   indexCache
	embedders embedders
	remote    *remoteEmbedder
	queue     queue
	// rereadSlots has room for as many as may read at once beside the queue.
	rereadSlots chan struct{}
}

// New makes the service; call Start to have it read documents.
func New(o Options) (*Service, error) {
	reader, err := parse.New(parse.Options{CacheDir: o.CacheDir, OCR: o.OCR})
	if err != nil {
		return nil, err
	}
	if o.Workers <= 0 {
		o.Workers = 2
	}
	s := &Service{
		db: o.DB, catalog: o.Catalog, log: o.Logger, tracer: o.Tracer, clock: o.Clock, reader: reader, categorize: o.Categorize, onPassagesChanged: o.OnPassagesChanged, workers: o.Workers,
		remote: newRemoteEmbedder(o.RemoteEmbedder, o.RemoteRetry), rereadSlots: make(chan struct{}, o.Workers),
	}
	s.indexes.byKey = map[string]*assessmentIndex{}
	if o.CacheDir != "" && o.Build != "" {
		s.modelCacheDir, s.build = filepath.Join(o.CacheDir, "learned"), o.Build
	}
	s.embedders.init()
	s.queue.init()
	return s, nil
}

// Start begins to read what waits to be read, also what an earlier process left
// unfinished. It returns at once; Close ends the work.
func (s *Service) Start(ctx context.Context) error {
	ctx, s.queue.stop = context.WithCancel(ctx)
	for range s.workers {
		s.queue.workers.Add(1)
		go s.runWorker(ctx)
	}
	s.queue.workers.Go(func() { s.trainRequested(ctx) })
	if s.remote.embedder != nil {
		s.queue.workers.Go(func() { s.runRemoteEmbedding(ctx) })
	}
	return s.db.View(ctx, func(tx *store.Tx) error {
		for d, err := range store.Documents.AcrossTenants().Scan(tx) {
			if err != nil {
				return err
			}
			if isPending(d.Status) {
				s.queue.add(job{d.OrganizationID, d.ID})
			}
		}
		return nil
	})
}

// Close waits for the documents being read to stop. What is unfinished is taken up at the next start.
func (s *Service) Close() error {
	if s.queue.stop != nil {
		s.queue.stop()
		s.queue.wakeAll()
	}
	s.queue.workers.Wait()
	return s.reader.Close()
}

func isPending(status api.DocumentState) bool {
	return status == api.DocumentUploaded || status == api.DocumentProcessing
}
