package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/engine/api"
)

// nouns are the commands that show and decide each gate's deliverable.
var nouns = map[api.Gate]string{api.GateSoA: "soa", api.GateGapAnalysis: "gap", api.GateMaturity: "maturity", api.GatePOAM: "poam"}

func nounOf(g api.Gate) string { return nouns[g] }

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

func momentOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return moment(*t)
}

// by is when something was done, and by whom; empty where it was not.
func by(at *time.Time, who *string) string {
	if at == nil {
		return ""
	}
	if who == nil {
		return moment(*at)
	}
	return moment(*at) + ", by " + *who
}

// orEmpty is the value of a pointer, or the empty one.
func orEmpty[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func percent(p *float64) string {
	if p == nil {
		return "not known yet"
	}
	return fmt.Sprintf("%.1f %%", *p)
}

// withFormula is a percentage with how it was reckoned.
func withFormula(p *float64, formula string) string {
	if p == nil {
		return "not known yet"
	}
	return percent(p) + ": " + formula
}

func figure(p *float64) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *p)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// size is a number of bytes as people read it.
func size(n int64) string {
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

// plain turns a word of the contract into words: partially_implemented, partially implemented.
func plain[S ~string](s S) string { return strings.ReplaceAll(string(s), "_", " ") }

// place is where a passage stands in its document.
func place(headings []string, l api.Locator) string {
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

// stances are how a quote bears on what is asked for, where it does not simply say it.
var stances = map[string]string{
	"plans": "a plan", "denies": "says it is not so", "template": "an unfilled template", "limits": "says a part of it", "conflicts": "contradicted elsewhere",
}

// cited is a passage with its document and place, as a page shows it.
func cited(p *print.Page, by int, e api.Evidence) {
	p.Indent(by, "“%s”", e.Quote)
	source := e.Filename
	if where := place(e.HeadingPath, e.Locator); where != "" {
		source += ", " + where
	}
	if e.Stance != "" && e.Stance != "supports" {
		source += " (" + stances[e.Stance] + ")"
	}
	p.Indent(by, "%s", source)
}

// severityStyle colours a severity; the word says the same.
func severityStyle(cell string) print.Style {
	switch api.Severity(cell) {
	case api.SeverityCritical, api.SeverityHigh:
		return print.Red
	case api.SeverityMedium:
		return print.Yellow
	}
	return print.Plain
}

// requirements lists requirement codes by framework, in a stable order.
func requirements(r api.RequirementCodes) string {
	var parts []string
	for _, f := range sorted(r) {
		parts = append(parts, f+": "+strings.Join(r[f], ", "))
	}
	return strings.Join(parts, "\n")
}
