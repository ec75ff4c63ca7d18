package analysis

import (
	"strings"
	"testing"
)

func BenchmarkAnalyses(b *testing.B) {
	long := strings.Repeat("Backups are encrypted and restored. ", 14000)
	for _, s := range []struct{ name, text string }{{"500 KB", long}, {"2 KB", long[:2000]}} {
		for name, ask := range map[string]func(){
			"evidence": func() { EvaluateEvidence(b.Context(), "Backups are taken daily, encrypted and restored.", s.text) },
			"incident": func() { TriageIncident(b.Context(), "m", s.text) },
			"risk":     func() { TranslateRisk(b.Context(), s.text, "security", "") },
			"vendor":   func() { ScanVendorContract(b.Context(), "v", s.text) },
			"ropa":     func() { AnalyzeRoPA(b.Context(), s.text, everyControl{}) },
			"dpia":     func() { AssessDPIA(b.Context(), s.text, nil, everyControl{}) },
		} {
			b.Run(name+" "+s.name, func(b *testing.B) {
				for b.Loop() {
					ask()
				}
			})
		}
	}
}
