package merge

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/scf-service/service/api"
)

// DiffText adds the lines that differ between two texts to d, in order. For replaced lines, the removed ones come
// first.
func DiffText(d *api.ArtifactDiff, from, to string) {
	end := func(s string) []byte { return []byte(strings.TrimSuffix(s, "\n") + "\n") }
	var before, after int // numbers of the next lines
	for line := range strings.Lines(string(diff.Diff("", end(from), "", end(to)))) {
		text := strings.TrimSuffix(line[1:], "\n")
		switch {
		case strings.HasPrefix(line, "@@"):
			_, _ = fmt.Sscanf(line, "@@ -%d,%d +%d,", &before, new(int), &after)
		case before == 0: // before the first line
		case line[0] == '-':
			d.Removed++
			d.Lines = append(d.Lines, api.DiffLine{
				Change: "removed", Item: fmt.Sprintf("line %d", before), From: text, Text: "- " + strings.TrimSpace(text),
			})
			before++
		case line[0] == '+':
			d.Added++
			d.Lines = append(d.Lines, api.DiffLine{
				Change: "added", Item: fmt.Sprintf("line %d", after), To: text, Text: "+ " + strings.TrimSpace(text),
			})
			after++
		default:
			before, after = before+1, after+1
		}
	}
}
