package daemon_test

import (
	"github.com/scf-service/service/api"
)

// agents starts, watches, completes and cancels agent runs.
func (r *tour) agents() {
	r.call(api.ListAgents.Operation, "", "")
	r.expectError(api.StartAgentRun.Operation, "", `{"agent_id": "oracle"}`, api.CodeValidation)
	r.saveID("agentRunId", r.call(api.StartAssessmentAgentRun.Operation, "", `{"agent_id": "service_knowledge_steward"}`))
	for {
		run := r.call(api.GetAgentRun.Operation, "", "")
		if run["status"] == "completed" {
			break
		}
		if run["status"] == "failed" || run["status"] == "cancelled" {
			r.t.Fatalf("the steward's run: %v", run)
		}
	}
	r.call(api.ListAgentRunSteps.Operation, "", "")
	r.call(api.GetAgentRunOutput.Operation, "", "")
	r.call(api.CompleteAgentRun.Operation, "", "")
	r.expectError(api.CompleteAgentRun.Operation, "", `{"summary": "Otherwise."}`, api.CodeInvalidState)
	r.expectError(api.CancelAgentRun.Operation, "", "", api.CodeInvalidState)
	r.call(api.ListAssessmentAgentRuns.Operation, "", "")
	r.call(api.ListAgentRuns.Operation, "?status=completed&agent_id=knowledge_steward", "")
	r.cancelRuns()
}

// cancelRuns starts runs until one can be canceled before it has completed.
func (r *tour) cancelRuns() {
	for range 8 {
		r.saveID(
			"agentRunId",
			r.call(
				api.StartAgentRun.Operation,
				"",
				`{"agent_id": "report-writer", "assessment_id": "`+r.path["assessmentId"]+`", "input": {"format": "html"}}`,
			),
		)
		w := r.send(api.CancelAgentRun.Operation, "", "", nil)
		if w.Code < 300 {
			r.decodeSuccess(api.CancelAgentRun.Operation, w)
			return
		}
	}
	r.t.Error("no run could be cancelled")
}

// analyses calls each analysis once and reads its provenance.
func (r *tour) analyses() {
	for _, q := range []struct {
		op   *api.Operation
		body string
	}{
		{
			api.EvaluateEvidence.Operation,
			`{"controlRequirement": "Laptops are encrypted.", "evidenceDescription": "All laptops are encrypted with BitLocker."}`,
		},
		{api.TriageIncident.Operation, `{"systemModuleName": "vpn", "rawLogsExcerpt": "login failed user=a ip=203.0.113.5"}`},
		{
			api.TranslateRisk.Operation,
			`{"technicalRiskDescription": "Backups were never restored.", "riskCategory": "security", "businessContext": ""}`,
		},
		{api.ScanVendorContract.Operation, `{"vendorName": "Mono", "contractExcerpt": "Liability is limited to EUR 10,000."}`},
		{
			api.ArchitectRemediation.Operation,
			`{"evidenceContext": {"is_compliant": false, "missing_elements": ["encryption"]}, "systemArchitectureDescription": "AWS"}`,
		},
		{api.AnalyzeRoPA.Operation, `{"text": "Payroll of 20 employees."}`},
		{api.AssessDPIA.Operation, `{"projectDescription": "A newsletter with consent.", "ropaContext": {"suggested_risk_level": "low"}}`},
	} {
		answer := r.call(q.op, "", q.body)
		if answer["model"] != "builtin" {
			r.t.Errorf("%s: model %v", q.op.ID, answer["model"])
		}
		r.path["agentRunId"] = answer["agent_run_id"].(string)
		// One step is by the rules, the other the model's invalid response.
		if steps := r.call(api.ListAgentRunSteps.Operation, "", ""); len(steps["data"].([]any)) != 2 {
			r.t.Errorf("%s: steps %v", q.op.ID, steps)
		}
	}
	r.expectError(
		api.TranslateRisk.Operation,
		"",
		`{"technicalRiskDescription": "x", "riskCategory": "weather", "businessContext": ""}`,
		api.CodeValidation,
	)
}
