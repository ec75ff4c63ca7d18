// Package mail composes emails and hands them to a mail server: emails that users request and
// emails that are sent automatically.
//
//	send-email, an invitation, an alert ─┐
//	approval.requested|decided ─ outbox ─┼─▶ queue (in a transaction) ─▶ SMTP, one per address ─▶ sent | bounced | failed
//	overdue remediations, once a day ────┘
//
// An email about a change is queued in the change's transaction or created from its event. It is
// handed over at least once, with the same Message-ID each time. Its content is encrypted until
// then and deleted afterwards. The package makes no decisions, and without a mail server it
// queues nothing.
package mail

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/mail"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/notify/delivery"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// Options holds the dependencies of a Service.
type Options struct {
	DB     *store.DB
	Clock  func() time.Time
	Logger *slog.Logger
	// Server sends the emails of organizations without their own mail server; nil if there is none.
	Server *Server
	// OrgServers provides the organizations' own mail servers, or is nil.
	OrgServers orgServers
	// Roots are the CAs trusted for the server's certificate; nil means the system's CAs.
	Roots *x509.CertPool
	// Seal and Open encrypt and decrypt the content of emails in the database.
	Seal func(secret string) ([]byte, error)
	Open func(sealed []byte) (string, error)
	// PublicURL is the service's URL for links in emails; without it, emails have no links.
	PublicURL string
	// Delegates returns who may decide on an approval in addition to owners and admins.
	Delegates func(*store.Tx, *api.Approval) ([]api.Delegate, error)
	// OverdueLines returns the lines of an organization's digest.
	OverdueLines func(tx *store.Tx, org string, today api.Date) ([]string, error)
	// Tracer traces the work. It may be nil.
	Tracer *tracing.Tracer
	// CloseTimeout is how long Close waits for the mail server; 0 means 3 seconds.
	CloseTimeout time.Duration
	// NewTicker returns a channel that ticks at this interval until stop is called.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
}

// Service implements the email operations and sends queued emails.
type Service struct {
	Options
	// lastServerError is the most recent error of the operator's mail server, or nil.
	lastServerError atomic.Pointer[string]
	stop            context.CancelFunc
	closing         chan struct{}
	working         sync.WaitGroup
	orgSenders      *delivery.Pool
	nextDelete      time.Time // time of the next deletion of old emails
}

// New returns a Service. It sends nothing before Start.
func New(o Options) *Service {
	o.PublicURL = strings.TrimRight(o.PublicURL, "/")
	if o.CloseTimeout == 0 {
		o.CloseTimeout = 3 * time.Second
	}
	return &Service{Options: o, orgSenders: delivery.NewPool(maxSenders)}
}

// pollInterval is the time between checks for emails that are due. New emails are noticed sooner.
const pollInterval = 5 * time.Second

// Start starts sending, including what an earlier process left unsent, until Close is called.
func (s *Service) Start(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	s.closing = make(chan struct{})
	ticks, stopTicks := s.NewTicker(pollInterval)
	s.working.Go(func() {
		defer stopTicks()
		for last := false; ; {
			changed := s.DB.Changed()
			if !s.DB.IsLeader() {
				// another process sends
			} else if err := s.runOnce(ctx); err != nil && ctx.Err() == nil {
				s.Logger.Warn("sending emails failed", "error", err)
			}
			if last {
				s.orgSenders.Wait()
				return
			}
			select {
			case <-s.closing:
				last = true
			case <-changed:
			case <-ticks:
			}
		}
	})
}

// Close sends the most recently queued emails, taking at most CloseTimeout. Interrupted emails are sent again later.
func (s *Service) Close() {
	if s.stop == nil {
		return
	}
	close(s.closing)
	enough := time.AfterFunc(s.CloseTimeout, s.stop)
	s.working.Wait()
	enough.Stop()
	s.stop()
	s.stop = nil
}

// RunAndWait queues the emails for events and overdue items and sends all that are due. Unlike runOnce,
// it also waits for the organizations' own servers.
func (s *Service) RunAndWait(ctx context.Context) error {
	defer s.orgSenders.Wait()
	return s.runOnce(ctx)
}

// runOnce is like RunAndWait but doesn't wait for the organizations' own servers.
func (s *Service) runOnce(ctx context.Context) error {
	if any, err := s.hasAnyServer(ctx); err != nil || !any {
		return err
	}
	for {
		more, err := s.queueFromEvents(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if err := s.queueDigestsIfDue(ctx); err != nil {
		return err
	}
	return s.sendDue(ctx)
}

// noServerError returns an error that explains how to set up a mail server.
func noServerError() error {
	return api.Conflict(
		"no mail server is configured: add one for the organization with `service integration create smtp`, " +
			"or have the operator set SERVICE_SMTP_URL (smtp://USER@HOST:587), SERVICE_SMTP_FROM and SERVICE_SMTP_PASSWORD",
	)
}

// parseAddress parses an email address. It returns an error if the address isn't safe to use in a header and in an SMTP
// command.
func parseAddress(text string) (*mail.Address, error) {
	if len(text) > 320 || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, api.Invalid("to", "%.60q is not a valid email address", text)
	}
	a, err := mail.ParseAddress(text)
	if err != nil {
		return nil, api.Invalid("to", "%.60q is not a valid email address", text)
	}
	local, domain, _ := strings.Cut(a.Address, "@")
	if len(a.Address) > 254 || local == "" || domain == "" || strings.ContainsAny(a.Address, " <>\",;:\\()[]") ||
		strings.Count(a.Address, "@") != 1 ||
		strings.HasPrefix(local, "-") {
		return nil, api.Invalid("to", "%.60q is not an email address that mail servers accept", text)
	}
	return a, nil
}

// publicLink returns the public URL of a path of the service, or "" if the service has no public URL.
func (s *Service) publicLink(path string) string {
	if s.PublicURL == "" {
		return ""
	}
	return s.PublicURL + path
}

func formatTime(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }
