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

// ollama is a driver for ollama servers.
type ollama struct {
	name   string
	client *api.Client
	// pullClient has a higher size limit, because progress is reported in many lines.
	pullClient *api.Client
	keepAlive  *api.Duration
}

func newOllama(name string, server *url.URL, client *http.Client, o Options) *ollama {
	pullHTTP := *client
	pullHTTP.Transport = limitTransport{o.HTTP, maxProgressBytes}
	d := &ollama{name: name, client: api.NewClient(server, client), pullClient: api.NewClient(server, &pullHTTP)}
	if o.KeepAlive != 0 {
		d.keepAlive = &api.Duration{Duration: o.KeepAlive}
	}
	return d
}

func (o *ollama) chat(ctx context.Context, r Request) (Answer, error) {
	var text strings.Builder
	a := Answer{Model: "ollama/" + o.name}
	pieces, done, cut := 0, false, false
	stream := true
	err := o.client.Chat(ctx, &api.ChatRequest{
		Model: o.name, Stream: &stream, Format: r.Schema,
		Messages: []api.Message{{Role: "system", Content: r.System}, {Role: "user", Content: r.User}},
		Options:  map[string]any{"temperature": 0, "seed": r.seed(), "num_predict": r.MaxTokens, "num_ctx": contextSize(r)},
		Think:    &api.ThinkValue{Value: false}, KeepAlive: o.keepAlive,
	}, func(c api.ChatResponse) error {
		// Each chunk has at least one token, so counting chunks stops a server that streams endlessly.
		if pieces++; r.MaxTokens > 0 && pieces > r.MaxTokens+16 || text.Len()+len(c.Message.Content) > maxAnswer {
			return fmt.Errorf("%w: the answer continues after %d tokens", ErrAnswerTooLong, r.MaxTokens)
		}
		text.WriteString(c.Message.Content)
		if c.Done {
			done, cut = true, c.DoneReason == "length"
			a.ServedModel = c.Model
			a.PromptTokens, a.CompletionTokens = max(0, c.PromptEvalCount), max(0, c.EvalCount)
		}
		return nil
	})
	a.Text = text.String()
	switch {
	case err != nil:
		return a, classifyError(err)
	case !done && ctx.Err() != nil:
		return a, ctx.Err()
	case !done:
		return a, fmt.Errorf("%w: the response ended unexpectedly", ErrUnavailable)
	case cut:
		return a, fmt.Errorf("%w: the answer was cut off at %d tokens", ErrAnswerTooLong, r.MaxTokens)
	}
	return a, nil
}

// contextSize returns a context size that fits prompt and answer, assuming about three bytes per
// token.
func contextSize(r Request) int {
	need := (len(r.System)+len(r.User)+len(r.Schema))/3 + r.MaxTokens + 256
	size := 4096
	for size < need && size < 1<<18 {
		size *= 2
	}
	return size
}

func (o *ollama) status(ctx context.Context) (Status, error) {
	var s Status
	all, err := o.client.List(ctx)
	if err != nil {
		return s, classifyError(err)
	}
	for _, m := range all.Models {
		if len(s.Available) < 200 {
			s.Available = append(s.Available, "ollama/"+m.Name)
		}
		if m.Name == o.name || m.Name == o.name+":latest" {
			s.Ready, s.Digest, s.Remote = true, m.Digest, m.RemoteHost != ""
		}
	}
	if !s.Ready {
		return s, fmt.Errorf("%w: %s; download it with `service model pull ollama/%s`", ErrUnknownModel, o.name, o.name)
	}
	return s, nil
}

// classifyError maps a client error to one of this package's errors.
func classifyError(err error) error {
	var status api.StatusError
	var network net.Error
	switch {
	case errors.Is(err, ErrAnswerTooLong),
		errors.Is(err, ErrUnavailable),
		errors.Is(err, ErrTimeout),
		errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, context.Canceled):
		return withoutURL(err)
	case errors.As(err, &status) && status.StatusCode == http.StatusNotFound && status.ErrorMessage == "":
		return fmt.Errorf("%w: the server answered 404 Not Found", ErrNotReached)
	case errors.As(err, &status) && status.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %s", ErrUnknownModel, truncate(status.ErrorMessage))
	case errors.As(err, &status) && strings.Contains(strings.ToLower(status.ErrorMessage), "context"):
		return fmt.Errorf("%w: %s", ErrContextExceeded, truncate(status.ErrorMessage))
	case errors.As(err, &status), errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %s", ErrUnavailable, truncate(err.Error()))
	}
	return fmt.Errorf("%w: %s", ErrInvalidResponse, truncate(err.Error()))
}

func truncate(s string) string { return strings.ToValidUTF8(s[:min(len(s), 300)], "") }
