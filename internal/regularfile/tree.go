package regularfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// tree is a folder whose files are opened in the same way as Open opens them.
type tree struct {
	ctx   context.Context
	root  *os.Root
	limit int64
}

// OpenTree returns a folder as a file system. Symbolic links that lead out of the folder and files that are not
// regular can't be opened. Reading files is limited as in Open.
func OpenTree(ctx context.Context, dir string, limit int64) (fs.FS, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() { // os.OpenRoot would block on a named pipe; a pipe that replaces the folder after this check is not noticed
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errors.New("this is not a folder")}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &tree{ctx: ctx, root: root, limit: limit}, nil
}

func (t *tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := t.root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err == nil && info.IsDir():
		return f, nil
	case err == nil:
		err = CheckMode(name, info.Mode())
	}
	if err == nil {
		err = checkFileSystem(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return newFile(t.ctx, f, t.limit), nil
}
