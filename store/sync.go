package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"
)

// The roles of a store in the synchronisation of an assessment.
const (
	// SyncHome is where the assessment lives: others bring their changes there.
	SyncHome = "home"
	// SyncClone works on a copy and brings its changes home.
	SyncClone = "clone"
)

// SyncLink says that an assessment is synchronised. Changes of others are not logged.
type SyncLink struct {
	OrganizationID string    `json:"organization_id"`
	AssessmentID   string    `json:"assessment_id"`
	Role           string    `json:"role"`
	CreatedAt      time.Time `json:"created_at"`
	// The rest is a clone's: where its home is, as whom it is there, and how far both are.
	Server             string    `json:"server,omitempty"`
	RemoteOrganization string    `json:"remote_organization,omitempty"`
	ReplicaID          string    `json:"replica_id,omitempty"`
	Account            string    `json:"account,omitempty"`
	Since              int64     `json:"since,omitempty"`
	AnchorSequence     uint64    `json:"anchor_sequence,omitempty"`
	AnchorHash         string    `json:"anchor_hash,omitempty"`
	Counter            int64     `json:"counter,omitempty"`
	SyncedAt           time.Time `json:"synced_at,omitzero"`
	// PeerID is whose bundles it exchanges; empty where none were yet.
	PeerID string `json:"peer_id,omitempty"`
	SyncSerials
}

// SyncSerials are the numbers of the last bundle to the other side and of the last one from
// there, with what names its content.
type SyncSerials struct {
	Written  int64  `json:"written,omitempty"`
	Taken    int64  `json:"taken,omitempty"`
	TakenSum string `json:"taken_sum,omitempty"`
}

// SyncKey is the key with which an organization signs and opens bundles.
type SyncKey struct {
	OrganizationID string    `json:"organization_id"`
	CreatedAt      time.Time `json:"created_at"`
	// Key is its public half; Sealed the secret one.
	Key    string `json:"key"`
	Sealed []byte `json:"sealed"`
}

// SyncStamp is who changed a field last, and when.
type SyncStamp struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// SyncRow says that a record of a synchronised assessment changed: one row for each record,
// however often it changes, under the number of its last change.
type SyncRow struct {
	OrganizationID string               `json:"organization_id"`
	AssessmentID   string               `json:"assessment_id"`
	Table          string               `json:"table"`
	Key            []byte               `json:"key"`
	Sequence       int64                `json:"sequence"`
	By             string               `json:"by"`
	At             time.Time            `json:"at"`
	Fields         map[string]SyncStamp `json:"fields,omitempty"`
}

// SyncBase is a record of a clone as its home had it when both were last brought together.
type SyncBase struct {
	OrganizationID string          `json:"organization_id"`
	AssessmentID   string          `json:"assessment_id"`
	Table          string          `json:"table"`
	Key            []byte          `json:"key"`
	Record         json.RawMessage `json:"record"`
}

// SyncReplica is a clone as its home knows it.
type SyncReplica struct {
	OrganizationID string    `json:"organization_id"`
	AssessmentID   string    `json:"assessment_id"`
	ID             string    `json:"id"`
	Name           string    `json:"name"`
	UserID         string    `json:"user_id"`
	UserName       string    `json:"user_name"`
	JoinedAt       time.Time `json:"joined_at"`
	SeenAt         time.Time `json:"seen_at"`
	// Since is how far it has read; Counter, Sum and Answer are of the last batch it sent.
	Since   int64           `json:"since"`
	Counter int64           `json:"counter"`
	Sum     string          `json:"sum,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"`
	// PeerID is whose bundles it exchanges; empty where none were yet.
	PeerID string `json:"peer_id,omitempty"`
	SyncSerials
}

// SyncCover is a row of the log that a batch tells of, as it was then.
type SyncCover struct {
	Table    string `json:"table"`
	Key      []byte `json:"key"`
	Sequence int64  `json:"sequence"`
	// Record is what was sent; nothing where it was deleted.
	Record json.RawMessage `json:"record,omitempty"`
	// Shed: the record is of the clone alone, and the home writes its own.
	Shed bool `json:"shed,omitempty"`
}

// SyncBatch is what a clone has sent, or is to send, until its home has said that it has it.
type SyncBatch struct {
	OrganizationID string      `json:"organization_id"`
	AssessmentID   string      `json:"assessment_id"`
	Counter        int64       `json:"counter"`
	Data           []byte      `json:"data"`
	Covers         []SyncCover `json:"covers"`
}

// SyncFile is a file that came ahead of the record that will name it, for one assessment.
type SyncFile struct {
	OrganizationID string    `json:"organization_id"`
	AssessmentID   string    `json:"assessment_id"`
	SHA256         string    `json:"sha256"`
	At             time.Time `json:"at"`
}

var (
	SyncLinks = tenantTable("sync_links", func(r *SyncLink) (string, Key) { return r.OrganizationID, K(r.AssessmentID) })
	SyncRows  = tenantTable("sync_rows", func(r *SyncRow) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.Table, r.Key) },
		Unique("sequence", func(r *SyncRow) []Key { return []Key{K(r.AssessmentID, r.Sequence)} }))
	SyncBases = tenantTable("sync_bases", func(r *SyncBase) (string, Key) {
		return r.OrganizationID, K(r.AssessmentID, r.Table, r.Key)
	})
	SyncReplicas = tenantTable("sync_replicas", func(r *SyncReplica) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.ID) })
	SyncBatches  = tenantTable("sync_batches", func(r *SyncBatch) (string, Key) { return r.OrganizationID, K(r.AssessmentID) })
	SyncKeys     = tenantTable("sync_keys", func(r *SyncKey) (string, Key) { return r.OrganizationID, K("key") })
	SyncFiles    = tenantTable("sync_files", func(r *SyncFile) (string, Key) { return r.OrganizationID, K(r.AssessmentID, r.SHA256) })
)

// Synced has the changes of a table's records logged, where their assessment is synchronised.
// of is the assessment and, for records that travel within another, the table and key of that one.
func Synced[R any](of func(*R) SyncedAs) Option[R] {
	return func(t *Table[R]) { t.shelf.synced = func(r any) SyncedAs { return of(r.(*R)) } }
}

// SyncedAs says with which record a change travels. Without a table it is the changed one.
type SyncedAs struct {
	Assessment, Table string
	Key               Key
}

// syncRef names a record within a transaction.
type syncRef struct{ org, assessment, table, key string }

// syncSequence counts the changes of one assessment.
func syncSequence(org, assessment string) string { return "sync " + org + " " + assessment }

// Attribute says who does what the transaction does, for the log of changes. The first counts.
func (tx *Tx) Attribute(name string) {
	if tx.by == "" {
		tx.by = name
	}
}

// Unlogged runs fn without logging the changes it makes: they are another's, brought here.
func (tx *Tx) Unlogged(fn func() error) error {
	was := tx.unlogged
	tx.unlogged = true
	defer func() { tx.unlogged = was }()
	return fn()
}

// Touch logs a record as changed though it is not, so that clones read it again.
func (tx *Tx) Touch(org, assessment, table string, key []byte) {
	if tx.syncing == nil {
		tx.syncing = map[syncRef][]string{}
	}
	ref := syncRef{org, assessment, table, string(key)}
	tx.syncing[ref] = append(tx.syncing[ref], []string{}...)
}

// roleOf is the role in which an assessment is synchronised; empty where it isn't.
func (tx *Tx) roleOf(org, assessment string) (string, error) {
	if tx.db.tables.byName[SyncLinks.Name()] != SyncLinks.definition() {
		return "", nil
	}
	read := func() (map[[2]string]string, error) {
		roles := map[[2]string]string{}
		for l, err := range SyncLinks.AcrossTenants().Scan(tx) {
			if err != nil {
				return nil, err
			}
			roles[[2]string{l.OrganizationID, l.AssessmentID}] = l.Role
		}
		return roles, nil
	}
	if tx.touched[SyncLinks.Name()] { // what this transaction wrote counts in it, and nowhere else yet
		roles, err := read()
		return roles[[2]string{org, assessment}], err
	}
	roles, err := tx.db.synced.Get("", read)
	return roles[[2]string{org, assessment}], err
}

// noteSync notes a change for the log. old is nil where there was no record, fresh where there is none any more.
func (s *shelf) noteSync(tx *Tx, primary []byte, old, fresh any) error {
	if s.synced == nil || tx.unlogged {
		return nil
	}
	r := fresh
	if r == nil {
		r = old
	}
	as := s.synced(r)
	org, rest, err := cutPart(primary)
	name, ok := org.(string)
	if err != nil || !ok || as.Assessment == "" {
		return err
	}
	role, err := tx.roleOf(name, as.Assessment)
	if err != nil || role == "" {
		return err
	}
	ref := syncRef{name, as.Assessment, as.Table, string(as.Key.b)}
	if as.Table == "" {
		ref.table, ref.key = s.def.name, string(rest)
	}
	if tx.syncing == nil {
		tx.syncing = map[syncRef][]string{}
	}
	var fields []string
	if role == SyncHome && as.Table == "" && old != nil && fresh != nil {
		if fields, err = changedFields(old, fresh); err != nil {
			return err
		}
	}
	tx.syncing[ref] = append(tx.syncing[ref], fields...)
	return nil
}

// changedFields are the names of the top fields in which two records differ.
func changedFields(a, b any) ([]string, error) {
	was, err := fieldsOf(a)
	if err != nil {
		return nil, err
	}
	is, err := fieldsOf(b)
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

func fieldsOf(r any) (map[string]json.RawMessage, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var out map[string]json.RawMessage
	return out, json.Unmarshal(b, &out)
}

// logSync writes the noted changes to the log, in an order that is always the same.
func (tx *Tx) logSync() error {
	refs := slices.SortedFunc(maps.Keys(tx.syncing), func(a, b syncRef) int {
		return slices.Compare([]string{a.org, a.assessment, a.table, a.key}, []string{b.org, b.assessment, b.table, b.key})
	})
	for _, ref := range refs {
		role, err := tx.roleOf(ref.org, ref.assessment)
		if err != nil {
			return err
		}
		if role == "" { // it was deleted, and its log with it
			continue
		}
		row, err := SyncRows.Get(tx, ref.org, ref.assessment, ref.table, []byte(ref.key))
		if errors.Is(err, ErrNotFound) {
			row, err = SyncRow{OrganizationID: ref.org, AssessmentID: ref.assessment, Table: ref.table, Key: []byte(ref.key)}, nil
		}
		if err != nil {
			return err
		}
		row.By, row.At = tx.by, tx.now
		for _, name := range tx.syncing[ref] {
			if row.Fields == nil {
				row.Fields = map[string]SyncStamp{}
			}
			row.Fields[name] = SyncStamp{By: tx.by, At: tx.now}
		}
		if row.Sequence, err = tx.NextSequence(syncSequence(ref.org, ref.assessment)); err != nil {
			return err
		}
		if err := SyncRows.Put(tx, ref.org, &row); err != nil {
			return err
		}
	}
	return nil
}

// SyncHead is the number of the last logged change of an assessment.
func (tx *Tx) SyncHead(org, assessment string) (int64, error) {
	return tx.LastSequence(syncSequence(org, assessment))
}

// ForgetSync ends the synchronisation of an assessment here, with all that was kept for it.
func ForgetSync(tx *Tx, org, assessment string) error {
	for _, drop := range []func() (int, error){
		func() (int, error) { return SyncLinks.DeleteAll(tx, org, assessment) },
		func() (int, error) { return SyncRows.DeleteAll(tx, org, assessment) },
		func() (int, error) { return SyncBases.DeleteAll(tx, org, assessment) },
		func() (int, error) { return SyncReplicas.DeleteAll(tx, org, assessment) },
		func() (int, error) { return SyncBatches.DeleteAll(tx, org, assessment) },
		func() (int, error) { return SyncFiles.DeleteAll(tx, org, assessment) },
	} {
		if _, err := drop(); err != nil {
			return err
		}
	}
	return nil
}

// RawKey is a key as it is stored, for records that are named in a log or by another store.
func RawKey(b []byte) Key {
	k := Key{b: b}
	if _, err := k.Parts(); err != nil {
		return Key{err: err}
	}
	return k
}

// Bytes are the key as it is stored.
func (k Key) Bytes() []byte { return k.b }

// KeyOf is the key of a record, without its organization.
func (t *TenantTable[R]) KeyOf(r *R) (Key, error) {
	k := t.all.shelf.key(r)
	if k.err != nil {
		return k, k.err
	}
	_, rest, err := cutPart(k.b)
	return Key{b: rest}, err
}
