package assessment

import (
	"context"
	"slices"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// keeps are versions of an assessment's deliverables as they were read or written last, so
// that the next draft decodes and encodes what changed alone. They are held against what is
// stored each time: nothing that changed meanwhile is taken from here.
type keeps struct {
	mu   sync.Mutex
	all  []keptVersion // the one used last at the end
	size int
}

type keptVersion struct {
	gate  api.Gate
	id    string
	lines any // []*store.Written of the gate's lines
	size  int
}

const (
	// maxKept bounds the versions of one assessment that are kept, in bytes: those of 1,468
	// controls over 200 documents are some 70 MB, of which 55 are not held elsewhere.
	maxKept = 96 << 20
	// maxKeptOfGate: the newest, and the approved one that the next deliverable builds on.
	maxKeptOfGate = 2
)

func (k *keeps) put(v keptVersion) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(func(at int) bool { return k.all[at].id == v.id })
	of := 0
	for _, one := range k.all {
		if one.gate == v.gate {
			of++
		}
	}
	if of >= maxKeptOfGate {
		k.drop(func(at int) bool { return k.all[at].gate == v.gate })
	}
	k.all, k.size = append(k.all, v), k.size+v.size
	for k.size > maxKept {
		k.drop(func(int) bool { return true })
	}
}

// drop forgets the first for which it is so.
func (k *keeps) drop(is func(at int) bool) {
	for at, one := range k.all {
		if is(at) {
			k.all, k.size = slices.Delete(k.all, at, at+1), k.size-one.size
			return
		}
	}
}

func (k *keeps) forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(func(at int) bool { return k.all[at].id == id })
}

// last is the one of a gate that was used last and, with an id, is that version.
func (k *keeps) last(gate api.Gate, id string) any {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range slices.Backward(k.all) {
		if one.gate == gate && (id == "" || one.id == id) {
			return one.lines
		}
	}
	return nil
}

// keep keeps a version's lines, in their order.
func (k kind[V, I]) keep(in *keeps, version string, lines []*store.Written[I]) {
	size := 0
	for _, l := range lines {
		size += l.Size()
	}
	in.put(keptVersion{k.gate, version, lines, size})
}

// kept are the lines of a version as they are remembered, in their order; with "" those of
// the version used last. None where nothing is.
func (k kind[V, I]) kept(in *keeps, version string) []*store.Written[I] {
	lines, _ := in.last(k.gate, version).([]*store.Written[I])
	return lines
}

// recall lists a version's items by control code, as itemsOf does, and decodes what was not
// remembered. The items are shared: nobody may write to what they point to.
func (k kind[V, I]) recall(tx *store.Tx, s *Service, a *api.Assessment, version string) ([]I, error) {
	in := &s.memories.get(a.ID).keeps
	lines, err := store.Recall(tx, k.items.By("version"), a.OrganizationID, k.kept(in, version), version)
	if err != nil {
		return nil, err
	}
	k.keep(in, version, lines)
	items := make([]I, len(lines))
	for n, l := range lines {
		items[n] = l.Record
	}
	return items, nil
}

// ready encodes items ahead of their transaction, on all cores. Where one says what an item
// of the same control said before, it takes the bytes of that.
func (k kind[V, I]) ready(ctx context.Context, items []I, before []*store.Written[I]) ([]store.Ready[I], error) {
	of := make(map[string][]*store.Written[I], len(before))
	for _, w := range before {
		code := k.item(&w.Record).ControlCode
		of[code] = append(of[code], w)
	}
	out := make([]store.Ready[I], len(items))
	err := each(ctx, len(items), func(_ context.Context, n int) (err error) {
		if out[n], err = store.Prepare(k.items, &items[n], of[k.item(&items[n]).ControlCode]...); err == nil && out[n].Like == nil {
			out[n].Beside, err = k.line(items[n])
		}
		return err
	})
	return out, err
}
