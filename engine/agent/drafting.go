package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
)

// drafter is what the four drafting agents do alike: draft, or draft again over an open
// draft, which keeps what people edited.
type drafter[V any] struct {
	draft, again string // the operations' names
	list         func(context.Context, api.Caller, *api.AssessmentListInput) (*api.List[V], error)
	first        func(context.Context, api.Caller, *api.AssessmentInput) (*V, error)
	regenerate   func(context.Context, api.Caller, string) (*V, error) // nil: there is only drafting
	version      func(*V) *api.DeliverableVersion
}

func (d drafter[V]) run(ctx context.Context, j *job) (*api.DeliverableVersion, error) {
	vs, err := d.list(ctx, j.by, &api.AssessmentListInput{AssessmentInput: j.on(), Paging: api.Paging{Limit: 1}})
	if err != nil {
		return nil, err
	}
	tells := func(v *V) map[string]any {
		x := d.version(v)
		return map[string]any{"version_id": x.ID, "version_number": x.VersionNumber, "status": x.Status, "items": x.ItemCount, "content_sha256": x.ContentSHA256, "kept": x.Kept}
	}
	var v *V
	if len(vs.Data) > 0 && d.regenerate != nil {
		id := d.version(&vs.Data[0]).ID
		v, err = use(ctx, j, d.again, map[string]any{"version_id": id}, func() (*V, error) { return d.regenerate(ctx, j.by, id) }, tells)
	} else {
		v, err = use(ctx, j, d.draft, j.about(), func() (*V, error) { in := j.on(); return d.first(ctx, j.by, &in) }, tells)
	}
	if err != nil {
		return nil, err
	}
	x := d.version(v)
	if x.Status != api.VersionDraft {
		j.limit("Version %d, %s, stands: it says what a draft by %s would say.", x.VersionNumber, strings.ReplaceAll(string(x.Status), "_", " "), x.Method)
		return x, nil
	}
	j.limit("It is a draft, made by %s. Nothing is final before a person submits and approves it.", x.Method)
	if len(x.Kept) > 0 {
		j.assume("%d lines that people edited were kept as they are.", len(x.Kept))
	}
	return x, nil
}

// made says what a run did to reach a version.
func made(v *api.DeliverableVersion) string {
	if v.Status == api.VersionDraft {
		return "Drafted"
	}
	return "Kept"
}

func architectSoA(ctx context.Context, j *job) error {
	a := j.s.Assessments
	sc, err := use(ctx, j, "get-assessment-scope", j.about(), func() (*api.Scope, error) { in := j.on(); return a.GetScopeOf(ctx, j.by, &in) },
		func(s *api.Scope) map[string]any {
			return map[string]any{"scope_id": s.ID, "status": s.Status, "traits": s.Traits}
		})
	switch {
	case api.IsCode(err, api.CodeNotFound):
		j.limit("There is no scope yet; the draft takes all of the organization as in scope.")
	case err != nil:
		return err
	default:
		for _, name := range api.TraitNames {
			if t, ok := sc.Traits[name]; ok && t.Value == "unknown" {
				j.propose(map[string]any{"kind": "scope_trait", "trait": name, "reason": "Nothing says whether it holds; a person should, since controls depend on it."})
			}
		}
	}
	v, err := drafter[api.SoAVersion]{"draft-soa", "regenerate-soa", a.ListSoA, a.DraftSoA,
		func(ctx context.Context, by api.Caller, id string) (*api.SoAVersion, error) {
			return a.RegenerateSoA(ctx, by, &api.SoAInput{SoAVersionID: id})
		}, func(v *api.SoAVersion) *api.DeliverableVersion { return &v.DeliverableVersion }}.run(ctx, j)
	if err != nil {
		return err
	}
	items, err := j.soaItems(ctx)
	if err != nil {
		return err
	}
	in := 0
	for _, i := range items {
		if i.Applicability.In() {
			in++
		}
		if i.NeedsReview || !i.Applicability.In() {
			j.propose(map[string]any{"kind": "soa_item", "soa_item_id": i.ID, "control_code": i.ControlCode, "applicability": i.Applicability, "implementation_status": i.ImplementationStatus, "rationale": i.Rationale, "needs_review": i.NeedsReview})
			j.cite(i.Evidence)
		}
	}
	j.sum("%s version %d of the Statement of Applicability: %d controls, %d applicable.", made(v), v.VersionNumber, len(items), in)
	return nil
}

func analyseGaps(ctx context.Context, j *job) error {
	a := j.s.Assessments
	v, err := drafter[api.GapVersion]{"draft-gap-analysis", "regenerate-gap-analysis", a.ListGap, a.DraftGap,
		func(ctx context.Context, by api.Caller, id string) (*api.GapVersion, error) {
			return a.RegenerateGap(ctx, by, &api.GapInput{GapVersionID: id})
		}, func(v *api.GapVersion) *api.DeliverableVersion { return &v.DeliverableVersion }}.run(ctx, j)
	if err != nil {
		return err
	}
	found, err := use(ctx, j, "list-findings", map[string]any{"version_id": v.ID}, func() ([]api.Finding, error) {
		return everything(maxRead, func(p api.Paging) (*api.List[api.Finding], error) {
			return a.ListFindings(ctx, j.by, &api.FindingsInput{GapInput: api.GapInput{GapVersionID: v.ID}, Paging: p})
		})
	}, func(of []api.Finding) map[string]any { return map[string]any{"findings": len(of)} })
	if err != nil {
		return err
	}
	by := map[api.Severity]int{}
	for _, f := range found {
		by[f.Severity]++
		j.propose(map[string]any{"kind": "finding", "finding_id": f.ID, "control_code": f.ControlCode, "severity": f.Severity, "result": f.Result, "condition": f.Condition, "recommendation": f.Recommendation})
		j.cite(f.Evidence)
	}
	j.sum("%s version %d of the gap analysis: %d findings, %d critical and %d high.", made(v), v.VersionNumber, len(found), by[api.SeverityCritical], by[api.SeverityHigh])
	return nil
}

func assessMaturity(ctx context.Context, j *job) error {
	a := j.s.Assessments
	v, err := drafter[api.MaturityVersion]{"draft-maturity", "regenerate-maturity", a.ListMaturity, a.DraftMaturity,
		func(ctx context.Context, by api.Caller, id string) (*api.MaturityVersion, error) {
			return a.RegenerateMaturity(ctx, by, &api.MaturityInput{MaturityVersionID: id})
		}, func(v *api.MaturityVersion) *api.DeliverableVersion { return &v.DeliverableVersion }}.run(ctx, j)
	if err != nil {
		return err
	}
	scores, err := use(ctx, j, "list-maturity-scores", map[string]any{"version_id": v.ID}, func() ([]api.MaturityScore, error) {
		return everything(maxRead, func(p api.Paging) (*api.List[api.MaturityScore], error) {
			return a.ListScores(ctx, j.by, &api.MaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: v.ID}, Paging: p})
		})
	}, func(of []api.MaturityScore) map[string]any { return map[string]any{"scores": len(of)} })
	if err != nil {
		return err
	}
	rated, total := 0, 0
	for _, s := range scores {
		if !s.Assessed {
			continue
		}
		rated++
		total += s.Level
		j.propose(map[string]any{"kind": "maturity", "maturity_score_id": s.ID, "control_code": s.ControlCode, "level": s.Level, "target_level": s.TargetLevel, "rationale": s.Rationale})
		j.cite(s.Evidence)
	}
	j.sum("%s version %d of the maturity assessment: %d of %d controls could be rated%s.", made(v), v.VersionNumber, rated, len(scores), average(total, rated))
	return nil
}

func average(total, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", on average %.1f of 5", float64(total)/float64(n))
}

func planPOAM(ctx context.Context, j *job) error {
	a := j.s.Assessments
	v, err := drafter[api.POAMVersion]{"draft-poam", "", a.ListPOAM, a.DraftPOAM, nil,
		func(v *api.POAMVersion) *api.DeliverableVersion { return &v.DeliverableVersion }}.run(ctx, j)
	if err != nil {
		return err
	}
	items, err := use(ctx, j, "list-poam-items", map[string]any{"version_id": v.ID}, func() ([]api.POAMItem, error) {
		return everything(maxRead, func(p api.Paging) (*api.List[api.POAMItem], error) {
			return a.ListPOAMItems(ctx, j.by, &api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: v.ID}, Paging: p})
		})
	}, func(of []api.POAMItem) map[string]any { return map[string]any{"items": len(of)} })
	if err != nil {
		return err
	}
	for _, i := range items {
		j.propose(map[string]any{"kind": "poam_item", "poam_item_id": i.ID, "poam_code": i.POAMCode, "control_code": i.ControlCode, "priority": i.Priority, "severity": i.Severity, "effort": i.Effort, "due_date": i.DueDate, "corrective_action": i.CorrectiveAction})
	}
	j.sum("%s version %d of the POA&M: %d items in order of priority.", made(v), v.VersionNumber, len(items))
	j.assume("Dates follow from the severity of each finding; people know their calendars better.")
	return nil
}

func writeReport(ctx context.Context, j *job) error {
	body := api.ReportBody{Format: "html", Template: "full"}
	if f := j.text("format"); f != "" {
		body.Format = f
	}
	if t := j.text("template"); t != "" {
		body.Template = t
	}
	r, err := use(ctx, j, "create-report", map[string]any{"assessment_id": j.assessment, "format": body.Format, "template": body.Template}, func() (*api.Report, error) {
		return j.s.Reports.Create(ctx, j.by, &api.CreateReportInput{AssessmentInput: j.on(), Body: body})
	}, func(r *api.Report) map[string]any {
		return map[string]any{"report_id": r.ID, "sha256": r.SHA256, "draft": r.Draft}
	})
	if err != nil {
		return err
	}
	j.propose(map[string]any{"kind": "report", "report_id": r.ID, "filename": r.Filename, "draft": r.Draft})
	j.sum("Wrote %s (%d bytes).", r.Filename, r.SizeBytes)
	if r.Draft {
		j.limit("A part of it is not approved, so it is marked as a draft on every page.")
	}
	return nil
}
