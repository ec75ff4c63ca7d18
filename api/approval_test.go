package api_test

import (
	"encoding/json"
	"testing"

	"github.com/scf-service/service/api"
)

// An approval that was stored when void was a status of its own is a rejected one that nobody decided.
func TestVoidApprovalOfTheOldForm(t *testing.T) {
	var p api.Approval
	old := `{"id":"01890000-0000-7000-8000-000000000001","gate":"soa","status":"void","reason":"changed while under review","decided_by":null}`
	if err := json.Unmarshal([]byte(old), &p); err != nil {
		t.Fatal(err)
	}
	if p.ID == "" || p.Status != api.ApprovalRejected || !p.Void || p.DisplayStatus() != "void" || p.DecidedBy != nil {
		t.Errorf("%+v", p)
	}
}
