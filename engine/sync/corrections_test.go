package sync_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/store"
)

// newCorrection returns a decision on a passage, as an assessment's user makes it at a site.
func (s *site) newCorrection(tx *store.Tx, of, passage, label string) *api.Correction {
	c := &api.Correction{
		AssessmentID: of, ControlCode: "IAC-01", DomainCode: "IAC", Topic: "Access", Statement: "Access is reviewed.", Label: label,
		Decision: api.CorrectionAccepted, DraftedLabel: "states", Quote: passage, DecidedBy: s.localCaller.Actor, Source: api.PassageCorrected,
		Passage: api.CorrectedPassage{Filename: "policy.md", Text: passage, SHA256: assessment.TextHash(passage), HeadingPath: []string{}},
	}
	if label == string(reading.Silent) {
		c.Decision = api.CorrectionRefused
	}
	c.StatementID = reading.Statement{Topic: c.Topic, Text: c.Statement}.ID()
	c.TenantRecord = api.TenantRecord{Record: api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}, OrganizationID: s.org}
	return c
}

// correct makes a decision on a passage. A different one on the same passage is replaced.
func (s *site) correct(of, passage, label string) {
	must(s.t, s.db.Update(context.Background(), func(tx *store.Tx) error {
		other, err := assessment.AddSyncedCorrection(tx, s.localCaller, s.newCorrection(tx, of, passage, label))
		if err == nil && other != nil {
			err = assessment.DecideCorrectionConflict(tx, s.localCaller, other.ID, label)
		}
		return err
	}))
}

func (s *site) corrections() []api.Correction {
	l, err := s.as.ListCorrections(context.Background(), s.localCaller, &api.CorrectionsInput{Paging: api.Paging{Limit: 200}})
	must(s.t, err)
	return l.Data
}

func (s *site) removeCorrection(id string) {
	_, err := s.as.RemoveCorrection(context.Background(), s.localCaller, &api.CorrectionInput{CorrectionID: id})
	must(s.t, err)
}

// describeCorrections returns the site's corrections as passages with their labels, sorted.
func (s *site) describeCorrections() string {
	var out []string
	for _, c := range s.corrections() {
		out = append(out, c.Passage.Text+" "+c.Label)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// addOtherAssessment adds an assessment to the remote whose corrections its clones get if the client is the same.
func (w *world) addOtherAssessment(id, client string) {
	must(w.t, w.remote.db.Update(context.Background(), func(tx *store.Tx) error {
		a := api.Assessment{Name: "of " + client, ClientName: client, State: api.StateDraft, Revision: 1}
		a.ID, a.OrganizationID, a.CreatedAt, a.UpdatedAt = id, w.remote.org, tx.Now(), tx.Now()
		return store.Assessments.Put(tx, w.remote.org, &a)
	}))
}

// TestCorrections checks that a clone gets the corrections of its assessment's client and no others, that those made and
// removed offline come back, and what happens if both sides decide on the same passage.
func TestCorrections(t *testing.T) {
	w := newWorld(t, 4, 1)
	h, s := w.remote, w.sites[0]
	ctx := context.Background()
	rename := func(id, client string) {
		t.Helper()
		in := &api.UpdateAssessmentInput{AssessmentInput: api.AssessmentInput{AssessmentID: id}}
		in.Body.ClientName = &client
		if _, err := h.as.Update(ctx, h.localCaller, in); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, site *site, want string) {
		t.Helper()
		if got := site.describeCorrections(); got != want {
			t.Errorf("%s: %s has %q, not %q", what, site.name, got, want)
		}
	}
	const last, foreign = "01a00000-0000-7000-8000-000000000002", "01a00000-0000-7000-8000-000000000003"
	rename(assessmentID, "Acme")
	w.addOtherAssessment(last, "ACME")
	w.addOtherAssessment(foreign, "Globex")
	h.correct(assessmentID, "here", "states")
	h.correct(last, "last year", "silent")
	h.correct(foreign, "secret", "states")
	s.sync()
	check("the client's", s, "here states, last year silent")

	// Added and removed offline, also one that was made in another assessment.
	for _, c := range s.corrections() {
		if c.CopiedFrom != nil && c.CopiedFrom.AssessmentName != "of ACME" {
			t.Errorf("copied from %+v", c.CopiedFrom)
		}
		s.removeCorrection(c.ID)
	}
	s.correct(assessmentID, "offline", "part")
	s.sync()
	check("made offline", h, "offline part, secret states")
	check("made offline", s, "offline part")
	for _, c := range h.corrections() {
		if c.Label == "part" && c.DecidedBy.ID != s.remoteCaller.UserID {
			t.Errorf("decided by %+v", c.DecidedBy)
		}
	}

	// The same decision on both sides is one; different ones are a conflict, in which the remote's stays until it is resolved.
	for _, label := range []string{"states", "silent"} {
		s.correct(assessmentID, "both "+label, "silent")
		h.correct(assessmentID, "both "+label, label)
	}
	s.sync()
	check("both", h, "both silent silent, both states states, offline part, secret states")
	check("both", s, "both silent silent, both states states, offline part")
	conflicts := w.conflicts()
	if len(conflicts) != 1 || conflicts[0].Field != "label" || !strings.Contains(conflicts[0].Message, "both states") {
		t.Fatalf("%+v", conflicts)
	}
	in := &api.ResolveSyncInput{SyncConflictInput: api.SyncConflictInput{ConflictID: conflicts[0].ID}}
	in.Body.Choice = "clone"
	if _, err := h.sy.ResolveConflict(ctx, h.localCaller, in); err != nil {
		t.Fatal(err)
	}
	s.sync()
	check("resolved", s, "both silent silent, both states silent, offline part")

	// A removal on either side counts, unless the other side has decided anew.
	for _, c := range s.corrections() {
		s.removeCorrection(c.ID)
	}
	h.correct(assessmentID, "offline", "states")
	s.sync()
	check("removed", h, "offline states, secret states")
	check("removed", s, "offline states")
	for _, c := range h.corrections() {
		if c.AssessmentID == assessmentID {
			h.removeCorrection(c.ID)
		}
	}
	s.sync()
	check("removed at the remote", s, "")

	// A client that is named otherwise changes what applies.
	rename(foreign, "acme")
	s.sync()
	check("renamed", s, "secret states")
	rename(foreign, "Initech")
	s.sync()
	check("renamed again", s, "")
	rename(foreign, "")
	s.sync()
	if _, err := s.sy.Detach(ctx, s.localCaller, &api.SyncInput{AssessmentID: assessmentID}); err != nil {
		t.Fatal(err)
	}
	check("detached", s, "")
	check("detached", h, "secret states")
}

// TestForgedCorrections checks that a clone can't remove or forge what isn't its assessment's.
func TestForgedCorrections(t *testing.T) {
	w := newWorld(t, 5, 1)
	h, s := w.remote, w.sites[0]
	w.addOtherAssessment("other", "Globex")
	in := &api.UpdateAssessmentInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessmentID}}
	client := "Acme"
	in.Body.ClientName = &client
	if _, err := h.as.Update(context.Background(), h.localCaller, in); err != nil {
		t.Fatal(err)
	}
	h.correct("other", "secret", "states")
	s.sync()
	s.correct(assessmentID, "offline", "part")
	p, err := s.prepare()
	must(t, err)
	secret := h.corrections()[0].ID
	before := h.dumpRecords()
	for name, change := range map[string]func(record map[string]any){
		"passage":   func(r map[string]any) { r["passage"].(map[string]any)["text"] = "Something else." },
		"quote":     func(r map[string]any) { r["quote"] = "never said" },
		"statement": func(r map[string]any) { r["statement"] = "Something else." },
		"label":     func(r map[string]any) { r["label"] = "silent" },
	} {
		data := rewriteFile(t, p.Data, "batch", func(_ map[string]any, all lines) lines {
			change(all[0]["record"].(map[string]any))
			return all
		})
		in := &api.PushSyncInput{AssessmentID: assessmentID, File: upload(data), DryRun: "true"}
		out, err := h.sy.Push(context.Background(), s.remoteCaller, in)
		if err == nil && out.Applied > 0 {
			t.Errorf("%s: %+v", name, out)
		}
	}
	if h.dumpRecords() != before {
		t.Error("a dry run changed the remote")
	}
	data := rewriteFile(t, p.Data, "batch", func(_ map[string]any, all lines) (out lines) {
		for _, id := range []string{secret, store.CopiedCorrectionID(secret, assessmentID), store.CopiedCorrectionID(secret, "other")} {
			out = append(out, map[string]any{
				"op": "delete", "table": "corrections", "key": store.K(id).Bytes(), "record": all[0]["record"],
			})
		}
		return out
	})
	push := &api.PushSyncInput{AssessmentID: assessmentID, File: upload(data)}
	if _, err := h.sy.Push(context.Background(), s.remoteCaller, push); err != nil {
		t.Error(err)
	}
	if h.describeCorrections() != "secret states" {
		t.Errorf("a forged batch left %q", h.describeCorrections())
	}
}
