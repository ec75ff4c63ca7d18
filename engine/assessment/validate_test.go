package assessment

import (
	"testing"

	"github.com/scf-service/service/api"
)

// Where a scope leaves everything out, the Statement of Applicability says so; not while a line is undecided.
func TestNothingApplies(t *testing.T) {
	for last, want := range map[api.Applicability]bool{api.OutOfScope: true, api.Undecided: false, api.Applicable: false} {
		said := false
		for _, i := range checkSoARules([]api.SoAItem{
			{Applicability: api.NotApplicable, Rationale: "It has none."},
			{Applicability: last, Rationale: "It has none."},
		}) {
			said = said || i.Rule == "something-applies"
		}
		if said != want {
			t.Errorf("with one line %s: said %t, want %t", last, said, want)
		}
	}
}
