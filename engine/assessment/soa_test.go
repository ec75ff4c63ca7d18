package assessment

import (
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// rulesBroken returns the names of the rules that items break.
func rulesBroken(items ...api.SoAItem) (names []string) {
	for _, i := range findSoAIssues(items) {
		names = append(names, i.Rule)
	}
	return names
}

func TestRulesOfTheStatementOfApplicability(t *testing.T) {
	owner := "Ann"
	good := api.SoAItem{
		Applicability: api.Applicable, ImplementationStatus: api.Implemented, InclusionReasons: []string{"risk"},
		Owner: &owner, Evidence: []api.Evidence{{Quote: "We do."}}, CoverageRatio: 1,
	}
	excluded := api.SoAItem{
		Applicability:        api.NotApplicable,
		ImplementationStatus: api.NotAssessed,
		Rationale:            "No premises.",
	}
	with := func(i api.SoAItem, change func(*api.SoAItem)) api.SoAItem { change(&i); return i }
	for name, c := range map[string]struct {
		item api.SoAItem
		want string
	}{
		"good":                       {good, ""},
		"undecided":                  {with(good, func(i *api.SoAItem) { i.Applicability = api.Undecided }), "applicability-decided"},
		"excluded":                   {excluded, "something-applies"},
		"excluded without rationale": {with(excluded, func(i *api.SoAItem) { i.Rationale = " " }), "exclusion-justified something-applies"},
		"excluded but implemented":   {with(excluded, func(i *api.SoAItem) { i.ImplementationStatus = api.Implemented }), "excluded-not-assessed something-applies"},
		"no inclusion reason":        {with(good, func(i *api.SoAItem) { i.InclusionReasons = nil }), "inclusion-justified"},
		"not assessed":               {with(good, func(i *api.SoAItem) { i.ImplementationStatus = api.NotAssessed }), "applicable-assessed"},
		"implemented without proof":  {with(good, func(i *api.SoAItem) { i.Evidence = nil }), "implemented-evidenced"},
		"no owner":                   {with(good, func(i *api.SoAItem) { i.Owner = nil }), "owner-named"},
	} {
		if got := strings.Join(rulesBroken(c.item), " "); got != c.want {
			t.Errorf("%s breaks %q, want %q", name, got, c.want)
		}
	}
	if err := checkSoASubmittable([]api.SoAItem{good, with(good, func(i *api.SoAItem) { i.Owner = nil })}); err != nil {
		t.Errorf("warnings block the submission: %v", err)
	}
	err := checkSoASubmittable(
		[]api.SoAItem{good, with(good, func(i *api.SoAItem) { i.Applicability = api.Undecided })},
	)
	if !api.IsCode(err, api.CodeInvalidState) || len(api.AsError(err).Details) != 1 {
		t.Errorf("an undecided item: %v", err)
	}
}

func TestNothingApplies(t *testing.T) {
	for last, want := range map[api.Applicability]bool{api.OutOfScope: true, api.Undecided: false, api.Applicable: false} {
		got := slices.Contains(rulesBroken(
			api.SoAItem{Applicability: api.NotApplicable, Rationale: "It has none."},
			api.SoAItem{Applicability: last, Rationale: "It has none."},
		), "something-applies")
		if got != want {
			t.Errorf("with one line %s: reported is %t, want %t", last, got, want)
		}
	}
}

// Editing an owner or note is not a review, so the line still needs one in the next draft.
func TestEditsThatCountAsReview(t *testing.T) {
	for field, reviewed := range map[string]bool{
		"owner": false, "note": false, "rationale": false,
		"applicability": true, "implementation_status": true, "needs_review": true,
	} {
		from := api.SoAItem{Applicability: api.Applicable, ImplementationStatus: api.Implemented}
		to := api.SoAItem{Applicability: api.Applicable, ImplementationStatus: api.Planned, NeedsReview: true}
		if copySoAField(&to, &from, field); to.NeedsReview == reviewed {
			t.Errorf("after an edit of %s, the line needs review: %t", field, to.NeedsReview)
		}
	}
}

func TestStatusOfAnExcludedLineIsDropped(t *testing.T) {
	ann := "Ann"
	line := func(a api.Applicability, fields ...string) api.SoAItem {
		i := api.SoAItem{Applicability: a, ImplementationStatus: api.Implemented}
		i.ControlCode, i.EditedBy, i.EditedFields = string(a), &ann, fields
		return i
	}
	d := draft[api.SoAItem]{
		items: []api.SoAItem{
			line(api.NotApplicable, "implementation_status"), line(api.OutOfScope, "implementation_status", "owner"),
			line(api.Applicable, "implementation_status"),
		},
		editedControls: []string{"not_applicable", "out_of_scope", "applicable"},
	}
	dropContradictingStatus(&d)
	if i := d.items[0]; i.ImplementationStatus != api.NotAssessed || i.EditedBy != nil ||
		!strings.Contains(i.Reason, "set by Ann (implemented) was removed") {
		t.Errorf("excluded: %s, %q", i.ImplementationStatus, i.Reason)
	}
	if i := d.items[1]; i.ImplementationStatus != api.NotAssessed || i.EditedBy == nil ||
		!slices.Equal(i.EditedFields, []string{"owner"}) {
		t.Errorf("excluded with an owner: %s, %v", i.ImplementationStatus, i.EditedFields)
	}
	if i := d.items[2]; i.ImplementationStatus != api.Implemented {
		t.Errorf("applicable: %s", i.ImplementationStatus)
	}
	if !slices.Equal(d.editedControls, []string{"out_of_scope", "applicable"}) {
		t.Errorf("edited controls %v", d.editedControls)
	}
}

func TestFilters(t *testing.T) {
	owner := "Ann Alba, CISO"
	item := api.Item{ControlCode: "IAC-06", DomainCode: "IAC"}
	for name, got := range map[string]bool{
		"any control":       matchesDomainAndControl(item, "", ""),
		"domain, any case":  matchesDomainAndControl(item, "iac", ""),
		"control, any case": matchesDomainAndControl(item, "IAC", "iac-06"),
		"any owner":         matchesOwner("", nil),
		"owner in full":     matchesOwner("ann alba, ciso", &owner),
		"owner's name":      matchesOwner("Ann Alba", &owner),
		"empty query":       matchesQuery(""),
		"query in any text": matchesQuery("multi", "x", "Multi-factor"),
	} {
		if !got {
			t.Errorf("%s doesn't match", name)
		}
	}
	for name, got := range map[string]bool{
		"another domain":  matchesDomainAndControl(item, "NET", ""),
		"another control": matchesDomainAndControl(item, "", "IAC-07"),
		"no owner":        matchesOwner("Ann", nil),
		"another owner":   matchesOwner("Bob", &owner),
		"query in none":   matchesQuery("multi", "x"),
	} {
		if got {
			t.Errorf("%s matches", name)
		}
	}
}
