package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/agent/analysis"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// answer is a type of answer that says what made it.
type answer[O any] interface {
	*O
	Mark() *api.Analysed
}

// question is one of the seven analyses: who answers it, what is asked, the rules, and
// the facts that a model's answer is held against.
type question[O any] struct {
	agent string
	asked any
	rules func(analysis.Controls) (*O, analysis.Signs)
	check func(model, rules *O, c analysis.Controls) dropped
}

// analyse answers a question at once and keeps the run.
func analyse[O any, P answer[O]](ctx context.Context, s *Service, by api.Caller, q question[O]) (*O, error) {
	started := s.Clock()
	controls, _, err := s.Catalog.Newest(ctx, by.OrganizationID, "")
	if err != nil {
		return nil, err
	}
	input, err := hash(q.asked)
	if err != nil {
		return nil, err
	}
	out, signs := q.rules(controls)
	steps := []api.AgentStep{{Kind: "rule", Name: analysis.Rules, Input: kept(q.asked), Output: map[string]any{"signs": signsOf(signs), "answer": kept(out)},
		DurationMS: s.Clock().Sub(started).Milliseconds()}}
	run := api.AgentRun{Model: analysis.Model, PromptVersion: analysis.Rules}
	var limits []string
	if s.Model != nil {
		var better O
		c := s.consult(ctx, q.agent, q.asked, &better, func() dropped { return q.check(&better, out, controls) })
		steps = append(steps, c.step)
		run.Tokens = c.tokens
		if c.note != "" {
			limits = append(limits, c.note)
		} else {
			P(&better).Mark().Limitations = P(out).Mark().Limitations
			out, run.Model, run.PromptVersion = &better, c.model, c.prompt
		}
	}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		made := newRun(tx, by, q.agent, "", input)
		made.Model, made.PromptVersion, made.Tokens = run.Model, run.PromptVersion, run.Tokens
		made.Status, made.StartedAt, made.CompletedAt = completed, &started, ptr(tx.Now())
		mark := P(out).Mark()
		mark.Model, mark.AgentRunID = made.Model, made.ID
		sum, err := hash(out)
		if err != nil {
			return err
		}
		made.OutputSHA256 = &sum
		if e, ok := any(out).(*api.EvidenceEvaluation); ok {
			made.Confidence = ptr(e.ConfidenceScore / 100)
		}
		for i := range steps {
			steps[i].Index = i
			if err := store.AgentSteps.Insert(tx, by.OrganizationID, &store.AgentStep{AgentStep: steps[i], OrganizationID: by.OrganizationID, AgentRunID: made.ID}); err != nil {
				return err
			}
		}
		proposed := api.AgentOutput{AgentRunID: made.ID, Summary: "An answer, to be judged by a person.", Proposals: []map[string]any{kept(out)},
			Limitations: append(append(limits, mark.Limitations...), "It knows no more than the text it was given.")}
		api.NeverNull(&proposed)
		return errors.Join(store.AgentOutputs.Insert(tx, by.OrganizationID, &store.AgentOutput{AgentOutput: proposed, OrganizationID: by.OrganizationID}),
			store.AgentRuns.Insert(tx, by.OrganizationID, &made),
			audit.Append(tx, by, audit.Entry{Action: "analysis.answered", ResourceType: "agent_run", ResourceID: made.ID, Changes: map[string]any{"agent_id": q.agent, "model": made.Model}}))
	})
	return out, err
}

func signsOf(signs analysis.Signs) []any {
	out := []any{}
	for i, x := range signs {
		if i == 60 {
			break
		}
		out = append(out, map[string]any{"rule": x.Rule, "found": x.Found, "means": x.Means})
	}
	return out
}

// EvaluateEvidence judges evidence against a requirement.
func (s *Service) EvaluateEvidence(ctx context.Context, by api.Caller, in *api.EvaluateEvidenceInput) (*api.EvidenceEvaluation, error) {
	b := in.Body
	return analyse(ctx, s, by, question[api.EvidenceEvaluation]{"evidence-evaluator", b,
		func(analysis.Controls) (*api.EvidenceEvaluation, analysis.Signs) {
			return analysis.Evidence(ctx, b.ControlRequirement, b.EvidenceDescription)
		}, checkEvidence(b.ControlRequirement, b.EvidenceDescription)})
}

// TriageIncident tells an incident from a false alarm.
func (s *Service) TriageIncident(ctx context.Context, by api.Caller, in *api.TriageIncidentInput) (*api.IncidentTriage, error) {
	b := in.Body
	return analyse(ctx, s, by, question[api.IncidentTriage]{"incident-triager", b,
		func(analysis.Controls) (*api.IncidentTriage, analysis.Signs) {
			return analysis.Incident(ctx, b.SystemModuleName, b.RawLogsExcerpt)
		}, checkIncident(b.SystemModuleName, b.RawLogsExcerpt)})
}

// TranslateRisk says a risk in a board's words.
func (s *Service) TranslateRisk(ctx context.Context, by api.Caller, in *api.TranslateRiskInput) (*api.RiskTranslation, error) {
	b := in.Body
	return analyse(ctx, s, by, question[api.RiskTranslation]{"board-translator", b,
		func(analysis.Controls) (*api.RiskTranslation, analysis.Signs) {
			return analysis.Risk(ctx, b.TechnicalRiskDescription, b.RiskCategory, b.BusinessContext)
		}, checkRisk(b.TechnicalRiskDescription, b.RiskCategory, b.BusinessContext)})
}

// ScanVendorContract finds what a contract lacks.
func (s *Service) ScanVendorContract(ctx context.Context, by api.Caller, in *api.ScanVendorContractInput) (*api.VendorScan, error) {
	b := in.Body
	return analyse(ctx, s, by, question[api.VendorScan]{"vendor-scanner", b,
		func(analysis.Controls) (*api.VendorScan, analysis.Signs) {
			return analysis.Vendor(ctx, b.VendorName, b.ContractExcerpt)
		}, checkVendor(b.VendorName, b.ContractExcerpt)})
}

// ArchitectRemediation turns a failed evaluation into a plan.
func (s *Service) ArchitectRemediation(ctx context.Context, by api.Caller, in *api.ArchitectRemediationInput) (*api.RemediationPlan, error) {
	b := in.Body
	if _, err := json.Marshal(b.EvidenceContext); err != nil {
		return nil, api.Invalid("evidenceContext", "it can't be read: %v", err)
	}
	return analyse(ctx, s, by, question[api.RemediationPlan]{"remediation-architect", b,
		func(c analysis.Controls) (*api.RemediationPlan, analysis.Signs) {
			return analysis.Remediation(ctx, b.EvidenceContext, b.SystemArchitectureDescription, c)
		}, checkRemediation(b.EvidenceContext, b.SystemArchitectureDescription)})
}

// AnalyzeRoPA says what a processing asks for.
func (s *Service) AnalyzeRoPA(ctx context.Context, by api.Caller, in *api.AnalyzeRoPAInput) (*api.RoPAAnalysis, error) {
	text := in.Body.Text
	return analyse(ctx, s, by, question[api.RoPAAnalysis]{"ropa-analyzer", in.Body,
		func(c analysis.Controls) (*api.RoPAAnalysis, analysis.Signs) { return analysis.RoPA(ctx, text, c) }, checkRoPA(text)})
}

// AssessDPIA says which risk remains.
func (s *Service) AssessDPIA(ctx context.Context, by api.Caller, in *api.AssessDPIAInput) (*api.DPIAAssessment, error) {
	b := in.Body
	return analyse(ctx, s, by, question[api.DPIAAssessment]{"dpia-assessor", b,
		func(c analysis.Controls) (*api.DPIAAssessment, analysis.Signs) {
			return analysis.DPIA(ctx, b.ProjectDescription, b.RopaContext, c)
		}, checkDPIA(b.ProjectDescription, b.RopaContext)})
}
