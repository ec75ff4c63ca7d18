package api

import "slices"

// This file defines the states that an assessment passes through, the transitions between them, and the gates at which
// a user must approve a deliverable first.

// State is the lifecycle state of an assessment.
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

// Gate is a point in the lifecycle at which a user must approve a deliverable.
type Gate string

// The four gates.
const (
	GateSoA         Gate = "soa"
	GateGapAnalysis Gate = "gap_analysis"
	GateMaturity    Gate = "maturity"
	GatePOAM        Gate = "poam"
)

// Gates lists the four gates in lifecycle order.
var Gates = []Gate{GateSoA, GateGapAnalysis, GateMaturity, GatePOAM}

// Title returns the display name of the gate's deliverable.
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

// Move is one transition of the lifecycle, with a description and the gate whose approval it requires,
// if any.
type Move struct {
	From, To State
	// Work describes the work of the step, for users.
	Work string
	// Gate is set if the transition requires a user's approval first.
	Gate Gate
}

// Moves is the whole lifecycle: 21 transitions between adjacent states.
var Moves = []Move{
	{From: StateDraft, To: StateDocumentsUploaded, Work: "upload the documents"},
	{From: StateDocumentsUploaded, To: StateDocumentsIngested, Work: "read and index the documents"},
	{From: StateDocumentsIngested, To: StatePreAnalysisReady, Work: "review the evidence"},
	{From: StatePreAnalysisReady, To: StateFrameworkSelected, Work: "confirm the frameworks"},
	{From: StateFrameworkSelected, To: StateScopeDrafted, Work: "draft the scope"},
	{From: StateScopeDrafted, To: StateSoADrafted, Work: "draft the Statement of Applicability"},
	{From: StateSoADrafted, To: StateSoAUnderReview, Work: "submit the Statement of Applicability"},
	{From: StateSoAUnderReview, To: StateSoAApproved, Work: "approve the Statement of Applicability", Gate: GateSoA},
	{From: StateSoAApproved, To: StateSoAIngested, Work: "use the approved Statement of Applicability"},
	{From: StateSoAIngested, To: StateEvidenceAnalysisReady, Work: "link the evidence"},
	{From: StateEvidenceAnalysisReady, To: StateGapAnalysisDrafted, Work: "find the gaps"},
	{From: StateGapAnalysisDrafted, To: StateGapAnalysisUnderReview, Work: "submit the gap analysis"},
	{From: StateGapAnalysisUnderReview, To: StateGapAnalysisApproved, Work: "approve the gap analysis", Gate: GateGapAnalysis},
	{From: StateGapAnalysisApproved, To: StateMaturityAssessed, Work: "rate the maturity"},
	{From: StateMaturityAssessed, To: StateMaturityUnderReview, Work: "submit the maturity assessment"},
	{From: StateMaturityUnderReview, To: StateMaturityApproved, Work: "approve the maturity assessment", Gate: GateMaturity},
	{From: StateMaturityApproved, To: StatePOAMDrafted, Work: "plan the remediation"},
	{From: StatePOAMDrafted, To: StatePOAMUnderReview, Work: "submit the POA&M"},
	{From: StatePOAMUnderReview, To: StatePOAMApproved, Work: "approve the POA&M", Gate: GatePOAM},
	{From: StatePOAMApproved, To: StateReportGenerated, Work: "generate the reports"},
	{From: StateReportGenerated, To: StateClosed, Work: "close the assessment"},
}

// States returns all states in order.
func States() []State {
	out := []State{Moves[0].From}
	for _, m := range Moves {
		out = append(out, m.To)
	}
	return out
}

// IsValid reports whether s is one of the 22 states.
func (s State) IsValid() bool { return slices.Contains(States(), s) }

// NextMove returns the transition that leads out of s. It returns false if s is closed or unknown.
func (s State) NextMove() (Move, bool) {
	for _, m := range Moves {
		if m.From == s {
			return m, true
		}
	}
	return Move{}, false
}

// HasReached reports whether s is at or past other.
func (s State) HasReached(other State) bool {
	all := States()
	return slices.Index(all, s) >= slices.Index(all, other)
}

// ProgressPercent returns how far along the lifecycle s is, from 0 to 100.
func (s State) ProgressPercent() int {
	all := States()
	return max(0, slices.Index(all, s)) * 100 / (len(all) - 1)
}

// ReviewGate returns the gate of a state under review, and the drafted state to which a rejection
// returns. ok is false for any other state.
func (s State) ReviewGate() (gate Gate, drafted State, ok bool) {
	for i, m := range Moves {
		if m.From == s && m.Gate != "" {
			return m.Gate, Moves[i-1].From, true
		}
	}
	return "", "", false
}

// Values returns the 22 states, in order.
func (State) Values() []State { return States() }

// Values returns the four gates, in the order in which an assessment reaches them.
func (Gate) Values() []Gate { return Gates }

// CheckMove returns an error unless the lifecycle allows moving an assessment from one state to the other. It doesn't
// check for a required approval.
func CheckMove(from, to State) error {
	next, ok := from.NextMove()
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
		return Invalid("target_state", "unknown lifecycle state %q", to)
	case !ok:
		e = Conflict("a closed assessment can't change state")
	case from == to:
		e = Conflict("the assessment is already %s; the next state is %s", from, next.To)
	default:
		e = Conflict("the assessment is %s and can only move to %s", from, next.To)
	}
	return e.WithDetails(ErrorDetail{CurrentState: string(from), AttemptedTransition: string(to), AllowedTransitions: allowed})
}
