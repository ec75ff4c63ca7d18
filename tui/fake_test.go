package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
)

// fake is a small in-memory engine filled by a test. Of the real engine's rules, it implements only item
// revisions.
type fake struct {
	one      api.Assessment
	status   api.AssessmentStatus
	summary  api.AssessmentSummary
	soa      api.SoAVersion
	items    []*api.SoAItem
	gap      api.GapVersion
	findings []*api.Finding
	maturity api.MaturityVersion
	scores   []*api.MaturityScore
	poam     api.POAMVersion
	plan     []*api.POAMItem
	pending  []api.Approval
	approved []api.VersionDecision
	hits     []api.SearchHit
	chunks   []api.Chunk
	runs     []api.WorkflowRun
	agents   []api.AgentRun
	events   []api.AuditEvent
	talk     []api.Comment
	sync     api.SyncStatus
	clashes  []api.SyncConflict
	// decided records how conflicts were resolved.
	decided []string
	// told holds the events of each following stream of a run.
	told []string
	// said lists every operation that was called.
	said []string
	// on is called before an operation; its error, if any, is the response.
	on func(op string, in any) error
	// after is called after an operation; its error replaces the response.
	after func(op string) error
}

var someday = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func newFake(n int) *fake {
	f := &fake{one: api.Assessment{Name: "Acme 2026", State: api.StateSoADrafted, Progress: 28, Frameworks: []string{"iso-27001-2022"}}}
	f.one.ID = "a1"
	f.status = api.AssessmentStatus{
		AssessmentID: "a1",
		State:        api.StateSoADrafted,
		Progress:     28,
		NextStates:   []api.State{api.StateSoAUnderReview},
	}
	f.summary = api.AssessmentSummary{Controls: n, Applicable: n, NotEvidenced: n}
	head := func(id string) api.DeliverableVersion {
		v := api.DeliverableVersion{
			AssessmentID:  "a1",
			VersionNumber: 1,
			Status:        api.VersionDraft,
			ContentSHA256: "c1",
			ItemCount:     n,
			Method:        "rules",
		}
		v.ID, v.CreatedAt = id, someday
		return v
	}
	f.soa.DeliverableVersion, f.gap.DeliverableVersion, f.maturity.DeliverableVersion, f.poam.DeliverableVersion = head(
		"soa1",
	), head(
		"gap1",
	), head(
		"mat1",
	), head(
		"poam1",
	)
	for i := range n {
		f.items = append(f.items, fakeItem(i))
		g := &api.Finding{
			Item:     fakeHead("g", i, "gap1"),
			Status:   api.NotEvidenced,
			Result:   api.ResultNoEvid,
			GapType:  "evidence",
			Severity: api.Severities[i%5],
			Source:   "analysis",
		}
		f.findings = append(f.findings, g)
		f.scores = append(f.scores, &api.MaturityScore{Item: fakeHead("m", i, "mat1"), Level: i % 6, TargetLevel: 3, Assessed: i%4 > 0})
		p := &api.POAMItem{
			Item: fakeHead(
				"p",
				i,
				"poam1",
			),
			POAMCode: fmt.Sprintf("POAM-%04d", i),
			Weakness: "Backups are not tested",
			Severity: api.Severities[i%5],
			Priority: i + 1,
			Status:   "open",
			Effort:   "small",
			DueDate:  api.DateOf(someday.AddDate(0, 0, i%200-20)),
		}
		p.Milestones = []api.Milestone{{Title: "Plan", DueDate: api.DateOf(someday.AddDate(0, 0, i%90)), Status: "open"}}
		f.plan = append(f.plan, p)
	}
	f.events = []api.AuditEvent{
		{
			ID:      "e1",
			At:      someday,
			Actor:   api.Actor{Name: "Ada"},
			Action:  "soa.item_changed",
			Outcome: "success",
			Changes: map[string]any{"fields": []any{"owner"}},
		},
	}
	return f
}

func fakeHead(kind string, i int, version string) api.Item {
	it := api.Item{
		AssessmentID:     "a1",
		VersionID:        version,
		Revision:         1,
		ControlCode:      fmt.Sprintf("IAC-%02d", i),
		ControlTitle:     fmt.Sprintf("Control number %d", i),
		DomainCode:       "IAC",
		RequirementCodes: api.RequirementCodes{"iso-27001-2022": {"A.5.1", "A.8.2"}},
		EditedFields:     []string{},
	}
	it.ID = fmt.Sprintf("%s%d", kind, i)
	return it
}

func fakeItem(i int) *api.SoAItem {
	it := &api.SoAItem{
		Item: fakeHead(
			"i",
			i,
			"soa1",
		),
		Applicability:        api.Applicable,
		Rationale:            "It concerns everybody.",
		ImplementationStatus: api.Implementation("").Values()[i%6],
		EvidenceCoverage:     api.CoveragePartial,
		Confidence:           0.7,
		Reason:               "Half of it is said.",
		NeedsReview:          i%2 == 0,
		InclusionReasons:     []string{"framework"},
	}
	for q := range 3 {
		it.Evidence = append(
			it.Evidence,
			api.Evidence{
				ChunkID:    fmt.Sprintf("c%d", q),
				DocumentID: "d1",
				Filename:   "policy.docx",
				Quote:      "Access rights are reviewed every quarter by the owner of the system and revoked on leaving.",
				Stance:     "supports",
			},
		)
	}
	it.Statements = []api.Statement{
		{Text: "Rights are reviewed.", Verdict: "covered", Reason: "The policy says so."},
		{Text: "Rights are revoked.", Verdict: "partial", Reason: "In part."},
	}
	return it
}

// answer copies a value through JSON, as over any transport.
func answer(out, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, out)
}

func pageFrom[T any](all []T, p api.Paging) *api.List[T] {
	from := 0
	if p.Cursor != "" {
		fmt.Sscan(p.Cursor, &from)
	}
	limit := p.Limit
	if limit == 0 {
		limit = api.DefaultListLimit
	}
	to := min(len(all), from+limit)
	l := &api.List[T]{Data: append([]T{}, all[min(from, len(all)):to]...), Pagination: api.Pagination{Total: len(all), Limit: limit}}
	if to < len(all) {
		next := fmt.Sprint(to)
		l.Pagination.NextCursor, l.Pagination.HasMore = &next, true
	}
	return l
}

func only[T any](all []*T, code string, head func(*T) *api.Item) []*T {
	if code == "" {
		return all
	}
	var out []*T
	for _, t := range all {
		if head(t).ControlCode == code {
			out = append(out, t)
		}
	}
	return out
}

func (f *fake) Call(ctx context.Context, op *api.Operation, in, out any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.said = append(f.said, op.ID)
	if f.on != nil {
		if err := f.on(op.ID, in); err != nil {
			return err
		}
	}
	err := f.reply(op, in, out)
	if err == nil && f.after != nil {
		err = f.after(op.ID)
	}
	return err
}

func (f *fake) reply(op *api.Operation, in, out any) error {
	switch x := in.(type) {
	case *api.SoAItemsInput:
		return answer(out, pageFrom(only(f.items, x.ControlCode, func(i *api.SoAItem) *api.Item { return &i.Item }), x.Paging))
	case *api.FindingsInput:
		return answer(out, pageFrom(only(f.findings, x.ControlCode, func(i *api.Finding) *api.Item { return &i.Item }), x.Paging))
	case *api.MaturityScoresInput:
		return answer(out, pageFrom(f.scores, x.Paging))
	case *api.POAMItemsInput:
		return answer(out, pageFrom(f.plan, x.Paging))
	case *api.UpdateSoAItemInput:
		return f.update(x, out)
	case *api.UpdateFindingInput:
		for _, g := range f.findings {
			if g.ID == x.FindingID {
				set(&g.Severity, x.Body.Severity)
				x.Body.Owner.AssignIfSet(&g.Owner)
				x.Body.DueDate.AssignIfSet(&g.DueDate)
				g.Revision++
				return answer(out, g)
			}
		}
		return api.NotFound("finding", x.FindingID)
	case *api.ApproveInput:
		f.approved = append(f.approved, *x.Body)
		if x.Body.ContentSHA256 != f.soa.ContentSHA256 {
			return api.Conflict("the content is another by now: read it again and decide")
		}
		f.pending, f.soa.Status = nil, api.VersionApproved
		done := api.Approval{Gate: api.GateSoA, VersionNumber: 1, Status: api.ApprovalApproved}
		done.ID = "ap1"
		return answer(out, done)
	case *api.SyncConflictsInput:
		var some []api.SyncConflict
		for _, c := range f.clashes {
			if x.Status == "" || x.Status == c.Status {
				some = append(some, c)
			}
		}
		return answer(out, pageFrom(some, x.Paging))
	case *api.ResolveSyncInput:
		return f.resolve(x, out)
	case *api.WorkflowEventsInput:
		if len(f.told) == 0 {
			return api.RateLimited(1)
		}
		out.(*api.File).Content = io.NopCloser(strings.NewReader(f.told[0]))
		f.told = f.told[1:]
		return nil
	case *api.SearchInput:
		return answer(out, api.SearchAnswer{Query: x.Body.Query, Data: append([]api.SearchHit{}, f.hits...)})
	}
	switch op.ID {
	case "list-assessments":
		return answer(out, pageFrom([]api.Assessment{f.one}, api.Paging{}))
	case "get-assessment":
		return answer(out, f.one)
	case "get-assessment-status":
		f.status.NextStep = f.status.DescribeNextStep()
		return answer(out, f.status)
	case "get-assessment-summary":
		return answer(out, f.summary)
	case "list-soa-versions":
		return answer(out, pageFrom([]api.SoAVersion{f.soa}, api.Paging{}))
	case "get-soa-version":
		return answer(out, f.soa)
	case "list-gap-analysis-versions":
		return answer(out, pageFrom([]api.GapVersion{f.gap}, api.Paging{}))
	case "list-maturity-versions":
		return answer(out, pageFrom([]api.MaturityVersion{f.maturity}, api.Paging{}))
	case "get-maturity":
		return answer(out, f.maturity)
	case "list-poam-versions":
		return answer(out, pageFrom([]api.POAMVersion{f.poam}, api.Paging{}))
	case "list-approvals":
		return answer(out, pageFrom(f.pending, api.Paging{}))
	case "list-document-chunks":
		return answer(out, pageFrom(f.chunks, api.Paging{}))
	case "get-sync-status":
		return answer(out, f.sync)
	case "list-workflows":
		return answer(out, pageFrom(f.runs, api.Paging{}))
	case "list-assessment-agent-runs":
		return answer(out, pageFrom(f.agents, api.Paging{}))
	case "list-audit-events":
		return answer(out, pageFrom(f.events, api.Paging{}))
	case "list-comments":
		return answer(out, pageFrom(f.talk, api.Paging{}))
	case "list-documents":
		return answer(out, pageFrom([]api.Document{{Filename: "policy.docx", Status: api.DocumentIngested, ChunkCount: 3}}, api.Paging{}))
	}
	reflect.ValueOf(out).Elem().SetZero()
	return nil
}

// resolve resolves a conflict once, as the remote does.
func (f *fake) resolve(x *api.ResolveSyncInput, out any) error {
	for i := range f.clashes {
		c := &f.clashes[i]
		if c.ID != x.ConflictID {
			continue
		}
		if c.Status != "open" {
			return api.Conflict("this conflict has already been resolved")
		}
		by := "Ada"
		c.Status, c.Choice, c.ResolvedBy, c.ResolvedAt = "resolved", x.Body.Choice, &by, &someday
		f.decided = append(f.decided, x.Body.Choice+" "+string(x.Body.Value))
		return answer(out, c)
	}
	return api.NotFound("conflict", x.ConflictID)
}

func set[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}

func (f *fake) update(x *api.UpdateSoAItemInput, out any) error {
	for _, it := range f.items {
		if it.ID != x.SoAItemID {
			continue
		}
		if x.IfMatch != fmt.Sprintf("%q", fmt.Sprint(it.Revision)) {
			return api.Invalid("If-Match", "the record is at revision %d, not %s: read it again and decide", it.Revision, x.IfMatch)
		}
		f.change(it, x)
		return answer(out, it)
	}
	return api.NotFound("item", x.SoAItemID)
}

func (f *fake) change(it *api.SoAItem, x *api.UpdateSoAItemInput) {
	b := x.Body
	note := func(name string, on bool) {
		if on && !slices.Contains(it.EditedFields, name) {
			it.EditedFields = append(it.EditedFields, name)
		}
	}
	set(&it.Applicability, b.Applicability)
	note("applicability", b.Applicability != nil)
	set(&it.ImplementationStatus, b.ImplementationStatus)
	note("implementation_status", b.ImplementationStatus != nil)
	set(&it.Rationale, b.Rationale)
	note("rationale", b.Rationale != nil)
	note("owner", b.Owner.AssignIfSet(&it.Owner))
	note("note", b.Note.AssignIfSet(&it.Note))
	it.NeedsReview = it.NeedsReview && b.Applicability == nil && b.ImplementationStatus == nil
	set(&it.NeedsReview, b.NeedsReview)
	note("needs_review", b.NeedsReview != nil)
	for _, name := range b.Reset {
		rules := fakeItem(slices.Index(f.items, it))
		switch name {
		case "applicability", "implementation_status":
			it.Applicability = rules.Applicability
			it.ImplementationStatus = rules.ImplementationStatus
			it.Rationale = rules.Rationale
			it.NeedsReview = rules.NeedsReview
		case "owner":
			it.Owner = rules.Owner
		case "note":
			it.Note = rules.Note
		}
	}
	it.EditedFields = slices.DeleteFunc(it.EditedFields, func(n string) bool { return slices.Contains(b.Reset, n) })
	it.Revision++
}

// stage is an interface on a fake; the test runs its commands.
type stage struct {
	t    testing.TB
	fake *fake
	app  *App
	// waits holds the pending timers.
	waits []func() tea.Cmd
	quit  bool
}

func newStage(t testing.TB, f *fake) *stage { return stageOn(t, f, f) }

// stageOn returns an interface on any caller.
func stageOn(t testing.TB, c Caller, f *fake) *stage {
	s := &stage{t: t, fake: f}
	s.app = newApp(
		t.Context(),
		Options{Caller: c, Location: "local", Clock: func() time.Time { return someday }, ExportFolder: t.TempDir()},
	)
	s.app.schedule = func(_ time.Duration, f func() tea.Cmd) tea.Cmd {
		s.waits = append(s.waits, f)
		return nil
	}
	s.size(100, 30)
	s.run(s.app.Init())
	return s
}

// run runs a command and all commands that result from it.
func (s *stage) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch m := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range m {
			s.run(c)
		}
	case tea.QuitMsg:
		s.quit = true
	default:
		_, next := s.app.Update(m)
		s.run(next)
	}
}

func (s *stage) size(w, h int) { s.app.Update(tea.WindowSizeMsg{Width: w, Height: h}) }

// fire fires the pending timers.
func (s *stage) fire() {
	waits := s.waits
	s.waits = nil
	for _, f := range waits {
		s.run(f())
	}
}

var keyTypes = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
	"right": tea.KeyRight, "tab": tea.KeyTab,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
	"backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	"ctrl+c": tea.KeyCtrlC, "ctrl+r": tea.KeyCtrlR, "ctrl+j": tea.KeyCtrlJ, "ctrl+u": tea.KeyCtrlU,
	"ctrl+w": tea.KeyCtrlW, "ctrl+o": tea.KeyCtrlO, "ctrl+l": tea.KeyCtrlL, "ctrl+k": tea.KeyCtrlK,
}

func keyOf(name string) tea.KeyMsg {
	if t, is := keyTypes[name]; is {
		return tea.KeyMsg{Type: t}
	}
	if name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// press sends keys by name.
func (s *stage) press(keys ...string) {
	for _, k := range keys {
		_, cmd := s.app.Update(keyOf(k))
		s.run(cmd)
	}
}

// write types a text.
func (s *stage) write(text string) {
	for _, r := range text {
		s.press(string(r))
	}
}

// text returns the screen without styles.
func (s *stage) text() string { return styles.ReplaceAllString(s.app.View(), "") }

func (s *stage) sees(wants ...string) {
	s.t.Helper()
	text := s.text()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			s.t.Errorf("%q is not on the screen:\n%s", want, text)
		}
	}
}

func (s *stage) misses(words ...string) {
	s.t.Helper()
	text := s.text()
	for _, w := range words {
		if strings.Contains(text, w) {
			s.t.Errorf("%q is on the screen:\n%s", w, text)
		}
	}
}

// review opens the review of a gate by its key in the overview.
func (s *stage) review(key string) *review {
	s.t.Helper()
	s.press("enter", key)
	v, ok := s.app.topScreen().(*review)
	if !ok {
		s.t.Fatalf("no review but %s:\n%s", s.app.topScreen().name(), s.text())
	}
	return v
}
