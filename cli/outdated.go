package cli

import (
	"context"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// renderOutdatedDeliverables prints which deliverables are based on outdated inputs, and the commands that
// update them.
func (a *app) renderOutdatedDeliverables(p *print.Page, st *api.AssessmentStatus) {
	if len(st.Outdated) == 0 {
		return
	}
	isClosed := len(st.NextStates) == 0
	if isClosed {
		p.Title("Closed with drafts out of date")
	} else {
		p.Title("Drafts out of date")
	}
	var commands, waiting []string
	for _, o := range st.Outdated {
		p.ListItem(0, "%s", o.Message)
		if o.Reason == "unapproved" {
			waiting = append(waiting, gateCommandName(o.Gate)+" show")
			continue
		}
		words := gateCommandName(o.Gate) + " regenerate"
		if o.Reason == "documents" {
			words = evidenceRefreshCommand(st.State)
		}
		if o.Gate == api.GateSoA && slices.ContainsFunc(st.Outdated, func(o api.Outdated) bool { return o.Reason == "scope" }) {
			words = "soa regenerate" // the command also reads the documents
		}
		if !slices.Contains(commands, words) {
			commands = append(commands, words)
		}
	}
	if isClosed { // nothing can be updated
		return
	}
	if slices.ContainsFunc(st.Outdated, func(o api.Outdated) bool { return o.Gate == api.GateSoA && o.Reason != "unapproved" }) {
		p.Text("To see what a new draft of the %s would change:", api.GateSoA.Title())
		p.Command(a.suggestedCommandLine("soa draft --dry-run"))
	}
	if len(commands) > 0 {
		p.Text("To regenerate the outdated drafts and keep manual edits (requires a new approval):")
	}
	for _, words := range commands {
		p.Command(a.suggestedCommandLine(words))
	}
	if len(waiting) > 0 {
		p.Text("To see the version that isn't approved:")
	}
	for _, words := range waiting {
		p.Command(a.suggestedCommandLine(words))
	}
}

// evidenceRefreshCommand returns the command with which a user rereads the evidence from the current
// documents.
func evidenceRefreshCommand(state api.State) string {
	if state.HasReached(api.StateSoAApproved) {
		return "workflow start gap_refresh"
	}
	return "soa refresh"
}

// approvalWarningsRenderer returns a function that prints the warnings for a deliverable that was just submitted or
// approved, or nil if there are no warnings. The warnings name outdated deliverables. For a Statement of
// Applicability, they also name items that nobody has reviewed, controls that are implemented without evidence or not
// assessed, and verdicts that depend on a single document. Read errors are ignored, because the decision has already
// been made.
func (a *app) approvalWarningsRenderer(ctx context.Context, assessment, versionID string, g api.Gate) func(*print.Page) {
	st, err := call(ctx, a, api.GetAssessmentStatus, &api.AssessmentInput{AssessmentID: assessment})
	if err != nil {
		return nil
	}
	var unjudged, review, reliance []string
	if c := a.changesUnderReview(ctx, assessment, versionID, g); c != nil {
		review = append(review, c.Summary())
	}
	if g == api.GateSoA {
		if v, err := call(ctx, a, api.GetSoA, &api.SoAInput{SoAVersionID: versionID}); err == nil {
			review, reliance = append(review, v.ReviewCount.Warnings(v.ItemCount)...), v.Reliance.Warnings()
		}
		if v, err := call(ctx, a, api.ValidateSoA, &api.SoAInput{SoAVersionID: versionID}); err == nil {
			for _, i := range v.Issues {
				if i.Rule == "applicable-assessed" {
					unjudged = append(unjudged, i.ControlCode)
				}
			}
		}
	}
	if len(unjudged)+len(review)+len(reliance)+len(st.Outdated) == 0 {
		return nil
	}
	return func(p *print.Page) {
		for _, w := range review {
			p.Text("%s", w)
		}
		if len(unjudged) > 0 {
			p.Title("Not assessed")
			p.Text(
				"%s not assessed, so no gaps can be found for: %s. To assess the evidence:",
				prose.Count(len(unjudged), "applicable control is", "applicable controls are"),
				joinFirst(unjudged, maxControlsNamed),
			)
			p.Command(a.suggestedCommandLine("soa regenerate"))
		}
		if len(reliance) > 0 {
			p.Title("Verdicts that depend on a single document")
			for _, w := range reliance {
				p.ListItem(0, "%s", w)
			}
			p.Text("To list the affected items:")
			p.Command(a.suggestedCommandLine("soa validate"))
		}
		a.renderOutdatedDeliverables(p, st)
	}
}

// changesUnderReview returns how the version last submitted at a gate differs from the previously approved one. It
// returns nil if no version was approved before, or if the changes can't be read.
func (a *app) changesUnderReview(ctx context.Context, assessment, versionID string, g api.Gate) *api.ApprovalChanges {
	l, err := call(ctx, a, api.ListApprovals, &api.ApprovalsInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Paging: api.Paging{Limit: 1}, Gate: g,
	})
	if err != nil || len(l.Data) == 0 || l.Data[0].TargetID != versionID {
		return nil
	}
	return l.Data[0].Changes
}
