// Package smtptest provides a mail server for tests. It speaks SMTP over TCP, with STARTTLS or TLS and its own
// certificate, can require a user name and password, and stores the messages that it receives. It can be configured
// to misbehave.
package smtptest

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// Mail is a received message.
type Mail struct {
	From string
	To   []string
	Data string
	TLS  bool
	User string
}

// Options configures a Server.
type Options struct {
	// ImplicitTLS uses TLS from the start; NoTLS offers no STARTTLS.
	ImplicitTLS, NoTLS bool
	// User and Password are required from clients unless they are empty.
	User, Password string
	// OnCommand is called before each command is answered. Unless it returns "", the returned text replaces the
	// response; "hang up" closes the connection.
	OnCommand func(command string) string
	// Greeting replaces the first line; "hang up" closes the connection, and "silence" sends nothing.
	Greeting string
	// OnConnect is called for each connection.
	OnConnect func()
}

// Server is a running mail server. It rejects addresses that begin with "gone" permanently, and those
// that begin with "later" temporarily.
type Server struct {
	Addr string
	// PEM is the certificate; Roots is a pool that trusts it.
	PEM   []byte
	Roots *x509.CertPool

	options     Options
	tls         *tls.Config
	listener    net.Listener
	mu          sync.Mutex
	mails       []Mail
	changed     chan struct{} // closed when a message is received
	connections int
	open        map[net.Conn]bool
	working     sync.WaitGroup
}

// Start starts a server on the loopback interface.
func Start(o Options) (*Server, error) {
	s := &Server{options: o, open: map[net.Conn]bool{}, changed: make(chan struct{})}
	if err := s.createCertificate(); err != nil {
		return nil, err
	}
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.Addr = s.listener.Addr().String()
	s.working.Go(func() {
		for {
			conn, err := s.listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.connections++
			s.open[conn] = true
			s.mu.Unlock()
			if s.options.OnConnect != nil {
				s.options.OnConnect()
			}
			s.working.Go(func() {
				defer func() {
					_ = conn.Close()
					s.mu.Lock()
					delete(s.open, conn)
					s.mu.Unlock()
				}()
				s.serve(conn)
			})
		}
	})
	return s, nil
}

// Close stops the server and closes all connections.
func (s *Server) Close() {
	_ = s.listener.Close()
	s.mu.Lock()
	for c := range s.open {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.working.Wait()
}

// Mails returns the messages received so far.
func (s *Server) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

// Wait waits until the given number of messages has been received. It returns false if ctx ends first.
func (s *Server) Wait(ctx context.Context, n int) bool {
	for {
		s.mu.Lock()
		enough, more := len(s.mails) >= n, s.changed
		s.mu.Unlock()
		if enough {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-more:
		}
	}
}

// TotalConnections returns the number of connections so far.
func (s *Server) TotalConnections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections
}

func (s *Server) createCertificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail server of a test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2049, 1, 1, 0, 0, 0, 0, time.UTC),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		return err
	}
	s.PEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	s.Roots = x509.NewCertPool()
	s.Roots.AppendCertsFromPEM(s.PEM)
	s.tls = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	return nil
}

func (s *Server) serve(conn net.Conn) {
	secure := s.options.ImplicitTLS
	if secure {
		conn = tls.Server(conn, s.tls)
	}
	in := bufio.NewReader(conn)
	say := func(format string, args ...any) { fmt.Fprintf(conn, format+"\r\n", args...) }
	switch s.options.Greeting {
	case "hang up":
		return
	case "silence":
		_, _ = in.ReadString('\n') // until the client closes the connection
		return
	case "":
		say("220 test ready")
	default:
		say("%s", s.options.Greeting)
	}
	var m Mail
	user := ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		verb, rest, _ := strings.Cut(line, " ")
		verb = strings.ToUpper(verb)
		if s.options.OnCommand != nil {
			switch other := s.options.OnCommand(line); other {
			case "":
			case "hang up":
				return
			default:
				say("%s", other)
				continue
			}
		}
		switch verb {
		case "EHLO", "HELO":
			say("250-test")
			if !secure && !s.options.NoTLS {
				say("250-STARTTLS")
			}
			if s.options.User != "" && (secure || s.options.NoTLS) {
				say("250-AUTH PLAIN LOGIN")
			}
			say("250 8BITMIME")
		case "STARTTLS":
			if secure || s.options.NoTLS {
				say("502 no")
				continue
			}
			say("220 go on")
			conn = tls.Server(conn, s.tls)
			in = bufio.NewReader(conn)
			secure = true
		case "AUTH":
			means, initial, _ := strings.Cut(rest, " ")
			b, err := base64.StdEncoding.DecodeString(initial)
			if means != "PLAIN" || err != nil || string(b) != "\x00"+s.options.User+"\x00"+s.options.Password {
				say("535 5.7.8 user or password is wrong")
				continue
			}
			user = s.options.User
			say("235 welcome")
		case "MAIL":
			if s.options.User != "" && user == "" {
				say("530 5.7.0 sign in first")
				continue
			}
			m = Mail{From: parsePath(rest), TLS: secure, User: user}
			say("250 ok")
		case "RCPT":
			to := parsePath(rest)
			switch {
			case strings.HasPrefix(to, "gone"):
				say("550 5.1.1 nobody of that name")
			case strings.HasPrefix(to, "later"):
				say("451 4.2.1 the box is full")
			default:
				m.To = append(m.To, to)
				say("250 ok")
			}
		case "DATA":
			say("354 go on")
			var b strings.Builder
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if strings.TrimRight(line, "\r\n") == "." {
					break
				}
				b.WriteString(strings.TrimPrefix(line, "."))
			}
			m.Data = b.String()
			s.mu.Lock()
			s.mails = append(s.mails, m)
			close(s.changed)
			s.changed = make(chan struct{})
			s.mu.Unlock()
			if s.options.OnCommand != nil {
				if other := s.options.OnCommand("."); other == "hang up" {
					return
				}
			}
			say("250 taken")
		case "RSET", "NOOP":
			say("250 ok")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("500 what")
		}
	}
}

func parsePath(rest string) string {
	_, after, _ := strings.Cut(rest, "<")
	a, _, _ := strings.Cut(after, ">")
	return a
}
