package tui

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/action"
)

var update = flag.Bool("update", false, "write docs/keys.md and the golden screens")

// styles matches the only escape sequences that a screen may contain: its own colors.
var styles = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// checkFits checks that a screen fits the terminal and contains no other control sequences.
func checkFits(t testing.TB, a *App) {
	t.Helper()
	view := a.View()
	lines := strings.Split(view, "\n")
	if len(lines) > max(a.h, 1) {
		t.Fatalf("%d lines on %d×%d", len(lines), a.w, a.h)
	}
	for _, l := range lines {
		plain := styles.ReplaceAllString(l, "")
		if print.Width(plain) > a.w {
			t.Fatalf("%d cells on %d×%d: %q", print.Width(plain), a.w, a.h, plain)
		}
		if print.SafeLine(plain) != plain {
			t.Fatalf("the terminal would obey %q", plain)
		}
	}
}

// screens returns all screens, opened on a fake.
func screens(s *stage) map[string]screen {
	a, one := s.app, s.fake.one
	out := map[string]screen{
		"assessments": newAssessmentsScreen(
			a,
		),
		"overview":  newOverviewScreen(a, one),
		"decision":  newDecisionScreen(a, one, deliverableTypeFor(api.GateSoA)),
		"approvals": newApprovalsScreen(a, one),
		"documents": newDocumentsScreen(a, one),
		"passages": newPassagesScreen(
			a,
			"d1",
			"policy.docx",
			"c1",
			[]string{"Access rights"},
		),
		"search":    newSearchScreen(a, one),
		"workflows": newWorkflowsScreen(a, one),
		"agents":    newAgentRunsScreen(a, one),
		"conflicts": newConflictsScreen(a, one),
		"timeline":  newTimelineScreen(a, one),
		"audit":     newAuditScreen(a),
	}
	for _, g := range api.Gates {
		out[string(g)] = a.reviewFor(one, g)
	}
	return out
}

func TestScreensFitEveryTerminal(t *testing.T) {
	s := newStage(t, newHostileFake(12))
	for name, sc := range screens(s) {
		t.Run(name, func(t *testing.T) {
			s.run(s.app.push(sc))
			for _, size := range [][2]int{{80, 24}, {20, 5}, {160, 48}, {72, 10}, {71, 9}, {400, 100}, {21, 6}, {0, 0}, {1, 1}, {19, 50}, {33, 7}} {
				s.size(size[0], size[1])
				checkFits(t, s.app)
				s.press("tab")
				checkFits(t, s.app)
				s.press("?")
				checkFits(t, s.app)
				s.press("q")
			}
		})
	}
}

// newHostileFake returns a fake whose texts contain terminal control sequences.
func newHostileFake(n int) *fake {
	f := newFake(n)
	evil := "\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\u202etxt.exe\u202c 🧑\u200d💻👩🏽\u200d🚀 日本語テキスト é̶̢ \r\n\t\u200b\x00\xff" + strings.Repeat(
		"字",
		50,
	)
	f.one.Name = evil
	for i, it := range f.items {
		it.ControlTitle, it.Owner, it.Note, it.Reason, it.Rationale = evil, &evil, &evil, evil, evil
		it.Evidence[0].Quote, it.Evidence[0].Filename, it.Evidence[0].HeadingPath = evil, evil, []string{evil}
		f.findings[i].ControlTitle, f.findings[i].Condition, f.findings[i].Severity = evil, evil, api.Severity(evil)
		f.scores[i].ControlTitle, f.scores[i].Rationale = evil, evil
		f.plan[i].Weakness, f.plan[i].DueDate, f.plan[i].POAMCode = evil, api.Date(
			[]string{"0000-00-00", "9999-99-99", "9999-12-31", evil}[i%4],
		), fmt.Sprint(
			evil,
			i,
		)
		f.plan[i].Milestones = []api.Milestone{{Title: evil, DueDate: "0001-01-01"}}
	}
	f.chunks = []api.Chunk{{ID: "c1", Text: evil, HeadingPath: []string{evil}}, {ID: "c2", Text: evil}}
	f.runs = []api.WorkflowRun{
		{
			WorkflowType: evil,
			Status:       api.RunStatus(evil),
			Progress:     1000,
			Error:        &evil,
			Steps:        []api.WorkflowStep{{Title: evil, Error: &evil}},
		},
	}
	f.agents = []api.AgentRun{{AgentID: evil, Status: evil, Error: &evil}}
	f.events[0].Action = evil
	f.talk = []api.Comment{{Text: evil, Author: api.Actor{Name: evil}}}
	value, _ := json.Marshal(evil)
	f.sync = api.SyncStatus{Role: "clone", Server: evil, Ahead: 3, OpenConflicts: 2}
	f.clashes = []api.SyncConflict{
		{
			Table:   evil,
			Label:   evil,
			Field:   evil,
			Kind:    evil,
			Message: evil,
			Status:  "open",
			Remote:  api.SyncSide{Value: value, By: evil},
			Clone:   api.SyncSide{Value: json.RawMessage(`[{"a":[1,null]}]`)},
			Base:    api.SyncSide{Value: json.RawMessage(`null`)},
		},
		{Table: "soa_items", Label: "IAC-01", Field: "owner", Status: "open", Clone: api.SyncSide{Value: value}},
	}
	f.clashes[0].ID, f.clashes[1].ID = "x1", "x2"
	f.soa.Status = api.VersionUnderReview
	f.pending = []api.Approval{{Gate: api.GateSoA, TargetID: "soa1", RequestedBy: api.Actor{Name: evil}}}
	f.status.BlockedBy = []string{evil}
	return f
}

func TestPastedBinary(t *testing.T) {
	s := newStage(t, newFake(3))
	s.review("1")
	s.press("o")
	evil := "\x1b[31mred\x00\x07\r\n\xff\u202egnp"
	_, cmd := s.app.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(evil), Paste: true})
	s.run(cmd)
	checkFits(t, s.app)
	s.sees("␛[31mred")
	s.press("esc")
	_, cmd = s.app.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y"), Paste: true}) // pasted text is not a command
	s.run(cmd)
	if s.fake.items[0].Revision != 1 {
		t.Error("a pasted y accepted an item")
	}
	s.press("o")
	s.app.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("x", 3_000_000)), Paste: true})
	checkFits(t, s.app)
}

// TestActionsAreWhole checks that every key has one action per screen, with a description.
func TestActionsAreWhole(t *testing.T) {
	s := newStage(t, newFake(3))
	for name, sc := range screens(s) {
		s.run(s.app.push(sc))
		seen := map[string]string{}
		for _, a := range s.app.actions() {
			if a.Help == "" || a.Do == nil || len(a.Keys) == 0 {
				t.Errorf("%s: %+v says or does nothing", name, a)
			}
			for _, k := range a.Keys {
				if seen[k] != "" {
					t.Errorf("%s: %s does %q and %q", name, k, seen[k], a.Help)
				}
				seen[k] = a.Help
			}
		}
	}
}

// TestOffKeysSayWhy checks that an unavailable key gives the reason.
func TestOffKeysSayWhy(t *testing.T) {
	f := newFake(3)
	f.one.State = api.StateClosed
	s := newStage(t, f)
	s.review("1")
	s.press("s")
	s.sees("s: the assessment is closed")
	s.press("u")
	s.sees("u: nothing has been changed here yet")
	s.press("E")
	s.sees("E: the assessment is closed")
	s.press("?")
	s.sees("Keys of Statement of Applicability", "unavailable: the assessment is closed")
}

func TestKeysPage(t *testing.T) {
	path := filepath.Join("..", "docs", "keys.md")
	if *update {
		if err := os.WriteFile(path, []byte(KeyReference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil || string(b) != KeyReference() {
		t.Errorf("docs/keys.md is not what the program does (%v); `go test ./tui -update` writes it", err)
	}
}

// TestGoldenScreens compares small screens, without colors, with golden files.
func TestGoldenScreens(t *testing.T) {
	for name, keys := range map[string][]string{
		"overview":   {"enter"},
		"soa":        {"enter", "1"},
		"soa-choice": {"enter", "1", "s"},
		"gantt":      {"enter", "4", "g"},
		"maturity":   {"enter", "3"},
	} {
		s := newStage(t, newFake(8))
		s.size(80, 24)
		s.press(keys...)
		got := ""
		for l := range strings.Lines(s.text()) {
			got += strings.TrimRight(l, " \n") + "\n"
		}
		path := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || string(want) != got {
			t.Errorf("%s is another (%v); look at it, then `go test ./tui -update`:\n%s", name, err, got)
		}
	}
}

func TestNoColour(t *testing.T) {
	s := newStage(t, newFake(3))
	s.review("1")
	if strings.Contains(s.app.View(), "[3") {
		t.Error("coloured without colours")
	}
	s.app.Color = true
	if !strings.Contains(s.app.View(), "\x1b[3") {
		t.Error("no colours")
	}
}

func TestNames(t *testing.T) {
	for key, want := range map[string]string{" ": "space", "ctrl+r": "Ctrl-R", "pgdown": "PgDn", "y": "y"} {
		if got := action.KeyName(key); got != want {
			t.Errorf("%q: %q", key, got)
		}
	}
}

// FuzzKeys checks that any keys and window sizes cause no failure, and that no data reaches the
// terminal unescaped.
func FuzzKeys(f *testing.F) {
	names := []string{
		"enter",
		"esc",
		"up",
		"down",
		"tab",
		"pgup",
		"pgdown",
		"home",
		"end",
		"backspace",
		"ctrl+j",
		"ctrl+u",
		"ctrl+w",
		"ctrl+k",
		"ctrl+l",
		"ctrl+r",
		"ctrl+o",
		"left",
		"right",
		"delete",
		" ",
	}
	f.Add([]byte("\x001a.su*o  x"), "日本\u202e")
	f.Add([]byte("\x002vd2/"), "\x1b[2J")
	f.Add([]byte("\x004gjjg?"), "é")
	f.Add([]byte("\x007abc\x00"), "🧑\u200d💻")
	f.Fuzz(func(t *testing.T, keys []byte, typed string) {
		s := newStage(t, newHostileFake(7))
		typedRunes := []rune(typed)
		for i, k := range keys[:min(len(keys), 60)] {
			switch {
			case int(k) < len(names):
				s.press(names[k])
			case k < 0x20:
				s.size(int(k)*3, i)
			case k < 0x7f:
				s.press(string(rune(k)))
			case k < 0x90:
				s.size(int(k-0x7f)*13, 3+i%30)
			case k < 0x98:
				s.fire()
			case k < 0xa0:
				s.fake.on = func(op string, _ any) error { return api.Invalid("If-Match", "%s of %s", typed, op) }
			case k < 0xa8:
				s.fake.on = nil
			case k < 0xb0:
				s.fake.on = func(string, any) error { return fmt.Errorf("gone: %s", typed) }
			case len(typedRunes) > 0:
				_, cmd := s.app.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: typedRunes, Paste: k%2 == 0})
				s.run(cmd)
			}
			checkFits(t, s.app)
		}
	})
}
