package daemon_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/internal/testutil/tracetest"
)

const (
	theirTrace  = "0af7651916cd43dd8448eb211c80319c"
	theirParent = "00-" + theirTrace + "-b7ad6b7169203331-01"
)

// TestTraces checks that a trace leads from the caller through the operation and its transaction to the model,
// and from events to deliveries. Unauthenticated callers can't join a trace, and it contains no user text.
func TestTraces(t *testing.T) {
	c := tracetest.Start(t)
	asked := make(chan string, 10)
	mind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("traceparent")
		http.Error(w, `{"error": "BitLocker is all I know"}`, http.StatusBadRequest)
	}))
	defer mind.Close()
	m, err := llm.New(llm.Options{Name: "ollama/small", Server: mind.URL})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan http.Header, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told <- r.Header }))
	defer receiver.Close()
	tracer := c.Tracer(t)
	w := newTestServer(t, daemon.Options{Tracer: tracer}, func(o *engine.Options) { o.Model = m })
	owner, key := w.createOrganization("Acme", "a@acme.example")
	owner.must(
		"POST",
		strings.Replace(api.CreateWebhook.Path, "{orgId}", owner.org, 1),
		map[string]any{"url": receiver.URL + "/a-hidden-path", "events": []string{"assessment.created"}},
	)

	a := key.must("POST", api.CreateAssessment.Path, map[string]any{"name": "Harbour of secrets"}, "traceparent", theirParent)
	key.must(
		"POST",
		api.EvaluateEvidence.Path,
		map[string]any{"controlRequirement": "Laptops are encrypted.", "evidenceDescription": "All laptops have BitLocker."},
		"traceparent",
		theirParent,
	)
	testCaller{w: w}.do("GET", api.GetMe.Path, nil, "traceparent", theirParent)
	testCaller{w: w}.do("GET", api.GetHealth.Path, nil, "traceparent", theirParent)
	testCaller{w: w}.do("GET", "/no/such/BitLocker", nil, "traceparent", theirParent)
	key.must(
		"POST",
		strings.Replace(api.UploadDocument.Path, "{assessmentId}", a.str("id"), 1),
		form{filename: "BitLocker.txt", content: "All laptops have BitLocker. Keys are escrowed."},
	)

	if got := <-asked; !strings.HasPrefix(got, "00-"+theirTrace+"-") || !strings.HasSuffix(got, "-01") {
		t.Errorf("the model is told %q", got)
	}
	for name := range <-told {
		if strings.HasPrefix(strings.ToLower(name), "trace") {
			t.Errorf("a stranger is told of the trace: %s", name)
		}
	}
	// Background work ends later.
	for ends := time.Now().Add(time.Minute); len(c.SpansNamed("deliver to webhook")) == 0 || len(c.SpansNamed("read document")) == 0; {
		if err := tracer.Flush(t.Context()); err != nil || time.Now().After(ends) {
			t.Fatalf("%v: %+v", err, c.Spans())
		}
	}

	create, evaluate := singleSpan(t, c, "POST "+api.CreateAssessment.Path), singleSpan(t, c, "POST "+api.EvaluateEvidence.Path)
	for _, s := range []tracetest.Span{create, evaluate} {
		if s.TraceID != theirTrace || s.ParentID != "b7ad6b7169203331" || s.Kind != "server" || s.Failed ||
			s.Attrs["http.response.status_code"] == "" ||
			s.Attrs["service.operation"] == "" {
			t.Errorf("%+v", s)
		}
	}
	for _, name := range []string{"GET " + api.GetMe.Path, "GET"} {
		if s := singleSpan(t, c, name); s.TraceID == theirTrace || s.ParentID != "" || len(s.Links) != 0 {
			t.Errorf("a stranger chose the trace: %+v", s)
		}
	}
	if all := c.SpansNamed("GET " + api.GetHealth.Path); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	var committed tracetest.Span
	for _, s := range c.SpansNamed("store.update") {
		if s.ParentID == create.ID {
			committed = s
		}
	}
	deliver, chat := singleSpan(t, c, "deliver to webhook"), singleSpan(t, c, "chat ollama/small")
	if committed.ID == "" || len(deliver.Links) != 1 || deliver.Links[0] != theirTrace+"-"+committed.ID || deliver.TraceID == theirTrace ||
		deliver.Attrs["service.event"] != "assessment.created" ||
		deliver.Attrs["http.response.status_code"] != "200" {
		t.Errorf("%+v\n%+v", committed, deliver)
	}
	if chat.TraceID != theirTrace || chat.Kind != "client" || !chat.Failed || chat.Attrs["gen_ai.request.model"] != "ollama/small" {
		t.Errorf("%+v", chat)
	}
	read := singleSpan(t, c, "read document")
	for _, part := range []string{"parse", "embed"} {
		if s := singleSpan(t, c, part); s.ParentID != read.ID || s.Failed {
			t.Errorf("%+v", s)
		}
	}
	text := fmt.Sprint(c.Spans())
	for _, secret := range []string{"BitLocker", "Laptops", "Harbour", "Acme", "a@acme.example", "hidden-path", key.bearer, owner.cookie} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in a trace", secret)
		}
	}
}

func singleSpan(t *testing.T, c *tracetest.Collector, name string) tracetest.Span {
	t.Helper()
	all := c.SpansNamed(name)
	if len(all) != 1 {
		t.Fatalf("%d spans are named %s: %+v", len(all), name, c.Spans())
	}
	return all[0]
}
