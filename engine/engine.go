// Package engine builds the areas of the service over one store and owns what
// runs in the background. It is what a front end's transport ends at.
//
// The rules live in the areas; nothing is decided here.
package engine

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/agent"
	"github.com/scf-service/service/engine/archive"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/idempotency"
	"github.com/scf-service/service/engine/identity"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/notify"
	"github.com/scf-service/service/engine/notify/alert"
	"github.com/scf-service/service/engine/notify/delivery"
	"github.com/scf-service/service/engine/notify/integration"
	"github.com/scf-service/service/engine/notify/mail"
	"github.com/scf-service/service/engine/report"
	syncing "github.com/scf-service/service/engine/sync"
	"github.com/scf-service/service/engine/workflow"
	"github.com/scf-service/service/internal/netguard"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// Options are what an engine is made of.
type Options struct {
	DB      *store.DB
	Logger  *slog.Logger
	Clock   func() time.Time
	Version string
	// CacheDir is where compiled document readers are kept between starts; empty: nowhere.
	CacheDir string
	// Build tells this program from others; empty: nothing that it learned is kept for other data folders.
	Build string
	// Embedder is a model elsewhere that embeds beside the built-in embedder; nil: none.
	Embedder embed.Embedder
	// OCR recognises the text of pictures; nil: they can't be read.
	OCR parse.OCR
	// ReportFont is a TrueType font for characters that the built-in ones of PDF reports lack; nil: none.
	ReportFont func() ([]byte, error)
	// LocalName and LocalEmail are the person whose machine it is.
	LocalName, LocalEmail string
	// WeakHashes is for tests only: passwords are hashed at the lowest cost, which protects nothing.
	WeakHashes bool
	// Model answers the specialised analyses; nil: the built-in rules do.
	Model agent.Model
	// Box seals the secrets of webhooks and integrations; Networks are the private networks
	// that they may reach.
	Box      *secretbox.Box
	Networks []netip.Prefix
	// MailServer takes the mails of organizations without one of their own; nil: those send
	// none. MailRoots are whom the certificates of mail servers are believed from; nil: whom
	// the system believes.
	MailServer *mail.Server
	MailRoots  *x509.CertPool
	// PublicURL is where people reach the service, for links in mails; empty: they have none.
	PublicURL string
	// Tracer tells where work takes its time; nil: nothing is traced.
	Tracer *tracing.Tracer
	// NewTicker gives a tick in each such time until stop is called; a time.Ticker where nil.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
}

// Engine holds the areas. Each answers the operations of its part of the contract.
type Engine struct {
	Audit       *audit.Service
	Identity    *identity.Service
	Idempotency *idempotency.Service
	Catalog     *catalog.Service
	Evidence    *evidence.Service
	Assessments *assessment.Service
	Reports     *report.Service
	Agents      *agent.Service
	Workflows   *workflow.Service
	Archives    *archive.Service
	Webhooks    *notify.Service
	Sync        *syncing.Service
	// Integrations are told of events by the loop of the webhooks.
	Integrations *integration.Service
	Mail         *mail.Service
	Alerts       *alert.Service

	// processMetrics gives the figures of the process, which a front end counts.
	processMetrics atomic.Pointer[func() ([]api.Metric, error)]

	// model counts the calls of the model in use; nil: the rules answer.
	model *meteredModel

	db      *store.DB
	clock   func() time.Time
	version string
	started time.Time
	log     *slog.Logger
	// trainAhead: embedders are trained before they are needed.
	trainAhead atomic.Bool
	newTicker  func(time.Duration) (<-chan time.Time, func())
	// stop ends the work in the background; background waits for its end.
	stop       context.CancelFunc
	background sync.WaitGroup
}

// New builds an engine over an open store; Close ends its work, not the store.
func New(ctx context.Context, o Options) (*Engine, error) {
	e := &Engine{db: o.DB, clock: o.Clock, version: o.Version, started: o.Clock(), log: o.Logger, newTicker: o.NewTicker}
	if e.newTicker == nil {
		e.newTicker = func(d time.Duration) (<-chan time.Time, func()) {
			t := time.NewTicker(d)
			return t.C, t.Stop
		}
	}
	e.Audit = audit.New(o.DB)
	e.Identity = identity.New(identity.Options{
		DB: o.DB, Clock: o.Clock, LocalName: o.LocalName, LocalEmail: o.LocalEmail, WeakHashes: o.WeakHashes,
		// Mail stands beside identity: invitations reach it from here.
		SendInvitation: func(tx *store.Tx, by caller, email string, role api.Role, path string, expires time.Time) (bool, error) {
			return e.Mail.QueueInvitation(tx, by, email, role, path, expires)
		},
	})
	e.Idempotency = idempotency.New(o.DB)
	e.Catalog = catalog.New(o.DB, o.Clock, catalog.WithPDF(e.pdfLines), catalog.WithImportHook(func(version string) {
		if e.trainAhead.Load() {
			e.Evidence.TrainAhead(version)
		}
	}))
	if err := e.Catalog.EnsureStarter(ctx); err != nil {
		return nil, err
	}
	var err error
	e.Evidence, err = evidence.New(evidence.Options{
		DB: o.DB, Catalog: e.Catalog, Logger: o.Logger, Clock: o.Clock, CacheDir: o.CacheDir, Build: o.Build, OCR: o.OCR, Tracer: o.Tracer, RemoteEmbedder: o.Embedder, Categorize: judge.GuessCategory,
		// Deliverables are above evidence: what becomes of their lines comes in from here.
		OnPassagesChanged: func(tx *store.Tx, by caller, assessment, filename string, passages map[string]bool) error {
			return e.Assessments.MarkEvidenceChanged(tx, by, assessment, filename, passages)
		},
	})
	if err != nil {
		return nil, err
	}
	e.Assessments = assessment.New(assessment.Options{
		DB: o.DB, Catalog: e.Catalog, Evidence: e.Evidence, Clock: o.Clock,
		// Reports are above assessments: the step that writes them comes in from here.
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
		},
	)
	e.Workflows = workflow.New(
		workflow.Options{
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
		DB: o.DB, Clock: o.Clock, Logger: o.Logger, Server: o.MailServer, OrgServers: orgMailServers{e.Integrations, reach}, Roots: o.MailRoots, Seal: e.Webhooks.Seal, Open: e.Webhooks.Open,
		PublicURL: o.PublicURL, Delegates: assessment.DelegatesFor, OverdueLines: overdueLines, Tracer: o.Tracer, NewTicker: e.newTicker,
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
	var mind agent.Model
	if o.Model != nil {
		e.model = &meteredModel{Model: o.Model, clock: o.Clock}
		mind = e.model
	}
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
	return e, nil
}

// Start begins the background work.
func (e *Engine) Start(ctx context.Context) error {
	if err := e.Agents.Start(ctx); err != nil {
		return err
	}
	e.Mail.Start(ctx) // it ends by Close alone, which lets it finish
	ctx, e.stop = context.WithCancel(ctx)
	e.background.Go(func() { e.runSweeps(ctx) })
	if err := e.Evidence.Start(ctx); err != nil {
		return err
	}
	e.Webhooks.Start(ctx)
	e.Integrations.Start(ctx)
	e.Alerts.Start(ctx)
	return e.Workflows.Start(ctx)
}

// StopStreams ends the answers that go on until something happens, so that who stops
// serving does not wait for them.
func (e *Engine) StopStreams() { e.Workflows.CloseStreams() }

// PretrainEmbedders has the embedder of the active catalog version trained now, and those of
// versions imported from here on, all in the background: for a process that stays. Others
// train when the first document is read.
func (e *Engine) PretrainEmbedders(ctx context.Context) error {
	e.trainAhead.Store(true)
	active, err := e.Catalog.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	e.Evidence.TrainAhead(active.Version().ID)
	return nil
}

// TrimCaches lets go of what is in memory to be quick and was not asked for in a long time; it is
// told again and again, at the same distance of time. All of it can be made again. It tells
// whether that gave memory back.
func (e *Engine) TrimCaches() bool {
	passages, drafts := e.Evidence.TrimCaches(), e.Assessments.TrimCaches()
	return passages > 0 || drafts
}

// Close ends the background work and waits for it.
func (e *Engine) Close() error {
	if e.stop != nil {
		e.stop()
	}
	e.Agents.Close()
	e.background.Wait()
	e.Workflows.Close()
	e.Alerts.Close()
	e.Mail.Close()
	e.Webhooks.Close()
	e.Integrations.Close()
	return e.Evidence.Close()
}

// Version is the program's version.
func (e *Engine) Version() string { return e.version }
