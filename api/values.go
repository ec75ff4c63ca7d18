package api

// Each named string type lists its possible values in an order that users expect. Decoding, the OpenAPI document and
// its examples are derived from these lists.

// Values returns the statuses of a version.
func (VersionStatus) Values() []VersionStatus {
	return []VersionStatus{VersionDraft, VersionUnderReview, VersionApproved, VersionRejected, VersionSuperseded}
}

// Values returns the statuses of an approval.
func (ApprovalStatus) Values() []ApprovalStatus {
	return []ApprovalStatus{ApprovalPending, ApprovalApproved, ApprovalRejected}
}

// Values returns the statuses of a delegation.
func (DelegationStatus) Values() []DelegationStatus {
	return []DelegationStatus{DelegationActive, DelegationExpired, DelegationRevoked, DelegationVoid}
}

// Values returns the states of a document.
func (DocumentState) Values() []DocumentState {
	return []DocumentState{DocumentUploaded, DocumentProcessing, DocumentIngested, DocumentFailed}
}

// Values returns the values of Applicability.
func (Applicability) Values() []Applicability {
	return []Applicability{Applicable, PartiallyApplicable, NotApplicable, OutOfScope, Undecided}
}

// Values returns the values of Implementation, best first.
func (Implementation) Values() []Implementation {
	return []Implementation{Implemented, PartiallyImplemented, Planned, NotImplemented, NotEvidenced, NotAssessed}
}

// Values returns the values of EvidenceCoverage, best first.
func (EvidenceCoverage) Values() []EvidenceCoverage {
	return []EvidenceCoverage{CoverageStrong, CoveragePartial, CoverageWeak, CoverageAbsent}
}

// Values returns the severities, worst first.
func (Severity) Values() []Severity { return Severities }

// Values returns the verdicts, best first.
func (Result) Values() []Result {
	return []Result{Met, PartiallyMet, NotMet, ResultNoEvid, ResultNotApplic}
}

// Values returns the roles, from most to least privileged.
func (Role) Values() []Role { return Roles }

// Values returns the kinds of actor.
func (ActorType) Values() []ActorType { return []ActorType{ActorUser, ActorAPIKey, ActorWorkflow} }

// Values returns the nine error codes.
func (ErrorCode) Values() []ErrorCode {
	return []ErrorCode{
		CodeUnauthorized, CodeForbidden, CodeNotFound, CodeValidation, CodeTenantRequired, CodeInvalidState,
		CodeApproval, CodeRateLimit, CodeInternal,
	}
}

// HTTPStatus returns the HTTP status for the code, or 0 for an unknown code.
func (c ErrorCode) HTTPStatus() int { return httpStatuses[c] }
