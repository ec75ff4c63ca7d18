package judge

import (
	"slices"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/criteria"
)

// anchorGroup lists alternative terms, at least one of which must be present.
type anchorGroup []anchorTerm

// anchorTerm is a word or phrase: the concepts that the passage must contain, or the words
// themselves if they aren't concepts ("before").
type anchorTerm struct {
	text     string
	concepts []uint64
	literal  bool
}

var anchorTermCache sync.Map // by text; many terms occur hundreds of times

func parseAnchorTerm(text string) anchorTerm {
	if n, ok := anchorTermCache.Load(text); ok {
		return n.(anchorTerm)
	}
	n := anchorTerm{text: text}
	words := splitWords(text)
	if concept, length := sharedLexicon().longestPhrase(words, 0); length == len(words) {
		n.concepts = []uint64{hashTerm(concept)}
	} else {
		for _, w := range words {
			if !stopWords[w.text] && len(w.stem) > 1 {
				n.concepts = append(n.concepts, hashTerm(sharedLexicon().concept(w.stem)))
			}
		}
	}
	n.literal = len(n.concepts) == 0
	anchorTermCache.Store(text, n)
	return n
}

func newAnchorGroups(groups criteria.WordGroups) []anchorGroup {
	out := make([]anchorGroup, len(groups))
	for i, group := range groups {
		for _, text := range group {
			out[i] = append(out[i], parseAnchorTerm(text))
		}
	}
	return out
}

// prepareStatements returns the statements of a control, ready for comparison. Anchors are only
// known for controls covered by our criteria.
func (w controlStatements) prepareStatements(c api.Control) []*preparedStatement {
	out := make([]*preparedStatement, len(w.statements))
	topic := requiredConcepts(w.topic, splitWords(w.topic))
	names := newAnchorGroups(criteria.ControlAnchors(c.Code))
	for i, text := range w.statements {
		out[i] = newPreparedStatement(text, topic)
		if says, ours := criteria.CriterionAnchors(c.Code, text); ours || w.hasOwnCriteria {
			out[i].controlAnchors, out[i].statementAnchors = names, newAnchorGroups(says)
			out[i].wording = newWording(criteria.CriterionWording(c.Code, text))
		}
	}
	return out
}

// missingAnchor returns the first group without a term in a passage's sentences, headings or title,
// or nil if every group has one.
func (c *analyzedPassage) missingAnchor(anchors []anchorGroup) anchorGroup {
	for _, a := range anchors {
		if !slices.ContainsFunc(a, func(n anchorTerm) bool {
			return n.literal && strings.Contains(c.paddedWords, " "+n.text+" ") ||
				!n.literal && n.isContainedIn(c.passageConcepts) && c.inOneSentence(n)
		}) {
			return a
		}
	}
	return nil
}

// inOneSentence reports whether all words of a phrase occur in a single sentence and its headings,
// rather than in different rows of a table.
func (c *analyzedPassage) inOneSentence(n anchorTerm) bool {
	if len(n.concepts) < 2 || n.isContainedIn(c.headingConcepts) {
		return true
	}
	return slices.ContainsFunc(c.sentences, func(s sentence) bool {
		return !slices.ContainsFunc(n.concepts, func(id uint64) bool {
			_, above := slices.BinarySearch(c.headingConcepts, id)
			_, own := s.findTerm(id)
			return !above && !own
		})
	})
}

// String returns the first words of a group for display.
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

// isContainedIn reports whether sorted concepts contain the whole word or phrase.
func (n anchorTerm) isContainedIn(sorted []uint64) bool {
	for _, id := range n.concepts {
		if _, ok := slices.BinarySearch(sorted, id); !ok {
			return false
		}
	}
	return true
}
