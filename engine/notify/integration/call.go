package integration

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/engine/notify/delivery"
	"github.com/scf-service/service/internal/netguard"
)

// caller makes the requests of one integration.
type caller struct {
	client *http.Client
	clock  func() time.Time
	base   string
	header http.Header
	// hidden are the secrets and their parts, which a stranger's answer may hold and nobody
	// is shown; the longest first.
	hidden []string
	// why finds the sentence in an answer that says what is wrong.
	why func([]byte) string
}

// answered is an answer that says no.
type answered struct {
	status int
	said   string
	wait   time.Duration
	// limited: too many requests were made.
	limited bool
}

func (a *answered) Error() string {
	words := fmt.Sprintf("it answered %d %s", a.status, http.StatusText(a.status))
	if a.limited {
		words = "it asks for fewer requests"
		if a.wait > 0 {
			words += ", and to wait " + a.wait.Round(time.Second).String()
		}
	}
	if a.said != "" {
		words += ": " + a.said
	}
	return words
}

// no tells whether the tool refused: nothing was done, and the same again would be refused too.
func no(err error) bool {
	var a *answered
	return errors.As(err, &a) && a.status >= 400 && a.status < 500 && a.status != http.StatusRequestTimeout
}

func gone(err error) bool {
	var a *answered
	return errors.As(err, &a) && (a.status == http.StatusNotFound || a.status == http.StatusGone)
}

func limited(err error) (time.Duration, bool) {
	var a *answered
	if errors.As(err, &a) && a.limited {
		return a.wait, true
	}
	return 0, false
}

func (s *Service) caller(set *settings, base string, header http.Header, why func([]byte) string) *caller {
	if header == nil {
		header = http.Header{}
	}
	header.Set("User-Agent", s.Agent)
	if header.Get("Accept") == "" {
		header.Set("Accept", "application/json")
	}
	return &caller{client: s.client, clock: s.Clock, base: strings.TrimRight(base, "/"), header: header, hidden: parts(set.secrets, header), why: why}
}

// do sends a request with a body as JSON, and reads the answer into out; both may be nil.
func (c *caller) do(ctx context.Context, method, path string, query url.Values, body, out any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(b)
	}
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, netguard.Reason(err)
	}
	req.Header = c.header.Clone()
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, c.hide(netguard.Reason(err))
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("reading what it answered: %w", c.hide(netguard.Reason(err)))
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return answer, c.refused(answer, b)
	}
	if out == nil || len(b) == 0 {
		return answer, nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return answer, fmt.Errorf("it answered %d with what is not the JSON it should be; is the address right?", answer.StatusCode)
	}
	return answer, nil
}

func (c *caller) refused(answer *http.Response, b []byte) *answered {
	out := &answered{status: answer.StatusCode, wait: netguard.RetryAfter(answer.Header, c.clock())}
	if c.why != nil {
		out.said = c.cover(netguard.Short(c.why(b)))
	}
	if to := answer.Header.Get("Location"); out.said == "" && answer.StatusCode >= 300 && answer.StatusCode < 400 && to != "" {
		out.said = "it redirects, which is not followed; is the address right?"
	}
	// GitHub counts down, and names the second at which it begins anew.
	if answer.Header.Get("X-RateLimit-Remaining") == "0" && out.wait == 0 {
		if at, err := strconv.ParseInt(answer.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			out.wait = max(0, time.Unix(at, 0).Sub(c.clock()))
		}
	}
	out.limited = answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusForbidden && (out.wait > 0 || answer.Header.Get("X-RateLimit-Remaining") == "0") ||
		answer.StatusCode == http.StatusServiceUnavailable && out.wait > 0
	return out
}

// parts are secrets as they may come back: whole, of an address what stands behind its
// host, and as they are sent in a header.
func parts(secrets map[string]string, header http.Header) (out []string) {
	for _, secret := range secrets {
		out = append(out, secret)
		if u, err := url.Parse(secret); err == nil && u.Host != "" {
			out = append(out, u.RequestURI())
			out = append(out, strings.Split(u.EscapedPath(), "/")...)
			for _, values := range u.Query() {
				out = append(out, values...)
			}
		}
	}
	if _, sent, ok := strings.Cut(header.Get("Authorization"), " "); ok {
		out = append(out, sent)
	}
	out = slices.DeleteFunc(out, func(s string) bool { return len(s) < 4 })
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(out)
}

// cover takes the integration's secrets out of a text.
func (c *caller) cover(text string) string {
	for _, secret := range c.hidden {
		text = strings.ReplaceAll(text, secret, "…")
	}
	return text
}

func (c *caller) hide(err error) error {
	if text := c.cover(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// outcome is what a delivery came to, as the loop wants to hear it.
func outcome(answer *http.Response, err error) (int, error) {
	status := 0
	if answer != nil {
		status = answer.StatusCode
	}
	var a *answered
	if errors.As(err, &a) {
		return status, &delivery.Refused{Reason: a.Error(), Wait: a.wait}
	}
	return status, err
}
