package search

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/scf-service/service/internal/bytereader"
)

// packedPostings holds the postings of a pack, whose passages are numbered from slot first:
//
//	count | count × (hash, end of its list), by hash | count × (stem, holders × (passage, occurrences))
type packedPostings struct {
	first        int
	lengths      []uint16 // of the passages
	table        []byte
	lists        []byte
	bucketStarts [hashBuckets + 1]uint32 // the first row for each leading byte of the hash
}

const (
	tableRowBytes = 8
	hashBuckets   = 256
)

func hashStem(stem string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(stem))
	return h.Sum32() * 2654435769 // spreads the hashes of short words over the upper bits
}

// appendPacked appends the postings to b in the format described at packedPostings.
func (p *postings) appendPacked(b []byte) []byte {
	stems := slices.Collect(maps.Keys(p.terms))
	slices.SortFunc(stems, func(a, b string) int { return cmp.Or(cmp.Compare(hashStem(a), hashStem(b)), cmp.Compare(a, b)) })
	b = binary.AppendUvarint(b, uint64(len(stems)))
	var lists []byte
	for _, s := range stems {
		held := p.terms[s].list
		lists = binary.AppendUvarint(appendPrefixedBytes(lists, s), uint64(len(held)))
		last := int32(0)
		for _, e := range held {
			lists = binary.AppendUvarint(lists, uint64(e.slot-last))
			lists = binary.AppendUvarint(lists, uint64(e.count))
			last = e.slot
		}
		b = binary.LittleEndian.AppendUint32(b, hashStem(s))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(lists)))
	}
	return append(b, lists...)
}

// loadPack adds the words of a pack. The postings of a word are decoded when it is first looked up.
func (p *postings) loadPack(data []byte, first int, slots []slot) error {
	u := bytereader.Reader{Data: data}
	table := u.Bytes(tableRowBytes * u.Uvarint(len(data)/tableRowBytes))
	if u.Failed {
		return ErrPack
	}
	data = bytes.Clone(data[len(data)-len(table)-len(u.Data):])
	w := packedPostings{first: first, lengths: make([]uint16, len(slots)), table: data[:len(table)], lists: data[len(table):]}
	for i := range slots {
		p.totalUnits += float64(slots[i].unitCount)
		w.lengths[i] = uint16(min(slots[i].unitCount, math.MaxUint16))
	}
	p.passageCount += len(slots)
	w.indexBuckets()
	p.packed = append(p.packed, w)
	return nil
}

// indexBuckets finds the first table row for each leading byte of a hash.
func (w *packedPostings) indexBuckets() {
	next, rows := 0, len(w.table)/tableRowBytes
	for at := range rows {
		for first := int(w.hashAt(at) >> 24); next <= first; next++ {
			w.bucketStarts[next] = uint32(at)
		}
	}
	for ; next <= hashBuckets; next++ {
		w.bucketStarts[next] = uint32(rows)
	}
}

// appendTermPostings appends the pack's postings for a term.
func (w *packedPostings) appendTermPostings(hash uint32, stem string, to []posting) []posting {
	at, n := int(w.bucketStarts[hash>>24]), int(w.bucketStarts[hash>>24+1])
	for at < n && w.hashAt(at) < hash {
		at++
	}
	for ; at < n && w.hashAt(at) == hash; at++ {
		u := w.listAt(at)
		if string(u.PrefixedBytes()) == stem {
			return w.appendDecoded(&u, to)
		}
	}
	return to
}

func (w *packedPostings) hashAt(at int) uint32 {
	return binary.LittleEndian.Uint32(w.table[at*tableRowBytes:])
}

// listAt returns a reader of the posting list with the given number.
func (w *packedPostings) listAt(at int) bytereader.Reader {
	from, to := uint32(0), binary.LittleEndian.Uint32(w.table[at*tableRowBytes+4:])
	if at > 0 {
		from = binary.LittleEndian.Uint32(w.table[at*tableRowBytes-4:])
	}
	if from > to || int64(to) > int64(len(w.lists)) {
		return bytereader.Reader{Failed: true}
	}
	return bytereader.Reader{Data: w.lists[from:to]}
}

// appendDecoded decodes the postings that follow a stem. It stops at the first damaged one.
func (w *packedPostings) appendDecoded(u *bytereader.Reader, to []posting) []posting {
	at := 0
	for range u.Uvarint(len(w.lengths)) {
		at += u.Uvarint(len(w.lengths))
		times := u.Uvarint(math.MaxUint16)
		if u.Failed || at >= len(w.lengths) {
			break
		}
		to = append(to, posting{slot: int32(w.first + at), count: uint16(times), length: w.lengths[at]})
	}
	return to
}

// unpackAll unpacks all packed postings. It must be called before passages are added or removed.
func (p *postings) unpackAll() {
	if len(p.packed) == 0 {
		return
	}
	p.terms = make(map[string]*termPostings, len(p.terms))
	for i := range p.packed {
		w := &p.packed[i]
		for at := range len(w.table) / tableRowBytes {
			u := w.listAt(at)
			stem := u.PrefixedBytes()
			h := p.terms[string(stem)]
			if h == nil {
				h = &termPostings{}
				p.terms[string(stem)] = h
			}
			h.list = w.appendDecoded(&u, h.list)
			h.liveCount = len(h.list)
		}
	}
	p.packed = nil
}
