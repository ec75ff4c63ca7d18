package print

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// FormatConfidence formats the confidence of the automatic verdict, with a note if a user overruled it. It
// returns "" if an overruled verdict has no confidence.
func FormatConfidence(c float64, overruled bool) string {
	switch {
	case overruled && c > 0:
		return fmt.Sprintf("%.2f for the automatic verdict (overridden)", c)
	case overruled:
		return ""
	}
	return fmt.Sprintf("%.2f", c)
}

// FormatCoverage describes how much of a control the evidence covers, and what kind of evidence it is.
func FormatCoverage(i *api.SoAItem) string {
	out := fmt.Sprintf("%s, %.0f%% of the requirements", prose.Humanize(i.EvidenceCoverage), i.CoverageRatio*100)
	switch {
	case i.InOperation:
		out += ", including records"
	case len(i.Evidence) > 0:
		out += ", documents only"
	}
	return out
}

// FormatTime formats a time for display, or returns "" for the zero time.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// FormatDay formats the date of a time.
func FormatDay(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// FormatSize formats a number of bytes in a readable unit.
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

// FormatLocation formats the location of a passage in its document.
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

// stanceLabels maps the stance of a quote (how it relates to the requirement) to a label. A quote that simply
// supports the requirement has none.
var stanceLabels = map[string]string{
	"plans":     "a plan",
	"denies":    "says the opposite",
	"template":  "an unfilled template",
	"limits":    "covers only part of the requirement",
	"conflicts": "contradicted elsewhere",
}

// FormatCitation describes where a quote comes from and how it relates to the requirement.
func FormatCitation(e api.Evidence) string {
	source := e.Filename
	if where := FormatLocation(e.HeadingPath, e.Locator); where != "" {
		source += ", " + where
	}
	if e.Stance != "" && e.Stance != "supports" {
		source += " (" + stanceLabels[e.Stance] + ")"
	}
	return source
}

// FormatRequirements formats requirement codes, one framework per line.
func FormatRequirements(r api.RequirementCodes) string {
	var parts []string
	for f, codes := range r {
		parts = append(parts, f+": "+strings.Join(codes, ", "))
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}
