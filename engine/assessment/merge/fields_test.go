package merge

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/scf-service/service/api"
)

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func TestFieldsMergesAChangeIntoTheCurrentValue(t *testing.T) {
	for name, c := range map[string]struct {
		field, base, here, there string
		want                     string // the value afterwards
		merged, conflict         bool
	}{
		"changed there only":         {"owner", `"Ann"`, `"Ann"`, `"Bob"`, `"Bob"`, true, false},
		"same change on both sides":  {"owner", `"Ann"`, `"Bob"`, `"Bob"`, `"Bob"`, false, false},
		"different changes":          {"owner", `"Ann"`, `"Cy"`, `"Bob"`, `"Cy"`, false, true},
		"missing equals empty":       {"note", `""`, "", `"new"`, `"new"`, true, false},
		"empty list equals null":     {"tags", `[]`, `null`, `["a"]`, `["a"]`, true, false},
		"read-only":                  {"id", `"1"`, `"1"`, `"2"`, `"1"`, false, false},
		"both add list elements":     {"tags", `["a"]`, `["a","b"]`, `["a","c"]`, `["a","b","c"]`, true, false},
		"one adds, the other drops":  {"tags", `["a","b"]`, `["b"]`, `["a","b","c"]`, `["b","c"]`, true, false},
		"both add the same element":  {"tags", `["a"]`, `["a","b"]`, `["b","a"]`, `["a","b"]`, false, false},
		"element twice":              {"tags", `["a"]`, `["a","a"]`, `["b"]`, `["a","a"]`, false, true},
		"milestones by title":        {"milestones", `[{"title":"x","s":1},{"title":"y","s":1}]`, `[{"title":"x","s":2},{"title":"y","s":1}]`, `[{"title":"x","s":1},{"title":"y","s":3}]`, `[{"title":"x","s":2},{"title":"y","s":3}]`, true, false},
		"same milestone differently": {"milestones", `[{"title":"x","s":1}]`, `[{"title":"x","s":2}]`, `[{"title":"x","s":3}]`, `[{"title":"x","s":2}]`, false, true},
		"objects by field":           {"traits", `{"a":1,"b":1}`, `{"a":2,"b":1}`, `{"a":1,"b":3}`, `{"a":2,"b":3}`, true, false},
		"object field differently":   {"traits", `{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":2}`, false, true},
		"object field dropped":       {"traits", `{"a":1,"b":1}`, `{"a":1,"b":1,"c":1}`, `{"b":1}`, `{"b":1,"c":1}`, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			fields := map[string]json.RawMessage{c.field: raw(c.here)}
			merged, conflicts := ApplyChanges(
				fields,
				map[string]Change{c.field: {From: raw(c.base), To: raw(c.there)}},
				[]string{"id"},
			)
			if got := string(fields[c.field]); got != c.want {
				t.Errorf("the field is %s, want %s", got, c.want)
			}
			if slices.Contains(merged, c.field) != c.merged || (len(conflicts) == 1) != c.conflict {
				t.Errorf("merged %v, conflicts %+v", merged, conflicts)
			}
			if c.conflict &&
				(conflicts[0].Field != c.field || string(conflicts[0].Here) != c.here || string(conflicts[0].There) != c.there) {
				t.Errorf("conflict %+v", conflicts[0])
			}
		})
	}
}

func TestFillRecordRefusesAValueOfTheWrongType(t *testing.T) {
	fields, err := FieldsFromRecord(&api.SoAItem{Rationale: "because"})
	if err != nil {
		t.Fatal(err)
	}
	var item api.SoAItem
	if err := FillRecord(fields, &item); err != nil || item.Rationale != "because" {
		t.Errorf("%+v, %v", item, err)
	}
	fields["rationale"] = raw("7")
	if err := FillRecord(fields, &item); !api.IsCode(err, api.CodeValidation) {
		t.Errorf("a number as a text: %v", err)
	}
}
