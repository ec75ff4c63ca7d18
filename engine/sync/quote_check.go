package sync

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/store"
)

// quoteChecker checks whether quotes from a clone occur in the passages stored here.
type quoteChecker struct {
	tx              *store.Tx
	org, assessment string
	// texts caches passages. existing holds the quotes that the assessment already has, loaded on
	// first use; they stay valid even if their passages have changed.
	texts    map[string]string
	existing map[string]bool
}

func quoteKey(e *api.Evidence) string { return e.ChunkID + "\n" + e.Quote }

// collapseSpace normalizes white space in the same way as is done for quotes.
func collapseSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

func (q *quoteChecker) isQuoteFoundOrExisting(e *api.Evidence) (bool, error) {
	text, cached := q.texts[e.ChunkID]
	if !cached {
		c, err := evidence.ReadPassage(q.tx, q.org, e.ChunkID)
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrBadKey) {
			return false, err
		}
		if err == nil && c.AssessmentID == q.assessment {
			text = collapseSpace(c.Text)
		}
		q.texts[e.ChunkID] = text
	}
	if quote := collapseSpace(e.Quote); quote != "" && strings.Contains(text, quote) {
		return true, nil
	}
	if err := q.loadExistingQuotes(); err != nil {
		return false, err
	}
	return q.existing[quoteKey(e)], nil
}

// loadExistingQuotes loads the quotes that the assessment already contains.
func (q *quoteChecker) loadExistingQuotes() error {
	if q.existing != nil {
		return nil
	}
	q.existing = map[string]bool{}
	add := func(e *api.Evidence) (bool, error) { q.existing[quoteKey(e)] = true; return true, nil }
	for _, t := range tables {
		if t.kind != itemTable && t.name != store.Scopes.Name() {
			continue
		}
		for key, err := range t.keys(q.tx, q.org, q.assessment) {
			if err != nil {
				return err
			}
			f, _, err := t.read(q.tx, q.org, key)
			if err != nil {
				return err
			}
			if _, err := q.filterEvidence(f["evidence"], add); err != nil {
				return err
			}
			if _, err := q.filterTraitEvidence(f["traits"], add); err != nil {
				return err
			}
		}
	}
	return nil
}

// filteredEvidence is a list of evidence after unsupported quotes were removed from it, together with the removed
// quotes.
type filteredEvidence struct {
	remaining json.RawMessage
	removed   []api.Evidence
}

func evidenceTypeError(err error) error {
	return api.Invalid("evidence", "a field has a value of the wrong type: %v", err)
}

// filterEvidence separates the evidence for which keep returns true from the evidence to be removed.
func (q *quoteChecker) filterEvidence(raw json.RawMessage, keep func(*api.Evidence) (bool, error)) (filteredEvidence, error) {
	out := filteredEvidence{remaining: raw}
	if len(raw) == 0 || string(raw) == "null" {
		return out, nil
	}
	var all, left []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return out, evidenceTypeError(err)
	}
	for _, one := range all {
		var e api.Evidence
		if err := json.Unmarshal(one, &e); err != nil {
			return out, evidenceTypeError(err)
		}
		ok, err := keep(&e)
		if err != nil {
			return out, err
		}
		if ok {
			left = append(left, one)
		} else {
			out.removed = append(out.removed, e)
		}
	}
	if len(out.removed) == 0 {
		return out, nil
	}
	var err error
	if out.remaining, err = json.Marshal(append([]json.RawMessage{}, left...)); err != nil {
		return out, evidenceTypeError(err)
	}
	return out, nil
}

// filterTraitEvidence applies filterEvidence to the traits of a scope.
func (q *quoteChecker) filterTraitEvidence(raw json.RawMessage, keep func(*api.Evidence) (bool, error)) (filteredEvidence, error) {
	out := filteredEvidence{remaining: raw}
	if len(raw) == 0 || string(raw) == "null" {
		return out, nil
	}
	var traits map[string]fields
	if err := json.Unmarshal(raw, &traits); err != nil {
		return out, evidenceTypeError(err)
	}
	for _, t := range traits {
		one, err := q.filterEvidence(t["evidence"], keep)
		if err != nil {
			return out, err
		}
		if len(one.removed) > 0 {
			t["evidence"], out.removed = one.remaining, append(out.removed, one.removed...)
		}
	}
	if len(out.removed) == 0 {
		return out, nil
	}
	var err error
	out.remaining, err = json.Marshal(traits)
	return out, err
}

// removeUnsupportedQuotes returns the change without quotes that do not occur in the passages
// stored here, because such quotes are not evidence. It stores the removed quotes as a conflict.
func (r *batchApplier) removeUnsupportedQuotes(tx *store.Tx, t *table, l *changeLine) (*changeLine, error) {
	name := "evidence"
	if t.name == store.Scopes.Name() {
		name = "traits"
	} else if t.kind != itemTable {
		return l, nil
	}
	if r.quotes == nil || r.quotes.tx != tx {
		r.quotes = &quoteChecker{tx: tx, org: r.target.org, assessment: r.batch.AssessmentID, texts: map[string]string{}}
	}
	q := r.quotes
	look := func(raw json.RawMessage) (filteredEvidence, error) {
		if name == "traits" {
			return q.filterTraitEvidence(raw, q.isQuoteFoundOrExisting)
		}
		return q.filterEvidence(raw, q.isQuoteFoundOrExisting)
	}
	received := l.Record[name]
	if l.Op == opEdit {
		received = l.Fields[name].To
	} else if l.Op != opInsert {
		return l, nil
	}
	out, err := look(received)
	if err != nil || len(out.removed) == 0 {
		return l, err
	}
	fit := *l
	if l.Op == opEdit {
		fit.Fields = maps.Clone(l.Fields)
		fit.Fields[name] = merge.Change{From: l.Fields[name].From, To: out.remaining}
	} else {
		fit.Record = maps.Clone(l.Record)
		fit.Record[name] = out.remaining
	}
	b, err := json.Marshal(out.removed)
	if err != nil {
		return nil, err
	}
	whole := len(b) > maxInlineValue
	if whole {
		b = nil
	}
	what := "quotes in %s do not occur in this copy of the passages and were omitted"
	if len(out.removed) == 1 {
		what = "quote in %s does not occur in this copy of the passage and was omitted"
	}
	c := &api.SyncConflict{
		Kind: api.ConflictRefused, Table: t.name, RecordID: recordIDFromKey(l.Key), Label: t.displayName(l.Record), Field: name,
		Base: newConflictSide(nil), Remote: newConflictSide(nil), Clone: r.cloneSide(l, b),
		Message: fmt.Sprintf("%d "+what, len(out.removed), t.displayName(l.Record)),
	}
	r.addNote("%s", c.Message)
	return &fit, r.storeAndPublishConflict(tx, c, whole)
}
