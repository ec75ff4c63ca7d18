package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scf-service/service/store/kv"
)

// Processes that share a database know of one another through these records in _meta. A database with a sole
// writer doesn't have them:
//
//	"process", ID   until when the process is regarded as running; each process renews its own
//	"leader"        ID of the process that does the work which only one of them may do
//	"claim", work   ID of the process that does a piece of work, such as reading a document
//	"counts", name, ID  numbers that the process shares with the others (shared_counts.go)
const (
	heartbeatInterval = 5 * time.Second
	// aliveFor is how long a process is regarded as running after a heartbeat. It exceeds the time that a restart of
	// the database takes.
	aliveFor = 20 * time.Second
	// watchInterval is the time between two checks for changes by other processes.
	watchInterval = 500 * time.Millisecond
)

type processRecord struct {
	Until time.Time `json:"until"`
	// Features is the last feature that the process supports; 0 if it is older than all of them.
	Features Feature `json:"features,omitempty"`
}

// Feature is a form of stored data that earlier versions of the program can't use. Features are numbered in the order
// in which they were added. A process supports all of them up to a number.
type Feature int64

const (
	// ItemHashes means that the content hash of a deliverable is computed from the hashes of its items.
	ItemHashes Feature = 1

	lastFeature = ItemHashes
)

// AllSupport reports whether, at this process's last heartbeat, every running process that shares the database supported
// a feature. Until they all do, data must be written in the earlier form, so that processes can be upgraded one by one.
func (tx *Tx) AllSupport(f Feature) bool {
	return tx.db.soleWriter || Feature(tx.db.processes.commonFeatures.Load()) >= f
}

var leaderKey = K("leader")

func processKey(id string) Key { return K("process", id) }

// isProcessMeta reports whether a key of _meta belongs to running processes rather than to the data.
func isProcessMeta(key []byte) bool {
	parts, err := Key{b: key}.Parts()
	return err == nil && len(parts) > 0 && (parts[0] == "process" || parts[0] == "leader" || parts[0] == "claim" || parts[0] == "counts")
}

// changeWatcher can be implemented by a driver whose database is used by several processes.
type changeWatcher interface {
	// ChangesByOthers returns a text that changes once another process has written something.
	ChangesByOthers(ctx context.Context) (string, error)
}

// processMeta is a process's record in _meta.
type processMeta[V any] struct {
	key     Key
	subject string // last part of the key: the ID of the process, or a piece of work
	value   V
}

// scanProcessMeta yields the records of _meta whose keys begin with the parts of kind.
func scanProcessMeta[V any](tx *Tx, kind ...any) iter.Seq2[processMeta[V], error] {
	return func(yield func(processMeta[V], error) bool) {
		r, err := newScanOptions([]ScanOption{Prefix(kind...)}).toRange()
		if err != nil {
			yield(processMeta[V]{}, err)
			return
		}
		for p, err := range tx.kv.Scan(metaTable, r) {
			var m processMeta[V]
			if err == nil {
				m, err = decodeProcessMeta[V](tx, p)
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

func decodeProcessMeta[V any](tx *Tx, p kv.Pair) (m processMeta[V], err error) {
	value, err := tx.kv.verifiedValue(metaTable, p)
	if err != nil {
		return m, err
	}
	m.key = Key{b: bytes.Clone(p.Key)}
	parts, err := m.key.Parts()
	if err != nil {
		return m, err
	}
	m.subject, _ = parts[len(parts)-1].(string)
	return m, decodeMeta(m.key, value, &m.value)
}

// processes holds what a DB knows about the processes that share its database.
type processes struct {
	id       string
	isLeader atomic.Bool
	// confirmed is the time at which this process last renewed its record, in Unix nanoseconds.
	confirmed atomic.Int64
	// commonFeatures is the last feature that all processes supported at the last heartbeat.
	commonFeatures atomic.Int64
	stop           context.CancelFunc
	running        sync.WaitGroup

	mu      sync.Mutex
	counted map[string]bool // names passed to ExchangeCounts for which there are numbers
}

// IsLeader reports whether this process is the leader, which does the work that only one of the processes sharing the
// database may do, such as sending events from the outbox. A sole writer is always the leader.
func (db *DB) IsLeader() bool {
	if db.soleWriter {
		return true
	}
	confirmed := time.Unix(0, db.processes.confirmed.Load())
	// Other processes take over once the record has expired; this process stops before that.
	return db.processes.isLeader.Load() && db.clock().Sub(confirmed) < aliveFor-heartbeatInterval
}

// IsRunning reports whether the process with the given ID is running, as far as this process knows.
func (tx *Tx) IsRunning(process string) (bool, error) {
	if process == tx.db.processes.id {
		return true, nil
	}
	if tx.db.soleWriter || process == "" {
		return false, nil
	}
	var r processRecord
	found, err := tx.getMeta(processKey(process), &r)
	return found && tx.now.Before(r.Until), err
}

// joinProcesses registers this process with the others, and renews the registration until leaveProcesses is
// called.
func (db *DB) joinProcesses(ctx context.Context) error {
	if db.soleWriter {
		return nil
	}
	if err := db.renewAndClaimLeadership(ctx); err != nil {
		return err
	}
	ctx, db.processes.stop = context.WithCancel(context.WithoutCancel(ctx))
	db.processes.running.Go(func() { db.keepAlive(ctx) })
	if w, ok := db.driver.(changeWatcher); ok {
		db.processes.running.Go(func() { db.watchOthers(ctx, w) })
	}
	return nil
}

// keepAlive renews the record of this process at every heartbeat until ctx ends.
func (db *DB) keepAlive(ctx context.Context) {
	ticks := time.NewTicker(heartbeatInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if err := db.renewAndClaimLeadership(ctx); err != nil && ctx.Err() == nil {
			db.log.WarnContext(ctx, "the record of this process could not be renewed", "error", err)
		}
	}
}

// renewAndClaimLeadership renews this process's record, and makes this process the leader if there is no leader.
func (db *DB) renewAndClaimLeadership(ctx context.Context) error {
	var isLeader bool
	var at time.Time
	err := db.Update(ctx, func(tx *Tx) error {
		at = tx.now
		var leader string
		if _, err := tx.getMeta(leaderKey, &leader); err != nil {
			return err
		}
		running, err := tx.IsRunning(leader)
		if err != nil {
			return err
		}
		if isLeader = leader == db.processes.id || !running; isLeader && leader != db.processes.id {
			if err := tx.removeEndedProcesses(); err != nil {
				return err
			}
			if err := tx.putMeta(leaderKey, db.processes.id); err != nil {
				return err
			}
		}
		return tx.putMeta(processKey(db.processes.id), processRecord{Until: at.Add(aliveFor), Features: lastFeature})
	})
	if err != nil {
		return err
	}
	db.processes.confirmed.Store(at.UnixNano())
	if db.processes.isLeader.Swap(isLeader) != isLeader && isLeader {
		db.log.InfoContext(ctx, "this process now sends events and emails and does other work that only one process can do")
		db.notifier.notify()
	}
	return db.updateCommonFeatures(ctx)
}

// updateCommonFeatures reads which features all running processes support. It has a transaction of its own, so that it
// doesn't conflict with the heartbeats of other processes.
func (db *DB) updateCommonFeatures(ctx context.Context) error {
	common := lastFeature
	err := db.View(ctx, func(tx *Tx) error {
		for p, err := range scanProcessMeta[processRecord](tx, "process") {
			if err != nil {
				return err
			}
			if tx.now.Before(p.value.Until) {
				common = min(common, p.value.Features)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading which features other processes support: %w", err)
	}
	db.processes.commonFeatures.Store(int64(common))
	return nil
}

// removeEndedProcesses removes the records of processes that were killed a while ago, and the claims and
// numbers of processes that no longer have a record.
func (tx *Tx) removeEndedProcesses() error {
	var ended []Key
	known := map[string]bool{}
	for p, err := range scanProcessMeta[processRecord](tx, "process") {
		if err != nil {
			return err
		}
		if p.value.Until.Before(tx.now.Add(-time.Hour)) {
			ended = append(ended, p.key)
		} else {
			known[p.subject] = true
		}
	}
	known[tx.db.processes.id] = true
	for claim, err := range scanProcessMeta[string](tx, "claim") {
		if err != nil {
			return err
		}
		if !known[claim.value] {
			ended = append(ended, claim.key)
		}
	}
	for counts, err := range scanProcessMeta[sharedCounts](tx, "counts") {
		if err != nil {
			return err
		}
		if !known[counts.subject] {
			ended = append(ended, counts.key)
		}
	}
	for _, k := range ended {
		if err := tx.kv.Delete(metaTable, k.b); err != nil {
			return err
		}
	}
	return nil
}

// leaveProcesses removes this process's records, so that others can take over immediately.
func (db *DB) leaveProcesses() {
	if db.processes.stop == nil {
		return
	}
	db.processes.stop()
	db.processes.running.Wait()
	db.processes.stop = nil
	ctx, cancel := context.WithTimeout(context.Background(), heartbeatInterval)
	defer cancel()
	_ = db.Update(ctx, func(tx *Tx) error { // otherwise, the record expires
		var leader string
		if _, err := tx.getMeta(leaderKey, &leader); err != nil {
			return err
		}
		if leader == db.processes.id {
			if err := tx.kv.Delete(metaTable, leaderKey.b); err != nil {
				return err
			}
		}
		return tx.kv.Delete(metaTable, processKey(db.processes.id).b)
	})
}

// watchOthers notifies goroutines waiting for changes when another process has written something.
func (db *DB) watchOthers(ctx context.Context, w changeWatcher) {
	ticks := time.NewTicker(watchInterval)
	defer ticks.Stop()
	last, _ := w.ChangesByOthers(ctx) // if it can't be read, the first successful read differs and notifies them
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if now, err := w.ChangesByOthers(ctx); err == nil && now != last {
			last = now
			db.notifier.notify()
		}
	}
}

// checkNotMigrated returns an error if a newer program has migrated the database since it was opened, because
// this program would write records in a form that is no longer valid.
func (tx *Tx) checkNotMigrated() error {
	if tx.db.soleWriter || tx.db.meta.Secret == "" { // or the database is being created
		return nil
	}
	var now databaseMeta
	found, err := tx.getMeta(metaKey, &now)
	switch {
	case err != nil:
		return err
	case !found:
		return errors.New("the database was emptied by someone else")
	case now.Schema > tx.db.schema.Version() || now.Format > formatVersion:
		return fmt.Errorf("%w: a newer version migrated the database while this program was running; update this program and restart it",
			&NewerSchemaError{Database: now.Schema, Program: tx.db.schema.Version()})
	}
	return nil
}

// Claim records that this process is doing a piece of work. claimed is false if another running process is
// doing it.
func (tx *Tx) Claim(work string) (claimed bool, err error) {
	if tx.db.soleWriter {
		return true, nil
	}
	elsewhere, err := tx.IsClaimedElsewhere(work)
	if err != nil || elsewhere {
		return false, err
	}
	return true, tx.putMeta(K("claim", work), tx.db.processes.id)
}

// IsClaimedElsewhere reports whether another running process is doing a piece of work.
func (tx *Tx) IsClaimedElsewhere(work string) (bool, error) {
	if tx.db.soleWriter {
		return false, nil
	}
	var holder string
	if found, err := tx.getMeta(K("claim", work), &holder); err != nil || !found || holder == tx.db.processes.id {
		return false, err
	}
	return tx.IsRunning(holder)
}

// Release removes the claim to a piece of work that is done.
func (tx *Tx) Release(work string) error {
	if tx.db.soleWriter {
		return nil
	}
	return tx.kv.Delete(metaTable, K("claim", work).b)
}
