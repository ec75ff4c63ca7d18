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

// help shows every key of the screen below it, and why one can't be used now.
type help struct {
	app    *App
	of     screen
	scroll int
}

func newHelp(a *App) screen {
	if h, is := a.top().(*help); is { // help of help is the same
		a.stack = a.stack[:len(a.stack)-1]
		return h
	}
	return &help{app: a, of: a.top()}
}

func (h *help) name() string  { return "Help" }
func (h *help) title() string { return "Keys of " + h.of.name() }
func (h *help) load() tea.Cmd { return nil }

func (h *help) actions() []action.Action {
	return moving(func(to string) tea.Cmd {
		h.scroll = max(0, h.scroll+map[string]int{"up": -1, "down": 1, "pgup": -10, "pgdown": 10, "home": -1 << 20, "end": 1 << 20}[to])
		return nil
	})
}

func (h *help) view(w, height int) []draw.Line {
	p := draw.NewPage(w)
	action.Page(p, h.of.name(), h.of.actions())
	action.Page(p, "Everywhere", h.app.everywhere())
	p.Title("Signs")
	for _, s := range signs {
		p.Text(draw.Plain, s[0]+"  "+s[1])
	}
	return draw.Scrolled(p.Lines, &h.scroll, height, "")
}

// signs are what stands before rows and in the rail.
var signs = [][2]string{{"›", "the cursor"}, {"●", "marked"}, {"○", "waits for a person"}, {"…", "not saved yet"}, {"✗", "what was typed was refused"},
	{"!", "another person changed it meanwhile"}, {"▶", "where the assessment stands"}, {"✓", "done"}, {"◆ ◇", "a gate, passed and to come"}}

// Keys is docs/keys.md: every key of every screen, made from the same data as the help.
func Keys() string {
	a := newApp(context.Background(), Options{Clock: func() time.Time { return time.Time{} }})
	one := api.Assessment{}
	var b strings.Builder
	b.WriteString("# Keys\n\nEvery key of the [terminal interface](tui.md). Made from the program by `go test ./tui -update`; `?` shows the same in the\nprogram, with the reason where a key can't be used now.\n")
	action.Table(&b, "Everywhere", a.everywhere())
	screens := []screen{newAssessments(a), newOverview(a, one)}
	for _, g := range api.Gates {
		screens = append(screens, a.reviewOf(one, g))
	}
	screens = append(screens, newDecision(a, one, kindOf(api.GateSoA)), newApprovals(a, one), newDocuments(a, one), newPassages(a, "", "", "", nil), newSearch(a, one),
		newWorkflows(a, one), newAgentRuns(a, one), newConflicts(a, one), newTimeline(a, one), newAudit(a))
	for _, s := range screens {
		action.Table(&b, s.name(), s.actions())
	}
	settling, asking, choosing := (&settle{app: a}).footer(), (&ask{app: a, editor: true, field: input.New("", true)}).footer(), (&choose{app: a}).footer()
	for i, all := range [][]action.Action{settling, asking, choosing} {
		for j := range all {
			all[j].Help = capital(all[j].Label)
		}
		action.Table(&b, []string{"Where two people changed the same", "Where you type", "Where you choose"}[i], all)
	}
	b.WriteString("\n## Signs\n\n| sign | what it says |\n|---|---|\n")
	for _, s := range signs {
		b.WriteString("| " + s[0] + " | " + s[1] + " |\n")
	}
	return b.String()
}
