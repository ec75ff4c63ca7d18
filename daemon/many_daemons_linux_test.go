package daemon_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/postgrestest"
)

// serveGroup returns n daemons on one database, whose limits are counted together but never exceeded.
func serveGroup(t *testing.T, n int) (all []*testServer) {
	limits := map[api.RateCategory]int{}
	for category := range unlimited {
		limits[category] = 1 << 30
	}
	for _, e := range enginetest.NewGroup(t, n) {
		all = append(all, serve(t, daemon.Options{RateLimits: limits}, e))
	}
	return all
}

// TestReadsOfTwoDaemons compares the processor time, of the daemons and the database together, of reads through one
// daemon and through two.
func TestReadsOfTwoDaemons(t *testing.T) {
	longtest.SkipUnlessEnabled(t)
	postgrestest.NewURL(t)
	type installation struct {
		daemons []*testServer
		key     testCaller
		ids     map[string]string
		reads   int
		cost    time.Duration
	}
	var all [2]installation
	for n := range all {
		i := &all[n]
		i.daemons = serveGroup(t, n+1)
		i.key, _ = i.daemons[0].createOrganization("Acme", "ada@acme.example")
		i.ids = i.key.populate("Acme")
		for _, w := range i.daemons {
			i.key.at(w).readAll(i.ids) // caches fill
		}
	}
	const rounds, pairs = 3, 3
	for range rounds {
		for n := range all {
			i := &all[n]
			before := cpuTime(t) + postgrestest.ProcessorTime(t)
			for r := range 2 * pairs {
				i.reads += len(i.key.at(i.daemons[r%len(i.daemons)]).readAll(i.ids))
			}
			i.cost += cpuTime(t) + postgrestest.ProcessorTime(t) - before
		}
	}
	one, two := all[0].cost/time.Duration(all[0].reads), all[1].cost/time.Duration(all[1].reads)
	ratio := float64(two) / float64(one)
	t.Logf("processor time of a read, of %d kinds: one daemon %v, two daemons %v, ratio %.2f (at most 1.25)",
		all[0].reads/rounds/2/pairs, one, two, ratio)
	if ratio > 1.25 {
		t.Error("a read through two daemons costs too much")
	}
}

// TestFourDaemons writes and reads through four daemons at once. Each acknowledged change must be visible at every
// daemon from then on, none may be lost or made twice, and all daemons must answer the same in the end.
func TestFourDaemons(t *testing.T) {
	longtest.SkipUnlessEnabled(t)
	postgrestest.NewURL(t)
	daemons := serveGroup(t, 4)
	key, _ := daemons[0].createOrganization("Acme", "ada@acme.example")
	ids := key.populate("Acme")
	shared := key.must("POST", assessments, map[string]string{"name": "0"}).str("id")
	at := func(n int) testCaller { return key.at(daemons[n%len(daemons)]) }

	const workers, rounds = 8, 12
	var mu sync.Mutex
	names := map[string]string{} // of the assessments acknowledged, by ID
	added := 0                   // to the shared assessment's name
	var working sync.WaitGroup
	for worker := range workers {
		working.Go(func() {
			for n := range rounds {
				// The same request to two daemons is executed once.
				name, once := fmt.Sprintf("%d-%d", worker, n), fmt.Sprintf("k-%d-%d", worker, n)
				var replies [2]reply
				var both sync.WaitGroup
				for i := range replies {
					both.Go(func() {
						replies[i] = at(worker+n+i).do("POST", assessments, map[string]string{"name": name}, "Idempotency-Key", once)
					})
				}
				both.Wait()
				if replies[0].status != 201 || replies[0].text != replies[1].text {
					t.Errorf("%s: %d %s, %d %s", name, replies[0].status, replies[0].text, replies[1].status, replies[1].text)
					return
				}
				id := replies[0].str("id")
				path := assessments + "/" + id
				if a := at(worker+n+2).do("PATCH", path, map[string]string{"name": name + " renamed"}); a.status != 200 {
					t.Errorf("%s is renamed: %d %s", name, a.status, a.text)
					return
				}
				for i := range daemons {
					if a := at(i).do("GET", path, nil); a.str("name") != name+" renamed" {
						t.Errorf("%s at another daemon after the change: %d %s", name, a.status, a.text)
					}
				}
				mu.Lock()
				names[id] = name + " renamed"
				mu.Unlock()
				// All workers count in one record. A conflict is refused, never lost.
				for counted := false; !counted; {
					now := at(worker+n+3).do("GET", assessments+"/"+shared, nil)
					count, err := strconv.Atoi(now.str("name"))
					if err != nil {
						t.Errorf("the shared assessment: %d %s", now.status, now.text)
						return
					}
					changed := at(worker+n).do("PATCH", assessments+"/"+shared, map[string]string{"name": strconv.Itoa(count + 1)},
						"If-Match", now.header.Get("ETag"))
					switch {
					case changed.status == 200:
						counted = true
						mu.Lock()
						added++
						mu.Unlock()
					case strings.Contains(changed.text, `"field":"If-Match"`): // changed meanwhile
					default:
						t.Errorf("the shared assessment is renamed: %d %s", changed.status, changed.text)
						return
					}
				}
			}
		})
	}
	working.Wait()

	first := map[string]string{}
	for i := range daemons {
		found := map[string]string{}
		for cursor := ""; ; {
			page := at(i).must("GET", assessments+"?limit=50&cursor="+cursor, nil)
			for _, one := range page.body["data"].([]any) {
				a := one.(map[string]any)
				found[a["id"].(string)] = a["name"].(string)
			}
			if cursor = page.str("pagination", "next_cursor"); cursor == "" {
				break
			}
		}
		if count := found[shared]; count != strconv.Itoa(added) {
			t.Errorf("daemon %d: the shared assessment counts %s of %d", i, count, added)
		}
		delete(found, shared)
		delete(found, ids["assessmentId"])
		if !maps.Equal(found, names) {
			t.Errorf("daemon %d has %d assessments of the %d acknowledged", i, len(found), len(names))
		}
		if v := at(i).must("GET", api.VerifyAudit.Path, nil); v.body["ok"] != true {
			t.Errorf("daemon %d: the audit trail: %s", i, v.text)
		}
		all := at(i).readAll(ids)
		if i == 0 {
			first = all
		}
		for _, path := range slices.Sorted(maps.Keys(first)) {
			if all[path] != first[path] && !strings.Contains(path, "/watch") {
				t.Errorf("daemon %d answers %s with %.300s\ndaemon 0 with %.300s", i, path, all[path], first[path])
			}
		}
	}
	t.Logf("%d workers created %d assessments and changed one %d times through %d daemons; %d kinds of reads are the same at all",
		workers, len(names), added, len(daemons), len(first))
}
