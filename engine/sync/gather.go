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
	"github.com/scf-service/service/store"
)

func clone(f fields) fields { return maps.Clone(f) }

func keys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

func ignore(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func number(v json.RawMessage) int {
	n, _ := strconv.Atoi(string(v))
	return n
}

func digits(n int) json.RawMessage { return json.RawMessage(strconv.Itoa(n)) }

// batch is what a clone is to send.
type batch struct {
	file   *file
	covers []store.SyncCover
}

// told is a line with where it stands in a batch: what edits what was there first, then
// what was made and decided, in the order of the ids, which is that of time.
type told struct {
	rank  int
	order string
	line  line
	cover store.SyncCover
	size  int
}

// room is how much goes into one file: lines by their size, and the documents that they
// bring, with the size of their files.
type room struct {
	lines     int
	documents int
	files     int64
}

// maxDocuments is how many documents a batch may bring: its home reads their files.
const maxDocuments = 500

// onePage is the room of a file that is carried by a network. Its documents are so few that
// a connection lasts while they are read.
var onePage = room{lines: pageBytes, documents: 50, files: math.MaxInt64}

// take takes room for a line; false where there is none left for another.
func (r *room) take(l *line, size int) bool {
	if l.Table == store.Documents.Name() && l.Op != opDelete && len(l.Record["size_bytes"]) > 0 {
		n := int64(number(l.Record["size_bytes"]))
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

// gather makes a batch of what a clone has changed since it was last known to be at home.
func gather(tx *store.Tx, org string, l *store.SyncLink, left room) (*batch, error) {
	id := l.AssessmentID
	b := &batch{file: &file{header: header{Format: Format, Kind: kindBatch, AssessmentID: id, ReplicaID: l.ReplicaID, Counter: l.Counter + 1}}}
	a, err := store.Assessments.Get(tx, org, id)
	if errors.Is(err, store.ErrNotFound) {
		return b, nil // not read from its home yet
	}
	if err != nil {
		return nil, err
	}
	v, err := catalogOf(tx, &a)
	if err != nil {
		return nil, err
	}
	b.file.CatalogSHA256, b.file.OwnSHA256 = v.SnapshotBlob, v.own
	if b.file.AnchorSequence, b.file.AnchorHash, err = anchor(tx, org); err != nil {
		return nil, err
	}
	var all []told
	for row, err := range store.SyncRows.Scan(tx, org, store.Prefix(id)) {
		if err != nil {
			return nil, err
		}
		one, err := tell(tx, org, &row)
		if err != nil {
			return nil, err
		}
		if one != nil {
			all = append(all, *one)
		}
	}
	slices.SortStableFunc(all, func(x, y told) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.order, y.order), cmp.Compare(x.line.Table, y.line.Table), bytes.Compare(x.line.Key, y.line.Key))
	})
	for i := range all {
		if !left.take(&all[i].line, all[i].size) {
			b.file.More = true
			break
		}
		if all[i].line.Op != opTouch || all[i].line.Table != "" {
			b.file.lines = append(b.file.lines, all[i].line)
		}
		b.covers = append(b.covers, all[i].cover)
	}
	return b, nil
}

const (
	rankRecord = iota
	rankEdit
	rankAction
)

// tell says what became of one record; nil where there is nothing to send yet.
func tell(tx *store.Tx, org string, row *store.SyncRow) (*told, error) {
	t := tableNamed(row.Table)
	if t == nil {
		return nil, nil
	}
	f, there, err := t.read(tx, org, row.Key)
	if err != nil {
		return nil, err
	}
	was, err := base(tx, org, row.AssessmentID, row.Table, row.Key)
	if err != nil {
		return nil, err
	}
	one := &told{rank: rankRecord, cover: store.SyncCover{Table: row.Table, Key: row.Key, Sequence: row.Sequence},
		line: line{Op: opTouch, Table: row.Table, Key: row.Key, By: row.By, At: row.At}}
	if !there && was == nil { // made and deleted again: the home need not know
		one.cover.Shed = true
		one.line = line{Op: opTouch}
		return one, nil
	}
	is := fields(nil)
	if there {
		is = t.wire(f)
		if one.cover.Record, err = encode(is); err != nil {
			return nil, err
		}
	}
	if was == nil && t.sort == homes {
		one.cover.Shed = true
		if err := t.action(tx, org, f, one); err != nil {
			return nil, err
		}
		return one, nil
	}
	switch {
	case t.sort == content || t.sort == items || t.sort == once:
		if err := t.edit(one, is, was, there); err != nil {
			return nil, err
		}
	case t.sort == versions && was == nil:
		one.rank, one.order = rankAction, text(is["id"])
		one.line.Op, one.line.Record = opInsert, is
	}
	if t.name == store.Documents.Name() && there && (one.line.Op == opInsert || one.line.Fields["sha256"].To != nil) {
		chunks, n, read, err := passages(tx, org, f)
		if err != nil || !read {
			return nil, err // its reading is awaited
		}
		one.line.Chunks, one.line.Record = chunks, is
		one.size += n
	}
	one.size += len(one.cover.Record) + 300
	return one, nil
}

// edit tells of content that is new, changed or gone.
func (t *table) edit(one *told, is, was fields, there bool) error {
	switch {
	case !there:
		one.line.Op, one.line.Record = opDelete, was
	case was == nil:
		one.line.Op, one.line.Record = opInsert, is
	default:
		changed := map[string]assessment.FieldChange{}
		for name, v := range is {
			if !bytes.Equal(v, was[name]) {
				changed[name] = assessment.FieldChange{From: was[name], To: v}
			}
		}
		for name, v := range was {
			if _, ok := is[name]; !ok {
				changed[name] = assessment.FieldChange{From: v}
			}
		}
		if t.name == store.Assessments.Name() {
			maps.DeleteFunc(changed, func(name string, _ assessment.FieldChange) bool { return !slices.Contains(assessmentFields, name) })
		}
		if len(changed) == 0 {
			return nil
		}
		one.line.Op, one.line.Fields = opEdit, changed
		// So that a refusal can say what it is about.
		one.line.Record = fields{"id": is["id"], t.label: is[t.label]}
	}
	if t.sort == items {
		one.rank = rankEdit
		if one.line.Op == opInsert { // with its version
			one.rank, one.order = rankAction, text(is["version_id"])+" "+text(is["id"])
		}
	}
	if t.name == store.Assessments.Name() {
		one.order = " " // before what belongs to it
	} else if one.rank == rankRecord {
		one.order = "a"
	}
	return nil
}

// action is what a line of the clone's own history tells the home to do again.
func (t *table) action(tx *store.Tx, org string, f fields, one *told) error {
	one.line = line{Op: opTouch, At: one.line.At, By: one.line.By}
	one.rank, one.order = rankAction, text(f["id"])
	if t.name == store.LifecycleEvents.Name() {
		if text(f["event_type"]) == "transition" {
			one.line.Op, one.line.To, one.line.Reason = opMove, api.State(text(f["to_state"])), text(f["reason"])
		}
		return nil
	}
	if t.name != store.Timeline.Name() {
		return nil
	}
	what := text(f["type"])
	if what != "approval.requested" && what != "approval.decided" {
		return nil
	}
	p, err := store.Approvals.Get(tx, org, text(f["resource_id"]))
	if err != nil {
		return ignore(err)
	}
	one.line.Gate, one.line.Version, one.line.Approval, one.line.SHA256 = p.Gate, p.TargetID, p.ID, p.TargetSHA256
	if what == "approval.requested" {
		one.line.Op = opSubmit
		return nil
	}
	if p.Void || p.Status != api.ApprovalApproved && p.Status != api.ApprovalRejected {
		return nil
	}
	one.line.Op, one.line.Verdict = opDecide, p.Status
	if p.Reason != nil {
		one.line.Reason = *p.Reason
	}
	return nil
}
