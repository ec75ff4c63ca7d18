package gap

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
)

// stanceOrders holds, by status, the stances in the order in which quotes show a gap: first those that decided the status.
var stanceOrders = map[api.Implementation][]string{
	api.Implemented:          {"supports", "limits", "plans", "template", "denies", "conflicts"},
	api.PartiallyImplemented: {"conflicts", "denies", "plans", "supports", "limits", "template"},
	api.Planned:              {"plans", "denies", "conflicts", "supports", "limits", "template"},
	api.NotImplemented:       {"denies", "conflicts", "plans", "limits", "template", "supports"},
	api.NotEvidenced:         {"template", "supports", "limits", "denies", "plans", "conflicts"},
}

// partialStanceOrder is the order for a partially implemented control of which nothing is only planned.
var partialStanceOrder = []string{"conflicts", "denies", "supports", "limits", "plans", "template"}

// orderQuotes returns the quotes of an SoA item, beginning with those that best show the gap: by stance, with quotes that
// repeat the words or the requirements of earlier ones after others, and then by score. A quote that contradicts a
// requirement is followed by one that affirms it.
func orderQuotes(item api.SoAItem) []api.Evidence {
	order := stanceOrders[item.ImplementationStatus]
	if item.ImplementationStatus == api.PartiallyImplemented && countVerdicts(item)[judge.VerdictPlanned] == 0 {
		order = partialStanceOrder // what is planned is not the gap
	}
	rest := slices.Clone(item.Evidence)
	slices.SortStableFunc(rest, func(a, b api.Evidence) int { return cmp.Compare(b.Score, a.Score) })
	out := make([]api.Evidence, 0, len(rest))
	// If only the figures of two passages differ, neither quote is marked as contradicting the other.
	figuresDiffer := !slices.ContainsFunc(rest, func(e api.Evidence) bool { return e.Stance == "conflicts" })
	rank := func(e *api.Evidence) int {
		if len(out) == 1 && affirmsContradicted(&out[0], e, item.Statements) {
			return slices.Index([]string{"supports", "limits"}, e.Stance) - 2
		}
		if figuresDiffer && relatesToContradicted(e, item.Statements) {
			return slices.Index(order, e.Stance) - len(order)
		}
		n := 3 * slices.Index(order, e.Stance)
		switch {
		case repeatsWords(out, e):
			n += 2
		case slices.ContainsFunc(out, func(o api.Evidence) bool { return o.RelatesTo(e.Statement) }):
			n++
		}
		return n
	}
	for len(rest) > 0 {
		best, lowest := 0, math.MaxInt
		for i := range rest {
			if n := rank(&rest[i]); n < lowest {
				best, lowest = i, n
			}
		}
		out = append(out, rest[best])
		rest = slices.Delete(rest, best, best+1)
	}
	return out
}

// repeatsWords reports whether one of the quotes contains the words of e, or the other way round.
func repeatsWords(quotes []api.Evidence, e *api.Evidence) bool {
	return slices.ContainsFunc(quotes, func(o api.Evidence) bool {
		return strings.Contains(o.Quote, e.Quote) || strings.Contains(e.Quote, o.Quote)
	})
}

// relatesToContradicted reports whether a quote relates to a requirement on which passages contradict each other.
func relatesToContradicted(e *api.Evidence, statements []api.Statement) bool {
	return slices.ContainsFunc(statements, func(s api.Statement) bool { return s.Verdict == judge.VerdictConflicting && e.RelatesTo(s.Text) })
}

// affirmsContradicted reports whether a quote affirms, in full or in part, a requirement that the other one contradicts.
func affirmsContradicted(contradicting, e *api.Evidence, statements []api.Statement) bool {
	return contradicting.Stance == "conflicts" && (e.Stance == "supports" || e.Stance == "limits") &&
		slices.ContainsFunc(statements, func(s api.Statement) bool { return contradicting.RelatesTo(s.Text) && e.RelatesTo(s.Text) })
}

// maxConditionQuotes is the maximum number of quotes in the description of a condition. minPartQuoteScore is the minimum
// score there of a quote that covers only a part of a requirement; if none reaches it, the first is quoted.
const (
	maxConditionQuotes = 3
	minPartQuoteScore  = 0.6
)

// quotesForCondition returns the quotes for the description of an item's condition. What affirms a requirement comes before
// what contradicts it.
func quotesForCondition(item api.SoAItem) (out []api.Evidence) {
	for _, e := range orderQuotes(item) {
		if len(out) < maxConditionQuotes && !repeatsWords(out, &e) &&
			(len(out) == 0 || e.Stance != "limits" || e.Score >= minPartQuoteScore) {
			out = append(out, e)
		}
	}
	if len(out) > 1 && affirmsContradicted(&out[0], &out[1], item.Statements) {
		out[0], out[1] = out[1], out[0]
	}
	return out
}
