package merge

import (
	"strings"
	"testing"
)

func TestMatchUsesEachPreviousItemOnce(t *testing.T) {
	// Items are written "control/origin/words"; keys are tried in that order: origin, words, control.
	part := func(s string, n int) string { return strings.Split(s, "/")[n] }
	key := func(n int) func(*string, bool) (string, bool) {
		return func(s *string, _ bool) (string, bool) { return part(*s, 0) + part(*s, n), n == 0 || part(*s, n) != "" }
	}
	for name, c := range map[string]struct{ current, previous, want string }{
		"same control":              {"A//", "A//", "A//"},
		"another control":           {"B//", "A//", "-"},
		"origin before words":       {"A/o1/x A/o2/x", "A/o2/y A/o1/z", "A/o1/z A/o2/y"},
		"words where no origin":     {"A//x A//y", "A//y A//x", "A//x A//y"},
		"ambiguous":                 {"A//", "A//x A//y", "-"},
		"used by an earlier key":    {"A/o1/ A//", "A/o1/", "A/o1/ -"},
		"left over for the control": {"A/o1/ A//", "A/o1/ A//x", "A/o1/ A//x"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range Match(strings.Fields(c.current), strings.Fields(c.previous), key(1), key(2), key(0)) {
				if m == nil {
					got = append(got, "-")
				} else {
					got = append(got, *m)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s of %s matches %v, want %s", c.current, c.previous, got, c.want)
			}
		})
	}
}
