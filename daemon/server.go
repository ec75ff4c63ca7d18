package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/web"
)

// Options are the dependencies of a server.
type Options struct {
	Engine *engine.Engine
	Logger *slog.Logger
	Clock  func() time.Time
	NewID  func() string
	// PublicURL is the service's public URL, if it differs from the listener's address.
	PublicURL string
	// Hosts are the hosts under which the service may be called over the network, in addition to the host of
	// PublicURL, localhost and the address that the caller connected to.
	Hosts []string
	// IsCertified reports whether the server's TLS certificate is valid for a host, which is then served too;
	// nil without TLS.
	IsCertified func(host string) bool
	// Origins are the web origins, other than the service's own, whose pages may call the service.
	Origins []string
	// Proxies are the networks of reverse proxies whose X-Forwarded-* headers are trusted.
	Proxies []netip.Prefix
	// SetupCode lets anyone who knows it create the first organization in the browser. If it is "", nobody can.
	SetupCode string
	// RateLimits overrides the contract's limits by category; 0 means no limit.
	RateLimits map[api.RateCategory]int
	// OrgRateLimits overrides the limits of an organization by category. The default is api.OrgRateFactor times
	// the limit of a credential; 0 means no limit.
	OrgRateLimits map[api.RateCategory]int
	// Tracer traces the requests; nil means no tracing.
	Tracer *tracing.Tracer
}

// Server implements the operations of the contract over HTTP.
type Server struct {
	engine  *engine.Engine
	log     *slog.Logger
	clock   func() time.Time
	newID   func() string
	mux     *chi.Mux
	limiter *rateLimiter
	metrics *metrics
	pages   *web.Site
	tracer  *tracing.Tracer

	hosts     hostFilter
	publicURL string
	origins   []string
	proxies   []netip.Prefix

	// boundOperations are the operations that are bound to a method.
	boundOperations map[string]bool
	// largeBodies has room for the request with a large body that is being handled.
	largeBodies chan struct{}
	// documents returns the OpenAPI document, which is built on first use.
	documents func() (openAPIDocuments, error)
}

// New builds the server. It returns an error if an operation is not bound, or is bound twice.
func New(o Options) (*Server, error) {
	limiter := newRateLimiter(o.Clock, o.RateLimits, o.OrgRateLimits)
	s := &Server{
		engine: o.Engine, log: o.Logger, clock: o.Clock, newID: o.NewID,
		mux: chi.NewMux(), boundOperations: map[string]bool{}, largeBodies: make(chan struct{}, 1),
		limiter: limiter, metrics: newMetrics(o.Engine, limiter), hosts: newHostFilter(o), publicURL: o.PublicURL,
		proxies: o.Proxies, tracer: o.Tracer,
	}
	s.limiter.exchange = o.Engine.ExchangeRequestCounts()
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
	s.mux.Use(s.assignTraceID, s.logAndRecover, s.limitBodyTime, s.rejectUnknownHost, s.rejectMalformed, s.handleCORS, middleware.GetHead)
	s.mux.NotFound(s.serveUnknownRoute)
	s.mux.MethodNotAllowed(s.serveUnknownRoute)
	s.bindOperations()
	s.mountOpenAPI()
	// Load balancers check this path, which has no API version.
	s.mux.Get("/health", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, api.GetHealth.Path, http.StatusTemporaryRedirect)
	})
	s.mux.Get("/metrics", s.serveMetrics)
	s.pages = s.mountPages(o.SetupCode)
	o.Engine.SetProcessMetrics(s.metrics.toAPIMetrics)
	return s, s.checkAllBound()
}

// Handler serves requests from the network, each of which needs a credential.
func (s *Server) Handler() http.Handler { return s.mux }

// LocalHandler serves requests of the local user of the machine. Use it only on listeners that
// nobody else can reach: the 0600 socket and the in-memory transport.
func (s *Server) LocalHandler() http.Handler { return asLocalUser(s.mux) }

// asLocalUser returns a handler that treats all requests as those of the local user.
func asLocalUser(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), localKey{}, true)))
	})
}

type localKey struct{}

// isLocalRequest reports whether a request comes from the local user of the machine.
func isLocalRequest(ctx context.Context) bool {
	local, _ := ctx.Value(localKey{}).(bool)
	return local
}
