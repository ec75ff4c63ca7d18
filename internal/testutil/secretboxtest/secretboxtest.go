// Package secretboxtest provides boxes for tests.
package secretboxtest

import "github.com/scf-service/service/internal/secretbox"

// New returns a Box with keys in memory.
func New(keys ...secretbox.Key) *secretbox.Box { return secretbox.New(&memory{keys}) }

type memory struct{ keys []secretbox.Key }

func (m *memory) LoadOrCreate() ([]secretbox.Key, error) { return m.keys, nil }
func (m *memory) Save(k []secretbox.Key, _ string) error { m.keys = k; return nil }
func (m *memory) Location() string                       { return "memory" }
