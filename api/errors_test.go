package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestMissingDecisionHasApprovalID checks that approval_id is null if a decision is missing and nothing was submitted,
// and absent from the details of other errors.
func TestMissingDecisionHasApprovalID(t *testing.T) {
	id := "approval-1"
	for want, detail := range map[string]api.ErrorDetail{
		`"approval_id":null`:         {Gate: api.GateSoA, Reason: "not submitted"},
		`"approval_id":"approval-1"`: {Gate: api.GateSoA, Reason: "not decided", ApprovalID: &id},
		`{"field":"name"}`:           {Field: "name"},
	} {
		b, err := json.Marshal(api.ErrorEnvelope{Error: &api.Error{Details: []api.ErrorDetail{detail}}})
		if err != nil || !strings.Contains(string(b), want) || strings.Count(string(b), "approval_id") > 1 {
			t.Errorf("%s, %v, want %s", b, err, want)
		}
	}
}
