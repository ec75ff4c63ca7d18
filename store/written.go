package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/s2"

	"github.com/scf-service/service/store/kv"
)

// Written is a record with the bytes it is stored as. Who has it decodes it no second time
// while it is stored so, and writes another that says the same without encoding it. It is
// shared: nobody may write to it.
type Written[R any] struct {
	Record R
	// Beside is what its writer keeps with it; nothing where it was read.
	Beside []byte

	primary, stored []byte
	body            body
}

// Size is about how many bytes it holds in memory.
func (w *Written[R]) Size() int {
	return len(w.primary) + len(w.stored) + len(w.Beside) + len(w.body.block) + max(w.body.plain, 2*len(w.stored))
}

// body is a record's JSON behind its head, compressed. A block put behind another
// block is one block of both, so that a head before it makes an ordinary record.
type body struct {
	block []byte
	plain int
	sum   [sha256.Size]byte // of block
	// exact: who decodes it has what was encoded. Text that is not UTF-8 comes back otherwise.
	exact bool
}

// Headed says how records differ that say the same: by the fields that head gives, a struct
// with the names and order in which those stand first in the record's JSON. alike tells
// whether two records differ in nothing else; nil is not empty to it. Records of which within
// says the same have what they say in common stored once (shared.go); nothing: each has its own.
func Headed[R any](head func(*R) any, alike func(a, b *R) bool, within func(*R) string) Option[R] {
	return func(t *Table[R]) {
		t.alike = alike
		t.shelf.head, t.shelf.within = func(r any) any { return head(r.(*R)) }, func(r any) string { return within(r.(*R)) }
	}
}

// Ready is a record that is to be inserted, with what could be done for it before its transaction.
type Ready[R any] struct {
	Record *R
	// Like is the one whose bytes it takes; nil where it has its own.
	Like *Written[R]
	// Beside goes to what is written.
	Beside []byte
	body   body
}

// Prepare encodes a record but for its head, which may change until it is inserted and nothing
// else of it. Where it says the same as one that was written, it takes the bytes of that.
func Prepare[R any](t *TenantTable[R], r *R, like ...*Written[R]) (Ready[R], error) {
	for _, w := range like {
		if w.body.block != nil && t.all.alike(&w.Record, r) {
			return Ready[R]{Record: r, Like: w, Beside: w.Beside, body: w.body}, nil
		}
	}
	b, err := t.all.shelf.bodyOf(r)
	return Ready[R]{Record: r, body: b}, err
}

// bodyOf is nothing where the record is to be encoded as a whole.
func (s *shelf) bodyOf(r any) (body, error) {
	if s.head == nil || s.codec.mark != markJSON {
		return body{}, nil
	}
	plain, err := s.codec.encode(r)
	if err != nil {
		return body{}, fmt.Errorf("%s: %w", s.def.name, err)
	}
	head, err := s.headOf(r)
	if err != nil || len(plain) > maxRecord || !bytes.HasPrefix(plain, head) || plain[len(head)] != ',' {
		return body{}, err
	}
	rest := plain[len(head):]
	block := bytes.Clone(s2.Encode(nil, rest))
	return body{block: block, plain: len(rest), sum: sha256.Sum256(block), exact: !bytes.Contains(rest, replaced)}, nil
}

// replaced is how encoding/json writes what is not UTF-8.
var replaced = []byte(`\ufffd`)

// headOf is the beginning of a record's JSON, up to its body.
func (s *shelf) headOf(r any) ([]byte, error) {
	b, err := json.Marshal(s.head(r))
	if err != nil || len(b) < 2 {
		return nil, err
	}
	return b[:len(b)-1], nil
}

// marshalWith is a record's bytes with a body that is encoded already: beside it, where it
// stands under a key, else before it.
func (s *shelf) marshalWith(r any, b body, key []byte) ([]byte, error) {
	if b.block == nil {
		return s.codec.marshal(r)
	}
	head, err := s.headOf(r)
	if err != nil {
		return nil, err
	}
	if key != nil && len(head)+b.plain <= maxRecord {
		return shared(s.codec.mark, key, head), nil
	}
	first := s2.Encode(nil, head)
	out := make([]byte, 1, 1+len(first)+len(b.block)+4)
	out[0] = s.codec.mark | markPacked
	if out, err = s2.ConcatBlocks(out, first, b.block); err != nil {
		return nil, err
	}
	if len(head)+b.plain > maxRecord || len(out) >= kv.MaxValue {
		return s.codec.marshal(r) // which says what is wrong
	}
	return out, nil
}

// InsertAll is Insert of each, in their order.
func InsertAll[R any](tx *Tx, t *TenantTable[R], org string, all []Ready[R]) ([]*Written[R], error) {
	s, out := t.all.shelf, make([]*Written[R], len(all))
	for i := range all {
		r := all[i].Record
		if err := t.own(org, r); err != nil {
			return nil, err
		}
		w := &Written[R]{Record: *r, Beside: all[i].Beside, body: all[i].body}
		w.primary = s.key(r).b
		err := s.writeAs(tx, r, s.mustBeNew, func() (b []byte, err error) {
			var key []byte
			if w.body.block != nil {
				if key, err = s.bodyKey(w.primary, r, w.body); err != nil {
					return nil, err
				}
			}
			if w.stored, err = s.marshalWith(r, w.body, key); err == nil && key != nil && w.stored[0]&markShared != 0 {
				err = tx.putBody(key, w.body)
			}
			return w.stored, err
		})
		if err != nil {
			return nil, err
		}
		out[i] = w
	}
	return out, nil
}

// Recall is Scan of a prefix, all at once. What is stored as it is in known is not decoded
// again; where that is all there is, it is known itself.
func Recall[R any](tx *Tx, b TenantBy[R], org string, known []*Written[R], prefix ...any) ([]*Written[R], error) {
	in := b.in
	within, err := in.withinTenant(org, prefix)
	if err != nil {
		return nil, err
	}
	var byKey map[string]*Written[R]
	find := func(at int, primary []byte) *Written[R] {
		if at < len(known) && bytes.Equal(known[at].primary, primary) {
			return known[at]
		}
		if byKey == nil {
			byKey = make(map[string]*Written[R], len(known))
			for _, w := range known {
				byKey[string(w.primary)] = w
			}
		}
		return byKey[string(primary)]
	}
	out, same := make([]*Written[R], 0, len(known)), true
	for p, err := range in.raws(tx, newScan([]ScanOption{Prefix(within...)})) {
		if err != nil {
			return nil, err
		}
		stored, err := in.raw(tx, Key{b: p.Value})
		if err != nil {
			return nil, err
		}
		w := find(len(out), p.Value)
		if w == nil || stored == nil || !bytes.Equal(w.stored, stored) || w.body.block != nil && !w.body.exact {
			got, err := in.decode(tx, p)
			if err != nil {
				return nil, err
			}
			w = &Written[R]{Record: *got.record.(*R), primary: got.primary, stored: bytes.Clone(stored)}
		}
		same = same && len(out) < len(known) && known[len(out)] == w
		out = append(out, w)
	}
	if same && len(out) == len(known) {
		return known, nil
	}
	return out, nil
}
