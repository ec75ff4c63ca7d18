package enginetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/agent"
	"github.com/scf-service/service/engine/agent/analysis"
	llm "github.com/scf-service/service/engine/llm"
)

// agentCaller is an agent service with a caller.
type agentCaller struct {
	*agent.Service
	by api.Caller
}

func (a agentCaller) EvaluateEvidence(ctx context.Context, in *api.EvaluateEvidenceInput) (*api.EvidenceEvaluation, error) {
	return a.Service.EvaluateEvidence(ctx, a.by, in)
}

func (a agentCaller) TriageIncident(ctx context.Context, in *api.TriageIncidentInput) (*api.IncidentTriage, error) {
	return a.Service.TriageIncident(ctx, a.by, in)
}

func (a agentCaller) TranslateRisk(ctx context.Context, in *api.TranslateRiskInput) (*api.RiskTranslation, error) {
	return a.Service.TranslateRisk(ctx, a.by, in)
}

func (a agentCaller) ScanVendorContract(ctx context.Context, in *api.ScanVendorContractInput) (*api.VendorScan, error) {
	return a.Service.ScanVendorContract(ctx, a.by, in)
}

func (a agentCaller) ArchitectRemediation(ctx context.Context, in *api.ArchitectRemediationInput) (*api.RemediationPlan, error) {
	return a.Service.ArchitectRemediation(ctx, a.by, in)
}

func (a agentCaller) AnalyzeRoPA(ctx context.Context, in *api.AnalyzeRoPAInput) (*api.RoPAAnalysis, error) {
	return a.Service.AnalyzeRoPA(ctx, a.by, in)
}

func (a agentCaller) AssessDPIA(ctx context.Context, in *api.AssessDPIAInput) (*api.DPIAAssessment, error) {
	return a.Service.AssessDPIA(ctx, a.by, in)
}

// TestCeiling checks that a model that knows the label of each case passes all checks and reaches
// every label. A case where the rules are too strict can't pass, since a model may never be more
// lenient; it must be listed here.
func TestCeiling(t *testing.T) {
	e, by := newEngineAndUser(t)
	var key map[string]any
	perfect := fake{func(llm.Request) (llm.Answer, error) {
		b, err := json.Marshal(key)
		return llm.Answer{Text: string(b), Model: "ollama/perfect"}, err
	}}
	rules, err := analysis.MeasureAnswerer(t.Context(), agentCaller{e.Agents, by}, func(map[string]any) {})
	if err != nil {
		t.Fatal(err)
	}
	best, err := analysis.MeasureAnswerer(t.Context(), agentCaller{newAgents(e, perfect), by}, func(k map[string]any) { key = k })
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range best {
		t.Logf(
			"%-12s %d cases: rules %d of %d labels, a perfect model %d; lost: %s",
			s.Analysis,
			s.Cases,
			rules[i].Met,
			s.Labels,
			s.Met,
			strings.Join(s.Missed, "; "),
		)
		if s.Met != s.Labels {
			t.Errorf("%s: %d of %d labels: %s", s.Analysis, s.Met, s.Labels, strings.Join(s.Missed, "; "))
		}
	}
}

// BenchmarkModelCall compares the rules, a model server that responds at once, and that server
// called directly.
func BenchmarkModelCall(b *testing.B) {
	w := newBench(b)
	in := evaluate("Laptops are encrypted and lock after 10 minutes.", strings.Repeat("All laptops are encrypted with BitLocker. ", 40))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "{\"message\":{\"role\":\"assistant\",\"content\":%q},\"done\":false}\n", strict)
		fmt.Fprintln(w, `{"message":{"role":"assistant","content":""},"done":true,"prompt_eval_count":7,"eval_count":30}`)
	}))
	b.Cleanup(server.Close)
	m, err := llm.New(llm.Options{Name: "ollama/instant", Server: server.URL})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("rules", func(b *testing.B) {
		for b.Loop() {
			if _, err := w.Agents.EvaluateEvidence(b.Context(), w.by, in); err != nil {
				b.Fatal(err)
			}
		}
	})
	s := newAgents(w.Engine, m)
	b.Run("with a model", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.EvaluateEvidence(b.Context(), w.by, in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("the model alone", func(b *testing.B) {
		for b.Loop() {
			if _, err := m.Chat(
				b.Context(),
				llm.Request{System: "s", User: "u", Schema: json.RawMessage(`{"type":"object"}`), MaxTokens: 500},
			); err != nil {
				b.Fatal(err)
			}
		}
	})
}
