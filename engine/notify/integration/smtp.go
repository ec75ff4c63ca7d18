package integration

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/netguard"
	"github.com/scf-service/service/store"
)

// MailServer is a mail server that an organization has configured.
type MailServer struct {
	// IntegrationID identifies the integration that configures the mail server.
	IntegrationID string
	Host          string
	Port          int
	// TLS is starttls, tls or none.
	TLS                string
	From               string
	Username, Password string
	Roots              *x509.CertPool // nil for the system's
}

// String omits the password, so that printing a MailServer does not reveal it.
func (m MailServer) String() string { return fmt.Sprintf("%s:%d", m.Host, m.Port) }

// GoString returns the same as String.
func (m MailServer) GoString() string { return m.String() }

// ErrNoMailServer reports that an organization has no mail server of its own.
var ErrNoMailServer = errors.New("the organization has no mail server of its own")

// findMailServer returns an organization's enabled integration of type smtp, or nil if it has none.
func findMailServer(tx *store.Tx, org string) (*store.Integration, error) {
	for r, err := range store.Integrations.By("mail").Scan(tx, org) {
		return &r, err
	}
	return nil, nil
}

// HasMailServer reports whether an organization has its own mail server.
func HasMailServer(tx *store.Tx, org string) (bool, error) {
	r, err := findMailServer(tx, org)
	return r != nil, err
}

// HasAnyMailServer reports whether any organization has a mail server of its own.
func HasAnyMailServer(tx *store.Tx) (bool, error) {
	for _, err := range store.Integrations.AcrossTenants().By("mail").Scan(tx) {
		return err == nil, err
	}
	return false, nil
}

// MailServer returns the mail server configured in an organization's enabled smtp integration, or
// ErrNoMailServer if there is none.
func (s *Service) MailServer(ctx context.Context, org string) (*MailServer, error) {
	var found *store.Integration
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		found, err = findMailServer(tx, org)
		return err
	})
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, ErrNoMailServer
	}
	set, err := s.loadSettings(found)
	if err != nil {
		return nil, err
	}
	m := s.newMailServer(set)
	m.IntegrationID = found.ID
	return m, nil
}

// RecordMailResult updates the integration's record with the result of the last email; a nil error means success.
func (s *Service) RecordMailResult(ctx context.Context, org, id string, sendErr error) error {
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		r, err := store.Integrations.Get(tx, org, id)
		if err != nil {
			return ignoreNotFound(err)
		}
		message := ""
		if sendErr != nil {
			message = netguard.SanitizeLine(sendErr.Error())
		}
		setLastStatus(&r, tx.Now(), sendErr == nil, message)
		return store.Integrations.Update(tx, org, &r)
	})
}

func (s *Service) newMailServer(set *settings) *MailServer {
	return &MailServer{
		Roots:    s.Roots,
		Host:     set.text("host"),
		Port:     set.number("port"),
		TLS:      set.text("tls"),
		From:     set.text("from"),
		Username: set.text("username"),
		Password: set.secrets["password"],
	}
}

// maxServerBytes is the maximum number of bytes read from a mail server during sign-in; real servers
// send far fewer.
const maxServerBytes = 1 << 20

// Client returns a client for the mail server. It connects only to addresses that the guard allows.
func (m *MailServer) Client(g netguard.Guard, timeout time.Duration) (*mail.Client, error) {
	encrypted := &tls.Config{ServerName: m.Host, MinVersion: tls.VersionTLS12, RootCAs: m.Roots}
	dial := g.LimitedDialer(maxServerBytes)
	options := []mail.Option{
		mail.WithPort(m.Port),
		mail.WithTimeout(timeout),
		mail.WithDialContextFunc(dial),
		mail.WithTLSConfig(encrypted),
	}
	switch m.TLS {
	case "tls":
		options = append(options, mail.WithSSL(), mail.WithPort(m.Port), mail.WithDialContextFunc(netguard.TLSDialer(dial, encrypted)))
	case "none":
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if m.Username != "" {
		options = append(
			options,
			mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthPlain, mail.SMTPAuthLogin),
			mail.WithUsername(m.Username),
			mail.WithPassword(m.Password),
		)
	}
	return mail.NewClient(m.Host, options...)
}

// testMailServer signs in to the mail server without sending an email.
func (s *Service) testMailServer(ctx context.Context, set *settings) (string, error) {
	m := s.newMailServer(set)
	c, err := m.Client(s.Guard, testTimeout)
	if err != nil {
		return "", netguard.RedactError(err)
	}
	hidden := s.newAPIClient(set, "", nil, nil)
	if err := c.DialWithContext(ctx); err != nil {
		return "", hidden.redactError(netguard.RedactError(err))
	}
	if err := c.Close(); err != nil {
		return "", hidden.redactError(netguard.RedactError(err))
	}
	words := map[string]string{"starttls": "encrypted with STARTTLS", "tls": "encrypted with TLS", "none": "not encrypted"}[m.TLS]
	if m.Username != "" {
		words += ", signed in as " + m.Username
	}
	return fmt.Sprintf("%s responds, %s", m, words), nil
}

// integrationActor returns the actor recorded for changes that an integration makes.
func integrationActor(r *store.Integration) api.Actor {
	return api.Actor{Type: api.ActorWorkflow, ID: r.ID, Name: r.Type + ": " + r.Name}
}
