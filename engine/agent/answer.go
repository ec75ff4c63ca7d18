package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/agent/analysis"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// answer is implemented by analysis results, which record how they were produced.
type answer[O any] interface {
	*O
	Metadata() *api.AnalysisMetadata
}

// question describes one of the seven analyses: its agent and input, the rules, and the check of a
// model's answer.
type question[O any] struct {
	agentID string
	input   any
	rules   func(analysis.Controls) (*O, analysis.Indicators)
	check   func(model, rules *O, c analysis.Controls) rejectedAnswers
}

// answerQuestion answers a question at once and stores the run.
func answerQuestion[O any, P answer[O]](ctx context.Context, s *Service, by api.Caller, q question[O]) (*O, error) {
	started := s.Clock()
	controls, _, err := s.Catalog.SnapshotWithLatestCustom(ctx, by.OrganizationID, "")
	if err != nil {
		return nil, err
	}
	input, err := hashJSON(q.input)
	if err != nil {
		return nil, err
	}
	out, signs := q.rules(controls)
	steps := []api.AgentStep{{
		Kind: "rule", Name: analysis.Rules, Input: toStepRecord(q.input),
		Output:     map[string]any{"signs": toIndicatorRecords(signs), "answer": toStepRecord(out)},
		DurationMS: s.Clock().Sub(started).Milliseconds(),
	}}
	run := api.AgentRun{Model: analysis.Model, PromptVersion: analysis.Rules}
	var limits []string
	if s.Model != nil {
		var better O
		c := s.callModel(ctx, by.OrganizationID, "", q.agentID, q.input, &better, func() rejectedAnswers {
			return q.check(&better, out, controls)
		})
		steps = append(steps, c.step)
		run.Tokens = c.tokens
		if c.note != "" {
			limits = append(limits, c.note)
		} else {
			P(&better).Metadata().Limitations = P(out).Metadata().Limitations
			out, run.Model, run.PromptVersion = &better, c.model, c.promptVersion
		}
	}
	mark := P(out).Metadata()
	mark.Limitations = append(limits, mark.Limitations...)
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		newRecord := newRun(tx, by, q.agentID, "", input)
		newRecord.Model, newRecord.PromptVersion, newRecord.Tokens = run.Model, run.PromptVersion, run.Tokens
		newRecord.Status, newRecord.StartedAt, newRecord.CompletedAt = completed, &started, ptr(tx.Now())
		mark.Model, mark.AgentRunID = newRecord.Model, newRecord.ID
		sum, err := hashJSON(out)
		if err != nil {
			return err
		}
		newRecord.OutputSHA256 = &sum
		if e, ok := any(out).(*api.EvidenceEvaluation); ok {
			newRecord.Confidence = ptr(e.ConfidenceScore / 100)
		}
		for i := range steps {
			steps[i].Index = i
			record := &store.AgentStep{AgentStep: steps[i], OrganizationID: by.OrganizationID, AgentRunID: newRecord.ID}
			if err := store.AgentSteps.Insert(tx, by.OrganizationID, record); err != nil {
				return err
			}
		}
		proposed := api.AgentOutput{
			AgentRunID: newRecord.ID, Summary: "An answer that requires human review.", Proposals: []map[string]any{toStepRecord(out)},
			Limitations: append(slices.Clone(mark.Limitations), "The answer is based only on the text provided."),
		}
		api.ReplaceNilCollections(&proposed)
		return errors.Join(
			store.AgentOutputs.Insert(tx, by.OrganizationID, &store.AgentOutput{AgentOutput: proposed, OrganizationID: by.OrganizationID}),
			store.AgentRuns.Insert(tx, by.OrganizationID, &newRecord),
			audit.Append(
				tx,
				by,
				audit.Entry{
					Action:       "analysis.answered",
					ResourceType: "agent_run",
					ResourceID:   newRecord.ID,
					Changes:      map[string]any{"agent_id": q.agentID, "model": newRecord.Model},
				},
			),
		)
	})
	return out, err
}

func toIndicatorRecords(signs analysis.Indicators) []any {
	out := []any{}
	for i, x := range signs {
		if i == 60 {
			break
		}
		out = append(out, map[string]any{"rule": x.Rule, "found": x.Found, "means": x.Means})
	}
	return out
}

// EvaluateEvidence evaluates evidence against a requirement.
func (s *Service) EvaluateEvidence(ctx context.Context, by api.Caller, in *api.EvaluateEvidenceInput) (*api.EvidenceEvaluation, error) {
	b := in.Body
	return answerQuestion(ctx, s, by, question[api.EvidenceEvaluation]{
		agentID: "evidence-evaluator", input: b,
		rules: func(analysis.Controls) (*api.EvidenceEvaluation, analysis.Indicators) {
			return analysis.EvaluateEvidence(ctx, b.ControlRequirement, b.EvidenceDescription)
		}, check: newEvidenceCorrector(b.ControlRequirement, b.EvidenceDescription),
	})
}

// TriageIncident determines whether an alert is an incident or a false alarm.
func (s *Service) TriageIncident(ctx context.Context, by api.Caller, in *api.TriageIncidentInput) (*api.IncidentTriage, error) {
	b := in.Body
	return answerQuestion(ctx, s, by, question[api.IncidentTriage]{
		agentID: "incident-triager", input: b,
		rules: func(analysis.Controls) (*api.IncidentTriage, analysis.Indicators) {
			return analysis.TriageIncident(ctx, b.SystemModuleName, b.RawLogsExcerpt)
		}, check: newIncidentCorrector(b.SystemModuleName, b.RawLogsExcerpt),
	})
}

// TranslateRisk rewrites a technical risk for a board.
func (s *Service) TranslateRisk(ctx context.Context, by api.Caller, in *api.TranslateRiskInput) (*api.RiskTranslation, error) {
	b := in.Body
	return answerQuestion(ctx, s, by, question[api.RiskTranslation]{
		agentID: "board-translator", input: b,
		rules: func(analysis.Controls) (*api.RiskTranslation, analysis.Indicators) {
			return analysis.TranslateRisk(ctx, b.TechnicalRiskDescription, b.RiskCategory, b.BusinessContext)
		}, check: newRiskCorrector(b.TechnicalRiskDescription, b.RiskCategory, b.BusinessContext),
	})
}

// ScanVendorContract finds missing clauses in a vendor contract.
func (s *Service) ScanVendorContract(ctx context.Context, by api.Caller, in *api.ScanVendorContractInput) (*api.VendorScan, error) {
	b := in.Body
	return answerQuestion(ctx, s, by, question[api.VendorScan]{
		agentID: "vendor-scanner", input: b,
		rules: func(analysis.Controls) (*api.VendorScan, analysis.Indicators) {
			return analysis.ScanVendorContract(ctx, b.VendorName, b.ContractExcerpt)
		}, check: newVendorCorrector(b.VendorName, b.ContractExcerpt),
	})
}

// ArchitectRemediation turns a failed evaluation into a remediation plan.
func (s *Service) ArchitectRemediation(
	ctx context.Context,
	by api.Caller,
	in *api.ArchitectRemediationInput,
) (*api.RemediationPlan, error) {
	b := in.Body
	if _, err := json.Marshal(b.EvidenceContext); err != nil {
		return nil, api.Invalid("evidenceContext", "not valid JSON: %v", err)
	}
	return answerQuestion(ctx, s, by, question[api.RemediationPlan]{
		agentID: "remediation-architect", input: b,
		rules: func(c analysis.Controls) (*api.RemediationPlan, analysis.Indicators) {
			return analysis.PlanRemediation(ctx, b.EvidenceContext, b.SystemArchitectureDescription, c)
		}, check: newRemediationCorrector(b.EvidenceContext, b.SystemArchitectureDescription),
	})
}

// AnalyzeRoPA returns the requirements for a processing activity.
func (s *Service) AnalyzeRoPA(ctx context.Context, by api.Caller, in *api.AnalyzeRoPAInput) (*api.RoPAAnalysis, error) {
	text := in.Body.Text
	return answerQuestion(ctx, s, by, question[api.RoPAAnalysis]{
		agentID: "ropa-analyzer", input: in.Body,
		rules: func(c analysis.Controls) (*api.RoPAAnalysis, analysis.Indicators) {
			return analysis.AnalyzeRoPA(ctx, text, c)
		}, check: newRoPACorrector(text),
	})
}

// AssessDPIA returns the residual risk of a project.
func (s *Service) AssessDPIA(ctx context.Context, by api.Caller, in *api.AssessDPIAInput) (*api.DPIAAssessment, error) {
	b := in.Body
	return answerQuestion(ctx, s, by, question[api.DPIAAssessment]{
		agentID: "dpia-assessor", input: b,
		rules: func(c analysis.Controls) (*api.DPIAAssessment, analysis.Indicators) {
			return analysis.AssessDPIA(ctx, b.ProjectDescription, b.RopaContext, c)
		}, check: newDPIACorrector(b.ProjectDescription),
	})
}
