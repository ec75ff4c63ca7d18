package content

import (
	"testing"

	"github.com/scf-service/service/api"
)

// TestAnnexReasons checks that a control of Annex A has four separate answers to why it applies, and states the
// reason for an exclusion only once.
func TestAnnexReasons(t *testing.T) {
	item := func(code, why string, a api.Applicability, reasons ...string) *api.SoAItem {
		return &api.SoAItem{Item: api.Item{ControlCode: code}, Applicability: a, Rationale: why, InclusionReasons: reasons}
	}
	v := New(&Source{}, TemplateFull, "", false)
	rows := v.annexATable([]requirementCoverage{
		{code: "A.5.9", items: []*api.SoAItem{
			item("AST-01", "", api.Applicable, "framework"), item("AST-02", "", api.Applicable, "legal", "risk"),
			item("AST-03", "No.", api.OutOfScope),
		}},
		{code: "A.7.1", status: statusExcluded, items: []*api.SoAItem{
			item("PES-01", "No premises.", api.OutOfScope), item("PES-02", "No premises.", api.NotApplicable),
		}},
	}).Rows
	for n, want := range [][]string{
		{"A.5.9", "Yes", "Yes", "–", "Yes", "Yes"},
		{"A.7.1", "No", "–", "–", "–", "–"},
	} {
		for i, w := range want {
			if got := rows[n].Cells[i].Text(); got != w {
				t.Errorf("%s, column %d: %q, want %q", want[0], i, got, w)
			}
		}
	}
	if got := rows[1].Cells[7].Text(); got != "No premises." {
		t.Errorf("%q", got)
	}
}
