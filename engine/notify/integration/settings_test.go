package integration_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/notify/integration"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/testutil/secretboxtest"
)

type (
	config  = map[string]any
	secrets = map[string]string
)

var jiraConfig = config{"url": "https://acme.atlassian.net", "project": "OPS", "email": "ada@acme.example"}

// TestRefused checks that invalid settings are rejected with an error that names the field and the remedy.
func TestRefused(t *testing.T) {
	h := newFixture(t)
	for _, c := range []struct {
		kind    string
		config  config
		secrets secrets
		events  []string
		want    string
	}{
		{"slak", nil, nil, nil, `did you mean "slack"`},
		{"slack", nil, nil, nil, "either webhook_url or token"},
		{"slack", nil, secrets{"token": "xoxb-1"}, nil, "config.channel"},
		{"slack", config{"chanel": "#x"}, secrets{"token": "xoxb-1"}, nil, `did you mean "channel"`},
		{"slack", nil, secrets{"webhok_url": "https://hooks.slack.com/x"}, nil, `did you mean "webhook_url"`},
		{"slack", nil, secrets{"webhook_url": "https://10.0.0.1/x"}, nil, "private network"},
		{"slack", config{"channel": 7}, secrets{"token": "xoxb-1"}, nil, "must be a string"},
		{"slack", config{"channel": "a\nb"}, secrets{"token": "xoxb-1"}, nil, "line break"},
		{"slack", config{"channel": "#x"}, secrets{"token": "xoxb\r\nX: y"}, nil, "line break"},
		{"slack", config{"channel": "#x"}, secrets{"token": "xoxb"}, []string{"no.such"}, `"no.such"`},
		{"teams", nil, nil, nil, "secrets.webhook_url"},
		{"generic", nil, nil, nil, "config.url"},
		{"generic", config{"url": "https://169.254.169.254/"}, nil, nil, "private network"},
		{"generic", config{"url": "https://acme.example", "method": "GET"}, nil, nil, "choose from POST, PUT, PATCH"},
		{"generic", config{"url": "https://acme.example", "headers": config{"Host": "x"}}, nil, nil, "set automatically"},
		{"generic", config{"url": "https://acme.example", "headers": config{"A b": "x"}}, nil, nil, "not a valid header name"},
		{"generic", config{"url": "https://acme.example", "headers": "x"}, nil, nil, "object"},
		{"generic", config{"url": "https://acme.example"}, secrets{"bad header": "x"}, nil, "not a valid header name"},
		{
			"s3",
			config{"endpoint": "https://s3.example", "bucket": "B"},
			secrets{"access_key_id": "a", "secret_access_key": "b"},
			nil,
			"config.bucket",
		},
		{
			"s3",
			config{"endpoint": "https://s3.example", "bucket": "acme", "prefix": "/x"},
			secrets{"access_key_id": "a", "secret_access_key": "b"},
			nil,
			"config.prefix",
		},
		{
			"s3",
			config{"endpoint": "https://s3.example", "bucket": "acme"},
			secrets{"access_key_id": "a", "secret_access_key": "b"},
			[]string{"soa.approved"},
			"assessment.closed and report.ready",
		},
		{"jira", jiraConfig, nil, nil, "secrets.token"},
		{"jira", jiraConfig, secrets{"token": "t"}, []string{"soa.approved"}, "does not receive events"},
		{"jira", config{"url": "https://j.example", "project": "OPS"}, secrets{"token": "t"}, nil, "config.email"},
		{"jira", config{"url": "https://j.example", "project": `O" OR 1`, "api": "2"}, secrets{"token": "t"}, nil, "config.project"},
		{"jira", config{"url": "https://j.example", "project": "OPS", "api": "2", "sync_minutes": 0}, secrets{"token": "t"}, nil, "1 and 1440"},
		{"jira", config{"url": "https://j.example", "project": "OPS", "api": "2", "sync_minutes": 1.5}, secrets{"token": "t"}, nil, "an integer"},
		{"github", config{"repository": "acme"}, secrets{"token": "t"}, nil, "owner/name"},
		{"github", config{"repository": "acme/../x"}, secrets{"token": "t"}, nil, "owner/name"},
		{"servicenow", config{"url": "https://acme.service-now.com", "username": "u"}, nil, nil, "either username and password"},
		{"servicenow", config{"url": "https://acme.service-now.com", "table": "a/b"}, secrets{"token": "t"}, nil, "config.table"},
		{"smtp", config{"host": "mail.acme.example", "from": "Ada <ada@acme.example>"}, nil, nil, "config.from"},
		{"smtp", config{"host": "10.0.0.5", "from": "ada@acme.example"}, nil, nil, "private network"},
		{"smtp", config{"host": "mail.acme.example", "from": "ada@acme.example", "port": 70000}, nil, nil, "65535"},
		{"smtp", config{"host": "mail.acme.example", "from": "ada@acme.example", "username": "ada"}, nil, nil, "set together"},
		{
			"smtp",
			config{"host": "mail.acme.example", "from": "ada@acme.example", "username": "ada", "tls": "none"},
			secrets{"password": "p"},
			nil,
			"starttls or tls",
		},
	} {
		_, err := h.make(c.kind, c.config, c.secrets, c.events...)
		if !api.IsCode(err, api.CodeValidation) || !strings.Contains(errorText(err), c.want) {
			t.Errorf("%s %v %v: %v, not %q", c.kind, c.config, c.secrets, errorText(err), c.want)
		}
	}
}

// errorText returns an error's message with its fields.
func errorText(err error) string {
	var e *api.Error
	if !errors.As(err, &e) {
		return ""
	}
	b, _ := json.Marshal(e)
	return e.Message + " " + strings.ReplaceAll(string(b), `\"`, `"`)
}

// TestSecrets checks that secrets appear in no response, database row, audit record or error, that
// an update without secrets keeps them, and that a change of destination requires them again.
func TestSecrets(t *testing.T) {
	h := newFixture(t)
	id := h.made("jira", jiraConfig, secrets{"token": "sesame-open\n"})
	update := func(set config, give secrets) (*api.Integration, error) {
		in := &api.UpdateIntegrationInput{IntegrationInput: api.IntegrationInput{IntegrationID: id}}
		in.Body.Config, in.Body.Secrets = set, give
		h.advance(1)
		return h.Update(t.Context(), h.by, in)
	}
	r, err := update(config{"labels": []any{"a", "b"}}, nil)
	h.must(err)
	if len(r.SecretsSet) != 1 || r.SecretsSet[0] != "token" || r.Config["project"] != "OPS" || len(r.Config["labels"].([]any)) != 2 {
		t.Errorf("%+v", r)
	}
	if r, err = update(config{"labels": nil}, nil); err != nil || r.Config["labels"] != nil {
		t.Errorf("null leaves %v, %v", r, err)
	}
	if _, err := update(config{"url": "https://evil.example"}, nil); !api.IsCode(err, api.CodeValidation) ||
		!strings.Contains(errorText(err), "secrets.token") {
		t.Errorf("another host without its secrets: %v", err)
	}
	if _, err := update(config{"url": "https://other.atlassian.net"}, secrets{"token": "another"}); err != nil {
		t.Errorf("another host with its secrets: %v", err)
	}
	if _, err := update(nil, secrets{"token": ""}); !api.IsCode(err, api.CodeValidation) {
		t.Errorf("a needed secret was taken away: %v", err)
	}
	b, err := json.Marshal(h.read(id))
	h.must(err)
	if strings.Contains(string(b), "sesame") || strings.Contains(string(b), "another") || strings.Contains(h.log.String(), "sesame") {
		t.Errorf("a secret is shown: %s", b)
	}
	// With another installation key, secrets can't be decrypted, and the error says so.
	h.box = secretboxtest.New(secretbox.NewKey())
	h.start()
	if got := h.runTest(id); got.OK || !strings.Contains(got.Message, "again") {
		t.Errorf("%+v", got)
	}
	if _, err := update(nil, secrets{"token": "third"}); err != nil {
		t.Error(err)
	}
}

// TestRotation checks key rotation while secrets are in use: all are encrypted again, old keys
// decrypt what an interrupted rotation left, and dropped keys decrypt nothing.
func TestRotation(t *testing.T) {
	h := newFixture(t)
	old := secretbox.NewKey()
	h.box = secretboxtest.New(old)
	h.start()
	server := receive(t, says(200, "ok"))
	id := h.made("slack", nil, secrets{"webhook_url": server.URL + "/services/T0/B0/secret"})
	in := &api.CreateWebhookInput{}
	in.Body.URL = server.URL
	if _, err := h.hooks.Create(t.Context(), h.by, in); err != nil {
		t.Fatal(err)
	}
	// The new key exists, but nothing is encrypted with it yet, as after a crash.
	next := secretbox.NewKey()
	h.box = secretboxtest.New(next, old)
	h.start()
	k, err := h.hooks.GetSecretKey(t.Context(), h.by, nil)
	h.must(err)
	if k.KeyID != next.ID() || k.Encrypted != 0 || k.EncryptedOld != 2 || len(k.OldKeyIDs) != 1 {
		t.Errorf("half way: %+v", k)
	}
	if got := h.runTest(id); !got.OK {
		t.Errorf("half way it does not work: %s", got.Message)
	}
	rotate := &api.RotateSecretKeyInput{}
	k, err = h.hooks.RotateSecretKey(t.Context(), h.by, rotate)
	h.must(err)
	if k.KeyID == next.ID() || k.Encrypted != 2 || k.EncryptedOld != 0 || len(k.OldKeyIDs) != 2 {
		t.Errorf("rotated: %+v", k)
	}
	rotate.Body.DeleteOldKeys = true
	k, err = h.hooks.RotateSecretKey(t.Context(), h.by, rotate)
	h.must(err)
	if k.Encrypted != 2 || len(k.OldKeyIDs) != 0 || len(k.Unreadable) != 0 {
		t.Errorf("forgotten: %+v", k)
	}
	if got := h.runTest(id); !got.OK {
		t.Errorf("after the rotation it does not work: %s", got.Message)
	}
	h.box = secretboxtest.New(old)
	h.start()
	k, err = h.hooks.GetSecretKey(t.Context(), h.by, nil)
	h.must(err)
	if len(k.Unreadable) != 2 {
		t.Errorf("the old key opens something: %+v", k)
	}
}

// TestTenants checks that other organizations can neither see nor change integrations, and that an
// organization can have only one mail server at a time.
func TestTenants(t *testing.T) {
	h := newFixture(t)
	id := h.made("jira", jiraConfig, secrets{"token": "t"})
	in := api.IntegrationInput{IntegrationID: id}
	other := h.by
	other.OrganizationID = "018f0000-0000-7000-8000-00000000000c"
	_, e1 := h.Get(t.Context(), other, &in)
	_, e2 := h.Update(t.Context(), other, &api.UpdateIntegrationInput{IntegrationInput: in})
	_, e3 := h.Delete(t.Context(), other, &api.DeleteIntegrationInput{IntegrationInput: in})
	_, e4 := h.Test(t.Context(), other, &in)
	_, e5 := h.Sync(t.Context(), other, &in)
	_, e6 := h.ListLinks(t.Context(), other, &api.IssueLinksInput{IntegrationInput: in})
	_, e7 := h.ListDeliveries(t.Context(), other, &api.IntegrationDeliveriesInput{IntegrationInput: in})
	_, e8 := h.ResolveLink(t.Context(), other, &api.ResolveIssueLinkInput{IntegrationInput: in, LinkID: id})
	for n, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8} {
		if !api.IsCode(err, api.CodeNotFound) {
			t.Errorf("%d: %v", n+1, err)
		}
	}
	mail := config{"host": "mail.acme.example", "from": "grc@acme.example"}
	first := h.made("smtp", mail, nil)
	if _, err := h.make("smtp", mail, nil); !api.IsCode(err, api.CodeInvalidState) {
		t.Errorf("a second mail server: %v", err)
	}
	m, err := h.MailServer(t.Context(), org)
	if err != nil || m.Host != "mail.acme.example" || m.Port != 587 || m.TLS != "starttls" || m.IntegrationID != first {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := h.MailServer(t.Context(), other.OrganizationID); !errors.Is(err, integration.ErrNoMailServer) {
		t.Error(err)
	}
	if _, err := h.Delete(t.Context(), h.by, &api.DeleteIntegrationInput{IntegrationInput: in}); err != nil {
		t.Error(err)
	}
}

// FuzzConfig checks that any config is accepted or rejected without a panic, and that a stored config is accepted
// again.
func FuzzConfig(f *testing.F) {
	f.Add("jira", `{"url": "https://acme.atlassian.net", "project": "OPS", "api": "2", "labels": ["a"]}`, "token", "x")
	f.Add("generic", `{"url": "https://acme.example/x", "headers": {"X-Team": "sec"}, "method": "PUT"}`, "Authorization", "Bearer x")
	f.Add("smtp", `{"host": "mail.example", "from": "a@b.example", "port": 25.0, "tls": "none"}`, "", "")
	f.Add("s3", `{"endpoint": "https://s3.example", "bucket": "abc", "path_style": false, "prefix": "a/b"}`, "access_key_id", "a")
	h := newFixture(f)
	f.Fuzz(func(t *testing.T, kind, text, secret, value string) {
		var c map[string]any
		if json.Unmarshal([]byte(text), &c) != nil {
			return
		}
		kept, err := h.Checked(kind, c, map[string]string{secret: value})
		if err != nil {
			if !api.IsCode(err, api.CodeValidation) {
				t.Fatalf("%v is no refusal", err)
			}
			return
		}
		b, err := json.Marshal(kept)
		if err != nil {
			t.Fatal(err)
		}
		var read map[string]any
		if err := json.Unmarshal(b, &read); err != nil {
			t.Fatal(err)
		}
		again, err := h.Checked(kind, read, map[string]string{secret: value})
		if err != nil || !maps.EqualFunc(kept, again, equal) {
			t.Errorf("%v is kept as %v, and again as %v, %v", c, kept, again, err)
		}
	})
}

func equal(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}
