package api

import "slices"

// State is where an assessment stands in its lifecycle.
type State string

// The 22 states, in order.
const (
	StateDraft                  State = "draft"
	StateDocumentsUploaded      State = "documents_uploaded"
	StateDocumentsIngested      State = "documents_ingested"
	StatePreAnalysisReady       State = "scf_pre_analysis_ready"
	StateFrameworkSelected      State = "framework_selected"
	StateScopeDrafted           State = "scope_drafted"
	StateSoADrafted             State = "soa_drafted"
	StateSoAUnderReview         State = "soa_under_review"
	StateSoAApproved            State = "soa_approved"
	StateSoAIngested            State = "soa_ingested"
	StateEvidenceAnalysisReady  State = "evidence_analysis_ready"
	StateGapAnalysisDrafted     State = "gap_analysis_drafted"
	StateGapAnalysisUnderReview State = "gap_analysis_under_review"
	StateGapAnalysisApproved    State = "gap_analysis_approved"
	StateMaturityAssessed       State = "maturity_assessed"
	StateMaturityUnderReview    State = "maturity_under_review"
	StateMaturityApproved       State = "maturity_approved"
	StatePOAMDrafted            State = "poam_drafted"
	StatePOAMUnderReview        State = "poam_under_review"
	StatePOAMApproved           State = "poam_approved"
	StateReportGenerated        State = "report_generated"
	StateClosed                 State = "closed"
)

// Gate is a decision that only a person can make.
type Gate string

// The four gates.
const (
	GateSoA         Gate = "soa"
	GateGapAnalysis Gate = "gap_analysis"
	GateMaturity    Gate = "maturity"
	GatePOAM        Gate = "poam"
)

// Gates are the four gates in the order they are met.
var Gates = []Gate{GateSoA, GateGapAnalysis, GateMaturity, GatePOAM}

// Title is the gate's deliverable as people call it.
func (g Gate) Title() string {
	switch g {
	case GateSoA:
		return "Statement of Applicability"
	case GateGapAnalysis:
		return "gap analysis"
	case GateMaturity:
		return "maturity assessment"
	case GatePOAM:
		return "POA&M"
	}
	return string(g)
}

// Move is one step of the lifecycle: what it is in words, and the gate whose approval it waits for.
type Move struct {
	From, To State
	// Work says what the step does, for people.
	Work string
	// Gate is set where the move needs a person's approval first.
	Gate Gate
}

// Moves is the whole lifecycle: 21 moves between neighbours.
var Moves = []Move{
	{StateDraft, StateDocumentsUploaded, "take the documents", ""},
	{StateDocumentsUploaded, StateDocumentsIngested, "read and index the documents", ""},
	{StateDocumentsIngested, StatePreAnalysisReady, "look through the evidence", ""},
	{StatePreAnalysisReady, StateFrameworkSelected, "fix the frameworks", ""},
	{StateFrameworkSelected, StateScopeDrafted, "draft the scope", ""},
	{StateScopeDrafted, StateSoADrafted, "draft the Statement of Applicability", ""},
	{StateSoADrafted, StateSoAUnderReview, "submit the Statement of Applicability", ""},
	{StateSoAUnderReview, StateSoAApproved, "approve the Statement of Applicability", GateSoA},
	{StateSoAApproved, StateSoAIngested, "take the approved Statement of Applicability as basis", ""},
	{StateSoAIngested, StateEvidenceAnalysisReady, "link the evidence", ""},
	{StateEvidenceAnalysisReady, StateGapAnalysisDrafted, "find the gaps", ""},
	{StateGapAnalysisDrafted, StateGapAnalysisUnderReview, "submit the gap analysis", ""},
	{StateGapAnalysisUnderReview, StateGapAnalysisApproved, "approve the gap analysis", GateGapAnalysis},
	{StateGapAnalysisApproved, StateMaturityAssessed, "rate the maturity", ""},
	{StateMaturityAssessed, StateMaturityUnderReview, "submit the maturity assessment", ""},
	{StateMaturityUnderReview, StateMaturityApproved, "approve the maturity assessment", GateMaturity},
	{StateMaturityApproved, StatePOAMDrafted, "plan the remediation", ""},
	{StatePOAMDrafted, StatePOAMUnderReview, "submit the POA&M", ""},
	{StatePOAMUnderReview, StatePOAMApproved, "approve the POA&M", GatePOAM},
	{StatePOAMApproved, StateReportGenerated, "write the reports", ""},
	{StateReportGenerated, StateClosed, "close the assessment", ""},
}

// States returns all states in order.
func States() []State {
	out := []State{Moves[0].From}
	for _, m := range Moves {
		out = append(out, m.To)
	}
	return out
}

// IsValid tells whether s is one of the 22.
func (s State) IsValid() bool { return slices.Contains(States(), s) }

// Next is the move out of s; false for closed and for what is no state.
func (s State) Next() (Move, bool) {
	for _, m := range Moves {
		if m.From == s {
			return m, true
		}
	}
	return Move{}, false
}

// HasReached tells whether s is at or past other.
func (s State) HasReached(other State) bool {
	all := States()
	return slices.Index(all, s) >= slices.Index(all, other)
}

// Progress is how far s is along the lifecycle, 0 to 100.
func (s State) Progress() int {
	all := States()
	return max(0, slices.Index(all, s)) * 100 / (len(all) - 1)
}

// ReviewGate tells, for a state under review, its gate and the drafted state that a rejection goes back to.
func (s State) ReviewGate() (gate Gate, drafted State, ok bool) {
	for i, m := range Moves {
		if m.From == s && m.Gate != "" {
			return m.Gate, Moves[i-1].From, true
		}
	}
	return "", "", false
}

// CheckMove answers whether an assessment in state from may be asked to move to
// state to. Whether a gate is open is not asked here.
func CheckMove(from, to State) error {
	next, ok := from.Next()
	if ok && next.To == to {
		return nil
	}
	var allowed []State
	if ok {
		allowed = []State{next.To}
	}
	var e *Error
	switch {
	case !to.IsValid():
		return Invalid("target_state", "there is no lifecycle state %q", to)
	case !ok:
		e = Conflict("a closed assessment does not move")
	case from == to:
		e = Conflict("the assessment is already %s; the next state is %s", from, next.To)
	default:
		e = Conflict("the assessment is %s and can only move to %s", from, next.To)
	}
	return e.WithDetails(ErrorDetail{CurrentState: string(from), AttemptedTransition: string(to), AllowedTransitions: allowed})
}
