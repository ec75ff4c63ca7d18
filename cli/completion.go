package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// completionTimeout is the maximum time spent on a completion.
const completionTimeout = 2 * time.Second

// newCompleter returns a completion function that gets its candidates from listWords. If listWords fails, it offers
// none.
func (a *app) newCompleter(listWords func(ctx context.Context, prefix string) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		if a.loadSettings(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		words, err := listWords(ctx, prefix)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func (a *app) completeControls() cobra.CompletionFunc {
	return a.newCompleter(func(ctx context.Context, _ string) (out []string, err error) {
		l, err := fetchAll(ctx, a, api.ListControls, &api.ControlsInput{})
		if err != nil {
			return nil, err
		}
		for _, c := range l.Data {
			out = append(out, cobra.CompletionWithDesc(c.Code, print.SafeLine(c.Title)))
		}
		return out, nil
	})
}

func (a *app) completeFrameworks() cobra.CompletionFunc {
	return a.newCompleter(func(ctx context.Context, _ string) (out []string, err error) {
		l, err := fetchAll(ctx, a, api.ListFrameworks, &api.FrameworksInput{})
		if err != nil {
			return nil, err
		}
		for _, f := range l.Data {
			out = append(out, cobra.CompletionWithDesc(f.Code, print.SafeLine(f.Name)))
		}
		return out, nil
	})
}

func (a *app) completeAssessments() cobra.CompletionFunc {
	return a.newCompleter(func(ctx context.Context, _ string) (out []string, err error) {
		l, err := call(ctx, a, api.ListAssessments, &api.AssessmentsInput{Paging: api.Paging{Limit: api.MaxListLimit}})
		if err != nil {
			return nil, err
		}
		for _, one := range l.Data {
			out = append(out, cobra.CompletionWithDesc(one.ID, print.SafeLine(one.Name)))
		}
		return out, nil
	})
}

// completeIDs returns a completion function that offers the IDs of the records in a list, each with a
// description.
func completeIDs[T any](
	a *app,
	listPage func(context.Context, api.Paging) (*api.List[T], error),
	describe func(*T) (id, about string),
) cobra.CompletionFunc {
	return a.newCompleter(func(ctx context.Context, _ string) (out []string, err error) {
		l, err := listPage(ctx, api.Paging{Limit: api.MaxListLimit})
		if err != nil {
			return nil, err
		}
		for i := range l.Data {
			id, about := describe(&l.Data[i])
			out = append(out, cobra.CompletionWithDesc(print.SafeLine(id), print.SafeLine(about)))
		}
		return out, nil
	})
}

// newCurrentAssessmentLister returns a function that calls a list operation for the current assessment and
// returns one page.
func newCurrentAssessmentLister[I, T any](
	a *app,
	op api.Op[I, api.List[T]],
	newInput func(api.AssessmentInput, api.Paging) I,
) func(context.Context, api.Paging) (*api.List[T], error) {
	return func(ctx context.Context, p api.Paging) (*api.List[T], error) {
		one, err := a.currentAssessment(ctx)
		if err != nil {
			return nil, err
		}
		given := newInput(api.AssessmentInput{AssessmentID: one.ID}, p)
		return call(ctx, a, op, &given)
	}
}

// registerCompletions registers completions for the global flags and for commands with an id argument.
func (a *app) registerCompletions(root *cobra.Command) {
	documents := completeIDs(
		a,
		newCurrentAssessmentLister(a, api.ListDocuments, func(in api.AssessmentInput, p api.Paging) api.DocumentsInput {
			return api.DocumentsInput{AssessmentInput: in, Paging: p}
		}),
		func(d *api.Document) (string, string) { return d.Filename, string(d.Status) },
	)
	reports := completeIDs(a, newCurrentAssessmentLister(a, api.ListReports, func(in api.AssessmentInput, p api.Paging) api.ReportsInput {
		return api.ReportsInput{AssessmentInput: in, Paging: p}
	}), func(r *api.Report) (string, string) { return r.ID, r.Title + ", " + r.Format })
	approvals := completeIDs(
		a,
		newCurrentAssessmentLister(a, api.ListApprovals, func(in api.AssessmentInput, p api.Paging) api.ApprovalsInput {
			return api.ApprovalsInput{AssessmentInput: in, Paging: p}
		}),
		func(x *api.Approval) (string, string) { return x.ID, x.Gate.Title() + ", " + string(x.Status) },
	)
	workflows := completeIDs(
		a,
		newCurrentAssessmentLister(a, api.ListWorkflows, func(in api.AssessmentInput, p api.Paging) api.WorkflowsInput {
			return api.WorkflowsInput{AssessmentInput: in, Paging: p}
		}),
		func(r *api.WorkflowRun) (string, string) { return r.ID, string(r.Status) },
	)
	keys := completeIDs(a, func(ctx context.Context, p api.Paging) (*api.List[api.APIKey], error) {
		return call(ctx, a, api.ListAPIKeys, &p)
	},
		func(k *api.APIKey) (string, string) { return k.ID, k.Name })
	webhooks := completeIDs(a, func(ctx context.Context, p api.Paging) (*api.List[api.Webhook], error) {
		org, err := a.currentOrganization(ctx)
		if err != nil {
			return nil, err
		}
		return call(ctx, a, api.ListWebhooks, &api.OrgListInput{OrgInput: org, Paging: p})
	}, func(h *api.Webhook) (string, string) { return h.ID, redactPassword(h.URL) })
	for _, one := range []struct {
		list     cobra.CompletionFunc
		commands []string
	}{
		{documents, []string{"doc show", "doc status", "doc chunks", "doc download", "doc delete", "doc reprocess"}},
		{reports, []string{"report show", "report download"}},
		{approvals, []string{"approval show", "approval approve", "approval reject"}},
		{workflows, []string{"workflow show", "workflow watch", "workflow cancel", "workflow resume"}},
		{keys, []string{"key rotate", "key revoke"}},
		{webhooks, []string{"webhook update", "webhook delete", "webhook rotate", "webhook test", "webhook deliveries"}},
	} {
		for _, words := range one.commands {
			if cmd, rest, err := root.Find(strings.Fields(words)); err == nil && len(rest) == 0 {
				cmd.ValidArgsFunction = one.list
			}
		}
	}
	for flag, list := range map[string]cobra.CompletionFunc{
		"assessment": a.completeAssessments(), "context": a.completeContexts(),
		"output": cobra.FixedCompletions(print.Formats, cobra.ShellCompDirectiveNoFileComp),
	} {
		_ = root.RegisterFlagCompletionFunc(flag, list)
	}
}
