package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
)

// Pulled is how far a server is with fetching a model: in words, and of one file in bytes.
// Total is 0 where it isn't known.
type Pulled struct {
	Doing       string
	Done, Total int64
}

const (
	maxTold = 256 << 20 // bytes of telling how far it is: days of it
	// maxSilence bounds how long a server may say nothing of how far it is.
	maxSilence = 2 * time.Minute
)

// ErrNotPulled: the server tried, and says why it could not.
var ErrNotPulled = errors.New("the server could not fetch the model")

// ErrCantPull: the server is of a kind that can't be asked to fetch models.
var ErrCantPull = errors.New("only ollama fetches models when asked; see how your server gets them")

// Pull has the server fetch the model, and tells how far it is as often as the server does. It is
// done when it returns nil. What was fetched before a break is not fetched again.
func (m *Model) Pull(ctx context.Context, told func(Pulled)) error {
	o, ok := m.driver.(*ollama)
	if !ok {
		return ErrCantPull
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	silent := time.AfterFunc(maxSilence, func() { stop(fmt.Errorf("%w: nothing was heard of it for %s", ErrSlow, maxSilence)) })
	defer silent.Stop()
	whole := false
	err := o.puller.Pull(ctx, &api.PullRequest{Model: o.name}, func(p api.ProgressResponse) error {
		silent.Reset(maxSilence)
		whole = p.Status == "success"
		told(Pulled{Doing: clip(p.Status), Done: max(0, min(p.Completed, p.Total)), Total: max(0, p.Total)})
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		if err = sort(err); errors.Is(err, ErrNonsense) {
			return fmt.Errorf("%w: %s", ErrNotPulled, strings.TrimPrefix(err.Error(), ErrNonsense.Error()+": "))
		}
		return err
	case !whole:
		return fmt.Errorf("%w: it broke off; ask again, what is there already is kept", ErrAway)
	}
	m.digest.known.Store(nil)
	return nil
}
