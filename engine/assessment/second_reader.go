package assessment

import (
	"context"
	"runtime"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/store"
)

// chosenReaders names the readers of a draft. If both are "", the readers of the newest version are used.
type chosenReaders struct{ first, second string }

// Keys of the inputs of a Statement of Applicability that describe its second reader.
const (
	secondReaderInput   = "second_reader"
	secondReadingsInput = "second_readings_sha256"
)

// findReaders returns the readers of a draft. The first is nil if the built-in rules do the reading; the second is nil
// if there is no second reader.
func (s *Service) findReaders(ctx context.Context, org, assessment string, c chosenReaders) (first, second *storedReader, err error) {
	if first, err = s.findReader(ctx, org, assessment, c.first); err != nil {
		return nil, nil, err
	}
	if c == (chosenReaders{}) {
		err = s.db.View(ctx, func(tx *store.Tx) error {
			v, _, err := soaType.newestVersion(tx, org, assessment)
			c.second = v.Inputs[secondReaderInput]
			return err
		})
	}
	if c.second == "" || err != nil {
		return first, nil, err
	}
	second, err = s.findReader(ctx, org, assessment, c.second)
	if err == nil && (second == nil || first != nil && first.Reader.Name == second.Reader.Name) {
		err = api.Invalid(
			"second_reader", "the second reader must differ from the first reader and can't be the built-in rules; "+
				"for example, choose %q", api.BuiltinReader,
		)
	}
	return first, second, err
}

// recordAsSecondIn adds the second reader to the inputs of a draft.
func (r *storedReader) recordAsSecondIn(inputs map[string]string) {
	if r != nil {
		inputs[secondReaderInput], inputs[secondReadingsInput] = r.Reader.Name, r.SHA256
	}
}

// evaluateFunc evaluates controls with a reader and then calls use with the Evaluation and the documents.
type evaluateFunc func(
	snap *scf.Snapshot, controls []api.Control, r *storedReader, use func(*Evaluation, map[string]api.Document) error,
) error

// judgeWithSecond returns the second reader's judgment of each control, by code, or nil if there is no second reader.
func judgeWithSecond(
	ctx context.Context, evaluate evaluateFunc, snap *scf.Snapshot, controls []api.Control, second *storedReader,
) (map[string]judge.Judgement, error) {
	if second == nil {
		return nil, nil
	}
	out := make(map[string]judge.Judgement, len(controls))
	return out, evaluate(snap, controls, second, func(j *Evaluation, _ map[string]api.Document) error {
		all, err := j.EvaluateAll(ctx, controls, runtime.GOMAXPROCS(0))
		for i, one := range all {
			out[controls[i].Code] = one
		}
		return err
	})
}

// showsEvidence reports whether a verdict rests on evidence: an unfilled template doesn't count.
func showsEvidence(verdict string) bool {
	return verdict != judge.VerdictMissing && verdict != judge.VerdictTemplate
}

// confidenceInDispute is the factor for the confidence in a status that the built-in network disputes. On documents that neither
// was tuned on, 78% of the rules' statuses are right if it agrees, and 44% if it doesn't (TestNetworkWithRules in
// internal/bench/judgement). What the disagreement of other readers means isn't known.
const confidenceInDispute = 0.6

// addSecondReading adds the second reader's judgment to an item if it differs from the first reader's. The item keeps
// the first reader's status, because a second reader must not make it more lenient.
func addSecondReading(i *api.SoAItem, second judge.Judgement, reader string) {
	if !i.Applicability.IsApplicable() {
		return
	}
	verdicts := map[string]string{}
	for _, st := range i.Statements {
		verdicts[st.Text] = st.Verdict
	}
	out := api.SecondReading{
		Reader: reader, ImplementationStatus: second.Implementation, Reason: second.Reason, Statements: []api.Statement{},
		Evidence: []api.Evidence{},
	}
	for _, st := range second.Statements {
		first, ok := verdicts[st.Text]
		if !ok || first == st.Verdict || !showsEvidence(first) && !showsEvidence(st.Verdict) {
			continue
		}
		out.Statements = append(out.Statements, st)
		for _, e := range second.Evidence {
			if e.RelatesTo(st.Text) && !slices.ContainsFunc(out.Evidence, func(have api.Evidence) bool {
				return have.Quote == e.Quote && have.ChunkID == e.ChunkID
			}) {
				out.Evidence = append(out.Evidence, e)
			}
		}
	}
	if len(out.Statements) == 0 && out.ImplementationStatus == i.ImplementationStatus {
		return
	}
	i.SecondReading = &out
	if out.ImplementationStatus == i.ImplementationStatus {
		return
	}
	i.NeedsReview = true
	if isBuiltin(reader) {
		i.Confidence = judge.RoundToThousandths(i.Confidence * confidenceInDispute)
	}
}
