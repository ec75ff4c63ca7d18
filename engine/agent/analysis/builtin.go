package analysis

import (
	"context"

	"github.com/scf-service/service/api"
)

// builtin is an Answerer that uses the rules of this package.
type builtin struct{ controls Controls }

func (builtin) EvaluateEvidence(ctx context.Context, in *api.EvaluateEvidenceInput) (*api.EvidenceEvaluation, error) {
	a, _ := EvaluateEvidence(ctx, in.Body.ControlRequirement, in.Body.EvidenceDescription)
	return a, nil
}

func (builtin) TriageIncident(ctx context.Context, in *api.TriageIncidentInput) (*api.IncidentTriage, error) {
	a, _ := TriageIncident(ctx, in.Body.SystemModuleName, in.Body.RawLogsExcerpt)
	return a, nil
}

func (builtin) TranslateRisk(ctx context.Context, in *api.TranslateRiskInput) (*api.RiskTranslation, error) {
	a, _ := TranslateRisk(ctx, in.Body.TechnicalRiskDescription, in.Body.RiskCategory, in.Body.BusinessContext)
	return a, nil
}

func (builtin) ScanVendorContract(ctx context.Context, in *api.ScanVendorContractInput) (*api.VendorScan, error) {
	a, _ := ScanVendorContract(ctx, in.Body.VendorName, in.Body.ContractExcerpt)
	return a, nil
}

func (b builtin) ArchitectRemediation(ctx context.Context, in *api.ArchitectRemediationInput) (*api.RemediationPlan, error) {
	a, _ := PlanRemediation(ctx, in.Body.EvidenceContext, in.Body.SystemArchitectureDescription, b.controls)
	return a, nil
}

func (b builtin) AnalyzeRoPA(ctx context.Context, in *api.AnalyzeRoPAInput) (*api.RoPAAnalysis, error) {
	a, _ := AnalyzeRoPA(ctx, in.Body.Text, b.controls)
	return a, nil
}

func (b builtin) AssessDPIA(ctx context.Context, in *api.AssessDPIAInput) (*api.DPIAAssessment, error) {
	a, _ := AssessDPIA(ctx, in.Body.ProjectDescription, in.Body.RopaContext, b.controls)
	return a, nil
}
