package mail

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// Security specifies how the connection to a mail server is protected.
type Security string

// STARTTLS starts with an unencrypted connection and sends nothing if the server can't encrypt it. TLS
// is encrypted from the start. None is meant for servers on this machine.
const (
	STARTTLS Security = "starttls"
	TLS      Security = "tls"
	None     Security = "none"
)

// Server is an SMTP server.
type Server struct {
	Host           string
	Port           int
	Security       Security
	User, Password string
	From           mail.Address
}

// String returns the server's address without credentials.
func (s *Server) String() string {
	return fmt.Sprintf("%s (%s)", net.JoinHostPort(s.Host, strconv.Itoa(s.Port)), s.Security)
}

// ParseServer parses the URL of an SMTP server: smtp://USER:PASSWORD@HOST:587 (with STARTTLS, or
// unencrypted with ?tls=none) or smtps://USER:PASSWORD@HOST:465. The password argument takes precedence
// over the one in the URL. Errors never contain a password.
func ParseServer(address, from, password string) (*Server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, errors.New(
			"not a valid URL; use the form smtp://USER@smtp.acme.example:587 or smtps://USER@smtp.acme.example:465, " +
				"and write %40 for an @ in the user name or password",
		)
	}
	s := &Server{Host: u.Hostname(), User: u.User.Username(), Password: password}
	if in, ok := u.User.Password(); ok && password == "" {
		s.Password = in
	}
	query := u.Query()
	switch mode := query.Get("tls"); {
	case u.Scheme == "smtps" && (mode == "" || mode == string(TLS)):
		s.Security, s.Port = TLS, 465
	case u.Scheme == "smtp" && (mode == "" || mode == string(STARTTLS)):
		s.Security, s.Port = STARTTLS, 587
	case u.Scheme == "smtp" && mode == string(None):
		s.Security, s.Port = None, 25
	case u.Scheme != "smtp" && u.Scheme != "smtps":
		return nil, fmt.Errorf(
			"unsupported scheme %q; use smtp:// (STARTTLS) or smtps:// (TLS)",
			u.Scheme+"://",
		)
	default:
		return nil, fmt.Errorf(
			"tls=%q cannot be combined with %s://; use smtp:// (STARTTLS), smtp://…?tls=none or smtps:// (TLS)",
			mode,
			u.Scheme,
		)
	}
	for name := range query {
		if name != "tls" && name != "from" {
			return nil, fmt.Errorf("unknown parameter %q; use tls or from", name)
		}
	}
	if port := u.Port(); port != "" {
		if s.Port, err = strconv.Atoi(port); err != nil || s.Port < 1 || s.Port > 65535 {
			return nil, fmt.Errorf("%q is not a valid port", port)
		}
	}
	if u.Path != "" && u.Path != "/" {
		return nil, errors.New("unexpected path after the host; percent-encode special characters in the password (%XX)")
	}
	if s.Password != "" && s.User == "" {
		return nil, errors.New("a password is set, but no user name")
	}
	if s.Password != "" && s.Security == None && !isLoopbackHost(s.Host) {
		return nil, errors.New("the password would be sent unencrypted: use STARTTLS or TLS, or omit the user name and password")
	}
	if from == "" {
		from = query.Get("from")
	}
	if from == "" {
		return nil, errors.New("the sender is missing: set SERVICE_SMTP_FROM, e.g. \"Acme compliance <grc@acme.example>\"")
	}
	sender, err := parseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("invalid sender: %w", err)
	}
	s.From = *sender
	return s, nil
}

func isLoopbackHost(host string) bool {
	return host == "localhost" || net.ParseIP(host) != nil && net.ParseIP(host).IsLoopback()
}

const (
	// sendTimeout limits sending an email as a whole; stepTimeout limits each step.
	sendTimeout = time.Minute
	stepTimeout = 20 * time.Second
	// maxServerBytes limits how much is read from a server per connection.
	maxServerBytes = 1 << 20
)

// sendOutcome is the result of sending an email to one recipient.
type sendOutcome struct {
	err error
	// bounced means the address was rejected; permanent means that retrying is pointless.
	bounced, permanent bool
}

// message is an email to one recipient.
type message struct {
	id, to      string
	at          time.Time
	letter      mailContent
	unsubscribe string // a URL to unsubscribe; "" for mails sent on request
}

var errNoAnswer = errors.New("the mail server did not respond in time or sent too much data")

// send sends messages to a mail server over one connection. err is set if no connection was possible; outcomes contains
// the result of each message.
func (s *Service) send(ctx context.Context, route *Route, messages []message) (outcomes []sendOutcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	to := route.Server
	raw, err := dial(ctx, route)
	if err != nil {
		return nil, err
	}
	// The connection is closed as soon as the context is done.
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	defer raw.Close()
	client, open, err := openSession(ctx, route, raw)
	if err != nil {
		return nil, to.redactError(ctx, err)
	}
	for i, m := range messages {
		msg, err := composeMessage(to, &m)
		if err != nil {
			outcomes = append(outcomes, sendOutcome{err: err, permanent: true})
			continue
		}
		err = client.SendWithSMTPClient(open, msg)
		if err == nil || msg.IsDelivered() {
			outcomes = append(outcomes, sendOutcome{})
			continue
		}
		o := sendOutcome{err: to.redactError(ctx, err)}
		var refused *gomail.SendError
		if errors.As(err, &refused) && refused.ErrorCode() >= 500 {
			o.permanent, o.bounced = true, refused.Reason == gomail.ErrSMTPRcptTo
		}
		outcomes = append(outcomes, o)
		if refused == nil || refused.ErrorCode() == 0 {
			for range messages[i+1:] { // the connection is gone
				outcomes = append(outcomes, o)
			}
			return outcomes, nil
		}
	}
	_ = client.CloseWithSMTPClient(open)
	return outcomes, nil
}

func dial(ctx context.Context, route *Route) (net.Conn, error) {
	to := route.Server
	connect := route.Dial
	if connect == nil {
		connect = (&net.Dialer{Timeout: stepTimeout}).DialContext
	}
	raw, err := connect(ctx, "tcp", net.JoinHostPort(to.Host, strconv.Itoa(to.Port)))
	if err != nil {
		return nil, to.redactError(ctx, err)
	}
	return &limitedConn{Conn: raw, remaining: maxServerBytes}, nil
}

// openSession starts an SMTP session on a connection: TLS, EHLO and sign-in.
func openSession(ctx context.Context, route *Route, raw net.Conn) (*gomail.Client, *smtp.Client, error) {
	to := route.Server
	security := &tls.Config{ServerName: to.Host, MinVersion: tls.VersionTLS12, RootCAs: route.Roots}
	conn := raw
	if to.Security == TLS {
		c := tls.Client(raw, security)
		within, cancel := context.WithTimeout(ctx, stepTimeout)
		defer cancel()
		if err := c.HandshakeContext(within); err != nil {
			return nil, nil, fmt.Errorf("the TLS handshake with the mail server failed: %w", err)
		}
		conn = c
	}
	options := []gomail.Option{
		gomail.WithPort(to.Port), gomail.WithTimeout(stepTimeout), gomail.WithTLSConfig(security), gomail.WithTLSPolicy(gomail.NoTLS),
		gomail.WithHELO(to.heloName()), gomail.WithoutNoop(),
		gomail.WithDialContextFunc(func(context.Context, string, string) (net.Conn, error) { return conn, nil }),
	}
	if to.Security == STARTTLS {
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if to.User != "" {
		options = append(options, gomail.WithSMTPAuthCustom(&authenticator{server: to}))
	}
	client, err := gomail.NewClient(to.Host, options...)
	if err != nil {
		return nil, nil, err
	}
	open, err := client.DialToSMTPClientWithContext(ctx)
	return client, open, err
}

// heloName returns the domain of the sender's address, which is used as the EHLO name because it reveals
// nothing about the machine.
func (s *Server) heloName() string {
	if _, domain, ok := strings.Cut(s.From.Address, "@"); ok {
		return domain
	}
	return "localhost"
}

func composeMessage(from *Server, m *message) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(&from.From)
	if err := msg.To(m.to); err != nil {
		return nil, err
	}
	msg.Subject(m.letter.Subject)
	msg.SetDateWithValue(m.at)
	msg.SetMessageIDWithValue(m.id + "@" + from.heloName())
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	if m.unsubscribe != "" {
		msg.SetGenHeader("List-Unsubscribe", "<"+m.unsubscribe+">")
		msg.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.letter.Text)
	if m.letter.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.letter.HTML)
	}
	return msg, nil
}

// redactError returns a short error message from which misleading characters and our password are removed, because the
// server may have sent either.
func (s *Server) redactError(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, errTooMuchData) {
		return errNoAnswer
	}
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() {
		return errNoAnswer
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the mail server closed the connection unexpectedly")
	}
	text := toSubjectLine(err.Error())
	if i := strings.Index(text, ", affected recipient(s)"); i > 0 {
		text = text[:i]
	}
	if s.Password != "" {
		for _, secret := range []string{
			s.Password,
			base64.StdEncoding.EncodeToString([]byte("\x00" + s.User + "\x00" + s.Password)),
			base64.StdEncoding.EncodeToString([]byte(s.Password)),
		} {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return errors.New(text)
}

var errTooMuchData = errors.New("the mail server sent too much data")

// limitedConn is a connection that limits the number of bytes the other side may send.
type limitedConn struct {
	net.Conn
	remaining int
}

func (b *limitedConn) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, errTooMuchData
	}
	n, err := b.Conn.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	return n, err
}

// authenticator signs in with the best mechanism that the server offers. It sends a password only over
// an encrypted connection or to this machine.
type authenticator struct {
	server *Server
	chosen smtp.Auth
}

func (l *authenticator) Start(on *smtp.ServerInfo) (string, []byte, error) {
	u, p := l.server.User, l.server.Password
	safe := on.TLS || isLoopbackHost(l.server.Host)
	for _, means := range []struct {
		name string
		fits bool
		auth func() smtp.Auth
	}{
		{"SCRAM-SHA-256", true, func() smtp.Auth { return smtp.ScramSHA256Auth(u, p) }},
		{"PLAIN", safe, func() smtp.Auth { return smtp.PlainAuth("", u, p, l.server.Host, !on.TLS) }},
		{"LOGIN", safe, func() smtp.Auth { return smtp.LoginAuth(u, p, l.server.Host, !on.TLS) }},
		{"CRAM-MD5", true, func() smtp.Auth { return smtp.CRAMMD5Auth(u, p) }},
	} {
		if means.fits && slices.Contains(on.Auth, means.name) {
			l.chosen = means.auth()
			return l.chosen.Start(on)
		}
	}
	return "", nil, fmt.Errorf("the mail server offers no supported sign-in mechanism (%s)", toSubjectLine(strings.Join(on.Auth, " ")))
}

func (l *authenticator) Next(challenge []byte, more bool) ([]byte, error) {
	return l.chosen.Next(challenge, more)
}
