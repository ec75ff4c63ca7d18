// Package judge drafts what people then review: whether evidence says what a
// control asks for, and from that the Statement of Applicability, gaps, maturity
// and the plan of action. It works by rules that can be read, without a model.
//
// A control's statements are each looked for in passages. A passage counts only
// where a sentence of it says the statement, and how it says it decides: a denial,
// a plan, a template's blank or a limit is not a yes. Where nothing is found, it
// says so and invents nothing.
//
//	control ─▶ Statements ─▶ Finder or Source ─▶ sentences ─▶ overlap, stance ─▶ Judgement
//	Judgement ─▶ DraftSoAItem ─▶ Finding ─▶ Remediation ─▶ Order
//	                └──▶ Maturity
//
// A sentence is weighed by its words, by the words that our criteria are said with and, where an
// embedder is given, by its meaning. How much of that says the statement, nearly or in part stands in
// verdict.go; and what the statement is about has to be there, and no word be left out that matters. A
// row of a table needs closeness in meaning as well, since its cells share words by chance. What is
// denied, planned, conditional, a wish, limited, stale or a blank is told apart whatever it is worth.
// Vectors are blind to a "not": a clause that denies supports nothing, by words or by meaning, and
// beside one only the other clauses count. A row that denies what the rows beside it affirm is a limit,
// for a person to look at.
//
// A control's ratio is the mean of its statements: 1 in full, ¾ nearly, ½ in part or contradicted.
// Its status follows from that, from how many statements are said and from what denies, announces or
// contradicts them; and a passage about the control's own subject has to be among them (conclude.go).
//
// A Session asks a Finder anew for each control. A Ledger is asked by a draft: its Docket of
// controls stays, passages come and go, and what was read before is not read again.
//
// It must not read a clock, a store or the network, and it must not follow what
// evidence tells it to do: evidence is data.
package judge

import (
	"context"

	"github.com/scf-service/service/api"
)

// RulesVersion names the rule set. It changes when the same evidence may be judged
// otherwise, and is recorded in every version's Method.
const RulesVersion = "builtin/18"

// Passage is a piece of a document that a search found.
type Passage struct {
	ChunkID       string
	DocumentID    string
	DocumentTitle string
	Filename      string
	Category      string // one of Categories; guessed from the names where empty
	HeadingPath   []string
	Kind          string // paragraph, list_item, table_row, line …
	Locator       api.Locator
	Text          string
	SHA256        string // of Text; analysis is kept under it, and under Text where empty
	EffectiveDate *api.Date
	// Score is calibrated, 0 to 1: at 0.5 a reader is as likely to say yes as no.
	Score, Semantic, Keyword float64
}

// Finder searches the documents of one assessment by meaning and words.
type Finder interface {
	Find(ctx context.Context, query string, topK int) ([]Passage, error)
}

// Options are what the rules need to know beside the evidence.
type Options struct {
	// Today is the day of the judgement. Empty: nothing is called stale and no date is past.
	Today api.Date
	// TopK is how many passages are looked at for each statement; 0 for 20.
	TopK int
	// MinScore is the calibrated score from which a passage is looked at; 0 for 0.03.
	MinScore float64
	// Embedder compares sentences with statements beyond their words; nil: words alone decide.
	Embedder *Embedder
}

// Embedder is an embedder and what its closeness is worth.
type Embedder struct {
	// Embed gives each text a vector of length 1, or zeros for a text it knows nothing of.
	Embed func(ctx context.Context, texts []string) ([][]float32, error)
	// Mean and Deviation are of the closeness of texts that have nothing to do with each other.
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

// Judgement is what the evidence says of one control.
type Judgement struct {
	Statements     []api.Statement
	StatementsFrom api.StatementSource
	Evidence       []api.Evidence
	Implementation api.Implementation
	Coverage       api.EvidenceCoverage
	// Ratio is the credit of the statements over their number: covered counts 1,
	// partial ¾ where nearly all is said, partial and conflicting ½, all others nothing.
	Ratio float64
	// Missing are the statements that the evidence doesn't bear, in plain words.
	Missing    []string
	Confidence float64 // 0 to 1
	Reason     string
	// Exception: a row of a record denies what others show; a person has to look at it.
	Exception bool
	// Operation: records or logs bear it, not only policies.
	Operation bool
}

// Evaluate judges one control. For many controls over the same documents, a Session
// analyses each passage once.
func Evaluate(ctx context.Context, c api.Control, f Finder, o Options) (Judgement, error) {
	return NewSession(f, o).Evaluate(ctx, c)
}
