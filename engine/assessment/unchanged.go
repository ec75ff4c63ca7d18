package assessment

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// Reviews and approvals are only invalidated by real changes: not by a draft with equal content,
// nor by setting a field to its current value.

// skipDraftEqualToReviewed wraps makeDraft so that a draft is not stored if it equals the newest
// version and that is under review or approved.
func skipDraftEqualToReviewed[I any](makeDraft draftFunc[I]) draftFunc[I] {
	return func(ctx context.Context, by api.Caller, a *api.Assessment) (draft[I], error) {
		d, err := makeDraft(ctx, by, a)
		d.skipIfUnchanged = true
		return d, err
	}
}

// isReviewedAndUnchanged reports whether a version is under review or approved and equals the draft,
// with the same inputs and rules.
func (k deliverableType[V, I]) isReviewedAndUnchanged(head *api.DeliverableVersion, d *draft[I]) (bool, error) {
	if head.Status != api.VersionUnderReview && head.Status != api.VersionApproved || head.Method != d.method ||
		!haveSameInputContent(head.Inputs, d.inputs) {
		return false, nil
	}
	hash, err := k.contentHashLike(k.sortedItems(d), head.ContentSHA256)
	return hash == head.ContentSHA256, err
}

// sortedItems returns the draft's items in the order in which a version would have them.
func (k deliverableType[V, I]) sortedItems(d *draft[I]) []I {
	items := slices.Clone(d.items)
	slices.SortStableFunc(items, func(a, b I) int { return cmp.Compare(k.item(&a).ControlCode, k.item(&b).ControlCode) })
	return items
}

// haveSameInputContent reports whether two sets of recorded inputs have the same content, regardless of
// version IDs and statuses.
func haveSameInputContent(a, b map[string]string) bool {
	content := func(in map[string]string) map[string]string {
		in = maps.Clone(in)
		delete(in, documentKeysInput) // the input "documents" already has the hash of their content
		delete(in, notReadInput)
		for _, key := range inputPrefixes {
			delete(in, key+"_version_id")
			delete(in, key+"_status")
		}
		return in
	}
	return maps.Equal(content(a), content(b))
}

// changedBeside maps a field to another field in which a change to it may be recorded while its own value stays the
// same: a later date in addition to the approved one, or the review of an item that had only been confirmed through a
// filter.
var changedBeside = map[string]string{
	"due_date": "due_changes", "applicability": "reviewed_in_bulk", "implementation_status": "reviewed_in_bulk",
	"needs_review": "reviewed_in_bulk",
}

// namesIfAnyChanged returns names if any of the fields changed, and nil otherwise.
func namesIfAnyChanged[I any](before, after *I, names []string) ([]string, error) {
	was, err := toFields(before)
	if err != nil {
		return nil, err
	}
	is, err := toFields(after)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(names, func(name string) bool {
		beside := changedBeside[name]
		return strings.HasPrefix(name, resetPrefix) || !bytes.Equal(was[name], is[name]) || !bytes.Equal(was[beside], is[beside])
	}) {
		return names, nil
	}
	return nil, nil
}
