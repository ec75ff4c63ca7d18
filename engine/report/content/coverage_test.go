package content

import (
	"testing"

	"github.com/scf-service/service/api"
)

func TestRequirementOutcome(t *testing.T) {
	item := func(a api.Applicability, s api.Implementation) *api.SoAItem {
		return &api.SoAItem{Applicability: a, ImplementationStatus: s}
	}
	in := func(s api.Implementation) *api.SoAItem { return item(api.Applicable, s) }
	out, open := item(api.NotApplicable, api.NotAssessed), item(api.Undecided, api.NotAssessed)
	for _, tc := range []struct {
		name  string
		items []*api.SoAItem
		want  coverageStatus
	}{
		{"no control", nil, statusUnmapped},
		{"all excluded", []*api.SoAItem{out, item(api.OutOfScope, api.NotAssessed)}, statusExcluded},
		{"excluded ones do not count", []*api.SoAItem{out, in(api.Implemented)}, statusImplemented},
		{"one of two", []*api.SoAItem{in(api.Implemented), in(api.NotEvidenced)}, statusPartly},
		{"an undecided one keeps it from being whole", []*api.SoAItem{in(api.Implemented), open}, statusPartly},
		{"planned before missing", []*api.SoAItem{in(api.NotImplemented), in(api.Planned)}, statusPlanned},
		{"missing before not evidenced", []*api.SoAItem{in(api.NotEvidenced), in(api.NotImplemented)}, statusMissing},
		{"not evidenced is never missing", []*api.SoAItem{in(api.NotEvidenced), open}, statusNotEvidenced},
		{"undecided", []*api.SoAItem{open}, statusNotAssessed},
		{"unknown values", []*api.SoAItem{item("maybe", "sort of")}, statusNotAssessed},
	} {
		if got := requirementStatus(tc.items); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestAnnexA(t *testing.T) {
	// If the catalog's ISO 27001 contains only the clauses, ISO 27002 provides the controls.
	s := &Source{
		Frameworks: []api.Framework{{Code: "iso-27001-2022"}, {Code: "iso-27002-2022"}},
		Requirements: map[string][]api.Requirement{
			"iso-27001-2022": {{Code: "4.1"}},
			"iso-27002-2022": {{Code: "5.10", SortOrder: 2}, {Code: "5.2", SortOrder: 1}},
		},
	}
	rows, ok := annexAControls(computeCoverage(s))
	if !ok || len(rows) != 2 || rows[0].code != "A.5.2" || rows[1].code != "A.5.10" {
		t.Errorf("Annex A by ISO 27002: %v %v", ok, rows)
	}
	if _, ok := annexAControls(nil); ok {
		t.Error("Annex A without ISO 27001")
	}
}
