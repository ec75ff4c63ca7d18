package backup

import (
	"context"
	"fmt"

	"github.com/scf-service/service/store"
)

// Verification is the result of restoring a backup into an empty folder.
type Verification struct {
	store.Verification
	// Organizations lists the names of the organizations in it.
	Organizations []string
}

// Verify restores the backup at path into a temporary folder in o.Dir and compares all of it. Documents and
// reports that records refer to and that are missing are an error too, unless they were left out.
func Verify(ctx context.Context, path string, o store.Options, r store.ReadOptions) (v Verification, err error) {
	r.Check = func(ctx context.Context, db *store.DB) error {
		return db.View(ctx, func(tx *store.Tx) error {
			for one, err := range store.Organizations.Scan(tx) {
				if err != nil {
					return err
				}
				v.Organizations = append(v.Organizations, one.Name)
			}
			return nil
		})
	}
	v.Verification, err = store.VerifyBackup(ctx, path, o, r)
	if err == nil && v.Blobs && v.MissingCount > 0 {
		err = fmt.Errorf("%w: documents or reports are missing: %d, such as %s", store.ErrCorrupt, v.MissingCount, v.Missing[0])
	}
	return v, err
}
