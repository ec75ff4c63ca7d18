// Package postgres is the driver that stores tables in PostgreSQL, or in a distributed database that speaks its
// protocol. Any number of processes may use one database.
package postgres

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/scf-service/service/store/kv"
)

const (
	defaultSchema   = "service"
	defaultPoolSize = 16
	// format is the version of the format described in statements.go.
	format   = "1"
	retryFor = 10 * time.Second // default of DB.retryFor
	// firstPause and longestPause bound the pauses between attempts. Each pause is twice as long as the
	// previous one, and up to half of it is random.
	firstPause   = 5 * time.Millisecond
	longestPause = 500 * time.Millisecond
	// settleTimeout is the time allowed for finding out whether a transaction was committed.
	settleTimeout = time.Minute
	endTimeout    = 5 * time.Second // timeout of a rollback, and of a statement after its context has ended
)

// Options of a connection.
type Options struct {
	// URL is a connection URL, such as postgres://user@host/database?sslmode=verify-full, with any setting that
	// pgx supports: sslrootcert, passfile, pool_max_conns, statement_timeout and so on. The setting "schema" is
	// the name of the schema that contains the store's table; the default is "service".
	URL    string
	Logger *slog.Logger // nil disables logging
	// Clock is this machine's clock, which may be wrong; see DB.Now. nil is time.Now.
	Clock func() time.Time
}

// DB is an open database. It implements kv.Driver.
type DB struct {
	pool *pgxpool.Pool
	log  *slog.Logger
	// writeToken holds one token, the right to write. Concurrent Updates of one process would only conflict,
	// because each of them changes this DB's mark.
	writeToken chan struct{}
	// writer is the key of this DB's mark, and mark its value. Only the holder of the token may use them.
	writer, mark []byte
	transactions uint64 // number of marks created
	plans        readPlans

	clock       func() time.Time
	clockOffset atomic.Int64 // in nanoseconds; see Now

	closing sync.Once
	closed  chan struct{}
	// retryFor is how long a transaction is retried after conflicts, or while the database can't be reached.
	retryFor time.Duration
}

var _ kv.Driver = (*DB)(nil)

// Open connects to the database, and creates the schema and its table unless they exist. Several processes may do so at
// the same time. Errors: kv.ErrUnavailable, kv.ErrReadOnly.
func Open(ctx context.Context, o Options) (*DB, error) {
	config, schema, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, toKVError(err)
	}
	db := &DB{
		pool: pool, log: o.Logger, writeToken: make(chan struct{}, 1), closed: make(chan struct{}),
		writer: append([]byte("w"), rand.Text()...), mark: binary.BigEndian.AppendUint64(nil, 0),
		retryFor: retryFor, clock: o.Clock,
	}
	db.writeToken <- struct{}{}
	if err := db.retry(ctx, time.Now(), func() error { return db.prepareSchema(ctx, schema) }); err != nil {
		pool.Close()
		return nil, err
	}
	go db.followClock()
	return db, nil
}

// parseURL returns the settings of the pool and the name of the schema.
func parseURL(text string) (poolConfig *pgxpool.Config, schemaName string, _ error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		// The error doesn't include the text, which may contain a password.
		return nil, "", errors.New("the database address must be a URL, such as postgres://user@host/database?sslmode=verify-full")
	}
	q := u.Query()
	schema := defaultSchema
	if q.Has("schema") {
		schema = q.Get("schema")
		q.Del("schema")
	}
	if schema == "" || strings.ContainsRune(schema, 0) || len(schema) > 63 {
		return nil, "", errors.New("the schema setting in the database URL must have 1 to 63 bytes")
	}
	hasPoolSize := q.Has("pool_max_conns")
	u.RawQuery = q.Encode()
	config, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, "", fmt.Errorf("the database URL can't be used: %w", err) // pgx hides the password
	}
	if !hasPoolSize {
		config.MaxConns = defaultPoolSize
	}
	// The server is notified when a context ends. By default, pgx only closes the connection, and a commit
	// could continue.
	config.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: endTimeout}
	}
	config.AfterConnect = readInKeyOrder
	params := config.ConnConfig.RuntimeParams
	params["search_path"] = pgx.Identifier{schema}.Sanitize()
	if params["application_name"] == "" {
		params["application_name"] = "service"
	}
	return config, schema, nil
}

// readInKeyOrder makes the database read the first entries of a range from the index. Otherwise PostgreSQL may read and
// sort the whole range, until it has analyzed a table that has grown. Databases without these settings don't need them.
func readInKeyOrder(ctx context.Context, conn *pgx.Conn) error {
	for _, statement := range []string{disableBitmapScan, disableSeqScan, disableSort} {
		if _, err := conn.Exec(ctx, statement); err != nil && sqlState(err) == "" {
			return err
		}
	}
	return nil
}

// prepareSchema creates what is missing, checks the format and inserts the mark of this DB.
func (db *DB) prepareSchema(ctx context.Context, schema string) error {
	found, err := db.readInternal(ctx, []byte("v"))
	if code := sqlState(err); code == "42P01" || code == "3F000" { // no table or schema
		if err := db.createSchema(ctx, schema); err != nil {
			return err
		}
		found, err = db.readInternal(ctx, []byte("v"))
	}
	if err == nil && found == nil { // an administrator may have created the table
		if _, err := db.pool.Exec(ctx, insertEntry, []byte{}, []byte("v"), []byte(format)); err != nil {
			return toKVError(err)
		}
		found, err = db.readInternal(ctx, []byte("v"))
	}
	switch {
	case err != nil:
		return toKVError(err)
	case string(found) != format:
		return fmt.Errorf("the database has format %.20q, but this program supports only %s; upgrade to a newer version", found, format)
	}
	if err := db.compareClocks(ctx); err != nil {
		return err
	}
	_, err = db.pool.Exec(ctx, insertEntry, []byte{}, db.writer, db.mark)
	return toKVError(err)
}

func (db *DB) createSchema(ctx context.Context, schema string) error {
	_, err := db.pool.Exec(ctx, createEntries)
	if sqlState(err) == "3F000" {
		if _, err := db.pool.Exec(ctx, createSchema+pgx.Identifier{schema}.Sanitize()); err != nil {
			return toKVError(err)
		}
		_, err = db.pool.Exec(ctx, createEntries)
	}
	return toKVError(err)
}

// readInternal returns the value of a key in the unnamed table, or nil if the key doesn't exist.
func (db *DB) readInternal(ctx context.Context, key []byte) ([]byte, error) {
	var value []byte
	err := db.pool.QueryRow(ctx, selectValue, []byte{}, key).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return value, err
}

// retry calls try until it succeeds or returns an error that retrying can't solve. It gives up once db.retryFor has
// passed since began.
func (db *DB) retry(ctx context.Context, began time.Time, try func() error) error {
	deadline := began.Add(db.retryFor)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := try()
		var e *databaseError
		if err == nil || !errors.As(err, &e) || !e.repeat {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(deadline) {
			return err
		}
		db.log.DebugContext(ctx, "repeating a transaction", "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-db.closed:
			return kv.ErrClosed
		case <-time.After(pause/2 + mathrand.N(pause/2)):
		}
	}
}

// checkUsable returns an error if ctx has ended or the database is closed.
func (db *DB) checkUsable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if db.isClosed() {
		return kv.ErrClosed
	}
	return nil
}

func (db *DB) isClosed() bool {
	select {
	case <-db.closed:
		return true
	default:
		return false
	}
}

// View implements kv.Driver. The snapshot is taken at the first read.
func (db *DB) View(ctx context.Context, fn func(kv.KV) error) error {
	if err := db.checkUsable(ctx); err != nil {
		return err
	}
	t := &tx{ctx: ctx, db: db}
	defer t.end()
	return fn(t)
}

// Update implements kv.Driver. It runs fn again after a conflict with another process, or if the connection was lost
// before the commit.
func (db *DB) Update(ctx context.Context, fn func(kv.KV) error) error {
	if err := db.checkUsable(ctx); err != nil {
		return err
	}
	began := time.Now() // before waiting; otherwise, if the database is down, each Update would wait for all those before it
	select {
	case <-db.writeToken:
	case <-db.closed:
		return kv.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { db.writeToken <- struct{}{} }()
	first := true
	return db.retry(ctx, began, func() error {
		if c := countsOf(ctx); c != nil && !first {
			c.Repetitions.Add(1)
		}
		first = false
		return db.updateOnce(ctx, fn)
	})
}

// updateOnce runs an Update without retrying it.
func (db *DB) updateOnce(ctx context.Context, fn func(kv.KV) error) error {
	t := &tx{ctx: ctx, db: db, writable: true, writes: map[string]*tableWrites{}}
	defer t.end()
	err := fn(t)
	if t.failed != nil { // regardless of how fn handled it
		return t.failed
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	return t.commit()
}

// nextMark returns the mark for this writer's next transaction.
func (db *DB) nextMark() []byte {
	db.transactions++
	return binary.BigEndian.AppendUint64(nil, db.transactions)
}

// settleCommit finds out whether the transaction with the given mark was committed, after the connection was
// lost during its commit. If it was not, settleCommit makes sure that it can't be committed anymore.
func (db *DB) settleCommit(mark []byte) (committed bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	replacement := db.nextMark()
	var found []byte
	err = db.retry(ctx, time.Now(), func() error {
		if _, err := db.pool.Exec(ctx, replaceMark, db.writer, mark, replacement); err != nil {
			return toKVError(err)
		}
		found, err = db.readInternal(ctx, db.writer)
		return toKVError(err)
	})
	switch {
	case err != nil:
		return false, err
	case found == nil:
		return false, errors.New("the record of this process is missing from the database")
	}
	db.mark = found
	return string(found) == string(mark), nil
}

// Close implements kv.Driver.
func (db *DB) Close() error {
	db.closing.Do(func() {
		close(db.closed)
		<-db.writeToken
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		// The error is ignored, because a crash would leave the entry behind, too.
		_, _ = db.pool.Exec(ctx, deleteEntry, []byte{}, db.writer)
		db.writeToken <- struct{}{}
		db.pool.Close()
	})
	return nil
}

// sqlState returns the SQLSTATE code of a server error, or "" for any other error.
func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
