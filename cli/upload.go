package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
	"github.com/scf-service/service/internal/prose"
)

// uploadResult is the result of uploading files to an assessment.
type uploadResult struct {
	Added          []api.Document
	AlreadyPresent int
	Skipped        []skippedFile
}

// uploadNewFiles uploads the files whose content the assessment doesn't have yet. If the server rejects a
// file, the file is listed in the result and the upload continues. An error is returned only if it concerns
// all files.
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
	a.progress.Start("checking the files")
	for i, f := range files {
		a.progress.Update("uploading %d of %d: %s", i+1, len(files), filepath.Base(f.Name))
		sum, err := f.hash()
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
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
		"%s imported, %d unchanged, %d skipped",
		prose.Count(len(out.Added), "file", "files"),
		out.AlreadyPresent,
		len(out.Skipped),
	)
	return out, nil
}

// retryDelays lists the delays between attempts after the server asked to slow down. In total, they exceed
// the period of the server's rate limit.
var retryDelays = []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second}

// uploadFile uploads a file. remaining is the number of files left to upload, including this one.
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
				Filename: cmp.Or(api.CleanFilename(f.Name), "unnamed"),
				Content:  r,
			}, Category: category, Path: f.Path, Replaces: replaces,
		})
		_ = r.Close()
		if errors.Is(err, client.ErrConnectionLost) && try < len(retryDelays) {
			continue // the same content is the same document
		}
		if !api.IsCode(err, api.CodeRateLimit) || try >= len(retryDelays) {
			return doc, err
		}
		limit := api.AsError(err)
		a.warnSlowUploadOnce(remaining, limit)
		wait := retryDelays[try]
		if told := limit.RetryAfter(); told > 0 {
			wait = time.Duration(told) * time.Second
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// warnSlowUploadOnce tells the user once how long the remaining files will take at the server's rate
// limit.
func (a *app) warnSlowUploadOnce(remaining int, refused *api.Error) {
	perMinute, holder, flag := refused.RequestLimit(), "user or key", "--rate-limit documents=600"
	if len(refused.Details) > 0 && refused.Details[0].Budget == api.BudgetOrganization {
		holder, flag = "organization", "--rate-limit-org documents=6000"
	}
	if a.warnedSlowUpload || perMinute <= 0 || remaining <= perMinute {
		return
	}
	a.warnedSlowUpload = true
	minutes := (remaining + perMinute - 1) / perMinute
	duration := prose.Count(minutes, "minute", "minutes")
	if minutes >= 120 {
		duration = fmt.Sprintf("%d hours", (minutes+59)/60)
	}
	a.progress.Notice(
		"The server accepts %d files per minute per %s, so uploading the remaining %d will take about %s. "+
			"You can interrupt this command and run it again later to continue. The server's operator can raise the limit:\n"+
			"  service daemon %s",
		perMinute,
		holder,
		remaining,
		duration,
		flag,
	)
}

// sleep waits for d. If ctx ends first, it returns ctx's error.
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

// listDocuments returns all documents of an assessment.
func (a *app) listDocuments(ctx context.Context, assessment string) ([]api.Document, error) {
	l, err := fetchAll(
		ctx,
		a,
		api.ListDocuments,
		&api.DocumentsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}},
	)
	if err != nil {
		return nil, err
	}
	return l.Data, nil
}

// pollInterval returns the time between two checks of the reading progress. It is longer for a server,
// because servers limit the requests per minute.
func (a *app) pollInterval() time.Duration {
	if a.flags.Server != "" {
		return 4 * time.Second
	}
	return 200 * time.Millisecond
}

// waitUntilDocumentsRead waits until all of an assessment's documents have been read or have failed.
func (a *app) waitUntilDocumentsRead(ctx context.Context, assessment string) ([]api.Document, error) {
	a.progress.Start("reading the documents")
	defer a.progress.Done("")
	for {
		docs, open, err := a.updateReadingProgress(ctx, assessment)
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

// updateReadingProgress shows how many of an assessment's documents have been read. It returns all documents
// and the number that are still unread.
func (a *app) updateReadingProgress(ctx context.Context, assessment string) (docs []api.Document, unreadCount int, err error) {
	if docs, err = a.listDocuments(ctx, assessment); err != nil {
		return nil, 0, err
	}
	for _, d := range docs {
		if d.Status == api.DocumentUploaded || d.Status == api.DocumentProcessing {
			unreadCount++
		}
	}
	if unreadCount > 0 {
		training := a.describeTrainingProgress(ctx)
		if training != "" {
			training = ", " + training
		}
		a.progress.Update("reading the documents: %d of %d%s", len(docs)-unreadCount, len(docs), training)
	}
	return docs, unreadCount, nil
}

// describeTrainingProgress returns the progress of the embedder's training, which documents and drafts may be waiting for,
// or "" if none is running. Errors are ignored, because the description only adds to a progress line.
func (a *app) describeTrainingProgress(ctx context.Context) string {
	status, err := call(ctx, a, api.GetEmbeddingStatus, &api.None{})
	if err != nil || status.Training == nil {
		return ""
	}
	return fmt.Sprintf("training on catalog %s (needed only once): %d%%", status.Training.Label, status.Training.Progress)
}

// showWaitingProgress shows how many documents have been read, or how far the training of search has progressed, while
// a transition waits for them.
func (a *app) showWaitingProgress(ctx context.Context, assessment string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for sleep(ctx, a.pollInterval()) == nil {
			_, unread, err := a.updateReadingProgress(ctx, assessment)
			if err != nil {
				return // the transition itself reports errors
			}
			if unread > 0 {
				continue
			}
			if training := a.describeTrainingProgress(ctx); training != "" {
				a.progress.Update("%s", training)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
