package evidence

import (
	"testing"

	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/internal/testutil/longtest"
)

// TestBuiltinEmbedderPasses checks that the built-in embedder passes the test that others have to pass.
func TestBuiltinEmbedderPasses(t *testing.T) {
	longtest.SkipUnlessEnabled(t)
	s := &Service{}
	model, _, err := s.trainOrLoadCached(t.Context(), starterSnapshot(t), func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	score, err := embed.Test(t.Context(), model)
	if err != nil || score < embed.MinScore {
		t.Errorf("%.3f, %v", score, err)
	}
	t.Logf("%.3f", score)
}
