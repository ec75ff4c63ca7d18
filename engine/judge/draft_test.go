package judge

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func TestApplicability(t *testing.T) {
	person := func(v string) api.Trait { return api.Trait{Value: v, Source: "user"} }
	for _, tc := range []struct {
		name   string
		c      api.Control
		traits map[string]api.Trait
		want   api.Applicability
		says   string
	}{
		{"no traits", api.Control{}, nil, api.Applicable, "every organization"},
		{"unknown", api.Control{Traits: []string{"handles_cards"}}, nil, api.Applicable, "known whether"},
		{
			"true",
			api.Control{Traits: []string{"handles_cards", "uses_ai"}},
			map[string]api.Trait{"uses_ai": {Value: "true", Source: "evidence"}, "handles_cards": person("false")},
			api.Applicable,
			"artificial",
		},
		{
			"person says no",
			api.Control{Traits: []string{"handles_cards"}},
			map[string]api.Trait{"handles_cards": person("false")},
			api.NotApplicable,
			"user stated",
		},
		{
			"documents say no",
			api.Control{Traits: []string{"handles_cards"}},
			map[string]api.Trait{"handles_cards": {Value: "false", Source: "evidence"}},
			api.Applicable,
			"confirmed",
		},
		{
			"one no, one unknown",
			api.Control{Traits: []string{"handles_cards", "has_ot"}},
			map[string]api.Trait{"handles_cards": person("false")},
			api.Applicable,
			"known whether",
		},
		{
			"facility",
			api.Control{Applicability: []string{"facility"}},
			map[string]api.Trait{"has_facilities": person("false")},
			api.NotApplicable,
			"premises",
		},
		{
			"facility and process",
			api.Control{Applicability: []string{"facility", "process"}},
			map[string]api.Trait{"has_facilities": person("false")},
			api.PartiallyApplicable,
			"premises",
		},
		{
			"a site to fall back on",
			api.Control{DomainCode: "BCD", Applicability: []string{"facility"}},
			map[string]api.Trait{"has_facilities": person("false")},
			api.PartiallyApplicable,
			"providers",
		},
		{"facility unknown", api.Control{Applicability: []string{"facility"}}, nil, api.Applicable, "every"},
		{"deprecated", api.Control{IsDeprecated: true}, nil, api.NotApplicable, "deprecated"},
	} {
		if got, why := DetermineApplicability(tc.c, tc.traits); got != tc.want || !strings.Contains(why, tc.says) {
			t.Errorf("%s: %s, %q", tc.name, got, why)
		}
	}
}

func TestTraits(t *testing.T) {
	ps := memoryFinder{
		policy("Our developers write source code that is reviewed before it is merged."),
		policy("Laptops are enrolled in Intune."),
		policy("We do not process payment card data."),
		policy("If artificial intelligence is used, the owner must approve it."),
		policy("Visitors sign in at the reception of our main office."),
		policy("We do not use mobile devices."), passage("register", "The register lists smartphones and tablets of the staff."),
		policy("[Company] runs operational technology."),
	}
	got, err := DetectTraits(context.Background(), ps, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"develops_software": "true", "uses_cloud": "true", "handles_cards": "false", "uses_ai": "unknown",
		"has_facilities": "true", "has_mobile_devices": "unknown", "has_ot": "unknown", "processes_personal_data": "unknown",
	} {
		if got[name].Value != want || got[name].Reason == "" {
			t.Errorf("%s: %+v, want %s", name, got[name], want)
		}
	}
	if len(got) != len(api.TraitNames) {
		t.Errorf("%d traits", len(got))
	}
}

func TestSameOwners(t *testing.T) {
	owners := map[string]string{
		"a": "Jonas Wexley",
		"b": "Jonas Wexley, Infrastructure Lead",
		"c": "Ana Roe (CISO)",
		"d": "Head of IT",
		"e": "Head of IT, Paris",
		"f": "Head of IT, Rome",
		"g": "Jonas Wexley, Infrastructure Lead",
	}
	ShortenUnambiguousOwners(owners)
	want := map[string]string{
		"a": "Jonas Wexley",
		"b": "Jonas Wexley",
		"c": "Ana Roe (CISO)",
		"d": "Head of IT",
		"e": "Head of IT, Paris",
		"f": "Head of IT, Rome",
		"g": "Jonas Wexley",
	}
	if !maps.Equal(owners, want) {
		t.Errorf("%v", owners)
	}
	for owner, name := range map[string]string{"Ana Roe (CISO)": "Ana Roe", "Head of IT, Paris": "Head of IT", "Ana Roe": "Ana Roe", "": ""} {
		if got := OwnerName(owner); got != name {
			t.Errorf("%q is %q", owner, got)
		}
	}
}

func TestSoA(t *testing.T) {
	c := control("Multi-factor authentication", "MFA is required.")
	c.IsMaterial = true
	c.Risks = []string{"R-1"}
	p := policy("MFA is required for all users by the IT team.")
	j := judge(t, c, p)
	item := DraftSoAItem(c, api.RequirementCodes{"gdpr": {"Art 32"}, "pci-dss-4.0.1": {"8.4.2"}, "iso-27001-2022": {"A.8.5"}}, j,
		Inclusion{
			Applicability: api.Applicable, Rationale: "It applies.", Owners: map[string]string{p.DocumentID: "CISO"},
			FrameworkNames: map[string]string{"iso-27001-2022": "ISO/IEC 27001:2022", "gdpr": ""},
		})
	if !slices.Equal(item.InclusionReasons, []string{"legal", "contractual", "framework", "risk"}) {
		t.Errorf("reasons %v", item.InclusionReasons)
	}
	if item.Owner == nil || *item.Owner != "CISO" ||
		!strings.Contains(item.Rationale, "Required by gdpr, ISO/IEC 27001:2022 and pci-dss-4.0.1.") ||
		!item.NeedsReview {
		t.Errorf("%+v", item)
	}
	out := DraftSoAItem(c, nil, j, Inclusion{Applicability: api.NotApplicable, Rationale: "No."})
	if out.ImplementationStatus != api.NotAssessed || len(out.Evidence) != 0 || !out.NeedsReview || out.Rationale != "No." {
		t.Errorf("%+v", out)
	}
}

func TestCategory(t *testing.T) {
	for _, tc := range []struct{ file, title, text, want string }{
		{"access-control.md", "Access control policy", "", "policy"},
		{"log.pdf", "Log management policy", "", "policy"},
		{"asset_register_2026.xlsx", "", "", "register"},
		{"restore-test-log.csv", "", "", "log"},
		{"pentest-report-2026.pdf", "", "", "report"},
		{"IR_Plan.docx", "Incident response plan", "", "plan"},
		{"onboarding-procedure.md", "", "", "procedure"},
		{"dpa.pdf", "Data processing agreement", "", "contract"},
		{"x.docx", "", "[Company name] owns this. [Insert date]. Approved by [name].", "template"},
		{"policy-template.docx", "", "", "template"},
		{"app.txt", "", "2026-01-01 10:00:01 a\n2026-01-01 10:00:02 b\n2026-01-01 10:00:03 c\n", "log"},
		{"a.md", "", "Users must sign. Keys must rotate. Doors shall close.", "policy"},
		{"photo.md", "", "A walk in the park.", "other"},
	} {
		if got := GuessCategory(tc.file, tc.title, tc.text); got != tc.want {
			t.Errorf("%s, %q: %s, want %s", tc.file, tc.title, got, tc.want)
		}
		if !slices.Contains(Categories, tc.want) {
			t.Errorf("%s is no category", tc.want)
		}
	}
}

func TestIsNamedOwner(t *testing.T) {
	for owner, want := range map[string]bool{
		"Head of IT": true, "Ada Byron, CISO": true, "[TBD]": false, "TBC": false, "t.b.d.": false, "n/a": false,
		"to be agreed (IT Services or People?)": false, "–": false, "<name>": false, "Not yet appointed": false, "": false, "open": false, "Open Source Office": true,
	} {
		if got := IsNamedOwner(owner); got != want {
			t.Errorf("%q: %v, want %v", owner, got, want)
		}
	}
}
