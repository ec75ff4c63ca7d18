package main

import (
	"fmt"

	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/embed/remote"
)

// embedderConfig specifies an external embedding model, as set by SERVICE_EMBEDDER and SERVICE_EMBEDDER_URL or the
// configuration file.
type embedderConfig struct{ name, url string }

// newEmbedder returns the configured embedder, or nil for the built-in one. The API key is read only from the
// environment, which other users can't see.
func (m embedderConfig) newEmbedder(env func(string) string) (embed.Embedder, error) {
	if m.name == "" || m.name == "builtin" {
		return nil, nil
	}
	e, err := remote.New(remote.Options{Model: m.name, URL: m.url, Key: env("SERVICE_EMBEDDER_KEY")})
	if err != nil {
		return nil, fmt.Errorf("the settings embedder and embedder-url (SERVICE_EMBEDDER, SERVICE_EMBEDDER_URL) are invalid: %w", err)
	}
	return e, nil
}
