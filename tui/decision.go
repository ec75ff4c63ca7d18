package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
	"github.com/scf-service/service/tui/list"
)

// decision shows the version awaiting approval at a gate, and lets the user approve or reject it. The decision
// is bound to the content shown, so that the user can't approve later changes without seeing them.
type decision struct {
	app        *App
	assessment api.Assessment
	kind       *deliverableType
	loaded     bool
	subject    *decisionSubject
	scroll     int
}

// decisionSubject is the version being decided on.
type decisionSubject struct {
	approval *api.Approval
	version  *api.DeliverableVersion
	// counts holds the number of items by value for each choice field; edited holds the items with
	// manual changes.
	counts    map[string]map[string]int
	edited    []string
	openItems int
	items     int
	diff      *api.ArtifactDiff
	comments  []api.Comment
}

func newDecisionScreen(a *App, assessment api.Assessment, k *deliverableType) *decision {
	return &decision{app: a, assessment: assessment, kind: k}
}

func (d *decision) name() string { return "Decision" }
func (d *decision) title() string {
	return d.assessment.Name + " › decide on the " + d.kind.gate.Title()
}

func (d *decision) load() tea.Cmd {
	return d.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
		s, err := readDecisionSubject(ctx, d.app.Caller, d.assessment.ID, d.kind)
		return func() tea.Cmd {
			if err != nil {
				return d.app.showErrorOrReconnect(err)
			}
			d.app.markConnected()
			d.subject, d.loaded = s, true
			return nil
		}
	})
}

// readDecisionSubject returns the version that awaits a decision at a deliverable's gate, or nil if there
// is none.
func readDecisionSubject(ctx context.Context, c Caller, assessmentID string, k *deliverableType) (*decisionSubject, error) {
	in := api.AssessmentInput{AssessmentID: assessmentID}
	waiting, err := call(
		ctx,
		c,
		api.ListApprovals,
		&api.ApprovalsInput{AssessmentInput: in, Paging: api.Paging{Limit: 1}, Status: api.ApprovalPending, Gate: k.gate},
	)
	if err != nil || len(waiting.Data) == 0 {
		return nil, err
	}
	s := &decisionSubject{approval: &waiting.Data[0], counts: map[string]map[string]int{}}
	if s.version, err = k.fetchVersion(ctx, c, s.approval.TargetID); err != nil {
		return nil, err
	}
	for cursor := ""; ; {
		items, at, err := k.fetchItems(ctx, c, s.version.ID, "", api.Paging{Limit: api.MaxListLimit, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			s.countRow(k.newRow(item))
		}
		if at.NextCursor == nil || len(items) == 0 {
			break
		}
		cursor = *at.NextCursor
	}
	talk, err := call(
		ctx,
		c,
		api.ListComments,
		&api.CommentsInput{AssessmentInput: in, Paging: api.Paging{Limit: api.MaxListLimit}, Gate: k.gate},
	)
	if err != nil {
		return nil, err
	}
	s.comments = talk.Data
	if s.version.VersionNumber > 1 {
		if s.diff, err = readDiffToPrevious(ctx, c, in, k.gate, s.version.VersionNumber); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// readDiffToPrevious returns the differences from the previous version, or nil if there is none.
func readDiffToPrevious(ctx context.Context, c Caller, in api.AssessmentInput, g api.Gate, version int) (*api.ArtifactDiff, error) {
	l, err := call(ctx, c, api.ListArtifacts, &api.ArtifactsInput{AssessmentInput: in, Type: string(g)})
	if err != nil || len(l.Data) == 0 {
		return nil, err
	}
	diff, err := call(
		ctx,
		c,
		api.DiffArtifact,
		&api.ArtifactDiffInput{ArtifactInput: api.ArtifactInput{ArtifactID: l.Data[0].ID}, From: version - 1, To: version},
	)
	if api.IsCode(err, api.CodeNotFound) || api.IsCode(err, api.CodeValidation) {
		return nil, nil
	}
	return diff, err
}

// countRow adds an item to the counts of the version being decided on.
func (s *decisionSubject) countRow(r *row) {
	s.items++
	for i := range r.kind.attrs {
		if a := &r.kind.attrs[i]; len(a.choices) > 0 {
			if s.counts[a.name] == nil {
				s.counts[a.name] = map[string]int{}
			}
			s.counts[a.name][r.savedValue(a.name)]++
		}
	}
	if r.kind.isOpen(r) {
		s.openItems++
	}
	if r.head.EditedBy != nil {
		s.edited = append(s.edited, r.kind.keyOf(r.item))
	}
}

func (d *decision) actions() []action.Action {
	off := ""
	switch {
	case !d.loaded:
		off = "still loading"
	case d.subject == nil:
		off = "no decision is pending"
	}
	return append([]action.Action{
		{
			Keys:           []string{"a"},
			Label:          "approve",
			DisabledReason: off,
			Help:           "approves exactly this content in your name, with an optional comment",
			Do:             d.promptApproval,
		},
		{
			Keys:           []string{"r"},
			Label:          "reject",
			DisabledReason: off,
			Help:           "rejects the version, with a reason for the person who has to revise it",
			Do:             d.promptRejection,
		},
		{
			Keys:  []string{"o"},
			Label: "items",
			Help:  "opens the items for review before you decide",
			Do:    func() tea.Cmd { return d.app.push(d.app.reviewFor(d.assessment, d.kind.gate)) },
		},
	}, movementActions(func(to string) tea.Cmd {
		d.scroll = max(0, d.scroll+map[string]int{"up": -1, "down": 1, "pgup": -10, "pgdown": 10, "home": -1 << 20, "end": 1 << 20}[to])
		return nil
	})...)
}

func (d *decision) promptApproval() tea.Cmd {
	s := d.subject
	d.app.overlay = &textPrompt{
		app:         d.app,
		title:       fmt.Sprintf("Approve version %d of the %s in your name?", s.version.VersionNumber, d.kind.gate.Title()),
		field:       input.New("", true),
		enterLabel:  "approve",
		allowEditor: true,
		lines: []string{
			"content " + s.version.ContentSHA256,
			"You can enter a comment to record with the decision. Press Enter to approve.",
		},
		onSubmit: func(text string) tea.Cmd {
			in := api.ApproveInput{
				ApprovalInput: api.ApprovalInput{ApprovalID: s.approval.ID},
				Body:          &api.VersionDecision{Comment: strings.TrimSpace(text), ContentSHA256: s.version.ContentSHA256},
			}
			return d.submitDecision(func(ctx context.Context) (*api.Approval, error) { return call(ctx, d.app.Caller, api.Approve, &in) })
		},
	}
	return nil
}

func (d *decision) promptRejection() tea.Cmd {
	s := d.subject
	d.app.overlay = &textPrompt{
		app:          d.app,
		title:        fmt.Sprintf("Reject version %d of the %s: enter the reason", s.version.VersionNumber, d.kind.gate.Title()),
		field:        input.New("", true),
		enterLabel:   "reject",
		allowEditor:  true,
		lines:        []string{"The reason is shown to the person who has to revise this version."},
		emptyMessage: "a rejection requires a reason; press Esc to cancel",
		onSubmit: func(text string) tea.Cmd {
			in := api.RejectInput{ApprovalInput: api.ApprovalInput{ApprovalID: s.approval.ID}}
			in.Body.Reason, in.Body.ContentSHA256 = strings.TrimSpace(text), s.version.ContentSHA256
			return d.submitDecision(func(ctx context.Context) (*api.Approval, error) {
				return call(ctx, d.app.Caller, api.RejectApproval, &in)
			})
		},
	}
	return nil
}

// submitDecision sends a decision and returns to the previous screen.
func (d *decision) submitDecision(send func(ctx context.Context) (*api.Approval, error)) tea.Cmd {
	a := d.app
	return a.runInBackground(func(ctx context.Context) func() tea.Cmd {
		one, err := send(ctx)
		return func() tea.Cmd {
			if err != nil {
				return tea.Batch(a.showErrorOrReconnect(err), d.load())
			}
			a.markConnected()
			a.stack = slices.DeleteFunc(a.stack, func(s screen) bool { return s == screen(d) })
			a.setStatus("the %s, version %d, is %s", one.Gate.Title(), one.VersionNumber, one.Status)
			return a.topScreen().load()
		}
	})
}

func (d *decision) view(w, h int) []draw.Line {
	p := draw.NewPage(w)
	switch {
	case !d.loaded:
		p.AddText(draw.Dim, "loading…")
	case d.subject == nil:
		p.AddText(draw.Plain, fmt.Sprintf("No decision is pending: the %s is not under review.", d.kind.gate.Title()))
	default:
		d.renderSubject(p)
	}
	return draw.ScrollLines(p.Lines, &d.scroll, h, "")
}

// renderSubject shows the version being decided on: its counts, changes, comments and open items.
func (d *decision) renderSubject(p *draw.Page) {
	s := d.subject
	p.AddText(
		draw.Bold,
		fmt.Sprintf("Approval of the %s for %s, version %d", d.kind.gate.Title(), d.assessment.Name, s.version.VersionNumber),
	)
	p.AddField("content", "sha256 "+s.version.ContentSHA256, draw.Bold)
	if s.approval.TargetSHA256 != s.version.ContentSHA256 {
		p.AddText(draw.Red, "! the approval was requested for different content; the version must be submitted again")
	}
	for _, w := range s.approval.Warnings {
		p.AddText(draw.Yellow, w)
	}
	p.AddField("requested by", s.approval.RequestedBy.Name+", "+print.FormatTime(s.approval.RequestedAt), draw.Plain)
	p.AddField("method", s.version.Method, draw.Plain)
	style := draw.Plain
	if s.openItems > 0 {
		style = draw.Yellow
	}
	p.AddField(d.kind.plural, fmt.Sprintf("%d, %d %s", s.items, s.openItems, d.kind.openLabel), style)
	for i := range d.kind.attrs {
		if a := &d.kind.attrs[i]; len(a.choices) > 0 {
			var parts []string
			for _, word := range append(slices.Clone(a.choices), "") {
				switch n := s.counts[a.name][word]; {
				case n == 0:
				case a.form == formNumber: // a level
					parts = append(parts, fmt.Sprintf("%s: %d", formatLevel(word), n))
				case word != "":
					parts = append(parts, fmt.Sprintf("%d %s", n, prose.Humanize(word)))
				}
			}
			p.AddField(a.label, strings.Join(parts, ", "), draw.Plain)
		}
	}
	edited := "none"
	if len(s.edited) > 0 {
		edited = fmt.Sprintf("%d: %s", len(s.edited), strings.Join(s.edited, ", "))
	}
	p.AddField("manual edits", edited, draw.Plain)
	if s.diff != nil {
		note := ""
		if c := s.approval.Changes; c != nil && c.SinceVersion == s.diff.FromVersion {
			note = c.RequirementsNote()
		}
		p.AddTitle(
			"Since version %d: %d added, %d removed, %d changed%s",
			s.diff.FromVersion, s.diff.Added, s.diff.Removed, s.diff.Changed, note,
		)
		for _, l := range s.diff.Lines[:min(len(s.diff.Lines), 200)] {
			p.AddText(draw.Plain, "- "+l.Text)
		}
	}
	if len(s.comments) > 0 {
		p.AddTitle("Comments")
		for _, c := range s.comments {
			p.AddText(draw.Dim, c.Author.Name+", "+print.FormatTime(c.CreatedAt)+strings.TrimSuffix(", of "+stringOrEmpty(c.Item), ", of "))
			p.AddIndented(2, draw.Plain, c.Text)
		}
	}
}

// newApprovalsScreen returns the screen that lists an assessment's approvals.
func newApprovalsScreen(a *App, assessment api.Assessment) *table {
	t := &table{app: a, label: "Approvals", parentTitle: assessment.Name, emptyText: "No approvals requested yet."}
	t.fetch = func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error) {
		l, err := call(
			ctx,
			c,
			api.ListApprovals,
			&api.ApprovalsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment.ID}, Paging: p},
		)
		if err != nil {
			return nil, api.Pagination{}, err
		}
		var out []entry
		for i := range l.Data {
			x := &l.Data[i]
			style := map[api.ApprovalStatus]draw.Style{
				api.ApprovalPending:  draw.Yellow | draw.Bold,
				api.ApprovalApproved: draw.Green,
				api.ApprovalRejected: draw.Red,
			}[x.Status]
			out = append(
				out,
				newEntry(
					x.ID,
					x,
					[]draw.Style{2: style},
					prose.Capitalize(x.Gate.Title()),
					fmt.Sprint(x.VersionNumber),
					x.DisplayStatus(),
					print.FormatTime(x.RequestedAt),
					x.Decider(),
				),
			)
		}
		return out, l.Pagination, nil
	}
	t.renderRecord = func(p *draw.Page, record any) {
		x := record.(*api.Approval)
		p.AddText(draw.Bold, fmt.Sprintf("The %s, version %d: %s", x.Gate.Title(), x.VersionNumber, x.DisplayStatus()))
		for _, w := range x.Warnings {
			p.AddText(draw.Yellow, w)
		}
		p.AddField("requested by", x.RequestedBy.Name+", "+print.FormatTime(x.RequestedAt), draw.Plain)
		if x.DecidedBy != nil {
			p.AddField("decided by", x.Decider()+", "+formatTimePtr(x.DecidedAt), draw.Plain)
		}
		p.AddField("reason", stringOrEmpty(x.Reason), draw.Plain)
		var may []string
		for _, d := range x.Delegates {
			may = append(may, d.Name)
		}
		if x.Status == api.ApprovalPending {
			p.AddField("may decide", strings.Join(append([]string{"owners", "admins"}, may...), ", "), draw.Plain)
		}
		p.AddField("content", "sha256 "+x.TargetSHA256, draw.Plain)
	}
	t.extraActions = func(record any) []action.Action {
		x, _ := record.(*api.Approval)
		off := ""
		if x == nil || x.Status != api.ApprovalPending {
			off = "this approval is not pending"
		}
		return []action.Action{{
			Keys: []string{"enter", "A"}, Label: "decide", DisabledReason: off, Help: "opens the version under review, to approve or reject it",
			Do: func() tea.Cmd { return a.push(newDecisionScreen(a, assessment, deliverableTypeFor(x.Gate))) },
		}}
	}
	return t.withColumns(
		list.Column{Title: "what"},
		list.Column{Title: "v", Width: 3, AlignRight: true},
		list.Column{Title: "status", Width: 9},
		list.Column{Title: "requested", Width: 20, ShowFrom: 84},
		list.Column{Title: "by", Width: 16, ShowFrom: 60},
	)
}
