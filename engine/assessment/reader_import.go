package assessment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// readingsFile holds the readings in a file while they are checked against an assessment.
type readingsFile struct {
	name       string
	statements map[string]bool   // IDs of the statements of the assessment; true if there are passages to read for it
	passages   map[string]string // texts of its passages, by hash
	lines      map[[2]string]int // line numbers by statement and passage
	readings   map[string]*store.StatementReadings
}

// ImportReadings stores the readings of a file under the name of its reader, replacing its earlier
// ones. It stores nothing unless the whole file is valid.
func (s *Service) ImportReadings(ctx context.Context, by api.Caller, in *api.ImportReadingsInput) (*api.Reader, error) {
	if err := checkReaderName(in.Name); err != nil {
		return nil, err
	}
	f := readingsFile{
		name: in.Name, statements: map[string]bool{}, passages: map[string]string{},
		lines: map[[2]string]int{}, readings: map[string]*store.StatementReadings{},
	}
	err := s.evaluateByRules(ctx, by, in.AssessmentID, func(a *api.Assessment, j *Evaluation, controls []api.Control) error {
		for _, c := range controls {
			for _, st := range j.Candidates(c.Code) {
				f.statements[st.Statement.ID()] = f.statements[st.Statement.ID()] || len(st.Passages) > 0
			}
		}
		for _, st := range judge.TraitStatements() {
			f.statements[st.ID()] = false // the rules read traits that the reader leaves out
		}
		j.ForEachPassage(func(p judge.Passage) {
			seen := p.ForReader()
			f.passages[seen.Hash()] = seen.Text
		})
		return requireOpen(a)
	})
	if err != nil {
		return nil, err
	}
	if err := reading.ParseLines(in.File.Content, f.add); err != nil {
		return nil, api.Invalid("file", "%s: %v; nothing was imported", cmp.Or(in.File.Filename, "the file"), err).WithCause(err)
	}
	return s.storeReadings(ctx, by, in.AssessmentID, &f)
}

func checkReaderName(name string) error {
	switch {
	case !reading.IsValidName(name):
		return api.Invalid(
			"name",
			"%q is not a valid reader name; use up to 64 lower-case letters, digits, dots, hyphens and underscores",
			prose.Truncate(name, 80),
		)
	case name == rulesReader || name == api.ModelReader || strings.HasPrefix(name, "builtin") || strings.HasPrefix(name, modelReaderPrefix):
		return api.Invalid("name", "%q is the name of a built-in reader; choose another name", name)
	}
	return nil
}

// add checks a line and adds it to the readings.
func (f *readingsFile) add(number int, l reading.Line) error {
	text, known := f.passages[l.PassageHash]
	_, isStatement := f.statements[l.StatementID]
	pair := [2]string{l.StatementID, l.PassageHash}
	switch {
	case l.Reader != f.name:
		return fmt.Errorf(
			"the line belongs to the reader %q, not %q; import the readings of one reader at a time",
			prose.Truncate(l.Reader, 80),
			f.name,
		)
	case !isStatement:
		return fmt.Errorf("the assessment has no statement %q; export its statements again", prose.Truncate(l.StatementID, 80))
	case !known:
		return fmt.Errorf("the assessment has no passage %q, because the passage was changed or belongs to another "+
			"assessment; export the statements again",
			prose.Truncate(l.PassageHash, 80))
	case f.lines[pair] > 0:
		return fmt.Errorf("line %d already has a reading of this statement and passage", f.lines[pair])
	}
	if err := l.Reading.Check(text); err != nil {
		return err
	}
	f.lines[pair], f.statements[l.StatementID] = number, true
	r := f.readings[l.StatementID]
	if r == nil {
		r = &store.StatementReadings{Reader: f.name, StatementID: l.StatementID, Passages: map[string]store.PassageReading{}}
		f.readings[l.StatementID] = r
	}
	if len(r.Passages) == maxReadingsPerStatement {
		return fmt.Errorf("the statement has more than %d readings; include only readings of passages that were "+
			"exported", maxReadingsPerStatement)
	}
	r.Passages[l.PassageHash] = toStored(l.Reading)
	return nil
}

func toStored(r reading.Reading) store.PassageReading {
	out := store.PassageReading{Label: string(r.Label), Words: r.Words}
	if r.Probabilities != nil {
		out.Probabilities = make(map[string]float64, len(r.Probabilities))
	}
	for l, p := range r.Probabilities {
		out.Probabilities[string(l)] = p
	}
	return out
}

// Limits on readings.
const (
	maxReadingsPerStatement = 200 // search finds 20 passages
	// A transaction writes the readings of at most maxStatementsPerWrite statements and about
	// maxBytesPerWrite bytes.
	maxStatementsPerWrite = 1000
	maxBytesPerWrite      = 4 << 20
)

// batches splits the statements, sorted by ID, into groups whose readings are each written in one transaction.
func (f *readingsFile) batches() (out [][]*store.StatementReadings) {
	var batch []*store.StatementReadings
	size := 0
	for _, id := range slices.Sorted(maps.Keys(f.readings)) {
		r := f.readings[id]
		batch = append(batch, r)
		for _, p := range r.Passages {
			size += 256 + len(p.Words)
		}
		if len(batch) == maxStatementsPerWrite || size > maxBytesPerWrite {
			out, batch, size = append(out, batch), nil, 0
		}
	}
	if len(batch) > 0 {
		out = append(out, batch)
	}
	return out
}

// storeReadings replaces a reader's readings, in several transactions.
func (s *Service) storeReadings(ctx context.Context, by api.Caller, assessment string, f *readingsFile) (*api.Reader, error) {
	defer s.locks.lock(assessment)() // acquired only now, so that a slow upload doesn't keep others from drafting
	toRead := 0
	for _, is := range f.statements {
		if is {
			toRead++
		}
	}
	hash, err := hashJSON(f.readings) // maps are encoded in key order
	if err != nil {
		return nil, err
	}
	out := api.Reader{
		OrganizationID: by.OrganizationID, AssessmentID: assessment, Name: f.name, SHA256: hash,
		Readings: len(f.lines), Statements: len(f.readings), OfStatements: toRead, ImportedBy: by.Actor.Name,
	}
	// The reader is deleted first and inserted last: so no draft can use part of its readings
	// between transactions.
	batches := f.batches()
	for i, batch := range batches {
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			if i == 0 {
				if err := deleteReader(tx, by, assessment, f.name); err != nil {
					return err
				}
			}
			for _, r := range batch {
				r.OrganizationID, r.AssessmentID = by.OrganizationID, assessment
				if err := store.Readings.Put(tx, by.OrganizationID, r); err != nil {
					return err
				}
			}
			if i < len(batches)-1 {
				return nil
			}
			out.ImportedAt = tx.Now()
			return errors.Join(store.Readers.Put(tx, by.OrganizationID, &out), recordReaderImport(tx, by, &out))
		})
		if err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// deleteReader deletes the readings of a reader, if there are any.
func deleteReader(tx *store.Tx, by api.Caller, assessment, name string) error {
	a, err := getAssessment(tx, by, assessment)
	if err != nil {
		return err
	}
	if err := requireOpen(&a); err != nil {
		return err
	}
	if _, err := store.Readings.DeleteAll(tx, by.OrganizationID, assessment, name); err != nil {
		return err
	}
	if err := store.Readers.Delete(tx, by.OrganizationID, store.K(assessment, name)); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

func recordReaderImport(tx *store.Tx, by api.Caller, r *api.Reader) error {
	return audit.RecordAndPublishEvent(tx, by, audit.Event{
		Type: "reader.imported", AssessmentID: r.AssessmentID,
		Summary: fmt.Sprintf(
			"imported %s from the reader %s, for %d of %s",
			prose.Count(r.Readings, "reading", "readings"),
			r.Name,
			r.Statements,
			prose.Count(r.OfStatements, "statement", "statements"),
		),
		ResourceType: "reader", ResourceID: r.Name, Data: map[string]any{"name": r.Name, "sha256": r.SHA256, "readings": r.Readings},
	})
}
