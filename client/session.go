package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/scf-service/service/api"
)

// ErrPlainHTTP is wrapped by the error returned if secrets would be sent over the network unencrypted.
var ErrPlainHTTP = errors.New("without TLS, anyone on the network path can read passwords, keys and evidence")

// parseBaseURL parses a server's address. The returned error can be shown to users.
func parseBaseURL(address string, plainHTTP bool) (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(address, "/"))
	switch {
	case err != nil || base.Hostname() == "" || (base.Scheme != "http" && base.Scheme != "https"):
		return nil, api.Invalid("server", "%.100q is not a server address; use the form https://service.example", address)
	case base.User != nil:
		return nil, api.Invalid("server", "a server address must not contain a user name or password; sign in instead")
	case base.RawQuery != "" || base.Fragment != "":
		return nil, api.Invalid("server", "%.100q contains more than a server address; use the form https://service.example", address)
	case base.Scheme == "http" && !plainHTTP && !IsLoopback(base.Hostname()):
		return nil, fmt.Errorf("http:// is not allowed for %s: %w; use https://", base.Host, ErrPlainHTTP)
	}
	return base, nil
}

// IsLoopback reports whether a host is this machine, so that no data leaves it.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// authenticate adds the client's credential to a request. The credential reaches only this client's
// server, because redirects are not followed.
func (c *Client) authenticate(req *http.Request) {
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
		return
	}
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	if session == "" {
		return
	}
	req.Header.Set("Cookie", api.SessionCookie+"="+session)
	// A change made with a session must come from one of the server's own pages. A program that deliberately holds
	// the session is equivalent.
	req.Header.Set("Origin", c.base.Scheme+"://"+c.base.Host)
}

// updateSession stores the session cookie of a response that started, renewed or ended a session.
func (c *Client) updateSession(resp *http.Response) {
	if c.token != "" {
		return
	}
	for _, cookie := range resp.Cookies() {
		if cookie.Name != api.SessionCookie {
			continue
		}
		c.mu.Lock()
		c.session = cookie.Value // empty if the session has ended
		c.mu.Unlock()
		if c.sessionChanged != nil {
			c.sessionChanged(cookie.Value, cookie.Expires)
		}
	}
}
