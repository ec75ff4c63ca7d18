package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/workbook"
)

// sanitize returns text that is safe to display.
func sanitize(s string) string { return workbook.Sanitize(s) }

// humanize returns the display text of an API value.
func humanize(value string) string {
	switch value {
	case "soa":
		return "Statement of Applicability"
	case "poam":
		return "POA&M"
	case "template":
		return "template that was not filled in"
	case "limits":
		return "partly supports"
	case "conflicts":
		return "conflicts with another passage"
	case "has_ot":
		return "has operational technology"
	case "uses_ai":
		return "uses AI"
	case "outsources_it":
		return "outsources IT"
	case "handles_cards":
		return "handles payment cards"
	}
	return acronymReplacer.Replace(strings.ReplaceAll(value, "_", " "))
}

// acronymReplacer restores the case of acronyms in values, such as the states of an assessment.
var acronymReplacer = strings.NewReplacer("soa ", "SoA ", "poam ", "POA&M ", "scf ", "SCF ", "sha256", "SHA-256")

// capitalize returns s with its first letter in upper case.
func capitalize(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// displayLabel returns the capitalized display text of an API value.
func displayLabel(value string) string { return capitalize(humanize(value)) }

// formatCount formats a number with thousands separators.
func formatCount(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// pluralize returns a number with the matching form of its noun.
func pluralize(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return formatCount(n) + " " + many
}

func formatPercent(part, whole int) string {
	if whole == 0 {
		return "0%"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

func formatMean(f *float64) string {
	if f == nil {
		return "not assessed"
	}
	return fmt.Sprintf("%.2f", *f)
}

func levelName(n int) string {
	if n < 0 || n >= len(api.LevelNames) {
		return fmt.Sprintf("%d, unknown level", n)
	}
	return fmt.Sprintf("%d, %s", n, api.LevelNames[n])
}

// joinWithAnd joins names as in a sentence: "a, b and c".
func joinWithAnd(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func formatDate(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return "not specified"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

func formatLongDate(t time.Time) string {
	if t.IsZero() {
		return "an unspecified date"
	}
	return t.UTC().Format("2 January 2006")
}

func stringOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func dateOrEmpty(d *api.Date) string {
	if d == nil {
		return ""
	}
	return string(*d)
}

// orDefault returns s, or fallback if s is blank.
func orDefault(s, fallback string) string {
	if strings.TrimSpace(s) == "" {
		return fallback
	}
	return s
}

// formatLocator describes a location within a document.
func formatLocator(l api.Locator) string {
	var p []string
	if l.Page > 0 {
		p = append(p, "page "+strconv.Itoa(l.Page))
	}
	if l.Slide > 0 {
		p = append(p, "slide "+strconv.Itoa(l.Slide))
	}
	if l.Sheet != "" {
		p = append(p, "sheet "+l.Sheet)
	}
	if l.CellRange != "" {
		p = append(p, "cells "+l.CellRange)
	}
	switch {
	case l.LineStart > 0 && l.LineEnd > l.LineStart:
		p = append(p, fmt.Sprintf("lines %d to %d", l.LineStart, l.LineEnd))
	case l.LineStart > 0:
		p = append(p, "line "+strconv.Itoa(l.LineStart))
	}
	return strings.Join(p, ", ")
}

// formatSize formats a number of bytes.
func formatSize(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return pluralize(int(n), "byte", "bytes")
}

// formatRequirements returns the codes by framework on one line, sorted by framework.
func formatRequirements(codes api.RequirementCodes) string {
	var out []string
	for _, f := range sortedKeys(codes) {
		if len(codes[f]) > 0 {
			out = append(out, f+": "+strings.Join(codes[f], ", "))
		}
	}
	return strings.Join(out, "; ")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
