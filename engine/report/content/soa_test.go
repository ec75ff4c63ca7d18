package content

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestAnnexSaysAReasonOnce checks that a reason shared by several controls of an Annex A requirement is stated
// once.
func TestAnnexSaysAReasonOnce(t *testing.T) {
	r := requirementCoverage{code: "A.5.9", status: statusPartly}
	for _, code := range []string{"AST-01", "AST-02", "AST-03"} {
		it := api.SoAItem{Item: api.Item{ControlCode: code}, Applicability: api.Applicable, Rationale: "It concerns every organization."}
		if code == "AST-03" {
			it.Rationale = "The organization has facilities."
		}
		r.items = append(r.items, &it)
	}
	v := New(&Source{}, TemplateFull, "", false)
	var said string
	for _, x := range v.annexATable([]requirementCoverage{r}).Rows[0].Cells[2] {
		said += x.Text
	}
	if want := "AST-01, AST-02: It concerns every organization.\nAST-03: The organization has facilities."; !strings.Contains(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}
