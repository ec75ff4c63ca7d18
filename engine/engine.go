// Package engine builds the areas of the service over one store and owns what
// runs in the background. It is what a front end's transport ends at.
//
// The rules live in the areas; nothing is decided here.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/scf-service/service/analyst"
	"github.com/scf-service/service/assessment"
	"github.com/scf-service/service/audit"
	"github.com/scf-service/service/catalog/shelf"
	"github.com/scf-service/service/evidence"
	"github.com/scf-service/service/identity"
	"github.com/scf-service/service/report/desk"
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
	// LocalName and LocalEmail are the person whose machine it is.
	LocalName, LocalEmail string
}

// Engine holds the areas. Each answers the operations of its part of the contract.
type Engine struct {
	Audit       *audit.Service
	Identity    *identity.Service
	Catalog     *shelf.Service
	Evidence    *evidence.Service
	Assessments *assessment.Service
	Reports     *desk.Service

	db      *store.DB
	clock   func() time.Time
	version string
	started time.Time
}

// New builds an engine over an open store; Close ends its work, not the store.
func New(ctx context.Context, o Options) (*Engine, error) {
	e := &Engine{db: o.DB, clock: o.Clock, version: o.Version, started: o.Clock()}
	e.Audit = audit.New(o.DB)
	e.Identity = identity.New(identity.Options{DB: o.DB, LocalName: o.LocalName, LocalEmail: o.LocalEmail})
	e.Catalog = shelf.New(o.DB, o.Clock)
	if err := e.Catalog.EnsureStarter(ctx); err != nil {
		return nil, err
	}
	var err error
	e.Evidence, err = evidence.New(evidence.Options{DB: o.DB, Catalog: e.Catalog, Logger: o.Logger, Clock: o.Clock, CacheDir: o.CacheDir, Categorize: analyst.Category})
	if err != nil {
		return nil, err
	}
	e.Assessments = assessment.New(assessment.Options{DB: o.DB, Catalog: e.Catalog, Evidence: e.Evidence, Clock: o.Clock,
		// Reports are above assessments: the step that writes them comes in from here.
		WriteReports: func(ctx context.Context, by caller, id string) error { return e.Reports.WriteAll(ctx, by, id) }})
	e.Reports = desk.New(desk.Options{DB: o.DB, Catalog: e.Catalog, Assessments: e.Assessments, Clock: o.Clock, Tool: "service " + o.Version})
	return e, nil
}

// Start begins the background work.
func (e *Engine) Start(ctx context.Context) error { return e.Evidence.Start(ctx) }

// Close ends the background work and waits for it.
func (e *Engine) Close() error { return errors.Join(e.Evidence.Close()) }

// Version is the program's version.
func (e *Engine) Version() string { return e.version }
