// Package builtin contains the trained network that comes with the program. README.md in this folder is its model card.
package builtin

import (
	_ "embed"
	"sync"

	"github.com/scf-service/service/engine/judge/reading/crossencoder"
)

//go:embed reader.bin
var weights []byte

// Network returns the network. Its weights are checked and prepared by the first call.
var Network = sync.OnceValues(func() (*crossencoder.Network, error) { return crossencoder.Parse(weights) })
