package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) commentCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "comment", Short: "Comments on deliverables, their items and approvals",
		Long: `A comment belongs to a deliverable, one of its items or an approval, and records its
author and time. Comments can't be edited or deleted; to correct a comment, reply to it.
The show commands print comments.`,
		Example: "  service comment add 'Who asked for this?' --gate soa --item IAC-06\n" +
			"  service comment add 'The auditor did.' --reply-to ID\n  service comment list --gate soa",
	}, a.commentAdd(), a.commentList())
}

func (a *app) commentAdd() *cobra.Command {
	in := &api.AddCommentInput{}
	cmd := &cobra.Command{
		Use: "add TEXT", Short: "Comment on a deliverable, an item or an approval",
		Long: `Comments on the newest version of a deliverable. Use --item to comment on one of its items,
--approval to comment on an approval, or --reply-to to reply to another comment.`,
		Example: "  service comment add 'Ready from our side' --gate gap_analysis\n" +
			"  service comment add 'Who asked for this?' --gate soa --item IAC-06\n  service comment add 'The auditor did.' --reply-to ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.Body.Gate == "" && in.Body.ApprovalID == "" && in.Body.ReplyTo == "" {
				return withHint(
					usageError("the command doesn't say what the comment refers to"),
					"pass --gate soa (and --item IAC-06 for a single item), --approval ID or --reply-to ID",
				)
			}
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID, in.Body.Text = one.ID, args[0]
			return callAndPrint(
				cmd.Context(),
				a,
				api.AddComment,
				in,
				func(p *print.Page, made *api.Comment) { p.Text("Comment added. Reply with --reply-to %s.", made.ID) },
			)
		},
	}
	f := cmd.Flags()
	addChoiceFlag(f, &in.Body.Gate, "gate", api.Gates, "deliverable: soa, gap_analysis, maturity or poam")
	f.StringVar(&in.Body.Item, "item", "", "code of a control or POA&M item")
	f.StringVar(&in.Body.ApprovalID, "approval", "", "ID of an approval")
	f.StringVar(&in.Body.ReplyTo, "reply-to", "", "ID of the comment to reply to")
	return cmd
}

func (a *app) commentList() *cobra.Command {
	var in api.CommentsInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List comments, oldest first",
		Long:    "Lists comments on the assessment's deliverables, oldest first.",
		Example: "  service comment list\n  service comment list --gate soa --item IAC-06",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID = one.ID
			all, err := fetchList(cmd.Context(), a, api.ListComments, &in, l)
			if err != nil {
				return err
			}
			defer a.printMoreResultsNotice(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				for i := range all.Data {
					c := &all.Data[i]
					target := string(c.Gate)
					if c.Item != nil {
						target += " " + *c.Item
					}
					renderComment(p, c, target)
				}
				renderTextIfEmpty(p, len(all.Data), "No comments yet.")
			})
		},
	}
	f := cmd.Flags()
	addChoiceFlag(f, &in.Gate, "gate", api.Gates, "show only comments on this deliverable: soa, gap_analysis, maturity or poam")
	f.StringVar(&in.Item, "item", "", "show only comments on this control or POA&M item")
	f.StringVar(&in.ApprovalID, "approval", "", "show only comments on this approval")
	l.addFlags(cmd, 0)
	return cmd
}

// renderComment prints a comment with its author, time and target.
func renderComment(p *print.Page, c *api.Comment, target string) {
	what := ""
	if c.ReplyTo != nil {
		what = ", in reply"
	}
	if c.CarriedFrom != "" {
		what += ", from " + c.CarriedFrom
	}
	p.ListItem(0, "%s, %s, %s, version %d%s (%s)", c.Author.Name, print.FormatTime(c.CreatedAt), target, c.VersionNumber, what, c.ID)
	p.ListItem(2, "%s", c.Text)
}

// fetchCommentRenderer fetches the comments on a deliverable and returns a function that prints those
// that include accepts. For machine-readable output the function prints nothing.
func (a *app) fetchCommentRenderer(
	ctx context.Context,
	assessment string,
	g api.Gate,
	include func(*api.Comment) bool,
) (func(*print.Page), error) {
	if !a.out.IsHumanReadable() {
		return func(*print.Page) {}, nil
	}
	in := api.CommentsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Gate: g}
	all, err := fetchAll(ctx, a, api.ListComments, &in)
	if err != nil {
		return nil, err
	}
	return func(p *print.Page) {
		first := true
		for i := range all.Data {
			c := &all.Data[i]
			if !include(c) {
				continue
			}
			if first {
				p.Title("Comments")
				first = false
			}
			target := fmt.Sprintf("on the %s", g.Title())
			if c.Item != nil {
				target = "on " + *c.Item
			}
			renderComment(p, c, target)
		}
	}, nil
}

// newItemCommentFilter returns a filter that accepts the comments on items with any of the given codes.
func newItemCommentFilter(codes ...string) func(*api.Comment) bool {
	return func(c *api.Comment) bool {
		for _, code := range codes {
			if c.Item != nil && isSameCode(*c.Item, code) {
				return true
			}
		}
		return false
	}
}

// isOnWholeDeliverable reports whether a comment is about the deliverable as a whole rather than one of its
// items.
func isOnWholeDeliverable(c *api.Comment) bool { return c.Item == nil }
