package enginetest_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/internal/testutil/modeltest"
)

// TestChosenReaderReadsTraits checks that a chosen language model also reads for the scope's traits, but only as the
// first reader, and without changing users' values or an approved scope. When the rules are chosen again, their
// values are restored.
func TestChosenReaderReadsTraits(t *testing.T) {
	const (
		till = "Each payment is made with a card, whose data is swiped at every till"
		shop = "Nobody works remotely"
	)
	m := fake{func(r llm.Request) (llm.Answer, error) {
		p := modeltest.ParsePrompt(r.User)
		findings := make([][]modeltest.Finding, len(p.Statements))
		for i, s := range p.Statements {
			for k, text := range p.Passages {
				add := func(words, label, quote string) {
					if strings.HasPrefix(s, "The organization ") && strings.Contains(s, words) && strings.Contains(text, quote) {
						findings[i] = append(findings[i], modeltest.Finding{Passage: k + 1, Label: label, Quote: quote})
					}
				}
				add("card", "states", till)
				add("premises", "states", till)
				add("remote workers", "contradicts", shop)
			}
		}
		return llm.Answer{Text: modeltest.Answer(findings), Model: "ollama/fake", Digest: "sha256:a"}, nil
	}}
	e, _, _ := openEngine(t, engine.Options{Model: m})
	ctx := t.Context()
	b := &bench{Engine: e, by: localUser(t, e)}
	a := b.assess(t, "iso-27001-2022", fstest.MapFS{
		"shop.md": {Data: []byte("# Shop\n\n" + till + ". " + shop + ".\n")},
	}, api.StateSoADrafted)
	in := api.AssessmentInput{AssessmentID: a.ID}
	set := &api.PutScopeInput{AssessmentInput: in}
	set.Body.Traits = api.TraitSettings{"has_facilities": {Value: new(false)}}
	if _, err := e.Assessments.PutScope(ctx, b.by, set); err != nil {
		t.Fatal(err)
	}
	draft := func(first, second string) {
		t.Helper()
		if _, err := e.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: in, Reader: first, SecondReader: second}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when, cards, remote, facilities string) {
		t.Helper()
		sc, err := e.Assessments.GetAssessmentScope(ctx, b.by, &in)
		if err != nil || sc.Traits["handles_cards"].Value != cards ||
			sc.Traits["has_remote_workers"].Value != remote || sc.Traits["has_facilities"].Value != facilities {
			t.Errorf("%s: %+v, %v", when, sc.Traits, err)
		}
		if c := sc.Traits["handles_cards"]; cards == "true" && (len(c.Evidence) != 1 || c.Evidence[0].Quote != till) {
			t.Errorf("%s: %+v", when, c)
		}
	}
	draft("rules", "")
	check("by the rules", "unknown", "unknown", "false")
	draft("rules", api.ModelReader)
	check("with the model as the second reader", "unknown", "unknown", "false")
	draft(api.ModelReader, "")
	check("by the model", "true", "false", "false")
	draft("rules", "")
	check("by the rules again", "unknown", "unknown", "false")
}
