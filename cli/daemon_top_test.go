package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// TestDaemonTopShowsThrottlingAndLanes checks that throttled organizations and the states of event receivers are shown.
func TestDaemonTopShowsThrottlingAndLanes(t *testing.T) {
	lanes := func(state string, n float64) api.Metric {
		return api.Metric{Name: "service_delivery_lanes", Value: n, Labels: map[string]string{"state": state}}
	}
	now := activityFromMetrics([]api.Metric{
		{Name: "service_throttled_organizations", Value: 3},
		{Name: "service_rate_limited_total", Value: 40, Labels: map[string]string{"budget": "organization"}},
		{Name: "service_rate_limited_total", Value: 2, Labels: map[string]string{"budget": "key"}},
		lanes("sending", 4), lanes("waiting", 5), lanes("paused", 6), lanes("slow", 7), lanes("unknown", 8),
	})
	var b bytes.Buffer
	out := print.Output{W: &b, Width: 200}
	if err := out.PrintPage(func(p *print.Page) { renderDaemonActivity(p, now, 5) }); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ") // without line breaks
	for _, want := range []string{"42 of them rate-limited; 3 organizations throttled", "4 being sent to, 5 waiting, 6 paused; 7 slow"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
}
