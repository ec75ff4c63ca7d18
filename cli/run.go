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
				if err := oneOf("gate", g, api.Gates); err != nil {
					return err
				}
				o.approve = append(o.approve, api.Gate(g))
			}
			if err := oneOf("state", until, api.States()); err != nil {
				return err
			}
			o.until, o.comment = api.State(until), "approved in advance with --approve"
			for _, r := range o.reports {
				if _, err := formatOf(r); err != nil {
					return err
				}
			}
			return a.run(cmd.Context(), args, o)
		},
	}
	f := cmd.Flags()
	f.StringSliceVarP(&o.frameworks, "framework", "f", nil, "framework to assess against, by code; repeat for several (none: the whole SCF)")
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

// run does the job of `assess run`.
func (a *app) run(ctx context.Context, paths []string, o runOptions) error {
	started := a.Clock()
	files, left, err := gather(paths)
	if err != nil {
		return err
	}
	for _, r := range o.reports {
		if err := a.mayWrite(r, o.force); err != nil {
			return err
		}
	}
	one, err := a.begin(ctx, paths, len(files)+len(left), o)
	if err != nil {
		return err
	}
	return a.drive(ctx, one, paths, files, left, o, started)
}

// drive adds the files, moves the assessment forward and tells what came of it.
func (a *app) drive(ctx context.Context, one *api.Assessment, paths []string, files []source, left []skipped, o runOptions, started time.Time) error {
	a.use(one.ID)
	a.ran(folderOf(paths), one.ID)
	goOn := func(words string) {
		a.kept = fmt.Sprintf("what is done is kept in the assessment %q; go on with `%s`", one.Name, a.command(words))
	}
	var late, taken int
	if len(files) > 0 {
		again := "assess run"
		for _, p := range paths { // else what was not taken yet would be left out without a word
			again += " " + quote(p)
		}
		goOn(again + " --name " + quote(one.Name))
		got, err := a.sync(ctx, one.ID, paths, files, left, "", false)
		if err != nil {
			return err
		}
		left, taken = got.Left, got.taken()
		a.sayVanished(got)
		if one.State.Reached(api.StateSoADrafted) {
			late = got.changes()
		}
	}
	if len(paths) > 0 && taken == 0 {
		if err := a.something(ctx, one.ID, left); err != nil {
			return err
		}
	}
	goOn("assess run")
	for _, l := range left {
		a.progress.Say("left out: %s: %s", l.Name, l.Reason)
	}
	moveErr := a.moveOn(ctx, one.ID, o)
	if moveErr != nil && exitCode(moveErr) != exitApproval {
		return moveErr
	}
	var written []string
	if moveErr == nil {
		for _, r := range o.reports {
			if err := a.writeReport(ctx, one.ID, api.ReportBody{Template: "full"}, r, o.force); err != nil {
				return err
			}
			written = append(written, r)
		}
	}
	out, err := a.outcome(ctx, one.ID, left, started)
	if err != nil {
		return err
	}
	out.Reports, out.late = written, late
	if moveErr == nil {
		out.tail = func(p *print.Page) { a.whatNext(p, out.Status) }
	}
	if err := a.out.Print(out, out.page(a)); err != nil {
		return err
	}
	return moveErr
}

// something refuses to go on, where no file could be taken, without a document from before: all
// controls of nothing would come out as not evidenced.
func (a *app) something(ctx context.Context, assessment string, left []skipped) error {
	docs, err := a.documents(ctx, assessment)
	if err != nil || len(docs) > 0 {
		return err
	}
	why := make([]string, len(left))
	for i, l := range left {
		why[i] = l.Name + ": " + l.Reason
	}
	return advise(stopped("none of the files could be taken: %s", joinSome(why, 3)), "an assessment of nothing finds nothing; see to it that the files can be read")
}

// begin finds the assessment to go on with, or creates one of the files that were found.
func (a *app) begin(ctx context.Context, paths []string, files int, o runOptions) (*api.Assessment, error) {
	name := o.name
	if name == "" && a.flags.assessment == "" && len(paths) > 0 {
		last, err := a.lastOf(ctx, folderOf(paths))
		if err != nil {
			return nil, err
		}
		if last != nil {
			a.say("This folder was last assessed as %q, which goes on; --name begins another.", last.Name)
			return last, a.widen(ctx, last, o)
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
		found, err := a.assessment(ctx)
		if err != nil {
			return nil, err
		}
		open = found
	default:
		found, err := a.withName(ctx, name)
		if err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(found, func(f api.Assessment) bool { return f.State != api.StateClosed }); at >= 0 {
			open = &found[at]
		}
	}
	if open == nil {
		if len(paths) == 0 {
			return nil, advise(stopped("there is no open assessment with the name %q", name), "give the folder to assess: `%s`", a.command("assess run DIR --name "+quote(name)))
		}
		if files == 0 {
			return nil, advise(stopped("%s: there is no file that could be evidence", strings.Join(paths, ", ")),
				"hidden files are left out; name the folder the documents are in, or begin without any by `%s`", a.command("assess create "+quote(name)))
		}
		return a.create(ctx, name, o)
	}
	return open, a.widen(ctx, open, o)
}

func (a *app) create(ctx context.Context, name string, o runOptions) (*api.Assessment, error) {
	in := api.CreateAssessmentInput{}
	in.Body.Name, in.Body.FrameworkIDs, in.Body.SCFVersionID = name, o.frameworks, o.version
	one, err := call(ctx, a, api.CreateAssessment, &in)
	if err != nil {
		return nil, a.noFramework(err)
	}
	a.progress.Done("created the assessment %q", one.Name)
	return one, nil
}

// widen adds frameworks to an assessment that goes on; whether it still may is the server's to say.
func (a *app) widen(ctx context.Context, open *api.Assessment, o runOptions) error {
	a.progress.Done("going on with the assessment %q, %s", open.Name, plain(open.State))
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

// moveOn moves the assessment forward, one transition at a time, until the state
// asked for or a decision that was not given. Whoever else moves it meanwhile is
// met by reading again.
func (a *app) moveOn(ctx context.Context, id string, o runOptions) error {
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
		if st.State.Reached(o.until) || len(st.NextStates) == 0 {
			return nil
		}
		move, _ := st.State.Next()
		if move.Gate != "" && len(st.BlockedBy) > 0 {
			if stalls >= maxStalls || st.PendingApprovalID == nil || !slices.Contains(o.approve, move.Gate) {
				return a.atGate(ctx, id, move.Gate, st)
			}
			one, err := approveWith(ctx, a, *st.PendingApprovalID, o.comment, "")
			if api.IsCode(err, api.CodeInvalidState) || errors.Is(err, client.ErrBrokeOff) { // decided already, by somebody else or us
				continue
			}
			if err != nil {
				return err
			}
			a.progress.Done("%s, version %d: approved in advance by %s", capital(move.Gate.Title()), one.VersionNumber, one.DecidedBy.Name)
		}
		err = a.step(ctx, id, move, st.NextStates[0])
		switch {
		case errors.Is(err, client.ErrBrokeOff) && stalls < maxStalls: // the state tells whether it was made
		case api.IsCode(err, api.CodeInvalidState), api.IsCode(err, api.CodeApproval):
			if stalls >= maxStalls || !a.moved(ctx, id, st) {
				return a.stuck(err, move, st)
			}
		case err != nil:
			return atWork(err)
		}
	}
}

// moved tells whether the assessment is not as it was.
func (a *app) moved(ctx context.Context, id string, was *api.AssessmentStatus) bool {
	now, err := call(ctx, a, api.GetAssessmentStatus, &api.AssessmentInput{AssessmentID: id})
	return err == nil && (now.State != was.State || len(now.BlockedBy) != len(was.BlockedBy))
}

// stuck says what stands in the way where trying again can't help.
func (a *app) stuck(err error, move api.Move, st *api.AssessmentStatus) error {
	for _, m := range api.Moves {
		if m.From == move.To && m.Gate != "" { // the move is a submission
			noun := nounOf(m.Gate)
			return advise(err, "change lines with `%s` or draft again, then `%s`", a.command(noun+" edit"), a.command("assess run"))
		}
	}
	return advise(err, "`%s` tells where it stands", a.command("assess status"))
}

// step makes one transition and tells of it. Reading documents takes the longest, so
// there it is told how many are read.
func (a *app) step(ctx context.Context, id string, move api.Move, to api.State) error {
	a.progress.Start(move.Work)
	in := api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: id}}
	in.Body.TargetState = to
	stop := func() {}
	if to == api.StateDocumentsIngested {
		stop = a.watchReading(ctx, id)
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

// atGate is the stop at a decision: what waits, for whom, and how to decide.
func (a *app) atGate(ctx context.Context, id string, g api.Gate, st *api.AssessmentStatus) error {
	noun := nounOf(g)
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
		g.Title(), strings.Join(who, " or "), a.atStake(ctx, id, g))
	if approval == "" {
		err.Message = strings.Join(st.BlockedBy, "; ")
		return &failure{code: exitApproval, err: err, hint: fmt.Sprintf("submit it again with `%s`, then decide", a.command(noun+" submit"))}
	}
	return &failure{code: exitApproval, err: err, hint: fmt.Sprintf("look and decide, then go on:\n  %s\n  %s\n  %s\n  %s",
		a.command(noun+" show"), a.command(noun+" approve"), a.command(noun+" reject --reason '…'"), a.command("assess run"))}
}

// atStake counts what is to be decided on.
func (a *app) atStake(ctx context.Context, id string, g api.Gate) string {
	s, err := call(ctx, a, api.GetAssessmentSummary, &api.AssessmentInput{AssessmentID: id})
	if err != nil {
		return "its totals can't be read: " + err.Error()
	}
	switch g {
	case api.GateSoA:
		return fmt.Sprintf("%d controls: %s", s.Controls, statuses(s))
	case api.GateGapAnalysis:
		return "findings: " + tally(s.FindingsBySeverity, api.Severities)
	case api.GateMaturity:
		return "average maturity " + figure(s.MaturityAvg) + " of 5"
	}
	return count(s.OpenPOAMItems, "open item", "open items")
}
