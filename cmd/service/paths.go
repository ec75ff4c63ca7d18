package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
)

// dataDir is where the store lives, where nobody says otherwise.
func dataDir() string {
	if dir := os.Getenv("SERVICE_DATA"); dir != "" {
		return dir
	}
	return filepath.Join(xdg("XDG_DATA_HOME", ".local/share"), "service")
}

// stateDir keeps what the CLI remembers between commands.
func stateDir() string { return filepath.Join(xdg("XDG_STATE_HOME", ".local/state"), "service") }

// cacheDir keeps what can be made again.
func cacheDir() string { return filepath.Join(xdg("XDG_CACHE_HOME", ".cache"), "service") }

// xdg is a base folder by the XDG convention; on a machine without a home, below the temporary folder.
func xdg(variable, below string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return filepath.Join(os.TempDir(), "service-home", below)
	}
	return filepath.Join(home, below)
}

// maxSocketPath is what the shortest of the common systems takes.
const maxSocketPath = 100

// socketPath is the socket of a data folder: in it, or where that path is too
// long for a socket, in a folder of this person's own below the temporary folder.
func socketPath(dir string) string {
	path := filepath.Join(dir, "service.sock")
	if len(path) <= maxSocketPath && runtime.GOOS != "windows" {
		return path
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(os.TempDir(), "service-"+hex.EncodeToString(sum[:8])+".sock")
}
