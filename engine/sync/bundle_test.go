package sync_test

import (
	"bytes"
	"context"
	"io"

	"github.com/scf-service/service/api"
)

// key returns the site's public key for bundles.
func (s *site) key() string {
	k, err := s.sy.GetOrCreateKey(context.Background(), s.localCaller, &api.CreateSyncKeyInput{})
	must(s.t, err)
	return k.Key
}

// trustKey makes the site trust a key on behalf of by.
func (s *site) trustKey(by api.Caller, key, name string) *api.SyncPeer {
	in := &api.TrustSyncPeerInput{}
	in.Body.Key, in.Body.Name, in.Body.May = key, name, api.PeerMayApprove
	if !by.May(api.ApprovalDecide) {
		in.Body.May = api.PeerMayChanges
	}
	p, err := s.sy.TrustPeer(context.Background(), by, in)
	must(s.t, err)
	return p
}

// exchangeKeys makes the remote and the clone trust each other's keys, the clone's key on behalf of
// its user. It returns the clone as a peer of the remote.
func (s *site) exchangeKeys() (peer *api.SyncPeer) {
	h := s.world.remote
	s.trustKey(s.localCaller, h.key(), "home")
	return h.trustKey(s.remoteCaller, s.key(), s.name)
}

// writeBundle writes a bundle for a peer, or for the only one if peer is nil.
func (s *site) writeBundle(peer *api.SyncPeer) ([]byte, error) {
	in := &api.WriteSyncBundleInput{AssessmentID: assessmentID}
	if peer != nil {
		in.Body.PeerID = peer.ID
	}
	f, err := s.sy.WriteBundle(context.Background(), s.localCaller, in)
	if err != nil {
		return nil, err
	}
	defer f.Content.Close()
	return io.ReadAll(f.Content)
}

func (s *site) importBundle(data []byte) (*api.ImportedSyncBundle, error) {
	return s.sy.ImportBundle(
		context.Background(),
		s.localCaller,
		&api.ImportSyncBundleInput{File: api.UploadFile{Filename: "b", Content: bytes.NewReader(data)}},
	)
}

// sentBundle is a bundle that may be delivered again or late.
type sentBundle struct {
	to   *site
	data []byte
}

// exchangeBundles syncs by bundles, which may be lost, truncated, duplicated or delayed.
func (r *run) exchangeBundles(s *site) {
	h := r.remote
	lost := func() bool { return r.rng.IntN(6) == 0 }
	deliverOld := func() {
		if len(r.bundles) > 0 && r.rng.IntN(3) == 0 {
			old := r.bundles[r.rng.IntN(len(r.bundles))]
			_, _ = old.to.importBundle(old.data)
		}
	}
	if r.peers == nil {
		r.peers = map[*site]*api.SyncPeer{}
	}
	if r.peers[s] == nil {
		r.peers[s] = s.exchangeKeys()
	}
	outgoing, err := s.writeBundle(nil)
	must(r.t, err)
	r.bundles = append(r.bundles, sentBundle{h, outgoing})
	if lost() {
		return
	}
	if deliverOld(); r.rng.IntN(4) == 0 {
		if _, err := h.importBundle(outgoing[:r.rng.IntN(len(outgoing))]); err == nil {
			r.t.Fatal("a cut bundle was taken")
		}
	}
	if _, err := h.importBundle(outgoing); err != nil {
		r.t.Fatalf("%s: a bundle was not taken: %v", s.name, err)
	}
	r.did["bundle"]++
	if r.rng.IntN(3) == 0 {
		r.performAction(s)
	}
	if r.rng.IntN(3) == 0 {
		r.performAction(h)
	}
	if r.rng.IntN(8) == 0 {
		h.reopen()
	}
	deliverOld()
	back, err := h.writeBundle(r.peers[s])
	must(r.t, err)
	r.bundles = append(r.bundles, sentBundle{s, back})
	if lost() {
		return
	}
	if deliverOld(); r.rng.IntN(4) == 0 {
		if _, err := s.importBundle(back[:r.rng.IntN(len(back))]); err == nil {
			r.t.Fatal("a cut bundle was taken")
		}
	}
	if _, err := s.importBundle(back); err != nil && !api.IsCode(err, api.CodeInvalidState) { // an older one came in between
		r.t.Fatalf("%s: an answer was not taken: %v", s.name, err)
	}
	r.did["answer"]++
	if r.rng.IntN(4) == 0 {
		_, err := s.importBundle(back)
		if err != nil && !api.IsCode(err, api.CodeInvalidState) {
			r.t.Fatalf("%s: the same again: %v", s.name, err)
		}
	}
}
