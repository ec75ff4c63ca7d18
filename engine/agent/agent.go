// Package agent runs the nine pipeline agents and the seven specialised analyses, and
// keeps what each did: its steps, and what it proposes.
//
// An agent acts through the same methods as the person who started it, with that
// person's permissions, and leaves drafts. It never submits and never decides. An
// analysis is answered at once, by a model where one is in use and else by rules; what a
// model says is checked, and where it is away or wrong the rules answer and the run says so.
package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/report"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// Options are what the service is made of.
type Options struct {
	DB          *store.DB
	Catalog     *catalog.Service
	Evidence    *evidence.Service
	Assessments *assessment.Service
	Reports     *report.Service
	Clock       func() time.Time
	Logger      *slog.Logger
	// Tracer tells where work takes its time; nil: nothing is traced.
	Tracer *tracing.Tracer
	// Model answers analyses; nil: the rules do.
	Model Model
}

// Service answers the operations on agents, their runs and the analyses.
type Service struct {
	Options

	// runSlots bounds how many runs work at the same time.
	runSlots   chan struct{}
	background sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	running map[string]context.CancelFunc
}

// maxConcurrentRuns is how many pipeline agents work at the same time in this process.
const maxConcurrentRuns = 2

// New makes the service.
func New(o Options) *Service {
	return &Service{Options: o, runSlots: make(chan struct{}, maxConcurrentRuns), running: map[string]context.CancelFunc{}}
}

// The statuses of a run.
const (
	pending   = "pending"
	running   = "running"
	completed = "completed"
	failed    = "failed"
	cancelled = "cancelled"
)

func isFinished(status string) bool { return status != pending && status != running }

// Start ends the runs that a process left behind when it was killed: whoever started
// them may start them again. Nothing of theirs is half written, for a draft is one transaction.
func (s *Service) Start(ctx context.Context) error {
	var unfinished []api.AgentRun
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		for o, err := range store.Organizations.Scan(tx) {
			if err != nil {
				return err
			}
			for r, err := range store.AgentRuns.Scan(tx, o.ID) {
				if err != nil {
					return err
				}
				if !isFinished(r.Status) {
					unfinished = append(unfinished, r)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range unfinished {
		by := api.Caller{OrganizationID: r.OrganizationID, Actor: api.Actor{Type: api.ActorWorkflow, ID: r.ID, Name: r.AgentID}}
		if err := s.finishRun(ctx, by, r.ID, nil, errors.New("the service ended while it worked; start it again")); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the work that goes on and waits for it.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	for _, stop := range s.running {
		stop()
	}
	s.mu.Unlock()
	s.background.Wait()
}

// hashJSON is the SHA-256 over a value's JSON.
func hashJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("hashing: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// maxStepText bounds each text that a step keeps of its input and output.
const maxStepText = 4000

// toStepData is a value as a step keeps it: long texts are cut, and say so.
func toStepData(v any) map[string]any {
	b, err := json.Marshal(v)
	if err != nil {
		return map[string]any{"unreadable": err.Error()}
	}
	var m map[string]any
	if json.Unmarshal(b, &m) != nil || m == nil {
		m = map[string]any{"value": json.RawMessage(b)}
	}
	for k, x := range m {
		m[k] = shortenValue(x, 0)
	}
	return m
}

func shortenValue(v any, depth int) any {
	switch x := v.(type) {
	case string:
		if len(x) > maxStepText {
			return fmt.Sprintf("%s… (%d bytes in all)", trimPartialRune(x[:maxStepText]), len(x))
		}
	case []any:
		if len(x) > 100 {
			x = append(x[:100:100], fmt.Sprintf("… %d in all", len(x)))
		}
		for i := range x {
			x[i] = shortenValue(x[i], depth+1)
		}
		return x
	case map[string]any:
		if depth > 8 {
			return "…"
		}
		for k := range x {
			x[k] = shortenValue(x[k], depth+1)
		}
		return x
	}
	return v
}

// trimPartialRune drops half a character at the end of a cut text.
func trimPartialRune(s string) string {
	for i := 0; i < 3 && len(s) > 0; i++ {
		if r := []rune(s[len(s)-1:]); r[0] != '\uFFFD' {
			break
		}
		s = s[:len(s)-1]
	}
	return s
}

func ptr[T any](v T) *T { return &v }
