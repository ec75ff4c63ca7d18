package sync_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/store"
)

var (
	seeds = flag.Int("seeds", 10, "number of simulator runs; in the long form at least 150")
	first = flag.Uint64("seed", 1, "seed of the first run")
)

// TestSimulator edits a remote and its clones independently, with different clocks; deliveries are
// truncated, repeated or delayed, and processes are restarted in between. After a sync all sites
// have the same records, no edit is lost without a conflict that records it, and nothing passes a
// gate unless an authorized user approved exactly that content.
func TestSimulator(t *testing.T) {
	n := *seeds
	if longtest.Enabled() {
		n = max(n, 150)
	}
	var mu sync.Mutex
	tally := map[string]int{}
	t.Run("seed", func(t *testing.T) {
		for i := range n {
			seed := *first + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel() // a run mostly waits for the disk
				did := simulate(t, seed)
				mu.Lock()
				defer mu.Unlock()
				for what, n := range did {
					tally[what] += n
				}
			})
		}
	})
	t.Logf("%d runs: %v", n, tally)
	for _, what := range []string{
		"edit", "approve", "move", "document", "correction", "conflict field",
		"conflict approval", "conflict version", "conflict state", "bundle", "answer",
	} {
		if n >= 100 && tally[what] == 0 {
			t.Errorf("none of %d runs had a step or conflict of the kind %q", n, what)
		}
	}
}

// otherAssessment is an assessment of the remote whose corrections apply to the synced one.
const otherAssessment = "01a00000-0000-7000-8000-000000000009"

// run is one run of the simulator.
type run struct {
	*world
	n int
	// written maps the values set by edits to the place of the edit; replaced holds the values that
	// a later edit overwrote knowingly.
	written  map[string]string
	replaced map[string]bool
	// pages and batches hold earlier deliveries, to be repeated.
	pages, batches []parcel
	bundles        []sentBundle
	peers          map[*site]*api.SyncPeer
	did            map[string]int
}

type parcel struct {
	site *site
	data []byte
}

// simulate returns how often each kind of step and conflict occurred.
func simulate(t *testing.T, seed uint64) map[string]int {
	w := newWorld(t, seed, 2+int(seed%3))
	r := &run{world: w, written: map[string]string{}, replaced: map[string]bool{}, did: map[string]int{}}
	w.addOtherAssessment(otherAssessment, "")
	defer func() {
		for _, s := range append(slices.Clone(w.sites), w.remote) {
			_ = s.db.Close()
		}
	}()
	for range 30 + w.rng.IntN(30) {
		w.now = w.now.Add(time.Duration(w.rng.IntN(3600)) * time.Second)
		s := w.remote
		if w.rng.IntN(4) > 0 {
			s = w.sites[w.rng.IntN(len(w.sites))]
		}
		switch {
		case s != w.remote && w.rng.IntN(3) == 0:
			if w.rng.IntN(3) == 0 {
				r.exchangeBundles(s)
			} else {
				r.syncWithFaults(s)
			}
		case w.rng.IntN(25) == 0:
			s.reopen() // the process ends and is started again
		case w.rng.IntN(25) == 0:
			s.skew += time.Duration(w.rng.IntN(120)-60) * time.Hour
		default:
			r.performAction(s)
		}
	}
	for range 2 {
		for _, s := range w.sites {
			s.sync()
		}
	}
	want := w.remote.dumpRecords()
	for _, s := range w.sites {
		if got := s.dumpRecords(); got != want {
			t.Fatalf("seed %d: %s differs from its home:\n%s", seed, s.name, difference(want, got))
		}
	}
	r.checkNothingLost(seed, want)
	r.checkGates(seed)
	l, err := w.remote.sy.ListConflicts(context.Background(), w.remote.localCaller, &api.SyncConflictsInput{Paging: api.Paging{Limit: 200}})
	must(t, err)
	for _, c := range l.Data {
		r.did["conflict "+c.Kind]++
	}
	for _, s := range append(slices.Clone(w.sites), w.remote) {
		must(t, s.db.View(context.Background(), func(tx *store.Tx) error { _, _, err := audit.VerifyStored(tx, s.org); return err }))
	}
	return r.did
}

func difference(a, b string) string {
	var out []string
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for _, l := range x {
		if !slices.Contains(y, l) {
			out = append(out, "home  "+l)
		}
	}
	for _, l := range y {
		if !slices.Contains(x, l) {
			out = append(out, "clone "+l)
		}
	}
	return strings.Join(out[:min(12, len(out))], "\n")
}

// syncWithFaults syncs a clone; the sync may end at any point, and deliveries may be truncated,
// duplicated or delayed.
func (r *run) syncWithFaults(s *site) {
	interrupted := func() bool { return r.rng.IntN(8) == 0 }
	h := r.remote
	if len(r.batches) > 0 && r.rng.IntN(3) == 0 {
		old := r.batches[r.rng.IntN(len(r.batches))]
		_, _ = old.site.push(old.data) // already applied, or rejected: it changes nothing
	}
	for range 3 {
		p, err := s.prepare()
		must(r.t, err)
		if p.ChangeCount == 0 {
			break
		}
		if interrupted() {
			s.reopen()
			return
		}
		must(r.t, transferFiles(s, h, s.localCaller, s.remoteCaller, p))
		if r.rng.IntN(6) == 0 {
			if _, err := s.push(p.Data[:r.rng.IntN(len(p.Data))]); err == nil {
				r.t.Fatal("a cut batch was taken")
			}
		}
		if interrupted() {
			return
		}
		_, err = s.push(p.Data)
		must(r.t, err)
		r.batches = append(r.batches, parcel{s, p.Data})
		r.did["pushed"]++
		if interrupted() { // the response is lost
			return
		}
		if r.rng.IntN(3) == 0 {
			r.performAction(s) // while the batch is in transit
		}
		if interrupted() {
			h.reopen()
		}
		must(r.t, s.acknowledge(p.Counter))
	}
	for range 3 {
		if r.rng.IntN(4) == 0 {
			r.performAction(s)
		}
		p, err := s.fetch()
		must(r.t, err)
		if interrupted() {
			return
		}
		must(r.t, transferFiles(h, s, s.remoteCaller, s.localCaller, p))
		if r.rng.IntN(6) == 0 {
			if _, err := s.applyPush(p.Data[:r.rng.IntN(len(p.Data))]); err == nil {
				r.t.Fatal("cut changes were taken")
			}
		}
		if len(r.pages) > 0 && r.rng.IntN(3) == 0 {
			old := r.pages[r.rng.IntN(len(r.pages))]
			_, _ = old.site.applyPush(old.data)
		}
		r.pages = append(r.pages, parcel{s, p.Data})
		out, err := s.applyPush(p.Data)
		if err != nil { // an edit in between created a batch
			return
		}
		if !out.More {
			return
		}
	}
}

// recordEdit records a value and the value it replaces, if any.
func (r *run) recordEdit(where string, before *string, value string) {
	r.written[value] = where
	if before != nil {
		r.replaced[*before] = true
	}
}

func (r *run) value() string {
	r.n++
	return fmt.Sprintf("value-%d.", r.n)
}

// performAction performs a random user action at a site, unless the rules forbid it.
func (r *run) performAction(s *site) {
	ctx := context.Background()
	v, items := r.latestSoA(s)
	if v.ID == "" {
		return
	}
	switch what := r.rng.IntN(15); what {
	default:
		it := items[r.rng.IntN(len(items))]
		in := &api.UpdateSoAItemInput{SoAItemID: it.ID}
		value := r.value()
		before := it.Note
		switch r.rng.IntN(3) {
		case 0:
			in.Body.Rationale, before = &value, &it.Rationale
		case 1:
			in.Body.Owner, before = api.Opt[string]{Set: true, Value: &value}, it.Owner
		default:
			in.Body.Note = api.Opt[string]{Set: true, Value: &value}
		}
		if _, err := s.as.UpdateSoAItem(ctx, s.localCaller, in); err == nil {
			r.did["edit"]++
			r.recordEdit(fmt.Sprintf("%s, %s of version %d", s.name, it.ControlCode, v.VersionNumber), before, value)
		}
	case 0, 1:
		value := r.value()
		in := &api.PutScopeInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessmentID}}
		old, err := s.as.GetAssessmentScope(ctx, s.localCaller, &in.AssessmentInput)
		if what == 0 {
			systems := append(slices.Clone(old.Systems), value)
			in.Body.Systems = &systems
			old.Description = ""
		} else {
			in.Body.Description = &value
		}
		if _, failed := s.as.PutScope(ctx, s.localCaller, in); failed == nil {
			r.did["scope"]++
			if err != nil || old.Description == "" {
				r.recordEdit(s.name+", scope", nil, value)
			} else {
				r.recordEdit(s.name+", scope", &old.Description, value)
			}
		}
	case 2:
		in := &api.AddCommentInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessmentID}}
		in.Body.Text, in.Body.Gate = r.value(), api.GateSoA
		if _, err := s.as.AddComment(ctx, s.localCaller, in); err == nil {
			r.recordEdit(s.name+", comment", nil, in.Body.Text)
		}
	case 3, 4:
		if _, err := s.as.SubmitSoA(ctx, s.localCaller, &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: v.ID}}); err == nil {
			r.did["submit"]++
		}
	case 5, 6:
		if v.ApprovalID != nil {
			if _, err := s.as.Approve(
				ctx,
				s.localCaller,
				&api.ApproveInput{ApprovalInput: api.ApprovalInput{ApprovalID: *v.ApprovalID}},
			); err == nil {
				r.did["approve"]++
			}
		}
	case 7:
		if v.ApprovalID != nil && r.rng.IntN(2) == 0 {
			in := &api.RejectInput{ApprovalInput: api.ApprovalInput{ApprovalID: *v.ApprovalID}}
			in.Body.Reason = "no"
			if _, err := s.as.Reject(ctx, s.localCaller, in); err == nil {
				r.did["reject"]++
			}
		}
	case 8:
		if err := s.db.Update(ctx, func(tx *store.Tx) error {
			a, err := store.Assessments.Get(tx, s.org, assessmentID)
			if err != nil {
				return err
			}
			next, ok := a.State.NextMove()
			if !ok || a.State.HasReached(api.StateEvidenceAnalysisReady) {
				return errNothing
			}
			return assessment.ApplySyncedTransition(tx, s.localCaller, assessmentID, next.To, "")
		}); err == nil {
			r.did["move"]++
		}
	case 9:
		content := fmt.Sprintf("document %d", r.rng.IntN(12))
		must(r.t, s.addDocument(content))
		r.did["document"]++
	case 11:
		r.did["correction"]++
		if all := s.corrections(); len(all) > 0 && r.rng.IntN(3) == 0 {
			s.removeCorrection(all[r.rng.IntN(len(all))].ID)
			return
		}
		of := assessmentID
		if s == r.remote && r.rng.IntN(2) == 0 {
			of = otherAssessment
		}
		s.correct(of, fmt.Sprintf("Passage %d.", r.rng.IntN(5)), []string{"states", "part", "silent"}[r.rng.IntN(3)])
	case 10:
		value := r.value()
		in := &api.UpdateAssessmentInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessmentID}}
		in.Body.Description = &value
		old, err := s.as.Get(ctx, s.localCaller, &in.AssessmentInput)
		must(r.t, err)
		if _, err := s.as.Update(ctx, s.localCaller, in); err == nil {
			r.recordEdit(s.name+", assessment", &old.Description, value)
		}
	}
}

var errNothing = fmt.Errorf("there is nothing to do")

// latestSoA returns the latest version of the Statement of Applicability at a site, with its items.
func (r *run) latestSoA(s *site) (v api.SoAVersion, items []api.SoAItem) {
	must(r.t, s.db.View(context.Background(), func(tx *store.Tx) error {
		for one, err := range store.SoAVersions.By("assessment").Scan(tx, s.org, store.Prefix(assessmentID), store.Reverse) {
			if err != nil {
				return err
			}
			v = one
			break
		}
		for i, err := range store.SoAItems.By("version").Scan(tx, s.org, store.Prefix(v.ID)) {
			if err != nil {
				return err
			}
			items = append(items, i)
		}
		return nil
	}))
	return v, items
}

// checkNothingLost checks that every value that was set still exists, is recorded in a conflict, or
// was replaced knowingly.
func (r *run) checkNothingLost(seed uint64, records string) {
	for value, where := range r.written {
		if !r.replaced[value] && !strings.Contains(records, value) {
			r.t.Errorf("seed %d: %s (%s) is gone, and no conflict tells of it", seed, value, where)
		}
	}
}

// checkGates checks that everything approved at the remote was approved by an authorized user with
// exactly this content, and that every transition was allowed.
func (r *run) checkGates(seed uint64) {
	must(r.t, r.remote.db.View(context.Background(), func(tx *store.Tx) error {
		approved := map[string]bool{}
		for p, err := range store.Approvals.By("assessment").Scan(tx, r.remote.org, store.Prefix(assessmentID)) {
			if err != nil {
				return err
			}
			if p.Void || p.Status != api.ApprovalApproved && p.Status != api.ApprovalRejected {
				continue
			}
			if p.DecidedBy == nil || !r.roles[p.DecidedBy.ID].May(api.ApprovalDecide) {
				r.t.Errorf("seed %d: %+v decided, who may not", seed, p.DecidedBy)
			}
			v, err := store.SoAVersions.Get(tx, r.remote.org, p.TargetID)
			if err != nil {
				return err
			}
			if p.Status == api.ApprovalApproved {
				if v.ContentSHA256 != p.TargetSHA256 {
					r.t.Errorf("seed %d: version %d is not what was approved", seed, v.VersionNumber)
				}
				before := v.ContentSHA256
				var items []api.SoAItem
				for i, err := range store.SoAItems.By("version").Scan(tx, r.remote.org, store.Prefix(v.ID)) {
					if err != nil {
						return err
					}
					items = append(items, i)
				}
				exported, err := json.Marshal(items)
				if err != nil {
					return err
				}
				sealed, err := assessment.ContentHash(api.GateSoA, exported, "")
				if err != nil {
					return err
				}
				if sealed != before {
					r.t.Errorf(
						"seed %d: the lines of the approved version %d have the hash %s, not %s",
						seed,
						v.VersionNumber,
						sealed,
						before,
					)
				}
				approved[v.ID] = true
			}
		}
		for v, err := range store.SoAVersions.By("assessment").Scan(tx, r.remote.org, store.Prefix(assessmentID)) {
			if err != nil {
				return err
			}
			if v.Status == api.VersionApproved && !approved[v.ID] {
				r.t.Errorf("seed %d: version %d is approved by nobody", seed, v.VersionNumber)
			}
		}
		at := api.StateSoADrafted
		for e, err := range store.LifecycleEvents.Scan(tx, r.remote.org, store.Prefix(assessmentID)) {
			if err != nil {
				return err
			}
			if e.FromState == nil || *e.FromState != at {
				r.t.Errorf("seed %d: a move from %v, and it was %s", seed, e.FromState, at)
			}
			if e.EventType == "transition" && api.CheckMove(at, e.ToState) != nil {
				r.t.Errorf("seed %d: a move from %s to %s", seed, at, e.ToState)
			}
			if e.ToState == api.StateSoAApproved && len(approved) == 0 {
				r.t.Errorf("seed %d: it is %s, and nobody approved", seed, e.ToState)
			}
			at = e.ToState
		}
		return nil
	}))
}
