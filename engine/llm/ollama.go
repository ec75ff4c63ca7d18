package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/ollama/ollama/api"
)

// ollama speaks to a server of that name.
type ollama struct {
	name   string
	client *api.Client
	// puller asks for a model to be fetched, which is told in many lines.
	puller *api.Client
	keep   *api.Duration
}

func newOllama(name string, server *url.URL, web *http.Client, o Options) *ollama {
	long := *web
	long.Transport = bounded{o.HTTP, maxTold}
	d := &ollama{name: name, client: api.NewClient(server, web), puller: api.NewClient(server, &long)}
	if o.KeepAlive != 0 {
		d.keep = &api.Duration{Duration: o.KeepAlive}
	}
	return d
}

func (o *ollama) chat(ctx context.Context, r Request) (Answer, error) {
	var text strings.Builder
	a := Answer{Model: "ollama/" + o.name}
	pieces, done := 0, false
	stream := true
	err := o.client.Chat(ctx, &api.ChatRequest{Model: o.name, Stream: &stream, Format: r.Schema,
		Messages: []api.Message{{Role: "system", Content: r.System}, {Role: "user", Content: r.User}},
		Options:  map[string]any{"temperature": 0, "seed": 1, "num_predict": r.MaxTokens, "num_ctx": contextFor(r)},
		Think:    &api.ThinkValue{Value: false}, KeepAlive: o.keep,
	}, func(c api.ChatResponse) error {
		// Each piece is a token or more: a server that streams for ever ends here.
		if pieces++; r.MaxTokens > 0 && pieces > r.MaxTokens+16 || text.Len()+len(c.Message.Content) > maxAnswer {
			return fmt.Errorf("%w: it goes on behind %d tokens", ErrTooMuch, r.MaxTokens)
		}
		text.WriteString(c.Message.Content)
		if c.Done {
			done = true
			a.Prompt, a.Completion = max(0, c.PromptEvalCount), max(0, c.EvalCount)
		}
		return nil
	})
	a.Text = text.String()
	switch {
	case err != nil:
		return a, sort(err)
	case !done && ctx.Err() != nil:
		return a, ctx.Err()
	case !done:
		return a, fmt.Errorf("%w: the answer broke off", ErrAway)
	}
	return a, nil
}

// contextFor is a context that holds the question and the answer: about three bytes a token.
func contextFor(r Request) int {
	need := (len(r.System)+len(r.User)+len(r.Schema))/3 + r.MaxTokens + 256
	for size := 4096; size < 65536; size *= 2 {
		if need <= size {
			return size
		}
	}
	return 65536
}

func (*ollama) tells() bool { return true }

func (o *ollama) status(ctx context.Context) (Status, error) {
	var s Status
	all, err := o.client.List(ctx)
	if err != nil {
		return s, sort(err)
	}
	for _, m := range all.Models {
		if len(s.Available) < 200 {
			s.Available = append(s.Available, "ollama/"+m.Name)
		}
		if m.Name == o.name || m.Name == o.name+":latest" {
			s.Ready, s.Digest = true, m.Digest
		}
	}
	if !s.Ready {
		return s, fmt.Errorf("%w: %s; `service model pull ollama/%s` fetches it", ErrUnknown, o.name, o.name)
	}
	return s, nil
}

// sort puts a client's error among the reasons of this package.
func sort(err error) error {
	var status api.StatusError
	var network net.Error
	switch {
	case errors.Is(err, ErrTooMuch), errors.Is(err, ErrAway), errors.Is(err, ErrSlow), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &status) && status.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %s", ErrUnknown, clip(status.ErrorMessage))
	case errors.As(err, &status) && strings.Contains(strings.ToLower(status.ErrorMessage), "context"):
		return fmt.Errorf("%w: %s", ErrContext, clip(status.ErrorMessage))
	case errors.As(err, &status), errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %s", ErrAway, clip(err.Error()))
	}
	return fmt.Errorf("%w: %s", ErrNonsense, clip(err.Error()))
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 300)], "") }
