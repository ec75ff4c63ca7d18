package cli

import (
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
)

// sourceFile is a file to upload.
type sourceFile struct {
	// Name is how people know it: its path as they gave it.
	Name string
	// Path is where it lies in the folder it is of, with slashes and the folder's name first;
	// empty for a file that was named itself.
	Path string
	open func() (io.ReadCloser, error)
}

// skippedFile is a file that was left out, and why.
type skippedFile struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	path   string // as that of a source
}

// collectFiles lists the files of folders and the files named, in the order of their paths.
// What can't be taken is listed with the reason; only a path that the caller named is an error.
func collectFiles(paths []string) (files []sourceFile, skippedFiles []skippedFile, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, nil, runtimeError("%s can't be read: %w", p, errorWithoutPath(err))
		}
		if !info.IsDir() {
			files = append(files, sourceFile{Name: p, open: func() (io.ReadCloser, error) { return os.Open(p) }})
			continue
		}
		if _, err := os.ReadDir(p); err != nil {
			return nil, nil, runtimeError("the folder %s can't be read: %w", p, errorWithoutPath(err))
		}
		f, l := walkTree(os.DirFS(p), p)
		label := folderName(p)
		for i := range f {
			f[i].Path = path.Join(label, f[i].Path)
		}
		for i := range l {
			l[i].path = path.Join(label, l[i].path)
		}
		files, skippedFiles = append(files, f...), append(skippedFiles, l...)
	}
	return files, skippedFiles, nil
}

// folderName is the name of a folder, empty for what is none.
func folderName(p string) string {
	info, err := os.Stat(p)
	if err != nil || !info.IsDir() {
		return ""
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		return ""
	}
	return filepath.Base(abs)
}

// walkTree lists the files of a tree in the order of their paths. Hidden files are
// left out in silence; links, so that none leads out of the folder, and what is no
// file or can't be read, with the reason.
func walkTree(tree fs.FS, label string) (files []sourceFile, skippedFiles []skippedFile) {
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
		case d.Type()&fs.ModeSymlink != 0:
			skippedFiles = append(skippedFiles, skippedFile{Name: name(p), Reason: "a link: links are not followed", path: p})
		case !d.Type().IsRegular():
			skippedFiles = append(skippedFiles, skippedFile{Name: name(p), Reason: "not a file", path: p})
		case !utf8.ValidString(p):
			skippedFiles = append(
				skippedFiles,
				skippedFile{Name: name(p), Reason: "its name, or that of its folder, is not UTF-8: rename it", path: p},
			)
		default:
			files = append(files, sourceFile{Name: name(p), Path: p, open: func() (io.ReadCloser, error) { return tree.Open(p) }})
		}
		return nil
	})
	slices.SortFunc(files, func(a, b sourceFile) int { return strings.Compare(a.Name, b.Name) })
	return files, skippedFiles
}

// hash is the SHA-256 of the file's content.
func (s sourceFile) hash() (string, error) {
	f, err := s.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashReader(f)
}

// errorWithoutPath is an error without the path that people are told anyway.
func errorWithoutPath(err error) error {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file or folder")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("permission denied")
	case errors.As(err, &p):
		return fmt.Errorf("%w", p.Err)
	}
	return err
}
