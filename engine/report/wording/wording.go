// Package wording formats API values for readers of reports: names, counts, dates and locations in documents.
package wording

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// ReplaceControlCharacters makes text safe to display. It replaces control characters with visible symbols,
// carriage returns with newlines, and invalid characters with U+FFFD.
func ReplaceControlCharacters(s string) string {
	ok := utf8.ValidString(s)
	for i := 0; ok && i < len(s); i++ {
		if c := s[i]; c < 0x20 && c != '\n' && c != '\t' || c == 0x7f || c == 0xc2 && i+1 < len(s) && s[i+1] < 0xa0 ||
			c == 0xef && strings.HasPrefix(s[i:], "\xef\xbf") {
			ok = false
		}
	}
	if ok {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		case r >= 0x80 && r < 0xa0 || r == 0xfffe || r == 0xffff:
			return utf8.RuneError
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// Humanize returns the text shown for an API value.
func Humanize(value string) string {
	switch value {
	case "soa":
		return "Statement of Applicability"
	case "poam":
		return "POA&M"
	case "template":
		return "unfilled template"
	case "limits":
		return "partially supports"
	case "conflicts":
		return "conflicts with another passage"
	}
	return prose.Humanize(value)
}

// Label returns the text that is shown for an API value, with the first letter capitalized.
func Label(value string) string { return prose.Capitalize(Humanize(value)) }

func FormatPercent(part, whole int) string {
	if whole == 0 {
		return "0%"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

// LowerFirst returns s with its first letter in lowercase, for use within a sentence.
func LowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToLower(r)) + s[n:]
}

func LevelWithName(n int) string {
	if n < 0 || n >= len(api.LevelNames) {
		return fmt.Sprintf("%d, unknown level", n)
	}
	return fmt.Sprintf("%d, %s", n, api.LevelNames[n])
}

func ISODateOrEmpty(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func TimeOrNotSpecified(t time.Time) string {
	if t.IsZero() {
		return "not specified"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// FormatDate formats a date as reports show it, in text and in tables alike.
func FormatDate(t time.Time) string {
	if t.IsZero() {
		return "an unspecified date"
	}
	return t.UTC().Format(time.DateOnly)
}

// OrEmpty returns the value of p, or "" if p is nil.
func OrEmpty[S ~string](p *S) string {
	if p == nil {
		return ""
	}
	return string(*p)
}

// OrDefault returns s, or fallback if s is blank.
func OrDefault(s, fallback string) string {
	if strings.TrimSpace(s) == "" {
		return fallback
	}
	return s
}

// FormatLocator returns a description of a location in a document, such as its page and lines.
func FormatLocator(l api.Locator) string {
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

// FormatByteSize formats a number of bytes in a readable unit.
func FormatByteSize(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return prose.Count(int(n), "byte", "bytes")
}

// FormatRequirements returns requirement codes as a single line, grouped by framework. The frameworks are sorted.
func FormatRequirements(codes api.RequirementCodes) string {
	var out []string
	for _, f := range slices.Sorted(maps.Keys(codes)) {
		if len(codes[f]) > 0 {
			out = append(out, f+": "+strings.Join(codes[f], ", "))
		}
	}
	return strings.Join(out, "; ")
}
