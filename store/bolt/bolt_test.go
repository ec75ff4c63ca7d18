package bolt

import (
	"path/filepath"
	"testing"

	"github.com/scf-service/service/store/kv"
	"github.com/scf-service/service/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) kv.Driver {
		db, err := Open(t.Context(), filepath.Join(t.TempDir(), "service.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return db
	})
}
