// Package testdir finds the folders that tests of several packages share. It doesn't create them.
package testdir

import (
	"errors"
	"os"
	"path/filepath"
)

// ModuleRoot returns the root folder of the module that the test belongs to.
func ModuleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the test")
		}
		dir = parent
	}
}

// CacheFolder returns the folder for what tests create once per machine, such as the compiled PDF reader and the
// trained embedder. It returns fallback if the user has no cache folder.
func CacheFolder(fallback string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return fallback
	}
	return filepath.Join(dir, "scf-service-test")
}
