package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"

	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/api"
)

// Options are what a server is made of.
type Options struct {
	Engine *engine.Engine
	Logger *slog.Logger
	Clock  func() time.Time
	NewID  func() string
}

// Server answers the operations of the contract.
type Server struct {
	engine *engine.Engine
	log    *slog.Logger
	clock  func() time.Time
	newID  func() string
	mux    *chi.Mux
	huma   huma.API
	limits *limiter
	// bound are the operations with a method; later those that answer "not in this build yet".
	bound map[string]bool
	later []string
}

// New builds the server; it fails where an operation is bound to nothing, or twice.
func New(o Options) (*Server, error) {
	s := &Server{
		engine: o.Engine, log: o.Logger, clock: o.Clock, newID: o.NewID,
		mux: chi.NewMux(), bound: map[string]bool{}, limits: newLimiter(o.Clock, api.RateLimits),
	}
	cfg := huma.DefaultConfig("service", o.Engine.Version())
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath = "", "", ""
	cfg.CreateHooks = nil
	cfg.Transformers = []huma.Transformer{fillTraceID}
	s.mux.Use(s.trace, s.observe)
	s.mux.NotFound(s.unknownRoute)
	s.mux.MethodNotAllowed(s.unknownRoute)
	s.huma = humachi.New(s.mux, cfg)
	aliasOptionals(s.huma)
	s.routes()
	// A load balancer asks at the root, where no version is known yet.
	s.mux.Get("/health", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, api.GetHealth.Path, http.StatusTemporaryRedirect)
	})
	return s, s.complete()
}

// Handler answers requests from the network: each must bring a credential.
func (s *Server) Handler() http.Handler { return s.mux }

// LocalHandler answers requests of the person whose machine it is. Only listeners
// that nobody else can reach may serve it: the 0600 socket and the in-memory transport.
func (s *Server) LocalHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), localKey{}, true)))
	})
}

// Later are the ids of the operations that are still to come, in table order.
func (s *Server) Later() []string { return s.later }

// OpenAPI is the document made from the table.
func (s *Server) OpenAPI() *huma.OpenAPI { return s.huma.OpenAPI() }

type localKey struct{}

func isLocal(ctx context.Context) bool {
	local, _ := ctx.Value(localKey{}).(bool)
	return local
}
