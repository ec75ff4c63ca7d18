package agent

import (
	"context"

	"github.com/scf-service/service/api"
)

// pipelineAgent is one of the nine agents: its description, its permissions and its implementation.
type pipelineAgent struct {
	api.Agent
	// permissions lists what its tools require besides agent:run.
	permissions []api.Permission
	// needsAssessment reports whether it works on an assessment.
	needsAssessment bool
	run             func(context.Context, *job) error
}

// agents lists the nine agents in the order of the pipeline.
var agents = []pipelineAgent{
	{api.Agent{
		ID: "knowledge-steward", Name: "Knowledge steward",
		Role:  "Reviews the knowledge base for documents that could not be read, are outdated or are missing.",
		Tools: []string{"list-documents", "get-kb-stats"}, NeedsApprovalFor: []string{},
	}, []api.Permission{"document:read", "kb:read"}, true, reviewKnowledgeBase},
	{api.Agent{
		ID: "scf-control-analyst", Name: "SCF control analyst", Role: "Explains what controls require and which controls matter most.",
		Tools: []string{"get-scf-control", "get-assessment", "list-soa-items"}, NeedsApprovalFor: []string{},
	}, []api.Permission{"scf:read", "soa:read"}, false, analyzeControls},
	{api.Agent{
		ID: "framework-mapper", Name: "Framework mapper", Role: "Looks up the mappings between frameworks and controls.",
		Tools: []string{"get-assessment", "get-coverage", "get-crosswalk"}, NeedsApprovalFor: []string{},
	}, []api.Permission{"scf:read"}, false, mapFrameworks},
	{api.Agent{
		ID: "scope-soa-architect", Name: "Scope and SoA architect", Role: "Proposes the scope and drafts the Statement of Applicability.",
		Tools: []string{"get-assessment-scope", "draft-soa", "regenerate-soa", "list-soa-items"}, NeedsApprovalFor: []string{"soa"},
	}, []api.Permission{"scope:read", "soa:read", "soa:write"}, true, draftSoA},
	{api.Agent{
		ID: "evidence-analyst", Name: "Evidence analyst", Role: "Classifies the evidence and shows which controls it supports.",
		Tools: []string{"list-documents", "list-soa-items"}, NeedsApprovalFor: []string{},
	}, []api.Permission{"document:read", "soa:read"}, true, analyzeEvidence},
	{api.Agent{
		ID: "gap-analyst", Name: "Gap analyst", Role: "Drafts the gap analysis.",
		Tools: []string{"draft-gap-analysis", "regenerate-gap-analysis", "list-findings"}, NeedsApprovalFor: []string{"gap_analysis"},
	}, []api.Permission{"gap:read", "gap:write"}, true, analyzeGaps},
	{api.Agent{
		ID: "maturity-assessor", Name: "Maturity assessor", Role: "Suggests maturity levels.",
		Tools: []string{"draft-maturity", "regenerate-maturity", "list-maturity-scores"}, NeedsApprovalFor: []string{"maturity"},
	}, []api.Permission{"maturity:read", "maturity:write"}, true, assessMaturity},
	{api.Agent{
		ID: "poam-planner", Name: "POA&M planner", Role: "Drafts the plan of action and milestones.",
		Tools: []string{"draft-poam", "list-poam-items"}, NeedsApprovalFor: []string{"poam"},
	}, []api.Permission{"poam:read", "poam:write"}, true, planPOAM},
	{api.Agent{
		ID: "report-writer", Name: "Report writer", Role: "Writes reports.",
		Tools: []string{"create-report"}, NeedsApprovalFor: []string{},
	}, []api.Permission{"report:write"}, true, writeReport},
}
