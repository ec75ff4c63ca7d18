package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/scf-service/service/store/bolt"
	"github.com/scf-service/service/store/internal/disk"
	"github.com/scf-service/service/store/kv"
)

// Place is the location of a store: a data folder with its own database, or a database elsewhere.
type Place struct {
	// Dir is the data folder. If Driver is set, Dir only holds the blobs, unless Objects is set, too.
	Dir     string
	Driver  Driver // nil for service.db in Dir; the caller closes it
	Objects Objects
}

// CopyOptions are the options of Copy.
type CopyOptions struct {
	From, To Place
	Clock    func() time.Time
	NewID    func() string
	// Progress, if set, is called from time to time with the number of records and files copied or compared.
	Progress func(records, files int64)
}

// CopySummary describes what Copy has copied and compared.
type CopySummary struct {
	Records int64 `json:"records"` // including index entries
	Bytes   int64 `json:"bytes"`   // size of keys and values
	Files   int64 `json:"files"`
}

// Limits of a single transaction of a copy.
const (
	copyBatchRecords = 5000
	copyBatchBytes   = 3 << 20
)

// Copy copies all files and records of a store that is not in use. The target must be an empty place. Copy then
// compares the target with the source. The records that make the target usable are written last, so an incomplete copy
// can't be opened. Errors: ErrExists if the target isn't empty, ErrLocked if the source or the target is in use,
// ErrCorrupt.
func Copy(ctx context.Context, o CopyOptions) (s CopySummary, err error) {
	from := o.From.Driver
	if from == nil {
		if HoldsNoData(o.From.Dir) {
			return s, fmt.Errorf("%w: there is no data in the source %s", ErrNotFound, o.From.Dir)
		}
		path := filepath.Join(o.From.Dir, fileDatabase)
		file, err := bolt.Open(ctx, path, bolt.Options{LockTimeout: time.Second, NewChecker: newTotalChecker})
		if err != nil {
			return s, fmt.Errorf("opening the source: %w", err)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		from = file
	}
	if err := checkCopySource(ctx, from, o.Clock()); err != nil {
		return s, err
	}
	if err := o.To.checkEmpty(ctx); err != nil {
		return s, err
	}
	c := copier{CopyOptions: o, summary: &s}
	if err := c.copyFiles(ctx); err != nil {
		return s, fmt.Errorf("copying the files: %w", err)
	}
	err = from.View(ctx, func(source kv.KV) error {
		if o.To.Driver == nil {
			return c.copyToFile(ctx, source)
		}
		if err := c.copyToDriver(ctx, source); err != nil {
			return err
		}
		return o.To.Driver.View(ctx, func(target kv.KV) error { return c.compare(ctx, source, target) })
	})
	return s, err
}

// checkCopySource returns an error if the source can't be copied.
func checkCopySource(ctx context.Context, from Driver, now time.Time) error {
	return from.View(ctx, func(k kv.KV) error {
		tx := &Tx{ctx: ctx, kv: checkedKV{driver: k}, db: &DB{}, now: now}
		var meta databaseMeta
		found, err := tx.getMeta(metaKey, &meta)
		switch {
		case err != nil:
			return fmt.Errorf("reading the source: %w", err)
		case !found:
			return fmt.Errorf("%w: the source is empty", ErrNotFound)
		case meta.Format != formatVersion:
			return fmt.Errorf("%w: the source has format %d; open the source once with this program, then copy it again", ErrOldFormat, meta.Format)
		}
		for p, err := range scanProcessMeta[processRecord](tx, "process") {
			if err != nil {
				return err
			}
			if now.Before(p.value.Until) {
				return fmt.Errorf("%w: a daemon is using the source; stop all daemons, or, if a daemon was killed, wait until %s",
					ErrLocked, p.value.Until.UTC().Format(time.TimeOnly))
			}
		}
		return nil
	})
}

// checkEmpty returns ErrExists unless the place has no records.
func (p Place) checkEmpty(ctx context.Context) error {
	if p.Driver == nil {
		if !HoldsNoData(p.Dir) {
			return fmt.Errorf("%w: the target %s is not empty; choose a new folder", ErrExists, p.Dir)
		}
		return createDataFolders(p.Dir)
	}
	if p.Objects == nil {
		if err := prepareSharedFolder(p.Dir); err != nil {
			return err
		}
	}
	return p.Driver.View(ctx, func(k kv.KV) error {
		names, err := k.Tables()
		if err != nil || len(names) == 0 {
			return err
		}
		for p, err := range k.Scan(metaTable, kv.Range{}) {
			if err != nil || bytes.Equal(p.Key, metaKey.b) {
				return errors.Join(fmt.Errorf("%w: the target database is not empty; choose another schema with ?schema=NAME", ErrExists), err)
			}
		}
		return fmt.Errorf("%w: the target database contains part of an interrupted copy; drop its schema, "+
			"or choose another schema with ?schema=NAME", ErrExists)
	})
}

// openBlobs returns the blobs of the place.
func (p Place) openBlobs(o *CopyOptions) *Blobs {
	return &Blobs{
		dir: filepath.Join(p.Dir, dirBlobs), objects: p.Objects, clock: o.Clock, files: disk.Files{WithoutSync: p.Objects != nil},
		temp: func() string {
			if p.Dir == "" {
				return filepath.Join(os.TempDir(), tempPrefix+o.NewID())
			}
			return tempPath(p.Dir, o.NewID())
		},
	}
}

// copier copies and compares the records and files of a store.
type copier struct {
	CopyOptions
	summary  *CopySummary
	reported int64
}

func (c *copier) report() {
	if done := c.summary.Records + c.summary.Files; c.Progress != nil && done-c.reported >= 1000 {
		c.reported = done
		c.Progress(c.summary.Records, c.summary.Files)
	}
}

// copyFiles copies all blobs. It compares the content of each blob with its hash, both at the source and at the target.
func (c *copier) copyFiles(ctx context.Context) error {
	from, to := c.From.openBlobs(&c.CopyOptions), c.To.openBlobs(&c.CopyOptions)
	return from.ForEach(ctx, func(sha string) error {
		f, size, err := from.Open(ctx, sha)
		if err != nil {
			return err
		}
		_, err = to.put(ctx, f, size, sha)
		if err = errors.Join(err, f.Close()); err == nil {
			err = to.Verify(ctx, sha)
		}
		c.summary.Files++
		c.report()
		return err
	})
}

// copiedRecords yields and counts the records to copy. These are the records that copied yields, with the description
// of the database moved to the end.
func (c *copier) copiedRecords(ctx context.Context, source kv.KV) iter.Seq2[kv.Record, error] {
	return func(yield func(kv.Record, error) bool) {
		var description kv.Record
		for r, err := range copied(ctx, source) {
			if err != nil {
				yield(kv.Record{}, err)
				return
			}
			c.summary.Records++
			c.summary.Bytes += int64(len(r.Key) + len(r.Value))
			c.report()
			if isDescription(r) {
				description = cloneRecord(r)
				continue
			}
			if !yield(r, nil) {
				return
			}
		}
		if description.Key != nil {
			yield(description, nil)
		}
	}
}

// copied yields the records that a copy contains, in order. They are all records except the total, the last ID, and the
// records of running processes.
func copied(ctx context.Context, k kv.KV) iter.Seq2[kv.Record, error] {
	return func(yield func(kv.Record, error) bool) {
		n := 0
		for r, err := range allRecords(k) {
			if n++; err == nil && n%1024 == 0 {
				err = ctx.Err()
			}
			if err == nil && !isCopied(r) {
				continue
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// isCopied reports whether a copy of the database includes a record.
func isCopied(r kv.Record) bool {
	return r.Table != metaTable || !isTotal(r.Table, r.Key) && !isProcessMeta(r.Key) && !bytes.Equal(r.Key, lastIDKey.b)
}

// isDescription reports whether a record describes the database.
func isDescription(r kv.Record) bool { return r.Table == metaTable && bytes.Equal(r.Key, metaKey.b) }

// cloneRecord returns a copy of a record whose bytes remain valid.
func cloneRecord(r kv.Record) kv.Record {
	return kv.Record{Table: r.Table, Pair: kv.Pair{Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value)}}
}

// copyToDriver copies the records in batches.
func (c *copier) copyToDriver(ctx context.Context, source kv.KV) error {
	var batch []kv.Record
	size := 0
	write := func() error {
		err := c.To.Driver.Update(ctx, func(target kv.KV) error {
			for _, r := range batch {
				if err := target.Put(r.Table, r.Key, r.Value); err != nil {
					return err
				}
			}
			return nil
		})
		batch, size = batch[:0], 0
		return err
	}
	for r, err := range c.copiedRecords(ctx, source) {
		if err != nil {
			return err
		}
		if len(batch) == copyBatchRecords || size > copyBatchBytes || isDescription(r) {
			if err := write(); err != nil {
				return err
			}
		}
		batch = append(batch, cloneRecord(r))
		size += len(r.Key) + len(r.Value)
	}
	return write()
}

// copyToFile writes the records to a new file, compares them, and gives the file its name.
func (c *copier) copyToFile(ctx context.Context, source kv.KV) error {
	temp := tempPath(c.To.Dir, c.NewID())
	defer os.Remove(temp)
	withTotal := func(yield func(kv.Record, error) bool) {
		var sum totalChecker
		for r, err := range c.copiedRecords(ctx, source) {
			if err == nil {
				sum.Pair(r.Table, r.Key, r.Value)
				r = cloneRecord(r) // Load retains it
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
		value := appendChecksum(newCheckedTable(metaTable), totalKey.b, binary.BigEndian.AppendUint64(nil, sum.total))
		yield(kv.Record{Table: metaTable, Pair: kv.Pair{Key: totalKey.b, Value: value}}, nil)
	}
	if err := bolt.Load(ctx, temp, withTotal); err != nil {
		return err
	}
	file, err := bolt.Open(ctx, temp, bolt.Options{NewChecker: newTotalChecker})
	if err != nil {
		return err
	}
	err = file.View(ctx, func(target kv.KV) error { return c.compare(ctx, source, target) })
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := (disk.Files{}).SyncTree(temp); err != nil {
		return err
	}
	path := filepath.Join(c.To.Dir, fileDatabase)
	err = disk.Files{}.LinkDurably(temp, path)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %s was created in the meantime", ErrLocked, path)
	}
	return err
}

// compare compares all copied records with the source.
func (c *copier) compare(ctx context.Context, source, target kv.KV) error {
	next, stop := iter.Pull2(copied(ctx, target))
	defer stop()
	n := int64(0)
	for want, err := range copied(ctx, source) {
		if err != nil {
			return err
		}
		n++
		got, err, ok := next()
		switch {
		case err != nil:
			return err
		case !ok || got.Table != want.Table || !bytes.Equal(got.Key, want.Key) || !bytes.Equal(got.Value, want.Value):
			return fmt.Errorf("%w: the copy differs from the source at %s %s (table %s); delete the copy, then copy again",
				ErrCorrupt, recordKindLabel(want.Table), Key{b: bytes.Clone(want.Key)}, want.Table)
		}
	}
	if extra, err, ok := next(); err != nil || ok {
		return errors.Join(fmt.Errorf("%w: the copy has the additional record %s (table %s); delete the copy, then copy again",
			ErrCorrupt, Key{b: bytes.Clone(extra.Key)}, extra.Table), err)
	}
	if n != c.summary.Records {
		return fmt.Errorf("%w: %d records were copied, but %d compared", ErrCorrupt, c.summary.Records, n)
	}
	return nil
}
