package assessment

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/llm"
)

// TestLimitsOfAReading checks that a request that may exceed a limit of the run is not sent, that earlier calls of the run and
// requests in progress count, and that the limit is named.
func TestLimitsOfAReading(t *testing.T) {
	began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	priced := api.ModelLimits{MaxCost: 1, PromptPrice: 100, CompletionPrice: 300}
	for name, tc := range map[string]struct {
		limits        api.ModelLimits
		earlier, used api.ModelUse
		passed        time.Duration
		want          string // "" if the request is sent
	}{
		"none":                 {api.ModelLimits{}, api.ModelUse{PromptTokens: 1e9, Seconds: 1e9, Cost: 1e9}, api.ModelUse{}, time.Hour, ""},
		"tokens left":          {api.ModelLimits{MaxTokens: 2000}, api.ModelUse{}, api.ModelUse{PromptTokens: 900, CompletionTokens: 100}, 0, ""},
		"no tokens left":       {api.ModelLimits{MaxTokens: 1999}, api.ModelUse{}, api.ModelUse{PromptTokens: 1000}, 0, "1999 tokens"},
		"used earlier":         {api.ModelLimits{MaxTokens: 2000}, api.ModelUse{PromptTokens: 500}, api.ModelUse{PromptTokens: 501}, 0, "2000"},
		"others in progress":   {api.ModelLimits{MaxTokens: 2000, Concurrency: 3}, api.ModelUse{}, api.ModelUse{}, 0, "2000 tokens"},
		"money left":           {priced, api.ModelUse{}, api.ModelUse{Cost: 0.7}, 0, ""},
		"no money left":        {priced, api.ModelUse{Cost: 0.7}, api.ModelUse{Cost: 0.1}, 0, "of 1.00 per run"},
		"time left":            {api.ModelLimits{MaxSeconds: 60}, api.ModelUse{Seconds: 30}, api.ModelUse{}, 20 * time.Second, ""},
		"no time left":         {api.ModelLimits{MaxSeconds: 60}, api.ModelUse{Seconds: 30}, api.ModelUse{}, 31 * time.Second, "of 1m0s per run"},
		"a price but no limit": {api.ModelLimits{PromptPrice: 1e9}, api.ModelUse{}, api.ModelUse{Cost: 1e9}, 0, ""},
	} {
		s := &Service{modelLimits: tc.limits, clock: func() time.Time { return began.Add(tc.passed) }}
		r := &modelRun{s: s, status: &llm.Status{}, began: began, earlier: tc.earlier, used: tc.used}
		err := r.reserve(t.Context(), 1000)
		if (err == nil) != (tc.want == "") || err != nil && !errors.Is(err, errStopped) || !strings.Contains(r.out.Stopped, tc.want) {
			t.Errorf("%s: %v, %q", name, err, r.out.Stopped)
		}
	}
}
