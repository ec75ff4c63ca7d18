package mail

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"sync"

	"github.com/scf-service/service/store"
)

// ownServers are the mail servers of organizations.
type ownServers interface {
	// Has tells whether an organization has one.
	Has(tx *store.Tx, org string) (bool, error)
	// Any tells whether any organization has one.
	Any(tx *store.Tx) (bool, error)
	// Route is the way to it; nil where it has none.
	Route(ctx context.Context, org string) (*Route, error)
	// Noted is told what the last mail by a route came to; nil: it was taken.
	Noted(ctx context.Context, r *Route, org string, why error) error
}

// Route is a mail server and the way to it.
type Route struct {
	Server *Server
	// ID is what its owner calls it by.
	ID string
	// Dial connects; nil: anywhere. An organization's server is a stranger's address.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Roots are whom its certificate is believed from; nil: whom the system believes.
	Roots *x509.CertPool
}

// errNoRoute is of a mail whose server was taken away while it waited.
var errNoRoute = errors.New("there is no mail server any more; it is tried again for a day")

// can tells whether mails of an organization can go anywhere.
func (s *Service) can(tx *store.Tx, org string) (bool, error) {
	if s.Server != nil || s.Own == nil {
		return s.Server != nil, nil
	}
	return s.Own.Has(tx, org)
}

// anyServer tells whether there is any mail server at all.
func (s *Service) anyServer(ctx context.Context) (any bool, err error) {
	if s.Server != nil || s.Own == nil {
		return s.Server != nil, nil
	}
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		any, err = s.Own.Any(tx)
		return err
	})
	return any, err
}

// route is the way of an organization's mails: by its own server alone where it has one,
// else by the operator's.
func (s *Service) route(ctx context.Context, org string) (r *Route, theirs bool, err error) {
	if s.Own != nil {
		if r, err = s.Own.Route(ctx, org); r != nil || err != nil {
			return r, true, err
		}
	}
	if s.Server == nil {
		return nil, false, errNoRoute
	}
	return &Route{Server: s.Server, Roots: s.Roots}, false, nil
}

// lanes are the organizations whose own servers are being spoken to, each in a goroutine of
// its own: one that hangs holds up nobody else's mails.
type lanes struct {
	mu      sync.Mutex
	busy    map[string]bool
	free    chan struct{}
	working sync.WaitGroup
}

const maxLanes = 32

func (l *lanes) init() { l.busy, l.free = map[string]bool{}, make(chan struct{}, maxLanes) }

func (l *lanes) wait() { l.working.Wait() }

// run does work for an organization, unless it is at it, or too many are.
func (l *lanes) run(org string, work func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy[org] {
		return
	}
	select {
	case l.free <- struct{}{}:
	default:
		return // in another round
	}
	l.busy[org] = true
	l.working.Go(func() {
		defer func() {
			l.mu.Lock()
			delete(l.busy, org)
			l.mu.Unlock()
			<-l.free
		}()
		work()
	})
}
