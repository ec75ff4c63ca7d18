package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/client"
)

// runOptions are what `assess run` was asked to do.
type runOptions struct {
	name, version string
	frameworks    []string
	// approve holds the gates that the caller has decided in advance.
	approve []api.Gate
	until   api.State
	reports []string
	force   bool
	// comment stands with each decision made in advance.
	comment string
}

func (a *app) assessRun() *cobra.Command {
	var o runOptions
	var approve []string
	var until string
	cmd := &cobra.Command{
		Use: "run [DIR|FILE…]", Short: "Do the whole assessment, or go on with it up to the next decision",
		Long: `Creates an assessment of the documents in DIR and moves it forward step by step
until a person has to decide; then it stops with exit code 4 and says what waits and
how to decide. Run it again to go on.

Where an open assessment is meant it goes on with that one, and takes in only what is
new or changed in DIR: the one that --name or --assessment names; else the one that was
last run from DIR; else the one that has the folder's name. Without a DIR it is the one
used last. Hidden files and links are left out.

--approve is your own decision given in advance, for all four gates or those named.
It is recorded with your name.`,
		Example: `  service assess run ./evidence -f iso-27001-2022 --name "Acme 2026"
  service soa approve
  service assess run
  service assess run ./evidence
  service assess run ./plant -f soc2-tsc --approve --report full.html --report full.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, g := range approve {
				if g == "all" {
					o.approve = api.Gates
					continue
				}
				if err := checkOneOf("gate", g, api.Gates); err != nil {
					return err
				}
				o.approve = append(o.approve, api.Gate(g))
			}
			if err := checkOneOf("state", until, api.States()); err != nil {
				return err
			}
			o.until, o.comment = api.State(until), "approved in advance with --approve"
			for _, r := range o.reports {
				if _, err := formatFromPath(r); err != nil {
					return err
				}
			}
			return a.runAssessment(cmd.Context(), args, o)
		},
	}
	f := cmd.Flags()
	f.StringSliceVarP(
		&o.frameworks,
		"framework",
		"f",
		nil,
		"framework to assess against, by code; repeat for several (none: the whole SCF)",
	)
	f.StringVar(&o.name, "name", "", "name of the assessment (default: of the one last run from DIR, else the folder's name)")
	f.StringVar(&o.version, "version", "", "catalog version, as 2026.1.1 (default: the active one)")
	f.StringSliceVar(&approve, "approve", nil, "approve in advance as yourself: all gates, or --approve=soa,gap_analysis,maturity,poam")
	f.Lookup("approve").NoOptDefVal = "all"
	f.StringVar(&until, "until", string(api.StateReportGenerated), "stop at this state")
	f.StringSliceVar(&o.reports, "report", nil, "at the end, write the full report to this file; its ending says the format")
	f.BoolVar(&o.force, "force", false, "overwrite files that --report names")
	_ = cmd.RegisterFlagCompletionFunc("framework", a.completeFrameworks())
	return cmd
}

// runAssessment does the job of `assess run`.
func (a *app) runAssessment(ctx context.Context, paths []string, o runOptions) error {
	started := a.Clock()
	files, skippedFiles, err := collectFiles(paths)
	if err != nil {
		return err
	}
	for _, r := range o.reports {
		if err := a.checkOverwrite(r, o.force); err != nil {
			return err
		}
	}
	one, err := a.findOrCreateAssessment(ctx, paths, len(files)+len(skippedFiles), o)
	if err != nil {
		return err
	}
	return a.runToGate(ctx, one, paths, files, skippedFiles, o, started)
}

// runToGate adds the files, moves the assessment forward and tells what came of it.
func (a *app) runToGate(
	ctx context.Context,
	one *api.Assessment,
	paths []string,
	files []sourceFile,
	skippedFiles []skippedFile,
	o runOptions,
	started time.Time,
) error {
	a.rememberAssessment(one.ID)
	a.rememberFolder(resolveFolder(paths), one.ID)
	setResumeHint := func(words string) {
		a.interruptHint = fmt.Sprintf("what is done is kept in the assessment %q; go on with `%s`", one.Name, a.commandLine(words))
	}
	var late, imported int
	if len(files) > 0 {
		again := "assess run"
		for _, p := range paths { // else what was not taken yet would be left out without a word
			again += " " + shellQuote(p)
		}
		setResumeHint(again + " --name " + shellQuote(one.Name))
		got, err := a.syncFolders(ctx, one.ID, paths, files, skippedFiles, "", false)
		if err != nil {
			return err
		}
		skippedFiles, imported = got.Skipped, got.documentCount()
		a.reportMissing(got)
		if one.State.HasReached(api.StateSoADrafted) {
			late = got.changedCount()
		}
	}
	if len(paths) > 0 && imported == 0 {
		if err := a.requireDocuments(ctx, one.ID, skippedFiles); err != nil {
			return err
		}
	}
	setResumeHint("assess run")
	for _, l := range skippedFiles {
		a.progress.Notice("left out: %s: %s", l.Name, l.Reason)
	}
	moveErr := a.advanceAssessment(ctx, one.ID, o)
	if moveErr != nil && exitCode(moveErr) != exitApproval {
		return moveErr
	}
	var written []string
	if moveErr == nil {
		for _, r := range o.reports {
			if err := a.generateReportFile(ctx, one.ID, api.ReportBody{Template: "full"}, r, o.force); err != nil {
				return err
			}
			written = append(written, r)
		}
	}
	out, err := a.readRunResult(ctx, one.ID, skippedFiles, started)
	if err != nil {
		return err
	}
	out.Reports, out.lateDocuments = written, late
	if moveErr == nil {
		out.renderFooter = func(p *print.Page) { a.renderNextSteps(p, out.Status) }
	}
	if err := a.out.Print(out, out.renderer(a)); err != nil {
		return err
	}
	return moveErr
}

// requireDocuments refuses to go on, where no file could be taken, without a document from before: all
// controls of nothing would come out as not evidenced.
func (a *app) requireDocuments(ctx context.Context, assessment string, skippedFiles []skippedFile) error {
	docs, err := a.listDocuments(ctx, assessment)
	if err != nil || len(docs) > 0 {
		return err
	}
	why := make([]string, len(skippedFiles))
	for i, l := range skippedFiles {
		why[i] = l.Name + ": " + l.Reason
	}
	return withHint(
		runtimeError("none of the files could be taken: %s", joinFirst(why, 3)),
		"an assessment of nothing finds nothing; see to it that the files can be read",
	)
}

// findOrCreateAssessment finds the assessment to go on with, or creates one of the files that were found.
func (a *app) findOrCreateAssessment(ctx context.Context, paths []string, files int, o runOptions) (*api.Assessment, error) {
	name := o.name
	if name == "" && a.flags.assessment == "" && len(paths) > 0 {
		last, err := a.lastAssessmentFrom(ctx, resolveFolder(paths))
		if err != nil {
			return nil, err
		}
		if last != nil {
			a.printNotice("This folder was last assessed as %q, which goes on; --name begins another.", last.Name)
			return last, a.addFrameworks(ctx, last, o)
		}
		abs, err := filepath.Abs(paths[0])
		if err != nil {
			return nil, err
		}
		name = filepath.Base(abs)
	}
	var open *api.Assessment
	switch {
	case name == "":
		found, err := a.currentAssessment(ctx)
		if err != nil {
			return nil, err
		}
		open = found
	default:
		found, err := a.assessmentsByName(ctx, name)
		if err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(found, func(f api.Assessment) bool { return f.State != api.StateClosed }); at >= 0 {
			open = &found[at]
		}
	}
	if open == nil {
		if len(paths) == 0 {
			return nil, withHint(
				runtimeError("there is no open assessment with the name %q", name),
				"give the folder to assess: `%s`",
				a.commandLine("assess run DIR --name "+shellQuote(name)),
			)
		}
		if files == 0 {
			return nil, withHint(
				runtimeError("%s: there is no file that could be evidence", strings.Join(paths, ", ")),
				"hidden files are left out; name the folder the documents are in, or begin without any by `%s`",
				a.commandLine("assess create "+shellQuote(name)),
			)
		}
		return a.createAssessment(ctx, name, o)
	}
	return open, a.addFrameworks(ctx, open, o)
}

func (a *app) createAssessment(ctx context.Context, name string, o runOptions) (*api.Assessment, error) {
	in := api.CreateAssessmentInput{}
	in.Body.Name, in.Body.FrameworkIDs, in.Body.SCFVersionID = name, o.frameworks, o.version
	one, err := call(ctx, a, api.CreateAssessment, &in)
	if err != nil {
		return nil, a.withFrameworkHint(err)
	}
	a.progress.Done("created the assessment %q", one.Name)
	return one, nil
}

// addFrameworks adds frameworks to an assessment that goes on; whether it still may is the server's to say.
func (a *app) addFrameworks(ctx context.Context, open *api.Assessment, o runOptions) error {
	a.progress.Done("going on with the assessment %q, %s", open.Name, humanize(open.State))
	if len(o.frameworks) == 0 || !slices.ContainsFunc(o.frameworks, func(f string) bool { return !slices.Contains(open.Frameworks, f) }) {
		return nil
	}
	all := append(slices.Clone(open.Frameworks), o.frameworks...)
	in := api.UpdateAssessmentInput{AssessmentInput: api.AssessmentInput{AssessmentID: open.ID}}
	in.Body.FrameworkIDs = &all
	_, err := call(ctx, a, api.UpdateAssessment, &in)
	return err
}

// maxStalls bounds how often the same state is met again before giving up.
const maxStalls = 3

// advanceAssessment moves the assessment forward, one transition at a time, until the state
// asked for or a decision that was not given. Whoever else moves it meanwhile is
// met by reading again.
func (a *app) advanceAssessment(ctx context.Context, id string, o runOptions) error {
	in := api.AssessmentInput{AssessmentID: id}
	var last api.State
	for stalls := 0; ; {
		st, err := call(ctx, a, api.GetAssessmentStatus, &in)
		if err != nil {
			return err
		}
		if st.State == last {
			stalls++
		} else {
			stalls, last = 0, st.State
		}
		if st.State.HasReached(o.until) || len(st.NextStates) == 0 {
			return nil
		}
		move, _ := st.State.Next()
		if move.Gate != "" && len(st.BlockedBy) > 0 {
			if stalls >= maxStalls || st.PendingApprovalID == nil || !slices.Contains(o.approve, move.Gate) {
				return a.approvalRequiredError(ctx, id, move.Gate, st)
			}
			one, err := approveContent(ctx, a, *st.PendingApprovalID, o.comment, "")
			if api.IsCode(err, api.CodeInvalidState) ||
				errors.Is(err, client.ErrConnectionLost) { // decided already, by somebody else or us
				continue
			}
			if err != nil {
				return err
			}
			a.progress.Done(
				"%s, version %d: approved in advance by %s",
				capitalize(move.Gate.Title()),
				one.VersionNumber,
				one.DecidedBy.Name,
			)
		}
		err = a.performMove(ctx, id, move, st.NextStates[0])
		switch {
		case errors.Is(err, client.ErrConnectionLost) && stalls < maxStalls: // the state tells whether it was made
		case api.IsCode(err, api.CodeInvalidState), api.IsCode(err, api.CodeApproval):
			if stalls >= maxStalls || !a.hasStatusChanged(ctx, id, st) {
				return a.explainBlocked(err, move, st)
			}
		case err != nil:
			return toRuntimeError(err)
		}
	}
}

// hasStatusChanged tells whether the assessment is not as it was.
func (a *app) hasStatusChanged(ctx context.Context, id string, previous *api.AssessmentStatus) bool {
	now, err := call(ctx, a, api.GetAssessmentStatus, &api.AssessmentInput{AssessmentID: id})
	return err == nil && (now.State != previous.State || len(now.BlockedBy) != len(previous.BlockedBy))
}

// explainBlocked says what stands in the way where trying again can't help.
func (a *app) explainBlocked(err error, move api.Move, st *api.AssessmentStatus) error {
	for _, m := range api.Moves {
		if m.From == move.To && m.Gate != "" { // the move is a submission
			noun := gateNoun(m.Gate)
			return withHint(
				err,
				"change lines with `%s` or draft again, then `%s`",
				a.commandLine(noun+" edit"),
				a.commandLine("assess run"),
			)
		}
	}
	return withHint(err, "`%s` tells where it stands", a.commandLine("assess status"))
}

// performMove makes one transition and tells of it. Reading documents takes the longest, so
// there it is told how many are read.
func (a *app) performMove(ctx context.Context, id string, move api.Move, target api.State) error {
	a.progress.Start(move.Work)
	in := api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: id}}
	in.Body.TargetState = target
	stop := func() {}
	if target == api.StateDocumentsIngested {
		stop = a.showReadingProgress(ctx, id)
	}
	_, err := call(ctx, a, api.Transition, &in)
	stop()
	if err != nil {
		return err
	}
	if move.Gate != "" { // the decision was told already
		a.progress.Done("")
		return nil
	}
	a.progress.Done("%s", move.Work)
	return nil
}

// approvalRequiredError is the stop at a decision: what waits, for whom, and how to decide.
func (a *app) approvalRequiredError(ctx context.Context, id string, g api.Gate, st *api.AssessmentStatus) error {
	noun := gateNoun(g)
	var who []string
	for _, r := range []api.Role{api.RoleOwner, api.RoleAdmin, api.RoleMember, api.RoleViewer} {
		if r.May(api.ApprovalDecide) {
			who = append(who, string(r))
		}
	}
	approval := ""
	if st.PendingApprovalID != nil {
		approval = *st.PendingApprovalID
	}
	err := api.ApprovalRequired(g, approval, "the %s waits for a decision by an %s of the organization (%s)",
		g.Title(), strings.Join(who, " or "), a.summarizeGate(ctx, id, g))
	if approval == "" {
		err.Message = strings.Join(st.BlockedBy, "; ")
		return &exitError{
			code: exitApproval,
			err:  err,
			hint: fmt.Sprintf("submit it again with `%s`, then decide", a.commandLine(noun+" submit")),
		}
	}
	return &exitError{code: exitApproval, err: err, hint: fmt.Sprintf(
		"look and decide, then go on:\n  %s\n  %s\n  %s\n  %s",
		a.commandLine(
			noun+" show",
		),
		a.commandLine(noun+" approve"),
		a.commandLine(noun+" reject --reason '…'"),
		a.commandLine("assess run"),
	)}
}

// summarizeGate counts what is to be decided on.
func (a *app) summarizeGate(ctx context.Context, id string, g api.Gate) string {
	s, err := call(ctx, a, api.GetAssessmentSummary, &api.AssessmentInput{AssessmentID: id})
	if err != nil {
		return "its totals can't be read: " + err.Error()
	}
	switch g {
	case api.GateSoA:
		return fmt.Sprintf("%d controls: %s", s.Controls, formatStatusCounts(s))
	case api.GateGapAnalysis:
		return "findings: " + formatCounts(s.FindingsBySeverity, api.Severities)
	case api.GateMaturity:
		return "average maturity " + formatScore(s.MaturityAvg) + " of 5"
	}
	return pluralize(s.OpenPOAMItems, "open item", "open items")
}
