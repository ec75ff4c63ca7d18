package search

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"math"
	"slices"
)

// packedWords are the postings of a pack, its passages numbered from the slot first on:
//
//	number | number × (hash, end of its list), by hash | number × (stem, holders × (passage, times))
type packedWords struct {
	first   int
	lengths []uint16 // of the passages
	table   []byte
	lists   []byte
	starts  [starts + 1]uint32 // of the rows whose hashes begin with a byte
}

const (
	tableRow = 8
	starts   = 256
)

func hashOf(stem string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(stem))
	return h.Sum32() * 2654435769 // spreads short words over the upper bits
}

// pack appends the postings as packedWords reads them.
func (p *postings) pack(b []byte) []byte {
	stems := slices.Collect(maps.Keys(p.holdings))
	slices.SortFunc(stems, func(a, b string) int { return cmp.Or(cmp.Compare(hashOf(a), hashOf(b)), cmp.Compare(a, b)) })
	b = binary.AppendUvarint(b, uint64(len(stems)))
	var lists []byte
	for _, s := range stems {
		held := p.holdings[s].list
		lists = binary.AppendUvarint(appendBytes(lists, s), uint64(len(held)))
		last := int32(0)
		for _, e := range held {
			lists = binary.AppendUvarint(lists, uint64(e.slot-last))
			lists = binary.AppendUvarint(lists, uint64(e.times))
			last = e.slot
		}
		b = binary.LittleEndian.AppendUint32(b, hashOf(s))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(lists)))
	}
	return append(b, lists...)
}

// load takes in the words of a pack; they are looked up when asked for.
func (p *postings) load(data []byte, first int, slots []slot) error {
	u := unpacker{b: data}
	table := u.take(tableRow * u.number(len(data)/tableRow))
	if u.broken {
		return ErrPack
	}
	data = bytes.Clone(data[len(data)-len(table)-len(u.b):])
	w := packedWords{first: first, lengths: make([]uint16, len(slots)), table: data[:len(table)], lists: data[len(table):]}
	for i := range slots {
		p.units += float64(slots[i].length)
		w.lengths[i] = uint16(min(slots[i].length, math.MaxUint16))
	}
	p.count += len(slots)
	w.number()
	p.packed = append(p.packed, w)
	return nil
}

// number finds where the rows of each first byte start.
func (w *packedWords) number() {
	next, rows := 0, len(w.table)/tableRow
	for at := range rows {
		for first := int(w.hash(at) >> 24); next <= first; next++ {
			w.starts[next] = uint32(at)
		}
	}
	for ; next <= starts; next++ {
		w.starts[next] = uint32(rows)
	}
}

// find appends the postings of a term.
func (w *packedWords) find(hash uint32, stem string, to []posting) []posting {
	at, n := int(w.starts[hash>>24]), int(w.starts[hash>>24+1])
	for at < n && w.hash(at) < hash {
		at++
	}
	for ; at < n && w.hash(at) == hash; at++ {
		u := w.list(at)
		if string(u.bytes()) == stem {
			return w.decode(&u, to)
		}
	}
	return to
}

func (w *packedWords) hash(at int) uint32 { return binary.LittleEndian.Uint32(w.table[at*tableRow:]) }

func (w *packedWords) list(at int) unpacker {
	from, to := uint32(0), binary.LittleEndian.Uint32(w.table[at*tableRow+4:])
	if at > 0 {
		from = binary.LittleEndian.Uint32(w.table[at*tableRow-4:])
	}
	if from > to || int64(to) > int64(len(w.lists)) {
		return unpacker{broken: true}
	}
	return unpacker{b: w.lists[from:to]}
}

// decode appends what stands behind the stem; what is damaged is left out.
func (w *packedWords) decode(u *unpacker, to []posting) []posting {
	at := 0
	for range u.number(len(w.lengths)) {
		at += u.number(len(w.lengths))
		times := u.number(math.MaxUint16)
		if u.broken || at >= len(w.lengths) {
			break
		}
		to = append(to, posting{int32(w.first + at), uint16(times), w.lengths[at]})
	}
	return to
}

// unpack takes all packed words out, before something is added or removed.
func (p *postings) unpack() {
	if len(p.packed) == 0 {
		return
	}
	p.holdings = make(map[string]*holding, len(p.holdings))
	for i := range p.packed {
		w := &p.packed[i]
		for at := range len(w.table) / tableRow {
			u := w.list(at)
			stem := u.bytes()
			h := p.holdings[string(stem)]
			if h == nil {
				h = &holding{}
				p.holdings[string(stem)] = h
			}
			h.list = w.decode(&u, h.list)
			h.living = len(h.list)
		}
	}
	p.packed = nil
}
