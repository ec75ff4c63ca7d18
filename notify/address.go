package notify

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/scf-service/service/engine/api"
)

// closed are networks that nobody outside is reached in, beside those that netip knows:
// shared by providers, for protocols, for documents and tests, for later, and the forms of
// IPv6 that carry an address of IPv4 (NAT64, 6to4, Teredo).
var closed = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:db8::/32", "2002::/16", "fec0::/10", "3fff::/20", "5f00::/16")

func prefixes(all ...string) (out []netip.Prefix) {
	for _, s := range all {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// reachable tells whether a webhook may be sent to an address.
func reachable(a netip.Addr, allowed []netip.Prefix) bool {
	a = a.Unmap().WithZone("")
	in := func(p netip.Prefix) bool { return p.Contains(a) }
	if slices.ContainsFunc(allowed, in) {
		return true
	}
	return a.IsValid() && a.IsGlobalUnicast() && !a.IsPrivate() && !a.IsLoopback() && !a.IsLinkLocalUnicast() && !slices.ContainsFunc(closed, in)
}

// checkURL refuses what no webhook can be: the address behind a name is looked at when it
// is connected to.
func (s *Service) checkURL(raw string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return "", api.Invalid("url", "it is no address: %v", err)
	case u.Scheme != "https" && u.Scheme != "http":
		return "", api.Invalid("url", "it has to begin with https://")
	case u.Hostname() == "" || u.Opaque != "":
		return "", api.Invalid("url", "it names no host")
	case u.User != nil:
		return "", api.Invalid("url", "a name and password in the address would be seen by everybody who reads the webhook; check the signature instead")
	case u.Fragment != "":
		return "", api.Invalid("url", "what stands behind # is never sent; leave it out")
	}
	a, literal := netip.ParseAddr(strings.Trim(u.Hostname(), "[]"))
	if literal == nil && !reachable(a, s.Allowed) {
		return "", api.Invalid("url", "%s is an address of the machine's own or a private network; the operator can allow it (SERVICE_WEBHOOK_ALLOW)", a)
	}
	if u.Scheme == "http" && (literal != nil || !slices.ContainsFunc(s.Allowed, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })) {
		return "", api.Invalid("url", "over http:// everybody on the way could read it; use https://")
	}
	if host := u.Hostname(); literal != nil && (strings.Trim(host, "0123456789.xXabcdefABCDEF") == "" && strings.ContainsAny(host[:1], "0123456789")) {
		return "", api.Invalid("url", "%q is no name and no usual form of an address", host)
	}
	return u.String(), nil
}

const (
	sendTimeout = 15 * time.Second
	maxAnswer   = 64 << 10
)

// newClient sends to allowed addresses only, whatever a name resolves to when it is
// connected to; it follows no redirect and uses no proxy.
func newClient(allowed []netip.Prefix) *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !reachable(to.Addr(), allowed) {
			return fmt.Errorf("%s is an address of the machine's own or a private network", to.Addr())
		}
		return nil
	}}
	return &http.Client{
		Timeout:       sendTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: 10 * time.Second,
			MaxResponseHeaderBytes: maxAnswer, MaxIdleConns: 20, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second, ForceAttemptHTTP2: true,
		},
	}
}
