package postgres

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// clockInterval is the time between two comparisons of this machine's clock with the database's.
const clockInterval = 30 * time.Second

// Now returns the time of the database's clock, so that processes on machines with different clocks agree on the time.
// Between two comparisons of the clocks, it follows this machine's clock.
func (db *DB) Now() time.Time { return db.clock().Add(time.Duration(db.clockOffset.Load())) }

// compareClocks measures how far the database's clock is ahead of this machine's.
func (db *DB) compareClocks(ctx context.Context) error {
	var theirs time.Time
	began := db.clock()
	if err := db.pool.QueryRow(ctx, selectTime).Scan(&theirs); err != nil {
		return toKVError(err)
	}
	ours := began.Add(db.clock().Sub(began) / 2)
	db.clockOffset.Store(int64(theirs.Sub(ours.Round(0))))
	return nil
}

// ChangesByOthers returns a string that changes when another process has committed a transaction. It consists of the
// marks of all other processes.
func (db *DB) ChangesByOthers(ctx context.Context) (string, error) {
	rows, err := db.pool.Query(ctx, selectMarks)
	if err != nil {
		return "", toKVError(err)
	}
	var all bytes.Buffer
	var key, value []byte
	_, err = pgx.ForEachRow(rows, []any{&key, &value}, func() error {
		if !bytes.Equal(key, db.writer) {
			all.Write(key)
			all.Write(value)
		}
		return nil
	})
	return all.String(), toKVError(err)
}

// followClock periodically compares this machine's clock with the database's until the DB is closed.
func (db *DB) followClock() {
	ticks := time.NewTicker(clockInterval)
	defer ticks.Stop()
	for {
		select {
		case <-db.closed:
			return
		case <-ticks.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		_ = db.compareClocks(ctx) // on failure, the last comparison remains valid
		cancel()
	}
}
