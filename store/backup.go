package store

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/scf-service/service/internal/filelock"
	"github.com/scf-service/service/store/internal/disk"
)

// BackupSuffix is the suffix of the backups that the store makes itself.
const BackupSuffix = ".backup"

// A backup is a zstd-compressed tar of the following files in this order, encrypted with age if there are
// recipients. It can therefore also be unpacked with age, zstd and tar.
//
//	manifest.json   the Manifest
//	files/<name>    other files of the data folder, sorted
//	records         all records (snapshot.go); "database", a bbolt file, in format 1
//	blobs/<sha256>  every blob, sorted; none if they were left out
//
// It ends with a skippable zstd frame that contains the CRC-32C of everything before it, so that any changed byte is
// detected. In addition, the manifest contains a SHA-256 of each table, and each blob is named by its SHA-256. In
// format 2, the last frame contains a SHA-256 instead, which took a fifth of a backup's processor time to compute.
// Format 1 has no such frame.
const (
	entryManifest   = "manifest.json"
	entryFiles      = "files/"
	entryRecords    = "records"
	entryDatabase   = "database"
	entryBlobs      = "blobs/"
	maxManifestSize = 1 << 20

	backupFormat         = 3
	backupFormatOfDriver = 1 // contains a database file
)

// checksumFrame is the header of the last frame: a magic number and the size of its content.
var checksumFrame = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 0x184D2A5B), crc32.Size)

const checksumFrameSize = 8 + crc32.Size

// newBackupChecksum returns the checksum for the last frame.
func newBackupChecksum() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }

// additionalFiles lists the files of a data folder that a backup may contain in addition to records and blobs.
var additionalFiles = map[string]bool{"secret.key": true, "model.json": true}

const maxAdditionalFile = 1 << 20 // in bytes

// Manifest describes a backup.
type Manifest struct {
	Format  int       `json:"format"` // format of the backup file
	Created time.Time `json:"created"`

	DatabaseFormat int    `json:"database_format"` // format of the records; this field and the following ones are missing in format 1
	DatabaseID     string `json:"database_id"`
	Schema         int    `json:"schema"` // schema version of the records

	Tables      []TableSummary `json:"tables"`
	RecordBytes int64          `json:"record_bytes"`
	Files       []string       `json:"files"` // names of additional files, such as secret.key
	Blobs       bool           `json:"blobs"` // false if blobs were left out
	BlobCount   int64          `json:"blob_count"`
	BlobBytes   int64          `json:"blob_bytes"`
	// UnusedBlobs is the number of blobs that were left out because no record refers to them.
	UnusedBlobs int64        `json:"unused_blobs"`
	Damage      BackupDamage `json:"damage"`

	// Encrypted reports whether the file is encrypted. If ReadManifest is called without an identity, it is the
	// only field set.
	Encrypted bool `json:"-"`
}

// BackupDamage describes what was damaged or missing in the data folder when a backup was made.
type BackupDamage struct {
	MissingBlobs   int `json:"missing_blobs"`   // blobs that records refer to
	DamagedBlobs   int `json:"damaged_blobs"`   // blobs left out
	DamagedRecords int `json:"damaged_records"` // records copied although they are damaged
	// Examples describes the first few.
	Examples []string `json:"examples"`
}

// add increments count, and adds the given text as an example unless there are enough examples already.
func (d *BackupDamage) add(count *int, format string, args ...any) {
	if *count++; len(d.Examples) < maxDamageKinds {
		d.Examples = append(d.Examples, fmt.Sprintf(format, args...))
	}
}

// String returns a summary for users, or "" if there was no damage.
func (d BackupDamage) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{d.MissingBlobs, "missing files"}, {d.DamagedBlobs, "damaged files (left out)"}, {d.DamagedRecords, "damaged records"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", p.what, p.n))
		}
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, ", ") + "; such as " + strings.Join(d.Examples, ", ")
}

// RecordCount returns the number of records, not counting index entries.
func (m Manifest) RecordCount() int64 { return countRecords(m.Tables) }

// BackupOptions configure a backup.
type BackupOptions struct {
	WithoutBlobs bool
	// AllowDamaged copies damaged records unchanged and leaves out damaged blobs, instead of returning
	// ErrCorrupt. The manifest counts them.
	AllowDamaged bool
	Recipients   []age.Recipient   // whose identities can decrypt it; if empty, it isn't encrypted
	Files        map[string][]byte // additional files: secret.key, model.json
	// Progress, if set, is called with the number of bytes done and the total. It must be fast.
	Progress func(done, total int64)
}

func (o *BackupOptions) validate() error {
	for name, content := range o.Files {
		if !additionalFiles[name] || len(content) > maxAdditionalFile {
			return fmt.Errorf("a backup can't contain the file %q of %d bytes", name, len(content))
		}
	}
	return nil
}

// Backup writes the whole store to path while the store is in use. The file gets its name once it is complete
// and durable, and its content has been compared with the database's own totals. If the file already exists,
// Backup returns ErrExists. For a damaged record or blob, it returns an ErrCorrupt that names it. Missing blobs
// are counted in the manifest, and blobs that no record refers to are left out.
//
// If path is inside the data folder, it must be in the folder "backups", because elsewhere the store would delete the
// file as unknown, or mistake it for one of its own.
func (db *DB) Backup(ctx context.Context, path string, o BackupOptions) (Manifest, error) {
	if within, err := relativeWithin(filepath.Dir(path), db.dir); err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", disk.ClassifyError(err))
	} else if within != "" && within != dirBackups {
		return Manifest{}, fmt.Errorf("backup: %s is in the data folder; choose another folder, or %s", path, filepath.Join(db.dir, dirBackups))
	}
	m, err := db.backup(ctx, path, o)
	if err != nil {
		return m, fmt.Errorf("backup: %w", err)
	}
	return m, nil
}

func (db *DB) backup(ctx context.Context, path string, o BackupOptions) (Manifest, error) {
	if err := o.validate(); err != nil {
		return Manifest{}, err
	}
	if _, err := os.Lstat(path); err == nil {
		return Manifest{}, fmt.Errorf("%w: %s; choose another name", ErrExists, path)
	}
	removeUnfinishedBackups(filepath.Dir(path), db.clock())
	// Blobs that exist before the snapshot are not deleted until they have been copied.
	db.blobs.backupLock.RLock()
	defer db.blobs.backupLock.RUnlock()

	// The transaction writes to a local file, because the database grows while the transaction is open. Only
	// then are the records written to the target, which may be slow.
	snapshot := db.tempPath()
	defer os.Remove(snapshot)
	a := backupWriter{db: db, options: o}
	if err := a.takeSnapshot(ctx, snapshot); err != nil {
		return Manifest{}, err
	}
	if err := a.listBlobs(ctx); err != nil {
		return a.manifest, err
	}
	temp := filepath.Join(filepath.Dir(path), "."+db.newID()+unfinishedSuffix)
	unlock := func() {}
	defer func() { unlock() }()
	err := db.files.WriteTemp(temp, 0o600, func(w io.Writer) error {
		unlock, _ = filelock.TryLock(temp) // removeUnfinishedBackups works without the lock, too
		return a.write(ctx, newPacedWriter(ctx, disk.ContextWriter(ctx, w), db), snapshot)
	})
	if err != nil {
		return a.manifest, err
	}
	if err := db.files.LinkDurably(temp, path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%w: %s; choose another name", ErrExists, path)
		}
		return a.manifest, err
	}
	return a.manifest, nil
}

// relativeWithin returns the path of dir relative to the existing folder root, with symbolic links resolved, or
// "" if dir is outside root.
func relativeWithin(dir, root string) (string, error) {
	for _, path := range []*string{&dir, &root} {
		absolute, err := filepath.Abs(*path)
		if err == nil {
			*path, err = filepath.EvalSymlinks(absolute)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil // writing there will fail
		}
		if err != nil {
			return "", err
		}
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", nil //nolint:nilerr // they are on different drives
	}
	return rel, nil
}

// unfinishedSuffix is the suffix of a backup that is being written. No other program uses it.
const unfinishedSuffix = ".unfinished-service-backup"

// removeUnfinishedBackups removes unfinished backups in dir from processes that were killed: those that no
// process has locked or, where files can't be locked, those that have not been written to for a day.
func removeUnfinishedBackups(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), unfinishedSuffix) || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		unused := 10 * time.Second // a file that was just created may not be locked yet
		unlock, err := filelock.TryLock(path)
		if errors.Is(err, filelock.ErrLocked) {
			continue
		} else if err != nil {
			unused = 24 * time.Hour
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > unused {
			_ = os.Remove(path)
		}
		unlock()
	}
}

// backupWriter writes a backup of a store.
type backupWriter struct {
	db       *DB
	options  BackupOptions
	manifest Manifest
	// references maps the blobs that records refer to to the name of one such record. It is nil if the
	// references are unknown.
	references map[string]string
	blobs      []Blob
	tar        *tar.Writer
	done       int64
}

// takeSnapshot writes the records to a file and fills in the manifest accordingly.
func (a *backupWriter) takeSnapshot(ctx context.Context, path string) error {
	meta := a.db.meta
	a.manifest = Manifest{
		Format: backupFormat, Created: a.db.clock().UTC(),
		DatabaseFormat: meta.Format, DatabaseID: meta.ID, Schema: meta.Schema,
		Files: slices.Sorted(maps.Keys(a.options.Files)), Blobs: !a.options.WithoutBlobs,
	}
	var content recordChecker
	check := content.check
	if meta.Format <= formatWithoutChecksums {
		check = nil
	}
	files := disk.Files{Before: a.db.files.Before, WithoutSync: true}
	err := files.WriteTemp(path, 0o600, func(w io.Writer) (err error) {
		counted := &countingWriter{w: w}
		err = a.db.View(ctx, func(tx *Tx) (err error) {
			records := tx.kv.driver
			if tx.kv.withoutTotal {
				if records, err = computeTotal(ctx, records); err != nil {
					return err
				}
			}
			if a.manifest.Tables, err = writeRecords(ctx, records, counted, check); err != nil {
				return err
			}
			return a.readReferences(tx)
		})
		a.manifest.RecordBytes = counted.n
		return err
	})
	if err != nil || check == nil {
		return err
	}
	damage := &a.manifest.Damage
	for _, k := range content.damage.Kinds {
		damage.add(&damage.DamagedRecords, "%s", k.First)
	}
	damage.DamagedRecords = content.damage.Damaged
	return content.err(a.options.AllowDamaged)
}

// readReferences determines which blobs the snapshot needs. All blobs are included if this can't be determined,
// because a record that may refer to a blob is damaged, or because the tables are not those of this package.
func (a *backupWriter) readReferences(tx *Tx) error {
	if a.options.WithoutBlobs || a.db.tables.byName[Documents.Name()] != Documents.definition() {
		return nil
	}
	references, err := ReferencedBlobs(tx)
	if errors.Is(err, ErrCorrupt) {
		return nil // the damage is reported with the records
	}
	a.references = references
	return err
}

// recordChecker compares each record with its checksum, and all records together with the total checksum.
type recordChecker struct {
	damage damageFinder
	total  totalChecker
}

func (c *recordChecker) check(table string, key, stored []byte) {
	c.damage.Pair(table, key, stored)
	c.total.Pair(table, key, stored)
}

func (c *recordChecker) err(allowDamaged bool) error {
	if c.damage.Damaged > 0 && !allowDamaged {
		return fmt.Errorf("%w: %s; restore an earlier backup, %s", ErrCorrupt, c.damage.DamageCheck, adviceAboutDamage)
	}
	if c.total.stored == nil {
		return errWrongTotal
	}
	return c.total.Err()
}

// adviceAboutDamage tells the user what to do about damage that prevents a backup.
const adviceAboutDamage = "or back up the undamaged data with `service backup --allow-damaged FILE`"

// listBlobs lists the blobs. It runs after the snapshot, so that the list includes all blobs that the
// snapshot refers to. The list takes about 100 bytes of memory per blob.
func (a *backupWriter) listBlobs(ctx context.Context) error {
	if a.options.WithoutBlobs {
		return nil
	}
	damage := &a.manifest.Damage
	missing := maps.Clone(a.references)
	err := a.db.blobs.ForEach(ctx, func(sha string) error {
		record, needed := missing[sha]
		if a.references != nil && !needed {
			a.manifest.UnusedBlobs++
			return nil
		}
		delete(missing, sha)
		if a.options.AllowDamaged {
			if err := a.db.blobs.Verify(ctx, sha); err != nil && ctx.Err() == nil {
				damage.add(&damage.DamagedBlobs, "%s (%s)", cmp.Or(record, "blob"), sha)
				return nil
			}
		}
		size, err := a.db.blobs.Size(ctx, sha)
		if err != nil {
			return a.describeBlobError(sha, err)
		}
		a.blobs = append(a.blobs, Blob{SHA256: sha, Size: size})
		a.manifest.BlobCount++
		a.manifest.BlobBytes += size
		return nil
	})
	for _, sha := range slices.Sorted(maps.Keys(missing)) {
		damage.add(&damage.MissingBlobs, "%s (%s)", missing[sha], sha)
	}
	return err
}

// describeBlobError adds to an error about a blob the name of a record that refers to the blob, and what the user can
// do.
func (a *backupWriter) describeBlobError(sha string, err error) error {
	return fmt.Errorf("%s: %w, %s", cmp.Or(a.references[sha], "blob "+sha), err, adviceAboutDamage)
}

// write writes the backup to w, encrypted if there are recipients.
func (a *backupWriter) write(ctx context.Context, w io.Writer, snapshot string) error {
	if len(a.options.Recipients) == 0 {
		return a.writePlain(ctx, w, snapshot)
	}
	encrypted, err := age.Encrypt(w, a.options.Recipients...)
	if err != nil {
		return err
	}
	if err := a.writePlain(ctx, encrypted, snapshot); err != nil {
		return err
	}
	return encrypted.Close()
}

// writePlain writes the unencrypted backup: the archive, followed by its checksum.
func (a *backupWriter) writePlain(ctx context.Context, w io.Writer, snapshot string) error {
	sum := newBackupChecksum()
	// With a concurrency of 2, reading, compressing and writing overlap; the output is the same.
	z, err := zstd.NewWriter(io.MultiWriter(w, sum), zstd.WithEncoderConcurrency(2), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	a.tar = tar.NewWriter(z)
	// After an error, closing only repeats it.
	if err := cmp.Or(a.writeEntries(ctx, snapshot), a.tar.Close(), z.Close()); err != nil {
		return err
	}
	_, err = w.Write(sum.Sum(bytes.Clone(checksumFrame)))
	return err
}

// writeEntries writes the entries of the archive in order.
func (a *backupWriter) writeEntries(ctx context.Context, snapshot string) error {
	manifest, err := json.Marshal(a.manifest)
	if err != nil {
		return err
	}
	if err := a.addEntry(entryManifest, int64(len(manifest)), bytes.NewReader(manifest)); err != nil {
		return err
	}
	for _, name := range a.manifest.Files {
		content := a.options.Files[name]
		if err := a.addEntry(entryFiles+name, int64(len(content)), bytes.NewReader(content)); err != nil {
			return err
		}
	}
	f, err := os.Open(snapshot)
	if err != nil {
		return err
	}
	if err := errors.Join(a.addEntry(entryRecords, a.manifest.RecordBytes, f), f.Close()); err != nil {
		return err
	}
	for _, b := range a.blobs {
		if err := a.addBlob(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// addBlob adds a blob to the backup and verifies it at the same time.
func (a *backupWriter) addBlob(ctx context.Context, b Blob) error {
	f, size, err := a.db.blobs.openUnverified(ctx, b.SHA256)
	if err != nil {
		return a.describeBlobError(b.SHA256, err)
	}
	defer f.Close()
	if size != b.Size {
		return a.describeBlobError(b.SHA256, fmt.Errorf("%w: the size is %d instead of %d", ErrCorrupt, size, b.Size))
	}
	if err := a.addHeader(entryBlobs+b.SHA256, size); err != nil {
		return err
	}
	err = verifyBlob(ctx, b.SHA256, io.TeeReader(io.LimitReader(f, size), progressWriter{a}))
	if errors.Is(err, ErrCorrupt) { // otherwise, the target has failed
		err = a.describeBlobError(b.SHA256, err)
	}
	return err
}

func (a *backupWriter) addHeader(name string, size int64) error {
	return a.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: a.manifest.Created})
}

// addEntry adds a file to the archive.
func (a *backupWriter) addEntry(name string, size int64, r io.Reader) error {
	if err := a.addHeader(name, size); err != nil {
		return err
	}
	_, err := io.CopyN(progressWriter{a}, r, size)
	return err
}

// progressWriter writes to the archive and reports progress.
type progressWriter struct {
	a *backupWriter
}

func (w progressWriter) Write(p []byte) (int, error) {
	n, err := w.a.tar.Write(p)
	w.a.done += int64(n)
	if w.a.options.Progress != nil {
		total := w.a.manifest.RecordBytes + w.a.manifest.BlobBytes
		w.a.options.Progress(min(w.a.done, total), total)
	}
	return n, err
}

// countingWriter counts the bytes written.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// isEncrypted reports whether b, the beginning of a file, shows that the file is encrypted with age.
func isEncrypted(b []byte) bool { return strings.HasPrefix(string(b), "age-encryption.org/") }
