package enginetest_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/examples/harbor"
	"github.com/scf-service/service/internal/testutil/modeltest"
)

// TestModelThatSaysYes checks that a model that finds real sentences for everything reads nothing, and that one that does so now
// and then is stopped.
func TestModelThatSaysYes(t *testing.T) {
	calls, fooledEvery := 0, 1
	m := fake{func(r llm.Request) (llm.Answer, error) {
		calls++
		p := modeltest.ParsePrompt(r.User)
		findings := make([][]modeltest.Finding, len(p.Statements)+1)
		for i := range findings {
			quote, _, _ := strings.Cut(p.Passages[0], ". ")
			findings[i] = []modeltest.Finding{{Passage: 1, Label: "states", Quote: quote}}
		}
		if calls%fooledEvery != 0 {
			findings = findings[:len(p.Statements)]
		}
		return llm.Answer{Text: modeltest.Answer(findings), Model: "ollama/fake", Digest: "sha256:a"}, nil
	}}
	e, _, _ := openEngine(t, engine.Options{Model: m})
	b := &bench{Engine: e, by: localUser(t, e)}
	a := b.assess(t, "iso-27001-2022", harbor.Evidence(), api.StateDraft)
	in := &api.ReadWithModelInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
	in.Body.Seconds = 600
	for _, tt := range []struct {
		fooledEvery int
		want        string
	}{
		{1, "no valid answer for 3 controls in a row (the model cites passages for a check statement"},
		{3, "answers to test statements that no document supports"},
	} {
		calls, fooledEvery = 0, tt.fooledEvery
		_, err := e.Assessments.ReadWithModel(t.Context(), b.by, in)
		if err == nil || !strings.Contains(err.Error(), tt.want) || calls > 40 {
			t.Errorf("fooled in one of %d answers: %v after %d", tt.fooledEvery, err, calls)
		}
	}
}
