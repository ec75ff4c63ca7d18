package mail

import (
	"context"
	"crypto/x509"
	"errors"
	"net"

	"github.com/scf-service/service/store"
)

// orgServers provides the organizations' own mail servers.
type orgServers interface {
	// HasServer reports whether an organization has a mail server of its own.
	HasServer(tx *store.Tx, org string) (bool, error)
	// AnyServer reports whether any organization has a mail server of its own.
	AnyServer(tx *store.Tx) (bool, error)
	// Route returns the organization's server, or nil if it has none.
	Route(ctx context.Context, org string) (*Route, error)
	// RecordResult records the result of the last email; a nil error means it was accepted.
	RecordResult(ctx context.Context, r *Route, org string, why error) error
}

// Route describes a mail server and how to connect to it.
type Route struct {
	Server *Server
	// ID identifies the server to its owner.
	ID string
	// Dial opens connections; nil means that connections are not restricted. An organization's server has an untrusted
	// address.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Roots are the CAs trusted for the server's certificate; nil means the system's CAs.
	Roots *x509.CertPool
}

// errNoRoute reports that the mail server was removed after the email had been queued.
var errNoRoute = errors.New("the mail server has been removed; sending will be retried for one day")

// hasServerFor reports whether the organization can send email, through a server of its own or the
// operator's.
func (s *Service) hasServerFor(tx *store.Tx, org string) (bool, error) {
	if s.Server != nil || s.OrgServers == nil {
		return s.Server != nil, nil
	}
	return s.OrgServers.HasServer(tx, org)
}

// hasAnyServer reports whether there is any mail server: the operator's or that of an organization.
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

// routeFor returns the organization's own mail server or, if it has none, the operator's.
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
