package mail_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/notify/mail"
	"github.com/scf-service/service/internal/testutil/smtptest"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
	_ "github.com/scf-service/service/store/bolt"
)

// fixture is a service with a fixed clock and a mail server.
type fixture struct {
	*mail.Service
	t      testing.TB
	db     *store.DB
	mu     sync.Mutex
	time   time.Time
	by     api.Caller
	server *smtptest.Server
	late   []string // overdue items
	log    bytes.Buffer
}

const ours = "018f0000-0000-7000-8000-00000000000a"

func newFixture(t testing.TB, o smtptest.Options) *fixture {
	t.Helper()
	h := &fixture{
		t:    t,
		time: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC),
		by: api.Caller{
			OrganizationID: ours,
			Role:           api.RoleOwner,
			UserID:         "u-ada",
			Actor:          api.Actor{Type: api.ActorUser, ID: "u-ada", Name: "Ada"},
		},
	}
	var err error
	if h.server, err = smtptest.Start(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.server.Close)
	h.db, err = store.Open(
		t.Context(),
		store.Options{
			Dir:    t.TempDir(),
			Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check,
			Clock:  h.now,
			NewID:  func() string { return uuid.Must(uuid.NewV7()).String() },
			Logger: slog.New(slog.DiscardHandler),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.db.Close() })
	h.change(func(tx *store.Tx) error {
		return store.Organizations.Insert(
			tx,
			&api.Organization{Record: api.Record{ID: ours}, Name: "Acme <b>", Slug: "acme", Status: "active"},
		)
	})
	scheme := "smtp"
	if o.ImplicitTLS {
		scheme = "smtps"
	}
	if o.User != "" {
		scheme += "://" + o.User + "@"
	} else {
		scheme += "://"
	}
	address := scheme + h.server.Addr
	if o.NoTLS {
		address += "?tls=none"
	}
	h.Service = h.service(address, o.Password)
	return h
}

func (h *fixture) service(address, password string) *mail.Service {
	h.t.Helper()
	to, err := mail.ParseServer(address, "Acme GRC <grc@acme.example>", password)
	if err != nil {
		h.t.Fatal(err)
	}
	return mail.New(mail.Options{
		DB:        h.db,
		Clock:     h.now,
		Logger:    slog.New(slog.NewTextHandler(&h.log, nil)),
		Server:    to,
		Roots:     h.server.Roots,
		PublicURL: "https://grc.acme.example/",
		Seal: func(s string) ([]byte, error) {
			return []byte("sealed:" + base64.StdEncoding.EncodeToString([]byte(s))), nil
		},
		Open: func(b []byte) (string, error) {
			text, ok := strings.CutPrefix(string(b), "sealed:")
			if !ok {
				return "", fmt.Errorf("it is not sealed")
			}
			out, err := base64.StdEncoding.DecodeString(text)
			return string(out), err
		},
		OverdueLines: func(*store.Tx, string, api.Date) ([]string, error) { return h.late, nil },
	})
}

func (h *fixture) now() time.Time { h.mu.Lock(); defer h.mu.Unlock(); return h.time }

func (h *fixture) advance(d time.Duration) { h.mu.Lock(); defer h.mu.Unlock(); h.time = h.time.Add(d) }

func (h *fixture) change(do func(tx *store.Tx) error) {
	h.t.Helper()
	if err := h.db.Update(h.t.Context(), do); err != nil {
		h.t.Fatal(err)
	}
}

func (h *fixture) person(id, email string, role api.Role) {
	h.t.Helper()
	h.change(func(tx *store.Tx) error {
		if err := store.Users.Insert(tx, &api.User{Record: api.Record{ID: id}, Email: email, Name: id, Status: "active"}); err != nil {
			return err
		}
		return store.Memberships.Insert(
			tx,
			&store.Membership{UserID: id, OrganizationID: ours, Role: role, Status: "active", ID: "m-" + id},
		)
	})
}

func (h *fixture) round() {
	h.t.Helper()
	if err := h.RunAndWait(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *fixture) post(to []string, subject, text string) (*api.Email, error) {
	in := &api.SendEmailInput{}
	in.Body.To, in.Body.Subject, in.Body.Text = to, subject, text
	return h.Send(h.t.Context(), h.by, in)
}

func (h *fixture) state(id string) *api.Email {
	h.t.Helper()
	e, err := h.Get(h.t.Context(), h.by, &api.EmailInput{EmailID: id})
	if err != nil {
		h.t.Fatal(err)
	}
	return e
}

// read parses an email as a mail client does.
func read(t *testing.T, data string) (*netmail.Message, map[string]string) {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	plain := func(r io.Reader, encoding string) string {
		if encoding == "quoted-printable" {
			r = quotedprintable.NewReader(r)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(b), "\r\n", "\n")
	}
	if !strings.HasPrefix(kind, "multipart/") {
		parts[kind] = plain(m.Body, m.Header.Get("Content-Transfer-Encoding"))
		return m, parts
	}
	r := multipart.NewReader(m.Body, params["boundary"])
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return m, parts
		}
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := mime.ParseMediaType(p.Header.Get("Content-Type"))
		parts[kind] = plain(p, p.Header.Get("Content-Transfer-Encoding"))
	}
}

func subject(t *testing.T, m *netmail.Message) string {
	t.Helper()
	s, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSend checks that email is sent over an encrypted, authenticated connection, to each recipient
// separately, and that its content is deleted once sent.
func TestSend(t *testing.T) {
	for name, o := range map[string]smtptest.Options{
		"STARTTLS": {User: "ada", Password: "hidden words"},
		"TLS":      {ImplicitTLS: true, User: "ada", Password: "hidden words"},
		"none":     {NoTLS: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, o)
			in := &api.SendEmailInput{}
			in.Body.To, in.Body.TemplateID = []string{"Ben <ben@acme.example>", "cleo@acme.example", "BEN@acme.example"}, "report_ready"
			in.Body.Variables = map[string]any{
				"assessment": "Grün & <Co>\nBcc: x@y.example",
				"report":     "Full report",
				"format":     "PDF",
				"link":       "javascript:alert(1)",
			}
			e, err := h.Send(t.Context(), h.by, in)
			if err != nil || e.Status != "queued" || len(e.To) != 2 {
				t.Fatalf("%+v, %v", e, err)
			}
			h.round()
			got := h.server.Mails()
			if len(got) != 2 {
				t.Fatalf("%d mails: %+v", len(got), h.state(e.ID))
			}
			for i, to := range []string{"ben@acme.example", "cleo@acme.example"} {
				if len(got[i].To) != 1 || got[i].To[0] != to || got[i].TLS == o.NoTLS || got[i].User != o.User ||
					got[i].From != "grc@acme.example" {
					t.Errorf("%+v", got[i])
				}
			}
			m, parts := read(t, got[0].Data)
			if s := subject(t, m); s != "Full report of Grün & <Co> Bcc: x@y.example is ready" {
				t.Errorf("the subject is %q", s)
			}
			if m.Header.Get("Bcc") != "" || m.Header.Get("Auto-Submitted") != "auto-generated" ||
				m.Header.Get("Message-Id") != fmt.Sprintf("<%s.0@acme.example>", e.ID) ||
				m.Header.Get("To") != "<ben@acme.example>" {
				t.Errorf("%v", m.Header)
			}
			if !strings.Contains(parts["text/plain"], "Grün & <Co>") || !strings.Contains(parts["text/html"], "Grün &amp; &lt;Co&gt;") ||
				strings.Contains(parts["text/html"], "javascript:") {
				t.Errorf("%v", parts)
			}
			done := h.state(e.ID)
			if done.Status != "sent" || done.SentAt == nil || done.NextAttemptAt != nil || done.Error != nil || done.Attempts != 1 {
				t.Errorf("%+v", done)
			}
			err = h.db.View(t.Context(), func(tx *store.Tx) error {
				kept, err := store.Emails.Get(tx, ours, e.ID)
				if len(kept.Sealed) != 0 {
					t.Error("what it says is kept")
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			if strings.Contains(h.log.String(), "hidden words") {
				t.Error("the password is in the log")
			}
			h.round()
			if n := len(h.server.Mails()); n != 2 {
				t.Errorf("sent again: %d", n)
			}
		})
	}
}

// TestBounceAndRetry checks that permanently rejected addresses bounce, that temporarily rejected ones are retried,
// and that nobody gets an email twice.
func TestBounceAndRetry(t *testing.T) {
	h := newFixture(t, smtptest.Options{})
	e, err := h.post([]string{"gone@acme.example", "ben@acme.example", "later@acme.example"}, "Hello", "There.")
	if err != nil {
		t.Fatal(err)
	}
	h.round()
	got := h.state(e.ID)
	if got.Status != "queued" || got.Recipients[0].Status != "bounced" || got.Recipients[1].Status != "sent" ||
		got.Recipients[2].Status != "queued" ||
		got.NextAttemptAt == nil {
		t.Fatalf("%+v", got)
	}
	h.round() // not due yet
	if h.server.TotalConnections() != 1 {
		t.Errorf("%d connections", h.server.TotalConnections())
	}
	for range 20 {
		h.advance(9 * time.Hour)
		h.round()
	}
	got = h.state(e.ID)
	if got.Status != "bounced" || got.Recipients[2].Status != "failed" || got.Attempts != 9 || len(h.server.Mails()) != 1 {
		t.Errorf("%+v, %d mails", got, len(h.server.Mails()))
	}
	if got.Error == nil || !strings.Contains(*got.Error, "gone@acme.example") || !strings.Contains(*got.Error, "550") {
		t.Errorf("the error is %v", got.Error)
	}
	h.advance(31 * 24 * time.Hour)
	h.round()
	if _, err := h.Get(t.Context(), h.by, &api.EmailInput{EmailID: e.ID}); !api.IsCode(err, api.CodeNotFound) {
		t.Errorf("after a month: %v", err)
	}
}

// TestRestart checks that another process continues the queue, and that a connection that breaks
// after the handover leads to a repetition with the same Message-ID.
func TestRestart(t *testing.T) {
	broken := true
	h := newFixture(t, smtptest.Options{OnCommand: func(command string) string {
		if command == "." && broken {
			broken = false
			return "hang up"
		}
		return ""
	}})
	e, err := h.post([]string{"ben@acme.example"}, "Hello", "There.")
	if err != nil {
		t.Fatal(err)
	}
	h.round()
	if got := h.state(e.ID); got.Status != "queued" || got.Attempts != 1 || got.Error == nil {
		t.Fatalf("%+v", got)
	}
	h.Service = h.service("smtp://"+h.server.Addr, "")
	h.advance(time.Hour)
	h.round()
	mails := h.server.Mails()
	if got := h.state(e.ID); got.Status != "sent" || len(mails) != 2 {
		t.Fatalf("%+v, %d mails", got, len(mails))
	}
	one, _ := read(t, mails[0].Data)
	two, _ := read(t, mails[1].Data)
	if id := one.Header.Get("Message-Id"); id == "" || id != two.Header.Get("Message-Id") {
		t.Errorf("%q and %q", id, two.Header.Get("Message-Id"))
	}
}

// TestBadServers checks that misbehaving servers delay an email but don't stop the service, and that
// they receive no password.
func TestBadServers(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	for name, o := range map[string]smtptest.Options{
		"hangs up":        {Greeting: "hang up"},
		"rubbish":         {Greeting: "\x00\x01 what is it"},
		"no number":       {Greeting: "hello"},
		"too much":        {Greeting: "220-" + long},
		"in mid-sentence": {OnCommand: func(c string) string { return map[bool]string{true: "hang up"}[strings.HasPrefix(c, "MAIL")] }},
		"empty answers":   {OnCommand: func(c string) string { return map[bool]string{true: " "}[strings.HasPrefix(c, "RCPT")] }},
		"endless answers": {OnCommand: func(c string) string {
			return map[bool]string{true: strings.Repeat("250-ok\r\n", 300_000)}[strings.HasPrefix(c, "EHLO")]
		}},
		"refuses the user": {User: "ada", Password: "another"},
		"no STARTTLS":      {OnCommand: func(c string) string { return map[bool]string{true: "250 test"}[strings.HasPrefix(c, "EHLO")] }},
		"says no to all":   {OnCommand: func(string) string { return "421 busy" }},
		"a strange code":   {OnCommand: func(c string) string { return map[bool]string{true: "999 what"}[strings.HasPrefix(c, "MAIL")] }},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, o)
			if o.User != "" {
				h.Service = h.service("smtp://ada@"+h.server.Addr, "hidden words")
			}
			e, err := h.post([]string{"ben@acme.example"}, "Hello", "There.")
			if err != nil {
				t.Fatal(err)
			}
			h.round()
			got := h.state(e.ID)
			if got.Status != "queued" || got.Error == nil || len(*got.Error) > 1000 || len(h.server.Mails()) != 0 {
				t.Errorf("%+v", got)
			}
			if strings.Contains(h.log.String()+*got.Error, "hidden words") ||
				strings.Contains(h.log.String(), base64.StdEncoding.EncodeToString([]byte("\x00ada\x00hidden words"))) {
				t.Errorf("the password is told: %s", h.log.String())
			}
			if load, err := h.Stats(t.Context()); err != nil || load.Queued != 1 {
				t.Errorf("%+v, %v", load, err)
			}
		})
	}
}

// TestSilence checks that stopping the service ends a connection to a silent server.
func TestSilence(t *testing.T) {
	met := make(chan bool, 9)
	h := newFixture(t, smtptest.Options{Greeting: "silence", OnConnect: func() { met <- true }})
	e, err := h.post([]string{"ben@acme.example"}, "Hello", "There.")
	if err != nil {
		t.Fatal(err)
	}
	h.CloseTimeout = time.Millisecond
	h.NewTicker = func(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }
	h.Start(t.Context())
	<-met
	h.Close()
	if got := h.state(e.ID); got.Attempts != 0 || got.Status != "queued" {
		t.Errorf("what was broken off counts: %+v", got)
	}
}

// TestInjection checks that values that would change headers or commands are rejected.
func TestInjection(t *testing.T) {
	h := newFixture(t, smtptest.Options{})
	for _, to := range []string{
		"",
		"ben",
		"ben@",
		"@acme.example",
		"ben@acme.example\r\nBcc: x@y.example",
		"ben@acme.example\nDATA",
		"\"a b\"@acme.example",
		"<ben@acme.example> SIZE=1",
		"ben@acme.example, cleo@acme.example",
		"ben@acme.example\x00",
		"-oQ/tmp@acme.example",
		strings.Repeat("b", 300) + "@acme.example",
		"\"x\\\r\\\nRCPT\"@acme.example",
		"ben@acme.example>\u2028",
	} {
		if _, err := h.post([]string{to}, "Hello", "There."); !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%q: %v", to, err)
		}
	}
	for _, s := range []string{"", " ", "Hello\r\nBcc: x@y.example", "Hello\nthere", "a\x00b", "a\x1bb"} {
		if _, err := h.post([]string{"ben@acme.example"}, s, "There."); !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%q: %v", s, err)
		}
	}
	if _, err := h.post([]string{"ben@acme.example"}, "Héllo", "One\n.\nMAIL FROM:<x@y.example>\n..\nlast"); err != nil {
		t.Fatal(err)
	}
	h.round()
	got := h.server.Mails()
	if len(got) != 1 {
		t.Fatalf("%d mails", len(got))
	}
	if _, parts := read(t, got[0].Data); strings.TrimSpace(parts["text/plain"]) != "One\n.\nMAIL FROM:<x@y.example>\n..\nlast" {
		t.Errorf("%q", parts["text/plain"])
	}
}

func TestWithoutServer(t *testing.T) {
	h := newFixture(t, smtptest.Options{})
	h.Server = nil
	_, err := h.post([]string{"ben@acme.example"}, "Hello", "There.")
	if !api.IsCode(err, api.CodeInvalidState) || !strings.Contains(err.Error(), "SERVICE_SMTP_URL") {
		t.Errorf("%v", err)
	}
	h.change(func(tx *store.Tx) error {
		queued, err := h.QueueInvitation(tx, h.by, "ben@acme.example", api.RoleMember, "/link#x", h.time)
		if queued {
			t.Error("an invitation is queued")
		}
		return err
	})
}

func TestParseServer(t *testing.T) {
	for address, want := range map[string]string{
		"smtp://u:p%40ss@mail.example":           "mail.example:587 (starttls)",
		"smtps://u@mail.example":                 "mail.example:465 (tls)",
		"smtp://127.0.0.1:2525?tls=none":         "127.0.0.1:2525 (none)",
		"smtp://[::1]:25?tls=none":               "[::1]:25 (none)",
		"smtp://mail.example?from=x%40y.example": "mail.example:587 (starttls)",
		"http://mail.example":                    "",
		"mail.example":                           "",
		"smtp://":                                "",
		"smtp://u:secret@mail.example?tls=none":  "",
		"smtp://mail.example?tls=maybe":          "",
		"smtps://mail.example?tls=none":          "",
		"smtp://mail.example?verify=no":          "",
		"smtp://mail.example:99999":              "",
		"smtp://u:secret/x@mail.example":         "",
		"smtp://:secret@mail.example":            "",
		"smtp://u:sec%ret@mail.example":          "",
		"smtp://mail.example\r\nQUIT":            "",
	} {
		s, err := mail.ParseServer(address, "grc@acme.example", "")
		if got := ""; err == nil {
			got = s.String()
			if got != want {
				t.Errorf("%q is %s", address, got)
			}
		} else if want != "" || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec%ret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := mail.ParseServer("smtp://mail.example", "", ""); err == nil || !strings.Contains(err.Error(), "SERVICE_SMTP_FROM") {
		t.Errorf("without a sender: %v", err)
	}
	if _, err := mail.ParseServer("smtp://mail.example", "Acme <grc@acme.example>\r\nBcc: x@y.example", ""); err == nil {
		t.Error("a sender with a line break is taken")
	}
}

// TestDecisions checks that people who may decide are asked, except the one who requested the
// decision, that the requester is notified of the result, and that preferences are respected.
func TestDecisions(t *testing.T) {
	h := newFixture(t, smtptest.Options{})
	h.person("u-ada", "ada@acme.example", api.RoleOwner)
	h.person("u-ben", "ben@acme.example", api.RoleAdmin)
	h.person("u-cleo", "cleo@acme.example", api.RoleMember)
	h.person("u-dan", "dan@acme.example", api.RoleAdmin)
	h.person("u-eve", "eve@local", api.RoleViewer)
	dan := h.by
	dan.UserID = "u-dan"
	off := false
	in := &api.PutEmailPreferencesInput{}
	in.Body.Approvals = &off
	if p, err := h.PutPreferences(t.Context(), dan, in); err != nil || p.Approvals || !p.Digest {
		t.Fatalf("%+v, %v", p, err)
	}
	p := &api.Approval{
		TenantRecord: api.TenantRecord{
			Record:         api.Record{ID: "p-1"},
			OrganizationID: ours,
		}, AssessmentID: "a-1", Gate: api.GateSoA, VersionNumber: 2, Status: api.ApprovalPending,
		RequestedBy: api.Actor{Name: "Ada"}, RequestedByUserID: "u-ada", TargetID: "v-1",
	}
	tell := func(event string) {
		h.change(func(tx *store.Tx) error {
			if err := store.Approvals.Put(tx, ours, p); err != nil {
				return err
			}
			return audit.RecordAndPublishEvent(tx, h.by, audit.Event{Type: event, AssessmentID: "a-1", Data: map[string]any{"approval_id": "p-1"}})
		})
	}
	h.change(func(tx *store.Tx) error {
		return store.Assessments.Insert(
			tx,
			ours,
			&api.Assessment{TenantRecord: api.TenantRecord{Record: api.Record{ID: "a-1"}, OrganizationID: ours}, Name: "Yard {{2026}}"},
		)
	})
	tell("approval.requested")
	h.round()
	got := h.server.Mails()
	if len(got) != 1 || got[0].To[0] != "ben@acme.example" {
		t.Fatalf("%+v", got)
	}
	m, parts := read(t, got[0].Data)
	if subject(t, m) != "Statement of Applicability of Yard {{2026}} is awaiting your decision" ||
		!strings.Contains(parts["text/plain"], "https://grc.acme.example/approval#p-1") ||
		!strings.Contains(parts["text/html"], `href="https://grc.acme.example/approval#p-1"`) {
		t.Errorf("%v %v", m.Header, parts)
	}
	why := "Two <owners> are missing."
	p.Status, p.DecidedBy, p.Reason = api.ApprovalRejected, &api.Actor{ID: "u-ben", Name: "Ben"}, &why
	tell("approval.decided")
	h.round()
	if got = h.server.Mails(); len(got) != 2 || got[1].To[0] != "ada@acme.example" {
		t.Fatalf("%+v", got)
	}
	if _, parts := read(t, got[1].Data); !strings.Contains(parts["text/html"], "Two &lt;owners&gt;") ||
		!strings.Contains(parts["text/plain"], "was rejected by Ben") {
		t.Errorf("%v", parts)
	}
	// Old events cause no email when a mail server is set up.
	p.Status = api.ApprovalPending
	p.ID = "p-2"
	tell("approval.requested")
	h.advance(25 * time.Hour)
	h.round()
	if n := len(h.server.Mails()); n != 2 {
		t.Errorf("%d mails", n)
	}
}

// TestMentions checks that a comment reaches the members whom it mentions, except its author and members who have
// turned these emails off.
func TestMentions(t *testing.T) {
	h := newFixture(t, smtptest.Options{})
	h.person("u-ada", "ada@acme.example", api.RoleOwner)
	h.person("u-ben", "ben@acme.example", api.RoleViewer)
	h.person("u-cleo", "cleo@acme.example", api.RoleMember)
	cleo := h.by
	cleo.UserID = "u-cleo"
	off := false
	in := &api.PutEmailPreferencesInput{}
	in.Body.Mentions = &off
	if p, err := h.PutPreferences(t.Context(), cleo, in); err != nil || p.Mentions || !p.Approvals {
		t.Fatalf("%+v, %v", p, err)
	}
	item := "IAC-06"
	say := func(id, text string) {
		h.change(func(tx *store.Tx) error {
			c := &api.Comment{
				TenantRecord: api.TenantRecord{Record: api.Record{ID: id}, OrganizationID: ours}, AssessmentID: "a-1", Gate: api.GateSoA,
				Item: &item, Author: api.Actor{ID: "u-ada", Name: "Ada"}, Text: text,
			}
			return errors.Join(store.Comments.Put(tx, ours, c), audit.RecordAndPublishEvent(tx, h.by, audit.Event{
				Type: "comment.added", AssessmentID: "a-1", Data: map[string]any{"comment_id": id},
			}))
		})
		h.round()
	}
	h.change(func(tx *store.Tx) error {
		a := &api.Assessment{TenantRecord: api.TenantRecord{Record: api.Record{ID: "a-1"}, OrganizationID: ours}, Name: "Yard"}
		return store.Assessments.Insert(tx, ours, a)
	})
	say("c-1", "Nobody in particular.")
	say("c-2", "@ada@acme.example @ben@acme.example @cleo@acme.example @eve@other.example <b>which</b> log?")
	say("c-2", "The same event again: @ben@acme.example")
	got := h.server.Mails()
	if len(got) != 1 || got[0].To[0] != "ben@acme.example" {
		t.Fatalf("%+v", got)
	}
	m, parts := read(t, got[0].Data)
	if subject(t, m) != "Ada mentions you in a comment on IAC-06 in the Statement of Applicability" ||
		!strings.Contains(parts["text/plain"], "https://grc.acme.example/assessments/a-1/soa?q=IAC-06") ||
		!strings.Contains(parts["text/html"], "&lt;b&gt;which&lt;/b&gt; log?") {
		t.Errorf("%v %v", m.Header, parts)
	}
}

// TestDigest checks that overdue items cause one email a day, until the person unsubscribes.
func TestDigest(t *testing.T) {
	h := newFixture(t, smtptest.Options{})
	h.person("u-ada", "ada@acme.example", api.RoleOwner)
	h.person("u-ben", "ben@acme.example", api.RoleViewer)
	h.round()
	for i := range 80 {
		h.late = append(h.late, fmt.Sprintf("POAM-%03d <x>  due 2026-11-01", i))
	}
	h.advance(24 * time.Hour)
	h.round()
	h.advance(time.Hour)
	h.round()
	got := h.server.Mails()
	if len(got) != 1 || got[0].To[0] != "ada@acme.example" {
		t.Fatalf("%+v", got)
	}
	m, parts := read(t, got[0].Data)
	if s := subject(t, m); s != "Acme <b>: 80 overdue in the action plan" || !strings.Contains(parts["text/plain"], "and 30 more") ||
		!strings.Contains(parts["text/html"], "POAM-049 &lt;x&gt;") {
		t.Errorf("%s %v", s, parts)
	}
	link := strings.Trim(m.Header.Get("List-Unsubscribe"), "<>")
	if m.Header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" ||
		!strings.HasPrefix(link, "https://grc.acme.example/unsubscribe?token=") ||
		!strings.Contains(parts["text/plain"], "/unsubscribe?token=") {
		t.Errorf("%v", m.Header)
	}
	for _, bad := range []string{
		"",
		"x",
		strings.Repeat("a", 2000),
		base64.RawURLEncoding.EncodeToString([]byte("sealed:" + base64.StdEncoding.EncodeToString([]byte("u-ada")))),
	} {
		if err := h.Unsubscribe(t.Context(), bad); !api.IsCode(err, api.CodeUnauthorized) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	_, token, _ := strings.Cut(link, "token=")
	if err := h.Unsubscribe(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	if p, err := h.GetPreferences(t.Context(), h.by, nil); err != nil || p.Digest || !p.Approvals {
		t.Errorf("%+v, %v", p, err)
	}
	h.advance(24 * time.Hour)
	h.round()
	if n := len(h.server.Mails()); n != 1 {
		t.Errorf("%d mails", n)
	}
}
