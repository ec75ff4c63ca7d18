package api

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// SortField is one field of a requested sort order.
type SortField struct {
	Name       string
	Descending bool
}

// ParseSort reads a sort order such as "-severity,control_code": field names separated by commas, with "-" before
// those to sort in descending order. If a name is not allowed, the error lists the allowed ones.
func ParseSort(sort string, allowed []string) ([]SortField, error) {
	var out []SortField
	for _, name := range strings.Split(sort, ",") {
		name, down := strings.CutPrefix(strings.TrimSpace(name), "-")
		if !slices.Contains(allowed, name) {
			return nil, Invalid("sort", "this list can't be sorted by %q, only by %s", name, strings.Join(allowed, ", "))
		}
		if slices.ContainsFunc(out, func(f SortField) bool { return f.Name == name }) {
			return nil, Invalid("sort", "%q appears twice", name)
		}
		out = append(out, SortField{name, down})
	}
	return out, nil
}

// HasFilters reports whether the input of a list operation, a pointer to a struct, filters the records. That is the
// case if any query parameter other than those for sorting and paging is set.
func HasFilters(in any) bool {
	return hasFilters(reflect.ValueOf(in).Elem())
}

func hasFilters(v reflect.Value) bool {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch name := f.Tag.Get("query"); {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			if hasFilters(v.Field(i)) {
				return true
			}
		case name != "" && name != "cursor" && name != "limit" && name != "sort" && !v.Field(i).IsZero():
			return true
		}
	}
	return false
}

// Period limits a list of events to a period; both ends are inclusive.
type Period struct {
	Since string `query:"since" format:"date-time" doc:"Only events at or after this time."`
	Until string `query:"until" format:"date-time" doc:"Only events at or before this time."`
}

// Matcher returns a function that reports whether a time is within the period, or an error if an
// end is not a valid time.
func (p Period) Matcher() (func(time.Time) bool, error) {
	var ends [2]time.Time
	for i, text := range []string{p.Since, p.Until} {
		if text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, Invalid([]string{"since", "until"}[i], "write times like 2027-01-29T09:00:00Z")
		}
		ends[i] = at
	}
	return func(at time.Time) bool {
		return (ends[0].IsZero() || !at.Before(ends[0])) && (ends[1].IsZero() || !at.After(ends[1]))
	}, nil
}
