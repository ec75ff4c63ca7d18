package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is a key pair from two files, read again when they change: programs
// that renew certificates replace the files.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu        sync.Mutex
	keyPair   *tls.Certificate
	fileInfos [2]os.FileInfo
	checkedAt time.Time
}

// recheckInterval is the time between two looks at the files.
const recheckInterval = 5 * time.Second

// loadCertificate reads the pair; the error says which file is wrong.
func loadCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, log: log, checkedAt: time.Now()}
	return c, c.read()
}

func (c *certificate) read() error {
	var seen [2]os.FileInfo
	for i, path := range []string{c.cert, c.key} {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("the TLS certificate can't be read: %w", err)
		}
		seen[i] = info
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	// A pair that is wrong is tried again only when a file changes: halves are replaced one by one.
	c.fileInfos = seen
	if err != nil {
		return fmt.Errorf("the TLS certificate %s with the key %s is no good: %w", c.cert, c.key, err)
	}
	c.keyPair = &pair
	return nil
}

// getCertificate is the pair for a new connection.
func (c *certificate) getCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.checkedAt) >= recheckInterval {
		c.checkedAt = now
		if c.filesChanged() {
			c.reloadLocked()
		}
	}
	return c.keyPair, nil
}

// reload reads the files now, whether they seem changed or not.
func (c *certificate) reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reloadLocked()
}

func (c *certificate) reloadLocked() {
	if err := c.read(); err != nil {
		c.log.Error("the certificate stays as it was", "error", err)
		return
	}
	c.log.Info("the certificate was read again", "expires", c.keyPair.Leaf.NotAfter)
}

func (c *certificate) filesChanged() bool {
	for i, path := range []string{c.cert, c.key} {
		info, err := os.Stat(path)
		if err == nil && (!sameFile(c.fileInfos[i], info) || info.Size() != c.fileInfos[i].Size()) {
			return true
		}
	}
	return false
}

// tlsConfig is TLS as it is served.
func (c *certificate) tlsConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.getCertificate}
}
