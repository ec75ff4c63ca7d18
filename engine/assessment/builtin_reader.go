package assessment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/modelreader"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/judge/reading/crossencoder"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

const (
	// builtinReaderPrefix begins the names of readers that are the built-in network; the rest identifies its weights.
	builtinReaderPrefix = api.BuiltinReader + "."
	// builtinPassages is the number of passages of each statement that the built-in network reads, best first.
	builtinPassages = 3
	// keptTogether is the number of statements whose readings are stored at a time.
	keptTogether = 10
)

// MaxPassages implements reading.Limited.
func (r *storedReader) MaxPassages() int {
	if isBuiltin(r.Reader.Name) {
		return builtinPassages
	}
	return 0
}

// networkRun is one call in which the built-in network reads an assessment's evidence.
type networkRun struct {
	s      *Service
	by     api.Caller
	reader api.Reader
	read   *crossencoder.Reader
	tasks  []modelreader.Statement
	out    api.ModelReading
}

// readWithNetwork has the built-in network read what it has not read yet, until the deadline, if there is one.
func (s *Service) readWithNetwork(ctx context.Context, by api.Caller, assessment string, deadline time.Time) (*api.ModelReading, error) {
	r, err := s.newNetworkRun(ctx, by, assessment)
	if err != nil {
		return nil, err
	}
	release, err := s.acquireEvaluationSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	began, all := s.clock(), r.passagesLeft()
	for len(r.tasks) > 0 && (deadline.IsZero() || s.clock().Before(deadline)) {
		if err := r.readNext(ctx); err != nil {
			return nil, err
		}
	}
	left := r.passagesLeft()
	r.out.Used = api.ModelUse{Calls: all - left, Seconds: s.clock().Sub(began).Seconds()}
	r.out.Next.Calls = left
	if r.out.Used.Calls > 0 {
		r.out.Next.Seconds = judge.RoundToThousandths(r.out.Used.Seconds / float64(r.out.Used.Calls) * float64(left))
		err = r.recordEvent(ctx)
	}
	return &r.out, err
}

// newNetworkRun returns a run with the passages that the built-in network has not read yet.
func (s *Service) newNetworkRun(ctx context.Context, by api.Caller, assessment string) (*networkRun, error) {
	if s.network == nil {
		return nil, api.Invalid("reader", "this program has no built-in reader; use rules")
	}
	network, err := s.network()
	if err != nil {
		return nil, api.Internal("the built-in reader can't be used: %v; draft with the rules instead", err).WithCause(err)
	}
	r := &networkRun{s: s, by: by, read: crossencoder.NewReader(network)}
	r.reader = api.Reader{
		OrganizationID: by.OrganizationID, AssessmentID: assessment, Name: builtinReaderPrefix + network.SHA256()[:8],
	}
	r.out.Reader, r.out.Model = r.reader.Name, api.ReaderModel{Name: api.BuiltinReader, Digest: "sha256:" + network.SHA256()}
	var known map[string]map[string]bool
	err = s.db.View(ctx, func(tx *store.Tx) error {
		a, err := getAssessment(tx, by, assessment)
		if err == nil {
			err = requireOpen(&a)
		}
		if err != nil {
			return err
		}
		known, err = passagesSeenBy(tx, &r.reader)
		return err
	})
	if err != nil {
		return nil, err
	}
	isToRead, err := s.controlsToRead(ctx, by, assessment)
	if err != nil {
		return nil, err
	}
	return r, s.evaluateByRules(ctx, by, assessment, func(_ *api.Assessment, j *Evaluation, controls []api.Control) error {
		seen := map[string]bool{}
		for _, c := range controls {
			if !isToRead(c) {
				continue
			}
			for _, one := range j.Candidates(c.Code) {
				id := one.Statement.ID()
				if seen[id] || len(one.Passages) == 0 {
					continue
				}
				seen[id] = true
				task := modelreader.Statement{Statement: one.Statement}
				for _, p := range one.Passages[:min(len(one.Passages), builtinPassages)] {
					passage := p.ForReader()
					if !known[id][passage.Hash()] {
						task.Passages = append(task.Passages, passage)
					}
				}
				if len(task.Passages) > 0 {
					r.tasks = append(r.tasks, task)
				}
			}
		}
		r.out.Statements, r.out.Left = len(seen), len(r.tasks)
		return ctx.Err()
	})
}

func (r *networkRun) passagesLeft() (n int) {
	for _, t := range r.tasks {
		n += len(t.Passages)
	}
	return n
}

// readNext reads the passages of some statements and stores the readings.
func (r *networkRun) readNext(ctx context.Context) error {
	tasks := r.tasks[:min(len(r.tasks), keptTogether)]
	readings := make([][]reading.Reading, len(tasks))
	for i, t := range tasks {
		var err error
		if readings[i], _, err = reading.ReadAll(ctx, r.read, t.Statement, t.Passages); err != nil {
			return err
		}
	}
	next := r.reader
	err := r.s.db.Update(ctx, func(tx *store.Tx) error {
		stored, err := store.Readers.Get(tx, r.reader.OrganizationID, store.K(r.reader.AssessmentID, r.reader.Name))
		switch {
		case err == nil:
			next = stored
		case errors.Is(err, store.ErrNotFound):
			next = r.reader
		default:
			return err
		}
		for i, t := range tasks {
			if err := storeReadingsAndCount(tx, &next, t, readings[i]); err != nil {
				return err
			}
		}
		next.ImportedBy, next.ImportedAt, next.OfStatements = r.by.Actor.Name, tx.Now(), r.out.Statements
		return store.Readers.Put(tx, next.OrganizationID, &next)
	})
	if err != nil {
		return err
	}
	r.reader, r.tasks = next, r.tasks[len(tasks):]
	r.out.Left = len(r.tasks)
	return nil
}

func (r *networkRun) recordEvent(ctx context.Context) error {
	return r.s.db.Update(ctx, func(tx *store.Tx) error {
		return audit.RecordAndPublishEvent(tx, r.by, audit.Event{
			Type: "reader.read", AssessmentID: r.reader.AssessmentID,
			Summary: fmt.Sprintf("had the built-in reader read %s (%d of %s still unread)",
				prose.Count(r.out.Used.Calls, "passage", "passages"), r.out.Left, prose.Count(r.out.Statements, "statement", "statements")),
			ResourceType: "reader", ResourceID: r.reader.Name,
			Data: map[string]any{"name": r.reader.Name, "sha256": r.reader.SHA256, "readings": r.reader.Readings},
		})
	})
}

// haveRead has the language model or the built-in network read the evidence if either is chosen, and returns the names of
// their readers in place of theirs. If no readers are chosen and the newest version was drafted with the built-in network,
// it also reads what is new.
func (s *Service) haveRead(ctx context.Context, by api.Caller, assessment string, c chosenReaders) (chosenReaders, error) {
	if c == (chosenReaders{}) {
		err := s.db.View(ctx, func(tx *store.Tx) error {
			v, _, err := soaType.newestVersion(tx, by.OrganizationID, assessment)
			if first, second := v.Inputs[readerInput], v.Inputs[secondReaderInput]; isBuiltin(first) || isBuiltin(second) {
				c = chosenReaders{first, second}
			}
			return err
		})
		if err != nil {
			return c, err
		}
	}
	for _, name := range []*string{&c.first, &c.second} {
		switch {
		case *name == api.ModelReader:
			read, err := s.readAllWithModel(ctx, by, assessment)
			if err != nil {
				return c, err
			}
			*name = read
		case isBuiltin(*name):
			r, err := s.readWithNetwork(ctx, by, assessment, time.Time{})
			if err != nil {
				return c, err
			}
			*name = r.Reader
		}
	}
	return c, nil
}

// isBuiltin reports whether a reader's name is that of the built-in network, with these or other weights.
func isBuiltin(name string) bool {
	return name == api.BuiltinReader || strings.HasPrefix(name, builtinReaderPrefix)
}
