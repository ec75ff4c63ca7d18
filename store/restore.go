package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/scf-service/service/internal/filelock"
	"github.com/scf-service/service/internal/regularfile"
	"github.com/scf-service/service/store/bolt"
	"github.com/scf-service/service/store/internal/disk"
	"github.com/scf-service/service/store/kv"
)

// Restore restores the backup at path to the data folder o.Dir, which must not be in use (ErrLocked).
//
// First, the whole backup is unpacked into the folder for temporary files and verified. Then its blobs are added to
// the existing ones, and the database and the additional files are replaced. The replaced files remain in the folder
// of backups, under names that begin with the time. If a step fails, the earlier ones are undone. If the process is
// killed, the folder has either the old database or the new one. If it has the old one, it may contain blobs and
// additional files of the new one; in that case, repeat the restore. The next start deletes unfinished temporary
// files.
//
// For a backup with a newer schema, Restore returns ErrNewerSchema. A backup with an older schema is migrated
// by the next Open, after a backup.
//
// If o.Driver is set, the records are instead restored to its database in one transaction. That database must
// be empty (ErrExists). The driver is not closed.
func Restore(ctx context.Context, path string, o Options, r ReadOptions) (Manifest, error) {
	m, err := restore(ctx, path, o, r)
	if err != nil {
		return m, fmt.Errorf("restore of %s: %w", path, err)
	}
	return m, nil
}

func restore(ctx context.Context, path string, o Options, ro ReadOptions) (_ Manifest, failure error) {
	if err := o.validateAndSetDefaults(); err != nil {
		return Manifest{}, err
	}
	r, err := openBackup(ctx, path, ro)
	if err != nil {
		return Manifest{}, err
	}
	defer r.close()
	if _, err := os.Lstat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		defer func() {
			if failure != nil && !errors.Is(failure, ErrLocked) { // otherwise, another process is using it
				removeEmptyDataFolders(o.Dir)
			}
		}()
	}
	if err := createDataFolders(o.Dir); err != nil {
		return r.manifest, err
	}
	// Programs that open the folder take this lock, too. The lock of the database isn't enough, because the
	// folder may have no database.
	unlock, err := filelock.TryLock(o.Dir)
	if errors.Is(err, filelock.ErrLocked) {
		return r.manifest, fmt.Errorf("%w: another restore to %s is running, or a program is opening that folder", ErrLocked, o.Dir)
	}
	defer unlock()
	target := filepath.Join(o.Dir, fileDatabase)
	_, err = os.Lstat(target)
	isNew := errors.Is(err, fs.ErrNotExist)
	release, err := lockDatabase(ctx, target, o)
	if err != nil {
		return r.manifest, err
	}
	defer release()

	u := unpacked{dir: tempPath(o.Dir, o.NewID()), options: o, isNew: isNew, checkFile: ro.CheckFile}
	defer os.RemoveAll(u.dir)
	if err := u.unpack(ctx, r); err != nil {
		return r.manifest, err
	}
	if err := u.verifyRecords(ctx, &r.manifest); err != nil {
		return r.manifest, err
	}
	if err := o.files.SyncTree(u.dir); err != nil {
		return r.manifest, err
	}
	return r.manifest, u.moveIntoDataFolder(ctx, release)
}

// VerifyBackup reads a whole backup and restores it to a temporary folder in o.Dir, using only the backup file. It
// deletes the folder afterwards. It compares everything restored with the backup, and opens the restored store, which
// migrates an older schema.
func VerifyBackup(ctx context.Context, path string, o Options, r ReadOptions) (Manifest, error) {
	m, err := verifyBackup(ctx, path, o, r)
	if err != nil {
		return m, fmt.Errorf("verifying %s: %w", path, err)
	}
	return m, nil
}

func verifyBackup(ctx context.Context, path string, o Options, ro ReadOptions) (m Manifest, err error) {
	if err := o.validateAndSetDefaults(); err != nil {
		return m, err
	}
	r, err := openBackup(ctx, path, ro)
	if err != nil {
		return m, err
	}
	defer r.close()
	dir, err := os.MkdirTemp(o.Dir, tempPrefix+"*")
	if err != nil {
		return m, disk.ClassifyError(err)
	}
	defer os.RemoveAll(dir)
	u := unpacked{dir: dir, options: o, checkFile: ro.CheckFile}
	if err := u.unpack(ctx, r); err != nil {
		return m, err
	}
	if err := u.verifyRecords(ctx, &r.manifest); err != nil {
		return m, err
	}
	o.Dir, o.Driver = dir, nil
	db, err := Open(ctx, o)
	if err != nil {
		return r.manifest, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := verifyRestoredBlobs(ctx, db, r.manifest); err != nil || ro.Check == nil {
		return r.manifest, err
	}
	return r.manifest, ro.Check(ctx, db)
}

// verifyRestoredBlobs counts the restored blobs. Their content was already compared when they were unpacked.
func verifyRestoredBlobs(ctx context.Context, db *DB, m Manifest) error {
	count := int64(0)
	err := db.blobs.ForEach(ctx, func(string) error { count++; return nil })
	if err == nil && count != m.BlobCount {
		err = fmt.Errorf("%w: %d blobs were restored instead of %d", ErrCorrupt, count, m.BlobCount)
	}
	return err
}

// lockDatabase locks the database that is about to be replaced. It ignores a damaged database, because damage
// is a reason to restore.
func lockDatabase(ctx context.Context, target string, o Options) (release func(), err error) {
	if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) || o.Driver != nil {
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

// unpacked is a folder with the content of a backup, in the layout of a data folder.
type unpacked struct {
	dir     string
	options Options
	isNew   bool     // the data folder has no database to replace
	names   []string // additional files
	// checkFile, if set, checks an additional file.
	checkFile func(name string, content []byte) error
}

func (u *unpacked) path(name string) string { return filepath.Join(u.dir, name) }

// unpack unpacks and verifies all entries of a backup.
func (u *unpacked) unpack(ctx context.Context, r *backupReader) error {
	if v := u.options.Schema.Version(); r.manifest.Schema > v {
		return &NewerSchemaError{Database: r.manifest.Schema, Program: v}
	}
	if err := createDataFolders(u.dir); err != nil {
		return err
	}
	err := r.readFiles(func(name string, content []byte) error {
		u.names = append(u.names, name)
		if u.checkFile != nil {
			if err := u.checkFile(name, content); err != nil {
				return damagedBackup(err, "the file %s is not valid: %s", name, err)
			}
		}
		return u.files().WriteTemp(u.path(name), 0o600, func(w io.Writer) error { _, err := w.Write(content); return err })
	})
	if err != nil {
		return err
	}
	err = r.readRecords(func(in io.Reader, size int64) error {
		if err := u.checkFreeSpace(size); err != nil {
			return err
		}
		if r.manifest.Format == backupFormatOfDriver {
			return u.files().WriteTemp(u.path(fileDatabase), 0o600, func(w io.Writer) error {
				_, err := io.Copy(w, in)
				return err
			})
		}
		return bolt.Load(ctx, u.path(fileDatabase), readRecords(in))
	})
	if err != nil {
		return err
	}
	blobs := u.blobs()
	return r.readBlobs(ctx, func(sha string, size int64, content io.Reader) error {
		if err := u.checkFreeSpace(size); err != nil {
			return err
		}
		_, err := blobs.put(ctx, content, size, sha)
		return err
	})
}

// blobs returns the unpacked blobs.
func (u *unpacked) blobs() *Blobs {
	return &Blobs{
		dir:   u.path(dirBlobs),
		temp:  func() string { return tempPath(u.dir, u.options.NewID()) },
		clock: u.options.Clock,
		files: u.files(),
	}
}

// files returns the file operations for unpacking. They don't sync, because everything is synced at once after
// it has been verified.
func (u *unpacked) files() disk.Files {
	return disk.Files{Before: u.options.files.Before, WithoutSync: true}
}

// minFreeAfterUnpacking is the disk space that unpacking leaves free, so that a large backup doesn't stop other
// programs that use the disk.
const minFreeAfterUnpacking = 64 << 20

// checkFreeSpace returns ErrDiskFull if unpacking size bytes would leave too little free space.
func (u *unpacked) checkFreeSpace(size int64) error {
	if free, known := DiskFree(u.dir); known && (free < minFreeAfterUnpacking || uint64(size) > free-minFreeAfterUnpacking) {
		return fmt.Errorf("%w: %s has only %d MB free, but the backup needs more", ErrDiskFull, u.dir, free>>20)
	}
	return nil
}

// verifyRecords reads the restored database and compares it with the manifest. For format 1, whose
// manifest has no summary of the tables, it adds the summary.
func (u *unpacked) verifyRecords(ctx context.Context, m *Manifest) error {
	path := u.path(fileDatabase)
	if m.Format == backupFormatOfDriver { // the database was created by another process
		if err := bolt.Verify(ctx, path, newTotalChecker); err != nil {
			return err
		}
	}
	d, err := bolt.Open(ctx, path, bolt.Options{NewChecker: newTotalChecker})
	if err != nil {
		return err
	}
	return errors.Join(d.View(ctx, func(k kv.KV) error {
		meta, err := readMeta(k)
		if err != nil {
			return err
		}
		tables, err := writeRecords(ctx, k, io.Discard, nil)
		if err != nil {
			return err
		}
		if m.Format == backupFormatOfDriver {
			m.DatabaseFormat, m.DatabaseID, m.Tables = meta.Format, meta.ID, tables
		}
		if meta.Format != m.DatabaseFormat || meta.Schema != m.Schema || meta.ID != m.DatabaseID {
			return fmt.Errorf("%w: the records in the backup belong to a different database than the manifest", ErrCorrupt)
		}
		return cmp.Or(checkDatabaseFormat(meta.Format), compareTables(tables, m.Tables))
	}), d.Close())
}

// readMeta returns the description of a database, whether or not its records have checksums.
func readMeta(k kv.KV) (m databaseMeta, err error) {
	b, err := k.Get(metaTable, metaKey.b)
	if err != nil {
		return m, err
	}
	if len(b) > checksumSize {
		if value, err := verifyChecksum(newCheckedTable(metaTable), metaKey.b, b); err == nil {
			b = value
		}
	}
	mark, text, err := unpackRecord(b)
	if err != nil || mark != markJSON || json.Unmarshal(text, &m) != nil {
		return m, fmt.Errorf("%w: the records in the backup don't include the description of the database", ErrCorrupt)
	}
	return m, nil
}

// moveIntoDataFolder moves the unpacked data into the data folder. After an error, it restores the previous
// state.
func (u *unpacked) moveIntoDataFolder(ctx context.Context, release func()) (err error) {
	var undo []func()
	defer func() {
		for _, f := range slices.Backward(undo) {
			if err != nil {
				f()
			}
		}
	}()
	needed, err := u.listReplacedBlobs(ctx)
	if err != nil {
		return err
	}
	added, err := u.moveBlobs()
	undo = append(undo, func() {
		for _, path := range added {
			_ = os.Remove(path)
		}
	})
	if err != nil {
		return disk.ClassifyError(err)
	}
	for _, name := range u.names {
		f, err := u.replaceFile(name, "-"+name, nil)
		undo = append(undo, f)
		if err != nil {
			return err
		}
	}
	if u.options.Driver != nil {
		return u.copyRecords(ctx, u.options.Driver)
	}
	if runtime.GOOS == "windows" { // an open file can't be replaced on Windows
		release()
	}
	// The next Open writes the ID of the database.
	if err := os.Remove(filepath.Join(u.options.Dir, fileID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return disk.ClassifyError(err)
	}
	f, err := u.replaceFile(fileDatabase, replacedDatabaseSuffix, needed)
	undo = append(undo, f)
	return err
}

// removeEmptyDataFolders undoes createDataFolders, but keeps folders that are not empty.
func removeEmptyDataFolders(dir string) {
	for _, d := range []string{dirBlobs, dirBackups, dirTemp, ""} {
		_ = os.Remove(filepath.Join(dir, d))
	}
}

// moveBlobs moves the unpacked blobs into the data folder and returns the paths of those that are new there.
func (u *unpacked) moveBlobs() (added []string, err error) {
	from, to := u.path(dirBlobs), filepath.Join(u.options.Dir, dirBlobs)
	folders, err := os.ReadDir(from)
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		files, err := os.ReadDir(filepath.Join(from, folder.Name()))
		if err != nil {
			return added, err
		}
		if err := os.Mkdir(filepath.Join(to, folder.Name()), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return added, err
		}
		for _, f := range files {
			path := filepath.Join(to, folder.Name(), f.Name())
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				added = append(added, path)
			}
			if err := u.options.files.Rename(filepath.Join(from, folder.Name(), f.Name()), path); err != nil {
				return added, err
			}
		}
		if err := u.options.files.SyncDir(filepath.Join(to, folder.Name())); err != nil {
			return added, err
		}
	}
	return added, u.options.files.SyncDir(to)
}

const (
	replacedDatabaseSuffix = ".db"
	// replacedBlobsSuffix is appended to the name of a replaced database. The resulting file lists the blobs that
	// existed at that time, one per line. These blobs are kept as long as the replaced database exists.
	replacedBlobsSuffix = ".blobs"
)

// listReplacedBlobs returns the list of the blobs in the data folder.
func (u *unpacked) listReplacedBlobs(ctx context.Context) (list []byte, err error) {
	existing := Blobs{dir: filepath.Join(u.options.Dir, dirBlobs)}
	err = existing.ForEach(ctx, func(sha string) error {
		list = append(append(list, sha...), '\n')
		return nil
	})
	return list, err
}

// blobsOfReplacedDatabases returns the blobs that may still be referenced by replaced databases that haven't been deleted.
func (b *Blobs) blobsOfReplacedDatabases() (map[string]bool, error) {
	dir := filepath.Join(filepath.Dir(b.dir), dirBackups)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, e := range entries {
		database, ok := strings.CutSuffix(e.Name(), replacedDatabaseSuffix+replacedBlobsSuffix)
		if !ok {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, database+replacedDatabaseSuffix)); errors.Is(err, fs.ErrNotExist) {
			continue // the user has deleted the database
		}
		list, err := regularfile.Read(filepath.Join(dir, e.Name()), regularfile.NoLimit)
		if err != nil {
			return nil, err
		}
		for sha := range strings.Lines(string(list)) {
			all[strings.TrimSuffix(sha, "\n")] = true
		}
	}
	return all, nil
}

// replaceFile replaces a file in the data folder with the unpacked one. The old file is moved to the folder of backups,
// under a name with the given suffix. If blobs isn't empty, that list is stored beside the old file.
func (u *unpacked) replaceFile(name, suffix string, blobs []byte) (undo func(), err error) {
	target := filepath.Join(u.options.Dir, name)
	aside := newBackupPath(u.options.Dir, u.options.Clock(), "before-restore", suffix)
	err = fs.ErrNotExist
	if name != fileDatabase || !u.isNew {
		// With a second name, the file exists at all times.
		err = u.options.files.Link(target, aside)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the file system has no hard links
			err = u.options.files.Rename(target, aside)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		// It is an error if another process has created the file in the meantime.
		if err = u.options.files.LinkDurably(u.path(name), target); errors.Is(err, fs.ErrExist) {
			return func() {}, fmt.Errorf("%w: %s was created in the meantime", ErrLocked, target)
		}
		return func() { _ = os.Remove(target) }, err
	}
	undo = func() {
		_ = os.Rename(aside, target) // has no effect if both are the same file
		_ = os.Remove(aside)
		_ = os.Remove(aside + replacedBlobsSuffix)
	}
	if err == nil && len(blobs) > 0 {
		err = u.options.files.WriteTemp(aside+replacedBlobsSuffix, 0o600, func(w io.Writer) error { _, err := w.Write(blobs); return err })
	}
	if err := cmp.Or(err, u.options.files.SyncDir(filepath.Dir(aside))); err != nil {
		return undo, disk.ClassifyError(err)
	}
	return undo, u.options.files.RenameDurably(u.path(name), target)
}

// copyRecords copies the unpacked records to another driver's database.
func (u *unpacked) copyRecords(ctx context.Context, to Driver) error {
	from, err := bolt.Open(ctx, u.path(fileDatabase), bolt.Options{})
	if err != nil {
		return err
	}
	return errors.Join(from.View(ctx, func(source kv.KV) error {
		return to.Update(ctx, func(target kv.KV) error {
			for r, err := range allRecords(target) {
				if err == nil {
					err = fmt.Errorf("%w: the database to restore to is not empty: it contains the table %s", ErrExists, r.Table)
				}
				return err
			}
			for r, err := range allRecords(source) {
				if err == nil && isTotal(r.Table, r.Key) {
					continue
				}
				if err == nil {
					err = target.Put(r.Table, r.Key, r.Value)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}), from.Close())
}

// allRecords yields all records of a transaction, by table and key.
func allRecords(k kv.KV) iter.Seq2[kv.Record, error] {
	return func(yield func(kv.Record, error) bool) {
		tables, err := k.Tables()
		if err != nil {
			yield(kv.Record{}, err)
			return
		}
		for _, table := range tables {
			for p, err := range k.Scan(table, kv.Range{}) {
				if !yield(kv.Record{Table: table, Pair: p}, err) || err != nil {
					return
				}
			}
		}
	}
}
