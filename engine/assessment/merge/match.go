package merge

// Match returns, for each current item, the previous item that it continues, or nil. It tries the key
// functions in order. Each returns an item's key, or false if it doesn't apply to the item. Two items
// match if each is the only unmatched item on its side with that key.
func Match[T any, K comparable](current, previous []T, keys ...func(item *T, isPrevious bool) (K, bool)) []*T {
	matches, used := make([]*T, len(current)), make([]bool, len(previous))
	for _, keyOf := range keys {
		previousByKey, currentByKey := map[K][]int{}, map[K][]int{}
		for n := range previous {
			if key, ok := keyOf(&previous[n], true); ok && !used[n] {
				previousByKey[key] = append(previousByKey[key], n)
			}
		}
		for n := range current {
			if key, ok := keyOf(&current[n], false); ok && matches[n] == nil {
				currentByKey[key] = append(currentByKey[key], n)
			}
		}
		for key, at := range currentByKey {
			if old := previousByKey[key]; len(at) == 1 && len(old) == 1 {
				matches[at[0]], used[old[0]] = &previous[old[0]], true
			}
		}
	}
	return matches
}
