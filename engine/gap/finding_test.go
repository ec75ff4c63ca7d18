package gap

import (
	"context"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
)

const today api.Date = "2026-11-20"

func soaItem(status api.Implementation, ratio float64) api.SoAItem {
	coverage := api.CoverageWeak
	if ratio >= judge.MinStrongRatio {
		coverage = api.CoverageStrong
	}
	return api.SoAItem{
		Item:                 api.Item{ControlCode: "IAC-06", RequirementCodes: api.RequirementCodes{"iso-27001-2022": {"A.8.5"}}},
		Applicability:        api.Applicable,
		ImplementationStatus: status,
		CoverageRatio:        ratio,
		EvidenceCoverage:     coverage,
		Reason:               "Because.",
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

func TestFinding(t *testing.T) {
	for _, tc := range []struct {
		item   api.SoAItem
		gap    bool
		result api.Result
	}{
		{soaItem(api.Implemented, 1), false, ""},
		{soaItem(api.Implemented, 0.5), true, api.Met},
		{soaItem(api.PartiallyImplemented, 0.5), true, api.PartiallyMet},
		{soaItem(api.NotEvidenced, 0), true, api.ResultNoEvid},
		{soaItem(api.NotImplemented, 0), true, api.NotMet},
		{soaItem(api.Planned, 0), true, api.NotMet},
		{soaItem(api.NotAssessed, 0), false, ""},
		{api.SoAItem{Applicability: api.NotApplicable, ImplementationStatus: api.NotImplemented}, false, ""},
		{api.SoAItem{Applicability: api.Undecided, ImplementationStatus: api.NotEvidenced}, false, ""},
	} {
		f, ok := DraftFinding(weighted(9), tc.item, nil, nil)
		if ok != tc.gap || f.Result != tc.result {
			t.Fatalf("%s, %s: %v %s", tc.item.Applicability, tc.item.ImplementationStatus, ok, f.Result)
		}
		if ok &&
			(f.Condition == "" || f.Criteria == "" || f.Cause == "" || f.Effect == "" || f.Recommendation == "" || f.GapType == "" ||
				f.SeverityReason == "" || f.Source != "analysis" || !f.InCatalog) {
			t.Errorf("a field is empty: %+v", f)
		}
	}
}

// noEvidence finds nothing.
type noEvidence struct{}

func (noEvidence) Find(context.Context, string, int) ([]judge.Passage, error) { return nil, nil }

func TestNotEvidencedIsNeverNotImplemented(t *testing.T) {
	c := weighted(9)
	j, err := judge.Evaluate(t.Context(), c, noEvidence{}, judge.Options{Today: today})
	if err != nil || j.Implementation != api.NotEvidenced {
		t.Fatalf("%v, %v", j.Implementation, err)
	}
	item := judge.DraftSoAItem(c, nil, j, judge.Inclusion{Applicability: api.Applicable})
	f, _ := DraftFinding(c, item, nil, nil)
	all := strings.ToLower(
		strings.Join(
			[]string{
				item.Reason,
				f.Condition,
				f.Criteria,
				f.Cause,
				f.Effect,
				f.Recommendation,
				string(f.Status),
				string(f.Result),
				f.SeverityReason,
			},
			" ",
		),
	)
	if strings.Contains(all, "not implemented") || strings.Contains(all, "not_implemented") {
		t.Errorf("said of what is only not evidenced: %s", all)
	}
}

// A finding quotes the user's note, and drops the automatic notes on missing elements if a user set the status.
func TestFindingOfEditedItem(t *testing.T) {
	note := "Seen at the data centre on 3 March."
	item := soaItem(api.PartiallyImplemented, 0.5)
	item.MissingElements = []string{"Networks are separated (the documents state the opposite)", "Links are encrypted"}
	item.Note = &note
	f, _ := DraftFinding(weighted(5), item, nil, nil)
	if f.MissingElements[0] != item.MissingElements[0] || !strings.Contains(f.Condition, "Note: “Seen at the data centre on 3 March”.") {
		t.Errorf("%q, %q", f.MissingElements, f.Condition)
	}
	item.EditedFields = []string{"implementation_status"}
	if f, _ = DraftFinding(weighted(5), item, nil, nil); f.MissingElements[0] != "Networks are separated" ||
		item.MissingElements[0] == f.MissingElements[0] {
		t.Errorf("%q of %q", f.MissingElements, item.MissingElements)
	}
}

func TestCompensatingControls(t *testing.T) {
	name := "Session limits"
	for w, offered := range map[int]bool{9: true, 10: false} {
		c := weighted(w)
		c.CompensatingControls = []api.CompensatingControl{{ControlCode: "IAC-25", Name: &name}}
		f, _ := DraftFinding(c, soaItem(api.NotImplemented, 0), nil, nil)
		if got := strings.Contains(f.Recommendation, "IAC-25 (Session limits; not part of this assessment)"); got != offered {
			t.Errorf("weight %d: %q", w, f.Recommendation)
		}
	}
}

// Only compensating controls in scope are named, with their status.
func TestCompensatingControlsInScope(t *testing.T) {
	c := weighted(5)
	c.CompensatingControls = []api.CompensatingControl{{ControlCode: "IAC-25"}, {ControlCode: "MON-02"}, {ControlCode: "MON-02"}}
	f, _ := DraftFinding(c, soaItem(api.NotImplemented, 0), map[string]api.Implementation{"MON-02": api.PartiallyImplemented}, nil)
	if want := "possible compensating controls: MON-02 (partially implemented)."; !strings.HasSuffix(f.Recommendation, want) {
		t.Errorf("%q, want %q", f.Recommendation, want)
	}
}

func TestCauseOfContradictions(t *testing.T) {
	for _, tc := range []struct{ reason, want string }{
		{"One document contradicts itself: …", "may be inconsistent"},
		{"Not followed: …", "not followed consistently, or not at all"},
		{"Passages disagree: …", "One document may have been updated and another not"},
	} {
		item := api.SoAItem{
			ImplementationStatus: api.PartiallyImplemented,
			Statements:           []api.Statement{{Verdict: judge.VerdictConflicting, Reason: tc.reason}, {Verdict: judge.VerdictCovered}},
		}
		if cause := describeCause(item); !strings.Contains(cause, tc.want) {
			t.Errorf("cause of %q: %s", tc.reason, cause)
		}
	}
}
