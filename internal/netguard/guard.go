// Package netguard reaches addresses that organizations name, and no others: not the machine's
// own, private or metadata addresses, whatever a name resolves to when it is connected to,
// unless the operator allows them. It follows no redirect, uses no proxy, and cuts off
// answers that are too long. It knows nothing of what is sent.
package netguard

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/scf-service/service/api"
)

// Guard knows which private networks may be reached.
type Guard struct{ Allowed []netip.Prefix }

// blockedNetworks are networks that nobody outside is reached in, beside those that netip knows:
// shared by providers, for protocols, for documents and tests, for later, and the forms of
// IPv6 that carry an address of IPv4 (NAT64, 6to4, Teredo).
var blockedNetworks = mustParsePrefixes(
	"0.0.0.0/8",
	"100.64.0.0/10",
	"192.0.0.0/24",
	"192.0.2.0/24",
	"192.88.99.0/24",
	"198.18.0.0/15",
	"198.51.100.0/24",
	"203.0.113.0/24",
	"240.0.0.0/4",
	"::/96",
	"64:ff9b::/96",
	"64:ff9b:1::/48",
	"100::/64",
	"2001::/32",
	"2001:db8::/32",
	"2002::/16",
	"fec0::/10",
	"3fff::/20",
	"5f00::/16",
)

func mustParsePrefixes(all ...string) (out []netip.Prefix) {
	for _, s := range all {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// isReachable tells whether an address may be connected to.
func isReachable(a netip.Addr, allowed []netip.Prefix) bool {
	a = a.Unmap().WithZone("")
	in := func(p netip.Prefix) bool { return p.Contains(a) }
	if slices.ContainsFunc(allowed, in) {
		return true
	}
	return a.IsValid() && a.IsGlobalUnicast() && !a.IsPrivate() && !a.IsLoopback() && !a.IsLinkLocalUnicast() &&
		!slices.ContainsFunc(blockedNetworks, in)
}

// CheckURL refuses what can't be an address to send to; field is its name in errors. The
// address behind a name is looked at when it is connected to.
func (g Guard) CheckURL(field, raw string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return "", api.Invalid(field, "this is not an address")
	case u.Scheme != "https" && u.Scheme != "http":
		return "", api.Invalid(field, "the address must begin with https://")
	case u.Hostname() == "" || u.Opaque != "":
		return "", api.Invalid(field, "the address has no host")
	case u.User != nil:
		return "", api.Invalid(field, "a user name and password in the address would be visible to anyone who reads it; remove them")
	case u.Fragment != "":
		return "", api.Invalid(field, "the part after # is never sent; remove it")
	}
	a, literal := netip.ParseAddr(strings.Trim(u.Hostname(), "[]"))
	if err := g.CheckHost(field, u.Hostname()); err != nil {
		return "", err
	}
	if u.Scheme == "http" &&
		(literal != nil || !slices.ContainsFunc(g.Allowed, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })) {
		return "", api.Invalid(field, "http:// is not encrypted; use https://")
	}
	return u.String(), nil
}

// CheckHost refuses a host that is an address out of reach, or an address written as no
// usual form of one.
func (g Guard) CheckHost(field, host string) error {
	a, literal := netip.ParseAddr(strings.Trim(host, "[]"))
	switch {
	case literal == nil && !isReachable(a, g.Allowed):
		return api.Invalid(
			field,
			"%s is a loopback or private network address; the operator can allow it (SERVICE_WEBHOOK_ALLOW)",
			a,
		)
	case literal == nil:
		return nil
	case host == "" || strings.ContainsAny(host, " /\\@?#\r\n\t"):
		return api.Invalid(field, "%q is not a host", host)
	case strings.Trim(host, "0123456789.xXabcdefABCDEF") == "" && strings.ContainsAny(host[:1], "0123456789"):
		return api.Invalid(field, "%q is neither a host name nor a valid IP address", host)
	}
	return nil
}

const (
	connectTimeout = 5 * time.Second
	maxHeader      = 64 << 10
)

// Dial connects to allowed addresses only.
func (g Guard) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: connectTimeout, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !isReachable(to.Addr(), g.Allowed) {
			return fmt.Errorf("%s is a loopback or private network address", to.Addr())
		}
		return nil
	}}
	return dialer.DialContext(ctx, network, address)
}

// TLSDialer is a way to connect with the connection encrypted from its first byte.
func TLSDialer(
	dial func(ctx context.Context, network, address string) (net.Conn, error),
	config *tls.Config,
) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		plain, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := tls.Client(plain, config)
		if err := c.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(err, plain.Close())
		}
		return c, nil
	}
}

// LimitedDialer is Dial to servers that speak line by line: the connection ends once they have said
// so many bytes.
func (g Guard) LimitedDialer(maxBytes int64) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := g.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &limitedConn{Conn: c, remaining: maxBytes}, nil
	}
}

type limitedConn struct {
	net.Conn
	remaining int64
}

func (b *limitedConn) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, ErrResponseTooLong
	}
	n, err := b.Conn.Read(p[:min(int64(len(p)), b.remaining)])
	b.remaining -= int64(n)
	return n, err
}

// Limits bound a client's requests.
type Limits struct {
	// Timeout bounds a request with its answer, Header the time until the answer begins.
	Timeout, HeaderTimeout time.Duration
	// MaxBodyBytes bounds the bytes of an answer's body; reading further fails.
	MaxBodyBytes int64
}

// Client sends to allowed addresses only, whatever a name resolves to when it is
// connected to; it follows no redirect and uses no proxy.
func (g Guard) Client(l Limits) *http.Client {
	return &http.Client{
		Timeout:       l.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     g.Transport(l),
	}
}

// Transport is Client's, for libraries that make a client of their own.
func (g Guard) Transport(l Limits) http.RoundTripper {
	return &limitedTransport{limit: l.MaxBodyBytes, Transport: &http.Transport{
		DialContext: g.Dial, TLSHandshakeTimeout: connectTimeout, ResponseHeaderTimeout: l.HeaderTimeout, ExpectContinueTimeout: time.Second,
		MaxResponseHeaderBytes: maxHeader, MaxIdleConns: 20, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second, ForceAttemptHTTP2: true,
	}}
}

// limitedTransport ends answers that are too long.
type limitedTransport struct {
	*http.Transport
	limit int64
}

func (c *limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.Transport.RoundTrip(r)
	if err == nil {
		answer.Body = &limitedBody{ReadCloser: answer.Body, remaining: c.limit}
	}
	return answer, err
}

// ErrResponseTooLong is the error of reading an answer that is too long.
var ErrResponseTooLong = errors.New("the response is too long")

type limitedBody struct {
	io.ReadCloser
	remaining int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		if n, err := b.ReadCloser.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, ErrResponseTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.remaining)])
	b.remaining -= int64(n)
	return n, err
}

// RedactError leaves the address out of an error of a request: its path may be a secret.
func RedactError(err error) error {
	var asked *url.Error
	if errors.As(err, &asked) && asked.Err != nil {
		err = asked.Err
	}
	return errors.New(SafeLine(err.Error()))
}

// RetryAfter is the wait that an answer asks for, by seconds or by date; 0: none.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	asked := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseInt(asked, 10, 32); err == nil {
		return time.Duration(max(0, n)) * time.Second
	}
	if at, err := http.ParseTime(asked); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// SafeLine is text from elsewhere as one line that is safe to show.
func SafeLine(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool {
		return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	}), " ")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}
