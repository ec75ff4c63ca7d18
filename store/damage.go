package store

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/scf-service/service/store/kv"
)

// DamagedRecordError is an ErrCorrupt that identifies the damaged record.
type DamagedRecordError struct {
	Table string // table of the record or of one of its indexes, such as "documents.content"
	Key   Key
}

func (e *DamagedRecordError) Error() string {
	return fmt.Sprintf("%v: the checksum of %s %s (table %s) is wrong; run `service doctor` to see all damage, "+
		"then restore a backup", ErrCorrupt, recordKindLabel(e.Table), e.Key, e.Table)
}

// Is reports whether target is ErrCorrupt.
func (e *DamagedRecordError) Is(target error) bool { return target == ErrCorrupt }

// Record returns the record's kind and ID without its organization, for example: passage "0199…".
func (e *DamagedRecordError) Record() string {
	name := recordKindLabel(e.Table)
	parts, err := e.Key.Parts()
	switch {
	case err != nil || len(parts) == 0:
		return name
	case strings.Contains(e.Table, "."): // an index
		parts = parts[len(parts)-1:]
	case len(parts) > 1 && e.Table != Memberships.Name(): // keys of other tables begin with the organization
		parts = parts[1:]
	}
	return name + " " + K(parts...).String()
}

// recordNames maps tables to the names that users see for their records.
var recordNames = map[string]string{
	"edits": "undoable change", "figures": "assessment figures", "review_samples": "review sample",
	"settings": "setting", "organizations": "organization", "users": "user", "passwords": "password", "sessions": "session",
	"links": "one-time link", "memberships": "membership", "key_secrets": "API key", "replays": "saved reply",
	"catalog_versions": "catalog version", "import_runs": "catalog import", "email_preferences": "email preference",
	"assessments": "assessment", "lifecycle_events": "state change", "timeline": "timeline entry", "documents": "document",
	"chunks": "passage", "vectors": "passage vector", "outside_vectors": "passage vector", "passage_packs": "passage pack",
	"scopes": "scope", "scope_versions": "scope version", "soa_versions": "Statement of Applicability",
	"soa_items": "line of a Statement of Applicability", "gap_versions": "gap analysis", "findings": "finding",
	"maturity_versions": "maturity assessment", "maturity_scores": "maturity score", "poam_versions": "plan of action",
	"poam_items": "plan item", "approvals": "approval", "delegations": "delegation", "comments": "comment",
	"carried_items": "carried item", "readers": "reader", "readings": "statement readings", "model_answers": "model answer",
	"translations": "translation", "corrections": "correction", "former_members": "former member",
	"artifacts": "deliverable", "artifact_versions": "deliverable version", "workflow_runs": "workflow run", "reports": "report",
	"agent_runs": "agent run", "agent_steps": "agent step", "agent_outputs": "agent result", "api_keys": "API key",
	"webhooks": "webhook", "deliveries": "webhook delivery", "integrations": "integration", "issue_links": "issue link",
	"brandings": "branding", "emails": "email", "email_templates": "email template", "alert_rules": "alert rule",
	"custom_heads": "list of custom frameworks", "custom_catalogs": "list of custom frameworks", "audit": "audit record",
	"sync_links": "sync link", "sync_rows": "sync log entry", "sync_bases": "synced record", "sync_replicas": "clone",
	"sync_batches": "sync batch", "sync_files": "synced file", "sync_conflicts": "sync conflict", "sync_keys": "sync key",
	"sync_peers":       "trusted key",
	"_outbox_new":      "event",
	"unfinished_reads": "unfinished document reading", "discarded_passages": "set of discarded passages",
	"unembedded_passages": "set of passages without vectors",
	"discarded_records":   "list of discarded records",
	outboxEvents.Name():   "event", outboxConsumers.Name(): "event reader", bodiesTable: "content of a deliverable item",
	packsTable: "pack of records",
	metaTable:  "description of the database", sequencesTable: "counter",
}

// recordKindLabel returns the name that users see for a record of a table, or for an entry of an index.
func recordKindLabel(table string) string {
	table, _, index := strings.Cut(table, ".")
	name := cmp.Or(recordNames[table], "record")
	if index {
		return "index entry of " + name
	}
	return name
}

// DamageCheck is the result of reading all records or files.
type DamageCheck struct {
	Checked, Damaged int
	// Kinds lists the damage by kind, at most the first maxDamageKinds.
	Kinds []DamageKind
}

const maxDamageKinds = 20

// DamageKind counts the damaged records of one table and names the first.
type DamageKind struct {
	Table string // empty for files
	First string // the name of the first one
	Count int
}

// add counts a damaged record, and lists its kind unless there are too many kinds.
func (c *DamageCheck) add(table, name string) {
	c.Damaged++
	last := len(c.Kinds) - 1
	switch {
	case last >= 0 && table != "" && c.Kinds[last].Table == table:
		c.Kinds[last].Count++
	case len(c.Kinds) < maxDamageKinds:
		c.Kinds = append(c.Kinds, DamageKind{Table: table, First: name, Count: 1})
	}
}

// String returns a summary, for example: 4 of 90 damaged: passage "a" and 2 more of this kind; finding "b".
func (c DamageCheck) String() string {
	if c.Damaged == 0 {
		return fmt.Sprintf("%d read, none damaged", c.Checked)
	}
	var named []string
	others := c.Damaged
	for _, k := range c.Kinds {
		name := k.First
		if k.Count > 1 {
			name += fmt.Sprintf(" and %d more of this kind", k.Count-1)
		}
		named = append(named, name)
		others -= k.Count
	}
	switch {
	case others == 1:
		named = append(named, "1 other")
	case others > 1:
		named = append(named, fmt.Sprintf("%d others", others))
	}
	return fmt.Sprintf("%d of %d damaged: %s", c.Damaged, c.Checked, strings.Join(named, "; "))
}

// CheckRecords reads all records and their index entries.
func (db *DB) CheckRecords(ctx context.Context) (DamageCheck, error) {
	var found damageFinder
	var total totalChecker
	err := db.View(ctx, func(tx *Tx) error {
		tables, err := tx.kv.Tables()
		if err != nil {
			return err
		}
		for _, table := range tables {
			for p, err := range tx.kv.Scan(table, kv.Range{}) {
				if err != nil {
					return err
				}
				found.Pair(table, p.Key, p.Value)
				total.Pair(table, p.Key, p.Value)
			}
		}
		if found.Damaged > 0 {
			return nil // the damaged records are more specific than a wrong total
		}
		return total.Err()
	})
	return found.DamageCheck, err
}
