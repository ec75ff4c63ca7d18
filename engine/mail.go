package engine

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/notify/integration"
	"github.com/scf-service/service/engine/notify/mail"
	"github.com/scf-service/service/internal/netguard"
	"github.com/scf-service/service/store"
)

// orgMailServers are the mail servers that organizations have configured as integrations. They are
// connected here because packages mail and integration don't import each other.
type orgMailServers struct {
	integrations *integration.Service
	guard        netguard.Guard
}

func (orgMailServers) HasServer(tx *store.Tx, org string) (bool, error) {
	return integration.HasMailServer(tx, org)
}

func (orgMailServers) AnyServer(tx *store.Tx) (bool, error) { return integration.HasAnyMailServer(tx) }

// Route returns a route to the organization's own mail server, or nil if it has none. Connections are
// limited by the network guard, because the organization chose the server.
func (o orgMailServers) Route(ctx context.Context, org string) (*mail.Route, error) {
	m, err := o.integrations.MailServer(ctx, org)
	if errors.Is(err, integration.ErrNoMailServer) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	from, err := netmail.ParseAddress(m.From)
	if err != nil {
		return nil, fmt.Errorf("the sender of the organization's mail server is not an email address; change `from` in the mail server's integration")
	}
	return &mail.Route{
		ID: m.IntegrationID, Dial: o.guard.Dial, Roots: m.Roots,
		Server: &mail.Server{
			Host:     m.Host,
			Port:     m.Port,
			Security: mail.Security(m.TLS),
			User:     m.Username,
			Password: m.Password,
			From:     *from,
		},
	}, nil
}

// RecordResult records the result of an email on the organization's integration. It ignores
// integrations that have been deleted.
func (o orgMailServers) RecordResult(ctx context.Context, r *mail.Route, org string, sendErr error) error {
	err := o.integrations.RecordMailResult(ctx, org, r.ID, sendErr)
	if api.IsCode(err, api.CodeNotFound) {
		return nil // deleted in the meantime
	}
	return err
}
