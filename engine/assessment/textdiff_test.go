package assessment

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// applied is what the lines of a diff make of a text.
func applied(from []string, to int, gone, come []bool, b []string) []string {
	out := make([]string, 0, to)
	x, y := 0, 0
	for x < len(from) || y < len(b) {
		switch {
		case x < len(from) && gone[x]:
			x++
		case y < len(b) && come[y]:
			out = append(out, b[y])
			y++
		default:
			out = append(out, from[x])
			x, y = x+1, y+1
		}
	}
	return out
}

func checkShortest(t *testing.T, a, b []string) {
	t.Helper()
	gone, come := shortestEdit(a, b)
	if got := applied(a, len(b), gone, come, b); !slices.Equal(got, b) {
		t.Fatalf("%q to %q gives %q", a, b, got)
	}
	if len(a)+len(b) > 60 {
		return
	}
	// It is the fewest: by the longest common subsequence.
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			longest[i+1][j+1] = max(longest[i][j+1], longest[i+1][j])
			if a[i] == b[j] {
				longest[i+1][j+1] = longest[i][j] + 1
			}
		}
	}
	edits := 0
	for _, m := range append(slices.Clone(gone), come...) {
		if m {
			edits++
		}
	}
	if want := len(a) + len(b) - 2*longest[len(a)][len(b)]; edits != want {
		t.Fatalf("%q to %q takes %d edits, not %d", a, b, want, edits)
	}
}

func TestShortest(t *testing.T) {
	r := rand.New(rand.NewPCG(20261122, 1))
	text := func() []string {
		out := make([]string, r.IntN(25))
		for i := range out {
			out[i] = string(rune('a' + r.IntN(4)))
		}
		return out
	}
	for range 3000 {
		checkShortest(t, text(), text())
	}
	long := strings.Split(strings.Repeat("x\n", 3000), "\n")
	checkShortest(t, long, strings.Split(strings.Repeat("y\n", 3000), "\n")) // more edits than are looked for
	lines := diffLines([]string{"a", "b", "c"}, []string{"a", "c", "d"})
	if len(lines) != 2 || lines[0].Text != "- b" || lines[1].Text != "+ d" || lines[1].Item != "line 3" {
		t.Errorf("%+v", lines)
	}
}

func FuzzShortest(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nd")
	f.Add("", "\n")
	f.Fuzz(func(t *testing.T, a, b string) { checkShortest(t, strings.Split(a, "\n"), strings.Split(b, "\n")) })
}
