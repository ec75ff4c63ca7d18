package api

import "time"

// WorkflowStep is one step of a run.
type WorkflowStep struct {
	Name        string     `json:"name"`
	Status      string     `json:"status" enum:"pending,running,waiting,completed,failed,cancelled"`
	Attempts    int        `json:"attempts"`
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	Error       *string    `json:"error"`
}

// WorkflowRun is a durable run over an assessment.
type WorkflowRun struct {
	TenantRecord
	AssessmentID string         `json:"assessment_id"`
	WorkflowType string         `json:"workflow_type" enum:"full_assessment,ingest,gap_refresh,report"`
	Status       string         `json:"status" enum:"pending,running,waiting_for_approval,waiting_for_input,failed,cancelled,completed"`
	CurrentStep  string         `json:"current_step"`
	Steps        []WorkflowStep `json:"steps"`
	WaitingFor   *string        `json:"waiting_for"`
}

// StartWorkflowInput starts a run.
type StartWorkflowInput struct {
	AssessmentInput
	Body struct {
		WorkflowType string `json:"workflow_type" enum:"full_assessment,ingest,gap_refresh,report"`
	}
}

// WorkflowInput names a run.
type WorkflowInput struct {
	WorkflowRunID string `path:"workflowRunId"`
}

// SignalInput sends a signal to a run.
type SignalInput struct {
	WorkflowInput
	Body struct {
		Name    string         `json:"name" minLength:"1" maxLength:"100"`
		Payload map[string]any `json:"payload,omitempty"`
	}
}

const tagWorkflow = "Workflows"

// Operations of the interface's part 4.15.
var (
	StartLifecycle       = Post[AssessmentInput, WorkflowRun]("start-lifecycle-workflow", "/assessments/{assessmentId}/workflows/lifecycle/start", Needs("workflow:write"), Status(202), Tagged(tagWorkflow), Summary("Start the lifecycle workflow"))
	StartWorkflow        = Post[StartWorkflowInput, WorkflowRun]("start-workflow", "/assessments/{assessmentId}/workflows", Needs("workflow:write"), Status(202), Tagged(tagWorkflow), Summary("Start a workflow"))
	GetLifecycleWorkflow = Get[AssessmentInput, WorkflowRun]("get-lifecycle-workflow", "/assessments/{assessmentId}/workflows/lifecycle", Needs("workflow:read"), Tagged(tagWorkflow), Summary("Tell how far the lifecycle workflow is"))
	GetWorkflow          = Get[WorkflowInput, WorkflowRun]("get-workflow", "/workflows/{workflowRunId}", Needs("workflow:read"), Tagged(tagWorkflow), Summary("Read a workflow run"))
	CancelWorkflow       = Post[WorkflowInput, WorkflowRun]("cancel-workflow", "/workflows/{workflowRunId}/cancel", Needs("workflow:write"), Tagged(tagWorkflow), Summary("Cancel a workflow run"))
	ResumeWorkflow       = Post[WorkflowInput, WorkflowRun]("resume-workflow", "/workflows/{workflowRunId}/resume", Needs("workflow:write"), Status(202), Tagged(tagWorkflow), Summary("Resume a workflow run"))
	SignalWorkflow       = Post[SignalInput, WorkflowRun]("signal-workflow", "/workflows/{workflowRunId}/signals", Needs("workflow:write"), Tagged(tagWorkflow), Summary("Send a signal to a workflow run"))
)
