package reading

import "context"

// Fallback returns a reader that uses first, and uses second for passages that first has not read.
func Fallback(first, second Reader) Reader { return fallback{first, second} }

type fallback struct {
	Reader
	second Reader
}

// Read implements Reader.
func (f fallback) Read(ctx context.Context, s Statement, passages []Passage) ([]Reading, error) {
	out, err := f.Reader.Read(ctx, s, passages)
	if err != nil {
		return nil, err
	}
	var left []Passage
	for i, r := range out {
		if !r.IsRead() {
			left = append(left, passages[i])
		}
	}
	if len(left) == 0 {
		return out, nil
	}
	read, err := f.second.Read(ctx, s, left)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if !out[i].IsRead() {
			out[i], read = read[0], read[1:]
		}
	}
	return out, nil
}
