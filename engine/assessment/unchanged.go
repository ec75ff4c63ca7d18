package assessment

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// What people review or approved falls by what changes it alone: not by a draft that comes
// out the same, nor by setting what stands there.

// skipIfUnchanged makes a draft that is written only where it differs from what is decided on.
func skipIfUnchanged[I any](makeDraft draftFunc[I]) draftFunc[I] {
	return func(ctx context.Context, by api.Caller, a *api.Assessment) (draft[I], error) {
		d, err := makeDraft(ctx, by, a)
		d.skipIfUnchanged = true
		return d, err
	}
}

// isUnchanged tells whether a version that is under review or approved says what a draft would, made
// of the same by the same rules.
func (k deliverableType[V, I]) isUnchanged(head *api.DeliverableVersion, d *draft[I]) (bool, error) {
	if head.Status != api.VersionUnderReview && head.Status != api.VersionApproved || head.Method != d.method ||
		!haveSameInputs(head.Inputs, d.inputs) {
		return false, nil
	}
	items := slices.Clone(d.items)
	slices.SortStableFunc(items, func(a, b I) int { return cmp.Compare(k.item(&a).ControlCode, k.item(&b).ControlCode) })
	hash, err := k.contentHash(items)
	return hash == head.ContentSHA256, err
}

// haveSameInputs tells whether what was taken in is the same, whichever versions say it and however
// they stand.
func haveSameInputs(a, b map[string]string) bool {
	content := func(in map[string]string) map[string]string {
		in = maps.Clone(in)
		for _, key := range inputPrefixes {
			delete(in, key+"_version_id")
			delete(in, key+"_status")
		}
		return in
	}
	return maps.Equal(content(a), content(b))
}

// changedFieldNames are the fields a change named, where it changed one of them; none where each has
// the value that it had.
func changedFieldNames[I any](before, after *I, names []string) ([]string, error) {
	var was, is map[string]json.RawMessage
	for from, into := range map[*I]*map[string]json.RawMessage{before: &was, after: &is} {
		b, err := json.Marshal(from)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, into); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(names, func(name string) bool {
		moved := name == "due_date" && !bytes.Equal(was["due_changes"], is["due_changes"]) // an approved date stays
		return strings.HasPrefix(name, resetPrefix) || moved || !bytes.Equal(was[name], is[name])
	}) {
		return names, nil
	}
	return nil, nil
}
