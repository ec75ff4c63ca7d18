package postgres

import (
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/postgrestest"
)

// TestClocksApart checks that processes agree on the time although their machines' clocks differ, also after one of them was set.
func TestClocksApart(t *testing.T) {
	address := postgrestest.NewURL(t)
	ahead := 5 * time.Minute
	clock := func() time.Time { return time.Now().Add(ahead) }
	wrong, err := Open(t.Context(), Options{URL: address, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer wrong.Close()
	right := open(t, address)
	if apart := wrong.Now().Sub(right.Now()).Abs(); apart > time.Minute {
		t.Errorf("the processes' times are %v apart", apart)
	}
	ahead = -time.Hour
	wantErr(t, "compareClocks", wrong.compareClocks(t.Context()), nil)
	if apart := wrong.Now().Sub(right.Now()).Abs(); apart > time.Minute {
		t.Errorf("the processes' times are %v apart after a clock was set", apart)
	}
}
