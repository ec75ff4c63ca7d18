package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
)

// PullProgress is the progress of a download: a status text and the number of bytes of the current file.
// Total is 0 if it is unknown.
type PullProgress struct {
	Status      string
	Done, Total int64
}

const (
	maxProgressBytes = 256 << 20 // bytes of progress reports, enough for days
	// maxSilence is how long a server may go without reporting progress.
	maxSilence = 2 * time.Minute
)

// ErrPullFailed reports that the server failed to download the model; the server's message is included.
var ErrPullFailed = errors.New("the server could not download the model")

// ErrPullUnsupported reports that the server doesn't support download requests.
var ErrPullUnsupported = errors.New("only Ollama can download models on request; for other servers, see their documentation")

// Pull makes the server download the model and calls onProgress as the server reports progress. It
// returns nil when the download is complete. An interrupted download resumes on the next call.
func (m *Model) Pull(ctx context.Context, onProgress func(PullProgress)) error {
	o, ok := m.driver.(*ollama)
	if !ok {
		return ErrPullUnsupported
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	silent := time.AfterFunc(maxSilence, func() { stop(fmt.Errorf("%w: no progress was reported for %s", ErrTimeout, maxSilence)) })
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
		return fmt.Errorf("%w: the download was interrupted; start the download again to resume it", ErrUnavailable)
	}
	m.digest.value.Store(nil)
	return nil
}
