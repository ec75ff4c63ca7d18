package sync

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/store"
)

// fields maps a record's field names to JSON values.
type fields = map[string]json.RawMessage

// tableKind determines how the records of a table are synced.
type tableKind int

const (
	// contentTable is a table whose records are merged field by field.
	contentTable tableKind = iota
	// itemTable is a table of the items of deliverable versions.
	itemTable
	// versionTable is a table of deliverable versions. They are pushed as drafts, and the decisions on
	// them are replayed.
	versionTable
	// writeOnceTable is a table whose records are created once and never changed.
	writeOnceTable
	// remoteTable is a table whose records only the remote writes. A clone discards the records that it has created
	// itself.
	remoteTable
	// remoteIssuedTable is a table whose records only the remote writes, although a clone may have
	// chosen their IDs.
	remoteIssuedTable
)

// table describes how a table is synced.
type table struct {
	name string
	kind tableKind
	gate api.Gate
	// localFields are fields that are meaningful in one installation only or are recomputed.
	localFields []string
	// readOnlyFields are fields that a clone cannot change.
	readOnlyFields []string
	labelField     string // the field shown to users as the record's name

	read   func(tx *store.Tx, org string, key []byte) (fields, bool, error)
	put    func(tx *store.Tx, org string, f fields) error
	remove func(tx *store.Tx, org string, key []byte) error
	key    func(org string, f fields) ([]byte, error)
	keys   func(tx *store.Tx, org, assessment string) iter.Seq2[[]byte, error]
}

func newTable[R any](t *store.TenantTable[R], def table, all func(tx *store.Tx, org, assessment string) iter.Seq2[R, error]) *table {
	def.name = t.Name()
	def.readOnlyFields = append(slices.Clip(def.readOnlyFields), def.localFields...) // a clone's values mean nothing here
	def.localFields = append(slices.Clip(def.localFields), "organization_id")
	def.read = func(tx *store.Tx, org string, key []byte) (fields, bool, error) {
		r, err := t.Get(tx, org, store.KeyFromBytes(key))
		if errors.Is(err, store.ErrNotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		f, err := merge.FieldsFromRecord(&r)
		return f, true, err
	}
	fill := func(org string, f fields) (r R, err error) {
		f["organization_id"], _ = json.Marshal(org)
		return r, merge.FillRecord(f, &r)
	}
	def.put = func(tx *store.Tx, org string, f fields) error {
		r, err := fill(org, f)
		if err != nil {
			return err
		}
		return t.Put(tx, org, &r)
	}
	def.remove = func(tx *store.Tx, org string, key []byte) error {
		err := t.Delete(tx, org, store.KeyFromBytes(key))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	def.key = func(org string, f fields) ([]byte, error) {
		r, err := fill(org, f)
		if err != nil {
			return nil, err
		}
		k, err := t.KeyWithinTenant(&r)
		return k.Bytes(), err
	}
	def.keys = func(tx *store.Tx, org, assessment string) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for r, err := range all(tx, org, assessment) {
				var k store.Key
				if err == nil {
					k, err = t.KeyWithinTenant(&r)
				}
				if !yield(k.Bytes(), err) || err != nil {
					return
				}
			}
		}
	}
	return &def
}

// byAssessmentIndex returns a function that lists an assessment's records in a table, using the table's assessment
// index.
func byAssessmentIndex[R any](t *store.TenantTable[R]) func(*store.Tx, string, string) iter.Seq2[R, error] {
	return func(tx *store.Tx, org, assessment string) iter.Seq2[R, error] {
		return t.By("assessment").Scan(tx, org, store.Prefix(assessment))
	}
}

// byKeyPrefix returns a function that lists an assessment's records in a table whose primary keys start with the
// assessment ID.
func byKeyPrefix[R any](t *store.TenantTable[R]) func(*store.Tx, string, string) iter.Seq2[R, error] {
	return func(tx *store.Tx, org, assessment string) iter.Seq2[R, error] {
		return t.Scan(tx, org, store.Prefix(assessment))
	}
}

// itemsOfVersions returns a function that lists the items of all versions of an assessment.
func itemsOfVersions[V, I any](
	vs *store.TenantTable[V],
	itemsTable *store.TenantTable[I],
	id func(*V) string,
) func(*store.Tx, string, string) iter.Seq2[I, error] {
	return func(tx *store.Tx, org, assessment string) iter.Seq2[I, error] {
		return func(yield func(I, error) bool) {
			for v, err := range vs.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
				if err != nil {
					var none I
					yield(none, err)
					return
				}
				for i, err := range itemsTable.By("version").Scan(tx, org, store.Prefix(id(&v))) {
					if !yield(i, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

var itemLocalFields = []string{"control_id"}

// tables lists the synced tables in the order in which a new clone needs them.
var tables = []*table{
	newTable(
		store.Assessments,
		table{
			kind:        contentTable,
			labelField:  "name",
			localFields: []string{"scf_version_id", "framework_ids", "progress", "counts", "custom_revision"},
		},
		func(tx *store.Tx, org, id string) iter.Seq2[api.Assessment, error] {
			return func(yield func(api.Assessment, error) bool) {
				a, err := store.Assessments.Get(tx, org, id)
				yield(a, store.ToNotFound(err, "assessment", id))
			}
		},
	),
	newTable(
		store.Documents,
		table{
			kind:           contentTable,
			labelField:     "filename",
			localFields:    []string{"embedder", "stage", "passage_set"},
			readOnlyFields: documentReadOnlyFields,
		},
		byAssessmentIndex(store.Documents),
	),
	newTable(
		store.Scopes,
		table{
			kind:       contentTable,
			labelField: "title",
			readOnlyFields: []string{
				"id",
				"assessment_id",
				"created_at",
				"updated_at",
				"status",
				"version_number",
				"revision",
				"created_by",
				"approved_by",
				"approved_at",
			},
		},
		byAssessmentIndex(store.Scopes),
	),
	newTable(store.ScopeVersions, table{kind: remoteTable, labelField: "title"}, byKeyPrefix(store.ScopeVersions)),
	newTable(
		store.SoAVersions,
		table{kind: versionTable, gate: api.GateSoA, labelField: "version_number"},
		byAssessmentIndex(store.SoAVersions),
	),
	newTable(
		store.SoAItems,
		table{kind: itemTable, gate: api.GateSoA, localFields: itemLocalFields, labelField: "control_code"},
		itemsOfVersions(store.SoAVersions, store.SoAItems, func(v *api.SoAVersion) string { return v.ID }),
	),
	newTable(
		store.GapVersions,
		table{kind: versionTable, gate: api.GateGapAnalysis, labelField: "version_number"},
		byAssessmentIndex(store.GapVersions),
	),
	newTable(
		store.Findings,
		table{kind: itemTable, gate: api.GateGapAnalysis, localFields: itemLocalFields, labelField: "control_code"},
		itemsOfVersions(store.GapVersions, store.Findings, func(v *api.GapVersion) string { return v.ID }),
	),
	newTable(
		store.MaturityVersions,
		table{kind: versionTable, gate: api.GateMaturity, labelField: "version_number"},
		byAssessmentIndex(store.MaturityVersions),
	),
	newTable(
		store.MaturityScores,
		table{kind: itemTable, gate: api.GateMaturity, localFields: itemLocalFields, labelField: "control_code"},
		itemsOfVersions(store.MaturityVersions, store.MaturityScores, func(v *api.MaturityVersion) string { return v.ID }),
	),
	newTable(
		store.POAMVersions,
		table{kind: versionTable, gate: api.GatePOAM, labelField: "version_number"},
		byAssessmentIndex(store.POAMVersions),
	),
	newTable(
		store.POAMItems,
		table{kind: itemTable, gate: api.GatePOAM, localFields: itemLocalFields, labelField: "poam_code"},
		itemsOfVersions(store.POAMVersions, store.POAMItems, func(v *api.POAMVersion) string { return v.ID }),
	),
	correctionsTable(),
	newTable(store.CarriedItems, table{kind: writeOnceTable, labelField: "gate"}, byKeyPrefix(store.CarriedItems)),
	newTable(store.Readers, table{kind: remoteTable, labelField: "name"}, byKeyPrefix(store.Readers)),
	newTable(store.Readings, table{kind: remoteTable, labelField: "reader"}, byKeyPrefix(store.Readings)),
	newTable(
		store.Approvals,
		table{kind: remoteIssuedTable, labelField: "gate", localFields: []string{"remote_key"}},
		byAssessmentIndex(store.Approvals),
	),
	newTable(store.Comments, table{kind: writeOnceTable, labelField: "gate"}, byAssessmentIndex(store.Comments)),
	newTable(store.LifecycleEvents, table{kind: remoteTable, labelField: "event_type"}, byKeyPrefix(store.LifecycleEvents)),
	newTable(store.Timeline, table{kind: remoteTable, labelField: "summary"}, byKeyPrefix(store.Timeline)),
	newTable(store.SyncConflicts, table{kind: remoteIssuedTable, labelField: "label"}, byAssessmentIndex(store.SyncConflicts)),
}

// correctionsTable returns the table of corrections. Clones also get copies of corrections made in other assessments.
// The remote derives these copies from the originals instead of storing them.
func correctionsTable() *table {
	t := newTable(
		store.Corrections,
		table{kind: contentTable, labelField: "control_code", localFields: []string{"edit_id", "document_deleted"}},
		byAssessmentIndex(store.Corrections),
	)
	stored, storedKeys := t.read, t.keys
	t.read = func(tx *store.Tx, org string, key []byte) (fields, bool, error) {
		f, exists, err := stored(tx, org, key)
		if exists || err != nil {
			return f, exists, err
		}
		id := recordIDFromKey(key)
		_, assessmentID, isCopy := store.SplitCopiedCorrectionID(id)
		if !isCopy {
			return nil, false, nil
		}
		if isRemote, err := isRemote(tx, org, assessmentID); err != nil || !isRemote {
			return nil, false, err
		}
		c, exists, err := assessment.ReadCopiedCorrection(tx, org, id)
		if err != nil || !exists {
			return nil, false, err
		}
		f, err = merge.FieldsFromRecord(c)
		return f, true, err
	}
	t.keys = func(tx *store.Tx, org, assessmentID string) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for key, err := range storedKeys(tx, org, assessmentID) {
				if !yield(key, err) || err != nil {
					return
				}
			}
			if isRemote, err := isRemote(tx, org, assessmentID); err != nil || !isRemote {
				if err != nil {
					yield(nil, err)
				}
				return
			}
			for id, err := range assessment.CopiedCorrectionIDs(tx, org, assessmentID) {
				if !yield(store.K(id).Bytes(), err) || err != nil {
					return
				}
			}
		}
	}
	return t
}

// isRemote reports whether an assessment has clones.
func isRemote(tx *store.Tx, org, assessmentID string) (bool, error) {
	l, err := store.SyncLinks.Get(tx, org, assessmentID)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrBadKey) {
		return false, nil
	}
	return l.Role == store.SyncRoleRemote, err
}

// documentReadOnlyFields lists the fields of a document that change only with its content.
var documentReadOnlyFields = []string{
	"id",
	"assessment_id",
	"created_at",
	"updated_at",
	"sha256",
	"size_bytes",
	"mime_type",
	"page_count",
	"chunk_count",
	"status",
	"error",
	"warnings",
	"not_read",
	"readers",
	"outdated",
	"language",
	"original_sha256",
	"uploaded_by",
	"title",
	"effective_date",
	"document_version",
	"owner",
	"approved_by",
}

// assessmentEditableFields lists the fields of an assessment that users can set.
var assessmentEditableFields = []string{"name", "description", "client_name", "due_date"}

func tableByName(name string) *table {
	for _, t := range tables {
		if t.name == name {
			return t
		}
	}
	return nil
}

// tableForGate returns the table of the given kind for a gate's deliverable, or nil if there is none.
func tableForGate(gate api.Gate, kind tableKind) *table {
	for _, t := range tables {
		if t.gate == gate && t.kind == kind {
			return t
		}
	}
	return nil
}

// withoutLocalFields returns a copy of a record without the fields that are not synced.
func (t *table) withoutLocalFields(f fields) fields {
	out := make(fields, len(f))
	for name, v := range f {
		if !slices.Contains(t.localFields, name) {
			out[name] = v
		}
	}
	return out
}

// fillLocalFields sets the fields that are not synced: it copies them from local or, if that is
// nil, derives them from the import target.
func (t *table) fillLocalFields(p *importTarget, f, local fields) error {
	for _, name := range t.localFields {
		delete(f, name)
		if v, ok := local[name]; ok {
			f[name] = v
		}
	}
	var err error
	switch {
	case t.kind == itemTable && local == nil:
		if id := p.controlID(stringFromJSON(f["control_code"])); id != "" {
			f["control_id"], err = json.Marshal(id)
		}
	case t.name == store.Assessments.Name():
		var codes []string
		if err := json.Unmarshal(f["framework_codes"], &codes); err != nil && len(f["framework_codes"]) > 0 {
			return api.Invalid("framework_codes", "a field has a value of the wrong type")
		}
		ids := []string{}
		for _, code := range codes {
			ids = append(ids, p.frameworkID(code))
		}
		f["scf_version_id"], _ = json.Marshal(p.catalogVersionID)
		f["custom_revision"] = intToJSON(p.customRevision)
		f["framework_ids"], err = json.Marshal(ids)
	}
	return err
}

// stringFromJSON returns the value of a JSON string, or "" if v is not a string.
func stringFromJSON(v json.RawMessage) (s string) {
	_ = json.Unmarshal(v, &s)
	return s
}

// displayName returns the name under which a record is shown to users.
func (t *table) displayName(f fields) string {
	if s := stringFromJSON(f[t.labelField]); s != "" {
		return s
	}
	return string(f[t.labelField])
}

// describeDecision describes the decision recorded in a record, such as "soa version 1 approved by Ada Byron".
// It returns "" if there is none. A version's status counts as a decision even without an approval.
func (t *table) describeDecision(f fields) string {
	verdict, by, gate := stringFromJSON(f["status"]), stringFromJSON(f["approved_by"]), t.gate
	switch {
	case t.name == store.Approvals.Name():
		var decider api.Actor
		_ = json.Unmarshal(f["decided_by"], &decider)
		by, gate = decider.Name, api.Gate(stringFromJSON(f["gate"]))
	case t.kind == versionTable, t.name == store.Scopes.Name(), t.name == store.ScopeVersions.Name():
		if by != "" {
			verdict = string(api.ApprovalApproved) // superseded since
		}
	default:
		return ""
	}
	void := string(f["void"]) == "true" // not rejected by a person
	if void || verdict != string(api.ApprovalApproved) && verdict != string(api.ApprovalRejected) {
		return ""
	}
	return fmt.Sprintf("%s version %s %s by %s", cmp.Or(string(gate), "scope"), f["version_number"], verdict, cmp.Or(by, "somebody"))
}

// belongsToAssessment reports whether a record belongs to the assessment.
func (t *table) belongsToAssessment(f fields, assessmentID string) bool {
	if t.name == store.Assessments.Name() {
		return stringFromJSON(f["id"]) == assessmentID
	}
	return stringFromJSON(f["assessment_id"]) == assessmentID
}

// encodeFields returns a record's canonical JSON encoding.
func encodeFields(f fields) (json.RawMessage, error) {
	if f == nil {
		return nil, nil
	}
	b, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encoding a record for sync: %w", err)
	}
	return b, nil
}

func decodeFields(b json.RawMessage) (f fields, err error) {
	if len(b) == 0 {
		return nil, nil
	}
	return f, json.Unmarshal(b, &f)
}

func equalFields(a, b fields) bool {
	if len(a) != len(b) {
		return false
	}
	for name, v := range a {
		if w, ok := b[name]; !ok || !bytes.Equal(v, w) {
			return false
		}
	}
	return true
}

// loadBase returns a record as it was when the clone and its remote last agreed on it, or nil if the
// remote didn't have it.
func loadBase(tx *store.Tx, org, id, table string, key []byte) (fields, error) {
	b, err := store.SyncBases.Get(tx, org, id, table, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeFields(b.Record)
}

// saveOrDeleteBase stores a record's fields as the base for merging, or deletes the base if f is nil.
func saveOrDeleteBase(tx *store.Tx, org, id, table string, key []byte, f fields) error {
	if f == nil {
		err := store.SyncBases.Delete(tx, org, id, table, key)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	b, err := encodeFields(f)
	if err != nil {
		return err
	}
	return store.SyncBases.Put(tx, org, &store.SyncBase{OrganizationID: org, AssessmentID: id, Table: table, Key: key, Record: b})
}
