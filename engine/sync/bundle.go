package sync

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/sync/bundle"
	"github.com/scf-service/service/store"
)

// A bundle contains in one file what clones and remotes otherwise exchange over the network. A
// clone's bundle holds its batch and how far it has read; a remote's holds the changes the clone
// lacks and the last batch it applied.

// bundleBudget limits the changes in one bundle, because a batch is read as one file of at most
// maxDecodedBytes.
var bundleBudget = fileBudget{lines: maxDecodedBytes / 2, documents: maxDocuments, files: bundle.MaxBytes - bundle.MaxMemoryBytes}

// bundleWriter collects the content of a bundle.
type bundleWriter struct {
	manifest bundle.Manifest
	// memoryParts holds the parts kept in memory, in the order of the manifest; the files come after them.
	memoryParts [][]byte
}

func (p *bundleWriter) addPart(kind string, data []byte) {
	p.manifest.AddPart(kind, data)
	p.memoryParts = append(p.memoryParts, data)
}

// WriteBundle returns a file that contains all the data that another installation isn't known to have.
func (s *Service) WriteBundle(ctx context.Context, by api.Caller, in *api.WriteSyncBundleInput) (*api.File, error) {
	for _, right := range []api.Permission{"assessment:read", "document:read"} {
		if err := by.Require(right); err != nil {
			return nil, err
		}
	}
	ownKey, err := s.loadSecretKey(ctx, by)
	if err != nil {
		return nil, err
	}
	peer, to, err := s.findBundleRecipient(ctx, by, in)
	if err != nil {
		return nil, err
	}
	st, err := s.Status(ctx, by, &api.SyncInput{AssessmentID: in.AssessmentID})
	if err != nil {
		return nil, err
	}
	if in.Body.Publish {
		if st, err = s.linkAsCloneOfPeer(ctx, by, peer, to, st); err != nil {
			return nil, err
		}
	}
	p := &bundleWriter{
		manifest: bundle.Manifest{
			CreatedAt:     s.Clock().UTC(),
			AssessmentID:  in.AssessmentID,
			CatalogSHA256: st.CatalogSHA256,
			CatalogLabel:  st.CatalogLabel,
			CustomSHA256:  st.CustomSHA256,
			Machine:       in.Body.Machine,
			Publish:       in.Body.Publish,
		},
	}
	var files []string
	if st.Role == store.SyncRoleClone {
		files, err = s.addBatchToBundle(ctx, by, p, st)
	} else {
		files, err = s.addChangesAndRegisterClone(ctx, by, p, peer, in)
	}
	if err != nil {
		return nil, err
	}
	if in.Body.IncludeCatalog {
		if err := s.addCatalogToBundle(ctx, by, p); err != nil {
			return nil, err
		}
	}
	if err := s.verifyFiles(ctx, by.OrganizationID, in.AssessmentID, files); err != nil {
		return nil, err
	}
	if err := s.addFileParts(ctx, p, files); err != nil {
		return nil, err
	}
	if err := s.assignSerial(ctx, by, p, peer); err != nil {
		return nil, err
	}
	name := strings.ToLower(p.manifest.Role) + "-" + in.AssessmentID + ".bundle"
	return api.StreamFile(ctx, name, "application/octet-stream", func(ctx context.Context, w io.Writer) error {
		return bundle.Write(w, ownKey, to, &p.manifest, func(n int, part bundle.Part) (io.ReadCloser, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if n < len(p.memoryParts) {
				return io.NopCloser(bytes.NewReader(p.memoryParts[n])), nil
			}
			f, _, err := s.DB.Blobs().Open(ctx, part.SHA256)
			return f, err
		})
	}), nil
}

// findBundleRecipient returns the peer for whom to write the bundle: the one named in the input, or the
// recipient of the last bundle, or the only trusted peer.
func (s *Service) findBundleRecipient(
	ctx context.Context,
	by api.Caller,
	in *api.WriteSyncBundleInput,
) (peer *api.SyncPeer, key *bundle.Key, _ error) {
	var p api.SyncPeer
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		org, id := by.OrganizationID, in.Body.PeerID
		if id == "" {
			l, err := store.SyncLinks.Get(tx, org, in.AssessmentID)
			if ignoreNotFound(err) != nil {
				return store.ToNotFound(err, "assessment", in.AssessmentID)
			}
			id = l.PeerID
		}
		if id != "" {
			if p, err = store.SyncPeers.Get(tx, org, id); err != nil {
				return store.ToNotFound(err, "peer", id)
			}
			return requireTrustNotExpired(tx, &p)
		}
		n := 0
		for one, err := range store.SyncPeers.Scan(tx, org) {
			if err != nil {
				return err
			}
			p = one
			n++
		}
		switch n {
		case 1:
			return requireTrustNotExpired(tx, &p)
		case 0:
			return api.Conflict(
				"no keys are trusted yet; get the other side's key, verify its fingerprint with them, then run `service sync trust`",
			)
		}
		return api.Invalid("peer_id", "%d keys are trusted here; specify the recipient of the bundle", n)
	})
	if err != nil {
		return nil, nil, err
	}
	k, err := bundle.ParseKey(p.Key)
	return &p, k, err
}

// linkAsCloneOfPeer turns an assessment created here into a clone. The copy that the peer receives becomes the clone's
// remote.
func (s *Service) linkAsCloneOfPeer(
	ctx context.Context,
	by api.Caller,
	peer *api.SyncPeer,
	to *bundle.Key,
	st *api.SyncStatus,
) (*api.SyncStatus, error) {
	if st.Role != "none" {
		if st.Role == store.SyncRoleClone {
			return st, nil // already a clone: write the bundle again
		}
		return nil, api.Conflict("the assessment has clones of its own, so it cannot become a clone")
	}
	in := &api.AttachSyncInput{}
	if err := s.DB.View(ctx, func(tx *store.Tx) error { in.Body.ReplicaID = tx.NewID(); return nil }); err != nil {
		return nil, err
	}
	in.Body.AssessmentID, in.Body.RemoteOrganization = st.AssessmentID, to.Organization
	in.Body.CatalogSHA256, in.Body.CustomSHA256 = st.CatalogSHA256, st.CustomSHA256
	return s.linkAsClone(ctx, by, in, peer.ID)
}

// addBatchToBundle adds the clone's unsent changes to the bundle.
func (s *Service) addBatchToBundle(ctx context.Context, by api.Caller, p *bundleWriter, st *api.SyncStatus) ([]string, error) {
	b, err := s.prepareBatch(ctx, by, st.AssessmentID, false, bundleBudget)
	if err != nil {
		return nil, err
	}
	m := &p.manifest
	m.Role, m.ReplicaID, m.Account = store.SyncRoleClone, st.ReplicaID, st.Account
	// The clone reads nothing while a batch is pending, so its position is still valid.
	m.Since, m.AnchorSequence, m.AnchorHash = st.Since, st.AnchorSequence, st.AnchorHash
	if b.ChangeCount > 0 {
		m.Counter, m.More = b.Counter, b.More
		p.addPart(bundle.Batch, b.Data)
	}
	return b.Files, s.DB.View(ctx, func(tx *store.Tx) error {
		a, err := store.Assessments.Get(tx, by.OrganizationID, st.AssessmentID)
		m.Name = a.Name
		return ignoreNotFound(err)
	})
}

// addChangesAndRegisterClone adds the changes that the peer's clone doesn't have yet. If the peer has
// no clone, it registers one first.
func (s *Service) addChangesAndRegisterClone(
	ctx context.Context,
	by api.Caller,
	p *bundleWriter,
	peer *api.SyncPeer,
	in *api.WriteSyncBundleInput,
) ([]string, error) {
	id, org := in.AssessmentID, by.OrganizationID
	var as api.Caller
	var rep store.SyncReplica
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		ok := false
		var err error
		if as, ok, err = peerCaller(tx, by, peer, "document:read"); err != nil {
			return err
		}
		if !ok {
			return api.Conflict(
				"no bundle was written: the key belongs to %s, who is not a member with read access to the assessment",
				peer.UserName,
			)
		}
		rep, err = peerReplica(tx, org, id, peer)
		return err
	})
	if err != nil {
		return nil, err
	}
	join := &api.JoinSyncInput{}
	join.Body.AssessmentID, join.Body.ReplicaID, join.Body.Name = id, rep.ID, cmp.Or(rep.Name, peer.Name)
	joined, err := s.join(ctx, as, join, peer.ID)
	if err != nil {
		return nil, err
	}
	if rep.ID == "" {
		rep.ID = joined.ReplicaID
	}
	m := &p.manifest
	m.Role, m.ReplicaID, m.Name, m.Account = store.SyncRoleRemote, rep.ID, joined.Name, joined.Account
	m.Counter, m.Answer, m.BatchSHA256 = rep.Counter, rep.LastResult, rep.LastSum
	var files []string
	left := fileBudget{lines: math.MaxInt, documents: math.MaxInt, files: bundleBudget.files}
	count := 0
	ask := &api.ChangesSyncInput{AssessmentID: id, ReplicaID: rep.ID, Since: int(rep.Since)}
	for m.More = true; m.More; {
		left.lines = pageSize
		var page *api.SyncBatch
		err := s.DB.View(ctx, func(tx *store.Tx) error {
			f, err := readChanges(tx, as, ask, &left)
			if err == nil {
				page, err = f.encodeSyncBatch()
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if count += len(page.Data); page.More && page.ChangeCount == 0 || count > bundle.MaxMemoryBytes/2 {
			break // the rest goes into the next bundle
		}
		p.addPart(bundle.Changes, page.Data)
		files = append(files, page.Files...)
		ask.Since, m.More = int(page.Next), page.More
	}
	return files, nil
}

// peerReplica returns the clone that belongs to the peer, or a zero SyncReplica if there is none.
func peerReplica(tx *store.Tx, org, id string, peer *api.SyncPeer) (store.SyncReplica, error) {
	for r, err := range store.SyncReplicas.Scan(tx, org, store.Prefix(id)) {
		if err != nil || r.PeerID == peer.ID && r.UserID == peer.UserID {
			return r, err
		}
	}
	return store.SyncReplica{}, nil
}

// addCatalogToBundle adds the content of the catalog version and of the custom frameworks and controls to the
// bundle.
func (s *Service) addCatalogToBundle(ctx context.Context, by api.Caller, p *bundleWriter) error {
	f, size, err := s.DB.Blobs().Open(ctx, p.manifest.CatalogSHA256)
	if err != nil {
		return err
	}
	defer f.Close()
	if size > bundle.MaxMemoryBytes/2 {
		return api.Conflict(
			"the catalog version exceeds %d MiB and does not fit into a bundle; import the release on the other side",
			bundle.MaxMemoryBytes>>21,
		)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	p.addPart(bundle.Catalog, data)
	if p.manifest.CustomSHA256 == "" {
		return nil
	}
	if data, err = s.readCustomContent(ctx, by, p.manifest.AssessmentID); err == nil {
		p.addPart(bundle.Custom, data)
	}
	return err
}

// addFileParts adds the files of documents to the manifest.
func (s *Service) addFileParts(ctx context.Context, p *bundleWriter, files []string) error {
	seen := map[string]bool{}
	for _, sha := range files {
		if seen[sha] {
			continue
		}
		seen[sha] = true
		size, err := s.DB.Blobs().Size(ctx, sha) // the content is verified when the bundle is written
		if err != nil {
			return err
		}
		p.manifest.Parts = append(p.manifest.Parts, bundle.Part{Kind: bundle.File, SHA256: sha, Size: size})
	}
	return nil
}

// assignSerial assigns the next serial number to the bundle and records it.
func (s *Service) assignSerial(ctx context.Context, by api.Caller, p *bundleWriter, peer *api.SyncPeer) error {
	org, m := by.OrganizationID, &p.manifest
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		l, err := syncLink(tx, org, m.AssessmentID)
		if err != nil {
			return err
		}
		if m.Role == store.SyncRoleClone {
			l.Written++
			m.Serial = l.Written
			l.PeerID = peer.ID
			err = store.SyncLinks.Put(tx, org, &l)
		} else {
			var rep store.SyncReplica
			if rep, err = store.SyncReplicas.Get(tx, org, m.AssessmentID, m.ReplicaID); err != nil {
				return err
			}
			rep.Written++
			m.Serial = rep.Written
			err = store.SyncReplicas.Put(tx, org, &rep)
		}
		return errors.Join(err, audit.Append(tx, by, audit.Entry{
			Action: "sync.bundle_written", ResourceType: "sync_peer", ResourceID: peer.ID,
			Changes: map[string]any{
				"assessment_id": m.AssessmentID,
				"serial":        m.Serial,
				"counter":       m.Counter,
				"parts":         len(m.Parts),
				"fingerprint":   peer.Fingerprint,
			},
		}))
	})
}

// decodePushResult returns the remote's result for the clone's last batch.
func decodePushResult(m *bundle.Manifest) (*api.PushedSync, error) {
	out := &api.PushedSync{Notes: []string{}}
	if len(m.Answer) == 0 {
		return out, nil
	}
	if err := json.Unmarshal(m.Answer, out); err != nil {
		return nil, damagedFileError("the result cannot be decoded: %v", err)
	}
	return out, nil
}
