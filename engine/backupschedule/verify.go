package backupschedule

import (
	"context"
	"fmt"

	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// Verification is the result of restoring a backup into an empty folder.
type Verification struct {
	store.Manifest
	// Organizations lists the names of the organizations in it.
	Organizations []string
}

// Verify restores the backup at path into a temporary folder in o.Dir, compares the result with the backup, and
// verifies it like `service audit verify` does: the audit trail of every organization, every record and every file.
// Files that the backup left out don't count as errors.
func Verify(ctx context.Context, path string, o store.Options, r store.ReadOptions) (v Verification, err error) {
	var problems, missing []string
	r.Check = func(ctx context.Context, db *store.DB) error {
		data, err := audit.VerifyStore(ctx, db, "")
		if err != nil {
			return err
		}
		for _, one := range data.Organizations {
			v.Organizations = append(v.Organizations, one.Name)
		}
		for _, p := range data.Problems {
			// A new server has no organizations; that doesn't make its backups invalid.
			switch text := describeProblem(p.Organization, p.Record, p.Message); {
			case p.Record == "":
			case p.Kind == audit.Missing && p.SHA256 != "":
				missing = append(missing, text)
			default:
				problems = append(problems, text)
			}
		}
		return nil
	}
	v.Manifest, err = store.VerifyBackup(ctx, path, o, r)
	if v.Blobs {
		problems = append(problems, missing...)
	}
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%w: %s, such as %s", store.ErrCorrupt, prose.Count(len(problems), "problem", "problems"), problems[0])
	}
	return v, err
}

// describeProblem describes a problem and where it was found, in one phrase.
func describeProblem(organization, record, message string) string {
	if organization == "" {
		return record + ": " + message
	}
	return organization + ": " + record + ": " + message
}
