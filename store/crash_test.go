package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/internal/testutil/s3test"
)

// The test binary is also the process to be killed: if this variable is set, it runs the named child in the folder
// given as its first argument.
const childVariable = "STORE_TEST_CHILD"

var children = map[string]func(dir string) error{
	"write":   childWrites,
	"migrate": childMigrates,
	"backup":  childBacksUp,
	"restore": childRestores,
}

func TestMain(m *testing.M) {
	s3test.ServeIfStarted()
	child, found := children[os.Getenv(childVariable)]
	if !found {
		postgrestest.Main(m)
	}
	if err := child(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func startChild(t *testing.T, name, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], dir)
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	is(t, "StdoutPipe", err, nil)
	is(t, "Start", cmd.Start(), nil)
	return cmd, bufio.NewScanner(out)
}

func childOptions(dir string) Options {
	o := options(dir)
	o.NewID = counter(fmt.Sprint("process-", os.Getpid()))
	return o
}

// childWrites prints a number each time all writes of a round have been acknowledged: a record with indexes, an
// event, a blob.
func childWrites(dir string) error {
	ctx := context.Background()
	db, err := Open(ctx, childOptions(dir))
	if err != nil {
		return err
	}
	for {
		blob, err := db.Blobs().Put(ctx, strings.NewReader(fmt.Sprint("blob of ", db.newID())), 1000)
		if err != nil {
			return err
		}
		var n int64
		err = db.Update(ctx, func(tx *Tx) error {
			e, err := Outbox.Append(tx, Event{Topic: "written"})
			if err != nil {
				return err
			}
			n = e.Sequence
			d := document{
				OrganizationID: "one",
				ID:             fmt.Sprint(n),
				Name:           strings.Repeat("n", int(n%200)),
				Hash:           blob.SHA256,
				Created:        tx.Now(),
			}
			return documents.Insert(tx, "one", &d)
		})
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// TestKill checks that everything acknowledged before a kill is complete afterwards.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	written := 0
	for round := range 6 {
		cmd, out := startChild(t, "write", dir)
		for range 15 + 7*round {
			if !out.Scan() {
				t.Fatal("the child ended by itself")
			}
			written++
		}
		is(t, "Kill", cmd.Process.Kill(), nil)
		for out.Scan() { // acknowledged before the kill took effect
			written++
		}
		_ = cmd.Wait() // returns an error, because the process was killed

		db := open(t, options(dir))
		view(t, db, func(tx *Tx) error {
			n, err := documents.Count(tx, "one")
			is(t, "Count", err, nil)
			// One transaction may have been committed but not acknowledged.
			if n != written && n != written+1 {
				t.Fatalf("round %d: %d documents, %d were acknowledged", round, n, written)
			}
			events, err := Outbox.Next(tx, "test", n+10)
			is(t, "Next", err, nil)
			if len(events) != n || events[n-1].Sequence != int64(n) {
				t.Fatalf("round %d: %d events for %d documents", round, len(events), n)
			}
			for i := range n {
				d, err := documents.Get(tx, "one", fmt.Sprint(i+1))
				is(t, "Get", err, nil)
				is(t, "Verify", db.Blobs().Verify(t.Context(), d.Hash), nil)
			}
			checkIndexes(t, tx, documents.AcrossTenants())
			written = n
			return nil
		})
		same(t, "tmp", files(t, db, dirTemp))
		is(t, "Close", db.Close(), nil)
	}
}

// childMigrates kills its own process in the second of two migrations.
func childMigrates(dir string) error {
	o := childOptions(dir)
	o.Schema = newSchema(newPeople(), func(*Tx) error {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			return err
		}
		select {} // the kill may take a moment
	})
	_, err := Open(context.Background(), o)
	return errors.Join(errors.New("it lived"), err)
}

// TestKillInMigration checks that a crash during a migration leaves the previous version, and that the next start
// continues.
func TestKillInMigration(t *testing.T) {
	o := oldDatabase(t)
	cmd, out := startChild(t, "migrate", o.Dir)
	for out.Scan() {
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the child was not killed: %v", err)
	}
	_, err = Open(t.Context(), o)
	var newer *NewerSchemaError
	if !errors.As(err, &newer) || newer.Database != 1 {
		t.Fatalf("after the crash: %v", err)
	}
	o.Schema = newSchema(newPeople(), nothing)
	people := o.Schema.Tables[0].(*Table[person])
	db := open(t, o)
	view(t, db, func(tx *Tx) error {
		same(t, "people", collect(t, people.Scan(tx), func(p person) string { return p.First + "|" + p.Last }), "Ada|Lovelace", "Plato|")
		checkIndexes(t, tx, people)
		return nil
	})
	backups, err := filepath.Glob(filepath.Join(o.Dir, dirBackups, "*"))
	if is(t, "Glob", err, nil); len(backups) != 2 {
		t.Errorf("backups: %v", backups)
	}
}
