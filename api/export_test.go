package api

// Descriptions is how many descriptions there are.
func Descriptions() int { return len(descriptions) }
