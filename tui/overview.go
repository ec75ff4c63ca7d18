package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
)

// overview shows where an assessment stands, what waits, and the ways into it.
type overview struct {
	app *App
	one api.Assessment
	// got is nil until it was read.
	got    *standing
	at     int
	scroll int
	top    int // the first line of the ways that is in sight
	moving string
}

// standing is all that an overview shows.
type standing struct {
	status   *api.AssessmentStatus
	summary  *api.AssessmentSummary
	heads    map[api.Gate]*api.DeliverableVersion
	pending  []api.Approval
	maturity *api.MaturitySummary
	plan     *api.POAMSummary
	runs     []api.WorkflowRun
	// sync is nil where the caller may not see it.
	sync *api.SyncStatus
}

func newOverview(a *App, one api.Assessment) *overview { return &overview{app: a, one: one} }

func (o *overview) name() string  { return "Overview" }
func (o *overview) title() string { return o.one.Name }

// way is a way from the overview to a screen.
type way struct {
	key, title string
	open       func() screen
}

func (o *overview) ways() []way {
	a := o.app
	out := make([]way, 0, 12)
	for i, k := range kinds() {
		out = append(out, way{fmt.Sprint(i + 1), capital(k.gate.Title()), func() screen { return a.reviewOf(o.one, k.gate) }})
	}
	return append(out, way{"5", "Approvals", func() screen { return newApprovals(a, o.one) }},
		way{"6", "Documents", func() screen { return newDocuments(a, o.one) }},
		way{"7", "Search", func() screen { return newSearch(a, o.one) }},
		way{"8", "Workflow runs", func() screen { return newWorkflows(a, o.one) }},
		way{"9", "Agent runs", func() screen { return newAgentRuns(a, o.one) }},
		way{"0", "Timeline", func() screen { return newTimeline(a, o.one) }},
		way{"c", "Sync conflicts", func() screen { return newConflicts(a, o.one) }},
		way{"a", "Audit trail", func() screen { return newAudit(a) }})
}

func (o *overview) load() tea.Cmd {
	if o.app.Opened != nil {
		o.app.Opened(o.one.ID)
	}
	id := o.one.ID
	return o.app.later(func(ctx context.Context) func() tea.Cmd {
		got, one, err := stand(ctx, o.app.Caller, id)
		return func() tea.Cmd {
			if err != nil {
				return o.app.fail(err)
			}
			o.app.found()
			o.got, o.one = got, *one
			return o.watch()
		}
	})
}

// watch follows a workflow that runs; with each of its steps the assessment is read again.
func (o *overview) watch() tea.Cmd {
	if o.app.top() != screen(o) {
		return nil
	}
	for i := range o.got.runs {
		r := &o.got.runs[i]
		if !r.Status.Live() || r.Status.Waits() {
			continue
		}
		return o.app.follow(r.ID, func(now *api.WorkflowRun) tea.Cmd {
			step := r.CurrentStep
			if *r = *now; r.CurrentStep != step {
				return o.load()
			}
			return nil
		}, func(err error) tea.Cmd {
			if errors.Is(err, errEnded) {
				return o.load()
			}
			return o.app.after(livePause, func() tea.Cmd {
				if o.app.top() != screen(o) {
					return nil
				}
				return o.load()
			})
		})
	}
	return nil
}

// stand reads all that an overview shows.
func stand(ctx context.Context, c Caller, id string) (*standing, *api.Assessment, error) {
	in := api.AssessmentInput{AssessmentID: id}
	one, err := do(ctx, c, api.GetAssessment, &in)
	if err != nil {
		return nil, nil, err
	}
	if one.ID != id {
		return nil, nil, fmt.Errorf("the answer to a question about assessment %s is of %s", id, one.ID)
	}
	s := &standing{heads: map[api.Gate]*api.DeliverableVersion{}}
	if s.status, err = do(ctx, c, api.GetAssessmentStatus, &in); err != nil {
		return nil, nil, err
	}
	if s.summary, err = do(ctx, c, api.GetAssessmentSummary, &in); err != nil {
		return nil, nil, err
	}
	for _, k := range kinds() {
		if s.heads[k.gate], err = k.newest(ctx, c, id); err != nil {
			return nil, nil, err
		}
	}
	approvals, err := do(ctx, c, api.ListApprovals, &api.ApprovalsInput{AssessmentInput: in, Status: api.ApprovalPending})
	if err != nil {
		return nil, nil, err
	}
	s.pending = approvals.Data
	if h := s.heads[api.GateMaturity]; h != nil {
		if s.maturity, err = do(ctx, c, api.GetMaturitySummary, &api.MaturityInput{MaturityVersionID: h.ID}); err != nil {
			return nil, nil, err
		}
	}
	if h := s.heads[api.GatePOAM]; h != nil {
		if s.plan, err = do(ctx, c, api.GetPOAMSummary, &api.POAMInput{POAMVersionID: h.ID}); err != nil {
			return nil, nil, err
		}
	}
	runs, err := do(ctx, c, api.ListWorkflows, &api.WorkflowsInput{AssessmentInput: in, Paging: api.Paging{Limit: 5}})
	if err != nil {
		return nil, nil, err
	}
	s.runs = runs.Data
	if s.sync, err = do(ctx, c, api.GetSyncStatus, &api.SyncInput{AssessmentID: id}); api.IsCode(err, api.CodeForbidden) {
		s.sync, err = nil, nil
	}
	return s, one, err
}

func (o *overview) actions() []action.Action {
	a := o.app
	ways := o.ways()
	o.at = max(0, min(o.at, len(ways)-1))
	out := []action.Action{{Keys: []string{"enter"}, Label: "open", Help: "opens what the cursor is on", Do: func() tea.Cmd { return a.push(ways[o.at].open()) }}}
	out = append(out, action.Action{Keys: []string{"n"}, Label: "go on", Off: o.stuck(), Help: "makes the next move of the assessment, with the work that belongs to it", Do: o.goOn},
		action.Action{Keys: []string{"A"}, Label: "decide", Off: o.noDecision(), Help: "opens what waits for a decision, to approve or reject it", Do: func() tea.Cmd {
			return a.push(newDecision(a, o.one, kindOf(o.got.pending[0].Gate)))
		}},
		action.Action{Keys: []string{"/"}, Label: "search", Help: "searches the documents", Do: func() tea.Cmd { return a.push(newSearch(a, o.one)) }})
	for _, w := range ways {
		out = append(out, action.Action{Keys: []string{w.key}, Help: "opens " + w.title, Do: func() tea.Cmd { return a.push(w.open()) }})
	}
	var st *api.SyncStatus
	if o.got != nil {
		st = o.got.sync
	}
	out = append(out, action.Action{Keys: []string{"B"}, Label: "bring together", Off: notTogether(a, st), Help: "sends what was changed here and reads what changed at the home, as `service sync` does",
		Do: func() tea.Cmd { return a.together(o.one.ID, o.load) }})
	return append(out, moving(func(to string) tea.Cmd {
		switch to {
		case "up":
			o.at = max(0, o.at-1)
		case "down":
			o.at = min(len(ways)-1, o.at+1)
		case "home":
			o.at = 0
		case "end":
			o.at = len(ways) - 1
		case "pgup":
			o.scroll = max(0, o.scroll-10)
		case "pgdown":
			o.scroll += 10
		}
		return nil
	})...)
}

func (o *overview) noDecision() string {
	switch {
	case o.got == nil:
		return "it is being read"
	case len(o.got.pending) == 0:
		return "nothing waits for a decision"
	}
	return ""
}

// stuck says why the next move can't be made.
func (o *overview) stuck() string {
	switch {
	case o.got == nil:
		return "it is being read"
	case o.moving != "":
		return "the move is being made: " + o.moving
	case len(o.got.status.NextStates) == 0:
		return "the assessment is closed"
	case len(o.got.pending) > 0:
		return "the " + o.got.pending[0].Gate.Title() + " waits for a decision; A opens it"
	case len(o.got.status.BlockedBy) > 0:
		return strings.Join(o.got.status.BlockedBy, "; ")
	}
	return ""
}

// goOn makes the next move.
func (o *overview) goOn() tea.Cmd {
	move, _ := o.got.status.State.Next()
	to := o.got.status.NextStates[0]
	a := o.app
	begin := func() tea.Cmd {
		o.moving = move.Work
		a.say("%s…", move.Work)
		in := api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: o.one.ID}}
		in.Body.TargetState = to
		return a.within(workPatience, func(ctx context.Context) func() tea.Cmd {
			_, err := do(ctx, a.Caller, api.Transition, &in)
			return func() tea.Cmd {
				o.moving = ""
				if err != nil {
					return tea.Batch(a.fail(err), o.load())
				}
				a.say("done: %s", move.Work)
				return o.load()
			}
		})
	}
	if to != api.StateClosed {
		return begin()
	}
	a.over = &confirm{app: a, title: "Close the assessment?", lines: []string{"Nothing can be changed after that."}, yes: "close it", do: begin}
	return nil
}

// wayWidth is how wide the ways are at most.
const wayWidth = 38

func (o *overview) view(w, h int) []draw.Line {
	if o.got == nil {
		return []draw.Line{draw.T(draw.Dim, "reading…")}
	}
	left := o.drawWays(min(w, wayWidth))
	if w < splitFrom {
		p := draw.NewPage(w)
		o.brief(p)
		below := p.Lines[:min(len(p.Lines), max(0, min(4, h-2)))]
		return append(o.inSight(left, h-len(below)), below...)
	}
	left = o.inSight(left, h)
	p := draw.NewPage(w - wayWidth - 2)
	o.brief(p)
	o.figures(p)
	if under := draw.NewPage(wayWidth); h > len(left) {
		if o.rail(under); len(left)+1+len(under.Lines) <= h {
			left = append(append(left, nil), under.Lines...)
		}
	}
	return draw.Beside(left, draw.Scrolled(p.Lines, &o.scroll, h, " (PgDn)"), wayWidth, h)
}

// inSight are so many lines of the ways that the chosen one is among them.
func (o *overview) inSight(lines []draw.Line, h int) []draw.Line {
	n := 2 * len(kinds())
	from, to := 2*o.at, 2*o.at+2
	if from >= n {
		from = n/2 + o.at
		to = from + 1
	}
	o.top = max(0, min(max(min(o.top, from), to-h), len(lines)-h))
	if to-from > h {
		o.top = from
	}
	return lines[o.top:min(len(lines), o.top+h)]
}

func (o *overview) drawWays(w int) []draw.Line {
	var out []draw.Line
	all := kinds()
	for i, way := range o.ways() {
		line := draw.Line{{Text: " "}, {Text: way.key, Style: draw.Bold}, {Text: "  " + way.title}}
		if i < len(all) {
			state := "-"
			if v := o.got.heads[all[i].gate]; v != nil {
				state = fmt.Sprintf("%d, %s", v.ItemCount, print.Words(v.Status))
			}
			out = append(out, mark(line, i == o.at, w), draw.T(draw.Dim, "    "+state))
			continue
		}
		out = append(out, mark(line, i == o.at, w))
	}
	return out
}

// wayAt is the way that a line belongs to.
func (o *overview) wayAt(y int) (int, bool) {
	n := 2 * len(kinds())
	at := y / 2
	if y >= n {
		at = n/2 + y - n
	}
	return at, y >= 0 && at < len(o.ways())
}

// click goes to a way, and opens the one that it was on.
func (o *overview) click(x, y int) tea.Cmd {
	at, there := o.wayAt(y + o.top)
	if o.got == nil || !there || x >= wayWidth && o.app.w >= splitFrom {
		return nil
	}
	if at == o.at {
		return o.app.push(o.ways()[at].open())
	}
	o.at = at
	return nil
}

func (o *overview) wheel(by int) tea.Cmd {
	o.scroll = max(0, o.scroll+by)
	return nil
}

func mark(l draw.Line, on bool, w int) draw.Line {
	if !on {
		return l
	}
	return append(draw.Line{{Text: "›"}}, l[1:]...).Fit(w, draw.Plain).With(draw.Reverse)
}

// brief says where it stands and what it waits for.
func (o *overview) brief(p *draw.Page) {
	g := o.got
	p.Text(draw.Bold, fmt.Sprintf("%s, %d %%", capital(stateWords(g.status.State)), g.status.Progress))
	p.Add(track(g.status.State))
	waiting := false
	for _, one := range g.pending {
		waiting = true
		p.Text(draw.Yellow|draw.Bold, fmt.Sprintf("◆ waits for a decision: the %s, version %d, asked by %s (A)", one.Gate.Title(), one.VersionNumber, one.RequestedBy.Name))
	}
	switch {
	case o.moving != "":
		p.Text(draw.Plain, "… "+o.moving)
	case len(g.status.NextStates) == 0:
		p.Text(draw.Plain, "It is closed.")
	case !waiting && len(g.status.BlockedBy) > 0:
		p.Text(draw.Yellow, "waits: "+strings.Join(g.status.BlockedBy, "; "))
	case !waiting:
		move, _ := g.status.State.Next()
		p.Text(draw.Plain, "next: "+move.Work+" (n)")
	}
	for _, old := range g.status.Outdated {
		p.Text(draw.Yellow, "not up to date: "+old.Message)
	}
	if text, style := syncWords(g.sync); text != "" {
		p.Text(style, text)
	}
	for _, r := range g.runs {
		if r.Status.Live() {
			p.Text(draw.Cyan, fmt.Sprintf("workflow %s: %s, %d %%, %s", print.Words(r.WorkflowType), print.Words(r.Status), r.Progress, print.Words(r.CurrentStep)))
		}
	}
}

// track is the way through the states in one line: done, here, to come; ◆ and ◇ are gates.
func track(here api.State) draw.Line {
	var b strings.Builder
	for _, s := range api.States() {
		gate := false
		for _, m := range api.Moves {
			gate = gate || m.To == s && m.Gate != ""
		}
		switch {
		case s == here:
			b.WriteString("▶")
		case here.Reached(s) && gate:
			b.WriteString("◆")
		case here.Reached(s):
			b.WriteString("✓")
		case gate:
			b.WriteString("◇")
		default:
			b.WriteString("·")
		}
	}
	return draw.T(draw.Cyan, b.String())
}

// rail is the states one below the other.
func (o *overview) rail(p *draw.Page) {
	p.Title("The way")
	here := o.got.status.State
	for _, s := range api.States() {
		sign, style := "·", draw.Dim
		switch {
		case s == here:
			sign, style = "▶", draw.Bold
		case here.Reached(s):
			sign, style = "✓", draw.Plain
		}
		line := draw.Line{{Text: sign + " " + stateWords(s), Style: style}}
		for _, m := range api.Moves {
			if m.To == s && m.Gate != "" {
				line = append(line, draw.Span{Text: " ← gate", Style: draw.Dim})
			}
		}
		p.Add(line)
	}
}

// figures are the totals as bars.
func (o *overview) figures(p *draw.Page) {
	s := o.got.summary
	if s.Controls > 0 {
		p.Title("Coverage")
		if s.CompliancePct != nil {
			p.Text(draw.Plain, fmt.Sprintf("%.1f %%  %s", *s.CompliancePct, s.ComplianceFormula))
		}
		for _, b := range []struct {
			word api.Implementation
			n    int
		}{{api.Implemented, s.Implemented}, {api.PartiallyImplemented, s.PartiallyImpl}, {api.Planned, s.Planned}, {api.NotImplemented, s.NotImplemented}, {api.NotEvidenced, s.NotEvidenced}} {
			bar(p, print.Words(b.word), b.n, s.Applicable, statusStyle(string(b.word)))
		}
		p.Text(draw.Dim, fmt.Sprintf("%d of %d controls apply", s.Applicable, s.Controls))
	}
	total := 0
	for _, n := range s.FindingsBySeverity {
		total += n
	}
	if total > 0 {
		p.Title("Findings")
		for _, v := range api.Severities {
			bar(p, string(v), s.FindingsBySeverity[v], total, severityStyle(string(v)))
		}
	}
	if plan := o.got.plan; plan != nil {
		p.Title("Plan of action")
		style := draw.Plain
		if plan.Overdue > 0 {
			style = draw.Red
		}
		p.Text(style, fmt.Sprintf("%d open, %d overdue, %d completed of %d", plan.Open, plan.Overdue, plan.Completed, plan.Items))
	}
	if s.MaturityAvg != nil {
		p.Title("Maturity %.2f of 5", *s.MaturityAvg)
		if m := o.got.maturity; m != nil {
			for _, d := range m.Domains {
				if d.WeightedMean != nil {
					p.Add(draw.Line{{Text: fmt.Sprintf("%-5s", d.DomainCode)}, {Text: draw.Bar(*d.WeightedMean, 5, min(20, p.Width()/3)), Style: draw.Blue}, {Text: fmt.Sprintf(" %.2f  ", *d.WeightedMean)}, {Text: d.DomainName, Style: draw.Dim}})
				}
			}
		}
	}
	p.Title("About")
	p.Field("frameworks", strings.Join(o.one.Frameworks, ", "), draw.Plain)
	p.Field("holds", print.Count(o.one.Counts.Documents, "document", "documents")+", "+print.Count(o.one.Counts.Chunks, "passage", "passages"), draw.Plain)
	p.Field("due", orNone(o.one.DueDate), draw.Plain)
	if s.IsStarter {
		p.Field("catalog", "the built-in starter catalog, which is not the SCF", draw.Plain)
	}
}

// bar is a count with its share.
func bar(p *draw.Page, word string, n, of int, style draw.Style) {
	name := draw.T(draw.Plain, word).Fit(min(22, p.Width()/2), draw.Plain)
	p.Add(append(name, draw.Span{Text: fmt.Sprintf("%5d ", n)}, draw.Span{Text: draw.Bar(float64(n), float64(of), max(0, min(30, p.Width()-30))), Style: style}))
}

// stateWords is a state in words, the names in it as people write them.
func stateWords(s api.State) string {
	return strings.NewReplacer("soa", "SoA", "poam", "POA&M", "scf", "SCF").Replace(print.Words(s))
}
