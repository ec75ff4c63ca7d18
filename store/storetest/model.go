package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scf-service/service/store/kv"
)

// model is the simplest possible driver: a map for each table.
type model map[string]map[string]string

func (m model) clone() model {
	c := model{}
	for name, t := range m {
		c[name] = maps.Clone(t)
	}
	return c
}

func (m model) listEntries(table string, r kv.Range) []string {
	got := []string{}
	for _, k := range slices.Sorted(maps.Keys(m[table])) {
		if k >= string(r.Start) && (r.End == nil || k < string(r.End)) {
			got = append(got, k+"="+m[table][k])
		}
	}
	if r.Reverse {
		slices.Reverse(got)
	}
	return got
}

// testAgainstModel applies the same random operations to the driver and to the model and compares them.
func testAgainstModel(t *testing.T, d kv.Driver) {
	r := rand.New(rand.NewPCG(7, 8))
	tables := []string{"a", "b", "c"}
	table := func() string { return tables[r.IntN(len(tables))] }
	key := func() []byte {
		k := make([]byte, 1+r.IntN(3))
		for i := range k {
			k[i] = "\x00abz\xff"[r.IntN(5)]
		}
		return k
	}
	bound := func() []byte {
		if r.IntN(3) == 0 {
			return nil
		}
		return key()
	}
	undo := errors.New("undo")
	committed := model{}
	for round := range 150 {
		m := committed.clone()
		rollback := r.IntN(4) == 0
		err := d.Update(t.Context(), func(k kv.KV) error {
			remote, _ := k.(kv.Remote) // what is announced must make no difference
			for range r.IntN(60) {
				name := table()
				if remote != nil {
					switch n := r.IntN(10); {
					case n == 0:
						if err := remote.Prefetch(kv.Ref{Table: table(), Key: key()}, kv.Ref{Table: table(), Key: key()}); err != nil {
							return err
						}
					case n == 1:
						remote.Expect(kv.Ref{Table: table(), Key: key()}, kv.Ref{Table: table(), Key: key()})
					case n == 2:
						remote.ReadAhead(table())
					case n == 3:
						if key := key(); committed[name][string(key)] == "" {
							remote.AssumeMissing(name, key)
						}
					}
				}
				switch n := r.IntN(20); {
				case n < 9:
					key, value := key(), bytes.Repeat([]byte{byte('0' + r.IntN(10))}, r.IntN(300))
					if err := k.Put(name, key, value); err != nil {
						return err
					}
					if m[name] == nil {
						m[name] = map[string]string{}
					}
					m[name][string(key)] = string(value)
				case n < 14:
					key := key()
					if err := k.Delete(name, key); err != nil {
						return err
					}
					delete(m[name], string(key))
				case n == 14 && r.IntN(5) == 0:
					if err := k.Drop(name); err != nil {
						return err
					}
					delete(m, name)
				case n == 15: // delete a range during a scan
					rg := kv.Range{Start: bound(), End: bound(), Reverse: r.IntN(2) == 0}
					expected, got := m.listEntries(name, rg), []string{}
					for p, err := range k.Scan(name, rg) {
						if err != nil {
							return err
						}
						got = append(got, string(p.Key)+"="+string(p.Value))
						key := bytes.Clone(p.Key)
						if err := k.Delete(name, key); err != nil {
							return err
						}
						delete(m[name], string(key))
					}
					want(t, fmt.Sprintf("round %d: scan with deletions", round), got, expected)
				case n < 18:
					key := key()
					expected, found := m[name][string(key)]
					if !found {
						expected = "<none>"
					}
					want(t, fmt.Sprintf("round %d: %s %q", round, name, key), get(t, k, name, string(key)), expected)
				default:
					rg := kv.Range{Start: bound(), End: bound(), Reverse: r.IntN(2) == 0}
					got := listEntries(t, k, name, rg)
					want(t, fmt.Sprintf("round %d: scan", round), got, m.listEntries(name, rg))
					if remote != nil {
						got = []string{}
						prefetch := func(all []kv.Pair) error { return remote.Prefetch(kv.Ref{Table: table(), Key: all[0].Key}) }
						for p, err := range remote.ScanAhead(name, rg, r.IntN(4), prefetch) {
							if err != nil {
								return err
							}
							got = append(got, string(p.Key)+"="+string(p.Value))
						}
						want(t, fmt.Sprintf("round %d: scan ahead", round), got, m.listEntries(name, rg))
					}
				}
			}
			if rollback {
				return undo
			}
			return nil
		})
		if rollback {
			wantErr(t, "rollback", err, undo)
		} else if err != nil {
			t.Fatal(err)
		} else {
			committed = m
		}
		view(t, d, func(k kv.KV) {
			for _, name := range tables {
				want(t, fmt.Sprintf("round %d: all of %s", round, name), listEntries(t, k, name, kv.Range{}), committed.listEntries(name, kv.Range{}))
			}
		})
	}
}
