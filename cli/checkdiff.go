package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/engine/check"
)

func (a *app) checkDiff() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use: "diff A B", Short: "Tell which gaps were opened and closed, and which became worse or better", Args: takes(2, 2),
		Long: `Compares two sides: A is how it was, B how it is. Each is a folder of evidence, a file
written by a check (-o json=FILE, or a baseline), or an assessment. Both have to be of
the same catalog and frameworks.

With --fail-on-new it ends with 1 where a gap was opened or became worse; with
--fail-on-new=high, where one that is high or worse now was.`,
		Example: `  service check diff main/evidence evidence -f iso-27001-2022
  service check diff known.json evidence -f iso-27001-2022 --fail-on-new=high -o markdown=comment.md
  service check diff "Acme 2025" "Acme 2026"`,
		RunE: func(cmd *cobra.Command, args []string) error { return explainCheck(a.runDiff(cmd, args, o)) },
	}
	a.addPolicyFlags(cmd, &o)
	// What compares takes no bar that is about one side.
	for _, name := range []string{"fail-on", "min-coverage", "min-maturity", "max-stale-days", "require-approved", "baseline", "waivers", "threshold"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	return cmd
}

func (a *app) runDiff(cmd *cobra.Command, args []string, o checkOptions) error {
	ctx := cmd.Context()
	if err := allSaid(cmd, args); err != nil {
		return err
	}
	for _, name := range []string{"fail-on", "min-coverage", "min-maturity", "max-stale-days", "require-approved", "baseline", "waivers", "threshold"} {
		if cmd.Flags().Changed(name) {
			return advise(usage("`service check diff` compares, and --%s is about one side", name), "--fail-on-new says what is to fail")
		}
	}
	p, err := a.policyOf(cmd, nil, o.policy)
	if err != nil {
		return err
	}
	if !cmd.Flags().Changed("fail-on-new") {
		p.FailOnNew = "" // the policy's is about its baseline
	}
	outputs, err := a.outputsOf(o.outputs, check.ParseDiffOutput)
	if err != nil {
		return err
	}
	var sides [2]*check.Baseline
	for i, ref := range args {
		if sides[i], err = a.side(ctx, ref, *p, o, ownFiles(p, outputs)); err != nil {
			return err
		}
	}
	d, err := check.Compare(sides[0], sides[1], args[0], args[1])
	if err != nil {
		return err
	}
	slices.SortStableFunc(outputs, func(x, y check.Output) int { return strings.Compare(y.Path, x.Path) })
	for _, out := range outputs {
		text, err := d.Write(out.Format)
		if err != nil {
			return err
		}
		if out.Path != "" {
			err = writeOutput(out.Path, text)
		} else {
			_, err = a.Stdout.Write(text)
		}
		if err != nil {
			return err
		}
	}
	if a.out.Query != nil {
		if err := a.out.Record(d); err != nil {
			return err
		}
	}
	if p.FailOnNew != "" && !o.exitZero && d.Fails(p.FailOnNew) {
		return &failure{code: exitVerdict, err: errors.New("gaps were opened or became worse")}
	}
	return nil
}

// side is one side of a comparison.
func (a *app) side(ctx context.Context, ref string, p check.Policy, o checkOptions, own []string) (*check.Baseline, error) {
	if info, err := os.Stat(ref); err == nil && !info.IsDir() {
		data, err := readBounded(ref, check.MaxRecorded)
		if err != nil {
			return nil, stopped("%s can't be read: %w", ref, reason(err))
		}
		return check.ParseBaseline(data, ref)
	}
	p.Frameworks, p.Domains = slices.Clone(p.Frameworks), slices.Clone(p.Domains)
	f, err := a.factsOf(ctx, []string{ref}, &p, o, own)
	if err != nil {
		return nil, err
	}
	if !f.Analysed {
		return nil, advise(stopped("the assessment %q has no gap analysis yet", f.Subject.Name), "go on with `%s`", a.command("assess run"))
	}
	return check.BaselineOf(f), nil
}
