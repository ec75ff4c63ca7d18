// Package client calls the operations of the engine: over HTTPS, over a Unix socket, or in memory. They differ only
// in the http.RoundTripper, so the client behaves the same online and offline.
//
// It contains no domain rules and never opens the store.
package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scf-service/service/api"
)

// maxResponseBytes is the maximum size of a JSON response, so that a faulty server can't exhaust
// the memory.
const maxResponseBytes = 256 << 20

// Options configure the connection to an engine.
type Options struct {
	// BaseURL is the server's address. Any address will do if the transport ignores it.
	BaseURL string
	// Transport carries the requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Token is an API key; empty if the transport itself identifies the caller.
	Token string
	// Session is the secret of a session, sent as a browser would send it. The client follows a
	// session that the server starts, renews or ends. Token takes precedence.
	Session string
	// SessionChanged, if set, is called with the new secret, or "" if the session ended, and its
	// expiry.
	SessionChanged func(token string, ends time.Time)
	// PlainHTTP allows http:// to other machines. By default, it is only allowed to this machine.
	PlainHTTP bool
	// Organization is the ID, slug or name of the tenant to act in. If it is empty, the caller's active organization
	// is looked up when first needed.
	Organization string
	// MaxWait is the maximum total wait per request if a server asks to slow down. OnWait is called before each wait.
	// If MaxWait is zero, the rate-limit error is returned immediately.
	MaxWait time.Duration
	OnWait  func(time.Duration)
}

// Client calls operations. It is safe for concurrent use.
type Client struct {
	base           *url.URL
	http           *http.Client
	token          string
	sessionChanged func(string, time.Time)
	maxWait        time.Duration
	onWait         func(time.Duration)

	mu      sync.Mutex
	session string

	// orgMu is held during the lookup of the organization.
	orgMu sync.Mutex
	// org is the organization's ID, or the name given for it until it has been looked up.
	org      string
	resolved bool
}

// New returns a client, or an error if the address is invalid.
func New(o Options) (*Client, error) {
	if o.BaseURL == "" { // the transport determines the address
		o.BaseURL, o.PlainHTTP = "http://service.local", true
	}
	base, err := parseBaseURL(o.BaseURL, o.PlainHTTP)
	if err != nil {
		return nil, err
	}
	return &Client{
		base: base, token: o.Token, session: o.Session, sessionChanged: o.SessionChanged, org: o.Organization, resolved: isUUID(o.Organization),
		maxWait: o.MaxWait, onWait: o.OnWait,
		http: &http.Client{
			Transport:     o.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Do calls op and returns its output. Errors returned by the engine are *api.Error.
func Do[I, O any](ctx context.Context, c *Client, op api.Op[I, O], in *I) (*O, error) {
	var out O
	if err := c.Call(ctx, op.Operation, in, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Call calls an operation. in points to the operation's input or is nil, and out points to its output.
func (c *Client) Call(ctx context.Context, op *api.Operation, in, out any) error {
	return c.call(ctx, op, in, out, op.Access == api.Tenant)
}

// call calls an operation. If inOrganization is set, the request specifies the client's organization.
func (c *Client) call(ctx context.Context, op *api.Operation, in, out any, inOrganization bool) error {
	req, err := c.encodeRequest(ctx, op, in)
	if err != nil {
		return err
	}
	if inOrganization {
		org, err := c.OrganizationID(ctx)
		if err != nil {
			return err
		}
		req.Header.Set(api.TenantHeader, org)
	}
	resp, err := c.sendRetryingWhenRateLimited(req)
	if err != nil {
		return err
	}
	if file, ok := out.(*api.File); ok && resp.StatusCode < 300 {
		return decodeFile(resp, file)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return decodeError(resp)
	}
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	dec := json.NewDecoder(io.LimitReader(resp.Body, maxResponseBytes))
	if err := dec.Decode(out); err != nil {
		return fmt.Errorf("can't read the response to %s %s: %w", op.Method, op.Path, err)
	}
	return nil
}

// SendRaw sends a request unchanged, for `service api`. The caller must close the response body.
func (c *Client) SendRaw(ctx context.Context, method, path string, body io.Reader, header http.Header) (*http.Response, error) {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if !strings.HasPrefix(path, "/api/") {
		path = api.Prefix + path
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, body)
	if err != nil {
		return nil, err
	}
	for k, v := range header {
		req.Header[http.CanonicalHeaderKey(k)] = v
	}
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if req.Header.Get(api.TenantHeader) == "" {
		org, err := c.OrganizationID(ctx)
		switch {
		case err == nil:
			req.Header.Set(api.TenantHeader, org)
		case org != "" && api.IsCode(err, api.CodeValidation): // an invalid name was given
			return nil, err
		}
	}
	return c.sendRetryingWhenRateLimited(req)
}

// AllPages returns the items of all pages of a list. It calls page once per page, first with an empty cursor and then
// with the cursor of the next page.
func AllPages[T any](ctx context.Context, page func(cursor string) (*api.List[T], error)) ([]T, error) {
	var out []T
	cursor := ""
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, err := page(cursor)
		if err != nil {
			return nil, err
		}
		out = append(out, l.Data...)
		if l.Pagination.NextCursor == nil {
			return out, nil
		}
		cursor = *l.Pagination.NextCursor
	}
}

var (
	// ErrUnreachable is wrapped by the error returned if no engine could be reached.
	ErrUnreachable = errors.New("no answer")
	// ErrConnectionLost is wrapped by the error returned if an engine received the request but disconnected before
	// responding: the request may or may not have been executed.
	ErrConnectionLost = errors.New("the connection was lost before the server responded")
)

// sendRetryingWhenRateLimited sends a request. If the server asks to slow down, it waits and retries, for
// at most maxWait in total.
func (c *Client) sendRetryingWhenRateLimited(req *http.Request) (*http.Response, error) {
	for patience := c.maxWait; ; {
		resp, err := c.sendOnce(req)
		if err != nil || resp.StatusCode != http.StatusTooManyRequests {
			return resp, err
		}
		wait, ok := parseRetryAfter(resp)
		if !ok || wait > patience || (req.Body != nil && req.GetBody == nil) {
			return resp, nil
		}
		_ = resp.Body.Close()
		patience -= wait
		if err := c.waitAndRewind(req, wait); err != nil {
			return nil, err
		}
	}
}

// parseRetryAfter returns how long a server that rejected a request asks to wait, or false if it specifies no usable
// time.
func parseRetryAfter(resp *http.Response) (time.Duration, bool) {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > 3600 {
		return 0, false
	}
	return time.Duration(max(1, seconds)) * time.Second, true
}

// waitAndRewind waits for d and then rewinds the request's body, so that the request can be sent again.
func (c *Client) waitAndRewind(req *http.Request, d time.Duration) (err error) {
	if c.onWait != nil {
		c.onWait(d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-req.Context().Done():
		return req.Context().Err()
	case <-t.C:
	}
	if req.GetBody != nil {
		req.Body, err = req.GetBody()
	}
	return err
}

// sendOnce sends a request without retrying it. Its errors distinguish between a server that can't be reached and a
// connection that was lost after the request was sent.
func (c *Client) sendOnce(req *http.Request) (*http.Response, error) {
	c.authenticate(req)
	resp, err := c.http.Do(req)
	if err == nil {
		c.updateSession(resp)
		return resp, nil
	}
	if ctxErr := req.Context().Err(); ctxErr != nil {
		return nil, ctxErr
	}
	var op *net.OpError
	switch afterDial := errors.As(err, &op) && op.Op != "dial"; {
	case afterDial, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%w: %w", ErrConnectionLost, err)
	case op != nil:
		return nil, fmt.Errorf("%w from %s: %w", ErrUnreachable, c.base.Host, op.Err)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the message already contains the address
	}
	return nil, fmt.Errorf("calling %s: %w", c.base.Host, err)
}

// decodeError returns the API error in an unsuccessful response. If the response contains none, the returned error
// describes the response.
func decodeError(resp *http.Response) error {
	if to := resp.Header.Get("Location"); resp.StatusCode < 400 && to != "" {
		return fmt.Errorf(
			"the server redirects to %s; if this is intended, use that address as the server address (credentials are not sent to other addresses)",
			to,
		)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("can't read the error response: %w", err)
	}
	var env api.ErrorEnvelope
	if json.Unmarshal(b, &env) != nil || env.Error == nil || env.Error.HTTPStatus() == 0 {
		return fmt.Errorf("the server responded %s with an unknown error format: %s",
			resp.Status, bytes.TrimSpace(b[:min(len(b), 200)]))
	}
	if wait, ok := parseRetryAfter(resp); ok && env.Error.Code == api.CodeRateLimit {
		window, _ := strconv.Atoi(resp.Header.Get(api.RateLimitHeader))
		return env.Error.WithRetryHeaders(int(wait.Seconds()), window)
	}
	return env.Error
}

// verifiedContent is the content of a download. Reading it to the end returns an error if its SHA-256 hash differs
// from the one that the server sent.
type verifiedContent struct {
	io.ReadCloser
	hash hash.Hash
	want string
}

func (v *verifiedContent) Read(b []byte) (int, error) {
	n, err := v.ReadCloser.Read(b)
	v.hash.Write(b[:n])
	if errors.Is(err, io.EOF) {
		if got := hex.EncodeToString(v.hash.Sum(nil)); got != v.want {
			err = fmt.Errorf("the file was changed during the transfer: its SHA-256 hash is %s, but the server sent %s; try again", got, v.want)
		}
	}
	return n, err
}

// decodeFile fills f with the content and the headers of a download.
func decodeFile(resp *http.Response, f *api.File) error {
	f.Content = resp.Body
	f.ContentType = resp.Header.Get("Content-Type")
	f.Size, _ = strconv.ParseInt(resp.Header.Get("Content-Length"), 10, 64)
	f.SHA256 = strings.Trim(resp.Header.Get("ETag"), `"`)
	if resp.StatusCode == http.StatusOK && f.SHA256 != "" {
		f.Content = &verifiedContent{ReadCloser: resp.Body, hash: sha256.New(), want: f.SHA256}
	}
	if _, policy, ok := strings.Cut(resp.Header.Get("Content-Security-Policy"), "script-src "); ok {
		f.ScriptSource, _, _ = strings.Cut(policy, ";")
	}
	if _, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition")); err == nil {
		f.Filename = params["filename"]
	}
	return nil
}
