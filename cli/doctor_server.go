package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

const (
	// maxClockSkew is how far two clocks may be apart before times in lists and logs mislead.
	maxClockSkew = time.Minute
	// expiryWarningPeriod is how long before its end a certificate or key is warned of.
	expiryWarningPeriod = 14 * 24 * time.Hour
)

// examineServer looks at the server that commands work on: way, certificate, clock, credential, parts.
func (a *app) examineServer(ctx context.Context) []Diagnostic {
	c, err := a.connect(ctx)
	if err != nil {
		return []Diagnostic{
			{
				Component: "server",
				State:     DiagnosticFailed,
				Detail:    err.Error(),
				Remedy:    orElse(a.hintFor(err), "see the address of --server or of the context"),
			},
		}
	}
	before := a.Clock()
	// The organization of the header counts for nothing here, and keeps the client from asking for one.
	resp, err := c.Raw(ctx, http.MethodGet, api.GetHealth.Path, nil, http.Header{api.TenantHeader: {"none"}})
	if err != nil {
		return []Diagnostic{
			{
				Component: "server",
				State:     DiagnosticFailed,
				Detail:    err.Error(),
				Remedy:    orElse(a.hintFor(err), "see that it runs and that the address is right"),
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
				Remedy:    "see that the address is this service's, and what stands before it",
			},
		}
	}
	out := []Diagnostic{
		{
			Component: "server",
			State:     DiagnosticOK,
			Detail:    fmt.Sprintf("%s answers in %d ms", redactPassword(a.flags.Server), after.Sub(before).Milliseconds()),
			Remedy:    "",
		},
	}
	out = append(out, a.examineCertificate(resp), examineClock(resp.Header.Get("Date"), before, after))
	return append(out, a.examineCredential(ctx)...)
}

func (a *app) examineCertificate(resp *http.Response) Diagnostic {
	f := Diagnostic{Component: "certificate", State: DiagnosticOK}
	if resp.TLS == nil || len(resp.TLS.PeerCertificates) == 0 {
		f.Detail = "none: the way to it stays on this machine"
		if u, err := url.Parse(a.flags.Server); err == nil && !client.IsLoopback(u.Hostname()) {
			f.State, f.Detail, f.Remedy = DiagnosticWarning, "none: what is sent can be read on the way", "give the server a certificate (--tls-cert, --tls-key), or put a proxy with TLS before it"
		}
		return f
	}
	end := resp.TLS.PeerCertificates[0].NotAfter
	f.Detail = "good until " + formatTime(end)
	if end.Sub(a.Clock()) < expiryWarningPeriod {
		f.State, f.Remedy = DiagnosticWarning, "renew it; the daemon takes a new file up by itself"
	}
	return f
}

// examineClock compares the server's clock with this one. HTTP tells whole seconds.
func examineClock(date string, before, after time.Time) Diagnostic {
	f := Diagnostic{Component: "clock", State: DiagnosticOK}
	serverTime, err := http.ParseTime(date)
	if err != nil {
		f.State, f.Detail = DiagnosticNote, "the server does not tell its time"
		return f
	}
	var skew time.Duration
	switch {
	case serverTime.Add(time.Second).Before(before):
		skew = serverTime.Sub(before)
	case serverTime.After(after):
		skew = serverTime.Sub(after)
	}
	f.Detail = "as the server's, to the second"
	if skew.Abs() > time.Second {
		f.Detail = fmt.Sprintf(
			"the server's is %s %s",
			skew.Abs().Round(time.Second),
			map[bool]string{true: "ahead", false: "behind"}[skew > 0],
		)
	}
	if skew.Abs() > maxClockSkew {
		f.State, f.Remedy = DiagnosticWarning, "set both clocks by NTP: the times of approvals and the ends of sessions are the server's"
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
				Remedy:    orElse(a.hintFor(err), "sign in with `service login URL`"),
			},
		}
	}
	f := Diagnostic{Component: "credential", State: DiagnosticOK, Detail: me.User.Email}
	if me.Actor.Type == api.ActorAPIKey {
		f.Detail = "the API key " + me.Actor.Name + ", of " + me.User.Email
	}
	if me.ExpiresAt != nil {
		f.Detail += ", until " + formatTime(*me.ExpiresAt)
		if me.Actor.Type == api.ActorAPIKey && me.ExpiresAt.Sub(a.Clock()) < expiryWarningPeriod {
			f.State, f.Remedy = DiagnosticWarning, "make a new key in time with `service key create`"
		}
	}
	out := []Diagnostic{f}
	if me.Organization == nil && a.flags.Organization == "" {
		out = append(
			out,
			Diagnostic{
				Component: "organization",
				State:     DiagnosticFailed,
				Detail:    "you belong to none on this server",
				Remedy:    "ask an owner or admin to invite you",
			},
		)
	}
	health, err := call(ctx, a, api.GetHealthDetailed, &api.None{})
	if err != nil {
		return append(
			out,
			Diagnostic{
				Component: "server: parts",
				State:     DiagnosticNote,
				Detail:    "not to be seen with this credential: " + err.Error(),
				Remedy:    "",
			},
		)
	}
	v := Diagnostic{Component: "server: version", State: DiagnosticOK, Detail: health.Version}
	if health.Version != a.Version {
		v.State, v.Detail = DiagnosticNote, fmt.Sprintf("%s; this program is %s", health.Version, a.Version)
		v.Remedy = "run the same version on both where commands and server disagree"
	}
	out = append(out, v)
	for _, c := range health.Checks {
		out = append(out, diagnosticFromCheck("server: ", c))
	}
	return append(out, a.examineEmbedder(ctx)...)
}
