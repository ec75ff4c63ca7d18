package api

import "github.com/scf-service/service/api/lifecycle"

// State is the lifecycle state of an assessment. Package lifecycle says which state may follow which.
type State = lifecycle.State

// The 22 states, in order.
const (
	StateDraft                  = lifecycle.Draft
	StateDocumentsUploaded      = lifecycle.DocumentsUploaded
	StateDocumentsIngested      = lifecycle.DocumentsIngested
	StatePreAnalysisReady       = lifecycle.PreAnalysisReady
	StateFrameworkSelected      = lifecycle.FrameworkSelected
	StateScopeDrafted           = lifecycle.ScopeDrafted
	StateSoADrafted             = lifecycle.SoADrafted
	StateSoAUnderReview         = lifecycle.SoAUnderReview
	StateSoAApproved            = lifecycle.SoAApproved
	StateSoAIngested            = lifecycle.SoAIngested
	StateEvidenceAnalysisReady  = lifecycle.EvidenceAnalysisReady
	StateGapAnalysisDrafted     = lifecycle.GapAnalysisDrafted
	StateGapAnalysisUnderReview = lifecycle.GapAnalysisUnderReview
	StateGapAnalysisApproved    = lifecycle.GapAnalysisApproved
	StateMaturityAssessed       = lifecycle.MaturityAssessed
	StateMaturityUnderReview    = lifecycle.MaturityUnderReview
	StateMaturityApproved       = lifecycle.MaturityApproved
	StatePOAMDrafted            = lifecycle.POAMDrafted
	StatePOAMUnderReview        = lifecycle.POAMUnderReview
	StatePOAMApproved           = lifecycle.POAMApproved
	StateReportGenerated        = lifecycle.ReportGenerated
	StateClosed                 = lifecycle.Closed
)

// Gate is a point in the lifecycle at which a user must approve a deliverable.
type Gate = lifecycle.Gate

// The four gates.
const (
	GateSoA         = lifecycle.GateSoA
	GateGapAnalysis = lifecycle.GateGapAnalysis
	GateMaturity    = lifecycle.GateMaturity
	GatePOAM        = lifecycle.GatePOAM
)

// Gates lists the four gates in lifecycle order.
var Gates = lifecycle.Gates

// CheckMove returns an error unless the lifecycle allows moving an assessment from one state to the
// other. It doesn't check whether a required approval was given.
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
