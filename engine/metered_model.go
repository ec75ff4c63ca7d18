package engine

import (
	"context"
	"sync"
	"time"

	"github.com/scf-service/service/engine/agent"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/internal/tracing"
)

// meteredModel is a model that counts its calls.
type meteredModel struct {
	agent.Model
	clock func() time.Time
	mu    sync.Mutex
	calls modelCalls
}

// modelCalls holds statistics of the model's calls since the process started.
type modelCalls struct {
	asked, failed                  int
	duration                       time.Duration
	promptTokens, completionTokens int // tokens
	lastError                      string
}

// Chat sends a request to the model.
func (m *meteredModel) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	began := m.clock()
	ctx, span := tracing.Start(
		ctx,
		"chat "+m.Name(),
		tracing.Client,
		tracing.Attr{Key: "gen_ai.operation.name", Value: "chat"},
		tracing.Attr{Key: "gen_ai.request.model", Value: m.Name()},
	)
	a, err := m.Model.Chat(ctx, r)
	span.SetAttributes(
		tracing.Attr{Key: "gen_ai.usage.input_tokens", Value: a.PromptTokens},
		tracing.Attr{Key: "gen_ai.usage.output_tokens", Value: a.CompletionTokens},
	)
	span.End(err)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls.asked++
	m.calls.duration += m.clock().Sub(began)
	m.calls.promptTokens += a.PromptTokens
	m.calls.completionTokens += a.CompletionTokens
	m.calls.lastError = ""
	if err != nil {
		m.calls.failed++
		m.calls.lastError = err.Error()
	}
	return a, err
}

// callCounts returns the statistics of the model's calls so far.
func (m *meteredModel) callCounts() modelCalls {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}
