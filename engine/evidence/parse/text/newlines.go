package text

import "sort"

// newlines lists the offsets of the line endings in a text.
type newlines []int

func findNewlines(text string) (ends newlines) {
	for i := range len(text) {
		if text[i] == '\n' {
			ends = append(ends, i)
		}
	}
	return ends
}

// countBefore returns the number of line endings before an offset.
func (n newlines) countBefore(offset int) int { return sort.SearchInts(n, offset) }
