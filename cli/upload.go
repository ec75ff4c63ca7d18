package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// taken is what came of adding files to an assessment.
type taken struct {
	Added   []api.Document
	Present int
	Left    []skipped
}

// add uploads the files that the assessment does not have by content. A file that
// can't be taken is listed and the others go on; only what concerns all is an error.
func (a *app) add(ctx context.Context, assessment string, files []source, category string) (taken, error) {
	var out taken
	have, err := a.documents(ctx, assessment)
	if err != nil {
		return out, err
	}
	known := map[string]bool{}
	for _, d := range have {
		known[d.SHA256] = true
	}
	a.progress.Start("look at the files")
	for i, f := range files {
		a.progress.Update("upload %d of %d: %s", i+1, len(files), filepath.Base(f.Name))
		sum, err := f.hash()
		if err != nil {
			out.Left = append(out.Left, skipped{f.Name, reason(err).Error(), f.Path})
			continue
		}
		if known[sum] {
			out.Present++
			continue
		}
		doc, err := a.upload(ctx, assessment, f, category, "", len(files)-i)
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case api.IsCode(err, api.CodeValidation):
			out.Left = append(out.Left, skipped{f.Name, err.Error(), f.Path})
			continue
		case err != nil:
			return out, err
		}
		known[sum] = true
		out.Added = append(out.Added, *doc)
	}
	a.progress.Done("%s taken, %d there already, %d left out", count(len(out.Added), "file", "files"), out.Present, len(out.Left))
	return out, nil
}

// waits are how long to wait where a server asks to slow down; together more than its window.
var waits = []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second}

// upload sends a file; left is how many there are with those that come after it.
func (a *app) upload(ctx context.Context, assessment string, f source, category, replaces string, left int) (*api.Document, error) {
	for try := 0; ; try++ {
		r, err := f.open()
		if err != nil {
			return nil, api.Invalid("", "%v", reason(err))
		}
		doc, err := call(ctx, a, api.UploadDocument, &api.UploadDocumentInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment},
			File: api.UploadFile{Filename: filepath.Base(f.Name), Content: r}, Category: category, Path: f.Path, Replaces: replaces})
		_ = r.Close()
		if errors.Is(err, client.ErrBrokeOff) && try < len(waits) {
			continue // the same content again is the same document
		}
		if !api.IsCode(err, api.CodeRateLimit) || try >= len(waits) {
			return doc, err
		}
		limit := api.AsError(err)
		a.slow(left, limit.Window())
		wait := waits[try]
		if told := limit.RetryAfter(); told > 0 {
			wait = time.Duration(told) * time.Second
		}
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// slow tells once what it means for the files that are left that the server allows so many
// requests a minute.
func (a *app) slow(left, window int) {
	if a.slowTold || window <= 0 || left <= window {
		return
	}
	a.slowTold = true
	minutes := (left + window - 1) / window
	lasts := count(minutes, "minute", "minutes")
	if minutes >= 120 {
		lasts = fmt.Sprintf("%d hours", (minutes+59)/60)
	}
	a.progress.Say("The server takes %d files a minute of one person or key: the %d that are left take about %s. "+
		"What is there is kept: interrupt it, and the same command goes on. Who runs the server can allow more:\n  service daemon --rate-limit documents=600", window, left, lasts)
}

// pause waits, or returns early with the reason why ctx ended.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// documents lists all documents of an assessment.
func (a *app) documents(ctx context.Context, assessment string) ([]api.Document, error) {
	l, err := collect(ctx, 0, "", func(p api.Paging) (*api.List[api.Document], error) {
		return call(ctx, a, api.ListDocuments, &api.DocumentsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Paging: p})
	})
	if err != nil {
		return nil, err
	}
	return l.Data, nil
}

// pace is the time between two looks at how far documents are read. A server allows
// few requests a minute; what is on this machine may be asked often.
func (a *app) pace() time.Duration {
	if a.flags.Server != "" {
		return 4 * time.Second
	}
	return 200 * time.Millisecond
}

// awaitReading waits until all of an assessment's documents are read or have failed.
func (a *app) awaitReading(ctx context.Context, assessment string) ([]api.Document, error) {
	a.progress.Start("read the documents")
	defer a.progress.Done("")
	for {
		docs, open, err := a.reading(ctx, assessment)
		if err != nil && !api.IsCode(err, api.CodeRateLimit) {
			return nil, err
		}
		if err == nil && open == 0 {
			return docs, nil
		}
		if err := pause(ctx, a.pace()); err != nil {
			return nil, err
		}
	}
}

// reading tells how far an assessment's documents are read: all of them, and how many are open.
func (a *app) reading(ctx context.Context, assessment string) (docs []api.Document, open int, err error) {
	if docs, err = a.documents(ctx, assessment); err != nil {
		return nil, 0, err
	}
	for _, d := range docs {
		if d.Status == api.DocumentUploaded || d.Status == api.DocumentProcessing {
			open++
		}
	}
	a.progress.Update("read the documents: %d of %d%s", len(docs)-open, len(docs), a.training(ctx, open))
	return docs, open, nil
}

// training tells in words how far the embedder is trained that open documents wait for;
// empty where they don't. It adds to a progress line: what goes wrong here is no trouble.
func (a *app) training(ctx context.Context, open int) string {
	if open == 0 {
		return ""
	}
	status, err := call(ctx, a, api.GetEmbeddingStatus, &api.None{})
	if err != nil || status.Training == nil {
		return ""
	}
	return fmt.Sprintf(", learning the words of catalog %s: %d %% (once)", status.Training.Label, status.Training.Progress)
}

// watchReading tells how far documents are read while a transition waits for it.
func (a *app) watchReading(ctx context.Context, assessment string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for pause(ctx, a.pace()) == nil {
			if _, _, err := a.reading(ctx, assessment); err != nil {
				return // the transition itself tells what is wrong
			}
		}
	}()
	return func() {
		cancel()
		<-over
	}
}
