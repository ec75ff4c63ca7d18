package api

import "time"

// Agent is one of the nine pipeline agents.
type Agent struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	Role             string   `json:"role"`
	Tools            []string `json:"tools"`
	NeedsApprovalFor []string `json:"needs_approval_for"`
}

// Tokens counts the tokens that a model has read and written.
type Tokens struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
}

// AgentRun is one run of an agent.
type AgentRun struct {
	TenantRecord
	AgentID       string     `json:"agent_id"`
	AssessmentID  *string    `json:"assessment_id"`
	Status        string     `json:"status" enum:"pending,running,completed,failed,cancelled"`
	Model         string     `json:"model"`
	PromptVersion string     `json:"prompt_version"`
	InputSHA256   string     `json:"input_sha256"`
	OutputSHA256  *string    `json:"output_sha256"`
	Confidence    *float64   `json:"confidence"`
	Tokens        Tokens     `json:"tokens"`
	StartedAt     *time.Time `json:"started_at"`
	CompletedAt   *time.Time `json:"completed_at"`
	Error         *string    `json:"error"`
}

// AgentStep is one action of an agent.
type AgentStep struct {
	Index      int            `json:"index"`
	Kind       string         `json:"kind" enum:"tool,model,rule"`
	Name       string         `json:"name"`
	Input      map[string]any `json:"input"`
	Output     map[string]any `json:"output"`
	DurationMS int64          `json:"duration_ms"`
}

// AgentOutput is the draft that an agent proposes, with the sources it is based on.
type AgentOutput struct {
	AgentRunID  string           `json:"agent_run_id"`
	Summary     string           `json:"summary"`
	Proposals   []map[string]any `json:"proposals"`
	Assumptions []string         `json:"assumptions"`
	Limitations []string         `json:"limitations"`
	Sources     []Evidence       `json:"sources"`
}

// StartRunBody names the agent to run and provides its input.
type StartRunBody struct {
	AgentID      string         `json:"agent_id" minLength:"1" maxLength:"100"`
	AssessmentID string         `json:"assessment_id,omitempty" minLength:"1"`
	Input        map[string]any `json:"input,omitempty"`
}

// StartRunInput is the input for starting a run.
type StartRunInput struct {
	Body StartRunBody
}

// StartAssessmentRunInput is the input for starting a run on an assessment.
type StartAssessmentRunInput struct {
	AssessmentInput
	Body StartRunBody
}

// AgentRunsInput is the input for listing runs.
type AgentRunsInput struct {
	Paging
	Status  string `query:"status"`
	AgentID string `query:"agent_id"`
}

// AgentRunInput identifies a run.
type AgentRunInput struct {
	AgentRunID string `path:"agentRunId"`
}

// GetAgentRunInput identifies the run to read.
type GetAgentRunInput struct {
	AgentRunInput
	Waiting
}

// CompleteRunInput is the input for completing a run manually, with the output given in the body.
type CompleteRunInput struct {
	AgentRunInput
	Body *struct {
		Summary   string           `json:"summary,omitempty" maxLength:"20000"`
		Proposals []map[string]any `json:"proposals,omitempty"`
	}
}

// AgentStepsInput is the input for listing the steps of a run.
type AgentStepsInput struct {
	AgentRunInput
	Paging
}

const tagAgent = "Agents"

// Operations on agents and their runs, defined in section 4.16 of the API specification.
var (
	ListAgents = Get[Paging, List[Agent]](
		"list-agents", "/agent-runtime/agents", "agent:read", tagAgent,
		"List the pipeline agents", WithAccess(SignedIn),
	)
	StartAssessmentAgentRun = Create[StartAssessmentRunInput, AgentRun](
		"start-assessment-agent-run", "/assessments/{assessmentId}/agent-runs", "agent:run", tagAgent,
		"Start an agent on an assessment",
	)
	ListAssessmentAgentRuns = Get[AssessmentListInput, List[AgentRun]](
		"list-assessment-agent-runs", "/assessments/{assessmentId}/agent-runs", "agent:read", tagAgent,
		"List the agent runs of an assessment",
	)
	ListAgentRuns = Get[AgentRunsInput, List[AgentRun]](
		"list-agent-runs", "/agent-runs", "agent:read", tagAgent,
		"List agent runs",
	)
	StartAgentRun = Create[StartRunInput, AgentRun](
		"start-agent-run", "/agent-runs", "agent:run", tagAgent,
		"Start an agent",
	)
	GetAgentRun = Get[GetAgentRunInput, AgentRun](
		"get-agent-run", "/agent-runs/{agentRunId}", "agent:read", tagAgent,
		"Get an agent run",
	)
	CompleteAgentRun = Post[CompleteRunInput, AgentRun](
		"complete-agent-run", "/agent-runs/{agentRunId}/complete", "agent:run", tagAgent,
		"Complete an agent run manually",
	)
	CancelAgentRun = Post[AgentRunInput, AgentRun](
		"cancel-agent-run", "/agent-runs/{agentRunId}/cancel", "agent:run", tagAgent,
		"Cancel an agent run",
	)
	GetAgentRunOutput = Get[AgentRunInput, AgentOutput](
		"get-agent-run-output", "/agent-runs/{agentRunId}/output", "agent:read", tagAgent,
		"Get the draft proposed by an agent",
	)
	ListAgentRunSteps = Get[AgentStepsInput, List[AgentStep]](
		"list-agent-run-steps", "/agent-runs/{agentRunId}/steps", "agent:read", tagAgent,
		"List the steps of an agent run",
	)
)
