package enginetest_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scf-service/service/engine/api"
)

// sequences is how many random sequences of operations are held against the model.
var sequences = flag.Int("sequences", 60, "random sequences of operations against the model of the lifecycle")

// model is the lifecycle in few words: where the assessment stands, and what the newest
// Statement of Applicability is. It is all that the operations below may change.
type model struct {
	state   api.State
	version int
	status  api.VersionStatus // of the newest version; "" for none
	// asked is the approval that waits.
	asked bool
	// bySubmission: the last move came with a submission, so asking for it again is fine.
	bySubmission bool
	// scoped: the newest version was drafted from the scope that the lifecycle drafts.
	scoped bool
}

// reopened moves the model as a change of what is under review does.
func (m *model) reopened() {
	if m.status == api.VersionUnderReview {
		m.asked = false
		if m.state == api.StateSoAUnderReview {
			m.state, m.bySubmission = api.StateSoADrafted, false
		}
	}
}

// move is what asking for a state should come to: its error's code, or "".
func (m *model) move(to api.State) api.ErrorCode {
	if to == m.state && m.bySubmission {
		return ""
	}
	next, ok := m.state.Next()
	if !ok || next.To != to {
		return api.CodeInvalidState
	}
	switch to {
	case api.StateSoADrafted:
		if m.status == "" || m.status == api.VersionDraft && !m.scoped {
			m.version, m.status, m.scoped = m.version+1, api.VersionDraft, true
		}
	case api.StateSoAUnderReview:
		if m.status == api.VersionRejected {
			return api.CodeInvalidState
		}
		if m.status == api.VersionDraft {
			m.status, m.asked = api.VersionUnderReview, true
		}
	case api.StateSoAApproved:
		if m.status != api.VersionApproved {
			return api.CodeApproval
		}
	}
	m.state, m.bySubmission = to, false
	return ""
}

// machine is the real thing beside its model.
type machine struct {
	t *testing.T
	b *bench
	m model
	a *api.Assessment
	// target is the newest version, approval the one asked for last.
	target, approval string
	log              []string
}

func (x *machine) read() {
	l, err := x.b.Assessments.ListSoA(x.t.Context(), x.b.by, &api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: x.a.ID}})
	if err != nil {
		x.t.Fatal(err)
	}
	x.target = ""
	if len(l.Data) > 0 {
		x.target = l.Data[0].ID
		if l.Data[0].ApprovalID != nil {
			x.approval = *l.Data[0].ApprovalID
		}
	}
}

// step does one operation on both and compares what came of it.
func (x *machine) step(r *rand.Rand) {
	t, ctx, m := x.t, x.t.Context(), &x.m
	var want api.ErrorCode
	var err error
	one := api.AssessmentInput{AssessmentID: x.a.ID}
	op := []string{"next", "next", "next", "skip", "again", "submit", "approve", "approve version", "reject", "edit", "regenerate", "draft"}[r.IntN(12)]
	switch op {
	case "next", "skip", "again":
		to := m.state
		if next, ok := m.state.Next(); ok && op != "again" {
			to = next.To
			if after, ok := to.Next(); ok && op == "skip" {
				to = after.To
			}
		}
		if to.Reached(api.StateEvidenceAnalysisReady) {
			return // beyond the model
		}
		want = m.move(to)
		err = x.b.move(t, x.a.ID, to)
	case "submit":
		if x.target == "" {
			return
		}
		switch m.status {
		case api.VersionDraft:
			m.status, m.asked = api.VersionUnderReview, true
			if m.state == api.StateSoADrafted {
				m.state, m.bySubmission = api.StateSoAUnderReview, true
			}
		default:
			want = api.CodeInvalidState
		}
		_, err = x.b.Assessments.SubmitSoA(ctx, x.b.by, &api.SoAInput{SoAVersionID: x.target})
	case "approve", "approve version", "reject":
		if x.approval == "" {
			return
		}
		if !m.asked {
			want = api.CodeInvalidState
		}
		switch {
		case op == "approve version":
			if m.status == api.VersionDraft {
				want = api.CodeApproval
			}
			_, err = x.b.Assessments.ApproveSoA(ctx, x.b.by, &api.DecideSoAInput{SoAInput: api.SoAInput{SoAVersionID: x.target}})
		case op == "approve":
			err = x.b.approve(t, x.approval)
		default:
			in := &api.RejectInput{ApprovalInput: api.ApprovalInput{ApprovalID: x.approval}}
			in.Body.Reason = "no"
			_, err = x.b.Assessments.Reject(ctx, x.b.by, in)
		}
		if m.asked {
			m.asked, m.status = false, api.VersionApproved
			if op == "reject" {
				m.status = api.VersionRejected
				if m.state == api.StateSoAUnderReview {
					m.state, m.bySubmission = api.StateSoADrafted, false
				}
			}
		}
	case "edit":
		if x.target == "" {
			return
		}
		m.reopened()
		if m.status == api.VersionApproved || m.status == api.VersionRejected {
			m.version++
		}
		m.status = api.VersionDraft
		_, err = x.b.own(t, x.b.soaItems(t, x.a.ID)[0].ID, fmt.Sprintf("Owner %d", r.IntN(1000)), api.Match{})
	case "regenerate", "draft":
		m.reopened()
		m.version++
		m.status, m.scoped = api.VersionDraft, m.state.Reached(api.StateScopeDrafted)
		if op == "draft" || x.target == "" {
			_, err = x.b.Assessments.DraftSoA(ctx, x.b.by, &one)
		} else {
			_, err = x.b.Assessments.RegenerateSoA(ctx, x.b.by, &api.SoAInput{SoAVersionID: x.target})
		}
	}
	x.log = append(x.log, op)
	got := api.ErrorCode("")
	if err != nil {
		got = api.AsError(err).Code
	}
	if got != want {
		t.Fatalf("after %v: %v, where the model says %q", x.log, err, want)
	}
	x.read()
	x.check()
}

// check compares the real thing with its model.
func (x *machine) check() {
	m := &x.m
	if s := x.b.state(x.t, x.a.ID); s != m.state {
		x.t.Fatalf("after %v the assessment is %s, the model %s", x.log, s, m.state)
	}
	if x.target == "" {
		return
	}
	v, err := x.b.Assessments.GetSoA(x.t.Context(), x.b.by, &api.SoAInput{SoAVersionID: x.target})
	if err != nil || v.VersionNumber != m.version || v.Status != m.status {
		x.t.Fatalf("after %v version %d is %s, the model %d %s (%v)", x.log, v.VersionNumber, v.Status, m.version, m.status, err)
	}
	l, err := x.b.Assessments.ListApprovals(x.t.Context(), x.b.by, &api.ApprovalsInput{AssessmentInput: api.AssessmentInput{AssessmentID: x.a.ID}, Status: api.ApprovalPending})
	if err != nil || (len(l.Data) == 1) != m.asked {
		x.t.Fatalf("after %v %d approvals wait, the model says %v (%v)", x.log, len(l.Data), m.asked, err)
	}
}

// Random sequences of operations come to what the model says, in state, version, approval and refusal.
func TestLifecycleAgainstItsModel(t *testing.T) {
	n := *sequences
	if testing.Short() {
		n = min(n, 15)
	}
	b := newBench(t)
	b.importCatalog(t, yard1)
	seed := rand.New(rand.NewPCG(20261120, 8))
	var kinds []string
	for i := range n {
		r := rand.New(rand.NewPCG(seed.Uint64(), uint64(i)))
		a := b.assess(t, "house-rules", nil, api.StateDraft)
		x := &machine{t: t, b: b, a: a, m: model{state: api.StateDraft}}
		for range 8 + r.IntN(25) {
			x.step(r)
		}
		kinds = append(kinds, string(x.m.state))
	}
	slices.Sort(kinds)
	t.Logf("%d sequences, ending in %v", n, slices.Compact(kinds))
}
