package judge

import (
	"slices"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/criteria"
	"github.com/scf-service/service/engine/judge/text"
)

// anchorGroup lists alternative terms, at least one of which must be present.
type anchorGroup []*anchorTerm

// anchorTerm is a word or phrase that a passage must contain. It is compared by its concepts, or literally if
// its words aren't concepts ("before").
type anchorTerm struct {
	text     string
	concepts []uint64
	literal  bool
}

var anchorTermCache sync.Map // by text; many terms occur hundreds of times

func parseAnchorTerm(words string) *anchorTerm {
	if n, ok := anchorTermCache.Load(words); ok {
		return n.(*anchorTerm)
	}
	n := &anchorTerm{text: words, concepts: text.PhraseConcepts(words)}
	n.literal = len(n.concepts) == 0
	anchorTermCache.Store(words, n)
	return n
}

func newAnchorGroups(groups criteria.WordGroups) []anchorGroup {
	out := make([]anchorGroup, len(groups))
	for i, group := range groups {
		out[i] = make(anchorGroup, len(group))
		for k, words := range group {
			out[i][k] = parseAnchorTerm(words)
		}
	}
	return out
}

// prepareStatements prepares the statements of a control for comparison. Only controls covered by our own
// criteria have anchors, that is, words that evidence must contain.
func (w controlStatements) prepareStatements(c api.Control) []*preparedStatement {
	out := make([]*preparedStatement, len(w.statements))
	topic := text.Concepts(w.topic)
	names := newAnchorGroups(criteria.ControlAnchors(c.Code))
	for i, statement := range w.statements {
		out[i] = newPreparedStatement(statement, topic)
		out[i].question = w.readingStatement(c, statement)
		if says, ours := criteria.CriterionAnchors(c.Code, statement); ours || w.hasOwnCriteria {
			out[i].controlAnchors, out[i].statementAnchors = names, newAnchorGroups(says)
			out[i].wording = text.NewWording(criteria.CriterionWording(c.Code, statement))
		}
	}
	return out
}

// firstMissingAnchor returns the first group that has no term in a passage's sentences, headings or title, or
// nil if every group has one.
func (c *analyzedPassage) firstMissingAnchor(anchors []anchorGroup) anchorGroup {
	for _, a := range anchors {
		if !slices.ContainsFunc(a, func(n *anchorTerm) bool {
			return n.literal && c.ContainsPhrase(n.text) ||
				!n.literal && n.isContainedIn(c.passageConcepts) && c.hasTermInOneSentence(n)
		}) {
			return a
		}
	}
	return nil
}

// hasTermInOneSentence reports whether all words of a phrase occur together in one sentence and its headings,
// rather than in different rows of a table.
func (c *analyzedPassage) hasTermInOneSentence(term *anchorTerm) bool {
	if len(term.concepts) < 2 || term.isContainedIn(c.headingConcepts) {
		return true
	}
	return slices.ContainsFunc(c.Sentences, func(s text.Sentence) bool {
		return !slices.ContainsFunc(term.concepts, func(id uint64) bool {
			_, above := slices.BinarySearch(c.headingConcepts, id)
			_, own := s.FindTerm(id)
			return !above && !own
		})
	})
}

// String formats the group's first terms for display.
func (a anchorGroup) String() string {
	words := make([]string, len(a))
	for i, n := range a {
		words[i] = n.text
	}
	return formatAlternatives(words)
}

func formatAlternatives(words []string) string {
	return strings.Join(words[:min(4, len(words))], ", ") + " or similar"
}

// isContainedIn reports whether sortedConcepts contain all concepts of the word or phrase.
func (n *anchorTerm) isContainedIn(sortedConcepts []uint64) bool {
	for _, id := range n.concepts {
		if _, ok := slices.BinarySearch(sortedConcepts, id); !ok {
			return false
		}
	}
	return true
}
