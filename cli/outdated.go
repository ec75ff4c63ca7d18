package cli

import (
	"context"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// renderOutdated says which deliverables were made from something else than there is now, and the
// commands that bring them up to date.
func (a *app) renderOutdated(p *print.Page, st *api.AssessmentStatus) {
	if len(st.Outdated) == 0 {
		return
	}
	p.Title("Not in the drafts yet")
	var commands, waiting []string
	for _, o := range st.Outdated {
		p.Item(0, "%s", o.Message)
		if o.Reason == "undecided" {
			waiting = append(waiting, gateNoun(o.Gate)+" show")
			continue
		}
		words := gateNoun(o.Gate) + " regenerate"
		if o.Reason == "documents" {
			words = refreshCommand(st.State)
		}
		if o.Gate == api.GateSoA && slices.ContainsFunc(st.Outdated, func(o api.Outdated) bool { return o.Reason == "scope" }) {
			words = "soa regenerate" // takes in the documents as well
		}
		if !slices.Contains(commands, words) {
			commands = append(commands, words)
		}
	}
	if len(commands) > 0 {
		p.Text("To draft that again, keeping what people edited; it then needs approval again:")
	}
	for _, words := range commands {
		p.Command(a.commandLine(words))
	}
	if len(waiting) > 0 {
		p.Text("To see what it waits for:")
	}
	for _, words := range waiting {
		p.Command(a.commandLine(words))
	}
}

// refreshCommand is the command that looks for evidence in the documents there are now.
func refreshCommand(state api.State) string {
	if state.HasReached(api.StateSoAApproved) {
		return "workflow start gap_refresh"
	}
	return "soa refresh"
}

// approvalWarnings is what a person should know who submits or approves a deliverable: that it, or what was
// made from it, is not of what there is now, and which lines nobody judged; nil for nothing. What
// can't be read is left out: the decision is made.
func (a *app) approvalWarnings(ctx context.Context, assessment, version string, g api.Gate) func(*print.Page) {
	st, err := call(ctx, a, api.GetAssessmentStatus, &api.AssessmentInput{AssessmentID: assessment})
	if err != nil {
		return nil
	}
	var unjudged []string
	if g == api.GateSoA {
		if v, err := call(ctx, a, api.ValidateSoA, &api.SoAInput{SoAVersionID: version}); err == nil {
			for _, i := range v.Issues {
				if i.Rule == "applicable-assessed" {
					unjudged = append(unjudged, i.ControlCode)
				}
			}
		}
	}
	if len(unjudged)+len(st.Outdated) == 0 {
		return nil
	}
	return func(p *print.Page) {
		if len(unjudged) > 0 {
			p.Title("Not assessed")
			p.Text(
				"%s, without being assessed, so no gap will be told: %s. To have the evidence judged:",
				pluralize(len(unjudged), "control applies", "controls apply"),
				joinFirst(unjudged, maxControlsNamed),
			)
			p.Command(a.commandLine("soa regenerate"))
		}
		a.renderOutdated(p, st)
	}
}
