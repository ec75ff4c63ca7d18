package sync

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/store"
)

// errDry undoes what a dry run did.
var errDry = errors.New("a dry run")

// Push brings a batch of a clone's changes home: all of it or, where it is not to be taken
// as a batch, nothing. The same batch again is answered as before.
func (s *Service) Push(ctx context.Context, by api.Caller, in *api.PushSyncInput) (*api.PushedSync, error) {
	data, err := io.ReadAll(io.LimitReader(in.File.Content, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, api.Invalid("file", "a batch is at most %d MiB", maxFile>>20)
	}
	f, err := decodeFile(bytes.NewReader(data), kindBatch)
	if err != nil {
		return nil, err
	}
	if f.AssessmentID != in.AssessmentID {
		return nil, api.Invalid("file", "the batch is of another assessment")
	}
	sum := sha256.Sum256(data)
	r := &replay{s: s, by: by, f: f, data: data, sum: hex.EncodeToString(sum[:]), dry: in.Dry == "true"}
	if in.Dry != "" && in.Dry != "true" && in.Dry != "false" {
		return nil, api.Invalid("dry_run", "dry_run is true or false")
	}
	if out, done, err := r.before(ctx); done || err != nil {
		return out, err
	}
	if r.place, err = s.placeOf(ctx, by, f.AssessmentID, f.CatalogSHA256, f.OwnSHA256); err != nil {
		return nil, err
	}
	if !r.held {
		if err := r.arrivals(ctx); err != nil {
			return nil, err
		}
	}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		r.out, r.void, r.refused = &api.PushedSync{ReplicaID: f.ReplicaID, Counter: f.Counter, Notes: []string{}}, map[string]bool{}, map[string]bool{}
		return r.take(tx)
	})
	if err != nil && !errors.Is(err, errDry) {
		return nil, err
	}
	if !r.dry && len(r.docs) > 0 {
		s.Evidence.Arrived(f.AssessmentID)
	}
	return r.out, nil
}

// replay is a batch on its way into the home.
type replay struct {
	s     *Service
	by    api.Caller
	f     *file
	data  []byte
	sum   string
	dry   bool
	place *place
	// held: the batch is of a person who may not bring it any more.
	held bool
	docs map[string]*evidence.Arrival
	// strange is how many passages came that do not stand in a document's file.
	strange map[string]int
	quotes  *quotes

	out *api.PushedSync
	// void are approvals, and refused versions, that did not come through.
	void, refused map[string]bool
}

// before looks whether the batch is the next one of its clone; done where it was taken before.
func (r *replay) before(ctx context.Context) (out *api.PushedSync, done bool, err error) {
	err = r.s.DB.View(ctx, func(tx *store.Tx) error {
		rep, err := r.replica(tx)
		if err != nil {
			return err
		}
		out, done, err = r.again(&rep)
		return err
	})
	return out, done, err
}

// again answers a batch that was taken before.
func (r *replay) again(rep *store.SyncReplica) (out *api.PushedSync, done bool, err error) {
	switch next := rep.Counter + 1; {
	case r.f.Counter == next:
		return nil, false, nil
	case r.f.Counter == rep.Counter && r.sum == rep.Sum:
		out = &api.PushedSync{}
		return out, true, json.Unmarshal(rep.Answer, out)
	case r.f.Counter <= rep.Counter:
		return nil, false, api.Conflict("batch %d of this clone was taken with other content: the clone was restored from a backup; %s", r.f.Counter, restoredClone)
	default:
		return nil, false, api.Conflict("the home does not know of changes that this clone sent before: %s", restored)
	}
}

// replica is the clone the batch is from. One of a person who may not bring it any more is
// held: another who may brought it.
func (r *replay) replica(tx *store.Tx) (store.SyncReplica, error) {
	org := r.by.OrganizationID
	if _, err := as(tx, org, r.f.AssessmentID, store.SyncHome); err != nil {
		return store.SyncReplica{}, err
	}
	rep, err := store.SyncReplicas.Get(tx, org, r.f.AssessmentID, r.f.ReplicaID)
	if err != nil {
		return rep, store.Missing(err, "clone", r.f.ReplicaID)
	}
	if rep.UserID == r.by.UserID {
		return rep, nil
	}
	m, err := store.Memberships.Get(tx, rep.UserID, org)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return rep, err
	}
	if err == nil && m.Status == "active" && m.Role.May("sync:write") {
		return rep, api.Forbidden("the clone is %s's; sign in as them to bring its changes", rep.UserName)
	}
	r.held = true
	return rep, nil
}

// arrivals readies the documents of the batch. Their files are read here: what they say is
// not for who brings them to tell. A file that was not brought makes no document.
func (r *replay) arrivals(ctx context.Context) error {
	r.docs, r.strange = map[string]*evidence.Arrival{}, map[string]int{}
	n := 0
	for i := range r.f.lines {
		l := &r.f.lines[i]
		if l.Table != store.Documents.Name() || l.Op != opInsert && (l.Op != opEdit || l.Record["sha256"] == nil) {
			continue
		}
		if err := r.by.Require("document:write"); err != nil {
			return err
		}
		if n++; n > maxDocuments {
			return api.Invalid("file", "a batch brings at most %d documents", maxDocuments)
		}
		doc, err := r.place.document(l.Record)
		if err != nil {
			return err
		}
		have := false
		err = r.s.DB.View(ctx, func(tx *store.Tx) (err error) {
			have, err = hasFile(tx, r.by.OrganizationID, r.f.AssessmentID, doc.SHA256)
			return err
		})
		switch {
		case err != nil:
			return err
		case have:
			r.docs[doc.ID], r.strange[doc.ID], err = r.s.Evidence.Read(ctx, r.by.OrganizationID, r.place.version, doc, l.Chunks)
		case r.dry: // files need not be there
			r.docs[doc.ID], err = r.s.Evidence.Arrive(ctx, r.by.OrganizationID, r.place.version, doc, l.Chunks)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// document reads a document's record.
func (p *place) document(f fields) (store.Document, error) {
	t := tableNamed(store.Documents.Name())
	if !t.belongs(f, p.assessment) {
		return store.Document{}, api.Invalid("file", "a document of another assessment")
	}
	var doc store.Document
	if err := fill(f, &doc); err != nil {
		return doc, err
	}
	if doc.ID == "" || doc.Filename == "" {
		return doc, api.Invalid("file", "a document without a name")
	}
	switch doc.Status {
	case api.DocumentIngested, api.DocumentFailed:
	default:
		return doc, api.Invalid("file", "%s is %s: a document comes when it is read", doc.Filename, doc.Status)
	}
	return doc, nil
}

func fill(f fields, r any) error {
	b, err := encode(f)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, r); err != nil {
		return api.Invalid("file", "a field has a value of the wrong kind: %v", err)
	}
	return nil
}

// take does the batch, in one transaction.
func (r *replay) take(tx *store.Tx) error {
	tx.Attribute(r.by.Actor.Name)
	org := r.by.OrganizationID
	rep, err := r.replica(tx)
	if err != nil {
		return err
	}
	if out, done, err := r.again(&rep); done || err != nil {
		r.out = out
		return err
	}
	if r.held {
		err = r.hold(tx, &rep)
	} else {
		err = r.lines(tx)
	}
	if err != nil {
		return err
	}
	if r.dry {
		return errDry
	}
	// Whatever came of them, the clone reads these records again.
	for i := range r.f.lines {
		if l := &r.f.lines[i]; l.Table != "" {
			tx.Touch(org, r.f.AssessmentID, l.Table, l.Key)
		}
	}
	rep.Counter, rep.Sum, rep.SeenAt = r.f.Counter, r.sum, tx.Now()
	if rep.Answer, err = json.Marshal(r.out); err != nil {
		return err
	}
	return errors.Join(store.SyncReplicas.Put(tx, org, &rep),
		audit.Append(tx, r.by, audit.Entry{Action: "sync.pushed", ResourceType: "sync_replica", ResourceID: rep.ID, Changes: map[string]any{"assessment_id": r.f.AssessmentID, "counter": r.f.Counter,
			"sha256": r.sum, "applied": r.out.Applied, "conflicts": r.out.Conflicts, "clone_audit_sequence": r.f.AnchorSequence, "clone_audit_hash": r.f.AnchorHash}}))
}

// lines does what the batch tells, in its order.
func (r *replay) lines(tx *store.Tx) error {
	sealed := map[string]api.Gate{}
	for i := range r.f.lines {
		l := &r.f.lines[i]
		if l.Table != "" {
			if err := checkKey(l); err != nil {
				return err
			}
		}
		if l.Op == opSubmit || l.Op == opDecide || l.Op == opMove {
			if err := r.seal(tx, sealed); err != nil {
				return err
			}
		}
		err := r.line(tx, l, sealed)
		var told *api.Error
		if errors.As(err, &told) && told.Code != api.CodeInternal {
			err = r.refuse(tx, l, told)
		}
		if err != nil {
			return fmt.Errorf("change %d of batch %d: %w", i+1, r.f.Counter, err)
		}
	}
	return r.seal(tx, sealed)
}

func checkKey(l *line) error {
	t := tableNamed(l.Table)
	if t == nil {
		return api.Invalid("file", "there is no table %.40q to synchronise", l.Table)
	}
	if err := store.RawKey(l.Key).Err(); err != nil || len(l.Key) == 0 || len(l.Key) > 300 {
		return api.Invalid("file", "a change of %s names no record", l.Table)
	}
	return nil
}

// hold keeps a batch for somebody who may decide on it.
func (r *replay) hold(tx *store.Tx, rep *store.SyncReplica) error {
	r.note("%s is no member with that right any more: what they did offline is held back until somebody decides on it", rep.UserName)
	return r.conflict(tx, &api.SyncConflict{Kind: api.ConflictReplica, Label: rep.Name, RecordID: rep.ID, Table: store.SyncReplicas.Name(),
		Message: fmt.Sprintf("%s, who made these %d changes offline, is no member with that right any more", rep.UserName, len(r.f.lines)),
		Clone:   api.SyncSide{By: rep.UserName}}, true)
}

func (r *replay) note(format string, args ...any) {
	if len(r.out.Notes) < 100 {
		r.out.Notes = append(r.out.Notes, fmt.Sprintf(format, args...))
	}
}

// conflict keeps a conflict and tells of it; with the whole batch where whole.
func (r *replay) conflict(tx *store.Tx, c *api.SyncConflict, whole bool) error {
	r.out.Conflicts++
	org := r.by.OrganizationID
	c.TenantRecord = api.TenantRecord{Record: api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}, OrganizationID: org}
	c.AssessmentID, c.Status, c.ReplicaID = r.f.AssessmentID, "open", r.f.ReplicaID
	if c.Clone.By == "" {
		c.Clone.By = r.by.Actor.Name
	}
	if whole && !r.dry {
		blob, err := r.s.DB.Blobs().Put(tx.Context(), bytes.NewReader(r.data), maxFile)
		if err != nil {
			return err
		}
		c.KeptSHA256 = blob.SHA256
	}
	return errors.Join(store.SyncConflicts.Insert(tx, org, c),
		audit.Tell(tx, r.by, audit.Event{Type: "sync.conflict", AssessmentID: c.AssessmentID, Summary: "a conflict: " + c.Message, ResourceType: "sync_conflict", ResourceID: c.ID,
			Data: map[string]any{"kind": c.Kind, "table": c.Table, "record_id": c.RecordID, "label": c.Label, "field": c.Field}}))
}
