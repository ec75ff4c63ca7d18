package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBackupFaults makes each file operation fail in turn, with only half of a write written. No backup must be left
// in any case.
func TestBackupFaults(t *testing.T) {
	db := openNew(t)
	fillControls(t, db, 20)
	_, err := db.Blobs().Put(t.Context(), strings.NewReader("evidence"), 100)
	is(t, "Put", err, nil)
	dir := t.TempDir()
	path := filepath.Join(dir, "b")
	fault := errors.New("fault")
	operations := map[string]bool{}
	for n := 0; ; n++ {
		i := -1
		db.files.Before = func(operation, _ string) error {
			operations[operation] = true
			if i++; i == n {
				return fault
			}
			return nil
		}
		err := backUp(t.Context(), db, path)
		same(t, "tmp", files(t, db, dirTemp))
		left, readErr := os.ReadDir(dir)
		is(t, "ReadDir", readErr, nil)
		if i < n { // no more faults
			is(t, "Backup", err, nil)
			break
		}
		// If there are no hard links, the file is renamed.
		if err == nil && operations["rename"] {
			is(t, "Remove", os.Remove(path), nil)
			continue
		}
		if is(t, "Backup", err, fault); len(left) > 0 {
			t.Fatalf("fault %d left %v", n, left)
		}
	}
	for _, operation := range []string{"create", "write", "sync", "close", "link", "rename", "sync folder"} {
		if !operations[operation] {
			t.Errorf("no operation was %q", operation)
		}
	}
	_, err = VerifyBackup(t.Context(), path, options(t.TempDir()), ReadOptions{})
	is(t, "VerifyBackup", err, nil)
}

// TestRestoreFaults makes each file operation of a restore fail in turn. The folder must be unchanged in any case.
func TestRestoreFaults(t *testing.T) {
	f := makeBackup(t, t.TempDir(), 20)
	is(t, "deleting blobs", os.RemoveAll(filepath.Join(f.options.Dir, dirBlobs)), nil)
	is(t, "Mkdir", os.Mkdir(filepath.Join(f.options.Dir, dirBlobs), 0o700), nil)
	empty := options(t.TempDir())
	fault := errors.New("fault")
	for _, o := range []Options{f.options, empty} {
		before := state(t, o.Dir)
		for n := 0; ; n++ {
			i := -1
			o.files.Before = func(operation, path string) error {
				if i++; i == n {
					return fmt.Errorf("%s %s: %w", operation, path, fault)
				}
				return nil
			}
			_, err := Restore(t.Context(), f.path, o, ReadOptions{})
			if err == nil { // no more faults, or another operation took its place
				if i < n {
					break
				}
				for path := range state(t, o.Dir) {
					if old, found := before[path]; found {
						is(t, "WriteFile", os.WriteFile(filepath.Join(o.Dir, path), []byte(old), 0o600), nil)
					} else {
						is(t, "Remove", os.Remove(filepath.Join(o.Dir, path)), nil)
					}
				}
				continue
			}
			is(t, "Restore", err, fault)
			checkState(t, err.Error(), o.Dir, before)
		}
		checkRestored(t, o, f, 20)
	}
}

// childBacksUp makes backups until the process is killed at a file operation.
func childBacksUp(dir string) error {
	return killAt(dir, func(o Options) error {
		db, err := Open(context.Background(), o)
		if err != nil {
			return err
		}
		return backUp(context.Background(), db, filepath.Join(dir, "b"))
	})
}

func childRestores(dir string) error {
	return killAt(dir, func(o Options) error {
		_, err := Restore(context.Background(), filepath.Join(dir, "b"), o, ReadOptions{})
		return err
	})
}

const killVariable = "STORE_TEST_KILL_AT"

// killAt runs fn and kills the process at the file operation whose number is given in the environment.
func killAt(dir string, fn func(Options) error) error {
	var at int
	if _, err := fmt.Sscan(os.Getenv(killVariable), &at); err != nil {
		return err
	}
	o := childOptions(filepath.Join(dir, "data"))
	n := 0
	o.files.Before = func(string, string) error {
		if n++; n != at {
			return nil
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			return err
		}
		select {} // the kill may take a moment
	}
	err := fn(o)
	fmt.Println(n)
	return err
}

// countOperations runs a child process to its end and returns the number of its file operations.
func countOperations(t *testing.T, name, dir string) (n int) {
	t.Helper()
	t.Setenv(killVariable, "0")
	cmd, out := startChild(t, name, dir)
	if !out.Scan() {
		t.Fatal("the child failed")
	}
	_, err := fmt.Sscan(out.Text(), &n)
	is(t, "Wait", errors.Join(err, cmd.Wait()), nil)
	return n
}

func runKilled(t *testing.T, name, dir string, at int) {
	t.Helper()
	t.Setenv(killVariable, fmt.Sprint(at))
	cmd, out := startChild(t, name, dir)
	for out.Scan() {
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("at operation %d, the child was not killed: %v", at, err)
	}
}

// TestKillInBackup kills a process at 20 points during a backup. There must be no file with the backup's name until
// it is complete.
func TestKillInBackup(t *testing.T) {
	f := makeBackup(t, filepath.Join(t.TempDir(), "data"), 20)
	dir := filepath.Dir(f.options.Dir)
	path := filepath.Join(dir, "b")
	total := countOperations(t, "backup", dir)
	is(t, "Remove", os.Remove(path), nil)
	for point := range 20 {
		runKilled(t, "backup", dir, 1+point*total/20)
		if _, err := os.Stat(path); err == nil {
			_, err := VerifyBackup(t.Context(), path, options(t.TempDir()), ReadOptions{})
			is(t, "VerifyBackup", err, nil)
			is(t, "Remove", os.Remove(path), nil)
		}
	}
	db := open(t, f.options)
	same(t, "tmp", files(t, db, dirTemp))
	is(t, "Backup", backUp(t.Context(), db, path), nil)
}

// TestKillInRestore kills a process at 20 points during a restore. The folder must have either the old or the new
// database.
func TestKillInRestore(t *testing.T) {
	f := makeBackup(t, filepath.Join(t.TempDir(), "data"), 20)
	dir := filepath.Dir(f.options.Dir)
	is(t, "WriteFile", os.WriteFile(filepath.Join(dir, "b"), f.content, 0o600), nil)
	total := countOperations(t, "restore", dir)
	for point := range 20 {
		db := open(t, f.options)
		update(t, db, func(tx *Tx) error { return controls.Put(tx, &control{Code: "later"}) })
		is(t, "Close", db.Close(), nil)
		runKilled(t, "restore", dir, 1+point*total/20)
		db = open(t, f.options)
		view(t, db, func(tx *Tx) error {
			n, err := controls.Count(tx)
			later, err2 := controls.Has(tx, "later")
			if n != 20 && (n != 21 || !later) {
				t.Fatalf("point %d: %d records", point, n)
			}
			checkIndexes(t, tx, controls)
			return errors.Join(err, err2)
		})
		is(t, "Verify", db.Blobs().Verify(t.Context(), f.blob.SHA256), nil)
		same(t, "tmp", files(t, db, dirTemp))
		is(t, "Close", db.Close(), nil)
	}
	// In an empty folder, the restore is repeated.
	is(t, "RemoveAll", os.RemoveAll(f.options.Dir), nil)
	for _, at := range []int{total / 2, total - 7} { // there is neither a replaced database nor a list of its blobs
		runKilled(t, "restore", dir, at)
	}
	_, err := Restore(t.Context(), filepath.Join(dir, "b"), f.options, ReadOptions{})
	is(t, "Restore", err, nil)
	checkRestored(t, f.options, f, 20)
}
