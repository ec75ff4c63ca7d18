package judgement

import (
	"fmt"
	"math"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/internal/prose"
)

// Report is the result of a run.
type Report struct {
	Rules    string         `json:"rules"`
	Embedder string         `json:"embedder"`
	Today    api.Date       `json:"today"`
	Sets     []SetReport    `json:"sets"`
	All      SetReport      `json:"all"`
	Passages *PassageReport `json:"passages,omitempty"`
}

// SetReport compares the judgments with the labels of one company, or of all companies.
type SetReport struct {
	Name      string `json:"name"`
	Documents int    `json:"documents"`
	Controls  int    `json:"controls"`
	// Confusion counts controls by the label's verdict and then by the rules' verdict, in the order
	// of Verdicts.
	Confusion [5][5]int       `json:"confusion"`
	Kappa     float64         `json:"kappa"`
	Agreement float64         `json:"agreement"` // share of verdicts that agree
	Evidenced DetectionCounts `json:"evidenced"` // judged as implemented or partially implemented
	Missing   DetectionCounts `json:"missing"`   // objectives without evidence
	Ablation  Ablation        `json:"ablation"`
	// WithRules compares the measured reader with the rules; nil if the rules themselves are measured.
	WithRules *Comparison `json:"with_rules,omitempty"`
	// Wrong lists the controls whose verdict differs from the label.
	Wrong []string `json:"wrong"`
	// Differences describes the controls that are judged differently from their labels.
	Differences []Difference `json:"differences"`
}

// Difference is a control whose judgment differs from its label. Objectives are numbered from 1.
type Difference struct {
	Control    string             `json:"control"`
	Labeled    api.Implementation `json:"labeled"`
	Judged     api.Implementation `json:"judged"`
	Extra      []int              `json:"extra"`      // missing only according to the rules
	Overlooked []int              `json:"overlooked"` // missing only according to the label
}

// DetectionCounts counts true positives (Correct), false positives (Extra) and false negatives
// (Missed).
type DetectionCounts struct {
	Correct   int     `json:"correct"`
	Extra     int     `json:"extra"`
	Missed    int     `json:"missed"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

// Comparison counts how often the rules and a second reader agree and differ about a control, and how many of the
// verdicts match the labels.
type Comparison struct {
	Agree       int `json:"agree"`
	AgreeRight  int `json:"agree_right"`
	Differ      int `json:"differ"`
	RulesRight  int `json:"rules_right"`  // number of those on which they differ
	ReaderRight int `json:"reader_right"` // number of those on which they differ
}

func (c *Comparison) add(label, rules, reader api.Implementation) {
	if rules == reader {
		c.Agree++
		if reader == label {
			c.AgreeRight++
		}
		return
	}
	c.Differ++
	switch label {
	case rules:
		c.RulesRight++
	case reader:
		c.ReaderRight++
	}
}

// addOutcome counts one comparison: want is from the label, got from the judgment.
func (f *DetectionCounts) addOutcome(want, got bool) {
	switch {
	case want && got:
		f.Correct++
	case got:
		f.Extra++
	case want:
		f.Missed++
	}
}

func (f *DetectionCounts) computeShares() {
	f.Precision, f.Recall = roundedRatio(f.Correct, f.Correct+f.Extra), roundedRatio(f.Correct, f.Correct+f.Missed)
}

// Ablation counts the effects of removing one document at a time.
type Ablation struct {
	// Dependent counts the controls judged as evidenced whose labels rest on the removed document alone. Downgraded
	// counts those of them that then got a lower verdict, and Unevidenced those left without any evidence.
	Dependent   int `json:"dependent"`
	Downgraded  int `json:"downgraded"`
	Unevidenced int `json:"unevidenced"`
	// Independent counts the controls whose labels don't rest on the removed document, and Changed those of them
	// whose verdict changed nevertheless.
	Changed     int `json:"changed"`
	Independent int `json:"independent"`
	// DowngradedShare and UnevidencedShare are shares of Dependent, ChangedShare is the share of
	// Independent.
	DowngradedShare  float64 `json:"downgraded_share"`
	UnevidencedShare float64 `json:"unevidenced_share"`
	ChangedShare     float64 `json:"changed_share"`
	// StillEvidenced and ChangedControls name controls together with the removed documents: dependent controls that
	// kept evidence, and independent controls whose verdict changed.
	StillEvidenced  []string `json:"still_evidenced"`
	ChangedControls []string `json:"changed_controls"`
}

// addControl counts how removing a document changed the judgment of one control.
func (a *Ablation) addControl(l Label, document string, with, without judge.Judgement) {
	before, after := with.Implementation, without.Implementation
	switch {
	case l.restsOnlyOn(document):
		if !isEvidenced(before) || !isEvidenced(l.Verdict) {
			return // it had no evidence to lose
		}
		a.Dependent++
		if slices.Index(Verdicts, after) > slices.Index(Verdicts, before) {
			a.Downgraded++
		}
		if isEvidenced(after) {
			a.StillEvidenced = append(a.StillEvidenced, l.Control+" without "+document)
		} else {
			a.Unevidenced++
		}
	case !slices.Contains(l.Documents, document):
		a.Independent++
		if before != after {
			a.Changed++
			a.ChangedControls = append(a.ChangedControls, l.Control+" without "+document)
		}
	}
}

// computeShares computes the shares from the counts.
func (a *Ablation) computeShares() {
	a.DowngradedShare, a.UnevidencedShare, a.ChangedShare = roundedRatio(
		a.Downgraded,
		a.Dependent,
	), roundedRatio(
		a.Unevidenced,
		a.Dependent,
	), roundedRatio(
		a.Changed,
		a.Independent,
	)
}

// addControl compares a control's judgment with its label and adds the result to the counts.
func (r *SetReport) addControl(c api.Control, l Label, j judge.Judgement) {
	want, got := slices.Index(Verdicts, l.Verdict), slices.Index(Verdicts, j.Implementation)
	r.Confusion[want][got]++
	if want != got {
		r.Wrong = append(r.Wrong, fmt.Sprintf("%s: %s, labeled %s", l.Control, prose.Humanize(j.Implementation), prose.Humanize(l.Verdict)))
	}
	r.Evidenced.addOutcome(isEvidenced(l.Verdict), isEvidenced(j.Implementation))
	d := Difference{Control: l.Control, Labeled: l.Verdict, Judged: j.Implementation}
	lacks, ok := missingObjectiveNumbers(c, j)
	for n := 1; ok && n <= len(c.AssessmentObjectives); n++ {
		labeled, judged := slices.Contains(l.Missing, n), slices.Contains(lacks, n)
		r.Missing.addOutcome(labeled, judged)
		switch {
		case judged && !labeled:
			d.Extra = append(d.Extra, n)
		case labeled && !judged:
			d.Overlooked = append(d.Overlooked, n)
		}
	}
	if want != got || len(d.Extra) > 0 || len(d.Overlooked) > 0 {
		r.Differences = append(r.Differences, d)
	}
}

// computeShares computes the shares from the counts.
func (r *SetReport) computeShares() {
	r.Evidenced.computeShares()
	r.Missing.computeShares()
	r.Ablation.computeShares()
	r.Agreement, r.Kappa = Kappa(r.Confusion)
}

// sumReports returns the totals of all sets.
func sumReports(sets []SetReport) SetReport {
	all := SetReport{Name: "all"}
	for _, s := range sets {
		all.Documents += s.Documents
		all.Controls += s.Controls
		for i := range s.Confusion {
			for k := range s.Confusion[i] {
				all.Confusion[i][k] += s.Confusion[i][k]
			}
		}
		for _, f := range []struct{ to, from *DetectionCounts }{{&all.Evidenced, &s.Evidenced}, {&all.Missing, &s.Missing}} {
			f.to.Correct += f.from.Correct
			f.to.Extra += f.from.Extra
			f.to.Missed += f.from.Missed
		}
		if c := s.WithRules; c != nil {
			if all.WithRules == nil {
				all.WithRules = &Comparison{}
			}
			all.WithRules.Agree += c.Agree
			all.WithRules.AgreeRight += c.AgreeRight
			all.WithRules.Differ += c.Differ
			all.WithRules.RulesRight += c.RulesRight
			all.WithRules.ReaderRight += c.ReaderRight
		}
		a, b := &all.Ablation, &s.Ablation
		a.Dependent += b.Dependent
		a.Downgraded += b.Downgraded
		a.Unevidenced += b.Unevidenced
		a.Changed += b.Changed
		a.Independent += b.Independent
	}
	all.computeShares()
	return all
}

// Kappa returns the share of equal verdicts and Cohen's kappa: the agreement beyond what two
// readers with these verdict frequencies would reach by chance.
//
//	kappa = (agreement − chance) ÷ (1 − chance)
func Kappa(confusion [5][5]int) (agreement, kappa float64) {
	total, same := 0, 0
	var rows, columns [5]int
	for i := range confusion {
		for k, n := range confusion[i] {
			total += n
			rows[i] += n
			columns[k] += n
		}
		same += confusion[i][i]
	}
	if total == 0 {
		return 0, 0
	}
	chance := 0.0
	for i := range rows {
		chance += float64(rows[i]) * float64(columns[i]) / float64(total*total)
	}
	agreement = roundedRatio(same, total)
	if chance == 1 {
		return agreement, 1
	}
	return agreement, math.Round((float64(same)/float64(total)-chance)/(1-chance)*1000) / 1000
}

// roundedRatio returns n/total rounded to three decimal places, or 0 if total is 0.
func roundedRatio(n, total int) float64 {
	if total == 0 {
		return 0
	}
	return math.Round(float64(n)/float64(total)*1000) / 1000
}

// PassageCount counts the passages of one kind.
type PassageCount struct {
	Passages int `json:"passages"`
	Counted  int `json:"counted"` // wrongly counted as evidence of implementation
}

// PassageReport reports how passages that are not evidence were judged.
type PassageReport struct {
	ByKind   map[string]PassageCount `json:"by_kind"`
	Passages int                     `json:"passages"`
	Counted  int                     `json:"counted"`
	Share    float64                 `json:"share"`
	Wrong    []string                `json:"wrong"`
}

// addPassage counts a passage. The passage was mistaken for evidence if the control is judged as at least
// partially implemented, or if one of its statements is judged as covered.
func (r *PassageReport) addPassage(p Passage, j judge.Judgement) {
	n := r.ByKind[p.Kind]
	n.Passages++
	r.Passages++
	if isEvidenced(j.Implementation) || slices.ContainsFunc(j.Statements, func(s api.Statement) bool { return s.Verdict == "covered" }) {
		n.Counted++
		r.Counted++
		r.Wrong = append(r.Wrong, p.Kind+" "+p.Control+": "+p.Text)
	}
	r.ByKind[p.Kind] = n
	r.Share = roundedRatio(r.Counted, r.Passages)
}
