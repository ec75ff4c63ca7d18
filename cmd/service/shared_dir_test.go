//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSharedDataFolder checks that a data folder that other users can change is rejected, with advice on what to do.
func TestSharedDataFolder(t *testing.T) {
	for what, c := range map[string]struct {
		change  func(dir string) error
		refused string // the path that the message names, relative to the folder's parent
	}{
		"private":             {func(string) error { return nil }, ""},
		"readable by others":  {func(dir string) error { return os.Chmod(dir, 0o755) }, ""},
		"does not exist":      {func(dir string) error { return os.RemoveAll(dir) }, ""},
		"writable by a group": {func(dir string) error { return os.Chmod(dir, 0o770) }, "data"},
		"writable by all":     {func(dir string) error { return os.Chmod(dir, 0o707) }, "data"},
		"sticky":              {func(dir string) error { return os.Chmod(dir, 0o777|os.ModeSticky) }, "data"},
		"a group's volume":    {func(dir string) error { return os.Chmod(dir, 0o775|os.ModeSetgid) }, "data"},
		"its database":        {func(dir string) error { return os.Chmod(filepath.Join(dir, "service.db"), 0o666) }, "service.db"},
		"its blobs":           {func(dir string) error { return os.Chmod(filepath.Join(dir, "blobs"), 0o777) }, "blobs"},
		"a socket":            {func(dir string) error { return os.Symlink("/", filepath.Join(dir, "service.sock")) }, ""},
		"a shared parent":     {func(dir string) error { return os.Chmod(filepath.Dir(dir), 0o777) }, "parent"},
		"like /tmp":           {func(dir string) error { return os.Chmod(filepath.Dir(dir), 0o777|os.ModeSticky) }, ""},
		"a link into a shared folder": {func(dir string) error {
			elsewhere := filepath.Join(filepath.Dir(dir), "elsewhere")
			return errors.Join(
				os.Mkdir(elsewhere, 0o700),
				os.Rename(dir, filepath.Join(elsewhere, "target")),
				os.Symlink(filepath.Join(elsewhere, "target"), dir),
				os.Chmod(elsewhere, 0o777),
			)
		}, "elsewhere"},
		"a link to one": {func(dir string) error {
			shared := filepath.Join(filepath.Dir(dir), "elsewhere")
			err := os.Rename(dir, shared)
			if err == nil {
				err = os.Chmod(shared, 0o777)
			}
			if err == nil {
				err = os.Symlink(shared, dir)
			}
			return err
		}, "data"},
		"owned by another user": {func(dir string) error {
			if os.Geteuid() != 0 {
				return nil // only root can change a folder's owner
			}
			return os.Chown(dir, 65532, 65532)
		}, map[bool]string{true: "data"}[os.Geteuid() == 0]},
	} {
		dir := filepath.Join(t.TempDir(), "parent", "data")
		for _, err := range []error{
			os.MkdirAll(filepath.Join(dir, "blobs"), 0o700),
			os.WriteFile(filepath.Join(dir, "service.db"), nil, 0o600),
			c.change(dir),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		err := checkNotShared(dir)
		if (err == nil) != (c.refused == "") {
			t.Errorf("%s: %v", what, err)
		}
		if err != nil &&
			(!strings.Contains(err.Error(), c.refused+" (mode") || !strings.Contains(err.Error(), "SERVICE_ALLOW_SHARED_DATA=true")) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
