package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
	"github.com/scf-service/service/tui/list"
)

// decision shows what is to be signed at a gate, and takes the decision. It is bound to
// the content that was shown: what changed since is not decided on unseen.
type decision struct {
	app    *App
	one    api.Assessment
	kind   *kind
	read   bool
	signed *toSign
	scroll int
}

// toSign is what a decision is about.
type toSign struct {
	approval *api.Approval
	version  *api.DeliverableVersion
	// counts are the values of each field of choice, edited the items that people changed.
	counts map[string]map[string]int
	edited []string
	open   int
	items  int
	diff   *api.ArtifactDiff
	talk   []api.Comment
}

func newDecision(a *App, one api.Assessment, k *kind) *decision {
	return &decision{app: a, one: one, kind: k}
}

func (d *decision) name() string  { return "Decision" }
func (d *decision) title() string { return d.one.Name + " › decide on the " + d.kind.gate.Title() }

func (d *decision) load() tea.Cmd {
	return d.app.later(func(ctx context.Context) func() tea.Cmd {
		s, err := readToSign(ctx, d.app.Caller, d.one.ID, d.kind)
		return func() tea.Cmd {
			if err != nil {
				return d.app.fail(err)
			}
			d.app.found()
			d.signed, d.read = s, true
			return nil
		}
	})
}

// readToSign reads what waits at a gate; nil where nothing does.
func readToSign(ctx context.Context, c Caller, assessment string, k *kind) (*toSign, error) {
	in := api.AssessmentInput{AssessmentID: assessment}
	waiting, err := do(ctx, c, api.ListApprovals, &api.ApprovalsInput{AssessmentInput: in, Paging: api.Paging{Limit: 1}, Status: api.ApprovalPending, Gate: k.gate})
	if err != nil || len(waiting.Data) == 0 {
		return nil, err
	}
	s := &toSign{approval: &waiting.Data[0], counts: map[string]map[string]int{}}
	if s.version, err = k.version(ctx, c, s.approval.TargetID); err != nil {
		return nil, err
	}
	for cursor := ""; ; {
		items, at, err := k.items(ctx, c, s.version.ID, "", api.Paging{Limit: api.MaxListLimit, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			s.count(k.row(item))
		}
		if at.NextCursor == nil || len(items) == 0 {
			break
		}
		cursor = *at.NextCursor
	}
	talk, err := do(ctx, c, api.ListComments, &api.CommentsInput{AssessmentInput: in, Paging: api.Paging{Limit: api.MaxListLimit}, Gate: k.gate})
	if err != nil {
		return nil, err
	}
	s.talk = talk.Data
	if s.version.VersionNumber > 1 {
		if s.diff, err = readDiff(ctx, c, in, k.gate, s.version.VersionNumber); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// readDiff is how a version differs from the one before; nil where there is nothing to compare.
func readDiff(ctx context.Context, c Caller, in api.AssessmentInput, g api.Gate, version int) (*api.ArtifactDiff, error) {
	l, err := do(ctx, c, api.ListArtifacts, &api.ArtifactsInput{AssessmentInput: in, Type: string(g)})
	if err != nil || len(l.Data) == 0 {
		return nil, err
	}
	diff, err := do(ctx, c, api.DiffArtifact, &api.ArtifactDiffInput{ArtifactInput: api.ArtifactInput{ArtifactID: l.Data[0].ID}, From: version - 1, To: version})
	if api.IsCode(err, api.CodeNotFound) || api.IsCode(err, api.CodeValidation) {
		return nil, nil
	}
	return diff, err
}

func (s *toSign) count(r *row) {
	s.items++
	for i := range r.kind.attrs {
		if a := &r.kind.attrs[i]; len(a.choices) > 0 {
			if s.counts[a.name] == nil {
				s.counts[a.name] = map[string]int{}
			}
			s.counts[a.name][r.saved(a.name)]++
		}
	}
	if r.kind.open(r) {
		s.open++
	}
	if r.head.EditedBy != nil {
		s.edited = append(s.edited, r.kind.key(r.item))
	}
}

func (d *decision) actions() []action.Action {
	off := ""
	switch {
	case !d.read:
		off = "it is being read"
	case d.signed == nil:
		off = "nothing waits for a decision here"
	}
	return append([]action.Action{
		{Keys: []string{"a"}, Label: "approve", Off: off, Help: "approves exactly what is shown, as you, with a comment if you like", Do: d.approve},
		{Keys: []string{"r"}, Label: "reject", Off: off, Help: "rejects it, with a reason for whoever has to mend it", Do: d.reject},
		{Keys: []string{"o"}, Label: "items", Help: "opens the items, to look before you decide", Do: func() tea.Cmd { return d.app.push(d.app.reviewOf(d.one, d.kind.gate)) }},
	}, moving(func(to string) tea.Cmd {
		d.scroll = max(0, d.scroll+map[string]int{"up": -1, "down": 1, "pgup": -10, "pgdown": 10, "home": -1 << 20, "end": 1 << 20}[to])
		return nil
	})...)
}

func (d *decision) approve() tea.Cmd {
	s := d.signed
	d.app.over = &ask{app: d.app, title: fmt.Sprintf("Approve version %d of the %s, as you?", s.version.VersionNumber, d.kind.gate.Title()), field: input.New("", true), editor: true,
		lines: []string{"content " + s.version.ContentSHA256, "A comment to keep with the decision, or nothing; Enter approves."},
		do: func(text string) tea.Cmd {
			in := api.ApproveInput{ApprovalInput: api.ApprovalInput{ApprovalID: s.approval.ID}, Body: &api.VersionDecision{Comment: strings.TrimSpace(text), ContentSHA256: s.version.ContentSHA256}}
			return d.decided(func(ctx context.Context) (*api.Approval, error) { return do(ctx, d.app.Caller, api.Approve, &in) })
		}}
	return nil
}

func (d *decision) reject() tea.Cmd {
	s := d.signed
	d.app.over = &ask{app: d.app, title: fmt.Sprintf("Reject version %d of the %s: why?", s.version.VersionNumber, d.kind.gate.Title()), field: input.New("", true), editor: true,
		lines: []string{"The reason is for whoever has to mend it."}, least: "a rejection needs a reason; Esc leaves it undecided",
		do: func(text string) tea.Cmd {
			in := api.RejectInput{ApprovalInput: api.ApprovalInput{ApprovalID: s.approval.ID}}
			in.Body.Reason, in.Body.ContentSHA256 = strings.TrimSpace(text), s.version.ContentSHA256
			return d.decided(func(ctx context.Context) (*api.Approval, error) {
				return do(ctx, d.app.Caller, api.RejectApproval, &in)
			})
		}}
	return nil
}

func (d *decision) decided(send func(ctx context.Context) (*api.Approval, error)) tea.Cmd {
	a := d.app
	return a.later(func(ctx context.Context) func() tea.Cmd {
		one, err := send(ctx)
		return func() tea.Cmd {
			if err != nil {
				return tea.Batch(a.fail(err), d.load())
			}
			a.found()
			a.stack = slices.DeleteFunc(a.stack, func(s screen) bool { return s == screen(d) })
			a.say("the %s, version %d, is %s", one.Gate.Title(), one.VersionNumber, one.Status)
			return a.top().load()
		}
	})
}

func (d *decision) view(w, h int) []draw.Line {
	p := draw.NewPage(w)
	switch {
	case !d.read:
		p.Text(draw.Dim, "reading…")
	case d.signed == nil:
		p.Text(draw.Plain, fmt.Sprintf("Nothing waits for a decision: the %s is not under review.", d.kind.gate.Title()))
	default:
		d.page(p)
	}
	return draw.Scrolled(p.Lines, &d.scroll, h, "")
}

func (d *decision) page(p *draw.Page) {
	s := d.signed
	p.Text(draw.Bold, fmt.Sprintf("You are about to sign the %s of %s, version %d", d.kind.gate.Title(), d.one.Name, s.version.VersionNumber))
	p.Field("content", "sha256 "+s.version.ContentSHA256, draw.Bold)
	if s.approval.TargetSHA256 != s.version.ContentSHA256 {
		p.Text(draw.Red, "! it was asked for other content than this; it has to be submitted again")
	}
	p.Field("asked by", s.approval.RequestedBy.Name+", "+print.Moment(s.approval.RequestedAt), draw.Plain)
	p.Field("made by", s.version.Method, draw.Plain)
	p.Field(d.kind.lines, fmt.Sprint(s.items), draw.Plain)
	for i := range d.kind.attrs {
		if a := &d.kind.attrs[i]; len(a.choices) > 0 {
			var parts []string
			for _, word := range a.choices {
				if n := s.counts[a.name][word]; n > 0 {
					parts = append(parts, fmt.Sprintf("%d %s", n, print.Words(word)))
				}
			}
			p.Field(a.word, strings.Join(parts, ", "), draw.Plain)
		}
	}
	style := draw.Plain
	if s.open > 0 {
		style = draw.Yellow
	}
	p.Field("still", fmt.Sprintf("%d %s", s.open, d.kind.openWord), style)
	edited := "none"
	if len(s.edited) > 0 {
		edited = fmt.Sprintf("%d: %s", len(s.edited), strings.Join(s.edited, ", "))
	}
	p.Field("people edited", edited, draw.Plain)
	if s.diff != nil {
		p.Title("Since version %d: %d added, %d removed, %d changed", s.diff.FromVersion, s.diff.Added, s.diff.Removed, s.diff.Changed)
		for _, l := range s.diff.Lines[:min(len(s.diff.Lines), 200)] {
			p.Text(draw.Plain, "- "+l.Text)
		}
	}
	if len(s.talk) > 0 {
		p.Title("What was said")
		for _, c := range s.talk {
			p.Text(draw.Dim, c.Author.Name+", "+print.Moment(c.CreatedAt)+strings.TrimSuffix(", of "+orNone(c.Item), ", of "))
			p.Indent(2, draw.Plain, c.Text)
		}
	}
}

// newApprovals lists the decisions of an assessment, and what waits for one.
func newApprovals(a *App, one api.Assessment) *table {
	t := &table{app: a, label: "Approvals", above: one.Name, empty: "No decision was asked for yet."}
	t.fetch = func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error) {
		l, err := do(ctx, c, api.ListApprovals, &api.ApprovalsInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Paging: p})
		if err != nil {
			return nil, api.Pagination{}, err
		}
		var out []entry
		for i := range l.Data {
			x := &l.Data[i]
			style := map[api.ApprovalStatus]draw.Style{api.ApprovalPending: draw.Yellow | draw.Bold, api.ApprovalApproved: draw.Green, api.ApprovalRejected: draw.Red}[x.Status]
			by := ""
			if x.DecidedBy != nil {
				by = x.DecidedBy.Name
			}
			out = append(out, newEntry(x.ID, x, []draw.Style{2: style}, capital(x.Gate.Title()), fmt.Sprint(x.VersionNumber), x.Told(), print.Moment(x.RequestedAt), by))
		}
		return out, l.Pagination, nil
	}
	t.page = func(p *draw.Page, record any) {
		x := record.(*api.Approval)
		p.Text(draw.Bold, fmt.Sprintf("The %s, version %d: %s", x.Gate.Title(), x.VersionNumber, x.Told()))
		for _, w := range x.Warnings {
			p.Text(draw.Yellow, w)
		}
		p.Field("asked by", x.RequestedBy.Name+", "+print.Moment(x.RequestedAt), draw.Plain)
		if x.DecidedBy != nil {
			p.Field("decided by", x.DecidedBy.Name+", "+momentOf(x.DecidedAt), draw.Plain)
		}
		p.Field("reason", orNone(x.Reason), draw.Plain)
		var may []string
		for _, d := range x.Delegates {
			may = append(may, d.Name)
		}
		if x.Status == api.ApprovalPending {
			p.Field("may decide", strings.Join(append([]string{"owners", "admins"}, may...), ", "), draw.Plain)
		}
		p.Field("content", "sha256 "+x.TargetSHA256, draw.Plain)
	}
	t.more = func(record any) []action.Action {
		x, _ := record.(*api.Approval)
		off := ""
		if x == nil || x.Status != api.ApprovalPending {
			off = "it waits for no decision"
		}
		return []action.Action{{Keys: []string{"enter", "A"}, Label: "decide", Off: off, Help: "opens what is to be signed, to approve or reject it",
			Do: func() tea.Cmd { return a.push(newDecision(a, one, kindOf(x.Gate))) }}}
	}
	return t.start(list.Column{Title: "what"}, list.Column{Title: "v", Width: 3, Right: true}, list.Column{Title: "status", Width: 9}, list.Column{Title: "asked", Width: 20, From: 84}, list.Column{Title: "by", Width: 16, From: 60})
}
