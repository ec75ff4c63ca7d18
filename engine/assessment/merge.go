package assessment

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/scf-service/service/api"
)

// FieldChange is a change of one field: the old and the new value.
type FieldChange struct {
	From json.RawMessage `json:"from"`
	To   json.RawMessage `json:"to"`
}

// FieldConflict is a field that was changed to something else on this side as well.
type FieldConflict struct {
	RecordID, Label, Field string
	Base, Here, There      json.RawMessage
}

// protectedItemFields lists item fields that a merge never changes, because they identify the item
// or are set by the rules.
var protectedItemFields = []string{
	"id", "organization_id", "created_at", "updated_at", "assessment_id", "version_id", "revision",
	"control_id", "control_code", "control_title", "domain_code", "edited_by",
}

// derivedFields lists fields set by the rules along with others; they differ only if those do.
var derivedFields = []string{"reason", "needs_review", "edited_fields"}

// derivedLevelFields lists fields derived from the level of a maturity score. In findings, users
// write the criteria.
var derivedLevelFields = []string{"criteria", "next_criteria"}

func isDerivedField(gate api.Gate, field string) bool {
	return slices.Contains(derivedFields, field) || gate == api.GateMaturity && slices.Contains(derivedLevelFields, field)
}

// elementKeys holds the identifying field for lists of objects.
var elementKeys = map[string]string{"milestones": "title", "statements": "text", "evidence": "sha256"}

// MergeFields applies changes to a record's fields as a three-way merge: a field with the expected
// old value takes the new one, lists merge by element, and a field that both sides changed
// differently is kept and reported as a conflict.
func MergeFields(
	fields map[string]json.RawMessage,
	changes map[string]FieldChange,
	protected []string,
) (merged []string, conflicts []FieldConflict) {
	names := make([]string, 0, len(changes))
	for name := range changes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c, current := changes[name], fields[name]
		switch {
		case slices.Contains(protected, name), equalJSON(current, c.To):
		case equalJSON(current, c.From):
			fields[name] = c.To
			merged = append(merged, name)
		default:
			if list, ok := mergeLists(c.From, current, c.To, elementKeys[name]); ok {
				if !equalJSON(list, current) {
					fields[name] = list
					merged = append(merged, name)
				}
				continue
			}
			conflicts = append(conflicts, FieldConflict{Field: name, Base: c.From, Here: current, There: c.To})
		}
	}
	return merged, conflicts
}

func equalJSON(a, b json.RawMessage) bool {
	empty := func(v json.RawMessage) bool {
		return len(v) == 0 || string(v) == "null" || string(v) == `""` || string(v) == "[]" || string(v) == "{}"
	}
	return bytes.Equal(a, b) || empty(a) && empty(b)
}

// mergeLists merges lists, and maps as lists of entries; false if they are neither, or both sides
// changed an element.
func mergeLists(base, here, there json.RawMessage, key string) (json.RawMessage, bool) {
	var baseList, ourList, theirList []json.RawMessage
	if json.Unmarshal(base, &baseList) != nil || json.Unmarshal(here, &ourList) != nil || json.Unmarshal(there, &theirList) != nil {
		return mergeMaps(base, here, there)
	}
	name := func(e json.RawMessage) string {
		if key != "" {
			var fields map[string]json.RawMessage
			if json.Unmarshal(e, &fields) == nil && len(fields[key]) > 0 {
				return string(fields[key])
			}
		}
		return string(e)
	}
	index := func(all []json.RawMessage) (map[string]json.RawMessage, bool) {
		out := map[string]json.RawMessage{}
		for _, e := range all {
			if _, twice := out[name(e)]; twice {
				return nil, false
			}
			out[name(e)] = e
		}
		return out, true
	}
	w, ok1 := index(baseList)
	i, ok2 := index(ourList)
	n, ok3 := index(theirList)
	if !ok1 || !ok2 || !ok3 {
		return nil, false
	}
	out := []json.RawMessage{}
	for _, e := range ourList {
		id := name(e)
		one, ok := mergeElement(w[id], e, n[id])
		if !ok {
			return nil, false
		}
		if one != nil {
			out = append(out, one)
		}
	}
	for _, e := range theirList {
		id := name(e)
		if i[id] != nil {
			continue
		}
		one, ok := mergeElement(w[id], nil, e)
		if !ok {
			return nil, false
		}
		if one != nil {
			out = append(out, one)
		}
	}
	b, err := json.Marshal(out)
	return b, err == nil
}

// mergeElement merges one element; nil means absent.
func mergeElement(base, here, there json.RawMessage) (json.RawMessage, bool) {
	switch {
	case bytes.Equal(here, there), bytes.Equal(base, there):
		return here, true
	case bytes.Equal(base, here):
		return there, true
	}
	return nil, false
}

func mergeMaps(base, here, there json.RawMessage) (json.RawMessage, bool) {
	var w, i, n map[string]json.RawMessage
	if json.Unmarshal(base, &w) != nil || json.Unmarshal(here, &i) != nil || json.Unmarshal(there, &n) != nil || i == nil || n == nil {
		return nil, false
	}
	out := map[string]json.RawMessage{}
	for _, m := range []map[string]json.RawMessage{i, n} {
		for name := range m {
			one, ok := mergeElement(w[name], i[name], n[name])
			if !ok {
				return nil, false
			}
			if one != nil {
				out[name] = one
			}
		}
	}
	b, err := json.Marshal(out)
	return b, err == nil
}

// FieldsFromRecord returns the fields of a record as JSON.
func FieldsFromRecord(r any) (map[string]json.RawMessage, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var out map[string]json.RawMessage
	return out, json.Unmarshal(b, &out)
}

// FillRecord sets a record from its fields.
func FillRecord(fields map[string]json.RawMessage, r any) error {
	b, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, r); err != nil {
		return api.Invalid("", "a field has a value of the wrong type: %v", err)
	}
	return nil
}
