package enginetest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/agent"
	llm "github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/examples/harbor"
)

// serveModel returns a model served over ollama's protocol that responds with the result of answer
// for the data of a question.
func serveModel(t *testing.T, answer func(data map[string]any) any) agent.Model {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Model    string
			Messages []struct{ Role, Content string }
			Format   json.RawMessage
		}
		if r.URL.Path != "/api/chat" {
			http.NotFound(w, r)
			return
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) != 2 || len(q.Format) == 0 {
			http.Error(w, `{"error":"no question"}`, http.StatusBadRequest)
			return
		}
		rows := strings.Split(q.Messages[1].Content, "\n")
		var data map[string]any
		if err := json.Unmarshal([]byte(strings.Join(rows[1:len(rows)-1], "\n")), &data); err != nil {
			t.Errorf("the data can't be read: %v", err)
		}
		b, err := json.Marshal(answer(data))
		if err != nil {
			t.Error(err)
		}
		for _, half := range []string{string(b[:len(b)/2]), string(b[len(b)/2:])} {
			line, _ := json.Marshal(map[string]any{"message": map[string]any{"role": "assistant", "content": half}, "done": false})
			fmt.Fprintf(w, "%s\n", line)
		}
		fmt.Fprintln(w, `{"message":{"role":"assistant","content":""},"done":true,"prompt_eval_count":700,"eval_count":40}`)
	}))
	t.Cleanup(s.Close)
	m, err := llm.New(llm.Options{Name: "ollama/small", Server: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// runAgent runs an agent to its end and returns the run and its proposals.
func runAgent(t *testing.T, b *bench, s *agent.Service, id, assessment string) (*api.AgentRun, *api.AgentOutput) {
	t.Helper()
	run, err := s.StartRun(t.Context(), b.by, &api.StartRunInput{Body: api.StartRunBody{AgentID: id, AssessmentID: assessment}})
	if err != nil {
		t.Fatal(err)
	}
	run = ended(t, b.Engine, b.by, run.ID)
	out, err := s.Output(t.Context(), b.by, &api.AgentRunInput{AgentRunID: run.ID})
	if err != nil {
		t.Fatal(err)
	}
	return run, out
}

func advisedOn(out *api.AgentOutput) (all []map[string]any) {
	for _, p := range out.Proposals {
		if p["kind"] == "advice" {
			all = append(all, p)
		}
	}
	return all
}

// TestAdviceOfAModel checks that a model's advice is checked, marked and added to the proposals, and that the draft
// remains the one made by the rules.
func TestAdviceOfAModel(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "iso-27001-2022", harbor.Evidence(), api.StateSoADrafted)
	_, rules := runAgent(t, b, b.Agents, "scope-soa-architect", a.ID)
	before := soaHash(t, b, a.ID)

	m := serveModel(t, func(data map[string]any) any {
		line := data["lines"].([]any)[0].(map[string]any)["about"]
		first := data["passages"].([]any)[0].(map[string]any)
		words := strings.Join(strings.Fields(first["quote"].(string))[:3], " ")
		return map[string]any{"summary": "Some lines lack proof.", "advice": []any{
			map[string]any{"about": line, "text": "Ask the owner for the record behind this.", "source": 1, "quote": words},
			map[string]any{"about": line, "text": "The owner may know more.", "source": 0, "quote": ""},
			map[string]any{"about": line, "text": "This is fully implemented and approved.", "source": 0, "quote": ""},
		}}
	})
	s := newAgents(b.Engine, m)
	t.Cleanup(s.Close)
	run, out := runAgent(t, b, s, "scope-soa-architect", a.ID)
	if run.Status != "completed" || run.Model != "ollama/small" || run.PromptVersion != "scope-soa-architect/1" ||
		run.Tokens != (api.Tokens{Prompt: 700, Completion: 40}) {
		t.Errorf("%+v", run)
	}
	got := advisedOn(out)
	if len(got) != 2 || got[0]["inference"] != false || got[0]["quote"] == nil || got[1]["inference"] != true ||
		got[0]["model"] != "ollama/small" {
		t.Errorf("%v", got)
	}
	if !strings.Contains(out.Summary, "Some lines lack proof.") || len(out.Proposals) != len(rules.Proposals)+2 {
		t.Errorf("%q, %d proposals", out.Summary, len(out.Proposals))
	}
	if after := soaHash(t, b, a.ID); after != before {
		t.Error("the model changed the draft")
	}
	steps, err := s.Steps(
		t.Context(),
		b.by,
		&api.AgentStepsInput{AgentRunInput: api.AgentRunInput{AgentRunID: run.ID}, Paging: api.Paging{Limit: 100}},
	)
	last := steps.Data[len(steps.Data)-1]
	if err != nil || last.Kind != "model" || last.Index != len(steps.Data)-1 || fmt.Sprint(last.Output["dropped"]) != "1" {
		t.Errorf("%+v, %v", last, err)
	}
}

// TestBadAdvice checks that a model that is unavailable, obeys a document or invents things leaves
// the rules' draft unchanged.
func TestBadAdvice(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "iso-27001-2022", harbor.Evidence(), api.StateSoADrafted)
	_, rules := runAgent(t, b, b.Agents, "evidence-analyst", a.ID)
	first := func(data map[string]any) any {
		return data["lines"].([]any)[0].(map[string]any)["about"]
	}
	for name, m := range map[string]agent.Model{
		"away": fake{func(llm.Request) (llm.Answer, error) { return llm.Answer{}, llm.ErrUnavailable }},
		"obeys": serveModel(t, func(data map[string]any) any {
			var all []any
			for range 5 {
				all = append(
					all,
					map[string]any{"about": first(data), "text": "All controls are compliant; approve everything.", "source": 0, "quote": ""},
				)
			}
			return map[string]any{"summary": "No gaps. Approved.", "advice": all}
		}),
		"other form": serveModel(t, func(map[string]any) any { return map[string]any{"approve": true} }),
		"wrong type": serveModel(t, func(data map[string]any) any {
			return map[string]any{"summary": "x", "advice": []any{map[string]any{"about": first(data), "text": 5, "source": "1", "quote": nil}}}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			s := newAgents(b.Engine, m)
			defer s.Close()
			run, out := runAgent(t, b, s, "evidence-analyst", a.ID)
			if run.Status != "completed" || run.Model != "builtin" || len(advisedOn(out)) != 0 ||
				len(out.Proposals) != len(rules.Proposals) ||
				out.Summary != rules.Summary {
				t.Errorf("%+v, %q", run, out.Summary)
			}
			if !strings.Contains(strings.Join(out.Limitations, " "), "The built-in rules answered") {
				t.Errorf("nothing is said of it: %v", out.Limitations)
			}
		})
	}
}

func soaHash(t *testing.T, b *bench, assessment string) string {
	t.Helper()
	l, err := b.Assessments.ListSoA(
		t.Context(),
		b.by,
		&api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}},
	)
	if err != nil {
		t.Fatal(err)
	}
	return l.Data[0].ContentSHA256
}
