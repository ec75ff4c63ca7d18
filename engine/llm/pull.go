package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
)

// PullProgress is how far a server is with fetching a model: in words, and of one file in bytes.
// Total is 0 where it isn't known.
type PullProgress struct {
	Status      string
	Done, Total int64
}

const (
	maxProgressBytes = 256 << 20 // bytes of telling how far it is: days of it
	// maxSilence bounds how long a server may say nothing of how far it is.
	maxSilence = 2 * time.Minute
)

// ErrPullFailed: the server tried, and says why it could not.
var ErrPullFailed = errors.New("the server could not fetch the model")

// ErrPullUnsupported: the server is of a kind that can't be asked to fetch models.
var ErrPullUnsupported = errors.New("only ollama fetches models when asked; see how your server gets them")

// Pull has the server fetch the model, and tells how far it is as often as the server does. It is
// done when it returns nil. What was fetched before a break is not fetched again.
func (m *Model) Pull(ctx context.Context, onProgress func(PullProgress)) error {
	o, ok := m.driver.(*ollama)
	if !ok {
		return ErrPullUnsupported
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	silent := time.AfterFunc(maxSilence, func() { stop(fmt.Errorf("%w: nothing was heard of it for %s", ErrTimeout, maxSilence)) })
	defer silent.Stop()
	succeeded := false
	err := o.pullClient.Pull(ctx, &api.PullRequest{Model: o.name}, func(p api.ProgressResponse) error {
		silent.Reset(maxSilence)
		succeeded = p.Status == "success"
		onProgress(PullProgress{Status: truncate(p.Status), Done: max(0, min(p.Completed, p.Total)), Total: max(0, p.Total)})
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		if err = classifyError(err); errors.Is(err, ErrInvalidResponse) {
			return fmt.Errorf("%w: %s", ErrPullFailed, strings.TrimPrefix(err.Error(), ErrInvalidResponse.Error()+": "))
		}
		return err
	case !succeeded:
		return fmt.Errorf("%w: it broke off; ask again, what is there already is kept", ErrUnavailable)
	}
	m.digest.value.Store(nil)
	return nil
}
