package search

import "github.com/scf-service/service/engine/evidence/embed/words"

// Passages say the same where they share so much of their words: copies of one text with
// another name, date or number in it.
const sameShare = 0.9

// alike reports whether two passages say the same in the same words.
func alike(a, b map[string]bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if float64(len(a)) < sameShare*float64(len(b)) || len(a) == 0 {
		return false
	}
	shared := 0
	for s := range a {
		if b[s] {
			shared++
		}
	}
	return float64(shared) >= sameShare*float64(len(a)+len(b)-shared)
}

// stemsOf is what a text says, without order: its words, not its numbers.
func stemsOf(text string) map[string]bool {
	out := make(map[string]bool)
	for _, s := range words.Stems(text) {
		out[s] = true
	}
	return out
}

// fold keeps of passages that say the same the best one, with the others' ids.
func (x *Index) fold(best []candidate, k int) (kept []candidate, same map[int32][]string) {
	same = make(map[int32][]string)
	own := make([]map[string]bool, len(best))
	onAllCores(len(best), func(i int) { own[i] = stemsOf(x.slots[best[i].slot].passage().Text) })
	var stems []map[string]bool
next:
	for n, c := range best {
		for i, other := range stems {
			// What is asked for to the letter may be what they differ in.
			if kept[i].held == c.held && alike(own[n], other) {
				at := kept[i].slot
				same[at] = append(same[at], c.id)
				continue next
			}
		}
		if len(kept) < k {
			kept, stems = append(kept, c), append(stems, own[n])
		}
	}
	return kept, same
}
