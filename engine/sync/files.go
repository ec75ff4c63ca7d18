package sync

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	gosync "sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

const (
	// pendingFileTTL is how long an uploaded file may wait for a record that refers to it.
	pendingFileTTL = 7 * 24 * time.Hour
	// maxPendingFiles is the maximum number of pending files of an assessment; maxBlobSize is the
	// maximum size of each.
	maxPendingFiles = 10_000
	maxBlobSize     = 256 << 20
	// Files of up to smallFile bytes are written in parallel, because a disk can flush several files in the time it
	// takes to flush one.
	parallelWrites = 8
	smallFile      = 1 << 20
)

// UploadFiles stores files that are uploaded as a tar before their documents are pushed. If the tar is
// cut off, the complete files are still stored.
func (s *Service) UploadFiles(ctx context.Context, by api.Caller, in *api.UploadSyncInput) (*api.ImportedSync, error) {
	if err := s.requireLinkAndPermission(ctx, by, in.AssessmentID, "document:write"); err != nil {
		return nil, err
	}
	k := s.newFileSaver()
	err := saveTar(ctx, k, tar.NewReader(in.File.Content))
	stored, failed := k.wait()
	if err == nil {
		err = failed
	}
	if failed := s.recordAndExpirePendingFiles(ctx, by, in.AssessmentID, stored...); failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	return &api.ImportedSync{Imported: len(stored)}, nil
}

// saveTar stores the files in a tar.
func saveTar(ctx context.Context, k *fileSaver, t *tar.Reader) error {
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return api.Invalid("file", "the tar file is incomplete: %v", err)
		}
		if err := k.save(ctx, h.Name, h.Size, t); err != nil {
			return err
		}
	}
}

// fileSaver stores files under their expected hashes, small ones in parallel.
type fileSaver struct {
	s       *Service
	slots   chan struct{}
	workers gosync.WaitGroup

	mu    gosync.Mutex
	saved []string
	err   error
}

func (s *Service) newFileSaver() *fileSaver {
	return &fileSaver{s: s, slots: make(chan struct{}, parallelWrites)}
}

// save stores a file, possibly in the background, so the returned error may concern an earlier file.
func (k *fileSaver) save(ctx context.Context, sha string, size int64, r io.Reader) error {
	if size > smallFile {
		return k.recordResult(sha, k.s.saveFile(ctx, sha, r))
	}
	data, err := io.ReadAll(io.LimitReader(r, smallFile+1))
	if err != nil {
		return k.recordResult(sha, saveError(sha, err))
	}
	k.slots <- struct{}{}
	k.workers.Go(func() {
		_ = k.recordResult(sha, k.s.saveFile(ctx, sha, bytes.NewReader(data)))
		<-k.slots
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func (k *fileSaver) recordResult(sha string, err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.saved = append(k.saved, sha)
	} else if k.err == nil {
		k.err = err
	}
	return k.err
}

// wait waits for all writes and returns the stored hashes and the first error.
func (k *fileSaver) wait() ([]string, error) {
	k.workers.Wait()
	return k.saved, k.err
}

// saveFile stores a file and returns an error if its hash is wrong.
func (s *Service) saveFile(ctx context.Context, sha string, r io.Reader) error {
	blob, err := s.DB.Blobs().Put(ctx, r, maxBlobSize)
	switch {
	case errors.Is(err, store.ErrTooLarge):
		return api.Invalid("file", "%.80s exceeds the limit of %d MiB", sha, maxBlobSize>>20)
	case err != nil:
		return saveError(sha, err)
	case blob.SHA256 != sha:
		return api.Invalid("file", "the content of %.80s does not match its hash", sha)
	}
	return nil
}

func saveError(sha string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return api.Invalid("file", "the upload ended in the middle of the file %.80s", sha)
	}
	return fmt.Errorf("storing %.80s: %w", sha, err)
}

// recordAndExpirePendingFiles records files that arrived before the records that refer to them. It also forgets files
// that have been waiting for too long.
func (s *Service) recordAndExpirePendingFiles(ctx context.Context, by api.Caller, id string, files ...string) error {
	if len(files) == 0 {
		return nil
	}
	org := by.OrganizationID
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		if _, err := syncLink(tx, org, id); err != nil {
			return err
		}
		var old []string
		n := 0
		for f, err := range store.SyncFiles.Scan(tx, org, store.Prefix(id)) {
			if err != nil {
				return err
			}
			n++
			if tx.Now().Sub(f.At) > pendingFileTTL {
				old = append(old, f.SHA256)
			}
		}
		held, err := s.filesOfHeldBatches(tx, org, id, len(old) > 0)
		if err != nil {
			return err
		}
		old = slices.DeleteFunc(old, func(sha string) bool { return held[sha] })
		for _, sha := range old {
			if err := store.SyncFiles.Delete(tx, org, id, sha); err != nil {
				return err
			}
		}
		if n-len(old)+len(files) > maxPendingFiles {
			return api.Conflict("%d files are already waiting for their documents; push those documents first", n-len(old))
		}
		for _, sha := range files {
			if err := store.SyncFiles.Put(tx, org, &store.SyncFile{OrganizationID: org, AssessmentID: id, SHA256: sha, At: tx.Now()}); err != nil {
				return err
			}
		}
		return nil
	})
}

// filesOfHeldBatches returns the files of batches that are on hold; these do not expire.
func (s *Service) filesOfHeldBatches(tx *store.Tx, org, assessmentID string, loadFiles bool) (map[string]bool, error) {
	files := map[string]bool{}
	if !loadFiles {
		return files, nil
	}
	for c, err := range store.SyncConflicts.By("assessment").Scan(tx, org, store.Prefix(assessmentID)) {
		if err != nil {
			return nil, err
		}
		if c.Kind != api.ConflictReplica || c.Status != "open" {
			continue
		}
		b, _, err := s.DB.Blobs().Open(tx.Context(), c.FileSHA256)
		if err != nil {
			return nil, err
		}
		f, err := decodeFile(b, kindBatch)
		if err := errors.Join(err, b.Close()); err != nil {
			return nil, err
		}
		for _, sha := range f.newSyncBatch(nil).Files {
			files[sha] = true
		}
	}
	return files, nil
}
