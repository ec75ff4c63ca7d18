package api

import "time"

// The kinds of workflow.
const (
	WorkflowFull    = "full_assessment"
	WorkflowIngest  = "ingest"
	WorkflowRefresh = "gap_refresh"
	WorkflowReport  = "report"
)

// WorkflowTypes are the kinds of workflow, in the order people need them.
var WorkflowTypes = []string{WorkflowFull, WorkflowIngest, WorkflowRefresh, WorkflowReport}

// RunStatus is where a workflow run stands.
type RunStatus string

// The statuses of a run.
const (
	RunPending   RunStatus = "pending"
	RunRunning   RunStatus = "running"
	RunApproval  RunStatus = "waiting_for_approval"
	RunInput     RunStatus = "waiting_for_input"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
	RunCompleted RunStatus = "completed"
)

// Values are the statuses of a run.
func (RunStatus) Values() []RunStatus {
	return []RunStatus{RunPending, RunRunning, RunApproval, RunInput, RunFailed, RunCancelled, RunCompleted}
}

// IsLive tells whether a run goes on, or waits to.
func (s RunStatus) IsLive() bool { return s != RunFailed && s != RunCancelled && s != RunCompleted }

// IsWaiting tells whether a run waits for people.
func (s RunStatus) IsWaiting() bool { return s == RunApproval || s == RunInput }

// The statuses of a step.
const (
	StepPending   = "pending"
	StepRunning   = "running"
	StepWaiting   = "waiting"
	StepCompleted = "completed"
	StepFailed    = "failed"
	StepCancelled = "cancelled"
)

// WorkflowStep is one step of a run.
type WorkflowStep struct {
	Name        string     `json:"name"`
	Title       string     `json:"title" doc:"What the step does, in words."`
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
	Status       RunStatus      `json:"status"`
	Progress     int            `json:"progress" doc:"0 to 100, by steps."`
	CurrentStep  string         `json:"current_step"`
	Steps        []WorkflowStep `json:"steps"`
	Detail       *string        `json:"detail" doc:"How far the current step is, where that can be told."`
	WaitingFor   *string        `json:"waiting_for" doc:"In words, what the run waits for."`
	ApprovalID   *string        `json:"approval_id" doc:"The approval that the run waits for."`
	NotBefore    *time.Time     `json:"not_before" doc:"When the run begins, or tries again."`
	Error        *string        `json:"error"`
	StartedBy    Actor          `json:"started_by"`
	LastSignal   *Signal        `json:"last_signal"`
	CompletedAt  *time.Time     `json:"completed_at"`
	Revision     int            `json:"revision" doc:"Rises with each change; the id of the run's events."`
}

// Signal is word from outside to a run that waits.
type Signal struct {
	Name    string         `json:"name"`
	Payload map[string]any `json:"payload"`
	Actor   Actor          `json:"actor"`
	At      time.Time      `json:"at"`
}

// StartWorkflowInput starts a run.
type StartWorkflowInput struct {
	AssessmentInput
	Body struct {
		WorkflowType string     `json:"workflow_type" enum:"full_assessment,ingest,gap_refresh,report"`
		StartAt      *time.Time `json:"start_at,omitempty" doc:"Not before this time."`
	}
}

// WorkflowsInput lists the runs of an assessment.
type WorkflowsInput struct {
	AssessmentInput
	Paging
	Status       RunStatus `query:"status"`
	WorkflowType string    `query:"workflow_type" enum:"full_assessment,ingest,gap_refresh,report"`
}

// WorkflowInput names a run.
type WorkflowInput struct {
	WorkflowRunID string `path:"workflowRunId"`
}

// WorkflowEventsInput follows a run.
type WorkflowEventsInput struct {
	WorkflowInput
	LastEventID string `header:"Last-Event-ID" doc:"The id of the last event that was seen; only newer ones are sent."`
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

// Operations of the interface's part 4.15, with the list and the events beside them.
var (
	StartLifecycle = Post[AssessmentInput, WorkflowRun](
		"start-lifecycle-workflow",
		"/assessments/{assessmentId}/workflows/lifecycle/start",
		WithPermission("workflow:write"),
		WithStatus(202),
		WithTag(tagWorkflow),
		WithSummary("Start the lifecycle workflow"),
	)
	StartWorkflow = Post[StartWorkflowInput, WorkflowRun](
		"start-workflow",
		"/assessments/{assessmentId}/workflows",
		WithPermission("workflow:write"),
		WithStatus(202),
		WithTag(tagWorkflow),
		WithSummary("Start a workflow"),
	)
	ListWorkflows = Get[WorkflowsInput, List[WorkflowRun]](
		"list-workflows",
		"/assessments/{assessmentId}/workflows",
		WithPermission("workflow:read"),
		WithTag(tagWorkflow),
		WithSummary("List the workflow runs of an assessment, newest first"),
	)
	GetLifecycleWorkflow = Get[AssessmentInput, WorkflowRun](
		"get-lifecycle-workflow",
		"/assessments/{assessmentId}/workflows/lifecycle",
		WithPermission("workflow:read"),
		WithTag(tagWorkflow),
		WithSummary("Tell how far the lifecycle workflow is"),
	)
	GetWorkflow = Get[WorkflowInput, WorkflowRun](
		"get-workflow",
		"/workflows/{workflowRunId}",
		WithPermission("workflow:read"),
		WithTag(tagWorkflow),
		WithSummary("Read a workflow run"),
	)
	WatchWorkflow = Get[WorkflowEventsInput, File](
		"watch-workflow",
		"/workflows/{workflowRunId}/events",
		WithPermission("workflow:read"),
		WithForm(Events),
		WithTag(tagWorkflow),
		WithSummary("Follow a workflow run as it goes on"),
	)
	CancelWorkflow = Post[WorkflowInput, WorkflowRun](
		"cancel-workflow",
		"/workflows/{workflowRunId}/cancel",
		WithPermission("workflow:write"),
		WithTag(tagWorkflow),
		WithSummary("Cancel a workflow run"),
	)
	ResumeWorkflow = Post[WorkflowInput, WorkflowRun](
		"resume-workflow",
		"/workflows/{workflowRunId}/resume",
		WithPermission("workflow:write"),
		WithStatus(202),
		WithTag(tagWorkflow),
		WithSummary("Resume a workflow run"),
	)
	SignalWorkflow = Post[SignalInput, WorkflowRun](
		"signal-workflow",
		"/workflows/{workflowRunId}/signals",
		WithPermission("workflow:write"),
		WithTag(tagWorkflow),
		WithSummary("Send a signal to a workflow run"),
	)
)
