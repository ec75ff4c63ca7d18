// Package bolt is the driver that stores tables in a bbolt file: one bucket per table, with one
// writer and concurrent readers.
package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/scf-service/service/internal/regularfile"
	"github.com/scf-service/service/store/internal/disk"
	"github.com/scf-service/service/store/kv"
)

// lockStep is the duration of one attempt to lock the file. Open checks its context between
// attempts.
const lockStep = 50 * time.Millisecond

// Options of a database file.
type Options struct {
	// LockTimeout is how long Open waits for another process that has the file open; 0 means one second, and a
	// negative value means not at all.
	LockTimeout time.Duration
	Logger      *slog.Logger // nil disables logging

	// NewChecker returns the checker of an existing file's content, which runs before the file is opened. If it
	// is nil, only the structure is checked.
	NewChecker func() PairChecker
}

// PairChecker checks the keys and values in a file.
type PairChecker interface {
	// Pair receives every key with its value, in any order. They are only valid during the call.
	Pair(table string, key, value []byte)
	// Err returns the result of the check after the last pair.
	Err() error
}

// DB is an open file. It implements kv.Driver.
type DB struct {
	bolt       *bbolt.DB
	file       *os.File // the file opened by bbolt
	pageSize   int64
	path       string
	log        *slog.Logger
	writeToken chan struct{} // holds one token, the right to write; waiting callers get it in the order of their arrival
	waiting    atomic.Int64  // callers of Update that wait for the token
	group      *group        // the open transaction; only the holder of the token may access it

	closing sync.Once
	closed  chan struct{}
}

var _ kv.Driver = (*DB)(nil)

// Create creates an empty database at path, unless the file exists or the file system has no hard links. After a crash,
// the file is either complete or missing. temp is an unused path on the same file system.
func Create(path, temp string) error {
	b, err := bbolt.Open(temp, 0o600, nil)
	if err == nil {
		err = b.Close()
	}
	defer os.Remove(temp)
	if err != nil {
		return toKVError(temp, err)
	}
	if err := os.Link(temp, path); err != nil {
		return nil //nolint:nilerr // it exists, or the file system has no links: then Open creates it
	}
	return disk.ClassifyError(disk.SyncDir(filepath.Dir(path)))
}

// Open opens the file, creating it if it does not exist; its folder must exist.
// Errors: kv.ErrLocked, kv.ErrCorrupt, kv.ErrDiskFull, kv.ErrReadOnly.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	if o.LockTimeout == 0 {
		o.LockTimeout = time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	info, err := os.Stat(path)
	fresh := errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0
	if !fresh {
		if err := checkPages(ctx, path, o); err != nil {
			return nil, err
		}
	}
	b, file, err := openWithRetry(ctx, path, o.LockTimeout, &bbolt.Options{
		// Without the free list on disk, the file grows far less during a long read transaction. In return,
		// Open must read all pages once.
		NoFreelistSync:  true,
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: initialMmapSize(),
		NoStatistics:    true,
	})
	if err != nil {
		return nil, err
	}
	if fresh {
		if err := disk.SyncDir(filepath.Dir(path)); err != nil {
			return nil, errors.Join(disk.ClassifyError(err), b.Close())
		}
	}
	db := &DB{
		bolt: b, file: file, pageSize: int64(b.Info().PageSize), path: path, log: o.Logger,
		writeToken: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	db.writeToken <- struct{}{}
	return db, nil
}

// openWithRetry opens the file. If the file is locked, it keeps trying for the duration given by wait.
func openWithRetry(ctx context.Context, path string, wait time.Duration, o *bbolt.Options) (*bbolt.DB, *os.File, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		o.Timeout = max(min(wait, lockStep), time.Nanosecond)
		b, file, err := openOnce(path, o)
		wait -= lockStep
		switch again := errors.Is(err, berrors.ErrTimeout) || errors.Is(err, errReplaced); {
		case err == nil:
			return b, file, nil
		case !again || wait <= 0:
			return nil, nil, toKVError(path, err)
		}
	}
}

// errReplaced is the error if the path refers to a different file once the lock has been acquired.
var errReplaced = errors.New("the file was replaced by a restore in the meantime; try again")

// openOnce opens the file without waiting. It returns errReplaced if path refers to a different file after the lock
// was acquired.
func openOnce(path string, o *bbolt.Options) (b *bbolt.DB, file *os.File, err error) {
	o.OpenFile = func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
		f, err = regularfile.OpenFile(name, flag, mode)
		file = f
		return f, err
	}
	defer func() {
		if err != nil && b == nil && file != nil {
			_ = file.Close() // still open only after a panic
		}
	}()
	defer catchDamage(path, &err)
	if b, err = bbolt.Open(path, 0o600, o); err != nil {
		return nil, file, err
	}
	locked, err := file.Stat()
	if err == nil {
		var named os.FileInfo
		if named, err = os.Stat(path); err == nil && os.SameFile(locked, named) {
			return b, file, nil
		}
		err = cmp.Or(err, errReplaced)
	}
	return nil, nil, errors.Join(err, b.Close())
}

// initialMmapSize returns the initial size of the memory mapping. The mapping only reserves addresses, not memory. Up
// to that size, the file can grow without a new mapping, for which a writer would have to wait for all readers.
func initialMmapSize() int {
	switch {
	case runtime.GOOS == "windows": // on Windows, the mapping would determine the size of the file
		return 0
	case math.MaxInt == math.MaxInt32:
		return 64 << 20
	}
	return 1 << 30
}

// toKVError converts a bbolt error to an error of package kv.
func toKVError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("%w: %s is locked; stop the process that uses it, or connect to that process", kv.ErrLocked, path)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return fmt.Errorf("%w: %s: %w; restore a backup", kv.ErrCorrupt, path, err)
	case errors.Is(err, berrors.ErrDatabaseNotOpen):
		return kv.ErrClosed
	case errors.Is(err, berrors.ErrTxClosed):
		return kv.ErrTxDone
	case errors.Is(err, berrors.ErrTxNotWritable):
		return kv.ErrReadOnlyTx
	case strings.HasPrefix(err.Error(), "file size too small"): // bbolt has no value for it
		return fmt.Errorf("%w: %s: %w; restore a backup", kv.ErrCorrupt, path, err)
	}
	// bbolt drops the type of some system errors and keeps their text.
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS} {
		if !errors.Is(err, e) && strings.HasSuffix(err.Error(), e.Error()) {
			err = fmt.Errorf("%w (%w)", err, e)
		}
	}
	return disk.ClassifyError(err)
}

// catchDamage converts a panic caused by a damaged file to kv.ErrCorrupt. Such a panic is raised by bbolt, or by
// access to mapped memory if the file was truncated while open.
func catchDamage(path string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	if _, fault := p.(interface{ Addr() uintptr }); !fault && !strings.HasPrefix(panickingFunction(), "go.etcd.io/bbolt") {
		panic(p)
	}
	// The folder is omitted, because users of a server see the message.
	*err = fmt.Errorf("%w: %s: %v; restore a backup", kv.ErrCorrupt, filepath.Base(path), p)
}

// panickingFunction returns the function that caused the current panic.
func panickingFunction() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for panicking := false; ; {
		f, more := frames.Next()
		if panicking && !strings.HasPrefix(f.Function, "runtime.") || !more {
			return f.Function
		}
		panicking = panicking || f.Function == "runtime.gopanic"
	}
}

// checkNotTruncated returns an error if the file was truncated so far that its headers are missing. bbolt reads
// the headers when it begins a transaction and holds locks at that point, so a fault there can't be recovered
// from.
func (db *DB) checkNotTruncated() error {
	info, err := db.file.Stat()
	switch {
	case errors.Is(err, os.ErrClosed):
		return kv.ErrClosed
	case err != nil:
		return toKVError(db.path, err)
	case info.Size() < 2*db.pageSize:
		return fmt.Errorf("%w: %s was truncated; restore a backup", kv.ErrCorrupt, filepath.Base(db.path))
	}
	return nil
}

// View implements kv.Driver.
func (db *DB) View(ctx context.Context, fn func(kv.KV) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.checkNotTruncated(); err != nil {
		return err
	}
	btx, err := db.bolt.Begin(false)
	if err != nil {
		return toKVError(db.path, err)
	}
	defer btx.Rollback()
	t := newTx(ctx, btx)
	defer t.end()
	defer catchDamage(db.path, &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return fn(t)
}

// Close implements kv.Driver.
func (db *DB) Close() error {
	var err error
	db.closing.Do(func() {
		close(db.closed)
		err = toKVError(db.path, db.bolt.Close())
	})
	return err
}
