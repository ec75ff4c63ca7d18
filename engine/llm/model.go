// Package llm reaches language models: ollama, or any server that speaks OpenAI's
// protocol. It asks for JSON by schema, bounds what is asked and answered in tokens,
// bytes and time, tries again where that can help, and asks one model one thing at a time.
//
// It knows nothing of the domain and believes nothing: what an answer says is for the
// caller to check.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Request is one question.
type Request struct {
	System, User string
	// Schema is the JSON Schema of the answer.
	Schema json.RawMessage
	// MaxTokens bounds the answer.
	MaxTokens int
}

// Answer is what a model said.
type Answer struct {
	Text, Model                    string
	Digest                         string // of the model's weights; empty where the server doesn't tell
	PromptTokens, CompletionTokens int    // tokens
}

// Status is how a model stands.
type Status struct {
	Model     string   `json:"model"`
	Server    string   `json:"server"`
	Ready     bool     `json:"ready"`
	Digest    string   `json:"digest"`
	Available []string `json:"available"`
	Problem   string   `json:"problem"`
}

// The reasons for which there is no answer. All are for errors.Is.
var (
	ErrUnavailable     = errors.New("the model's server does not answer")
	ErrTimeout         = errors.New("the model took too long")
	ErrAnswerTooLong   = errors.New("the model answered more than it may")
	ErrUnknownModel    = errors.New("the server has no such model")
	ErrContextExceeded = errors.New("the question is longer than the model's context")
	ErrBusy            = errors.New("too many questions wait for the model")
	ErrInvalidResponse = errors.New("the server's answer can't be read")
)

const (
	maxAnswer  = 1 << 20 // bytes of one answer, as it comes over the wire
	maxWaiting = 16
	maxTries   = 2
	retryAfter = 200 * time.Millisecond
	// DefaultTimeout bounds one question with all its tries.
	DefaultTimeout = 2 * time.Minute
)

// Options name a model.
type Options struct {
	// Name is ollama/MODEL or openai/MODEL.
	Name string
	// Server is the address: empty for ollama's usual one.
	Server string
	// Token is sent to an OpenAI-compatible server, where it wants one.
	Token   string
	Timeout time.Duration // of one question; 0 for DefaultTimeout
	// KeepAlive is how long ollama keeps the model in memory after a question; 0 for its own
	// default, less than 0 for ever.
	KeepAlive time.Duration
	// HTTP carries the calls; nil for one of its own, without redirects.
	HTTP http.RoundTripper
}

// Model is one model on one server. It is safe for concurrent use.
type Model struct {
	name    string
	server  *url.URL
	timeout time.Duration
	driver  driver
	slot    chan struct{} // one place: who holds it is being answered
	waiting chan struct{}
	// coolingDown: it took too long a moment ago.
	coolingDown atomic.Bool
	digest      modelDigestCache
}

type driver interface {
	chat(context.Context, Request) (Answer, error)
	status(context.Context) (Status, error)
	// reportsDigest is whether status knows of which weights a model is.
	reportsDigest() bool
}

// New is the model of a name; it calls nobody. Errors say what is wrong with the options.
func New(o Options) (*Model, error) {
	kind, name, ok := strings.Cut(o.Name, "/")
	if !ok || name == "" || len(o.Name) > 200 || strings.ContainsAny(o.Name, " \t\r\n") {
		return nil, fmt.Errorf("%q names no model; write it as ollama/qwen3:8b or openai/MODEL", o.Name)
	}
	if o.Server == "" && kind == "ollama" {
		o.Server = "http://127.0.0.1:11434"
	}
	server, err := url.Parse(o.Server)
	if err != nil || server.Host == "" || server.Scheme != "http" && server.Scheme != "https" {
		return nil, fmt.Errorf("the model's server %q is no http or https address", o.Server)
	}
	if server.User != nil {
		return nil, errors.New("the model's server must not hold a password; give a token instead")
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.HTTP == nil {
		o.HTTP = &http.Transport{ResponseHeaderTimeout: o.Timeout, MaxIdleConns: 2, IdleConnTimeout: time.Minute}
	}
	client := &http.Client{
		Transport:     limitTransport{o.HTTP, maxAnswer},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	m := &Model{name: o.Name, server: server, timeout: o.Timeout, slot: make(chan struct{}, 1), waiting: make(chan struct{}, maxWaiting)}
	switch kind {
	case "ollama":
		m.driver = newOllama(name, server, client, o)
	case "openai":
		m.driver = &openAI{name: name, server: server, token: o.Token, client: client}
	default:
		return nil, fmt.Errorf("there is no kind of model %q; it is ollama or openai", kind)
	}
	return m, nil
}

// Name is the name it was made with.
func (m *Model) Name() string { return m.name }

// cooldown is how long a model that took too long is left in peace: a batch of questions
// shall not wait out the time limit with each.
const cooldown = 30 * time.Second

// Chat asks the model, in its turn. The errors are those above, or ctx's.
func (m *Model) Chat(ctx context.Context, r Request) (Answer, error) {
	if m.coolingDown.Load() {
		return Answer{}, fmt.Errorf("%w a moment ago; it is asked again in half a minute", ErrTimeout)
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
	case m.slot <- struct{}{}:
		defer func() { <-m.slot }()
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
		return Answer{}, err
	}
	a.Digest = m.digest.get(limit, m.driver)
	if r.MaxTokens > 0 && a.CompletionTokens > r.MaxTokens {
		return a, fmt.Errorf("%w: %d tokens, %d are allowed", ErrAnswerTooLong, a.CompletionTokens, r.MaxTokens)
	}
	return a, nil
}

// modelDigestCache remembers for a while which weights a name stands for: they change when
// somebody pulls the model anew.
type modelDigestCache struct {
	value atomic.Pointer[string]
}

const (
	digestTTL     = time.Minute
	digestTimeout = 2 * time.Second
)

// get asks once in a while, and not a server that doesn't tell.
func (d *modelDigestCache) get(ctx context.Context, from driver) string {
	if !from.reportsDigest() {
		return ""
	}
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

// classifyTimeout tells one's own time limit from the caller's end.
func (m *Model) classifyTimeout(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: longer than %s", ErrTimeout, m.timeout)
	}
	return err
}

// Status asks the server whether the model is there.
func (m *Model) Status(ctx context.Context) Status {
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	s, err := m.driver.status(ctx)
	s.Model, s.Server = m.name, m.server.Redacted()
	if err != nil {
		s.Problem = err.Error()
	}
	if s.Available == nil {
		s.Available = []string{}
	}
	return s
}
