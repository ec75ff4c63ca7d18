package store

import (
	"errors"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store/kv"
)

// The tables of the service. Those below "per organization" are visible to that organization only.
//
//	settings             name
//	organizations        id                        · slug (unique)
//	users                id                        · email (unique)
//	├─ passwords         user
//	├─ sessions          secret                    · user · expiry
//	└─ links             secret                    · user · expiry
//	memberships          user, organization        · organization
//	key_secrets          secret                    · key · expiry
//	replays              organization, operation, secret · expiry
//	catalog_versions     id                        · source (unique)
//	import_runs          id
//	email_preferences    user
//	── per organization ──
//	assessments          id
//	├─ figures           assessment
//	├─ lifecycle_events  assessment, id
//	├─ timeline          assessment, id
//	├─ documents         id                        · assessment · content (unique)
//	│  └─ unfinished_reads  document
//	│  └─ chunks         id, set                   · assessment, set, index
//	│     └─ vectors, outside_vectors  assessment, set, chunk
//	│  └─ passage_packs  assessment, set, part
//	│  └─ discarded_passages  assessment, document, set
//	│  └─ unembedded_passages  assessment, document
//	├─ scopes            id                        · assessment (unique)
//	│  └─ scope_versions assessment, number
//	├─ soa_versions      id                        · assessment, number (unique)
//	│  └─ soa_items      id                        · version, control
//	├─ gap_versions, maturity_versions, poam_versions, and their
//	│  findings, maturity_scores, poam_items       likewise
//	├─ carried_items     assessment, gate, number
//	├─ edits             assessment, user, id
//	├─ review_samples    assessment
//	├─ readers           assessment, name
//	│  ├─ readings       assessment, reader, statement
//	│  └─ model_answers  assessment, reader, number
//	├─ approvals         id                        · assessment · target
//	├─ delegations       id                        · delegate · assessment
//	├─ comments          id                        · assessment
//	├─ artifacts         id                        · assessment, type, variant (unique)
//	│  └─ artifact_versions  artifact, number
//	├─ workflow_runs     id                        · assessment · live (unique)
//	├─ reports           id                        · assessment
//	└─ agent_runs        id                        · assessment
//	   ├─ agent_steps    run, number
//	   └─ agent_outputs  run
//	api_keys             id
//	brandings            organization (one)
//	emails               id                        · queued · once (unique)
//	email_templates      id
//	alert_rules          id
//	translations         language, statement
//	former_members       user
//	corrections          id                        · passage · assessment
//	custom_heads         organization (one)
//	custom_catalogs      revision
//	sync_links           assessment
//	├─ sync_rows         assessment, table, key    · assessment, sequence (unique)
//	├─ sync_bases        assessment, table, key
//	├─ sync_replicas     assessment, replica
//	├─ sync_batches      assessment
//	├─ sync_files        assessment, content
//	└─ sync_conflicts    id                        · assessment
//	sync_keys            organization (one)
//	sync_peers           id                        · fingerprint (unique)
//	discarded_records    assessment
//	audit                sequence
//
// Passages and items are stored in packs; content that items of an assessment's versions share is stored once
// (packs.go). Of a secret, only the SHA-256 is stored.
var (
	Settings      = NewTable("settings", func(r *Setting) Key { return K(r.Name) })
	Organizations = NewTable("organizations", func(r *api.Organization) Key { return K(r.ID) },
		Unique("slug", func(r *api.Organization) []Key { return []Key{K(r.Slug)} }), CountBy[api.Organization]("", 0))
	Users = NewTable("users", func(r *api.User) Key { return K(r.ID) },
		Unique("email", func(r *api.User) []Key { return []Key{K(r.Email)} }), CountBy[api.User]("", 0))
	Memberships = NewTable("memberships", func(r *Membership) Key { return K(r.UserID, r.OrganizationID) },
		Index("organization", func(r *Membership) []Key { return []Key{K(r.OrganizationID)} }))
	Passwords = NewTable("passwords", func(r *Password) Key { return K(r.UserID) })
	Sessions  = NewTable("sessions", func(r *Session) Key { return K(r.Secret) },
		Index("user", func(r *Session) []Key { return []Key{K(r.UserID)} }),
		Index("expiry", func(r *Session) []Key { return []Key{K(r.ExpiresAt)} }))
	OneTimeLinks = NewTable("links", func(r *OneTimeLink) Key { return K(r.Secret) },
		Index("user", func(r *OneTimeLink) []Key { return []Key{K(r.UserID)} }),
		Index("expiry", func(r *OneTimeLink) []Key { return []Key{K(r.ExpiresAt)} }))
	KeySecrets = NewTable("key_secrets", func(r *KeySecret) Key { return K(r.Secret) },
		Index("key", func(r *KeySecret) []Key { return []Key{K(r.OrganizationID, r.KeyID)} }),
		Index("expiry", func(r *KeySecret) []Key {
			if r.ValidUntil == nil {
				return nil
			}
			return []Key{K(*r.ValidUntil)}
		}))
	CatalogVersions = NewTable("catalog_versions", func(r *CatalogVersion) Key { return K(r.ID) },
		Unique("source", func(r *CatalogVersion) []Key {
			if r.Variant != "" {
				return []Key{K(deref(r.SourceSHA256), r.Label, r.Variant)}
			}
			return []Key{K(deref(r.SourceSHA256), r.Label)}
		}))
	ImportRuns = NewTable("import_runs", func(r *api.ImportRun) Key { return K(r.ID) }, CountBy[api.ImportRun]("", 0))

	Assessments = newTenantTable("assessments", func(r *api.Assessment) (string, Key) { return r.OrganizationID, K(r.ID) },
		withCompanions[api.Assessment](companionsOfAssessment),
		CountBy[api.Assessment]("", 0),
		Index("state", func(r *api.Assessment) []Key { return []Key{K(r.State)} }), CountBy[api.Assessment]("state", 1),
		Index("status", func(r *api.Assessment) []Key { return []Key{K(r.State == api.StateClosed)} }), CountBy[api.Assessment]("status", 1),
		Index("framework", frameworkKeys), CountBy[api.Assessment]("framework", 1),
		withFiguresIf(func(r *api.Assessment) string { return r.ID }, figuresOfState, movesBetweenOpenAndClosed),
		withAssessmentSyncLog(func(r *api.Assessment) string { return r.ID }))
	LifecycleEvents = newTenantTable("lifecycle_events", func(r *api.LifecycleEvent) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.ID)
	}, CountBy[api.LifecycleEvent]("", 1), withAssessmentSyncLog(func(r *api.LifecycleEvent) string { return r.AssessmentID }))
	Timeline = newTenantTable("timeline", func(r *TimelineEvent) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.ID) },
		CountBy[TimelineEvent]("", 1), withAssessmentSyncLog(func(r *TimelineEvent) string { return r.AssessmentID }))
	Documents = newTenantTable(
		"documents",
		func(r *Document) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *Document) []Key { return []Key{K(r.AssessmentID)} }), CountBy[Document]("assessment", 1),
		Tally("facts", documentFacts), Tally("sums", documentSums),
		withFigures(func(r *Document) string { return r.AssessmentID }, figuresOfDocuments),
		Unique(
			"content",
			func(r *Document) []Key { return []Key{K(r.AssessmentID, r.SHA256)} },
		),
		Index("unread", func(r *Document) []Key {
			if r.Status != api.DocumentUploaded && r.Status != api.DocumentProcessing {
				return nil
			}
			return []Key{K(r.AssessmentID)}
		}), CountBy[Document]("unread", 1),
		withAssessmentSyncLog(func(r *Document) string { return r.AssessmentID }),
	)
	Chunks = newTenantTable("chunks", func(r *Chunk) (string, Key) { return r.OrganizationID, ChunkKey(r.ID, r.Set) },
		Index("position", func(r *Chunk) []Key { return []Key{K(r.AssessmentID, passageSetKey(r.DocumentID, r.Set), r.Index)} }),
		CountBy[Chunk]("position", 0), CountBy[Chunk]("position", 1), CountBy[Chunk]("position", 2),
		WithPacks(func(r *Chunk) Key { return K(passageSetKey(r.DocumentID, r.Set)) }),
		// Passages are part of their document's sync record.
		WithSyncLog(func(r *Chunk) SyncTarget {
			return SyncTarget{Assessment: r.AssessmentID, Table: "documents", Key: K(r.DocumentID)}
		}))
	// UnfinishedReads holds the attempts to read a document that haven't ended yet.
	UnfinishedReads = newTenantTable("unfinished_reads", func(r *ReadAttempts) (string, Key) { return r.OrganizationID, K(r.DocumentID) })
	Discarded       = newTenantTable(
		"discarded_records",
		func(r *DiscardedRecords) (string, Key) { return r.OrganizationID, K(r.AssessmentID) },
	)
	// DiscardedPassages holds the passage sets that no document uses: sets that are being written, sets
	// that were replaced, and sets of deleted documents.
	DiscardedPassages = newTenantTable("discarded_passages", func(r *PassageSet) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.DocumentID, r.Set)
	})
	// UnembeddedPassages holds the passage sets without vectors, whose documents were read while the embedder was being
	// trained.
	UnembeddedPassages = newTenantTable("unembedded_passages", func(r *PassageSet) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.DocumentID)
	})
	// Vectors are read but no longer written: the built-in embedder's vectors are in PassagePacks.
	Vectors = newTenantTable("vectors", func(r *Vector) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.DocumentID, r.ChunkID)
	}, Codec(encodeVector, decodeVector))
	// ExternalVectors are the vectors of an external embedding model. They are stored in addition to those of
	// the built-in embedder.
	ExternalVectors = newTenantTable("outside_vectors", func(r *Vector) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.DocumentID, r.ChunkID)
	}, Codec(encodeVector, decodeVector))
	PassagePacks = newTenantTable("passage_packs", func(r *PassagePack) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.DocumentID, r.Part)
	}, Codec(encodePassagePack, decodePassagePack))
	Scopes = newTenantTable(
		"scopes",
		func(r *api.Scope) (string, Key) { return r.OrganizationID, K(r.ID) },
		Unique(
			"assessment",
			func(r *api.Scope) []Key { return []Key{K(r.AssessmentID)} },
		),
		withAssessmentSyncLog(func(r *api.Scope) string { return r.AssessmentID }),
	)

	ScopeVersions = newTenantTable(
		"scope_versions",
		func(r *api.Scope) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.VersionNumber) },
		withAssessmentSyncLog(func(r *api.Scope) string { return r.AssessmentID }),
	)

	SoAVersions = newVersionTable("soa_versions", figuresOfSoA, func(r *api.SoAVersion) *api.DeliverableVersion { return &r.DeliverableVersion })
	SoAItems    = newItemTable(
		"soa_items",
		func(r *api.SoAItem) *api.Item { return &r.Item },
		func(r *api.SoAItem) any { return newItemHeader(&r.Item) },
		func(r *api.SoAItem) { clearItemHeader(&r.Item) },
		soaItemFacts, figuresOfSoA,
	)
	GapVersions = newVersionTable("gap_versions", figuresOfGap, func(r *api.GapVersion) *api.DeliverableVersion { return &r.DeliverableVersion })
	Findings    = newItemTable(
		"findings",
		func(r *api.Finding) *api.Item { return &r.Item },
		func(r *api.Finding) any { return newItemHeader(&r.Item) },
		func(r *api.Finding) { clearItemHeader(&r.Item) },
		findingFacts, figuresOfGap, Index("gaps", gapKey),
	)
	MaturityVersions = newVersionTable(
		"maturity_versions", figuresOfMaturity,
		func(r *api.MaturityVersion) *api.DeliverableVersion { return &r.DeliverableVersion },
	)
	MaturityScores = newItemTable(
		"maturity_scores",
		func(r *api.MaturityScore) *api.Item { return &r.Item },
		func(r *api.MaturityScore) any { return newItemHeader(&r.Item) },
		func(r *api.MaturityScore) { clearItemHeader(&r.Item) },
		scoreFacts, figuresOfMaturity,
	)
	POAMVersions = newVersionTable("poam_versions", figuresOfPOAM, func(r *api.POAMVersion) *api.DeliverableVersion { return &r.DeliverableVersion })
	POAMItems    = newItemTable(
		"poam_items",
		func(r *api.POAMItem) *api.Item { return &r.Item },
		newRemediationHeader,
		clearRemediationHeader,
		poamItemFacts, figuresOfPOAM,
	)

	Approvals = newTenantTable(
		"approvals",
		func(r *api.Approval) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *api.Approval) []Key { return []Key{K(r.AssessmentID)} }), CountBy[api.Approval]("assessment", 1),
		Index("pending", func(r *api.Approval) []Key {
			if r.Status != api.ApprovalPending {
				return nil
			}
			return []Key{K(r.AssessmentID, slices.Index(api.Gates, r.Gate))}
		}), CountBy[api.Approval]("pending", 0),
		Index(
			"target",
			func(r *api.Approval) []Key { return []Key{K(r.TargetID)} },
		),
		withAssessmentSyncLog(func(r *api.Approval) string { return r.AssessmentID }),
	)
	Readers = newTenantTable("readers", func(r *api.Reader) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.Name) },
		CountBy[api.Reader]("", 1), withAssessmentSyncLog(func(r *api.Reader) string { return r.AssessmentID }))
	// CarriedItems holds the decisions that users made in the assessment from which another one was created.
	CarriedItems = newTenantTable("carried_items", func(r *CarriedItem) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, string(r.Gate), r.Number)
	}, withAssessmentSyncLog(func(r *CarriedItem) string { return r.AssessmentID }))
	// Edits holds the changes that users can undo.
	Edits = newTenantTable("edits", func(r *Edit) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.UserID, r.ID) },
		CountBy[Edit]("", 2))
	// ReviewSamples holds the sample of lines to be read, one per assessment.
	ReviewSamples = newTenantTable("review_samples", func(r *ReviewSample) (string, Key) { return r.OrganizationID, K(r.AssessmentID) })
	// Readings holds readers' verdicts on statements, by passage. They were either imported from a file or cached.
	Readings = newTenantTable("readings", func(r *StatementReadings) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.Reader, r.StatementID)
	}, withAssessmentSyncLog(func(r *StatementReadings) string { return r.AssessmentID }))
	// ModelAnswers holds the answers of language models from which readings were derived.
	ModelAnswers = newTenantTable("model_answers", func(r *ModelAnswer) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.Reader, r.Number)
	})
	// Translations holds translations of the catalog's statements, for search.
	Translations = newTenantTable("translations", func(r *Translation) (string, Key) {
		return r.OrganizationID, K(r.Language, r.StatementID)
	})
	// Corrections holds users' decisions about passages. It is never exported, so the decisions stay within the
	// organization. Clones get the corrections that apply to their assessment. Corrections made in other assessments
	// are sent as copies (see CopiedCorrectionID).
	Corrections = newTenantTable("corrections", func(r *api.Correction) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("passage", func(r *api.Correction) []Key { return []Key{K(r.StatementID, r.Passage.SHA256)} }),
		Index("assessment", func(r *api.Correction) []Key { return []Key{K(r.AssessmentID, r.ControlCode)} }),
		CountBy[api.Correction]("", 0), withAssessmentSyncLog(func(r *api.Correction) string { return r.AssessmentID }),
		WithRelatedSyncLog(copiesOfCorrection))
	// FormerMembers holds the people who used to be members, so that the items they still own can be found.
	FormerMembers = newTenantTable("former_members", func(r *FormerMember) (string, Key) { return r.OrganizationID, K(r.UserID) })
	Delegations   = newTenantTable("delegations", func(r *api.Delegation) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("delegate", func(r *api.Delegation) []Key { return []Key{K(r.DelegateID)} }),
		Index("assessment", func(r *api.Delegation) []Key { return []Key{K(deref(r.AssessmentID))} }),
		CountBy[api.Delegation]("", 0))
	Comments = newTenantTable(
		"comments",
		func(r *api.Comment) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index(
			"assessment",
			func(r *api.Comment) []Key { return []Key{K(r.AssessmentID)} },
		),
		CountBy[api.Comment]("assessment", 1),
		withAssessmentSyncLog(func(r *api.Comment) string { return r.AssessmentID }),
	)
	Artifacts = newTenantTable("artifacts", func(r *api.Artifact) (string, Key) { return r.OrganizationID, K(r.ID) },
		Unique("assessment", func(r *api.Artifact) []Key {
			if r.Variant != nil {
				return []Key{K(r.AssessmentID, r.Type, *r.Variant)}
			}
			return []Key{K(r.AssessmentID, r.Type)}
		}), CountBy[api.Artifact]("assessment", 1))
	SyncPeers = newTenantTable("sync_peers", func(r *api.SyncPeer) (string, Key) { return r.OrganizationID, K(r.ID) },
		Unique("fingerprint", func(r *api.SyncPeer) []Key { return []Key{K(r.Fingerprint)} }), CountBy[api.SyncPeer]("", 0))
	SyncConflicts = newTenantTable(
		"sync_conflicts",
		func(r *api.SyncConflict) (string, Key) { return r.OrganizationID, K(r.ID) },
		CountBy[api.SyncConflict]("", 0),
		Index(
			"assessment",
			func(r *api.SyncConflict) []Key { return []Key{K(r.AssessmentID)} },
		),
		CountBy[api.SyncConflict]("assessment", 1),
		withAssessmentSyncLog(func(r *api.SyncConflict) string { return r.AssessmentID }),
	)
	ArtifactVersions = newTenantTable("artifact_versions", func(r *api.ArtifactVersion) (string, Key) {
		return r.OrganizationID, K(r.ArtifactID, r.VersionNumber)
	}, CountBy[api.ArtifactVersion]("", 1))
	Reports = newTenantTable("reports", func(r *api.Report) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *api.Report) []Key { return []Key{K(r.AssessmentID)} }), CountBy[api.Report]("assessment", 1))
	AgentRuns = newTenantTable("agent_runs", func(r *api.AgentRun) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *api.AgentRun) []Key { return []Key{K(deref(r.AssessmentID))} }),
		CountBy[api.AgentRun]("", 0), CountBy[api.AgentRun]("assessment", 1),
		Index("unfinished", func(r *api.AgentRun) []Key {
			if r.Status != "pending" && r.Status != "running" {
				return nil
			}
			return []Key{K(r.ID)}
		}))
	AgentSteps = newTenantTable("agent_steps", func(r *AgentStep) (string, Key) { return r.OrganizationID, K(r.AgentRunID, r.Index) },
		CountBy[AgentStep]("", 1))
	AgentOutputs = newTenantTable("agent_outputs", func(r *AgentOutput) (string, Key) { return r.OrganizationID, K(r.AgentRunID) })
	WorkflowRuns = newTenantTable("workflow_runs", func(r *WorkflowRun) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *WorkflowRun) []Key { return []Key{K(r.AssessmentID)} }),
		CountBy[WorkflowRun]("", 0), CountBy[WorkflowRun]("assessment", 1), CountBy[WorkflowRun]("live", 0),
		Tally("sums", func(r *WorkflowRun) []Amount { return []Amount{{K(r.Status), 1}} }),
		// Live runs are either active or wait for a person.
		Index("active", func(r *WorkflowRun) []Key {
			if !r.Status.IsLive() || r.isWaiting() {
				return nil
			}
			return []Key{K(r.ID)}
		}),
		Index("waiting", func(r *WorkflowRun) []Key {
			if !r.isWaiting() {
				return nil
			}
			return []Key{K(r.ID)}
		}),
		// Only one run of each kind can be live per assessment.
		Unique("live", func(r *WorkflowRun) []Key {
			if !r.Status.IsLive() {
				return nil
			}
			return []Key{K(r.AssessmentID, r.WorkflowType)}
		}))
	APIKeys           = newTenantTable("api_keys", func(r *APIKey) (string, Key) { return r.OrganizationID, K(r.ID) }, CountBy[APIKey]("", 0))
	IdempotentReplies = NewTable("replays", func(r *IdempotentReply) Key { return K(r.OrganizationID, r.Operation, r.Secret) },
		Index("expiry", func(r *IdempotentReply) []Key { return []Key{K(r.ExpiresAt)} }))
	Webhooks = newTenantTable("webhooks", func(r *Webhook) (string, Key) { return r.OrganizationID, K(r.ID) },
		CountBy[Webhook]("", 0), Tally("sums", webhookSums))
	Integrations = newTenantTable("integrations", func(r *Integration) (string, Key) { return r.OrganizationID, K(r.ID) },
		CountBy[Integration]("", 0),
		Index("mail", func(r *Integration) []Key {
			if r.Type != "smtp" || !r.Enabled {
				return nil
			}
			return []Key{K(r.ID)}
		}),
		Index("sync", func(r *Integration) []Key {
			if !r.Enabled || r.NextSyncAt == nil {
				return nil
			}
			return []Key{K(*r.NextSyncAt)}
		}))
	IssueLinks = newTenantTable("issue_links", func(r *IssueLink) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("integration", func(r *IssueLink) []Key { return []Key{K(r.IntegrationID)} }), CountBy[IssueLink]("integration", 1),
		Index("assessment", func(r *IssueLink) []Key { return []Key{K(r.AssessmentID)} }))
	Deliveries = newTenantTable("deliveries", func(r *Delivery) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("webhook", func(r *Delivery) []Key { return []Key{K(r.WebhookID)} }), CountBy[Delivery]("webhook", 1),
		Index("status", func(r *Delivery) []Key { return []Key{K(r.WebhookID, r.Status)} }), CountBy[Delivery]("status", 2),
		Index("due", func(r *Delivery) []Key {
			if r.NextAttemptAt == nil {
				return nil
			}
			return []Key{K(r.WebhookID, *r.NextAttemptAt)}
		}), CountBy[Delivery]("due", 0),
		// Deliveries that are also sent to a receiver that is not enabled.
		Index("single", func(r *Delivery) []Key {
			if r.NextAttemptAt == nil || !r.SingleAttempt {
				return nil
			}
			return []Key{K(r.WebhookID, *r.NextAttemptAt)}
		}))
	Brandings = newTenantTable("brandings", func(r *api.Branding) (string, Key) { return r.OrganizationID, K("branding") })
	Emails    = newTenantTable("emails", func(r *Email) (string, Key) { return r.OrganizationID, K(r.ID) },
		CountBy[Email]("", 0),
		Index("status", func(r *Email) []Key { return []Key{K(r.Status)} }), CountBy[Email]("status", 1),
		Index("queued", func(r *Email) []Key {
			if r.NextAttemptAt == nil {
				return nil
			}
			return []Key{K(*r.NextAttemptAt)}
		}), CountBy[Email]("queued", 0),
		Unique("once", func(r *Email) []Key {
			if r.DedupKey == "" {
				return nil
			}
			return []Key{K(r.DedupKey)}
		}))
	EmailTemplates   = newTenantTable("email_templates", func(r *EmailTemplate) (string, Key) { return r.OrganizationID, K(r.ID) })
	EmailPreferences = NewTable("email_preferences", func(r *EmailPreference) Key { return K(r.UserID) })
	AlertRules       = newTenantTable("alert_rules", func(r *AlertRule) (string, Key) { return r.OrganizationID, K(r.ID) },
		CountBy[AlertRule]("", 0))

	CustomCatalogHeads = newTenantTable("custom_heads", func(r *CustomCatalogHead) (string, Key) { return r.OrganizationID, K("head") })
	CustomCatalogs     = newTenantTable(
		"custom_catalogs",
		func(r *CustomCatalog) (string, Key) { return r.OrganizationID, K(int64(r.Revision)) },
	)
	Audit = newTenantTable("audit", func(r *api.AuditEvent) (string, Key) { return r.OrganizationID, K(int64(r.Sequence)) },
		CountBy[api.AuditEvent]("", 0))
)

// ServiceSchema returns the schema of the service.
var ServiceSchema = Schema{
	Tables: []AnyTable{
		Figures,
		Settings,
		Discarded,
		Organizations,
		Users,
		Passwords,
		Sessions,
		OneTimeLinks,
		Memberships,
		KeySecrets,
		IdempotentReplies,
		CatalogVersions,
		ImportRuns,
		Assessments,
		LifecycleEvents,
		Timeline,
		Documents,
		UnfinishedReads,
		Chunks,
		DiscardedPassages,
		UnembeddedPassages,
		Vectors,
		ExternalVectors,
		PassagePacks,
		Scopes,
		ScopeVersions,
		SoAVersions,
		SoAItems,
		GapVersions,
		Findings,
		MaturityVersions,
		MaturityScores,
		POAMVersions,
		POAMItems,
		CarriedItems,
		Edits,
		ReviewSamples,
		Readers,
		Readings,
		ModelAnswers,
		Translations,
		Corrections,
		FormerMembers,
		Approvals,
		Delegations,
		Comments,
		Artifacts,
		ArtifactVersions,
		Reports,
		WorkflowRuns,
		AgentRuns,
		AgentSteps,
		AgentOutputs,
		APIKeys,
		Webhooks,
		Deliveries,
		Integrations,
		IssueLinks,
		Emails,
		EmailTemplates,
		EmailPreferences,
		AlertRules,
		Brandings,
		CustomCatalogHeads,
		CustomCatalogs,
		Audit,
		SyncLinks,
		SyncLogEntries,
		SyncBases,
		SyncReplicas,
		SyncBatches,
		SyncFiles,
		SyncConflicts,
		SyncKeys,
		SyncPeers,
	},
}

func newTenantTable[R any](name string, tenantAndKey func(*R) (string, Key), options ...Option[R]) *TenantTable[R] {
	return NewTenantTable(name, func(r *R) string { org, _ := tenantAndKey(r); return org },
		func(r *R) Key { _, key := tenantAndKey(r); return key }, options...)
}

// withCompanions declares keys that are usually read in the same Update as the record with a given key, so that they
// are read together.
func withCompanions[R any](keys func(Key) []kv.Ref) Option[R] {
	return func(t *Table[R]) { t.untyped.companions = keys }
}

// companionsOfAssessment returns the keys that are read when a change to an assessment is recorded.
func companionsOfAssessment(assessment Key) []kv.Ref {
	org, _, err := decodePart(assessment.b)
	name, ok := org.(string)
	if err != nil || !ok {
		return nil
	}
	return []kv.Ref{
		{Table: SyncLinks.Name(), Key: assessment.b},
		{Table: Figures.Name(), Key: assessment.b},
		{Table: sequencesTable, Key: K(AuditSequence(name)).b},
	}
}

// AuditSequence returns the name of the sequence that numbers an organization's audit records.
func AuditSequence(org string) string { return "audit " + org }

// newVersionTable declares a table that holds the versions of a deliverable.
func newVersionTable[R any](name string, parts figureParts, version func(*R) *api.DeliverableVersion) *TenantTable[R] {
	return newTenantTable(
		name,
		func(r *R) (string, Key) { return version(r).OrganizationID, K(version(r).ID) },
		Unique(
			"assessment",
			func(r *R) []Key { return []Key{K(version(r).AssessmentID, version(r).VersionNumber)} },
		),
		CountBy[R]("assessment", 1),
		withFigures(func(r *R) string { return version(r).AssessmentID }, parts),
		withAssessmentSyncLog(func(r *R) string { return version(r).AssessmentID }),
	)
}

// copiesOfCorrection returns the copies of a correction in the clones of other assessments that may be for the same
// client.
func copiesOfCorrection(tx *Tx, org string, c *api.Correction) (out []SyncTarget, err error) {
	if c.CopiedFrom != nil {
		return nil, nil
	}
	var madeIn *api.Assessment
	for l, err := range SyncLinks.Scan(tx, org) {
		if err != nil {
			return nil, err
		}
		if l.Role != SyncRoleRemote || l.AssessmentID == c.AssessmentID {
			continue
		}
		if madeIn == nil {
			a, err := Assessments.Get(tx, org, c.AssessmentID)
			if err != nil && !errors.Is(err, ErrNotFound) { // not found while the assessment is being deleted
				return nil, err
			}
			madeIn = &a
		}
		to, err := Assessments.Get(tx, org, l.AssessmentID)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if madeIn.MayBeSameClient(&to) {
			out = append(out, SyncTarget{
				Assessment: to.ID, Table: "corrections", Key: K(CopiedCorrectionID(c.ID, to.ID)),
			})
		}
	}
	return out, nil
}

// CopiedCorrectionID returns the ID that a correction made in another assessment has in clones of the given one.
func CopiedCorrectionID(id, assessment string) string { return id + copiedFor + assessment }

// SplitCopiedCorrectionID returns the parts of an ID made by CopiedCorrectionID, or false for any other ID.
func SplitCopiedCorrectionID(copied string) (id, assessment string, ok bool) {
	return strings.Cut(copied, copiedFor)
}

const copiedFor = "@"

// withAssessmentSyncLog logs changes to a table's records if their assessment is synced. assessment returns a
// record's assessment.
func withAssessmentSyncLog[R any](assessment func(*R) string) Option[R] {
	return WithSyncLog(func(r *R) SyncTarget { return SyncTarget{Assessment: assessment(r)} })
}

// newItemTable declares a table that holds the items of a deliverable.
func newItemTable[R any](
	name string, item func(*R) *api.Item, header func(*R) any, clearHeader func(*R), facts func(*R) []Amount, parts figureParts,
	more ...Option[R],
) *TenantTable[R] {
	assessment := func(r *R) string { return item(r).AssessmentID }
	options := slices.Concat(more, []Option[R]{
		Index(
			"version",
			func(r *R) []Key { return []Key{K(item(r).VersionID, item(r).ControlCode)} },
		),
		CountBy[R]("version", 1),
		Tally("facts", facts),
		withFigures(assessment, parts),
		withAssessmentSyncLog(assessment),
		WithPacks(func(r *R) Key { return K(assessment(r)) }),
		WithSharedBody(header, func(a, b *R) bool { return equalBodies(a, b, clearHeader) }),
	})
	return newTenantTable(name, func(r *R) (string, Key) { return item(r).OrganizationID, K(item(r).ID) }, options...)
}

// frameworkKeys returns the keys by which lists find the assessments of a framework: the IDs and codes of an
// assessment's frameworks.
func frameworkKeys(r *api.Assessment) (keys []Key) {
	for _, f := range slices.Concat(r.FrameworkIDs, r.Frameworks) {
		keys = append(keys, K(f))
	}
	return keys
}

// deref returns the string that s points to, or "" if s is nil.
func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
