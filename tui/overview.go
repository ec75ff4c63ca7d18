package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
)

// overview shows an assessment's status, pending decisions and a menu of its screens.
type overview struct {
	app        *App
	assessment api.Assessment
	// data is nil until it is loaded.
	data           *overviewData
	cursor         int
	scroll         int
	firstVisible   int // the first visible line of the menu
	moveInProgress string
}

// overviewData holds everything an overview shows.
type overviewData struct {
	status   *api.AssessmentStatus
	summary  *api.AssessmentSummary
	heads    map[api.Gate]*api.DeliverableVersion
	pending  []api.Approval
	maturity *api.MaturitySummary
	plan     *api.POAMSummary
	runs     []api.WorkflowRun
	// sync is nil if the caller may not see it.
	sync *api.SyncStatus
}

func newOverviewScreen(a *App, assessment api.Assessment) *overview {
	return &overview{app: a, assessment: assessment}
}

func (o *overview) name() string  { return "Overview" }
func (o *overview) title() string { return o.assessment.Name }

// menuItem is a menu entry that opens a screen.
type menuItem struct {
	key, title string
	open       func() screen
}

func (o *overview) menuItems() []menuItem {
	a := o.app
	out := make([]menuItem, 0, 12)
	for i, k := range deliverableTypes() {
		out = append(
			out,
			menuItem{
				key:   fmt.Sprint(i + 1),
				title: prose.Capitalize(k.gate.Title()),
				open:  func() screen { return a.reviewFor(o.assessment, k.gate) },
			},
		)
	}
	return append(out, menuItem{key: "5", title: "Approvals", open: func() screen { return newApprovalsScreen(a, o.assessment) }},
		menuItem{key: "6", title: "Documents", open: func() screen { return newDocumentsScreen(a, o.assessment) }},
		menuItem{key: "7", title: "Search", open: func() screen { return newSearchScreen(a, o.assessment) }},
		menuItem{key: "8", title: "Workflow runs", open: func() screen { return newWorkflowsScreen(a, o.assessment) }},
		menuItem{key: "9", title: "Agent runs", open: func() screen { return newAgentRunsScreen(a, o.assessment) }},
		menuItem{key: "0", title: "Timeline", open: func() screen { return newTimelineScreen(a, o.assessment) }},
		menuItem{key: "c", title: "Sync conflicts", open: func() screen { return newConflictsScreen(a, o.assessment) }},
		menuItem{key: "a", title: "Audit trail", open: func() screen { return newAuditScreen(a) }})
}

func (o *overview) load() tea.Cmd {
	if o.app.OnOpen != nil {
		o.app.OnOpen(o.assessment.ID)
	}
	id := o.assessment.ID
	return o.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
		got, one, err := readOverview(ctx, o.app.Caller, id)
		return func() tea.Cmd {
			if err != nil {
				return o.app.showErrorOrReconnect(err)
			}
			o.app.markConnected()
			o.data, o.assessment = got, *one
			return o.followRunningWorkflow()
		}
	})
}

// followRunningWorkflow follows the running workflow and reloads the assessment after each step.
func (o *overview) followRunningWorkflow() tea.Cmd {
	if o.app.topScreen() != screen(o) {
		return nil
	}
	for i := range o.data.runs {
		r := &o.data.runs[i]
		if !r.Status.IsLive() || r.Status.IsWaitingForUser() {
			continue
		}
		return o.app.followRun(r.ID, func(now *api.WorkflowRun) tea.Cmd {
			step := r.CurrentStep
			if *r = *now; r.CurrentStep != step {
				return o.load()
			}
			return nil
		}, func(err error) tea.Cmd {
			if errors.Is(err, errRunEnded) {
				return o.load()
			}
			return o.app.schedule(refreshInterval, func() tea.Cmd {
				if o.app.topScreen() != screen(o) {
					return nil
				}
				return o.load()
			})
		})
	}
	return nil
}

// readOverview loads everything an overview shows.
func readOverview(ctx context.Context, c Caller, assessmentID string) (*overviewData, *api.Assessment, error) {
	in := api.AssessmentInput{AssessmentID: assessmentID}
	one, err := call(ctx, c, api.GetAssessment, &in)
	if err != nil {
		return nil, nil, err
	}
	if one.ID != assessmentID {
		return nil, nil, fmt.Errorf("requested the assessment %s, but the server returned %s", assessmentID, one.ID)
	}
	s := &overviewData{heads: map[api.Gate]*api.DeliverableVersion{}}
	if s.status, err = call(ctx, c, api.GetAssessmentStatus, &in); err != nil {
		return nil, nil, err
	}
	if s.summary, err = call(ctx, c, api.GetAssessmentSummary, &in); err != nil {
		return nil, nil, err
	}
	for _, k := range deliverableTypes() {
		if s.heads[k.gate], err = k.fetchNewest(ctx, c, assessmentID); err != nil {
			return nil, nil, err
		}
	}
	approvals, err := call(ctx, c, api.ListApprovals, &api.ApprovalsInput{AssessmentInput: in, Status: api.ApprovalPending})
	if err != nil {
		return nil, nil, err
	}
	s.pending = approvals.Data
	if h := s.heads[api.GateMaturity]; h != nil {
		if s.maturity, err = call(ctx, c, api.GetMaturitySummary, &api.MaturityInput{MaturityVersionID: h.ID}); err != nil {
			return nil, nil, err
		}
	}
	if h := s.heads[api.GatePOAM]; h != nil {
		if s.plan, err = call(ctx, c, api.GetPOAMSummary, &api.POAMInput{POAMVersionID: h.ID}); err != nil {
			return nil, nil, err
		}
	}
	runs, err := call(ctx, c, api.ListWorkflows, &api.WorkflowsInput{AssessmentInput: in, Paging: api.Paging{Limit: 5}})
	if err != nil {
		return nil, nil, err
	}
	s.runs = runs.Data
	if s.sync, err = call(ctx, c, api.GetSyncStatus, &api.SyncInput{AssessmentID: assessmentID}); api.IsCode(err, api.CodeForbidden) {
		s.sync, err = nil, nil
	}
	return s, one, err
}

func (o *overview) actions() []action.Action {
	a := o.app
	items := o.menuItems()
	o.cursor = max(0, min(o.cursor, len(items)-1))
	out := []action.Action{
		{
			Keys:  []string{"enter"},
			Label: "open",
			Help:  "opens the selected entry",
			Do:    func() tea.Cmd { return a.push(items[o.cursor].open()) },
		},
	}
	out = append(
		out,
		action.Action{
			Keys:           []string{"n"},
			Label:          "continue",
			DisabledReason: o.transitionBlockedReason(),
			Help:           "performs the next step of the assessment",
			Do:             o.startNextTransition,
		},
		action.Action{
			Keys:           []string{"A"},
			Label:          "decide",
			DisabledReason: o.decideBlockedReason(),
			Help:           "opens the pending decision, to approve or reject it",
			Do: func() tea.Cmd {
				return a.push(newDecisionScreen(a, o.assessment, deliverableTypeFor(o.data.pending[0].Gate)))
			},
		},
		action.Action{
			Keys:  []string{"/"},
			Label: "search",
			Help:  "searches the documents",
			Do:    func() tea.Cmd { return a.push(newSearchScreen(a, o.assessment)) },
		},
	)
	for _, w := range items {
		out = append(out, action.Action{Keys: []string{w.key}, Help: "opens " + w.title, Do: func() tea.Cmd { return a.push(w.open()) }})
	}
	var st *api.SyncStatus
	if o.data != nil {
		st = o.data.sync
	}
	out = append(out, action.Action{
		Keys: []string{
			"B",
		}, Label: "sync", DisabledReason: syncBlockedReason(a, st), Help: "pushes local changes and pulls changes from the remote, like `service sync`",
		Do: func() tea.Cmd { return a.syncWithRemote(o.assessment.ID, o.load) },
	})
	return append(out, movementActions(func(to string) tea.Cmd {
		switch to {
		case "up":
			o.cursor = max(0, o.cursor-1)
		case "down":
			o.cursor = min(len(items)-1, o.cursor+1)
		case "home":
			o.cursor = 0
		case "end":
			o.cursor = len(items) - 1
		case "pgup":
			o.scroll = max(0, o.scroll-10)
		case "pgdown":
			o.scroll += 10
		}
		return nil
	})...)
}

// decideBlockedReason returns why there is nothing to decide, or "" if a decision is pending.
func (o *overview) decideBlockedReason() string {
	switch {
	case o.data == nil:
		return "still loading"
	case len(o.data.pending) == 0:
		return "no decision is pending"
	}
	return ""
}

// transitionBlockedReason returns why the assessment can't move to its next state now, or "" if it can.
func (o *overview) transitionBlockedReason() string {
	switch {
	case o.data == nil:
		return "still loading"
	case o.moveInProgress != "":
		return "in progress: " + o.moveInProgress
	case len(o.data.status.NextStates) == 0:
		return "the assessment is closed"
	case len(o.data.pending) > 0:
		return "the " + o.data.pending[0].Gate.Title() + " is waiting for a decision; press A to open it"
	case o.data.status.ReadyForReview != nil:
		return "the " + o.data.status.ReadyForReview.Title() + " is ready for review; open it, then press S to submit it"
	case len(o.data.status.BlockedBy) > 0:
		return strings.Join(o.data.status.BlockedBy, "; ")
	}
	return ""
}

// startNextTransition starts the transition of the assessment to its next state.
func (o *overview) startNextTransition() tea.Cmd {
	move, _ := o.data.status.State.NextMove()
	to := o.data.status.NextStates[0]
	if move.Gate != "" { // it is approved
		move.Work = o.data.status.NextStep
	}
	a := o.app
	begin := func() tea.Cmd {
		o.moveInProgress = move.Work
		a.setStatus("%s…", move.Work)
		in := api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: o.assessment.ID}}
		in.Body.TargetState = to
		return a.runInBackgroundWithTimeout(workTimeout, func(ctx context.Context) func() tea.Cmd {
			_, err := call(ctx, a.Caller, api.Transition, &in)
			return func() tea.Cmd {
				o.moveInProgress = ""
				if err != nil {
					return tea.Batch(a.showErrorOrReconnect(err), o.load())
				}
				a.setStatus("done: %s", move.Work)
				return o.load()
			}
		})
	}
	if to != api.StateClosed {
		return begin()
	}
	a.overlay = &confirmPrompt{
		app:          a,
		title:        "Close the assessment?",
		lines:        []string{"A closed assessment can't be changed."},
		confirmLabel: "close",
		onConfirm:    begin,
	}
	return nil
}

// menuWidth is the maximum width of the menu.
const menuWidth = 38

func (o *overview) view(w, h int) []draw.Line {
	if o.data == nil {
		return []draw.Line{draw.TextLine(draw.Dim, "loading…")}
	}
	left := o.drawMenu(min(w, menuWidth))
	if w < minSplitWidth {
		p := draw.NewPage(w)
		o.renderSummary(p)
		below := p.Lines[:min(len(p.Lines), max(0, min(4, h-2)))]
		return append(o.visibleMenuLines(left, h-len(below)), below...)
	}
	left = o.visibleMenuLines(left, h)
	p := draw.NewPage(w - menuWidth - 2)
	o.renderSummary(p)
	o.renderTotals(p)
	if under := draw.NewPage(menuWidth); h > len(left) {
		if o.renderLifecycleStates(under); len(left)+1+len(under.Lines) <= h {
			left = append(append(left, nil), under.Lines...)
		}
	}
	return draw.SideBySide(left, draw.ScrollLines(p.Lines, &o.scroll, h, " (PgDn)"), menuWidth, h)
}

// visibleMenuLines returns the visible lines of the menu, including the selected one.
func (o *overview) visibleMenuLines(lines []draw.Line, h int) []draw.Line {
	n := 2 * len(deliverableTypes())
	from, to := 2*o.cursor, 2*o.cursor+2
	if from >= n {
		from = n/2 + o.cursor
		to = from + 1
	}
	o.firstVisible = max(0, min(max(min(o.firstVisible, from), to-h), len(lines)-h))
	if to-from > h {
		o.firstVisible = from
	}
	return lines[o.firstVisible:min(len(lines), o.firstVisible+h)]
}

// drawMenu returns the lines of the menu.
func (o *overview) drawMenu(w int) []draw.Line {
	var out []draw.Line
	all := deliverableTypes()
	for i, item := range o.menuItems() {
		line := draw.Line{{Text: " "}, {Text: item.key, Style: draw.Bold}, {Text: "  " + item.title}}
		if i < len(all) {
			state := "-"
			if v := o.data.heads[all[i].gate]; v != nil {
				state = fmt.Sprintf("%d, %s", v.ItemCount, prose.Humanize(v.Status))
			}
			out = append(out, highlightLine(line, i == o.cursor, w), draw.TextLine(draw.Dim, "    "+state))
			continue
		}
		out = append(out, highlightLine(line, i == o.cursor, w))
	}
	return out
}

// menuItemAt returns the menu entry at a line.
func (o *overview) menuItemAt(y int) (index int, found bool) {
	n := 2 * len(deliverableTypes())
	at := y / 2
	if y >= n {
		at = n/2 + y - n
	}
	return at, y >= 0 && at < len(o.menuItems())
}

// click selects a menu entry, or opens it if it is already selected.
func (o *overview) click(x, y int) tea.Cmd {
	at, found := o.menuItemAt(y + o.firstVisible)
	if o.data == nil || !found || x >= menuWidth && o.app.w >= minSplitWidth {
		return nil
	}
	if at == o.cursor {
		return o.app.push(o.menuItems()[at].open())
	}
	o.cursor = at
	return nil
}

func (o *overview) wheel(by int) tea.Cmd {
	o.scroll = max(0, o.scroll+by)
	return nil
}

// highlightLine returns a line of the menu, highlighted if it is selected.
func highlightLine(l draw.Line, selected bool, w int) draw.Line {
	if !selected {
		return l
	}
	return append(draw.Line{{Text: "›"}}, l[1:]...).Fit(w, draw.Plain).AddStyle(draw.Reverse)
}

// renderSummary shows the state and what is pending.
func (o *overview) renderSummary(p *draw.Page) {
	g := o.data
	p.AddText(draw.Bold, fmt.Sprintf("%s, %d%%", prose.Label(g.status.DisplayState()), g.status.DisplayState().ProgressPercent()))
	p.AddLine(drawStateTrack(g.status.DisplayState()))
	waiting := false
	for _, one := range g.pending {
		waiting = true
		p.AddText(
			draw.Yellow|draw.Bold,
			fmt.Sprintf(
				"◆ decision pending (press A): the %s, version %d, requested by %s",
				one.Gate.Title(),
				one.VersionNumber,
				one.RequestedBy.Name,
			),
		)
	}
	switch {
	case o.moveInProgress != "":
		p.AddText(draw.Plain, "… "+o.moveInProgress)
	case len(g.status.NextStates) == 0:
		p.AddText(draw.Plain, "The assessment is closed.")
	case !waiting && len(g.status.BlockedBy) > 0:
		p.AddText(draw.Yellow, "blocked: "+strings.Join(g.status.BlockedBy, "; "))
	case !waiting:
		p.AddText(draw.Plain, "next: "+g.status.NextStep+nextStepKey(g.status))
	}
	for _, old := range g.status.Outdated {
		p.AddText(draw.Yellow, "outdated: "+old.Message)
	}
	for _, left := range g.status.FormerOwners {
		p.AddText(draw.Yellow, left.Message)
	}
	for _, w := range g.summary.Warnings() {
		p.AddText(draw.Yellow, w)
	}
	if text, style := formatSyncStatus(g.sync); text != "" {
		p.AddText(style, text)
	}
	for _, r := range g.runs {
		if r.Status.IsLive() {
			p.AddText(
				draw.Cyan,
				fmt.Sprintf(
					"workflow %s: %s, %d%%, %s",
					prose.Humanize(r.WorkflowType),
					prose.Humanize(r.Status),
					r.Progress,
					prose.Humanize(r.CurrentStep),
				),
			)
		}
	}
}

// nextStepKey returns the key of the next step in brackets, or "" if no key on this screen performs it.
func nextStepKey(st *api.AssessmentStatus) string {
	if st.ReadyForReview != nil {
		return ""
	}
	return " (n)"
}

// drawStateTrack draws the states in one line: completed, current and remaining ones. ◆ and ◇ are gates.
func drawStateTrack(current api.State) draw.Line {
	var b strings.Builder
	for _, s := range api.States() {
		gate := false
		for _, m := range api.Moves {
			gate = gate || m.To == s && m.Gate != ""
		}
		switch {
		case s == current:
			b.WriteString("▶")
		case current.HasReached(s) && gate:
			b.WriteString("◆")
		case current.HasReached(s):
			b.WriteString("✓")
		case gate:
			b.WriteString("◇")
		default:
			b.WriteString("·")
		}
	}
	return draw.TextLine(draw.Cyan, b.String())
}

// renderLifecycleStates lists the states vertically.
func (o *overview) renderLifecycleStates(p *draw.Page) {
	p.AddTitle("Lifecycle")
	current := o.data.status.State
	for _, s := range api.States() {
		sign, style := "·", draw.Dim
		switch {
		case s == current:
			sign, style = "▶", draw.Bold
		case current.HasReached(s):
			sign, style = "✓", draw.Plain
		}
		line := draw.Line{{Text: sign + " " + prose.Humanize(s), Style: style}}
		for _, m := range api.Moves {
			if m.To == s && m.Gate != "" {
				line = append(line, draw.Span{Text: " ← gate", Style: draw.Dim})
			}
		}
		p.AddLine(line)
	}
}

// renderTotals draws the totals as bars.
func (o *overview) renderTotals(p *draw.Page) {
	s := o.data.summary
	if s.Controls > 0 {
		p.AddTitle("Compliance")
		if s.CompliancePct != nil {
			p.AddText(draw.Plain, prose.Decimal(*s.CompliancePct)+"%  "+s.ComplianceFormula)
		}
		for _, b := range []struct {
			word api.Implementation
			n    int
		}{
			{api.Implemented, s.Implemented},
			{api.PartiallyImplemented, s.PartiallyImpl},
			{api.Planned, s.Planned},
			{api.NotImplemented, s.NotImplemented},
			{api.NotEvidenced, s.NotEvidenced},
		} {
			renderBar(p, prose.Humanize(b.word), b.n, s.Applicable, implementationStyle(string(b.word)))
		}
		p.AddText(draw.Dim, fmt.Sprintf("%d of %d controls apply", s.Applicable, s.Controls))
	}
	total := 0
	for _, n := range s.FindingsBySeverity {
		total += n
	}
	if total > 0 {
		p.AddTitle("Findings")
		for _, v := range api.Severities {
			renderBar(p, string(v), s.FindingsBySeverity[v], total, severityStyle(string(v)))
		}
	}
	if plan := o.data.plan; plan != nil {
		p.AddTitle("Plan of action")
		style := draw.Plain
		if plan.Overdue > 0 {
			style = draw.Red
		}
		p.AddText(style, fmt.Sprintf("%d open, %d overdue, %d completed of %d", plan.Open, plan.Overdue, plan.Completed, plan.Items))
	}
	if s.MaturityAvg != nil {
		p.AddTitle("Maturity %s of 5", prose.Decimal(*s.MaturityAvg))
		if m := o.data.maturity; m != nil {
			for _, d := range m.Domains {
				if d.WeightedMean != nil {
					p.AddLine(
						draw.Line{
							{Text: fmt.Sprintf("%-5s", d.DomainCode)},
							{Text: draw.Bar(*d.WeightedMean, 5, min(20, p.Width()/3)), Style: draw.Blue},
							{Text: " " + prose.Decimal(*d.WeightedMean) + "  "},
							{Text: d.DomainName, Style: draw.Dim},
						},
					)
				}
			}
		}
	}
	p.AddTitle("About")
	p.AddField("client", o.assessment.ClientName, draw.Plain)
	p.AddField("frameworks", strings.Join(o.assessment.Frameworks, ", "), draw.Plain)
	p.AddField(
		"contains",
		prose.Count(
			o.assessment.Counts.Documents,
			"document",
			"documents",
		)+", "+prose.Count(
			o.assessment.Counts.Chunks,
			"passage",
			"passages",
		),
		draw.Plain,
	)
	p.AddField("due", stringOrEmpty(o.assessment.DueDate), draw.Plain)
	if s.IsStarter {
		p.AddField("catalog", "the built-in starter catalog, which is not the SCF", draw.Plain)
	}
}

// renderBar draws a count and a bar that shows its share of the total.
func renderBar(p *draw.Page, label string, n, total int, style draw.Style) {
	name := draw.TextLine(draw.Plain, label).Fit(min(22, p.Width()/2), draw.Plain)
	p.AddLine(
		append(
			name,
			draw.Span{Text: fmt.Sprintf("%5d ", n)},
			draw.Span{Text: draw.Bar(float64(n), float64(total), max(0, min(30, p.Width()-30))), Style: style},
		),
	)
}
