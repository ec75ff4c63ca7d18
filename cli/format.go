package cli

import (
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// gateNouns maps each gate to the name of the command for its deliverable.
var gateNouns = map[api.Gate]string{api.GateSoA: "soa", api.GateGapAnalysis: "gap", api.GateMaturity: "maturity", api.GatePOAM: "poam"}

func gateCommandName(g api.Gate) string { return gateNouns[g] }

func formatTimePtr(t *time.Time) string {
	if t == nil {
		return ""
	}
	return print.FormatTime(*t)
}

// formatByline returns when and by whom something was done, or "" if at is nil.
func formatByline(at *time.Time, name *string) string {
	if at == nil {
		return ""
	}
	if name == nil {
		return print.FormatTime(*at)
	}
	return print.FormatTime(*at) + ", by " + *name
}

// orZero returns the value of a pointer, or the zero value if it is nil.
func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func formatPercent(p *float64) string {
	if p == nil {
		return "not available yet"
	}
	return prose.Decimal(*p) + "%"
}

// formatPercentWithFormula returns a percentage followed by the formula used to calculate it.
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
	return prose.Decimal(*p)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// renderQuote prints a passage with its document and location.
func renderQuote(p *print.Page, indent int, e api.Evidence) {
	p.IndentedText(indent, "“%s”", e.Quote)
	p.IndentedText(indent, "%s", print.FormatCitation(e))
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
