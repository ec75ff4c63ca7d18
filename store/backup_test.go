package store

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/scf-service/service/internal/filelock"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/store/bolt"
	"github.com/scf-service/service/store/postgres"
)

func backUp(ctx context.Context, db *DB, path string) error {
	_, err := db.Backup(ctx, path, BackupOptions{})
	return err
}

func TestBackup(t *testing.T) {
	o := options(t.TempDir())
	db := open(t, o)
	fillControls(t, db, 500)
	large := bytes.Repeat([]byte("evidence "), 100_000)
	blob, err := db.Blobs().Put(t.Context(), bytes.NewReader(large), 1<<30)
	is(t, "Put", err, nil)
	path := filepath.Join(t.TempDir(), "today.backup")
	// Back up the store while it is in use.
	view(t, db, func(*Tx) error { return backUp(t.Context(), db, path) })
	is(t, "over another", backUp(t.Context(), db, path), ErrExists)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	is(t, "cancelled", backUp(ctx, db, path+"2"), context.Canceled)
	left, err := os.ReadDir(filepath.Dir(path))
	if is(t, "ReadDir", err, nil); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	same(t, "tmp", files(t, db, dirTemp))

	// The backup must not contain later changes.
	update(t, db, func(tx *Tx) error { return controls.Put(tx, &control{Code: "later"}) })
	is(t, "Delete", db.Blobs().Delete(t.Context(), blob.SHA256), nil)
	_, err = Restore(t.Context(), path, o, ReadOptions{})
	is(t, "Restore while open", err, ErrLocked)
	is(t, "Close", db.Close(), nil)

	check := func(o Options) {
		t.Helper()
		db := open(t, o)
		defer db.Close()
		view(t, db, func(tx *Tx) error {
			n, err := controls.Count(tx)
			if n != 500 {
				t.Errorf("%d controls", n)
			}
			checkIndexes(t, tx, controls)
			return err
		})
		if read(t, db, blob.SHA256) != string(large) {
			t.Error("the blob is another")
		}
		same(t, "tmp", files(t, db, dirTemp))
	}
	elsewhere := options(filepath.Join(t.TempDir(), "new", "folder"))
	m, err := Restore(t.Context(), path, elsewhere, ReadOptions{})
	if is(t, "Restore", err, nil); !m.Blobs || !m.Created.Equal(day) {
		t.Errorf("manifest %+v", m)
	}
	check(elsewhere)

	_, err = Restore(t.Context(), path, o, ReadOptions{})
	is(t, "Restore over", err, nil)
	check(o)
	aside := filepath.Join(o.Dir, dirBackups, "20261120T090000.000Z-before-restore.db")
	if _, err := os.Stat(aside); err != nil {
		t.Errorf("the replaced database is gone: %v", err)
	}

	// Restore over a damaged database, which is why users restore.
	is(t, "Truncate", os.Truncate(filepath.Join(elsewhere.Dir, fileDatabase), 9000), nil)
	_, err = Restore(t.Context(), path, elsewhere, ReadOptions{})
	is(t, "Restore over damage", err, nil)
	check(elsewhere)
}

// backupFixture is a small store with a backup of it and later changes.
type backupFixture struct {
	options Options
	path    string
	content []byte // content of the backup
	blob    Blob
}

// makeBackup creates a store with n records and two blobs in a folder, closes it and returns a backup of it.
func makeBackup(t testing.TB, dir string, n int) backupFixture {
	t.Helper()
	f := backupFixture{options: options(dir), path: filepath.Join(t.TempDir(), "b")}
	db := open(t, f.options)
	fillControls(t, db, n)
	for _, content := range []string{"other", "evidence"} {
		blob, err := db.Blobs().Put(t.Context(), strings.NewReader(content), 100)
		is(t, "Put", err, nil)
		f.blob = blob
	}
	_, err := db.Backup(t.Context(), f.path, BackupOptions{Files: map[string][]byte{"secret.key": []byte("new key")}})
	is(t, "Backup", err, nil)
	update(t, db, func(tx *Tx) error { return controls.Put(tx, &control{Code: "later"}) })
	is(t, "Close", db.Close(), nil)
	is(t, "WriteFile", os.WriteFile(filepath.Join(dir, "secret.key"), []byte("old key"), 0o600), nil)
	f.content, err = os.ReadFile(f.path)
	is(t, "ReadFile", err, nil)
	return f
}

// state returns the content of a data folder's files by path.
func state(t testing.TB, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		got[strings.TrimPrefix(path, dir)] = string(b)
		return err
	})
	is(t, "walking", err, nil)
	return got
}

// checkState compares the files of a data folder, except for the ID of the database, which the next Open writes.
func checkState(t testing.TB, what, dir string, want map[string]string) {
	t.Helper()
	got := state(t, dir)
	delete(got, "/"+fileID)
	want = maps.Clone(want)
	delete(want, "/"+fileID)
	if !maps.Equal(got, want) {
		t.Fatalf("%s: the folder was changed: %q instead of %q", what, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// checkRestored checks that a folder has the content of the fixture's backup.
func checkRestored(t testing.TB, o Options, f backupFixture, n int) {
	t.Helper()
	db := open(t, o)
	view(t, db, func(tx *Tx) error {
		got, err := controls.Count(tx)
		if got != n {
			t.Fatalf("%d records, want %d", got, n)
		}
		checkIndexes(t, tx, controls)
		return err
	})
	is(t, "Verify", db.Blobs().Verify(t.Context(), f.blob.SHA256), nil)
	is(t, "Close", db.Close(), nil)
	key, err := os.ReadFile(filepath.Join(o.Dir, "secret.key"))
	if is(t, "ReadFile", err, nil); string(key) != "new key" {
		t.Fatalf("the key is %q", key)
	}
}

// TestRestoreRefusesDamage checks that a backup is rejected if it was truncated or changed in any region, and that
// nothing is replaced in that case.
func TestRestoreRefusesDamage(t *testing.T) {
	f := makeBackup(t, t.TempDir(), 50)
	before := state(t, f.options.Dir)
	identity, err := age.GenerateX25519Identity()
	is(t, "GenerateX25519Identity", err, nil)
	db := open(t, f.options)
	encrypted := filepath.Join(t.TempDir(), "encrypted")
	_, err = db.Backup(t.Context(), encrypted, BackupOptions{Recipients: []age.Recipient{identity.Recipient()}})
	is(t, "Backup", errors.Join(err, db.Close()), nil)
	sealed, err := os.ReadFile(encrypted)
	is(t, "ReadFile", err, nil)

	ro := ReadOptions{Identities: []age.Identity{identity}}
	try := func(name string, b []byte) {
		t.Helper()
		is(t, "WriteFile", os.WriteFile(f.path, b, 0o600), nil)
		_, err := Restore(t.Context(), f.path, f.options, ro)
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrEncrypted) {
			t.Fatalf("%s: got %v", name, err)
		}
		if _, err := VerifyBackup(t.Context(), f.path, options(t.TempDir()), ro); err == nil {
			t.Fatalf("%s: it was verified", name)
		}
	}
	for name, whole := range map[string][]byte{"plain": f.content, "encrypted": sealed} {
		var at []int
		for i := 0; i < len(whole); i += 1 + len(whole)/20 {
			at = append(at, i)
		}
		at = append(at, 1, 2, 3, 4, 5, 6, 7, len(whole)-1, len(whole)-5, len(whole)-9, len(whole)-12, len(whole)-13)
		for _, i := range at {
			try(fmt.Sprintf("%s cut to %d of %d bytes", name, i, len(whole)), whole[:i])
			flipped := bytes.Clone(whole)
			flipped[i] ^= 1 << (i % 8)
			try(fmt.Sprintf("%s with byte %d of %d changed", name, i, len(whole)), flipped)
		}
		try(name+" twice", slices.Concat(whole, whole))
		try(name+" and a byte", append(bytes.Clone(whole), 0))
		torn := bytes.Clone(whole)
		clear(torn[len(torn)/2:])
		try(name+" torn", torn)
	}
	try("a header without an end", []byte("age-encryption.org/v1\n"+strings.Repeat("-> x\n", 100_000)))
	try("something else", []byte("PK\x03\x04 hello"))
	try("nothing", nil)
	checkState(t, "damaged backups", f.options.Dir, before)

	is(t, "WriteFile", os.WriteFile(f.path, f.content, 0o600), nil)
	_, err = Restore(t.Context(), f.path, f.options, ReadOptions{})
	is(t, "Restore", err, nil)
	checkRestored(t, f.options, f, 50)
}

func TestEncryptedBackup(t *testing.T) {
	db := openNew(t)
	fillControls(t, db, 5)
	mine, err := age.GenerateX25519Identity()
	is(t, "GenerateX25519Identity", err, nil)
	other, err := age.GenerateX25519Identity()
	is(t, "GenerateX25519Identity", err, nil)
	path := filepath.Join(t.TempDir(), "b")
	_, err = db.Backup(t.Context(), path, BackupOptions{Recipients: []age.Recipient{mine.Recipient()}})
	is(t, "Backup", err, nil)
	m, err := ReadManifest(t.Context(), path)
	if is(t, "ReadManifest", err, nil); !m.Encrypted || m.Format != 0 {
		t.Errorf("without an identity: %+v", m)
	}
	m, err = ReadManifest(t.Context(), path, mine)
	if is(t, "ReadManifest", err, nil); !m.Encrypted || m.RecordCount() < 5 || !m.Created.Equal(day) {
		t.Errorf("with the identity: %+v", m)
	}
	_, err = ReadManifest(t.Context(), path, other)
	is(t, "with another identity", err, ErrEncrypted)
	for _, identities := range [][]age.Identity{nil, {other}} {
		_, err = Restore(t.Context(), path, options(t.TempDir()), ReadOptions{Identities: identities})
		is(t, "Restore", err, ErrEncrypted)
	}
	_, err = VerifyBackup(t.Context(), path, options(t.TempDir()), ReadOptions{Identities: []age.Identity{other, mine}})
	is(t, "VerifyBackup", err, nil)
}

// TestVerifyBackup checks what the verification counts, what damage it reports, and that it leaves nothing behind.
func TestVerifyBackup(t *testing.T) {
	o := options(t.TempDir())
	o.Schema = ServiceSchema
	db := open(t, o)
	blob, err := db.Blobs().Put(t.Context(), strings.NewReader("evidence"), 100)
	is(t, "Put", err, nil)
	update(t, db, func(tx *Tx) error {
		var errs []error
		for i, sha := range []string{blob.SHA256, strings.Repeat("ab", 32)} {
			d := Document{}
			d.OrganizationID, d.AssessmentID, d.ID, d.SHA256, d.Filename = "one", "a", fmt.Sprint(i), sha, fmt.Sprintf("%d.pdf", i)
			errs = append(errs, Documents.Insert(tx, "one", &d))
		}
		return errors.Join(errs...)
	})
	parent := o
	parent.Dir = t.TempDir()
	for _, without := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "b")
		var last [2]int64
		progress := func(done, total int64) {
			if done < last[0] || done > total {
				t.Errorf("%d of %d bytes after %d", done, total, last[0])
			}
			last = [2]int64{done, total}
		}
		made, err := db.Backup(t.Context(), path, BackupOptions{WithoutBlobs: without, Progress: progress})
		if is(t, "Backup", err, nil); last[0] != last[1] || last[0] != made.RecordBytes+made.BlobBytes {
			t.Errorf("progress ended at %v", last)
		}
		checked := 0
		last = [2]int64{}
		v, err := VerifyBackup(t.Context(), path, parent, ReadOptions{Progress: progress, Check: func(ctx context.Context, db *DB) error {
			c, err := db.CheckRecords(ctx)
			checked = c.Checked
			return err
		}})
		is(t, "VerifyBackup", err, nil)
		if last[0] != last[1] || last[0] == 0 {
			t.Errorf("progress ended at %v", last)
		}
		if v.RecordCount() != made.RecordCount() || v.RecordCount() < 2 || checked < int(v.RecordCount()) ||
			v.Schema != ServiceSchema.Version() ||
			v.DatabaseID != db.meta.ID {
			t.Errorf("made %+v, verified %+v with %d records", made, v, checked)
		}
		if without == v.Blobs || !without && (v.BlobCount != 1 || v.BlobBytes != 8) {
			t.Errorf("verified %+v", v)
		}
		if want := `missing files: 1; such as document "1.pdf" (` + strings.Repeat("ab", 32) + ")"; !without && v.Damage.String() != want {
			t.Errorf("damage %q, want %q", v.Damage, want)
		}
		fail := errors.New("no")
		_, err = VerifyBackup(t.Context(), path, parent, ReadOptions{Check: func(context.Context, *DB) error { return fail }})
		is(t, "a failing check", err, fail)
	}
	if left := state(t, parent.Dir); len(left) > 0 {
		t.Errorf("left behind: %q", slices.Sorted(maps.Keys(left)))
	}
	entries, err := os.ReadDir(parent.Dir)
	if is(t, "ReadDir", err, nil); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// entry is a file of an archive.
type entry struct {
	name, content string
	kind          byte  // 0 means a regular file
	size          int64 // if it differs from the size of the content
}

// writeArchive writes a backup with the given entries, a correct checksum, and extra bytes before the checksum.
func writeArchive(t testing.TB, path, extra string, entries ...entry) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := tar.Header{Name: e.name, Size: int64(len(e.content)), Mode: 0o600, Typeflag: tar.TypeReg}
		if e.kind != 0 {
			h.Typeflag, h.Size, h.Linkname = e.kind, 0, "../../escaped"
		}
		h.Size = max(h.Size, e.size)
		is(t, "WriteHeader", w.WriteHeader(&h), nil)
		if e.kind == 0 {
			_, err := io.WriteString(w, e.content)
			is(t, "Write", err, nil)
		}
	}
	_ = w.Close() // fails if the last file is too short
	b.WriteString(extra)
	writeTar(t, path, b.Bytes())
}

// writeTar writes a backup with the given uncompressed bytes.
func writeTar(t testing.TB, path string, content []byte) {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	is(t, "NewWriter", err, nil)
	_, err = z.Write(content)
	is(t, "Write", errors.Join(err, z.Close()), nil)
	r := &trailerReader{r: bytes.NewReader(append(b.Bytes(), make([]byte, checksumFrameSize)...)), sum: newBackupChecksum()}
	_, err = io.Copy(io.Discard, r)
	is(t, "Copy", err, nil)
	is(t, "WriteFile", os.WriteFile(path, append(b.Bytes(), r.sum.Sum(bytes.Clone(checksumFrame))...), 0o600), nil)
}

// readArchive returns the entries of a backup.
func readArchive(t testing.TB, content []byte) []entry {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(content))
	is(t, "NewReader", err, nil)
	defer z.Close()
	var entries []entry
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		is(t, "Next", err, nil)
		b, err := io.ReadAll(r)
		is(t, "ReadAll", err, nil)
		entries = append(entries, entry{name: h.Name, content: string(b)})
	}
}

// TestHostileBackup checks maliciously crafted archives with a correct checksum.
func TestHostileBackup(t *testing.T) {
	f := makeBackup(t, t.TempDir(), 20)
	whole := readArchive(t, f.content) // manifest, key, records, two blobs
	if len(whole) != 5 || whole[2].name != entryRecords {
		t.Fatalf("entries: %v", whole)
	}
	before := state(t, f.options.Dir)
	with := func(change func(m *Manifest)) entry {
		var m Manifest
		is(t, "Unmarshal", json.Unmarshal([]byte(whole[0].content), &m), nil)
		change(&m)
		b, err := json.Marshal(m)
		is(t, "Marshal", err, nil)
		return entry{name: entryManifest, content: string(b)}
	}
	replace := func(i int, e entry) []entry {
		changed := slices.Clone(whole)
		changed[i] = e
		return changed
	}
	records := func(content string) []entry {
		return []entry{
			with(func(m *Manifest) { m.RecordBytes = int64(len(content)) }),
			whole[1],
			{name: entryRecords, content: content},
			whole[3],
			whole[4],
		}
	}
	last := whole[4]
	for name, entries := range map[string][]entry{
		"a path out of the folder":     append(slices.Clone(whole), entry{name: "blobs/../../escaped", content: "x"}),
		"an absolute path":             append(slices.Clone(whole), entry{name: "/tmp/escaped", content: "x"}),
		"a file of the data folder":    replace(1, entry{name: "files/service.id", content: "x"}),
		"a file that is named":         replace(0, with(func(m *Manifest) { m.Files = []string{"../escaped"} })),
		"a file that is missing":       replace(0, with(func(m *Manifest) { m.Files = []string{"model.json", "secret.key"} })),
		"a file twice":                 replace(0, with(func(m *Manifest) { m.Files = []string{"secret.key", "secret.key"} })),
		"a file too many":              replace(0, with(func(m *Manifest) { m.Files = nil })),
		"a symbolic link":              append(slices.Clone(whole), entry{name: last.name, kind: tar.TypeSymlink}),
		"a link for the records":       replace(2, entry{name: entryRecords, kind: tar.TypeSymlink}),
		"a hard link":                  replace(3, entry{name: whole[3].name, kind: tar.TypeLink}),
		"a folder":                     replace(3, entry{name: whole[3].name, kind: tar.TypeDir}),
		"a device":                     replace(3, entry{name: whole[3].name, kind: tar.TypeChar}),
		"a blob twice":                 {whole[0], whole[1], whole[2], last, last},
		"another order":                {whole[0], whole[1], whole[2], whole[4], whole[3]},
		"records last":                 {whole[0], whole[1], whole[3], whole[4], whole[2]},
		"no manifest":                  whole[1:],
		"a second manifest":            append(slices.Clone(whole), whole[0]),
		"no records":                   {whole[0], whole[1], whole[3], whole[4]},
		"a missing blob":               whole[:4],
		"nothing":                      nil,
		"other content of a blob":      replace(4, entry{name: last.name, content: strings.Repeat("x", len(last.content))}),
		"a blob that is too long":      replace(4, entry{name: last.name, content: last.content + "x"}),
		"a blob that is too short":     replace(4, entry{name: last.name, content: last.content[1:]}),
		"blobs that weren't announced": replace(0, with(func(m *Manifest) { m.Blobs = false })),
		"more bytes than announced":    replace(0, with(func(m *Manifest) { m.BlobBytes-- })),
		"fewer bytes than announced":   replace(0, with(func(m *Manifest) { m.BlobBytes++ })),
		"more blobs than announced":    replace(0, with(func(m *Manifest) { m.BlobCount-- })),
		"a negative size":              replace(0, with(func(m *Manifest) { m.RecordBytes = -1 })),
		"more records than announced":  replace(0, with(func(m *Manifest) { m.RecordBytes-- })),
		"a size beyond all":            replace(0, with(func(m *Manifest) { m.BlobBytes = 1<<63 - 1; m.RecordBytes = 1 })),
		"another schema":               replace(0, with(func(m *Manifest) { m.Schema-- })),
		"another database":             replace(0, with(func(m *Manifest) { m.DatabaseID = "x" })),
		"another format of records":    replace(0, with(func(m *Manifest) { m.DatabaseFormat = formatWithoutChecksums })),
		"other records":                replace(0, with(func(m *Manifest) { m.Tables[1].SHA256 = strings.Repeat("0", 64) })),
		"another number of records":    replace(0, with(func(m *Manifest) { m.Tables[1].Records++ })),
		"a table too few":              replace(0, with(func(m *Manifest) { m.Tables = m.Tables[1:] })),
		"a table too many": replace(0, with(func(m *Manifest) {
			m.Tables = append(m.Tables, TableSummary{
				Name:    "zz",
				Records: 1,
			})
		})),
		"a manifest that isn't JSON":    replace(0, entry{name: entryManifest, content: "{"}),
		"a manifest without a format":   replace(0, entry{name: entryManifest, content: "{}"}),
		"a huge manifest":               replace(0, entry{name: entryManifest, content: strings.Repeat(" ", maxManifestSize) + whole[0].content}),
		"records cut short":             records(whole[2].content[:len(whole[2].content)/2]),
		"records without an end":        records(whole[2].content[:len(whole[2].content)-1]),
		"more after the records":        records(whole[2].content + "x"),
		"a table name of 1 GB":          records("\x80\x80\x80\x80\x04a"),
		"a key of 1 GB":                 records("\x01a\x80\x80\x80\x80\x04a"),
		"a value of 1 GB":               records("\x01a\x01k\x80\x80\x80\x80\x04a"),
		"a length without an end":       records(strings.Repeat("\xff", 100)),
		"an empty table":                records("\x01a\x00\x00"),
		"tables out of order":           records("\x01b\x01k\x01v\x00\x01a\x01k\x01v\x00\x00"),
		"keys out of order":             records("\x01a\x01l\x01v\x01k\x01v\x00\x00"),
		"a key twice":                   records("\x01a\x01k\x01v\x01k\x01v\x00\x00"),
		"records without a description": records("\x01a\x01k\x01v\x00\x00"),
		"no records at all":             records("\x00"),
	} {
		writeArchive(t, f.path, "", entries...)
		if _, err := Restore(t.Context(), f.path, f.options, ReadOptions{}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: got %v", name, err)
		}
		checkState(t, name, f.options.Dir, before)
	}
	huge := slices.Clone(whole[:4])
	huge[0] = with(func(m *Manifest) { m.BlobBytes = 1 << 60 })
	writeArchive(t, f.path, "", append(huge, entry{name: last.name, size: 1 << 50})...)
	if _, err := Restore(t.Context(), f.path, f.options, ReadOptions{}); !errors.Is(err, ErrDiskFull) && !errors.Is(err, ErrCorrupt) {
		t.Errorf("a blob of a petabyte: %v", err)
	}
	checkState(t, "a blob of a petabyte", f.options.Dir, before)
	writeArchive(t, f.path, "more", whole...)
	_, err := Restore(t.Context(), f.path, f.options, ReadOptions{})
	is(t, "more after the archive", err, ErrCorrupt)

	for name, change := range map[string]func(*Manifest){
		"a newer format":          func(m *Manifest) { m.Format = backupFormat + 1 },
		"a newer database format": func(m *Manifest) { m.DatabaseFormat = formatVersion + 1 },
		"a newer schema":          func(m *Manifest) { m.Schema = 99 },
	} {
		writeArchive(t, f.path, "", replace(0, with(change))...)
		_, err := Restore(t.Context(), f.path, f.options, ReadOptions{})
		is(t, name, err, ErrNewerSchema)
		_, err = VerifyBackup(t.Context(), f.path, f.options, ReadOptions{})
		is(t, name, err, ErrNewerSchema)
	}
	writeArchive(t, f.path, "", replace(0, with(func(m *Manifest) { m.DatabaseFormat = formatWithoutChecksums - 1 }))...)
	_, err = Restore(t.Context(), f.path, f.options, ReadOptions{})
	is(t, "a format from before the first release", err, ErrOldFormat)
	checkState(t, "other formats", f.options.Dir, before)

	writeArchive(t, f.path, "", whole...)
	_, err = Restore(t.Context(), f.path, f.options, ReadOptions{})
	is(t, "Restore", err, nil)
	checkRestored(t, f.options, f, 20)
}

// FuzzRestore checks that a hostile archive results either in an error or in a database that can be opened, and that
// nothing is written outside the folder.
func FuzzRestore(f *testing.F) {
	b := makeBackup(f, f.TempDir(), 3)
	z, err := zstd.NewReader(bytes.NewReader(b.content))
	is(f, "NewReader", err, nil)
	whole, err := io.ReadAll(z)
	is(f, "ReadAll", err, nil)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(b.content)
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		archive := filepath.Join(dir, "archive")
		writeTar(t, archive, b)
		if _, err := Restore(t.Context(), archive, options(filepath.Join(dir, "data")), ReadOptions{}); err == nil {
			db, err := Open(t.Context(), options(filepath.Join(dir, "data")))
			if err == nil {
				is(t, "Close", db.Close(), nil)
			}
		}
		entries, err := os.ReadDir(dir)
		if is(t, "ReadDir", err, nil); len(entries) > 2 {
			t.Fatalf("files outside: %v", entries)
		}
	})
}

// TestFormat2Backup checks that backups that end with a SHA-256 can be restored, and are rejected if damaged.
func TestFormat2Backup(t *testing.T) {
	f := makeBackup(t, t.TempDir(), 20)
	entries := readArchive(t, f.content)
	entries[0].content = strings.Replace(entries[0].content, fmt.Sprintf(`{"format":%d,`, backupFormat), `{"format":2,`, 1)
	writeArchive(t, f.path, "", entries...)
	b, err := os.ReadFile(f.path)
	is(t, "ReadFile", err, nil)
	content := b[:len(b)-checksumFrameSize]
	sum := sha256.Sum256(content)
	b = slices.Concat(content, []byte("\x5b\x2a\x4d\x18\x20\x00\x00\x00"), sum[:])
	is(t, "WriteFile", os.WriteFile(f.path, b, 0o600), nil)
	o := options(t.TempDir())
	m, err := Restore(t.Context(), f.path, o, ReadOptions{})
	if is(t, "Restore", err, nil); m.Format != 2 {
		t.Errorf("format %d", m.Format)
	}
	checkRestored(t, o, f, 20)
	for i := 0; i < len(content); i += 1 + len(content)/20 {
		is(t, "WriteFile", os.WriteFile(f.path, b[:i], 0o600), nil)
		_, err := Restore(t.Context(), f.path, o, ReadOptions{})
		is(t, "cut short", err, ErrCorrupt)
	}
}

// TestFormat1Backup checks that backups can be restored that earlier versions made before a migration.
func TestFormat1Backup(t *testing.T) {
	f := makeBackup(t, t.TempDir(), 20)
	database := string(readDatabase(t, f.options))
	entries := []entry{
		{name: entryManifest, content: `{"format":1,"created":"2026-11-20T09:00:00Z","schema":0,"blobs":true}`},
		{name: entryDatabase, content: database},
		{name: entryBlobs + f.blob.SHA256, content: "evidence"},
	}
	writeArchive(t, f.path, "", entries...)
	b, err := os.ReadFile(f.path)
	is(t, "ReadFile", err, nil)
	is(t, "WriteFile", os.WriteFile(f.path, b[:len(b)-checksumFrameSize], 0o600), nil)
	v, err := VerifyBackup(t.Context(), f.path, options(t.TempDir()), ReadOptions{})
	if is(t, "VerifyBackup", err, nil); v.RecordCount() < 21 || v.BlobCount != 1 || v.BlobBytes != 8 {
		t.Errorf("verified %+v", v)
	}
	o := options(t.TempDir())
	is(t, "WriteFile", os.WriteFile(filepath.Join(o.Dir, "secret.key"), []byte("new key"), 0o600), nil)
	_, err = Restore(t.Context(), f.path, o, ReadOptions{})
	is(t, "Restore", err, nil)
	checkRestored(t, o, f, 21)
	for i := 0; i < len(b)-checksumFrameSize; i += 1 + len(b)/10 {
		is(t, "WriteFile", os.WriteFile(f.path, b[:i], 0o600), nil)
		_, err := Restore(t.Context(), f.path, o, ReadOptions{})
		is(t, "cut short", err, ErrCorrupt)
	}
	checkRestored(t, o, f, 21)
}

// TestBackupToAnotherDriver restores to a database outside the folder, and from there back to the folder.
func TestBackupToAnotherDriver(t *testing.T) {
	driver, err := bolt.Open(t.Context(), filepath.Join(t.TempDir(), "elsewhere"), bolt.Options{})
	is(t, "bolt.Open", err, nil)
	checkBackupToDriver(t, driver)
}

func TestBackupToPostgreSQL(t *testing.T) {
	checkBackupToDriver(t, openPostgres(t))
}

func openPostgres(t *testing.T) Driver {
	t.Helper()
	driver, err := postgres.Open(t.Context(), postgres.Options{URL: postgrestest.NewURL(t)})
	is(t, "postgres.Open", err, nil)
	return driver
}

func checkBackupToDriver(t *testing.T, driver Driver) {
	f := makeBackup(t, t.TempDir(), 20)
	o := options(t.TempDir())
	o.Driver = driver
	_, err := Restore(t.Context(), f.path, o, ReadOptions{})
	is(t, "Restore", err, nil)
	before := state(t, o.Dir)
	_, err = Restore(t.Context(), f.path, o, ReadOptions{})
	is(t, "into a database with records", err, ErrExists)
	checkState(t, "refused", o.Dir, before)

	db := open(t, o)
	back := filepath.Join(t.TempDir(), "back")
	_, err = db.Backup(t.Context(), back, BackupOptions{Files: map[string][]byte{"secret.key": []byte("new key")}})
	is(t, "Backup", errors.Join(err, db.Close()), nil)
	again, err := os.ReadFile(back)
	if is(t, "ReadFile", err, nil); !bytes.Equal(again, f.content) {
		t.Error("a backup of what was restored from a backup is different")
	}
	into := options(t.TempDir())
	_, err = Restore(t.Context(), back, into, ReadOptions{})
	is(t, "Restore", err, nil)
	checkRestored(t, into, f, 20)
}

// TestBackupOfImitation backs up content that was crafted to look like a compressed blob.
func TestBackupOfImitation(t *testing.T) {
	db := openNew(t)
	imitation := compressedMark + "\x00\x00\x00\x00\x00\x01\x00\x00 and more"
	for _, content := range []string{imitation, imitation + strings.Repeat("x", maxCompressedContent)} {
		_, err := db.Blobs().Put(t.Context(), strings.NewReader(content), 1<<30)
		is(t, "Put", err, nil)
	}
	path := filepath.Join(t.TempDir(), "b")
	is(t, "Backup", backUp(t.Context(), db, path), nil)
	v, err := VerifyBackup(t.Context(), path, options(t.TempDir()), ReadOptions{})
	if is(t, "VerifyBackup", err, nil); v.BlobBytes != int64(2*len(imitation)+maxCompressedContent) {
		t.Errorf("%d bytes", v.BlobBytes)
	}
}

// TestBackupInDataFolder checks that a backup can't replace a file of the store, not even through a symbolic link.
func TestBackupInDataFolder(t *testing.T) {
	db := openNew(t)
	link := filepath.Join(t.TempDir(), "link")
	is(t, "Symlink", os.Symlink(db.dir, link), nil)
	for _, path := range []string{
		filepath.Join(db.dir, "model.json"), filepath.Join(db.dir, dirTemp, "a.bak"), filepath.Join(db.dir, dirBlobs, "a.bak"),
		filepath.Join(link, "secret.key"),
	} {
		if err := backUp(t.Context(), db, path); err == nil || !strings.Contains(err.Error(), "is in the data folder; choose another folder") {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	is(t, "Backup", backUp(t.Context(), db, filepath.Join(link, dirBackups, "a.bak")), nil)
}

// TestUnfinishedBackupsAreRemoved checks that the files left by a killed backup are removed, and nothing else.
func TestUnfinishedBackupsAreRemoved(t *testing.T) {
	db := openNew(t)
	parent := t.TempDir()
	dir, other := filepath.Join(parent, "x*"), filepath.Join(parent, "xother") // patterns in names must not be expanded
	is(t, "Mkdir", errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(other, 0o700)), nil)
	old := db.clock().AddDate(0, 0, -2)
	unrelated := filepath.Join(other, ".a.1"+unfinishedSuffix)
	is(t, "WriteFile", errors.Join(os.WriteFile(unrelated, nil, 0o600), os.Chtimes(unrelated, old, old)), nil)
	for name, age := range map[string]bool{
		".a.1" + unfinishedSuffix: true, ".b.2" + unfinishedSuffix: false, "c" + unfinishedSuffix: true, ".d": true,
		".locked" + unfinishedSuffix: true,
	} {
		path := filepath.Join(dir, name)
		is(t, "WriteFile", os.WriteFile(path, nil, 0o600), nil)
		if age {
			is(t, "Chtimes", os.Chtimes(path, old, old), nil)
		}
	}
	unlock, err := filelock.TryLock(filepath.Join(dir, ".locked"+unfinishedSuffix))
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("files can't be locked on this system")
	}
	is(t, "TryLock", err, nil)
	is(t, "Backup", backUp(t.Context(), db, filepath.Join(dir, "new")), nil)
	want := []string{"/.b.2" + unfinishedSuffix, "/.d", "/.locked" + unfinishedSuffix, "/c" + unfinishedSuffix, "/new"}
	same(t, "files", slices.Sorted(maps.Keys(state(t, dir))), want...)
	unlock() // as at the end of its process
	is(t, "Backup", backUp(t.Context(), db, filepath.Join(dir, "newer")), nil)
	same(t, "files", slices.Sorted(maps.Keys(state(t, dir))), append(slices.Delete(want, 2, 3), "/newer")...)
	same(t, "files of another folder", slices.Sorted(maps.Keys(state(t, other))), "/.a.1"+unfinishedSuffix)
}

// TestBackupOfLargeBlobs checks that memory remains bounded. The long test uses sparse files of 10 GB.
func TestBackupOfLargeBlobs(t *testing.T) {
	size := int64(64 << 20)
	if longtest.Enabled() {
		size = 5 << 30
	}
	db := openNew(t)
	var stats runtime.MemStats
	zeros := make([]byte, 1<<20)
	for i := range int64(2) {
		sum := sha256.New()
		for range size>>20 + i {
			_, _ = sum.Write(zeros)
		}
		sha := fmt.Sprintf("%x", sum.Sum(nil))
		folder := filepath.Join(db.dir, dirBlobs, sha[:2])
		is(t, "MkdirAll", os.MkdirAll(folder, 0o700), nil)
		is(t, "WriteFile", os.WriteFile(filepath.Join(folder, sha[2:]), nil, 0o600), nil)
		is(t, "Truncate", os.Truncate(filepath.Join(folder, sha[2:]), size+i<<20), nil)
	}
	runtime.GC()
	runtime.ReadMemStats(&stats)
	begin, most, calls := stats.HeapAlloc, uint64(0), 0
	progress := func(int64, int64) {
		if calls++; calls%64 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&stats)
			most = max(most, stats.HeapAlloc)
		}
	}
	path := filepath.Join(t.TempDir(), "b")
	m, err := db.Backup(t.Context(), path, BackupOptions{Progress: progress})
	is(t, "Backup", err, nil)
	v, err := VerifyBackup(t.Context(), path, options(t.TempDir()), ReadOptions{Progress: progress})
	is(t, "VerifyBackup", err, nil)
	if m.BlobBytes != 2*size+1<<20 || v.BlobBytes != m.BlobBytes {
		t.Errorf("%d bytes backed up, %d verified", m.BlobBytes, v.BlobBytes)
	}
	if most > begin+64<<20 {
		t.Errorf("%d MB in use, %d before", most>>20, begin>>20)
	}
}
