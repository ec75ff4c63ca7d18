package cli

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestWhichLineIsMeant checks that a code shared by several items is rejected with their ids, and that an id
// selects one.
func TestWhichLineIsMeant(t *testing.T) {
	w := newWorld(t)
	w.fake.assessment("Acme", api.StateGapAnalysisDrafted)
	for n, says := range []string{"No fence in Oslo.", "No fence in Bergen."} {
		f := api.Finding{Condition: says}
		f.ID, f.AssessmentID, f.ControlCode = idOf(50+n), idOf(1), "SITE-1"
		w.fake.findings = append(w.fake.findings, f)
	}
	edit := w.run("gap", "edit", "site-1", "--owner", "Ada")
	w.want(edit, 2, idOf(50), "No fence in Oslo.", idOf(51), "No fence in Bergen.", "by its ID")
	w.want(w.run("gap", "show", idOf(51)), 0, "No fence in Bergen.")

	items := []*api.POAMItem{{POAMCode: "POAM-001"}, {POAMCode: "POAM-002"}}
	_, err := requireSingle(
		"SITE-1",
		"item",
		items,
		nil,
		func(i *api.POAMItem) *api.Item { return &i.Item },
		func(i *api.POAMItem) string { return i.POAMCode },
	)
	if err == nil || !strings.Contains(err.Error(), "POAM-001") || !strings.Contains(err.Error(), "POAM-002") {
		t.Error(err)
	}
}
