package backupschedule

import "path/filepath"

// folderIdentity returns a value that distinguishes a folder from its copies: its creation time or,
// if the file system doesn't record that, its path. It doesn't change when the owner changes, as in
// containers at each start, or when a backup is restored into the folder.
func folderIdentity(dir string) string {
	if created := creationTime(dir); created != "" {
		return "created " + created
	}
	path := dir
	if absolute, err := filepath.Abs(dir); err == nil {
		path = absolute
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return path
}
