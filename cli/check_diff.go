package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/engine/check"
	"github.com/scf-service/service/internal/regularfile"
)

func (a *app) checkDiff() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use: "diff A B", Short: "Show which gaps were opened, closed, worsened or improved",
		Long: `Compares A (before) with B (after). Each is a folder of evidence, a file written by a
check (-o json=FILE, or a baseline), or an assessment. If their catalogs or frameworks
differ, only controls of both are compared, and added, removed and renamed controls are
listed. A file from a check must be for the same frameworks, and can be compared across
catalogs only if it is a baseline.

For each change, the result says what differs between A and B: the quotes, the control's
wording in the catalog, its requirements, the reader, the documents, the scope, or a
person's decision.

With --fail-on-new, the exit code is 1 if a gap was opened or became worse. With
--fail-on-new=high, it is 1 only if such a gap now has high or critical severity.`,
		Example: `  service check diff main/evidence evidence -f iso-27001-2022
  service check diff known.json evidence -f iso-27001-2022 --fail-on-new=high -o markdown=comment.md
  service check diff "Acme 2025" "Acme 2026"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return inputErrorToUsageError(a.runCheckDiff(cmd, args, o))
		},
	}
	a.addPolicyFlags(cmd, &o)
	for _, name := range singleSideFlags {
		cmd.Flags().Lookup(name).Hidden = true
	}
	return cmd
}

// singleSideFlags lists the policy flags that make no sense in a comparison.
var singleSideFlags = []string{
	"fail-on", "min-coverage", "min-maturity", "max-stale-days", "require-approved", "baseline", "waivers", "threshold",
}

func (a *app) runCheckDiff(cmd *cobra.Command, args []string, o checkOptions) error {
	ctx := cmd.Context()
	if err := validateCheckArgs(cmd, args); err != nil {
		return err
	}
	for _, name := range singleSideFlags {
		if cmd.Flags().Changed(name) {
			return withHint(
				usageError("--%s can't be used with `service check diff`", name),
				"use --fail-on-new to make the command fail if there are new or worse gaps",
			)
		}
	}
	p, err := a.loadPolicy(cmd, args, o.policy)
	if err != nil {
		return err
	}
	for _, f := range p.InEvidence {
		a.progress.Notice("%s", f.Warning())
	}
	if !cmd.Flags().Changed("fail-on-new") {
		p.FailOnNew = "" // in the policy file, it refers to the baseline
	}
	outputs, err := a.parseOutputs(o.outputs, check.ParseDiffOutput)
	if err != nil {
		return err
	}
	if err := a.checkResultPaths(outputs, o); err != nil {
		return err
	}
	var sides [2]*check.Baseline
	for i, ref := range args {
		if sides[i], err = a.loadDiffSide(ctx, ref, *p, o, listCheckFiles(p, outputs)); err != nil {
			return err
		}
	}
	d, err := check.CompareBaselines(sides[0], sides[1], args[0], args[1])
	if err != nil {
		return err
	}
	d.Policy = p.PolicyFile
	slices.SortStableFunc(outputs, func(x, y check.Output) int { return strings.Compare(y.Path, x.Path) })
	for _, out := range outputs {
		text, err := d.Render(out.Format)
		if err != nil {
			return err
		}
		if out.Path != "" {
			err = a.writeOutputFile(ctx, out.Path, text)
		} else {
			_, err = a.Stdout.Write(text)
		}
		if err != nil {
			return err
		}
	}
	if a.out.Query != nil {
		if err := a.out.PrintRecord(d); err != nil {
			return err
		}
	}
	if p.FailOnNew != "" && !o.exitZero && d.HasRegressions(p.FailOnNew) {
		return &exitError{code: exitVerdict, err: errors.New("new or worse gaps were found")}
	}
	return nil
}

// loadDiffSide returns one side of a comparison. It is read from a baseline file, or built from a folder or
// an assessment.
func (a *app) loadDiffSide(ctx context.Context, ref string, p check.Policy, o checkOptions, excluded []string) (*check.Baseline, error) {
	if info, err := os.Stat(ref); err == nil && !info.IsDir() {
		data, err := regularfile.Read(ref, check.MaxRecordBytes)
		if err != nil {
			return nil, runtimeError("%s can't be read: %w", ref, errorWithoutPath(err))
		}
		return check.ParseBaseline(data, ref)
	}
	p.Frameworks, p.Domains = slices.Clone(p.Frameworks), slices.Clone(p.Domains)
	f, err := a.gatherFacts(ctx, []string{ref}, &p, o, excluded)
	if err != nil {
		return nil, err
	}
	if !f.HasGapAnalysis {
		return nil, withHint(
			runtimeError("the assessment %q has no gap analysis yet", f.Subject.Name),
			"continue with `%s`",
			a.suggestedCommandLine("assess run"),
		)
	}
	return check.NewBaseline(f).WithControls(f), nil
}
