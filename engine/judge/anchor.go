package judge

import (
	"slices"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/criteria"
)

// anchor is a group of words: of what says a thing, one has to be there.
type anchor []naming

// naming is a word or phrase: the concepts that the passage has to hold; or, where it is of
// words that are in no sentence's concepts ("before"), the words themselves.
type naming struct {
	text     string
	concepts []uint64
	plain    bool
}

var namings sync.Map // by text; the book has many a word a hundred times

func namingOf(text string) naming {
	if n, ok := namings.Load(text); ok {
		return n.(naming)
	}
	n := naming{text: text}
	words := split(text)
	if concept, length := lex().at(words, 0); length == len(words) {
		n.concepts = []uint64{termID(concept)}
	} else {
		for _, w := range words {
			if !stopWords[w.text] && len(w.stem) > 1 {
				n.concepts = append(n.concepts, termID(lex().concept(w.stem)))
			}
		}
	}
	n.plain = len(n.concepts) == 0
	namings.Store(text, n)
	return n
}

func anchorsOf(of criteria.Groups) []anchor {
	out := make([]anchor, len(of))
	for i, group := range of {
		for _, text := range group {
			out[i] = append(out[i], namingOf(text))
		}
	}
	return out
}

// demands are the statements of a control, ready to be compared. What evidence has to name is known
// of the controls that our criteria are for.
func (w wants) demands(c api.Control) []*demand {
	out := make([]*demand, len(w.statements))
	topic := askedOf(w.topic, split(w.topic))
	names := anchorsOf(criteria.AnchorsOf(c.Code))
	for i, text := range w.statements {
		out[i] = newDemand(text, topic)
		if says, ours := criteria.AnchorsFor(c.Code, text); ours || w.ours {
			out[i].names, out[i].says = names, anchorsOf(says)
			out[i].wording = wordingOf(criteria.WordingFor(c.Code, text))
		}
	}
	return out
}

// unnamed is a group of which a passage has no word in its sentences, headings or title; nil where
// it has one of each.
func (c *candidate) unnamed(anchors []anchor) anchor {
	for _, a := range anchors {
		if !slices.ContainsFunc(a, func(n naming) bool {
			return n.plain && strings.Contains(c.words, " "+n.text+" ") || !n.plain && n.among(c.named) && c.together(n)
		}) {
			return a
		}
	}
	return nil
}

// together: the words of a phrase stand in one sentence and what is above it, not one in this row of a
// table and one in another.
func (c *candidate) together(n naming) bool {
	if len(n.concepts) < 2 || n.among(c.context) {
		return true
	}
	return slices.ContainsFunc(c.sentences, func(s sentence) bool {
		return !slices.ContainsFunc(n.concepts, func(id uint64) bool {
			_, above := slices.BinarySearch(c.context, id)
			_, own := s.holds(id)
			return !above && !own
		})
	})
}

// String is a group for a reader: its first words.
func (a anchor) String() string {
	words := make([]string, len(a))
	for i, n := range a {
		words[i] = n.text
	}
	return likes(words)
}

func likes(words []string) string {
	return strings.Join(words[:min(4, len(words))], ", ") + " or their like"
}

// among: sorted concepts hold all of a word or phrase.
func (n naming) among(sorted []uint64) bool {
	for _, id := range n.concepts {
		if _, ok := slices.BinarySearch(sorted, id); !ok {
			return false
		}
	}
	return true
}
