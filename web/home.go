package web

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// homePage holds the data for the start page.
type homePage struct {
	Waiting     []waiting
	Mine        []planRow
	Assessments []assessmentRow
	// Mentions are the comments that mention the visitor, newest first.
	Mentions  []mentionRow
	MayCreate bool
	// More is the number of further assessments, which are not shown.
	More int
}

// waiting is a pending decision, with whether the visitor may make it.
type waiting struct {
	api.WaitingFor
	Yours bool
}

// assessmentRow is an assessment with its totals. Summary is nil for closed assessments, and for all open assessments
// after the first openSummaries.
type assessmentRow struct {
	api.Assessment
	Summary *api.AssessmentSummary
}

// planRow is an open plan item owned by the visitor.
type planRow struct {
	api.POAMItem
	AssessmentName string
	Overdue        bool
}

// mentionRow is a comment that mentions the visitor. Href links to the comment, relative to the start page.
type mentionRow struct {
	api.Comment
	AssessmentName, Href string
}

// maxMentions is the maximum number of mentions on the start page.
const maxMentions = 10

// mentionsIn returns the comments of an assessment that mention the visitor.
func (v *visit) mentionsIn(a api.Assessment) (out []mentionRow, err error) {
	list, err := all(v, api.ListComments, &api.CommentsInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Mentions: v.me.User.Email,
	})
	for i := range list {
		c := &list[i]
		href := "assessments/" + a.ID + "/" + kindForGate(c.Gate).Noun + "?q=" + url.QueryEscape(orEmpty(c.Item))
		out = append(out, mentionRow{*c, a.Name, href})
	}
	return out, err
}

// openSummaries is the number of assessments whose totals and plan items the start page shows.
const openSummaries = 12

func (v *visit) showHome() error {
	var page homePage
	if v.me.OrganizationID == nil {
		return v.render("no-organization.html", "Welcome", nil)
	}
	board, err := do(v, api.GetDashboard, &api.OrgInput{OrgID: *v.me.OrganizationID})
	if err != nil {
		return err
	}
	for _, w := range board.Waiting {
		page.Waiting = append(page.Waiting, waiting{w, v.may(api.ApprovalDecide)})
	}
	list, err := do(v, api.ListAssessments, &api.AssessmentsInput{Paging: api.Paging{Limit: api.MaxListLimit}, Sort: "-updated_at"})
	if err != nil {
		return err
	}
	page.More = list.Pagination.Total - len(list.Data)
	summaries := 0
	for _, a := range list.Data {
		row := assessmentRow{Assessment: a}
		if a.State != api.StateClosed && summaries < openSummaries {
			summaries++
			if row.Summary, err = do(v, api.GetAssessmentSummary, &api.AssessmentInput{AssessmentID: a.ID}); err != nil {
				return err
			}
			mine, err := v.ownPlanItems(a)
			if err != nil {
				return err
			}
			page.Mine = append(page.Mine, mine...)
			mentions, err := v.mentionsIn(a)
			if err != nil {
				return err
			}
			page.Mentions = append(page.Mentions, mentions...)
		}
		page.Assessments = append(page.Assessments, row)
	}
	slices.SortStableFunc(page.Mine, func(a, b planRow) int { return cmp.Compare(a.CurrentDueDate(), b.CurrentDueDate()) })
	slices.SortStableFunc(page.Mentions, func(a, b mentionRow) int { return b.CreatedAt.Compare(a.CreatedAt) })
	page.Mentions = page.Mentions[:min(len(page.Mentions), maxMentions)]
	page.MayCreate = v.may("assessment:write")
	return v.render("home.html", "Home", page)
}

// ownPlanItems returns the open items of an assessment's plan that the visitor owns.
func (v *visit) ownPlanItems(a api.Assessment) ([]planRow, error) {
	if a.Counts.POAMItems == 0 || v.me.User.Name == "" {
		return nil, nil
	}
	version, err := kindForGate(api.GatePOAM).newest(v, a.ID)
	if err != nil || version == nil {
		return nil, err
	}
	items, err := all(v, api.ListPOAMItems, &api.POAMItemsInput{
		POAMInput: api.POAMInput{POAMVersionID: version.ID}, Owner: v.me.User.Name,
	})
	var out []planRow
	for _, i := range items {
		if i.IsOpen() {
			out = append(out, planRow{i, a.Name, i.CurrentDueDate() < api.DateOf(v.Clock())})
		}
	}
	return out, err
}

// assessmentPage holds the data for an assessment's page.
type assessmentPage struct {
	api.Assessment
	Summary   *api.AssessmentSummary
	Status    *api.AssessmentStatus
	Steps     []step
	Next      string
	Approvals []api.Approval
	// Runs are the workflow runs that have not ended.
	Runs []api.WorkflowRun
	// MayUpload is set if there are no documents yet, and the visitor may add some.
	MayUpload bool
	// Start is the label of the button that starts the workflow, and Target the next state. They are "" if the
	// visitor may not change the state.
	Start  string
	Target api.State
	// MoveLabel is the label of the button that moves to Target.
	MoveLabel string
	// Review is the drafted deliverable that is waiting to be reviewed and submitted; nil if there is none.
	Review *kind
	// Coverage and Severities are the bars of the charts.
	Coverage, Severities []bar
	// Domains is the maturity of the domains. Radar is its chart, or nil if there are fewer than three domains.
	Domains []domainRow
	Radar   *radar
	// Versions compares the assessment's versions, or is nil if there are fewer than two. VersionCount is their number.
	Versions     *trend
	VersionCount int
	// Trend compares the assessment with earlier ones; nil if there are none.
	Trend *trend
}

// bar is one bar of a chart: a count, and its percentage of the total.
type bar struct {
	Name, Tone     string
	Count, Percent int
}

// newBar returns a bar for n of a total.
func newBar(value string, n, whole int) bar {
	return bar{Name: prose.Label(value), Tone: value, Count: n, Percent: n * 100 / max(whole, 1)}
}

// step is a stage of the lifecycle. Is has the value "done", "current" or "ahead".
type step struct{ Name, Is string }

var steps = []struct {
	name string
	done api.State
}{
	{"Documents", api.StatePreAnalysisReady},
	{"Scope", api.StateScopeDrafted},
	{"Statement of Applicability", api.StateSoAApproved},
	{"Gap analysis", api.StateGapAnalysisApproved},
	{"Maturity", api.StateMaturityApproved},
	{"POA&M", api.StatePOAMApproved},
	{"Reports", api.StateReportGenerated},
	{"Closed", api.StateClosed},
}

func (v *visit) showAssessment() error {
	a, err := v.findAssessment()
	if err != nil {
		return err
	}
	in := api.AssessmentInput{AssessmentID: a.ID}
	page := assessmentPage{Assessment: *a}
	if page.Summary, err = do(v, api.GetAssessmentSummary, &in); err != nil {
		return err
	}
	if page.Status, err = do(v, api.GetAssessmentStatus, &in); err != nil {
		return err
	}
	if page.Approvals, err = all(v, api.ListApprovals, &api.ApprovalsInput{AssessmentInput: in}); err != nil {
		return err
	}
	current := false
	for _, s := range steps {
		is := "ahead"
		if a.State.HasReached(s.done) {
			is = "done"
		} else if !current {
			is, current = "current", true
		}
		page.Steps = append(page.Steps, step{s.name, is})
	}
	page.Next = page.Status.NextStep
	if page.Runs, err = v.liveRuns(a.ID); err != nil {
		return err
	}
	if gate := page.Status.ReadyForReview; gate != nil && a.State != api.StateClosed {
		page.Review = kindForGate(*gate)
	} else if a.Counts.Documents == 0 {
		page.MayUpload = v.may("document:write") && a.State != api.StateClosed
	} else if len(page.Runs) == 0 && a.State != api.StateClosed {
		if v.may("workflow:write") && !a.State.HasReached(api.StateReportGenerated) {
			page.Start = "Continue to the next review"
		}
		if v.may("assessment:transition") && len(page.Status.NextStates) > 0 && len(page.Status.BlockedBy) == 0 {
			move, _ := a.State.NextMove()
			page.Target, page.MoveLabel = move.To, page.Next
			if a.State == api.StateReportGenerated { // the next step is more than this move
				page.MoveLabel = move.Work
			}
		}
	}
	if s := page.Summary; s.Applicable > 0 {
		for name, n := range map[api.Implementation]int{
			api.Implemented: s.Implemented, api.PartiallyImplemented: s.PartiallyImpl, api.Planned: s.Planned,
			api.NotImplemented: s.NotImplemented, api.NotEvidenced: s.NotEvidenced,
		} {
			page.Coverage = append(page.Coverage, newBar(string(name), n, s.Applicable))
		}
		order := api.Implementation("").Values()
		slices.SortFunc(page.Coverage, func(x, y bar) int {
			return cmp.Compare(slices.Index(order, api.Implementation(x.Tone)), slices.Index(order, api.Implementation(y.Tone)))
		})
		findings := 0
		for _, n := range s.FindingsBySeverity {
			findings += n
		}
		for _, severity := range api.Severities {
			if n := s.FindingsBySeverity[severity]; n > 0 {
				page.Severities = append(page.Severities, newBar(string(severity), n, findings))
			}
		}
	}
	if page.Domains, page.Radar, err = v.maturityByDomain(a.ID); err != nil {
		return err
	}
	if page.Versions, page.VersionCount, err = v.versionTrend(a.ID); err != nil {
		return err
	}
	if page.Trend, err = v.assessmentTrend(a); err != nil {
		return err
	}
	v.tabs, v.live = assessmentTabs(a, ""), "assessments/"+a.ID+"/events"
	v.busy = len(page.Runs) > 0
	return v.render("assessment.html", a.Name, page)
}
