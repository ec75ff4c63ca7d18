package merge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/prose"
)

// Records maps a key that identifies a record to the record's fields; together they are the content of a
// version.
type Records map[string]map[string]any

// Add adds the fields of a record under key. If the key is already in use, a number is appended, as in
// "AAA-01 (2)".
func (r Records) Add(key string, record any) error {
	var fields map[string]any
	b, err := json.Marshal(record)
	if err == nil {
		err = json.Unmarshal(b, &fields)
	}
	for _, f := range ignoredFields {
		delete(fields, f)
	}
	free := key
	for n := 2; r[free] != nil; n++ {
		free = fmt.Sprintf("%s (%d)", key, n)
	}
	r[free] = fields
	return err
}

// ignoredFields lists record fields that aren't content.
var ignoredFields = []string{
	"id", "created_at", "updated_at", "organization_id", "assessment_id", "version_id", "revision",
	"control_id", "control_title", "domain_code",
	"edited_by", "edited_fields", "finding_id", "control_code", "status_label", "version_number", "created_by",
	"approved_at", "approved_by", "submitted_at",
}

// DiffRecords adds the differences between two versions to d, by record and field.
func DiffRecords(d *api.ArtifactDiff, from, to Records) {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(from)), maps.Keys(to))
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(scf.CompareNatural(a, b), strings.Compare(a, b)) })
	for _, key := range slices.Compact(keys) {
		before, after := from[key], to[key]
		switch {
		case before == nil:
			d.Added++
			summary := summarizeFields(after)
			d.Lines = append(d.Lines, api.DiffLine{Change: "added", Item: key, To: summary, Text: joinNonEmpty("+", key, summary)})
		case after == nil:
			d.Removed++
			summary := summarizeFields(before)
			d.Lines = append(d.Lines, api.DiffLine{Change: "removed", Item: key, From: summary, Text: joinNonEmpty("-", key, summary)})
		default:
			if lines := diffFields(key, before, after); len(lines) > 0 {
				d.Changed++
				d.Lines = append(d.Lines, lines...)
			}
		}
	}
}

func diffFields(key string, before, after map[string]any) (lines []api.DiffLine) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		a, b := formatValue(before[name]), formatValue(after[name])
		if a == b {
			continue
		}
		change := fmt.Sprintf("%s: %s → %s", prose.Humanize(name), cmp.Or(a, "(nothing)"), cmp.Or(b, "(nothing)"))
		lines = append(lines, api.DiffLine{
			Change: "changed", Item: key, Field: name, From: a, To: b, Text: joinNonEmpty("~", key, change),
		})
	}
	return lines
}

func joinNonEmpty(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// summarizeFields returns a short summary of an item: the values of its most important fields.
func summarizeFields(fields map[string]any) string {
	var out []string
	for _, f := range []string{"applicability", "implementation_status", "severity", "status", "level", "condition", "weakness"} {
		if s := formatValue(fields[f]); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// formatValue formats a decoded value for display: lists are joined, evidence is shown by its
// quotes.
func formatValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			parts[i] = formatValue(one)
		}
		return strings.Join(parts, "; ")
	case map[string]any:
		if quote, ok := v["quote"].(string); ok {
			return fmt.Sprintf("%q (%s)", quote, formatValue(v["filename"]))
		}
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if s := formatValue(v[key]); s != "" {
				parts = append(parts, key+" "+s)
			}
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprint(v)
}
