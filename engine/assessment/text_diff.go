package assessment

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

const (
	// maxDiffText is the maximum size of each compared report, in bytes.
	maxDiffText = 8 << 20
	// maxEdits bounds the search for the shortest edit; texts that differ more are shown as
	// entirely removed and added.
	maxEdits = 1000
)

// textFormats lists the text-based report formats.
var textFormats = []string{"html", "md", "csv", "json", "oscal"}

// diffReports compares two rendered reports line by line.
func (s *Service) diffReports(ctx context.Context, by api.Caller, out *api.ArtifactDiff, from, to string) error {
	var lines [2][]string
	for n, id := range []string{from, to} {
		var r api.Report
		err := s.db.View(ctx, func(tx *store.Tx) (err error) {
			r, err = store.Reports.Get(tx, by.OrganizationID, id)
			return store.ToNotFound(err, "report", id)
		})
		if err != nil {
			return err
		}
		if r.Template == "audit_package" {
			return api.Conflict("an audit package is a zip and can't be compared line by line; compare the reports in it")
		}
		if !slices.Contains(textFormats, r.Format) {
			return api.Conflict(
				"%s reports are binary; choose one of %s",
				r.Format,
				strings.Join(textFormats, ", "),
			)
		}
		if r.SizeBytes > maxDiffText {
			return api.Conflict("%s is too large to compare: %d bytes; the maximum is %d", r.Filename, r.SizeBytes, maxDiffText)
		}
		if lines[n], err = s.readBlobLines(r.SHA256); err != nil {
			return fmt.Errorf("reading %s: %w", r.Filename, err)
		}
	}
	for _, l := range diffLines(lines[0], lines[1]) {
		if l.Change == "added" {
			out.Added++
		} else {
			out.Removed++
		}
		out.Lines = append(out.Lines, l)
	}
	return nil
}

func (s *Service) readBlobLines(blob string) ([]string, error) {
	f, _, err := s.db.Blobs().Open(blob)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDiffText))
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), err
}

// diffLines returns the lines that differ between two texts, in order: removed lines before added
// ones at each position.
func diffLines(from, to []string) []api.DiffLine {
	head := 0
	for head < len(from) && head < len(to) && from[head] == to[head] {
		head++
	}
	tail := 0
	for tail < len(from)-head && tail < len(to)-head && from[len(from)-1-tail] == to[len(to)-1-tail] {
		tail++
	}
	a, b := from[head:len(from)-tail], to[head:len(to)-tail]
	removed, added := shortestEdit(a, b)
	var out []api.DiffLine
	for x, y := 0, 0; x < len(a) || y < len(b); {
		switch {
		case x < len(a) && removed[x]:
			out = append(out, newTextDiffLine("removed", "-", head+x+1, a[x]))
			x++
		case y < len(b) && added[y]:
			out = append(out, newTextDiffLine("added", "+", head+y+1, b[y]))
			y++
		default:
			x, y = x+1, y+1
		}
	}
	return out
}

func newTextDiffLine(change, mark string, number int, text string) api.DiffLine {
	l := api.DiffLine{Change: change, Item: fmt.Sprintf("line %d", number), Text: mark + " " + strings.TrimSpace(text)}
	if change == "added" {
		l.To = text
	} else {
		l.From = text
	}
	return l
}

// shortestEdit marks the removed lines of a and the added lines of b in a shortest edit script
// (Myers 1986), or all lines if that takes more than maxEdits.
func shortestEdit(a, b []string) (removed, added []bool) {
	removed, added = make([]bool, len(a)), make([]bool, len(b))
	most := min(len(a)+len(b), maxEdits)
	reach := make([]int, 2*most+3) // furthest x on each diagonal k, stored at k+most+1
	var steps [][]int
	for d := 0; d <= most; d++ {
		steps = append(steps, slices.Clone(reach[most+1-d:most+2+d]))
		for k := -d; k <= d; k += 2 {
			x := 0
			if down := k == -d || k != d && reach[k+most] < reach[k+most+2]; down {
				x = reach[k+most+2]
			} else {
				x = reach[k+most] + 1
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			reach[k+most+1] = x
			if x >= len(a) && y >= len(b) {
				traceEdits(steps, d, len(a), len(b), removed, added)
				return removed, added
			}
		}
	}
	for i := range removed {
		removed[i] = true
	}
	for i := range added {
		added[i] = true
	}
	return removed, added
}

// traceEdits walks the steps backwards and marks each edit.
func traceEdits(steps [][]int, d, x, y int, removed, added []bool) {
	for ; d > 0; d-- {
		was, k := steps[d], x-y // was holds diagonals -d … d before step d
		at := func(k int) int {
			if k < -d || k > d {
				return -1
			}
			return was[k+d]
		}
		before := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			before = k + 1
		}
		px := at(before)
		py := px - before
		if before == k+1 {
			added[py] = true
		} else {
			removed[px] = true
		}
		x, y = px, py
	}
}
