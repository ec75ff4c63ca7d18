package api_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestAddAbsentFields checks that fields that are omitted in stored records are added to responses, and that this
// changes nothing else.
func TestAddAbsentFields(t *testing.T) {
	date := api.Date("2026-12-31")
	list := api.List[api.POAMItem]{Data: []api.POAMItem{
		{Comments: new("a \"quote\", <b> and {\\u00e9}"), Milestones: []api.Milestone{{Title: "One", CompletedAt: &date}, {Title: "Two"}}},
		{FindingOrigin: "f", Item: api.Item{OwnerHasLeft: true, RequirementCodes: api.RequirementCodes{"a": {"1"}}}},
	}}
	api.ReplaceNilCollections(&list)
	stored, err := json.Marshal(&list)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(stored), "completed_by") {
		t.Fatalf("the stored form changed, and with it the hashes: %s", stored)
	}
	got := api.AddAbsentFields(stored, reflect.TypeOf(list))
	var back api.List[api.POAMItem]
	var values struct{ Data []map[string]any }
	if err := json.Unmarshal(got, &back); err != nil || !reflect.DeepEqual(back, list) {
		t.Errorf("%v: %s", err, got)
	}
	if err := json.Unmarshal(got, &values); err != nil {
		t.Fatal(err)
	}
	first, second := values.Data[0], values.Data[1]
	milestones := first["milestones"].([]any)
	for name, is := range map[string]bool{
		"carried is null":             has(first, "carried", nil),
		"a flag is false":             has(first, "owner_has_left", false),
		"a flag is true":              has(second, "owner_has_left", true),
		"an absent text is null":      has(first, "finding_origin", nil),
		"a text is as it was":         has(second, "finding_origin", "f"),
		"nested: a date is as it was": has(milestones[0], "completed_at", "2026-12-31"),
		"nested: a date is null":      has(milestones[1], "completed_at", nil),
	} {
		if !is {
			t.Errorf("not so: %s: %s", name, got)
		}
	}
	for _, same := range []struct {
		body string
		of   any
	}{{`{"id":"x"}`, api.Assessment{}}, {`{"data":[`, list}, {`null`, list}} {
		if got := api.AddAbsentFields([]byte(same.body), reflect.TypeOf(same.of)); strings.TrimSpace(string(got)) != same.body {
			t.Errorf("%s became %s", same.body, got)
		}
	}
}

// has reports whether an object has a field with a value.
func has(object any, name string, value any) bool {
	got, is := object.(map[string]any)[name]
	return is && got == value
}

func BenchmarkAddAbsentFields(b *testing.B) {
	item := api.SoAItem{Evidence: make([]api.Evidence, 3), Statements: make([]api.Statement, 5), Rationale: strings.Repeat("Some words. ", 50)}
	list := api.List[api.SoAItem]{Data: make([]api.SoAItem, 200)}
	for i := range list.Data {
		list.Data[i] = item
	}
	body, err := json.Marshal(&list)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		api.AddAbsentFields(body, reflect.TypeOf(list))
	}
}
