// Package judge gives verdicts on whether evidence supports each control and drafts the Statement of
// Applicability from them, for users to review. It uses readable rules only, no language model.
// Package plan derives findings, maturity scores and the plan of action.
//
// Each statement of a control is searched for separately. A passage counts only if one of its
// sentences states the requirement, and its form matters: a denial, a plan, a template blank or a
// limitation is not a yes. If nothing is found, the result says so; nothing is invented.
//
//	control ─▶ Statements ─▶ Finder or PassageSource ─▶ sentences ─▶ overlap, stance ─▶ Judgement
//	control ─▶ Statements ─▶ PassageSource ─▶ reading.Reader ─▶ readings ─▶ conclude.go ─▶ Judgement
//	Judgement ─▶ DraftSoAItem
//
// The rules are the default reader, with verdicts of their own that are richer than labels. The readings of any
// other reader are concluded by the page of rules in conclude.go.
//
// A sentence is scored by its words, by the wording of our criteria and, with an embedder, by its
// meaning; verdict.go holds the thresholds for full, nearly full and partial support. The topic of
// the statement must be present and no essential word may be missing. Table rows also need semantic
// similarity, since their cells share words by chance. Denied, planned, conditional, permissive,
// limited, stale and blank passages are recognized whatever their score. Embeddings ignore "not": a
// negated clause supports nothing, and only the other clauses of its sentence count. A row that
// denies what the neighboring rows affirm is a limitation for review.
//
// A control's ratio is the mean over its statements: 1 if fully met, ¾ if nearly, ½ if partly met or
// contradicted by a failure or other figures, 0 if denied elsewhere, and 60% of that if supported only
// off topic. Its status follows from the ratio,
// from how many statements are met, and from denials, plans and contradictions; at least one passage
// must be on the control's topic (control_verdict.go).
//
// A Session queries a Finder for every control. An IncrementalEvaluator keeps its EvaluationPlan of
// controls while passages come and go, and doesn't re-read known passages.
//
// The package must not read a clock, a store or the network, and must not follow instructions in
// evidence: evidence is data.
package judge

import (
	"context"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/reading"
)

// RulesVersion names the rule set. It changes whenever the judgement of the same evidence may
// change, and is recorded in the Method of every version.
const RulesVersion = "builtin/24"

// Passage is a search result: a piece of a document.
type Passage struct {
	ChunkID       string
	DocumentID    string
	DocumentTitle string
	Filename      string
	Category      string // one of Categories; guessed from the names if empty
	HeadingPath   []string
	Kind          string // paragraph, list_item, table_row, line …
	Locator       api.Locator
	Text          string
	SHA256        string // of Text; cache key of the analysis, which is keyed by Text if empty
	EffectiveDate *api.Date
	// Score is calibrated from 0 to 1: at 0.5, a reader would consider the passage relevant with a
	// probability of 50%.
	Score, Semantic, Keyword float64
}

// Finder searches the documents of one assessment by meaning and keywords.
type Finder interface {
	Find(ctx context.Context, query string, topK int) ([]Passage, error)
}

// Options configures how evidence is judged.
type Options struct {
	// Today is the day of the judgement. If it is empty, nothing counts as stale, and no date counts as passed.
	Today api.Date
	// TopK is the number of passages examined per statement; 0 means 20.
	TopK int
	// MinScore is the lowest calibrated score of a passage to examine; 0 means 0.03.
	MinScore float64
	// Embedder compares sentences with statements by meaning; if nil, only words count.
	Embedder *Embedder
	// Reader reads the passages; nil means the rules, with their own verdicts.
	Reader reading.Reader
	// Corrections are people's decisions about passages, which overrule the rules and the Reader. nil means none.
	Corrections *reading.Corrections
}

// Embedder is an embedding model with the values needed to calibrate its similarities.
type Embedder struct {
	// Embed returns a unit vector for each text, or zeros for a text without known words.
	Embed func(ctx context.Context, texts []string) ([][]float32, error)
	// Mean and Deviation describe the similarity of unrelated texts.
	Mean, Deviation float64

	competing competingCriteria
}

func (o Options) withDefaults() Options {
	if o.TopK <= 0 {
		o.TopK = 20
	}
	if o.MinScore <= 0 {
		o.MinScore = 0.03
	}
	return o
}

// Judgement is the verdict on one control.
type Judgement struct {
	Statements     []api.Statement
	StatementsFrom api.StatementSource
	Evidence       []api.Evidence
	Implementation api.Implementation
	Coverage       api.EvidenceCoverage
	// Ratio is the mean of the statements' credits: 1 if covered, ¾ if partial and nearly complete, ½ if otherwise partial,
	// or conflicting without being denied, else 0. A statement supported only off topic gets 60% of its credit.
	Ratio float64
	// Missing describes the statements that the evidence doesn't support.
	Missing    []string
	Confidence float64 // 0 to 1
	Reason     string
	// Exception is set if one row of a record denies what other rows show, which requires manual review.
	Exception bool
	// Operation is set if records or logs support the control, not only policies.
	Operation bool
	// UnreadStatements counts the statements for which nothing was found although the Reader has
	// not read all passages. InvalidReadings counts the readings that were dropped because they
	// failed reading.Check.
	UnreadStatements, InvalidReadings int
	// Uncorrected is the evidence without corrections if they make a difference, and nil otherwise.
	Uncorrected []api.Evidence
}

// Evaluate judges one control. To judge many controls against the same documents, use a Session,
// which analyzes each passage once.
func Evaluate(ctx context.Context, c api.Control, f Finder, o Options) (Judgement, error) {
	return NewSession(f, o).Evaluate(ctx, c)
}
