package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/check"
)

// defaultPolicyFile is the policy that is used where none is named.
const defaultPolicyFile = ".service.yaml"

// checkOptions are what `check` was asked to do beside its policy.
type checkOptions struct {
	policy                                           string
	outputs                                          []string
	writeBaseline, writeThreshold, exitZero, noCache bool
	explain                                          string
}

func (a *app) checkCommand() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use: "check [DIR|ASSESSMENT]", Short: "Hold evidence against a policy, and fail where it falls short", Args: requireArgs(0, 1),
		ValidArgsFunction: a.completeAssessments(),
		Long: `Checks a folder of evidence, or an assessment on a server or in the data folder, against
a policy, and says in its exit code how that came out: 0 pass, 1 the verdict failed, 4 all
else passes and an approval is missing or void. 2, 3 and 5 are no verdicts: see
"service help exit-codes".

A folder is assessed apart, with the starter catalog: nothing of your data folder or server
is read or written, and a second check of the same content takes no time. Hidden files,
links, and the files that the check itself reads or writes are left out.

The policy is in .service.yaml here, or in the folder, or in the file that --policy names;
its keys are the flags below, and "evidence" or "assessment" for what to check. A flag
stands before the file. Where nothing is asked for, gaps of severity high or worse fail.

The verdict goes to stdout in the first format without a file, as text where there is none.
Formats: ` + strings.Join(check.FormatNames(), ", ") + ".",
		Example: `  service check evidence -f iso-27001-2022 --fail-on critical
  service check "Acme 2026" --require-approved soa,gap_analysis --min-coverage 60
  service check evidence --baseline known.json --write-baseline
  service check evidence --baseline known.json --fail-on-new -o text -o sarif=check.sarif
  service check --explain new-gap
  service check diff main/evidence evidence`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := rejectEmptyArgs(cmd, args); err != nil {
				return err
			}
			if o.explain != "" {
				page, err := check.ExplainRule(o.explain)
				if err == nil {
					_, err = io.WriteString(a.Stdout, page)
				}
				return toUsageError(err)
			}
			return toUsageError(a.runCheck(cmd, args, o))
		},
	}
	a.addPolicyFlags(cmd, &o)
	f := cmd.Flags()
	f.BoolVar(&o.writeBaseline, "write-baseline", false, "write the gaps there are to the file that --baseline names")
	f.BoolVar(&o.writeThreshold, "write-threshold", false, "write the figures there are to the file that --threshold names")
	f.StringVar(&o.explain, "explain", "", "explain a rule, and what to do about it; check nothing")
	cmd.AddCommand(a.checkDiff())
	return cmd
}

// addPolicyFlags makes a flag of each setting of a policy that is one.
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
	f.StringVar(&o.policy, "policy", "", "file of the policy (default: "+defaultPolicyFile+" here or in the folder)")
	f.StringArrayVarP(&o.outputs, "output", "o", nil, "FORMAT, or FORMAT=FILE; repeat for several")
	f.BoolVar(&o.exitZero, "exit-zero", false, "end with 0 whatever the verdict; errors keep their codes")
	f.BoolVar(&o.noCache, "no-cache", false, "assess a folder anew, though nothing has changed")
	_ = cmd.RegisterFlagCompletionFunc("framework", a.completeFrameworks())
}

// rejectEmptyArgs refuses words that say nothing, as of a variable that is not set: what is checked
// would be something else than was meant.
func rejectEmptyArgs(cmd *cobra.Command, args []string) error {
	for _, ref := range args {
		if strings.TrimSpace(ref) == "" {
			return withHint(
				usageError("what to check has an empty name"),
				"name a folder of evidence or an assessment; where a variable names it, see that it is set",
			)
		}
	}
	for _, name := range []string{"policy", "explain", "assessment"} {
		if f := cmd.Flag(name); f != nil && f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return usageError("--%s has no value", name)
		}
	}
	if cmd.Flag("assessment").Changed && len(args) > 0 {
		return withHint(usageError("%s is to be checked, and --assessment names another", args[0]), "name one of them")
	}
	return nil
}

// toUsageError gives what was wrongly given the exit code for that.
func toUsageError(err error) error {
	var m *check.InputError
	var f *exitError
	if errors.As(err, &m) && !errors.As(err, &f) {
		return usageError("%w", err)
	}
	return err
}

func (a *app) today() api.Date { return api.Date(a.Clock().UTC().Format(time.DateOnly)) }

// loadPolicy joins the policy's file with the flags.
func (a *app) loadPolicy(cmd *cobra.Command, args []string, policyPath string) (*check.Policy, error) {
	p := &check.Policy{}
	candidates := []string{policyPath}
	if policyPath == "" {
		candidates = []string{defaultPolicyFile}
		if len(args) > 0 {
			candidates = append(candidates, filepath.Join(args[0], defaultPolicyFile))
		}
	}
	for _, path := range candidates {
		if info, err := os.Stat(path); err == nil && policyPath == "" && !info.Mode().IsRegular() {
			return nil, runtimeError("the policy %s can't be read: it is no file", path) // a pipe would wait for ever
		}
		data, err := readFileLimited(path, check.MaxInputBytes)
		switch {
		case err == nil:
			if p, err = check.ParsePolicy(data, path); err != nil {
				return nil, err
			}
		case policyPath == "" && !pathExists(path):
			continue // and whether the folder can be read is told when it is
		default:
			return nil, runtimeError("the policy %s can't be read: %w", path, errorWithoutPath(err))
		}
		break
	}
	for _, s := range check.Settings {
		fl := cmd.Flags().Lookup(s.Key)
		if !s.IsFlag || fl == nil || !fl.Changed {
			continue
		}
		values := []string{fl.Value.String()}
		if s.Kind == check.ValueList {
			if values, _ = cmd.Flags().GetStringSlice(s.Key); len(values) == 0 {
				values = []string{""} // as of a variable that is not set: that asks for less than was meant
			}
		}
		if err := p.Set(s.Key, values); err != nil {
			return nil, usageError("--%s: %s", s.Key, strings.TrimPrefix(err.Error(), s.Key+" "))
		}
	}
	return p, nil
}

func pathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isMissingPath tells that there is nothing at a path, or a path that can't be.
func isMissingPath(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "not a directory")
}

// readFileLimited reads a file that is not larger than it may be.
func readFileLimited(path string, maxBytes int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && int64(len(data)) > maxBytes {
		return nil, fmt.Errorf("it is larger than %s", formatSize(maxBytes))
	}
	return data, err
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
			return usageError("--write-%s: name the file with --%s FILE", one.flag, one.flag)
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
	asked := *p
	if err := p.Finalize(); err != nil {
		return err
	}
	if p.IsDefault && (o.writeBaseline || o.writeThreshold) || o.writeThreshold && hasOnlyThreshold(asked) {
		p.FailOn, p.IsDefault = "", false // it is about the file alone
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
	if why, nothing := r.MissingAnalysis(); nothing {
		return withHint(
			runtimeError("%s %q can't be held against the policy: %s", r.Subject.Kind, r.Subject.Name, why),
			"go on with `%s`",
			a.commandLine("assess run"),
		)
	}
	if err := a.writeBaselineAndThreshold(p, o, in, r); err != nil {
		return err
	}
	if err := a.writeResult(r, outputs); err != nil {
		return err
	}
	return verdictError(r, o.exitZero)
}

func hasOnlyThreshold(p check.Policy) bool {
	return p.FailOn == "" && p.FailOnNew == "" && p.MinCoverage == nil && p.MinMaturity == nil && p.MaxStaleDays == nil &&
		len(p.RequireApproved) == 0
}

// verdictError is the exit code of a verdict.
func verdictError(r *check.Result, exitZero bool) error {
	switch {
	case exitZero || r.Verdict == check.Pass:
		return nil
	case r.Verdict == check.ApprovalMissing:
		return &exitError{
			code: exitApproval,
			err:  errors.New("the policy asks for an approval that is missing or void"),
			hint: "a person has to decide; `service check --explain approval` tells how",
		}
	}
	return &exitError{code: exitVerdict, err: errors.New("the policy is not met")}
}

func (a *app) readWaivers(p *check.Policy) ([]check.Waiver, error) {
	if p.Waivers == "" {
		return nil, nil
	}
	data, err := readFileLimited(p.Waivers, check.MaxInputBytes)
	if err != nil {
		return nil, runtimeError("the waivers %s can't be read: %w", p.Waivers, errorWithoutPath(err))
	}
	return check.ParseWaivers(data, p.Waivers)
}

// readBaseline reads the baseline. One that is to be written need not be there; what is
// there and is no baseline is not written over.
func readBaseline(p *check.Policy, o checkOptions) (*check.Baseline, error) {
	if p.Baseline == "" {
		return nil, nil
	}
	data, err := readFileLimited(p.Baseline, check.MaxRecordBytes)
	if o.writeBaseline && isNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, withHint(
			runtimeError("the baseline %s can't be read: %w", p.Baseline, errorWithoutPath(err)),
			"make it with --write-baseline",
		)
	}
	return check.ParseBaseline(data, p.Baseline)
}

func readThreshold(p *check.Policy, o checkOptions) (*check.Threshold, error) {
	if p.Threshold == "" {
		return nil, nil
	}
	data, err := readFileLimited(p.Threshold, check.MaxRecordBytes)
	if o.writeThreshold && isNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, withHint(
			runtimeError("the threshold file %s can't be read: %w", p.Threshold, errorWithoutPath(err)),
			"make it with --write-threshold",
		)
	}
	t, err := check.ParseThreshold(data, p.Threshold)
	if err != nil || o.writeThreshold {
		return nil, err
	}
	return t, nil
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// writeBaselineAndThreshold writes the baseline and the threshold that were asked for.
func (a *app) writeBaselineAndThreshold(p *check.Policy, o checkOptions, in check.Input, r *check.Result) error {
	for _, one := range []struct {
		write bool
		file  string
		text  func() ([]byte, error)
	}{{o.writeBaseline, p.Baseline, in.Baseline.Encode}, {o.writeThreshold, p.Threshold, func() ([]byte, error) { return r.Threshold().Encode() }}} {
		if !one.write {
			continue
		}
		text, err := one.text()
		if err != nil {
			return err
		}
		if err := writeOutputFile(one.file, text); err != nil {
			return err
		}
		a.progress.Notice("wrote %s", one.file)
	}
	return nil
}

// writeResult writes the result in each format. The verdict itself comes last, so that it
// stands where everything else was written.
func (a *app) writeResult(r *check.Result, outputs []check.Output) error {
	slices.SortStableFunc(outputs, func(x, y check.Output) int { return strings.Compare(y.Path, x.Path) })
	for _, o := range outputs {
		text, err := r.Render(o.Format, check.Style{Color: a.Color && o.Path == ""})
		if err != nil {
			return err
		}
		if o.Format == "github" {
			if err := a.appendStepSummary(r); err != nil {
				return err
			}
		}
		if o.Path != "" {
			if err := writeOutputFile(o.Path, text); err != nil {
				return err
			}
			continue
		}
		if _, err := a.Stdout.Write(text); err != nil {
			return err
		}
	}
	if a.out.Query != nil {
		return a.out.Record(r)
	}
	return nil
}

// appendStepSummary adds to the page that GitHub shows of the step, where there is one.
func (a *app) appendStepSummary(r *check.Result) error {
	path := a.Env("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	text, err := r.StepSummary()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return runtimeError("the step summary %s can't be written: %w", path, errorWithoutPath(err))
	}
	return nil
}

// gatherFacts finds out what there is to hold against the policy.
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
			usageError("there is nothing said to check"),
			"name a folder of evidence or an assessment, as `service check ./evidence`, or write evidence: FOLDER into %s",
			defaultPolicyFile,
		)
	}
	if ref != "" {
		f, err = a.gatherFactsFrom(ctx, ref, p, o, excluded)
	}
	if err != nil {
		return nil, err
	}
	if f.Subject.Kind == check.Folder {
		return f, f.Filter(nil, p.Domains) // it was assessed against the frameworks
	}
	return f, f.Filter(p.Frameworks, p.Domains)
}

// gatherFactsFrom are the facts of a folder, or of an assessment where there is no folder of that name.
func (a *app) gatherFactsFrom(ctx context.Context, ref string, p *check.Policy, o checkOptions, excluded []string) (*check.Facts, error) {
	info, err := os.Stat(ref)
	switch {
	case err == nil && info.IsDir():
		return a.gatherFolderFacts(ctx, ref, p.Frameworks, o.noCache, excluded)
	case err == nil:
		return nil, withHint(
			usageError("%s is a file, and a folder of evidence or an assessment is checked", ref),
			"give the folder it is in",
		)
	case !isMissingPath(err):
		return nil, runtimeError("%s can't be read: %w", ref, errorWithoutPath(err))
	case strings.ContainsAny(ref, `/\`) || strings.HasPrefix(ref, ".") || ref == p.Evidence:
		return nil, runtimeError("%s can't be read: there is no such folder", ref)
	}
	f, err := a.gatherAssessmentFacts(ctx, ref)
	var none *assessmentNotFoundError
	if errors.As(err, &none) {
		err = withHint(
			runtimeError("there is no folder %s here, and no assessment of that name", shellQuote(ref)),
			"`%s` lists assessments",
			a.commandLine("assess list"),
		)
	} else if err != nil && exitCode(err) == exitRuntime {
		err = fmt.Errorf("there is no folder %s here, so it is taken for an assessment: %w", ref, err)
	}
	return f, err
}
