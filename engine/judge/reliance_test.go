package judge

import (
	"fmt"
	"testing"

	"github.com/scf-service/service/api"
)

// TestCountReliance checks the counts and the order of the documents.
func TestCountReliance(t *testing.T) {
	var items []api.SoAItem
	for n, changed := range []string{"", "b.md", "b.md", "c.md"} {
		i := api.SoAItem{
			Applicability: api.Applicable, ImplementationStatus: api.Implemented, ChangedByDocument: changed, OnlyDocument: "a.md",
		}
		if n == 3 {
			i.OnlyDocument = ""
		}
		items = append(items, i)
	}
	overruled := items[1]
	overruled.EditedFields = []string{"implementation_status"}
	v := CountReliance(append(items, overruled))
	got := fmt.Sprint(v.DecisiveDocuments, v.LinesOnOneDocument, v.LinesChangedByDocument)
	if got != "[{b.md 2 0} {c.md 1 0} {a.md 0 3}] 3 3" {
		t.Errorf("%s", got)
	}
	if got := fmt.Sprint(v.Warnings()); got != "[3 verdicts were changed by a single document since an earlier draft (2 by b.md). "+
		"3 verdicts rest on a single document (3 on a.md).]" {
		t.Errorf("%s", got)
	}

	// The document that most items rest on alone is among the ten that are listed.
	for n := range 12 {
		items = append(items, api.SoAItem{
			Applicability: api.Applicable, ImplementationStatus: api.Implemented, ChangedByDocument: fmt.Sprintf("d%d.md", n),
		})
	}
	v = CountReliance(items)
	if got := v.Warnings()[1]; len(v.DecisiveDocuments) != 10 || got != "3 verdicts rest on a single document (3 on a.md)." {
		t.Errorf("%d documents, %s", len(v.DecisiveDocuments), got)
	}
}

// TestOnRepeatedQuote checks that a quote stands out that supports more controls than one sentence plausibly does.
func TestOnRepeatedQuote(t *testing.T) {
	var items []api.SoAItem
	for n := range maxControlsPerQuote + 1 {
		same := api.Evidence{Quote: "All  is well.", Stance: "supports"}
		items = append(items, api.SoAItem{Applicability: api.Applicable})
		items[n].Evidence = []api.Evidence{same, same, {Quote: fmt.Sprint(n), Stance: "supports"}, {Quote: "Not done.", Stance: "denies"}}
	}
	if got := ItemsOnRepeatedQuotes(items); len(got) != len(items) {
		t.Errorf("%v of %d", got, len(items))
	}
	if got := ItemsOnRepeatedQuotes(items[1:]); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestAskedAgainIsNotReviewed checks that a confirmation no longer counts once the item is marked for review again.
func TestAskedAgainIsNotReviewed(t *testing.T) {
	item := func(needsReview bool, edited ...string) api.SoAItem {
		return api.SoAItem{Item: api.Item{EditedFields: edited}, NeedsReview: needsReview}
	}
	items := []api.SoAItem{
		item(false, "needs_review"), item(true, "needs_review"), item(true, "implementation_status"), item(true, "owner"), item(false),
	}
	if got := CountUnreviewed(items); got.LinesNotReviewed != 3 || got.LinesToReview != 2 {
		t.Errorf("%d not reviewed, %d marked for review", got.LinesNotReviewed, got.LinesToReview)
	}
	for n, want := range []bool{false, true, false, false, false} {
		if got := IsAskedAgain(&items[n]); got != want {
			t.Errorf("item %d is asked again: %v", n, got)
		}
	}
}
