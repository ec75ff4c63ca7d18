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

// policyFile is the policy that is used where none is named.
const policyFile = ".service.yaml"

// checkOptions are what `check` was asked to do beside its policy.
type checkOptions struct {
	policy                                         string
	outputs                                        []string
	writeBaseline, writeThreshold, exitZero, fresh bool
	explain                                        string
}

func (a *app) check() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use: "check [DIR|ASSESSMENT]", Short: "Hold evidence against a policy, and fail where it falls short", Args: takes(0, 1),
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
			if err := allSaid(cmd, args); err != nil {
				return err
			}
			if o.explain != "" {
				page, err := check.Explain(o.explain)
				if err == nil {
					_, err = io.WriteString(a.Stdout, page)
				}
				return explainCheck(err)
			}
			return explainCheck(a.runCheck(cmd, args, o))
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
		case !s.Flag:
		case s.Kind == check.List:
			f.StringSliceP(s.Key, short, nil, s.Usage)
		default:
			f.StringP(s.Key, short, "", s.Usage)
			if s.Kind == check.Choice {
				f.Lookup(s.Key).NoOptDefVal = check.Any
			}
		}
	}
	f.StringVar(&o.policy, "policy", "", "file of the policy (default: "+policyFile+" here or in the folder)")
	f.StringArrayVarP(&o.outputs, "output", "o", nil, "FORMAT, or FORMAT=FILE; repeat for several")
	f.BoolVar(&o.exitZero, "exit-zero", false, "end with 0 whatever the verdict; errors keep their codes")
	f.BoolVar(&o.fresh, "no-cache", false, "assess a folder anew, though nothing has changed")
	_ = cmd.RegisterFlagCompletionFunc("framework", a.completeFrameworks())
}

// allSaid refuses words that say nothing, as of a variable that is not set: what is checked
// would be something else than was meant.
func allSaid(cmd *cobra.Command, args []string) error {
	for _, ref := range args {
		if strings.TrimSpace(ref) == "" {
			return advise(usage("what to check has an empty name"), "name a folder of evidence or an assessment; where a variable names it, see that it is set")
		}
	}
	for _, name := range []string{"policy", "explain", "assessment"} {
		if f := cmd.Flag(name); f != nil && f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return usage("--%s has no value", name)
		}
	}
	if cmd.Flag("assessment").Changed && len(args) > 0 {
		return advise(usage("%s is to be checked, and --assessment names another", args[0]), "name one of them")
	}
	return nil
}

// explainCheck gives what was wrongly given the exit code for that.
func explainCheck(err error) error {
	var m *check.Mistake
	var f *failure
	if errors.As(err, &m) && !errors.As(err, &f) {
		return usage("%w", err)
	}
	return err
}

func (a *app) today() api.Date { return api.Date(a.Clock().UTC().Format(time.DateOnly)) }

// policyOf joins the policy's file with the flags.
func (a *app) policyOf(cmd *cobra.Command, args []string, named string) (*check.Policy, error) {
	p := &check.Policy{}
	candidates := []string{named}
	if named == "" {
		candidates = []string{policyFile}
		if len(args) > 0 {
			candidates = append(candidates, filepath.Join(args[0], policyFile))
		}
	}
	for _, path := range candidates {
		if info, err := os.Stat(path); err == nil && named == "" && !info.Mode().IsRegular() {
			return nil, stopped("the policy %s can't be read: it is no file", path) // a pipe would wait for ever
		}
		data, err := readBounded(path, check.MaxFile)
		switch {
		case err == nil:
			if p, err = check.ParsePolicy(data, path); err != nil {
				return nil, err
			}
		case named == "" && !there(path):
			continue // and whether the folder can be read is told when it is
		default:
			return nil, stopped("the policy %s can't be read: %w", path, reason(err))
		}
		break
	}
	for _, s := range check.Settings {
		fl := cmd.Flags().Lookup(s.Key)
		if !s.Flag || fl == nil || !fl.Changed {
			continue
		}
		values := []string{fl.Value.String()}
		if s.Kind == check.List {
			if values, _ = cmd.Flags().GetStringSlice(s.Key); len(values) == 0 {
				values = []string{""} // as of a variable that is not set: that asks for less than was meant
			}
		}
		if err := p.Set(s.Key, values); err != nil {
			return nil, usage("--%s: %s", s.Key, strings.TrimPrefix(err.Error(), s.Key+" "))
		}
	}
	return p, nil
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// noSuchFile tells that there is nothing at a path, or a path that can't be.
func noSuchFile(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "not a directory")
}

// readBounded reads a file that is not larger than it may be.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("it is larger than %s", size(most))
	}
	return data, err
}

func (a *app) runCheck(cmd *cobra.Command, args []string, o checkOptions) error {
	ctx := cmd.Context()
	p, err := a.policyOf(cmd, args, o.policy)
	if err != nil {
		return err
	}
	for _, one := range []struct {
		write      bool
		file, flag string
	}{{o.writeBaseline, p.Baseline, "baseline"}, {o.writeThreshold, p.Threshold, "threshold"}} {
		if one.write && one.file == "" {
			return usage("--write-%s: name the file with --%s FILE", one.flag, one.flag)
		}
	}
	words := o.outputs
	if len(words) == 0 {
		words = p.Outputs
	}
	outputs, err := a.outputsOf(words, check.ParseOutput)
	if err != nil {
		return err
	}
	if err := keepApart(p, o, outputs); err != nil {
		return err
	}
	asked := *p
	if err := p.Settle(); err != nil {
		return err
	}
	if p.Assumed && (o.writeBaseline || o.writeThreshold) || o.writeThreshold && onlyThreshold(asked) {
		p.FailOn, p.Assumed = "", false // it is about the file alone
	}
	in := check.Input{Policy: p, Today: a.today(), Tool: "service " + a.Version}
	if in.Waivers, err = a.waivers(p); err != nil {
		return err
	}
	if in.Baseline, err = readBaseline(p, o); err != nil {
		return err
	}
	if in.Threshold, err = readThreshold(p, o); err != nil {
		return err
	}
	if in.Facts, err = a.factsOf(ctx, args, p, o, ownFiles(p, outputs)); err != nil {
		return err
	}
	if o.writeBaseline {
		in.Baseline = check.BaselineOf(in.Facts)
	}
	r, err := check.Judge(in)
	if err != nil {
		return err
	}
	if why, nothing := r.NothingAnalysed(); nothing {
		return advise(stopped("%s %q can't be held against the policy: %s", r.Subject.Kind, r.Subject.Name, why), "go on with `%s`", a.command("assess run"))
	}
	if err := a.writeRecorded(p, o, in, r); err != nil {
		return err
	}
	if err := a.writeResult(r, outputs); err != nil {
		return err
	}
	return verdictError(r, o.exitZero)
}

func onlyThreshold(p check.Policy) bool {
	return p.FailOn == "" && p.FailOnNew == "" && p.MinCoverage == nil && p.MinMaturity == nil && p.MaxStaleDays == nil && len(p.RequireApproved) == 0
}

// verdictError is the exit code of a verdict.
func verdictError(r *check.Result, exitZero bool) error {
	switch {
	case exitZero || r.Verdict == check.Pass:
		return nil
	case r.Verdict == check.ApprovalMissing:
		return &failure{code: exitApproval, err: errors.New("the policy asks for an approval that is missing or void"), hint: "a person has to decide; `service check --explain approval` tells how"}
	}
	return &failure{code: exitVerdict, err: errors.New("the policy is not met")}
}

func (a *app) waivers(p *check.Policy) ([]check.Waiver, error) {
	if p.Waivers == "" {
		return nil, nil
	}
	data, err := readBounded(p.Waivers, check.MaxFile)
	if err != nil {
		return nil, stopped("the waivers %s can't be read: %w", p.Waivers, reason(err))
	}
	return check.ParseWaivers(data, p.Waivers)
}

// readBaseline reads the baseline. One that is to be written need not be there; what is
// there and is no baseline is not written over.
func readBaseline(p *check.Policy, o checkOptions) (*check.Baseline, error) {
	if p.Baseline == "" {
		return nil, nil
	}
	data, err := readBounded(p.Baseline, check.MaxRecorded)
	if o.writeBaseline && noSuch(err) {
		return nil, nil
	}
	if err != nil {
		return nil, advise(stopped("the baseline %s can't be read: %w", p.Baseline, reason(err)), "make it with --write-baseline")
	}
	return check.ParseBaseline(data, p.Baseline)
}

func readThreshold(p *check.Policy, o checkOptions) (*check.Threshold, error) {
	if p.Threshold == "" {
		return nil, nil
	}
	data, err := readBounded(p.Threshold, check.MaxRecorded)
	if o.writeThreshold && noSuch(err) {
		return nil, nil
	}
	if err != nil {
		return nil, advise(stopped("the threshold file %s can't be read: %w", p.Threshold, reason(err)), "make it with --write-threshold")
	}
	t, err := check.ParseThreshold(data, p.Threshold)
	if err != nil || o.writeThreshold {
		return nil, err
	}
	return t, nil
}

func noSuch(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// writeRecorded writes the baseline and the threshold that were asked for.
func (a *app) writeRecorded(p *check.Policy, o checkOptions, in check.Input, r *check.Result) error {
	for _, one := range []struct {
		write bool
		file  string
		text  func() ([]byte, error)
	}{{o.writeBaseline, p.Baseline, in.Baseline.Write}, {o.writeThreshold, p.Threshold, func() ([]byte, error) { return r.Threshold().Write() }}} {
		if !one.write {
			continue
		}
		text, err := one.text()
		if err != nil {
			return err
		}
		if err := writeOutput(one.file, text); err != nil {
			return err
		}
		a.progress.Say("wrote %s", one.file)
	}
	return nil
}

// writeResult writes the result in each format. The verdict itself comes last, so that it
// stands where everything else was written.
func (a *app) writeResult(r *check.Result, outputs []check.Output) error {
	slices.SortStableFunc(outputs, func(x, y check.Output) int { return strings.Compare(y.Path, x.Path) })
	for _, o := range outputs {
		text, err := r.Write(o.Format, check.Style{Color: a.Color && o.Path == ""})
		if err != nil {
			return err
		}
		if o.Format == "github" {
			if err := a.stepSummary(r); err != nil {
				return err
			}
		}
		if o.Path != "" {
			if err := writeOutput(o.Path, text); err != nil {
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

// stepSummary adds to the page that GitHub shows of the step, where there is one.
func (a *app) stepSummary(r *check.Result) error {
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
		return stopped("the step summary %s can't be written: %w", path, reason(err))
	}
	return nil
}

// factsOf finds out what there is to hold against the policy.
func (a *app) factsOf(ctx context.Context, args []string, p *check.Policy, o checkOptions, own []string) (*check.Facts, error) {
	var f *check.Facts
	var err error
	ref := ""
	switch {
	case len(args) > 0:
		ref = args[0]
	case a.flags.assessment != "":
		f, err = a.assessmentFacts(ctx, a.flags.assessment)
	case p.Evidence != "":
		ref = p.Evidence
	case p.Assessment != "":
		f, err = a.assessmentFacts(ctx, p.Assessment)
	default:
		return nil, advise(usage("there is nothing said to check"), "name a folder of evidence or an assessment, as `service check ./evidence`, or write evidence: FOLDER into %s", policyFile)
	}
	if ref != "" {
		f, err = a.factsAt(ctx, ref, p, o, own)
	}
	if err != nil {
		return nil, err
	}
	if f.Subject.Kind == check.Folder {
		return f, f.Narrow(nil, p.Domains) // it was assessed against the frameworks
	}
	return f, f.Narrow(p.Frameworks, p.Domains)
}

// factsAt are the facts of a folder, or of an assessment where there is no folder of that name.
func (a *app) factsAt(ctx context.Context, ref string, p *check.Policy, o checkOptions, own []string) (*check.Facts, error) {
	info, err := os.Stat(ref)
	switch {
	case err == nil && info.IsDir():
		return a.folderFacts(ctx, ref, p.Frameworks, o.fresh, own)
	case err == nil:
		return nil, advise(usage("%s is a file, and a folder of evidence or an assessment is checked", ref), "give the folder it is in")
	case !noSuchFile(err):
		return nil, stopped("%s can't be read: %w", ref, reason(err))
	case strings.ContainsAny(ref, `/\`) || strings.HasPrefix(ref, ".") || ref == p.Evidence:
		return nil, stopped("%s can't be read: there is no such folder", ref)
	}
	f, err := a.assessmentFacts(ctx, ref)
	var none *noAssessment
	if errors.As(err, &none) {
		err = advise(stopped("there is no folder %s here, and no assessment of that name", quote(ref)), "`%s` lists assessments", a.command("assess list"))
	} else if err != nil && exitCode(err) == exitRuntime {
		err = fmt.Errorf("there is no folder %s here, so it is taken for an assessment: %w", ref, err)
	}
	return f, err
}
