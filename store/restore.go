package store

import (
	"archive/tar"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/scf-service/service/internal/regularfile"
	"github.com/scf-service/service/store/bolt"
	"github.com/scf-service/service/store/internal/disk"
)

// Restore restores the backup at path to the data folder o.Dir, which must not be in use
// (ErrLocked). The existing database is kept in the folder of backups, under a name that begins with
// the time; existing blobs remain. The backup is verified before the database is replaced atomically:
// a failure changes nothing except that blobs may have been added. A backup with a newer schema gives
// ErrNewerSchema; one with an older schema is migrated by the next Open. o.Driver must be nil.
func Restore(ctx context.Context, path string, o Options) (Manifest, error) {
	m, err := restore(ctx, path, o)
	if err != nil {
		return m, fmt.Errorf("restore of %s: %w", path, err)
	}
	return m, nil
}

func restore(ctx context.Context, path string, o Options) (Manifest, error) {
	if err := o.validateAndSetDefaults(); err != nil {
		return Manifest{}, err
	}
	if o.Driver != nil {
		return Manifest{}, errors.New("this driver's database is restored with its own tools")
	}
	f, err := regularfile.Open(ctx, path, regularfile.NoLimit)
	if err != nil {
		return Manifest{}, err
	}
	defer f.Close()
	if err := createDataFolders(o.Dir); err != nil {
		return Manifest{}, err
	}
	target := filepath.Join(o.Dir, fileDatabase)
	release, err := lockDatabase(ctx, target, o)
	if err != nil {
		return Manifest{}, err
	}
	defer release()

	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return Manifest{}, err
	}
	defer z.Close()
	r := restorer{decompressed: z, tar: tar.NewReader(z), options: o, database: filepath.Join(o.Dir, dirTemp, o.NewID())}
	defer os.Remove(r.database)
	if err := r.unpack(ctx); err != nil {
		return r.manifest, err
	}
	if err := bolt.Verify(ctx, r.database, newTotalChecker); err != nil {
		return r.manifest, err
	}
	if err := preserveOldDatabase(target, o); err != nil {
		return r.manifest, err
	}
	if runtime.GOOS == "windows" { // an open file can't be replaced there
		release()
	}
	// The next Open writes the ID of the restored database.
	if err := os.Remove(filepath.Join(o.Dir, fileID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r.manifest, disk.ClassifyError(err)
	}
	return r.manifest, disk.RenameDurably(r.database, target)
}

// lockDatabase locks the database to be replaced. A damaged one is no obstacle, since it is a
// reason to restore.
func lockDatabase(ctx context.Context, target string, o Options) (release func(), err error) {
	if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	old, err := bolt.Open(ctx, target, bolt.Options{LockTimeout: o.LockTimeout})
	if errors.Is(err, ErrCorrupt) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = old.Close() }, nil
}

// preserveOldDatabase gives the old database a second name, so that a database exists at every
// moment.
func preserveOldDatabase(target string, o Options) error {
	aside := newBackupPath(o.Dir, o.Clock(), "before-restore", ".db")
	err := os.Link(target, aside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil { // the file system has no hard links
		err = os.Rename(target, aside)
	}
	if err != nil {
		return disk.ClassifyError(err)
	}
	return disk.SyncDir(filepath.Dir(aside))
}

type restorer struct {
	decompressed io.Reader // what tar reads
	tar          *tar.Reader
	options      Options
	database     string // where the database goes first
	manifest     Manifest
}

// unpack unpacks the entries in the order of a backup.
func (r *restorer) unpack(ctx context.Context) error {
	if err := r.readManifest(); err != nil {
		return err
	}
	if _, err := r.nextEntry(entryDatabase); err != nil {
		return err
	}
	if err := disk.WriteTemp(r.database, 0o600, r.copyEntry); err != nil {
		return err
	}
	blobs := Blobs{
		dir:   filepath.Join(r.options.Dir, dirBlobs),
		temp:  func() string { return filepath.Join(r.options.Dir, dirTemp, r.options.NewID()) },
		clock: r.options.Clock,
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		name, err := r.nextEntry("")
		if errors.Is(err, io.EOF) {
			// The checksum follows the data that tar reads.
			_, err := io.Copy(io.Discard, r.decompressed)
			return toCorruptError(err)
		}
		if err != nil {
			return err
		}
		if err := r.unpackBlob(ctx, &blobs, name); err != nil {
			return err
		}
	}
}

func (r *restorer) readManifest() error {
	if _, err := r.nextEntry(entryManifest); err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(r.tar, maxManifestSize))
	if err != nil {
		return toCorruptError(err)
	}
	if err := json.Unmarshal(b, &r.manifest); err != nil {
		return toCorruptError(err)
	}
	switch m := r.manifest; {
	case m.Format > backupFormat:
		return fmt.Errorf("%w: its backup format is %d, this program knows %d", ErrNewerSchema, m.Format, backupFormat)
	case m.Format < 1:
		return fmt.Errorf("%w: it is not a backup", ErrCorrupt)
	case m.Schema > r.options.Schema.Version():
		return &NewerSchemaError{Database: m.Schema, Program: r.options.Schema.Version()}
	}
	return nil
}

// unpackBlob unpacks one blob and returns an error if its name does not match its content.
func (r *restorer) unpackBlob(ctx context.Context, blobs *Blobs, name string) error {
	sha, found := strings.CutPrefix(name, entryBlobs)
	if !found || !isSHA256(sha) {
		return fmt.Errorf("%w: it contains the unexpected entry %.80q", ErrCorrupt, name)
	}
	_, err := blobs.put(ctx, r.tar, math.MaxInt64-1, sha)
	return toCorruptError(err)
}

func (r *restorer) copyEntry(w io.Writer) error {
	_, err := io.Copy(w, r.tar)
	return toCorruptError(err)
}

// nextEntry advances to the next entry, which must be the wanted one, if any.
func (r *restorer) nextEntry(want string) (string, error) {
	h, err := r.tar.Next()
	if errors.Is(err, io.EOF) && want == "" {
		return "", io.EOF
	}
	if err != nil {
		return "", toCorruptError(err)
	}
	if h.Typeflag != tar.TypeReg || want != "" && h.Name != want {
		return "", fmt.Errorf("%w: it contains %.80q instead of %s", ErrCorrupt, h.Name, cmp.Or(want, "a blob"))
	}
	return h.Name, nil
}

// toCorruptError marks errors that only the archive itself can cause.
func toCorruptError(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil,
		errors.As(err, &path),
		errors.As(err, &link),
		errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, ErrCorrupt):
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}
