package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
)

// maxConfigFile is the maximum size of a file that contains keys, certificates or settings.
const maxConfigFile = 1 << 20

// defaultDataDir returns the default data folder.
func defaultDataDir() string {
	if dir := os.Getenv("SERVICE_DATA"); dir != "" {
		return dir
	}
	return filepath.Join(xdgDir("XDG_DATA_HOME", ".local/share"), "service")
}

// stateDir returns the folder for state that the CLI keeps between commands.
func stateDir() string { return filepath.Join(xdgDir("XDG_STATE_HOME", ".local/state"), "service") }

// cacheDir returns the folder for data that can be recreated.
func cacheDir() string { return filepath.Join(xdgDir("XDG_CACHE_HOME", ".cache"), "service") }

// xdgDir returns a base folder as defined by the XDG convention or, for a user without a home folder, a subfolder of
// the temporary folder.
func xdgDir(variable, below string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	homeDir, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(homeDir) { // a relative path would be below whatever folder the user is in
		return filepath.Join(privateTempDir(), below)
	}
	return filepath.Join(homeDir, below)
}

// maxSocketPath is the maximum length of a socket path in bytes, which all common systems support.
const maxSocketPath = 100

// socketPath returns the socket path of a data folder. The socket is in the folder or, if that path would be too long
// for a socket, in the user's private temporary folder.
func socketPath(dir string) string {
	path := filepath.Join(dir, "service.sock")
	if len(path) <= maxSocketPath && runtime.GOOS != "windows" {
		return path
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(privateTempDir(), hex.EncodeToString(sum[:8])+".sock")
}

// privateTempDir returns a subfolder of the system's temporary folder that belongs to this user and that nobody else
// can read. In a shared folder, another user could receive the evidence or impersonate the program.
var privateTempDir = sync.OnceValue(func() string {
	dir := filepath.Join(os.TempDir(), "service-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err == nil || isPrivateDir(dir) {
		return dir
	}
	// Another user owns that folder, so another one is used for this run only.
	dir, err := os.MkdirTemp("", "service-")
	if err != nil {
		return filepath.Join(os.TempDir(), "service-has-no-folder") // creating this folder will fail with a clear error
	}
	return dir
})
