package api

import "time"

// MaxWait is the longest time that a request can wait for a record.
const MaxWait = time.Minute

// Waiting holds the wait parameter of a request for a record that changes in the background.
type Waiting struct {
	Wait string `query:"wait" doc:"Respond when the work is done or needs a person, at the latest after this time, for example 30s; at most 60s."`
}

// WaitTime returns how long to wait; 0 means not to wait.
func (w *Waiting) WaitTime() (time.Duration, error) {
	if w.Wait == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(w.Wait)
	if err != nil || d <= 0 || d > MaxWait {
		return 0, Invalid("wait", "wait: %q is not a duration of up to %d seconds; use a value such as 30s", w.Wait, int(MaxWait.Seconds()))
	}
	return d, nil
}

// Settled reports whether the document has been read, or can't be.
func (d *Document) Settled() bool { return d.Status.settled() }

// Settled reports whether the document has been read, or can't be.
func (p *DocumentProgress) Settled() bool { return p.Status.settled() }

func (s DocumentState) settled() bool { return s == DocumentIngested || s == DocumentFailed }

// Settled reports whether the run has ended.
func (r *AgentRun) Settled() bool { return r.CompletedAt != nil }

// Settled reports whether the run has ended or is waiting for a user.
func (r *WorkflowRun) Settled() bool { return !r.Status.IsLive() || r.Status.IsWaitingForUser() }

// Settled reports whether the report is ready or has failed.
func (r *Report) Settled() bool { return r.Status == "ready" || r.Status == "failed" }

// Settled reports whether the import has ended.
func (r *ImportRun) Settled() bool { return r.Status != "running" }
