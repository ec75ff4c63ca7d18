package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/scf-service/service/internal/regularfile"
)

// certificate is a TLS key pair that is reloaded from its two files when they change, because renewal programs replace
// the files.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu        sync.Mutex
	keyPair   *tls.Certificate
	fileInfos [2]os.FileInfo
	checkedAt time.Time
}

// recheckInterval is the minimum time between two checks for changes to the certificate files.
const recheckInterval = 5 * time.Second

// loadCertificate reads a certificate and its key. Errors contain the path of the invalid file.
func loadCertificate(certPath, keyPath string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: certPath, key: keyPath, log: log, checkedAt: time.Now()}
	return c, c.readFiles()
}

func (c *certificate) readFiles() error {
	var seen [2]os.FileInfo
	for i, path := range []string{c.cert, c.key} {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("can't read the TLS certificate: %w", err)
		}
		seen[i] = info
	}
	pair, err := readKeyPair(c.cert, c.key)
	// An invalid pair is only retried when a file changes, because certificate and key are replaced one by one.
	c.fileInfos = seen
	if err != nil {
		return fmt.Errorf("TLS certificate %s with key %s is invalid: %w", c.cert, c.key, err)
	}
	c.keyPair = &pair
	return nil
}

func readKeyPair(certPath, keyPath string) (tls.Certificate, error) {
	cert, err := regularfile.Read(certPath, maxConfigFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := regularfile.Read(keyPath, maxConfigFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// getCertificate returns the key pair for a new connection, after reloading it if the files have changed.
func (c *certificate) getCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.checkedAt) >= recheckInterval {
		c.checkedAt = now
		if c.haveFilesChanged() {
			c.reloadLocked()
		}
	}
	return c.keyPair, nil
}

// isForHost reports whether the certificate is valid for a host name or IP address.
func (c *certificate) isForHost(host string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keyPair.Leaf.VerifyHostname(host) == nil
}

// reload reads the certificate and key files immediately, even if they appear unchanged.
func (c *certificate) reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reloadLocked()
}

// reloadLocked reads the files again; mu must be held.
func (c *certificate) reloadLocked() {
	if err := c.readFiles(); err != nil {
		c.log.Error("the TLS certificate could not be reloaded; the old certificate remains in use", "error", err)
		return
	}
	c.log.Info("TLS certificate reloaded", "expires", c.keyPair.Leaf.NotAfter)
}

// haveFilesChanged reports whether the certificate or the key file has changed since it was last read.
func (c *certificate) haveFilesChanged() bool {
	for i, path := range []string{c.cert, c.key} {
		info, err := os.Stat(path)
		if err == nil && (!isFileUnchanged(c.fileInfos[i], info) || info.Size() != c.fileInfos[i].Size()) {
			return true
		}
	}
	return false
}

// tlsConfig returns the server's TLS configuration.
func (c *certificate) tlsConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.getCertificate}
}
