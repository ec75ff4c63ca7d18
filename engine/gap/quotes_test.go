package gap

import (
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
)

// TestConditionQuotesBothSidesOfAContradiction checks that a condition quotes what contradicts a requirement, after what
// affirms the same requirement, and doesn't repeat a quote of another document.
func TestConditionQuotesBothSidesOfAContradiction(t *testing.T) {
	quote := func(stance, statement, text string, score float64) api.Evidence {
		return api.Evidence{ChunkID: text, DocumentTitle: "D", Stance: stance, Statement: statement, Quote: text, Score: score}
	}
	item := api.SoAItem{
		ImplementationStatus: api.PartiallyImplemented,
		Statements:           []api.Statement{{Text: "Access is reviewed."}, {Text: "Leavers lose access."}, {Text: "Rights are least."}},
		Evidence: []api.Evidence{
			quote("supports", "Rights are least.", "Rights are least", 0.99),
			quote("supports", "Rights are least.", "Rights are least", 0.98),
			quote("limits", "Leavers lose access.", "Leavers hand in keys", 0.4),
			quote("supports", "Access is reviewed.", "Access is reviewed quarterly", 0.9),
			quote("conflicts", "Access is reviewed.", "No review took place", 0.8),
		},
	}
	var got string
	for _, e := range quotesForCondition(item) {
		got += e.Quote + "; "
	}
	if want := "Access is reviewed quarterly; No review took place; Rights are least; "; got != want {
		t.Errorf("the condition quotes %q, want %q", got, want)
	}
	item.Statements[2].Verdict = judge.VerdictConflicting
	item.Evidence = append(item.Evidence[:4], quote("limits", "Rights are least.", "Rights differ", 0.7))
	got = ""
	for _, e := range quotesForCondition(item) {
		got += e.Quote + "; "
	}
	if want := "Rights are least; Rights differ; Access is reviewed quarterly; "; got != want {
		t.Errorf("with differing figures, the condition quotes %q, want %q", got, want)
	}
	if n := len(orderQuotes(item)); n != len(item.Evidence) {
		t.Errorf("%d quotes are left of %d", n, len(item.Evidence))
	}
}
