package search

import "github.com/scf-service/service/engine/evidence/embed/words"

// minDuplicateShare is the share of words that passages must have in common to be duplicates. This includes
// copies of a text with another name, date or number.
const minDuplicateShare = 0.9

// areDuplicates reports whether two passages consist of nearly the same words.
func areDuplicates(a, b map[string]bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if float64(len(a)) < minDuplicateShare*float64(len(b)) || len(a) == 0 {
		return false
	}
	shared := 0
	for s := range a {
		if b[s] {
			shared++
		}
	}
	return float64(shared) >= minDuplicateShare*float64(len(a)+len(b)-shared)
}

// distinctStems returns the set of stems in a text, without stop words, codes and numbers.
func distinctStems(text string) map[string]bool {
	out := make(map[string]bool)
	for _, s := range words.ContentWordStems(text) {
		out[s] = true
	}
	return out
}

// mergeDuplicates returns the best passage of each group of duplicates, up to k, and the IDs of the
// other passages, by the slot of the best one.
func (x *Index) mergeDuplicates(best []candidate, k int) (unique []candidate, duplicates map[int32][]string) {
	duplicates = make(map[int32][]string)
	own := make([]map[string]bool, len(best))
	parallelFor(len(best), func(i int) { own[i] = distinctStems(x.slots[best[i].slot].unpackPassage().Text) })
	var stems []map[string]bool
next:
	for n, c := range best {
		for i, other := range stems {
			// Near-duplicates that contain different exact terms of the query are not merged.
			if unique[i].exactMatches == c.exactMatches && areDuplicates(own[n], other) {
				at := unique[i].slot
				duplicates[at] = append(duplicates[at], c.id)
				continue next
			}
		}
		if len(unique) < k {
			unique, stems = append(unique, c), append(stems, own[n])
		}
	}
	return unique, duplicates
}
