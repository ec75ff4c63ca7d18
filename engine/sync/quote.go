package sync

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/store"
)

// quotes tells whether what a clone quotes stands in the passages here.
type quotes struct {
	tx              *store.Tx
	org, assessment string
	// texts are passages that were looked at; known is what the assessment quotes here
	// already, read when it is first asked for: a passage may have changed since.
	texts map[string]string
	known map[string]bool
}

func quoteKey(e *api.Evidence) string { return e.ChunkID + "\n" + e.Quote }

// folded is a text as quotes have it.
func folded(s string) string { return strings.Join(strings.Fields(s), " ") }

func (q *quotes) stands(e *api.Evidence) (bool, error) {
	text, looked := q.texts[e.ChunkID]
	if !looked {
		c, err := store.Chunks.Get(q.tx, q.org, e.ChunkID)
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrBadKey) {
			return false, err
		}
		if err == nil && c.AssessmentID == q.assessment {
			text = folded(c.Text)
		}
		q.texts[e.ChunkID] = text
	}
	if quote := folded(e.Quote); quote != "" && strings.Contains(text, quote) {
		return true, nil
	}
	if err := q.read(); err != nil {
		return false, err
	}
	return q.known[quoteKey(e)], nil
}

// read reads what the assessment quotes here.
func (q *quotes) read() error {
	if q.known != nil {
		return nil
	}
	q.known = map[string]bool{}
	for _, t := range tables {
		if t.sort != items && t.name != store.Scopes.Name() {
			continue
		}
		for key, err := range t.all(q.tx, q.org, q.assessment) {
			if err != nil {
				return err
			}
			f, _, err := t.read(q.tx, q.org, key)
			if err != nil {
				return err
			}
			if _, err := q.sift(f["evidence"], func(e *api.Evidence) (bool, error) { q.known[quoteKey(e)] = true; return true, nil }); err != nil {
				return err
			}
			if _, err := q.siftTraits(f["traits"], func(e *api.Evidence) (bool, error) { q.known[quoteKey(e)] = true; return true, nil }); err != nil {
				return err
			}
		}
	}
	return nil
}

// sifted is a list of evidence without what does not stand, and that.
type sifted struct {
	left json.RawMessage
	gone []api.Evidence
}

func wrongEvidence(err error) error {
	return api.Invalid("evidence", "a field has a value of the wrong kind: %v", err)
}

func (q *quotes) sift(raw json.RawMessage, stands func(*api.Evidence) (bool, error)) (sifted, error) {
	out := sifted{left: raw}
	if len(raw) == 0 || string(raw) == "null" {
		return out, nil
	}
	var all, left []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return out, wrongEvidence(err)
	}
	for _, one := range all {
		var e api.Evidence
		if err := json.Unmarshal(one, &e); err != nil {
			return out, wrongEvidence(err)
		}
		ok, err := stands(&e)
		if err != nil {
			return out, err
		}
		if ok {
			left = append(left, one)
		} else {
			out.gone = append(out.gone, e)
		}
	}
	if len(out.gone) == 0 {
		return out, nil
	}
	var err error
	if out.left, err = json.Marshal(append([]json.RawMessage{}, left...)); err != nil {
		return out, wrongEvidence(err)
	}
	return out, nil
}

// siftTraits is sift of the evidence of a scope's traits.
func (q *quotes) siftTraits(raw json.RawMessage, stands func(*api.Evidence) (bool, error)) (sifted, error) {
	out := sifted{left: raw}
	if len(raw) == 0 || string(raw) == "null" {
		return out, nil
	}
	var traits map[string]fields
	if err := json.Unmarshal(raw, &traits); err != nil {
		return out, wrongEvidence(err)
	}
	for _, t := range traits {
		one, err := q.sift(t["evidence"], stands)
		if err != nil {
			return out, err
		}
		if len(one.gone) > 0 {
			t["evidence"], out.gone = one.left, append(out.gone, one.gone...)
		}
	}
	if len(out.gone) == 0 {
		return out, nil
	}
	var err error
	out.left, err = json.Marshal(traits)
	return out, err
}

// standing is a change without quotes that do not stand in the passages here: what rests on
// nothing is not evidence. Those are kept as a conflict.
func (r *replay) standing(tx *store.Tx, t *table, l *line) (*line, error) {
	name := "evidence"
	if t.name == store.Scopes.Name() {
		name = "traits"
	} else if t.sort != items {
		return l, nil
	}
	if r.quotes == nil || r.quotes.tx != tx {
		r.quotes = &quotes{tx: tx, org: r.place.org, assessment: r.f.AssessmentID, texts: map[string]string{}}
	}
	q := r.quotes
	look := func(raw json.RawMessage) (sifted, error) {
		if name == "traits" {
			return q.siftTraits(raw, q.stands)
		}
		return q.sift(raw, q.stands)
	}
	came := l.Record[name]
	if l.Op == opEdit {
		came = l.Fields[name].To
	} else if l.Op != opInsert {
		return l, nil
	}
	out, err := look(came)
	if err != nil || len(out.gone) == 0 {
		return l, err
	}
	fit := *l
	if l.Op == opEdit {
		fit.Fields = maps.Clone(l.Fields)
		fit.Fields[name] = assessment.FieldChange{From: l.Fields[name].From, To: out.left}
	} else {
		fit.Record = maps.Clone(l.Record)
		fit.Record[name] = out.left
	}
	b, err := json.Marshal(out.gone)
	if err != nil {
		return nil, err
	}
	whole := len(b) > maxValue
	if whole {
		b = nil
	}
	what := "quotes of %s do not stand in the passages here, and are left out"
	if len(out.gone) == 1 {
		what = "quote of %s does not stand in the passage here, and is left out"
	}
	c := &api.SyncConflict{Kind: api.ConflictRefused, Table: t.name, RecordID: keyID(l.Key), Label: t.named(l.Record), Field: name, Base: side(nil), Home: side(nil), Clone: r.there(l, b),
		Message: fmt.Sprintf("%d "+what, len(out.gone), t.named(l.Record))}
	r.note("%s", c.Message)
	return &fit, r.conflict(tx, c, whole)
}
