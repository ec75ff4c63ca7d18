package sync

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/store"
)

// fields are a record's, as JSON by name.
type fields = map[string]json.RawMessage

// sort says what becomes of a table's records.
type sort int

const (
	// content is merged field by field.
	content sort = iota
	// items are content of a version of a deliverable.
	items
	// versions are brought as drafts; what was decided on them is done again.
	versions
	// once: a record is written once and stays.
	once
	// homes are written by the home alone; what a clone has of its own it drops.
	homes
	// kept are written by the home, under ids that a clone may have chosen.
	kept
)

// table is one whose records are synchronised.
type table struct {
	name string
	sort sort
	gate api.Gate
	// here are fields that mean something in one installation only, or are counted anew.
	here []string
	// fixed are fields that no change of a clone reaches.
	fixed []string
	label string // the field by which people know a record

	read   func(tx *store.Tx, org string, key []byte) (fields, bool, error)
	put    func(tx *store.Tx, org string, f fields) error
	remove func(tx *store.Tx, org string, key []byte) error
	key    func(org string, f fields) ([]byte, error)
	all    func(tx *store.Tx, org, assessment string) iter.Seq2[[]byte, error]
}

func of[R any](t *store.TenantTable[R], what table, all func(tx *store.Tx, org, assessment string) iter.Seq2[R, error]) *table {
	what.name = t.Name()
	what.here = append(what.here, "organization_id")
	what.read = func(tx *store.Tx, org string, key []byte) (fields, bool, error) {
		r, err := t.Get(tx, org, store.RawKey(key))
		if errors.Is(err, store.ErrNotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		f, err := assessment.Fields(&r)
		return f, true, err
	}
	fill := func(org string, f fields) (r R, err error) {
		f["organization_id"], _ = json.Marshal(org)
		return r, assessment.Fill(f, &r)
	}
	what.put = func(tx *store.Tx, org string, f fields) error {
		r, err := fill(org, f)
		if err != nil {
			return err
		}
		return t.Put(tx, org, &r)
	}
	what.remove = func(tx *store.Tx, org string, key []byte) error {
		err := t.Delete(tx, org, store.RawKey(key))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	what.key = func(org string, f fields) ([]byte, error) {
		r, err := fill(org, f)
		if err != nil {
			return nil, err
		}
		k, err := t.KeyOf(&r)
		return k.Bytes(), err
	}
	what.all = func(tx *store.Tx, org, assessment string) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for r, err := range all(tx, org, assessment) {
				var k store.Key
				if err == nil {
					k, err = t.KeyOf(&r)
				}
				if !yield(k.Bytes(), err) || err != nil {
					return
				}
			}
		}
	}
	return &what
}

// indexed lists a table by its index of assessments.
func indexed[R any](t *store.TenantTable[R]) func(*store.Tx, string, string) iter.Seq2[R, error] {
	return func(tx *store.Tx, org, assessment string) iter.Seq2[R, error] {
		return t.By("assessment").Scan(tx, org, store.Prefix(assessment))
	}
}

// prefixed lists a table whose keys begin with the assessment.
func prefixed[R any](t *store.TenantTable[R]) func(*store.Tx, string, string) iter.Seq2[R, error] {
	return func(tx *store.Tx, org, assessment string) iter.Seq2[R, error] {
		return t.Scan(tx, org, store.Prefix(assessment))
	}
}

// within lists the items of all versions of an assessment.
func within[V, I any](vs *store.TenantTable[V], is *store.TenantTable[I], id func(*V) string) func(*store.Tx, string, string) iter.Seq2[I, error] {
	return func(tx *store.Tx, org, assessment string) iter.Seq2[I, error] {
		return func(yield func(I, error) bool) {
			for v, err := range vs.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
				if err != nil {
					var none I
					yield(none, err)
					return
				}
				for i, err := range is.By("version").Scan(tx, org, store.Prefix(id(&v))) {
					if !yield(i, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

var itemHere = []string{"control_id"}

// tables are those that are synchronised, in the order in which a new clone needs them.
var tables = []*table{
	of(store.Assessments, table{sort: content, label: "name", here: []string{"scf_version_id", "framework_ids", "progress", "counts", "custom_revision"}},
		func(tx *store.Tx, org, id string) iter.Seq2[api.Assessment, error] {
			return func(yield func(api.Assessment, error) bool) {
				a, err := store.Assessments.Get(tx, org, id)
				yield(a, store.Missing(err, "assessment", id))
			}
		}),
	of(store.Documents, table{sort: content, label: "filename", here: []string{"embedder", "stage"}, fixed: documentFixed}, indexed(store.Documents)),
	of(store.Scopes, table{sort: content, label: "title", fixed: []string{"id", "assessment_id", "created_at", "updated_at", "status", "version_number", "revision", "created_by", "approved_by", "approved_at"}}, indexed(store.Scopes)),
	of(store.ScopeVersions, table{sort: homes, label: "title"}, prefixed(store.ScopeVersions)),
	of(store.SoAVersions, table{sort: versions, gate: api.GateSoA, label: "version_number"}, indexed(store.SoAVersions)),
	of(store.SoAItems, table{sort: items, gate: api.GateSoA, here: itemHere, label: "control_code"}, within(store.SoAVersions, store.SoAItems, func(v *api.SoAVersion) string { return v.ID })),
	of(store.GapVersions, table{sort: versions, gate: api.GateGapAnalysis, label: "version_number"}, indexed(store.GapVersions)),
	of(store.Findings, table{sort: items, gate: api.GateGapAnalysis, here: itemHere, label: "control_code"}, within(store.GapVersions, store.Findings, func(v *api.GapVersion) string { return v.ID })),
	of(store.MaturityVersions, table{sort: versions, gate: api.GateMaturity, label: "version_number"}, indexed(store.MaturityVersions)),
	of(store.MaturityScores, table{sort: items, gate: api.GateMaturity, here: itemHere, label: "control_code"}, within(store.MaturityVersions, store.MaturityScores, func(v *api.MaturityVersion) string { return v.ID })),
	of(store.POAMVersions, table{sort: versions, gate: api.GatePOAM, label: "version_number"}, indexed(store.POAMVersions)),
	of(store.POAMItems, table{sort: items, gate: api.GatePOAM, here: itemHere, label: "poam_code"}, within(store.POAMVersions, store.POAMItems, func(v *api.POAMVersion) string { return v.ID })),
	of(store.Approvals, table{sort: kept, label: "gate"}, indexed(store.Approvals)),
	of(store.Comments, table{sort: once, label: "gate"}, indexed(store.Comments)),
	of(store.LifecycleEvents, table{sort: homes, label: "event_type"}, prefixed(store.LifecycleEvents)),
	of(store.Timeline, table{sort: homes, label: "summary"}, prefixed(store.Timeline)),
	of(store.SyncConflicts, table{sort: kept, label: "label"}, indexed(store.SyncConflicts)),
}

// documentFixed are the fields of a document that change with its content only.
var documentFixed = []string{"id", "assessment_id", "created_at", "updated_at", "sha256", "size_bytes", "mime_type", "page_count", "chunk_count", "status", "error",
	"warnings", "language", "origin", "uploaded_by", "title", "effective_date", "document_version", "owner", "approved_by"}

// assessmentFields are those of an assessment that people set.
var assessmentFields = []string{"name", "description", "due_date"}

func tableNamed(name string) *table {
	for _, t := range tables {
		if t.name == name {
			return t
		}
	}
	return nil
}

// tableOf is the table of a gate's versions or items.
func tableOf(gate api.Gate, what sort) *table {
	for _, t := range tables {
		if t.gate == gate && t.sort == what {
			return t
		}
	}
	return nil
}

// wire is a record without what means something here only.
func (t *table) wire(f fields) fields {
	out := make(fields, len(f))
	for name, v := range f {
		if !slices.Contains(t.here, name) {
			out[name] = v
		}
	}
	return out
}

// home fills in what a record means here: local is what was here before, or nil.
func (t *table) home(p *place, f, local fields) error {
	for _, name := range t.here {
		delete(f, name)
		if v, ok := local[name]; ok {
			f[name] = v
		}
	}
	var err error
	switch {
	case t.sort == items && local == nil:
		if id := p.control(text(f["control_code"])); id != "" {
			f["control_id"], err = json.Marshal(id)
		}
	case t.name == store.Assessments.Name():
		var codes []string
		if err := json.Unmarshal(f["framework_codes"], &codes); err != nil && len(f["framework_codes"]) > 0 {
			return api.Invalid("framework_codes", "a field has a value of the wrong kind")
		}
		ids := []string{}
		for _, code := range codes {
			ids = append(ids, p.framework(code))
		}
		f["scf_version_id"], _ = json.Marshal(p.version)
		f["custom_revision"] = digits(p.own)
		f["framework_ids"], err = json.Marshal(ids)
	}
	return err
}

// text is a field that is a text; empty where it is none.
func text(v json.RawMessage) (s string) {
	_ = json.Unmarshal(v, &s)
	return s
}

// named is how people know a record.
func (t *table) named(f fields) string {
	if s := text(f[t.label]); s != "" {
		return s
	}
	return string(f[t.label])
}

// belongs tells whether a record is of the assessment.
func (t *table) belongs(f fields, id string) bool {
	if t.name == store.Assessments.Name() {
		return text(f["id"]) == id
	}
	return text(f["assessment_id"]) == id
}

// encode is a record's bytes, always the same for the same record.
func encode(f fields) (json.RawMessage, error) {
	if f == nil {
		return nil, nil
	}
	b, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("a record to synchronise: %w", err)
	}
	return b, nil
}

func decode(b json.RawMessage) (f fields, err error) {
	if len(b) == 0 {
		return nil, nil
	}
	return f, json.Unmarshal(b, &f)
}

func equal(a, b fields) bool {
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

// base is a clone's record as its home had it; nil where it had none.
func base(tx *store.Tx, org, id, table string, key []byte) (fields, error) {
	b, err := store.SyncBases.Get(tx, org, id, table, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decode(b.Record)
}

func setBase(tx *store.Tx, org, id, table string, key []byte, f fields) error {
	if f == nil {
		err := store.SyncBases.Delete(tx, org, id, table, key)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	b, err := encode(f)
	if err != nil {
		return err
	}
	return store.SyncBases.Put(tx, org, &store.SyncBase{OrganizationID: org, AssessmentID: id, Table: table, Key: key, Record: b})
}
