// Package dedup finds near-duplicate texts: policies copied from each other, or the same clause in
// a handbook and a contract. It compares words and their order, not meaning. Its running time grows
// with the total length of the texts, not with the number of pairs, and the result is
// deterministic.
package dedup

import (
	"cmp"
	"hash/fnv"
	"math/bits"
	"slices"
	"strings"
	"unicode"
)

const (
	// MinOverlap is the share of word sequences that two texts must have in common to be near-duplicates.
	MinOverlap = 0.7

	shingleWords = 3  // words per sequence
	minWords     = 20 // shorter texts are too short to be recognized as copies
	bands        = 16
	rows         = 3
	maxCompare   = 30 // maximum number of texts in a bucket that a text is compared with, earliest first
)

// Text is a text and the group it belongs to, such as a document.
type Text struct {
	Group int // only texts of different groups are compared
	Text  string
}

// EarliestMatches returns, for each text, the index of its earliest near-duplicate in another group, or -1. It
// never returns a text that is itself a copy.
func EarliestMatches(texts []Text) []int {
	out := make([]int, len(texts))
	sets := make([]map[uint64]struct{}, len(texts))
	buckets := map[[2]uint64][]int{}
	for i, t := range texts {
		out[i] = -1
		set := shingles(t.Text)
		if set == nil {
			continue
		}
		keys := bandKeys(set)
		best := -1
		seen := map[int]bool{}
		for _, k := range keys {
			for _, j := range buckets[k] {
				if seen[j] || best >= 0 && j >= best {
					continue
				}
				seen[j] = true
				if texts[j].Group != t.Group && jaccard(set, sets[j]) >= MinOverlap {
					best = j
				}
			}
		}
		if out[i] = best; best >= 0 {
			continue // texts that match a copy also match its original
		}
		sets[i] = set
		for _, k := range keys {
			if len(buckets[k]) < maxCompare {
				buckets[k] = append(buckets[k], i)
			}
		}
	}
	return out
}

// Index finds the texts in a list that are near-duplicates of a given text.
type Index struct {
	texts   []string
	buckets [][]uint64   // of each text
	entries []indexEntry // by bucket
}

type indexEntry struct {
	bucket uint64
	text   int32
}

// NewIndex returns an index of texts.
func NewIndex(texts []string) *Index {
	x := &Index{texts: texts, buckets: make([][]uint64, len(texts))}
	for n, t := range texts {
		x.buckets[n] = bucketsOf(t)
		for _, bucket := range x.buckets[n] {
			x.entries = append(x.entries, indexEntry{bucket, int32(n)})
		}
	}
	slices.SortFunc(x.entries, func(a, b indexEntry) int { return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.text, b.text)) })
	return x
}

// bucketsOf returns the hash buckets of a text. Near-duplicates almost certainly share one. A text
// of fewer than minWords words has only one bucket, shared only by texts that consist of the same
// words.
func bucketsOf(text string) (out []uint64) {
	set := shingles(text)
	if set == nil {
		return []uint64{hashWords(splitWords(text))}
	}
	for _, k := range bandKeys(set) {
		out = append(out, k[1])
	}
	return out
}

// Contains reports whether x contains a near-duplicate of text n of the other index. If that text is short, only texts
// with the same words count. At most maxCompare texts are compared.
func (x *Index) Contains(of *Index, n int) bool {
	var set map[uint64]struct{}
	seen := map[int32]bool{}
	for _, bucket := range of.buckets[n] {
		at, _ := slices.BinarySearchFunc(x.entries, bucket, func(e indexEntry, b uint64) int { return cmp.Compare(e.bucket, b) })
		for ; at < len(x.entries) && x.entries[at].bucket == bucket && len(seen) < maxCompare; at++ {
			if len(of.buckets[n]) == 1 {
				return true
			}
			if set == nil {
				set = shingles(of.texts[n])
			}
			other := x.entries[at].text
			if !seen[other] && jaccard(set, shingles(x.texts[other])) >= MinOverlap {
				return true
			}
			seen[other] = true
		}
	}
	return false
}

func splitWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func hashWords(words []string) uint64 {
	h := fnv.New64a()
	for _, w := range words {
		_, _ = h.Write([]byte(w)) // never fails
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// shingles returns the hashes of all sequences of shingleWords words in a text, or nil if the text is too short.
func shingles(text string) map[uint64]struct{} {
	words := splitWords(text)
	if len(words) < minWords {
		return nil
	}
	set := make(map[uint64]struct{}, len(words))
	for i := 0; i+shingleWords <= len(words); i++ {
		set[hashWords(words[i:i+shingleWords])] = struct{}{}
	}
	return set
}

// bandKeys returns the buckets of a set of shingles (MinHash). Sets that have much in common almost certainly
// share a bucket.
func bandKeys(set map[uint64]struct{}) [bands][2]uint64 {
	var least [bands * rows]uint64
	for i := range least {
		least[i] = ^uint64(0)
	}
	for s := range set {
		x := s
		for i := range least {
			x = mixBits(x + 0x9e3779b97f4a7c15)
			least[i] = min(least[i], x)
		}
	}
	var out [bands][2]uint64
	for b := range out {
		h := uint64(b)
		for _, v := range least[b*rows : (b+1)*rows] {
			h = mixBits(bits.RotateLeft64(h, 17) ^ v)
		}
		out[b] = [2]uint64{uint64(b), h}
	}
	return out
}

// mixBits scrambles the bits of a number (splitmix64).
func mixBits(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func jaccard(a, b map[uint64]struct{}) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	both := 0
	for s := range a {
		if _, ok := b[s]; ok {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
