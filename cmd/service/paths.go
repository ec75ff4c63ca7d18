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

// dataDir is where the store lives, where nobody says otherwise.
func dataDir() string {
	if dir := os.Getenv("SERVICE_DATA"); dir != "" {
		return dir
	}
	return filepath.Join(xdgDir("XDG_DATA_HOME", ".local/share"), "service")
}

// stateDir keeps what the CLI remembers between commands.
func stateDir() string { return filepath.Join(xdgDir("XDG_STATE_HOME", ".local/state"), "service") }

// cacheDir keeps what can be made again.
func cacheDir() string { return filepath.Join(xdgDir("XDG_CACHE_HOME", ".cache"), "service") }

// xdgDir is a base folder by the XDG convention; for a person without a home, below the temporary folder.
func xdgDir(variable, below string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return filepath.Join(privateTempDir(), below)
	}
	return filepath.Join(home, below)
}

// maxSocketPath is what the shortest of the common systems takes.
const maxSocketPath = 100

// socketPath is the socket of a data folder: in it, or where that path is too
// long for a socket, in the folder of this person's own below the temporary folder.
func socketPath(dir string) string {
	path := filepath.Join(dir, "service.sock")
	if len(path) <= maxSocketPath && runtime.GOOS != "windows" {
		return path
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(privateTempDir(), hex.EncodeToString(sum[:8])+".sock")
}

// privateTempDir is a folder below the temporary one that nobody else can have made or
// can look into: whoever could would be handed the evidence, or answer in our name.
var privateTempDir = sync.OnceValue(func() string {
	dir := filepath.Join(os.TempDir(), "service-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err == nil || isPrivateDir(dir) {
		return dir
	}
	// Somebody else has the name. What is kept there is then for this run only.
	dir, err := os.MkdirTemp("", "service-")
	if err != nil {
		return filepath.Join(os.TempDir(), "service-has-no-folder") // making it fails, in words
	}
	return dir
})
