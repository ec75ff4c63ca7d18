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

// unsaid are the fields of records that say nothing of their content.
var unsaid = []string{"id", "created_at", "updated_at", "organization_id", "assessment_id", "version_id", "revision", "control_id", "control_title", "domain_code",
	"edited_by", "edited_fields", "finding_id", "control_code", "status_label", "version_number", "created_by", "approved_at", "approved_by", "submitted_at"}

// DiffArtifact compares two versions of a deliverable, line by line.
func (s *Service) DiffArtifact(ctx context.Context, by api.Caller, in *api.ArtifactDiffInput) (*api.ArtifactDiff, error) {
	var out *api.ArtifactDiff
	var written [2]string // the reports to compare, outside of the transaction
	err := s.db.View(ctx, func(tx *store.Tx) error {
		art, err := store.Artifacts.Get(tx, by.OrganizationID, in.ArtifactID)
		if err != nil {
			return store.Missing(err, "artifact", in.ArtifactID)
		}
		if in.To == 0 {
			in.To = art.CurrentVersion
		}
		if in.From == 0 {
			in.From = max(1, min(in.To, art.CurrentVersion+1)-1)
		}
		out = &api.ArtifactDiff{ArtifactID: art.ID, Type: art.Type, FromVersion: in.From, ToVersion: in.To}
		if art.Type == "report" {
			if written[0], err = versionOf(tx, &art, in.From, "from", &out.FromSHA256); err == nil {
				written[1], err = versionOf(tx, &art, in.To, "to", &out.ToSHA256)
			}
			return err
		}
		from, err := versionContent(tx, &art, in.From, "from", &out.FromSHA256)
		if err != nil {
			return err
		}
		to, err := versionContent(tx, &art, in.To, "to", &out.ToSHA256)
		if err != nil {
			return err
		}
		compare(out, from, to)
		return nil
	})
	if err == nil && written[0] != "" {
		err = s.reportDiff(ctx, by, out, written[0], written[1])
	}
	return out, err
}

// content is what a version says: records by what tells them apart.
type content map[string]map[string]any

// versionOf is the id of the record that a version of an artifact is of.
func versionOf(tx *store.Tx, art *api.Artifact, number int, field string, hash *string) (string, error) {
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

// versionContent reads a version of an artifact.
func versionContent(tx *store.Tx, art *api.Artifact, number int, field string, hash *string) (content, error) {
	record, err := versionOf(tx, art, number, field, hash)
	if err != nil {
		return nil, err
	}
	switch art.Type {
	case string(api.GateSoA):
		return itemContent(tx, soa, art.OrganizationID, record)
	case string(api.GateGapAnalysis):
		return itemContent(tx, gap, art.OrganizationID, record)
	case string(api.GateMaturity):
		return itemContent(tx, maturity, art.OrganizationID, record)
	case string(api.GatePOAM):
		return itemContent(tx, poam, art.OrganizationID, record)
	}
	sc, err := store.ScopeVersions.Get(tx, art.OrganizationID, art.AssessmentID, number)
	if err != nil {
		return nil, store.Missing(err, "content of scope version", fmt.Sprint(number))
	}
	fields, err := asMap(sc)
	return content{"": fields}, err
}

func asMap(record any) (out map[string]any, err error) {
	b, err := json.Marshal(record)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	for _, f := range unsaid {
		delete(out, f)
	}
	return out, err
}

func itemContent[V, I any](tx *store.Tx, k kind[V, I], org, version string) (content, error) {
	items, err := k.itemsOf(tx, org, version)
	if err != nil {
		return nil, err
	}
	out := content{}
	for n := range items {
		code := k.item(&items[n]).ControlCode
		k.bare(&items[n])
		fields, err := asMap(items[n])
		if err != nil {
			return nil, err
		}
		key := code
		for again := 2; out[key] != nil; again++ { // one control can have several
			key = fmt.Sprintf("%s (%d)", code, again)
		}
		out[key] = fields
	}
	return out, nil
}

// compare fills in the lines of a diff, by control and field.
func compare(out *api.ArtifactDiff, from, to content) {
	names := slices.Collect(maps.Keys(from))
	for name := range to {
		if from[name] == nil {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(scf.Natural(a, b), strings.Compare(a, b)) })
	for _, name := range names {
		was, is := from[name], to[name]
		switch {
		case was == nil:
			out.Added++
			out.Lines = append(out.Lines, api.DiffLine{Change: "added", Item: name, To: brief(is), Text: joined("+", name, brief(is))})
		case is == nil:
			out.Removed++
			out.Lines = append(out.Lines, api.DiffLine{Change: "removed", Item: name, From: brief(was), Text: joined("-", name, brief(was))})
		default:
			if lines := fieldLines(name, was, is); len(lines) > 0 {
				out.Changed++
				out.Lines = append(out.Lines, lines...)
			}
		}
	}
}

func fieldLines(name string, was, is map[string]any) (lines []api.DiffLine) {
	fields := map[string]bool{}
	for f := range was {
		fields[f] = true
	}
	for f := range is {
		fields[f] = true
	}
	for _, f := range slices.Sorted(maps.Keys(fields)) {
		a, b := inText(was[f]), inText(is[f])
		if a == b {
			continue
		}
		lines = append(lines, api.DiffLine{Change: "changed", Item: name, Field: f, From: a, To: b,
			Text: joined("~", name, fmt.Sprintf("%s: %s → %s", strings.ReplaceAll(f, "_", " "), orNothing(a), orNothing(b)))})
	}
	return lines
}

func joined(mark, name, words string) string {
	return strings.TrimSpace(strings.Join(slices.DeleteFunc([]string{mark, name, words}, func(s string) bool { return s == "" }), " "))
}

func orNothing(s string) string {
	if s == "" {
		return "(nothing)"
	}
	return s
}

// brief is what an item says in few words: the fields that people look at first.
func brief(fields map[string]any) string {
	var out []string
	for _, f := range []string{"applicability", "implementation_status", "severity", "status", "level", "condition", "weakness"} {
		if s := inText(fields[f]); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// inText is a value as people read it. Lists are joined, evidence is told by its quotes.
func inText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			parts[i] = inText(one)
		}
		return strings.Join(parts, "; ")
	case map[string]any:
		if quote, ok := v["quote"].(string); ok {
			return fmt.Sprintf("%q (%s)", quote, inText(v["filename"]))
		}
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if s := inText(v[key]); s != "" {
				parts = append(parts, key+" "+s)
			}
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprint(v)
}

// ContentHash is the content hash of a gate's items, as they are exported: JSON, in the
// order of their control codes.
func ContentHash(gate api.Gate, items []byte) (string, error) {
	switch gate {
	case api.GateSoA:
		return hashOf(soa, items)
	case api.GateGapAnalysis:
		return hashOf(gap, items)
	case api.GateMaturity:
		return hashOf(maturity, items)
	case api.GatePOAM:
		return hashOf(poam, items)
	}
	return "", fmt.Errorf("there is no gate %q", gate)
}

func hashOf[V, I any](k kind[V, I], text []byte) (string, error) {
	var items []I
	if err := json.Unmarshal(text, &items); err != nil {
		return "", fmt.Errorf("the items of the %s can't be read: %w", k.gate.Title(), err)
	}
	return k.contentHash(items)
}
