// Package merge compares and merges versions of an assessment's records: it finds the differences
// between two versions, merges fields changed on two sides, matches items with those of an earlier
// version, and compares controls in two catalog versions. It doesn't access the store; package
// assessment applies the results.
package merge

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/scf-service/service/api"
)

// Change is a change of one field: the old and the new value.
type Change struct {
	From json.RawMessage `json:"from"`
	To   json.RawMessage `json:"to"`
}

// Conflict is a field that both sides changed to different values.
type Conflict struct {
	RecordID, Label, Field string
	Base, Here, There      json.RawMessage
}

// elementKeys maps the name of a list field to the field that identifies the objects in the list.
var elementKeys = map[string]string{"milestones": "title", "statements": "text", "evidence": "sha256"}

// ApplyChanges applies changes made on another side to a record's fields as a three-way merge, and returns the sorted
// names of the fields it set. A field that still has a change's old value is set to the new value. Lists and objects
// are merged by element. A field that both sides changed differently is left alone and returned as a conflict. Fields
// listed in readOnly never change.
func ApplyChanges(
	fields map[string]json.RawMessage,
	changes map[string]Change,
	readOnly []string,
) (merged []string, conflicts []Conflict) {
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		c, current := changes[name], fields[name]
		if slices.Contains(readOnly, name) || EqualJSON(current, c.To) {
			continue
		}
		value := c.To
		if !EqualJSON(current, c.From) {
			var ok bool
			if value, ok = mergeListsOrObjects(c.From, current, c.To, elementKeys[name]); !ok {
				conflicts = append(conflicts, Conflict{Field: name, Base: c.From, Here: current, There: c.To})
				continue
			}
			if EqualJSON(value, current) {
				continue
			}
		}
		fields[name] = value
		merged = append(merged, name)
	}
	return merged, conflicts
}

// EqualJSON reports whether two JSON values are equal or both empty.
func EqualJSON(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || isEmptyJSON(a) && isEmptyJSON(b)
}

func isEmptyJSON(v json.RawMessage) bool {
	return slices.Contains([]string{"", "null", `""`, "[]", "{}"}, string(v))
}

// mergeListsOrObjects merges lists element by element, identified by the field key or by content, and
// objects field by field. It returns false if the values are neither lists nor objects, a list contains
// an element twice, or both sides changed an element differently.
func mergeListsOrObjects(base, here, there json.RawMessage, key string) (json.RawMessage, bool) {
	var baseList, ourList, theirList []json.RawMessage
	if json.Unmarshal(base, &baseList) != nil || json.Unmarshal(here, &ourList) != nil || json.Unmarshal(there, &theirList) != nil {
		return mergeObjects(base, here, there)
	}
	_, baseByID, ok1 := indexElements(baseList, key)
	ourIDs, ourByID, ok2 := indexElements(ourList, key)
	theirIDs, theirByID, ok3 := indexElements(theirList, key)
	if !ok1 || !ok2 || !ok3 {
		return nil, false
	}
	ids := ourIDs
	for _, id := range theirIDs {
		if ourByID[id] == nil {
			ids = append(ids, id)
		}
	}
	merged := []json.RawMessage{}
	for _, id := range ids {
		element, ok := chooseChangedValue(baseByID[id], ourByID[id], theirByID[id])
		if !ok {
			return nil, false
		}
		if element != nil {
			merged = append(merged, element)
		}
	}
	b, err := json.Marshal(merged)
	return b, err == nil
}

// indexElements returns the IDs of a list's elements, in order, and a map of the elements by ID. It
// returns false if an ID occurs twice.
func indexElements(list []json.RawMessage, key string) (ids []string, byID map[string]json.RawMessage, ok bool) {
	byID = map[string]json.RawMessage{}
	for _, element := range list {
		id := string(element)
		if key != "" {
			var fields map[string]json.RawMessage
			if json.Unmarshal(element, &fields) == nil && len(fields[key]) > 0 {
				id = string(fields[key])
			}
		}
		if _, twice := byID[id]; twice {
			return nil, nil, false
		}
		ids, byID[id] = append(ids, id), element
	}
	return ids, byID, true
}

func mergeObjects(base, here, there json.RawMessage) (json.RawMessage, bool) {
	var baseFields, ours, theirs map[string]json.RawMessage
	if json.Unmarshal(base, &baseFields) != nil || json.Unmarshal(here, &ours) != nil || json.Unmarshal(there, &theirs) != nil ||
		ours == nil || theirs == nil {
		return nil, false
	}
	merged := map[string]json.RawMessage{}
	for _, side := range []map[string]json.RawMessage{ours, theirs} {
		for name := range side {
			value, ok := chooseChangedValue(baseFields[name], ours[name], theirs[name])
			if !ok {
				return nil, false
			}
			if value != nil {
				merged[name] = value
			}
		}
	}
	b, err := json.Marshal(merged)
	return b, err == nil
}

// chooseChangedValue merges a single value by returning the value from the side that changed it; nil means that the
// value is absent. It returns false if both sides changed it differently.
func chooseChangedValue(base, here, there json.RawMessage) (chosen json.RawMessage, ok bool) {
	switch {
	case bytes.Equal(here, there), bytes.Equal(base, there):
		return here, true
	case bytes.Equal(base, here):
		return there, true
	}
	return nil, false
}

// FieldsFromRecord returns the fields of a record as JSON.
func FieldsFromRecord(record any) (fields map[string]json.RawMessage, err error) {
	b, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	return fields, json.Unmarshal(b, &fields)
}

// FillRecord sets the fields of a record from JSON; record must be a pointer.
func FillRecord(fields map[string]json.RawMessage, record any) error {
	b, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, record); err != nil {
		return api.Invalid("", "a field has a value of the wrong type: %v", err)
	}
	return nil
}
