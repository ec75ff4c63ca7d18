package enginetest_test

import (
	"slices"
	"testing"

	"github.com/scf-service/service/api"
)

// newPlannedAssessment returns an assessment without evidence that has gaps and a plan.
func newPlannedAssessment(t *testing.T, framework string) (*bench, string) {
	t.Helper()
	b := newBench(t)
	a := b.assess(t, framework, nil, api.StateSoADrafted).ID
	b.findAgain(t, a)
	b.planAgain(t, a)
	return b, a
}

func (b *bench) findAgain(t *testing.T, a string) *api.GapVersion {
	t.Helper()
	v, err := b.Assessments.DraftGap(t.Context(), b.by, &api.AssessmentInput{AssessmentID: a})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (b *bench) planAgain(t *testing.T, a string) *api.POAMVersion {
	t.Helper()
	v, err := b.Assessments.DraftPOAM(t.Context(), b.by, &api.AssessmentInput{AssessmentID: a})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (b *bench) addGap(t *testing.T, a, control, condition, owner string) {
	t.Helper()
	in := &api.CreateGapInput{AssessmentInput: api.AssessmentInput{AssessmentID: a}}
	in.Body.ControlID, in.Body.Status, in.Body.Severity, in.Body.Condition = control, api.NotImplemented, api.SeverityHigh, condition
	if owner != "" {
		in.Body.Owner = &owner
	}
	if _, err := b.Assessments.CreateGap(t.Context(), b.by, in); err != nil {
		t.Fatal(err)
	}
}

// planItem returns the only item of the plan that matches.
func (b *bench) planItem(t *testing.T, a string, is func(*api.POAMItem) bool) *api.POAMItem {
	t.Helper()
	var out *api.POAMItem
	for _, i := range b.dossier(t, a).POAMItems {
		if is(&i) {
			if out != nil {
				t.Fatalf("two such items: %s and %s", out.POAMCode, i.POAMCode)
			}
			out = &i
		}
	}
	if out == nil {
		t.Fatal("no such item")
	}
	return out
}

func (b *bench) tryPlan(t *testing.T, item *api.POAMItem, set func(*api.UpdatePOAMItemInput)) (*api.POAMItem, error) {
	t.Helper()
	in := &api.UpdatePOAMItemInput{POAMItemID: item.ID}
	set(in)
	return b.Assessments.UpdatePOAMItem(t.Context(), b.by, in)
}

func (b *bench) plan(t *testing.T, item *api.POAMItem, set func(*api.UpdatePOAMItemInput)) *api.POAMItem {
	t.Helper()
	out, err := b.tryPlan(t, item, set)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func status(to string) func(*api.UpdatePOAMItemInput) {
	return func(in *api.UpdatePOAMItemInput) {
		in.Body.Status = &to
		in.Body.Comments = api.Some(to)
		if to == "risk_accepted" {
			in.Body.RiskAcceptedUntil = api.Some(api.Date("2099-05-05"))
		}
	}
}

func (b *bench) editFinding(t *testing.T, a string, is func(*api.Finding) bool, set func(*api.UpdateFindingInput)) {
	t.Helper()
	for _, f := range b.dossier(t, a).Findings {
		if is(&f) {
			in := &api.UpdateFindingInput{FindingID: f.ID}
			set(in)
			if _, err := b.Assessments.UpdateFinding(t.Context(), b.by, in); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("no such finding")
}

// TestDecisionsStayWithTheirItem checks that two items of one control keep their own decisions.
func TestDecisionsStayWithTheirItem(t *testing.T) {
	b, a := newPlannedAssessment(t, "lgpd")
	b.addGap(t, a, "SITE-1", "No fence.", "Oslo")
	b.addGap(t, a, "SITE-1", "No fence.", "Bergen")
	owner := func(name string) func(*api.POAMItem) bool {
		return func(i *api.POAMItem) bool { return i.ControlCode == "SITE-1" && i.Owner != nil && *i.Owner == name }
	}
	b.planAgain(t, a)
	b.plan(t, b.planItem(t, a, owner("Bergen")), status("completed"))
	b.planAgain(t, a)
	b.plan(t, b.planItem(t, a, owner("Oslo")), status("risk_accepted"))
	b.findAgain(t, a) // the findings have new IDs
	v := b.planAgain(t, a)
	bergen, oslo := b.planItem(t, a, owner("Bergen")), b.planItem(t, a, owner("Oslo"))
	if bergen.Status != "completed" || bergen.RiskAcceptedUntil != nil || oslo.Status != "risk_accepted" ||
		*oslo.Comments != "risk_accepted" {
		t.Errorf("Bergen is %s, Oslo %s", bergen.Status, oslo.Status)
	}
	if !slices.Equal(v.Kept, []string{"SITE-1"}) {
		t.Errorf("kept: %v", v.Kept)
	}

	// Add a manual finding beside a finding of the analysis whose text changes.
	of := b.dossier(t, a).POAMItems[0].ControlCode
	b.addGap(t, a, of, "The VPN has none.", "")
	b.planAgain(t, a)
	analysed := func(i *api.POAMItem) bool { return i.ControlCode == of && i.FindingOrigin == "" }
	b.plan(t, b.planItem(t, a, analysed), status("in_progress"))
	b.editFinding(
		t,
		a,
		func(f *api.Finding) bool { return f.ControlCode == of && f.Source == "analysis" },
		func(in *api.UpdateFindingInput) {
			words := "Reworded by the auditor."
			in.Body.Condition = &words
		},
	)
	v = b.planAgain(t, a)
	by := b.planItem(t, a, func(i *api.POAMItem) bool { return i.ControlCode == of && i.FindingOrigin != "" })
	if i := b.planItem(t, a, analysed); i.Status != "in_progress" || by.Status != "open" || !slices.Contains(v.Kept, of) {
		t.Errorf("of the analysis: %s, by hand: %s, kept: %v", i.Status, by.Status, v.Kept)
	}
}

// TestFindingsComeBackAsTheyWere checks that a finding keeps its edits if its line was temporarily out of scope.
func TestFindingsComeBackAsTheyWere(t *testing.T) {
	b, a := newPlannedAssessment(t, "lgpd")
	code := b.dossier(t, a).Findings[0].ControlCode
	is := func(f *api.Finding) bool { return f.ControlCode == code }
	b.editFinding(t, a, is, func(in *api.UpdateFindingInput) { in.Body.Owner = api.Some("Ann") })
	apply := func(to api.Applicability) {
		i := slices.IndexFunc(b.soaItems(t, a), func(i api.SoAItem) bool { return i.ControlCode == code })
		in := &api.UpdateSoAItemInput{SoAItemID: b.soaItems(t, a)[i].ID}
		why := "the landlord's"
		in.Body.Applicability, in.Body.Rationale = &to, &why
		if _, err := b.Assessments.UpdateSoAItem(t.Context(), b.by, in); err != nil {
			t.Fatal(err)
		}
	}
	apply(api.OutOfScope)
	b.findAgain(t, a)
	if slices.ContainsFunc(b.dossier(t, a).Findings, func(f api.Finding) bool { return is(&f) }) {
		t.Fatal("what is out of scope has a finding")
	}
	apply(api.Applicable)
	if _, err := b.Assessments.DraftSoA(
		t.Context(),
		b.by,
		&api.DraftSoAInput{AssessmentInput: api.AssessmentInput{AssessmentID: a}},
	); err != nil {
		t.Fatal(err)
	}
	v := b.findAgain(t, a)
	found := b.dossier(t, a).Findings
	if n := slices.IndexFunc(found, func(f api.Finding) bool { return is(&f) }); n < 0 || found[n].Owner == nil ||
		*found[n].Owner != "Ann" ||
		!slices.Contains(v.Kept, code) {
		t.Errorf("%d: kept %v", n, v.Kept)
	}
}

// TestApprovedDatesStay checks that approved dates and milestones are kept by edits and new drafts,
// with changes shown separately.
func TestApprovedDatesStay(t *testing.T) {
	b, a := newPlannedAssessment(t, "lgpd")
	submit := &api.SubmitPOAMInput{POAMInput: api.POAMInput{POAMVersionID: b.dossier(t, a).POAM.ID}}
	v, err := b.Assessments.SubmitPOAM(t.Context(), b.by, submit)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.approve(t, *v.ApprovalID); err != nil {
		t.Fatal(err)
	}
	first := b.dossier(t, a).POAMItems[0]
	is := func(i *api.POAMItem) bool { return i.ControlCode == first.ControlCode }
	later := api.Date("2098-12-29")
	i := b.plan(t, &first, func(in *api.UpdatePOAMItemInput) { in.Body.DueDate = &later })
	if i.DueDate != first.DueDate || i.CurrentDueDate() != later || len(i.DueChanges) != 1 || i.DueChanges[0].By != b.by.Actor.Name {
		t.Fatalf("due %s, %+v", i.DueDate, i.DueChanges)
	}
	stones := slices.Clone(i.Milestones)
	stones[0].Changes = []api.MilestoneChange{{DueDate: later, Reason: "Nobody was there."}}
	b.plan(t, i, func(in *api.UpdatePOAMItemInput) { in.Body.Milestones = &stones })
	b.editFinding(t, a, func(f *api.Finding) bool { return f.ControlCode == first.ControlCode }, func(in *api.UpdateFindingInput) {
		low := api.SeverityLow
		in.Body.Severity = &low
	})
	b.planAgain(t, a)
	i = b.planItem(t, a, is)
	if i.DueDate != first.DueDate || i.CurrentDueDate() != later || i.Milestones[0].DueDate != first.Milestones[0].DueDate ||
		len(i.Milestones[0].Changes) != 1 {
		t.Errorf("drafted again: due %s, %+v", i.DueDate, i.Milestones)
	}
	submit.POAMVersionID = i.VersionID
	if v, err = b.Assessments.SubmitPOAM(t.Context(), b.by, submit); err != nil {
		t.Fatal(err)
	}
	if err := b.approve(t, *v.ApprovalID); err != nil {
		t.Fatal(err)
	}
	for what, changes := range map[string][]api.MilestoneChange{"none": nil, "another": {{At: "1999-01-01", By: "Pope", DueDate: later}}} {
		other := slices.Clone(i.Milestones)
		other[0].Changes = changes
		_, err := b.tryPlan(t, i, func(in *api.UpdatePOAMItemInput) { in.Body.Milestones = &other })
		wantCode(t, "an approved change replaced by "+what, err, api.CodeValidation)
	}
}
