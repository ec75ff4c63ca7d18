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

// uploadResult is what came of adding files to an assessment.
type uploadResult struct {
	Added          []api.Document
	AlreadyPresent int
	Skipped        []skippedFile
}

// uploadNewFiles uploads the files that the assessment does not have by content. A file that
// can't be taken is listed and the others go on; only what concerns all is an error.
func (a *app) uploadNewFiles(ctx context.Context, assessment string, files []sourceFile, category string) (uploadResult, error) {
	var out uploadResult
	have, err := a.listDocuments(ctx, assessment)
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
			out.Skipped = append(out.Skipped, skippedFile{Name: f.Name, Reason: errorWithoutPath(err).Error(), path: f.Path})
			continue
		}
		if known[sum] {
			out.AlreadyPresent++
			continue
		}
		doc, err := a.uploadFile(ctx, assessment, f, category, "", len(files)-i)
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case api.IsCode(err, api.CodeValidation):
			out.Skipped = append(out.Skipped, skippedFile{Name: f.Name, Reason: err.Error(), path: f.Path})
			continue
		case err != nil:
			return out, err
		}
		known[sum] = true
		out.Added = append(out.Added, *doc)
	}
	a.progress.Done(
		"%s taken, %d there already, %d left out",
		pluralize(len(out.Added), "file", "files"),
		out.AlreadyPresent,
		len(out.Skipped),
	)
	return out, nil
}

// retryDelays are how long to wait where a server asks to slow down; together more than its window.
var retryDelays = []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second}

// uploadFile sends a file; left is how many there are with those that come after it.
func (a *app) uploadFile(
	ctx context.Context,
	assessment string,
	f sourceFile,
	category, replaces string,
	remaining int,
) (*api.Document, error) {
	for try := 0; ; try++ {
		r, err := f.open()
		if err != nil {
			return nil, api.Invalid("", "%v", errorWithoutPath(err))
		}
		doc, err := call(ctx, a, api.UploadDocument, &api.UploadDocumentInput{
			AssessmentInput: api.AssessmentInput{AssessmentID: assessment},
			File: api.UploadFile{
				Filename: filepath.Base(f.Name),
				Content:  r,
			}, Category: category, Path: f.Path, Replaces: replaces,
		})
		_ = r.Close()
		if errors.Is(err, client.ErrConnectionLost) && try < len(retryDelays) {
			continue // the same content again is the same document
		}
		if !api.IsCode(err, api.CodeRateLimit) || try >= len(retryDelays) {
			return doc, err
		}
		limit := api.AsError(err)
		a.warnRateLimit(remaining, limit.RequestLimit())
		wait := retryDelays[try]
		if told := limit.RetryAfter(); told > 0 {
			wait = time.Duration(told) * time.Second
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// warnRateLimit tells once what it means for the files that are left that the server allows so many
// requests a minute.
func (a *app) warnRateLimit(remaining, perMinute int) {
	if a.warnedSlowUpload || perMinute <= 0 || remaining <= perMinute {
		return
	}
	a.warnedSlowUpload = true
	minutes := (remaining + perMinute - 1) / perMinute
	duration := pluralize(minutes, "minute", "minutes")
	if minutes >= 120 {
		duration = fmt.Sprintf("%d hours", (minutes+59)/60)
	}
	a.progress.Notice("The server takes %d files a minute of one person or key: the %d that are left take about %s. "+
		"What is there is kept: interrupt it, and the same command goes on. Who runs the server can allow more:\n  service daemon --rate-limit documents=600", perMinute, remaining, duration)
}

// sleep waits, or returns early with the reason why ctx ended.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// listDocuments lists all documents of an assessment.
func (a *app) listDocuments(ctx context.Context, assessment string) ([]api.Document, error) {
	l, err := collectPages(ctx, 0, "", func(p api.Paging) (*api.List[api.Document], error) {
		return call(
			ctx,
			a,
			api.ListDocuments,
			&api.DocumentsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Paging: p},
		)
	})
	if err != nil {
		return nil, err
	}
	return l.Data, nil
}

// pollInterval is the time between two looks at how far documents are read. A server allows
// few requests a minute; what is on this machine may be asked often.
func (a *app) pollInterval() time.Duration {
	if a.flags.Server != "" {
		return 4 * time.Second
	}
	return 200 * time.Millisecond
}

// waitUntilRead waits until all of an assessment's documents are read or have failed.
func (a *app) waitUntilRead(ctx context.Context, assessment string) ([]api.Document, error) {
	a.progress.Start("read the documents")
	defer a.progress.Done("")
	for {
		docs, open, err := a.readingProgress(ctx, assessment)
		if err != nil && !api.IsCode(err, api.CodeRateLimit) {
			return nil, err
		}
		if err == nil && open == 0 {
			return docs, nil
		}
		if err := sleep(ctx, a.pollInterval()); err != nil {
			return nil, err
		}
	}
}

// readingProgress tells how far an assessment's documents are read: all of them, and how many are open.
func (a *app) readingProgress(ctx context.Context, assessment string) (docs []api.Document, open int, err error) {
	if docs, err = a.listDocuments(ctx, assessment); err != nil {
		return nil, 0, err
	}
	for _, d := range docs {
		if d.Status == api.DocumentUploaded || d.Status == api.DocumentProcessing {
			open++
		}
	}
	a.progress.Update("read the documents: %d of %d%s", len(docs)-open, len(docs), a.trainingProgress(ctx, open))
	return docs, open, nil
}

// trainingProgress tells in words how far the embedder is trained that open documents wait for;
// empty where they don't. It adds to a progress line: what goes wrong here is no trouble.
func (a *app) trainingProgress(ctx context.Context, open int) string {
	if open == 0 {
		return ""
	}
	status, err := call(ctx, a, api.GetEmbeddingStatus, &api.None{})
	if err != nil || status.Training == nil {
		return ""
	}
	return fmt.Sprintf(", learning the words of catalog %s: %d %% (once)", status.Training.Label, status.Training.Progress)
}

// showReadingProgress tells how far documents are read while a transition waits for it.
func (a *app) showReadingProgress(ctx context.Context, assessment string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for sleep(ctx, a.pollInterval()) == nil {
			if _, _, err := a.readingProgress(ctx, assessment); err != nil {
				return // the transition itself tells what is wrong
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
