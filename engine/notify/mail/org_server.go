package mail

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"sync"

	"github.com/scf-service/service/store"
)

// orgServers are the mail servers of organizations.
type orgServers interface {
	// HasServer tells whether an organization has one.
	HasServer(tx *store.Tx, org string) (bool, error)
	// AnyServer tells whether any organization has one.
	AnyServer(tx *store.Tx) (bool, error)
	// Route is the way to it; nil where it has none.
	Route(ctx context.Context, org string) (*Route, error)
	// RecordResult is told what the last mail by a route came to; nil: it was taken.
	RecordResult(ctx context.Context, r *Route, org string, why error) error
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

// canSend tells whether mails of an organization can go anywhere.
func (s *Service) canSend(tx *store.Tx, org string) (bool, error) {
	if s.Server != nil || s.OrgServers == nil {
		return s.Server != nil, nil
	}
	return s.OrgServers.HasServer(tx, org)
}

// hasAnyServer tells whether there is any mail server at all.
func (s *Service) hasAnyServer(ctx context.Context) (any bool, err error) {
	if s.Server != nil || s.OrgServers == nil {
		return s.Server != nil, nil
	}
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		any, err = s.OrgServers.AnyServer(tx)
		return err
	})
	return any, err
}

// routeFor is the way of an organization's mails: by its own server alone where it has one,
// else by the operator's.
func (s *Service) routeFor(ctx context.Context, org string) (r *Route, isOrgServer bool, err error) {
	if s.OrgServers != nil {
		if r, err = s.OrgServers.Route(ctx, org); r != nil || err != nil {
			return r, true, err
		}
	}
	if s.Server == nil {
		return nil, false, errNoRoute
	}
	return &Route{Server: s.Server, Roots: s.Roots}, false, nil
}

// senderPool are the organizations whose own servers are being spoken to, each in a goroutine of
// its own: one that hangs holds up nobody else's mails.
type senderPool struct {
	mu      sync.Mutex
	busy    map[string]bool
	free    chan struct{}
	working sync.WaitGroup
}

const maxSenders = 32

func (l *senderPool) init() { l.busy, l.free = map[string]bool{}, make(chan struct{}, maxSenders) }

func (l *senderPool) wait() { l.working.Wait() }

// run does work for an organization, unless it is at it, or too many are.
func (l *senderPool) run(org string, work func()) {
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
