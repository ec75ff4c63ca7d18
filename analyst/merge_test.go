package analyst

import (
	"slices"
	"testing"

	"github.com/scf-service/service/engine/api"
)

func TestMerge(t *testing.T) {
	item := func(code, action string, severity api.Severity, due api.Date) api.POAMItem {
		return api.POAMItem{Item: api.Item{ControlCode: code}, ActionType: action, OwnerRole: "IT", Severity: severity, DueDate: due, Effort: "small", Status: "open", AcceptanceCriteria: []string{"shown: " + code, "checked"}}
	}
	started := item("IAC-10.9", "document", api.SeverityLow, "2027-05-19")
	started.Status = "in_progress"
	got := Merge([]api.POAMItem{
		item("IAC-10.8", "document", api.SeverityHigh, "2027-01-19"), item("IAC-10", "document", api.SeverityLow, "2027-05-19"), item("IAC-10.1", "implement", api.SeverityLow, "2027-05-19"),
		item("IAC-11", "document", api.SeverityLow, "2027-05-19"), started,
	})
	var codes []string
	for _, it := range got {
		codes = append(codes, it.ControlCode)
	}
	if want := []string{"IAC-10", "IAC-10.1", "IAC-10.9", "IAC-11"}; !slices.Equal(codes, want) {
		t.Fatalf("%v, want %v", codes, want)
	}
	first := got[0]
	if !slices.Equal(first.AlsoCloses, []string{"IAC-10.8"}) || first.Severity != api.SeverityHigh || first.DueDate != "2027-01-19" {
		t.Errorf("%+v", first)
	}
	if want := []string{"shown: IAC-10", "checked", "shown: IAC-10.8"}; !slices.Equal(first.AcceptanceCriteria, want) {
		t.Errorf("%v, want %v", first.AcceptanceCriteria, want)
	}
	if !Closes(&first, "iac-10.8") || Closes(&first, "IAC-11") {
		t.Error("Closes")
	}
}
