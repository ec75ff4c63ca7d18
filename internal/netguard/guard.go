// Package netguard connects to addresses that organizations configure. It blocks loopback, private and metadata
// addresses unless the operator allows them, and checks the address that a name resolves to when connecting. It
// follows no redirects, uses no proxy and limits the size of responses. The package is independent of the data sent.
package netguard

import (
	"context"
	"crypto/tls"
	"errors"
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

// Guard restricts connections. Allowed lists networks that may be reached although they are blocked by default.
type Guard struct{ Allowed []netip.Prefix }

// blockedNetworks lists networks without public hosts that netip doesn't recognize: shared by providers; reserved for
// protocols, documentation, tests or future use; and the IPv6 forms that contain an IPv4 address (NAT64, 6to4,
// Teredo).
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

// isAddressAllowed reports whether connections to an address are allowed.
func isAddressAllowed(a netip.Addr, allowed []netip.Prefix) bool {
	a = a.Unmap().WithZone("")
	in := func(p netip.Prefix) bool { return p.Contains(a) }
	if slices.ContainsFunc(allowed, in) {
		return true
	}
	return a.IsValid() && a.IsGlobalUnicast() && !a.IsPrivate() && !a.IsLoopback() && !a.IsLinkLocalUnicast() &&
		!slices.ContainsFunc(blockedNetworks, in)
}

// CheckURL validates a URL to send data to and returns it in normalized form. Errors name field. The address that a
// name resolves to is checked when connecting.
func (g Guard) CheckURL(field, raw string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return "", api.Invalid(field, "this is not a valid URL")
	case u.Scheme != "https" && u.Scheme != "http":
		return "", api.Invalid(field, "the URL must begin with https://")
	case u.Hostname() == "" || u.Opaque != "":
		return "", api.Invalid(field, "the URL has no host")
	case u.User != nil:
		return "", api.Invalid(field, "the URL must not contain a user name or password, because anyone who sees the URL could read them")
	case u.Fragment != "":
		return "", api.Invalid(field, "the part of the URL after # is never sent; remove it")
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

// CheckHost returns an error if the host is a blocked address, an address in an unusual notation, or not
// a host at all.
func (g Guard) CheckHost(field, host string) error {
	a, literal := netip.ParseAddr(strings.Trim(host, "[]"))
	switch {
	case literal == nil && !isAddressAllowed(a, g.Allowed):
		return api.Invalid(
			field,
			"%s is a loopback or private network address; the operator can allow it with SERVICE_WEBHOOK_ALLOW",
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

// errNotReachable is the error for a blocked address and for a name without an address. It is the same for both, so
// that it doesn't reveal which internal names exist and what they resolve to.
var errNotReachable = errors.New("the host name can't be resolved, or it resolves to a loopback or private network address, " +
	"which the operator must allow with SERVICE_WEBHOOK_ALLOW")

// Dial connects to an address, or returns an error if the address is blocked. Neither this error nor any later error
// of the connection contains an address.
func (g Guard) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: connectTimeout, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !isAddressAllowed(to.Addr(), g.Allowed) {
			return errNotReachable
		}
		return nil
	}}
	conn, err := dialer.DialContext(ctx, network, address)
	var lookup *net.DNSError
	switch {
	case errors.Is(err, errNotReachable), errors.As(err, &lookup):
		return nil, errNotReachable
	case err != nil:
		return nil, withoutAddresses(err)
	}
	return guardedConn{conn}, nil
}

// guardedConn is a connection whose errors don't contain addresses.
type guardedConn struct{ net.Conn }

func (c guardedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, withoutAddresses(err)
}

func (c guardedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, withoutAddresses(err)
}

// withoutAddresses removes the addresses from a network error.
func withoutAddresses(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return &net.OpError{Op: op.Op, Net: op.Net, Err: op.Err}
	}
	return err
}

// TLSDialer returns a dial function whose connections use TLS from the start.
func TLSDialer(
	dial func(ctx context.Context, network, address string) (net.Conn, error),
	config *tls.Config,
) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := tls.Client(conn, config)
		if err := c.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return c, nil
	}
}

// LimitedDialer returns a dial function like Dial, except that reading more than maxBytes from a connection fails
// with ErrResponseTooLong.
func (g Guard) LimitedDialer(maxBytes int64) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := g.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &limitedConn{Conn: c, remaining: maxBytes}, nil
	}
}

// limitedConn is a connection that fails after a given number of bytes has been read.
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

// Limits limit a client's requests.
type Limits struct {
	// Timeout limits a request including its response, and HeaderTimeout the time until the response header arrives.
	Timeout, HeaderTimeout time.Duration
	// MaxBodyBytes limits the size of the response body. Reading beyond it fails with ErrResponseTooLong.
	MaxBodyBytes int64
}

// Client returns an HTTP client that connects with Dial, follows no redirects and uses no proxy.
func (g Guard) Client(l Limits) *http.Client {
	return &http.Client{
		Timeout:       l.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     g.Transport(l),
	}
}

// Transport returns the transport of Client, for libraries that create their own client.
func (g Guard) Transport(l Limits) http.RoundTripper {
	return &limitedTransport{limit: l.MaxBodyBytes, Transport: &http.Transport{
		DialContext: g.Dial, TLSHandshakeTimeout: connectTimeout, ResponseHeaderTimeout: l.HeaderTimeout, ExpectContinueTimeout: time.Second,
		MaxResponseHeaderBytes: maxHeader, MaxIdleConns: 20, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second, ForceAttemptHTTP2: true,
	}}
}

// limitedTransport limits the bodies of responses.
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

// ErrResponseTooLong is returned when reading a response beyond its limit.
var ErrResponseTooLong = errors.New("the response is too long")

// limitedBody is a response body that fails when it exceeds its limit.
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

// RedactError returns a request's error without the URL, whose path may contain a secret.
func RedactError(err error) error {
	var urlErr *url.Error
	if errors.As(err, &urlErr) && urlErr.Err != nil {
		err = urlErr.Err
	}
	return errors.New(SanitizeLine(err.Error()))
}

// RetryAfter returns the delay that a response's Retry-After header requests, or 0.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseInt(value, 10, 32); err == nil {
		return time.Duration(max(0, n)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// SanitizeLine returns untrusted text as a single line without control characters, of at most 300 bytes.
func SanitizeLine(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool {
		return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	}), " ")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}
