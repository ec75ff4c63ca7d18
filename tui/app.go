package tui

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
)

// screen is one full-window view of the interface, such as a list or the review of a deliverable.
type screen interface {
	// name is shown in the help, title in the header line.
	name() string
	title() string
	// load reads the screen's data, initially or again.
	load() tea.Cmd
	actions() []action.Action
	// view returns at most h lines of at most w cells.
	view(w, h int) []draw.Line
}

// textCapturer is a screen that can capture keys as text.
type textCapturer interface {
	// handleTextKey handles a key; it returns false if the key is not text input.
	handleTextKey(k tea.KeyMsg) (tea.Cmd, bool)
}

// backStepper is a screen on which the user can go back a step without leaving it, for example by clearing a filter.
type backStepper interface{ stepBack() bool }

// mouseTarget is a screen that handles the mouse.
type mouseTarget interface {
	// click handles a click on a cell below the header, wheel scrolls by the given number of lines.
	click(x, y int) tea.Cmd
	wheel(by int) tea.Cmd
}

// overlay is a prompt over the screen that receives all keys while it is open.
type overlay interface {
	key(k tea.KeyMsg) tea.Cmd
	view(w, h int) []draw.Line
	// footer returns the keys it accepts.
	footer() []action.Action
}

// App is the bubbletea model of the interface.
type App struct {
	Options
	ctx           context.Context
	terminal      io.Writer
	w, h          int
	stack         []screen
	overlay       overlay
	statusText    string
	isError       bool // the status text is an error
	busy          int
	connection    connectionLoss
	saver         saver
	reviews       map[string]*review
	syncing       bool   // a sync with the remote is running
	stopFollowing func() // stops following a run; nil if there is none
	// schedule calls a function after a delay; tests replace it.
	schedule func(d time.Duration, f func() tea.Cmd) tea.Cmd
}

// completedWork is the message that background work has completed; apply applies its result.
type completedWork struct {
	apply   func() tea.Cmd
	counted bool
}

// newApp returns the model with the list of assessments and, if one is given, the overview of that assessment.
func newApp(ctx context.Context, o Options) *App {
	a := &App{Options: o, ctx: ctx, reviews: map[string]*review{}}
	a.schedule = func(d time.Duration, f func() tea.Cmd) tea.Cmd {
		return tea.Tick(d, func(time.Time) tea.Msg { return completedWork{apply: f} })
	}
	a.stack = []screen{newAssessmentsScreen(a)}
	if o.Assessment != nil {
		a.stack = append(a.stack, newOverviewScreen(a, *o.Assessment))
	}
	return a
}

// requestTimeout limits ordinary requests, and workTimeout those that run a step of the assessment.
const (
	requestTimeout = 30 * time.Second
	workTimeout    = 30 * time.Minute
)

// runInBackground returns a command that runs work outside Update. The function that work returns is then
// called within Update.
func (a *App) runInBackground(work func(ctx context.Context) func() tea.Cmd) tea.Cmd {
	return a.runInBackgroundWithTimeout(cmp.Or(a.RequestTimeout, requestTimeout), work)
}

// runInBackgroundWithTimeout works like runInBackground, but with the given timeout.
func (a *App) runInBackgroundWithTimeout(d time.Duration, work func(ctx context.Context) func() tea.Cmd) tea.Cmd {
	a.busy++
	return func() tea.Msg {
		ctx, stop := context.WithTimeout(a.ctx, d)
		defer stop()
		return completedWork{apply: work(ctx), counted: true}
	}
}

// Init loads the first screen.
func (a *App) Init() tea.Cmd {
	return tea.Batch(a.topScreen().load(), a.showNextNotice())
}

// showNextNotice waits for the next notice.
func (a *App) showNextNotice() tea.Cmd {
	if a.Notices == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case n := <-a.Notices:
			return completedWork{apply: func() tea.Cmd { a.setStatus("%s", n); return a.showNextNotice() }}
		case <-a.ctx.Done():
			return nil
		}
	}
}

// topScreen returns the current screen.
func (a *App) topScreen() screen { return a.stack[len(a.stack)-1] }

// push opens a screen on top of the current one.
func (a *App) push(s screen) tea.Cmd {
	a.stopFollowingRun()
	a.stack = append(a.stack, s)
	return s.load()
}

// stepBackOrPop goes back one step within the screen, or to the previous screen.
func (a *App) stepBackOrPop() tea.Cmd {
	if s, ok := a.topScreen().(backStepper); ok && s.stepBack() || len(a.stack) == 1 {
		return nil
	}
	return a.popOrQuit()
}

// popOrQuit returns to the previous screen and reloads it, because its data may have changed. On the
// first screen it quits instead.
func (a *App) popOrQuit() tea.Cmd {
	if len(a.stack) == 1 {
		return a.quit()
	}
	a.stopFollowingRun()
	a.stack = a.stack[:len(a.stack)-1]
	return a.topScreen().load()
}

// quit ends the program, asking first if there are unsaved changes.
func (a *App) quit() tea.Cmd {
	n := a.saver.unsavedCount()
	if n == 0 {
		return tea.Quit
	}
	a.overlay = &confirmPrompt{
		app: a, title: fmt.Sprintf("%s not saved yet. Quit and discard all unsaved changes?", prose.Count(n, "change is", "changes are")),
		confirmLabel: "quit and discard", onConfirm: func() tea.Cmd { return tea.Quit },
	}
	return nil
}

// setStatus shows a message in the status line.
func (a *App) setStatus(format string, args ...any) {
	a.statusText, a.isError = fmt.Sprintf(format, args...), false
}

// Update handles a message; it never blocks.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		a.w, a.h = max(0, m.Width), max(0, m.Height)
	case completedWork:
		if m.counted {
			a.busy = max(0, a.busy-1)
		}
		if m.apply != nil {
			return a, m.apply()
		}
	case tea.KeyMsg:
		if m.Type != tea.KeyRunes || m.Paste || len(m.Runes) < 2 {
			return a, a.handleKey(m)
		}
		// Several keys can arrive as one message when typing is fast or the connection slow.
		var cmds []tea.Cmd
		for _, r := range m.Runes {
			cmds = append(cmds, a.handleKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: m.Alt}))
		}
		return a, tea.Batch(cmds...)
	case tea.MouseMsg:
		return a, a.handleMouse(m)
	}
	return a, nil
}

// handleKey passes a key to the prompt, the text input, or the action that it belongs to.
func (a *App) handleKey(k tea.KeyMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		if _, asking := a.overlay.(*confirmPrompt); asking { // pressed twice: intended
			return tea.Quit
		}
		return a.quit()
	}
	if !a.isError || a.overlay == nil {
		a.statusText, a.isError = "", false
	}
	if a.overlay != nil {
		return a.overlay.key(k)
	}
	if t, ok := a.topScreen().(textCapturer); ok {
		if cmd, took := t.handleTextKey(k); took {
			return cmd
		}
	}
	if k.Paste { // pasted text is not a command
		return nil
	}
	found := action.FindByKey(a.actions(), k.String())
	switch {
	case found == nil:
		return nil
	case found.DisabledReason != "":
		a.setStatus("%s: %s", action.KeyName(k.String()), found.DisabledReason)
		return nil
	}
	return found.Do()
}

// handleMouse passes a click or a wheel movement to the screen.
func (a *App) handleMouse(m tea.MouseMsg) tea.Cmd {
	s, ok := a.topScreen().(mouseTarget)
	if !ok || a.overlay != nil || !a.Mouse {
		return nil
	}
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		return s.wheel(-3)
	case m.Button == tea.MouseButtonWheelDown:
		return s.wheel(3)
	case m.Button == tea.MouseButtonLeft && m.Action == tea.MouseActionPress && m.Y > 0:
		return s.click(m.X, m.Y-1)
	}
	return nil
}

// actions returns the actions of the screen and the global ones.
func (a *App) actions() []action.Action { return append(a.topScreen().actions(), a.globalActions()...) }

// globalActions returns the actions available on every screen.
func (a *App) globalActions() []action.Action {
	return []action.Action{
		{Keys: []string{"q"}, Label: "back", Help: "goes back to the previous screen, or quits if this is the first screen", Do: a.popOrQuit},
		{
			Keys: []string{"esc"},
			Help: "goes back one step: leaves the item, then clears the filter, then clears the marks, then returns to the previous screen",
			Do:   a.stepBackOrPop,
		},
		{
			Keys: []string{"?"},
			Help: "shows all keys of this screen, and why a key is disabled",
			Do:   func() tea.Cmd { return a.push(newHelpScreen(a)) },
		},
		{Keys: []string{"ctrl+r"}, Help: "reloads the screen, or reconnects immediately if the connection was lost", Do: a.retryAndReload},
		{Keys: []string{"ctrl+l"}, Help: "redraws the screen", Do: func() tea.Cmd { return tea.ClearScreen }},
		{Keys: []string{"ctrl+c"}, Help: "quits the program; asks for confirmation if there are unsaved changes", Do: a.quit},
	}
}

// retryAndReload retries pending changes and reloads the screen.
func (a *App) retryAndReload() tea.Cmd {
	return tea.Batch(a.saver.sendNextEdits(a), a.topScreen().load())
}

// Minimum usable terminal size.
const minWidth, minHeight = 20, 5

// View draws the screen.
func (a *App) View() string {
	if a.w < minWidth || a.h < minHeight {
		return draw.Render(
			[]draw.Line{draw.TextLine(draw.Plain,
				fmt.Sprintf("the terminal (%d×%d) is too small; enlarge it to at least %d×%d", a.w, a.h, minWidth, minHeight))},
			a.w,
			a.h,
			false,
		)
	}
	body := a.h - 3
	lines := make([]draw.Line, 0, a.h)
	lines = append(lines, a.header())
	var middle []draw.Line
	keys := a.actions()
	if a.overlay != nil {
		keys = a.overlay.footer()
		middle = a.drawWithOverlay(body)
	} else {
		middle = a.topScreen().view(a.w, body)
	}
	for i := range body {
		if i < len(middle) {
			lines = append(lines, middle[i])
		} else {
			lines = append(lines, nil)
		}
	}
	lines = append(lines, a.statusLine(), action.Footer(keys, a.w, a.overlay == nil))
	return draw.Render(lines, a.w, a.h, a.Color)
}

// drawWithOverlay draws the screen with the prompt over its lower part.
func (a *App) drawWithOverlay(height int) []draw.Line {
	prompt := a.overlay.view(a.w, max(1, height-1))
	prompt = prompt[:min(len(prompt), height)]
	left := max(0, height-len(prompt)-1)
	var out []draw.Line
	if left > 0 {
		out = a.topScreen().view(a.w, left)
		out = out[:min(len(out), left)]
		for len(out) < left {
			out = append(out, nil)
		}
	}
	if len(out)+len(prompt) < height {
		out = append(out, draw.TextLine(draw.Dim, draw.Rule(a.w)))
	}
	return append(out, prompt...)
}

// header returns the header line: the location and current activity.
func (a *App) header() draw.Line {
	left := draw.Line{{Text: " " + a.topScreen().title() + " ", Style: draw.Bold}}
	right := ""
	if n := a.saver.unsavedCount(); n > 0 {
		right = fmt.Sprintf("saving %d ", n)
	}
	if a.busy > 0 {
		right += "… "
	}
	if right == "" && left.Width()+print.Width(print.SafeLine(a.Location))+2 <= a.w {
		right = a.Location + " "
	}
	n := print.Width(print.SafeLine(right))
	return append(left.Fit(max(1, a.w-n), draw.Plain), draw.Span{Text: right}).AddStyle(draw.Reverse)
}

// statusLine returns the line above the footer.
func (a *App) statusLine() draw.Line {
	switch {
	case a.connection.active:
		return draw.TextLine(draw.Red|draw.Bold, " ! "+a.connection.message(a))
	case a.isError:
		return draw.TextLine(draw.Red|draw.Bold, " ! "+a.statusText)
	}
	return draw.TextLine(draw.Plain, " "+a.statusText)
}
