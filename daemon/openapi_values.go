package daemon

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/scf-service/service/api"
)

// All examples are about one small company, Acme, which reviews its access control in November 2026.
const (
	exampleID           = "019a3c5e-7b2f-7c41-9d20-4f1a6be08d31"
	exampleOtherID      = "019a3c61-02d4-7e18-a6b7-93c5d1f20e44"
	exampleOrganization = "019a2f10-1c3d-7a5e-8b90-2d4c6e8fa012"
	exampleUser         = "019a2f10-1c40-7b11-9f37-5e0d8c21ab66"
	exampleTraceID      = "01a1f961-dfe7-70c2-b4d0-8a142159608b"
	exampleHash         = "9f2c1d4be07a55c3188e6f0a7d3b92e4c6015fa8d7b3e2914c6a8f50b1d7e39c"
	exampleSyncKey      = "service-key-1.eyJvcmdhbml6YXRpb24iOiIwMTlhIn0.5d1f0c77"
	examplePolicy       = "Access control policy"
	examplePolicyFile   = "access-control-policy.pdf"
	exampleQuote        = "Access rights are reviewed every quarter by the owner of the system."
	exampleMissing      = "No record shows that the accounts of former employees are closed."
	exampleFormula      = "(implemented + 0.5 × partially implemented) ÷ applicable"
	exampleCount        = 12
)

var exampleTypes = map[reflect.Type]any{
	reflect.TypeFor[time.Time]():      mustParseTime("2026-11-20T09:30:00Z"),
	reflect.TypeFor[api.Date]():       api.Date("2026-12-31"),
	reflect.TypeFor[api.Pagination](): api.Pagination{Total: 1, Limit: api.DefaultListLimit},
	reflect.TypeFor[api.Actor]():      api.Actor{Type: api.ActorUser, ID: exampleUser, Name: "Ada Byron"},
	reflect.TypeFor[api.Locator]():    api.Locator{Page: 3, LineStart: 14, LineEnd: 16},
}

// exampleSuffixes holds example values by the suffix of a field name.
var exampleSuffixes = map[string]any{"_id": exampleID, "sha256": exampleHash}

var exampleParameters = map[string]any{
	"limit": 50, "versionNumber": 1,
	"cursor": nil, "sort": nil, "wait": nil, "since": nil, "until": nil,
	"controlId": "IAC-06", "controlCode": "IAC-06", "control_code": "IAC-06", "frameworkId": "iso-27001-2022", "requirementId": "A.8.5",
	"scfVersionId": "2026.1.1", "version": "2026.1.1", "scf_version": "2026.1.1", "templateId": "approval_request",
	"domain": "IAC", "domain_code": "IAC", "framework": "iso-27001-2022", "target": "nist-csf-2.0", "tags": []string{"material"},
	"q": "access", "orgId": exampleOrganization, "organizationId": exampleOrganization, "tenantId": exampleOrganization, "userId": exampleUser,
}

// exampleFields holds example values by "Type.field" or "field"; nil leaves the field empty.
var exampleFields = map[string]any{
	"SourceChange.name": "soa_content_sha256", "previous": exampleHash, "current": exampleHash,
	"with_appendices": false, "compare": "", "compared_with": "", "Report.paper": "",
	"accent": "#123456", "band": "#F0C75E", "line": "Prepared by Acme Consulting", "footer": "Acme Consulting, confidential", "logo": "",
	"layout": nil, "style": nil, "LintLayoutInput.layout": "{{.title}}", "ExampleLayout.layout": "UEsDBA==", "placeholders": 12,
	"LayoutProblem.level": "error", "LayoutProblem.part": "word/document.xml", "LayoutProblem.place": "document, table 2, row 3, column 1",
	"LayoutProblem.placeholder": "{{clent.name}}", "LayoutProblem.message": "the field “clent.name” doesn't exist",
	"LayoutProblem.suggestion":   "did you mean {{client.name}}?",
	"ReportVerification.message": "The file is authentic. A copy reproduced from the same sources is identical.",
	// Fields of many types.
	"id": exampleID, "organization_id": exampleOrganization, "user_id": exampleUser, "trace_id": exampleTraceID, "error": nil, "description": "All systems that serve customers.",
	"name": "Acme 2026", "client_name": "Acme Ltd", "title": "Acme 2026",
	"created_by": "Ada Byron", "uploaded_by": "Ada Byron", "approved_by": "Ada Byron", "edited_by": nil,
	"edited_fields": []string{}, "author_ids": []string{exampleUser}, "reason": "The evidence was read and discussed.", "comment": "Read and agreed.", "revision": 3, "warnings": []string{},
	"Statement.corrections": nil, "Correction.topic": "Access reviews", "Correction.statement": "Access rights are reviewed by owners at defined intervals.",
	"Correction.label": "states", "drafted_label": "part", "Correction.method": "builtin/21", "Correction.quote": exampleQuote,
	"Correction.edit_id": "", "Correction.copied_from": nil, "document_deleted": false, "CorrectedPassage.filename": examplePolicyFile, "CorrectedPassage.title": examplePolicy,
	"CorrectedPassage.kind": "policy", "CorrectedPassage.date": "2026-01-15", "CorrectedPassage.heading_path": []string{"10. Access reviews"},
	"CorrectedPassage.text": exampleQuote, "AppliedCorrection.label": "states", "AppliedCorrection.quote": exampleQuote,
	"AppliedCorrection.decided_by": "Ada Byron", "near_identical": true, "partly_because": "The document is a template with 12 blanks.", "statement_number": 1, "AddCorrectionInput.label": "states",
	"AddCorrectionInput.quote": exampleQuote, "CorrectionAgreement.corrections": 41, "CorrectionAgreement.accepted": 30, "CorrectionAgreement.refused": 11, "CorrectionAgreement.not_compared": 0,
	"CorrectionAgreement.confidence": 0.95, "CorrectionAgreement.notes": []string{"The confidence interval is based on " +
		"items, not passages."}, "ReaderAgreement.reader": "builtin/21", "AgreementCount.not_read": 0,
	"AgreementCount.passages": 41, "AgreementCount.lines": 20, "AgreementCount.agreed": 33, "AgreementCount.share": 0.805,
	"AgreementCount.low": 0.563, "AgreementCount.high": 0.943,
	"Reader.model": nil, "second_reading": nil, "SecondReading.reader": "model.qwen3-8b.9f2c1d4b",
	"ReaderModel.name": "ollama/qwen3:8b", "ReaderModel.digest": exampleHash, "served_model": "", "prompt": "reader/2", "seed": 1,
	"calls": 40, "prompt_tokens": 210000, "completion_tokens": 9000, "seconds": 310.5, "dropped_quotes": 7, "failed_checks": 0, "statements_without_answer": 2,
	"server": "http://127.0.0.1:11434", "remote": false, "ModelReading.reader": "model.qwen3-8b.9f2c1d4b",
	"ModelReading.note": "", "statements_left": 120,
	"passages_withheld": 1, "cost": 0.14, "stopped": "", "concurrency": 1, "context_tokens": 16384,
	"max_tokens": 0, "max_seconds": 7200, "max_cost": 5,
	"ask_tokens": 0, "ask_cost": 1, "prompt_price": 0.15, "completion_price": 0.6, "no_remote_model": false,
	"imported_by": "Ada Byron", "Reader.name": "ada", "ImportReadingsInput.name": "ada", "readings": 9320, "statements": 466, "of_statements": 471,
	"NotRead.kind": api.UnreadPicture, "NotRead.count": 2, "test_score": 0.97, "required_score": 0.75, "forbidden": 0,
	"version_number": 1, "progress": 38, "confidence": 0.82, "score": 0.82, "owner": "Head of IT", "note": "Discussed on 2026-11-18.",
	"category": "policy", "filename": examplePolicyFile, "document_title": examplePolicy, "heading_path": []string{"4 Access", "4.2 Reviews"},
	"text": exampleQuote, "quote": exampleQuote, "missing_elements": []string{exampleMissing}, "method": "rules 1",
	"control_code": "IAC-06", "control_title": "Multi-factor authentication", "domain_code": "IAC", "domain_name": "Identification and authentication",
	"framework_code": "iso-27001-2022", "framework_codes": []string{"iso-27001-2022"}, "requirement_code": "A.8.5", "requirement_codes": []string{"A.8.5"},
	"Item.requirement_codes": api.RequirementCodes{"iso-27001-2022": {"A.8.5"}}, "framework_ids": []string{exampleOtherID},
	"inputs": map[string]string{
		"scf_version_id": exampleOtherID,
		"scope_sha256":   exampleHash,
	}, "kept": []string{}, "implemented_without_evidence": []string{"IAC-06"},
	"CarriedFrom.decisions": map[api.Gate]int{api.GateSoA: 3}, "Carried.assessment": "Acme 2026", "Carried.by": "Ada Byron",
	"Carried.confirmed_by": "", "Comment.carried_from": "", "CarriedFrom.comments": 2, "CarriedFrom.name": "Acme 2026",
	"Carried.quotes": []string{"Backups are tested every quarter."}, "Carried.fields": []string{"implementation_status"},
	"carried_to_confirm": []string{}, "not_in_catalog": []string{}, "ChangeFrameworksInput.add": []string{"hipaa"},
	"ChangeFrameworksInput.remove": []string{}, "FrameworkPart.code": "hipaa",
	"FrameworkChange.framework_codes": []string{"iso-27001-2022", "hipaa"},
	"ApprovalChanges.added":           []string{"BCD-12"}, "ApprovalChanges.removed": []string{}, "ApprovalChanges.changed": []string{"IAC-06"},
	"CoverageAddition.have": []string{"iso-27001-2022"}, "have": []string{"iso-27001-2022"},
	"weight": 9, "finding_origin": "", "due_changes": []api.MilestoneChange{},
	"Milestone.completed_at": nil, "Milestone.completed_by": "", "Milestone.previous_status": "", "Milestone.completed_with_item": false,
	"compliance_pct": 61.5, "compliance_formula": exampleFormula, "formula": exampleFormula, "maturity_avg": 1.9, "open_gaps": 11, "generated_by_agent_run_id": nil,
	"findings_by_severity": map[api.Severity]int{
		api.SeverityHigh:   3,
		api.SeverityMedium: 8,
	}, "by_severity": map[api.Severity]int{api.SeverityHigh: 3, api.SeverityMedium: 8},
	"by_domain": map[string]int{"IAC": 4, "GOV": 2}, "enabled": true, "value": 128.0, "email": "ada@acme.example", "role": "member",
	"resource_type": "assessment", "summary": "Ada Byron created the assessment Acme 2026.", "level": 2, "target_level": 3,

	// Health, sessions, organizations.
	"Health.service": "service", "HealthCheck.name": "store", "HealthCheck.detail": "writable", "HealthDetail.version": "1.4.0", "HealthDetailInput.deep": "true", "uptime_seconds": 86400, "latency_ms": 0.4,
	"password": "correct horse battery staple", "User.name": "Ada Byron", "ban_reason": nil, "Member.name": "Ada Byron", "MyOrganization.role": "owner",
	"User.id": exampleUser, "Organization.id": exampleOrganization, "active_organization_id": exampleOrganization, "Organization.name": "Acme", "UpdateTenantInput.name": "Acme", "slug": "acme",
	"settings": map[string]any{"require_second_person": true}, "UpdateTenantInput.require_second_person": true, "WaitingFor.who": "an admin or owner", "assessment_name": "Acme 2026",
	"assessments_by_state": map[api.State]int{api.StateSoAUnderReview: 1, api.StateClosed: 2},
	"APIKey.name":          "build server", "APIKeyBody.name": "build server", "masked_key": "service_live_…9d41", "scopes": []string{"assessment:read", "document:write"},
	"UserSession.address": "192.0.2.7", "NewAPIKey.key": "service_live_" + exampleHash, "grace_seconds": 3600, "BanUserInput.reason": "The account was shared.",

	"token": exampleHash, "AcceptLinkInput.name": "Ben Byte", "Link.purpose": "invite", "Link.organization": "Acme", "Me.organization": "Acme", "needs_password": true,
	"current_password": "correct horse battery staple", "new_password": "a longer passphrase is easier to remember", "permissions": []api.Permission{"assessment:read", "document:write"},
	"Me.role": api.RoleMember, "Link.role": api.RoleMember, "NewOrganizationInput.name": "Acme", "NewOrganizationInput.slug": "acme", "api_key_name": "first", "api_key_scopes": []string{"*"},
	"owner_password": "hk4m-x2qv-9rtd-b7wz-e3cn", "invite_token": exampleHash, "invite_path": "/link#" + exampleHash, "PasswordLink.path": "/link#" + exampleHash,
	"UpdateMemberInput.status": "active", "SignedOut.ok": true,

	// The catalog.
	"label": "2026.1.1", "source_filename": "scf-2026.1.1.xlsx", "is_starter": false, "Domain.code": "IAC", "Domain.name": "Identification and authentication",
	"principle": "People and machines are authenticated.", "intent": "No one can act under another identity.", "Control.code": "IAC-06",
	"Control.title": "Multi-factor authentication", "Control.description": "Users sign in with multi-factor authentication.",
	"question":       "Is multi-factor authentication required?",
	"Control.weight": 9, "Control.applicability": []string{"people", "technology"}, "csf_function": "protect", "cadence": "annual",
	"solutions": map[string]string{
		"small": "Use the mail provider's second factor.",
	}, "Control.maturity": map[string]string{"0": "Nothing is done.", "3": "Multi-factor authentication is required everywhere."},
	"risks": []string{
		"unauthorized access",
	}, "threats": []string{"stolen passwords"}, "baselines": []string{"essential"}, "scrm_tiers": []string{"operational"},
	"Control.traits": []string{}, "tags": []string{"access"}, "errata": []string{}, "extra": map[string]string{}, "EvidenceRequest.code": "E-IAC-04", "area": "Access",
	"artifact": "Sign-in service settings", "AssessmentObjective.code": "IAC-06_A01", "AssessmentObjective.text": "A second factor is required.", "rigor": 1,
	"AssessmentObjective.applicability": []string{"technology"}, "origins": []string{}, "CompensatingControl.control_code": "IAC-10",
	"CompensatingControl.name": "Passwords", "CompensatingControl.justification": "Long passwords reduce the risk.", "is_deprecated": false, "is_material": false,
	"Framework.code": "iso-27001-2022", "Framework.name": "ISO/IEC 27001:2022", "publisher": "ISO", "jurisdiction": "international", "Framework.title": "Information security management systems",
	"source_url": "https://www.iso.org/standard/27001", "column": "ISO 27001 2022", "aliases": []string{"iso-27001"}, "includes": []string{},
	"Requirement.code": "A.8.5", "Requirement.title": "Secure authentication", "Requirement.text": nil, "Mapping.source": "scf-workbook", "relationship": "intersects",
	"strength": 7, "Mapping.rationale": nil, "coverage_pct": 96.77, "target_requirement_code": "PR.AA-03", "target_requirement_codes": []string{"PR.AA-03"},
	"control_codes": []string{
		"IAC-06",
	}, "sheet": "SCF 2026.1", "cell": "D17", "ImportWarning.message": "spaces around the code were removed",
	"ImportRun.dry_run": false, "from_label": "2025.4", "to_label": "2026.1.1", "ControlRef.code": "IAC-06.7", "ControlRef.title": "Phishing-resistant second factors",
	"ControlChange.code": "IAC-06", "from_title": "Second factor", "to_title": "Multi-factor authentication", "from_weight": 8, "to_weight": 9, "deprecated": false,
	"frameworks_added": []string{
		"nist-csf-2.0",
	}, "CatalogDiffSummary.frameworks_added": 1, "frameworks_removed": []string{}, "CatalogDiffSummary.frameworks_removed": 0,
	"ImportSource.source": json.RawMessage(
		`{"format": "service-catalog/1"}`,
	), "ImportWorkbookInput.file": "(the workbook)", "ImportWorkbookInput.label": "2026.1.1",

	"MappingDocument.focal_document": "ISO/IEC 27001:2022", "MappingDocument.release": "2025.4", "rows": 146, "elements": 93, "related": 146,
	"mappings_confirmed": 140, "mappings_added": 6, "mappings_unnamed": 0, "requirements_added": 2, "requirements_worded": 91, "documents": []api.MappingDocument{},
	"ImportSTRMInput.file": "(the document)", "ImportSTRMInput.version": "2026.1.1", "ImportSTRMInput.framework": "iso-27001-2022", "ImportWorkbookInput.aliases": "",
	"Hazard.code": "R-AC-1", "Hazard.group": "Access", "Hazard.title": "Actions can't be traced to a person", "Hazard.description": "Accounts are shared.", "Hazard.csf_function": "protect",
	"Principle.number": "1", "Principle.name": "Privacy by design", "Principle.description": "Privacy is considered from the start.",
	"FrameworkAlias.code": "iso-27001-2022", "names": []string{"ISO 27001 v2022"}, "from_code": "nist-csf-1.1", "to_code": "nist-csf-2.0",

	// Custom frameworks and controls, and migrations to another catalog.
	"CustomFrameworkBody.code": "yard-rules", "CustomFrameworkBody.name": "Yard rules", "CustomRequirement.code": "Y-1", "CustomRequirement.title": "Multi-factor authentication for cranes",
	"CustomRequirement.text":     "Everyone who operates a crane signs in with multi-factor authentication.",
	"CustomRequirement.controls": []string{"IAC-06"}, "CustomControlBody.controls": []string{"IAC-06"},
	"applicability":          []string{"people", "technology"},
	"CustomRelation.control": "IAC-06", "CustomRelation.rationale": "Both requirements call for a second factor.", "CustomControlBody.code": "YARD-01", "CustomControlBody.maturity": map[string]string{"3": "The log is read every week."}, "CustomControlBody.csf_function": "protect", "CustomChange.count": 12, "CustomChange.name": "Yard rules", "CustomChange.code": "yard-rules", "CustomControlBody.title": "Cranes are locked at night",
	"CustomControlBody.description": "No crane is operated between dusk and dawn.", "traits": []string{}, "evidence_requests": []string{"The crane log"}, "assessment_objectives": []string{"The log shows no operation at night."},
	"CustomControlBody.requirements": map[string][]string{
		"yard-rules": {"Y-1"},
	}, "unresolved": []string{}, "is_custom": true, "updated_by": "Ada Byron", "ImportResult.revision": 4,
	"drop_frameworks": []string{}, "MigrateBody.to": "2026.1.1", "MigratedFramework.to_code": nil, "decisions_kept": []string{"IAC-06"}, "decisions_dropped": []string{}, "custom_revision": 4,
	"reasons": []string{
		"reworded",
	}, "decided": true, "requirements_gained": api.RequirementCodes{"iso-27001-2022": {"A.8.5"}}, "requirements_lost": api.RequirementCodes{},
	"MigratedFramework.code": "iso-27001-2022", "MigratedFramework.message": nil,

	// Assessments and evidence.
	"CreateAssessmentInput.framework_id": "iso-27001-2022", "CreateAssessmentInput.framework_ids": []string{"nist-csf-2.0"}, "CreateAssessmentInput.scf_version_id": nil,
	"UpdateAssessmentInput.framework_id": "iso-27001-2022", "UpdateAssessmentInput.framework_ids": []string{"nist-csf-2.0"}, "closed_at": nil,
	"Assessment.state": api.StateSoAUnderReview, "AssessmentStatus.state": api.StateSoAUnderReview, "next_states": []api.State{api.StateSoAApproved},
	"blocked_by": []string{
		"the Statement of Applicability is waiting for approval",
	}, "status_set_by": "Ann Example", "Outdated.reason": "scope",
	"owner_has_left": false, "FormerOwner.item_count": 3, "FormerOwner.owner": "Ben Byte", "next_step": "review the Statement of Applicability, then submit it",
	"FormerOwner.message": "Ben Byte has left the organization and still owns 3 items of the gap analysis.",
	"Outdated.message":    "Version 1 of the Statement of Applicability was drafted from an older scope.", "TimelineEvent.type": "assessment.created",
	"TransitionInput.target_state": api.StateSoADrafted, "TransitionInput.reason": "All documents are uploaded.", "LifecycleEvent.from_state": api.StateScopeDrafted,
	"LifecycleEvent.to_state": api.StateSoADrafted, "LifecycleEvent.event_type": "transition",
	"Document.title": examplePolicy, "mime_type": "application/pdf", "size_bytes": 48213, "language": "en", "page_count": 7, "document_version": "2.1", "Document.status": api.DocumentIngested,
	"DocumentProgress.status": api.DocumentProcessing, "stage": "embed", "Chunk.kind": "paragraph", "index": 4, "token_estimate": 18,
	"UploadDocumentInput.file": "(the file)", "UploadDocumentInput.category": "policy", "UploadDocumentInput.path": "evidence/policies/access.pdf", "UploadDocumentInput.replaces": "", "Document.path": "evidence/policies/access.pdf", "duplicate_of": nil,
	"translate": false, "QueryTranslation.language": "de", "QueryTranslation.query": "Wer prüft Zugriffsrechte?",
	"SearchBody.query": "who reviews access rights?", "SearchAnswer.query": "who reviews access rights?", "SearchBody.document_id": nil, "top_k": 10, "min_score": 0.3,
	"highlights": []string{"reviewed every quarter"}, "duplicate_ids": []string{}, "Mark.start": 0, "Mark.end": 8,
	"SearchBody.effective_from": "2025-01-01", "SearchBody.effective_to": nil, "semantic": 0.86, "keyword": 0.61, "embedder": "builtin-1", "served_by": "builtin-1", "unavailable_reason": nil, "embedding_dimensions": 256,
	"documents_by_status": map[api.DocumentState]int{
		api.DocumentIngested: 12,
	},
	"search_status": api.SearchTraining, "training_progress": 40,
	"EmbeddingStatus.training": nil, "EmbeddingStatus.pending": 0, "EmbeddingStatus.failed": 0,

	// Deliverables.
	"business_units": []string{
		"Operations",
	}, "processes": []string{"Customer support"}, "systems": []string{"Shop", "Mail"}, "locations": []string{"Hamburg"},
	"legal_entities": []string{
		"Acme GmbH",
	}, "data_types": []string{"Customer records"}, "third_parties": []string{"Hosting provider"}, "exclusions": []string{"The museum shop"},
	"assumptions": []string{"The uploaded policies are in force."}, "constraints": []string{"No interviews were held."},
	"Scope.traits": map[string]api.Trait{
		"uses_cloud": {Value: "true", Source: "evidence", Reason: "two documents mention a hosting provider", Evidence: []api.Evidence{}},
	},
	"Trait.reason": "two documents mention a hosting provider", "ScopeBody.reset": []string{"outsources_it"}, "ScopeBody.traits": map[string]api.TraitSetting{"uses_cloud": {Value: truePtr()}, "has_ot": {}},
	"statement": "Access rights are reviewed.", "Statement.text": "Access rights are reviewed.", "Statement.reason": "a passage states the requirement in " +
		"other words",
	"inclusion_reasons": []string{
		"framework",
	}, "SoAItem.rationale": "The framework requires this control, and the company has user accounts.", "SoAItemChange.rationale": "The framework requires this control.",
	"quoted_by": []string{"IAC-06", "IAC-17"}, "only_source_of": []string{"IAC-06"},
	"rests_on_documents": 1, "only_document": "access-control-policy.md", "changed_by_document": "access-control-policy.md", "changed_from": api.NotEvidenced,
	"lines_on_one_document": 9, "lines_changed_by_document": 0,
	"DecisiveDocument.filename": "access-control-policy.md", "lines_changed": 0, "lines_alone": 4,
	"coverage_ratio": 0.67, "in_operation": true, "SoAItem.reason": "two of three requirements are covered", "SoAItem.implementation_status": api.PartiallyImplemented,
	"SoAItem.evidence_coverage": api.CoveragePartial, "SoAItemChange.implementation_status": api.PartiallyImplemented, "needs_review": false,
	"ValidationIssue.rule": "rationale_required", "ValidationIssue.message": "IAC-06 is out of scope, but no reason " +
		"is given", "valid": false, "SoAValidation.errors": 1, "SoAValidation.warnings": 0,
	"CreateGapInput.control_id": "IAC-06", "CreateGapInput.status": api.NotImplemented, "CreateGapInput.severity": api.SeverityHigh,
	"Finding.status": api.NotImplemented, "Finding.result": api.NotMet, "Finding.severity": api.SeverityHigh, "FindingChange.status": api.PartiallyImplemented,
	"FindingChange.severity": api.SeverityMedium, "gap_type": "implementation", "severity_reason": "weight 9 × not met = high", "severity_points": 8.2,
	"condition": "Only the mail service requires a second factor.", "criteria": "Users sign in with multi-factor authentication.",
	"cause":  "The shop's admin site has its own accounts.",
	"effect": "A stolen password is enough to change prices.", "recommendation": "Require a second factor on the shop's " +
		"admin site.", "Finding.source": "analysis",
	"by_result": map[api.Result]int{api.Met: 40, api.NotMet: 11}, "by_type": map[string]int{"implementation": 7, "evidence": 4},
	"previous_level": 1, "MaturityScore.criteria": "The practice is planned and tracked.", "next_criteria": "The practice follows a written standard " +
		"across the organization.",
	"MaturityScore.rationale": "A policy and a plan were found, but no records.", "MaturityScoreChange.rationale": "The records were shown in a meeting.",
	"assessed_pct": 83.3, "mean": 1.9, "weighted_mean": 2.1, "minimum": 0, "target_mean": 3.0, "by_level": map[string]int{"0": 4, "1": 9, "2": 21, "3": 6},
	"poam_code": "POAM-001", "weakness": "Only the mail service requires a second factor.", "corrective_action": "Require a second factor on the shop's " +
		"admin site.",
	"priority": 1, "owner_role": "IT operations", "resources": "Two days of an administrator's time", "dependencies": []string{}, "acceptance_criteria": []string{"Sign-in without a second factor fails."},
	"expected_evidence": []string{
		"Sign-in service settings",
	}, "risk_accepted_until": nil, "vendor_dependency": nil, "comments": "Ordered on 2026-11-18.",
	"expired_acceptances": []string{}, "also_closes": []string{}, "beyond_180_days": []string{}, "not_met": []string{"3.1.3"}, "CMMCEligibility.not_assessed": []string{}, "blocking": []string{}, "CMMCEligibility.score": 0.991, "CMMCEligibility.points": 109,
	"since_version": 1, "requirements_only": 1,
	"GapChange.before": "high, not evidenced", "GapChange.after": "low, partially implemented", "GapChange.causes": []string{"evidence"},
	"conformity": "conforms", "conformity_pct": 84.6, "conformity_formula": exampleFormula, "deficient_material": []string{}, "differs_from_soa": []string{"CFG-02"}, "reset": []string{"note"},
	"Milestone.title": "Settings changed and tested", "changes": nil, "by_status": map[string]int{"open": 9, "completed": 3}, "by_effort": map[string]int{"small": 7, "medium": 5},
	"Comment.item": "IAC-06", "AddCommentInput.item": "IAC-06", "Comment.approval_id": nil, "AddCommentInput.approval_id": nil, "reply_to": nil, "VersionDecision.content_sha256": exampleHash, "Comment.text": "The board requested this in June.", "AddCommentInput.text": "The board requested this in June.",
	"delegator_name": "Ada Byron", "delegate_name": "Ben Byte", "delegator_id": exampleUser, "delegate_id": exampleOtherID, "Delegation.reason": "On leave", "CreateDelegationInput.reason": "On leave", "ended_at": nil, "end_reason": nil,
	"Delegate.name": "Ben Byte", "Delegate.user_id": exampleOtherID, "Approval.delegation": nil, "Approval.decided_by": nil, "Approval.decided_at": nil, "Approval.reason": nil, "Artifact.title": "Statement of Applicability", "Artifact.type": "soa", "variant": nil, "supersedes": nil, "current_version": 1,
	"Report.title": "Acme 2026: executive summary", "Report.filename": "acme-2026-executive-summary.pdf", "Report.template": "executive_summary", "ReportBody.title": "Acme 2026",
	"sources": map[string]string{
		"soa_version_id": exampleOtherID,
		"soa_sha256":     exampleHash,
	}, "ImportStatistics.sources": 3, "draft": false, "Report.status": "ready",
	"ExecutiveSummary.text": "Of 60 controls that apply, 31 are implemented. Eleven gaps are open, three of them high.", "by": "Ada Byron", "at": "2026-11-20T09:30:00Z",
	"MilestoneChange.reason": "The provider needs more time.",

	// Agents, workflows, analyses.
	"agent_id": "gap-analyst", "Agent.id": "gap-analyst", "Agent.name": "Gap analyst", "Agent.role": "Proposes gaps, each with its evidence.", "tools": []string{"search-kb", "list-soa-items"},
	"needs_approval_for": []string{
		"gap_analysis",
	}, "model": "builtin", "prompt_version": "rules 1", "AgentRun.status": "completed", "AgentStep.name": "search-kb",
	"AgentStep.input": map[string]any{
		"query": "second factor",
	}, "output": map[string]any{"passages": 4}, "duration_ms": 41, "StartRunBody.input": map[string]any{"domain": "IAC"},
	"AgentOutput.summary": "Proposed eleven gaps.", "CompleteRunInput.summary": "Completed manually.", "limitations": []string{"Images in documents were not read."},
	"proposals":    []map[string]any{{"control_code": "IAC-06", "severity": "high"}},
	"current_step": "soa_drafted", "WorkflowStep.name": "soa_drafted", "WorkflowStep.title": "draft the Statement of Applicability", "WorkflowRun.status": api.RunRunning,
	"WorkflowRun.detail": nil, "WorkflowRun.approval_id": nil, "not_before": nil, "WorkflowRun.completed_at": nil,
	"Signal.name": "continue", "paper": "letter", "StartWorkflowInput.start_at": mustParseTime("2026-11-21T02:00:00Z"), "stop_for_review": true,
	"VerifyDataInput.organization": "acme", "OrganizationVerification.name": "Acme", "DataVerification.ok": true, "records_checked": 41203,
	"files_checked": 2341,
	"problems":      []api.DataProblem{}, "not_covered": []string{}, "DataProblem.kind": "altered", "DataProblem.organization": "Acme",
	"DataProblem.record":  "document \"" + examplePolicyFile + "\"",
	"DataProblem.message": "the file was altered; restore a backup",
	"last_signal":         nil, "AuditVerification.ok": true, "records": 412, "head": exampleHash, "problem": nil,
	"AuditProblem.kind": "changed", "AuditProblem.message": "the record's content doesn't match its hash",
	"key_id": "3f9a0c1d2b4e5f60", "public_key": "2Zxd1c8hH0m5z1Q0l3uY7o9vJ6s2K8w4n1r5t7y9A0E=", "signature": "bm90IGEgcmVhbCBzaWduYXR1cmU=", "from_version": 1, "to_version": 2, "from_sha256": exampleHash, "to_sha256": exampleHash,
	"where": "domain == 'IAC' && status == 'not_evidenced'", "item_ids": nil, "EditResult.matched_count": 12, "EditResult.dry_run": false,
	"ItemSelection.content_sha256": exampleHash, "FieldChange.field": "owner", "FieldChange.from": "", "FieldChange.to": "Head of IT",
	"EditResult.skipped": nil, "EditedLine.edited_since": nil, "skip_edited": false, "UndoInput.edit_id": nil, "made": nil,
	"drawn_at": nil, "drawn_by": "Ada Byron", "must_read": 14, "must_read_left": 0, "population": 180, "sampled": 61, "sampled_left": 0,
	"ReviewSample.wrong": 1, "not_read": 119, "at_most_wrong": 12, "ReviewSample.confidence": 0.95, "suggested_size": 93, "DrawReviewInput.size": 59,
	"DrawReviewInput.seed": 0, "outdated": false, "ReviewSample.statement": "Of the 119 items you have not reviewed, " +
		"at most 12 are wrong, with 95% confidence.",
	"ReviewSample.next_step": "That is more than 5%. A sample of 93 items with no further errors would bring the " +
		"limit below 5%.", "ReviewLine.reason": "in the sample of items with the status " +
		"partially implemented",
	"DiffLine.item": "IAC-06", "DiffLine.field": "owner", "DiffLine.from": "", "DiffLine.to": "Head of IT",
	"DiffLine.text": "~ IAC-06 owner: (nothing) → Head of IT", "added": 0, "removed": 0, "changed": 1, "Last-Event-ID": "7",
	"WorkflowStep.status": "running", "waiting_for": nil, "SignalInput.name": "continue", "payload": map[string]any{"by": "Ada Byron"},
	"controlRequirement":  "Users sign in with multi-factor authentication.",
	"evidenceDescription": "The settings of the mail service require a code from an authenticator app.",
	"confidence_score":    78.0, "auditor_notes": "The evidence covers the mail service only.", "is_compliant": false,
	"systemModuleName": "shop-admin", "rawLogsExcerpt": "2026-11-19T23:58:02Z sign-in failed user=admin from=203.0.113.7 (412 times)", "is_false_positive": false, "severity_level": "high",
	"attack_vector_guessed": "password guessing", "affected_assets_identified": []string{"shop-admin"}, "immediate_containment_actions": []string{"Disable the admin account."},
	"requires_dpo_breach_notification": false, "technicalRiskDescription": "The shop's admin site requires only a " +
		"password.", "businessContext": "The shop generates most of the revenue.",
	"executive_summary": "A stolen password would be enough to change prices.", "urgency_metric": 72.0, "financial_impact_estimate": "Up to one week's revenue.",
	"regulatory_impact": "Customers would have to be notified.", "board_level_recommendation": "Require a second factor by the end of the year.",
	"vendorName": "Hosting provider", "contractExcerpt": "The provider processes personal data on the customer's instructions only.", "liability_cap_identified": "One year's fees",
	"data_subprocessors_listed": []string{
		"Backup provider",
	}, "red_flags_for_negotiation": []string{"No deadline is set for breach notification."}, "is_dpa_compliant": false,
	"evidenceContext": map[string]any{
		"is_compliant":     false,
		"missing_elements": []any{exampleMissing},
	}, "systemArchitectureDescription": "An online shop behind a reverse proxy.",
	"sprint_action_items": []string{
		"Turn on multi-factor authentication for administrators.",
	}, "devops_commands_suggested": []string{"shopctl auth require-second-factor --role admin"},
	"priority_level": "high", "estimated_effort": "small", "AnalyzeRoPAInput.text": "Customer records are kept for orders and support.", "RequiredControl.control_id": "IAC-06",
	"RequiredControl.name": "Multi-factor authentication", "RequiredControl.reason": "Many people can read the records.", "suggested_risk_level": "medium", "suggested_legal_basis": "contract",
	"is_dpia_required": false, "projectDescription": "Support staff view orders in a new tool.", "ropaContext": map[string]any{"suggested_risk_level": "medium"},
	"residual_risk_level": "low", "mitigating_controls_required": []string{"IAC-06"}, "justification": "Access is restricted and logged.",

	// Notifications and monitoring.
	"url": "https://hooks.acme.example/service", "events": []string{"soa.approved", "report.ready"}, "Webhook.description": "Security team chat", "CreateWebhookInput.description": "Security team chat",
	"SyncStatus.head": 41, "JoinedSync.head": 41, "SyncStatus.since": 41, "ImportedSync.since": 41, "anchor_sequence": 412, "counter": 3, "SyncBatch.next": 41, "file_bytes": 64_700, "behind": 3, "table": "soa_items", "SyncConflict.label": "IAC-06", "UnpushedRecord.label": "IAC-06", "field": "owner", "SyncConflict.message": "owner of IAC-06 was changed here and offline", "SyncSide.value": json.RawMessage(`"Head of IT"`),
	"SyncConflict.kind": "field", "SyncConflict.status": "open", "choice": "clone", "resolved_by": nil, "file_sha256": "", "SyncReplica.name": "adas-laptop", "user_name": "Ada Byron", "account": "Ada Byron",
	"SyncStatus.server": "https://grc.acme.example", "SyncStatus.role": "clone", "anchor_hash": exampleHash, "catalog_label": "2026.1.1", "notes": []string{}, "data": []byte("H4sI"), "files": []string{exampleHash},
	"ResolveSyncInput.value": json.RawMessage(
		`"Head of IT"`,
	), "ResolveSyncInput.choice": "value", "SyncFiles.sha256": []string{exampleHash}, "MissingSyncInput.sha256": []string{exampleHash}, "replicas": []api.SyncReplica{},
	"PushSyncInput.file": "(the batch)", "PushSyncInput.dry_run": "true", "UploadSyncInput.file": "(the file)", "UploadSyncCatalogInput.file": "(the catalog)", "JoinSyncInput.name": "adas-laptop", "JoinedSync.name": "Acme 2026",
	"AttachSyncInput.server": "https://grc.acme.example",
	"SyncKey.name":           "Acme", "SyncKey.key": exampleSyncKey, "SyncPeer.key": exampleSyncKey, "TrustSyncPeerInput.key": exampleSyncKey, "fingerprint": "1f0c-77ab-02d3-9e55-8a41-6c0e-b7d2-4f19-e3a6-5580", "SyncPeer.name": "adas-laptop", "TrustSyncPeerInput.name": "adas-laptop", "trusted_by": "Ada Byron", "SyncPeer.may": "changes", "TrustSyncPeerInput.may": "changes", "bundle_key": nil, "remote_key": nil, "BundleKey.name": "adas-laptop",
	"peer_name": "Acme", "custom_sha256": "", "ImportSyncBundleInput.file": "(the bundle)", "ImportSyncBundleInput.dry_run": "true", "ImportedSyncBundle.serial": 3, "ImportedSyncBundle.name": "Acme 2026", "ImportedSyncBundle.role": "remote", "machine": "adas-laptop",
	"UpdateWebhookInput.description": "Security team chat", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "event_type": "soa.approved", "Delivery.status": "delivered",
	"http_status": 204, "next_attempt_at": nil, "Integration.name": "Security chat", "CreateIntegrationInput.name": "Security chat", "UpdateIntegrationInput.name": "Security chat",
	"config": map[string]any{
		"channel": "#security",
	}, "secrets": map[string]string{"token": "xoxb-…"}, "secrets_set": []string{"token"}, "last_status": "ok", "Integration.synced_at": nil, "Integration.next_sync_at": nil, "waits_until": nil,
	"IntegrationTest.message": "test message sent", "IssueLink.message": nil, "issue_key": "OPS-7", "issue_url": "https://acme.atlassian.net/browse/OPS-7", "IssueLink.status": "linked",
	"SecretKey.key_id": "3f9a0c1d2b4e", "old_key_ids": []string{"b81d0f22c4aa"}, "unreadable": []string{},
	"to": []string{
		"ada@acme.example",
	}, "subject": "{{report}} of {{assessment}} is ready", "template_id": "report_ready", "EmailTemplate.id": "report_ready",
	"EmailTemplate.text": "{{report}} of {{assessment}} is ready.", "PutTemplateInput.text": "{{report}} of {{assessment}} is ready.",
	"PreviewBody.subject": "{{report}} of {{assessment}} is ready", "PreviewBody.text": "{{report}} of {{assessment}} is ready.", "EmailTemplate.html": "<p>{{report}} of {{assessment}} is ready.</p>",
	"PutTemplateInput.html": "<p>{{report}} of {{assessment}} is ready.</p>", "PreviewBody.html": "<p>{{report}} of {{assessment}} is ready.</p>",
	"SendEmailInput.subject": "Quarterly plan", "SendEmailInput.text": "The plan is in the shared folder.", "SendEmailInput.html": "<p>The plan is in the shared folder.</p>",
	"Email.subject": "Full report of Acme 2026 is ready", "Email.status": "sent", "EmailRecipient.status": "sent", "EmailRecipient.address": "ada@acme.example",
	"EmailPreview.subject": "Full report of Acme 2026 is ready", "EmailPreview.text": "Full report of Acme 2026 is ready.", "EmailPreview.html": "<p>Full report of Acme 2026 is ready.</p>",
	"EmailTemplate.variables": []string{
		"assessment",
		"format",
		"link",
		"organization",
		"report",
	}, "SendEmailInput.variables": map[string]any{"assessment": "Acme 2026", "report": "Full report", "format": "PDF"},
	"PreviewBody.variables": map[string]any{"assessment": "Acme 2026"},
	"Metric.name":           "organization_documents", "unit": "count", "labels": map[string]string{"status": "failed"}, "metric": "organization_documents{status=failed}", "AlertRule.name": "Unreadable documents",
	"UpdateAlertInput.name": "Unreadable documents", "digest": true, "approvals": true, "EmailPreferences.mentions": true, "PutEmailPreferencesInput.mentions": true, "emailed": true, "Email.error": nil, "EmailRecipient.error": nil, "sent_at": nil, "changed_at": nil,
	"custom":                true,
	"CreateAlertInput.name": "Unreadable documents", "threshold": 3.0, "window_seconds": 3600, "channels": []string{"email"}, "action": "assessment.created", "ip": "203.0.113.7",
	"AuditEvent.changes": map[string]any{
		"name": "Acme 2026",
	}, "sequence": 41, "hash": exampleHash, "previous_hash": "4be07a55c3188e6f0a7d3b92e4c6015fa8d7b3e2914c6a8f50b1d7e39c9f2c1d",
}

func truePtr() *bool { b := true; return &b }

// exampleErrors holds an example error for each of the nine codes.
var exampleErrors = map[api.ErrorCode]api.Error{
	api.CodeUnauthorized: {Message: "sign in, or send an API key as Authorization: Bearer service_live_…"},
	api.CodeForbidden:    {Message: `this needs the permission soa:write, which the role "viewer" doesn't include`},
	api.CodeNotFound:     {Message: `there is no assessment "` + exampleOtherID + `" here`},
	api.CodeValidation: {
		Message: "name: this field is required",
		Details: []api.ErrorDetail{{Field: "name", Message: "this field is required"}},
	},
	api.CodeTenantRequired: {Message: "specify the organization in the " + api.TenantHeader + " header"},
	api.CodeInvalidState: {
		Message: "the assessment is draft and can only move to documents_uploaded",
		Details: []api.ErrorDetail{
			{CurrentState: "draft", AttemptedTransition: "soa_drafted", AllowedTransitions: []api.State{api.StateDocumentsUploaded}},
		},
	},
	api.CodeApproval: {
		Message: "the Statement of Applicability must be approved first",
		Details: []api.ErrorDetail{{Gate: api.GateSoA, Reason: "the approval is waiting for a decision", ApprovalID: new(exampleID)}},
	},
	api.CodeRateLimit: {Message: "too many requests; try again in 42 seconds"},
	api.CodeInternal:  {Message: "internal error; to find the details, search the service log for this trace ID"},
}
