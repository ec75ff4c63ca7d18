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
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/regularfile"
)

// savedState is the state that the program remembers between runs. It is only a convenience: if it can't be read or
// written, the program works without it.
type savedState struct {
	// LastAssessments maps a data key to the ID of the assessment used last.
	LastAssessments map[string]string `json:"last_assessments"`
	// LastByFolder maps a data key and a folder's full path to the ID of the assessment last run from it.
	LastByFolder map[string]map[string]string `json:"last_by_folder,omitempty"`
	// UnfinishedImports maps an assessment's ID to the full paths of the files and folders whose import was interrupted.
	UnfinishedImports map[string][]string `json:"unfinished_imports,omitempty"`
}

// maxStateFile is the maximum size of the saved state.
const maxStateFile = 16 << 20

func (a *app) stateFile() string { return filepath.Join(a.StateDir, "memory.json") }

func (a *app) readSavedState() savedState {
	m := savedState{}
	if a.StateDir != "" {
		if b, err := regularfile.Read(a.stateFile(), maxStateFile); err == nil {
			_ = json.Unmarshal(b, &m)
		}
	}
	if m.LastAssessments == nil {
		m.LastAssessments = map[string]string{}
	}
	return m
}

// updateSavedState applies change to the saved state. It ignores errors.
func (a *app) updateSavedState(change func(*savedState)) {
	if a.StateDir == "" {
		return
	}
	m := a.readSavedState()
	change(&m)
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil || os.MkdirAll(a.StateDir, 0o700) != nil {
		return
	}
	_ = writeFileAtomically(a.stateFile(), 0o600, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// savedStateKey returns the key of the current data folder or server in the saved state.
func (a *app) savedStateKey() string {
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

// rememberAssessment records the assessment that later commands use if they don't name one.
func (a *app) rememberAssessment(id string) {
	if a.readSavedState().LastAssessments[a.savedStateKey()] != id {
		a.updateSavedState(func(m *savedState) { m.LastAssessments[a.savedStateKey()] = id })
	}
}

// rememberFolderAssessment records which assessment was last run from a folder.
func (a *app) rememberFolderAssessment(folder, id string) {
	if folder == "" || a.readSavedState().LastByFolder[a.savedStateKey()][folder] == id {
		return
	}
	a.updateSavedState(func(m *savedState) {
		if m.LastByFolder == nil {
			m.LastByFolder = map[string]map[string]string{}
		}
		if m.LastByFolder[a.savedStateKey()] == nil {
			m.LastByFolder[a.savedStateKey()] = map[string]string{}
		}
		m.LastByFolder[a.savedStateKey()][folder] = id
	})
}

// lastOpenAssessmentFrom returns the open assessment last run from a folder, or nil if there is none.
func (a *app) lastOpenAssessmentFrom(ctx context.Context, folder string) (*api.Assessment, error) {
	id := a.readSavedState().LastByFolder[a.savedStateKey()][folder]
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

// freshDefaultAssessment returns the assessment that commands use by default if it was created without documents and
// never run from a folder. Otherwise, and if it can't be read, it returns nil.
func (a *app) freshDefaultAssessment(ctx context.Context) *api.Assessment {
	m := a.readSavedState()
	id := m.LastAssessments[a.savedStateKey()]
	if id == "" {
		return nil
	}
	for _, used := range m.LastByFolder[a.savedStateKey()] {
		if used == id {
			return nil
		}
	}
	one, err := call(ctx, a, api.GetAssessment, &api.AssessmentInput{AssessmentID: id})
	if err != nil || one.State != api.StateDraft || one.Counts.Documents > 0 {
		return nil
	}
	return one
}

// resolveFirstFolder returns the full path of the first of paths, with symbolic links resolved. It returns ""
// if that path is not a folder.
func resolveFirstFolder(paths []string) string {
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

// writeFileAtomically writes a file completely or not at all. An existing file keeps its mode. A new file
// gets the given mode, restricted by the umask.
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

// createTempBeside creates a temporary file in the same folder as path.
func createTempBeside(path string, mode fs.FileMode) (f *os.File, err error) {
	for i := range 100 {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".service-%d-%d", os.Getpid(), i))
		if f, err = regularfile.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode); !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, err
}

// copyFileMode gives f the permissions of the file at path, if it exists.
func copyFileMode(f *os.File, path string) error {
	if info, err := os.Stat(path); err == nil {
		return f.Chmod(info.Mode().Perm())
	}
	return nil
}

// maxHashRecord is the maximum size of a record of a written file.
const maxHashRecord = 1 << 10

// isUnmodifiedOutput reports whether the program wrote the file and it has not been modified since. For a report,
// source is the assessment that the new report is about, which must be the same as that of the existing report;
// otherwise it is "".
func (a *app) isUnmodifiedOutput(path, source string) bool {
	record, err := regularfile.Read(a.hashRecordPath(path), maxHashRecord)
	if err != nil {
		return false
	}
	want, from, _ := strings.Cut(string(record), " ")
	if source != "" && from != source {
		return false
	}
	got, err := hashFile(path)
	return err == nil && got == want
}

// maxHashRecords is the maximum number of written files whose hashes are remembered.
const maxHashRecords = 5000

// hashRecordPath returns the path of the file that records the hash of what the program last wrote to path. It
// returns "" if there is no state folder. Each path has its own record, so that concurrent commands don't
// overwrite each other's.
func (a *app) hashRecordPath(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil || a.StateDir == "" {
		return ""
	}
	name := sha256.Sum256([]byte(abs))
	return filepath.Join(a.StateDir, "written", hex.EncodeToString(name[:]))
}

// rememberWritten records the hash of a file that the program wrote and, for a report, the assessment that it is
// about. It ignores errors.
func (a *app) rememberWritten(path, source string) {
	if sum, err := hashFile(path); err == nil {
		saveInLimitedFolder(a.hashRecordPath(path), []byte(strings.TrimSpace(sum+" "+source)), maxHashRecords)
	}
}

// saveInLimitedFolder writes a file that only the user can read. If its folder then has more than maxFiles
// files, it removes the oldest. It ignores errors, for example on a read-only file system.
func saveInLimitedFolder(file string, data []byte, maxFiles int) {
	if file == "" || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	if writeFileAtomically(file, 0o600, func(w io.Writer) error { _, err := w.Write(data); return err }) != nil {
		return
	}
	all, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(all) <= maxFiles {
		return
	}
	var found []fs.FileInfo
	for _, e := range all {
		if info, err := e.Info(); err == nil {
			found = append(found, info)
		}
	}
	slices.SortFunc(found, func(x, y fs.FileInfo) int { return y.ModTime().Compare(x.ModTime()) })
	for _, old := range found[min(maxFiles, len(found)):] {
		_ = os.Remove(filepath.Join(filepath.Dir(file), old.Name()))
	}
}

func hashFile(path string) (string, error) {
	f, err := regularfile.Open(context.Background(), path, regularfile.NoLimit)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashReader(f)
}

// hashReader returns the SHA-256 of the contents of r in hex.
func hashReader(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
