package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// deliverable is what the commands of the four deliverables share.
type deliverable[V any] struct {
	gate api.Gate
	list api.Op[api.AssessmentListInput, api.List[V]]
	make api.Op[api.AssessmentInput, V]
	// submit and regenerate work on a version's id.
	submit, regenerate func(ctx context.Context, a *app, version string) (*V, error)
	head               func(*V) *api.DeliverableVersion
}

func (d deliverable[V]) noun() string { return nounOf(d.gate) }

// newest is the version that is worked on.
func (d deliverable[V]) newest(ctx context.Context, a *app) (*V, error) {
	one, err := a.assessment(ctx)
	if err != nil {
		return nil, err
	}
	l, err := call(ctx, a, d.list, &api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Paging: api.Paging{Limit: 1}})
	if err != nil {
		return nil, err
	}
	if len(l.Data) == 0 {
		return nil, advise(stopped("the assessment %q has no %s yet (it is %s)", one.Name, d.gate.Title(), one.State),
			"go on with `%s`", a.command("assess run"))
	}
	return &l.Data[0], nil
}

func (d deliverable[V]) newestID(ctx context.Context, a *app) (string, error) {
	v, err := d.newest(ctx, a)
	if err != nil {
		return "", err
	}
	return d.head(v).ID, nil
}

// commands are the ones that all four have.
func (d deliverable[V]) commands(a *app) []*cobra.Command {
	return []*cobra.Command{d.versions(a), d.draft(a), d.submission(a), d.regeneration(a), a.gateApprove(d.gate), a.gateReject(d.gate)}
}

func (d deliverable[V]) versions(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "versions", Short: "List the versions, newest first", Args: takes(0, 0),
		Long:    fmt.Sprintf("Lists the versions of the %s, newest first. An approved version never changes;\nediting one makes the next.", d.gate.Title()),
		Example: fmt.Sprintf("  service %s versions", d.noun()),
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.assessment(cmd.Context())
			if err != nil {
				return err
			}
			l, err := collect(cmd.Context(), 0, "", func(p api.Paging) (*api.List[V], error) {
				return call(cmd.Context(), a, d.list, &api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Paging: p})
			})
			if err != nil {
				return err
			}
			return a.out.Print(l, func(p *print.Page) {
				var rows [][]string
				for i := range l.Data {
					h := d.head(&l.Data[i])
					rows = append(rows, []string{fmt.Sprint(h.VersionNumber), plain(h.Status), fmt.Sprint(h.ItemCount), moment(h.CreatedAt), orEmpty(h.ApprovedBy), h.Method, h.ID})
				}
				p.Table([]print.Column{{Title: "version", Right: true, Keep: true}, {Title: "status", Keep: true}, {Title: "lines", Right: true}, {Title: "created", Keep: true, Spare: true},
					{Title: "approved by", Spare: true}, {Title: "method", Spare: true}, {Title: "id", Keep: true}}, rows)
				a.none(p, len(rows), "There is no version yet; go on with `%s`.", a.command("assess run"))
			})
		},
	}
}

func (d deliverable[V]) draft(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "draft", Short: "Draft the first or the next version", Args: takes(0, 0),
		Long:    fmt.Sprintf("Drafts the %s from the evidence. `service assess run` does it in its turn; this\nis for drafting it again from the start.", d.gate.Title()),
		Example: fmt.Sprintf("  service %s draft\n  service %s show", d.noun(), d.noun()),
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.assessment(cmd.Context())
			if err != nil {
				return err
			}
			a.progress.Start("draft the " + d.gate.Title())
			v, err := call(cmd.Context(), a, d.make, &api.AssessmentInput{AssessmentID: one.ID})
			return d.tell(a, v, atWork(err), "drafted", d.approvedBefore(cmd.Context(), a, one.ID, err))
		},
	}
}

func (d deliverable[V]) submission(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "submit", Short: "Submit the newest version for review", Args: takes(0, 0),
		Long:    fmt.Sprintf("Submits the newest version of the %s for review and asks an owner or admin for\napproval of exactly what it says now.", d.gate.Title()),
		Example: fmt.Sprintf("  service %s submit\n  service %s approve", d.noun(), d.noun()),
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := d.newestID(cmd.Context(), a)
			if err != nil {
				return err
			}
			v, err := d.submit(cmd.Context(), a, id)
			if err != nil {
				return atWork(err)
			}
			h := d.head(v)
			return d.tell(a, v, nil, submitted, 0, a.doubts(cmd.Context(), h.AssessmentID, h.ID, d.gate))
		},
	}
}

func (d deliverable[V]) regeneration(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "regenerate", Short: "Draft again, keeping what people edited", Args: takes(0, 0),
		Long:    fmt.Sprintf("Drafts the %s again from what there is now, as the next version: the evidence, and\nthe approved versions of what it is made from. What people edited is kept, and named.", d.gate.Title()),
		Example: fmt.Sprintf("  service %s regenerate", d.noun()),
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := d.newestID(cmd.Context(), a)
			if err != nil {
				return err
			}
			one, err := a.assessment(cmd.Context())
			if err != nil {
				return err
			}
			a.progress.Start("draft the " + d.gate.Title() + " again")
			v, err := d.regenerate(cmd.Context(), a, id)
			return d.tell(a, v, atWork(err), "drafted again", d.approvedBefore(cmd.Context(), a, one.ID, err), d.passedOver(cmd.Context(), a, v, err))
		},
	}
}

// passedOver tells that a draft rests on an older version of what it is made from, as the newest isn't
// approved; nil where it rests on the newest.
func (d deliverable[V]) passedOver(ctx context.Context, a *app, v *V, failed error) func(*print.Page) {
	if failed != nil {
		return nil
	}
	of, used, newest := soaVersions.gate, d.head(v).Inputs["soa_version_id"], soaVersions.newestID
	if id, ok := d.head(v).Inputs["gap_version_id"]; ok {
		of, used, newest = gapVersions.gate, id, gapVersions.newestID
	}
	id, err := newest(ctx, a)
	if used == "" || err != nil || id == used {
		return nil
	}
	return func(p *print.Page) {
		p.Text("It is made from the approved version of the %s, not from the newest, which waits for approval: `%s`, `%s`, then draft this again.",
			of.Title(), a.command(nounOf(of)+" submit"), a.command(nounOf(of)+" approve"))
	}
}

// approvedBefore is the number of the version that is approved, for a draft that was made after it; 0 where
// none is, or the draft failed.
func (d deliverable[V]) approvedBefore(ctx context.Context, a *app, assessment string, failed error) int {
	if failed != nil {
		return 0
	}
	l, err := call(ctx, a, d.list, &api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}})
	if err != nil {
		return 0 // the draft is made, which is what was asked for
	}
	for i := range l.Data {
		if h := d.head(&l.Data[i]); h.Status == api.VersionApproved {
			return h.VersionNumber
		}
	}
	return 0
}

// submitted is what became of a version that was given to review, and not drafted.
const submitted = "submitted for review"

// tell prints what became of a version; approved is the one that still counts, and more comes after it.
func (d deliverable[V]) tell(a *app, v *V, err error, what string, approved int, more ...func(*print.Page)) error {
	a.progress.Done("")
	if err != nil {
		return err
	}
	return a.out.Print(v, func(p *print.Page) {
		h := d.head(v)
		if redrafted := what != submitted; redrafted && (h.Status == api.VersionApproved || h.Status == api.VersionUnderReview) {
			p.Text("Nothing has changed: the %s, version %d, stays %s.", d.gate.Title(), h.VersionNumber, plain(h.Status))
			return
		}
		p.Text("The %s, version %d with %s, is %s.", d.gate.Title(), h.VersionNumber, count(h.ItemCount, "line", "lines"), what)
		if len(h.Kept) > 0 {
			p.Text("Kept as people edited it: %s.", joinSome(h.Kept, 12))
		}
		if approved > 0 {
			p.Text("Version %d stays the approved one until this is: `%s`.", approved, a.command(d.noun()+" submit"))
		}
		for _, m := range more {
			if m != nil {
				m(p)
			}
		}
	})
}

// heading prints what all versions have.
func heading(p *print.Page, g api.Gate, h *api.DeliverableVersion, more ...print.Field) {
	p.Title("%s, version %d: %s", capital(g.Title()), h.VersionNumber, plain(h.Status))
	p.Fields(append([]print.Field{
		{Name: "created", Value: moment(h.CreatedAt)}, {Name: "made by", Value: h.Method},
		{Name: "submitted", Value: momentOf(h.SubmittedAt)},
		{Name: "approved", Value: by(h.ApprovedAt, h.ApprovedBy)},
		{Name: "lines", Value: fmt.Sprint(h.ItemCount)},
		{Name: "content", Value: "sha256 " + h.ContentSHA256},
	}, more...)...)
}

// next says what may be done with a version.
func (a *app) next(p *print.Page, g api.Gate, status api.VersionStatus) {
	noun := nounOf(g)
	p.Blank()
	switch status {
	case api.VersionUnderReview:
		p.Text("It waits for a decision:")
		p.Command(a.command(noun + " approve"))
		p.Command(a.command(noun + " reject --reason '…'"))
	case api.VersionRejected:
		p.Text("It was rejected. Change it, then go on:")
		p.Command(a.command(noun + " edit CONTROL …"))
		p.Command(a.command(noun + " submit"))
	case api.VersionApproved:
		p.Text("It is approved; `%s` tells what comes next.", a.command("assess status"))
	default:
		p.Text("It is a draft. Change lines with `%s`, then:", a.command(noun+" edit"))
		p.Command(a.command(noun + " submit"))
	}
}

// item prints what the lines of all deliverables share.
func item(p *print.Page, i *api.Item, more ...print.Field) {
	p.Title("%s  %s", i.ControlCode, i.ControlTitle)
	edited := ""
	if i.EditedBy != nil {
		edited = joinWords(*i.EditedBy, "("+joinSome(i.EditedFields, 20)+")")
	}
	p.Fields(append(append([]print.Field{{Name: "requirements", Value: requirements(i.RequirementCodes)}}, more...),
		print.Field{Name: "edited by", Value: edited}, print.Field{Name: "id", Value: i.ID})...)
}

// evidence prints the passages that a line rests on.
func evidence(p *print.Page, all []api.Evidence) {
	p.Title("Evidence")
	if len(all) == 0 {
		p.Text("no passage found")
		return
	}
	for i, e := range all {
		if i > 0 {
			p.Blank()
		}
		cited(p, 2, e)
	}
}

func missing(p *print.Page, elements []string) {
	if len(elements) == 0 {
		return
	}
	p.Title("Missing")
	for _, m := range elements {
		p.Item(0, "%s", m)
	}
}

// one picks the line that a control's code or a line's id names. Where a code names several it picks none:
// tell says how they differ.
func one[T any](ref, what string, all []T, of func(*T) *api.Item, tell func(*T) string) (*T, error) {
	var found []*T
	for n := range all {
		switch i := of(&all[n]); {
		case i.ID == ref:
			return &all[n], nil
		case equalCode(i.ControlCode, ref):
			found = append(found, &all[n])
		}
	}
	known := make([]string, len(all))
	for n := range all {
		known[n] = of(&all[n]).ControlCode
	}
	return only(ref, what, found, known, of, tell)
}

// only is the one that was found among those whose codes are known.
func only[T any](ref, what string, found []*T, known []string, of func(*T) *api.Item, tell func(*T) string) (*T, error) {
	switch len(found) {
	case 0:
		return nil, advise(stopped("this version has no %s for %q%s", what, ref, didYouMean(ref, known)),
			"a line is named by the code of its control or by its id; a control that no chosen framework or baseline brings in has none")
	case 1:
		return found[0], nil
	}
	lines := make([]string, len(found))
	for n, f := range found {
		lines[n] = fmt.Sprintf("%s  %s", of(f).ID, short(tell(f)))
	}
	return nil, advise(usage("%d %ss are of %s:\n  - %s", len(found), what, ref, strings.Join(lines, "\n  - ")), "name the one that is meant by its id")
}

// short is the beginning of a text that others follow.
func short(text string) string {
	if r := []rune(text); len(r) > 80 {
		return strings.TrimSpace(string(r[:79])) + "…"
	}
	return text
}
