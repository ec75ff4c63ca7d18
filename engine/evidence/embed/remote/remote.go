// Package remote asks a model that runs elsewhere for vectors: ollama on this machine or
// the next, or anything that speaks OpenAI's /v1/embeddings. What comes back is not
// trusted: it is bounded, counted and checked. The package must not decide what happens
// while the model is away, and its errors never hold the key.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Options name a model and where it is asked.
type Options struct {
	// Model is "ollama/NAME" or "openai/NAME".
	Model string
	// URL is where it listens; "" for http://127.0.0.1:11434 or https://api.openai.com.
	URL string
	// Key is sent as a bearer token by openai/; it stands in no error and no log.
	Key string
	// Timeout is for one request; 0 for a minute.
	Timeout time.Duration
	// Pause is waited before the second try, and twice as long before the third; 0 for half a second.
	Pause time.Duration
	// Transport carries the requests; nil for one of its own.
	Transport http.RoundTripper
}

// Errors that callers tell apart.
var (
	// ErrAway: the model can't be asked now; later it may.
	ErrAway = errors.New("the embedding model is away")
	// ErrAnswer: it answers, and what it says can't be used.
	ErrAnswer = errors.New("the embedding model's answer can't be used")
	// ErrOptions: the options name no model that can be asked.
	ErrOptions = errors.New("embedding model")
)

const (
	batch         = 32
	tries         = 3
	maxAnswer     = 64 << 20
	maxText       = 32 << 10 // bytes of a text that are sent; models cut earlier
	maxDimensions = 8192
	maxTold       = 300 // bytes of a message of the other side
)

// Embedder asks a model. It is safe for concurrent use.
type Embedder struct {
	name  string
	ask   func(ctx context.Context, texts []string) ([][]float32, error)
	limit time.Duration
	pause time.Duration

	mu   sync.Mutex
	dims int // 0 until the first answer
}

// New checks the options; it asks nobody.
func New(o Options) (*Embedder, error) {
	kind, model, _ := strings.Cut(o.Model, "/")
	if model == "" || kind != "ollama" && kind != "openai" {
		return nil, fmt.Errorf("%w: %q is none; say ollama/NAME, openai/NAME or builtin", ErrOptions, o.Model)
	}
	if o.URL == "" {
		o.URL = map[string]string{"ollama": "http://127.0.0.1:11434", "openai": "https://api.openai.com"}[kind]
	}
	base, err := url.Parse(o.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil {
		return nil, fmt.Errorf("%w: its address must be http:// or https:// with a host and without a password", ErrOptions)
	}
	if o.Key != "" && base.Scheme == "http" && !loopback(base.Hostname()) {
		return nil, fmt.Errorf("%w: a key is not sent over http:// to another machine; use https://", ErrOptions)
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	e := &Embedder{name: o.Model, limit: o.Timeout, pause: o.Pause}
	if e.limit <= 0 {
		e.limit = time.Minute
	}
	if e.pause <= 0 {
		e.pause = time.Second / 2
	}
	client := &http.Client{Transport: bounded{o.Transport}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if kind == "ollama" {
		e.ask = ollama(client, base, model)
	} else {
		e.ask = openAI(client, base, model, o.Key)
	}
	return e, nil
}

func loopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// Name is "ollama/NAME" or "openai/NAME".
func (e *Embedder) Name() string { return e.name }

// Dimensions is the length of the vectors, 0 before the first.
func (e *Embedder) Dimensions() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dims
}

// Embed returns a vector of length 1 per text, in batches, each tried up to three times.
// Texts that are blank get zeros. Errors wrap ErrAway or ErrAnswer, or are ctx's.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var some []string
	var places []int
	send := func() error {
		if len(some) == 0 {
			return nil
		}
		vectors, err := e.persist(ctx, some)
		if err != nil {
			return err
		}
		for i, v := range vectors {
			out[places[i]] = v
		}
		some, places = some[:0], places[:0]
		return nil
	}
	for i, t := range texts {
		if t = strings.ToValidUTF8(t, "�"); strings.TrimSpace(t) == "" {
			continue
		}
		some, places = append(some, cut(t)), append(places, i)
		if len(some) == batch {
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

func cut(t string) string {
	if len(t) <= maxText {
		return t
	}
	n := maxText
	for !utf8.RuneStart(t[n]) {
		n--
	}
	return t[:n]
}

// persist asks until an answer comes, where asking again may help.
func (e *Embedder) persist(ctx context.Context, texts []string) ([][]float32, error) {
	pause := e.pause
	for try := 1; ; try++ {
		limited, cancel := context.WithTimeout(ctx, e.limit)
		vectors, err := e.ask(limited, texts)
		cancel()
		if err == nil {
			return vectors, e.check(vectors, len(texts))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var told *refusal
		if errors.As(err, &told) && !told.passes() {
			return nil, fmt.Errorf("%w: %s: %w", ErrAnswer, e.name, err)
		}
		if errors.Is(err, errTooLong) {
			return nil, fmt.Errorf("%w: %s: %w", ErrAnswer, e.name, err)
		}
		if try == tries {
			return nil, fmt.Errorf("%w: %s: %w", ErrAway, e.name, err)
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

// check holds an answer against what was asked, and scales its vectors to length 1.
func (e *Embedder) check(vectors [][]float32, asked int) error {
	if len(vectors) != asked {
		return fmt.Errorf("%w: %s: %d vectors for %d texts", ErrAnswer, e.name, len(vectors), asked)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	dims := e.dims
	for _, v := range vectors {
		if dims == 0 {
			dims = len(v)
		}
		if len(v) != dims || dims < 2 || dims > maxDimensions {
			return fmt.Errorf("%w: %s: a vector of %d numbers, not %d", ErrAnswer, e.name, len(v), dims)
		}
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if math.IsNaN(sum) || math.IsInf(sum, 0) {
			return fmt.Errorf("%w: %s: a vector with a number that isn't finite", ErrAnswer, e.name)
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

// refusal is an answer with a status that says no.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string {
	t := strings.ToValidUTF8(strings.TrimSpace(r.text), "")
	if len(t) > maxTold {
		t = strings.ToValidUTF8(t[:maxTold], "") + "…"
	}
	if t == "" {
		t = http.StatusText(r.status)
	}
	switch r.status {
	case http.StatusNotFound:
		return "it has no such model (" + t + "); pull it, or name another"
	case http.StatusUnauthorized, http.StatusForbidden:
		return "it does not take the key" // what it says may hold the key
	}
	return fmt.Sprintf("it answers %d: %s", r.status, t)
}

// passes reports a refusal that may be over soon.
func (r *refusal) passes() bool {
	return r.status == http.StatusTooManyRequests || r.status == http.StatusRequestTimeout || r.status >= 500
}

var errTooLong = fmt.Errorf("its answer is longer than %d MB", maxAnswer>>20)

// bounded reads no more of an answer than maxAnswer.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = &boundedBody{resp.Body, maxAnswer}
	}
	return resp, err
}

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
