package store

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// AssessmentFigures holds the numbers that summaries show for an assessment: those of the newest version of
// each deliverable and, once the assessment is closed, of its documents. They are derived from other records.
// Each transaction that changes such records updates the figures before it commits, using tallies and without
// reading items.
type AssessmentFigures struct {
	OrganizationID string `json:"organization_id"`
	AssessmentID   string `json:"assessment_id"`
	Closed         bool   `json:"closed,omitempty"`

	SoAItems    []SoAItemCount       `json:"soa,omitempty"`
	Findings    []FindingCount       `json:"findings,omitempty"`
	NewFindings map[api.Severity]int `json:"new_findings,omitempty"` // see countNewFindings
	Scores      ScoreCount           `json:"scores,omitzero"`
	POAMItems   []POAMItemCount      `json:"poam,omitempty"`
	// ClosedDocuments counts the documents of a closed assessment by effective date.
	ClosedDocuments map[api.Date]int `json:"closed_documents,omitempty"`
}

// SoAItemCount is the number of items of a Statement of Applicability with the same values in the other fields.
type SoAItemCount struct {
	Applicable bool               `json:"applicable"`
	Status     api.Implementation `json:"status"`
	N          int                `json:"n"`
}

// FindingCount is the number of findings with the same values in the other fields. IsGap has the same meaning as in
// api.Finding.
type FindingCount struct {
	IsGap    bool         `json:"gap"`
	Severity api.Severity `json:"severity"`
	N        int          `json:"n"`
}

// ScoreCount counts all maturity scores and those that were assessed. Levels is the sum of the levels of the assessed
// ones.
type ScoreCount struct {
	All      int `json:"all"`
	Assessed int `json:"assessed"`
	Levels   int `json:"levels"`
}

// POAMItemCount is the number of plan items with the same status and due date. If the risk of an item was accepted for
// a limited time, Due is when that time ends.
type POAMItemCount struct {
	Status string   `json:"status"`
	Due    api.Date `json:"due"`
	N      int      `json:"n"`
}

// Keys of the tally "sums" of Figures.
const (
	SumSoAItems        = "soa"              // applicable, status
	SumFindings        = "findings"         // is gap, severity
	SumNewFindings     = "new_findings"     // severity
	SumPOAMItems       = "poam"             // is open
	SumOpenPOAMDates   = "poam_dates"       // status and due date, in assessments that are not closed
	SumClosedDocuments = "closed_documents" // effective date
)

// Figures holds the figures of the assessments that have any, and their sums per organization.
var Figures = newTenantTable("figures", func(r *AssessmentFigures) (string, Key) { return r.OrganizationID, K(r.AssessmentID) },
	Tally("sums", (*AssessmentFigures).sums))

// sums returns the amounts that an assessment adds to the sums of its organization.
func (f *AssessmentFigures) sums() (out []Amount) {
	add := func(n int, parts ...any) { out = append(out, Amount{Key: K(parts...), N: n}) }
	for _, c := range f.SoAItems {
		add(c.N, SumSoAItems, c.Applicable, c.Status)
	}
	for _, c := range f.Findings {
		add(c.N, SumFindings, c.IsGap, c.Severity)
	}
	for s, n := range f.NewFindings {
		add(n, SumNewFindings, s)
	}
	for _, c := range f.POAMItems {
		add(c.N, SumPOAMItems, !api.IsClosedPOAMStatus(c.Status))
		if !f.Closed && (c.Due != "" || !api.IsClosedPOAMStatus(c.Status)) {
			add(c.N, SumOpenPOAMDates, c.Status, c.Due)
		}
	}
	for d, n := range f.ClosedDocuments {
		add(n, SumClosedDocuments, d)
	}
	return out
}

// The following functions return the amounts that items and documents add to the tally "facts" of their table.

func soaItemFacts(i *api.SoAItem) []Amount {
	return []Amount{{K(i.VersionID, i.Applicability.IsApplicable(), i.ImplementationStatus), 1}}
}

func findingFacts(f *api.Finding) []Amount {
	return []Amount{{K(f.VersionID, f.IsGap(), f.Severity), 1}}
}

func scoreFacts(s *api.MaturityScore) []Amount {
	out := []Amount{{K(s.VersionID, "all"), 1}}
	if s.Assessed {
		out = append(out, Amount{K(s.VersionID, "assessed"), 1}, Amount{K(s.VersionID, "levels"), s.Level})
	}
	return out
}

func poamItemFacts(i *api.POAMItem) []Amount {
	due := api.Date("")
	switch {
	case !api.IsClosedPOAMStatus(i.Status):
		due = i.CurrentDueDate()
	case i.RiskAcceptedUntil != nil && i.Status == "risk_accepted":
		due = *i.RiskAcceptedUntil
	}
	return []Amount{{K(i.VersionID, i.Status, due), 1}}
}

// gapKey returns the key of a gap in the index "gaps". It allows findings of two versions to be compared without
// reading them.
func gapKey(f *api.Finding) []Key {
	if !f.IsGap() {
		return nil
	}
	return []Key{K(f.VersionID, f.ControlCode, f.Severity.Rank())}
}

// Keys of the tally "facts" of Documents. They follow the assessment's ID.
const (
	FactChunks         = "chunks"   // the sum of passages
	FactRead           = "read"     // documents that were read
	FactUnreadSets     = "unread"   // documents by the unsupported languages that they contain, separated by commas
	FactUnreadPassages = "passages" // passages by language
	factDate           = "date"     // documents by effective date
)

func documentFacts(d *Document) (out []Amount) {
	add := func(n int, parts ...any) { out = append(out, Amount{K(append([]any{d.AssessmentID}, parts...)...), n}) }
	add(d.ChunkCount, FactChunks)
	if d.EffectiveDate != nil {
		add(1, factDate, *d.EffectiveDate)
	}
	if d.Status != api.DocumentIngested {
		return out
	}
	add(1, FactRead)
	var languages []string
	for _, n := range d.UnreadLanguages() {
		languages = append(languages, n.Language)
		add(n.Count, FactUnreadPassages, n.Language)
	}
	if len(languages) > 0 {
		add(1, FactUnreadSets, strings.Join(languages, ","))
	}
	return out
}

// Keys of the tally "sums" of Documents.
const (
	SumDocumentStates = "status" // status
	SumDocumentDates  = "date"   // effective date
)

func documentSums(d *Document) []Amount {
	out := []Amount{{K(SumDocumentStates, d.Status), 1}}
	if d.EffectiveDate != nil {
		out = append(out, Amount{K(SumDocumentDates, *d.EffectiveDate), 1})
	}
	return out
}

// Keys of the tally "sums" of Webhooks.
const (
	SumFailingWebhooks = "failing"
	SumPausedWebhooks  = "paused"
)

func webhookSums(w *Webhook) (out []Amount) {
	if !w.Enabled {
		out = append(out, Amount{K(SumPausedWebhooks), 1})
	}
	if w.FailedInRow > 0 {
		out = append(out, Amount{K(SumFailingWebhooks), 1})
	}
	return out
}

// figureParts are the parts of an assessment's figures that a transaction changes.
type figureParts uint8

const (
	figuresOfSoA figureParts = 1 << iota
	figuresOfGap
	figuresOfMaturity
	figuresOfPOAM
	figuresOfState
	figuresOfDocuments
	allFigures = figuresOfSoA | figuresOfGap | figuresOfMaturity | figuresOfPOAM | figuresOfState | figuresOfDocuments
)

// assessmentRef identifies an assessment.
type assessmentRef struct{ org, id string }

// withFigures declares that the records of a table determine certain parts of their assessment's figures.
func withFigures[R any](assessment func(*R) string, parts figureParts) Option[R] {
	return withFiguresIf(assessment, parts, func(_, _ *R) bool { return true })
}

// withFiguresIf works like withFigures, but only for changes that isRelevant accepts. old is nil for a new
// record, and fresh is nil for a deleted one.
func withFiguresIf[R any](assessment func(*R) string, parts figureParts, isRelevant func(old, fresh *R) bool) Option[R] {
	return func(t *Table[R]) {
		t.untyped.figures = func(old, fresh any) (string, figureParts) {
			o, _ := old.(*R)
			f, _ := fresh.(*R)
			if !isRelevant(o, f) {
				return "", 0
			}
			return assessment(cmp.Or(f, o)), parts
		}
	}
}

// movesBetweenOpenAndClosed reports whether a change closes, reopens or deletes an assessment.
func movesBetweenOpenAndClosed(old, fresh *api.Assessment) bool {
	wasClosed := old != nil && old.State == api.StateClosed
	return fresh == nil || wasClosed != (fresh.State == api.StateClosed)
}

// markFiguresStale records that an assessment's figures must be updated. old is nil for a new record, and fresh
// is nil for a deleted one.
func (s *untypedTable) markFiguresStale(tx *Tx, primary []byte, old, fresh any) {
	if s.figures == nil || !tx.hasFiguresTable() {
		return
	}
	id, parts := s.figures(old, fresh)
	org, _, err := decodePart(primary)
	name, ok := org.(string)
	if parts == 0 || err != nil || !ok {
		return
	}
	tx.markFiguresOfAssessmentStale(assessmentRef{name, id}, parts)
}

func (tx *Tx) markFiguresOfAssessmentStale(a assessmentRef, parts figureParts) {
	if tx.figures == nil {
		tx.figures = map[assessmentRef]figureParts{}
	}
	tx.figures[a] |= parts
}

// hasFiguresTable reports whether the database has the table Figures. Some tests use databases without it.
func (tx *Tx) hasFiguresTable() bool {
	return tx.db.tables.byName[Figures.Name()] == Figures.definition()
}

// markAllFiguresStale marks the figures of all assessments to be recomputed.
func (tx *Tx) markAllFiguresStale() error {
	if !tx.hasFiguresTable() {
		return nil
	}
	for a, err := range Assessments.AcrossTenants().Scan(tx) {
		if err != nil {
			return err
		}
		tx.markFiguresOfAssessmentStale(assessmentRef{a.OrganizationID, a.ID}, allFigures)
	}
	return nil
}

// ReadFigures returns the figures of an assessment, including changes in this transaction. It returns empty
// figures if there is nothing to count.
func ReadFigures(tx *Tx, org, assessment string) (AssessmentFigures, error) {
	if err := tx.updateFigures(); err != nil {
		return AssessmentFigures{}, err
	}
	f, err := Figures.Get(tx, org, assessment)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return f, err
}

// updateFigures updates the figures of the changed assessments.
func (tx *Tx) updateFigures() error {
	refs := slices.SortedFunc(maps.Keys(tx.figures), func(a, b assessmentRef) int {
		return cmp.Or(strings.Compare(a.org, b.org), strings.Compare(a.id, b.id))
	})
	for _, ref := range refs {
		if err := tx.updateFiguresOf(ref, tx.figures[ref]); err != nil {
			return err
		}
	}
	clear(tx.figures)
	return nil
}

func (tx *Tx) updateFiguresOf(ref assessmentRef, changed figureParts) error {
	f, err := Figures.Get(tx, ref.org, ref.id)
	isNew := errors.Is(err, ErrNotFound)
	if err != nil && !isNew {
		return err
	}
	a, err := Assessments.Get(tx, ref.org, ref.id)
	if errors.Is(err, ErrNotFound) {
		if isNew {
			return nil
		}
		return Figures.Delete(tx, ref.org, ref.id)
	}
	if err != nil {
		return err
	}
	if changed == figuresOfDocuments && a.State != api.StateClosed {
		return nil
	}
	f.OrganizationID, f.AssessmentID = ref.org, ref.id
	for _, part := range []struct {
		changed figureParts
		count   func(*Tx, *api.Assessment, *AssessmentFigures) error
	}{
		{figuresOfSoA, countSoAItems},
		{figuresOfGap | figuresOfState, countFindings},
		{figuresOfMaturity, countScores},
		{figuresOfPOAM, countPOAMItems},
		{figuresOfState | figuresOfDocuments, countClosedDocuments},
	} {
		if changed&part.changed == 0 && !isNew {
			continue
		}
		if err := part.count(tx, &a, &f); err != nil {
			return err
		}
	}
	f.Closed = a.State == api.StateClosed
	return Figures.Put(tx, ref.org, &f)
}

// scanNewestFacts calls visit for each entry of the tally "facts" that belongs to the newest version of an assessment.
func scanNewestFacts[V, I any](
	tx *Tx, versions *TenantTable[V], id func(*V) string, items *TenantTable[I], a *api.Assessment, visit func(parts []any, n int),
) error {
	for v, err := range versions.By("assessment").Scan(tx, a.OrganizationID, Prefix(a.ID), Reverse) {
		if err != nil {
			return err
		}
		for fact, err := range items.Tally("facts").Scan(tx, a.OrganizationID, Prefix(id(&v))) {
			if err != nil {
				return err
			}
			parts, err := fact.Key.Parts()
			if err != nil {
				return err
			}
			visit(parts[1:], fact.N)
		}
		break
	}
	return nil
}

func countSoAItems(tx *Tx, a *api.Assessment, f *AssessmentFigures) error {
	f.SoAItems = nil
	return scanNewestFacts(tx, SoAVersions, func(v *api.SoAVersion) string { return v.ID }, SoAItems, a, func(parts []any, n int) {
		f.SoAItems = append(f.SoAItems, SoAItemCount{parts[0].(bool), api.Implementation(parts[1].(string)), n})
	})
}

func countFindings(tx *Tx, a *api.Assessment, f *AssessmentFigures) error {
	f.Findings = nil
	err := scanNewestFacts(tx, GapVersions, func(v *api.GapVersion) string { return v.ID }, Findings, a, func(parts []any, n int) {
		f.Findings = append(f.Findings, FindingCount{parts[0].(bool), api.Severity(parts[1].(string)), n})
	})
	if err != nil {
		return err
	}
	f.NewFindings, err = countNewFindings(tx, a)
	return err
}

func countScores(tx *Tx, a *api.Assessment, f *AssessmentFigures) error {
	f.Scores = ScoreCount{}
	return scanNewestFacts(tx, MaturityVersions, func(v *api.MaturityVersion) string { return v.ID }, MaturityScores, a,
		func(parts []any, n int) {
			switch parts[0] {
			case "all":
				f.Scores.All = n
			case "assessed":
				f.Scores.Assessed = n
			case "levels":
				f.Scores.Levels = n
			}
		})
}

func countPOAMItems(tx *Tx, a *api.Assessment, f *AssessmentFigures) error {
	f.POAMItems = nil
	return scanNewestFacts(tx, POAMVersions, func(v *api.POAMVersion) string { return v.ID }, POAMItems, a, func(parts []any, n int) {
		f.POAMItems = append(f.POAMItems, POAMItemCount{parts[0].(string), api.Date(parts[1].(string)), n})
	})
}

func countClosedDocuments(tx *Tx, a *api.Assessment, f *AssessmentFigures) error {
	f.ClosedDocuments = nil
	if a.State != api.StateClosed {
		return nil
	}
	f.ClosedDocuments = map[api.Date]int{}
	for fact, err := range Documents.Tally("facts").Scan(tx, a.OrganizationID, Prefix(a.ID, factDate)) {
		if err != nil {
			return err
		}
		parts, err := fact.Key.Parts()
		if err != nil {
			return err
		}
		f.ClosedDocuments[api.Date(parts[2].(string))] = fact.N
	}
	return nil
}

// GapBaseline returns the newest gap analysis of an assessment, and the baseline that its gaps are compared
// with to find new ones. The baseline is the last approved gap analysis or, if none is approved, the first one.
// A gap therefore remains new across drafts until it is fixed or an analysis containing it is approved. Both
// results are "" if the assessment has at most one gap analysis, or is closed.
func GapBaseline(tx *Tx, a *api.Assessment) (newest, baseline string, err error) {
	if a.State == api.StateClosed {
		return "", "", nil
	}
	for v, err := range GapVersions.By("assessment").Scan(tx, a.OrganizationID, Prefix(a.ID), Reverse) {
		if err != nil {
			return "", "", err
		}
		newest, baseline = cmp.Or(newest, v.ID), v.ID
		if v.ApprovedAt != nil {
			break
		}
	}
	if newest == baseline {
		return "", "", nil
	}
	return newest, baseline, nil
}

// countNewFindings counts the gaps that are new or more severe than any gap the control had in the baseline.
func countNewFindings(tx *Tx, a *api.Assessment) (map[api.Severity]int, error) {
	newest, before, err := GapBaseline(tx, a)
	if newest == "" || err != nil {
		return nil, err
	}
	was := map[string]int{} // rank of each control's worst gap
	err = scanGaps(tx, a.OrganizationID, before, func(control string, rank int) {
		if worst, ok := was[control]; !ok || rank < worst {
			was[control] = rank
		}
	})
	if err != nil {
		return nil, err
	}
	out := map[api.Severity]int{}
	return out, scanGaps(tx, a.OrganizationID, newest, func(control string, rank int) {
		if worst, ok := was[control]; (!ok || rank < worst) && rank < len(api.Severities) {
			out[api.Severities[rank]]++
		}
	})
}

// scanGaps calls visit for each gap in a version, with the control and the rank of the gap's severity.
func scanGaps(tx *Tx, org, version string, visit func(control string, rank int)) error {
	order := Findings.table.untyped.inIndexOrder("gaps")
	for p, err := range order.scanPairs(tx, scanOptions{prefix: K(org, version)}) {
		if err != nil {
			return err
		}
		parts, err := Key{b: p.Key}.Parts()
		if err != nil {
			return err
		}
		visit(parts[2].(string), int(parts[3].(int64)))
	}
	return nil
}
