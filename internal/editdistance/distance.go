// Package editdistance computes the edit distance of two words, for "did you mean" suggestions.
package editdistance

// Distance returns the number of edits between two words, given as runes or bytes. Edits are insertions, deletions,
// substitutions and swaps of adjacent characters (optimal string alignment). The time is proportional to the product
// of the lengths, so callers must limit them.
func Distance[E comparable](a, b []E) int {
	beforeLast, last, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		current[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			current[j+1] = min(last[j+1]+1, current[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				current[j+1] = min(current[j+1], beforeLast[j-1]+1)
			}
		}
		beforeLast, last, current = last, current, beforeLast
	}
	return last[len(b)]
}
