package daemon_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/engine/api"
)

// A reason of blanks, or of signs that nobody sees, is none.
func TestReasonsSaySomething(t *testing.T) {
	g := newAtGate(t)
	for _, reason := range []string{"  \n ", "\u200b", "\u2800 \u3164"} {
		if a := g.owner.do("POST", g.path(api.RejectApproval.Path), map[string]any{"reason": reason}); a.status != 400 || !strings.Contains(a.text, "say why it is rejected") {
			t.Errorf("%q: %d %s", reason, a.status, a.text)
		}
		edit := map[string]any{"applicability": "out_of_scope", "rationale": reason}
		if a := g.owner.do("PATCH", g.path(api.UpdateSoAItem.Path), edit); a.status != 400 || !strings.Contains(a.text, "say why") {
			t.Errorf("%q: %d %s", reason, a.status, a.text)
		}
		if a := g.owner.do("PATCH", g.path(api.UpdateSoAItem.Path), map[string]any{"owner": reason}); a.status != 400 {
			t.Errorf("an owner %q: %d %s", reason, a.status, a.text)
		}
	}
	g.owner.must("POST", g.path(api.RejectApproval.Path), map[string]any{"reason": "服务器"})
}
