package cli

import (
	"fmt"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// gateNouns maps each gate to the name of the command for its deliverable.
var gateNouns = map[api.Gate]string{api.GateSoA: "soa", api.GateGapAnalysis: "gap", api.GateMaturity: "maturity", api.GatePOAM: "poam"}

func gateCommandName(g api.Gate) string { return gateNouns[g] }

func formatDay(t time.Time) string { return print.FormatDay(t) }

func formatTime(t time.Time) string { return print.FormatTime(t) }

func formatTimePtr(t *time.Time) string {
	if t == nil {
		return ""
	}
	return formatTime(*t)
}

// formatByline returns when and by whom something was done, or "" if at is nil.
func formatByline(at *time.Time, who *string) string {
	if at == nil {
		return ""
	}
	if who == nil {
		return formatTime(*at)
	}
	return formatTime(*at) + ", by " + *who
}

// orEmpty returns the value of a pointer, or the zero value if it is nil.
func orEmpty[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func formatPercent(p *float64) string {
	if p == nil {
		return "not available yet"
	}
	return fmt.Sprintf("%.1f%%", *p)
}

// formatPercentWithFormula returns a percentage followed by the formula that it was calculated with.
func formatPercentWithFormula(p *float64, formula string) string {
	if p == nil {
		return "not available yet"
	}
	return formatPercent(p) + ": " + formula
}

func formatScore(p *float64) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *p)
}

func pluralize(n int, one, many string) string { return print.Pluralize(n, one, many) }

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// formatSize formats a number of bytes in readable units.
func formatSize(n int64) string { return print.FormatSize(n) }

// humanize turns an API constant into words: partially_implemented becomes "partially implemented".
func humanize[S ~string](s S) string { return print.Humanize(s) }

// formatLocation returns the location of a passage in its document.
func formatLocation(headings []string, l api.Locator) string {
	return print.FormatLocation(headings, l)
}

// renderQuote prints a passage with its document and location.
func renderQuote(p *print.Page, indent int, e api.Evidence) {
	p.IndentedText(indent, "“%s”", e.Quote)
	p.IndentedText(indent, "%s", print.FormatSource(e))
}

// severityStyle returns the color of a severity.
func severityStyle(cell string) print.Style {
	switch api.Severity(cell) {
	case api.SeverityCritical, api.SeverityHigh:
		return print.Red
	case api.SeverityMedium:
		return print.Yellow
	}
	return print.Plain
}

// formatRequirements lists requirement codes by framework, in a stable order.
func formatRequirements(r api.RequirementCodes) string { return print.FormatRequirements(r) }
