package merge

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func TestDiffTextListsRemovedBeforeAddedLines(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		want     []string // Item, then Text
	}{
		"equal":                  {"a\nb\n", "a\nb", nil},
		"one added":              {"a\nc\n", "a\nb\nc\n", []string{"line 2: + b"}},
		"one removed":            {"a\nb\nc\n", "a\nc\n", []string{"line 2: - b"}},
		"replaced":               {"a\nold\nc\n", "a\nnew\nc\n", []string{"line 2: - old", "line 2: + new"}},
		"removed and added":      {"a\nb\nc\n", "a\nc\nd\n", []string{"line 2: - b", "line 3: + d"}},
		"everything":             {"a\n", "b\n", []string{"line 1: - a", "line 1: + b"}},
		"spaces trimmed in text": {"a\n", "a\n  <td>1</td>  \n", []string{"line 2: + <td>1</td>"}},
		"lines like a diff's own": {
			"a\n",
			"a\n@@ -9,9 +9,9 @@\n--- x\n+++ y\n",
			[]string{"line 2: + @@ -9,9 +9,9 @@", "line 3: + --- x", "line 4: + +++ y"},
		},
		"far apart": {numbered(50) + "a\n", "b\n" + numbered(50), []string{"line 1: + b", "line 51: - a"}},
	} {
		t.Run(name, func(t *testing.T) {
			var d api.ArtifactDiff
			DiffText(&d, c.from, c.to)
			var got []string
			for _, l := range d.Lines {
				got = append(got, l.Item+": "+l.Text)
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzDiffTextLeadsFromOneTextToTheOther(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nd")
	f.Add("", "\n")
	f.Add("x\nx\nx\ny", "x\ny\nx")
	f.Fuzz(func(t *testing.T, from, to string) {
		var d api.ArtifactDiff
		DiffText(&d, from, to)
		if got := applyDiff(t, &d, from); got != strings.TrimSuffix(to, "\n") {
			t.Errorf("%q to %q: the diff gives %q: %+v", from, to, got, d.Lines)
		}
	})
}

// applyDiff returns the text that results from applying the lines of a diff to from.
func applyDiff(t *testing.T, d *api.ArtifactDiff, from string) string {
	t.Helper()
	before := strings.Split(strings.TrimSuffix(from, "\n"), "\n")
	removed, added := map[int]string{}, map[int]string{}
	for _, l := range d.Lines {
		n, err := strconv.Atoi(strings.TrimPrefix(l.Item, "line "))
		if err != nil {
			t.Fatal(err)
		}
		if l.Change == "added" {
			added[n] = l.To
		} else {
			removed[n] = l.From
		}
	}
	if len(removed) != d.Removed || len(added) != d.Added {
		t.Errorf("%d removed and %d added lines are counted as %d and %d", len(removed), len(added), d.Removed, d.Added)
	}
	var after []string
	addLines := func() {
		for {
			text, ok := added[len(after)+1]
			if !ok {
				return
			}
			after = append(after, text)
		}
	}
	for n, line := range before {
		if text, gone := removed[n+1]; gone {
			if text != line {
				t.Errorf("line %d is %q, removed is %q", n+1, line, text)
			}
			continue
		}
		addLines()
		after = append(after, line)
	}
	addLines()
	return strings.Join(after, "\n")
}

func numbered(lines int) string {
	var b strings.Builder
	for n := range lines {
		fmt.Fprintln(&b, "row", n)
	}
	return b.String()
}
