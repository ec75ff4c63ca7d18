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
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/engine/sync/bundle"
	"github.com/scf-service/service/store"
)

// bundleImporter imports one bundle. It reads the whole bundle and verifies its signature before it
// writes any record. Before that, it only stores files, which no record refers to yet.
type bundleImporter struct {
	service   *Service
	by        api.Caller
	dryRun    bool
	manifest  *bundle.Manifest
	sha256Hex string
	peer      *api.SyncPeer
	key       *bundle.Key
	out       *api.ImportedSyncBundle

	// sender is the account as which a clone's changes are applied, or the importing user if that
	// account has lost access.
	sender api.Caller
	// isNew reports whether the assessment is not synced here yet.
	isNew bool

	batch, catalog, customCatalog []byte
	changePages                   [][]byte
	missingFiles                  map[string]bool
	files                         []string
}

// ImportBundle imports a bundle that a trusted peer wrote for this organization. Importing the same
// bundle again has no effect. An interrupted import can be repeated.
func (s *Service) ImportBundle(ctx context.Context, by api.Caller, in *api.ImportSyncBundleInput) (*api.ImportedSyncBundle, error) {
	if in.DryRun != "" && in.DryRun != "true" && in.DryRun != "false" {
		return nil, api.Invalid("dry_run", "dry_run must be true or false")
	}
	ownKey, err := s.loadSecretKey(ctx, by)
	if err != nil {
		return nil, err
	}
	u := &bundleImporter{service: s, by: by, dryRun: in.DryRun == "true", missingFiles: map[string]bool{}}
	r, err := bundle.Open(in.File.Content, ownKey, func(fingerprint string) (*bundle.Key, error) { return u.loadTrustedKey(ctx, fingerprint) })
	if err != nil {
		return nil, err
	}
	u.manifest, u.sha256Hex = &r.Manifest, r.Sum
	u.out = &api.ImportedSyncBundle{
		PeerID:       u.peer.ID,
		PeerName:     u.peer.Name,
		Serial:       u.manifest.Serial,
		CreatedAt:    u.manifest.CreatedAt,
		AssessmentID: u.manifest.AssessmentID,
		Name:         u.manifest.Name,
		DryRun:       u.dryRun,
		More:         u.manifest.More,
		Notes:        []string{},
	}
	if err := s.DB.View(ctx, u.checkBundleAndFindMissingFiles); err != nil {
		return nil, err
	}
	if err := u.readBundle(ctx, r); err != nil {
		return nil, err
	}
	if u.out.AlreadyImported {
		return u.out, nil
	}
	if u.out.Files = len(u.files); u.manifest.Role == store.SyncRoleRemote {
		err = u.applyToClone(ctx)
	} else {
		err = u.applyToRemote(ctx)
	}
	return u.out, err
}

// loadTrustedKey returns the trusted peer's key that has the fingerprint, or nil if there is none.
func (u *bundleImporter) loadTrustedKey(ctx context.Context, fingerprint string) (*bundle.Key, error) {
	err := u.service.DB.View(ctx, func(tx *store.Tx) error {
		p, err := store.SyncPeers.By("fingerprint").Get(tx, u.by.OrganizationID, fingerprint)
		if err == nil {
			u.peer = &p
		}
		return ignoreNotFound(err)
	})
	if err != nil || u.peer == nil {
		return nil, err
	}
	u.key, err = bundle.ParseKey(u.peer.Key)
	return u.key, err
}

// checkBundleAndFindMissingFiles returns an error if the bundle is out of date or doesn't fit the current state of the
// assessment here. It also determines which of the bundle's files are missing here.
func (u *bundleImporter) checkBundleAndFindMissingFiles(tx *store.Tx) error {
	org, m := u.by.OrganizationID, u.manifest
	u.out.AlreadyImported = false
	if err := requireTrustNotExpired(tx, u.peer); err != nil {
		return err
	}
	l, err := store.SyncLinks.Get(tx, org, m.AssessmentID)
	if u.isNew = errors.Is(err, store.ErrNotFound); err != nil && !u.isNew {
		return store.ToNotFound(err, "assessment", m.AssessmentID)
	}
	switch m.Role {
	case store.SyncRoleRemote:
		u.out.Role = store.SyncRoleClone
		err = u.checkBundleFromRemote(tx, &l)
	case store.SyncRoleClone:
		u.out.Role = store.SyncRoleRemote
		err = u.checkBundleFromClone(tx, &l)
	default:
		err = damagedFileError("unknown sender role %.20q", m.Role)
	}
	if err != nil || u.out.AlreadyImported {
		return err
	}
	for _, p := range m.Parts {
		if p.Kind != bundle.File {
			continue
		}
		found := false
		if !u.isNew {
			if found, err = hasFile(tx, org, m.AssessmentID, p.SHA256); err != nil {
				return err
			}
		}
		u.missingFiles[p.SHA256] = !found
	}
	return nil
}

// checkSerial returns an error if the bundle is older than the last one from the same sender.
func (u *bundleImporter) checkSerial(last *store.SyncSerials) error {
	switch m := u.manifest; {
	case m.Serial < 1:
		return damagedFileError("the bundle has no serial number")
	case m.Serial == last.Imported && u.sha256Hex == last.ImportedSum:
		u.out.AlreadyImported = true
		return nil
	case m.Serial == last.Imported:
		do := "on their side, " + cloneRestoredAdvice
		if m.Role == store.SyncRoleRemote {
			do = "create another clone in a new folder from a bundle written for that clone's key, and repeat the changes that the remote lost in the new clone"
		}
		return api.Conflict(
			"bundle %d from %s was already imported with different content: "+
				"either the sender's data was restored from a backup, or two copies of that data are in use; %s",
			m.Serial,
			u.peer.Name,
			do,
		)
	case m.Serial < last.Imported:
		return api.Conflict(
			"this is bundle %d from %s (%s), but bundle %d has already been imported; ask for a newer bundle",
			m.Serial,
			u.peer.Name,
			m.CreatedAt.Format("2006-01-02 15:04"),
			last.Imported,
		)
	}
	return nil
}

// checkBundleFromRemote returns an error if a bundle from a remote doesn't match the state of this clone.
func (u *bundleImporter) checkBundleFromRemote(tx *store.Tx, l *store.SyncLink) error {
	org, m := u.by.OrganizationID, u.manifest
	if u.isNew {
		exists, err := store.Assessments.Has(tx, org, m.AssessmentID)
		if err == nil && exists {
			err = api.Conflict("%s already exists here and is not a clone", m.Name)
		}
		return err
	}
	switch {
	case l.Role != store.SyncRoleClone:
		return api.Conflict("this copy is the assessment's remote; a bundle from another remote cannot be imported")
	case l.ReplicaID != m.ReplicaID:
		return api.Invalid("file", "the bundle was written for another clone of this assessment")
	case l.RemoteOrganization != "" && l.RemoteOrganization != u.key.Organization, l.RemoteOrganization == "" && l.PeerID != u.peer.ID:
		return api.Invalid("file", "%s is not this clone's remote", u.peer.Name)
	}
	if err := u.checkSerial(&l.SyncSerials); err != nil || u.out.AlreadyImported {
		return err
	}
	waiting, err := store.SyncBatches.Get(tx, org, m.AssessmentID)
	if ignoreNotFound(err) != nil {
		return err
	}
	sum := sha256.Sum256(waiting.Data)
	switch on := err == nil; {
	case on && m.Counter == waiting.Counter && m.BatchSHA256 != hex.EncodeToString(sum[:]):
		return api.Conflict(
			"the remote's batch %d from this clone differs from the changes pending here: "+
				"this folder was restored from a backup or is a copy of another folder; %s",
			m.Counter,
			cloneRestoredAdvice,
		)
	case on && m.Counter == waiting.Counter:
	case on && m.Counter < waiting.Counter:
		return api.Conflict(
			"the remote wrote this bundle before it received your pending changes; deliver your bundle, then import the one that the remote returns",
		)
	case m.Counter > l.Counter:
		return api.Conflict(
			"the remote has changes from this clone that are missing here, so this clone was restored from a backup; %s",
			cloneRestoredAdvice,
		)
	case m.Counter < l.Counter:
		return api.Conflict("the remote wrote this bundle before it received your latest changes; import the bundle that it wrote after that")
	}
	return nil
}

// checkBundleFromClone returns an error if a bundle from a clone doesn't match the state of this
// remote. It also sets u.sender and may set u.isNew.
func (u *bundleImporter) checkBundleFromClone(tx *store.Tx, l *store.SyncLink) error {
	org, m := u.by.OrganizationID, u.manifest
	as, ok, err := peerCaller(tx, u.by, u.peer, "sync:write")
	if err != nil {
		return err
	}
	if u.sender = as; u.isNew {
		exists, err := store.Assessments.Has(tx, org, m.AssessmentID)
		switch {
		case err != nil:
			return err
		case exists || !m.Publish:
			return api.NotFound("synced assessment", m.AssessmentID)
		case !ok:
			return api.Conflict(
				"the key belongs to %s, who is no longer a member with sync rights and cannot publish an assessment here",
				u.peer.UserName,
			)
		}
		return nil
	}
	if l.Role != store.SyncRoleRemote {
		return api.Conflict("this copy is also a clone; import the bundle on the remote (%s)", remoteAddressText(l))
	}
	rep, err := store.SyncReplicas.Get(tx, org, m.AssessmentID, m.ReplicaID)
	switch {
	case errors.Is(err, store.ErrNotFound) && m.Publish && ok:
		u.isNew = true // interrupted before the clone was registered
		return nil
	case err != nil:
		return store.ToNotFound(err, "clone", m.ReplicaID)
	case rep.UserID != u.peer.UserID:
		return api.Forbidden("the clone belongs to %s, but the signing key is trusted for %s", rep.UserName, u.peer.UserName)
	}
	if err := u.checkSerial(&rep.SyncSerials); err != nil || u.out.AlreadyImported {
		return err
	}
	return verifyHistory(tx, org, m.AssessmentID, m.Since, m.AnchorSequence, m.AnchorHash)
}

// readBundle reads the whole bundle. Files are stored; all other parts are held in memory.
func (u *bundleImporter) readBundle(ctx context.Context, r *bundle.Reader) error {
	k := u.service.newFileSaver()
	err := u.readParts(ctx, k, r)
	stored, failed := k.wait()
	u.files = append(u.files, stored...)
	return cmp.Or(err, failed)
}

func (u *bundleImporter) readParts(ctx context.Context, k *fileSaver, r *bundle.Reader) error {
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
			err = u.saveMissingFile(ctx, k, part, in)
		case u.out.AlreadyImported:
		default:
			var data []byte
			if data, err = io.ReadAll(in); err == nil {
				err = u.readPartIntoMemory(part.Kind, data)
			}
		}
		if err != nil {
			return err
		}
	}
}

// readPartIntoMemory reads a part of a bundle. It returns an error if a bundle with this role can't contain such a
// part, or if it can contain only one and another was already read.
func (u *bundleImporter) readPartIntoMemory(kind string, data []byte) error {
	switch {
	case kind == bundle.Changes && u.manifest.Role == store.SyncRoleRemote:
		u.changePages = append(u.changePages, data)
	case kind == bundle.Batch && u.manifest.Role == store.SyncRoleClone && u.batch == nil:
		u.batch = data
	case kind == bundle.Catalog && u.catalog == nil:
		u.catalog = data
	case kind == bundle.Custom && u.customCatalog == nil:
		u.customCatalog = data
	default:
		return damagedFileError("unexpected part %q in the bundle of a %s", kind, u.manifest.Role)
	}
	return nil
}

// saveMissingFile stores a file if it is missing here, and otherwise skips it.
func (u *bundleImporter) saveMissingFile(ctx context.Context, k *fileSaver, part bundle.Part, in io.Reader) error {
	if !u.missingFiles[part.SHA256] {
		return nil
	}
	u.missingFiles[part.SHA256] = false
	if u.dryRun {
		u.files = append(u.files, part.SHA256)
		return nil
	}
	return k.save(ctx, part.SHA256, part.Size, in)
}

// ensureCatalog imports the catalog in the bundle if it is missing here.
func (u *bundleImporter) ensureCatalog(ctx context.Context) error {
	var have *store.CatalogVersion
	own := false
	err := u.service.DB.View(ctx, func(tx *store.Tx) (err error) {
		if have, err = findCatalogVersion(tx, u.manifest.CatalogSHA256); err == nil {
			_, own, err = catalog.FindCustomRevision(tx, u.by.OrganizationID, u.manifest.CustomSHA256)
		}
		return err
	})
	if err != nil {
		return err
	}
	if have == nil {
		if err := u.importCatalog(ctx); err != nil {
			return err
		}
	}
	switch {
	case own:
		return nil
	case u.customCatalog == nil:
		return api.Conflict(
			"the assessment uses custom frameworks or controls that are missing here (content %.12s…): "+
				"ask for a bundle written with --include-catalog",
			u.manifest.CustomSHA256,
		)
	case u.dryRun:
		u.out.Notes = append(u.out.Notes, "the assessment's custom frameworks and controls would be imported")
		return nil
	}
	return u.service.Catalog.StoreReceivedCustom(ctx, u.by, u.customCatalog)
}

func (u *bundleImporter) importCatalog(ctx context.Context) error {
	if u.catalog == nil {
		return api.Conflict(
			"the assessment's catalog version %s is missing here (content %.12s…): "+
				"import that release, or ask for a bundle written with --include-catalog",
			u.manifest.CatalogLabel,
			u.manifest.CatalogSHA256,
		)
	}
	if u.dryRun {
		u.out.Notes = append(u.out.Notes, "the catalog version "+u.manifest.CatalogLabel+" would be imported")
		return nil
	}
	_, err := u.service.UploadCatalog(
		ctx,
		u.by,
		&api.UploadSyncCatalogInput{File: api.UploadFile{Filename: "catalog", Content: bytes.NewReader(u.catalog)}},
	)
	return err
}

// applyToClone applies a bundle from the remote to the clone.
func (u *bundleImporter) applyToClone(ctx context.Context) error {
	m, id := u.manifest, u.manifest.AssessmentID
	result, err := decodePushResult(m)
	if err != nil {
		return err
	}
	files := make([]*exchangeFile, len(u.changePages))
	for i, data := range u.changePages {
		if files[i], err = decodeFile(bytes.NewReader(data), kindChanges); err != nil {
			return err
		}
		if files[i].AssessmentID != id || files[i].ReplicaID != m.ReplicaID || files[i].CatalogSHA256 != m.CatalogSHA256 ||
			files[i].CustomSHA256 != m.CustomSHA256 {
			return damagedFileError("the changes belong to another assessment, clone or catalog")
		}
		u.changePages[i] = nil
	}
	if err := u.requireDecisionsPermitted(ctx, files); err != nil {
		return err
	}
	if err := u.ensureCatalog(ctx); err != nil {
		return err
	}
	if u.dryRun {
		for _, f := range files {
			u.out.Imported += len(f.lines)
		}
		return nil
	}
	if u.isNew {
		at := &api.AttachSyncInput{}
		at.Body.AssessmentID, at.Body.RemoteOrganization, at.Body.ReplicaID = id, u.key.Organization, m.ReplicaID
		at.Body.Account, at.Body.CatalogSHA256, at.Body.CustomSHA256 = m.Account, m.CatalogSHA256, m.CustomSHA256
		if _, err := u.service.linkAsClone(ctx, u.by, at, u.peer.ID); err != nil {
			return err
		}
	}
	if err := u.recordBatchReceived(ctx, result); err != nil {
		return err
	}
	if err := u.service.recordAndExpirePendingFiles(ctx, u.by, id, u.files...); err != nil {
		return err
	}
	for _, f := range files {
		out, err := u.service.applyRemoteFile(ctx, u.by, id, f, u.peer)
		if err != nil {
			return err
		}
		u.out.Imported += out.Imported
	}
	return u.recordImported(ctx)
}

// requireDecisionsPermitted returns an error if a remote's bundle contains decisions but its key isn't trusted to
// submit them. The other records can't be imported separately, because a clone has to match its remote.
func (u *bundleImporter) requireDecisionsPermitted(ctx context.Context, files []*exchangeFile) error {
	if u.peer.May == api.PeerMayApprove {
		return nil
	}
	var found []string
	err := u.service.DB.View(ctx, func(tx *store.Tx) error {
		for _, f := range files {
			for i := range f.lines {
				l := &f.lines[i]
				t := tableByName(l.Table)
				if t == nil || t.describeDecision(l.Record) == "" {
					continue
				}
				local, _, err := t.read(tx, u.by.OrganizationID, l.Key)
				if err != nil {
					return err
				}
				if d := t.describeDecision(l.Record); d != t.describeDecision(local) && !slices.Contains(found, d) {
					found = append(found, d)
				}
			}
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return err
	}
	return api.Conflict(
		"nothing was imported: the bundle contains decisions (%d: %s), but the key %q is allowed to send only changes; "+
			"if the key's owner is allowed to decide on this assessment, run `%s`, then import the bundle again",
		len(found), strings.Join(found[:min(3, len(found))], ", "), u.peer.Name, u.peer.TrustCommand(api.PeerMayApprove),
	)
}

// recordBatchReceived records that the remote has received the clone's last batch, and reports the result.
func (u *bundleImporter) recordBatchReceived(ctx context.Context, result *api.PushedSync) error {
	if u.manifest.Counter == 0 {
		return nil
	}
	waiting := false
	err := u.service.DB.View(ctx, func(tx *store.Tx) (err error) {
		waiting, err = store.SyncBatches.Has(tx, u.by.OrganizationID, u.manifest.AssessmentID)
		return err
	})
	if err != nil || !waiting {
		return err
	}
	in := &api.AcknowledgeSyncInput{AssessmentID: u.manifest.AssessmentID}
	in.Body.Counter = u.manifest.Counter
	if _, err := u.service.RecordBatchReceived(ctx, u.by, in); err != nil {
		return err
	}
	u.out.Applied, u.out.Conflicts, u.out.Notes = result.Applied, result.Conflicts, append(u.out.Notes, result.Notes...)
	return nil
}

// applyToRemote applies a bundle from a clone to the remote.
func (u *bundleImporter) applyToRemote(ctx context.Context) error {
	m, id := u.manifest, u.manifest.AssessmentID
	if u.batch != nil || u.isNew {
		if err := u.ensureCatalog(ctx); err != nil {
			return err
		}
	}
	if u.isNew {
		if u.dryRun {
			u.out.Notes = append(u.out.Notes, m.Name+" would be created here")
			return nil
		}
		in := &api.JoinSyncInput{}
		in.Body.AssessmentID, in.Body.ReplicaID, in.Body.Name, in.Body.Publish = id, m.ReplicaID, m.Machine, true
		if _, err := u.service.join(ctx, u.sender, in, u.peer.ID); err != nil {
			return err
		}
	}
	if !u.dryRun {
		if err := u.service.recordAndExpirePendingFiles(ctx, u.by, id, u.files...); err != nil {
			return err
		}
	}
	if u.batch != nil {
		f, err := decodeFile(bytes.NewReader(u.batch), kindBatch)
		if err != nil {
			return err
		}
		if f.AssessmentID != id || f.ReplicaID != m.ReplicaID || f.Counter != m.Counter {
			return damagedFileError("the changes belong to another assessment or clone")
		}
		in := &api.PushSyncInput{AssessmentID: id, File: api.UploadFile{Filename: "batch", Content: bytes.NewReader(u.batch)}}
		if u.dryRun {
			in.DryRun = "true"
		}
		out, err := u.service.Push(ctx, u.sender, in)
		if err != nil {
			return err
		}
		u.out.Applied, u.out.Conflicts, u.out.Notes = out.Applied, out.Conflicts, append(u.out.Notes, out.Notes...)
	}
	if u.dryRun {
		return nil
	}
	return u.recordImported(ctx)
}

// recordImported records that the bundle was imported completely.
func (u *bundleImporter) recordImported(ctx context.Context) error {
	org, m := u.by.OrganizationID, u.manifest
	return u.service.DB.Update(ctx, func(tx *store.Tx) error {
		if m.Role == store.SyncRoleRemote {
			l, err := linkWithRole(tx, org, m.AssessmentID, store.SyncRoleClone)
			if err != nil {
				return err
			}
			if l.Imported >= m.Serial {
				return nil // a concurrent import recorded it first
			}
			l.Imported, l.ImportedSum, l.PeerID = m.Serial, u.sha256Hex, u.peer.ID
			return errors.Join(store.SyncLinks.Put(tx, org, &l), u.recordImportInAudit(tx))
		}
		rep, err := store.SyncReplicas.Get(tx, org, m.AssessmentID, m.ReplicaID)
		if err != nil {
			return err
		}
		if rep.Imported >= m.Serial {
			return nil
		}
		rep.Imported, rep.ImportedSum, rep.PeerID, rep.Since, rep.SeenAt = m.Serial, u.sha256Hex, u.peer.ID, m.Since, tx.Now()
		return errors.Join(store.SyncReplicas.Put(tx, org, &rep), pruneReadDeletions(tx, org, m.AssessmentID), u.recordImportInAudit(tx))
	})
}

func (u *bundleImporter) recordImportInAudit(tx *store.Tx) error {
	m := u.manifest
	return audit.Append(tx, u.by, audit.Entry{
		Action: "sync.bundle_imported", ResourceType: "sync_peer", ResourceID: u.peer.ID,
		Changes: map[string]any{
			"assessment_id": m.AssessmentID,
			"serial":        m.Serial,
			"counter":       m.Counter,
			"sha256":        u.sha256Hex,
			"fingerprint":   u.peer.Fingerprint,
			"name":          u.peer.Name,
			"may":           u.peer.May,
			"user_id":       u.peer.UserID,
		},
	})
}

// verifyHistory returns an error if the clone has read changes that are not part of this remote's
// history.
func verifyHistory(tx *store.Tx, org, assessmentID string, since int64, anchorSequence uint64, anchorHash string) error {
	head, err := tx.LastSyncSequence(org, assessmentID)
	if err != nil {
		return err
	}
	if since < 0 || since > head {
		return historyMismatchError()
	}
	if anchorHash == "" {
		return nil
	}
	if anchorSequence > math.MaxInt64 {
		return historyMismatchError()
	}
	rec, err := store.Audit.Get(tx, org, int64(anchorSequence))
	if ignoreNotFound(err) != nil {
		return err
	}
	if rec.Hash != anchorHash {
		return historyMismatchError()
	}
	return nil
}
