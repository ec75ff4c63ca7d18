// Package remote gets vectors from an external model: one that ollama runs locally or on another
// host, or one on any server that supports OpenAI's /v1/embeddings. Responses are untrusted: their
// size, number and values are checked. The package doesn't decide what happens while the model is
// unavailable, and its errors never contain the key.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Options configures an Embedder.
type Options struct {
	// Model is "ollama/NAME" or "openai/NAME".
	Model string
	// URL is the address of the server; "" means http://127.0.0.1:11434 or https://api.openai.com.
	URL string
	// Key is sent as a bearer token by openai/; it never appears in errors or logs.
	Key string
	// Timeout is the limit for one request; 0 means one minute.
	Timeout time.Duration
	// RetryPause is the pause before the second attempt, doubled before the third; 0 means half a
	// second.
	RetryPause time.Duration
	// Transport carries the requests; if nil, the embedder uses its own transport.
	Transport http.RoundTripper
}

// Errors that callers can distinguish with errors.Is.
var (
	// ErrUnavailable means that the model can't be used now; retrying later may help.
	ErrUnavailable = errors.New("the embedding model is unavailable")
	// ErrInvalidResponse means that the server rejected the request or that its response can't be used.
	ErrInvalidResponse = errors.New("the embedding model's response can't be used")
	// ErrInvalidOptions means that the options passed to New are invalid.
	ErrInvalidOptions = errors.New("embedding model")
)

const (
	batchSize     = 32
	maxTries      = 3
	maxResponse   = 64 << 20
	maxText       = 32 << 10 // bytes sent per text; models truncate earlier
	maxDimensions = 8192
	maxMessage    = 300 // bytes of a server's error message
)

// Embedder embeds texts with a model on a server. It is safe for concurrent use.
type Embedder struct {
	name       string
	isRemote   bool
	embedBatch func(ctx context.Context, texts []string) ([][]float32, error)
	digest     func(ctx context.Context) (string, error) // nil if the server doesn't report digests
	timeout    time.Duration
	retryPause time.Duration

	mu   sync.Mutex
	dims int // 0 until the first response
}

// New checks the options and returns an embedder; it makes no request.
func New(o Options) (*Embedder, error) {
	kind, model, _ := strings.Cut(o.Model, "/")
	if model == "" || kind != "ollama" && kind != "openai" {
		return nil, fmt.Errorf("%w: %q is invalid; use ollama/NAME, openai/NAME or builtin", ErrInvalidOptions, o.Model)
	}
	if o.URL == "" {
		o.URL = map[string]string{"ollama": "http://127.0.0.1:11434", "openai": "https://api.openai.com"}[kind]
	}
	base, err := url.Parse(o.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil {
		return nil, fmt.Errorf("%w: the address must start with http:// or https://, and have a host but no password", ErrInvalidOptions)
	}
	if o.Key != "" && base.Scheme == "http" && !isLoopback(base.Hostname()) {
		return nil, fmt.Errorf("%w: API keys aren't sent to other machines over http://; use https://", ErrInvalidOptions)
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	e := &Embedder{name: o.Model, isRemote: !isLoopback(base.Hostname()), timeout: o.Timeout, retryPause: o.RetryPause}
	if e.timeout <= 0 {
		e.timeout = time.Minute
	}
	if e.retryPause <= 0 {
		e.retryPause = time.Second / 2
	}
	client := &http.Client{
		Transport:     limitTransport{o.Transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if kind == "ollama" {
		e.embedBatch, e.digest = newOllamaEmbed(client, base, model), newOllamaDigest(client, base, model)
	} else {
		e.embedBatch = newOpenAIEmbed(client, base, model, o.Key)
	}
	return e, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// Name returns the embedder's name, "ollama/NAME" or "openai/NAME".
func (e *Embedder) Name() string { return e.name }

// IsRemote reports whether texts leave this machine, judging by the server's address.
func (e *Embedder) IsRemote() bool { return e.isRemote }

// Dimensions returns the length of the vectors, or 0 before the first response.
func (e *Embedder) Dimensions() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dims
}

// Digest returns the digest of the model's weights, or "" if the server doesn't report it. Its errors are like those of
// Embed.
func (e *Embedder) Digest(ctx context.Context) (string, error) {
	if e.digest == nil {
		return "", nil
	}
	limited, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	digest, err := e.digest(limited)
	switch {
	case err == nil:
		return digest, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", e.classify(err)
}

// classify wraps an error of a request in ErrInvalidResponse, or in ErrUnavailable if retrying later may help.
func (e *Embedder) classify(err error) error {
	kind := ErrUnavailable
	var refused *statusError
	if errors.As(err, &refused) && !refused.isTemporary() || errors.Is(err, errResponseTooLong) {
		kind = ErrInvalidResponse
	}
	return fmt.Errorf("%w: %s: %w", kind, e.name, err)
}

// Embed returns a vector of length 1 for each text, or all zeros for a blank one. It sends the
// texts in batches and tries each batch up to three times. Its errors wrap ErrUnavailable or
// ErrInvalidResponse, or are the context's error.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var batch []string
	var indexes []int
	send := func() error {
		if len(batch) == 0 {
			return nil
		}
		vectors, err := e.embedWithRetry(ctx, batch)
		if err != nil {
			return err
		}
		for i, v := range vectors {
			out[indexes[i]] = v
		}
		batch, indexes = batch[:0], indexes[:0]
		return nil
	}
	for i, t := range texts {
		if t = strings.ToValidUTF8(t, "�"); strings.TrimSpace(t) == "" {
			continue
		}
		batch, indexes = append(batch, truncate(t)), append(indexes, i)
		if len(batch) == batchSize {
			if err := send(); err != nil {
				return nil, err
			}
		}
	}
	if err := send(); err != nil {
		return nil, err
	}
	for i := range out {
		if out[i] == nil {
			out[i] = make([]float32, e.Dimensions())
		}
	}
	return out, ctx.Err()
}

func truncate(t string) string {
	if len(t) <= maxText {
		return t
	}
	n := maxText
	for !utf8.RuneStart(t[n]) {
		n--
	}
	return t[:n]
}

// embedWithRetry embeds a batch of texts, retrying after temporary failures.
func (e *Embedder) embedWithRetry(ctx context.Context, texts []string) ([][]float32, error) {
	pause := e.retryPause
	for try := 1; ; try++ {
		limited, cancel := context.WithTimeout(ctx, e.timeout)
		vectors, err := e.embedBatch(limited, texts)
		cancel()
		if err == nil {
			return vectors, e.checkAndNormalizeVectors(vectors, len(texts))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err = e.classify(err); errors.Is(err, ErrInvalidResponse) || try == maxTries {
			return nil, err
		}
		wait := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil, ctx.Err()
		case <-wait.C:
		}
		pause *= 2
	}
}

// checkAndNormalizeVectors checks a response against the request and scales its vectors to length 1.
func (e *Embedder) checkAndNormalizeVectors(vectors [][]float32, want int) error {
	if len(vectors) != want {
		return fmt.Errorf("%w: %s returned %d vectors for %d texts", ErrInvalidResponse, e.name, len(vectors), want)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	dims := e.dims
	for _, v := range vectors {
		if dims == 0 {
			dims = len(v)
		}
		if len(v) != dims || dims < 2 || dims > maxDimensions {
			return fmt.Errorf("%w: %s returned a vector of %d numbers instead of %d", ErrInvalidResponse, e.name, len(v), dims)
		}
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if math.IsNaN(sum) || math.IsInf(sum, 0) {
			return fmt.Errorf("%w: %s returned a vector that contains an infinite or invalid number", ErrInvalidResponse, e.name)
		}
		if sum > 0 {
			inverse := 1 / math.Sqrt(sum)
			for i := range v {
				v[i] = float32(float64(v[i]) * inverse)
			}
		}
	}
	e.dims = dims
	return nil
}

// statusError is the error for a response with an error status.
type statusError struct {
	status int
	text   string
}

func (r *statusError) Error() string {
	t := strings.ToValidUTF8(strings.TrimSpace(r.text), "")
	if len(t) > maxMessage {
		t = strings.ToValidUTF8(t[:maxMessage], "") + "…"
	}
	if t == "" {
		t = http.StatusText(r.status)
	}
	switch r.status {
	case http.StatusNotFound:
		return "the server has no such model (" + t + "); pull that model, or choose another"
	case http.StatusUnauthorized, http.StatusForbidden:
		return "the server rejected the API key" // the response may contain the key
	}
	return fmt.Sprintf("status %d: %s", r.status, t)
}

// isTemporary reports whether retrying later may help.
func (r *statusError) isTemporary() bool {
	return r.status == http.StatusTooManyRequests || r.status == http.StatusRequestTimeout || r.status >= 500
}

var errResponseTooLong = fmt.Errorf("the response is longer than %d MB", maxResponse>>20)

// limitTransport is an http.RoundTripper that limits responses to maxResponse bytes.
type limitTransport struct{ next http.RoundTripper }

func (b limitTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = &limitedBody{resp.Body, maxResponse}
	}
	return resp, err
}

type limitedBody struct {
	io.ReadCloser
	remaining int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, errResponseTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	return n, err
}
