package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/store/kv"
	"github.com/scf-service/service/store/storetest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

func open(t testing.TB, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) kv.Driver { return open(t, postgrestest.NewURL(t)) })
}

// TestScansReadFromTheIndex checks that the beginning of a range is read from the index, without reading and sorting the
// rest, even if the database has not analyzed the table since it has grown.
func TestScansReadFromTheIndex(t *testing.T) {
	db := open(t, postgrestest.NewURL(t))
	if err := db.Update(t.Context(), func(k kv.KV) error {
		for n := range 5000 {
			if err := k.Put("table", fmt.Appendf(nil, "%06d", n), []byte("value")); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	from, to := []byte("000000"), []byte("004000")
	for _, q := range []struct {
		statement string
		args      []any
	}{
		{scanUp, []any{[]byte("table"), 51, from, to}},
		{scanDown, []any{[]byte("table"), 51, from, to}},
		{scanUpToEnd, []any{[]byte("table"), 51, from}},
		{scanDownAtEnd, []any{[]byte("table"), 51, from}},
	} {
		rows, err := db.pool.Query(t.Context(), "EXPLAIN "+q.statement, q.args...)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(plan, "\n"); !strings.Contains(text, "Index Scan") || strings.Contains(text, "Sort") {
			t.Errorf("%s\n%s", q.statement, text)
		}
	}
}
