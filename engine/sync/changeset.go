package sync

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/store"
)

func copyFields(f fields) fields { return maps.Clone(f) }

func mapKeys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

func ignoreNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func intFromJSON(v json.RawMessage) int {
	n, _ := strconv.Atoi(string(v))
	return n
}

func intToJSON(n int) json.RawMessage { return json.RawMessage(strconv.Itoa(n)) }

// changeset holds the changes that a clone is about to send.
type changeset struct {
	file    *exchangeFile
	entries []store.SyncBatchEntry
}

// orderedChange is a change with its position in a batch. Edits of existing records come first, followed by creations
// and decisions in ID order, which is chronological.
type orderedChange struct {
	rank  int
	order string
	line  changeLine
	entry store.SyncBatchEntry
	size  int
}

// fileBudget is how much may still be added to a file: the size of the lines in bytes, the number of documents, and the
// size of the documents' files in bytes.
type fileBudget struct {
	lines     int
	documents int
	files     int64
}

// maxDocuments is the maximum number of documents in a batch, because the remote has to parse their
// files.
const maxDocuments = 500

// pageBudget limits a file sent over the network. The number of documents is low enough that the
// connection doesn't time out while they are parsed.
var pageBudget = fileBudget{lines: pageSize, documents: 50, files: math.MaxInt64}

// reserveLine subtracts a line of the given size from the budget. It returns false if the line doesn't fit.
func (r *fileBudget) reserveLine(l *changeLine, size int) (fits bool) {
	if l.Table == store.Documents.Name() && l.Op != opDelete && len(l.Record["size_bytes"]) > 0 {
		n := int64(intFromJSON(l.Record["size_bytes"]))
		if n > r.files || r.documents == 0 {
			return false
		}
		r.files, r.documents = r.files-n, r.documents-1
	}
	if r.lines < 0 {
		return false
	}
	r.lines -= size
	return true
}

// collectChanges builds a batch of the changes made in the clone since the last batch known to have
// reached the remote.
func collectChanges(tx *store.Tx, org string, l *store.SyncLink, budget fileBudget) (*changeset, error) {
	id := l.AssessmentID
	b := &changeset{
		file: &exchangeFile{
			fileHeader: fileHeader{Format: Format, Kind: kindBatch, AssessmentID: id, ReplicaID: l.ReplicaID, Counter: l.Counter + 1},
		},
	}
	a, err := store.Assessments.Get(tx, org, id)
	if errors.Is(err, store.ErrNotFound) {
		return b, nil // not pulled from its remote yet
	}
	if err != nil {
		return nil, err
	}
	v, err := loadAssessmentCatalog(tx, &a)
	if err != nil {
		return nil, err
	}
	b.file.CatalogSHA256, b.file.CustomSHA256 = v.SnapshotBlob, v.customSHA256
	if b.file.AnchorSequence, b.file.AnchorHash, err = lastAuditRecord(tx, org); err != nil {
		return nil, err
	}
	var all []orderedChange
	for row, err := range store.SyncLogEntries.Scan(tx, org, store.Prefix(id)) {
		if err != nil {
			return nil, err
		}
		one, err := describeChange(tx, org, &row)
		if err != nil {
			return nil, err
		}
		if one != nil {
			all = append(all, *one)
		}
	}
	slices.SortStableFunc(all, func(x, y orderedChange) int {
		return cmp.Or(
			cmp.Compare(x.rank, y.rank),
			cmp.Compare(x.order, y.order),
			cmp.Compare(x.line.Table, y.line.Table),
			bytes.Compare(x.line.Key, y.line.Key),
		)
	})
	for i := range all {
		if !budget.reserveLine(&all[i].line, all[i].size) {
			b.file.More = true
			break
		}
		if all[i].line.Op != opTouch || all[i].line.Table != "" {
			b.file.lines = append(b.file.lines, all[i].line)
		}
		b.entries = append(b.entries, all[i].entry)
	}
	return b, nil
}

const (
	rankRecord = iota
	rankEdit
	rankAction
)

// describeChange returns the change to send for a record in the sync log, or nil if there is nothing to
// send yet.
func describeChange(tx *store.Tx, org string, row *store.SyncLogEntry) (*orderedChange, error) {
	t := tableByName(row.Table)
	if t == nil {
		return nil, nil
	}
	f, exists, err := t.read(tx, org, row.Key)
	if err != nil {
		return nil, err
	}
	was, err := loadBase(tx, org, row.AssessmentID, row.Table, row.Key)
	if err != nil {
		return nil, err
	}
	one := &orderedChange{
		rank: rankRecord, entry: store.SyncBatchEntry{Table: row.Table, Key: row.Key, Sequence: row.Sequence},
		line: changeLine{Op: opTouch, Table: row.Table, Key: row.Key, By: row.By, At: row.At},
	}
	if !exists && was == nil { // created and deleted again: the remote never knew it
		one.entry.CloneOnly = true
		one.line = changeLine{Op: opTouch}
		return one, nil
	}
	is := fields(nil)
	if exists {
		is = t.withoutLocalFields(f)
		if one.entry.Record, err = encodeFields(is); err != nil {
			return nil, err
		}
	}
	if was == nil && t.kind == remoteTable {
		one.entry.CloneOnly = true
		if err := t.setAction(tx, org, f, one); err != nil {
			return nil, err
		}
		return one, nil
	}
	switch {
	case t.kind == contentTable || t.kind == itemTable || t.kind == writeOnceTable:
		if err := t.setEdit(one, is, was, exists); err != nil {
			return nil, err
		}
		if t.kind == itemTable && one.line.Op == opInsert {
			if one.line.Fields, err = assessment.Synced(t.gate).ListDecisions(tx, org, stringFromJSON(is["id"])); err != nil {
				return nil, err
			}
		}
	case t.kind == versionTable && was == nil:
		one.rank, one.order = rankAction, stringFromJSON(is["id"])
		one.line.Op, one.line.Record = opInsert, is
	}
	if t.name == store.Documents.Name() && exists && (one.line.Op == opInsert || one.line.Fields["sha256"].To != nil) {
		chunks, n, read, err := documentPassages(tx, org, f)
		if err != nil || !read {
			return nil, err // still being processed
		}
		one.line.Chunks, one.line.Record = chunks, is
		one.size += n
	}
	one.size += len(one.entry.Record) + 300
	return one, nil
}

// setEdit sets the line for a record that was added, changed or deleted since the base version.
func (t *table) setEdit(change *orderedChange, current, base fields, exists bool) error {
	switch {
	case !exists:
		change.line.Op, change.line.Record = opDelete, base
	case base == nil:
		change.line.Op, change.line.Record = opInsert, current
	default:
		changed := map[string]merge.Change{}
		for name, v := range current {
			if !bytes.Equal(v, base[name]) {
				changed[name] = merge.Change{From: base[name], To: v}
			}
		}
		for name, v := range base {
			if _, ok := current[name]; !ok {
				changed[name] = merge.Change{From: v}
			}
		}
		if t.name == store.Assessments.Name() {
			maps.DeleteFunc(changed, func(name string, _ merge.Change) bool {
				return !slices.Contains(assessmentEditableFields, name)
			})
		}
		if len(changed) == 0 {
			return nil
		}
		change.line.Op, change.line.Fields = opEdit, changed
		// The label lets a rejection name the record.
		change.line.Record = fields{"id": current["id"], t.labelField: current[t.labelField]}
	}
	if t.kind == itemTable {
		change.rank = rankEdit
		if change.line.Op == opInsert { // follows its version
			change.rank, change.order = rankAction, stringFromJSON(current["version_id"])+" "+stringFromJSON(current["id"])
		}
	}
	if t.name == store.Assessments.Name() {
		change.order = " " // before its parts
	} else if t.name == store.Corrections.Name() && change.line.Op == opInsert {
		change.order = "b" // after the removal of those that it replaces
	} else if change.rank == rankRecord {
		change.order = "a"
	}
	return nil
}

// setAction sets the line for a record that exists only in the clone. The line requests an action that the remote
// replays, such as a transition.
func (t *table) setAction(tx *store.Tx, org string, f fields, change *orderedChange) error {
	change.line = changeLine{Op: opTouch, At: change.line.At, By: change.line.By}
	change.rank, change.order = rankAction, stringFromJSON(f["id"])
	if t.name == store.LifecycleEvents.Name() {
		if stringFromJSON(f["event_type"]) == "transition" {
			change.line.Op, change.line.To, change.line.Reason = opTransition, api.State(
				stringFromJSON(f["to_state"]),
			), stringFromJSON(
				f["reason"],
			)
		}
		return nil
	}
	if t.name != store.Timeline.Name() {
		return nil
	}
	what := stringFromJSON(f["type"])
	if what != "approval.requested" && what != "approval.decided" {
		return nil
	}
	p, err := store.Approvals.Get(tx, org, stringFromJSON(f["resource_id"]))
	if err != nil {
		return ignoreNotFound(err)
	}
	change.line.Gate, change.line.Version, change.line.Approval, change.line.SHA256 = p.Gate, p.TargetID, p.ID, p.TargetSHA256
	if what == "approval.requested" {
		change.line.Op, change.line.InAdvance = opSubmit, p.SubmittedInAdvance
		return nil
	}
	if p.Void || p.Status != api.ApprovalApproved && p.Status != api.ApprovalRejected {
		return nil
	}
	change.line.Op, change.line.Verdict, change.line.InAdvance = opDecide, p.Status, p.InAdvance
	if p.Reason != nil {
		change.line.Reason = *p.Reason
	}
	return nil
}
