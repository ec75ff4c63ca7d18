package judge

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

func FuzzJudge(f *testing.F) {
	for _, seed := range []string{
		"Laptops must be encrypted.",
		"The following are not encrypted:\n- laptops\n1. a\n(b) c",
		"[insert] {{x}} ____ TBD",
		"no",
		"Is it encrypted? Yes ☐ No ☒\n☐ Yes\n[x] No\nA:\nNo",
		"| Is it? It is. | No |\nQuestion: Is it?; Yes:; No: x; Answer:",
		"?",
		"\x00\xff…",
		"Are laptops encrypted?\nNo",
		"Status: Planned; Laptops: encrypted",
		"e.g. i.e. 1.2.3 ... !!",
		strings.Repeat("laptop encrypted ", 300),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := Passage{ChunkID: "c", DocumentID: "d", Filename: "f.md", Text: text, Score: 0.9}
		j, err := Evaluate(context.Background(), encryption, fixed{p}, Options{Today: today})
		if err != nil {
			t.Fatal(err)
		}
		check(t, j, []Passage{p})
	})
}

// fixed returns the same passages for every query.
type fixed []Passage

func (f fixed) Find(_ context.Context, _ string, topK int) ([]Passage, error) {
	return f[:min(topK, len(f))], nil
}

// Quotes occur verbatim in their policies, whatever markup and line breaks these contain.
func TestQuotesOfRealPolicies(t *testing.T) {
	dir := shareddata.PathOrSkip(t, "evidence", "tailscale")
	files, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var ps memoryFinder
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split(string(b), "\n#") {
			ps = append(
				ps,
				Passage{
					ChunkID:       fmt.Sprintf("%s/%d", file, i),
					DocumentID:    file,
					DocumentTitle: filepath.Base(file),
					Filename:      filepath.Base(file),
					Text:          part,
				},
			)
		}
	}
	for _, c := range []api.Control{
		control("Change approval", "Changes are approved by another person before release.", "Changes are tested."),
		control("Awareness training", "All personnel complete awareness training every year."),
		control("Patching", "Security patches are applied within 30 days."),
		control("Quantum flux", "Flux capacitors are calibrated by licensed engineers."),
	} {
		j := judge(t, c, ps...)
		check(t, j, ps)
		if strings.HasPrefix(c.Title, "Quantum") != (j.Implementation == api.NotEvidenced) {
			t.Errorf("%s: %s, %s", c.Title, j.Implementation, j.Reason)
		}
	}
}

// BenchmarkJudge judges a whole catalog: 1,468 controls of 3 statements, 12 passages
// found for each statement, out of 2,000 (200 documents of 10).
func BenchmarkJudge(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	subjects := strings.Fields(
		"laptops backups suppliers incidents passwords accounts changes logs visitors contracts keys servers risks patches " +
			"recordings cameras databases tickets",
	)
	verbs := strings.Fields(
		"encrypted reviewed tested approved logged monitored restored classified documented assigned revoked scanned trained notified",
	)
	tails := []string{
		"every quarter by the security team",
		"before use",
		"within 72 hours",
		"by the owner",
		"once a year and after changes",
		"at the main office",
	}
	sentence := func() string {
		s := subjects[rng.IntN(len(subjects))] + " are " + verbs[rng.IntN(len(verbs))] + " " + tails[rng.IntN(len(tails))] + "."
		return strings.ToUpper(s[:1]) + s[1:]
	}
	var pool []Passage
	for i := range 2000 {
		var text strings.Builder
		for range 7 {
			text.WriteString(sentence() + " This rule holds for all systems in scope and is kept up to date. ")
		}
		pool = append(
			pool,
			Passage{
				ChunkID:       fmt.Sprint(i),
				DocumentID:    fmt.Sprint(i / 10),
				DocumentTitle: "Security policy",
				Filename:      "policy.md",
				Category:      "policy",
				Text:          text.String(),
				SHA256:        fmt.Sprint(i),
				Score:         0.6,
			},
		)
	}
	var controls []api.Control
	for i := range 1468 {
		c := control("Rules for "+subjects[i%len(subjects)], sentence(), sentence(), sentence())
		c.Code = fmt.Sprintf("GOV-%d", i)
		controls = append(controls, c)
	}
	b.ResetTimer()
	for b.Loop() {
		s := NewSession(&window{pool: pool}, Options{Today: today})
		judgements, err := s.EvaluateAll(context.Background(), controls, 2)
		if err != nil {
			b.Fatal(err)
		}
		for i, c := range controls {
			DraftSoAItem(c, nil, judgements[i], Inclusion{Applicability: api.Applicable})
		}
	}
}

// window returns different passages at each call, so that all are analyzed.
type window struct {
	pool []Passage
	at   atomic.Int64
}

func (w *window) Find(_ context.Context, _ string, topK int) ([]Passage, error) {
	topK = min(topK, 12)
	at := int(w.at.Add(int64(topK))) % (len(w.pool) - topK)
	return w.pool[at : at+topK], nil
}
