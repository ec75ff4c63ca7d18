package bolt

import (
	"context"
	"errors"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/scf-service/service/store/kv"
)

// loadBatch is the number of bytes that Load writes in one transaction. The bytes are held in memory until the commit.
const loadBatch = 8 << 20

// Load creates a file at path, which must not exist, with the given records. The bytes of the records must not change
// afterwards. The caller must sync the file or, after an error, delete the incomplete file.
func Load(ctx context.Context, path string, records iter.Seq2[kv.Record, error]) (err error) {
	b, err := bbolt.Open(path, 0o600, &bbolt.Options{
		NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, InitialMmapSize: initialMmapSize(), NoStatistics: true,
		NoSync: true, NoGrowSync: true,
	})
	if err != nil {
		return toKVError(path, err)
	}
	defer func() { err = errors.Join(err, toKVError(path, b.Close())) }()
	next, stop := iter.Pull2(records)
	defer stop()
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := b.Update(func(btx *bbolt.Tx) error {
			t := newTx(ctx, btx)
			for size := 0; size < loadBatch; {
				r, err, ok := next()
				if !ok {
					more = false
					return nil
				}
				if err != nil {
					return err
				}
				if err := t.Put(r.Table, r.Key, r.Value); err != nil {
					return err
				}
				size += len(r.Key) + len(r.Value)
			}
			return nil
		})
		if err != nil {
			return toKVError(path, err)
		}
	}
	return nil
}
