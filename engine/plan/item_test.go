package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/gap"
)

const today api.Date = "2026-11-20"

func TestRemediation(t *testing.T) {
	for severity, due := range map[api.Severity]api.Date{
		api.SeverityCritical: "2026-12-18", // the 20th is a Sunday
		api.SeverityHigh:     "2027-02-18", api.SeverityMedium: "2027-05-19", api.SeverityLow: "2027-11-19",
	} {
		missing := api.SoAItem{Applicability: api.Applicable, ImplementationStatus: api.NotImplemented}
		f, _ := gap.DraftFinding(weighted(9), missing, nil, nil)
		f.Severity = severity
		p := DraftPOAMItem(weighted(9), f, MaturityGoal{}, today)
		if p.DueDate != due || len(p.Milestones) == 0 || p.Milestones[len(p.Milestones)-1].DueDate != due {
			t.Errorf("%s: due %s, %+v", severity, p.DueDate, p.Milestones)
		}
		if !slices.IsSortedFunc(
			p.Milestones,
			func(a, b api.Milestone) int { return strings.Compare(string(a.DueDate), string(b.DueDate)) },
		) {
			t.Errorf("milestones out of order: %+v", p.Milestones)
		}
		if p.OwnerRole == "" || p.Status != "open" || len(p.AcceptanceCriteria) == 0 || len(p.ExpectedEvidence) == 0 ||
			p.ActionType != "implement" {
			t.Errorf("%+v", p)
		}
	}
}

// A plan item states the criteria of its target level, unless the level is already reached.
func TestItemStatesTargetLevel(t *testing.T) {
	c := weighted(9)
	c.Maturity = map[string]string{"3": "One way holds everywhere.", "4": "Figures are watched."}
	f := api.Finding{Status: api.PartiallyImplemented, Severity: api.SeverityHigh}
	for aim, want := range map[MaturityGoal]string{
		{}: "Level 3 is reached: One way holds everywhere.", {Target: 4, Current: 2, Rated: true}: "Level 4 is reached: Figures are watched.",
		{Target: 3, Current: 3, Rated: true}: "", {Rated: true}: "",
	} {
		p := DraftPOAMItem(c, f, aim, today)
		if got := strings.Join(p.AcceptanceCriteria, "\n"); want != "" && !strings.Contains(got, want) ||
			want == "" && strings.Contains(got, "Level") {
			t.Errorf("%+v: %q", aim, got)
		}
		if aim.Rated && p.TargetLevel != aim.Target {
			t.Errorf("%+v: aims at %d", aim, p.TargetLevel)
		}
	}
}

// A control that is not in the catalog is named once, by its code.
func TestItemOfControlMissingFromCatalog(t *testing.T) {
	p := DraftPOAMItem(
		api.Control{Code: "SITE-1", Title: "SITE-1"},
		api.Finding{Status: api.NotImplemented, Condition: "No fence."},
		MaturityGoal{},
		today,
	)
	if p.Weakness != "SITE-1 is not implemented. No fence." || !strings.Contains(p.CorrectiveAction, "“SITE-1”") ||
		!strings.Contains(p.AcceptanceCriteria[0], "SITE-1") {
		t.Errorf("%q, %q, %q", p.Weakness, p.CorrectiveAction, p.AcceptanceCriteria)
	}
}

func weighted(w int) api.Control {
	c := api.Control{
		Code:                 "OWN-01",
		Title:                "Multi-factor authentication",
		DomainCode:           "IAC",
		AssessmentObjectives: []api.AssessmentObjective{{Text: "MFA is required."}},
	}
	c.Weight = &w
	c.IsMaterial = w == 10
	return c
}

// A drafted action can be taken apart again, also one of merged items. What a user wrote is kept.
func TestPartsOfAction(t *testing.T) {
	f := api.Finding{
		Status: api.PartiallyImplemented, GapType: "implementation",
		MissingElements: []string{"Keys rotate.", "Logs: e.g. of access. And more."},
	}
	p := DraftPOAMItem(weighted(5), f, MaturityGoal{}, today)
	step, whole := FirstStep(&p), p.CorrectiveAction
	if !strings.HasSuffix(step, ": “Keys rotate”") || strings.Contains(step, firstStepLabel) {
		t.Errorf("the first step is %q", step)
	}
	short := ShortAction(&p)
	if !strings.HasSuffix(short, firstStepLabel+" "+step+".") || strings.Contains(short, "Logs") || len(short) >= len(whole) {
		t.Errorf("of %q remains %q", whole, short)
	}
	merged := mergeItem(p, p)
	if got := ShortAction(&merged); got != short+" "+short {
		t.Errorf("of two actions remains %q", got)
	}
	p.ExpectedEvidence = nil
	if got := ShortAction(&p); !strings.Contains(got, proofLabel) || !strings.Contains(got, ownerLabel) {
		t.Errorf("without expected evidence, %q remains", got)
	}
	p.EditedFields = []string{"corrective_action"}
	if got := ShortAction(&p); got != whole {
		t.Errorf("of a user's text, %q remains", got)
	}
	p.CorrectiveAction = "Call the vendor."
	if step := FirstStep(&p); step != "" {
		t.Errorf("the first step is %q", step)
	}
}
