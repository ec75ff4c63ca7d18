package gap

import (
	"testing"

	"github.com/scf-service/service/api"
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
	if n := len(orderQuotes(item)); n != len(item.Evidence) {
		t.Errorf("%d quotes are left of %d", n, len(item.Evidence))
	}
}
