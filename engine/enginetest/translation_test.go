package enginetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/internal/testutil/modeltest"
)

// bilingualModel translates statements on multi-factor authentication into German, and labels German passages about
// it as stating them.
type bilingualModel struct{ translations, readings atomic.Int64 }

func (*bilingualModel) Name() string { return "ollama/bilingual" }

func (*bilingualModel) Status(context.Context) llm.Status {
	return llm.Status{Model: "ollama/bilingual", Server: "http://127.0.0.1:1", Ready: true, Digest: "sha256:a"}
}

var passageNumber = regexp.MustCompile(`^PASSAGE (\d+)$`)

const germanRule = "Für jeden Fernzugriff ist eine Mehr-Faktor-Authentifizierung vorgeschrieben"

func (m *bilingualModel) Chat(_ context.Context, r llm.Request) (llm.Answer, error) {
	var answer any
	if strings.Contains(string(r.Schema), "translations") {
		m.translations.Add(1)
		_, list, _ := strings.Cut(r.User, "\n\n")
		var statements []string
		if err := json.Unmarshal([]byte(list), &statements); err != nil || !strings.HasPrefix(r.User, "Language: German\n") {
			return llm.Answer{}, fmt.Errorf("%w: %s", llm.ErrInvalidResponse, r.User)
		}
		for i, s := range statements {
			if statements[i] = "Blumen werden gegossen"; strings.Contains(strings.ToLower(s), "multi-factor") || s == "parrots" {
				statements[i] = "Mehr-Faktor-Authentifizierungen sind für Fernzugriffe vorgeschrieben"
			}
		}
		answer = map[string]any{"translations": statements}
	} else {
		m.readings.Add(1)
		var statements []map[string]any
		findings, number := []map[string]any{}, 0
		for line := range strings.Lines(r.User) {
			line = strings.TrimSpace(line)
			if n := passageNumber.FindStringSubmatch(line); n != nil {
				_, _ = fmt.Sscan(n[1], &number)
			}
			if strings.Contains(line, germanRule) {
				findings = append(findings, map[string]any{"passage": number, "label": "states", "quote": germanRule})
			}
		}
		for n := range modeltest.ParsePrompt(r.User).Statements {
			statements = append(statements, map[string]any{"statement": n + 1, "findings": findings})
		}
		answer = map[string]any{"statements": statements}
	}
	text, err := json.Marshal(answer)
	return llm.Answer{Text: string(text), Model: "ollama/bilingual", Digest: "sha256:a", PromptTokens: 10, CompletionTokens: 10}, err
}

// TestEvidenceInAnotherLanguage checks that a language model translates the statements for search, once, and that passages
// found by the translations are read and quoted in their own language.
func TestEvidenceInAnotherLanguage(t *testing.T) {
	model := &bilingualModel{}
	e, _, _ := openEngine(t, engine.Options{Model: model})
	b := &bench{Engine: e, by: localUser(t, e)}
	a := b.assess(t, "iso-27001-2022", fstest.MapFS{
		"zugang.md": {Data: []byte("# Zugang\n\n" + germanRule + ". Konten werden am letzten Arbeitstag gesperrt.\n")},
		"backup.md": {Data: []byte("# Backup\n\nBackups are made each night and restored for a test each quarter.\n")},
	}, api.StateSoADrafted)
	summary := func() api.UnreadEvidence {
		t.Helper()
		s, err := e.Assessments.Summary(t.Context(), b.by, &api.AssessmentInput{AssessmentID: a.ID})
		if err != nil {
			t.Fatal(err)
		}
		return s.UnreadEvidence
	}
	if u := summary(); u.DocumentsInOtherLanguages != 1 || u.DocumentsRead != 2 {
		t.Errorf("by the rules: %+v", u)
	}
	for _, translate := range []bool{false, true, true} {
		q := api.SearchBody{Query: "parrots", AssessmentID: a.ID, Translate: translate}
		found, err := e.Assessments.Search(t.Context(), b.by, &api.SearchInput{Body: q})
		if err != nil {
			t.Fatal(err)
		}
		isFirst := len(found.Data) > 0 && found.Data[0].Filename == "zugang.md" && found.Data[0].Score > 0.2
		if isFirst != translate || len(found.Translations) == 1 != translate || model.translations.Load() > 1 {
			t.Errorf("translate %v: %+v, %d translations", translate, found, model.translations.Load())
		}
	}
	if u := summary(); u.DocumentsInOtherLanguages != 1 {
		t.Errorf("after the translation of a query: %+v", u)
	}
	in := &api.ReadWithModelInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
	in.Body.Seconds = 60
	before, err := e.Assessments.GetModelReading(t.Context(), b.by, &in.AssessmentInput)
	if err != nil || before.Left == 0 || before.Next.Calls == 0 {
		t.Fatalf("%+v, %v", before, err)
	}
	got, err := e.Assessments.ReadWithModel(t.Context(), b.by, in)
	if err != nil || got.Left != 0 || model.translations.Load() == 0 {
		t.Fatalf("%+v, %v, %d translations", got, err, model.translations.Load())
	}
	translations := model.translations.Load()
	if again, err := e.Assessments.ReadWithModel(t.Context(), b.by, in); err != nil || again.Used.Calls != 0 ||
		model.translations.Load() != translations {
		t.Errorf("again: %+v, %v", again, err)
	}
	draft := &api.DraftSoAInput{AssessmentInput: in.AssessmentInput, Reader: got.Reader}
	if _, err := e.Assessments.DraftSoA(t.Context(), b.by, draft); err != nil {
		t.Fatal(err)
	}
	quoted, calls := 0, model.readings.Load()
	items := b.soaItems(t, a.ID)
	for _, i := range items {
		for _, q := range i.Evidence {
			if q.Filename == "zugang.md" && q.Quote == germanRule {
				quoted++
			}
		}
		if strings.Contains(i.Reason, "was not read") {
			t.Errorf("%s: %s", i.ControlCode, i.Reason)
		}
	}
	if quoted == 0 || quoted == len(items) || model.readings.Load() != calls {
		t.Errorf("%d lines quote the German passage; %d calls for the draft", quoted, model.readings.Load()-calls)
	}
	if u := summary(); u.DocumentsInOtherLanguages != 0 {
		t.Errorf("by the model: %+v", u)
	}
}

// TestMigrationKeepsWhatAModelRead checks that evidence in another language still counts after a move to another catalog.
func TestMigrationKeepsWhatAModelRead(t *testing.T) {
	e, _, _ := openEngine(t, engine.Options{Model: &bilingualModel{}})
	b := &bench{Engine: e, by: localUser(t, e)}
	reworded := strings.NewReplacer("use a second factor", "use multi-factor authentication")
	b.importCatalog(t, reworded.Replace(yard1))
	var others strings.Builder // that search finds instead
	for n := range 40 {
		fmt.Fprintf(&others, "# Operators %d\n\nOperators use crane %d when signing in deliveries with a factor of %d.\n\n", n, n, n)
	}
	a := b.assess(t, "house-rules", fstest.MapFS{
		"zugang.md": {Data: []byte("# Zugang\n\n" + germanRule + ".\n")}, "cranes.md": {Data: []byte(others.String())},
	}, api.StateDraft)
	in := &api.ReadWithModelInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
	got, err := e.Assessments.ReadWithModel(t.Context(), b.by, in)
	if err != nil || got.Left != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	draft := &api.DraftSoAInput{AssessmentInput: in.AssessmentInput, Reader: got.Reader}
	if _, err := e.Assessments.DraftSoA(t.Context(), b.by, draft); err != nil {
		t.Fatal(err)
	}
	quote := func() string {
		t.Helper()
		for _, i := range b.soaItems(t, a.ID) {
			if i.ControlCode == "IAC-06" && len(i.Evidence) > 0 {
				return i.Evidence[0].Quote
			}
		}
		return ""
	}
	if quote() != germanRule {
		t.Fatalf("before: %q", quote())
	}
	b.importCatalog(t, reworded.Replace(yard2))
	if _, err := b.migrate(t, a.ID, api.MigrateBody{}); err != nil {
		t.Fatal(err)
	}
	if quote() != germanRule {
		t.Errorf("after the migration: %q", quote())
	}
}
