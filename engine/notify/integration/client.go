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

// apiClient sends the requests of one integration.
type apiClient struct {
	client *http.Client
	clock  func() time.Time
	base   string
	header http.Header
	// secretParts holds the secrets and parts of them, longest first; they are redacted from
	// responses.
	secretParts []string
	// errorText extracts the error message from a response.
	errorText func([]byte) string
}

// responseError is an HTTP error response from a tool.
type responseError struct {
	status     int
	message    string
	retryAfter time.Duration
	// rateLimited reports whether too many requests were made.
	rateLimited bool
}

func (a *responseError) Error() string {
	words := fmt.Sprintf("the server responded %d %s", a.status, http.StatusText(a.status))
	if a.rateLimited {
		words = "the server is rate limiting requests"
		if a.retryAfter > 0 {
			words += "; retry after " + a.retryAfter.Round(time.Second).String()
		}
	}
	if a.message != "" {
		words += ": " + a.message
	}
	return words
}

// isRefused reports whether the tool rejected the request, so that nothing has changed there and a retry
// would be rejected too.
func isRefused(err error) bool {
	var a *responseError
	return errors.As(err, &a) && a.status >= 400 && a.status < 500 && a.status != http.StatusRequestTimeout
}

// isNotFoundOrGone reports whether the tool responded with status 404 or 410.
func isNotFoundOrGone(err error) bool {
	var a *responseError
	return errors.As(err, &a) && (a.status == http.StatusNotFound || a.status == http.StatusGone)
}

// rateLimitDelay returns how long to wait if err reports a rate limit; otherwise, it returns false.
func rateLimitDelay(err error) (time.Duration, bool) {
	var a *responseError
	if errors.As(err, &a) && a.rateLimited {
		return a.retryAfter, true
	}
	return 0, false
}

func (s *Service) newAPIClient(set *settings, base string, header http.Header, errorText func([]byte) string) *apiClient {
	if header == nil {
		header = http.Header{}
	}
	header.Set("User-Agent", s.Agent)
	if header.Get("Accept") == "" {
		header.Set("Accept", "application/json")
	}
	return &apiClient{
		client:      s.client,
		clock:       s.Clock,
		base:        strings.TrimRight(base, "/"),
		header:      header,
		secretParts: secretParts(set.secrets, header),
		errorText:   errorText,
	}
}

// doJSON sends a request with a JSON body and decodes the response into out; body and out may be
// nil.
func (c *apiClient) doJSON(ctx context.Context, method, path string, query url.Values, body, out any) (*http.Response, error) {
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
		return nil, netguard.RedactError(err)
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
		return nil, c.redactError(netguard.RedactError(err))
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the response: %w", c.redactError(netguard.RedactError(err)))
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return answer, c.newResponseError(answer, b)
	}
	if out == nil || len(b) == 0 {
		return answer, nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return answer, fmt.Errorf("the server responded %d with invalid JSON; check the URL", answer.StatusCode)
	}
	return answer, nil
}

func (c *apiClient) newResponseError(answer *http.Response, b []byte) *responseError {
	out := &responseError{status: answer.StatusCode, retryAfter: netguard.RetryAfter(answer.Header, c.clock())}
	if c.errorText != nil {
		out.message = c.redact(netguard.SanitizeLine(c.errorText(b)))
	}
	if to := answer.Header.Get("Location"); out.message == "" && answer.StatusCode >= 300 && answer.StatusCode < 400 && to != "" {
		out.message = "the server sent a redirect, but redirects are not followed; check the URL"
	}
	// GitHub counts down the remaining requests and gives the Unix time of the reset.
	if answer.Header.Get("X-RateLimit-Remaining") == "0" && out.retryAfter == 0 {
		if at, err := strconv.ParseInt(answer.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			out.retryAfter = max(0, time.Unix(at, 0).Sub(c.clock()))
		}
	}
	out.rateLimited = answer.StatusCode == http.StatusTooManyRequests ||
		answer.StatusCode == http.StatusForbidden && (out.retryAfter > 0 || answer.Header.Get("X-RateLimit-Remaining") == "0") ||
		answer.StatusCode == http.StatusServiceUnavailable && out.retryAfter > 0
	return out
}

// secretParts returns the strings that must not appear in messages, because a response may repeat
// them: each secret as a whole, the parts of a URL after the host, and credentials as sent in a
// header.
func secretParts(secrets map[string]string, header http.Header) (out []string) {
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

// redact removes the integration's secrets from a string.
func (c *apiClient) redact(text string) string {
	for _, secret := range c.secretParts {
		text = strings.ReplaceAll(text, secret, "…")
	}
	return text
}

func (c *apiClient) redactError(err error) error {
	if text := c.redact(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// toDeliveryResult converts a response or an error to the result of a delivery.
func toDeliveryResult(answer *http.Response, err error) (int, error) {
	status := 0
	if answer != nil {
		status = answer.StatusCode
	}
	var a *responseError
	if errors.As(err, &a) {
		return status, &delivery.SendError{Reason: a.Error(), RetryAfter: a.retryAfter}
	}
	return status, err
}
