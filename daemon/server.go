package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/internal/tracing"
)

// Options are what a server is made of.
type Options struct {
	Engine *engine.Engine
	Logger *slog.Logger
	Clock  func() time.Time
	NewID  func() string
	// PublicURL is the address people reach the service at, where that is not the listener's.
	PublicURL string
	// Origins are the web origins whose pages may call the service, beside its own.
	Origins []string
	// Proxies are the networks of reverse proxies whose X-Forwarded-* headers are believed.
	Proxies []netip.Prefix
	// RateLimits replace the contract's, by category; 0 is no limit.
	RateLimits map[api.RateCategory]int
	// Tracer tells where requests take their time; nil: nothing is traced.
	Tracer *tracing.Tracer
}

// Server answers the operations of the contract.
type Server struct {
	engine  *engine.Engine
	log     *slog.Logger
	clock   func() time.Time
	newID   func() string
	mux     *chi.Mux
	schemas huma.Registry
	limiter *rateLimiter
	metrics *metrics
	tracer  *tracing.Tracer

	publicURL string
	origins   []string
	proxies   []netip.Prefix

	// boundOperations are the operations with a method.
	boundOperations map[string]bool
	// descriptions is what the types of each operation say of it, by its id.
	descriptions map[string]*huma.Operation
	// documents makes the OpenAPI document, once, when it is first asked for.
	documents func() (openAPIDocuments, error)
}

// New builds the server; it fails where an operation is bound to nothing, or twice.
func New(o Options) (*Server, error) {
	s := &Server{
		engine: o.Engine, log: o.Logger, clock: o.Clock, newID: o.NewID,
		mux: chi.NewMux(), boundOperations: map[string]bool{}, descriptions: map[string]*huma.Operation{},
		schemas: huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer), limiter: newRateLimiter(o.Clock, o.RateLimits),
		metrics: newMetrics(o.Engine), publicURL: o.PublicURL, proxies: o.Proxies, tracer: o.Tracer,
	}
	for _, address := range append(slices.Clone(o.Origins), o.PublicURL) {
		if address == "" {
			continue
		}
		origin, err := ParseOrigin(address)
		if err != nil {
			return nil, err
		}
		s.origins = append(s.origins, origin)
	}
	s.mux.Use(s.assignTraceID, s.logAndRecover, s.limitBodyTime, s.rejectMalformed, s.handleCORS, middleware.GetHead)
	s.mux.NotFound(s.serveUnknownRoute)
	s.mux.MethodNotAllowed(s.serveUnknownRoute)
	registerTypes(s.schemas)
	s.bindOperations()
	s.mountOpenAPI()
	// A load balancer asks at the root, where no version is known yet.
	s.mux.Get("/health", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, api.GetHealth.Path, http.StatusTemporaryRedirect)
	})
	// The address that the daemon prints is opened in browsers too.
	s.mux.Get("/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, DocsPath, http.StatusTemporaryRedirect)
	})
	s.mux.Get("/metrics", s.serveMetrics)
	s.mountLinkPage()
	s.mountApprovalPage()
	s.mux.Get(unsubscribePath, s.serveUnsubscribePage)
	s.mux.Post(unsubscribePath, s.handleUnsubscribe)
	o.Engine.SetProcessMetrics(s.metrics.toAPIMetrics)
	return s, s.checkAllBound()
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

type localKey struct{}

func isLocal(ctx context.Context) bool {
	local, _ := ctx.Value(localKey{}).(bool)
	return local
}
