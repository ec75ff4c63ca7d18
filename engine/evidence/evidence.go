// Package evidence manages the documents of an assessment: it stores uploaded files, parses them
// into passages with locators, and embeds, indexes and searches the passages.
//
// Files are untrusted: they are parsed within limits on time and memory, and a file that can't be
// read is kept with the reason. Whether evidence proves anything is decided elsewhere.
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
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// Options configures a Service.
type Options struct {
	DB      *store.DB
	Catalog *catalog.Service
	Logger  *slog.Logger
	Clock   func() time.Time
	// CacheDir is the folder where compiled readers are cached between starts; empty disables the
	// cache.
	CacheDir string
	// Build identifies this build of the program. If set, the model trained on the starter catalog
	// is cached in CacheDir for other data folders.
	Build string
	// OCR recognizes text in images; if nil, images can't be read.
	OCR document.OCR
	// Tracer records traces; if nil, nothing is traced.
	Tracer *tracing.Tracer
	// Workers is the number of documents read concurrently; 0 means 2.
	Workers int
	// RemoteEmbedder embeds with a remote model in addition to the built-in embedder; nil if none
	// is configured.
	RemoteEmbedder embed.Embedder
	// RemoteRetry is how long to wait before retrying an unavailable model; 0 means one minute.
	RemoteRetry time.Duration
	// Categorize guesses the category of a document from its name, title and text.
	Categorize func(filename, title, text string) string
	// OnPassagesChanged is called when passages of a document are changed or deleted, in the transaction that
	// does so; changed reports whether a given passage is affected. It may be nil.
	OnPassagesChanged func(tx *store.Tx, by api.Caller, doc *api.Document, changed func(passage string) (bool, error)) error
}

// Service implements the operations on documents and the knowledge base.
type Service struct {
	db                *store.DB
	catalog           *catalog.Service
	log               *slog.Logger
	tracer            *tracing.Tracer
	clock             func() time.Time
	reader            *parse.Reader
	categorize        func(filename, title, text string) string
	onPassagesChanged func(tx *store.Tx, by api.Caller, doc *api.Document, changed func(passage string) (bool, error)) error
	workers           int
	// modelCacheDir is the folder of cached starter catalog models, by build; empty disables the
	// cache.
	modelCacheDir, build string

	indexes   indexCache
	embedders embedders
	remote    *remoteEmbedder
	queue     queue
	// rereadSlots limits how many documents are read concurrently outside the queue.
	rereadSlots chan struct{}
	// staging holds the sets of passages that are being written.
	staging stagedSets
}

// New returns a service; call Start to begin reading documents.
func New(o Options) (*Service, error) {
	reader, err := parse.New(parse.Options{CacheDir: o.CacheDir, OCR: o.OCR, Clock: o.Clock})
	if err != nil {
		return nil, err
	}
	if o.Workers <= 0 {
		o.Workers = 2
	}
	s := &Service{
		db:                o.DB,
		catalog:           o.Catalog,
		log:               o.Logger,
		tracer:            o.Tracer,
		clock:             o.Clock,
		reader:            reader,
		categorize:        o.Categorize,
		onPassagesChanged: o.OnPassagesChanged,
		workers:           o.Workers,
		remote:            newRemoteEmbedder(o.RemoteEmbedder, o.RemoteRetry),
		rereadSlots:       make(chan struct{}, o.Workers),
	}
	s.indexes.byKey = map[string]*assessmentIndex{}
	if o.CacheDir != "" && o.Build != "" {
		s.modelCacheDir, s.build = filepath.Join(o.CacheDir, "learned"), o.Build
	}
	s.embedders.init()
	s.queue.init()
	return s, nil
}

// Start begins reading queued documents, including those that a previous process left unfinished. It returns
// immediately; Close stops the work.
func (s *Service) Start(ctx context.Context) error {
	ctx, s.queue.stop = context.WithCancel(ctx)
	for range s.workers {
		s.queue.workers.Add(1)
		go s.runWorker(ctx)
	}
	s.queue.workers.Go(func() { s.runRequestedTrainings(ctx) })
	s.queue.workers.Go(func() {
		if err := s.deleteDiscarded(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("could not delete passages that are no longer used; this will be retried later", "error", err)
		}
	})
	if s.remote.embedder != nil {
		s.queue.workers.Go(func() { s.runRemoteEmbedding(ctx) })
	}
	return s.EnqueueUnread(ctx)
}

// EnqueueUnread queues the documents that are waiting to be read and that no other running process is reading.
func (s *Service) EnqueueUnread(ctx context.Context) error {
	return s.db.View(ctx, func(tx *store.Tx) error {
		for d, err := range store.Documents.AcrossTenants().By("unread").Scan(tx) {
			if err != nil {
				return err
			}
			j := job{d.OrganizationID, d.ID}
			if s.queue.isActive(j) {
				continue
			}
			elsewhere, err := tx.IsClaimedElsewhere(claimOfReading(d.ID))
			if err == nil && !elsewhere {
				err = s.enqueuePending(tx, j)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// enqueuePending queues a pending document. If an earlier attempt to read it did not finish, it is queued as a
// suspect, to be read only after all other documents.
func (s *Service) enqueuePending(tx *store.Tx, j job) error {
	n, err := unfinishedReads(tx, j.organization, j.document)
	switch {
	case err != nil:
		return err
	case n > 0:
		s.queue.addSuspect(j)
	default:
		s.queue.add(j)
	}
	return nil
}

// Close stops the workers and waits for them. Unfinished documents are resumed at the next start.
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
