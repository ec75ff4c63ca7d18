package api

// AnalysisMetadata holds the fields common to all specialized analyses.
type AnalysisMetadata struct {
	Model      string `json:"model"`
	AgentRunID string `json:"agent_run_id"`
	// Limitations lists information that the answer could not take into account.
	Limitations []string `json:"limitations" doc:"What the answer could not take into account; usually empty."`
}

// Metadata returns the common fields of an analysis.
func (a *AnalysisMetadata) Metadata() *AnalysisMetadata { return a }

// EvidenceEvaluation is the verdict on whether evidence meets a requirement.
type EvidenceEvaluation struct {
	AnalysisMetadata
	IsCompliant     bool     `json:"is_compliant"`
	ConfidenceScore float64  `json:"confidence_score" doc:"0 to 100."`
	MissingElements []string `json:"missing_elements"`
	AuditorNotes    string   `json:"auditor_notes"`
}

// EvaluateEvidenceInput is the input of EvaluateEvidence: a requirement and the evidence to judge
// against it.
type EvaluateEvidenceInput struct {
	Body struct {
		ControlRequirement  string `json:"controlRequirement" minLength:"1" maxLength:"100000"`
		EvidenceDescription string `json:"evidenceDescription" maxLength:"500000"`
	}
}

// IncidentTriage is the verdict on whether a log shows an incident.
type IncidentTriage struct {
	AnalysisMetadata
	IsFalsePositive               bool     `json:"is_false_positive"`
	SeverityLevel                 string   `json:"severity_level"`
	AttackVectorGuessed           string   `json:"attack_vector_guessed"`
	AffectedAssetsIdentified      []string `json:"affected_assets_identified"`
	ImmediateContainmentActions   []string `json:"immediate_containment_actions"`
	RequiresDPOBreachNotification bool     `json:"requires_dpo_breach_notification"`
}

// TriageIncidentInput is the input of TriageIncident: a log to check for signs of an incident.
type TriageIncidentInput struct {
	Body struct {
		SystemModuleName string `json:"systemModuleName" maxLength:"1000"`
		RawLogsExcerpt   string `json:"rawLogsExcerpt" minLength:"1" maxLength:"500000"`
	}
}

// RiskTranslation is a technical risk restated for the board.
type RiskTranslation struct {
	AnalysisMetadata
	ExecutiveSummary         string  `json:"executive_summary"`
	UrgencyMetric            float64 `json:"urgency_metric" doc:"0 to 100."`
	FinancialImpactEstimate  string  `json:"financial_impact_estimate"`
	RegulatoryImpact         string  `json:"regulatory_impact"`
	BoardLevelRecommendation string  `json:"board_level_recommendation"`
}

// TranslateRiskInput is the input of TranslateRisk: a technical risk to restate for the board.
type TranslateRiskInput struct {
	Body struct {
		TechnicalRiskDescription string `json:"technicalRiskDescription" minLength:"1" maxLength:"200000"`
		RiskCategory             string `json:"riskCategory" enum:"security,privacy,compliance,architecture"`
		BusinessContext          string `json:"businessContext" maxLength:"200000"`
	}
}

// VendorScan is the result of a data protection review of a contract.
type VendorScan struct {
	AnalysisMetadata
	HasStandardContractualClauses bool     `json:"has_standard_contractual_clauses"`
	IsDPACompliant                bool     `json:"is_dpa_compliant"`
	LiabilityCapIdentified        string   `json:"liability_cap_identified"`
	DataSubprocessorsListed       []string `json:"data_subprocessors_listed"`
	RedFlagsForNegotiation        []string `json:"red_flags_for_negotiation"`
}

// ScanVendorContractInput is the input of ScanVendorContract: an excerpt of a contract with a vendor.
type ScanVendorContractInput struct {
	Body struct {
		VendorName      string `json:"vendorName" maxLength:"1000"`
		ContractExcerpt string `json:"contractExcerpt" minLength:"1" maxLength:"500000"`
	}
}

// RemediationPlan is a list of work items that would close a gap.
type RemediationPlan struct {
	AnalysisMetadata
	SprintActionItems       []string `json:"sprint_action_items"`
	DevopsCommandsSuggested []string `json:"devops_commands_suggested"`
	PriorityLevel           string   `json:"priority_level"`
	EstimatedEffort         string   `json:"estimated_effort"`
}

// ArchitectRemediationInput is the input of ArchitectRemediation: the evidence of a gap and a
// description of the system.
type ArchitectRemediationInput struct {
	Body struct {
		EvidenceContext               map[string]any `json:"evidenceContext"`
		SystemArchitectureDescription string         `json:"systemArchitectureDescription" maxLength:"200000"`
	}
}

// RequiredControl is a control that a processing activity requires, and why.
type RequiredControl struct {
	ControlID string `json:"control_id"`
	Name      string `json:"name"`
	Reason    string `json:"reason"`
}

// RoPAAnalysis holds the conclusions drawn from the description of a processing activity.
type RoPAAnalysis struct {
	AnalysisMetadata
	SuggestedRiskLevel  string            `json:"suggested_risk_level"`
	RequiredControls    []RequiredControl `json:"required_controls"`
	SuggestedLegalBasis string            `json:"suggested_legal_basis"`
	IsDPIARequired      bool              `json:"is_dpia_required"`
}

// AnalyzeRoPAInput is the input of AnalyzeRoPA: a description of a processing activity.
type AnalyzeRoPAInput struct {
	Body struct {
		Text string `json:"text" minLength:"1" maxLength:"500000"`
	}
}

// DPIAAssessment is the result of a data protection impact assessment: the residual risk of a project.
type DPIAAssessment struct {
	AnalysisMetadata
	ResidualRiskLevel          string   `json:"residual_risk_level"`
	IsApprovedTechnically      bool     `json:"is_approved_technically"`
	MitigatingControlsRequired []string `json:"mitigating_controls_required"`
	IsDraft                    bool     `json:"is_draft"`
	Justification              string   `json:"justification"`
}

// AssessDPIAInput is the input of AssessDPIA: a description of a project and its safeguards.
type AssessDPIAInput struct {
	Body struct {
		ProjectDescription string         `json:"projectDescription" minLength:"1" maxLength:"200000"`
		RopaContext        map[string]any `json:"ropaContext,omitempty"`
	}
}

const (
	tagAnalysis = "Specialized analyses"
	analysisRun = Permission("analysis:run")
)

// Operations that run specialized analyses, defined in section 4.17 of the API specification.
var (
	EvaluateEvidence = Post[EvaluateEvidenceInput, EvidenceEvaluation](
		"evaluate-evidence", "/gap/evaluate-evidence", analysisRun, tagAnalysis,
		"Evaluate evidence against a requirement",
	)
	TriageIncident = Post[TriageIncidentInput, IncidentTriage](
		"triage-incident", "/soc/triage-incident", analysisRun, tagAnalysis,
		"Triage an incident as real or as a false alarm",
	)
	TranslateRisk = Post[TranslateRiskInput, RiskTranslation](
		"translate-risk", "/executive/translate-risk", analysisRun, tagAnalysis,
		"Restate a technical risk for the board",
	)
	ScanVendorContract = Post[ScanVendorContractInput, VendorScan](
		"scan-vendor-contract", "/privacy/scan-vendor-contract", analysisRun, tagAnalysis,
		"Find data protection gaps in a contract",
	)
	ArchitectRemediation = Post[ArchitectRemediationInput, RemediationPlan](
		"architect-remediation", "/poam/architect-remediation", analysisRun, tagAnalysis,
		"Create a remediation plan for a gap",
	)
	AnalyzeRoPA = Post[AnalyzeRoPAInput, RoPAAnalysis](
		"analyze-ropa", "/privacy/analyze-ropa", analysisRun, tagAnalysis,
		"Determine the risk, legal basis and controls for a processing activity",
	)
	AssessDPIA = Post[AssessDPIAInput, DPIAAssessment](
		"assess-dpia", "/privacy/assess-dpia", analysisRun, tagAnalysis,
		"Assess the residual risk of a project",
	)
)
