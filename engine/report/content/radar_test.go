package content

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func TestRadar(t *testing.T) {
	var domains []api.DomainMaturity
	for i, code := range strings.Fields("AST BCD CHG CLD CRY DCH END GOV HRS IAC IRO MON NET RSK TPM") {
		mean := float64(i) / 3
		m := api.DomainMaturity{DomainCode: code, Controls: 10 + i, Mean: &mean}
		if i == 14 {
			m.Mean = nil // the largest, but nothing to draw
		}
		domains = append(domains, m)
	}
	shown := radarDomains(domains)
	if len(shown) != radarAxes || shown[0].DomainCode != "CHG" || shown[11].DomainCode != "RSK" {
		t.Errorf("radar: %+v", shown)
	}
	if _, ok := radarChart(domains[:2]); ok {
		t.Error("a radar of two axes")
	}
	if _, ok := radarChart(domains); !ok {
		t.Error("no radar")
	}
}
