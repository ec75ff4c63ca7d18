package assessment

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/store"
)

// rulesReader is the name that selects the built-in rules as the reader.
const rulesReader = "rules"

// Keys of the inputs of a Statement of Applicability that describe its reader. They are absent if
// the rules are the reader.
const (
	readerInput   = "reader"
	readingsInput = "readings_sha256"
	notReadInput  = "statements_not_read" // derived from the other inputs
)

// storedReader implements reading.Reader with the readings of an assessment in the store. A nil
// storedReader represents the built-in rules.
type storedReader struct {
	db *store.DB
	api.Reader
}

// findReader returns the reader of the given name. If name is empty, it returns the reader of the newest Statement
// of Applicability, or the rules if there is none.
func (s *Service) findReader(ctx context.Context, org, assessment, name string) (r *storedReader, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		if name == "" {
			v, ok, err := soaType.newestVersion(tx, org, assessment)
			if err != nil || !ok {
				return err
			}
			name = v.Inputs[readerInput]
		}
		if name == "" || name == rulesReader || name == judge.RulesVersion {
			return nil
		}
		record, err := store.Readers.Get(tx, org, store.K(assessment, name))
		if errors.Is(err, store.ErrNotFound) {
			return api.Invalid(
				"reader",
				"no readings of %q were imported into this assessment; import them, or draft with the reader %q",
				name,
				rulesReader,
			)
		}
		r = &storedReader{db: s.db, Reader: record}
		return err
	})
	return r, err
}

// judgeOptions returns the options for judging evidence against prepared controls as of today with
// a reader, without corrections. The rules read what a model has not read.
func (s *Service) judgeOptions(r *storedReader, prepared *PreparedControls) judge.Options {
	o := judge.Options{Today: s.today()}
	switch {
	case r.isModel():
		o.Reader = reading.Fallback(r, prepared.RulesReader(o.Today))
	case r != nil:
		o.Reader = r
	}
	return o
}

// identity returns a string that changes whenever the reader may answer differently.
func (r *storedReader) identity() string {
	if r == nil {
		return judge.RulesVersion
	}
	return r.Reader.Name + " " + r.SHA256
}

// method returns the method to record for a draft.
func (r *storedReader) method() string {
	if r == nil {
		return judge.RulesVersion
	}
	return judge.RulesVersion + " with reader " + r.describe()
}

// recordIn adds the reader to the inputs of a draft.
func (r *storedReader) recordIn(inputs map[string]string) {
	if r != nil {
		inputs[readerInput], inputs[readingsInput] = r.Reader.Name, r.SHA256
	}
}

// Name implements reading.Reader.
func (r *storedReader) Name() string { return r.Reader.Name }

// Read implements reading.Reader. It returns no readings for passages without stored readings.
func (r *storedReader) Read(ctx context.Context, st reading.Statement, passages []reading.Passage) ([]reading.Reading, error) {
	var stored store.StatementReadings
	err := r.db.View(ctx, func(tx *store.Tx) (err error) {
		stored, err = store.Readings.Get(tx, r.OrganizationID, store.K(r.AssessmentID, r.Reader.Name, st.ID()))
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	out := make([]reading.Reading, len(passages))
	for i, p := range passages {
		if one, ok := stored.Passages[p.Hash()]; ok {
			out[i] = fromStored(one)
		}
	}
	return out, nil
}

func fromStored(r store.PassageReading) reading.Reading {
	out := reading.Reading{Label: reading.Label(r.Label), Words: r.Words}
	if r.Probabilities != nil {
		out.Probabilities = make(map[reading.Label]float64, len(r.Probabilities))
	}
	for l, p := range r.Probabilities {
		out.Probabilities[reading.Label(l)] = p
	}
	return out
}

// readerChange describes how the reader of a version has changed since it was drafted, in words that complete "was
// drafted". It returns "" if it hasn't.
func readerChange(tx *store.Tx, v *api.DeliverableVersion) (string, error) {
	drafted, _, _ := strings.Cut(v.Method, " ")
	drafted = strings.TrimSuffix(drafted, ";") // a second reader follows
	if strings.HasPrefix(drafted, "builtin/") && drafted != judge.RulesVersion {
		return "by an earlier version of the assessment rules; draft it again to apply the current rules", nil
	}
	name := v.Inputs[readerInput]
	if name == "" {
		return "", nil
	}
	r, err := store.Readers.Get(tx, v.OrganizationID, store.K(v.AssessmentID, name))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Sprintf("with the reader %s, whose readings are no longer stored", name), nil
	case err != nil:
		return "", err
	case r.SHA256 != v.Inputs[readingsInput]:
		return fmt.Sprintf("from older readings of the reader %s", name), nil
	}
	return "", nil
}

// ListReaders lists the readers whose readings were imported, by name.
func (s *Service) ListReaders(ctx context.Context, by api.Caller, in *api.ReaderListInput) (*api.List[api.Reader], error) {
	if err := s.db.View(ctx, func(tx *store.Tx) error { _, err := getAssessment(tx, by, in.AssessmentID); return err }); err != nil {
		return nil, err
	}
	return store.List(ctx, s.db, store.Readers, by.OrganizationID, in.Paging, store.PageQuery[api.Reader]{Prefix: store.K(in.AssessmentID)})
}
