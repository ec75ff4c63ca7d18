package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/check"
	"github.com/scf-service/service/internal/regularfile"
)

// checkOptions holds the options of `check` that are not part of the policy.
type checkOptions struct {
	policy                                           string
	outputs                                          []string
	writeBaseline, writeThreshold, exitZero, noCache bool
	force                                            bool
	explain                                          string
}

func (a *app) checkCommand() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use: "check [DIR|ASSESSMENT]", Short: "Check evidence against a policy and fail if the policy isn't met",
		ValidArgsFunction: a.completeAssessments(),
		Long: `Checks a folder of evidence, or an assessment on a server or in the data folder, against
a policy. The exit code is the verdict: 0 if the check passes, 1 if it fails, 4 if only an
approval is missing or no longer valid because the content changed. 2, 3 and 5 are errors,
not verdicts: see "service help exit-codes".

A folder is assessed in isolation with the starter catalog: your data folder and server are
not used, and the result is cached for the next check of the same content. Hidden
files, symbolic links, and files that the check itself reads or writes are skipped.

The policy is read from .service.yaml in the current directory, or from the file given with
--policy. A .service.yaml file inside the folder that is checked is ignored, because evidence
must not choose its own policy. The result shows the policy's path and SHA-256 hash.

The policy's keys are the flags below, plus "evidence" or "assessment" for what to check,
and "output". Paths in the policy are relative to it and must not leave its folder. Flags
override the policy and accept any path. By default, the check fails on gaps of high
severity or above.

-o FORMAT prints the result in that format, -o FORMAT=FILE writes it to a file; the default
is text. Files that the program didn't write are replaced only with --force.
Formats: ` + strings.Join(check.OutputFormatNames(), ", ") + ".",
		Example: `  service check evidence -f iso-27001-2022 --fail-on critical
  service check "Acme 2026" --require-approved soa,gap_analysis --min-coverage 60
  service check evidence --baseline known.json --write-baseline
  service check evidence --baseline known.json --fail-on-new -o text -o sarif=check.sarif
  service check --explain new-gap
  service check diff main/evidence evidence`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := validateCheckArgs(cmd, args); err != nil {
				return err
			}
			if o.explain != "" {
				page, err := check.ExplainRule(o.explain)
				if err == nil {
					_, err = io.WriteString(a.Stdout, page)
				}
				return inputErrorToUsageError(err)
			}
			return inputErrorToUsageError(a.runCheck(cmd, args, o))
		},
	}
	a.addPolicyFlags(cmd, &o)
	f := cmd.Flags()
	f.BoolVar(&o.writeBaseline, "write-baseline", false, "write the current gaps to the --baseline file")
	f.BoolVar(&o.writeThreshold, "write-threshold", false, "write the current figures to the --threshold file")
	f.StringVar(&o.explain, "explain", "", "explain a rule and how to fix violations, without checking anything")
	cmd.AddCommand(a.checkDiff())
	return cmd
}

// addPolicyFlags adds the flags that override policy settings, and the flags that set the fields of o.
func (a *app) addPolicyFlags(cmd *cobra.Command, o *checkOptions) {
	f := cmd.Flags()
	for _, s := range check.Settings {
		short := map[string]string{"framework": "f"}[s.Key]
		switch {
		case !s.IsFlag:
		case s.Kind == check.ValueList:
			f.StringSliceP(s.Key, short, nil, s.Usage)
		default:
			f.StringP(s.Key, short, "", s.Usage)
			if s.Kind == check.OptionalValue {
				f.Lookup(s.Key).NoOptDefVal = check.AnySeverity
			}
		}
	}
	f.StringVar(&o.policy, "policy", "",
		"policy file (default: "+defaultPolicyFile+" in the current directory, unless it is inside the evidence)")
	f.StringArrayVarP(&o.outputs, "output", "o", nil, "output as FORMAT or FORMAT=FILE; can be repeated")
	addForceFlag(cmd, &o.force)
	f.BoolVar(&o.exitZero, "exit-zero", false, "exit with code 0 regardless of the verdict; the codes for errors don't change")
	f.BoolVar(&o.noCache, "no-cache", false, "assess a folder again even if nothing has changed since the last check")
	_ = cmd.RegisterFlagCompletionFunc("framework", a.completeFrameworks())
}

// validateCheckArgs returns an error if an argument or flag is empty, for example because of an unset variable,
// because the check might otherwise use an unintended target. It also rejects two conflicting targets.
func validateCheckArgs(cmd *cobra.Command, args []string) error {
	for _, ref := range args {
		if strings.TrimSpace(ref) == "" {
			return withHint(
				usageError("the argument is empty"),
				"pass a folder of evidence or an assessment; if it comes from a variable, make sure that it is set",
			)
		}
	}
	for _, name := range []string{"policy", "explain", "assessment"} {
		if f := cmd.Flag(name); f != nil && f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return usageError("--%s has no value", name)
		}
	}
	if cmd.Flag("assessment").Changed && len(args) > 0 {
		return withHint(usageError("both %s and --assessment were given", args[0]), "pass only one of the two")
	}
	return nil
}

// inputErrorToUsageError turns an error in the policy or another input file into a usage error, so that the program
// exits with the code for usage errors.
func inputErrorToUsageError(err error) error {
	var m *check.InputError
	var f *exitError
	if errors.As(err, &m) && !errors.As(err, &f) {
		return usageError("%w", err)
	}
	return err
}

// today returns the current date in UTC.
func (a *app) today() api.Date { return api.Date(a.Clock().UTC().Format(time.DateOnly)) }

func pathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isMissingPathError reports whether err means that a file, folder or parent folder does not exist.
func isMissingPathError(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (a *app) runCheck(cmd *cobra.Command, args []string, o checkOptions) error {
	ctx := cmd.Context()
	p, err := a.loadPolicy(cmd, args, o.policy)
	if err != nil {
		return err
	}
	for _, one := range []struct {
		write      bool
		file, flag string
	}{{o.writeBaseline, p.Baseline, "baseline"}, {o.writeThreshold, p.Threshold, "threshold"}} {
		if one.write && one.file == "" {
			return usageError("--write-%s requires --%s FILE", one.flag, one.flag)
		}
	}
	words := o.outputs
	if len(words) == 0 {
		words = p.Outputs
	}
	outputs, err := a.parseOutputs(words, check.ParseOutput)
	if err != nil {
		return err
	}
	if err := rejectOverlappingFiles(p, o, outputs); err != nil {
		return err
	}
	if err := a.recordInputsInEvidence(cmd, args, p); err != nil {
		return err
	}
	if err := a.checkResultPaths(outputs, o); err != nil {
		return err
	}
	asked := *p
	if err := p.ValidateAndSetDefaults(); err != nil {
		return err
	}
	if p.IsDefault && (o.writeBaseline || o.writeThreshold) || o.writeThreshold && lacksCriteriaOtherThanThreshold(asked) {
		p.FailOn, p.IsDefault = "", false // the command is only run to write the file
	}
	in := check.Input{Policy: p, Today: a.today(), Tool: "service " + a.Version}
	if in.Waivers, err = a.readWaivers(p); err != nil {
		return err
	}
	if in.Baseline, err = readBaseline(p, o); err != nil {
		return err
	}
	if in.Threshold, err = readThreshold(p, o); err != nil {
		return err
	}
	if in.Facts, err = a.gatherFacts(ctx, args, p, o, listCheckFiles(p, outputs)); err != nil {
		return err
	}
	if o.writeBaseline {
		in.Baseline = check.NewBaseline(in.Facts)
	}
	r, err := check.Evaluate(in)
	if err != nil {
		return err
	}
	if why, nothing := r.MissingAnalysisMessage(); nothing {
		return withHint(
			runtimeError("%s %q can't be checked against the policy: %s", r.Subject.Kind, r.Subject.Name, why),
			"continue with `%s`",
			a.suggestedCommandLine("assess run"),
		)
	}
	if err := a.writeBaselineAndThreshold(ctx, p, o, in, r); err != nil {
		return err
	}
	if err := a.writeCheckOutputs(ctx, r, outputs); err != nil {
		return err
	}
	return verdictError(r, o.exitZero)
}

// lacksCriteriaOtherThanThreshold reports whether a policy sets no criteria except those that come from a threshold
// file.
func lacksCriteriaOtherThanThreshold(p check.Policy) bool {
	return p.FailOn == "" && p.FailOnNew == "" && p.MinCoverage == nil && p.MinMaturity == nil && p.MaxStaleDays == nil &&
		len(p.RequireApproved) == 0
}

// verdictError returns an error with the exit code of a verdict, or nil if the check passed or
// exitZero is set.
func verdictError(r *check.Result, exitZero bool) error {
	switch {
	case exitZero || r.Verdict == check.Pass:
		return nil
	case r.Verdict == check.ApprovalMissing:
		return &exitError{
			code: exitApproval,
			err:  fmt.Errorf("an approval required by the policy is missing or void (policy file: %s)", r.Policy.Describe()),
			hint: "ask a person to approve the content; `service check --explain approval` explains how",
		}
	}
	return &exitError{code: exitVerdict, err: fmt.Errorf("the policy is not met (policy file: %s)", r.Policy.Describe())}
}

func (a *app) readWaivers(p *check.Policy) ([]check.Waiver, error) {
	if p.Waivers == "" {
		return nil, nil
	}
	data, err := regularfile.Read(p.Waivers, check.MaxInputBytes)
	if err != nil {
		return nil, runtimeError("the waiver file %s can't be read: %w", p.Waivers, errorWithoutPath(err))
	}
	return check.ParseWaivers(data, p.Waivers)
}

// readBaseline reads the policy's baseline, or returns nil if the policy doesn't specify one. If this run is to write
// the baseline, the file may be missing, but a file that is not a baseline is still an error.
func readBaseline(p *check.Policy, o checkOptions) (*check.Baseline, error) {
	if p.Baseline == "" {
		return nil, nil
	}
	data, err := regularfile.Read(p.Baseline, check.MaxRecordBytes)
	if o.writeBaseline && isNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, withHint(
			runtimeError("the baseline %s can't be read: %w", p.Baseline, errorWithoutPath(err)),
			"create the baseline with --write-baseline",
		)
	}
	return check.ParseBaseline(data, p.Baseline)
}

func readThreshold(p *check.Policy, o checkOptions) (*check.Threshold, error) {
	if p.Threshold == "" {
		return nil, nil
	}
	data, err := regularfile.Read(p.Threshold, check.MaxRecordBytes)
	if o.writeThreshold && isNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, withHint(
			runtimeError("the threshold file %s can't be read: %w", p.Threshold, errorWithoutPath(err)),
			"create the file with --write-threshold",
		)
	}
	t, err := check.ParseThreshold(data, p.Threshold)
	if err != nil || o.writeThreshold {
		return nil, err
	}
	return t, nil
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// writeBaselineAndThreshold writes the baseline and threshold files requested in o.
func (a *app) writeBaselineAndThreshold(ctx context.Context, p *check.Policy, o checkOptions, in check.Input, r *check.Result) error {
	for _, one := range []struct {
		write bool
		file  string
		text  func() ([]byte, error)
	}{
		{o.writeBaseline, p.Baseline, in.Baseline.Encode},
		{o.writeThreshold, p.Threshold, func() ([]byte, error) { return r.Threshold().Encode() }},
	} {
		if !one.write {
			continue
		}
		text, err := one.text()
		if err != nil {
			return err
		}
		if err := a.writeOutputFile(ctx, one.file, text); err != nil {
			return err
		}
		a.progress.Notice("wrote %s", one.file)
	}
	return nil
}

// writeCheckOutputs writes the result in each requested format. It writes to stdout last, so that a printed
// verdict means that all files were written.
func (a *app) writeCheckOutputs(ctx context.Context, r *check.Result, outputs []check.Output) error {
	slices.SortStableFunc(outputs, func(x, y check.Output) int { return strings.Compare(y.Path, x.Path) })
	for _, o := range outputs {
		text, err := r.Render(o.Format, check.Style{Color: a.Color && o.Path == ""})
		if err != nil {
			return err
		}
		if o.Format == "github" {
			if err := a.appendGitHubStepSummary(r); err != nil {
				return err
			}
		}
		if o.Path != "" {
			if err := a.writeOutputFile(ctx, o.Path, text); err != nil {
				return err
			}
			continue
		}
		if _, err := a.Stdout.Write(text); err != nil {
			return err
		}
	}
	if a.out.Query != nil {
		return a.out.PrintRecord(r)
	}
	return nil
}

// appendGitHubStepSummary appends the result to the step summary of a GitHub Actions job, if the environment
// variable GITHUB_STEP_SUMMARY names its file.
func (a *app) appendGitHubStepSummary(r *check.Result) error {
	path := a.Env("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	text, err := r.GitHubStepSummary()
	if err != nil {
		return err
	}
	f, err := regularfile.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return runtimeError("the step summary can't be written to %s: %w", path, errorWithoutPath(err))
	}
	return nil
}

// gatherFacts collects the assessment results to check. The target is the first of these that is set: the argument,
// the --assessment flag, or the target in the policy.
func (a *app) gatherFacts(ctx context.Context, args []string, p *check.Policy, o checkOptions, excluded []string) (*check.Facts, error) {
	var f *check.Facts
	var err error
	ref := ""
	switch {
	case len(args) > 0:
		ref = args[0]
	case a.flags.assessment != "":
		f, err = a.gatherAssessmentFacts(ctx, a.flags.assessment)
	case p.Evidence != "":
		ref = p.Evidence
	case p.Assessment != "":
		f, err = a.gatherAssessmentFacts(ctx, p.Assessment)
	default:
		return nil, withHint(
			usageError("no folder or assessment to check was specified"),
			"pass a folder of evidence or an assessment, such as `service check ./evidence`, or set evidence: FOLDER in %s",
			defaultPolicyFile,
		)
	}
	if ref != "" {
		f, err = a.gatherFolderOrAssessmentFacts(ctx, ref, p, o, excluded)
	}
	if err != nil {
		return nil, err
	}
	if f.Subject.Kind == check.Folder {
		return f, f.Filter(nil, p.Domains) // already limited to the frameworks
	}
	return f, f.Filter(p.Frameworks, p.Domains)
}

// gatherFolderOrAssessmentFacts returns the facts of the folder named ref, or of the assessment named ref if
// there is no such folder.
func (a *app) gatherFolderOrAssessmentFacts(
	ctx context.Context,
	ref string,
	p *check.Policy,
	o checkOptions,
	excluded []string,
) (*check.Facts, error) {
	info, err := os.Stat(ref)
	switch {
	case err == nil && info.IsDir():
		return a.gatherFolderFacts(ctx, ref, p.Frameworks, o.noCache, excluded)
	case err == nil:
		return nil, withHint(
			usageError("%s is a file; only a folder of evidence or an assessment can be checked", ref),
			"pass the folder that contains the file",
		)
	case !isMissingPathError(err):
		return nil, runtimeError("%s can't be read: %w", ref, errorWithoutPath(err))
	case strings.ContainsAny(ref, `/\`) || strings.HasPrefix(ref, ".") || ref == p.Evidence:
		return nil, runtimeError("%s can't be read: there is no such folder", ref)
	}
	f, err := a.gatherAssessmentFacts(ctx, ref)
	var none *assessmentNotFoundError
	if errors.As(err, &none) {
		err = withHint(
			runtimeError("there is no folder or assessment named %s", shellQuote(ref)),
			"`%s` lists assessments",
			a.suggestedCommandLine("assess list"),
		)
	} else if err != nil && exitCode(err) == exitRuntime {
		err = fmt.Errorf("there is no folder %s, and looking up the assessment failed: %w", ref, err)
	}
	return f, err
}
