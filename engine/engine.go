// Package engine builds the services over one store and runs the background work. The transports of
// the front ends call it.
//
// Business logic belongs to the services, not to this package.
package engine

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/agent"
	"github.com/scf-service/service/engine/alert"
	"github.com/scf-service/service/engine/archive"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/background"
	"github.com/scf-service/service/engine/backupschedule"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/idempotency"
	"github.com/scf-service/service/engine/identity"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/reading/crossencoder"
	"github.com/scf-service/service/engine/notify"
	"github.com/scf-service/service/engine/notify/delivery"
	"github.com/scf-service/service/engine/notify/integration"
	"github.com/scf-service/service/engine/notify/mail"
	"github.com/scf-service/service/engine/report"
	syncing "github.com/scf-service/service/engine/sync"
	"github.com/scf-service/service/engine/workflowrun"
	"github.com/scf-service/service/internal/netguard"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// Options are the dependencies of an engine.
type Options struct {
	DB      *store.DB
	Logger  *slog.Logger
	Clock   func() time.Time
	Version string
	// CacheDir is the folder for compiled document readers; empty means no caching.
	CacheDir string
	// Build identifies this program build; if it is empty, nothing learned is cached for use with
	// other data folders.
	Build string
	// Embedder is an external model used in addition to the built-in embedder; nil means none.
	Embedder embed.Embedder
	// OCR recognizes text in images; nil means that images can't be read.
	OCR document.OCR
	// ReportFont is a TrueType font for characters missing from the built-in fonts of PDF reports;
	// nil means none.
	ReportFont func() ([]byte, error)
	// InstalledFonts returns functions that load the machine's fonts used if ReportFont is nil or
	// lacks a character; nil means none.
	InstalledFonts func() []func() ([]byte, error)
	// LocalName and LocalEmail identify the local user of the machine.
	LocalName, LocalEmail string
	// WeakHashes hashes passwords at the lowest cost. It protects nothing and is for tests only.
	WeakHashes bool
	// Model answers the specialized analyses, and reads evidence if an assessment is set to use it;
	// nil means the built-in rules.
	Model agent.Model
	// ModelLimits limits what the model may use to read evidence.
	ModelLimits api.ModelLimits
	// Network loads the built-in network that reads evidence if an assessment is set to use it; nil means none.
	Network func() (*crossencoder.Network, error)
	// Box encrypts the secrets of webhooks and integrations; Networks are the private networks they
	// may reach.
	Box      *secretbox.Box
	Networks []netip.Prefix
	// MailServer sends the emails of organizations without a server of their own; nil means that
	// they can't send any. MailRoots are the trusted certificate authorities for mail servers; nil
	// means the system's.
	MailServer *mail.Server
	MailRoots  *x509.CertPool
	// PublicURL is the service's address for links in emails; empty means no links.
	PublicURL string
	// Tracer records how long each step of the work takes; nil means no tracing.
	Tracer *tracing.Tracer
	// NewTicker returns a channel that ticks at the interval until stop is called; nil means
	// time.NewTicker.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
}

// Engine holds the services, each of which implements one part of the API's operations.
type Engine struct {
	Audit       *audit.Service
	Identity    *identity.Service
	Idempotency *idempotency.Service
	Catalog     *catalog.Service
	Evidence    *evidence.Service
	Assessments *assessment.Service
	Reports     *report.Service
	Agents      *agent.Service
	Workflows   *workflowrun.Service
	Archives    *archive.Service
	Webhooks    *notify.Service
	Sync        *syncing.Service
	// Integrations receive events from the same loop as webhooks.
	Integrations *integration.Service
	Mail         *mail.Service
	Alerts       *alert.Service
	// Backups are for the operator only; no operation of the API uses them.
	Backups *backupschedule.Service
	// Background is the work that Start starts.
	Background *background.Worker

	// processMetrics returns the process metrics that a front end counts.
	processMetrics atomic.Pointer[func() ([]api.Metric, error)]

	// model counts the calls of the model; nil means that the built-in rules are used.
	model *meteredModel

	db      *store.DB
	clock   func() time.Time
	version string
	started time.Time
	log     *slog.Logger
	// trainAhead is true if embedders are trained before they are needed.
	trainAhead atomic.Bool
	newTicker  func(time.Duration) (<-chan time.Time, func())
}

// New returns an engine that uses an open store. Closing the engine ends the engine's work but does
// not close the store.
func New(ctx context.Context, o Options) (*Engine, error) {
	e := &Engine{db: o.DB, clock: o.Clock, version: o.Version, started: o.Clock(), log: o.Logger, newTicker: o.NewTicker}
	if e.newTicker == nil {
		e.newTicker = func(d time.Duration) (<-chan time.Time, func()) {
			t := time.NewTicker(d)
			return t.C, t.Stop
		}
	}
	e.Audit = audit.New(o.DB)
	e.Backups = backupschedule.New(backupschedule.Options{DB: o.DB, Clock: o.Clock, Logger: o.Logger, NewTicker: e.newTicker})
	e.Identity = identity.New(identity.Options{
		DB: o.DB, Clock: o.Clock, LocalName: o.LocalName, LocalEmail: o.LocalEmail, Box: o.Box, WeakHashes: o.WeakHashes,
		// Identity can't import mail, so invitations are connected here.
		SendInvitation: func(tx *store.Tx, by caller, email string, role api.Role, path string, expires time.Time) (bool, error) {
			return e.Mail.QueueInvitation(tx, by, email, role, path, expires)
		},
	})
	e.Idempotency = idempotency.New(o.DB)
	e.Catalog = catalog.New(o.DB, o.Clock, catalog.WithPDFReader(e.readPDFLines), catalog.WithImportHook(func(version string) {
		if e.trainAhead.Load() {
			e.Evidence.TrainAhead(version)
		}
	}), catalog.WithTrainingProgress(func(version string) *int { return e.Evidence.TrainingProgress(version) }))
	if err := e.Catalog.EnsureStarterEdition(ctx); err != nil {
		return nil, err
	}
	var err error
	e.Evidence, err = evidence.New(evidence.Options{
		DB:             o.DB,
		Catalog:        e.Catalog,
		Logger:         o.Logger,
		Clock:          o.Clock,
		CacheDir:       o.CacheDir,
		Build:          o.Build,
		OCR:            o.OCR,
		Tracer:         o.Tracer,
		RemoteEmbedder: o.Embedder,
		Categorize:     judge.GuessCategory,
		// Evidence can't import the deliverables, so passage changes are connected here.
		OnPassagesChanged: func(tx *store.Tx, by caller, doc *api.Document, changed func(passage string) (bool, error)) error {
			return e.Assessments.MarkItemsForReview(tx, by, doc, changed)
		},
	})
	if err != nil {
		return nil, err
	}
	var mind agent.Model
	var modelReader assessment.Model
	if o.Model != nil {
		e.model = &meteredModel{Model: o.Model, clock: o.Clock}
		mind, modelReader = e.model, e.model
	}
	e.Assessments = assessment.New(assessment.Options{
		Model: modelReader, ModelLimits: o.ModelLimits, Network: o.Network, DB: o.DB, Catalog: e.Catalog, Evidence: e.Evidence, Clock: o.Clock,
		// Assessments can't import reports, so the step that writes them is connected here.
		WriteReports: func(ctx context.Context, by caller, id string) error { return e.Reports.WriteFinalReports(ctx, by, id) },
	})
	e.Archives = archive.New(archive.Options{DB: o.DB, Assessments: e.Assessments, Tool: "service " + o.Version})
	e.Reports = report.New(
		report.Options{
			DB:             o.DB,
			Audit:          e.Audit,
			Catalog:        e.Catalog,
			Assessments:    e.Assessments,
			Archives:       e.Archives,
			Clock:          o.Clock,
			ProgramVersion: "service " + o.Version,
			Font:           o.ReportFont,
			InstalledFonts: o.InstalledFonts,
		},
	)
	e.Workflows = workflowrun.New(
		workflowrun.Options{
			DB:          o.DB,
			Assessments: e.Assessments,
			Evidence:    e.Evidence,
			Reports:     e.Reports,
			Logger:      o.Logger,
			Tracer:      o.Tracer,
			NewTicker:   e.newTicker,
		},
	)
	reach := netguard.Guard{Allowed: o.Networks}
	e.Integrations = integration.New(
		integration.Options{
			DB:        o.DB,
			Clock:     o.Clock,
			Logger:    o.Logger,
			Box:       o.Box,
			Guard:     reach,
			Plans:     e.Assessments,
			Archives:  e.Archives,
			Roots:     o.MailRoots,
			Tracer:    o.Tracer,
			NewTicker: e.newTicker,
			Agent:     "service/" + o.Version,
			// Webhooks, which is created later, contains the loop that sends events.
			Wake: func(org, id string) { e.Webhooks.Wake(org, id) },
		},
	)
	e.Webhooks = notify.New(
		notify.Options{
			DB:         o.DB,
			Clock:      o.Clock,
			Logger:     o.Logger,
			Box:        o.Box,
			Guard:      reach,
			Tracer:     o.Tracer,
			NewTicker:  e.newTicker,
			Agent:      "service/" + o.Version,
			ExtraKinds: []delivery.ReceiverKind{e.Integrations},
		},
	)
	e.Sync = syncing.New(
		syncing.Options{DB: o.DB, Catalog: e.Catalog, Evidence: e.Evidence, Clock: o.Clock, Seal: e.Webhooks.Seal, Open: e.Webhooks.Open},
	)
	e.Mail = mail.New(mail.Options{
		DB:           o.DB,
		Clock:        o.Clock,
		Logger:       o.Logger,
		Server:       o.MailServer,
		OrgServers:   orgMailServers{e.Integrations, reach},
		Roots:        o.MailRoots,
		Seal:         e.Webhooks.Seal,
		Open:         e.Webhooks.Open,
		PublicURL:    o.PublicURL,
		Delegates:    assessment.DelegatesFor,
		OverdueLines: overdueItemLines,
		Tracer:       o.Tracer,
		NewTicker:    e.newTicker,
	})
	e.Alerts = alert.New(
		alert.Options{
			DB:              o.DB,
			Logger:          o.Logger,
			Mail:            e.Mail,
			Metrics:         e.alertMetrics,
			ZeroWhenAbsent:  zeroWhenAbsent,
			AlertOnIncrease: []string{newFindingsMetric},
			Details:         newFindingLines,
			NewTicker:       e.newTicker,
		},
	)
	e.Agents = agent.New(
		agent.Options{
			DB:          o.DB,
			Catalog:     e.Catalog,
			Evidence:    e.Evidence,
			Assessments: e.Assessments,
			Reports:     e.Reports,
			Clock:       o.Clock,
			Logger:      o.Logger,
			Model:       mind,
			Tracer:      o.Tracer,
		},
	)
	e.Background = background.New(background.Options{
		DB: o.DB, Clock: o.Clock, Logger: o.Logger, NewTicker: e.newTicker, Identity: e.Identity, Idempotency: e.Idempotency,
		Evidence: e.Evidence, Agents: e.Agents, Workflows: e.Workflows, Webhooks: e.Webhooks, Integrations: e.Integrations,
		Mail: e.Mail, Alerts: e.Alerts, Backups: e.Backups,
	})
	return e, nil
}

// Start starts the background work.
func (e *Engine) Start(ctx context.Context) error { return e.Background.Start(ctx) }

// StopStreams ends open-ended responses, so that a server that is shutting down does not wait for them.
func (e *Engine) StopStreams() { e.Workflows.CloseStreams() }

// Changed returns a channel that is closed as soon as a transaction of this process has written something. Call it
// before checking for the expected change.
func (e *Engine) Changed() <-chan struct{} { return e.db.Changed() }

// StreamsClosed returns a channel that is closed when open-ended responses have to end.
func (e *Engine) StreamsClosed() <-chan struct{} { return e.Workflows.StreamsClosed() }

// PretrainEmbedders trains the embedder of the active catalog version, and of versions imported
// later, in the background. It is meant for long-running processes; others train when the first
// document is read.
func (e *Engine) PretrainEmbedders(ctx context.Context) error {
	e.trainAhead.Store(true)
	active, err := e.Catalog.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	e.Evidence.TrainAhead(active.Version().ID)
	return nil
}

// TrimCaches evicts entries that have not been used recently and reports whether that freed memory.
// It is called at a fixed interval; everything evicted can be recreated.
func (e *Engine) TrimCaches() (freedMemory bool) {
	passages, drafts := e.Evidence.TrimCaches(), e.Assessments.TrimCaches()
	return passages > 0 || drafts
}

// Close ends the background work and waits for it.
func (e *Engine) Close() error { return e.Background.Close() }

// Version returns the program's version.
func (e *Engine) Version() string { return e.version }
