package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/internal/filelock"
	"github.com/scf-service/service/store/kv"
)

// TestBackupOfDamage checks that damage is found when a backup is made, not only when the backup is needed.
func TestBackupOfDamage(t *testing.T) {
	db := openNew(t)
	fillControls(t, db, 5)
	blob, err := db.Blobs().Put(t.Context(), strings.NewReader("evidence"), 100)
	is(t, "Put", err, nil)
	path := filepath.Join(t.TempDir(), "b")

	blobPath := filepath.Join(db.dir, dirBlobs, blob.SHA256[:2], blob.SHA256[2:])
	content, err := os.ReadFile(blobPath)
	is(t, "ReadFile", err, nil)
	is(t, "WriteFile", os.WriteFile(blobPath, []byte("evidencE"), 0o600), nil)
	is(t, "a changed blob", backUp(t.Context(), db, path), ErrCorrupt)
	is(t, "WriteFile", os.WriteFile(blobPath, content, 0o600), nil)

	change := func(fn func(k kv.KV) error) {
		t.Helper()
		is(t, "Update", db.driver.Update(t.Context(), fn), nil)
	}
	key := K("C-0001").b
	var old []byte
	change(func(k kv.KV) error {
		b, err := k.Get("controls", key)
		old = bytes.Clone(b)
		changed := bytes.Clone(b)
		changed[4] ^= 1
		return errors.Join(err, k.Put("controls", key, changed))
	})
	err = backUp(t.Context(), db, path)
	if is(t, "a changed record", err, ErrCorrupt); !strings.Contains(err.Error(), "C-0001") ||
		!strings.Contains(err.Error(), "--allow-damaged") {
		t.Errorf("the error doesn't name the record, or what to do: %v", err)
	}
	checkAllowDamaged(t, db, blobPath)
	change(func(k kv.KV) error { return k.Delete("controls", key) })
	is(t, "a lost record", backUp(t.Context(), db, path), ErrCorrupt)
	same(t, "tmp", files(t, db, dirTemp))
	left, err := os.ReadDir(filepath.Dir(path))
	if is(t, "ReadDir", err, nil); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	change(func(k kv.KV) error { return k.Put("controls", key, old) })
	is(t, "Backup", backUp(t.Context(), db, path), nil)
}

// checkAllowDamaged backs up a store with a damaged record, and then also with a damaged blob, and restores the rest.
func checkAllowDamaged(t *testing.T, db *DB, blobPath string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b")
	content, err := os.ReadFile(blobPath)
	is(t, "ReadFile", err, nil)
	is(t, "WriteFile", os.WriteFile(blobPath, []byte("evidencE"), 0o600), nil)
	made, err := db.Backup(t.Context(), path, BackupOptions{AllowDamaged: true})
	is(t, "Backup", err, nil)
	if d := made.Damage; d.DamagedRecords != 1 || d.DamagedBlobs != 1 || made.BlobCount != 0 || !strings.Contains(d.String(), "C-0001") {
		t.Errorf("%+v", made)
	}
	o := options(t.TempDir())
	m, err := Restore(t.Context(), path, o, ReadOptions{})
	if is(t, "Restore", err, nil); m.Damage.String() != made.Damage.String() {
		t.Errorf("restored %+v", m)
	}
	c, err := open(t, o).CheckRecords(t.Context())
	if is(t, "CheckRecords", err, nil); c.Damaged != 1 {
		t.Errorf("%+v", c)
	}
	is(t, "WriteFile", os.WriteFile(blobPath, content, 0o600), nil)
}

// TestBackupWithoutUnusedBlobs checks that blobs are left out if no record refers to them, whatever they contain, and
// that only blobs with references must be intact.
func TestBackupWithoutUnusedBlobs(t *testing.T) {
	o := options(t.TempDir())
	o.Schema = ServiceSchema
	db := open(t, o)
	blob, err := db.Blobs().Put(t.Context(), strings.NewReader("evidence"), 100)
	is(t, "Put", err, nil)
	update(t, db, func(tx *Tx) error {
		d := Document{}
		d.OrganizationID, d.AssessmentID, d.ID, d.SHA256, d.Filename = "one", "a", "d", blob.SHA256, "policy.md"
		return Documents.Insert(tx, "one", &d)
	})
	folder := filepath.Join(db.dir, dirBlobs, "00")
	is(t, "Mkdir", os.MkdirAll(filepath.Join(folder, strings.Repeat("0", 62)), 0o700), nil)
	is(t, "WriteFile", os.WriteFile(filepath.Join(folder, strings.Repeat("1", 62)), []byte("junk"), 0o600), nil)
	path := filepath.Join(t.TempDir(), "b")
	m, err := db.Backup(t.Context(), path, BackupOptions{})
	if is(t, "Backup", err, nil); m.UnusedBlobs != 2 || m.BlobCount != 1 || m.Damage.String() != "" {
		t.Errorf("%+v", m)
	}
	unused, err := db.Blobs().DeleteUnused(t.Context(), func(string) bool { return false }, -time.Hour)
	is(t, "DeleteUnused", err, nil)
	same(t, "deleted", unused, blob.SHA256) // neither the folder nor the file that is newer than the clock's time
	blobPath := filepath.Join(db.dir, dirBlobs, blob.SHA256[:2], blob.SHA256[2:])
	is(t, "Mkdir", os.Mkdir(blobPath, 0o700), nil)
	err = backUp(t.Context(), db, path+"2")
	if err == nil || !strings.Contains(err.Error(), `document "policy.md": `) || !strings.Contains(err.Error(), "--allow-damaged") {
		t.Errorf("a folder: %v", err)
	}
}

// TestBlobsOfReplacedDatabase checks that blobs are kept if only a database refers to them that was replaced by a
// restore. This also applies if they have been put again and are no longer used. They are kept until that database is
// deleted.
func TestBlobsOfReplacedDatabase(t *testing.T) {
	f := makeBackup(t, t.TempDir(), 3)
	db := open(t, f.options)
	later, err := db.Blobs().Put(t.Context(), strings.NewReader("later"), 100)
	is(t, "Put", err, nil)
	is(t, "Close", db.Close(), nil)
	_, err = Restore(t.Context(), f.path, f.options, ReadOptions{})
	is(t, "Restore", err, nil)
	db = open(t, f.options)
	_, err = db.Blobs().Put(t.Context(), strings.NewReader("later"), 100)
	is(t, "Put", err, nil)
	remove := func() bool {
		_, err := db.Blobs().DeleteUnused(t.Context(), func(string) bool { return false }, -time.Hour)
		is(t, "DeleteUnused", err, nil)
		return errors.Is(db.Blobs().Verify(t.Context(), later.SHA256), ErrNotFound)
	}
	if remove() {
		t.Error("a blob of the replaced database was deleted")
	}
	replaced, err := filepath.Glob(filepath.Join(db.dir, dirBackups, "*.db"))
	if is(t, "Glob", err, nil); len(replaced) != 1 {
		t.Fatal(replaced)
	}
	is(t, "Remove", os.Remove(replaced[0]), nil)
	if !remove() {
		t.Error("the blob is still there")
	}
}

// TestRestoreToFolderThatIsOpened checks that a restore to a folder without a database doesn't replace a database
// that another process creates in the meantime, and that nothing is restored while the folder is locked.
func TestRestoreToFolderThatIsOpened(t *testing.T) {
	f := makeBackup(t, t.TempDir(), 3)
	o := options(t.TempDir())
	unlock, err := filelock.TryLock(o.Dir)
	if !errors.Is(err, errors.ErrUnsupported) {
		is(t, "TryLock", err, nil)
		_, err = Restore(t.Context(), f.path, o, ReadOptions{})
		is(t, "locked", err, ErrLocked)
	}
	unlock()
	is(t, "WriteFile", os.WriteFile(filepath.Join(o.Dir, "secret.key"), []byte("old key"), 0o600), nil)
	before := state(t, o.Dir)
	before["/"+fileDatabase] = "of another process"
	o.files.Before = func(operation, path string) error {
		if operation == "link" {
			return os.WriteFile(filepath.Join(o.Dir, fileDatabase), []byte("of another process"), 0o600)
		}
		return nil
	}
	_, err = Restore(t.Context(), f.path, o, ReadOptions{})
	is(t, "Restore", err, ErrLocked)
	checkState(t, "created meanwhile", o.Dir, before)
}

// TestFailedRestoreLeavesNoFolder checks that a folder that didn't exist is not left behind.
func TestFailedRestoreLeavesNoFolder(t *testing.T) {
	f := makeBackup(t, t.TempDir(), 3)
	is(t, "WriteFile", os.WriteFile(f.path, f.content[:len(f.content)-1], 0o600), nil)
	dir := filepath.Join(t.TempDir(), "new")
	_, err := Restore(t.Context(), f.path, options(dir), ReadOptions{})
	is(t, "Restore", err, ErrCorrupt)
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

// TestInvalidFileIsRefused checks that a backup with a file that the program can't use doesn't replace anything.
func TestInvalidFileIsRefused(t *testing.T) {
	db := openNew(t)
	path := filepath.Join(t.TempDir(), "b")
	files := map[string][]byte{"model.json": []byte("{}"), "secret.key": []byte("garbage")}
	_, err := db.Backup(t.Context(), path, BackupOptions{Files: files})
	is(t, "Backup", err, nil)
	ro := ReadOptions{CheckFile: func(name string, content []byte) error {
		if string(content) == "garbage" {
			return errors.New(name + " is not a key")
		}
		return nil
	}}
	o := options(t.TempDir())
	_, err = Restore(t.Context(), path, o, ro)
	is(t, "Restore", err, ErrCorrupt)
	if left := state(t, o.Dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	_, err = VerifyBackup(t.Context(), path, options(t.TempDir()), ro)
	if is(t, "VerifyBackup", err, ErrCorrupt); !strings.Contains(err.Error(), "the file secret.key is not valid: secret.key is not a key") {
		t.Error(err)
	}
}
