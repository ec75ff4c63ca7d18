package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) approvalCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "approval", Short: "Manage approvals, which are decisions on deliverables",
		Long: `An approval is a person's decision on exactly the content that was submitted. Each of
the four deliverables needs one. Owners and admins of the organization can decide, and they
can delegate approvals to members until a given date.`,
		Example: "  service approval list --status pending\n  service approval approve ID --comment 'Reviewed with IT'\n" +
			"  service soa reject --reason 'PES-01 is in scope'",
	}, a.approvalList(), a.approvalShow(), a.approvalApprove(), a.approvalReject(),
		a.approvalDelegate(), a.approvalDelegations(), a.approvalRevokeDelegation())
}

var approvalStatuses = []api.ApprovalStatus{api.ApprovalPending, api.ApprovalApproved, api.ApprovalRejected}

func (a *app) approvalList() *cobra.Command {
	var in api.ApprovalsInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List the approvals of the assessment, newest first",
		Long:    "Lists pending and decided approvals, newest first.",
		Example: "  service approval list\n  service approval list --status pending --gate soa",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID = one.ID
			all, err := fetchList(cmd.Context(), a, api.ListApprovals, &in, l)
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("gate"), number("version"), fixed("status"), optional(column("requested")),
				column("decision"), optional(column("reason")), idColumn(),
			}, func(one api.Approval) []string {
				decided := one.Decider()
				if may := formatDelegates(&one); decided == "" && len(may) > 0 {
					decided = "(delegates: " + joinFirst(may, 5) + ")"
				}
				if one.DecidedAt != nil {
					decided = formatTimePtr(one.DecidedAt) + " by " + decided
				}
				return []string{
					string(one.Gate), fmt.Sprint(one.VersionNumber), one.DisplayStatus(), print.FormatTime(one.RequestedAt),
					decided, orZero(one.Reason), one.ID,
				}
			}, "No approvals match.")
		},
	}
	addChoiceFlag(cmd.Flags(), &in.Status, "status", approvalStatuses, "show only approvals with this status: pending, approved or rejected")
	addChoiceFlag(cmd.Flags(), &in.Gate, "gate", api.Gates, "show only approvals at this gate: soa, gap_analysis, maturity or poam")
	l.addFlags(cmd, 0)
	return cmd
}

func (a *app) approvalShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show an approval",
		Long:    "Shows an approval: the deliverable, the hash of its content, the decision and who made it.",
		Example: "  service approval show ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := call(cmd.Context(), a, api.GetApproval, &api.ApprovalInput{ApprovalID: args[0]})
			if err != nil {
				return err
			}
			renderComments, err := a.fetchCommentRenderer(cmd.Context(), one.AssessmentID, one.Gate, func(c *api.Comment) bool {
				return c.Item == nil && (c.ApprovalID == nil || *c.ApprovalID == one.ID)
			})
			if err != nil {
				return err
			}
			return a.out.Print(one, func(p *print.Page) { renderApproval(p, one); renderComments(p) })
		},
	}
}

func renderApproval(p *print.Page, approval *api.Approval) {
	p.Title("Approval of the %s, version %d: %s", approval.Gate.Title(), approval.VersionNumber, approval.DisplayStatus())
	decided := ""
	if approval.DecidedBy != nil {
		decided = approval.Decider() + ", " + formatTimePtr(approval.DecidedAt)
	}
	may := ""
	if approval.Status == api.ApprovalPending {
		may = joinFirst(append([]string{"owners", "admins"}, formatDelegates(approval)...), 12)
	}
	p.Fields(
		field("requested by", approval.RequestedBy.Name+", "+print.FormatTime(approval.RequestedAt)),
		field("decided by", decided),
		field("bundle key", formatBundleKey(approval.BundleKey)),
		field("remote's key", formatBundleKey(approval.RemoteKey)),
		field("may decide", may),
		field("reason", orZero(approval.Reason)),
		field("content", "sha256 "+approval.TargetSHA256),
		field("version", approval.TargetID),
		field("id", approval.ID),
	)
	if approval.Changes != nil {
		p.ListItem(0, "%s", approval.Changes.Summary())
	}
	for _, w := range approval.Warnings {
		p.ListItem(0, "%s", w)
	}
}

// formatBundleKey returns the name and fingerprint of a key, or "" if k is nil.
func formatBundleKey(k *api.BundleKey) string {
	if k == nil {
		return ""
	}
	return k.Name + " (" + k.Fingerprint + ")"
}

func (a *app) approvalApprove() *cobra.Command {
	var comment, content string
	cmd := &cobra.Command{
		Use: "approve ID", Short: "Approve a pending approval",
		Long:    "Approves the deliverable version in your name.",
		Example: "  service approval approve ID --comment 'Reviewed with IT'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.approveAndPrint(cmd.Context(), args[0], comment, content)
		},
	}
	cmd.Flags().StringVar(&comment, "comment", "", "comment to record with the decision")
	addContentHashFlag(cmd, &content)
	return cmd
}

// addContentHashFlag adds the flag for the hash of the reviewed content. An empty value is rejected: a script
// with an unset variable would otherwise approve whatever is under review.
func addContentHashFlag(cmd *cobra.Command, content *string) {
	cmd.Flags().StringVar(content, "content-sha256", "", "approve only if the content still has this SHA-256 hash")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("content-sha256") && *content == "" {
			return usageError("--content-sha256 is empty; specify the hash, or omit the flag to approve the submitted content")
		}
		return nil
	}
}

func (a *app) approvalReject() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "reject ID --reason REASON", Short: "Reject a pending approval, with a reason",
		Long: "Rejects the deliverable version. If the assessment is at this gate, it returns to the draft\nstate. " +
			"Use the reason to explain what has to be corrected.",
		Example: "  service approval reject ID --reason 'The server room is missing'",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.rejectAndPrint(cmd.Context(), args[0], reason) },
	}
	cmd.Flags().StringVar(&reason, "reason", "", "reason for the rejection, to explain what has to be corrected")
	return cmd
}

// gateApproveCommand returns the command that approves the version under review at gate g.
func (a *app) gateApproveCommand(g api.Gate) *cobra.Command {
	var comment, content string
	cmd := &cobra.Command{
		Use: "approve", Short: "Approve the version under review",
		Long: fmt.Sprintf(
			"Approves the current content of the %s that is under review. The approval\n"+
				"is recorded under your name. Owners and admins can approve.",
			g.Title(),
		),
		Example: fmt.Sprintf(
			"  service %s show\n  service %s approve --comment 'Reviewed with IT'\n  service assess run",
			gateCommandName(g),
			gateCommandName(g),
		),
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := a.findPendingApprovalID(cmd.Context(), g)
			if err != nil {
				return err
			}
			return a.approveAndPrint(cmd.Context(), id, comment, content)
		},
	}
	cmd.Flags().StringVar(&comment, "comment", "", "comment to record with the decision")
	addContentHashFlag(cmd, &content)
	return cmd
}

func (a *app) gateRejectCommand(g api.Gate) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "reject --reason REASON", Short: "Reject the version under review, with a reason",
		Long: fmt.Sprintf(
			"Rejects the %s that is under review. If the assessment\nis at this gate, it returns to the state before the review; otherwise, its state doesn't change.",
			g.Title(),
		),
		Example: fmt.Sprintf("  service %s reject --reason 'The owner of IAC-06 is wrong'", gateCommandName(g)),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if api.IsBlank(reason) {
				return missingReasonError()
			}
			id, err := a.findPendingApprovalID(cmd.Context(), g)
			if err != nil {
				return err
			}
			return a.rejectAndPrint(cmd.Context(), id, reason)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "reason for the rejection, to explain what has to be corrected")
	return cmd
}

func missingReasonError() error {
	return withHint(usageError("a rejection needs a reason"), "use --reason to explain what has to be corrected")
}

// findPendingApprovalID returns the ID of the pending approval of the current assessment at gate g.
func (a *app) findPendingApprovalID(ctx context.Context, g api.Gate) (string, error) {
	one, err := a.currentAssessment(ctx)
	if err != nil {
		return "", err
	}
	l, err := call(ctx, a, api.ListApprovals, &api.ApprovalsInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: one.ID},
		Paging:          api.Paging{Limit: 1}, Status: api.ApprovalPending, Gate: g,
	})
	if err != nil {
		return "", err
	}
	if len(l.Data) == 0 {
		all, err := call(
			ctx,
			a,
			api.ListApprovals,
			&api.ApprovalsInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Paging: api.Paging{Limit: 1}, Gate: g},
		)
		if err == nil && len(all.Data) == 1 && all.Data[0].Status == api.ApprovalApproved {
			if newer := a.unapprovedMessage(ctx, one.ID, g); newer != "" {
				return "", withHint(
					runtimeError("nothing is waiting for approval. %s", newer),
					"review the new version, then submit it with `%s`",
					a.suggestedCommandLine(gateCommandName(g)+" submit"),
				)
			}
			return "", withHint(
				runtimeError("version %d of the %s of %q is already approved", all.Data[0].VersionNumber, g.Title(), one.Name),
				"`%s` shows the next step",
				a.suggestedCommandLine("assess status"),
			)
		}
		return "", withHint(
			runtimeError(
				"nothing is waiting for approval: the %s of %q is not under review (the assessment's state is %s)",
				g.Title(),
				one.Name,
				one.State,
			),
			"after making changes, submit the deliverable again with `%s`; `%s` shows the next step",
			a.suggestedCommandLine(gateNouns[g]+" submit"),
			a.suggestedCommandLine("assess status"),
		)
	}
	return l.Data[0].ID, nil
}

// unapprovedMessage returns the status message about an unapproved newest version at gate g. It returns "" if there is
// no such version or the status can't be read.
func (a *app) unapprovedMessage(ctx context.Context, assessment string, g api.Gate) string {
	st, err := call(ctx, a, api.GetAssessmentStatus, &api.AssessmentInput{AssessmentID: assessment})
	if err != nil {
		return ""
	}
	for _, o := range st.Outdated {
		if o.Gate == g && o.Reason == "unapproved" {
			return o.Message
		}
	}
	return ""
}

func approveContent(ctx context.Context, a *app, approvalID string, d api.VersionDecision) (*api.Approval, error) {
	return call(
		ctx,
		a,
		api.Approve,
		&api.ApproveInput{
			ApprovalInput: api.ApprovalInput{ApprovalID: approvalID},
			Body:          &d,
		},
	)
}

// approveInAdvance approves a version without a review, as requested by --approve.
func (a *app) approveInAdvance(ctx context.Context, gate api.Gate, approvalID, comment string) error {
	one, err := approveContent(ctx, a, approvalID, api.VersionDecision{Comment: comment, InAdvance: true})
	if err == nil {
		a.progress.Done("%s, version %d: approved by %s", prose.Capitalize(gate.Title()), one.VersionNumber, one.Decider())
	}
	return err
}

func (a *app) approveAndPrint(ctx context.Context, approvalID, comment, contentSHA256 string) error {
	one, err := approveContent(ctx, a, approvalID, api.VersionDecision{Comment: comment, ContentSHA256: contentSHA256})
	if err != nil {
		return err
	}
	renderWarnings := a.approvalWarningsRenderer(ctx, one.AssessmentID, one.TargetID, one.Gate)
	next := "assess run"
	st, err := call(ctx, a, api.GetAssessmentStatus, &api.AssessmentInput{AssessmentID: one.AssessmentID})
	if err == nil && st.State == api.StateReportGenerated { // no step is left to run
		next = "assess status"
	}
	return a.printDecision(one, func(p *print.Page) {
		if renderWarnings != nil {
			renderWarnings(p)
			p.Blank()
		}
		p.Text("Continue with:")
		p.Command(a.suggestedCommandLine(next))
	})
}

func (a *app) rejectAndPrint(ctx context.Context, approvalID, reason string) error {
	if api.IsBlank(reason) {
		return missingReasonError()
	}
	in := api.RejectInput{ApprovalInput: api.ApprovalInput{ApprovalID: approvalID}}
	in.Body.Reason = reason
	one, err := call(ctx, a, api.RejectApproval, &in)
	if err != nil {
		return err
	}
	st, err := call(ctx, a, api.GetAssessmentStatus, &api.AssessmentInput{AssessmentID: one.AssessmentID})
	if err != nil {
		return err
	}
	noun, back := gateCommandName(one.Gate), "The assessment remains "+prose.Humanize(st.State)+"."
	if len(st.NextStates) > 0 && gateOfReviewState(st.NextStates[0]) == one.Gate {
		back = "The assessment is back in the state \"" + prose.Humanize(st.State) + "\"."
	}
	return a.printDecision(one, func(p *print.Page) {
		p.Text(
			"%s Edit the items with `%s`, or create a new draft with `%s`. Then run:",
			back,
			a.suggestedCommandLine(noun+" edit"),
			a.suggestedCommandLine(noun+" regenerate"),
		)
		p.Command(a.suggestedCommandLine(noun + " submit"))
	})
}

func (a *app) printDecision(approval *api.Approval, renderNext func(*print.Page)) error {
	return a.out.Print(approval, func(p *print.Page) {
		p.Text(
			"The %s, version %d, was %s by %s.",
			approval.Gate.Title(),
			approval.VersionNumber,
			approval.Status,
			cmp.Or(approval.Decider(), "you"),
		)
		renderNext(p)
	})
}
