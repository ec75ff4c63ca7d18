package backupschedule

import "path/filepath"

// folderIdentity returns what distinguishes a folder from every copy of it: when it was created or, where the file system
// doesn't say that, its path. Neither a new owner, as containers set at each start, nor a restore changes it.
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
