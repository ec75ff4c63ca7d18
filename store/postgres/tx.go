package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/scf-service/service/store/kv"
)

const (
	// Writes are sent at the commit, or when they reach this number or size.
	maxWrites     = 10_000
	maxWriteBytes = 4 << 20
	// maxReadBytes limits the size of the values cached for a second Get in a transaction.
	maxReadBytes = 8 << 20
	// A scan first reads firstPage pairs. Each further page has twice as many pairs, up to largestPage or about
	// pageBytes.
	firstPage   = 64
	largestPage = 2048
	pageBytes   = 1 << 20
	// firstGroup and largestGroup are the minimum and maximum numbers of pairs that ScanAhead announces at once.
	firstGroup   = 16
	largestGroup = 256
	// maxPageBytes limits how much of a page is retained if the page's values are larger than those of earlier pages.
	maxPageBytes = 16 << 20
)

// tx implements kv.KV on a transaction of the database. It doesn't hold a connection until the first read. If
// there is no read before the commit, the commit takes one round trip.
type tx struct {
	ctx      context.Context
	db       *DB
	writable bool
	ended    bool
	conn     *pgxpool.Conn
	// failed is the first error returned by the database. The transaction can't continue after it.
	failed error

	writes     map[string]*tableWrites
	writeCount int
	writeBytes int
	flushes    int // number of times that writes have been sent

	reads     map[tableAndKey][]byte
	readBytes int
	// gaps are ranges of tables in which the database has no keys. Most keys that an Update reads are those of
	// new records and index entries, which come in groups.
	gaps map[string][]gap
	// expected are keys to be read in the next round trip, and expectedScans scans whose first page is.
	expected      []kv.Ref
	expectedScans []scanKey
	// pages are first pages of scans that were read ahead.
	pages map[scanKey]pageRead
	plan  *readPlan // nil before ReadAhead
}

// gap is the range between two adjacent keys of a table, excluding both. nil stands for the beginning or the
// end of the table.
type gap struct{ after, before []byte }

func (g gap) contains(key []byte) bool {
	return bytes.Compare(key, g.after) > 0 && (g.before == nil || bytes.Compare(key, g.before) < 0)
}

// maxGaps is the maximum number of gaps cached per table.
const maxGaps = 64

// isInGap reports whether a key is known not to be in the database.
func (t *tx) isInGap(table string, key []byte) bool {
	for _, g := range slices.Backward(t.gaps[table]) { // the most recent gap first
		if g.contains(key) {
			return true
		}
	}
	return false
}

// expectGap makes the next Get of a missing key also read the gap that contains the key.
func (t *tx) expectGap(table string) {
	if t.gaps == nil {
		t.gaps = map[string][]gap{}
	}
	t.gaps[table] = nil
}

// addGap adds a gap. If there are too many, the oldest one is dropped.
func (t *tx) addGap(table string, g gap) {
	if t.gaps == nil {
		t.gaps = map[string][]gap{}
	}
	all := t.gaps[table]
	if len(all) == maxGaps {
		all = slices.Delete(all, 0, 1)
	}
	t.gaps[table] = append(all, g)
}

type tableAndKey struct{ table, key string }

func (t *tx) checkUsable(write bool) error {
	switch {
	case t.ended:
		return kv.ErrTxDone
	case write && !t.writable:
		return kv.ErrReadOnlyTx
	case t.failed != nil:
		return t.failed
	}
	return t.ctx.Err()
}

// send runs statements in one round trip. If they are the first ones, it also begins the transaction.
func (t *tx) send(queue func(*pgx.Batch)) error {
	try := func() error {
		first := t.conn == nil
		if first {
			conn, err := t.db.pool.Acquire(t.ctx)
			if err != nil {
				return &notSentError{toKVError(err)}
			}
			t.conn = conn
		}
		b := &pgx.Batch{}
		switch {
		case first && t.writable:
			b.Queue(beginUpdate)
		case first:
			b.Queue(beginView)
		}
		queue(b)
		if c := countsOf(t.ctx); c != nil {
			c.RoundTrips.Add(1)
		}
		err := t.conn.SendBatch(t.ctx, b).Close()
		if err != nil && first && !t.writable { // nothing has been read yet, so another connection can be used
			t.endConnection()
		}
		return toKVError(err)
	}
	var err error
	if t.writable || t.conn != nil {
		err = try()
	} else {
		err = t.db.retry(t.ctx, time.Now(), try)
	}
	switch {
	case err == nil:
		return nil
	case t.db.isClosed() && errors.As(err, new(*notSentError)):
		err = kv.ErrClosed
	}
	t.failed = err
	return err
}

// run is like send, but only for use before the commit: until then, it is certain that nothing is left behind if the
// context ends. It also reads data that is expected to be needed.
func (t *tx) run(queue func(*pgx.Batch)) error {
	expected := t.unknown(t.expected)
	t.expected = nil
	found := map[tableAndKey][]byte{}
	keepPages := func() {}
	err := t.send(func(b *pgx.Batch) {
		queue(b)
		queueReads(b, expected, found)
		keepPages = t.queueExpectedScans(b)
	})
	if err != nil {
		t.failed = t.preferContextError(err)
		return t.failed
	}
	t.cacheReads(expected, found)
	keepPages()
	return nil
}

// notSentError is an error that occurred before anything was sent to the database.
type notSentError struct{ error }

func (e *notSentError) Unwrap() error { return e.error }

func (t *tx) Get(table string, key []byte) ([]byte, error) {
	if err := t.checkUsable(false); err != nil {
		return nil, err
	}
	if err := kv.CheckKey(table, key); err != nil {
		return nil, err
	}
	if w := t.writes[table]; w != nil {
		if own := w.byKey[string(key)]; own != nil {
			return own.value, nil
		}
		if w.dropped {
			return nil, nil
		}
	}
	at := tableAndKey{table, string(key)}
	if value, known := t.reads[at]; known {
		t.planRead(table, key)
		return value, nil
	}
	if t.isInGap(table, key) {
		return nil, nil
	}
	t.planRead(table, key)
	if t.isExpected(table, key) {
		if err := t.run(func(*pgx.Batch) {}); err != nil {
			return nil, err
		}
		if value, known := t.reads[at]; known {
			return value, nil
		}
	}
	var value, after, before []byte
	one := func(to *[]byte) func(pgx.Rows) error {
		return func(rows pgx.Rows) error {
			*to = nil
			if rows.Next() {
				return rows.Scan(to)
			}
			return nil
		}
	}
	// If one key doesn't exist, others near it probably don't exist either.
	_, missed := t.gaps[table]
	probe := t.writable && missed
	err := t.run(func(b *pgx.Batch) {
		b.Queue(selectValue, []byte(table), key).Query(one(&value))
		if probe {
			b.Queue(selectKeyBefore, []byte(table), key).Query(one(&after))
			b.Queue(selectKeyAfter, []byte(table), key).Query(one(&before))
		}
	})
	if err != nil {
		return nil, err
	}
	switch {
	case value == nil && probe:
		t.addGap(table, gap{after, before})
		return nil, nil
	case value == nil && t.writable:
		t.expectGap(table)
	}
	t.cacheForNextGet(at, value)
	return value, nil
}

// Prefetch implements kv.Remote.
func (t *tx) Prefetch(refs ...kv.Ref) error {
	if err := t.checkUsable(false); err != nil {
		return err
	}
	for _, r := range refs {
		if err := kv.CheckKey(r.Table, r.Key); err != nil {
			return err
		}
	}
	unknown := t.unknown(refs)
	if len(unknown) == 0 {
		return nil
	}
	t.expected = append(t.expected, unknown...)
	return t.run(func(*pgx.Batch) {})
}

// Expect implements kv.Remote.
func (t *tx) Expect(refs ...kv.Ref) {
	for _, r := range refs {
		if kv.CheckKey(r.Table, r.Key) == nil {
			t.expected = append(t.expected, r)
		}
	}
}

// AssumeMissing implements kv.Remote.
func (t *tx) AssumeMissing(table string, key []byte) {
	at := tableAndKey{table, string(key)}
	if _, known := t.reads[at]; !known && t.flushes == 0 { // later, the database may have this transaction's writes
		t.cacheForNextGet(at, nil)
		if t.plan != nil {
			t.plan.read[at] = true // it never needs to be read
		}
	}
}

// unknown returns the keys whose values Get would have to read, without duplicates.
func (t *tx) unknown(refs []kv.Ref) []kv.Ref {
	var out []kv.Ref
	seen := map[tableAndKey]bool{}
	for _, r := range refs {
		w := t.writes[r.Table]
		at := tableAndKey{r.Table, string(r.Key)}
		_, known := t.reads[at]
		if !known && !seen[at] && !t.isInGap(r.Table, r.Key) && (w == nil || !w.dropped && w.byKey[string(r.Key)] == nil) {
			seen[at] = true
			out = append(out, r)
		}
	}
	return out
}

// queueReads adds one statement per table. The statements put the values into found.
func queueReads(b *pgx.Batch, refs []kv.Ref, found map[tableAndKey][]byte) {
	clear(found)
	keys := map[string][][]byte{}
	for _, r := range refs {
		keys[r.Table] = append(keys[r.Table], r.Key)
	}
	for _, table := range slices.Sorted(maps.Keys(keys)) {
		b.Queue(selectValues, []byte(table), keys[table]).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var p kv.Pair
				if err := rows.Scan(&p.Key, &p.Value); err != nil {
					return err
				}
				found[tableAndKey{table, string(p.Key)}] = p.Value
			}
			return nil
		})
	}
}

// cacheReads caches the values that were read for keys. Keys without a value don't exist.
func (t *tx) cacheReads(refs []kv.Ref, found map[tableAndKey][]byte) {
	for _, r := range refs {
		at := tableAndKey{r.Table, string(r.Key)}
		t.cacheForNextGet(at, found[at])
	}
}

// cacheForNextGet caches a value for the next Get, because the store often reads a record twice: before changing it,
// and again while doing so.
func (t *tx) cacheForNextGet(at tableAndKey, value []byte) {
	size := len(at.key) + len(value)
	if t.reads == nil || t.readBytes+size > maxReadBytes {
		t.reads, t.readBytes = map[tableAndKey][]byte{}, 0
	}
	if size <= maxReadBytes {
		t.reads[at] = value
		t.readBytes += size
	}
}

// writesTo returns the unsent writes to a table.
func (t *tx) writesTo(table string) *tableWrites {
	w := t.writes[table]
	if w == nil {
		w = &tableWrites{byKey: map[string]*write{}}
		t.writes[table] = w
	}
	return w
}

func (t *tx) Put(table string, key, value []byte) error {
	if err := t.checkUsable(true); err != nil {
		return err
	}
	if err := kv.CheckPut(table, key, value); err != nil {
		return err
	}
	if value == nil {
		value = []byte{} // because nil means deleted
	}
	w := t.writesTo(table)
	w.created = true
	return t.countWriteAndSendIfFull(w.set(key, value))
}

func (t *tx) Delete(table string, key []byte) error {
	if err := t.checkUsable(true); err != nil {
		return err
	}
	if err := kv.CheckKey(table, key); err != nil {
		return err
	}
	return t.countWriteAndSendIfFull(t.writesTo(table).set(key, nil))
}

// countWriteAndSendIfFull counts an unsent write. If there are too many, or if they are too large, it sends all of
// them.
func (t *tx) countWriteAndSendIfFull(size int) error {
	t.writeCount++
	t.writeBytes += size
	if t.writeCount < maxWrites && t.writeBytes < maxWriteBytes {
		return nil
	}
	err := t.run(t.queueWrites)
	t.forgetWrites()
	return err
}

// forgetWrites discards the unsent writes.
func (t *tx) forgetWrites() {
	t.writes, t.writeCount, t.writeBytes = map[string]*tableWrites{}, 0, 0
	t.reads, t.readBytes, t.gaps, t.pages = nil, 0, nil, nil
	t.flushes++
}

func (t *tx) Drop(table string) error {
	if err := t.checkUsable(true); err != nil {
		return err
	}
	if err := kv.CheckTableName(table); err != nil {
		return err
	}
	t.writes[table] = &tableWrites{dropped: true, byKey: map[string]*write{}}
	return nil
}

func (t *tx) Tables() ([]string, error) {
	if err := t.checkUsable(false); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	err := t.run(func(b *pgx.Batch) {
		b.Queue(selectTables).Query(func(rows pgx.Rows) error {
			clear(names)
			var key []byte
			_, err := pgx.ForEachRow(rows, []any{&key}, func() error {
				names[string(key[1:])] = true
				return nil
			})
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	for name, w := range t.writes {
		if w.created || w.dropped {
			names[name] = w.created
		}
	}
	var sorted []string
	for name, exists := range names {
		if exists {
			sorted = append(sorted, name)
		}
	}
	slices.Sort(sorted)
	return sorted, nil
}

// scan is the state of a Scan: the pairs read ahead and the position.
type scan struct {
	kv.Range
	table   string
	last    []byte // the key that was reached last; nil at the start
	page    []kv.Pair
	size    int  // number of pairs in the next page
	atEnd   bool // nothing follows the page
	flushes int  // the transaction's flushes when the page was read

	ahead     func([]kv.Pair) error // see kv.Remote; may be nil
	announced int                   // number of pairs of the page that were passed to ahead
	group     int                   // number of pairs to pass to it next
}

func (t *tx) Scan(table string, r kv.Range) iter.Seq2[kv.Pair, error] {
	return t.ScanAhead(table, r, 0, nil)
}

// ScanAhead implements kv.Remote.
func (t *tx) ScanAhead(table string, r kv.Range, first int, ahead func([]kv.Pair) error) iter.Seq2[kv.Pair, error] {
	return func(yield func(kv.Pair, error) bool) {
		if err := kv.CheckTableName(table); err != nil {
			yield(kv.Pair{}, err)
			return
		}
		s := &scan{Range: r, table: table, size: firstPage, flushes: t.flushes, ahead: ahead, group: firstGroup}
		if first > 0 {
			s.size = min(first, largestPage)
			s.group = s.size
		}
		for {
			p, err := t.next(s)
			if err != nil {
				yield(kv.Pair{}, err)
				return
			}
			if p.Key == nil {
				return
			}
			s.last = p.Key
			if p.Value != nil && !yield(p, nil) {
				return
			}
		}
	}
}

// next returns the pair after a scan's position, merged from the database and the writes that have not been
// sent. The key is nil at the end; the value is nil if the pair was deleted.
func (t *tx) next(s *scan) (kv.Pair, error) {
	if err := t.checkUsable(false); err != nil {
		return kv.Pair{}, err
	}
	if s.flushes != t.flushes { // the page is outdated
		s.flushes, s.page, s.atEnd, s.announced = t.flushes, nil, false, 0
	}
	var next kv.Pair
	w := t.writes[s.table]
	if w == nil || !w.dropped {
		if len(s.page) == 0 && !s.atEnd {
			if err := t.readPage(s); err != nil {
				return kv.Pair{}, err
			}
		}
		if len(s.page) > 0 {
			if s.ahead != nil && s.announced == 0 {
				s.announced = min(s.group, len(s.page))
				s.group = min(2*s.group, largestGroup)
				if err := s.ahead(s.page[:s.announced]); err != nil {
					return kv.Pair{}, err
				}
			}
			next = s.page[0]
		}
	}
	fromPage := next.Key != nil
	if w != nil {
		if own := w.next(s); own != nil && s.contains(own.key) {
			order := -1
			if fromPage {
				order = bytes.Compare(own.key, next.Key)
				if s.Reverse {
					order = -order
				}
			}
			if order <= 0 {
				next = kv.Pair{Key: own.key, Value: own.value}
				fromPage = fromPage && order == 0
			}
		}
	}
	if fromPage {
		s.page = s.page[1:]
		s.announced = max(0, s.announced-1)
	}
	return next, nil
}

func (s *scan) contains(key []byte) bool {
	return bytes.Compare(key, s.Start) >= 0 && (s.End == nil || bytes.Compare(key, s.End) < 0)
}

// readPage reads the next pairs after the scan's position.
func (t *tx) readPage(s *scan) error {
	var page pageRead
	first := s.last == nil
	key := s.firstPageKey()
	if first && t.plan != nil {
		t.plan.scans = append(t.plan.scans, key)
	}
	if first && t.isExpectedScan(key) {
		if err := t.run(func(*pgx.Batch) {}); err != nil {
			return err
		}
	}
	known, readAhead := t.pages[key]
	if first && readAhead {
		page = known
	} else if err := t.run(func(b *pgx.Batch) { s.queuePage(b, &page) }); err != nil {
		return err
	}
	s.page = page.pairs
	size := page.size
	s.atEnd = len(s.page) < s.size && size < maxPageBytes
	if end := s.End; t.writable && s.Reverse && len(s.page) > 0 {
		if s.last != nil {
			end = s.last
		}
		t.addGap(s.table, gap{s.page[0].Key, end}) // where the next record of a sequence may be inserted
	}
	if t.writable {
		for _, p := range s.page { // the pairs are likely to be changed
			t.cacheForNextGet(tableAndKey{s.table, string(p.Key)}, p.Value)
		}
	}
	s.size = min(2*s.size, largestPage)
	if size > 0 {
		s.size = max(1, min(s.size, pageBytes*len(s.page)/size))
	}
	return nil
}

// statement returns the SQL statement that reads the next page of the scan, with its arguments.
func (s *scan) statement() (sql string, args []any) {
	start, end := s.Start, s.End
	switch {
	case s.last != nil && s.Reverse:
		end = s.last
	case s.last != nil:
		start = append(bytes.Clone(s.last), 0)
	}
	if start == nil {
		start = []byte{} // nil would be NULL
	}
	arguments := []any{[]byte(s.table), s.size, start}
	switch {
	case end == nil && s.Reverse:
		return scanDownAtEnd, arguments
	case end == nil:
		return scanUpToEnd, arguments
	case s.Reverse:
		return scanDown, append(arguments, end)
	}
	return scanUp, append(arguments, end)
}

// commit sends the remaining writes and commits in one round trip.
func (t *tx) commit() error {
	changed := t.flushes > 0 || len(t.writes) > 0
	if t.conn == nil && !changed {
		return nil
	}
	mark := t.db.nextMark()
	var result pgconn.CommandTag
	err := t.send(func(b *pgx.Batch) {
		t.queueWrites(b)
		if changed {
			b.Queue(updateMark, t.db.writer, t.db.mark, mark)
		}
		b.Queue(commit).Exec(func(tag pgconn.CommandTag) error {
			result = tag
			return nil
		})
	})
	switch {
	case err == nil && result.String() == commit:
		if changed {
			t.db.mark = mark
		}
		t.savePlan()
		return nil
	case err == nil:
		return fmt.Errorf("the database responded to a commit with %s", result)
	case sqlState(err) == "23502": // the mark isn't the expected one, because an earlier outcome was unknown
		return t.db.reloadMark(err)
	case !changed || isOutcomeKnown(err) || errors.As(err, new(*notSentError)):
		return t.preferContextError(err)
	}
	t.endConnection()
	committed, settleErr := t.db.settleCommit(mark)
	switch {
	case settleErr != nil:
		text := "the connection was lost while saving; check whether the change was saved before you repeat it"
		return &databaseError{kind: kv.ErrUnavailable, text: text, cause: errors.Join(err, settleErr)}
	case committed:
		return nil
	}
	return t.preferContextError(err)
}

// preferContextError returns the context's error if the context has ended, and err otherwise.
func (t *tx) preferContextError(err error) error {
	if ended := t.ctx.Err(); ended != nil {
		return ended
	}
	return err
}

// end rolls the transaction back unless it was committed.
func (t *tx) end() {
	t.ended = true
	t.endConnection()
}

// endConnection rolls back an open transaction and releases the connection.
func (t *tx) endConnection() {
	conn := t.conn
	if conn == nil {
		return
	}
	t.conn = nil
	pg := conn.Conn().PgConn()
	cancelled := t.ctx.Err() != nil
	if !cancelled && (pg.IsClosed() || pg.TxStatus() == 'I') {
		conn.Release()
		return
	}
	end := func() {
		defer conn.Release()
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		_ = pg.Exec(ctx, rollback).Close()
		if cancelled { // otherwise, the cancellation could arrive late and end the next transaction on this connection
			_ = conn.Conn().Close(ctx)
		}
	}
	if t.writable {
		end()
		return
	}
	go end() // nobody needs to wait for a View to end
}

// reloadMark reads this process's mark after an Update failed because the mark was not the expected one.
func (db *DB) reloadMark(cause error) error {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	found, err := db.readInternal(ctx, db.writer)
	if err != nil || found == nil {
		return errors.Join(cause, err)
	}
	db.mark = found
	return &databaseError{kind: kv.ErrUnavailable, text: "an earlier change was saved with a delay; try again", cause: cause, repeat: true}
}
