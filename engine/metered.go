package engine

import (
	"context"
	"sync"
	"time"

	"github.com/scf-service/service/engine/agent"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/internal/tracing"
)

// metered is a model whose calls are counted.
type metered struct {
	agent.Model
	clock func() time.Time
	mu    sync.Mutex
	calls calls
}

// calls are what a model was asked since the start.
type calls struct {
	asked, failed int
	took          time.Duration
	prompt, said  int // tokens
	lastError     string
}

// Chat asks the model.
func (m *metered) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	began := m.clock()
	ctx, span := tracing.Start(ctx, "chat "+m.Name(), tracing.Client, tracing.Attr{Key: "gen_ai.operation.name", Value: "chat"}, tracing.Attr{Key: "gen_ai.request.model", Value: m.Name()})
	a, err := m.Model.Chat(ctx, r)
	span.Set(tracing.Attr{Key: "gen_ai.usage.input_tokens", Value: a.Prompt}, tracing.Attr{Key: "gen_ai.usage.output_tokens", Value: a.Completion})
	span.End(err)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls.asked++
	m.calls.took += m.clock().Sub(began)
	m.calls.prompt += a.Prompt
	m.calls.said += a.Completion
	m.calls.lastError = ""
	if err != nil {
		m.calls.failed++
		m.calls.lastError = err.Error()
	}
	return a, err
}

func (m *metered) figures() calls {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}
