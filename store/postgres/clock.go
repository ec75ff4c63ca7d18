package postgres

import (
	"context"
	"time"
)

// clockInterval is the time between two comparisons of this machine's clock with that of the database.
const clockInterval = 30 * time.Second

// Now returns the time by the clock of the database, so that processes whose machines' clocks differ agree about it. Between two
// comparisons it follows the clock of this machine.
func (db *DB) Now() time.Time { return time.Now().Add(time.Duration(db.clockOffset.Load())) }

// compareClocks measures by how much the clock of the database is ahead of this machine's.
func (db *DB) compareClocks(ctx context.Context) error {
	var theirs time.Time
	began := time.Now()
	if err := db.pool.QueryRow(ctx, selectTime).Scan(&theirs); err != nil {
		return toKVError(err)
	}
	ours := began.Add(time.Since(began) / 2)
	db.clockOffset.Store(int64(theirs.Sub(ours.Round(0))))
	return nil
}

// followClock compares the clocks from time to time, until the DB is closed.
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
		_ = db.compareClocks(ctx) // without an answer, the last comparison remains valid
		cancel()
	}
}
