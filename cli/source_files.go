package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/internal/regularfile"
)

// sourceFile is a file to upload.
type sourceFile struct {
	// Name is the path as the user gave it.
	Name string
	// Path is the path within the given folder, with slashes, starting with the folder's name, and cleaned like the
	// paths of documents. It is empty for a file given directly.
	Path string
	open func() (io.ReadCloser, error)
}

// maxFilesNamed is the maximum number of files that a notice names.
const maxFilesNamed = 5

// skippedFile is a file that was skipped, with the reason.
type skippedFile struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	path   string // as in sourceFile.Path
}

// collectFiles returns the files in paths and those in the folders in paths, sorted by path, and the files
// that were skipped. It returns an error only if an element of paths itself is unreadable, or is neither a
// file nor a folder. A notice counts the files that walkTree leaves out.
func (a *app) collectFiles(ctx context.Context, paths []string) (files []sourceFile, skippedFiles []skippedFile, err error) {
	var leftOut []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, nil, runtimeError("can't read %s: %w", p, errorWithoutPath(err))
		}
		if !info.IsDir() {
			if err := regularfile.CheckMode(p, info.Mode()); err != nil {
				return nil, nil, runtimeError("can't read %s: %w", p, errorWithoutPath(err))
			}
			open := func() (io.ReadCloser, error) { return regularfile.Open(ctx, p, api.MaxUploadBytes) }
			files = append(files, sourceFile{Name: p, open: open})
			continue
		}
		tree, err := regularfile.OpenTree(ctx, p, api.MaxUploadBytes)
		if err == nil {
			_, err = fs.ReadDir(tree, ".")
		}
		if err != nil {
			return nil, nil, runtimeError("can't read the folder %s: %w", p, errorWithoutPath(err))
		}
		f, l, names := walkTree(tree, p)
		leftOut = append(leftOut, names...)
		label := folderName(p)
		for i := range f {
			f[i].Path = api.CleanPath(path.Join(label, f[i].Path))
		}
		for i := range l {
			l[i].path = api.CleanPath(path.Join(label, l[i].path))
		}
		files, skippedFiles = append(files, f...), append(skippedFiles, l...)
	}
	if len(leftOut) > 0 {
		a.progress.Notice(
			"%s left out: %s",
			prose.Count(len(leftOut), "lock file, shortcut or system file", "lock files, shortcuts or system files"),
			joinFirst(leftOut, maxFilesNamed),
		)
	}
	return files, skippedFiles, nil
}

// folderName returns the base name of a folder as it appears in the paths of documents, or "" if p is not a folder.
func folderName(p string) string {
	info, err := os.Stat(p)
	if err != nil || !info.IsDir() {
		return ""
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		return ""
	}
	return api.CleanPath(filepath.Base(abs))
}

// walkTree returns the files in a folder tree, sorted by path. It also returns skipped files with the reason:
// symbolic links (which could lead out of the folder), unreadable files, and anything that is not a regular file.
// Hidden files are ignored. Shortcuts and files such as .DS_Store and Thumbs.db are left out, and their names are
// returned.
func walkTree(tree fs.FS, label string) (files []sourceFile, skippedFiles []skippedFile, leftOut []string) {
	name := func(p string) string { return filepath.Join(label, filepath.FromSlash(p)) }
	_ = fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			skippedFiles = append(skippedFiles, skippedFile{Name: name(p), Reason: errorWithoutPath(err).Error(), path: p})
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		hidden := p != "." && strings.HasPrefix(path.Base(p), ".")
		switch {
		case d.IsDir():
			if hidden {
				return fs.SkipDir
			}
		case hidden:
		case regularfile.IsLeftover(p), isShortcut(p):
			leftOut = append(leftOut, name(p))
		case d.Type()&fs.ModeSymlink != 0:
			skippedFiles = append(skippedFiles, skippedFile{Name: name(p), Reason: "this is a symbolic link, and links are not followed", path: p})
		case !d.Type().IsRegular():
			reason := errorWithoutPath(regularfile.CheckMode(p, d.Type())).Error()
			skippedFiles = append(skippedFiles, skippedFile{Name: name(p), Reason: reason, path: p})
		case !utf8.ValidString(p):
			skippedFiles = append(
				skippedFiles,
				skippedFile{Name: name(p), Reason: "the name is not valid UTF-8; rename the file or folder", path: p},
			)
		default:
			files = append(files, sourceFile{Name: name(p), Path: p, open: func() (io.ReadCloser, error) { return tree.Open(p) }})
		}
		return nil
	})
	slices.SortFunc(files, func(a, b sourceFile) int { return strings.Compare(a.Name, b.Name) })
	return files, skippedFiles, leftOut
}

// hash returns the SHA-256 of the file's content in hex.
func (s sourceFile) hash() (string, error) {
	f, err := s.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashReader(f)
}

// errorWithoutPath returns the cause of a file error without the path, for messages that already
// name it.
func errorWithoutPath(err error) error {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("no such file or folder")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("permission denied")
	case errors.As(err, &p):
		return fmt.Errorf("%w", p.Err)
	}
	return err
}

// isShortcut reports whether a file is only a link to another file or a web page.
func isShortcut(p string) bool {
	return slices.Contains([]string{".lnk", ".url", ".webloc", ".desktop"}, strings.ToLower(path.Ext(p)))
}
