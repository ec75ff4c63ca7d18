package enginetest_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/llm"
)

// remoteModel is a language model and an embedder on another machine, which record what they are sent.
type remoteModel struct {
	mu      sync.Mutex
	prompts []string
	texts   []string
	onChat  func()
}

func (*remoteModel) Name() string { return "openai/remote" }

func (*remoteModel) Status(context.Context) llm.Status {
	return llm.Status{Model: "openai/remote", Server: "https://models.example", Remote: true, Ready: true}
}

func (m *remoteModel) Chat(_ context.Context, r llm.Request) (llm.Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prompts = append(m.prompts, r.User)
	if m.onChat != nil {
		m.onChat()
	}
	return llm.Answer{Text: `{"statements":[]}`, Model: m.Name()}, nil
}

func (*remoteModel) IsRemote() bool { return true }

func (*remoteModel) Dimensions() int { return len(embed.Questions()) + 1 }

func (m *remoteModel) Embed(_ context.Context, texts []string) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([][]float32, len(texts))
	for i, t := range texts {
		at := slices.IndexFunc(embed.Questions(), func(q embed.Question) bool { return q.Text == t || q.Answer == t })
		if at < 0 {
			m.texts = append(m.texts, t)
		}
		out[i] = make([]float32, m.Dimensions())
		out[i][at+1] = 1
	}
	return out, nil
}

// received returns the number of prompts since the last call, and all texts to embed that contain words.
func (m *remoteModel) received(words string) (prompts int, texts []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	prompts, m.prompts = len(m.prompts), nil
	for _, t := range m.texts {
		if strings.Contains(t, words) {
			texts = append(texts, t)
		}
	}
	return prompts, texts
}

// TestRemoteModelBan checks that nothing of an assessment or organization that forbids models on other machines is
// sent to one, whether for analyses and advice or for reading, translating and embedding.
func TestRemoteModelBan(t *testing.T) {
	m := &remoteModel{}
	embedded := make(chan string, 10)
	log := slog.New(logFunc{slog.DiscardHandler, func(message string) {
		if message == "embedded a document" {
			embedded <- message
		}
	}})
	e, _, _ := openEngine(t, engine.Options{Model: m, Embedder: m, Logger: log})
	ctx := t.Context()
	b := &bench{Engine: e, by: localUser(t, e)}
	banAssessment := func(id string, on bool) {
		t.Helper()
		in := &api.UpdateAssessmentInput{AssessmentInput: api.AssessmentInput{AssessmentID: id}}
		in.Body.NoRemoteModel = &on
		if _, err := e.Assessments.Update(ctx, b.by, in); err != nil {
			t.Fatal(err)
		}
	}
	banOrganization := func(on bool) {
		t.Helper()
		in := &api.UpdateTenantInput{TenantInput: api.TenantInput{TenantID: b.by.OrganizationID}}
		in.Body.Name, in.Body.Settings = "Local", map[string]any{api.NoRemoteModel: on}
		if _, err := e.Identity.UpdateTenant(ctx, b.by, in); err != nil {
			t.Fatal(err)
		}
	}
	search := func(id, query string) string {
		t.Helper()
		found, err := e.Evidence.Search(ctx, b.by, &api.SearchInput{Body: api.SearchBody{Query: query, AssessmentID: id}})
		if err != nil {
			t.Fatal(err)
		}
		return found.Embedder
	}
	isForbidden := func(err error) bool {
		return api.IsCode(err, api.CodeForbidden) && strings.Contains(err.Error(), "doesn't allow models")
	}

	secret := b.assess(t, "iso-27001-2022", nil, api.StateDraft)
	banAssessment(secret.ID, true)
	b.uploadAll(t, secret.ID, fstest.MapFS{
		"zugang.md": {Data: []byte("# Zugang\n\n" + germanRule + ". Geheime Konten werden am letzten Arbeitstag gesperrt.\n")},
		"access.md": {Data: []byte("# Access\n\nManagers review the secret access of their people each quarter.\n")},
	})
	open := b.assess(t, "iso-27001-2022", fstest.MapFS{
		"backup.md": {Data: []byte("# Backup\n\nBackups are made each night and restored for a test each quarter.\n")},
	}, api.StateSoADrafted)
	for _, id := range []string{secret.ID, open.ID} {
		if err := e.Evidence.WaitForDocuments(ctx, b.by, id); err != nil {
			t.Fatal(err)
		}
	}
	<-embedded
	if by := search(secret.ID, "secret plans"); search(open.ID, "backups") != "openai/remote" || !strings.HasPrefix(by, "builtin-") {
		t.Errorf("%s answers for the assessment with the ban, %s for the other", by, search(open.ID, "backups"))
	}
	status, err := e.Evidence.EmbeddingStatus(ctx, b.by, nil)
	if err != nil || status.Forbidden != 2 || status.Pending != 0 || status.Embedded != 1 || status.ServedBy != "openai/remote" {
		t.Errorf("%+v, %v", status, err)
	}

	reading := &api.ReadWithModelInput{AssessmentInput: api.AssessmentInput{AssessmentID: secret.ID}}
	_, err = e.Assessments.ReadWithModel(ctx, b.by, reading) // would translate first
	if !isForbidden(err) {
		t.Errorf("reading: %v", err)
	}
	if _, err = e.Assessments.GetModelReading(ctx, b.by, &reading.AssessmentInput); !isForbidden(err) {
		t.Errorf("estimate: %v", err)
	}
	query := api.SearchBody{Query: "secret accounts", AssessmentID: secret.ID, Translate: true}
	if _, err = e.Assessments.Search(ctx, b.by, &api.SearchInput{Body: query}); !isForbidden(err) {
		t.Errorf("translated search: %v", err)
	}
	second := &api.DraftSoAInput{AssessmentInput: reading.AssessmentInput, SecondReader: "model"}
	if _, err = e.Assessments.DraftSoA(ctx, b.by, second); !isForbidden(err) {
		t.Errorf("second reader: %v", err)
	}
	agents := newAgents(e, m)
	t.Cleanup(agents.Close)
	advise := func(a string) string {
		t.Helper()
		_, out := runAgent(t, b, agents, "scope-soa-architect", a)
		return strings.Join(out.Limitations, " ")
	}
	if got := advise(secret.ID); !strings.Contains(got, "the assessment doesn't allow models on other machines") {
		t.Errorf("advice: %s", got)
	}
	if n, texts := m.received("ecret"); n != 0 || len(texts) != 0 {
		t.Errorf("%d prompts and %q were sent", n, texts)
	}

	banOrganization(true)
	got, err := agents.EvaluateEvidence(ctx, b.by, evaluate("Laptops are encrypted.", "All laptops are encrypted."))
	if err != nil || !strings.Contains(strings.Join(got.Limitations, " "), "the organization doesn't allow models on other machines") {
		t.Errorf("analysis: %+v, %v", got, err)
	}
	if got := advise(open.ID); !strings.Contains(got, "the organization doesn't allow models on other machines") {
		t.Errorf("advice: %s", got)
	}
	reading.AssessmentID = open.ID
	if _, err = e.Assessments.ReadWithModel(ctx, b.by, reading); !isForbidden(err) {
		t.Errorf("reading: %v", err)
	}
	if by := search(open.ID, "forbidden query"); !strings.HasPrefix(by, "builtin-") {
		t.Errorf("%s answers", by)
	}
	if n, texts := m.received("forbidden"); n != 0 || len(texts) != 0 {
		t.Errorf("%d prompts and %q were sent", n, texts)
	}

	// A ban during a reading applies from the next request on. Lifted bans have no effect.
	banOrganization(false)
	m.onChat = func() { banAssessment(open.ID, true) }
	if _, err = e.Assessments.ReadWithModel(ctx, b.by, reading); !isForbidden(err) {
		t.Errorf("reading: %v", err)
	}
	if n, _ := m.received(""); n != 1 {
		t.Errorf("%d prompts were sent", n)
	}
	m.onChat = nil
	banAssessment(open.ID, false)
	if _, err = agents.EvaluateEvidence(ctx, b.by, evaluate("Laptops are encrypted.", "All laptops are encrypted.")); err != nil {
		t.Error(err)
	}
	if n, _ := m.received(""); n != 1 || search(open.ID, "backups") != "openai/remote" {
		t.Errorf("%d prompts were sent", n)
	}
}
