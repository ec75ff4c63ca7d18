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
	"github.com/scf-service/service/internal/prose"
)

// runOptions holds the options of `assess run`.
type runOptions struct {
	name, version string
	// from names the earlier assessment that a new one is created from.
	from       string
	client     string // name of the organization being assessed
	frameworks []string
	// submit is set to submit drafts without stopping for a review. approve lists the gates to approve in advance,
	// which implies submitting.
	submit  bool
	approve []api.Gate
	until   api.State
	reports []string
	force   bool
	// comment is recorded with each decision made in advance.
	comment string
	reader  readerFlags
}

func (a *app) assessRun() *cobra.Command {
	o := runOptions{until: api.StateReportGenerated, comment: api.ApprovedInAdvance + " with --approve"}
	var approve []string
	cmd := &cobra.Command{
		Use: "run [DIR|FILE…]", Short: "Run an assessment, or continue it up to the next decision",
		Long: `Creates an assessment of the given documents and advances it step by step until a
person has to act. The command then exits with code 4 and shows what to do: review a
draft and submit it, or decide on a submitted draft. To continue, run it again.

If there is an open assessment, it is continued, and only the new and changed files in
DIR are imported. The open assessment is selected in this order: the assessment given by
--name or --assessment, the assessment last run from DIR, the assessment with the
folder's name, the assessment just created with "service assess create". Without DIR,
the most recently used assessment is continued. Hidden files and symbolic links are
skipped.

--submit submits drafts without stopping for a review. --approve also approves them, at
all four gates or only at the given ones. Drafts that are newer than the approved
versions are decided first, and drafts that are based on an older version are
regenerated. Both flags are recorded under your name as given in advance, and neither
is considered a review.`,
		Example: `  service assess run ./evidence -f iso-27001-2022 --name "Acme 2026"
  service soa submit
  service soa approve
  service assess run
  service assess run ./plant -f soc2-tsc --approve --report full.html --report full.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, g := range approve {
				if g == "all" {
					o.approve = api.Gates
					continue
				}
				if err := checkOneOfOrEmpty("gate", g, api.Gates); err != nil {
					return err
				}
				o.approve = append(o.approve, api.Gate(g))
			}
			for _, r := range o.reports {
				if _, err := reportFormatFromPath(r); err != nil {
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
		"framework code to assess against; repeatable (default: all controls of the active catalog)",
	)
	f.StringVar(&o.name, "name", "", "name of the assessment (default: the assessment last run from DIR, otherwise the folder's name)")
	f.StringVar(&o.client, "client", "", "name of the assessed organization, for reports (prompted for in a terminal)")
	f.StringVar(&o.from, "from", "", "earlier assessment whose decisions are carried over to the new one; see \"service assess create\"")
	f.StringVar(&o.version, "version", "", "catalog version, e.g. 2026.1.1 (default: the active version)")
	f.BoolVar(&o.submit, "submit", false, "submit drafts for review in advance, without stopping for a review")
	f.StringSliceVar(&approve, "approve", nil, "submit and approve drafts in advance, at all gates or e.g. with --approve=soa,gap_analysis")
	f.Lookup("approve").NoOptDefVal = "all"
	addChoiceFlag(f, &o.until, "until", api.States(), "stop at this state; see \"service help lifecycle\"")
	f.StringSliceVar(&o.reports, "report", nil, "file to save a report to at the end; its extension determines the format")
	f.BoolVar(&o.force, "force", false, "overwrite existing files given with --report")
	addReaderFlag(cmd, &o.reader)
	_ = cmd.RegisterFlagCompletionFunc("framework", a.completeFrameworks())
	return cmd
}

// runAssessment implements `assess run`.
func (a *app) runAssessment(ctx context.Context, paths []string, o runOptions) error {
	started := a.Clock()
	files, skippedFiles, err := a.collectFiles(ctx, paths)
	if err != nil {
		return err
	}
	for _, r := range o.reports {
		if err := a.rejectUnusableOutputPath(r, o.force); err != nil {
			return err
		}
	}
	one, err := a.findOrCreateAssessment(ctx, paths, len(files)+len(skippedFiles), o)
	if err != nil {
		return err
	}
	return a.addFilesAndAdvance(ctx, one, paths, files, skippedFiles, o, started)
}

// addFilesAndAdvance adds the files, advances the assessment and prints the result.
func (a *app) addFilesAndAdvance(
	ctx context.Context,
	assessment *api.Assessment,
	paths []string,
	files []sourceFile,
	skippedFiles []skippedFile,
	o runOptions,
	started time.Time,
) error {
	for _, r := range o.reports {
		if err := a.rejectUnusableReportPath(r, assessment.ID, o.force); err != nil {
			return err
		}
	}
	if a.flags.assessment == "" { // one named by --assessment doesn't become the default
		a.rememberAssessment(assessment.ID)
	}
	a.rememberFolderAssessment(resolveFirstFolder(paths), assessment.ID)
	setResumeHint := func(words string) {
		a.interruptHint = fmt.Sprintf(
			"progress is saved in the assessment %q; continue with `%s`",
			assessment.Name,
			a.suggestedCommandLine(words),
		)
	}
	var late, imported int
	if len(paths) == 0 {
		if err := a.printUnfinishedImport(ctx, assessment); err != nil {
			return err
		}
	}
	if len(files) > 0 {
		setResumeHint(importAgain(paths, assessment.Name))
		got, err := a.syncDocumentsWithFolders(ctx, assessment.ID, paths, files, skippedFiles, "", false)
		if err != nil {
			return err
		}
		skippedFiles, imported = got.Skipped, got.documentCount()
		a.printMissingNotices(got)
		if assessment.State.HasReached(api.StateSoADrafted) {
			late = got.changedCount()
		}
	}
	if len(paths) > 0 && imported == 0 {
		if err := a.requireDocuments(ctx, assessment.ID, skippedFiles); err != nil {
			return err
		}
	}
	setResumeHint("assess run")
	for _, l := range skippedFiles {
		a.progress.Notice("skipped: %s: %s", l.Name, l.Reason)
	}
	moveErr := a.advanceAssessment(ctx, assessment.ID, o)
	if moveErr != nil && exitCode(moveErr) != exitApproval {
		return moveErr
	}
	var written []string
	if moveErr == nil {
		for _, r := range o.reports {
			if err := a.generateReportFile(ctx, assessment.ID, api.ReportBody{}, r, o.force); err != nil {
				return err
			}
			written = append(written, r)
		}
	}
	out, err := a.fetchRunResult(ctx, assessment.ID, skippedFiles, started)
	if err != nil {
		return err
	}
	out.Reports, out.lateDocuments = written, late
	if moveErr == nil && out.Status.State == api.StateReportGenerated && o.until.HasReached(api.StateReportGenerated) {
		moveErr = a.laterVersionError(ctx, assessment.ID, out.Status)
	}
	if moveErr == nil {
		out.renderFooter = func(p *print.Page) { a.renderNextSteps(p, out.Status) }
	}
	if err := a.out.Print(out, out.renderer(a)); err != nil {
		return err
	}
	return moveErr
}

// requireDocuments returns an error if no file could be imported and the assessment has no documents either.
// Without documents, every control would be reported as not evidenced.
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
		runtimeError("none of the files could be imported: %s", joinFirst(why, 3)),
		"an assessment requires documents; check that the files can be read",
	)
}

// findOrCreateAssessment returns the assessment to continue, or creates a new one.
func (a *app) findOrCreateAssessment(ctx context.Context, paths []string, fileCount int, o runOptions) (*api.Assessment, error) {
	name := o.name
	if name == "" && a.flags.assessment == "" && o.from != "" {
		return nil, usageError("--from creates a new assessment, which requires --name")
	}
	if name == "" && a.flags.assessment == "" && len(paths) > 0 {
		last, err := a.lastOpenAssessmentFrom(ctx, resolveFirstFolder(paths))
		if err != nil {
			return nil, err
		}
		if last != nil {
			a.printNotice("Continuing %q, the last assessment of this folder; to start another one, use --name.", last.Name)
			return last, a.updateFromOptions(ctx, last, o)
		}
		abs, err := filepath.Abs(paths[0])
		if err != nil {
			return nil, err
		}
		name = filepath.Base(abs)
	}
	var open *api.Assessment
	var err error
	switch {
	case name == "":
		found, err := a.currentAssessment(ctx)
		if err != nil {
			return nil, err
		}
		open = found
	default:
		found, err := a.findAssessmentsByName(ctx, name)
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(f api.Assessment) bool { return f.State == api.StateClosed })
		if len(found) > 1 {
			return nil, ambiguousNameError(name, found, "continue one of these assessments with --assessment ID instead of --name")
		}
		if len(found) == 1 {
			open = &found[0]
		}
	}
	if open != nil && o.from != "" {
		if !isCarriedFrom(open, o.from) {
			return nil, withHint(
				usageError("--from creates a new assessment, but %q already exists; choose another name with --name", open.Name),
				"to continue the existing assessment, leave out --from",
			)
		}
		a.printNotice("%q already exists and was created from %q; continuing without carrying over anything again.",
			open.Name, open.CarriedFrom.Name)
	}
	if open == nil && o.name == "" && a.flags.assessment == "" {
		if open = a.freshDefaultAssessment(ctx); open != nil {
			a.printNotice("Continuing %q, which was just created; to start another assessment, use --name.", open.Name)
		}
	}
	if open == nil {
		if len(paths) == 0 {
			return nil, withHint(
				runtimeError("there is no open assessment named %q", name),
				"specify the folder to assess: `%s`",
				a.suggestedCommandLine("assess run DIR --name "+shellQuote(name)),
			)
		}
		if fileCount == 0 {
			return nil, withHint(
				runtimeError("there are no files to import in %s", strings.Join(paths, ", ")),
				"hidden files are skipped; pass the folder that contains the documents, or start without documents with `%s`",
				a.suggestedCommandLine("assess create "+shellQuote(name)),
			)
		}
		if o.client == "" && a.Interactive && a.ReadPassword != nil {
			if o.client, err = a.promptLine("name of the client, for reports (press Enter to skip)", ""); err != nil {
				return nil, err
			}
		}
		return a.createAssessment(ctx, name, o)
	}
	return open, a.updateFromOptions(ctx, open, o)
}

// isCarriedFrom reports whether an assessment was created from the one with the given name or ID.
func isCarriedFrom(assessment *api.Assessment, from string) bool {
	return assessment.CarriedFrom != nil && (assessment.CarriedFrom.Name == from || assessment.CarriedFrom.AssessmentID == from)
}

func (a *app) createAssessment(ctx context.Context, name string, o runOptions) (*api.Assessment, error) {
	in := api.CreateAssessmentInput{}
	var err error
	if in.Body.From, err = a.earlierAssessmentID(ctx, o.from); err != nil {
		return nil, err
	}
	in.Body.Name, in.Body.FrameworkIDs, in.Body.SCFVersionID, in.Body.ClientName = name, o.frameworks, o.version, o.client
	one, err := call(ctx, a, api.CreateAssessment, &in)
	if err != nil {
		return nil, a.withFrameworkHint(err)
	}
	if err := a.rejectConcurrentCreation(ctx, one); err != nil {
		return nil, err
	}
	a.progress.Done("created assessment %q", one.Name)
	return one, nil
}

// rejectConcurrentCreation deletes an assessment that was just created, and returns an error, if another run created
// an assessment with the same name at the same time. The assessment that was created first is kept.
func (a *app) rejectConcurrentCreation(ctx context.Context, one *api.Assessment) error {
	same, err := a.findAssessmentsByName(ctx, one.Name)
	if err != nil {
		return err
	}
	isEarlier := func(other api.Assessment) bool { return other.State != api.StateClosed && other.ID < one.ID }
	if !slices.ContainsFunc(same, isEarlier) {
		return nil
	}
	in := api.DeleteAssessmentInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}}
	if _, err := call(ctx, a, api.DeleteAssessment, &in); err != nil {
		return err
	}
	return withHint(
		runtimeError("another run just created an assessment named %q", one.Name),
		"run this command again to continue that assessment, or choose another name with --name",
	)
}

// updateFromOptions adds the requested frameworks to an existing assessment and sets its client.
func (a *app) updateFromOptions(ctx context.Context, open *api.Assessment, o runOptions) error {
	a.progress.Done("continuing assessment %q", open.Name)
	if slices.ContainsFunc(o.frameworks, func(f string) bool { return !slices.Contains(open.Frameworks, f) }) {
		in := api.ChangeFrameworksInput{AssessmentInput: api.AssessmentInput{AssessmentID: open.ID}}
		in.Body.Add = o.frameworks
		change, err := call(ctx, a, api.ChangeFrameworks, &in)
		if err != nil {
			return a.withFrameworkHint(err)
		}
		for _, f := range change.Added {
			a.progress.Done("added %s: %s", f.Code, prose.Count(f.RequirementCount, "requirement", "requirements"))
		}
	}
	if o.client == "" || o.client == open.ClientName {
		return nil
	}
	in := api.UpdateAssessmentInput{AssessmentInput: api.AssessmentInput{AssessmentID: open.ID}}
	in.Body.ClientName = &o.client
	_, err := call(ctx, a, api.UpdateAssessment, &in)
	return err
}

// maxStalls is how many times in a row a run may find the assessment in the same state before it gives up.
const maxStalls = 3

// advanceAssessment moves the assessment forward one transition at a time. It stops at o.until, or at a
// decision that the options do not make in advance. It rereads the status each time, because other people may
// be moving the assessment too.
func (a *app) advanceAssessment(ctx context.Context, id string, o runOptions) error {
	in := api.AssessmentInput{AssessmentID: id}
	var last api.State
	var draftedAgain api.Gate // what is still outdated after it was drafted again stays so
	for stalls := 0; ; {
		st, err := call(ctx, a, api.GetAssessmentStatus, &in)
		if err != nil {
			return err
		}
		if st, err = a.approveLaterVersions(ctx, st, o); err != nil {
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
		move, _ := st.State.NextMove()
		if move.Gate != "" && len(st.BlockedBy) > 0 {
			if stalls >= maxStalls || st.PendingApprovalID == nil || !slices.Contains(o.approve, move.Gate) {
				return a.approvalRequiredError(ctx, id, move.Gate, st)
			}
			if isBasedOnOlder(st, move.Gate) && draftedAgain != move.Gate {
				if err := versionsAt(move.Gate).draftNewestAgain(ctx, a, id); err != nil {
					return validationToRuntimeError(err)
				}
				draftedAgain = move.Gate
				continue // the new draft is submitted first
			}
			err := a.approveInAdvance(ctx, move.Gate, *st.PendingApprovalID, o.comment)
			if api.IsCode(err, api.CodeInvalidState) ||
				errors.Is(err, client.ErrConnectionLost) { // it has already been decided, by this run or by another user
				continue
			}
			if err != nil {
				return err
			}
		}
		if st.NextStates[0] == api.StateSoADrafted && (a.chosenReader(o.reader.name) != "" || o.reader.second != "") {
			a.progress.Start(move.Work)
			if _, err := a.readAndDraftSoA(ctx, id, o.reader); err != nil { // the transition keeps this draft
				return validationToRuntimeError(err)
			}
		}
		if g := st.ReadyForReview; g != nil && !o.submit && !slices.Contains(o.approve, *g) {
			return a.readyForReviewError(ctx, id, *g)
		} else if g != nil && isBasedOnOlder(st, *g) && draftedAgain != *g {
			if err := versionsAt(*g).draftNewestAgain(ctx, a, id); err != nil {
				return validationToRuntimeError(err)
			}
			draftedAgain = *g
			continue
		}
		err = a.performMove(ctx, id, move, st.NextStates[0])
		switch {
		case errors.Is(err, client.ErrConnectionLost) && stalls < maxStalls: // the next status shows whether it succeeded
		case api.IsCode(err, api.CodeInvalidState), api.IsCode(err, api.CodeApproval):
			if stalls >= maxStalls || !a.hasStatusChanged(ctx, id, st) {
				return a.withFailedMoveHint(err, move, st)
			}
		case err != nil:
			return validationToRuntimeError(err)
		}
	}
}

// approveLaterVersions updates the deliverables whose gates were passed with an older version, if the options approve
// them in advance. In gate order, it redrafts those that are based on an older version of another deliverable, then
// submits and approves the newest versions. It returns the resulting status.
func (a *app) approveLaterVersions(ctx context.Context, st *api.AssessmentStatus, o runOptions) (*api.AssessmentStatus, error) {
	for _, move := range api.Moves {
		if move.Gate == "" || !slices.Contains(o.approve, move.Gate) || !o.until.HasReached(move.To) {
			continue
		}
		isUnapproved := slices.ContainsFunc(st.Outdated, func(o api.Outdated) bool { return o.Gate == move.Gate && o.Reason == "unapproved" })
		again := isBasedOnOlder(st, move.Gate, "source") || isUnapproved && isBasedOnOlder(st, move.Gate)
		if len(st.NextStates) == 0 || !st.State.HasReached(move.To) || !again && !isUnapproved {
			continue
		}
		id := st.AssessmentID
		err := versionsAt(move.Gate).approveNewest(ctx, a, id, again, o.comment)
		if err != nil {
			return nil, validationToRuntimeError(err)
		}
		if st, err = call(ctx, a, api.GetAssessmentStatus, &api.AssessmentInput{AssessmentID: id}); err != nil {
			return nil, err
		}
	}
	return st, nil
}

// isBasedOnOlder reports whether the newest version of a gate's deliverable is based on an input that has changed
// since. If reasons are given, only changes for these reasons are considered.
func isBasedOnOlder(st *api.AssessmentStatus, g api.Gate, reasons ...string) bool {
	return slices.ContainsFunc(st.Outdated, func(o api.Outdated) bool {
		return o.Gate == g && o.Reason != "unapproved" && (len(reasons) == 0 || slices.Contains(reasons, o.Reason))
	})
}

// hasStatusChanged reports whether the assessment's state or the number of its blockers differs from previous. If the
// status can't be read, it returns false.
func (a *app) hasStatusChanged(ctx context.Context, id string, previous *api.AssessmentStatus) bool {
	now, err := call(ctx, a, api.GetAssessmentStatus, &api.AssessmentInput{AssessmentID: id})
	return err == nil && (now.State != previous.State || len(now.BlockedBy) != len(previous.BlockedBy))
}

// withFailedMoveHint adds a hint to the error of a failed transition that retrying can't fix.
func (a *app) withFailedMoveHint(err error, move api.Move, st *api.AssessmentStatus) error {
	for _, m := range api.Moves {
		if m.From == move.To && m.Gate != "" { // the transition submits a deliverable
			noun := gateCommandName(m.Gate)
			return withHint(
				err,
				"edit the items with `%s`, or create a new draft with `%s`; then run `%s`",
				a.suggestedCommandLine(noun+" edit"),
				a.suggestedCommandLine(noun+" regenerate"),
				a.suggestedCommandLine("assess run"),
			)
		}
	}
	return withHint(err, "check the status with `%s`", a.suggestedCommandLine("assess status"))
}

// performMove performs one transition of an assessment and shows its progress. For transitions that may have to wait
// for documents to be read or for the search index to be built, it also shows the progress of that work.
func (a *app) performMove(ctx context.Context, id string, move api.Move, target api.State) error {
	a.progress.Start(move.Work)
	in := api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: id}}
	in.Body.TargetState, in.Body.InAdvance = target, gateOfReviewState(target) != ""
	stop := func() {}
	switch target {
	case api.StateDocumentsIngested, api.StateScopeDrafted, api.StateSoADrafted:
		stop = a.showWaitingProgress(ctx, id)
	}
	_, err := call(ctx, a, api.Transition, &in)
	stop()
	if err != nil {
		return err
	}
	if move.Gate != "" { // the decision has already been reported
		a.progress.Done("")
		return nil
	}
	a.progress.Done("%s", move.Work)
	return nil
}

// approvalRequiredError returns the error that stops a run at a pending decision. It states what is pending,
// who can decide, and how.
func (a *app) approvalRequiredError(ctx context.Context, id string, g api.Gate, st *api.AssessmentStatus) error {
	noun := gateCommandName(g)
	var who []string
	for _, r := range api.Roles {
		if r.May(api.ApprovalDecide) {
			who = append(who, string(r))
		}
	}
	approval := ""
	if st.PendingApprovalID != nil {
		approval = *st.PendingApprovalID
	}
	err := api.ApprovalRequired(g, approval, "the %s awaits a decision by an %s of the organization (%s)",
		g.Title(), strings.Join(who, " or "), a.summarizeDeliverable(ctx, id, g))
	if approval == "" {
		err.Message = strings.Join(st.BlockedBy, "; ")
		return &exitError{
			code: exitApproval,
			err:  err,
			hint: fmt.Sprintf("submit the draft again with `%s`, then approve or reject it", a.suggestedCommandLine(noun+" submit")),
		}
	}
	return &exitError{code: exitApproval, err: err, hint: fmt.Sprintf(
		"Review the draft, approve or reject it, then continue:\n  %s\n  %s\n  %s\n  %s",
		a.suggestedCommandLine(
			noun+" show",
		),
		a.suggestedCommandLine(noun+" approve"),
		a.suggestedCommandLine(noun+" reject --reason '…'"),
		a.suggestedCommandLine("assess run"),
	)}
}

// readyForReviewError returns the error that stops a run at a draft that a user must review and submit.
func (a *app) readyForReviewError(ctx context.Context, id string, g api.Gate) error {
	noun := gateCommandName(g)
	lines := []string{noun + " show"}
	if g == api.GateSoA {
		lines = append(lines, noun+" items --needs-review")
	}
	hint := "Review the draft, submit it, approve it, then continue:"
	for _, l := range append(lines, noun+" submit", noun+" approve", "assess run") {
		hint += "\n  " + a.suggestedCommandLine(l)
	}
	return &exitError{code: exitApproval, hint: hint, err: api.ApprovalRequired(g, "",
		"the draft of the %s is ready for review (%s)", g.Title(), a.summarizeDeliverable(ctx, id, g))}
}

// laterVersionError returns the error for an assessment whose reports have been created, but which has a newer version
// of a deliverable that must be submitted or decided on. It returns nil if there is no such version.
func (a *app) laterVersionError(ctx context.Context, id string, st *api.AssessmentStatus) error {
	if st.PendingApprovalID != nil {
		one, err := call(ctx, a, api.GetApproval, &api.ApprovalInput{ApprovalID: *st.PendingApprovalID})
		if err != nil {
			return err
		}
		return a.approvalRequiredError(ctx, id, one.Gate, st)
	}
	if st.ReadyForReview != nil {
		return a.readyForReviewError(ctx, id, *st.ReadyForReview)
	}
	return nil
}

// summarizeDeliverable returns the totals of the deliverable that awaits a decision, in words.
func (a *app) summarizeDeliverable(ctx context.Context, id string, g api.Gate) string {
	s, err := call(ctx, a, api.GetAssessmentSummary, &api.AssessmentInput{AssessmentID: id})
	if err != nil {
		return "totals unavailable: " + err.Error()
	}
	switch g {
	case api.GateSoA:
		return fmt.Sprintf("%d controls, of which %s", s.Controls, formatStatusCounts(s))
	case api.GateGapAnalysis:
		return "findings: " + formatCounts(s.FindingsBySeverity, api.Severities)
	case api.GateMaturity:
		return "average maturity " + formatScore(s.MaturityAvg) + " of 5"
	}
	return prose.Count(s.OpenPOAMItems, "open item", "open items")
}
