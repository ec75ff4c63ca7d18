package assessment

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// What people review or approved falls by what changes it alone: not by a draft that comes
// out the same, nor by setting what stands there.

// again makes a draft that is written only where it differs from what is decided on.
func again[I any](make maker[I]) maker[I] {
	return func(ctx context.Context, by api.Caller, a *api.Assessment) (draft[I], error) {
		d, err := make(ctx, by, a)
		d.again = true
		return d, err
	}
}

// unchanged tells whether a version that is under review or approved says what a draft would, made
// of the same by the same rules.
func (k kind[V, I]) unchanged(head *api.DeliverableVersion, d *draft[I]) (bool, error) {
	if head.Status != api.VersionUnderReview && head.Status != api.VersionApproved || head.Method != d.method || !maps.Equal(head.Inputs, d.inputs) {
		return false, nil
	}
	lines := slices.Clone(d.ready)
	slices.SortStableFunc(lines, func(a, b store.Ready[I]) int {
		return cmp.Compare(k.item(a.Record).ControlCode, k.item(b.Record).ControlCode)
	})
	h := sha256.New()
	for _, l := range lines {
		if l.Beside != nil {
			h.Write(l.Beside)
			continue
		}
		line, err := k.line(*l.Record)
		if err != nil {
			return false, err
		}
		h.Write(line)
	}
	return head.ContentSHA256 == hex.EncodeToString(h.Sum(nil)), nil
}

// differing are the fields a change named, where it changed one of them; none where each has
// the value that it had.
func differing[I any](before, after *I, names []string) ([]string, error) {
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
		return strings.HasPrefix(name, handedBack) || moved || !bytes.Equal(was[name], is[name])
	}) {
		return names, nil
	}
	return nil, nil
}
