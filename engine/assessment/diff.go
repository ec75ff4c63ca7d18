package assessment

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/store"
)

// ignoredFields lists record fields that aren't content.
var ignoredFields = []string{
	"id", "created_at", "updated_at", "organization_id", "assessment_id", "version_id", "revision",
	"control_id", "control_title", "domain_code",
	"edited_by", "edited_fields", "finding_id", "control_code", "status_label", "version_number", "created_by",
	"approved_at", "approved_by", "submitted_at",
}

// DiffArtifact compares two versions of a deliverable, line by line.
func (s *Service) DiffArtifact(ctx context.Context, by api.Caller, in *api.ArtifactDiffInput) (*api.ArtifactDiff, error) {
	var out *api.ArtifactDiff
	var written [2]string // the reports to compare, rendered outside of the transaction
	err := s.db.View(ctx, func(tx *store.Tx) error {
		art, err := store.Artifacts.Get(tx, by.OrganizationID, in.ArtifactID)
		if err != nil {
			return store.ToNotFound(err, "artifact", in.ArtifactID)
		}
		if in.To == 0 {
			in.To = art.CurrentVersion
		}
		if in.From == 0 {
			in.From = max(1, min(in.To, art.CurrentVersion+1)-1)
		}
		out = &api.ArtifactDiff{ArtifactID: art.ID, Type: art.Type, FromVersion: in.From, ToVersion: in.To}
		if art.Type == "report" {
			if written[0], err = artifactRecordID(tx, &art, in.From, "from", &out.FromSHA256); err == nil {
				written[1], err = artifactRecordID(tx, &art, in.To, "to", &out.ToSHA256)
			}
			return err
		}
		from, err := readVersionRecords(tx, &art, in.From, "from", &out.FromSHA256)
		if err != nil {
			return err
		}
		to, err := readVersionRecords(tx, &art, in.To, "to", &out.ToSHA256)
		if err != nil {
			return err
		}
		fillDiff(out, from, to)
		return nil
	})
	if err == nil && written[0] != "" {
		err = s.diffReports(ctx, by, out, written[0], written[1])
	}
	return out, err
}

// recordsByKey holds the content of a version: records by identifying key.
type recordsByKey map[string]map[string]any

// artifactRecordID returns the ID of the record behind a version of an artifact.
func artifactRecordID(tx *store.Tx, art *api.Artifact, number int, field string, hash *string) (string, error) {
	v, err := store.ArtifactVersions.Get(tx, art.OrganizationID, art.ID, number)
	if err != nil {
		if number < 1 || number > art.CurrentVersion {
			return "", api.Invalid(field, "the %s has versions 1 to %d, not %d", art.Title, art.CurrentVersion, number)
		}
		return "", err
	}
	*hash = v.ContentSHA256
	return v.RecordID, nil
}

// readVersionRecords reads a version of an artifact.
func readVersionRecords(tx *store.Tx, art *api.Artifact, number int, field string, hash *string) (recordsByKey, error) {
	record, err := artifactRecordID(tx, art, number, field, hash)
	if err != nil {
		return nil, err
	}
	switch art.Type {
	case string(api.GateSoA):
		return readItemRecords(tx, soa, art.OrganizationID, record)
	case string(api.GateGapAnalysis):
		return readItemRecords(tx, gap, art.OrganizationID, record)
	case string(api.GateMaturity):
		return readItemRecords(tx, maturity, art.OrganizationID, record)
	case string(api.GatePOAM):
		return readItemRecords(tx, poam, art.OrganizationID, record)
	}
	sc, err := store.ScopeVersions.Get(tx, art.OrganizationID, art.AssessmentID, number)
	if err != nil {
		return nil, store.ToNotFound(err, "content of scope version", fmt.Sprint(number))
	}
	fields, err := toFieldMap(sc)
	return recordsByKey{"": fields}, err
}

func toFieldMap(record any) (out map[string]any, err error) {
	b, err := json.Marshal(record)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	for _, f := range ignoredFields {
		delete(out, f)
	}
	return out, err
}

func readItemRecords[V, I any](tx *store.Tx, k deliverableType[V, I], org, version string) (recordsByKey, error) {
	items, err := k.readItems(tx, org, version)
	if err != nil {
		return nil, err
	}
	out := recordsByKey{}
	for n := range items {
		code := k.item(&items[n]).ControlCode
		k.clearIDs(&items[n])
		fields, err := toFieldMap(items[n])
		if err != nil {
			return nil, err
		}
		key := code
		for again := 2; out[key] != nil; again++ { // a control can have several records
			key = fmt.Sprintf("%s (%d)", code, again)
		}
		out[key] = fields
	}
	return out, nil
}

// fillDiff fills in the lines of a diff, by control and field.
func fillDiff(out *api.ArtifactDiff, from, to recordsByKey) {
	names := slices.Collect(maps.Keys(from))
	for name := range to {
		if from[name] == nil {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(scf.CompareNatural(a, b), strings.Compare(a, b)) })
	for _, name := range names {
		before, after := from[name], to[name]
		switch {
		case before == nil:
			out.Added++
			out.Lines = append(
				out.Lines,
				api.DiffLine{
					Change: "added",
					Item:   name,
					To:     summarizeFields(after),
					Text:   joinNonEmpty("+", name, summarizeFields(after)),
				},
			)
		case after == nil:
			out.Removed++
			out.Lines = append(
				out.Lines,
				api.DiffLine{
					Change: "removed",
					Item:   name,
					From:   summarizeFields(before),
					Text:   joinNonEmpty("-", name, summarizeFields(before)),
				},
			)
		default:
			if lines := diffFields(name, before, after); len(lines) > 0 {
				out.Changed++
				out.Lines = append(out.Lines, lines...)
			}
		}
	}
}

func diffFields(name string, before, after map[string]any) (lines []api.DiffLine) {
	fields := map[string]bool{}
	for f := range before {
		fields[f] = true
	}
	for f := range after {
		fields[f] = true
	}
	for _, f := range slices.Sorted(maps.Keys(fields)) {
		a, b := formatValue(before[f]), formatValue(after[f])
		if a == b {
			continue
		}
		lines = append(lines, api.DiffLine{
			Change: "changed", Item: name, Field: f, From: a, To: b,
			Text: joinNonEmpty("~", name, fmt.Sprintf("%s: %s → %s", strings.ReplaceAll(f, "_", " "), orPlaceholder(a), orPlaceholder(b))),
		})
	}
	return lines
}

func joinNonEmpty(mark, name, words string) string {
	return strings.TrimSpace(strings.Join(slices.DeleteFunc([]string{mark, name, words}, func(s string) bool { return s == "" }), " "))
}

func orPlaceholder(s string) string {
	if s == "" {
		return "(nothing)"
	}
	return s
}

// summarizeFields returns a short summary of an item from its most important fields.
func summarizeFields(fields map[string]any) string {
	var out []string
	for _, f := range []string{"applicability", "implementation_status", "severity", "status", "level", "condition", "weakness"} {
		if s := formatValue(fields[f]); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// formatValue formats a value for display: lists are joined, evidence is shown by its quotes.
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

// ContentHash returns the content hash of a gate's items in exported form: JSON, sorted by control
// code.
func ContentHash(gate api.Gate, items []byte) (string, error) {
	switch gate {
	case api.GateSoA:
		return hashExportedItems(soa, items)
	case api.GateGapAnalysis:
		return hashExportedItems(gap, items)
	case api.GateMaturity:
		return hashExportedItems(maturity, items)
	case api.GatePOAM:
		return hashExportedItems(poam, items)
	}
	return "", fmt.Errorf("there is no gate %q", gate)
}

func hashExportedItems[V, I any](k deliverableType[V, I], text []byte) (string, error) {
	var items []I
	if err := json.Unmarshal(text, &items); err != nil {
		return "", fmt.Errorf("the items of the %s can't be read: %w", k.gate.Title(), err)
	}
	return k.contentHash(items)
}
