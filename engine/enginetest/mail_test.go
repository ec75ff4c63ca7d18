package enginetest_test

import (
	"crypto/x509"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/engine/notify/mail"
	"github.com/scf-service/service/internal/testutil/smtptest"
)

// mailFixture is an engine with the operator's mail server and organizations that may have their own.
type mailFixture struct {
	t        *testing.T
	e        *engine.Engine
	operator *smtptest.Server
	roots    *x509.CertPool
}

func smtpServer(t *testing.T, o smtptest.Options) *smtptest.Server {
	t.Helper()
	s, err := smtptest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func newPosts(t *testing.T, own *smtptest.Server, networks ...netip.Prefix) *mailFixture {
	t.Helper()
	p := &mailFixture{t: t, operator: smtpServer(t, smtptest.Options{}), roots: x509.NewCertPool()}
	p.roots.AppendCertsFromPEM(p.operator.PEM)
	p.roots.AppendCertsFromPEM(own.PEM)
	server, err := mail.ParseServer("smtp://"+p.operator.Addr, "Operator <post@operator.example>", "")
	if err != nil {
		t.Fatal(err)
	}
	p.e = enginetest.New(t, func(o *engine.Options) { o.MailServer, o.MailRoots, o.Networks = server, p.roots, networks })
	return p
}

func (p *mailFixture) organization(name string) api.Caller {
	p.t.Helper()
	in := &api.NewOrganizationInput{}
	in.Body.Name, in.Body.Owner.Email, in.Body.Owner.Password = name, name+"@"+name+".example", "four words make one"
	o, err := p.e.Identity.CreateOrganization(p.t.Context(), api.Caller{PlatformAdmin: true}, in)
	if err != nil {
		p.t.Fatal(err)
	}
	return api.Caller{OrganizationID: o.ID, UserID: name, Role: api.RoleOwner, Actor: api.Actor{Type: api.ActorUser, ID: name, Name: name}}
}

// configureServer configures an organization's own mail server.
func (p *mailFixture) configureServer(by api.Caller, host string, s *smtptest.Server, password string) (*api.Integration, error) {
	p.t.Helper()
	_, port, _ := strings.Cut(s.Addr, ":")
	n, err := strconv.Atoi(port)
	if err != nil {
		p.t.Fatal(err)
	}
	in := &api.CreateIntegrationInput{}
	in.Body.Type, in.Body.Name = "smtp", "Mail"
	in.Body.Config = map[string]any{"host": host, "port": n, "from": "grc@acme.example"}
	if password != "" {
		in.Body.Config["username"] = "grc"
		in.Body.Secrets = map[string]string{"password": password}
	}
	return p.e.Integrations.Create(p.t.Context(), by, in)
}

func (p *mailFixture) send(by api.Caller, to string) *api.Email {
	p.t.Helper()
	in := &api.SendEmailInput{}
	in.Body.To, in.Body.Subject, in.Body.Text = []string{to}, "Hello", "Only for "+to
	e, err := p.e.Mail.Send(p.t.Context(), by, in)
	if err != nil {
		p.t.Fatal(err)
	}
	return e
}

// waitForAttempt waits until an email has been attempted.
func (p *mailFixture) waitForAttempt(by api.Caller, id string) *api.Email {
	p.t.Helper()
	for ends := time.Now().Add(time.Minute); ; {
		e, err := p.e.Mail.Get(p.t.Context(), by, &api.EmailInput{EmailID: id})
		if err != nil || time.Now().After(ends) {
			p.t.Fatalf("%+v, %v", e, err)
		}
		if e.Attempts > 0 {
			return e
		}
	}
}

// status returns the integration's status of the last mail.
func (p *mailFixture) status(by api.Caller, id string) string {
	p.t.Helper()
	r, err := p.e.Integrations.Get(p.t.Context(), by, &api.IntegrationInput{IntegrationID: id})
	if err != nil || r.LastStatus == nil {
		p.t.Fatalf("%+v, %v", r, err)
	}
	return *r.LastStatus
}

var thisMachine = netip.MustParsePrefix("127.0.0.0/8")

// TestOwnMailServer checks that an organization's email uses its own server, encrypted and
// authenticated, that others' email uses the operator's, and that so does its own once the server is
// removed.
func TestOwnMailServer(t *testing.T) {
	theirs := smtpServer(t, smtptest.Options{User: "grc", Password: "sesame-sesame"})
	p := newPosts(t, theirs, thisMachine)
	acme, other := p.organization("acme"), p.organization("other")
	r, err := p.configureServer(acme, "127.0.0.1", theirs, "sesame-sesame")
	if err != nil {
		t.Fatal(err)
	}
	a, b := p.waitForAttempt(acme, p.send(acme, "ben@acme.example").ID), p.waitForAttempt(other, p.send(other, "cem@other.example").ID)
	if a.Status != api.EmailSent || b.Status != api.EmailSent {
		t.Fatalf("%+v\n%+v", a, b)
	}
	mine, operators := theirs.Mails(), p.operator.Mails()
	if len(mine) != 1 || mine[0].From != "grc@acme.example" || mine[0].To[0] != "ben@acme.example" || mine[0].User != "grc" ||
		!mine[0].TLS {
		t.Errorf("%+v", mine)
	}
	if len(operators) != 1 || operators[0].From != "post@operator.example" || operators[0].To[0] != "cem@other.example" {
		t.Errorf("%+v", operators)
	}
	if s := p.status(acme, r.ID); s != "ok" {
		t.Error(s)
	}
	off := false
	in := &api.UpdateIntegrationInput{IntegrationInput: api.IntegrationInput{IntegrationID: r.ID}}
	in.Body.Enabled = &off
	if _, err := p.e.Integrations.Update(t.Context(), acme, in); err != nil {
		t.Fatal(err)
	}
	if e := p.waitForAttempt(acme, p.send(acme, "dee@acme.example").ID); e.Status != api.EmailSent || len(theirs.Mails()) != 1 ||
		len(p.operator.Mails()) != 2 {
		t.Errorf("%+v", e)
	}
}

// TestOwnMailServerRefuses checks that the failure of an organization's server reveals no password,
// affects only that organization, and doesn't divert its email to another server.
func TestOwnMailServerRefuses(t *testing.T) {
	theirs := smtpServer(t, smtptest.Options{User: "grc", Password: "sesame-sesame", OnCommand: func(command string) string {
		if strings.HasPrefix(command, "AUTH") {
			return "535 5.7.8 no: " + command + " (wrong-wrong)"
		}
		return ""
	}})
	p := newPosts(t, theirs, thisMachine)
	acme := p.organization("acme")
	r, err := p.configureServer(acme, "127.0.0.1", theirs, "wrong-wrong")
	if err != nil {
		t.Fatal(err)
	}
	e := p.waitForAttempt(acme, p.send(acme, "ben@acme.example").ID)
	said := p.status(acme, r.ID)
	if e.Status != api.EmailQueued || e.Error == nil || !strings.Contains(*e.Error, "535") || !strings.Contains(said, "535") {
		t.Fatalf("%+v, %q", e, said)
	}
	for _, secret := range []string{"wrong-wrong", "AGdyYwB3cm9uZy13cm9uZw=="} {
		if strings.Contains(*e.Error+said, secret) {
			t.Errorf("the password is told: %q, %q", *e.Error, said)
		}
	}
	if n := p.operator.TotalConnections(); n != 0 {
		t.Errorf("the operator's server was asked %d times", n)
	}
	if l, err := p.e.Mail.Stats(t.Context()); err != nil || l.LastServerError != "" {
		t.Errorf("%+v, %v: one organization's server is not the operator's trouble", l, err)
	}
}

// TestOwnMailServerIsGuarded checks that an organization's server has the same address restrictions
// as its webhooks: not this machine, whatever the name resolves to.
func TestOwnMailServerIsGuarded(t *testing.T) {
	theirs := smtpServer(t, smtptest.Options{})
	p := newPosts(t, theirs)
	acme := p.organization("acme")
	if _, err := p.configureServer(acme, "127.0.0.1", theirs, ""); !api.IsCode(err, api.CodeValidation) {
		t.Errorf("%v", err)
	}
	if _, err := p.configureServer(acme, "localhost", theirs, ""); err != nil {
		t.Fatal(err)
	}
	e := p.waitForAttempt(acme, p.send(acme, "ben@acme.example").ID)
	if e.Error == nil || !strings.Contains(*e.Error, "private network") || theirs.TotalConnections() != 0 ||
		p.operator.TotalConnections() != 0 {
		t.Errorf("%+v; it was reached %d times", e, theirs.TotalConnections())
	}
}

// TestOwnMailServerHangs checks that a hanging server delays only its organization's mail.
func TestOwnMailServerHangs(t *testing.T) {
	met := make(chan struct{}, 100)
	theirs := smtpServer(t, smtptest.Options{Greeting: "silence", OnConnect: func() { met <- struct{}{} }})
	p := newPosts(t, theirs, thisMachine)
	acme, other := p.organization("acme"), p.organization("other")
	if _, err := p.configureServer(acme, "127.0.0.1", theirs, ""); err != nil {
		t.Fatal(err)
	}
	first := p.send(acme, "ben@acme.example")
	<-met
	if e := p.waitForAttempt(other, p.send(other, "cem@other.example").ID); e.Status != api.EmailSent {
		t.Errorf("%+v", e)
	}
	if e, err := p.e.Mail.Get(t.Context(), acme, &api.EmailInput{EmailID: first.ID}); err != nil || e.Status != api.EmailQueued {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestOwnMailServerAlone checks that, without the operator's server, organizations with their own
// can send, and others are told what to do.
func TestOwnMailServerAlone(t *testing.T) {
	theirs := smtpServer(t, smtptest.Options{})
	p := &mailFixture{t: t, operator: theirs, roots: theirs.Roots}
	p.e = enginetest.New(t, func(o *engine.Options) { o.MailServer, o.MailRoots = nil, theirs.Roots })
	acme, other := p.organization("acme"), p.organization("other")
	if _, err := p.configureServer(acme, "127.0.0.1", theirs, ""); err != nil {
		t.Fatal(err)
	}
	if e := p.waitForAttempt(acme, p.send(acme, "ben@acme.example").ID); e.Status != api.EmailSent || len(theirs.Mails()) != 1 {
		t.Errorf("%+v", e)
	}
	in := &api.SendEmailInput{}
	in.Body.To, in.Body.Subject, in.Body.Text = []string{"cem@other.example"}, "Hello", "Text"
	if _, err := p.e.Mail.Send(t.Context(), other, in); err == nil || !strings.Contains(err.Error(), "service integration create smtp") {
		t.Errorf("%v", err)
	}
}
