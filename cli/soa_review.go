package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) soaReview() *cobra.Command {
	var in api.DrawReviewInput
	cmd := &cobra.Command{
		Use: "review", Short: "Review a sample of items, and estimate how many of the others may be wrong",
		Long: `Lists the items to read, least certain first: all items that the draft leaves open, and a random
sample of the other items, drawn by status. Record your decision on each item with ` + "`soa edit`" + ` or
` + "`soa edit --reviewed`" + `. Once you have read the items, this command shows, with 95% confidence, the
largest number of unread items that could be wrong, and whether to read more. The sample is drawn
when you first run the command.`,
		Example: "  service soa review\n  service soa edit IAC-06 --reviewed\n  service soa review --sample 100",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n := in.Body.Size; n < 1 || n > api.MaxReviewSize {
				return usageError("--sample must be between 1 and %d, not %d", api.MaxReviewSize, n)
			}
			id, err := soaVersions.fetchNewestVersionID(cmd.Context(), a)
			if err != nil {
				return err
			}
			in.SoAVersionID = id
			r, err := a.fetchOrDrawReview(cmd.Context(), &in, cmd.Flags().Changed("sample") || cmd.Flags().Changed("seed"))
			if err != nil {
				return err
			}
			return a.out.Print(r, func(p *print.Page) { a.renderReview(p, r) })
		},
	}
	cmd.Flags().IntVar(&in.Body.Size, "sample", api.DefaultReviewSize,
		"number of items in the sample, rounded up for each status; a larger sample includes the items of a smaller one")
	cmd.Flags().IntVar(&in.Body.Seed, "seed", 0, "random seed for drawing the sample")
	return cmd
}

// fetchOrDrawReview returns the review of a version. It draws a new sample if there is no review yet, if the review is
// outdated, or if draw is set.
func (a *app) fetchOrDrawReview(ctx context.Context, in *api.DrawReviewInput, draw bool) (*api.ReviewSample, error) {
	if !draw {
		r, err := call(ctx, a, api.GetReview, &in.SoAInput)
		if err == nil && !r.Outdated || err != nil && !api.IsCode(err, api.CodeNotFound) {
			return r, err
		}
		if err == nil {
			a.printNotice("The draft has changed since the last sample was drawn, so a new sample was drawn.")
		}
	}
	return call(ctx, a, api.DrawReview, in)
}

// maxReviewLines is the maximum number of items to read that a page lists.
const maxReviewLines = 20

func (a *app) renderReview(p *print.Page, r *api.ReviewSample) {
	p.Title("Review of the Statement of Applicability, version %d", r.VersionNumber)
	p.Fields(
		field("left open", fmt.Sprintf("%d, of which %d to read", r.MustRead, r.MustReadLeft)),
		field("sample", fmt.Sprintf("%d of %d other items, of which %d to read and %d were wrong",
			r.Sampled, r.Population, r.SampledLeft, r.Wrong)),
		field("drawn", joinNonEmpty(print.FormatTime(r.DrawnAt), "by", r.DrawnBy, fmt.Sprintf("(seed %d)", r.Seed))),
	)
	p.Blank()
	p.Text("%s", r.Statement)
	if r.NextStep != "" {
		p.Text("%s", r.NextStep)
	}
	if r.AtMostWrong != nil && r.SuggestedSize > r.Sampled && r.NotRead > 0 {
		p.Command(a.suggestedCommandLine(fmt.Sprintf("soa review --sample %d", r.SuggestedSize)))
	}
	if len(r.Lines) == 0 {
		return
	}
	p.Title("To read")
	renderTable(p, r.Lines[:min(len(r.Lines), maxReviewLines)], []print.Column{
		fixed("control"), column("title"), column("status"), number("confidence"), column("why"),
	}, func(l api.ReviewLine) []string {
		return []string{l.ControlCode, l.ControlTitle, prose.Humanize(l.ImplementationStatus), fmt.Sprintf("%.2f", l.Confidence), l.Reason}
	})
	if more := len(r.Lines) - maxReviewLines; more > 0 {
		p.Text("and %d more (list all with -o json)", more)
	}
	p.Blank()
	p.Text("To read an item with its evidence, and to confirm it:")
	p.Command(a.suggestedCommandLine("soa show " + r.Lines[0].ControlCode))
	p.Command(a.suggestedCommandLine("soa edit " + r.Lines[0].ControlCode + " --reviewed"))
}

// reviewRenderer returns a function that prints the results of a review by sampling, or nil if there is no review.
// Errors are ignored, because the results are only additional information.
func (a *app) reviewRenderer(ctx context.Context, assessment string) func(*print.Page) {
	in := &api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Paging: api.Paging{Limit: 1}}
	l, err := call(ctx, a, api.ListSoA, in)
	if err != nil || len(l.Data) == 0 {
		return nil
	}
	r, err := call(ctx, a, api.GetReview, &api.SoAInput{SoAVersionID: l.Data[0].ID})
	if err != nil || r.Outdated && l.Data[0].Status == api.VersionApproved { // reading the items again would change nothing
		return nil
	}
	return func(p *print.Page) {
		p.Blank()
		p.Text("Review by sampling: %s To list the items to read, run `%s`.", r.Statement, a.suggestedCommandLine("soa review"))
	}
}
