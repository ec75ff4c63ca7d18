package plan

import (
	"slices"
	"testing"

	"github.com/scf-service/service/api"
)

func TestMerge(t *testing.T) {
	item := func(code, action string, severity api.Severity, due api.Date) api.POAMItem {
		return api.POAMItem{
			Item:               api.Item{ControlCode: code},
			ActionType:         action,
			OwnerRole:          "IT",
			Severity:           severity,
			DueDate:            due,
			Effort:             "small",
			Status:             "open",
			AcceptanceCriteria: []string{"shown: " + code, "checked"},
		}
	}
	started := item("IAC-10.9", "document", api.SeverityLow, "2027-05-19")
	started.Status = "in_progress"
	got := MergeItems([]api.POAMItem{
		item(
			"IAC-10.8",
			"document",
			api.SeverityHigh,
			"2027-01-19",
		), item("IAC-10", "document", api.SeverityLow, "2027-05-19"), item("IAC-10.1", "implement", api.SeverityLow, "2027-05-19"),
		item("IAC-11", "document", api.SeverityLow, "2027-05-19"), started,
	}, nil)
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
	if !ClosesControl(&first, "iac-10.8") || ClosesControl(&first, "IAC-11") {
		t.Error("Closes")
	}
}

// Controls of different domains for which the catalog requests the same evidence share one item; items with default
// evidence or an owner are not merged.
func TestMergeAcrossDomains(t *testing.T) {
	item := func(code string, evidence ...string) api.POAMItem {
		return api.POAMItem{
			Item:             api.Item{ControlCode: code},
			ActionType:       "collect_evidence",
			OwnerRole:        code[:3],
			Severity:         api.SeverityMedium,
			Effort:           "small",
			Status:           "open",
			ExpectedEvidence: evidence,
		}
	}
	taken := item("TPM-05", "Register of suppliers", "Contracts")
	owner := "Head of IT"
	taken.Owner = &owner
	urgent := item("PRI-07", "Contracts", "Register of suppliers")
	urgent.Severity, urgent.DueDate = api.SeverityHigh, "2027-01-19"
	got := MergeItems(
		[]api.POAMItem{
			item("AST-01", defaultEvidence...),
			item("CLD-01", defaultEvidence...),
			urgent,
			item("TPM-01", "Register of suppliers", "Contracts"),
			taken,
			item("TPM-08", "Contracts"),
		},
		nil,
	)
	var codes []string
	for _, it := range got {
		codes = append(codes, it.ControlCode)
	}
	if want := []string{"AST-01", "CLD-01", "PRI-07", "TPM-05", "TPM-08"}; !slices.Equal(codes, want) {
		t.Fatalf("%v, want %v", codes, want)
	}
	if first := got[2]; !slices.Equal(first.AlsoCloses, []string{"TPM-01"}) || first.Severity != api.SeverityHigh ||
		!ClosesControl(&first, "TPM-01") {
		t.Errorf("%+v", first)
	}
}
