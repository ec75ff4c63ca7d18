package enginetest_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/longtest"
)

// sequences is the number of random sequences of operations compared with the model.
var sequences = flag.Int("sequences", 20, "random sequences of operations against the model of the lifecycle")

// deliverable is the model of a deliverable's newest version.
type deliverable struct {
	version int
	status  api.VersionStatus // "" for none
	// asked is true if an approval is pending.
	asked bool
	// fresh is true if the newest version was drafted from the current versions it depends on.
	fresh bool
	// content is the hash of the newest version, and approvedContent that of the last version approved, unless the same
	// content was rejected since.
	content, approvedContent string
}

// isCovered reports whether the newest version is a draft with the content of the approved one, so that it needs no other
// approval.
func (d *deliverable) isCovered() bool {
	return d.status == api.VersionDraft && d.content != "" && d.content == d.approvedContent
}

// model is a simple model of the lifecycle: the assessment's state and the newest version of each
// deliverable. The operations may change nothing else.
type model struct {
	state api.State
	of    map[api.Gate]*deliverable
	// bySubmission is true if the last transition came with a submission, so requesting it again
	// succeeds.
	bySubmission bool
}

func newModel() model {
	m := model{state: api.StateDraft, of: map[api.Gate]*deliverable{}}
	for _, g := range api.Gates {
		m.of[g] = &deliverable{}
	}
	return m
}

// stages are the states around each gate.
var stages = map[api.Gate]struct{ drafted, review, approved api.State }{
	api.GateSoA:         {api.StateSoADrafted, api.StateSoAUnderReview, api.StateSoAApproved},
	api.GateGapAnalysis: {api.StateGapAnalysisDrafted, api.StateGapAnalysisUnderReview, api.StateGapAnalysisApproved},
	api.GateMaturity:    {api.StateMaturityAssessed, api.StateMaturityUnderReview, api.StateMaturityApproved},
	api.GatePOAM:        {api.StatePOAMDrafted, api.StatePOAMUnderReview, api.StatePOAMApproved},
}

// workedOn returns the first deliverable that has not passed its gate, or any after the last gate.
func (m *model) workedOn(r *rand.Rand) api.Gate {
	for _, g := range api.Gates {
		if !m.state.HasReached(stages[g].approved) || m.state == stages[g].approved {
			return g
		}
	}
	return api.Gates[r.IntN(len(api.Gates))]
}

// back moves the assessment from review to the draft state.
func (m *model) back(g api.Gate) {
	if m.state == stages[g].review {
		m.state, m.bySubmission = stages[g].drafted, false
	}
}

// reopened models a change of a version that may be under review.
func (m *model) reopened(g api.Gate) {
	if d := m.of[g]; d.status == api.VersionUnderReview {
		d.asked = false
		m.back(g)
	}
}

// move returns the expected error code of a transition, or "" if it succeeds.
func (m *model) move(to api.State) api.ErrorCode {
	if to == m.state && m.bySubmission {
		return ""
	}
	next, ok := m.state.NextMove()
	if !ok || next.To != to {
		return api.CodeInvalidState
	}
	for g, s := range stages {
		d := m.of[g]
		switch to {
		case s.drafted:
			if d.status == "" || d.status == api.VersionDraft && !d.fresh {
				d.version, d.status, d.fresh = d.version+1, api.VersionDraft, true
			}
		case s.review:
			if d.status == api.VersionRejected {
				return api.CodeInvalidState
			}
			if d.status == api.VersionDraft && !d.isCovered() {
				d.status, d.asked = api.VersionUnderReview, true
			}
		case s.approved, api.StateClosed:
			if d.isCovered() {
				break
			}
			if d.status == api.VersionDraft && to == s.approved { // edited or drafted since: it is submitted
				d.status, d.asked = api.VersionUnderReview, true
			}
			if d.status != api.VersionApproved {
				return api.CodeApproval
			}
		}
	}
	m.state, m.bySubmission = to, false
	return ""
}

// machine is an engine along with its model.
type machine struct {
	t *testing.T
	b *bench
	m model
	a *api.Assessment
	// target holds the ID of each deliverable's newest version, approval that of the last approval
	// requested.
	target, approval map[api.Gate]string
	edits            int
	// eager makes progress more likely, so that some sequences reach the end.
	eager bool
	log   []string
}

// head returns the newest version of a deliverable, or nil.
func (x *machine) head(g api.Gate) *api.DeliverableVersion {
	x.t.Helper()
	ctx, in := x.t.Context(), &api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: x.a.ID}}
	switch g {
	case api.GateSoA:
		l, err := x.b.Assessments.ListSoA(ctx, x.b.by, in)
		return headOf(x.t, l, err, func(v *api.SoAVersion) *api.DeliverableVersion { return &v.DeliverableVersion })
	case api.GateGapAnalysis:
		l, err := x.b.Assessments.ListGap(ctx, x.b.by, in)
		return headOf(x.t, l, err, func(v *api.GapVersion) *api.DeliverableVersion { return &v.DeliverableVersion })
	case api.GateMaturity:
		l, err := x.b.Assessments.ListMaturity(ctx, x.b.by, in)
		return headOf(x.t, l, err, func(v *api.MaturityVersion) *api.DeliverableVersion { return &v.DeliverableVersion })
	}
	l, err := x.b.Assessments.ListPOAM(ctx, x.b.by, in)
	return headOf(x.t, l, err, func(v *api.POAMVersion) *api.DeliverableVersion { return &v.DeliverableVersion })
}

func headOf[V any](t *testing.T, l *api.List[V], err error, head func(*V) *api.DeliverableVersion) *api.DeliverableVersion {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Data) == 0 {
		return nil
	}
	return head(&l.Data[0])
}

// step performs one operation on both and compares the results.
func (x *machine) step(r *rand.Rand) {
	t, m := x.t, &x.m
	var want api.ErrorCode
	var err error
	g := m.workedOn(r)
	d := m.of[g]
	closed := m.state == api.StateClosed
	op := []string{
		"next", "next", "next", "next", "skip", "again", "submit", "approve", "approve",
		"approve version", "reject", "edit", "regenerate", "draft",
	}[r.IntN(14)]
	if x.eager && r.IntN(3) > 0 {
		if op = "next"; d.asked {
			op = "approve"
		}
	}
	switch op {
	case "next", "skip", "again":
		to := m.state
		if next, ok := m.state.NextMove(); ok && op != "again" {
			to = next.To
			if after, ok := to.NextMove(); ok && op == "skip" {
				to = after.To
			}
		}
		want = m.move(to)
		err = x.b.move(t, x.a.ID, to)
	case "submit":
		if x.target[g] == "" {
			return
		}
		switch {
		case d.status == api.VersionDraft && !closed:
			d.status, d.asked = api.VersionUnderReview, true
			if m.state == stages[g].drafted {
				m.state, m.bySubmission = stages[g].review, true
			}
		default:
			want = api.CodeInvalidState
		}
		err = x.submit(g)
	case "approve", "approve version", "reject":
		if x.approval[g] == "" {
			return
		}
		if !d.asked {
			want = api.CodeInvalidState
		}
		switch op {
		case "approve version":
			if d.status == api.VersionDraft {
				want = api.CodeApproval
			}
			err = x.approveVersion(g)
		case "approve":
			err = x.b.approve(t, x.approval[g])
		default:
			in := &api.RejectInput{ApprovalInput: api.ApprovalInput{ApprovalID: x.approval[g]}}
			in.Body.Reason = "no"
			_, err = x.b.Assessments.Reject(t.Context(), x.b.by, in)
		}
		if d.asked {
			d.asked, d.status = false, api.VersionApproved
			switch {
			case op != "reject":
				d.approvedContent = d.content
			case d.approvedContent == d.content:
				d.approvedContent = ""
				fallthrough
			default:
				d.status = api.VersionRejected
				m.back(g)
			}
		}
	case "edit":
		if x.target[g] == "" {
			return
		}
		if closed {
			want = api.CodeInvalidState
		} else {
			m.reopened(g)
			if d.status == api.VersionApproved || d.status == api.VersionRejected {
				d.version++
			}
			d.status = api.VersionDraft
		}
		x.edits++
		err = x.edit(g, fmt.Sprintf("note %d", x.edits))
	case "regenerate", "draft":
		if closed {
			want = api.CodeInvalidState
		} else {
			again := op == "regenerate" && x.target[g] != ""
			decided := d.status == api.VersionUnderReview || d.status == api.VersionApproved || d.isCovered()
			err = x.draft(g, again)
			// A version under review or approved is kept if the new draft is the same.
			if again && decided && g != api.GatePOAM && x.head(g).VersionNumber == d.version {
				break
			}
			m.reopened(g)
			d.version++
			d.status, d.fresh = api.VersionDraft, g != api.GateSoA || m.state.HasReached(api.StateScopeDrafted)
			break
		}
		err = x.draft(g, op == "regenerate" && x.target[g] != "")
	}
	x.log = append(x.log, fmt.Sprintf("%s %s", op, g))
	got := api.ErrorCode("")
	if err != nil {
		got = api.AsError(err).Code
	}
	if got != want {
		t.Fatalf("after %v: %v, where the model says %q", x.log, err, want)
	}
	x.check()
}

func (x *machine) submit(g api.Gate) (err error) {
	ctx, by, s, id := x.t.Context(), x.b.by, x.b.Assessments, x.target[g]
	switch g {
	case api.GateSoA:
		_, err = s.SubmitSoA(ctx, by, &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: id}})
	case api.GateGapAnalysis:
		_, err = s.SubmitGap(ctx, by, &api.SubmitGapInput{GapInput: api.GapInput{GapVersionID: id}})
	case api.GateMaturity:
		_, err = s.SubmitMaturity(ctx, by, &api.SubmitMaturityInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}})
	default:
		_, err = s.SubmitPOAM(ctx, by, &api.SubmitPOAMInput{POAMInput: api.POAMInput{POAMVersionID: id}})
	}
	return err
}

func (x *machine) approveVersion(g api.Gate) (err error) {
	ctx, by, s, id := x.t.Context(), x.b.by, x.b.Assessments, x.target[g]
	switch g {
	case api.GateSoA:
		_, err = s.ApproveSoA(ctx, by, &api.DecideSoAInput{SoAInput: api.SoAInput{SoAVersionID: id}})
	case api.GateGapAnalysis:
		_, err = s.ApproveGap(ctx, by, &api.DecideGapInput{GapInput: api.GapInput{GapVersionID: id}})
	case api.GateMaturity:
		_, err = s.ApproveMaturity(ctx, by, &api.DecideMaturityInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}})
	default:
		_, err = s.ApprovePOAM(ctx, by, &api.DecidePOAMInput{POAMInput: api.POAMInput{POAMVersionID: id}})
	}
	return err
}

func (x *machine) draft(g api.Gate, again bool) (err error) {
	ctx, by, s, id, one := x.t.Context(), x.b.by, x.b.Assessments, x.target[g], &api.AssessmentInput{AssessmentID: x.a.ID}
	switch {
	case g == api.GateSoA && again:
		_, err = s.RegenerateSoA(ctx, by, &api.SoAInput{SoAVersionID: id})
	case g == api.GateSoA:
		_, err = s.DraftSoA(ctx, by, &api.DraftSoAInput{AssessmentInput: *one})
	case g == api.GateGapAnalysis && again:
		_, err = s.RegenerateGap(ctx, by, &api.GapInput{GapVersionID: id})
	case g == api.GateGapAnalysis:
		_, err = s.DraftGap(ctx, by, one)
	case g == api.GateMaturity && again:
		_, err = s.RegenerateMaturity(ctx, by, &api.MaturityInput{MaturityVersionID: id})
	case g == api.GateMaturity:
		_, err = s.DraftMaturity(ctx, by, one)
	default:
		_, err = s.DraftPOAM(ctx, by, one)
	}
	return err
}

// edit changes the first line of the newest version.
func (x *machine) edit(g api.Gate, note string) (err error) {
	ctx, by, s, id, few := x.t.Context(), x.b.by, x.b.Assessments, x.target[g], api.Paging{Limit: 1}
	switch g {
	case api.GateSoA:
		_, err = x.b.setOwner(x.t, x.b.soaItems(x.t, x.a.ID)[0].ID, note, api.Match{})
	case api.GateGapAnalysis:
		l, failed := s.ListFindings(ctx, by, &api.FindingsInput{GapInput: api.GapInput{GapVersionID: id}, Paging: few})
		in := &api.UpdateFindingInput{FindingID: firstOf(x.t, l, failed, func(f *api.Finding) string { return f.ID })}
		in.Body.Note = api.Some(note)
		_, err = s.UpdateFinding(ctx, by, in)
	case api.GateMaturity:
		l, failed := s.ListScores(ctx, by, &api.MaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}, Paging: few})
		in := &api.UpdateMaturityScoreInput{}
		in.MaturityScoreID = firstOf(x.t, l, failed, func(f *api.MaturityScore) string { return f.ID })
		in.Body.Note = api.Some(note)
		_, err = s.UpdateScore(ctx, by, in)
	default:
		l, failed := s.ListPOAMItems(ctx, by, &api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: id}, Paging: few})
		in := &api.UpdatePOAMItemInput{POAMItemID: firstOf(x.t, l, failed, func(f *api.POAMItem) string { return f.ID })}
		in.Body.Owner = api.Some(note)
		_, err = s.UpdatePOAMItem(ctx, by, in)
	}
	return err
}

func firstOf[I any](t *testing.T, l *api.List[I], err error, id func(*I) string) string {
	t.Helper()
	if err != nil || len(l.Data) == 0 {
		t.Fatalf("%+v, %v", l, err)
	}
	return id(&l.Data[0])
}

// check compares the engine with the model.
func (x *machine) check() {
	m := &x.m
	if s := x.b.state(x.t, x.a.ID); s != m.state {
		x.t.Fatalf("after %v the assessment is %s, the model %s", x.log, s, m.state)
	}
	waits := map[api.Gate]int{}
	l, err := x.b.Assessments.ListApprovals(
		x.t.Context(),
		x.b.by,
		&api.ApprovalsInput{AssessmentInput: api.AssessmentInput{AssessmentID: x.a.ID}, Status: api.ApprovalPending},
	)
	if err != nil {
		x.t.Fatal(err)
	}
	for _, p := range l.Data {
		waits[p.Gate]++
	}
	for _, g := range api.Gates {
		d := m.of[g]
		if (waits[g] == 1) != d.asked || waits[g] > 1 {
			x.t.Fatalf("after %v %d approvals of the %s wait, the model says %v", x.log, waits[g], g, d.asked)
		}
		head := x.head(g)
		if head == nil {
			if d.version != 0 {
				x.t.Fatalf("after %v there is no %s, the model has version %d", x.log, g, d.version)
			}
			continue
		}
		d.content = head.ContentSHA256
		if head.VersionNumber != d.version || head.Status != d.status {
			x.t.Fatalf(
				"after %v version %d of the %s is %s, the model %d %s",
				x.log,
				head.VersionNumber,
				g,
				head.Status,
				d.version,
				d.status,
			)
		}
		x.target[g] = head.ID
		if head.ApprovalID != nil {
			x.approval[g] = *head.ApprovalID
		}
	}
}

// TestLifecycleAgainstItsModel checks that random sequences of operations lead to the states,
// versions, approvals and errors of the model.
func TestLifecycleAgainstItsModel(t *testing.T) {
	n := *sequences
	if longtest.Enabled() {
		n = max(n, 60)
	}
	b := newBench(t)
	b.importCatalog(t, yard1)
	seed := rand.New(rand.NewPCG(20261120, 8))
	var kinds []string
	for i := range n {
		r := rand.New(rand.NewPCG(seed.Uint64(), uint64(i)))
		a := b.assess(t, "house-rules", nil, api.StateDraft)
		x := &machine{t: t, b: b, a: a, m: newModel(), target: map[api.Gate]string{}, approval: map[api.Gate]string{}, eager: i%4 == 0}
		for range 8 + r.IntN(150) {
			x.step(r)
		}
		kinds = append(kinds, string(x.m.state))
	}
	slices.Sort(kinds)
	if n >= 20 && !slices.Contains(kinds, string(api.StateClosed)) {
		t.Error("no sequence came to the end")
	}
	t.Logf("%d sequences, ending in %v", n, slices.Compact(kinds))
}
