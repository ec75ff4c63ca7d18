package backupschedule

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/scf-service/service/internal/prose"
)

// Status is the state of a data folder's backups. It is stored in the folder, so that `service doctor`
// can show it without the daemon.
type Status struct {
	// Installation is the ID of the data folder. It isn't part of a backup, so that a restored copy gets another one and
	// doesn't delete backups of the original.
	Installation string `json:"installation"`
	// Folder is the folderIdentity of the data folder; a copy of the folder has another one. Empty in files of earlier
	// builds.
	Folder string `json:"folder"`
	// Schedule is the schedule of the daemon that last served the folder; nil for none.
	Schedule *Schedule `json:"schedule"`
	// Last is the schedule's last backup, Manual the last one that a command made.
	Last   *Record `json:"last"`
	Manual *Record `json:"manual"`
	// Failure is the schedule's last attempt, if it failed.
	Failure *Failure `json:"failure"`
}

// Failure is a failed attempt.
type Failure struct {
	At      time.Time `json:"at"`
	Problem string    `json:"problem"`
}

// ReadStatus returns the status of the backups of a data folder.
func ReadStatus(dataDir string) (s Status, err error) {
	err = readJSON(filepath.Join(dataDir, statusFile), &s)
	return s, err
}

// Level is the severity of a summary.
type Level string

// The levels, from best to worst.
const (
	LevelOK      Level = "ok"
	LevelNote    Level = "note"
	LevelWarning Level = "warning"
	LevelFailed  Level = "failed"
)

// Summary describes the status to an operator.
type Summary struct {
	Level  Level
	Detail string
	// Public is the detail for callers that may not see paths or how much data others have.
	Public string
	// Remedy says what to do; empty if nothing is needed.
	Remedy string
}

// Summarize describes the status as of the given time.
func (s Status) Summarize(now time.Time) Summary {
	if s.Schedule == nil {
		return s.summarizeManual(now)
	}
	last := "no backup yet"
	public := last
	if s.Last != nil {
		last = "last backup " + formatAge(now.Sub(s.Last.Created)) + ", "
		public = last + s.Last.Drill.describe(false)
		last += s.Last.Drill.describe(true)
	}
	every := formatDuration(s.Schedule.Every)
	switch {
	case s.Failure != nil:
		failed := "the backup failed " + formatAge(now.Sub(s.Failure.At))
		return Summary{
			LevelFailed, failed + ": " + s.Failure.Problem + "; " + last, failed + "; " + public,
			"fix the problem; the daemon tries again within " + formatDuration(min(s.Schedule.Every, retryInterval)),
		}
	case s.Last == nil:
		return Summary{LevelNote, last + "; a backup is made every " + every, public, ""}
	case s.Last.Drill != nil && !s.Last.Drill.Passed:
		return Summary{LevelFailed, last, public, "run `service backup verify " + s.Last.Path + "`, and keep an older backup"}
	case now.Sub(s.Last.Created) > 2*s.Schedule.Every:
		return Summary{
			LevelWarning, last + "; a backup is due every " + every, public + "; a backup is due every " + every,
			"check that the daemon is running, and read its log",
		}
	}
	if _, err := os.Lstat(s.Last.Path); errors.Is(err, fs.ErrNotExist) {
		return Summary{
			LevelWarning, last + "; but " + s.Last.Path + " no longer exists", public + "; but the backup file no longer exists",
			"find out who deleted the backup; a running daemon will soon create a new one",
		}
	}
	return Summary{LevelOK, last, public, ""}
}

// summarizeManual describes the status if there is no schedule.
func (s Status) summarizeManual(now time.Time) Summary {
	remedy := "start the daemon with --backup-every 24h --backup-to FOLDER"
	newest := s.Manual
	if s.Last != nil && (newest == nil || s.Last.Created.After(newest.Created)) {
		newest = s.Last
	}
	if newest == nil {
		return Summary{Level: LevelNote, Detail: "no backup yet, and no schedule", Remedy: "run `service backup FILE`, or " + remedy}
	}
	return Summary{
		Level: LevelNote, Detail: "last backup " + formatAge(now.Sub(newest.Created)) + "; no schedule", Remedy: "for a schedule, " + remedy,
	}
}

func (d *Drill) describe(withDetails bool) string {
	switch {
	case d == nil:
		return "not verified yet"
	case !d.Passed && withDetails:
		return "last drill failed: " + d.Problem
	case !d.Passed:
		return "last drill failed"
	case !withDetails:
		return "last drill passed"
	}
	return "last drill passed, " + prose.GroupThousands(int(d.Records)) + " records equal"
}

// formatAge formats the time since something happened.
func formatAge(d time.Duration) string {
	if d < time.Minute {
		return "just now"
	}
	return formatDuration(d) + " ago"
}

// formatDuration formats a duration in its largest unit.
func formatDuration(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}
