package print

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// Humanize turns a word of the contract into words: partially_implemented, partially implemented.
func Humanize[S ~string](s S) string { return strings.ReplaceAll(string(s), "_", " ") }

// FormatConfidence is how sure the rules are; overruled where a person said otherwise. Empty where they had nothing to judge.
func FormatConfidence(c float64, overruled bool) string {
	switch {
	case overruled && c > 0:
		return fmt.Sprintf("%.2f for the automatic verdict (overridden)", c)
	case overruled:
		return ""
	}
	return fmt.Sprintf("%.2f", c)
}

// FormatCoverage is how much of a control the evidence says, and what kind of evidence does.
func FormatCoverage(i *api.SoAItem) string {
	out := fmt.Sprintf("%s, %.0f %% of the statements", Humanize(i.EvidenceCoverage), i.CoverageRatio*100)
	switch {
	case i.InOperation:
		out += ", by records too"
	case len(i.Evidence) > 0:
		out += ", by documents alone"
	}
	return out
}

// FormatTime is a time as people read it; empty where there is none.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// FormatDay is the day of a time.
func FormatDay(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Pluralize is a number with its noun.
func Pluralize(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// FormatSize is a number of bytes as people read it.
func FormatSize(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// FormatLocation is where a passage stands in its document.
func FormatLocation(headings []string, l api.Locator) string {
	var parts []string
	if l.Page > 0 {
		parts = append(parts, fmt.Sprintf("page %d", l.Page))
	}
	if l.Slide > 0 {
		parts = append(parts, fmt.Sprintf("slide %d", l.Slide))
	}
	if l.Sheet != "" {
		parts = append(parts, "sheet "+l.Sheet)
	}
	if l.CellRange != "" {
		parts = append(parts, l.CellRange)
	}
	if l.LineStart > 0 && l.LineEnd > l.LineStart {
		parts = append(parts, fmt.Sprintf("lines %d–%d", l.LineStart, l.LineEnd))
	} else if l.LineStart > 0 {
		parts = append(parts, fmt.Sprintf("line %d", l.LineStart))
	}
	if len(headings) > 0 {
		parts = append(parts, strings.Join(headings, " › "))
	}
	return strings.Join(parts, ", ")
}

// stanceLabels are how a quote bears on what is asked for, where it does not simply say it.
var stanceLabels = map[string]string{
	"plans": "a plan", "denies": "says it is not so", "template": "an unfilled template", "limits": "says a part of it", "conflicts": "contradicted elsewhere",
}

// FormatSource is where a quote is from, and how it bears on what is asked for.
func FormatSource(e api.Evidence) string {
	source := e.Filename
	if where := FormatLocation(e.HeadingPath, e.Locator); where != "" {
		source += ", " + where
	}
	if e.Stance != "" && e.Stance != "supports" {
		source += " (" + stanceLabels[e.Stance] + ")"
	}
	return source
}

// FormatRequirements lists requirement codes by framework, one framework a line.
func FormatRequirements(r api.RequirementCodes) string {
	var parts []string
	for f, codes := range r {
		parts = append(parts, f+": "+strings.Join(codes, ", "))
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}
