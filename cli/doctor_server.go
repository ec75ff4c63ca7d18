package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/client"
)

const (
	// maxClockSkew is the largest acceptable clock difference. Above it, times in lists and logs become
	// misleading.
	maxClockSkew = time.Minute
	// expiryWarningPeriod is how early doctor warns that a certificate or key will expire.
	expiryWarningPeriod = 14 * 24 * time.Hour
)

// examineServer checks the server that commands use: connection, certificate, clock, credential and
// health.
func (a *app) examineServer(ctx context.Context) []Diagnostic {
	c, err := a.connect(ctx)
	if err != nil {
		return []Diagnostic{
			{
				Component: "server",
				State:     DiagnosticFailed,
				Detail:    err.Error(),
				Remedy:    cmp.Or(a.hintFor(err), "check the address in --server or the context"),
			},
		}
	}
	before := a.Clock()
	// The endpoint ignores this header; setting it keeps the client from looking up an organization.
	resp, err := c.SendRaw(ctx, http.MethodGet, api.GetHealth.Path, nil, http.Header{api.TenantHeader: {"none"}})
	if err != nil {
		return []Diagnostic{
			{
				Component: "server",
				State:     DiagnosticFailed,
				Detail:    err.Error(),
				Remedy:    cmp.Or(a.hintFor(err), "check that the server is running and that the address is correct"),
			},
		}
	}
	after := a.Clock()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16))
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return []Diagnostic{
			{
				Component: "server",
				State:     DiagnosticFailed,
				Detail:    fmt.Sprintf("%s answers %s", redactPassword(a.flags.Server), resp.Status),
				Remedy:    "check that the address is that of this service, and check any proxy in front of it",
			},
		}
	}
	out := []Diagnostic{
		{
			Component: "server",
			State:     DiagnosticOK,
			Detail:    fmt.Sprintf("%s responded in %d ms", redactPassword(a.flags.Server), after.Sub(before).Milliseconds()),
			Remedy:    "",
		},
	}
	out = append(out, a.examineCertificate(resp), examineClock(resp.Header.Get("Date"), before, after))
	return append(out, a.examineCredential(ctx)...)
}

func (a *app) examineCertificate(resp *http.Response) Diagnostic {
	f := Diagnostic{Component: "certificate", State: DiagnosticOK}
	if resp.TLS == nil || len(resp.TLS.PeerCertificates) == 0 {
		f.Detail = "no certificate is needed, because the connection stays on this machine"
		if u, err := url.Parse(a.flags.Server); err == nil && !client.IsLoopback(u.Hostname()) {
			f.State, f.Detail = DiagnosticWarning, "there is no certificate, and the connection is not encrypted"
			f.Remedy = "give the server a certificate (--tls-cert, --tls-key), or put a TLS proxy in front of it"
		}
		return f
	}
	end := resp.TLS.PeerCertificates[0].NotAfter
	f.Detail = "valid until " + print.FormatTime(end)
	if end.Sub(a.Clock()) < expiryWarningPeriod {
		f.State, f.Remedy = DiagnosticWarning, "renew the certificate; the daemon reloads the file automatically"
	}
	return f
}

// examineClock compares the server's clock with the local one, to the nearest second, because the HTTP date
// header is no more precise. before and after are the local times around the request.
func examineClock(date string, before, after time.Time) Diagnostic {
	f := Diagnostic{Component: "clock", State: DiagnosticOK}
	serverTime, err := http.ParseTime(date)
	if err != nil {
		f.State, f.Detail = DiagnosticNote, "the server's response doesn't contain the time"
		return f
	}
	var skew time.Duration
	switch {
	case serverTime.Add(time.Second).Before(before):
		skew = serverTime.Sub(before)
	case serverTime.After(after):
		skew = serverTime.Sub(after)
	}
	f.Detail = "this machine's clock is within one second of the server's clock"
	if skew.Abs() > time.Second {
		f.Detail = fmt.Sprintf(
			"the server's clock is %s %s",
			skew.Abs().Round(time.Second),
			map[bool]string{true: "ahead of this machine's clock", false: "behind this machine's clock"}[skew > 0],
		)
	}
	if skew.Abs() > maxClockSkew {
		f.State, f.Remedy = DiagnosticWarning, "synchronize both clocks with NTP; approval and session expiry times use the server's clock"
	}
	return f
}

func (a *app) examineCredential(ctx context.Context) []Diagnostic {
	me, err := call(ctx, a, api.GetMe, &api.None{})
	if err != nil {
		return []Diagnostic{
			{
				Component: "credential",
				State:     DiagnosticFailed,
				Detail:    err.Error(),
				Remedy:    cmp.Or(a.hintFor(err), "sign in with `service login URL`"),
			},
		}
	}
	f := Diagnostic{Component: "credential", State: DiagnosticOK, Detail: me.User.Email}
	if me.Actor.Type == api.ActorAPIKey {
		f.Detail = "the API key " + me.Actor.Name + ", of " + me.User.Email
	}
	if me.ExpiresAt != nil {
		f.Detail += ", until " + print.FormatTime(*me.ExpiresAt)
		if me.Actor.Type == api.ActorAPIKey && me.ExpiresAt.Sub(a.Clock()) < expiryWarningPeriod {
			f.State, f.Remedy = DiagnosticWarning, "create a new API key with `service key create` before this key expires"
		}
	}
	out := []Diagnostic{f}
	if me.Organization == nil && a.flags.Organization == "" {
		out = append(
			out,
			Diagnostic{
				Component: "organization",
				State:     DiagnosticFailed,
				Detail:    "you are not a member of any organization on this server",
				Remedy:    "ask an owner or admin to invite you",
			},
		)
	}
	health, err := call(ctx, a, api.GetHealthDetailed, &api.HealthDetailInput{})
	if err != nil {
		return append(
			out,
			Diagnostic{
				Component: "server: parts",
				State:     DiagnosticNote,
				Detail:    fmt.Sprintf("health details can't be read with this credential: %v", err),
				Remedy:    "",
			},
		)
	}
	v := Diagnostic{Component: "server: version", State: DiagnosticOK, Detail: health.Version}
	if health.Version != a.Version {
		v.State, v.Detail = DiagnosticNote, fmt.Sprintf("%s; this program is %s", health.Version, a.Version)
		v.Remedy = "if commands fail, use the same version on the server and on this machine"
	}
	out = append(out, v)
	for _, c := range health.Checks {
		out = append(out, diagnosticFromCheck("server: ", c))
	}
	return append(out, a.examineEmbedder(ctx)...)
}
