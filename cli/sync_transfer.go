package cli

import (
	"bytes"
	"context"
	"errors"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// encodeDryRun returns a dry-run flag in the form that the API expects.
func encodeDryRun(dryRun bool) string {
	if dryRun {
		return "true"
	}
	return ""
}

// toUploadFile returns the content of a sync message as an upload.
func toUploadFile(data []byte) api.UploadFile {
	return api.UploadFile{Filename: "parcel", Content: bytes.NewReader(data)}
}

// maxFilesPerRequest and maxBytesPerRequest limit the size of a request, and thus how much must be sent again if a
// request is interrupted.
const (
	maxFilesPerRequest = 50
	maxBytesPerRequest = 8 << 20
)

// transferMissingFiles copies the files of a batch that the other side doesn't have yet, and returns their number. In
// a dry run it only counts them.
func transferMissingFiles(ctx context.Context, from, to *client.Client, p *api.SyncBatch, dryRun bool) (n int, err error) {
	if len(p.Files) == 0 {
		return 0, nil
	}
	var missing []string
	for all := p.Files; len(all) > 0; {
		page := all[:min(1000, len(all))]
		all = all[len(page):]
		in := &api.MissingSyncInput{AssessmentID: p.AssessmentID}
		in.Body.SHA256 = page
		m, err := client.Do(ctx, to, api.MissingSyncFiles, in)
		if err != nil {
			return n, err
		}
		missing = append(missing, m.SHA256...)
	}
	if dryRun {
		return len(missing), nil
	}
	sizes := map[string]int64{}
	for i, bytes := range p.FileBytes {
		if i < len(p.Files) {
			sizes[p.Files[i]] = bytes
		}
	}
	for maxFiles := maxFilesPerRequest; len(missing) > 0; {
		batch := nextBatch(missing, sizes, maxFiles)
		taken, err := transferBatch(ctx, from, to, p.AssessmentID, batch)
		if api.IsCode(err, api.CodeValidation) && len(batch) > 1 { // the files are larger than declared
			maxFiles = len(batch) / 2
			continue
		}
		if err != nil {
			return n, err
		}
		missing = missing[len(batch):]
		n += taken
	}
	return n, nil
}

// nextBatch returns as many of the first files as fit into one request.
func nextBatch(files []string, sizes map[string]int64, maxFiles int) []string {
	n, left := 0, int64(maxBytesPerRequest)
	for n < min(maxFiles, len(files)) && (n == 0 || sizes[files[n]] <= left) {
		left -= sizes[files[n]]
		n++
	}
	return files[:n]
}

// transferBatch copies files from one side to the other in a single request, and returns the number of files copied.
func transferBatch(ctx context.Context, from, to *client.Client, assessment string, batch []string) (int, error) {
	in := &api.MissingSyncInput{AssessmentID: assessment}
	in.Body.SHA256 = batch
	f, err := client.Do(ctx, from, api.DownloadSyncFiles, in)
	if err != nil {
		return 0, err
	}
	out, err := client.Do(
		ctx,
		to,
		api.UploadSyncFiles,
		&api.UploadSyncInput{AssessmentID: assessment, File: api.UploadFile{Filename: "files.tar", Content: f.Content}},
	)
	if err = errors.Join(err, f.Content.Close()); err != nil {
		return 0, err
	}
	return out.Imported, nil
}

// transferCatalog copies the catalog version that a synced assessment uses to the other side. If hasCustom is
// set, it also copies the custom frameworks and controls that the assessment uses.
func transferCatalog(ctx context.Context, from, to *client.Client, assessment string, hasCustom bool) error {
	f, err := client.Do(ctx, from, api.GetSyncCatalog, &api.SyncInput{AssessmentID: assessment})
	if err != nil {
		return err
	}
	_, err = client.Do(
		ctx,
		to,
		api.UploadSyncCatalog,
		&api.UploadSyncCatalogInput{File: api.UploadFile{Filename: "catalog", Content: f.Content}},
	)
	if err = errors.Join(err, f.Content.Close()); err != nil || !hasCustom {
		return err
	}
	if f, err = client.Do(ctx, from, api.GetSyncFrameworks, &api.SyncInput{AssessmentID: assessment}); err != nil {
		return err
	}
	_, err = client.Do(
		ctx,
		to,
		api.UploadSyncFrameworks,
		&api.UploadSyncCatalogInput{File: api.UploadFile{Filename: "frameworks", Content: f.Content}},
	)
	return errors.Join(err, f.Content.Close())
}
