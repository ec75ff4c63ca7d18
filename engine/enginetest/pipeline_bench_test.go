package enginetest_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/examples/judged"
)

// largest is a workbook beside the repository; without it, the starter catalog is used.
const largest = "scf-2026.1.1-like.xlsx"

// importLargest activates the largest available catalog and returns its name.
func (b *bench) importLargest(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "scf", largest))
	if err != nil {
		return "the starter catalog"
	}
	if _, err := b.Catalog.ImportWorkbook(
		t.Context(),
		b.by,
		&api.ImportWorkbookInput{File: api.UploadFile{Filename: largest, Content: bytes.NewReader(data)}},
	); err != nil {
		t.Fatal(err)
	}
	return largest
}

var sentenceEnd = regexp.MustCompile(`[.!?]\s+`)

// policies returns n documents of about ten sections, mixed from the sentences of made-up
// companies. The same seed gives the same documents.
func policies(t testing.TB, n int, seed uint64) fstest.MapFS {
	t.Helper()
	var pool, heads []string
	err := fs.WalkDir(judged.Folder(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		data, err := fs.ReadFile(judged.Folder(), path)
		for part := range strings.SplitSeq(string(data), "\n\n") {
			part = strings.TrimSpace(part)
			switch {
			case strings.HasPrefix(part, "#") && !strings.Contains(part, "\n"):
				heads = append(heads, strings.TrimLeft(part, "# "))
			case part != "" && !strings.ContainsAny(part, "|#"):
				for _, s := range sentenceEnd.Split(strings.ReplaceAll(part, "\n", " "), -1) {
					pool = append(pool, strings.TrimRight(s, ". ")+".")
				}
			}
		}
		return err
	})
	if err != nil || len(pool) < 200 || len(heads) < 50 {
		t.Fatalf("%d sentences and %d headings to mix: %v", len(pool), len(heads), err)
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	out := fstest.MapFS{}
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\nVersion 1.%d, approved on 2026-0%d-1%d.\n", heads[rng.IntN(len(heads))], i, 1+rng.IntN(9), rng.IntN(9))
		for range 10 {
			fmt.Fprintf(&b, "\n## %s\n\n", heads[rng.IntN(len(heads))])
			for range 4 + rng.IntN(5) {
				b.WriteString(pool[rng.IntN(len(pool))] + " ")
			}
			b.WriteString("\n")
		}
		out[fmt.Sprintf("doc-%d-%03d.md", seed, i)] = &fstest.MapFile{Data: []byte(b.String())}
	}
	return out
}

// BenchmarkPipeline drafts all four deliverables of a complete catalog over 200 documents: without
// caches, and after adding one document. cpu-s is the CPU time of all cores.
func BenchmarkPipeline(b *testing.B) {
	w := newBench(b)
	catalog := w.importLargest(b)
	a := w.assess(b, "", policies(b, 200, 1), api.StateFrameworkSelected)
	ctx, in := b.Context(), &api.AssessmentInput{AssessmentID: a.ID}
	if err := w.Evidence.WaitForDocuments(ctx, w.by, a.ID); err != nil {
		b.Fatal(err)
	}
	steps := []struct {
		name string
		do   func() error
	}{
		{"soa", func() error {
			_, err := w.Assessments.DraftSoA(ctx, w.by, &api.DraftSoAInput{AssessmentInput: *in})
			return err
		}},
		{"gaps", func() error { _, err := w.Assessments.DraftGap(ctx, w.by, in); return err }},
		{"maturity", func() error { _, err := w.Assessments.DraftMaturity(ctx, w.by, in); return err }},
		{"poam", func() error { _, err := w.Assessments.DraftPOAM(ctx, w.by, in); return err }},
	}
	draft := func(b *testing.B, took map[string]time.Duration) {
		for _, s := range steps {
			began := time.Now()
			if err := s.do(); err != nil {
				b.Fatal(err)
			}
			took[s.name] += time.Since(began)
		}
	}
	b.Logf("%s, %d documents", catalog, 200)
	b.Run("all", func(b *testing.B) {
		took, cpu := map[string]time.Duration{}, processorTime(b)
		n := 0
		for b.Loop() {
			w.Assessments.DropCaches(a.ID)
			draft(b, took)
			n++
		}
		b.ReportMetric((processorTime(b)-cpu).Seconds()/float64(n), "cpu-s/op")
		for name, d := range took {
			b.ReportMetric(d.Seconds()/float64(n), name+"-s/op")
		}
		b.ReportMetric(float64(len(w.soaItems(b, a.ID))), "controls")
	})
	b.Run("after one more document", func(b *testing.B) {
		took := map[string]time.Duration{}
		draft(b, map[string]time.Duration{})
		var cpu time.Duration
		n := 0
		for b.Loop() {
			b.StopTimer()
			w.uploadAll(b, a.ID, policies(b, 1, uint64(100+n)))
			if err := w.Evidence.WaitForDocuments(ctx, w.by, a.ID); err != nil {
				b.Fatal(err)
			}
			before := processorTime(b)
			b.StartTimer()
			draft(b, took)
			cpu += processorTime(b) - before
			n++
		}
		b.ReportMetric(cpu.Seconds()/float64(n), "cpu-s/op")
		for name, d := range took {
			b.ReportMetric(d.Seconds()/float64(n), name+"-s/op")
		}
	})
}
