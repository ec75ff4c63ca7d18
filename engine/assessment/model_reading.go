package assessment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/modelreader"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

const (
	defaultStepSeconds = 20
	maxStepSeconds     = 600
	// maxUnanswered is the number of consecutive controls without a valid answer after which reading stops.
	maxUnanswered = 3
	// Reading stops if the model cites evidence that is in no document, in at least minFooled answers and at least
	// this share of all answers.
	minFooled      = 5
	maxFooledShare = 0.2
)

// modelTask holds the statements and passages that the model has to read for a control. If control is "", the task is
// about the traits of the organization.
type modelTask struct {
	control    string
	statements []modelreader.Statement
}

// modelRun is one call in which a model reads an assessment's evidence. mu guards the fields below it, which change
// during reading.
type modelRun struct {
	s      *Service
	by     api.Caller
	status *llm.Status
	tasks  []modelTask
	out    api.ModelReading
	// untranslated holds the statements to translate, by language of the evidence; they can be
	// searched for only after that.
	untranslated map[string][]reading.Statement
	rate         float64 // seconds per token, 0 if unknown

	began, deadline time.Time
	earlier         api.ModelUse // used by earlier calls of the same run

	mu         sync.Mutex
	reader     api.Reader
	used       api.ModelUse
	unanswered []unansweredTask // in a row
	answered   bool             // a control got a valid answer in this call
}

// unansweredTask is a task for which the model gave no valid answer, with the outcomes to store if the run continues.
type unansweredTask struct {
	task     *modelTask
	outcomes []modelreader.Outcome
	calls    []modelreader.Call
}

var errStopped = errors.New("reading has been stopped")

// GetModelReading returns how much of the assessment's evidence the language model has read, and an estimate of the
// effort for the rest.
func (s *Service) GetModelReading(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.ModelReading, error) {
	r, err := s.newModelRun(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	return r.report(), nil
}

// ReadWithModel waits until all documents are processed, lets the language model read what it has not read yet, and stores
// its answers after each control. It returns when everything has been read, a limit is reached, or the call's time limit is over.
func (s *Service) ReadWithModel(ctx context.Context, by api.Caller, in *api.ReadWithModelInput) (*api.ModelReading, error) {
	if _, running := s.modelRuns.LoadOrStore(in.AssessmentID, true); running {
		return nil, api.Conflict("the model is already reading this assessment's evidence; wait until it has finished")
	}
	defer s.modelRuns.Delete(in.AssessmentID)
	if in.Body.Reader == api.BuiltinReader {
		return s.readWithNetwork(ctx, by, in.AssessmentID, s.clock().Add(time.Duration(cmp.Or(in.Body.Seconds, defaultStepSeconds))*time.Second))
	}
	if err := s.evidence.WaitForDocuments(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	for again := false; ; again = true {
		r, err := s.newModelRun(ctx, by, in.AssessmentID)
		if err != nil {
			return nil, err
		}
		r.began, r.earlier = s.clock(), in.Body.Used
		r.deadline = r.began.Add(time.Duration(cmp.Or(in.Body.Seconds, defaultStepSeconds)) * time.Second)
		hadReadings := r.reader.Readings > 0
		if !r.isTranslated() {
			if err = r.translate(ctx); err == nil && !r.isTranslated() {
				return r.report(), nil // the time is up, or a limit is reached
			}
			if err == nil {
				r, err = r.restart(ctx)
			}
		}
		if err == nil {
			err = r.read(ctx)
		}
		if errors.Is(err, errOtherModel) && !hadReadings && !again {
			continue // the model has just begun, and the name in its answers is known only now
		}
		if err != nil {
			r.unanswered = nil
		}
		if finishErr := r.finish(context.WithoutCancel(ctx)); err == nil {
			err = finishErr
		}
		if err != nil {
			return nil, r.toUserError(err)
		}
		return r.report(), nil
	}
}

// restart returns a run that continues this one with the passages found by a new search.
func (r *modelRun) restart(ctx context.Context) (*modelRun, error) {
	next, err := r.s.newModelRun(ctx, r.by, r.reader.AssessmentID)
	if err != nil {
		return r, err
	}
	next.began, next.deadline, next.earlier, next.used = r.began, r.deadline, r.earlier, r.used
	return next, nil
}

// toUserError turns the error that ended a reading into one for the user.
func (r *modelRun) toUserError(err error) error {
	var known *api.Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	return api.Internal("%s stopped reading: %v. The answers so far are kept; run the command again to continue",
		r.status.Model, err).WithCause(err)
}

// newModelRun returns a run with all evidence that the model has not read yet.
func (s *Service) newModelRun(ctx context.Context, by api.Caller, assessment string) (*modelRun, error) {
	if err := s.db.View(ctx, func(tx *store.Tx) error { _, err := getAssessment(tx, by, assessment); return err }); err != nil {
		return nil, err
	}
	st, err := s.modelStatus(ctx, by.OrganizationID, assessment)
	if err != nil {
		return nil, err
	}
	r := &modelRun{s: s, by: by, status: st}
	var known map[string]map[string]bool
	err = s.db.View(ctx, func(tx *store.Tx) (err error) {
		if r.reader, r.out.Note, err = findModelReader(tx, by.OrganizationID, assessment, st); err != nil {
			return err
		}
		if r.rate, err = secondsPerToken(tx, by.OrganizationID, st.Model); err != nil {
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
	withheld, seen := map[string]bool{}, map[string]bool{}
	traits, err := s.traitCandidates(ctx, by, assessment)
	if err != nil {
		return nil, err
	}
	r.addTask("", traits, known, withheld, seen)
	err = s.evaluateByRules(ctx, by, assessment, func(_ *api.Assessment, j *Evaluation, controls []api.Control) error {
		for _, c := range controls {
			if isToRead(c) {
				r.addUntranslated(judge.ReaderStatements(c), j.translated)
				r.addTask(c.Code, j.Candidates(c.Code), known, withheld, seen)
			}
		}
		r.out.Withheld = len(withheld)
		return ctx.Err()
	})
	return r, err
}

// passagesSeenBy returns the hashes of the passages that a reader has read or was asked to read, by statement.
func passagesSeenBy(tx *store.Tx, r *api.Reader) (map[string]map[string]bool, error) {
	out := map[string]map[string]bool{}
	for one, err := range store.Readings.Scan(tx, r.OrganizationID, store.Prefix(r.AssessmentID, r.Name)) {
		if err != nil {
			return nil, err
		}
		out[one.StatementID] = make(map[string]bool, len(one.Passages))
		for hash := range one.Passages {
			out[one.StatementID][hash] = true
		}
	}
	return out, nil
}

// controlsToRead returns a function that reports whether the evidence for a control has to be read, because the scope
// or a user includes the control.
func (s *Service) controlsToRead(ctx context.Context, by api.Caller, assessment string) (func(api.Control) bool, error) {
	a, err := s.readAssessment(ctx, by, assessment)
	if err != nil {
		return nil, err
	}
	scope, err := s.readScope(ctx, by, assessment)
	if err != nil && !api.IsCode(err, api.CodeNotFound) {
		return nil, err
	}
	previous, err := loadPreviousInView(ctx, s, &a, soaType, nil)
	if err != nil {
		return nil, err
	}
	included := manuallyIncluded(previous.items, "")
	return func(c api.Control) bool {
		applicability, _ := judge.DetermineApplicability(c, scope.Traits)
		return applicability.IsApplicable() || included[c.Code] != nil
	}, nil
}

// addTask adds a task with the passages still to be read for a control or for the traits. Passages that contain
// instructions for the model are withheld.
func (r *modelRun) addTask(
	control string, candidates []judge.Candidates, known map[string]map[string]bool, withheld, seen map[string]bool,
) {
	task := modelTask{control: control}
	for _, c := range candidates {
		id := c.Statement.ID()
		if seen[id] {
			continue
		}
		seen[id] = true
		st := modelreader.Statement{Statement: c.Statement}
		isToRead := false
		for i, p := range c.Passages {
			passage := p.ForReader()
			hash := passage.Hash()
			if c.AddressesReader(i) {
				withheld[hash] = true
				continue
			}
			isToRead = true
			if !known[id][hash] {
				st.Passages = append(st.Passages, passage)
			}
		}
		if isToRead {
			r.out.Statements++
		}
		if len(st.Passages) > 0 {
			task.statements = append(task.statements, st)
		}
	}
	if len(task.statements) > 0 {
		r.out.Left += len(task.statements)
		r.tasks = append(r.tasks, task)
	}
}

// secondsPerToken returns how many seconds per token a model has taken in the organization's
// assessments, or 0 if that is unknown.
func secondsPerToken(tx *store.Tx, org, model string) (float64, error) {
	seconds, tokens := 0.0, 0
	for have, err := range store.Readers.Scan(tx, org) {
		if err != nil {
			return 0, err
		}
		if m := have.Model; m != nil && m.Name == model {
			seconds, tokens = seconds+m.Seconds, tokens+m.PromptTokens+m.CompletionTokens
		}
	}
	return seconds / float64(max(1, tokens)), nil
}

// read asks the model about each control, with several concurrent requests if allowed.
func (r *modelRun) read(ctx context.Context) error {
	return judge.ForEach(ctx, len(r.tasks), max(1, r.s.modelLimits.Concurrency), func(ctx context.Context, i int) error {
		if r.isOver() {
			return nil
		}
		var calls []modelreader.Call
		reader := modelreader.Reader{
			Model: r.s.model, ContextTokens: r.s.modelLimits.ContextTokens,
			Before: func(tokens int) error { return r.reserve(ctx, tokens) },
			After:  func(c modelreader.Call) error { calls = append(calls, c); return r.countAnswer(ctx, c) },
		}
		outcomes, err := reader.Read(ctx, r.tasks[i].statements)
		if errors.Is(err, errStopped) {
			return nil
		}
		if err != nil {
			return err
		}
		return r.keepAnswers(ctx, &r.tasks[i], outcomes, calls)
	})
}

// isOver reports whether the run has stopped or reached its deadline.
func (r *modelRun) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Stopped != "" || !r.s.clock().Before(r.deadline)
}

// reserve returns an error if a request that may use this many tokens would exceed a limit of the run, or if models on
// other machines have been forbidden since the run began.
func (r *modelRun) reserve(ctx context.Context, tokens int) error {
	if r.status.Remote {
		by, err := r.s.remoteModelBan(ctx, r.by.OrganizationID, r.reader.AssessmentID)
		if err != nil || by != "" {
			return cmp.Or(err, forbiddenModelError(by, r.status.Model))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.s.modelLimits
	total := r.earlier.Add(r.used)
	seconds := r.earlier.Seconds + r.s.clock().Sub(r.began).Seconds()
	price := max(l.PromptPrice, l.CompletionPrice) / 1e6
	tokens *= max(1, l.Concurrency) // including the requests in progress
	switch {
	case l.MaxTokens > 0 && total.Tokens()+tokens > l.MaxTokens:
		r.out.Stopped = fmt.Sprintf("The limit of %d tokens per run has been reached", l.MaxTokens)
	case l.MaxCost > 0 && total.Cost+float64(tokens)*price > l.MaxCost:
		r.out.Stopped = fmt.Sprintf("The cost limit of %.2f per run has been reached", l.MaxCost)
	case l.MaxSeconds > 0 && seconds > l.MaxSeconds:
		r.out.Stopped = fmt.Sprintf("The time limit of %s per run has been reached", time.Duration(l.MaxSeconds*float64(time.Second)))
	default:
		return nil
	}
	return errStopped
}

// countAnswer counts an answer, and returns an error if it comes from a model other than the reader's.
func (r *modelRun) countAnswer(ctx context.Context, c modelreader.Call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = r.used.Add(api.ModelUse{
		Calls: 1, PromptTokens: c.PromptTokens, CompletionTokens: c.CompletionTokens,
		Cost: r.s.modelLimits.Cost(c.PromptTokens, c.CompletionTokens),
	})
	m := r.reader.Model
	if c.Digest != "" && m.Digest != "" && c.Digest != m.Digest {
		return fmt.Errorf("%w under the name %s: the digest is %s, not %s", errOtherModel, m.Name, shortDigest(c.Digest), shortDigest(m.Digest))
	}
	served := c.ServedModel
	if _, name, _ := strings.Cut(m.Name, "/"); served == name || served == name+":latest" {
		served = ""
	}
	if served == m.ServedModel {
		return nil
	}
	// The next run will find a reader with this name.
	other := api.ReaderModel{Name: m.Name, Digest: m.Digest, ServedModel: served, Prompt: m.Prompt, Seed: m.Seed}
	next := newModelReader(r.reader.OrganizationID, r.reader.AssessmentID, other)
	err := r.s.db.Update(ctx, func(tx *store.Tx) error {
		have, err := store.Readers.Get(tx, next.OrganizationID, store.K(next.AssessmentID, next.Name))
		if err == nil {
			next = have
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		next.ImportedAt, next.ImportedBy = tx.Now(), r.by.Actor.Name
		return store.Readers.Put(tx, next.OrganizationID, &next)
	})
	return cmp.Or(err, fmt.Errorf(
		"%w: the model calls itself %q, not %q", errOtherModel, cmp.Or(served, m.Name), cmp.Or(m.ServedModel, m.Name),
	))
}

// keepAnswers stores the model's answers for a control. Controls without any valid answer are stored only once another
// control has a valid answer, because reading ends if a model can't follow the schema at all.
func (r *modelRun) keepAnswers(ctx context.Context, task *modelTask, outcomes []modelreader.Outcome, calls []modelreader.Call) error {
	isAnswered := false
	for _, o := range outcomes {
		isAnswered = isAnswered || o.Problem == ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !isAnswered && !r.answered {
		r.unanswered = append(r.unanswered, unansweredTask{task, outcomes, calls})
		if len(r.unanswered) >= maxUnanswered {
			problem, advice := outcomes[0].Problem, "choose a model that can follow a JSON Schema"
			if problem == modelreader.ProblemFooled {
				advice = "choose another model, or use the built-in rules"
			}
			if slices.ContainsFunc(outcomes, func(o modelreader.Outcome) bool { return o.Problem == modelreader.ProblemQuotes }) {
				problem, advice = modelreader.ProblemQuotes, "the model's JSON is valid; choose a model that "+
					"copies sentences word for word"
			}
			return fmt.Errorf("the model gave no valid answer for %d controls in a row (%s); %s", len(r.unanswered), problem, advice)
		}
		return nil
	}
	r.answered = r.answered || isAnswered
	if err := r.storeUnanswered(ctx); err != nil {
		return err
	}
	if err := r.store(ctx, task, outcomes, calls); err != nil {
		return err
	}
	if m := r.reader.Model; m.Fooled >= minFooled && float64(m.Fooled) > maxFooledShare*float64(m.Calls) {
		return fmt.Errorf(
			"%d of the model's %d answers to test statements that no document supports still cited passages; "+
				"choose another model, or use the built-in rules",
			m.Fooled, m.Calls,
		)
	}
	return nil
}

// storeUnanswered stores the outcomes of all unanswered tasks.
func (r *modelRun) storeUnanswered(ctx context.Context) error {
	for _, u := range r.unanswered {
		if err := r.store(ctx, u.task, u.outcomes, u.calls); err != nil {
			return err
		}
	}
	r.unanswered = nil
	return nil
}

// store stores the model's answers for a control. The caller must hold mu.
func (r *modelRun) store(ctx context.Context, task *modelTask, outcomes []modelreader.Outcome, calls []modelreader.Call) error {
	defer r.s.locks.lock(r.reader.AssessmentID)()
	next := r.reader
	model := *r.reader.Model
	next.Model = &model
	err := r.s.db.Update(ctx, func(tx *store.Tx) error {
		a, err := getAssessment(tx, r.by, next.AssessmentID)
		if err == nil {
			err = requireOpen(&a)
		}
		if err != nil {
			return err
		}
		for i, st := range task.statements {
			if err := storeReadingsAndCount(tx, &next, st, outcomes[i].Readings); err != nil {
				return err
			}
			model.DroppedQuotes += outcomes[i].Dropped
			if outcomes[i].Problem != "" {
				model.Unanswered++
			}
		}
		for _, c := range calls {
			model.Calls++
			if c.Fooled {
				model.Fooled++
			}
			model.PromptTokens += c.PromptTokens
			model.CompletionTokens += c.CompletionTokens
			answer := store.ModelAnswer{
				OrganizationID: next.OrganizationID, AssessmentID: next.AssessmentID, Reader: next.Name, Number: model.Calls,
				ControlCode: task.control, At: tx.Now(), Model: model.Name, ServedModel: c.ServedModel, Digest: c.Digest, Prompt: model.Prompt,
				Seed: c.Seed, PromptTokens: c.PromptTokens, CompletionTokens: c.CompletionTokens, Text: c.Text,
			}
			if err := store.ModelAnswers.Put(tx, next.OrganizationID, &answer); err != nil {
				return err
			}
		}
		next.ImportedBy, next.ImportedAt, next.OfStatements = r.by.Actor.Name, tx.Now(), r.out.Statements
		return store.Readers.Put(tx, next.OrganizationID, &next)
	})
	if err != nil {
		return err
	}
	r.reader = next
	r.out.Left -= len(task.statements)
	task.statements = nil
	return nil
}

// storeReadingsAndCount adds the readings of a statement to the stored ones and updates the reader's counts.
func storeReadingsAndCount(tx *store.Tx, reader *api.Reader, st modelreader.Statement, readings []reading.Reading) error {
	key := store.K(reader.AssessmentID, reader.Name, st.ID())
	stored, err := store.Readings.Get(tx, reader.OrganizationID, key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		stored = store.StatementReadings{
			OrganizationID: reader.OrganizationID, AssessmentID: reader.AssessmentID, Reader: reader.Name, StatementID: st.ID(),
			Passages: map[string]store.PassageReading{},
		}
		reader.Statements++
	case err != nil:
		return err
	default:
		if err := toggleHash(&reader.SHA256, &stored); err != nil {
			return err
		}
	}
	for i, p := range st.Passages {
		if one := readings[i]; one.IsRead() {
			if !fromStored(stored.Passages[p.Hash()]).IsRead() {
				reader.Readings++
			}
			stored.Passages[p.Hash()] = toStored(one)
		} else {
			stored.Passages[p.Hash()] = store.PassageReading{}
		}
	}
	if err := toggleHash(&reader.SHA256, &stored); err != nil {
		return err
	}
	return store.Readings.Put(tx, reader.OrganizationID, &stored)
}

// toggleHash adds the hash of a statement's readings to the combined hash, or removes it if it is
// already included. The result doesn't depend on the order in which statements are read.
func toggleHash(all *string, r *store.StatementReadings) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	have, err := hex.DecodeString(cmp.Or(*all, strings.Repeat("0", 2*len(sum))))
	if err != nil {
		return err
	}
	for i := range sum {
		sum[i] ^= have[i]
	}
	*all = hex.EncodeToString(sum[:])
	return nil
}

// finish stores the remaining answers, the time that the reading took, and a timeline entry.
func (r *modelRun) finish(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used.Seconds = r.s.clock().Sub(r.began).Seconds()
	if err := r.storeUnanswered(ctx); err != nil || r.used.Calls == 0 {
		return err
	}
	defer r.s.locks.lock(r.reader.AssessmentID)()
	return r.s.db.Update(ctx, func(tx *store.Tx) error {
		stored, err := store.Readers.Get(tx, r.reader.OrganizationID, store.K(r.reader.AssessmentID, r.reader.Name))
		if errors.Is(err, store.ErrNotFound) {
			return nil // it only translated, because search found nothing to read
		}
		if err != nil {
			return err
		}
		stored.Model.Seconds = judge.RoundToThousandths(stored.Model.Seconds + r.used.Seconds)
		return errors.Join(store.Readers.Put(tx, r.reader.OrganizationID, &stored), audit.RecordAndPublishEvent(tx, r.by, audit.Event{
			Type: "reader.read", AssessmentID: stored.AssessmentID,
			Summary: fmt.Sprintf(
				"had %s read evidence (%s, %d of %s still unread)", stored.Model.Name, prose.Count(r.used.Calls, "request", "requests"), r.out.Left,
				prose.Count(r.out.Statements, "statement", "statements"),
			),
			ResourceType: "reader", ResourceID: stored.Name,
			Data: map[string]any{
				"name": stored.Name, "sha256": stored.SHA256, "readings": stored.Readings, "model": stored.Model.Name,
				"digest": stored.Model.Digest,
			},
		}))
	})
}

func estimatedUse(e modelreader.Estimate) api.ModelUse {
	return api.ModelUse{Calls: e.Calls, PromptTokens: e.PromptTokens, CompletionTokens: e.CompletionTokens}
}

// report returns the progress of the reading.
func (r *modelRun) report() *api.ModelReading {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.s.modelLimits
	out := r.out
	out.Model, out.Reader, out.Server, out.Remote = *r.reader.Model, r.reader.Name, r.status.Server, r.status.Remote
	out.Limits, out.Used = l, r.used
	reader := modelreader.Reader{ContextTokens: l.ContextTokens}
	for _, t := range r.tasks {
		if len(t.statements) == 0 {
			continue
		}
		out.Next = out.Next.Add(estimatedUse(reader.Estimate(t.statements)))
	}
	r.estimateTranslation(&out)
	out.Next.Cost = l.Cost(out.Next.PromptTokens, out.Next.CompletionTokens)
	rate := r.rate
	if n := r.used.Tokens(); n > 0 {
		rate = r.used.Seconds / float64(n)
	}
	out.Next.Seconds = judge.RoundToThousandths(rate * float64(out.Next.Tokens()))
	return &out
}
