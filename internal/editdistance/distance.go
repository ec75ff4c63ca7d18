// Package editdistance tells how far two words lie apart, for those who propose what somebody
// may have meant. What is near enough, and near to what, is theirs to say.
package editdistance

// Distance is how many slips lie between two words, given as letters or as bytes: one left
// out, put in, taken for another, or two neighbours that changed places. It costs the product
// of the lengths, so callers bound them.
func Distance[E comparable](a, b []E) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		now[0] = i + 1
		for j := range b {
			other := 1
			if a[i] == b[j] {
				other = 0
			}
			now[j+1] = min(last[j+1]+1, now[j]+1, last[j]+other)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
