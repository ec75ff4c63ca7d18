package tui

import (
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
)

// help shows every key of the screen below it, and why a key is disabled.
type help struct {
	app    *App
	target screen
	scroll int
}

func newHelp(a *App) screen {
	if h, is := a.topScreen().(*help); is { // help on help shows the same
		a.stack = a.stack[:len(a.stack)-1]
		return h
	}
	return &help{app: a, target: a.topScreen()}
}

func (h *help) name() string  { return "Help" }
func (h *help) title() string { return "Keys of " + h.target.name() }
func (h *help) load() tea.Cmd { return nil }

func (h *help) actions() []action.Action {
	return movementActions(func(to string) tea.Cmd {
		h.scroll = max(0, h.scroll+map[string]int{"up": -1, "down": 1, "pgup": -10, "pgdown": 10, "home": -1 << 20, "end": 1 << 20}[to])
		return nil
	})
}

func (h *help) view(w, height int) []draw.Line {
	p := draw.NewPage(w)
	action.WriteHelp(p, h.target.name(), h.target.actions())
	action.WriteHelp(p, "Everywhere", h.app.globalActions())
	p.Title("Signs")
	for _, s := range legend {
		p.Text(draw.Plain, s[0]+"  "+s[1])
	}
	return draw.ScrollLines(p.Lines, &h.scroll, height, "")
}

// legend explains the symbols before rows and in the side bar.
var legend = [][2]string{
	{"›", "the cursor"},
	{"●", "marked"},
	{"○", "needs attention"},
	{"…", "not saved yet"},
	{"✗", "input was rejected"},
	{"!", "changed by another user meanwhile"},
	{"▶", "current state of the assessment"},
	{"✓", "done"},
	{"◆ ◇", "a gate, passed and to come"},
}

// KeyReference returns docs/keys.md: the keys of every screen, generated from the same data as the
// help.
func KeyReference() string {
	a := newApp(context.Background(), Options{Clock: func() time.Time { return time.Time{} }})
	one := api.Assessment{}
	var b strings.Builder
	b.WriteString(
		"# Keys\n\nEvery key of the [terminal interface](tui.md). Made from the program by `go test ./tui -update`; `?` shows " +
			"the same in the\nprogram, with the reason where a key can't be used now.\n",
	)
	action.WriteMarkdownTable(&b, "Everywhere", a.globalActions())
	screens := []screen{newAssessments(a), newOverview(a, one)}
	for _, g := range api.Gates {
		screens = append(screens, a.reviewFor(one, g))
	}
	screens = append(
		screens,
		newDecision(a, one, deliverableTypeFor(api.GateSoA)),
		newApprovals(a, one),
		newDocuments(a, one),
		newPassages(a, "", "", "", nil),
		newSearch(a, one),
		newWorkflows(a, one),
		newAgentRuns(a, one),
		newConflicts(a, one),
		newTimeline(a, one),
		newAudit(a),
	)
	for _, s := range screens {
		action.WriteMarkdownTable(&b, s.name(), s.actions())
	}
	settling, asking, choosing := (&clashPrompt{app: a}).footer(), (&textPrompt{
		app:         a,
		allowEditor: true,
		field:       input.New("", true),
	}).footer(), (&choicePrompt{app: a}).footer()
	for i, all := range [][]action.Action{settling, asking, choosing} {
		for j := range all {
			all[j].Help = capitalize(all[j].Label)
		}
		action.WriteMarkdownTable(&b, []string{"Where two people changed the same", "Where you type", "Where you choose"}[i], all)
	}
	b.WriteString("\n## Signs\n\n| sign | what it says |\n|---|---|\n")
	for _, s := range legend {
		b.WriteString("| " + s[0] + " | " + s[1] + " |\n")
	}
	return b.String()
}
