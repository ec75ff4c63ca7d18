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

	mu     sync.Mutex
	pair   *tls.Certificate
	seen   [2]os.FileInfo
	looked time.Time
}

// lookAgain is the time between two looks at the files.
const lookAgain = 5 * time.Second

// loadCertificate reads the pair; the error says which file is wrong.
func loadCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, log: log, looked: time.Now()}
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
	c.seen = seen
	if err != nil {
		return fmt.Errorf("the TLS certificate %s with the key %s is no good: %w", c.cert, c.key, err)
	}
	c.pair = &pair
	return nil
}

// get is the pair for a new connection.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= lookAgain {
		c.looked = now
		if c.changed() {
			c.renew()
		}
	}
	return c.pair, nil
}

// reload reads the files now, whether they seem changed or not.
func (c *certificate) reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.renew()
}

func (c *certificate) renew() {
	if err := c.read(); err != nil {
		c.log.Error("the certificate stays as it was", "error", err)
		return
	}
	c.log.Info("the certificate was read again", "expires", c.pair.Leaf.NotAfter)
}

func (c *certificate) changed() bool {
	for i, path := range []string{c.cert, c.key} {
		info, err := os.Stat(path)
		if err == nil && (!sameFile(c.seen[i], info) || info.Size() != c.seen[i].Size()) {
			return true
		}
	}
	return false
}

// config is TLS as it is served.
func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}
