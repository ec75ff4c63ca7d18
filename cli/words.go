package cli

import (
	"fmt"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// nouns are the commands that show and decide each gate's deliverable.
var nouns = map[api.Gate]string{api.GateSoA: "soa", api.GateGapAnalysis: "gap", api.GateMaturity: "maturity", api.GatePOAM: "poam"}

func nounOf(g api.Gate) string { return nouns[g] }

func day(t time.Time) string { return print.Day(t) }

func moment(t time.Time) string { return print.Moment(t) }

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

func count(n int, one, many string) string { return print.Count(n, one, many) }

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// size is a number of bytes as people read it.
func size(n int64) string { return print.Size(n) }

// plain turns a word of the contract into words: partially_implemented, partially implemented.
func plain[S ~string](s S) string { return print.Words(s) }

// place is where a passage stands in its document.
func place(headings []string, l api.Locator) string { return print.Place(headings, l) }

// cited is a passage with its document and place, as a page shows it.
func cited(p *print.Page, by int, e api.Evidence) {
	p.Indent(by, "“%s”", e.Quote)
	p.Indent(by, "%s", print.Source(e))
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
func requirements(r api.RequirementCodes) string { return print.Requirements(r) }
