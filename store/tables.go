package store

import "github.com/scf-service/service/api"

// The tables. What stands under an organization is seen by that organization only.
//
//	settings             name
//	organizations        id                        · slug (unique)
//	users                id                        · email (unique)
//	├─ passwords         user
//	├─ sessions          secret                    · user
//	└─ links             secret                    · user
//	memberships          user, organization        · organization
//	key_secrets          secret                    · key
//	replays              organization, operation, secret · expiry
//	catalog_versions     id                        · source (unique)
//	import_runs          id
//	email_preferences    user
//	── per organization ──
//	assessments          id
//	├─ lifecycle_events  assessment, id
//	├─ timeline          assessment, id
//	├─ documents         id                        · assessment · content (unique)
//	│  └─ chunks         id                        · document, index · assessment
//	│     └─ vectors     assessment, document, chunk
//	│  └─ passage_packs  assessment, document, part
//	├─ scopes            id                        · assessment (unique)
//	│  └─ scope_versions assessment, number
//	├─ soa_versions      id                        · assessment, number (unique)
//	│  └─ soa_items      id                        · version, control
//	├─ gap_versions, maturity_versions, poam_versions, and their
//	│  findings, maturity_scores, poam_items       likewise
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
//	audit                sequence
//
// What lines of an assessment's versions say alike is kept once (shared.go). A secret is kept as its SHA-256 alone.
var (
	Settings      = NewTable("settings", func(r *Setting) Key { return K(r.Name) })
	Organizations = NewTable("organizations", func(r *api.Organization) Key { return K(r.ID) },
		Unique("slug", func(r *api.Organization) []Key { return []Key{K(r.Slug)} }))
	Users = NewTable("users", func(r *api.User) Key { return K(r.ID) },
		Unique("email", func(r *api.User) []Key { return []Key{K(r.Email)} }))
	Memberships = NewTable("memberships", func(r *Membership) Key { return K(r.UserID, r.OrganizationID) },
		Index("organization", func(r *Membership) []Key { return []Key{K(r.OrganizationID)} }))
	Passwords = NewTable("passwords", func(r *Password) Key { return K(r.UserID) })
	Sessions  = NewTable("sessions", func(r *Session) Key { return K(r.Secret) },
		Index("user", func(r *Session) []Key { return []Key{K(r.UserID)} }))
	Links = NewTable("links", func(r *Link) Key { return K(r.Secret) },
		Index("user", func(r *Link) []Key { return []Key{K(r.UserID)} }))
	KeySecrets = NewTable("key_secrets", func(r *KeySecret) Key { return K(r.Secret) },
		Index("key", func(r *KeySecret) []Key { return []Key{K(r.OrganizationID, r.KeyID)} }))
	CatalogVersions = NewTable("catalog_versions", func(r *CatalogVersion) Key { return K(r.ID) },
		Unique("source", func(r *CatalogVersion) []Key {
			if r.Variant != "" {
				return []Key{K(deref(r.SourceSHA256), r.Label, r.Variant)}
			}
			return []Key{K(deref(r.SourceSHA256), r.Label)}
		}))
	ImportRuns = NewTable("import_runs", func(r *api.ImportRun) Key { return K(r.ID) })

	Assessments = tenantTable("assessments", func(r *api.Assessment) (string, Key) { return r.OrganizationID, K(r.ID) },
		synced(func(r *api.Assessment) string { return r.ID }))
	LifecycleEvents = tenantTable("lifecycle_events", func(r *api.LifecycleEvent) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.ID)
	}, synced(func(r *api.LifecycleEvent) string { return r.AssessmentID }))
	Timeline = tenantTable("timeline", func(r *TimelineEvent) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.ID) },
		synced(func(r *TimelineEvent) string { return r.AssessmentID }))
	Documents = tenantTable("documents", func(r *Document) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *Document) []Key { return []Key{K(r.AssessmentID)} }),
		Unique("content", func(r *Document) []Key { return []Key{K(r.AssessmentID, r.SHA256)} }), synced(func(r *Document) string { return r.AssessmentID }))
	Chunks = tenantTable("chunks", func(r *api.Chunk) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("document", func(r *api.Chunk) []Key { return []Key{K(r.DocumentID, r.Index)} }),
		Index("assessment", func(r *api.Chunk) []Key { return []Key{K(r.AssessmentID)} }),
		// Passages travel within their document.
		Synced(func(r *api.Chunk) SyncedAs { return SyncedAs{r.AssessmentID, "documents", K(r.DocumentID)} }))
	Vectors = tenantTable("vectors", func(r *Vector) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.DocumentID, r.ChunkID)
	}, Codec(encodeVector, decodeVector))
	// OutsideVectors are those of an embedding model elsewhere, beside the built-in one's.
	OutsideVectors = tenantTable("outside_vectors", func(r *Vector) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.DocumentID, r.ChunkID)
	}, Codec(encodeVector, decodeVector))
	PassagePacks = tenantTable("passage_packs", func(r *PassagePack) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.DocumentID, r.Part)
	}, Codec(encodePassagePack, decodePassagePack))
	Scopes = tenantTable("scopes", func(r *api.Scope) (string, Key) { return r.OrganizationID, K(r.ID) },
		Unique("assessment", func(r *api.Scope) []Key { return []Key{K(r.AssessmentID)} }), synced(func(r *api.Scope) string { return r.AssessmentID }))

	ScopeVersions = tenantTable("scope_versions", func(r *api.Scope) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.VersionNumber) },
		synced(func(r *api.Scope) string { return r.AssessmentID }))

	SoAVersions      = versionTable("soa_versions", func(r *api.SoAVersion) *api.DeliverableVersion { return &r.DeliverableVersion })
	SoAItems         = itemTable("soa_items", func(r *api.SoAItem) *api.Item { return &r.Item }, func(r *api.SoAItem) any { return headOfLine(&r.Item) }, alikeSoAItems)
	GapVersions      = versionTable("gap_versions", func(r *api.GapVersion) *api.DeliverableVersion { return &r.DeliverableVersion })
	Findings         = itemTable("findings", func(r *api.Finding) *api.Item { return &r.Item }, func(r *api.Finding) any { return headOfLine(&r.Item) }, alikeFindings)
	MaturityVersions = versionTable("maturity_versions", func(r *api.MaturityVersion) *api.DeliverableVersion { return &r.DeliverableVersion })
	MaturityScores   = itemTable("maturity_scores", func(r *api.MaturityScore) *api.Item { return &r.Item }, func(r *api.MaturityScore) any { return headOfLine(&r.Item) }, alikeScores)
	POAMVersions     = versionTable("poam_versions", func(r *api.POAMVersion) *api.DeliverableVersion { return &r.DeliverableVersion })
	POAMItems        = itemTable("poam_items", func(r *api.POAMItem) *api.Item { return &r.Item }, headOfRemediation, alikeRemediations)

	Approvals = tenantTable("approvals", func(r *api.Approval) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *api.Approval) []Key { return []Key{K(r.AssessmentID)} }),
		Index("target", func(r *api.Approval) []Key { return []Key{K(r.TargetID)} }), synced(func(r *api.Approval) string { return r.AssessmentID }))
	Delegations = tenantTable("delegations", func(r *api.Delegation) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("delegate", func(r *api.Delegation) []Key { return []Key{K(r.DelegateID)} }),
		Index("assessment", func(r *api.Delegation) []Key { return []Key{K(deref(r.AssessmentID))} }))
	Comments = tenantTable("comments", func(r *api.Comment) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *api.Comment) []Key { return []Key{K(r.AssessmentID)} }), synced(func(r *api.Comment) string { return r.AssessmentID }))
	Artifacts = tenantTable("artifacts", func(r *api.Artifact) (string, Key) { return r.OrganizationID, K(r.ID) },
		Unique("assessment", func(r *api.Artifact) []Key {
			if r.Variant != nil {
				return []Key{K(r.AssessmentID, r.Type, *r.Variant)}
			}
			return []Key{K(r.AssessmentID, r.Type)}
		}))
	SyncPeers = tenantTable("sync_peers", func(r *api.SyncPeer) (string, Key) { return r.OrganizationID, K(r.ID) },
		Unique("fingerprint", func(r *api.SyncPeer) []Key { return []Key{K(r.Fingerprint)} }))
	SyncConflicts = tenantTable("sync_conflicts", func(r *api.SyncConflict) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *api.SyncConflict) []Key { return []Key{K(r.AssessmentID)} }), synced(func(r *api.SyncConflict) string { return r.AssessmentID }))
	ArtifactVersions = tenantTable("artifact_versions", func(r *api.ArtifactVersion) (string, Key) {
		return r.OrganizationID, K(r.ArtifactID, r.VersionNumber)
	})
	Reports = tenantTable("reports", func(r *api.Report) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *api.Report) []Key { return []Key{K(r.AssessmentID)} }))
	AgentRuns = tenantTable("agent_runs", func(r *api.AgentRun) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *api.AgentRun) []Key { return []Key{K(deref(r.AssessmentID))} }))
	AgentSteps   = tenantTable("agent_steps", func(r *AgentStep) (string, Key) { return r.OrganizationID, K(r.AgentRunID, r.Index) })
	AgentOutputs = tenantTable("agent_outputs", func(r *AgentOutput) (string, Key) { return r.OrganizationID, K(r.AgentRunID) })
	WorkflowRuns = tenantTable("workflow_runs", func(r *WorkflowRun) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *WorkflowRun) []Key { return []Key{K(r.AssessmentID)} }),
		// A run that goes on is alone of its kind for its assessment.
		Unique("live", func(r *WorkflowRun) []Key {
			if !r.Status.Live() {
				return nil
			}
			return []Key{K(r.AssessmentID, r.WorkflowType)}
		}))
	APIKeys = tenantTable("api_keys", func(r *APIKey) (string, Key) { return r.OrganizationID, K(r.ID) })
	Replays = NewTable("replays", func(r *Replay) Key { return K(r.OrganizationID, r.Operation, r.Secret) },
		Index("expiry", func(r *Replay) []Key { return []Key{K(r.ExpiresAt)} }))
	Webhooks     = tenantTable("webhooks", func(r *Webhook) (string, Key) { return r.OrganizationID, K(r.ID) })
	Integrations = tenantTable("integrations", func(r *Integration) (string, Key) { return r.OrganizationID, K(r.ID) })
	IssueLinks   = tenantTable("issue_links", func(r *IssueLink) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("integration", func(r *IssueLink) []Key { return []Key{K(r.IntegrationID)} }),
		Index("assessment", func(r *IssueLink) []Key { return []Key{K(r.AssessmentID)} }))
	Deliveries = tenantTable("deliveries", func(r *Delivery) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("webhook", func(r *Delivery) []Key { return []Key{K(r.WebhookID)} }),
		Index("due", func(r *Delivery) []Key {
			if r.NextAttemptAt == nil {
				return nil
			}
			return []Key{K(r.WebhookID, *r.NextAttemptAt)}
		}))
	Brandings = tenantTable("brandings", func(r *api.Branding) (string, Key) { return r.OrganizationID, K("branding") })
	Emails    = tenantTable("emails", func(r *Email) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("queued", func(r *Email) []Key {
			if r.NextAttemptAt == nil {
				return nil
			}
			return []Key{K(*r.NextAttemptAt)}
		}),
		Unique("once", func(r *Email) []Key {
			if r.Once == "" {
				return nil
			}
			return []Key{K(r.Once)}
		}))
	EmailTemplates   = tenantTable("email_templates", func(r *EmailTemplate) (string, Key) { return r.OrganizationID, K(r.ID) })
	EmailPreferences = NewTable("email_preferences", func(r *EmailPreference) Key { return K(r.UserID) })
	AlertRules       = tenantTable("alert_rules", func(r *AlertRule) (string, Key) { return r.OrganizationID, K(r.ID) })

	CustomHeads    = tenantTable("custom_heads", func(r *CustomHead) (string, Key) { return r.OrganizationID, K("head") })
	CustomCatalogs = tenantTable("custom_catalogs", func(r *CustomCatalog) (string, Key) { return r.OrganizationID, K(int64(r.Revision)) })
	Audit          = tenantTable("audit", func(r *api.AuditEvent) (string, Key) { return r.OrganizationID, K(int64(r.Sequence)) })
)

// Tables is the schema of the service.
var Tables = Schema{
	Tables: []AnyTable{
		Settings, Organizations, Users, Passwords, Sessions, Links, Memberships, KeySecrets, Replays, CatalogVersions, ImportRuns, Assessments, LifecycleEvents, Timeline,
		Documents, Chunks, Vectors, OutsideVectors, PassagePacks, Scopes, ScopeVersions, SoAVersions, SoAItems, GapVersions, Findings, MaturityVersions, MaturityScores,
		POAMVersions, POAMItems, Approvals, Delegations, Comments, Artifacts, ArtifactVersions, Reports, WorkflowRuns, AgentRuns, AgentSteps, AgentOutputs, APIKeys, Webhooks, Deliveries, Integrations, IssueLinks, Emails, EmailTemplates, EmailPreferences, AlertRules, Brandings, CustomHeads, CustomCatalogs, Audit,
		SyncLinks, SyncRows, SyncBases, SyncReplicas, SyncBatches, SyncFiles, SyncConflicts, SyncKeys, SyncPeers,
	},
}

func tenantTable[R any](name string, where func(*R) (string, Key), options ...Option[R]) *TenantTable[R] {
	return NewTenantTable(name, func(r *R) string { org, _ := where(r); return org },
		func(r *R) Key { _, key := where(r); return key }, options...)
}

func versionTable[R any](name string, of func(*R) *api.DeliverableVersion) *TenantTable[R] {
	return tenantTable(name, func(r *R) (string, Key) { return of(r).OrganizationID, K(of(r).ID) },
		Unique("assessment", func(r *R) []Key { return []Key{K(of(r).AssessmentID, of(r).VersionNumber)} }), synced(func(r *R) string { return of(r).AssessmentID }))
}

// synced has a table's changes logged where the record's assessment is synchronised.
func synced[R any](assessment func(*R) string) Option[R] {
	return Synced(func(r *R) SyncedAs { return SyncedAs{Assessment: assessment(r)} })
}

func itemTable[R any](name string, of func(*R) *api.Item, head func(*R) any, alike func(a, b *R) bool) *TenantTable[R] {
	assessment := func(r *R) string { return of(r).AssessmentID }
	return tenantTable(name, func(r *R) (string, Key) { return of(r).OrganizationID, K(of(r).ID) },
		Index("version", func(r *R) []Key { return []Key{K(of(r).VersionID, of(r).ControlCode)} }), synced(assessment), Headed(head, alike, assessment))
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
