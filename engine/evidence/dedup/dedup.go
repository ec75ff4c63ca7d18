// Package dedup finds texts that say nearly the same: policies copied from each other,
// the same clause in a handbook and in a contract. It compares words and their order, not
// meaning, takes time that grows with the texts' length and not with their pairs, and gives
// the same answer for the same texts in the same order.
package dedup

import (
	"hash/fnv"
	"math/bits"
	"strings"
	"unicode"
)

const (
	// MinOverlap is the share of word sequences that two texts have in common to be nearly the same.
	MinOverlap = 0.7

	shingleWords = 3  // words of a sequence
	minWords     = 20 // a shorter text says too little to be a copy
	bands        = 16
	rows         = 3
	maxCompare   = 30 // texts of a bucket that one is compared with, the earliest
)

// Text is one text and where it is from.
type Text struct {
	Group int // only texts of different groups are compared
	Text  string
}

// EarliestMatches returns, for each text, the index of the earliest text of another group that
// says nearly the same, or -1. A text that is itself such a copy stands for none.
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
			continue // what is like it is like the one it copies
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

// shingles are the sequences of words of a text, hashed; nil for one too short.
func shingles(text string) map[uint64]struct{} {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) < minWords {
		return nil
	}
	set := make(map[uint64]struct{}, len(words))
	for i := 0; i+shingleWords <= len(words); i++ {
		h := fnv.New64a()
		for _, w := range words[i : i+shingleWords] {
			_, _ = h.Write([]byte(w)) // a hash takes all
			_, _ = h.Write([]byte{0})
		}
		set[h.Sum64()] = struct{}{}
	}
	return set
}

// bandKeys are the buckets of a set: sets with much in common share one of them almost surely.
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

// mixBits scatters the bits of a number (splitmix64).
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
