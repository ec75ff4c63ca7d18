package tui

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

// newConflictingFake returns a fake whose assessment has a clone with conflicting changes.
func newConflictingFake(n int) *fake {
	f := newFake(5)
	f.sync = api.SyncStatus{
		AssessmentID:  "a1",
		Role:          "remote",
		OpenConflicts: n,
		Replicas:      []api.SyncReplica{{Name: "laptop", UserName: "Bo", Behind: 3}},
	}
	at := someday.Add(-time.Hour)
	for i := range n {
		c := api.SyncConflict{
			AssessmentID: "a1",
			Kind:         api.ConflictField,
			Status:       "open",
			Table:        "soa_items",
			RecordID:     f.items[i].ID,
			Label:        f.items[i].ControlCode,
			Field:        "note",
			Message:      "note of " + f.items[i].ControlCode + " was changed both here and offline",
			Base: api.SyncSide{
				Value: json.RawMessage(`"as it was"`),
			},
			Remote: api.SyncSide{Value: json.RawMessage(`"from the office"`), By: "Ada", At: &someday},
			Clone:  api.SyncSide{Value: json.RawMessage(`"from the plane"`), By: "Bo", At: &at},
		}
		c.ID = f.items[i].ID + "c"
		f.clashes = append(f.clashes, c)
	}
	return f
}

func TestConflictsAreChosenFrom(t *testing.T) {
	f := newConflictingFake(4)
	s := newStage(t, f)
	s.press("enter")
	s.sees("remote of 1 clone, 1 behind, 4 conflicts (c)")
	s.press("c")
	s.sees(
		"note of IAC-00 was changed both here and offline",
		"h  Remote (here)",
		"from the office",
		"Ada, 2026-11-22",
		"c  Clone",
		"from the plane",
		"Bo, 2026-11-22",
		"b  Common base",
		"as it was",
	)
	s.press("c")
	s.sees("1 conflict is resolved", "1 of 3")
	s.press("e")
	s.sees("Note of IAC-01")
	s.press("ctrl+u")
	s.write("from both")
	s.press("enter", "b", "h")
	if want := []string{`clone `, `value "from both"`, `value "as it was"`, `remote `}; !slices.Equal(f.decided, want) {
		t.Errorf("decided %q", f.decided)
	}
	s.sees("No open conflicts")
	s.press("w")
	s.sees("resolved: clone by Ada")
	s.press("h")
	s.sees("the conflict is already resolved")

	// This opens the item, where the value can be changed again.
	s.press("down", "down", "enter")
	s.sees("Statement of Applicability v1", "3 of 5", "IAC-02")
	if v, ok := s.app.topScreen().(*review); !ok || v.ID(v.list.CursorPosition()-1) != "IAC-02" {
		t.Error("another line")
	}
}

func TestManyConflictsAtOnce(t *testing.T) {
	f := newConflictingFake(5)
	f.clashes[2].Field, f.clashes[2].Remote.Value = "implementation_status", json.RawMessage(`"planned"`)
	s := newStage(t, f)
	s.press("enter", "c", "*", "e")
	s.sees("a value can be set for only one conflict at a time")
	s.press("h")
	s.sees("Keep the remote's value for 5 conflicts?")
	if len(f.decided) > 0 {
		t.Error("decided before the answer")
	}
	s.press("n", "esc", "down", "down", "e")
	s.sees("Implementation status of IAC-02", "not implemented")
	s.press("1")
	if !slices.Equal(f.decided, []string{`value "implemented"`}) {
		t.Errorf("%q", f.decided)
	}
	s.press("*", "c")
	// Someone else resolves a conflict meanwhile.
	f.clashes[4].Status = "resolved"
	s.press("y")
	s.sees("3 of 4 conflicts resolved; first error: this conflict has already been resolved")
}

// TestRefusedValueOfAConflictIsKept checks that a refused value is offered again, and that nothing
// is resolved automatically later.
func TestRefusedValueOfAConflictIsKept(t *testing.T) {
	f := newConflictingFake(1)
	s := newStage(t, f)
	s.press("enter", "c", "e", "ctrl+u")
	f.on = func(op string, _ any) error {
		if op == "resolve-sync-conflict" {
			return errors.New("nobody answers")
		}
		return nil
	}
	s.write("long thoughts")
	s.press("enter")
	s.sees("not resolved: nobody answers")
	f.on = nil
	s.fire()
	if len(f.decided) > 0 {
		t.Error("decided by itself")
	}
	s.press("e")
	s.sees("long thoughts")
	s.press("enter")
	if !slices.Equal(f.decided, []string{`value "long thoughts"`}) {
		t.Errorf("%q", f.decided)
	}
}

// TestConflictsOfAClone checks that a clone's conflicts are resolved at its remote and read at the
// next sync.
func TestConflictsOfAClone(t *testing.T) {
	f := newConflictingFake(1)
	f.sync = api.SyncStatus{Role: "clone", Server: "https://grc.acme.example", Ahead: 2, OpenConflicts: 1}
	s := newStage(t, f)
	s.press("enter")
	s.sees("clone of https://grc.acme.example, 2 records ahead")
	s.press("B")
	s.sees("use `service sync` on the machine that has the clone")
	var atHome []string
	s.app.Resolve = func(_ context.Context, in *api.ResolveSyncInput) (*api.SyncConflict, error) {
		atHome = append(atHome, in.Body.Choice)
		c := f.clashes[0]
		c.Status, c.Choice = "resolved", in.Body.Choice
		return &c, nil
	}
	s.app.Sync = func(_ context.Context, id string) (string, error) {
		if id != "a1" {
			return "", errors.New(id)
		}
		f.clashes[0].Status, f.sync.Ahead, f.sync.OpenConflicts = "resolved", 0, 0
		return "sent 2 changes, read 3 records", nil
	}
	s.press("c")
	s.sees("Clone (here)")
	s.press("h")
	s.sees("resolved on the remote; press B to sync the result to this clone")
	if !slices.Equal(atHome, []string{"remote"}) || slices.Contains(f.said, "resolve-sync-conflict") {
		t.Errorf("%v, %v", atHome, f.said)
	}
	s.press("B")
	s.sees("sent 2 changes, read 3 records", "No open conflicts")
	s.press("q")
	s.sees("all changes pushed")
}

// TestRunIsFollowed checks that a run's progress is shown from its events, or by polling if there
// is no event stream.
func TestRunIsFollowed(t *testing.T) {
	f := newFake(3)
	run := api.WorkflowRun{WorkflowType: "full_assessment", Status: api.RunRunning, Progress: 10, CurrentStep: "ingest_documents"}
	run.ID = "r1"
	f.runs = []api.WorkflowRun{run}
	event := func(kind string, done int) string {
		run.Progress = done
		if kind == "end" {
			run.Status = api.RunCompleted
		}
		b, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		return "event: " + kind + "\nid: 1\ndata: " + string(b) + "\n\n"
	}
	f.told = []string{event("progress", 15)}
	s := newStage(t, f)
	s.press("enter")
	s.sees("running, 15%")
	f.told = []string{event("progress", 20) + ": still here\n\n" + event("progress", 45)}
	s.waits = nil
	s.press("8")
	s.sees("45%")
	if len(s.waits) == 0 {
		t.Fatal("a stream that broke off is not asked for again")
	}
	n := len(f.said)
	f.runs[0].Status, f.runs[0].Progress = api.RunCompleted, 100
	s.fire()
	s.sees("100%", "completed")
	if asked := f.said[n:]; slices.Contains(asked, "watch-workflow") {
		t.Errorf("a run that has ended is followed: %v", asked)
	}
	// Without a stream, the run is polled after a while.
	f.told, f.runs[0].Status, f.runs[0].Progress = nil, api.RunRunning, 50
	s.press("ctrl+r")
	s.sees("50%")
	f.runs[0].Progress = 60
	s.fire()
	s.sees("60%")
}
