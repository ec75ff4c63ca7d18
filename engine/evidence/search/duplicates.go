package search

import "github.com/scf-service/service/engine/evidence/embed/words"

// Passages say the same where they share so much of their words: copies of one text with
// another name, date or number in it.
const minDuplicateShare = 0.9

// areDuplicates reports whether two passages say the same in the same words.
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

// distinctStems is what a text says, without order: its words, not its numbers.
func distinctStems(text string) map[string]bool {
	out := make(map[string]bool)
	for _, s := range words.Stems(text) {
		out[s] = true
	}
	return out
}

// mergeDuplicates keeps of passages that say the same the best one, with the others' ids.
func (x *Index) mergeDuplicates(best []candidate, k int) (unique []candidate, duplicates map[int32][]string) {
	duplicates = make(map[int32][]string)
	own := make([]map[string]bool, len(best))
	parallelFor(len(best), func(i int) { own[i] = distinctStems(x.slots[best[i].slot].unpackPassage().Text) })
	var stems []map[string]bool
next:
	for n, c := range best {
		for i, other := range stems {
			// What is asked for to the letter may be what they differ in.
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
