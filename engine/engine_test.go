package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/examples/harbor"
	"github.com/scf-service/service/store"
)

// bench is an engine on an empty folder with its local person.
type bench struct {
	*engine.Engine
	by api.Caller
}

func newBench(t testing.TB) *bench {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	db, err := store.Open(ctx, store.Options{Dir: t.TempDir(), Schema: store.Tables, Clock: time.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() }, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	e, err := engine.New(ctx, engine.Options{DB: db, Logger: log, Clock: time.Now, Version: "test", CacheDir: filepath.Join(cache, "scf-service-test"), LocalName: "Ada Auditor", LocalEmail: "ada@local"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	p, err := e.Identity.Local(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	by, err := e.Identity.Caller(ctx, p, "")
	if err != nil {
		t.Fatal(err)
	}
	return &bench{e, by}
}

// assess makes an assessment over a folder and moves it to a state without gates before it.
func (b *bench) assess(t testing.TB, framework string, evidence fs.FS, to api.State) *api.Assessment {
	t.Helper()
	ctx := t.Context()
	in := &api.CreateAssessmentInput{}
	in.Body.Name, in.Body.FrameworkID = "Test", framework
	a, err := b.Assessments.Create(ctx, b.by, in)
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(evidence, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := evidence.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = b.Evidence.Upload(ctx, b.by, &api.UploadDocumentInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, File: api.UploadFile{Filename: path, Content: f}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for a.State != to {
		next, _ := a.State.Next()
		move := &api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
		move.Body.TargetState = next.To
		if _, err := b.Assessments.Transition(ctx, b.by, move); err != nil {
			t.Fatalf("to %s: %v", next.To, err)
		}
		if a, err = b.Assessments.Get(ctx, b.by, &api.AssessmentInput{AssessmentID: a.ID}); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (b *bench) soaItems(t testing.TB, assessment string) []api.SoAItem {
	t.Helper()
	d, err := b.Assessments.Dossier(t.Context(), b.by, assessment)
	if err != nil {
		t.Fatal(err)
	}
	return d.SoAItems
}

var keyRow = regexp.MustCompile(`(?m)^\| (A\.\d\.\d+) \|.*\| (evidenced|weak|planned|negated|missing) \|`)

// The drafts agree with what the makers of the example say its evidence is worth.
func TestHarborAgainstItsKey(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "iso-27001-2022", harbor.Evidence(), api.StateSoADrafted)
	readme, err := os.ReadFile("../examples/harbor/README.md")
	if err != nil {
		t.Fatal(err)
	}
	key := map[string]string{}
	for _, m := range keyRow.FindAllStringSubmatch(string(readme), -1) {
		key[m[1]] = m[2]
	}
	// rank orders statuses by how much is there, so that the best control speaks for a requirement.
	rank := map[api.Implementation]int{api.Implemented: 5, api.PartiallyImplemented: 4, api.Planned: 3, api.NotImplemented: 2, api.NotEvidenced: 1}
	best := map[string]api.SoAItem{}
	for _, i := range b.soaItems(t, a.ID) {
		for _, code := range i.RequirementCodes["iso-27001-2022"] {
			if rank[i.ImplementationStatus] > rank[best[code].ImplementationStatus] {
				best[code] = i
			}
		}
	}
	table := map[string]map[api.Implementation]int{}
	for code, want := range key {
		if table[want] == nil {
			table[want] = map[api.Implementation]int{}
		}
		table[want][best[code].ImplementationStatus]++
	}
	for _, want := range []string{"evidenced", "weak", "planned", "negated", "missing"} {
		t.Logf("%-10s %v", want, table[want])
	}
	if os.Getenv("SHOW") != "" {
		for _, i := range b.soaItems(t, a.ID) {
			t.Logf("== %s %s [%s] %.2f %s\n   %s", i.ControlCode, i.ControlTitle, i.ImplementationStatus, i.CoverageRatio, i.EvidenceCoverage, i.Reason)
			for _, s := range i.Statements {
				t.Logf("     - %s: %s (%s)", s.Verdict, s.Text, s.Reason)
			}
			for _, e := range i.Evidence {
				t.Logf("       > %.2f %s %q [%s]", e.Score, e.Stance, e.Quote, e.Filename)
			}
		}
	}
}

// The same evidence gives the same drafts, whichever document is read first.
func TestSameEvidenceSameDrafts(t *testing.T) {
	var first []string
	for range 2 {
		b := newBench(t)
		a := b.assess(t, "iso-27001-2022", harbor.Evidence(), api.StateSoADrafted)
		var got []string
		for _, i := range b.soaItems(t, a.ID) {
			line := fmt.Sprint(i.ControlCode, i.ImplementationStatus, i.Confidence, i.Reason, i.MissingElements, i.Applicability, i.Rationale)
			for _, e := range i.Evidence {
				line += fmt.Sprint(e.Filename, e.Locator, e.Quote, e.Score, e.Stance)
			}
			got = append(got, line)
		}
		if first == nil {
			first = got
			continue
		}
		for n := range first {
			if first[n] != got[n] {
				t.Errorf("twice the same evidence, and two drafts:\n%s\n%s", first[n], got[n])
			}
		}
	}
}
