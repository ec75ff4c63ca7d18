// Package lifecycle says which states an assessment passes through, which state may follow which, and at which gates a user
// must approve a deliverable first.
package lifecycle

import "slices"

// State is the lifecycle state of an assessment.
type State string

// The 22 states, in order.
const (
	Draft                  State = "draft"
	DocumentsUploaded      State = "documents_uploaded"
	DocumentsIngested      State = "documents_ingested"
	PreAnalysisReady       State = "scf_pre_analysis_ready"
	FrameworkSelected      State = "framework_selected"
	ScopeDrafted           State = "scope_drafted"
	SoADrafted             State = "soa_drafted"
	SoAUnderReview         State = "soa_under_review"
	SoAApproved            State = "soa_approved"
	SoAIngested            State = "soa_ingested"
	EvidenceAnalysisReady  State = "evidence_analysis_ready"
	GapAnalysisDrafted     State = "gap_analysis_drafted"
	GapAnalysisUnderReview State = "gap_analysis_under_review"
	GapAnalysisApproved    State = "gap_analysis_approved"
	MaturityAssessed       State = "maturity_assessed"
	MaturityUnderReview    State = "maturity_under_review"
	MaturityApproved       State = "maturity_approved"
	POAMDrafted            State = "poam_drafted"
	POAMUnderReview        State = "poam_under_review"
	POAMApproved           State = "poam_approved"
	ReportGenerated        State = "report_generated"
	Closed                 State = "closed"
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
	{Draft, DocumentsUploaded, "upload the documents", ""},
	{DocumentsUploaded, DocumentsIngested, "read and index the documents", ""},
	{DocumentsIngested, PreAnalysisReady, "review the evidence", ""},
	{PreAnalysisReady, FrameworkSelected, "confirm the frameworks", ""},
	{FrameworkSelected, ScopeDrafted, "draft the scope", ""},
	{ScopeDrafted, SoADrafted, "draft the Statement of Applicability", ""},
	{SoADrafted, SoAUnderReview, "submit the Statement of Applicability", ""},
	{SoAUnderReview, SoAApproved, "approve the Statement of Applicability", GateSoA},
	{SoAApproved, SoAIngested, "use the approved Statement of Applicability", ""},
	{SoAIngested, EvidenceAnalysisReady, "link the evidence", ""},
	{EvidenceAnalysisReady, GapAnalysisDrafted, "find the gaps", ""},
	{GapAnalysisDrafted, GapAnalysisUnderReview, "submit the gap analysis", ""},
	{GapAnalysisUnderReview, GapAnalysisApproved, "approve the gap analysis", GateGapAnalysis},
	{GapAnalysisApproved, MaturityAssessed, "rate the maturity", ""},
	{MaturityAssessed, MaturityUnderReview, "submit the maturity assessment", ""},
	{MaturityUnderReview, MaturityApproved, "approve the maturity assessment", GateMaturity},
	{MaturityApproved, POAMDrafted, "plan the remediation", ""},
	{POAMDrafted, POAMUnderReview, "submit the POA&M", ""},
	{POAMUnderReview, POAMApproved, "approve the POA&M", GatePOAM},
	{POAMApproved, ReportGenerated, "generate the reports", ""},
	{ReportGenerated, Closed, "close the assessment", ""},
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

// ProgressPercent returns how far s is along the lifecycle, from 0 to 100.
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
