package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

// filled sets every field of a record to a value, including nested fields.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0))
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		filled(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(day))
			return
		}
		for i := range v.NumField() {
			filled(v.Field(i))
		}
	default:
		panic("no value for " + v.Type().String())
	}
}

// changesOf calls each for every way in which a filled record can differ in one place.
func changesOf(v reflect.Value, path string, each func(path string, change func())) {
	set := func(how string, to any) {
		each(path+" "+how, func() { v.Set(reflect.ValueOf(to).Convert(v.Type())) })
	}
	zero := func() { each(path+" zero", func() { v.SetZero() }) }
	switch v.Kind() {
	case reflect.String:
		set("another", "other")
	case reflect.Bool, reflect.Int:
		zero()
	case reflect.Float64:
		set("another", 0.25)
	case reflect.Pointer:
		zero()
		changesOf(v.Elem(), path+"*", each)
	case reflect.Slice:
		zero()
		each(path+" empty", func() { v.Set(v.Slice(0, 0)) })
		each(path+" twice", func() { v.Set(reflect.AppendSlice(v, v)) })
		changesOf(v.Index(0), path+"[0]", each)
	case reflect.Map:
		zero()
		each(path+" empty", func() { v.Set(reflect.MakeMap(v.Type())) })
		each(path+" key", func() { v.SetMapIndex(reflect.ValueOf("two"), v.MapIndex(reflect.ValueOf("key"))) })
		each(path+" value", func() { v.SetMapIndex(reflect.ValueOf("key"), reflect.Zero(v.Type().Elem())) })
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			set("another", day.Add(time.Hour))
			return
		}
		for i := range v.NumField() {
			changesOf(v.Field(i), path+"."+v.Type().Field(i).Name, each)
		}
	}
}

func alikeIsSound[R any](t *testing.T, table *TenantTable[R], head []string) {
	t.Helper()
	fresh := func() *R {
		r := new(R)
		filled(reflect.ValueOf(r).Elem())
		return r
	}
	var paths []string
	changesOf(reflect.ValueOf(fresh()).Elem(), table.Name(), func(path string, _ func()) { paths = append(paths, path) })
	was, err := PrepareInsert(table, fresh())
	is(t, "Ready", err, nil)
	if was.body == nil {
		t.Fatalf("%s: a record has no body: the head is not its beginning", table.Name())
	}
	w := &EncodedRecord[R]{Record: *fresh(), entry: entryRef{pack: "12345678", bodyAt: 1}}
	for n, path := range paths {
		r := fresh()
		var changes []func()
		changesOf(reflect.ValueOf(r).Elem(), "", func(_ string, change func()) { changes = append(changes, change) })
		changes[n]()
		field := strings.Fields(path)[0]
		inHead := slices.ContainsFunc(head, func(h string) bool { return strings.HasPrefix(field, table.Name()+"."+h) })
		if table.table.equal(&w.Record, r) != inHead {
			t.Errorf("%s: alike is %v", path, !inHead)
		}
		ready, err := PrepareInsert(table, r, w)
		is(t, "Ready", err, nil)
		if (ready.SameAs != nil) != inHead {
			t.Errorf("%s: took the bytes of another: %v", path, ready.SameAs != nil)
		}
		if ready.SameAs != nil {
			ready.body = was.body
		}
		plain, err := table.table.untyped.encodeWhole(&insertion{record: r, body: ready.body})
		is(t, "encodeWhole", err, nil)
		if want, _ := json.Marshal(r); !bytes.Equal(plain, want) {
			t.Errorf("%s: stored\n%s\nnot\n%s", path, plain, want)
		}
	}
}

// TestEqualBodiesComparesEveryField checks that two items are considered equal only if they differ in nothing but the
// header, because the stored bytes of one may then be reused for the other.
func TestEqualBodiesComparesEveryField(t *testing.T) {
	line := []string{"Item.TenantRecord", "Item.AssessmentID", "Item.VersionID", "Item.Revision"}
	alikeIsSound(t, SoAItems, line)
	alikeIsSound(t, Findings, line)
	alikeIsSound(t, MaturityScores, line)
	alikeIsSound(t, POAMItems, append(line, "FindingID"))
}

func openTables(t *testing.T) *DB {
	t.Helper()
	o := options(t.TempDir())
	o.Schema = ServiceSchema
	return open(t, o)
}

func line(org, version, id, text string) api.Finding {
	f := api.Finding{Condition: strings.Repeat(text+" ", 300), Evidence: []api.Evidence{}}
	f.ID, f.OrganizationID, f.AssessmentID, f.VersionID, f.ControlCode, f.CreatedAt = id, org, "a1", version, "C-"+id[:1], day
	return f
}

// TestRecallIsScan checks that ScanEncoded returns the same records as a scan after any change, and that it decodes
// no record again unnecessarily.
func TestRecallIsScan(t *testing.T) {
	db := openTables(t)
	rng := rand.New(rand.NewPCG(1, 2))
	known := map[string][]*EncodedRecord[api.Finding]{}
	next := 0
	for step := range 400 {
		org, version := []string{"one", "two"}[rng.IntN(2)], []string{"v1", "v2"}[rng.IntN(2)]
		name := org + version
		changed := map[string]bool{}
		update(t, db, func(tx *Tx) error {
			all := collect(t, Findings.By("version").Scan(tx, org, Prefix(version)), func(f api.Finding) string { return f.ID })
			switch what := rng.IntN(5); {
			case what == 0 && len(all) > 0:
				return Findings.Delete(tx, org, all[rng.IntN(len(all))])
			case what == 1 && len(all) > 0:
				f := line(org, version, all[rng.IntN(len(all))], fmt.Sprint("changed", step))
				changed[f.ID] = true
				return Findings.Put(tx, org, &f)
			case what == 2:
				next++
				f := line(org, version, fmt.Sprintf("%c%d", 'a'+rng.IntN(3), next), "single")
				changed[f.ID] = true
				return Findings.Insert(tx, org, &f)
			case what == 3:
				var ready []PreparedRecord[api.Finding]
				for range 1 + rng.IntN(4) {
					next++
					f := line(
						org,
						version,
						fmt.Sprintf("%c%d", 'a'+rng.IntN(3), next),
						[]string{"many", "same", "not \xff text"}[rng.IntN(3)],
					)
					old := known["onev1"]
					r, err := PrepareInsert(Findings, &f, old[:rng.IntN(len(old)+1)]...)
					is(t, "Ready", err, nil)
					ready = append(ready, r)
				}
				written, err := InsertPrepared(tx, Findings, org, ready)
				known[name] = append(slices.Clone(known[name]), written...)
				rng.Shuffle(len(known[name]), func(i, j int) { known[name][i], known[name][j] = known[name][j], known[name][i] })
				return err
			}
			return nil
		})
		view(t, db, func(tx *Tx) error {
			before := map[*EncodedRecord[api.Finding]]bool{}
			for _, w := range known[name] {
				before[w] = true
			}
			got, err := ScanEncoded(tx, Findings.By("version"), org, known[name], version)
			is(t, "Recall", err, nil)
			i := 0
			for want, err := range Findings.By("version").Scan(tx, org, Prefix(version)) {
				is(t, "Scan", err, nil)
				if i >= len(got) || !reflect.DeepEqual(got[i].Record, want) {
					t.Fatalf("step %d: line %d is another", step, i)
				}
				odd := strings.Contains(want.Condition, "\ufffd")
				if before[got[i]] == changed[want.ID] && !odd && len(before) > 0 {
					t.Fatalf("step %d: %s was decoded again: %v", step, want.ID, !before[got[i]])
				}
				i++
			}
			if i != len(got) {
				t.Fatalf("step %d: %d lines, not %d", step, len(got), i)
			}
			again, err := ScanEncoded(tx, Findings.By("version"), org, got, version)
			is(t, "Recall again", err, nil)
			if len(again) != len(got) || len(got) > 0 && &again[0] != &got[0] {
				t.Fatalf("step %d: what did not change was put together again", step)
			}
			known[name] = got
			return nil
		})
	}
	if next < 100 {
		t.Errorf("only %d lines were written", next)
	}
	view(t, db, func(tx *Tx) error {
		_, err := ScanEncoded(tx, Findings.By("version"), "", nil, "v1")
		is(t, "nobody's", err, ErrNoTenant)
		_, err = ScanEncoded(tx, Findings.By("none"), "one", nil, "v1")
		is(t, "no index", err, ErrUnknownTable)
		theirs, err := ScanEncoded(tx, Findings.By("version"), "three", known["onev1"], "v1")
		if is(t, "another's", err, nil); len(theirs) != 0 {
			t.Errorf("%d lines of another organization", len(theirs))
		}
		return nil
	})
}

// TestInsertAll checks that records inserted with existing bytes are read, indexed and rejected like any other.
func TestInsertAll(t *testing.T) {
	db := openTables(t)
	ctx := context.Background()
	var first []*EncodedRecord[api.Finding]
	put := func(org string, f api.Finding, like ...*EncodedRecord[api.Finding]) error {
		ready, err := PrepareInsert(Findings, &f, like...)
		is(t, "Ready", err, nil)
		ready.Extra = []byte(f.ID)
		return db.Update(ctx, func(tx *Tx) error {
			w, err := InsertPrepared(tx, Findings, org, []PreparedRecord[api.Finding]{ready})
			first = append(first, w...)
			return err
		})
	}
	is(t, "the first", put("one", line("one", "v1", "a1", "words")), nil)
	is(t, "one alike", put("one", line("one", "v2", "b2", "words"), first[0]), nil)
	is(t, "one that is taken", put("one", line("one", "v2", "b2", "words"), first[0]), ErrExists)
	is(t, "another's", put("two", line("one", "v2", "b3", "words"), first[0]), ErrWrongTenant)
	is(t, "nobody's", put("", line("one", "v2", "b3", "words"), first[0]), ErrNoTenant)
	big := line("one", "v3", "c1", "")
	big.Condition = strings.Repeat("x", maxRecordSize)
	is(t, "one too large", put("one", big, first[0]), ErrTooLarge)
	view(t, db, func(tx *Tx) error {
		f, err := Findings.Get(tx, "one", "b2")
		if is(t, "Get", err, nil); !reflect.DeepEqual(f, line("one", "v2", "b2", "words")) {
			t.Errorf("read %+v", f)
		}
		return nil
	})
	if len(first) != 2 || string(first[1].Extra) != "b2" || first[1].MemorySize() < 300 {
		t.Errorf("%d were written", len(first))
	}
}
