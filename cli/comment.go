package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) commentCommand() *cobra.Command {
	return group(&cobra.Command{
		Use: "comment", Short: "What people say of deliverables, their lines, and decisions",
		Long: `A comment stands beside a deliverable, a line of it or a decision, with its author and
the time. It is never changed or taken back: a reply sets right what was wrong. The show
commands print them.`,
		Example: "  service comment add 'Who asked for this?' --gate soa --item IAC-06\n  service comment add 'The auditor did.' --reply-to ID\n  service comment list --gate soa",
	}, a.commentAdd(), a.commentList())
}

func (a *app) commentAdd() *cobra.Command {
	in := &api.AddCommentInput{}
	var gate string
	cmd := &cobra.Command{
		Use: "add TEXT", Short: "Say something of a deliverable, a line or a decision", Args: requireArgs(1, 1),
		Long:    "Comments on the newest version of a deliverable, on a line of it with --item, on a\ndecision with --approval, or answers another comment with --reply-to.",
		Example: "  service comment add 'Ready from our side' --gate gap_analysis\n  service comment add 'Who asked for this?' --gate soa --item IAC-06\n  service comment add 'The auditor did.' --reply-to ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOneOf("gate", gate, api.Gates); err != nil {
				return err
			}
			if gate == "" && in.Body.ApprovalID == "" && in.Body.ReplyTo == "" {
				return withHint(
					usageError("a comment is of something"),
					"name it: --gate soa, --gate soa --item IAC-06, --approval ID or --reply-to ID",
				)
			}
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID, in.Body.Text, in.Body.Gate = one.ID, args[0], api.Gate(gate)
			made, err := call(cmd.Context(), a, api.AddComment, in)
			if err != nil {
				return err
			}
			return a.out.Print(made, func(p *print.Page) { p.Text("It is kept. Answer it with --reply-to %s.", made.ID) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&gate, "gate", "", "the deliverable: soa, gap_analysis, maturity or poam")
	f.StringVar(&in.Body.Item, "item", "", "a line of it: a control's code, or a POA&M item's")
	f.StringVar(&in.Body.ApprovalID, "approval", "", "the approval it is of")
	f.StringVar(&in.Body.ReplyTo, "reply-to", "", "the comment it answers")
	return cmd
}

func (a *app) commentList() *cobra.Command {
	var in api.CommentsInput
	var gate string
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List comments, oldest first", Args: requireArgs(0, 0),
		Long: "Lists what was said of the assessment's deliverables, oldest first.", Example: "  service comment list\n  service comment list --gate soa --item IAC-06",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOneOf("gate", gate, api.Gates); err != nil {
				return err
			}
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID, in.Gate = one.ID, api.Gate(gate)
			all, err := a.listComments(cmd.Context(), in, l)
			if err != nil {
				return err
			}
			defer a.noteMoreResults(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				for i := range all.Data {
					c := &all.Data[i]
					target := string(c.Gate)
					if c.Item != nil {
						target += " " + *c.Item
					}
					renderComment(p, c, target)
				}
				a.textIfEmpty(p, len(all.Data), "Nobody has said anything yet.")
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&gate, "gate", "", "only of this deliverable: soa, gap_analysis, maturity or poam")
	f.StringVar(&in.Item, "item", "", "only of this line: a control's code, or a POA&M item's")
	f.StringVar(&in.ApprovalID, "approval", "", "only of this approval")
	l.register(cmd, 0)
	return cmd
}

func (a *app) listComments(ctx context.Context, in api.CommentsInput, l listFlags) (*api.List[api.Comment], error) {
	return collectPages(ctx, l.limit, l.cursor, func(p api.Paging) (*api.List[api.Comment], error) {
		in.Paging = p
		return call(ctx, a, api.ListComments, &in)
	})
}

// renderComment prints a comment: who, when, of what, and the words.
func renderComment(p *print.Page, c *api.Comment, target string) {
	what := ""
	if c.ReplyTo != nil {
		what = ", in reply"
	}
	p.Item(0, "%s, %s, %s, version %d%s (%s)", c.Author.Name, formatTime(c.CreatedAt), target, c.VersionNumber, what, c.ID)
	p.Item(2, "%s", c.Text)
}

// fetchCommentSection fetches what was said of a deliverable or of one line of it, for a page; the
// records that programs read have it at an address of its own.
func (a *app) fetchCommentSection(
	ctx context.Context,
	assessment string,
	g api.Gate,
	include func(*api.Comment) bool,
) (func(*print.Page), error) {
	if !a.out.IsHumanReadable() {
		return func(*print.Page) {}, nil
	}
	all, err := a.listComments(ctx, api.CommentsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Gate: g}, listFlags{})
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

// matchItem keeps comments of one line, by any of its codes.
func matchItem(codes ...string) func(*api.Comment) bool {
	return func(c *api.Comment) bool {
		for _, code := range codes {
			if c.Item != nil && equalCodes(*c.Item, code) {
				return true
			}
		}
		return false
	}
}

// isOnDeliverable keeps comments of the whole deliverable.
func isOnDeliverable(c *api.Comment) bool { return c.Item == nil }
