package postgres

import (
	"math/rand/v2"
	"testing"

	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/store/kv"
)

// TestDatabaseFull writes until the files of the server can't grow. Nothing of the failed transaction may be stored, and
// writing must work again once there is room.
func TestDatabaseFull(t *testing.T) {
	server := postgrestest.NewServer(t)
	db := open(t, server.URL("full"))
	wantErr(t, "update", add(t.Context(), db, "1"), nil)
	noise := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(noise)
	fill := func() error {
		return db.Update(t.Context(), func(k kv.KV) error {
			if err := addIn(k, "2"); err != nil {
				return err
			}
			for i := range 20 {
				noise[0] = byte(i)
				if err := k.Put("noise", []byte{byte(i)}, noise); err != nil {
					return err
				}
			}
			return nil
		})
	}
	// Segments of the write-ahead log have 16 MB.
	server.LimitFileSize(t, 16<<20+4096)
	wantErr(t, "on a full disk", fill(), kv.ErrDiskFull)
	want(t, "value after the failure", get(t, db), "1")
	server.LimitFileSize(t, 0)
	wantErr(t, "with more room", fill(), nil)
	want(t, "value", get(t, db), "12")
}
