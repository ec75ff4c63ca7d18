package judge

import (
	"context"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/judge/reading"
)

// TestTraitsOfOthersAndOfNobody checks that sentences which name a trait without saying that the organization has
// it don't set it.
func TestTraitsOfOthersAndOfNobody(t *testing.T) {
	for _, tc := range []struct{ sentence, trait, want string }{
		{"Our staff process cardholder data in the call center.", "handles_cards", "true"},
		{"The company stores the card numbers of subscribers in encrypted form.", "handles_cards", "true"},
		{"Customers pay by credit card at our counters.", "handles_cards", "true"},
		{"Providers process personal data on our behalf.", "outsources_it", "unknown"},
		{"An external provider operates our servers.", "outsources_it", "true"},
		{"The company does not store cardholder data.", "handles_cards", "false"},
		{"We neither store nor process cardholder data.", "handles_cards", "false"},
		{"Cardholder data is not stored by the company.", "handles_cards", "unknown"},
		{"Our customer stores cardholder data in its own systems.", "handles_cards", "unknown"},
		{"The payment provider processes all payment card data.", "handles_cards", "unknown"},
		{"If we processed card data, PCI DSS would apply.", "handles_cards", "unknown"},
		{"Should we ever accept payment cards, this policy is extended.", "handles_cards", "unknown"},
		{"PCI DSS would apply only if the company stored cardholder data.", "handles_cards", "unknown"},
		{"Our suppliers develop software for their own customers.", "develops_software", "unknown"},
		{"Some competitors use machine learning models.", "uses_ai", "unknown"},
	} {
		got, err := DetectTraits(context.Background(), memoryFinder{policy(tc.sentence)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got[tc.trait].Value != tc.want {
			t.Errorf("%q: %s is %s, want %s", tc.sentence, tc.trait, got[tc.trait].Value, tc.want)
		}
	}
	for _, heading := range []string{"Out of scope", "3.2 Exclusions", "Systems outside the scope"} {
		p := policy("Cardholder data and payment card terminals.")
		p.HeadingPath = append(p.HeadingPath, heading)
		got, err := DetectTraits(context.Background(), memoryFinder{p}, nil)
		if err != nil || got["handles_cards"].Value != "unknown" {
			t.Errorf("under %q: %+v, %v", heading, got["handles_cards"], err)
		}
	}
}

// wordReader reads a passage as the label that its text begins with.
type wordReader struct{}

func (wordReader) Name() string { return "words/1" }

func (wordReader) Read(_ context.Context, st reading.Statement, passages []reading.Passage) ([]reading.Reading, error) {
	out := make([]reading.Reading, len(passages))
	for i, p := range passages {
		word, _, _ := strings.Cut(p.Text, " ")
		switch l := reading.Label(word); l {
		case reading.States, reading.Part, reading.Plans, reading.Contradicts:
			if strings.Contains(p.Text, "only cards") && !strings.Contains(st.Text, "card") {
				l = reading.Silent
			}
			out[i] = reading.Reading{Label: l, Words: word}
			if l == reading.Silent {
				out[i].Words = ""
			}
		case reading.Silent:
			out[i].Label = l
		}
	}
	return out, nil
}

func TestTraitsFromAReader(t *testing.T) {
	for want, ps := range map[string]memoryFinder{
		"true":    {policy("states, only cards"), policy("states only cards")},
		"false":   {policy("contradicts only cards"), policy("plans only cards")},
		"unknown": {policy("contradicts only cards"), policy("part only cards")},
	} {
		got, err := DetectTraits(context.Background(), ps, wordReader{})
		if err != nil || got["handles_cards"].Value != want || got["uses_ai"].Value != "unknown" {
			t.Errorf("want %s: %+v, %v", want, got["handles_cards"], err)
		}
	}
	// The rules read the passages that the reader has not read.
	ps := memoryFinder{policy("Our staff process cardholder data in the call center.")}
	got, err := DetectTraits(context.Background(), ps, wordReader{})
	if err != nil || got["handles_cards"].Value != "true" {
		t.Errorf("unread: %+v, %v", got["handles_cards"], err)
	}
	candidates, err := TraitCandidates(context.Background(), ps)
	if err != nil || len(candidates) != len(TraitStatements()) {
		t.Errorf("%d statements with candidates, %d statements, %v", len(candidates), len(TraitStatements()), err)
	}
	for i, c := range candidates {
		cards := c.Statement == traitStatement("handles_cards")
		if c.Statement != TraitStatements()[i] || cards && len(c.Passages) != 1 {
			t.Errorf("%+v", c)
		}
	}
}
