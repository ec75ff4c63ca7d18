package regularfile

import (
	"errors"
	"os"
	"syscall"
)

const procfsMagic = 0x9fa0 // statfs(2)

// checkFileSystem rejects files in /proc. They claim to be regular files, but reading some of them blocks or never
// ends.
func checkFileSystem(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var info syscall.Statfs_t
	var statErr error
	err = conn.Control(func(fd uintptr) { statErr = syscall.Fstatfs(int(fd), &info) })
	if err := errors.Join(err, statErr); err != nil {
		return err
	}
	if info.Type == procfsMagic {
		return &os.PathError{
			Op:   "open",
			Path: f.Name(),
			Err:  errors.New("the system generates this file's content when it is read; save the content to a regular file first"),
		}
	}
	return nil
}
