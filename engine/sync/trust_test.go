package sync_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// trustFor makes the site trust a key for may on behalf of by.
func (s *site) trustFor(by api.Caller, key, name, may string) (*api.SyncPeer, error) {
	in := &api.TrustSyncPeerInput{}
	in.Body.Key, in.Body.Name, in.Body.May = key, name, may
	return s.sy.TrustPeer(context.Background(), by, in)
}

// submitAndApprove submits and approves the latest Statement of Applicability at a site.
func (s *site) submitAndApprove() {
	s.t.Helper()
	ctx, r := context.Background(), &run{world: s.world}
	v, _ := r.latestSoA(s)
	_, err := s.as.SubmitSoA(ctx, s.localCaller, &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: v.ID}})
	must(s.t, err)
	v, _ = r.latestSoA(s)
	_, err = s.as.Approve(ctx, s.localCaller, &api.ApproveInput{ApprovalInput: api.ApprovalInput{ApprovalID: *v.ApprovalID}})
	must(s.t, err)
}

// approvals returns the approvals of the assessment at a site.
func (s *site) approvals() []api.Approval {
	in := &api.ApprovalsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessmentID}}
	l, err := s.as.ListApprovals(context.Background(), s.localCaller, in)
	must(s.t, err)
	return l.Data
}

// auditTrail returns the audit records of a site as text.
func (s *site) auditTrail() string {
	var b strings.Builder
	must(s.t, s.db.View(context.Background(), func(tx *store.Tx) error {
		for rec, err := range store.Audit.Scan(tx, s.org) {
			if err != nil {
				return err
			}
			line, err := json.Marshal(rec)
			if err != nil {
				return err
			}
			b.Write(append(line, '\n'))
		}
		return nil
	}))
	return b.String()
}

// wantRefusal fails unless err is a rejection that contains all the given words.
func wantRefusal(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || api.IsCode(err, api.CodeInternal) || !strings.Contains(err.Error(), word) {
			t.Errorf("it is %v, not a refusal with %q", err, word)
		}
	}
}

// TestKeyDecidesOnlyIfPermitted checks that, by default, a clone's key may only submit changes: the decisions in its
// bundle remain pending at the remote, and the result names the key. A key that may decide is named on the approval,
// at the remote and at the clone.
func TestKeyDecidesOnlyIfPermitted(t *testing.T) {
	for _, may := range []string{"", api.PeerMayApprove} {
		t.Run("may "+may, func(t *testing.T) {
			w := newWorld(t, 21, 2)
			s, h := w.sites[1], w.remote // the clone of an admin
			s.sync()
			s.trustKey(s.localCaller, h.key(), "home")
			peer, err := h.trustFor(h.localCaller, s.key(), "on-site", may)
			must(t, err)
			if peer.UserID != h.localCaller.UserID {
				t.Fatalf("a key acts as %s", peer.UserID)
			}
			in := &api.TrustSyncPeerInput{}
			in.Body.Key, in.Body.Email, in.Body.May = s.key(), "u2@acme.example", may
			if peer, err = h.sy.TrustPeer(context.Background(), h.localCaller, in); err != nil || peer.Name != "on-site" {
				t.Fatalf("trusted again it is %+v, %v", peer, err)
			}
			s.setNote("offline")
			s.submitAndApprove()
			data, err := s.writeBundle(nil)
			must(t, err)
			out, err := h.importBundle(data)
			must(t, err)
			if h.note() != "offline" || len(h.approvals()) != 1 {
				t.Fatalf("the note is %q, the approvals are %+v", h.note(), h.approvals())
			}
			got, notes := h.approvals()[0], strings.Join(out.Notes, "\n")
			if may == "" {
				if got.Status != api.ApprovalPending || got.DecidedBy != nil || got.BundleKey != nil {
					t.Errorf("it is decided: %+v", got)
				}
				if !strings.Contains(notes, `the key "on-site" is trusted for changes but not for decisions`) ||
					!strings.Contains(notes, "service sync trust "+peer.Fingerprint+" --may approve") {
					t.Errorf("the result says %q", notes)
				}
				c := w.conflicts()
				if len(c) != 1 || c[0].Kind != api.ConflictApproval || c[0].Clone.By != "person u2" || c[0].BundleKey.Name != "on-site" {
					t.Errorf("the decision is recorded as %+v", c)
				}
				h.submitAndApproveAs(h.localCaller, &got) // nothing is lost: a person here can decide
				return
			}
			if got.Status != api.ApprovalApproved || got.DecidedBy.ID != "u2" || got.BundleKey == nil || len(w.conflicts()) > 0 {
				t.Fatalf("it is %+v, with %q", got, notes)
			}
			if want := "person u2 (bundle key on-site)"; got.Decider() != want || !strings.Contains(h.dumpRecords(), want) {
				t.Errorf("the decider is %q", got.Decider())
			}
			if !strings.Contains(h.auditTrail(), `"bundle_key":{"fingerprint":"`+peer.Fingerprint+`","name":"on-site"}`) {
				t.Error("the audit trail does not name the key")
			}
			// Back at the clone, the remote's key is named as well, and both sides are equal.
			back, err := h.writeBundle(peer)
			must(t, err)
			_, err = s.importBundle(back)
			must(t, err)
			if got := s.approvals()[0]; got.BundleKey == nil || got.BundleKey.Name != "on-site" {
				t.Errorf("the clone has %+v", got)
			}
			s.sync()
			if got, want := s.dumpRecords(), h.dumpRecords(); got != want {
				t.Errorf("they differ:\n%s", difference(want, got))
			}
		})
	}
}

func (s *site) submitAndApproveAs(by api.Caller, p *api.Approval) {
	s.t.Helper()
	out, err := s.as.Approve(context.Background(), by, &api.ApproveInput{ApprovalInput: api.ApprovalInput{ApprovalID: p.ID}})
	must(s.t, err)
	if out.BundleKey != nil {
		s.t.Errorf("a decision made here names a key: %+v", out)
	}
}

// TestDecisionsOfRemoteNeedPermission checks that a clone rejects a remote's whole bundle if its key may only submit
// changes and the bundle contains a decision, even if only a version's status claims it. Otherwise, any trusted key
// could send an assessment that another user seems to have approved.
func TestDecisionsOfRemoteNeedPermission(t *testing.T) {
	for name, approve := range map[string]func(h *site){
		"an approval": func(h *site) { h.submitAndApprove() },
		"a version that says approved": func(h *site) {
			v, _ := (&run{world: h.world}).latestSoA(h)
			who := "person u0"
			v.Status, v.ApprovedBy = api.VersionApproved, &who
			must(h.t, h.db.Update(context.Background(), func(tx *store.Tx) error { return store.SoAVersions.Put(tx, h.org, &v) }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 22, 1)
			s, h := w.sites[0], w.remote
			s.sync()
			peer := h.trustKey(s.remoteCaller, s.key(), "on-site")
			home, err := s.trustFor(s.localCaller, h.key(), "home", "")
			must(t, err)
			first, err := s.writeBundle(nil)
			must(t, err)
			_, err = h.importBundle(first)
			must(t, err)
			h.setNote("at the home")
			data, err := h.writeBundle(peer)
			must(t, err)
			_, err = s.importBundle(data)
			must(t, err)
			approve(h)
			if data, err = h.writeBundle(peer); err != nil {
				t.Fatal(err)
			}
			before := s.dumpRecords()
			_, err = s.importBundle(data)
			wantRefusal(t, err, "nothing was imported", "soa version 1 approved by person u0", `"home" is allowed to send only changes`,
				home.Fingerprint)
			if s.dumpRecords() != before {
				t.Error("the clone has changed")
			}
			_, err = s.trustFor(s.localCaller, h.key(), "", api.PeerMayApprove)
			must(t, err)
			_, err = s.importBundle(data)
			must(t, err)
			for _, p := range s.approvals() {
				if p.RemoteKey == nil || p.RemoteKey.Name != "home" {
					t.Errorf("the approval does not name the key: %+v", p)
				}
			}
			if got, want := s.dumpRecords(), h.dumpRecords(); got != want {
				t.Errorf("they differ:\n%s", difference(want, got))
			}
		})
	}
}

// TestKeyExpires checks that a key is rejected 90 days after it was trusted, whenever its bundle was made and even if
// the clock is set back, and that trusting it again renews it without its right to decide.
func TestKeyExpires(t *testing.T) {
	w := newWorld(t, 23, 2)
	s, h := w.sites[1], w.remote
	s.sync()
	peer := s.exchangeKeys()
	s.setNote("offline")
	data, err := s.writeBundle(nil)
	must(t, err)
	w.now = w.now.AddDate(0, 0, api.PeerTrustDays).Add(-time.Second)
	_, err = h.importBundle(data)
	must(t, err)
	back, err := h.writeBundle(peer)
	must(t, err)
	_, err = s.importBundle(back)
	must(t, err)
	s.setNote("later")
	made, err := s.writeBundle(nil)
	must(t, err)
	w.now = w.now.Add(time.Second)
	refused := func() {
		t.Helper()
		_, err := h.importBundle(made)
		wantRefusal(t, err, `the trusted key "clone2"`, "expired on 2027-02-18", "service sync trust "+peer.Fingerprint+" --may approve")
		if _, err = h.writeBundle(peer); !api.IsCode(err, api.CodeInvalidState) {
			t.Errorf("a bundle was written for an expired key: %v", err)
		}
	}
	refused()
	must(t, h.db.Update(context.Background(), func(tx *store.Tx) error {
		return audit.Append(tx, h.localCaller, audit.Entry{Action: "session.started"})
	}))
	h.skew = -60 * 24 * time.Hour
	refused()
	h.skew = 0
	again, err := h.trustFor(s.remoteCaller, s.key(), "renamed", "")
	must(t, err)
	if again.ID != peer.ID || again.May != api.PeerMayChanges || again.ExpiresAt.Before(w.now.AddDate(0, 0, api.PeerTrustDays)) {
		t.Errorf("renewed it is %+v", again)
	}
	_, err = h.importBundle(made)
	must(t, err)
	if h.note() != "later" {
		t.Errorf("the note is %q", h.note())
	}
	// A key that was trusted by a version without expiry dates is rejected.
	must(t, h.db.Update(context.Background(), func(tx *store.Tx) error {
		p, err := store.SyncPeers.Get(tx, h.org, peer.ID)
		p.May, p.ExpiresAt = "", time.Time{}
		return errors.Join(err, store.SyncPeers.Put(tx, h.org, &p))
	}))
	_, err = h.importBundle(made)
	wantRefusal(t, err, "without an expiry date", "--may changes")
	// A key that is no longer trusted is treated as unknown.
	_, err = h.sy.DistrustPeer(context.Background(), s.remoteCaller, &api.SyncPeerInput{PeerID: peer.ID})
	must(t, err)
	_, err = h.importBundle(made)
	wantRefusal(t, err, "unknown sender")
}

// TestWhoMayTrust checks that only a signed-in user can trust a key, and that only a user who may decide can let a
// key decide. Otherwise, an API key limited to sync could decide as its owner.
func TestWhoMayTrust(t *testing.T) {
	w := newWorld(t, 24, 1)
	s, h := w.sites[0], w.remote
	limited, agent := h.localCaller, h.localCaller
	limited.Scopes, agent.AgentRunID = []api.Permission{"sync:write"}, "run"
	for name, c := range map[string]struct {
		by  api.Caller
		may string
	}{
		"an API key":              {limited, ""},
		"an API key, for more":    {limited, api.PeerMayApprove},
		"an agent":                {agent, ""},
		"a member, for decisions": {s.remoteCaller, api.PeerMayApprove},
	} {
		if _, err := h.trustFor(c.by, s.key(), "x", c.may); !api.IsCode(err, api.CodeForbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHeldDecisions checks that applying a held batch decides nothing if its key may not decide or is no longer
// trusted.
func TestHeldDecisions(t *testing.T) {
	for _, c := range []struct {
		name, may string
		revoke    bool
		want      api.ApprovalStatus
	}{
		{"changes", "", false, api.ApprovalPending},
		{"revoked", api.PeerMayApprove, true, api.ApprovalPending},
		{"approve", api.PeerMayApprove, false, api.ApprovalApproved},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 25, 2)
			s, h := w.sites[1], w.remote
			s.sync()
			s.trustKey(s.localCaller, h.key(), "home")
			peer, err := h.trustFor(s.remoteCaller, s.key(), "on-site", c.may)
			must(t, err)
			s.submitAndApprove()
			s.revokeMembership()
			data, err := s.writeBundle(nil)
			must(t, err)
			_, err = h.importBundle(data)
			must(t, err)
			if c.revoke {
				_, err := h.sy.DistrustPeer(context.Background(), h.localCaller, &api.SyncPeerInput{PeerID: peer.ID})
				must(t, err)
			}
			in := &api.ResolveSyncInput{SyncConflictInput: api.SyncConflictInput{ConflictID: w.conflicts()[0].ID}}
			in.Body.Choice = "clone"
			_, err = h.sy.ResolveConflict(context.Background(), h.localCaller, in)
			must(t, err)
			if got := h.approvals(); len(got) != 1 || got[0].Status != c.want ||
				(got[0].BundleKey != nil) != (c.want == api.ApprovalApproved) {
				t.Errorf("the approvals are %+v", got)
			}
		})
	}
}
