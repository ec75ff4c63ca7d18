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
		Use: "copy --from PLACE --to PLACE", Short: "Copy all records and files to an empty destination, and verify the copy",
		Long: `Copies an installation to an empty destination, and then compares every copied record and file
with the source. The source is not changed, and no process may have it open.

A source or destination is either a data folder with its own database (bolt:FOLDER) or a
PostgreSQL database (postgres://…), as for "service daemon --store". The files that belong to a
PostgreSQL database are stored in a bucket (s3://…) or in the data folder of its only daemon
(bolt:FOLDER). Specify their location with --from-blobs and --to-blobs.

The files secret.key and model.json are not copied: copy them yourself, or set SERVICE_SECRET_KEY
to the same key. If copying is interrupted, the destination can't be used and must be deleted.`,
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
				return runtimeError("this build of the program can't copy installations")
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
				p.Text("Copied and verified %s (%.1f MB) and %s.", prose.Count(int(copied.Records), "record", "records"),
					float64(copied.Bytes)/1e6, prose.Count(int(copied.Files), "file", "files"))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "location of the installation to copy: bolt:FOLDER or postgres://…")
	f.StringVar(&to, "to", "", "empty destination: bolt:FOLDER or postgres://…")
	f.StringVar(&fromBlobs, "from-blobs", "", "location of the source database's files: s3://… or bolt:FOLDER")
	f.StringVar(&toBlobs, "to-blobs", "", "location for the destination database's files: s3://… or bolt:FOLDER")
	return cmd
}

// parsePlace parses the value of --from or --to and of the corresponding flag for files.
func parsePlace(flag, place, blobs string) (StorePlace, error) {
	folder, isFolder := strings.CutPrefix(place, "bolt:")
	switch {
	case place == "":
		return StorePlace{}, usageError("--%s is missing; use the form bolt:FOLDER or postgres://USER@HOST/DATABASE", flag)
	case isFolder && folder == "":
		return StorePlace{}, usageError("--%s does not specify a folder after bolt:", flag)
	case isFolder && blobs != "":
		return StorePlace{}, usageError("--%s-blobs can't be used with a data folder, because its files are stored next to its database", flag)
	case isFolder:
		return StorePlace{Data: folder}, nil
	}
	u := parseDatabaseURL(place)
	switch {
	case u == nil:
		return StorePlace{}, usageError("--%s must be bolt:FOLDER or postgres://USER@HOST/DATABASE", flag)
	case containsPassword(u):
		return StorePlace{}, passwordInFlagError(flag, "; or put the password in PGPASSWORD")
	}
	out := StorePlace{Store: place}
	if folder, isFolder = strings.CutPrefix(blobs, "bolt:"); isFolder && folder != "" {
		out.Data = folder
		return out, nil
	}
	if !strings.HasPrefix(blobs, "s3://") {
		return StorePlace{}, usageError("--%s-blobs must specify where the files of the database are stored: s3://BUCKET/PREFIX, or bolt:FOLDER if "+
			"they are in the data folder of the only daemon", flag)
	}
	out.Blobs = blobs
	return out, nil
}
