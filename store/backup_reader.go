package store

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/scf-service/service/internal/regularfile"
	"github.com/scf-service/service/store/kv"
)

// ErrEncrypted is returned for a backup that can't be read with the given identities.
var ErrEncrypted = errors.New("the backup is encrypted; specify the identity of one of its recipients")

// maxEncryptionHeader is the maximum size of the header that age reads into memory; each recipient takes
// up 200 bytes of it.
const maxEncryptionHeader = 64 << 10

// ReadOptions configure how a backup is read.
type ReadOptions struct {
	Identities []age.Identity // to decrypt the backup
	// Progress, if set, is called with the number of bytes done and the total. It must be fast.
	Progress func(done, total int64)
	// Check, if set, is called by VerifyBackup with the restored store before it is deleted.
	Check func(context.Context, *DB) error
	// CheckFile, if set, checks the content of each additional file, such as secret.key.
	CheckFile func(name string, content []byte) error
}

// backupError is an ErrCorrupt about a backup, as opposed to the data folder.
type backupError struct {
	text  string
	cause error
}

func (e *backupError) Error() string        { return e.text }
func (e *backupError) Is(target error) bool { return target == ErrCorrupt }
func (e *backupError) Unwrap() error        { return e.cause }

// errNotBackup is the error for a file that is not a backup.
var errNotBackup = &backupError{text: "this file is not a backup"}

// damagedBackup returns an ErrCorrupt that describes what is wrong with a backup.
func damagedBackup(cause error, format string, args ...any) error {
	return &backupError{"the backup is damaged: " + fmt.Sprintf(format, args...), cause}
}

// ReadManifest returns a backup's manifest, for use in lists. It reads only the beginning of the backup and verifies
// nothing. Without an identity, the manifest of an encrypted backup states only that the backup is encrypted.
func ReadManifest(ctx context.Context, path string, identities ...age.Identity) (Manifest, error) {
	r, err := openBackup(ctx, path, ReadOptions{Identities: identities})
	if errors.Is(err, ErrEncrypted) && len(identities) == 0 {
		return Manifest{Encrypted: true}, nil
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", path, err)
	}
	defer r.close()
	return r.manifest, nil
}

// backupReader reads the entries of a backup in order.
type backupReader struct {
	file     *regularfile.File
	content  *trailerReader // the decrypted content
	zstd     *zstd.Decoder
	tar      *tar.Reader
	header   *tar.Header // header of the next entry; nil at the end
	manifest Manifest
}

// openBackup opens a backup and reads its manifest.
func openBackup(ctx context.Context, path string, o ReadOptions) (*backupReader, error) {
	f, err := regularfile.Open(ctx, path, regularfile.NoLimit)
	if err != nil {
		return nil, err
	}
	r := &backupReader{file: f}
	if err := r.start(o); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *backupReader) start(o ReadOptions) error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(&progressReader{r: r.file, total: info.Size(), progress: o.Progress}, 256<<10)
	begin, _ := in.Peek(maxEncryptionHeader)
	var plain io.Reader = in
	if isEncrypted(begin) {
		r.manifest.Encrypted = true
		if !bytes.Contains(begin, []byte("\n--- ")) {
			return damagedBackup(nil, "the file is truncated, or the header is longer than %d KB", maxEncryptionHeader>>10)
		}
		if plain, err = decrypt(in, o.Identities); err != nil {
			return err
		}
	} else if !bytes.HasPrefix(begin, []byte{0x28, 0xB5, 0x2F, 0xFD}) {
		return errNotBackup
	}
	r.content = &trailerReader{r: plain, sum: newBackupChecksum()}
	r.zstd, err = zstd.NewReader(r.content, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return err
	}
	r.tar = tar.NewReader(r.zstd)
	if err := r.next(); err != nil {
		return err
	}
	return r.readManifest()
}

// decrypt returns the decrypted content of a backup.
func decrypt(in io.Reader, identities []age.Identity) (io.Reader, error) {
	if len(identities) == 0 {
		return nil, ErrEncrypted
	}
	plain, err := age.Decrypt(in, identities...)
	var other *age.NoIdentityMatchError
	if errors.As(err, &other) {
		return nil, fmt.Errorf("%w: %w", ErrEncrypted, err)
	}
	return plain, toCorruptError(err)
}

func (r *backupReader) close() {
	if r.zstd != nil {
		r.zstd.Close()
	}
	_ = r.file.Close() // the file was only read
}

func (r *backupReader) readManifest() error {
	content, err := r.open(entryManifest, maxManifestSize)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	encrypted := r.manifest.Encrypted
	if err := json.Unmarshal(b, &r.manifest); err != nil {
		return toCorruptError(err)
	}
	r.manifest.Encrypted = encrypted
	switch m := r.manifest; {
	case m.Format > backupFormat:
		return fmt.Errorf("%w: the backup has format %d, but this program supports only %d; upgrade to a newer version",
			ErrNewerSchema, m.Format, backupFormat)
	case m.Format < 1:
		return errNotBackup
	case m.Format == backupFormatOfDriver:
		return r.next()
	case checkDatabaseFormat(m.DatabaseFormat) != nil:
		return checkDatabaseFormat(m.DatabaseFormat)
	case m.RecordBytes < 0 || m.BlobBytes < 0 || m.BlobCount < 0 || m.RecordBytes+m.BlobBytes < 0:
		return damagedBackup(nil, "the manifest is not valid")
	}
	return r.next()
}

// next advances to the next entry.
func (r *backupReader) next() error {
	h, err := r.tar.Next()
	if errors.Is(err, io.EOF) {
		r.header = nil
		return nil
	}
	if err != nil {
		return toCorruptError(err)
	}
	if h.Typeflag != tar.TypeReg {
		return damagedBackup(nil, "the archive contains %.80q, which is not a file", h.Name)
	}
	r.header = h
	return nil
}

// open returns the content of the current entry. It returns ErrCorrupt unless the entry has the given name and
// at most limit bytes.
func (r *backupReader) open(name string, limit int64) (io.Reader, error) {
	switch {
	case r.header == nil:
		return nil, damagedBackup(nil, "the archive ends before %s", name)
	case r.header.Name != name:
		return nil, damagedBackup(nil, "the archive contains %.80q instead of %s", r.header.Name, name)
	case r.header.Size > limit:
		return nil, damagedBackup(nil, "the entry %s is %d bytes long; the maximum is %d", name, r.header.Size, limit)
	}
	return corruptReader{r.tar}, nil
}

// corruptReader returns ErrCorrupt in place of errors that only a damaged backup can cause.
type corruptReader struct {
	r io.Reader
}

func (c corruptReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != io.EOF { //nolint:errorlint // callers expect this value
		err = toCorruptError(err)
	}
	return n, err
}

// readFiles calls add for each additional file of the backup.
func (r *backupReader) readFiles(add func(name string, content []byte) error) error {
	last := ""
	for _, name := range r.manifest.Files {
		if !additionalFiles[name] || name <= last {
			return damagedBackup(nil, "the archive contains the unexpected file %.80q", name)
		}
		last = name
		in, err := r.open(entryFiles+name, maxAdditionalFile)
		if err != nil {
			return err
		}
		content, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		if err := add(name, content); err != nil {
			return err
		}
		if err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

// readRecords calls read with the content of the records or, in format 1, of the database.
func (r *backupReader) readRecords(read func(content io.Reader, size int64) error) error {
	name, limit := entryRecords, r.manifest.RecordBytes
	if r.manifest.Format == backupFormatOfDriver {
		name, limit = entryDatabase, regularfile.NoLimit
	}
	in, err := r.open(name, limit)
	if err != nil {
		return err
	}
	if size := r.header.Size; name == entryRecords && size != limit {
		return damagedBackup(nil, "the records have %d bytes instead of %d", size, limit)
	}
	if err := read(in, r.header.Size); err != nil {
		return err
	}
	return r.next()
}

// readBlobs calls add for each blob, compares the blobs' number and size with the manifest, and reads the
// backup to its end.
func (r *backupReader) readBlobs(ctx context.Context, add func(sha string, size int64, content io.Reader) error) error {
	m := &r.manifest
	var count, size int64
	for last := ""; r.header != nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		sha, found := strings.CutPrefix(r.header.Name, entryBlobs)
		if !found || !isSHA256(sha) || sha <= last || !m.Blobs {
			return damagedBackup(nil, "the archive contains the unexpected entry %.80q", r.header.Name)
		}
		last = sha
		count++
		size += r.header.Size
		if m.Format != backupFormatOfDriver && (count > m.BlobCount || size > m.BlobBytes) {
			return damagedBackup(nil, "the archive contains more than the manifest lists")
		}
		if err := add(sha, r.header.Size, corruptReader{r.tar}); err != nil {
			return err
		}
		if err := r.next(); err != nil {
			return err
		}
	}
	switch {
	case m.Format == backupFormatOfDriver:
		m.BlobCount, m.BlobBytes = count, size
	case count != m.BlobCount || size != m.BlobBytes:
		return damagedBackup(nil, "the archive contains %d blobs with %d bytes instead of %d blobs with %d bytes",
			count, size, m.BlobCount, m.BlobBytes)
	}
	return r.readEnd()
}

// readEnd checks that the archive is followed only by the end of the backup, and verifies the checksum.
func (r *backupReader) readEnd() error {
	more, err := io.Copy(io.Discard, r.zstd)
	if err != nil {
		return toCorruptError(err)
	}
	if more > 0 {
		return damagedBackup(nil, "there is more data after the end of the archive")
	}
	if _, err := io.Copy(io.Discard, r.content); err != nil {
		return toCorruptError(err)
	}
	if r.manifest.Format < backupFormat { // those formats have another checksum, or none
		return nil
	}
	if want := r.content.sum.Sum(bytes.Clone(checksumFrame)); !bytes.Equal(r.content.tail, want) {
		return damagedBackup(nil, "the checksum is wrong")
	}
	return nil
}

// trailerReader computes the checksum of everything it reads except the trailer (the last bytes), which it stores.
type trailerReader struct {
	r    io.Reader
	sum  hash.Hash
	tail []byte
}

func (t *trailerReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if n >= checksumFrameSize {
		_, _ = t.sum.Write(t.tail)
		_, _ = t.sum.Write(p[:n-checksumFrameSize])
		t.tail = append(t.tail[:0], p[n-checksumFrameSize:n]...)
		return n, err
	}
	t.tail = append(t.tail, p[:n]...)
	if more := len(t.tail) - checksumFrameSize; more > 0 {
		_, _ = t.sum.Write(t.tail[:more])
		t.tail = append(t.tail[:0], t.tail[more:]...)
	}
	return n, err
}

// progressReader reports the progress of reading.
type progressReader struct {
	r           io.Reader
	done, total int64
	progress    func(done, total int64)
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.done += int64(n)
	if p.progress != nil {
		p.progress(min(p.done, p.total), p.total)
	}
	return n, err
}

// toCorruptError returns ErrCorrupt for an error that only the backup itself can cause. It returns other errors
// unchanged.
func toCorruptError(err error) error {
	var path *fs.PathError
	switch {
	case err == nil,
		errors.As(err, &path),
		errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, kv.ErrDiskFull),
		errors.Is(err, ErrCorrupt):
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return damagedBackup(err, "the file is truncated, or data was appended")
	}
	return damagedBackup(err, "the content was changed (%v)", err)
}
