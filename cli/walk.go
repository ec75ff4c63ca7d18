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

// source is a file to upload.
type source struct {
	// Name is how people know it: its path as they gave it.
	Name string
	// Path is where it lies in the folder it is of, with slashes and the folder's name first;
	// empty for a file that was named itself.
	Path string
	open func() (io.ReadCloser, error)
}

// skipped is a file that was left out, and why.
type skipped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	path   string // as that of a source
}

// gather lists the files of folders and the files named, in the order of their paths.
// What can't be taken is listed with the reason; only a path that the caller named is an error.
func gather(paths []string) (files []source, left []skipped, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, nil, stopped("%s can't be read: %w", p, reason(err))
		}
		if !info.IsDir() {
			files = append(files, source{Name: p, open: func() (io.ReadCloser, error) { return os.Open(p) }})
			continue
		}
		if _, err := os.ReadDir(p); err != nil {
			return nil, nil, stopped("the folder %s can't be read: %w", p, reason(err))
		}
		f, l := walk(os.DirFS(p), p)
		label := folderLabel(p)
		for i := range f {
			f[i].Path = path.Join(label, f[i].Path)
		}
		for i := range l {
			l[i].path = path.Join(label, l[i].path)
		}
		files, left = append(files, f...), append(left, l...)
	}
	return files, left, nil
}

// folderLabel is the name of a folder, empty for what is none.
func folderLabel(p string) string {
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

// walk lists the files of a tree in the order of their paths. Hidden files are
// left out in silence; links, so that none leads out of the folder, and what is no
// file or can't be read, with the reason.
func walk(tree fs.FS, label string) (files []source, left []skipped) {
	name := func(p string) string { return filepath.Join(label, filepath.FromSlash(p)) }
	_ = fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			left = append(left, skipped{name(p), reason(err).Error(), p})
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
			left = append(left, skipped{name(p), "a link: links are not followed", p})
		case !d.Type().IsRegular():
			left = append(left, skipped{name(p), "not a file", p})
		case !utf8.ValidString(p):
			left = append(left, skipped{name(p), "its name, or that of its folder, is not UTF-8: rename it", p})
		default:
			files = append(files, source{Name: name(p), Path: p, open: func() (io.ReadCloser, error) { return tree.Open(p) }})
		}
		return nil
	})
	slices.SortFunc(files, func(a, b source) int { return strings.Compare(a.Name, b.Name) })
	return files, left
}

// hash is the SHA-256 of the file's content.
func (s source) hash() (string, error) {
	f, err := s.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashOf(f)
}

// reason is an error without the path that people are told anyway.
func reason(err error) error {
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
