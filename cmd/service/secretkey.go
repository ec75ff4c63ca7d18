package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// secretKey gives the key that secrets of webhooks are sealed with: from SERVICE_SECRET_KEY,
// else from a file in the data folder, made when first needed. It is not in the database,
// so that a copy of that alone opens nothing.
func secretKey(dir string) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		if text := os.Getenv("SERVICE_SECRET_KEY"); text != "" {
			return decodeKey(text, "SERVICE_SECRET_KEY")
		}
		path := filepath.Join(dir, "secret.key")
		b, err := os.ReadFile(path)
		if err == nil {
			return decodeKey(string(b), path)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		key := make([]byte, 32)
		_, _ = rand.Read(key)
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("making the key that secrets are sealed with: %w", err)
		}
		_, err = f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return nil, errors.Join(err, os.Remove(path))
		}
		return key, nil
	})
}

func decodeKey(text, from string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("%s is not a key: it wants 32 bytes in base64, as `openssl rand -base64 32` prints them", from)
	}
	return key, nil
}

// webhookNetworks are the private networks that webhooks may reach, from SERVICE_WEBHOOK_ALLOW.
func webhookNetworks() (out []netip.Prefix, err error) {
	for s := range strings.SplitSeq(os.Getenv("SERVICE_WEBHOOK_ALLOW"), ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			if a, single := netip.ParseAddr(s); single == nil {
				p, err = netip.PrefixFrom(a, a.BitLen()), nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("SERVICE_WEBHOOK_ALLOW: %q is no network, as 10.0.0.0/8 or 127.0.0.1", s)
		}
		out = append(out, p)
	}
	return out, nil
}
