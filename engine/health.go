package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/backupschedule"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

type caller = api.Caller

// Health reports that the service responds.
func (e *Engine) Health(_ context.Context, by api.Caller, _ *api.None) (*api.Health, error) {
	return &api.Health{OK: true, Service: "service", TraceID: by.TraceID}, nil
}

// HealthDetail checks each part of the service.
func (e *Engine) HealthDetail(ctx context.Context, by api.Caller, in *api.HealthDetailInput) (*api.HealthDetail, error) {
	deep := in.Deep == "true"
	if deep && !by.Local {
		return nil, api.Forbidden("only the local user of the data folder can read all records; run `service doctor` on the machine with the data folder")
	}
	out := &api.HealthDetail{
		Health: api.Health{OK: true, Service: "service", TraceID: by.TraceID}, Version: e.version,
		UptimeSeconds: int64(e.clock().Sub(e.started) / time.Second),
	}
	check := func(name string, look func() (string, error)) {
		began := e.clock()
		detail, err := look()
		c := api.HealthCheck{
			Name:      name,
			OK:        err == nil,
			Detail:    detail,
			LatencyMS: float64(e.clock().Sub(began)) / float64(time.Millisecond),
		}
		if err != nil {
			c.Detail = err.Error()
			if errors.Is(err, store.ErrCorrupt) && !by.Local { // may belong to another organization
				c.Detail = "data is damaged; run `service doctor` on the machine with the data folder"
			}
			out.OK = false
		}
		out.Checks = append(out.Checks, c)
	}
	figures := e.Stats()
	check("store", func() (string, error) {
		err := e.db.View(ctx, func(tx *store.Tx) error { _, err := store.Organizations.Count(tx); return err })
		if figures.StoreBytes == 0 {
			return "answers", err
		}
		return fmt.Sprintf("answers; %s", formatSize(uint64(figures.StoreBytes))), err
	})
	check("index", func() (string, error) {
		if figures.Stuck > 0 {
			return "", fmt.Errorf(
				"%s could not be processed because of a system problem; see the log",
				prose.Count(figures.Stuck, "document", "documents"),
			)
		}
		return fmt.Sprintf(
			"documents: %d queued, %d in progress; %s in memory",
			figures.Waiting,
			figures.Reading,
			prose.Count(figures.Passages, "passage", "passages"),
		), nil
	})
	check("catalog", func() (string, error) {
		v, err := e.Catalog.GetLatest(ctx, by, nil)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("version %s, %s", v.Label, prose.Count(v.Counts.Controls, "control", "controls")), nil
	})
	check("model", func() (string, error) { return e.checkLastModelCall() })
	check("mail", func() (string, error) { return e.checkLastMail(ctx) })
	check("webhooks", func() (string, error) {
		w, err := e.countPendingWork(ctx)
		return fmt.Sprintf(
			"%d deliveries pending; webhooks: %d failing, %d disabled",
			w.deliveries,
			w.failing,
			w.paused,
		), err
	})
	check("disk", func() (string, error) { return e.checkDataFolderUsable(figures) })
	if e.Backups.Status().Schedule != nil {
		check("backup", func() (string, error) { return e.checkBackups(by) })
	}
	if deep {
		check("secrets", func() (string, error) { return e.checkSecrets(ctx) })
		check("records", func() (string, error) {
			c, err := e.db.CheckRecords(ctx)
			return damageResult(c, c.Damaged, err)
		})
		check("files", func() (string, error) {
			c, err := e.db.CheckFiles(ctx, store.FileCheckOptions{Sample: sampledFiles})
			return damageResult(c, len(c.Problems), err)
		})
	}
	return out, nil
}

// checkSecrets reports whether the stored secrets can be decrypted: after restoring another
// installation's backup, the key may be missing.
func (e *Engine) checkSecrets(ctx context.Context) (string, error) {
	n, unreadable, err := e.Webhooks.CheckSecrets(ctx)
	switch {
	case err != nil:
		return "", err
	case len(unreadable) > 0:
		return "", fmt.Errorf(
			"the encryption key has changed, so %d of %s can't be decrypted (for example: %s); "+
				"copy secret.key from the original installation, or enter the secrets again",
			len(unreadable),
			prose.Count(n, "secret", "secrets"),
			unreadable[0],
		)
	case n == 0:
		return "none stored", nil
	}
	return prose.Count(n, "secret", "secrets") + ", none unreadable", nil
}

// damageResult returns the result of a check as text, or as an error if it found damage.
func damageResult(c fmt.Stringer, damaged int, err error) (string, error) {
	switch {
	case damaged > 0 && err != nil:
		err = fmt.Errorf("%s; %w", c, err)
	case damaged > 0:
		err = errors.New(c.String())
	}
	return c.String(), err
}

// sampledFiles is the number of files that a health check reads; `service audit verify` reads all.
const sampledFiles = 100

// MinFreeDisk is the free space below which the next upload or import may fail.
const MinFreeDisk = 256 << 20

// checkDataFolderUsable checks that there is free space and that the data folder is writable.
func (e *Engine) checkDataFolderUsable(f Stats) (string, error) {
	probe, err := os.CreateTemp(e.db.Dir(), ".writable-*")
	if err != nil {
		return "", errors.New("the data folder is not writable")
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return "", errors.New("the data folder is not writable")
	}
	switch {
	case !f.DiskKnown:
		return "writable", nil
	case f.DiskFree < MinFreeDisk:
		return "", fmt.Errorf("only %s free; free some space", formatSize(f.DiskFree))
	}
	return fmt.Sprintf("%s free", formatSize(f.DiskFree)), nil
}

// checkBackups reports the state of the scheduled backups. Only the local user gets the details:
// paths, and the total number of records in all organizations.
func (e *Engine) checkBackups(by api.Caller) (string, error) {
	s := e.Backups.Status().Summarize(e.clock())
	detail := s.Detail
	if !by.Local {
		detail = s.Public
	}
	if s.Level == backupschedule.LevelWarning || s.Level == backupschedule.LevelFailed {
		return "", errors.New(detail)
	}
	return detail, nil
}

// formatSize formats a size in MB, or in GB if it is large enough.
func formatSize(n uint64) string {
	if n >= 1e9 {
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// checkLastMail returns the mail server and the number of queued emails, or an error if the server was
// unavailable when it was last used.
func (e *Engine) checkLastMail(ctx context.Context) (string, error) {
	if e.Mail.Server == nil {
		return "not configured", nil
	}
	l, err := e.Mail.Stats(ctx)
	if err != nil {
		return "", err
	}
	if l.LastServerError != "" {
		return "", fmt.Errorf("%s is unavailable: %s; %s queued", e.Mail.Server, l.LastServerError, prose.Count(l.Queued, "email", "emails"))
	}
	return fmt.Sprintf("%s; %s queued", e.Mail.Server, prose.Count(l.Queued, "email", "emails")), nil
}

// checkLastModelCall reports which model is used, and whether it answered the last request.
func (e *Engine) checkLastModelCall() (string, error) {
	if e.model == nil {
		return "builtin", nil
	}
	calls := e.model.callCounts()
	if calls.lastError != "" {
		return "", fmt.Errorf("%s failed to answer the last request, so the built-in rules were used: %s", e.model.Name(), calls.lastError)
	}
	return fmt.Sprintf("%s; %d requests, %d failed", e.model.Name(), calls.asked, calls.failed), nil
}
