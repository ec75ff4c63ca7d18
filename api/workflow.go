package api

import "time"

// The kinds of workflow.
const (
	WorkflowFull    = "full_assessment"
	WorkflowIngest  = "ingest"
	WorkflowRefresh = "gap_refresh"
	WorkflowReport  = "report"
)

// WorkflowTypes lists the kinds of workflow in the usual order of use.
var WorkflowTypes = []string{WorkflowFull, WorkflowIngest, WorkflowRefresh, WorkflowReport}

// RunStatus is the status of a workflow run.
type RunStatus string

// The statuses of a workflow run.
const (
	RunPending   RunStatus = "pending"
	RunRunning   RunStatus = "running"
	RunApproval  RunStatus = "waiting_for_approval"
	RunInput     RunStatus = "waiting_for_input"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
	RunCompleted RunStatus = "completed"
)

// Values returns the statuses of a run.
func (RunStatus) Values() []RunStatus {
	return []RunStatus{RunPending, RunRunning, RunApproval, RunInput, RunFailed, RunCancelled, RunCompleted}
}

// IsLive reports whether the run has not ended: it is running or waiting.
func (s RunStatus) IsLive() bool { return s != RunFailed && s != RunCancelled && s != RunCompleted }

// IsWaitingForUser reports whether the run can only continue after a user's approval or input.
func (s RunStatus) IsWaitingForUser() bool { return s == RunApproval || s == RunInput }

// The statuses of a workflow step.
const (
	StepPending   = "pending"
	StepRunning   = "running"
	StepWaiting   = "waiting"
	StepCompleted = "completed"
	StepFailed    = "failed"
	StepCancelled = "cancelled"
)

// WorkflowStep is one step of a workflow run.
type WorkflowStep struct {
	Name        string     `json:"name"`
	Title       string     `json:"title" doc:"Description of the step."`
	Status      string     `json:"status" enum:"pending,running,waiting,completed,failed,cancelled"`
	Attempts    int        `json:"attempts"`
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	Error       *string    `json:"error"`
}

// WorkflowRun is one run of a workflow on an assessment. It survives restarts of the service.
type WorkflowRun struct {
	TenantRecord
	AssessmentID string         `json:"assessment_id"`
	WorkflowType string         `json:"workflow_type" enum:"full_assessment,ingest,gap_refresh,report"`
	Status       RunStatus      `json:"status"`
	Progress     int            `json:"progress" doc:"0 to 100, by steps."`
	CurrentStep  string         `json:"current_step"`
	Steps        []WorkflowStep `json:"steps"`
	Detail       *string        `json:"detail" doc:"Progress of the current step, if known."`
	WaitingFor   *string        `json:"waiting_for" doc:"Description of what the run waits for."`
	ApprovalID   *string        `json:"approval_id" doc:"The approval that the run waits for."`
	NotBefore    *time.Time     `json:"not_before" doc:"When the run starts or retries."`
	Error        *string        `json:"error"`
	StartedBy    Actor          `json:"started_by"`
	LastSignal   *Signal        `json:"last_signal"`
	CompletedAt  *time.Time     `json:"completed_at"`
	Revision     int            `json:"revision" doc:"Increases with each change; the id of the run's events."`
}

// Signal is an external message that a waiting run can receive.
type Signal struct {
	Name    string         `json:"name"`
	Payload map[string]any `json:"payload"`
	Actor   Actor          `json:"actor"`
	At      time.Time      `json:"at"`
}

// StartWorkflowInput is the input for starting a workflow run.
type StartWorkflowInput struct {
	AssessmentInput
	Body struct {
		WorkflowType string     `json:"workflow_type" enum:"full_assessment,ingest,gap_refresh,report"`
		StartAt      *time.Time `json:"start_at,omitempty" doc:"Not before this time."`
		// StopForReview is set if users submit the drafts.
		StopForReview bool `json:"stop_for_review,omitempty" doc:"Waits at each draft until a person has submitted it, instead of submitting it unseen."`
	}
}

// WorkflowsInput is the input for listing the workflow runs of an assessment.
type WorkflowsInput struct {
	AssessmentInput
	Paging
	Status       RunStatus `query:"status"`
	WorkflowType string    `query:"workflow_type" enum:"full_assessment,ingest,gap_refresh,report"`
}

// WorkflowInput identifies a run.
type WorkflowInput struct {
	WorkflowRunID string `path:"workflowRunId"`
}

// GetWorkflowInput identifies a run whose record is read.
type GetWorkflowInput struct {
	WorkflowInput
	Waiting
}

// WorkflowEventsInput identifies the run whose events are streamed.
type WorkflowEventsInput struct {
	WorkflowInput
	LastEventID string `header:"Last-Event-ID" doc:"The id of the last event received; only newer ones are sent."`
}

// SignalInput is the input for sending a signal to a workflow run.
type SignalInput struct {
	WorkflowInput
	Body struct {
		Name    string         `json:"name" minLength:"1" maxLength:"100"`
		Payload map[string]any `json:"payload,omitempty"`
	}
}

const tagWorkflow = "Workflows"

// Operations on workflow runs, defined in section 4.15 of the API specification, and two more: listing
// runs and streaming their events.
var (
	StartLifecycle = Post[AssessmentInput, WorkflowRun](
		"start-lifecycle-workflow", "/assessments/{assessmentId}/workflows/lifecycle/start", "workflow:write", tagWorkflow,
		"Start the lifecycle workflow", WithStatus(202),
	)
	StartWorkflow = Post[StartWorkflowInput, WorkflowRun](
		"start-workflow", "/assessments/{assessmentId}/workflows", "workflow:write", tagWorkflow,
		"Start a workflow", WithStatus(202),
	)
	ListWorkflows = Get[WorkflowsInput, List[WorkflowRun]](
		"list-workflows", "/assessments/{assessmentId}/workflows", "workflow:read", tagWorkflow,
		"List the workflow runs of an assessment, newest first",
	)
	GetLifecycleWorkflow = Get[AssessmentInput, WorkflowRun](
		"get-lifecycle-workflow", "/assessments/{assessmentId}/workflows/lifecycle", "workflow:read", tagWorkflow,
		"Get the progress of the lifecycle workflow",
	)
	GetWorkflow = Get[GetWorkflowInput, WorkflowRun](
		"get-workflow", "/workflows/{workflowRunId}", "workflow:read", tagWorkflow,
		"Get a workflow run",
	)
	WatchWorkflow = Get[WorkflowEventsInput, File](
		"watch-workflow", "/workflows/{workflowRunId}/events", "workflow:read", tagWorkflow,
		"Watch a workflow run", WithBodyEncoding(Events),
	)
	CancelWorkflow = Post[WorkflowInput, WorkflowRun](
		"cancel-workflow", "/workflows/{workflowRunId}/cancel", "workflow:write", tagWorkflow,
		"Cancel a workflow run",
	)
	ResumeWorkflow = Post[WorkflowInput, WorkflowRun](
		"resume-workflow", "/workflows/{workflowRunId}/resume", "workflow:write", tagWorkflow,
		"Resume a workflow run", WithStatus(202),
	)
	SignalWorkflow = Post[SignalInput, WorkflowRun](
		"signal-workflow", "/workflows/{workflowRunId}/signals", "workflow:write", tagWorkflow,
		"Send a signal to a workflow run",
	)
)
