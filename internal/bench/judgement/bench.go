// Package judgement measures how well the rules judge folders of labeled documents, invented or real, using the
// product's own document readers, search and rules. It must not judge by rules of its own or access a store, so that
// it measures what users get.
//
//	DIR/evidence ─▶ evidence.Library ─▶ assessment.PreparedControls ─┐
//	DIR/labels.csv ──────────────────────────────────────────────────┴▶ Report
package judgement

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/catalog/starter"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/modelreader"
	"github.com/scf-service/service/engine/judge/reading"
)

// Options configures Run.
type Options struct {
	// Folder contains labels.csv and evidence, or subfolders that do; passages.csv is optional.
	Folder fs.FS
	// Catalog provides the controls; nil means the starter catalog. Labels and passages of controls
	// that it lacks are skipped.
	Catalog *scf.Source
	// Today is the date used for judging.
	Today api.Date
	// LabelsOnly replaces the rules' own verdicts with those of the rules for readers, with the rules as the reader.
	LabelsOnly bool
	// Read, if set, is the reader to be measured: it returns what passages show about the statements of a control.
	// Statements that it leaves out are read by the rules. Ablate is ignored.
	Read func(context.Context, []modelreader.Statement) ([]modelreader.Outcome, error)
	// Ablate repeats the run without each document in turn and counts the changes.
	Ablate bool
	// Progress, if set, is called with the current step.
	Progress func(what string, done, total int)
}

// starterVersionID is a fixed ID for the starter catalog, which can't be indexed without an ID.
const starterVersionID = "018f0000-0000-7000-8000-000000000000"

// Run judges the labeled controls and measures the agreement. The result depends only on the
// options.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	r, err := newRunner(o)
	if err != nil {
		return nil, err
	}
	sets, err := ReadSets(o.Folder, r.starterControls)
	if err != nil {
		return nil, err
	}
	passages, err := ReadPassages(o.Folder, r.starterControls)
	if err != nil {
		return nil, err
	}
	absent := func(control string) bool { _, ok := r.controls[control]; return !ok }
	for i := range sets {
		sets[i].Labels = slices.DeleteFunc(sets[i].Labels, func(l Label) bool { return absent(l.Control) })
	}
	passages = slices.DeleteFunc(passages, func(p Passage) bool { return absent(p.Control) })
	o.Progress("train the embedder", 0, 1)
	if err := r.trainAndPrepareControls(ctx); err != nil {
		return nil, err
	}
	out := &Report{Rules: judge.RulesVersion, Embedder: r.model.Name(), Today: o.Today}
	for i := range sets {
		report, err := r.measureSet(ctx, &sets[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sets[i].Name, err)
		}
		out.Sets = append(out.Sets, *report)
	}
	out.All = sumReports(out.Sets)
	if len(passages) == 0 || r.Read != nil { // the passages are test cases for the rules
		return out, nil
	}
	out.Passages, err = r.measurePassages(ctx, passages)
	return out, err
}

// runner holds the catalog, controls and embedder used for all sets.
type runner struct {
	Options
	source          *scf.Source
	controlList     []api.Control
	controls        map[string]api.Control
	starterControls map[string]api.Control // controls of the starter catalog, which the labels refer to
	model           *embed.Model
	prepared        *assessment.PreparedControls
}

func newRunner(o Options) (*runner, error) {
	src, err := starter.Load()
	if err != nil {
		return nil, err
	}
	r := &runner{Options: o, source: src}
	if r.controlList, r.starterControls, err = controlsOf(src); err != nil {
		return nil, err
	}
	r.controls = r.starterControls
	if o.Catalog != nil {
		r.source = o.Catalog
		r.controlList, r.controls, err = controlsOf(r.source)
	}
	return r, err
}

// trainAndPrepareControls trains the embedder on the catalog and prepares its controls.
func (r *runner) trainAndPrepareControls(ctx context.Context) (err error) {
	if r.model, err = evidence.TrainEmbedder(ctx, r.source); err != nil {
		return err
	}
	r.prepared, err = assessment.PrepareControlsForEvaluation(ctx, r.model, r.controlList, r.controlList)
	return err
}

func (r *runner) judgeOptions() judge.Options {
	o := judge.Options{Today: r.Today}
	if r.LabelsOnly {
		o.Reader = r.prepared.RulesReader(r.Today)
	}
	return o
}

// controlsOf returns the controls of a catalog as a list and by code.
func controlsOf(src *scf.Source) (all []api.Control, byCode map[string]api.Control, err error) {
	snap, err := scf.NewSnapshot(src, scf.Version{ID: starterVersionID})
	if err != nil {
		return nil, nil, err
	}
	all, err = snap.Controls(scf.ControlFilter{})
	byCode = make(map[string]api.Control, len(all))
	for _, c := range all {
		byCode[c.Code] = c
	}
	return all, byCode, err
}

// measureSet judges a company's controls with all documents and, if Ablate is set, again without each
// document in turn.
func (r *runner) measureSet(ctx context.Context, set *Set) (*SetReport, error) {
	r.Progress("read "+set.Name, 0, 1)
	library, err := evidence.ReadLibrary(ctx, set.Evidence, r.model, judge.GuessCategory)
	if err != nil {
		return nil, err
	}
	if err := set.checkDocumentsExist(library.Documents()); err != nil {
		return nil, err
	}
	complete, byRules, err := r.judgeLabeledControls(ctx, set, library, "")
	if err != nil {
		return nil, err
	}
	out := &SetReport{Name: set.Name, Documents: len(library.Documents()), Controls: len(set.Labels)}
	for i, l := range set.Labels {
		out.addControl(r.starterControls[l.Control], l, complete[i])
	}
	if byRules != nil {
		out.WithRules = &Comparison{}
		for i, l := range set.Labels {
			out.WithRules.add(l.Verdict, byRules[i].Implementation, complete[i].Implementation)
		}
	}
	if r.Ablate && r.Read == nil {
		for n, d := range library.Documents() {
			r.Progress("judge "+set.Name+" without a document", n, len(library.Documents()))
			without, _, err := r.judgeLabeledControls(ctx, set, library, d.ID)
			if err != nil {
				return nil, err
			}
			for i, l := range set.Labels {
				out.Ablation.addControl(l, d.ID, complete[i], without[i])
			}
		}
	}
	out.computeShares()
	return out, nil
}

// judgeLabeledControls judges the labeled controls of a company, in label order. It leaves out the document with the ID
// withoutDocumentID, unless that is empty. If a reader is being measured, byRules contains the judgments made by the
// rules.
func (r *runner) judgeLabeledControls(
	ctx context.Context,
	set *Set,
	library *evidence.Library,
	withoutDocumentID string,
) (judgements, byRules []judge.Judgement, err error) {
	session, err := library.NewSession(withoutDocumentID)
	if err != nil {
		return nil, nil, err
	}
	controls := make([]api.Control, len(set.Labels))
	for i, l := range set.Labels {
		controls[i] = r.controls[l.Control]
	}
	judging, err := r.prepared.Evaluate(ctx, session, r.judgeOptions())
	if err != nil {
		return nil, nil, err
	}
	if r.Read != nil {
		if byRules, err = judging.EvaluateAll(ctx, controls, runtime.GOMAXPROCS(0)); err != nil {
			return nil, nil, err
		}
		recorded, err := r.readAllWithMeasuredReader(ctx, set.Name, judging, controls)
		if err != nil {
			return nil, nil, err
		}
		judging.SetReader(reading.Fallback(recorded, r.prepared.RulesReader(r.Today)))
	}
	judgements, err = judging.EvaluateAll(ctx, controls, runtime.GOMAXPROCS(0))
	return judgements, byRules, err
}

// readAllWithMeasuredReader reads the evidence for all controls with the reader being measured.
func (r *runner) readAllWithMeasuredReader(
	ctx context.Context,
	set string,
	e *assessment.Evaluation,
	controls []api.Control,
) (*modelreader.Recorded, error) {
	recorded := &modelreader.Recorded{}
	for n, c := range controls {
		r.Progress("read for "+set, n, len(controls))
		statements := ModelStatements(e.Candidates(c.Code))
		if len(statements) == 0 {
			continue
		}
		outcomes, err := r.Read(ctx, statements)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Code, err)
		}
		for i, o := range outcomes {
			recorded.Add(statements[i], o)
		}
	}
	return recorded, nil
}

// ModelStatements returns the statements that a model is given to read, with their passages. Passages that address the
// reader are left out.
func ModelStatements(candidates []judge.Candidates) (out []modelreader.Statement) {
	for _, c := range candidates {
		s := modelreader.Statement{Statement: c.Statement}
		for i, p := range c.Passages {
			if !c.AddressesReader(i) {
				s.Passages = append(s.Passages, p.ForReader())
			}
		}
		if len(s.Passages) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// measurePassages judges each passage as if it were the only document.
func (r *runner) measurePassages(ctx context.Context, passages []Passage) (*PassageReport, error) {
	out := &PassageReport{ByKind: map[string]PassageCount{}, Wrong: []string{}}
	for n, p := range passages {
		r.Progress("judge passages", n, len(passages))
		library, err := evidence.ReadLibrary(ctx, p.singleDocumentFolder(), r.model, judge.GuessCategory)
		if err != nil {
			return nil, fmt.Errorf("passage %d: %w", n+1, err)
		}
		session, err := library.NewSession("")
		if err != nil {
			return nil, err
		}
		judging, err := r.prepared.Evaluate(ctx, session, r.judgeOptions())
		if err != nil {
			return nil, err
		}
		j, err := judging.Evaluate(ctx, p.Control)
		if err != nil {
			return nil, err
		}
		out.addPassage(p, j)
	}
	return out, nil
}

// isEvidenced reports whether a verdict means that evidence of implementation was found.
func isEvidenced(v api.Implementation) bool {
	return v == api.Implemented || v == api.PartiallyImplemented
}

// missingObjectiveNumbers returns the numbers of the objectives without evidence, counting from 1. ok is false if the
// judged statements are not the control's objectives.
func missingObjectiveNumbers(c api.Control, j judge.Judgement) (out []int, ok bool) {
	for i, text := range judge.Statements(c) {
		if i >= len(j.Statements) || j.Statements[i].Text != text {
			return nil, false
		}
		if slices.Contains([]string{"missing", "denied", "planned", "template"}, j.Statements[i].Verdict) {
			out = append(out, i+1)
		}
	}
	return out, true
}
