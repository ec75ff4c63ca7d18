package sync

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/engine/sync/bundle"
	"github.com/scf-service/service/store"
)

// unpacking is a bundle on its way in. All of it is read and found to be what was signed
// before a record is written; until then only files are kept, which nothing names yet.
type unpacking struct {
	s    *Service
	by   api.Caller
	dry  bool
	m    *bundle.Manifest
	sum  string
	peer *api.SyncPeer
	key  *bundle.Key
	out  *api.TakenSyncBundle

	// as is who brings a clone's changes; the taker where that account may not any more.
	as api.Caller
	// fresh: the assessment is not synchronised here yet.
	fresh bool

	batch, catalog, own []byte
	pages               [][]byte
	lacking             map[string]bool
	files               []string
}

// TakeBundle takes a bundle that a trusted peer wrote for this organization. The same again does
// nothing; what broke off goes on where it is taken again.
func (s *Service) TakeBundle(ctx context.Context, by api.Caller, in *api.TakeSyncBundleInput) (*api.TakenSyncBundle, error) {
	if in.Dry != "" && in.Dry != "true" && in.Dry != "false" {
		return nil, api.Invalid("dry_run", "dry_run is true or false")
	}
	mine, err := s.secret(ctx, by)
	if err != nil {
		return nil, err
	}
	u := &unpacking{s: s, by: by, dry: in.Dry == "true", lacking: map[string]bool{}}
	r, err := bundle.Open(in.File.Content, mine, func(fingerprint string) (*bundle.Key, error) { return u.trusted(ctx, fingerprint) })
	if err != nil {
		return nil, err
	}
	u.m, u.sum = &r.Manifest, r.Sum
	u.out = &api.TakenSyncBundle{PeerID: u.peer.ID, PeerName: u.peer.Name, Serial: u.m.Serial, MadeAt: u.m.MadeAt, AssessmentID: u.m.AssessmentID, Name: u.m.Name, DryRun: u.dry, More: u.m.More, Notes: []string{}}
	if err := s.DB.View(ctx, u.due); err != nil {
		return nil, err
	}
	if err := u.read(ctx, r); err != nil {
		return nil, err
	}
	if u.out.Again {
		return u.out, nil
	}
	if u.out.Files = len(u.files); u.m.Role == store.SyncHome {
		err = u.clone(ctx)
	} else {
		err = u.home(ctx)
	}
	return u.out, err
}

// trusted is the key of a peer; nil for a stranger's.
func (u *unpacking) trusted(ctx context.Context, fingerprint string) (*bundle.Key, error) {
	err := u.s.DB.View(ctx, func(tx *store.Tx) error {
		p, err := store.SyncPeers.By("fingerprint").Get(tx, u.by.OrganizationID, fingerprint)
		if err == nil {
			u.peer = &p
		}
		return ignore(err)
	})
	if err != nil || u.peer == nil {
		return nil, err
	}
	u.key, err = bundle.ParseKey(u.peer.Key)
	return u.key, err
}

// due refuses a bundle that is not for the assessment as it stands here, or whose time is over.
func (u *unpacking) due(tx *store.Tx) error {
	org, m := u.by.OrganizationID, u.m
	u.out.Again = false
	l, err := store.SyncLinks.Get(tx, org, m.AssessmentID)
	if u.fresh = errors.Is(err, store.ErrNotFound); err != nil && !u.fresh {
		return store.Missing(err, "assessment", m.AssessmentID)
	}
	switch m.Role {
	case store.SyncHome:
		u.out.Role = store.SyncClone
		err = u.dueFromHome(tx, &l)
	case store.SyncClone:
		u.out.Role = store.SyncHome
		err = u.dueFromClone(tx, &l)
	default:
		err = damaged("its sender is the %.20q of the assessment", m.Role)
	}
	if err != nil || u.out.Again {
		return err
	}
	for _, p := range m.Parts {
		if p.Kind != bundle.File {
			continue
		}
		have := false
		if !u.fresh {
			if have, err = hasFile(tx, org, m.AssessmentID, p.SHA256); err != nil {
				return err
			}
		}
		u.lacking[p.SHA256] = !have
	}
	return nil
}

// serial refuses a bundle that is older than the last one from there.
func (u *unpacking) serial(last *store.SyncSerials) error {
	switch m := u.m; {
	case m.Serial < 1:
		return damaged("it has no number")
	case m.Serial == last.Taken && u.sum == last.TakenSum:
		u.out.Again = true
		return nil
	case m.Serial == last.Taken:
		do := "there, " + restoredClone
		if m.Role == store.SyncHome {
			do = "make another clone in a folder of its own, of a bundle that they write for that one's key, and do there again what the home lost"
		}
		return api.Conflict("bundle %d of %s was taken with other content: their data was restored from a backup, or two copies of it are in use; %s", m.Serial, u.peer.Name, do)
	case m.Serial < last.Taken:
		return api.Conflict("this is bundle %d of %s, of %s, and bundle %d was taken already: it is older than the last one", m.Serial, u.peer.Name, m.MadeAt.Format("2006-01-02 15:04"), last.Taken)
	}
	return nil
}

func (u *unpacking) dueFromHome(tx *store.Tx, l *store.SyncLink) error {
	org, m := u.by.OrganizationID, u.m
	if u.fresh {
		there, err := store.Assessments.Has(tx, org, m.AssessmentID)
		if err == nil && there {
			err = api.Conflict("%s is here already, and is no clone", m.Name)
		}
		return err
	}
	switch {
	case l.Role != store.SyncClone:
		return api.Conflict("the assessment's home is here; a bundle of another home is not taken")
	case l.ReplicaID != m.ReplicaID:
		return api.Invalid("file", "the bundle was written for another clone of the assessment")
	case l.RemoteOrganization != "" && l.RemoteOrganization != u.key.Organization, l.RemoteOrganization == "" && l.PeerID != u.peer.ID:
		return api.Invalid("file", "%s is not the home of this clone", u.peer.Name)
	}
	if err := u.serial(&l.SyncSerials); err != nil || u.out.Again {
		return err
	}
	waiting, err := store.SyncBatches.Get(tx, org, m.AssessmentID)
	if ignore(err) != nil {
		return err
	}
	sum := sha256.Sum256(waiting.Data)
	switch on := err == nil; {
	case on && m.Counter == waiting.Counter && m.BatchSHA256 != hex.EncodeToString(sum[:]):
		return api.Conflict("the home took other changes of this clone as batch %d than those that wait here: this folder is a copy of another, or was restored from a backup; %s", m.Counter, restoredClone)
	case on && m.Counter == waiting.Counter:
	case on && m.Counter < waiting.Counter:
		return api.Conflict("the home wrote this before it had your changes, which are on their way to it; bring it your bundle, and take the answer to that")
	case m.Counter > l.Counter:
		return api.Conflict("the home has changes of this clone that it does not know of: it was restored from a backup; %s", restoredClone)
	case m.Counter < l.Counter:
		return api.Conflict("the home wrote this before it had your last changes; take the bundle that it wrote after them")
	}
	return nil
}

func (u *unpacking) dueFromClone(tx *store.Tx, l *store.SyncLink) error {
	org, m := u.by.OrganizationID, u.m
	as, ok, err := callerOf(tx, u.by, u.peer, "sync:write")
	if err != nil {
		return err
	}
	if u.as = as; u.fresh {
		there, err := store.Assessments.Has(tx, org, m.AssessmentID)
		switch {
		case err != nil:
			return err
		case there || !m.Publish:
			return api.NotFound("synchronised assessment", m.AssessmentID)
		case !ok:
			return api.Conflict("%s, whose key that is, is no member with that right any more, and begins no assessment here", u.peer.UserName)
		}
		return nil
	}
	if l.Role != store.SyncHome {
		return api.Conflict("this is a clone as well; bring the bundle to its home, which is %s", homeName(l))
	}
	rep, err := store.SyncReplicas.Get(tx, org, m.AssessmentID, m.ReplicaID)
	switch {
	case errors.Is(err, store.ErrNotFound) && m.Publish && ok:
		u.fresh = true // it broke off before the clone was known
		return nil
	case err != nil:
		return store.Missing(err, "clone", m.ReplicaID)
	case rep.UserID != u.peer.UserID:
		return api.Forbidden("the clone is %s's, and the key that signed is trusted for %s", rep.UserName, u.peer.UserName)
	}
	if err := u.serial(&rep.SyncSerials); err != nil || u.out.Again {
		return err
	}
	return known(tx, org, m.AssessmentID, m.Since, m.AnchorSequence, m.AnchorHash)
}

// read reads the bundle to its end: files are kept, the rest is held.
func (u *unpacking) read(ctx context.Context, r *bundle.Reader) error {
	k := u.s.keeping()
	err := u.parts(ctx, k, r)
	kept, failed := k.end()
	u.files = append(u.files, kept...)
	return cmp.Or(err, failed)
}

func (u *unpacking) parts(ctx context.Context, k *keeping, r *bundle.Reader) error {
	for {
		part, in, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case part.Kind == bundle.File:
			err = u.file(ctx, k, part, in)
		case u.out.Again:
		default:
			var data []byte
			if data, err = io.ReadAll(in); err == nil {
				err = u.held(part.Kind, data)
			}
		}
		if err != nil {
			return err
		}
	}
}

func (u *unpacking) held(kind string, data []byte) error {
	switch {
	case kind == bundle.Changes && u.m.Role == store.SyncHome:
		u.pages = append(u.pages, data)
	case kind == bundle.Batch && u.m.Role == store.SyncClone && u.batch == nil:
		u.batch = data
	case kind == bundle.Catalog && u.catalog == nil:
		u.catalog = data
	case kind == bundle.Own && u.own == nil:
		u.own = data
	default:
		return damaged("a %s has no place in the bundle of a %s", kind, u.m.Role)
	}
	return nil
}

// file keeps a file that is lacking; one that is here is read over.
func (u *unpacking) file(ctx context.Context, k *keeping, part bundle.Part, in io.Reader) error {
	if !u.lacking[part.SHA256] {
		return nil
	}
	u.lacking[part.SHA256] = false
	if u.dry {
		u.files = append(u.files, part.SHA256)
		return nil
	}
	return k.keep(ctx, part.SHA256, part.Size, in)
}

// hasCatalog brings the catalog where it is carried and lacking.
func (u *unpacking) hasCatalog(ctx context.Context) error {
	var have *store.CatalogVersion
	own := false
	err := u.s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if have, err = versionWith(tx, u.m.CatalogSHA256); err == nil {
			_, own, err = catalog.OwnWith(tx, u.by.OrganizationID, u.m.OwnSHA256)
		}
		return err
	})
	if err != nil {
		return err
	}
	if have == nil {
		if err := u.bringCatalog(ctx); err != nil {
			return err
		}
	}
	switch {
	case own:
		return nil
	case u.own == nil:
		return api.Conflict("the assessment uses own frameworks or controls that are not here (content %.12s…): have the bundle written with --carry-catalog", u.m.OwnSHA256)
	case u.dry:
		u.out.Notes = append(u.out.Notes, "the own frameworks and controls that the assessment uses would be taken over")
		return nil
	}
	return u.s.Catalog.CarryOwn(ctx, u.by, u.own)
}

func (u *unpacking) bringCatalog(ctx context.Context) error {
	if u.catalog == nil {
		return api.Conflict("the catalog version %s of the assessment is not here (content %.12s…): import that release, or have the bundle written with --carry-catalog", u.m.CatalogLabel, u.m.CatalogSHA256)
	}
	if u.dry {
		u.out.Notes = append(u.out.Notes, "the catalog version "+u.m.CatalogLabel+" would be taken over")
		return nil
	}
	_, err := u.s.BringCatalog(ctx, u.by, &api.BringSyncCatalogInput{File: api.UploadFile{Filename: "catalog", Content: bytes.NewReader(u.catalog)}})
	return err
}

// clone takes what a home wrote.
func (u *unpacking) clone(ctx context.Context) error {
	m, id := u.m, u.m.AssessmentID
	came, err := answer(m)
	if err != nil {
		return err
	}
	files := make([]*file, len(u.pages))
	for i, data := range u.pages {
		if files[i], err = decodeFile(bytes.NewReader(data), kindChanges); err != nil {
			return err
		}
		if files[i].AssessmentID != id || files[i].ReplicaID != m.ReplicaID || files[i].CatalogSHA256 != m.CatalogSHA256 || files[i].OwnSHA256 != m.OwnSHA256 {
			return damaged("changes in it are of another assessment, clone or catalog than it says")
		}
		u.pages[i] = nil
	}
	if err := u.hasCatalog(ctx); err != nil {
		return err
	}
	if u.dry {
		for _, f := range files {
			u.out.Taken += len(f.lines)
		}
		return nil
	}
	if u.fresh {
		at := &api.AttachSyncInput{}
		at.Body.AssessmentID, at.Body.RemoteOrganization, at.Body.ReplicaID, at.Body.Account, at.Body.CatalogSHA256, at.Body.OwnSHA256 = id, u.key.Organization, m.ReplicaID, m.Account, m.CatalogSHA256, m.OwnSHA256
		if _, err := u.s.attach(ctx, u.by, at, u.peer.ID); err != nil {
			return err
		}
	}
	if err := u.acknowledged(ctx, came); err != nil {
		return err
	}
	if err := u.s.await(ctx, u.by, id, u.files...); err != nil {
		return err
	}
	for _, f := range files {
		out, err := u.s.take(ctx, u.by, id, f, true)
		if err != nil {
			return err
		}
		u.out.Taken += out.Taken
	}
	return u.done(ctx)
}

// acknowledged notes that the home has the last batch, and tells what came of it.
func (u *unpacking) acknowledged(ctx context.Context, came *api.PushedSync) error {
	if u.m.Counter == 0 {
		return nil
	}
	waiting := false
	err := u.s.DB.View(ctx, func(tx *store.Tx) (err error) {
		waiting, err = store.SyncBatches.Has(tx, u.by.OrganizationID, u.m.AssessmentID)
		return err
	})
	if err != nil || !waiting {
		return err
	}
	in := &api.AcknowledgeSyncInput{AssessmentID: u.m.AssessmentID}
	in.Body.Counter = u.m.Counter
	if _, err := u.s.Acknowledge(ctx, u.by, in); err != nil {
		return err
	}
	u.out.Applied, u.out.Conflicts, u.out.Notes = came.Applied, came.Conflicts, append(u.out.Notes, came.Notes...)
	return nil
}

// home takes what a clone wrote.
func (u *unpacking) home(ctx context.Context) error {
	m, id := u.m, u.m.AssessmentID
	if u.batch != nil || u.fresh {
		if err := u.hasCatalog(ctx); err != nil {
			return err
		}
	}
	if u.fresh {
		if u.dry {
			u.out.Notes = append(u.out.Notes, m.Name+" would begin to live here")
			return nil
		}
		in := &api.JoinSyncInput{}
		in.Body.AssessmentID, in.Body.ReplicaID, in.Body.Name, in.Body.Publish = id, m.ReplicaID, m.Machine, true
		if _, err := u.s.join(ctx, u.as, in, u.peer.ID); err != nil {
			return err
		}
	}
	if !u.dry {
		if err := u.s.await(ctx, u.by, id, u.files...); err != nil {
			return err
		}
	}
	if u.batch != nil {
		f, err := decodeFile(bytes.NewReader(u.batch), kindBatch)
		if err != nil {
			return err
		}
		if f.AssessmentID != id || f.ReplicaID != m.ReplicaID || f.Counter != m.Counter {
			return damaged("the changes in it are of another assessment or clone than it says")
		}
		in := &api.PushSyncInput{AssessmentID: id, File: api.UploadFile{Filename: "batch", Content: bytes.NewReader(u.batch)}}
		if u.dry {
			in.Dry = "true"
		}
		out, err := u.s.Push(ctx, u.as, in)
		if err != nil {
			return err
		}
		u.out.Applied, u.out.Conflicts, u.out.Notes = out.Applied, out.Conflicts, append(u.out.Notes, out.Notes...)
	}
	if u.dry {
		return nil
	}
	return u.done(ctx)
}

// done notes that all of the bundle was taken.
func (u *unpacking) done(ctx context.Context) error {
	org, m := u.by.OrganizationID, u.m
	return u.s.DB.Update(ctx, func(tx *store.Tx) error {
		if m.Role == store.SyncHome {
			l, err := as(tx, org, m.AssessmentID, store.SyncClone)
			if err != nil {
				return err
			}
			if l.Taken >= m.Serial {
				return nil // another was quicker
			}
			l.Taken, l.TakenSum, l.PeerID = m.Serial, u.sum, u.peer.ID
			return errors.Join(store.SyncLinks.Put(tx, org, &l), u.note(tx))
		}
		rep, err := store.SyncReplicas.Get(tx, org, m.AssessmentID, m.ReplicaID)
		if err != nil {
			return err
		}
		if rep.Taken >= m.Serial {
			return nil
		}
		rep.Taken, rep.TakenSum, rep.PeerID, rep.Since, rep.SeenAt = m.Serial, u.sum, u.peer.ID, m.Since, tx.Now()
		return errors.Join(store.SyncReplicas.Put(tx, org, &rep), prune(tx, org, m.AssessmentID), u.note(tx))
	})
}

func (u *unpacking) note(tx *store.Tx) error {
	m := u.m
	return audit.Append(tx, u.by, audit.Entry{Action: "sync.bundle_taken", ResourceType: "sync_peer", ResourceID: u.peer.ID,
		Changes: map[string]any{"assessment_id": m.AssessmentID, "serial": m.Serial, "counter": m.Counter, "sha256": u.sum, "fingerprint": u.peer.Fingerprint, "user_id": u.peer.UserID}})
}

// known refuses a clone that has read what this home has not told.
func known(tx *store.Tx, org, id string, since int64, sequence uint64, hash string) error {
	head, err := tx.SyncHead(org, id)
	if err != nil {
		return err
	}
	if since < 0 || since > head {
		return forked()
	}
	if hash == "" {
		return nil
	}
	if sequence > math.MaxInt64 {
		return forked()
	}
	rec, err := store.Audit.Get(tx, org, int64(sequence))
	if ignore(err) != nil {
		return err
	}
	if rec.Hash != hash {
		return forked()
	}
	return nil
}
