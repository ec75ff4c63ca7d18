package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/scf-service/service/api"
)

// memory is what the program keeps between runs, beside the data: comfort, never
// truth. Where it can't be read or written, the program works without it.
type memory struct {
	// Used is the id of the assessment used last, by place of the data.
	Used map[string]string `json:"used"`
	// Folders is the id of the assessment last run from a folder, by place of the data and the
	// folder's full path.
	Folders map[string]map[string]string `json:"folders,omitempty"`
	// Written is the SHA-256 of files the program wrote, by their full path: those it may overwrite.
	Written map[string]string `json:"written"`
}

func (a *app) memoryFile() string { return filepath.Join(a.StateDir, "memory.json") }

func (a *app) remembered() memory {
	m := memory{}
	if a.StateDir != "" {
		if b, err := os.ReadFile(a.memoryFile()); err == nil {
			_ = json.Unmarshal(b, &m)
		}
	}
	if m.Used == nil {
		m.Used = map[string]string{}
	}
	if m.Written == nil {
		m.Written = map[string]string{}
	}
	return m
}

// remember changes what is kept; that it can't is no reason to fail.
func (a *app) remember(change func(*memory)) {
	if a.StateDir == "" {
		return
	}
	m := a.remembered()
	change(&m)
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil || os.MkdirAll(a.StateDir, 0o700) != nil {
		return
	}
	_ = replaceFile(a.memoryFile(), 0o600, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// place names where the data is, as a key of what is remembered.
func (a *app) place() string {
	t := a.flags.Target
	data := t.Data
	if t.Server != "" {
		data = ""
	}
	if abs, err := filepath.Abs(data); err == nil && data != "" {
		data = abs
	}
	return t.Server + "|" + data + "|" + t.Organization
}

// use remembers the assessment for commands that name none.
func (a *app) use(id string) {
	if a.remembered().Used[a.place()] != id {
		a.remember(func(m *memory) { m.Used[a.place()] = id })
	}
}

// ran remembers which assessment was last run from a folder.
func (a *app) ran(folder, id string) {
	if folder == "" || a.remembered().Folders[a.place()][folder] == id {
		return
	}
	a.remember(func(m *memory) {
		if m.Folders == nil {
			m.Folders = map[string]map[string]string{}
		}
		if m.Folders[a.place()] == nil {
			m.Folders[a.place()] = map[string]string{}
		}
		m.Folders[a.place()][folder] = id
	})
}

// lastOf is the open assessment that was last run from a folder; nil where there is none.
func (a *app) lastOf(ctx context.Context, folder string) (*api.Assessment, error) {
	id := a.remembered().Folders[a.place()][folder]
	if folder == "" || id == "" {
		return nil, nil
	}
	one, err := call(ctx, a, api.GetAssessment, &api.AssessmentInput{AssessmentID: id})
	switch {
	case api.IsCode(err, api.CodeNotFound):
		return nil, nil
	case err != nil || one.State != api.StateClosed:
		return one, err
	}
	return nil, nil
}

// folderOf is the full path of the folder that is run from, without links; empty where the
// first of the paths is none.
func folderOf(paths []string) string {
	if len(paths) == 0 || folderLabel(paths[0]) == "" {
		return ""
	}
	abs, err := filepath.Abs(paths[0])
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	return abs
}

// replaceFile writes a file whole or not at all. What there was keeps its mode; what is new
// gets the one given, less what the person's umask takes away.
func replaceFile(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	f, err := beside(path, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := errors.Join(write(f), keepMode(f, path), f.Sync()); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// beside makes a new file in the folder of a path.
func beside(path string, mode fs.FileMode) (f *os.File, err error) {
	for i := range 100 {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".service-%d-%d", os.Getpid(), i))
		if f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode); !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, err
}

func keepMode(f *os.File, path string) error {
	if info, err := os.Stat(path); err == nil {
		return f.Chmod(info.Mode().Perm())
	}
	return nil
}

// ours tells whether the file is as the program wrote it.
func (a *app) ours(path string) bool {
	abs, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	want, known := a.remembered().Written[abs]
	got, err := hashFile(path)
	return known && err == nil && got == want
}

// wrote notes that the program made the file.
func (a *app) wrote(path string) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return
	}
	if sum, err := hashFile(path); err == nil {
		a.remember(func(m *memory) { m.Written[abs] = sum })
	}
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashOf(f)
}

// hashOf is the SHA-256 of all that r holds, in hex.
func hashOf(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
