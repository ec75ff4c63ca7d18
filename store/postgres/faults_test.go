package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/store/kv"
)

var key = []byte("key")

func get(t testing.TB, db *DB) string {
	t.Helper()
	var got string
	err := db.View(t.Context(), func(k kv.KV) error {
		v, err := k.Get("t", key)
		got = string(v)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// add appends to the value of the key, so that a change made twice is noticed.
func add(ctx context.Context, db *DB, text string) error {
	return db.Update(ctx, func(k kv.KV) error { return addIn(k, text) })
}

func addIn(k kv.KV, text string) error {
	v, err := k.Get("t", key)
	if err != nil {
		return err
	}
	return k.Put("t", key, append(bytes.Clone(v), text...))
}

func want(t testing.TB, what string, got, expected any) {
	t.Helper()
	if got != expected {
		t.Errorf("%s: got %v, want %v", what, got, expected)
	}
}

func wantErr(t testing.TB, what string, err, expected error) {
	t.Helper()
	if !errors.Is(err, expected) {
		t.Errorf("%s: got error %v, want %v", what, err, expected)
	}
}

// connect returns a connection independent of the driver.
func connect(t testing.TB, address string) *pgx.Conn {
	t.Helper()
	config, _, err := parseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.RuntimeParams["application_name"] = "test"
	conn, err := pgx.ConnectConfig(t.Context(), config.ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func exec(t testing.TB, conn *pgx.Conn, statement string, arguments ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement, arguments...); err != nil {
		t.Fatal(err)
	}
}

const cutAll = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'service'`

func TestConnectionCut(t *testing.T) {
	address := postgrestest.NewURL(t)
	db, other := open(t, address), connect(t, address)
	runs := 0
	err := db.Update(t.Context(), func(k kv.KV) error {
		if runs++; runs == 1 {
			if _, err := k.Tables(); err != nil {
				t.Fatal(err)
			}
			exec(t, other, cutAll)
		}
		if err := addIn(k, "a"); err != nil {
			return fmt.Errorf("whatever fn makes of it")
		}
		return nil
	})
	wantErr(t, "cut within an update", err, nil)
	want(t, "runs", runs, 2)
	want(t, "value", get(t, db), "a")

	exec(t, other, cutAll)
	want(t, "view on a new connection", get(t, db), "a")
	exec(t, other, cutAll)
	wantErr(t, "update on a new connection", add(t.Context(), db, "b"), nil)
	exec(t, other, cutAll)
	wantErr(t, "update without a read", db.Update(t.Context(), func(k kv.KV) error { return k.Put("t", key, []byte("c")) }), nil)
	want(t, "value", get(t, db), "c")

	err = db.View(t.Context(), func(k kv.KV) error {
		if _, err := k.Get("t", key); err != nil {
			t.Error(err)
		}
		exec(t, other, cutAll)
		_, err := k.Get("t", []byte("another"))
		return err
	})
	wantErr(t, "cut within a view", err, kv.ErrUnavailable)
	if err == nil || !strings.Contains(err.Error(), "try again") {
		t.Errorf("the error does not say what to do: %v", err)
	}
}

// TestServerRestarted crashes a server and starts it again.
func TestServerRestarted(t *testing.T) {
	server := postgrestest.NewServer(t)
	db := open(t, server.URL("s"))
	wantErr(t, "update", add(t.Context(), db, "1"), nil)
	server.Stop(t, "immediate")
	db.retryFor = 50 * time.Millisecond
	wantErr(t, "update without a server", add(t.Context(), db, "lost"), kv.ErrUnavailable)
	wantErr(t, "view without a server", db.View(t.Context(), func(k kv.KV) error {
		_, err := k.Tables()
		return err
	}), kv.ErrUnavailable)
	db.retryFor = 300 * time.Millisecond
	const waiting = 10
	began := time.Now()
	var wg sync.WaitGroup
	for range waiting {
		wg.Go(func() {
			wantErr(t, "one of several updates without a server", add(t.Context(), db, "lost"), kv.ErrUnavailable)
		})
	}
	wg.Wait()
	if took := time.Since(began); took > waiting*db.retryFor {
		t.Errorf("%d updates waited for one another, %v in all", waiting, took)
	}
	db.retryFor = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantErr(t, "update that is given up", add(ctx, db, "lost"), context.DeadlineExceeded)
	done := make(chan error)
	go func() { done <- add(t.Context(), db, "2") }()
	server.Start(t)
	wantErr(t, "update that waits for the server", <-done, nil)
	wantErr(t, "update", add(t.Context(), db, "3"), nil)
	want(t, "value", get(t, db), "123")
}

// TestConflicts makes two clients change the same values.
func TestConflicts(t *testing.T) {
	const workers, rounds = 3, 15
	address := postgrestest.NewURL(t)
	clients := []*DB{open(t, address), open(t, address)}
	runs := 0
	err := clients[0].Update(t.Context(), func(k kv.KV) error {
		if _, err := k.Get("t", key); err != nil {
			return err
		}
		if runs++; runs == 1 {
			wantErr(t, "another client's", add(t.Context(), clients[1], "|"), nil)
		}
		return addIn(k, "|")
	})
	wantErr(t, "Update", err, nil)
	want(t, "runs", runs, 2)
	var wg sync.WaitGroup
	for c, db := range clients {
		for w := range workers {
			wg.Go(func() {
				for r := range rounds {
					err := db.Update(t.Context(), func(k kv.KV) error {
						if err := addIn(k, "|"); err != nil {
							return err
						}
						return k.Put("u", fmt.Append(nil, c, w, r), key)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	const all = 2 * workers * rounds
	want(t, "changes of one value", len(get(t, clients[0])), 2+all)
	n := 0
	wantErr(t, "View", clients[0].View(t.Context(), func(k kv.KV) error {
		for _, err := range k.Scan("u", kv.Range{}) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	}), nil)
	want(t, "records", n, all)

	// Each client makes a decision that depends on what the other one changes: it adds a record only if there is none
	// yet.
	for c, db := range clients {
		wg.Go(func() {
			err := db.Update(t.Context(), func(k kv.KV) error {
				for range k.Scan("first", kv.Range{}) {
					return nil
				}
				time.Sleep(20 * time.Millisecond) //nolint:forbidigo // keeps the transactions open side by side
				return k.Put("first", fmt.Append(nil, c), key)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantErr(t, "View", clients[0].View(t.Context(), func(k kv.KV) error {
		n = 0
		for range k.Scan("first", kv.Range{}) {
			n++
		}
		return nil
	}), nil)
	want(t, "records where there may be one", n, 1)
}

// TestDropDuringPut checks that no table has keys without being in the list of tables.
func TestDropDuringPut(t *testing.T) {
	address := postgrestest.NewURL(t)
	a, b := open(t, address), open(t, address)
	wantErr(t, "Put", add(t.Context(), a, "1"), nil)
	dropped, runs := false, 0
	err := a.Update(t.Context(), func(k kv.KV) error {
		runs++
		if _, err := k.Get("t", []byte("missing")); err != nil {
			return err
		}
		if !dropped {
			dropped = true
			wantErr(t, "Drop", b.Update(t.Context(), func(k kv.KV) error { return k.Drop("t") }), nil)
		}
		return k.Put("t", []byte("new"), key)
	})
	wantErr(t, "Update", err, nil)
	wantErr(t, "View", a.View(t.Context(), func(k kv.KV) error {
		tables, err := k.Tables()
		want(t, "tables", strings.Join(tables, " "), "t")
		return err
	}), nil)
}

// TestSlowDatabase holds a lock that an Update waits for.
func TestSlowDatabase(t *testing.T) {
	address := postgrestest.NewURL(t)
	limited := open(t, address+"&statement_timeout=100ms")
	wantErr(t, "Update", add(t.Context(), limited, "1"), nil)
	other := connect(t, address)
	exec(t, other, `BEGIN`)
	exec(t, other, `UPDATE entries SET value = 'x' WHERE tbl = 't' AND key = 'key'`)
	err := add(t.Context(), limited, "2")
	wantErr(t, "statement timeout", err, kv.ErrUnavailable)
	if err == nil || !strings.Contains(err.Error(), "statement_timeout") {
		t.Errorf("the error does not say why: %v", err)
	}
	db := open(t, address)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	wantErr(t, "context that ends during the commit", add(ctx, db, "3"), context.DeadlineExceeded)
	exec(t, other, `ROLLBACK`)
	want(t, "value", get(t, db), "1")
	wantErr(t, "Update", add(t.Context(), limited, "4"), nil)
	want(t, "value", get(t, db), "14")
}

// proxy forwards between the driver and the server, and breaks the connection that sends a commit.
type proxy struct {
	folder string
	mode   atomic.Value
	late   chan struct{} // closed to forward a late commit
	answer chan string   // the server's response to the commit
}

const (
	pass        = ""
	loseCommit  = "lose the commit"
	loseAnswer  = "lose the answer"
	delayCommit = "delay the commit"
)

func newProxy(t *testing.T, address string) (*proxy, string) {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	const name = ".s.PGSQL.5432"
	server := filepath.Join(q.Get("host"), name)
	p := &proxy{folder: t.TempDir(), late: make(chan struct{}), answer: make(chan string, 1)}
	p.mode.Store(pass)
	listener, err := net.Listen("unix", filepath.Join(p.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			backend, err := net.Dial("unix", server)
			if err != nil {
				t.Error(err)
				return
			}
			go p.serve(client, backend)
		}
	}()
	q.Set("host", p.folder)
	u.RawQuery = q.Encode()
	return p, u.String()
}

// serve copies in both directions. The message sent after the commit that ends with a Sync arrives in a single read,
// because it is small.
func (p *proxy) serve(client, backend net.Conn) {
	answers := make(chan struct{})
	var lost atomic.Bool
	go func() {
		defer close(answers)
		b := make([]byte, 64<<10)
		for {
			n, err := backend.Read(b)
			if lost.Load() && n > 0 {
				p.answer <- string(b[:n])
				return
			}
			if _, werr := client.Write(b[:n]); err != nil || werr != nil {
				_ = client.Close()
				return
			}
		}
	}()
	defer backend.Close()
	defer client.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := client.Read(b)
		if err != nil {
			return
		}
		if mode := p.mode.Load(); mode != pass && p.isCommit(b[:n]) {
			p.mode.Store(pass)
			lost.Store(true)
			switch mode {
			case loseCommit:
				return
			case loseAnswer:
				_, _ = backend.Write(b[:n])
				<-answers
				return
			case delayCommit:
				_ = client.Close()
				<-p.late
				_, _ = backend.Write(b[:n])
				<-answers
				return
			}
		}
		if _, err := backend.Write(b[:n]); err != nil {
			return
		}
	}
}

// isCommit reports whether a message contains the values of the mark and is not the one that prepares statements.
func (p *proxy) isCommit(b []byte) bool {
	return bytes.Contains(b, []byte("E\x00\x00\x00\x09")) && bytes.Contains(b, []byte("value of"))
}

// TestLostCommit breaks the connection during a commit. The driver must find out whether the transaction was
// committed.
func TestLostCommit(t *testing.T) {
	p, address := newProxy(t, postgrestest.NewURL(t))
	db := open(t, address)
	runs := 0
	update := func(k kv.KV) error {
		runs++
		return k.Put("t", key, fmt.Append(nil, "value of ", runs))
	}
	wantErr(t, "first", db.Update(t.Context(), update), nil) // prepares the statements
	want(t, "first", get(t, db), "value of 1")

	p.mode.Store(loseAnswer)
	wantErr(t, "lost answer", db.Update(t.Context(), update), nil)
	want(t, "lost answer", get(t, db), "value of 2")
	<-p.answer

	wantErr(t, "prepare", db.Update(t.Context(), update), nil) // on the new connection
	p.mode.Store(loseCommit)
	wantErr(t, "lost commit", db.Update(t.Context(), update), nil)
	want(t, "lost commit, so it ran again", get(t, db), "value of 5")

	// If the commit arrives after two others were made, it must fail, because it would undo them.
	wantErr(t, "prepare", db.Update(t.Context(), update), nil)
	p.mode.Store(delayCommit)
	wantErr(t, "delayed commit", db.Update(t.Context(), update), nil)
	want(t, "delayed commit, so it ran again", get(t, db), "value of 8")
	wantErr(t, "next", db.Update(t.Context(), update), nil)
	close(p.late)
	if answer := <-p.answer; !strings.Contains(answer, "23502") {
		t.Errorf("the database answered the delayed commit with %q", answer)
	}
	want(t, "after the delayed commit", get(t, db), "value of 9")
	want(t, "mode", p.mode.Load(), any(pass))
}

// TestOpen opens a database from several processes at once, with minimal privileges, and with mistakes.
func TestOpen(t *testing.T) {
	address := postgrestest.NewURL(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			db, err := Open(t.Context(), Options{URL: address})
			if err == nil {
				err = errors.Join(add(t.Context(), db, "|"), db.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	db := open(t, address)
	want(t, "updates", get(t, db), "||||||")
	marks := 0
	admin := connect(t, address)
	if err := admin.QueryRow(t.Context(), `SELECT count(*) FROM entries WHERE tbl = '' AND key >= 'w'`).Scan(&marks); err != nil {
		t.Fatal(err)
	}
	want(t, "marks, of which Close deletes its own", marks, 1)

	u, _ := url.Parse(address)
	schema := u.Query().Get("schema")
	role := "few_" + schema
	exec(t, admin, `CREATE ROLE `+role+` LOGIN`)
	few := strings.Replace(address, "administrator@", role+"@", 1)
	refused := func(what, address string, expected error, says string) {
		t.Helper()
		_, err := Open(t.Context(), Options{URL: address})
		if expected != nil {
			wantErr(t, what, err, expected)
		}
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: got error %v, want one that says %q", what, err, says)
		}
	}
	refused("without privileges", few, kv.ErrReadOnly, "create both")
	exec(t, admin, `GRANT USAGE ON SCHEMA `+schema+` TO `+role)
	refused("without privileges on the table", few, kv.ErrReadOnly, "SELECT, INSERT, UPDATE and DELETE")
	exec(t, admin, `GRANT SELECT, INSERT, UPDATE, DELETE ON entries TO `+role)
	wantErr(t, "with few privileges", add(t.Context(), open(t, few), "few"), nil)

	refused("no URL", "host=sesame", nil, "must be a URL")
	refused("no scheme", "/sesame", nil, "must be a URL")
	refused("bad setting", "postgres://me:sesame@host/db?sslmode=perhaps", nil, "sslmode")
	refused("bad port", "postgres://me:sesame@host:port/db", nil, "must be a URL")
	refused("long schema", address+strings.Repeat("x", 64), nil, "1 to 63 bytes")
	exec(t, admin, `UPDATE entries SET value = '2' WHERE tbl = '' AND key = 'v'`)
	refused("newer format", address, nil, "upgrade to a newer version")
}

func TestErrors(t *testing.T) {
	for code, expected := range map[string]error{
		"53100": kv.ErrDiskFull, "25006": kv.ErrReadOnly, "42501": kv.ErrReadOnly, "XX001": kv.ErrCorrupt, "40001": kv.ErrUnavailable,
		"57P03": kv.ErrUnavailable, "53300": kv.ErrUnavailable, "53200": kv.ErrUnavailable, "08006": kv.ErrUnavailable,
	} {
		wantErr(t, code, toKVError(fmt.Errorf("batch: %w", &pgconn.PgError{Code: code})), expected)
	}
	wantErr(t, "connection", toKVError(io.ErrUnexpectedEOF), kv.ErrUnavailable)
	for err, known := range map[error]bool{
		io.ErrUnexpectedEOF: false,
		&pgconn.PgError{Code: "40001", SeverityUnlocalized: "ERROR"}: true,
		&pgconn.PgError{Code: "57P01", SeverityUnlocalized: "FATAL"}: false,
		&pgconn.PgError{Code: "40003", SeverityUnlocalized: "ERROR"}: false,
	} {
		want(t, err.Error(), isOutcomeKnown(toKVError(err)), known)
	}
}
