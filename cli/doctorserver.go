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
	// skewed is how far two clocks may be apart before times in lists and logs mislead.
	skewed = time.Minute
	// renewAhead is how long before its end a certificate or key is warned of.
	renewAhead = 14 * 24 * time.Hour
)

// examineServer looks at the server that commands work on: way, certificate, clock, credential, parts.
func (a *app) examineServer(ctx context.Context) []Finding {
	c, err := a.connect(ctx)
	if err != nil {
		return []Finding{{"server", Failed, err.Error(), orElse(a.hint(err), "see the address of --server or of the context")}}
	}
	before := a.Clock()
	// The organization of the header counts for nothing here, and keeps the client from asking for one.
	resp, err := c.Raw(ctx, http.MethodGet, api.GetHealth.Path, nil, http.Header{api.TenantHeader: {"none"}})
	if err != nil {
		return []Finding{{"server", Failed, err.Error(), orElse(a.hint(err), "see that it runs and that the address is right")}}
	}
	after := a.Clock()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16))
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return []Finding{{"server", Failed, fmt.Sprintf("%s answers %s", withoutPassword(a.flags.Server), resp.Status), "see that the address is this service's, and what stands before it"}}
	}
	out := []Finding{{"server", Fine, fmt.Sprintf("%s answers in %d ms", withoutPassword(a.flags.Server), after.Sub(before).Milliseconds()), ""}}
	out = append(out, a.examineCertificate(resp), clockFinding(resp.Header.Get("Date"), before, after))
	return append(out, a.examineCredential(ctx)...)
}

func (a *app) examineCertificate(resp *http.Response) Finding {
	f := Finding{Part: "certificate", State: Fine}
	if resp.TLS == nil || len(resp.TLS.PeerCertificates) == 0 {
		f.Detail = "none: the way to it stays on this machine"
		if u, err := url.Parse(a.flags.Server); err == nil && !client.Loopback(u.Hostname()) {
			f.State, f.Detail, f.Do = Warning, "none: what is sent can be read on the way", "give the server a certificate (--tls-cert, --tls-key), or put a proxy with TLS before it"
		}
		return f
	}
	end := resp.TLS.PeerCertificates[0].NotAfter
	f.Detail = "good until " + moment(end)
	if end.Sub(a.Clock()) < renewAhead {
		f.State, f.Do = Warning, "renew it; the daemon takes a new file up by itself"
	}
	return f
}

// clockFinding compares the server's clock with this one. HTTP tells whole seconds.
func clockFinding(date string, before, after time.Time) Finding {
	f := Finding{Part: "clock", State: Fine}
	there, err := http.ParseTime(date)
	if err != nil {
		f.State, f.Detail = Note, "the server does not tell its time"
		return f
	}
	var apart time.Duration
	switch {
	case there.Add(time.Second).Before(before):
		apart = there.Sub(before)
	case there.After(after):
		apart = there.Sub(after)
	}
	f.Detail = "as the server's, to the second"
	if apart.Abs() > time.Second {
		f.Detail = fmt.Sprintf("the server's is %s %s", apart.Abs().Round(time.Second), map[bool]string{true: "ahead", false: "behind"}[apart > 0])
	}
	if apart.Abs() > skewed {
		f.State, f.Do = Warning, "set both clocks by NTP: the times of approvals and the ends of sessions are the server's"
	}
	return f
}

func (a *app) examineCredential(ctx context.Context) []Finding {
	me, err := call(ctx, a, api.GetMe, &api.None{})
	if err != nil {
		return []Finding{{"credential", Failed, err.Error(), orElse(a.hint(err), "sign in with `service login URL`")}}
	}
	f := Finding{Part: "credential", State: Fine, Detail: me.User.Email}
	if me.Actor.Type == api.ActorAPIKey {
		f.Detail = "the API key " + me.Actor.Name + ", of " + me.User.Email
	}
	if me.ExpiresAt != nil {
		f.Detail += ", until " + moment(*me.ExpiresAt)
		if me.Actor.Type == api.ActorAPIKey && me.ExpiresAt.Sub(a.Clock()) < renewAhead {
			f.State, f.Do = Warning, "make a new key in time with `service key create`"
		}
	}
	out := []Finding{f}
	if me.Organization == nil && a.flags.Organization == "" {
		out = append(out, Finding{"organization", Failed, "you belong to none on this server", "ask an owner or admin to invite you"})
	}
	health, err := call(ctx, a, api.GetHealthDetailed, &api.None{})
	if err != nil {
		return append(out, Finding{"server: parts", Note, "not to be seen with this credential: " + err.Error(), ""})
	}
	v := Finding{Part: "server: version", State: Fine, Detail: health.Version}
	if health.Version != a.Version {
		v.State, v.Detail = Note, fmt.Sprintf("%s; this program is %s", health.Version, a.Version)
		v.Do = "run the same version on both where commands and server disagree"
	}
	out = append(out, v)
	for _, c := range health.Checks {
		out = append(out, checkFinding("server: ", c))
	}
	return append(out, a.examineEmbedder(ctx)...)
}
