package integration_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/notify/integration"
	"github.com/scf-service/service/internal/netguard"
)

// fakeMailServer is a fake mail server that supports as much of SMTP as signing in needs.
type fakeMailServer struct {
	port int
	// stop is the number of lines after which the connection breaks; 0 means never.
	stop int
	// plain disables STARTTLS.
	plain bool
	// endless makes the response to EHLO endless.
	endless bool
}

func startFakeMailServer(t *testing.T, d *fakeMailServer, config *tls.Config, fromStart bool) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	d.port = l.Addr().(*net.TCPAddr).Port
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if fromStart {
					d.talk(tls.Server(c, config), nil)
				} else {
					d.talk(c, config)
				}
			}()
		}
	}()
}

// talk answers until the client disconnects; with a config it offers TLS.
func (d *fakeMailServer) talk(c net.Conn, config *tls.Config) {
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, encrypted := c.(*tls.Conn)
	lines := bufio.NewReader(c)
	fmt.Fprint(c, "220 mail.acme.example ESMTP\r\n")
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if d.stop > 0 && n >= d.stop {
			fmt.Fprint(c, "250-mail.acme")
			return
		}
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			for d.endless {
				if _, err := c.Write(bytes.Repeat([]byte("250-SIZE 1\r\n"), 1000)); err != nil {
					return
				}
			}
			fmt.Fprint(c, "250-mail.acme.example\r\n")
			if !encrypted && !d.plain {
				fmt.Fprint(c, "250-STARTTLS\r\n")
			}
			fmt.Fprint(c, "250 AUTH PLAIN LOGIN\r\n")
		case "STARTTLS":
			fmt.Fprint(c, "220 go ahead\r\n")
			inner := tls.Server(c, config)
			if inner.Handshake() != nil {
				return
			}
			c, encrypted, lines = inner, true, bufio.NewReader(inner)
		case "AUTH":
			b, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(rest, "PLAIN "))
			if encrypted && string(b) == "\x00ada\x00sesame" {
				fmt.Fprint(c, "235 2.7.0 accepted\r\n")
			} else {
				fmt.Fprintf(c, "535 5.7.8 bad credentials %s\r\n", strings.ReplaceAll(string(b), "\x00", " "))
			}
		case "QUIT":
			fmt.Fprint(c, "221 bye\r\n")
			return
		case "NOOP", "RSET":
			fmt.Fprint(c, "250 fine\r\n")
		default:
			fmt.Fprint(c, "502 not here\r\n")
		}
	}
}

// TestMailServer checks the greeting, encryption and login, that errors are readable, and that no
// password is sent unencrypted.
func TestMailServer(t *testing.T) {
	h := newFixture(t)
	certified := httptest.NewTLSServer(nil) // its certificate is good for 127.0.0.1 and example.com
	defer certified.Close()
	config := &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12}
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	h.Service = integration.New(integration.Options{
		DB: h.db, Clock: h.now, Logger: slog.New(slog.DiscardHandler), Box: h.box, Plans: h, Archives: h, Roots: roots,
		Guard: netguard.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
	})
	for name, c := range map[string]struct {
		desk     fakeMailServer
		tls      string
		password string
		untrust  bool
		want     string // "" for success
	}{
		"starttls":            {tls: "starttls", password: "sesame"},
		"tls":                 {tls: "tls", password: "sesame"},
		"none":                {tls: "none", desk: fakeMailServer{plain: true}},
		"a wrong password":    {tls: "starttls", password: "wrong-one", want: "535"},
		"no encryption there": {tls: "starttls", password: "sesame", desk: fakeMailServer{plain: true}, want: "STARTTLS"},
		"stops in mid-word":   {tls: "starttls", password: "sesame", desk: fakeMailServer{stop: 2}, want: "EOF"},
		"stops at once":       {tls: "starttls", password: "sesame", desk: fakeMailServer{stop: 1}, want: "EOF"},
		"says 100 GB":         {tls: "none", desk: fakeMailServer{plain: true, endless: true}, want: "too long"},
		"says it encrypted":   {tls: "tls", password: "sesame", desk: fakeMailServer{endless: true}, want: "too long"},
		"another name":        {tls: "tls", password: "sesame", untrust: true, want: "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.desk
			served := config
			if c.untrust {
				served = &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}, MinVersion: tls.VersionTLS12}
			}
			startFakeMailServer(t, &d, served, c.tls == "tls")
			set := map[string]any{"host": "127.0.0.1", "port": d.port, "tls": c.tls, "from": "grc@acme.example"}
			var hidden secrets
			if c.password != "" {
				set["username"], hidden = "ada", secrets{"password": c.password}
			}
			r, err := h.make("smtp", set, hidden)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				in := integrationInput(r.ID)
				if _, err := h.Delete(t.Context(), h.by, &api.DeleteIntegrationInput{IntegrationInput: in}); err != nil {
					t.Error(err)
				}
			}()
			got := h.runTest(r.ID)
			if got.OK != (c.want == "") || !strings.Contains(got.Message, c.want) ||
				c.password != "" && strings.Contains(got.Message, c.password) {
				t.Errorf("%+v", got)
			}
			if m, err := h.MailServer(t.Context(), org); err != nil || m.Password != c.password ||
				strings.Contains(fmt.Sprintf("%v %+v %#v %s", m, *m, m, *m), "sesame") {
				t.Errorf("%v, %v", m, err)
			}
		})
	}
}
