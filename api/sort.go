package api

import (
	"slices"
	"strings"
	"time"
)

// SortField is one field of the order that a list is asked for.
type SortField struct {
	Name       string
	Descending bool
}

// ParseSort reads an order as "-severity,control_code": names separated by commas,
// "-" before those that go downwards. A name that is not allowed is refused with
// those that are.
func ParseSort(sort string, allowed []string) ([]SortField, error) {
	var out []SortField
	for _, name := range strings.Split(sort, ",") {
		name, down := strings.CutPrefix(strings.TrimSpace(name), "-")
		if !slices.Contains(allowed, name) {
			return nil, Invalid("sort", "this list can't be sorted by %q, only by %s", name, strings.Join(allowed, ", "))
		}
		if slices.ContainsFunc(out, func(f SortField) bool { return f.Name == name }) {
			return nil, Invalid("sort", "%q is named twice", name)
		}
		out = append(out, SortField{name, down})
	}
	return out, nil
}

// Period narrows a list of events by time, both ends included.
type Period struct {
	Since string `query:"since" format:"date-time" doc:"Only from this moment on."`
	Until string `query:"until" format:"date-time" doc:"Only up to this moment."`
}

// Matcher returns what tells whether a moment is within the period; an error for an
// end that is no time.
func (p Period) Matcher() (func(time.Time) bool, error) {
	var ends [2]time.Time
	for i, text := range []string{p.Since, p.Until} {
		if text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, Invalid([]string{"since", "until"}[i], "write a time as 2027-01-29T09:00:00Z")
		}
		ends[i] = at
	}
	return func(at time.Time) bool {
		return (ends[0].IsZero() || !at.Before(ends[0])) && (ends[1].IsZero() || !at.After(ends[1]))
	}, nil
}
