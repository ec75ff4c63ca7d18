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

// ErrPlainHTTP is in the chain of an error where what is secret would have gone over
// the network for everyone on the way to read.
var ErrPlainHTTP = errors.New("without TLS, everyone on the way can read passwords, keys and evidence")

// parseBaseURL reads a server's address; the error tells what is wrong with it.
func parseBaseURL(address string, plainHTTP bool) (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(address, "/"))
	switch {
	case err != nil || base.Hostname() == "" || (base.Scheme != "http" && base.Scheme != "https"):
		return nil, api.Invalid("server", "%.100q is no server address; write it as https://service.example", address)
	case base.User != nil:
		return nil, api.Invalid("server", "a server address holds no name or password; sign in instead")
	case base.RawQuery != "" || base.Fragment != "":
		return nil, api.Invalid("server", "%.100q is more than a server address; write it as https://service.example", address)
	case base.Scheme == "http" && !plainHTTP && !IsLoopback(base.Hostname()):
		return nil, fmt.Errorf("%s is not asked over http://: %w; use https://", base.Host, ErrPlainHTTP)
	}
	return base, nil
}

// IsLoopback reports whether a host is this machine, so that nothing leaves it.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// authenticate puts the credential on a request. It goes to the server of this
// client only: redirects are not followed.
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
	// A change made with a session has to come from one of the server's own pages; a
	// program that holds the session on purpose is as good as one.
	req.Header.Set("Origin", c.base.Scheme+"://"+c.base.Host)
}

// updateSession takes over a session that the server began, renewed or ended.
func (c *Client) updateSession(resp *http.Response) {
	if c.token != "" {
		return
	}
	for _, cookie := range resp.Cookies() {
		if cookie.Name != api.SessionCookie {
			continue
		}
		c.mu.Lock()
		c.session = cookie.Value // empty where it ended
		c.mu.Unlock()
		if c.sessionChanged != nil {
			c.sessionChanged(cookie.Value, cookie.Expires)
		}
	}
}
