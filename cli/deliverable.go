package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// deliverable describes one of the four deliverables for its commands. V is the type of its versions.
type deliverable[V any] struct {
	gate   api.Gate
	listOp api.Op[api.AssessmentListInput, api.List[V]]
	// draft drafts the next version. Only the Statement of Applicability has a reader.
	draft func(ctx context.Context, a *app, assessment string, reader readerFlags) (*V, error)
	// submit submits the version with the given ID, and regenerate drafts the one after it.
	submit     func(ctx context.Context, a *app, version string, b *api.Submission) (*V, error)
	regenerate func(ctx context.Context, a *app, version string) (*V, error)
	header     func(*V) *api.DeliverableVersion
	// details prints the contents of a draft after its header; it may be nil.
	details func(*print.Page, *V)
}

// gateVersions holds the methods of a deliverable that don't depend on the type of its versions.
type gateVersions interface {
	approveNewest(ctx context.Context, a *app, assessment string, again bool, comment string) error
	draftNewestAgain(ctx context.Context, a *app, assessment string) error
	newestHeader(ctx context.Context, a *app) *api.DeliverableVersion
	equalApprovedVersion(ctx context.Context, a *app, assessment string) int
}

// versionsAt returns the deliverable of a gate.
func versionsAt(g api.Gate) gateVersions {
	switch g {
	case api.GateSoA:
		return soaVersions
	case api.GateGapAnalysis:
		return gapVersions
	case api.GateMaturity:
		return maturityVersions
	}
	return poamVersions
}

func (d deliverable[V]) commandName() string { return gateCommandName(d.gate) }

// fetchNewestVersion returns the newest version of the deliverable in the current assessment.
func (d deliverable[V]) fetchNewestVersion(ctx context.Context, a *app) (*V, error) {
	one, err := a.currentAssessment(ctx)
	if err != nil {
		return nil, err
	}
	v, err := d.newestVersionOf(ctx, a, one.ID)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, withHint(runtimeError("the assessment %q has no %s yet (current state: %s)", one.Name, d.gate.Title(), one.State),
			"continue with `%s`", a.suggestedCommandLine("assess run"))
	}
	return v, nil
}

// newestVersionOf returns the newest version of the deliverable in an assessment, or nil if there is none.
func (d deliverable[V]) newestVersionOf(ctx context.Context, a *app, assessment string) (*V, error) {
	l, err := call(ctx, a, d.listOp, &api.AssessmentListInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Paging: api.Paging{Limit: 1},
	})
	if err != nil || len(l.Data) == 0 {
		return nil, err
	}
	return &l.Data[0], nil
}

func (d deliverable[V]) fetchNewestVersionID(ctx context.Context, a *app) (string, error) {
	v, err := d.fetchNewestVersion(ctx, a)
	if err != nil {
		return "", err
	}
	return d.header(v).ID, nil
}

// approveNewest submits the newest version for review, if that hasn't been done, and approves it in advance. If again
// is set, it drafts the next version first. It doesn't change a rejected version, because a user has to revise it.
func (d deliverable[V]) approveNewest(ctx context.Context, a *app, assessment string, again bool, comment string) error {
	v, err := d.newestVersionOf(ctx, a, assessment)
	if err != nil || v == nil || d.header(v).Status == api.VersionRejected {
		return err
	}
	if again {
		if v, err = d.draftAgain(ctx, a, v); err != nil {
			return err
		}
	}
	if d.header(v).Status == api.VersionDraft {
		if v, err = d.submit(ctx, a, d.header(v).ID, &api.Submission{InAdvance: true}); err != nil {
			return err
		}
	}
	h := d.header(v)
	if h.Status != api.VersionUnderReview || h.ApprovalID == nil {
		return nil
	}
	return a.approveInAdvance(ctx, d.gate, *h.ApprovalID, comment)
}

// draftAgain drafts the deliverable again from current sources, keeping edits, and returns the new version.
func (d deliverable[V]) draftAgain(ctx context.Context, a *app, v *V) (*V, error) {
	a.progress.Start("draft the " + d.gate.Title() + " again")
	v, err := d.regenerate(ctx, a, d.header(v).ID)
	if err != nil {
		return nil, err
	}
	a.progress.Done("drafted version %d of the %s", d.header(v).VersionNumber, d.gate.Title())
	return v, nil
}

// draftNewestAgain drafts the newest version in an assessment again, if there is one.
func (d deliverable[V]) draftNewestAgain(ctx context.Context, a *app, assessment string) error {
	v, err := d.newestVersionOf(ctx, a, assessment)
	if err != nil || v == nil {
		return err
	}
	_, err = d.draftAgain(ctx, a, v)
	return err
}

// newestHeader returns the newest version. It returns nil if that can't be read, because callers only use it to explain the
// effect of an edit or the basis of a draft.
func (d deliverable[V]) newestHeader(ctx context.Context, a *app) *api.DeliverableVersion {
	v, err := d.fetchNewestVersion(ctx, a)
	if err != nil {
		return nil
	}
	return d.header(v)
}

// printEditEffect prints which assessment was edited, and whether the edit withdrew a version from review or created
// the next version. before is the newest version before the edit, or nil; versionID is the version with the edited
// items.
func (a *app) printEditEffect(before *api.DeliverableVersion, versionID string, changed bool, g api.Gate) {
	a.printDefaultAssessment()
	submit := a.suggestedCommandLine(gateCommandName(g) + " submit")
	switch {
	case before == nil:
	case versionID != before.ID:
		a.printNotice("Version %d of the %s remains %s. Your change is in a new draft version; to submit that version, run `%s`.",
			before.VersionNumber, g.Title(), prose.Humanize(before.Status), submit)
	case before.Status == api.VersionUnderReview && changed:
		a.printNotice("This change withdrew version %d of the %s from review and voided the pending approval. To submit the version again, run `%s`.",
			before.VersionNumber, g.Title(), submit)
	}
}

// commands returns the commands that all four deliverables have.
func (d deliverable[V]) commands(a *app) []*cobra.Command {
	return []*cobra.Command{
		d.versionsCommand(a),
		d.draftCommand(a),
		d.submitCommand(a),
		d.regenerateCommand(a),
		a.gateApproveCommand(d.gate),
		a.gateRejectCommand(d.gate),
	}
}

func (d deliverable[V]) versionsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "versions", Short: "List the versions, newest first",
		Long: fmt.Sprintf(
			"Lists the versions of the %s, newest first. An approved version never changes;\nediting it creates the next version.",
			d.gate.Title(),
		),
		Example: fmt.Sprintf("  service %s versions", d.commandName()),
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			l, err := fetchAll(
				cmd.Context(),
				a,
				d.listOp,
				&api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}},
			)
			if err != nil {
				return err
			}
			columns := []print.Column{
				fixedNumber("version"),
				fixed("status"),
				number("items"),
				optional(fixed("created")),
				optional(column("approved by")),
				optional(column("method")),
				idColumn(),
			}
			return printList(a, l, columns, func(v V) []string {
				h := d.header(&v)
				return []string{
					fmt.Sprint(h.VersionNumber),
					prose.Humanize(h.Status),
					fmt.Sprint(h.ItemCount),
					print.FormatTime(h.CreatedAt),
					orZero(h.ApprovedBy),
					h.Method,
					h.ID,
				}
			}, "No versions yet. Continue with `%s`.", a.suggestedCommandLine("assess run"))
		},
	}
}

func (d deliverable[V]) draftCommand(a *app) *cobra.Command {
	var reader readerFlags
	var dryRun bool
	cmd := &cobra.Command{
		Use: "draft", Short: "Draft a new version",
		Long: fmt.Sprintf(
			"Drafts the %s from the evidence. `service assess run` includes this step; use\nthis command to draft from scratch.",
			d.gate.Title(),
		),
		Example: fmt.Sprintf("  service %s draft\n  service %s show", d.commandName(), d.commandName()),
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			a.progress.Start("draft the " + d.gate.Title())
			if dryRun {
				return a.previewSoADraft(cmd.Context(), one.ID, reader)
			}
			v, err := d.draft(cmd.Context(), a, one.ID, reader)
			return d.printAction(a, v, validationToRuntimeError(err), "drafted", d.approvedVersionNumber(cmd.Context(), a, one.ID, err))
		},
	}
	if d.gate == api.GateSoA {
		addReaderFlag(cmd, &reader)
		cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what a new draft would change without storing anything")
	}
	return cmd
}

// newDraftFunc returns the draft function of a deliverable whose drafts don't depend on the choice of a reader.
func newDraftFunc[V any](
	op api.Op[api.AssessmentInput, V],
) func(ctx context.Context, a *app, assessment string, reader readerFlags) (*V, error) {
	return func(ctx context.Context, a *app, assessment string, _ readerFlags) (*V, error) {
		return call(ctx, a, op, &api.AssessmentInput{AssessmentID: assessment})
	}
}

func (d deliverable[V]) submitCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "submit", Short: "Submit the newest version for review",
		Long: fmt.Sprintf(
			"Submits the newest version of the %s for review and requests approval\nof its current content from an owner or admin.",
			d.gate.Title(),
		),
		Example: fmt.Sprintf("  service %s submit\n  service %s approve", d.commandName(), d.commandName()),
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := d.fetchNewestVersionID(cmd.Context(), a)
			if err != nil {
				return err
			}
			v, err := d.submit(cmd.Context(), a, id, nil)
			if err != nil {
				return validationToRuntimeError(err)
			}
			h := d.header(v)
			return d.printAction(a, v, nil, actionSubmitted, 0, a.approvalWarningsRenderer(cmd.Context(), h.AssessmentID, h.ID, d.gate))
		},
	}
}

func (d deliverable[V]) regenerateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "regenerate", Short: "Draft again, keeping manual edits",
		Long: fmt.Sprintf(
			"Drafts the next version of the %s from the current evidence\n"+
				"and the approved versions it is based on. Manual edits are kept and listed.",
			d.gate.Title(),
		),
		Example: fmt.Sprintf("  service %s regenerate", d.commandName()),
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := d.fetchNewestVersionID(cmd.Context(), a)
			if err != nil {
				return err
			}
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			a.progress.Start("draft the " + d.gate.Title() + " again")
			v, err := d.regenerate(cmd.Context(), a, id)
			return d.printAction(
				a,
				v,
				validationToRuntimeError(err),
				"drafted again",
				d.approvedVersionNumber(cmd.Context(), a, one.ID, err),
				d.olderInputRenderer(cmd.Context(), a, v, err),
			)
		},
	}
}

// olderInputRenderer returns a function that prints a note if the new draft is based on an approved but older
// version of its input, because the newest version is not approved. It returns nil if no note is needed.
func (d deliverable[V]) olderInputRenderer(ctx context.Context, a *app, v *V, draftErr error) func(*print.Page) {
	if draftErr != nil {
		return nil
	}
	inputGate, usedID := api.GateSoA, d.header(v).Inputs["soa_version_id"]
	if id, ok := d.header(v).Inputs["gap_version_id"]; ok {
		inputGate, usedID = api.GateGapAnalysis, id
	}
	newest := versionsAt(inputGate).newestHeader(ctx, a)
	if usedID == "" || newest == nil || newest.ID == usedID || versionsAt(inputGate).equalApprovedVersion(ctx, a, newest.AssessmentID) > 0 {
		return nil
	}
	return func(p *print.Page) {
		p.Text(
			"The draft is based on the approved version of the %s, because the newest version isn't approved yet. To use the newest version, "+
				"run `%s` and `%s`, then create a new draft.",
			inputGate.Title(),
			a.suggestedCommandLine(gateCommandName(inputGate)+" submit"),
			a.suggestedCommandLine(gateCommandName(inputGate)+" approve"),
		)
	}
}

// approvedVersionNumber returns the number of the approved version. It returns 0 if there is none, if the
// versions can't be listed, or if draftErr is not nil.
func (d deliverable[V]) approvedVersionNumber(ctx context.Context, a *app, assessment string, draftErr error) int {
	if draftErr != nil {
		return 0
	}
	l, err := call(ctx, a, d.listOp, &api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}})
	if err != nil {
		return 0 // the draft itself succeeded
	}
	for i := range l.Data {
		if h := d.header(&l.Data[i]); h.Status == api.VersionApproved {
			return h.VersionNumber
		}
	}
	return 0
}

// actionSubmitted is the action passed to printAction for a submitted version.
const actionSubmitted = "submitted for review"

// printAction prints what was done with a version, followed by the output of the functions in more. If
// approvedNumber is positive, it also states that this earlier version remains approved. If err is not nil,
// printAction only returns it.
func (d deliverable[V]) printAction(a *app, v *V, err error, action string, approvedNumber int, more ...func(*print.Page)) error {
	a.progress.Done("")
	if err != nil {
		return err
	}
	return a.out.Print(v, func(p *print.Page) {
		h := d.header(v)
		if redrafted := action != actionSubmitted; redrafted && (h.Status == api.VersionApproved || h.Status == api.VersionUnderReview) {
			p.Text("Nothing has changed: the %s, version %d, remains %s.", d.gate.Title(), h.VersionNumber, prose.Humanize(h.Status))
			return
		}
		p.Text("The %s, version %d with %s, was %s.", d.gate.Title(), h.VersionNumber, prose.Count(h.ItemCount, "item", "items"), action)
		if unread := formatUnread(h); unread != "" {
			effect := "These requirements are treated as not evidenced."
			if h.IsReadByModel() {
				effect = "The built-in rules judged these passages instead."
			}
			p.Text("The reader %s has not read all %s. %s", h.Inputs["reader"], unread, effect)
		}
		if soa, ok := any(v).(*api.SoAVersion); ok && action != actionSubmitted {
			if w := soa.RepeatedQuoteWarning(); w != "" {
				p.Text("%s", w)
				p.Command(a.suggestedCommandLine("soa items --needs-review"))
			}
		}
		if h.Inputs["second_reader"] != "" {
			p.Text("To see where the second reader disagrees, run `%s`.", a.suggestedCommandLine("soa items --disagreement"))
		}
		if len(h.Kept) > 0 && action != actionSubmitted { // a copy has its source's list, without later edits
			p.Text("Manual edits kept: %s.", joinFirst(h.Kept, 12))
		}
		if d.details != nil && action != actionSubmitted {
			d.details(p, v)
		}
		if approvedNumber > 0 {
			p.Text("Version %d remains approved until this version is approved. To submit this version, run `%s`.",
				approvedNumber, a.suggestedCommandLine(d.commandName()+" submit"))
		}
		for _, m := range more {
			if m != nil {
				m(p)
			}
		}
	})
}

// renderVersionHeader prints the fields that all deliverable versions share, followed by more.
func renderVersionHeader(p *print.Page, g api.Gate, h *api.DeliverableVersion, more ...print.Field) {
	p.Title("%s, version %d: %s", prose.Capitalize(g.Title()), h.VersionNumber, prose.Humanize(h.Status))
	p.Fields(append([]print.Field{
		field("created", print.FormatTime(h.CreatedAt)),
		field("method", h.Method),
		field("not read", formatUnread(h)),
		field("submitted", formatTimePtr(h.SubmittedAt)),
		field("approved", formatByline(h.ApprovedAt, h.ApprovedBy)),
		field("items", fmt.Sprint(h.ItemCount)),
		field("content", "sha256 "+h.ContentSHA256),
	}, more...)...)
}

// formatUnread describes the requirements for which the reader has not read all passages. It returns "" if there are
// none.
func formatUnread(h *api.DeliverableVersion) string {
	if unread := h.Inputs["statements_not_read"]; unread != "" {
		return "passages for " + unread + " requirements"
	}
	return ""
}

// equalApprovedVersion returns the number of the approved version if the newest version is a draft with the same content.
// Otherwise, or if the versions can't be listed, it returns 0.
func (d deliverable[V]) equalApprovedVersion(ctx context.Context, a *app, assessment string) int {
	l, err := call(ctx, a, d.listOp, &api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}})
	if err != nil || len(l.Data) == 0 || d.header(&l.Data[0]).Status != api.VersionDraft {
		return 0
	}
	for i := range l.Data {
		if h := d.header(&l.Data[i]); h.Status == api.VersionApproved && h.ContentSHA256 == d.header(&l.Data[0]).ContentSHA256 {
			return h.VersionNumber
		}
	}
	return 0
}

// renderNextVersionCommands prints the commands to run next for a version.
func (a *app) renderNextVersionCommands(ctx context.Context, p *print.Page, g api.Gate, head *api.DeliverableVersion) {
	noun := gateCommandName(g)
	p.Blank()
	switch head.Status {
	case api.VersionUnderReview:
		p.Text("This version is waiting for approval. To approve or reject it, run:")
		p.Command(a.suggestedCommandLine(noun + " approve"))
		p.Command(a.suggestedCommandLine(noun + " reject --reason '…'"))
	case api.VersionRejected:
		p.Text("This version was rejected. To edit and resubmit it, run:")
		p.Command(a.suggestedCommandLine(noun + " edit CONTROL …"))
		p.Command(a.suggestedCommandLine(noun + " submit"))
	case api.VersionApproved:
		p.Text("This version is approved. `%s` shows the next step.", a.suggestedCommandLine("assess status"))
	default:
		if n := versionsAt(g).equalApprovedVersion(ctx, a, head.AssessmentID); n > 0 {
			p.Text("This draft has the same content as the approved version %d, so it needs no approval. To change items, use `%s`.",
				n, a.suggestedCommandLine(noun+" edit"))
			return
		}
		p.Text("This draft is ready for review. To change items, use `%s`. To submit the draft, run:", a.suggestedCommandLine(noun+" edit"))
		p.Command(a.suggestedCommandLine(noun + " submit"))
	}
}

// renderItem prints the fields that the items of all deliverables share. The fields in more are printed after the
// requirements.
func renderItem(p *print.Page, i *api.Item, more ...print.Field) {
	p.Title("%s  %s", i.ControlCode, i.ControlTitle)
	edited := ""
	if i.EditedBy != nil {
		edited = joinNonEmpty(*i.EditedBy, "("+joinFirst(i.EditedFields, 20)+")")
	}
	p.Fields(append(append([]print.Field{field("requirements", print.FormatRequirements(i.RequirementCodes))}, more...),
		field("edited by", edited), field("carried", i.Carried.Describe()), field("id", i.ID))...)
	if c := i.Carried; c != nil && c.EvidenceChanged {
		p.Title("Evidence in %s at the time of the decision (the evidence has changed: confirm or change the decision)", c.Assessment)
		for _, quote := range c.Quotes {
			p.ListItem(0, "“%s”", quote)
		}
		renderTextIfEmpty(p, len(c.Quotes), "none")
	}
}

// renderEvidence prints the passages that support an item.
func renderEvidence(p *print.Page, all []api.Evidence) {
	p.Title("Evidence")
	if len(all) == 0 {
		p.Text("none found")
		return
	}
	for i, e := range all {
		if i > 0 {
			p.Blank()
		}
		renderQuote(p, 2, e)
	}
}

func renderMissing(p *print.Page, elements []string) {
	if len(elements) == 0 {
		return
	}
	p.Title("Missing")
	for _, m := range elements {
		p.ListItem(0, "%s", m)
	}
}

// findItem returns the item with the given ID or unique control code. If several items have that code, the
// error lists them with their descriptions.
func findItem[T any](ref, noun string, all []T, itemOf func(*T) *api.Item, describe func(*T) string) (*T, error) {
	var found []*T
	for n := range all {
		switch i := itemOf(&all[n]); {
		case i.ID == ref:
			return &all[n], nil
		case isSameCode(i.ControlCode, ref):
			found = append(found, &all[n])
		}
	}
	known := make([]string, len(all))
	for n := range all {
		known[n] = itemOf(&all[n]).ControlCode
	}
	return requireSingle(ref, noun, found, known, itemOf, describe)
}

// requireSingle returns the only element of found. If there is none, it returns an error that suggests a
// similar code from known; if there are several, the error lists them.
func requireSingle[T any](ref, noun string, found []*T, known []string, itemOf func(*T) *api.Item, describe func(*T) string) (*T, error) {
	switch len(found) {
	case 0:
		return nil, withHint(runtimeError("this version has no %s for %q%s", noun, ref, didYouMean(ref, known)),
			"specify an item by its code or ID; controls outside the selected frameworks and baselines have no items")
	case 1:
		return found[0], nil
	}
	lines := make([]string, len(found))
	for n, f := range found {
		lines[n] = fmt.Sprintf("%s  %s", itemOf(f).ID, truncateTo80(describe(f)))
	}
	return nil, withHint(
		usageError("%s has %d %ss:\n  - %s", ref, len(found), noun, strings.Join(lines, "\n  - ")),
		"specify the item by its ID",
	)
}

// truncateTo80 shortens text to 80 characters.
func truncateTo80(text string) string {
	if r := []rune(text); len(r) > 80 {
		return strings.TrimSpace(string(r[:79])) + "…"
	}
	return text
}
