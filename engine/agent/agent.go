// Package agent runs the nine pipeline agents and the seven specialized analyses, and records their
// steps and proposals.
//
// An agent uses the same methods as the user who started it, with that user's permissions, and
// leaves drafts. It never submits or decides anything. An analysis is answered at once, by a model
// if one is in use and by rules otherwise. A model's answer is verified; if the model is
// unavailable or wrong, the rules answer and the run says so.
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

// Options holds the dependencies of a Service.
type Options struct {
	DB          *store.DB
	Catalog     *catalog.Service
	Evidence    *evidence.Service
	Assessments *assessment.Service
	Reports     *report.Service
	Clock       func() time.Time
	Logger      *slog.Logger
	// Tracer traces the work, or is nil.
	Tracer *tracing.Tracer
	// Model answers analyses; if it is nil, the rules answer them.
	Model Model
}

// Service implements the operations on agents, their runs and the analyses.
type Service struct {
	Options

	// runSlots limits the number of concurrent runs.
	runSlots   chan struct{}
	background sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	running map[string]context.CancelFunc
}

// maxConcurrentRuns is the maximum number of pipeline agents running concurrently in this process.
const maxConcurrentRuns = 2

// New returns a Service with the given dependencies.
func New(o Options) *Service {
	return &Service{Options: o, runSlots: make(chan struct{}, maxConcurrentRuns), running: map[string]context.CancelFunc{}}
}

// Statuses of a run.
const (
	pending   = "pending"
	running   = "running"
	completed = "completed"
	failed    = "failed"
	cancelled = "cancelled"
)

func isFinished(status string) bool { return status != pending && status != running }

// FailAbandonedRuns marks runs left behind by a killed process as failed, so that users can start them again.
// Drafts are written in one transaction, so nothing is half written.
func (s *Service) FailAbandonedRuns(ctx context.Context) error {
	var unfinished []api.AgentRun
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		unfinished = nil
		for r, err := range store.AgentRuns.AcrossTenants().By("unfinished").Scan(tx) {
			if err != nil {
				return err
			}
			elsewhere, err := tx.IsClaimedElsewhere(claimOfRun(r.ID))
			if err != nil {
				return err
			}
			if !elsewhere && !s.isRunning(r.ID) {
				unfinished = append(unfinished, r)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range unfinished {
		by := api.Caller{OrganizationID: r.OrganizationID, Actor: api.Actor{Type: api.ActorWorkflow, ID: r.ID, Name: r.AgentID}}
		if err := s.finishRun(ctx, by, r.ID, nil, errors.New("the service stopped during the run; start the run "+
			"again")); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) isRunning(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[id] != nil
}

// Close stops the running work and waits for it to end.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	for _, stop := range s.running {
		stop()
	}
	s.mu.Unlock()
	s.background.Wait()
}

// hashJSON returns the SHA-256 of a value's JSON encoding.
func hashJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("hashing: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// maxStepText is the maximum length of a string stored with a step.
const maxStepText = 4000

// toStepRecord returns a value in the form stored with a step: as a JSON object, with long strings
// shortened.
func toStepRecord(v any) map[string]any {
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

// shortenValue shortens long texts and lists in a JSON value, so that it can be stored with a step.
func shortenValue(v any, depth int) any {
	switch x := v.(type) {
	case string:
		if len(x) > maxStepText {
			return fmt.Sprintf("%s… (%d bytes in total)", trimPartialRune(x[:maxStepText]), len(x))
		}
	case []any:
		if len(x) > 100 {
			x = append(x[:100:100], fmt.Sprintf("… %d in total", len(x)))
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

// trimPartialRune removes an incomplete character from the end of a truncated text.
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
