package content

import (
	"testing"

	"github.com/scf-service/service/api"
)

// A quote proves a gap only if it denies or plans the measure itself.
func TestQuotesThatProveAGap(t *testing.T) {
	for quote, want := range map[string]bool{
		"Weaknesses that have not yet led to an incident are reported in the same way.": true,
		"Roles that nobody confirms are removed.":                                       true,
		"Weaknesses that have led to an incident are not reported.":                     false,
		"Servers that are not in the register are not patched.":                         false,
		"We do not yet encrypt laptops.":                                                false,
		"Restores have not been tested.":                                                false,
	} {
		if got := deniesOnlyInSubject(quote); got != want {
			t.Errorf("%q: %t", quote, got)
		}
	}
	for quote, want := range map[string]bool{
		"Customs data moves to new message formats in 2027; authorities expect proof of data quality.": false,
		"The customs interface moves in 2027; data quality will be measured from then on.":             true,
		"Data quality rules are bought in the 2027 budget; their use is to begin in May.":              true,
		"Rules for data quality are planned.":                                                          true,
		"Engineering writes data quality rules by 2027-06-30.":                                         true,
		"No.: 3; Work: Data quality; When: Q3 2027":                                                    true,
	} {
		e := api.Evidence{Quote: quote, Statement: "Data quality rules are defined for personal data. Data quality is measured."}
		if got := plansMatchingClause(&e); got != want {
			t.Errorf("%q: %t", quote, got)
		}
	}
}
