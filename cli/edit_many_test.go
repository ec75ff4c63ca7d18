package cli

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// TestEditCountsChangedItems checks that items that only keep their values aren't counted as changed.
func TestEditCountsChangedItems(t *testing.T) {
	r := &api.EditResult{Gate: api.GateSoA, VersionNumber: 2, MatchedCount: 2, Lines: []api.EditedLine{
		{ControlCode: "IAC-01", Changes: []api.FieldChange{{Field: "owner", To: "Ann"}}},
		{ControlCode: "IAC-02"},
	}}
	var b strings.Builder
	out := print.Output{W: &b, Width: 100}
	if err := out.PrintPage(func(p *print.Page) { renderEdit(p, r, "changed") }); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "version 2: 1 item changed, 1 keeps its values\n") {
		t.Error(b.String())
	}
}
