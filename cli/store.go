package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// StorePlace is the location of an installation: a data folder with its own database, or a PostgreSQL database with a
// bucket or a data folder for the files.
type StorePlace struct {
	Store string // URL of a PostgreSQL database; empty for a data folder
	Blobs string // URL of a bucket; empty for a data folder
	Data  string // the data folder
}

// CopiedStore is the result of copying an installation.
type CopiedStore struct {
	Records int64 `json:"records"` // including index entries; all of them were compared
	Bytes   int64 `json:"bytes"`
	Files   int64 `json:"files"`
}

func (a *app) storeCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "store", Short: "Move an installation between a data folder and PostgreSQL",
		Long:    "Moves all records and files between a data folder and a PostgreSQL database with a bucket.",
		Example: "  service store copy --from bolt:/var/lib/service --to postgres://grc@db/grc --to-blobs s3://acme-grc",
	}, a.storeCopy())
}

func (a *app) storeCopy() *cobra.Command {
	var from, to, fromBlobs, toBlobs string
	cmd := &cobra.Command{
		Use: "copy --from PLACE --to PLACE", Short: "Copy all records and files to an empty place, and compare them",
		Long: `Copies an installation that no process has open to an empty place, and then compares every
record and file there with its source. The source is not changed.

A place is bolt:FOLDER, a data folder with its own database, or postgres://…, a database as for
"service daemon --store". The files of a database are in a bucket, s3://…, or in bolt:FOLDER,
the data folder of its only daemon: --from-blobs and --to-blobs name it.

The copy has no secret.key and no model.json: copy these files, or set SERVICE_SECRET_KEY to the
same key. If the copy is interrupted, its target can't be used and has to be deleted.`,
		Example: `  service store copy --from bolt:/var/lib/service --to postgres://grc@db/grc --to-blobs s3://acme-grc
  service store copy --from postgres://grc@db/grc --from-blobs s3://acme-grc --to bolt:/srv/back`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			source, err := parsePlace("from", from, fromBlobs)
			if err != nil {
				return err
			}
			target, err := parsePlace("to", to, toBlobs)
			if err != nil {
				return err
			}
			if a.CopyStore == nil {
				return runtimeError("this build can't copy stores")
			}
			a.progress.Start("copying")
			copied, err := a.CopyStore(cmd.Context(), source, target, func(records, files int64) {
				a.progress.Update("%s and %s copied", prose.Count(int(records), "record", "records"), prose.Count(int(files), "file", "files"))
			})
			a.progress.Done("")
			if err != nil {
				return runtimeError("%w", err)
			}
			return a.out.Print(copied, func(p *print.Page) {
				p.Text("copied and compared: %s (%.1f MB) and %s", prose.Count(int(copied.Records), "record", "records"),
					float64(copied.Bytes)/1e6, prose.Count(int(copied.Files), "file", "files"))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "where the installation is: bolt:FOLDER or postgres://…")
	f.StringVar(&to, "to", "", "an empty place: bolt:FOLDER or postgres://…")
	f.StringVar(&fromBlobs, "from-blobs", "", "where the files of a database are: s3://… or bolt:FOLDER")
	f.StringVar(&toBlobs, "to-blobs", "", "where to put the files of a database: s3://… or bolt:FOLDER")
	return cmd
}

// parsePlace parses the value of --from or --to and of the corresponding flag for files.
func parsePlace(flag, place, blobs string) (StorePlace, error) {
	folder, isFolder := strings.CutPrefix(place, "bolt:")
	switch {
	case place == "":
		return StorePlace{}, usageError("--%s is missing; write it as bolt:FOLDER or postgres://USER@HOST/DATABASE", flag)
	case isFolder && folder == "":
		return StorePlace{}, usageError("--%s bolt: has no folder", flag)
	case isFolder && blobs != "":
		return StorePlace{}, usageError("--%s-blobs can't be used with a data folder, which keeps its files next to the database", flag)
	case isFolder:
		return StorePlace{Data: folder}, nil
	}
	u := parseDatabaseURL(place)
	switch {
	case u == nil:
		return StorePlace{}, usageError("--%s is neither bolt:FOLDER nor postgres://USER@HOST/DATABASE", flag)
	case containsPassword(u):
		return StorePlace{}, passwordInFlagError(flag, "; or put the password in PGPASSWORD")
	}
	out := StorePlace{Store: place}
	if folder, isFolder = strings.CutPrefix(blobs, "bolt:"); isFolder && folder != "" {
		out.Data = folder
		return out, nil
	}
	if !strings.HasPrefix(blobs, "s3://") {
		return StorePlace{}, usageError("--%s-blobs must specify where the files of the database are stored: s3://BUCKET/PREFIX, or bolt:FOLDER for "+
			"the data folder of the only daemon", flag)
	}
	out.Blobs = blobs
	return out, nil
}
