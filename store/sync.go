package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"
)

// The roles of a store in syncing an assessment.
const (
	// SyncRoleRemote is the role of the authoritative side, to which clones push their changes.
	SyncRoleRemote = "remote"
	// SyncRoleClone is the role of a copy whose changes are pushed to the remote.
	SyncRoleClone = "clone"
)

// SyncLink marks an assessment as synced. Changes to other assessments are not logged.
type SyncLink struct {
	OrganizationID string    `json:"organization_id"`
	AssessmentID   string    `json:"assessment_id"`
	Role           string    `json:"role"`
	CreatedAt      time.Time `json:"created_at"`
	// The following fields belong to a clone: its remote, its account there, and the progress of
	// both sides.
	Server             string    `json:"server,omitempty"`
	RemoteOrganization string    `json:"remote_organization,omitempty"`
	ReplicaID          string    `json:"replica_id,omitempty"`
	Account            string    `json:"account,omitempty"`
	Since              int64     `json:"since,omitempty"`
	AnchorSequence     uint64    `json:"anchor_sequence,omitempty"`
	AnchorHash         string    `json:"anchor_hash,omitempty"`
	Counter            int64     `json:"counter,omitempty"`
	SyncedAt           time.Time `json:"synced_at,omitzero"`
	// PeerID is the peer that it exchanges bundles with; empty if no bundles have been exchanged.
	PeerID string `json:"peer_id,omitempty"`
	SyncSerials
}

// SyncSerials are the numbers and hashes of the last bundles sent and received.
type SyncSerials struct {
	Written     int64  `json:"written,omitempty"`
	Imported    int64  `json:"imported,omitempty"`
	ImportedSum string `json:"imported_sum,omitempty"`
}

// SyncKey is the key with which an organization signs and decrypts bundles.
type SyncKey struct {
	OrganizationID string    `json:"organization_id"`
	CreatedAt      time.Time `json:"created_at"`
	// Key is the public key; Sealed is the encrypted private key.
	Key    string `json:"key"`
	Sealed []byte `json:"sealed"`
}

// SyncStamp records who last changed a field, and when.
type SyncStamp struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// SyncLogEntry records that a record of a synced assessment has changed. There is one entry per record,
// numbered by its last change.
type SyncLogEntry struct {
	OrganizationID string               `json:"organization_id"`
	AssessmentID   string               `json:"assessment_id"`
	Table          string               `json:"table"`
	Key            []byte               `json:"key"`
	Sequence       int64                `json:"sequence"`
	By             string               `json:"by"`
	At             time.Time            `json:"at"`
	Fields         map[string]SyncStamp `json:"fields,omitempty"`
}

// SyncBase is a clone's record as it was on the remote at the last sync.
type SyncBase struct {
	OrganizationID string          `json:"organization_id"`
	AssessmentID   string          `json:"assessment_id"`
	Table          string          `json:"table"`
	Key            []byte          `json:"key"`
	Record         json.RawMessage `json:"record"`
}

// SyncReplica is what the remote knows about a clone.
type SyncReplica struct {
	OrganizationID string    `json:"organization_id"`
	AssessmentID   string    `json:"assessment_id"`
	ID             string    `json:"id"`
	Name           string    `json:"name"`
	UserID         string    `json:"user_id"`
	UserName       string    `json:"user_name"`
	JoinedAt       time.Time `json:"joined_at"`
	SeenAt         time.Time `json:"seen_at"`
	// Since is the last sequence number that the clone has read; the next three fields describe the last batch
	// that it sent.
	Since      int64           `json:"since"`
	Counter    int64           `json:"counter"`
	LastSum    string          `json:"last_sum,omitempty"`
	LastResult json.RawMessage `json:"last_result,omitempty"`
	// PeerID is the peer that it exchanges bundles with; empty if no bundles have been exchanged.
	PeerID string `json:"peer_id,omitempty"`
	SyncSerials
}

// SyncBatchEntry is a log entry in a batch, as it was when the batch was created.
type SyncBatchEntry struct {
	Table    string `json:"table"`
	Key      []byte `json:"key"`
	Sequence int64  `json:"sequence"`
	// Record is the record that was sent; empty if it was deleted.
	Record json.RawMessage `json:"record,omitempty"`
	// CloneOnly is true if the record belongs only to the clone, because the remote writes its own.
	CloneOnly bool `json:"clone_only,omitempty"`
}

// SyncBatch is a clone's batch that its remote has not yet acknowledged.
type SyncBatch struct {
	OrganizationID string           `json:"organization_id"`
	AssessmentID   string           `json:"assessment_id"`
	Counter        int64            `json:"counter"`
	Data           []byte           `json:"data"`
	Entries        []SyncBatchEntry `json:"entries"`
}

// SyncFile is a file that was uploaded for an assessment before the record that will reference it.
type SyncFile struct {
	OrganizationID string    `json:"organization_id"`
	AssessmentID   string    `json:"assessment_id"`
	SHA256         string    `json:"sha256"`
	At             time.Time `json:"at"`
}

var (
	SyncLinks      = newTenantTable("sync_links", func(r *SyncLink) (string, Key) { return r.OrganizationID, K(r.AssessmentID) })
	SyncLogEntries = newTenantTable(
		"sync_rows",
		func(r *SyncLogEntry) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.Table, r.Key) },
		Unique("sequence", func(r *SyncLogEntry) []Key { return []Key{K(r.AssessmentID, r.Sequence)} }),
	)
	SyncBases = newTenantTable("sync_bases", func(r *SyncBase) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.Table, r.Key)
	})
	SyncReplicas = newTenantTable("sync_replicas", func(r *SyncReplica) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.ID) })
	SyncBatches  = newTenantTable("sync_batches", func(r *SyncBatch) (string, Key) { return r.OrganizationID, K(r.AssessmentID) })
	SyncKeys     = newTenantTable("sync_keys", func(r *SyncKey) (string, Key) { return r.OrganizationID, K("key") })
	SyncFiles    = newTenantTable("sync_files", func(r *SyncFile) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.SHA256) })
)

// WithSyncLog logs changes to a table's records if their assessment is synced. target returns the assessment
// and, if the record is part of another record, that record's table and key.
func WithSyncLog[R any](target func(*R) SyncTarget) Option[R] {
	return func(t *Table[R]) { t.untyped.syncTarget = func(r any) SyncTarget { return target(r.(*R)) } }
}

// WithRelatedSyncLog also logs changes to a table's records as changes to the records that targets returns. These may
// be records that only clones store, because the remote derives them from other records.
func WithRelatedSyncLog[R any](targets func(tx *Tx, org string, r *R) ([]SyncTarget, error)) Option[R] {
	return func(t *Table[R]) {
		t.untyped.relatedSyncTargets = func(tx *Tx, org string, r any) ([]SyncTarget, error) { return targets(tx, org, r.(*R)) }
	}
}

// SyncTarget identifies the record for which a change is logged. If Table is empty, it is the changed record itself.
type SyncTarget struct {
	Assessment, Table string
	Key               Key
}

// syncRecordRef identifies a record within a transaction.
type syncRecordRef struct{ org, assessment, table, key string }

// syncSequenceName returns the name of the counter for the changes of one assessment.
func syncSequenceName(org, assessment string) string { return "sync " + org + " " + assessment }

// SetActorIfUnset sets the author of the transaction for the change log. Only the first call has an
// effect.
func (tx *Tx) SetActorIfUnset(name string) {
	if tx.actor == "" {
		tx.actor = name
	}
}

// WithoutSyncLog runs fn without logging the changes it makes, for example because they come from another replica.
func (tx *Tx) WithoutSyncLog(fn func() error) error {
	was := tx.syncLogOff
	tx.syncLogOff = true
	defer func() { tx.syncLogOff = was }()
	return fn()
}

// MarkChangedForSync logs an unchanged record as changed, so that clones read it again.
func (tx *Tx) MarkChangedForSync(org, assessment, table string, key []byte) {
	if tx.syncChanges == nil {
		tx.syncChanges = map[syncRecordRef][]string{}
	}
	ref := syncRecordRef{org: org, assessment: assessment, table: table, key: string(key)}
	tx.syncChanges[ref] = append(tx.syncChanges[ref], []string{}...)
}

// syncRole returns the sync role for an assessment, or "" if it is not synced. It reads the link each time,
// because a cache would miss a link that another transaction in the same group has written.
func (tx *Tx) syncRole(org, assessment string) (string, error) {
	if tx.db.tables.byName[SyncLinks.Name()] != SyncLinks.definition() {
		return "", nil
	}
	l, err := SyncLinks.Get(tx, org, assessment)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return l.Role, err
}

// recordSyncChange adds a change to the log. old is nil for a new record, and fresh is nil for a deleted one.
func (s *untypedTable) recordSyncChange(tx *Tx, primary []byte, old, fresh any) error {
	if s.syncTarget == nil || tx.syncLogOff {
		return nil
	}
	r := fresh
	if r == nil {
		r = old
	}
	as := s.syncTarget(r)
	org, rest, err := decodePart(primary)
	name, ok := org.(string)
	if err != nil || !ok || as.Assessment == "" {
		return err
	}
	if s.relatedSyncTargets != nil {
		related, err := s.relatedSyncTargets(tx, name, r)
		if err != nil {
			return err
		}
		for _, t := range related {
			tx.MarkChangedForSync(name, t.Assessment, t.Table, t.Key.b)
		}
	}
	role, err := tx.syncRole(name, as.Assessment)
	if err != nil || role == "" {
		return err
	}
	ref := syncRecordRef{org: name, assessment: as.Assessment, table: as.Table, key: string(as.Key.b)}
	if as.Table == "" {
		ref.table, ref.key = s.def.name, string(rest)
	}
	if tx.syncChanges == nil {
		tx.syncChanges = map[syncRecordRef][]string{}
	}
	var fields []string
	if role == SyncRoleRemote && as.Table == "" && old != nil && fresh != nil {
		if fields, err = changedFields(old, fresh); err != nil {
			return err
		}
	}
	tx.syncChanges[ref] = append(tx.syncChanges[ref], fields...)
	return nil
}

// changedFields returns the names of the top-level fields in which two records differ.
func changedFields(a, b any) ([]string, error) {
	was, err := jsonFields(a)
	if err != nil {
		return nil, err
	}
	is, err := jsonFields(b)
	if err != nil {
		return nil, err
	}
	var out []string
	for name, v := range is {
		if !bytes.Equal(v, was[name]) {
			out = append(out, name)
		}
	}
	return out, nil
}

func jsonFields(r any) (map[string]json.RawMessage, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var out map[string]json.RawMessage
	return out, json.Unmarshal(b, &out)
}

// writeSyncLog writes the collected changes to the log in a deterministic order.
func (tx *Tx) writeSyncLog() error {
	refs := slices.SortedFunc(maps.Keys(tx.syncChanges), func(a, b syncRecordRef) int {
		return slices.Compare([]string{a.org, a.assessment, a.table, a.key}, []string{b.org, b.assessment, b.table, b.key})
	})
	for _, ref := range refs {
		role, err := tx.syncRole(ref.org, ref.assessment)
		if err != nil {
			return err
		}
		if role == "" { // the assessment was deleted together with its log
			continue
		}
		row, err := SyncLogEntries.Get(tx, ref.org, ref.assessment, ref.table, []byte(ref.key))
		if errors.Is(err, ErrNotFound) {
			row, err = SyncLogEntry{OrganizationID: ref.org, AssessmentID: ref.assessment, Table: ref.table, Key: []byte(ref.key)}, nil
		}
		if err != nil {
			return err
		}
		row.By, row.At = tx.actor, tx.now
		for _, name := range tx.syncChanges[ref] {
			if row.Fields == nil {
				row.Fields = map[string]SyncStamp{}
			}
			row.Fields[name] = SyncStamp{By: tx.actor, At: tx.now}
		}
		if row.Sequence, err = tx.NextSequence(syncSequenceName(ref.org, ref.assessment)); err != nil {
			return err
		}
		if err := SyncLogEntries.Put(tx, ref.org, &row); err != nil {
			return err
		}
	}
	return nil
}

// LastSyncSequence returns the number of the last logged change of an assessment.
func (tx *Tx) LastSyncSequence(org, assessment string) (int64, error) {
	return tx.LastSequence(syncSequenceName(org, assessment))
}

// KeyFromBytes returns the key with the given stored form, as returned by Key.Bytes.
func KeyFromBytes(b []byte) Key {
	k := Key{b: b}
	if _, err := k.Parts(); err != nil {
		return Key{err: err}
	}
	return k
}

// Bytes returns the stored form of the key.
func (k Key) Bytes() []byte { return k.b }

// KeyWithinTenant returns a record's key without the organization.
func (t *TenantTable[R]) KeyWithinTenant(r *R) (Key, error) {
	k := t.table.untyped.key(r)
	if k.err != nil {
		return k, k.err
	}
	_, rest, err := decodePart(k.b)
	return Key{b: rest}, err
}
