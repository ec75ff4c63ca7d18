package sync_test

import (
	"bytes"
	"context"
	"io"

	"github.com/scf-service/service/api"
)

// key is a site's public key for bundles.
func (s *site) key() string {
	k, err := s.sy.GetOrCreateKey(context.Background(), s.local, &api.CreateSyncKeyInput{})
	must(s.t, err)
	return k.Key
}

// trust has a site trust a key, by as whom.
func (s *site) trust(by api.Caller, key, name string) *api.SyncPeer {
	in := &api.TrustSyncPeerInput{}
	in.Body.Key, in.Body.Name = key, name
	p, err := s.sy.TrustPeer(context.Background(), by, in)
	must(s.t, err)
	return p
}

// acquaint has the home and a clone trust each other's keys, the clone's as its person.
func (s *site) acquaint() (atHome *api.SyncPeer) {
	h := s.world.home
	s.trust(s.local, h.key(), "home")
	return h.trust(s.there, s.key(), s.name)
}

// write writes a bundle for a peer; for the only one where there is no name.
func (s *site) write(peer *api.SyncPeer) ([]byte, error) {
	in := &api.WriteSyncBundleInput{AssessmentID: assessmentID}
	if peer != nil {
		in.Body.PeerID = peer.ID
	}
	f, err := s.sy.WriteBundle(context.Background(), s.local, in)
	if err != nil {
		return nil, err
	}
	defer f.Content.Close()
	return io.ReadAll(f.Content)
}

func (s *site) takeBundle(data []byte) (*api.ImportedSyncBundle, error) {
	return s.sy.ImportBundle(
		context.Background(),
		s.local,
		&api.ImportSyncBundleInput{File: api.UploadFile{Filename: "b", Content: bytes.NewReader(data)}},
	)
}

// carried is a bundle that may come again, or late.
type carried struct {
	to   *site
	data []byte
}

// bundled is an exchange by bundles, which may be lost, cut, or come twice or late.
func (r *run) bundled(s *site) {
	h := r.home
	lost := func() bool { return r.rng.IntN(6) == 0 }
	late := func() {
		if len(r.bundles) > 0 && r.rng.IntN(3) == 0 {
			old := r.bundles[r.rng.IntN(len(r.bundles))]
			_, _ = old.to.takeBundle(old.data)
		}
	}
	if r.peers == nil {
		r.peers = map[*site]*api.SyncPeer{}
	}
	if r.peers[s] == nil {
		r.peers[s] = s.acquaint()
	}
	there, err := s.write(nil)
	must(r.t, err)
	r.bundles = append(r.bundles, carried{h, there})
	if lost() {
		return
	}
	if late(); r.rng.IntN(4) == 0 {
		if _, err := h.takeBundle(there[:r.rng.IntN(len(there))]); err == nil {
			r.t.Fatal("a cut bundle was taken")
		}
	}
	if _, err := h.takeBundle(there); err != nil {
		r.t.Fatalf("%s: a bundle was not taken: %v", s.name, err)
	}
	r.did["bundle"]++
	if r.rng.IntN(3) == 0 {
		r.work(s)
	}
	if r.rng.IntN(3) == 0 {
		r.work(h)
	}
	if r.rng.IntN(8) == 0 {
		h.open()
	}
	late()
	back, err := h.write(r.peers[s])
	must(r.t, err)
	r.bundles = append(r.bundles, carried{s, back})
	if lost() {
		return
	}
	if late(); r.rng.IntN(4) == 0 {
		if _, err := s.takeBundle(back[:r.rng.IntN(len(back))]); err == nil {
			r.t.Fatal("a cut bundle was taken")
		}
	}
	if _, err := s.takeBundle(back); err != nil && !api.IsCode(err, api.CodeInvalidState) { // an older one came in between
		r.t.Fatalf("%s: an answer was not taken: %v", s.name, err)
	}
	r.did["answer"]++
	if r.rng.IntN(4) == 0 {
		_, err := s.takeBundle(back)
		if err != nil && !api.IsCode(err, api.CodeInvalidState) {
			r.t.Fatalf("%s: the same again: %v", s.name, err)
		}
	}
}
