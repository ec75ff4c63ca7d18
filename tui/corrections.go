package tui

import (
	"context"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/tui/action"
)

// correctionActions returns the actions that accept or refuse the selected quote as evidence for its requirement.
func (v *review) correctionActions(blockedReason string) []action.Action {
	off := blockedReason
	var all []api.Evidence
	if r := v.selectedRow(); r != nil {
		all = v.kind.evidenceOf(r.item)
		if off == "" && len(all) == 0 {
			off = "no passage found"
		}
	}
	decide := func(decision api.CorrectionDecision) func() tea.Cmd {
		return func() tea.Cmd { return v.decideOnQuote(all[min(v.quoteIndex, len(all)-1)], decision) }
	}
	return []action.Action{
		{
			Keys: []string{"+"}, DisabledReason: off, Do: decide(api.CorrectionAccepted),
			Help: "accepts the selected quote as evidence for its requirement, in the next draft and all later drafts",
		},
		{
			Keys: []string{"-"}, DisabledReason: off, Do: decide(api.CorrectionRefused),
			Help: "refuses the selected quote as evidence for its requirement, in the next draft and all later drafts",
		},
	}
}

// decideOnQuote accepts or refuses a quote for the requirement that it is quoted for. If there are several, it asks which.
func (v *review) decideOnQuote(e api.Evidence, decision api.CorrectionDecision) tea.Cmd {
	item := v.selectedRow().item.(*api.SoAItem)
	var requirements []string
	for _, s := range item.Statements {
		if e.RelatesTo(s.Text) {
			requirements = append(requirements, s.Text)
		}
	}
	send := func(requirement string) tea.Cmd {
		n := 1 + slices.IndexFunc(item.Statements, func(s api.Statement) bool { return s.Text == requirement })
		in := &api.AddCorrectionInput{AssessmentInput: api.AssessmentInput{AssessmentID: v.assessment.ID}}
		in.Body.ControlCode, in.Body.ChunkID, in.Body.Decision, in.Body.StatementNumber = item.ControlCode, e.ChunkID, decision, n
		return v.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
			_, err := call(ctx, v.app.Caller, api.AddCorrection, in)
			return func() tea.Cmd {
				if err != nil {
					return v.app.showErrorOrReconnect(err)
				}
				v.app.markConnected()
				v.decidedQuotes[quoteKey(item, e)] = fmt.Sprintf("%s for requirement %d; the next draft will apply this decision", decision, n)
				v.cachedPage = drawnPage{}
				v.app.setStatus("%s: quote %s for requirement %d; create a new draft to apply this decision", item.ControlCode, decision, n)
				return nil
			}
		})
	}
	switch len(requirements) {
	case 0:
		v.app.setStatus("the quote doesn't belong to any of the requirements")
		return nil
	case 1:
		return send(requirements[0])
	}
	v.app.overlay = &choicePrompt{
		app: v.app, title: "For which requirement should the quote be " + string(decision) + "?", options: requirements, onChoose: send,
	}
	return nil
}

// quoteKey identifies a quote of an item in one version.
func quoteKey(i *api.SoAItem, e api.Evidence) string { return i.ID + " " + e.ChunkID + " " + e.Quote }
