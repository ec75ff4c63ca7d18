// Package mail writes mails and hands them to a mail server: those that people ask for, and
// those that come by themselves.
//
//	send-email, an invitation, an alert ─┐
//	approval.requested|decided ─ outbox ─┼─▶ queue (in a transaction) ─▶ SMTP, each address alone ─▶ sent | bounced | failed
//	overdue remediations, once a day ────┘
//
// A mail of a change is queued in the transaction of the change, or made from its event. It
// is handed over at least once, with the same Message-ID each time; what says what it says is
// sealed until then, and gone after. The package decides nothing, and without a mail server
// it queues nothing.
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
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// Options are what the service is made of.
type Options struct {
	DB     *store.DB
	Clock  func() time.Time
	Logger *slog.Logger
	// Server takes the mails of organizations that have none of their own; nil: there is none.
	Server *Server
	// OrgServers are the mail servers of organizations; nil: they have none.
	OrgServers orgServers
	// Roots are whom the server's certificate is believed from; nil: whom the system believes.
	Roots *x509.CertPool
	// Seal and Open keep what mails say secret in the database.
	Seal func(secret string) ([]byte, error)
	Open func(sealed []byte) (string, error)
	// PublicURL is where people reach the service; empty: mails have no links.
	PublicURL string
	// Delegates are who may decide on an approval besides owners and admins.
	Delegates func(*store.Tx, *api.Approval) ([]api.Delegate, error)
	// OverdueLines are the lines of an organization's digest.
	OverdueLines func(tx *store.Tx, org string, today api.Date) ([]string, error)
	// Tracer tells where work takes its time; nil: nothing is traced.
	Tracer *tracing.Tracer
	// CloseTimeout is how long Close waits for the mail server; 3 seconds where 0.
	CloseTimeout time.Duration
	// NewTicker gives a tick in each such time until stop is called.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
}

// Service answers the operations on mail and sends what is queued.
type Service struct {
	Options
	// lastServerError is what was wrong with the operator's mail server when it was asked last.
	lastServerError atomic.Pointer[string]
	stop            context.CancelFunc
	closing         chan struct{}
	working         sync.WaitGroup
	orgSenders      senderPool
}

// New makes the service; Start begins to send.
func New(o Options) *Service {
	o.PublicURL = strings.TrimRight(o.PublicURL, "/")
	if o.CloseTimeout == 0 {
		o.CloseTimeout = 3 * time.Second
	}
	s := &Service{Options: o}
	s.orgSenders.init()
	return s
}

// pollInterval is the time between looks for what is due; what is new is seen at once.
const pollInterval = 5 * time.Second

// Start begins to send, also what an earlier process left. Close ends it.
func (s *Service) Start(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	s.closing = make(chan struct{})
	ticks, stopTicks := s.NewTicker(pollInterval)
	s.working.Go(func() {
		defer stopTicks()
		for last := false; ; {
			changed := s.DB.Changed()
			if err := s.runOnce(ctx); err != nil && ctx.Err() == nil {
				s.Logger.Warn("mails can't be sent", "error", err)
			}
			if last {
				s.orgSenders.wait()
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

// Close sends what a command has just queued, but waits no longer than Patience for the
// mail server; what is broken off then is sent again later.
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

// RunAndWait makes mails of what happened and of what is overdue, and sends what is due.
func (s *Service) RunAndWait(ctx context.Context) error {
	defer s.orgSenders.wait()
	return s.runOnce(ctx)
}

// runOnce does not wait for the servers of organizations.
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
	if err := s.queueDigests(ctx); err != nil {
		return err
	}
	return s.sendDue(ctx)
}

// noServerError says what to do where there is no mail server.
func noServerError() error {
	return api.Conflict(
		"there is no mail server: give the organization one with `service integration create smtp`, or the operator sets SERVICE_SMTP_URL (smtp://USER@HOST:587), SERVICE_SMTP_FROM and SERVICE_SMTP_PASSWORD where the service runs",
	)
}

// parseAddress takes an address that can stand in a header and in a command of SMTP.
func parseAddress(text string) (*mail.Address, error) {
	if len(text) > 320 || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, api.Invalid("to", "%.60q is no e-mail address", text)
	}
	a, err := mail.ParseAddress(text)
	if err != nil {
		return nil, api.Invalid("to", "%.60q is no e-mail address", text)
	}
	local, domain, _ := strings.Cut(a.Address, "@")
	if len(a.Address) > 254 || local == "" || domain == "" || strings.ContainsAny(a.Address, " <>\",;:\\()[]") ||
		strings.Count(a.Address, "@") != 1 ||
		strings.HasPrefix(local, "-") {
		return nil, api.Invalid("to", "%.60q is no e-mail address that mail servers take", text)
	}
	return a, nil
}

// publicLink is an address of the service; empty where none is known.
func (s *Service) publicLink(path string) string {
	if s.PublicURL == "" {
		return ""
	}
	return s.PublicURL + path
}

func formatTime(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }
