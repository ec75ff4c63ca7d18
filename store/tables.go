package store

import "github.com/scf-service/service/engine/api"

// The tables. What stands under an organization is seen by that organization only.
//
//	settings             name
//	organizations        id                        · slug (unique)
//	users                id                        · email (unique)
//	memberships          user, organization        · organization
//	catalog_versions     id                        · source (unique)
//	import_runs          id
//	── per organization ──
//	assessments          id
//	├─ lifecycle_events  assessment, id
//	├─ timeline          assessment, id
//	├─ documents         id                        · assessment · content (unique)
//	│  └─ chunks         id                        · document, index · assessment
//	│     └─ vectors     assessment, document, chunk
//	├─ scopes            id                        · assessment (unique)
//	├─ soa_versions      id                        · assessment, number (unique)
//	│  └─ soa_items      id                        · version, control
//	├─ gap_versions, maturity_versions, poam_versions, and their
//	│  findings, maturity_scores, poam_items       likewise
//	├─ approvals         id                        · assessment · target
//	├─ artifacts         id                        · assessment, type (unique)
//	│  └─ artifact_versions  artifact, number
//	└─ reports           id                        · assessment
//	audit                sequence
var (
	Settings      = NewTable("settings", func(r *Setting) Key { return K(r.Name) })
	Organizations = NewTable("organizations", func(r *api.Organization) Key { return K(r.ID) },
		Unique("slug", func(r *api.Organization) []Key { return []Key{K(r.Slug)} }))
	Users = NewTable("users", func(r *api.User) Key { return K(r.ID) },
		Unique("email", func(r *api.User) []Key { return []Key{K(r.Email)} }))
	Memberships = NewTable("memberships", func(r *Membership) Key { return K(r.UserID, r.OrganizationID) },
		Index("organization", func(r *Membership) []Key { return []Key{K(r.OrganizationID)} }))
	CatalogVersions = NewTable("catalog_versions", func(r *CatalogVersion) Key { return K(r.ID) },
		Unique("source", func(r *CatalogVersion) []Key { return []Key{K(deref(r.SourceSHA256), r.Label)} }))
	ImportRuns = NewTable("import_runs", func(r *api.ImportRun) Key { return K(r.ID) })

	Assessments     = tenantTable("assessments", func(r *api.Assessment) (string, Key) { return r.OrganizationID, K(r.ID) })
	LifecycleEvents = tenantTable("lifecycle_events", func(r *api.LifecycleEvent) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.ID)
	})
	Timeline  = tenantTable("timeline", func(r *TimelineEvent) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.ID) })
	Documents = tenantTable("documents", func(r *Document) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *Document) []Key { return []Key{K(r.AssessmentID)} }),
		Unique("content", func(r *Document) []Key { return []Key{K(r.AssessmentID, r.SHA256)} }))
	Chunks = tenantTable("chunks", func(r *api.Chunk) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("document", func(r *api.Chunk) []Key { return []Key{K(r.DocumentID, r.Index)} }),
		Index("assessment", func(r *api.Chunk) []Key { return []Key{K(r.AssessmentID)} }))
	Vectors = tenantTable("vectors", func(r *Vector) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.DocumentID, r.ChunkID)
	}, Codec(encodeVector, decodeVector))
	Scopes = tenantTable("scopes", func(r *api.Scope) (string, Key) { return r.OrganizationID, K(r.ID) },
		Unique("assessment", func(r *api.Scope) []Key { return []Key{K(r.AssessmentID)} }))

	SoAVersions      = versionTable("soa_versions", func(r *api.SoAVersion) *api.DeliverableVersion { return &r.DeliverableVersion })
	SoAItems         = itemTable("soa_items", func(r *api.SoAItem) *api.Item { return &r.Item })
	GapVersions      = versionTable("gap_versions", func(r *api.GapVersion) *api.DeliverableVersion { return &r.DeliverableVersion })
	Findings         = itemTable("findings", func(r *api.Finding) *api.Item { return &r.Item })
	MaturityVersions = versionTable("maturity_versions", func(r *api.MaturityVersion) *api.DeliverableVersion { return &r.DeliverableVersion })
	MaturityScores   = itemTable("maturity_scores", func(r *api.MaturityScore) *api.Item { return &r.Item })
	POAMVersions     = versionTable("poam_versions", func(r *api.POAMVersion) *api.DeliverableVersion { return &r.DeliverableVersion })
	POAMItems        = itemTable("poam_items", func(r *api.POAMItem) *api.Item { return &r.Item })

	Approvals = tenantTable("approvals", func(r *api.Approval) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *api.Approval) []Key { return []Key{K(r.AssessmentID)} }),
		Index("target", func(r *api.Approval) []Key { return []Key{K(r.TargetID)} }))
	Artifacts = tenantTable("artifacts", func(r *api.Artifact) (string, Key) { return r.OrganizationID, K(r.ID) },
		Unique("assessment", func(r *api.Artifact) []Key { return []Key{K(r.AssessmentID, r.Type)} }))
	ArtifactVersions = tenantTable("artifact_versions", func(r *api.ArtifactVersion) (string, Key) {
		return r.OrganizationID, K(r.ArtifactID, r.VersionNumber)
	})
	Reports = tenantTable("reports", func(r *api.Report) (string, Key) { return r.OrganizationID, K(r.ID) },
		Index("assessment", func(r *api.Report) []Key { return []Key{K(r.AssessmentID)} }))
	Audit = tenantTable("audit", func(r *api.AuditEvent) (string, Key) { return r.OrganizationID, K(int64(r.Sequence)) })
)

// Tables is the schema of the service.
var Tables = Schema{
	Tables: []AnyTable{
		Settings, Organizations, Users, Memberships, CatalogVersions, ImportRuns, Assessments, LifecycleEvents, Timeline,
		Documents, Chunks, Vectors, Scopes, SoAVersions, SoAItems, GapVersions, Findings, MaturityVersions, MaturityScores,
		POAMVersions, POAMItems, Approvals, Artifacts, ArtifactVersions, Reports, Audit,
	},
}

func tenantTable[R any](name string, where func(*R) (string, Key), options ...Option[R]) *TenantTable[R] {
	return NewTenantTable(name, func(r *R) string { org, _ := where(r); return org },
		func(r *R) Key { _, key := where(r); return key }, options...)
}

func versionTable[R any](name string, of func(*R) *api.DeliverableVersion) *TenantTable[R] {
	return tenantTable(name, func(r *R) (string, Key) { return of(r).OrganizationID, K(of(r).ID) },
		Unique("assessment", func(r *R) []Key { return []Key{K(of(r).AssessmentID, of(r).VersionNumber)} }))
}

func itemTable[R any](name string, of func(*R) *api.Item) *TenantTable[R] {
	return tenantTable(name, func(r *R) (string, Key) { return of(r).OrganizationID, K(of(r).ID) },
		Index("version", func(r *R) []Key { return []Key{K(of(r).VersionID, of(r).ControlCode)} }))
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
