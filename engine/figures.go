package engine

import (
	"os"
	"path/filepath"

	"github.com/scf-service/service/evidence"
)

// Figures are what the engine has to do and takes up, all organizations together.
type Figures struct {
	evidence.Load
	// StoreBytes is the size of the database's file; 0 where it has none.
	StoreBytes int64
	// DiskFree is the room left for the data folder, in bytes; meaningless unless DiskKnown.
	DiskFree  uint64
	DiskKnown bool
}

// Figures reads the figures of this moment.
func (e *Engine) Figures() Figures {
	f := Figures{Load: e.Evidence.Load()}
	if info, err := os.Stat(filepath.Join(e.db.Dir(), "service.db")); err == nil {
		f.StoreBytes = info.Size()
	}
	f.DiskFree, f.DiskKnown = DiskFree(e.db.Dir())
	return f
}
