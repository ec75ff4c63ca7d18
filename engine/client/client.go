// Package client is the one way to call an operation of the engine: over HTTPS,
// over a Unix socket, or in memory. The transport is an http.RoundTripper; all
// else is the same code, so that offline and online behave alike.
//
// It holds no rule of the domain and never opens the store.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/scf-service/service/engine/api"
)

// maxAnswer bounds a JSON answer, so that a server gone wrong can't fill the memory.
const maxAnswer = 256 << 20

// Options say how to reach an engine.
type Options struct {
	// BaseURL is the server's address; any, where the transport ignores it.
	BaseURL string
	// Transport carries the requests; http.DefaultTransport where nil.
	Transport http.RoundTripper
	// Token is an API key; empty where the transport itself says who calls.
	Token string
	// Organization is the tenant to act in. Where empty, the caller's active one is asked for when first needed.
	Organization string
}

// Client calls operations. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	http  *http.Client
	token string

	mu  sync.Mutex
	org string
}

// New makes a client; the error tells what is wrong with the address.
func New(o Options) (*Client, error) {
	if o.BaseURL == "" {
		o.BaseURL = "http://service.local"
	}
	base, err := url.Parse(strings.TrimSuffix(o.BaseURL, "/"))
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("%q is no server address; write it as https://service.example", o.BaseURL)
	}
	return &Client{base: base, token: o.Token, org: o.Organization,
		http: &http.Client{Transport: o.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// Do calls op and returns its output. Errors the engine answered with are *api.Error.
func Do[I, O any](ctx context.Context, c *Client, op api.Op[I, O], in *I) (*O, error) {
	var out O
	if err := c.Call(ctx, op.Operation, in, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Call calls an operation: in is a pointer to its input or nil, out a pointer to its output.
func (c *Client) Call(ctx context.Context, op *api.Operation, in, out any) error {
	req, err := c.encode(ctx, op, in)
	if err != nil {
		return err
	}
	if op.Access == api.Tenant {
		org, err := c.Organization(ctx)
		if err != nil {
			return err
		}
		req.Header.Set(api.TenantHeader, org)
	}
	resp, err := c.send(req)
	if err != nil {
		return err
	}
	if file, ok := out.(*api.File); ok && resp.StatusCode < 300 {
		return fileFrom(resp, file)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return errorFrom(resp)
	}
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	dec := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer))
	if err := dec.Decode(out); err != nil {
		return fmt.Errorf("the answer of %s %s can't be read: %w", op.Method, op.Path, err)
	}
	return nil
}

// Raw sends a request as it is, for `service api`. The caller closes the answer's body.
func (c *Client) Raw(ctx context.Context, method, path string, body io.Reader, header http.Header) (*http.Response, error) {
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
		if org, err := c.Organization(ctx); err == nil {
			req.Header.Set(api.TenantHeader, org)
		}
	}
	return c.send(req)
}

// Organization is the tenant the client acts in, asked for once where none was given.
func (c *Client) Organization(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.org != "" {
		return c.org, nil
	}
	mine, err := Do(ctx, c, api.ListMyOrganizations, &api.Paging{Limit: api.MaxListLimit})
	if err != nil {
		return "", err
	}
	if len(mine.Data) == 0 {
		return "", api.TenantRequired()
	}
	c.org = mine.Data[0].ID
	for _, o := range mine.Data {
		if o.Active {
			c.org = o.ID
		}
	}
	return c.org, nil
}

// All follows a list's pages to the end, calling page for each cursor.
func All[T any](ctx context.Context, page func(cursor string) (*api.List[T], error)) ([]T, error) {
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
	// ErrUnreachable is in the chain of an error where no engine could be asked at all.
	ErrUnreachable = errors.New("no answer")
	// ErrBrokeOff is in the chain of an error where an engine was asked, and went away
	// before it answered: what was asked may have been done or not.
	ErrBrokeOff = errors.New("the connection broke off before the answer")
)

func (c *Client) send(req *http.Request) (*http.Response, error) {
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctxErr := req.Context().Err(); ctxErr != nil {
			return nil, ctxErr
		}
		var op *net.OpError
		switch asked := errors.As(err, &op) && op.Op != "dial"; {
		case asked, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("%w: %w", ErrBrokeOff, err)
		case op != nil:
			return nil, fmt.Errorf("%w from %s: %w", ErrUnreachable, c.base.Host, op.Err)
		}
		return nil, fmt.Errorf("calling %s: %w", c.base.Host, err)
	}
	return resp, nil
}

func errorFrom(resp *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("reading the error answer: %w", err)
	}
	var env api.ErrorEnvelope
	if json.Unmarshal(b, &env) != nil || env.Error == nil || env.Error.HTTPStatus() == 0 {
		return fmt.Errorf("the server answered %s, which is not this service's way of saying what is wrong: %s",
			resp.Status, bytes.TrimSpace(b[:min(len(b), 200)]))
	}
	return env.Error
}

func fileFrom(resp *http.Response, f *api.File) error {
	f.Content = resp.Body
	f.ContentType = resp.Header.Get("Content-Type")
	f.Size, _ = strconv.ParseInt(resp.Header.Get("Content-Length"), 10, 64)
	f.SHA256 = strings.Trim(resp.Header.Get("ETag"), `"`)
	if _, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition")); err == nil {
		f.Filename = params["filename"]
	}
	return nil
}
