package analysis

import (
	"strings"
	"testing"
)

func BenchmarkAnalyses(b *testing.B) {
	long := strings.Repeat("Backups are encrypted and restored. ", 14000)
	for _, s := range []struct{ name, text string }{{"500 KB", long}, {"2 KB", long[:2000]}} {
		for name, ask := range map[string]func(){
			"evidence": func() { Evidence(b.Context(), "Backups are taken daily, encrypted and restored.", s.text) },
			"incident": func() { Incident(b.Context(), "m", s.text) },
			"risk":     func() { Risk(b.Context(), s.text, "security", "") },
			"vendor":   func() { Vendor(b.Context(), "v", s.text) },
			"ropa":     func() { RoPA(b.Context(), s.text, everyControl{}) },
			"dpia":     func() { DPIA(b.Context(), s.text, nil, everyControl{}) },
		} {
			b.Run(name+" "+s.name, func(b *testing.B) {
				for b.Loop() {
					ask()
				}
			})
		}
	}
}
