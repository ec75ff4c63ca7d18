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

// savedState is what the program keeps between runs, beside the data: comfort, never
// truth. Where it can't be read or written, the program works without it.
type savedState struct {
	// LastAssessments is the id of the assessment used last, by place of the data.
	LastAssessments map[string]string `json:"used"`
	// LastByFolder is the id of the assessment last run from a folder, by place of the data and the
	// folder's full path.
	LastByFolder map[string]map[string]string `json:"folders,omitempty"`
	// WrittenHashes is the SHA-256 of files the program wrote, by their full path: those it may overwrite.
	WrittenHashes map[string]string `json:"written"`
}

func (a *app) stateFile() string { return filepath.Join(a.StateDir, "memory.json") }

func (a *app) readState() savedState {
	m := savedState{}
	if a.StateDir != "" {
		if b, err := os.ReadFile(a.stateFile()); err == nil {
			_ = json.Unmarshal(b, &m)
		}
	}
	if m.LastAssessments == nil {
		m.LastAssessments = map[string]string{}
	}
	if m.WrittenHashes == nil {
		m.WrittenHashes = map[string]string{}
	}
	return m
}

// updateState changes what is kept; that it can't is no reason to fail.
func (a *app) updateState(change func(*savedState)) {
	if a.StateDir == "" {
		return
	}
	m := a.readState()
	change(&m)
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil || os.MkdirAll(a.StateDir, 0o700) != nil {
		return
	}
	_ = writeFileAtomically(a.stateFile(), 0o600, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// dataKey names where the data is, as a key of what is remembered.
func (a *app) dataKey() string {
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

// rememberAssessment remembers the assessment for commands that name none.
func (a *app) rememberAssessment(id string) {
	if a.readState().LastAssessments[a.dataKey()] != id {
		a.updateState(func(m *savedState) { m.LastAssessments[a.dataKey()] = id })
	}
}

// rememberFolder remembers which assessment was last run from a folder.
func (a *app) rememberFolder(folder, id string) {
	if folder == "" || a.readState().LastByFolder[a.dataKey()][folder] == id {
		return
	}
	a.updateState(func(m *savedState) {
		if m.LastByFolder == nil {
			m.LastByFolder = map[string]map[string]string{}
		}
		if m.LastByFolder[a.dataKey()] == nil {
			m.LastByFolder[a.dataKey()] = map[string]string{}
		}
		m.LastByFolder[a.dataKey()][folder] = id
	})
}

// lastAssessmentFrom is the open assessment that was last run from a folder; nil where there is none.
func (a *app) lastAssessmentFrom(ctx context.Context, folder string) (*api.Assessment, error) {
	id := a.readState().LastByFolder[a.dataKey()][folder]
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

// resolveFolder is the full path of the folder that is run from, without links; empty where the
// first of the paths is none.
func resolveFolder(paths []string) string {
	if len(paths) == 0 || folderName(paths[0]) == "" {
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

// writeFileAtomically writes a file whole or not at all. What there was keeps its mode; what is new
// gets the one given, less what the person's umask takes away.
func writeFileAtomically(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	f, err := createTempBeside(path, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := errors.Join(write(f), copyFileMode(f, path), f.Sync()); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// createTempBeside makes a new file in the folder of a path.
func createTempBeside(path string, mode fs.FileMode) (f *os.File, err error) {
	for i := range 100 {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".service-%d-%d", os.Getpid(), i))
		if f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode); !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, err
}

func copyFileMode(f *os.File, path string) error {
	if info, err := os.Stat(path); err == nil {
		return f.Chmod(info.Mode().Perm())
	}
	return nil
}

// isUnmodifiedOutput tells whether the file is as the program wrote it.
func (a *app) isUnmodifiedOutput(path string) bool {
	abs, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	want, known := a.readState().WrittenHashes[abs]
	got, err := hashFile(path)
	return known && err == nil && got == want
}

// rememberWritten notes that the program made the file.
func (a *app) rememberWritten(path string) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return
	}
	if sum, err := hashFile(path); err == nil {
		a.updateState(func(m *savedState) { m.WrittenHashes[abs] = sum })
	}
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashReader(f)
}

// hashReader is the SHA-256 of all that r holds, in hex.
func hashReader(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
