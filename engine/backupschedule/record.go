package backupschedule

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/internal/regularfile"
	"github.com/scf-service/service/store"
)

// Record describes a backup. The record of a scheduled backup is also stored next to the backup file.
type Record struct {
	Path string `json:"path"`
	// Installation is the ID of the data folder that made it. A restored copy has another ID but
	// the same database ID.
	Installation string `json:"installation"`
	// Database is the ID of the database it was made from.
	Database string    `json:"database"`
	Created  time.Time `json:"created"`
	Size     int64     `json:"size"`
	// Drill is the result of restoring it; nil if no drill was made or it has not finished.
	Drill *Drill `json:"drill"`
}

// Drill is the result of restoring a backup into an empty folder and comparing it.
type Drill struct {
	At      time.Time `json:"at"`
	Passed  bool      `json:"passed"`
	Records int64     `json:"records"` // equal records
	Files   int64     `json:"files"`   // equal documents and reports
	// Problem says why it failed; empty if it passed.
	Problem string `json:"problem"`
}

const (
	// statusFile is the name of the file in the data folder that holds the status of the backups.
	statusFile = "backup.json"
	// recordSuffix is appended to the name of a scheduled backup to form that of its record.
	recordSuffix = ".json"
	// nameLayout is the time layout for the file names of scheduled backups, with the time in UTC.
	nameLayout = "service-2006-01-02T150405Z.bak"
	maxJSON    = 1 << 20
)

// complete sets the fields that are known only once the backup has been written.
func (r *Record) complete(m store.Manifest) error {
	info, err := os.Stat(r.Path)
	if err != nil {
		return err
	}
	r.Database, r.Created, r.Size = m.DatabaseID, m.Created, info.Size()
	return nil
}

func (r *Record) save() error { return writeJSON(r.Path+recordSuffix, r) }

// ReadRecord returns the record stored next to the backup at path, or nil if there is none.
func ReadRecord(path string) (*Record, error) {
	var r *Record
	if err := readJSON(path+recordSuffix, &r); err != nil || r == nil {
		return nil, err
	}
	r.Path = path // the folder may have been moved
	return r, nil
}

// scheduledIn returns the backups in dir that a schedule of this installation made, newest first.
func scheduledIn(ctx context.Context, dir, installation string) (out []*Record, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if _, err := time.Parse(nameLayout, e.Name()); err != nil || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		r, err := ReadRecord(path)
		if err != nil || r == nil || r.Installation != installation {
			continue
		}
		m, err := store.ReadManifest(ctx, path)
		if err != nil || !m.Encrypted && m.DatabaseID != r.Database {
			continue // the name now belongs to another file, or the record is damaged: an operator should check it
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Record) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(b.Path, a.Path))
	})
	return out, nil
}

// writeJSON replaces the file at path atomically.
func writeJSON(path string, v any) (err error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	part := path + ".part"
	_ = os.Remove(part) // left by a process that was killed
	f, err := regularfile.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// readJSON decodes the file at path into v. It leaves v unchanged if there is no such file.
func readJSON(path string, v any) error {
	b, err := regularfile.Read(path, maxJSON)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
