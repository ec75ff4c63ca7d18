package assessment

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/store"
)

const jsonLinesType = "application/x-ndjson"

// streamLines returns a download with one JSON object per line. toLine converts each item when it is written.
func streamLines[A, L any](ctx context.Context, name string, items []A, toLine func(*A) L) *api.File {
	return api.StreamFile(ctx, name, jsonLinesType, func(ctx context.Context, w io.Writer) error {
		out := bufio.NewWriter(w)
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		for i := range items {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := e.Encode(toLine(&items[i])); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}

// ExportReaderStatements returns a file with the statements of the assessment's controls, followed
// by those about traits of the organization. Each is exported with the passages that search finds
// for it.
func (s *Service) ExportReaderStatements(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.File, error) {
	var all []judge.Candidates
	err := s.evaluateByRules(ctx, by, in.AssessmentID, func(_ *api.Assessment, j *Evaluation, controls []api.Control) error {
		for _, c := range controls {
			all = append(all, j.Candidates(c.Code)...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	traits, err := s.traitCandidates(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	all = append(all, traits...)
	return streamLines(ctx, "statements.jsonl", all, func(c *judge.Candidates) reading.StatementLine {
		line := reading.StatementLine{
			StatementID: c.Statement.ID(), ControlCode: c.Statement.ControlCode, Topic: c.Statement.Topic, Statement: c.Statement.Text,
			Passages: make([]reading.PassageLine, len(c.Passages)),
		}
		for i, p := range c.Passages {
			seen := p.ForReader().Bounded()
			line.Passages[i] = reading.PassageLine{
				PassageHash: seen.Hash(), ChunkID: p.ChunkID, DocumentID: p.DocumentID, Title: seen.Title, Kind: seen.Kind, Date: seen.Date,
				Headings: append([]string{}, seen.HeadingPath...), Text: seen.Text, Score: judge.RoundToThousandths(p.Score),
			}
		}
		return line
	}), nil
}

// ExportReadings returns a file with the readings of a reader, in the format of ImportReadings, ordered by statement
// and passage.
func (s *Service) ExportReadings(ctx context.Context, by api.Caller, in *api.ReaderInput) (*api.File, error) {
	var all []reading.Line
	err := s.db.View(ctx, func(tx *store.Tx) error {
		if _, err := getAssessment(tx, by, in.AssessmentID); err != nil {
			return err
		}
		if _, err := store.Readers.Get(tx, by.OrganizationID, store.K(in.AssessmentID, in.Name)); err != nil {
			return store.ToNotFound(err, "reader", in.Name)
		}
		for one, err := range store.Readings.Scan(tx, by.OrganizationID, store.Prefix(in.AssessmentID, in.Name)) {
			if err != nil {
				return err
			}
			for _, hash := range slices.Sorted(maps.Keys(one.Passages)) {
				if r := fromStored(one.Passages[hash]); r.IsRead() {
					all = append(all, reading.Line{Reader: in.Name, StatementID: one.StatementID, PassageHash: hash, Reading: r})
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return streamLines(ctx, "readings.jsonl", all, func(l *reading.Line) reading.Line { return *l }), nil
}

// evaluateByRules evaluates the assessment's evidence by the rules. It calls use with the
// evaluation and with the assessment's controls, sorted by code.
func (s *Service) evaluateByRules(
	ctx context.Context,
	by api.Caller,
	assessment string,
	use func(*api.Assessment, *Evaluation, []api.Control) error,
) error {
	if err := s.evidence.WaitForDocuments(ctx, by, assessment); err != nil {
		return err
	}
	a, snap, controls, err := s.assessmentControls(ctx, by, assessment)
	if err != nil {
		return err
	}
	release, err := s.acquireEvaluationSlot(ctx)
	if err != nil {
		return err
	}
	defer release()
	return s.evaluateStoredEvidence(ctx, by, a, snap, controls, nil, "", func(j *Evaluation, _ map[string]api.Document) error {
		return use(a, j, controls)
	})
}

// assessmentControls returns an assessment, its catalog, and its controls, sorted by code.
func (s *Service) assessmentControls(
	ctx context.Context,
	by api.Caller,
	assessment string,
) (*api.Assessment, *scf.Snapshot, []api.Control, error) {
	var a api.Assessment
	if err := s.db.View(ctx, func(tx *store.Tx) (err error) { a, err = getAssessment(tx, by, assessment); return err }); err != nil {
		return nil, nil, nil, err
	}
	snap, err := s.catalogSnapshot(ctx, &a)
	if err != nil {
		return nil, nil, nil, err
	}
	controls, _, err := frameworkControls(snap, &a)
	return &a, snap, slices.SortedFunc(slices.Values(controls), func(a, b api.Control) int { return cmp.Compare(a.Code, b.Code) }), err
}

// decision is a line of the export of decisions: whether a person accepted or changed the automatic
// verdict on a control.
type decision struct {
	ControlCode  string              `json:"control_code"`
	Decision     string              `json:"decision"` // accepted or changed
	StatusBefore api.Implementation  `json:"status_before"`
	StatusAfter  api.Implementation  `json:"status_after"`
	By           string              `json:"by"`
	At           time.Time           `json:"at"`
	Version      int                 `json:"version"`
	Method       string              `json:"method"`
	Statements   []decisionStatement `json:"statements"`
	Evidence     []api.Evidence      `json:"evidence"`
}

// decisionStatement is a statement with its automatic verdict.
type decisionStatement struct {
	StatementID string `json:"statement_id"`
	Statement   string `json:"statement"`
	Verdict     string `json:"verdict"`
}

// ExportReaderDecisions returns a file with people's decisions on items of the Statement of
// Applicability. These are the items that they changed or marked as reviewed, and the items of
// approved versions that they left as drafted.
func (s *Service) ExportReaderDecisions(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.File, error) {
	_, _, controls, err := s.assessmentControls(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	ids := map[string]string{} // IDs of statements, by control and text
	for _, c := range controls {
		for _, st := range judge.ReaderStatements(c) {
			ids[c.Code+"\n"+st.Text] = st.ID()
		}
	}
	var all []decision
	err = s.db.View(ctx, func(tx *store.Tx) (err error) {
		all, err = readDecisions(tx, by.OrganizationID, in.AssessmentID)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b decision) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ControlCode, b.ControlCode))
	})
	return streamLines(ctx, "decisions.jsonl", all, func(d *decision) decision {
		for i := range d.Statements {
			st := &d.Statements[i]
			st.StatementID = ids[d.ControlCode+"\n"+st.Statement]
		}
		return *d
	}), nil
}

// readDecisions returns the decisions in approved versions and the audit trail, except those undone.
func readDecisions(tx *store.Tx, org, assessment string) (out []decision, err error) {
	versions := map[string]api.SoAVersion{}
	for v, err := range store.SoAVersions.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
		if err != nil {
			return nil, err
		}
		versions[v.ID] = v
		if v.Status != api.VersionApproved || v.ApprovedAt == nil || v.ApprovedBy == nil {
			continue
		}
		if p, err := store.Approvals.Get(tx, org, stringOrEmpty(v.ApprovalID)); err == nil && p.InAdvance {
			continue // nobody reviewed the items
		} else if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		items, err := soaType.readItems(tx, org, v.ID)
		if err != nil {
			return nil, err
		}
		for n := range items {
			if i := &items[n]; i.Applicability.IsApplicable() && !slices.ContainsFunc(api.ReviewFields, i.IsManual) {
				out = append(
					out,
					newDecision(&v, i, "accepted", i.ImplementationStatus, i.ImplementationStatus, *v.ApprovedBy, *v.ApprovedAt),
				)
			}
		}
	}
	type editedItem struct{ edit, item string }
	edited := map[editedItem]int{} // index in out
	for e, err := range store.Audit.Scan(tx, org) {
		if err != nil {
			return nil, err
		}
		if undone := toText(e.Changes["undo_of"]); undone != "" {
			if n, ok := edited[editedItem{undone, e.ResourceID}]; ok {
				out[n].Decision = ""
			}
			continue
		}
		before, after := e.Changes["status_before"], e.Changes["status_after"]
		if e.Action != string(api.GateSoA)+".item_changed" || before == nil || !includesReviewField(e.Changes["fields"]) {
			continue
		}
		i, err := store.SoAItems.Get(tx, org, e.ResourceID)
		if store.ToNotFound(err, "item", e.ResourceID) != nil || i.AssessmentID != assessment {
			continue // the item was deleted or belongs to another assessment
		}
		v, known := versions[i.VersionID]
		if !known {
			continue
		}
		from, to := api.Implementation(toText(before)), api.Implementation(toText(after))
		kind := "accepted"
		if from != to {
			kind = "changed"
		}
		edited[editedItem{toText(e.Changes["edit_id"]), e.ResourceID}] = len(out)
		out = append(out, newDecision(&v, &i, kind, from, to, e.Actor.Name, e.At))
	}
	return slices.DeleteFunc(out, func(d decision) bool { return d.Decision == "" }), nil
}

func toText(v any) string {
	s, _ := v.(string)
	return s
}

// includesReviewField reports whether the fields of an audit event include one that counts as a review.
func includesReviewField(fields any) bool {
	all, _ := fields.([]any)
	return slices.ContainsFunc(all, func(f any) bool { return slices.Contains(api.ReviewFields, toText(f)) })
}

func newDecision(v *api.SoAVersion, i *api.SoAItem, kind string, before, after api.Implementation, by string, at time.Time) decision {
	d := decision{
		ControlCode: i.ControlCode, Decision: kind, StatusBefore: before, StatusAfter: after, By: by, At: at, Version: v.VersionNumber,
		Method: v.Method, Statements: make([]decisionStatement, len(i.Statements)), Evidence: append([]api.Evidence{}, i.Evidence...),
	}
	for n, st := range i.Statements {
		d.Statements[n] = decisionStatement{Statement: st.Text, Verdict: st.Verdict}
	}
	return d
}
