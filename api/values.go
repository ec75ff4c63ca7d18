package api

// Each named kind of text lists the values it may have, in an order that people
// expect. Decoding, the OpenAPI document and its examples are made from these lists.

// Values are the 22 states, in order.
func (State) Values() []State { return States() }

// Values are the four gates, in the order they are met.
func (Gate) Values() []Gate { return Gates }

// Values are the statuses of a version.
func (VersionStatus) Values() []VersionStatus {
	return []VersionStatus{VersionDraft, VersionUnderReview, VersionApproved, VersionRejected, VersionSuperseded}
}

// Values are the statuses of an approval.
func (ApprovalStatus) Values() []ApprovalStatus {
	return []ApprovalStatus{ApprovalPending, ApprovalApproved, ApprovalRejected}
}

// Values are the statuses of a delegation.
func (DelegationStatus) Values() []DelegationStatus {
	return []DelegationStatus{DelegationActive, DelegationExpired, DelegationRevoked, DelegationVoid}
}

// Values are the states of a document.
func (DocumentState) Values() []DocumentState {
	return []DocumentState{DocumentUploaded, DocumentProcessing, DocumentIngested, DocumentFailed}
}

// Values are the values of applicability.
func (Applicability) Values() []Applicability {
	return []Applicability{Applicable, PartiallyApplicable, NotApplicable, OutOfScope, Undecided}
}

// Values are the values of implementation, best first.
func (Implementation) Values() []Implementation {
	return []Implementation{Implemented, PartiallyImplemented, Planned, NotImplemented, NotEvidenced, NotAssessed}
}

// Values are the values of evidence coverage, most first.
func (EvidenceCoverage) Values() []EvidenceCoverage {
	return []EvidenceCoverage{CoverageStrong, CoveragePartial, CoverageWeak, CoverageAbsent}
}

// Values are the severities, worst first.
func (Severity) Values() []Severity { return Severities }

// Values are the results, best first.
func (Result) Values() []Result {
	return []Result{Met, PartiallyMet, NotMet, ResultNoEvid, ResultNotApplic}
}

// Values are the roles, from most to least.
func (Role) Values() []Role { return []Role{RoleOwner, RoleAdmin, RoleMember, RoleViewer} }

// Values are the kinds of actor.
func (ActorType) Values() []ActorType { return []ActorType{ActorUser, ActorAPIKey, ActorWorkflow} }

// Values are the nine codes.
func (ErrorCode) Values() []ErrorCode {
	return []ErrorCode{
		CodeUnauthorized, CodeForbidden, CodeNotFound, CodeValidation, CodeTenantRequired, CodeInvalidState,
		CodeApproval, CodeRateLimit, CodeInternal,
	}
}

// HTTPStatus is the status the code is sent with; 0 for what is no code.
func (c ErrorCode) HTTPStatus() int { return httpStatuses[c] }
