package postgres

import (
	"testing"

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
