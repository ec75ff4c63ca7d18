// Package llm calls language models through ollama or any server with an OpenAI-compatible API. It
// requests JSON by schema, limits questions and answers in tokens, bytes and time, retries requests
// that may succeed later, and limits how many requests a model gets at the same time, by default to
// one.
//
// It has no domain knowledge and trusts nothing: callers have to verify the content of answers.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Request is one request to a model.
type Request struct {
	System, User string
	// Schema is the JSON Schema of the answer.
	Schema json.RawMessage
	// MaxTokens limits the length of the answer.
	MaxTokens int
	// Seed makes a model's random choices reproducible; 0 means DefaultSeed. The temperature is always 0.
	Seed int
}

// DefaultSeed is the seed for requests that don't specify one.
const DefaultSeed = 1

func (r *Request) seed() int {
	if r.Seed == 0 {
		return DefaultSeed
	}
	return r.Seed
}

// Answer is a model's response.
type Answer struct {
	Text, Model                    string
	Digest                         string // of the model's weights; "" if the server does not report it
	ServedModel                    string // the model's name in the response; "" if the server does not report it
	PromptTokens, CompletionTokens int
}

// Status describes the availability of a model.
type Status struct {
	Model     string   `json:"model"`
	Server    string   `json:"server"`
	Remote    bool     `json:"remote"` // whether requests leave this machine
	Ready     bool     `json:"ready"`
	Digest    string   `json:"digest"`
	Available []string `json:"available"`
	Problem   string   `json:"problem"`
}

// Reasons why there is no answer; check for them with errors.Is.
var (
	ErrUnavailable     = errors.New("the model server is not responding")
	ErrNotReached      = errors.New("no model server can be reached at this address")
	ErrTimeout         = errors.New("the model took too long (SERVICE_MODEL_TIMEOUT sets the limit)")
	ErrAnswerTooLong   = errors.New("the model's answer is too long")
	ErrUnknownModel    = errors.New("the server has no such model")
	ErrContextExceeded = errors.New("the prompt exceeds the model's context window")
	ErrBusy            = errors.New("too many requests are waiting for the model; try again later")
	ErrInvalidResponse = errors.New("the server's response is invalid")
	ErrRefused         = errors.New("the model server rejected the request")
)

const (
	maxAnswer  = 1 << 20 // bytes of one response
	maxWaiting = 16
	maxTries   = 2
	retryAfter = 200 * time.Millisecond
	// DefaultTimeout is the time limit for one request, including retries.
	DefaultTimeout = 2 * time.Minute
)

// Options configures a model.
type Options struct {
	// Name is ollama/MODEL or openai/MODEL.
	Name string
	// Server is the base URL; empty means ollama's default.
	Server string
	// Token is the bearer token of an OpenAI-compatible server, if required.
	Token   string
	Timeout time.Duration // per request; 0 means DefaultTimeout
	// Concurrency is how many requests may be in progress at the same time; 0 means 1.
	Concurrency int
	// KeepAlive is how long ollama keeps the model in memory after a request; 0 means ollama's default, and a negative
	// value means forever.
	KeepAlive time.Duration
	// HTTP sends the requests; nil means a default transport that follows no redirects.
	HTTP http.RoundTripper
}

// Model is a model on a server. It is safe for concurrent use.
type Model struct {
	name    string
	server  *url.URL
	timeout time.Duration
	driver  driver
	remote  bool          // whether requests leave this machine, as far as the name and address show it
	slots   chan struct{} // one is held while a request is in progress
	waiting chan struct{}
	// coolingDown is set for a while after a timeout.
	coolingDown atomic.Bool
	digest      modelDigestCache
}

// driver is the API of a model's server.
type driver interface {
	chat(context.Context, Request) (Answer, error)
	status(context.Context) (Status, error)
}

// New returns the model configured by o without contacting the server. Errors describe invalid
// options.
func New(o Options) (*Model, error) {
	kind, name, ok := strings.Cut(o.Name, "/")
	if !ok || name == "" || len(o.Name) > 200 || strings.ContainsAny(o.Name, " \t\r\n") {
		return nil, fmt.Errorf("%q is not a valid model name; use ollama/MODEL (such as ollama/qwen3:8b) or openai/MODEL", o.Name)
	}
	if o.Server == "" && kind == "ollama" {
		o.Server = "http://127.0.0.1:11434"
	}
	if o.Server == "" && kind == "openai" {
		return nil, fmt.Errorf("%s needs the address of the model server; specify the address with --url, such as --url http://127.0.0.1:8000",
			o.Name)
	}
	server, err := url.Parse(o.Server)
	if err != nil || server.Host == "" || server.Scheme != "http" && server.Scheme != "https" {
		return nil, fmt.Errorf("the address of the model server, %q, is not an http or https URL", o.Server)
	}
	if server.User != nil {
		return nil, errors.New("the model server's URL must not contain a password; use a token instead")
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	o.Concurrency = min(max(1, o.Concurrency), maxWaiting)
	if o.HTTP == nil {
		o.HTTP = &http.Transport{
			ResponseHeaderTimeout: o.Timeout, MaxIdleConns: 1 + o.Concurrency, MaxIdleConnsPerHost: 1 + o.Concurrency, IdleConnTimeout: time.Minute,
		}
	}
	client := &http.Client{
		Transport:     limitTransport{o.HTTP, maxAnswer},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	m := &Model{
		name: o.Name, server: server, timeout: o.Timeout, remote: !isLoopback(server.Hostname()) || isCloudName(kind, name),
		slots: make(chan struct{}, o.Concurrency), waiting: make(chan struct{}, maxWaiting),
	}
	switch kind {
	case "ollama":
		m.driver = newOllama(name, server, client, o)
	case "openai":
		m.driver = &openAI{name: name, server: server, token: o.Token, client: client}
	default:
		return nil, fmt.Errorf("unknown model provider %q; use ollama or openai", kind)
	}
	return m, nil
}

// Name returns the configured name.
func (m *Model) Name() string { return m.name }

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// isCloudName reports whether an ollama server would forward requests for the model to ollama's cloud.
func isCloudName(kind, name string) bool {
	return kind == "ollama" && (strings.HasSuffix(name, ":cloud") || strings.HasSuffix(name, "-cloud"))
}

// cooldown is how long no requests are sent after a timeout, so that a batch does not have to wait until each of its
// requests times out.
const cooldown = 30 * time.Second

// Chat waits for its turn and then sends a request. The error it returns wraps one of this package's errors, such as
// ErrTimeout, or is the context's error.
func (m *Model) Chat(ctx context.Context, r Request) (Answer, error) {
	if m.coolingDown.Load() {
		return Answer{}, fmt.Errorf("%w recently; requests resume within 30 seconds (%w)", ErrTimeout, ErrBusy)
	}
	select {
	case m.waiting <- struct{}{}:
		defer func() { <-m.waiting }()
	default:
		return Answer{}, ErrBusy
	}
	limit, stop := context.WithTimeout(ctx, m.timeout)
	defer stop()
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-limit.Done():
		return Answer{}, m.classifyTimeout(ctx, limit.Err())
	}
	var a Answer
	var err error
	for try := 1; ; try++ {
		a, err = m.driver.chat(limit, r)
		if err == nil || try == maxTries || !errors.Is(err, ErrUnavailable) || limit.Err() != nil {
			break
		}
		select {
		case <-limit.Done():
		case <-time.After(retryAfter):
		}
	}
	if err != nil {
		if err = m.classifyTimeout(ctx, err); errors.Is(err, ErrTimeout) && m.coolingDown.CompareAndSwap(false, true) {
			time.AfterFunc(cooldown, func() { m.coolingDown.Store(false) })
		}
		return a, err
	}
	a.Digest = m.digest.getOrFetch(limit, m.driver)
	if r.MaxTokens > 0 && a.CompletionTokens > r.MaxTokens {
		return a, fmt.Errorf("%w: %d tokens, %d are allowed", ErrAnswerTooLong, a.CompletionTokens, r.MaxTokens)
	}
	return a, nil
}

// modelDigestCache caches the digest of a model's weights for a limited time, because the digest changes
// when the model is pulled again.
type modelDigestCache struct {
	value atomic.Pointer[string]
}

const (
	digestTTL     = time.Minute
	digestTimeout = 2 * time.Second
)

// getOrFetch returns the digest of the model's weights and caches it for a while. It returns "" if the server
// does not report one.
func (d *modelDigestCache) getOrFetch(ctx context.Context, from driver) string {
	if known := d.value.Load(); known != nil {
		return *known
	}
	ctx, stop := context.WithTimeout(ctx, digestTimeout)
	defer stop()
	s, _ := from.status(ctx)
	d.value.Store(&s.Digest)
	time.AfterFunc(digestTTL, func() { d.value.Store(nil) })
	return s.Digest
}

// classifyTimeout returns ErrTimeout if the model's time limit was exceeded, the context's error if the caller canceled
// the request, and err otherwise.
func (m *Model) classifyTimeout(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: longer than %s", ErrTimeout, m.timeout)
	}
	return err
}

// Status queries the server for the model's availability.
func (m *Model) Status(ctx context.Context) Status {
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	s, err := m.driver.status(ctx)
	s.Model, s.Server, s.Remote = m.name, m.server.Redacted(), s.Remote || m.remote
	if err != nil {
		s.Problem = err.Error()
	}
	if s.Available == nil {
		s.Available = []string{}
	}
	return s
}
