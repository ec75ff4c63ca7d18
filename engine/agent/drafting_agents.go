package agent

import (
	"context"
	"fmt"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// draftingAgent implements what the four drafting agents have in common: they create a draft or
// regenerate an open one, keeping users' edits.
type draftingAgent[V any] struct {
	draftOperation, regenerateOperation string // the operations' names
	listVersions                        func(context.Context, api.Caller, *api.AssessmentListInput) (*api.List[V], error)
	create                              func(context.Context, api.Caller, *api.AssessmentInput) (*V, error)
	regenerate                          func(context.Context, api.Caller, string) (*V, error) // nil if drafts cannot be regenerated
	version                             func(*V) *api.DeliverableVersion
}

func (d draftingAgent[V]) draftOrRegenerateVersion(ctx context.Context, j *job) (*api.DeliverableVersion, error) {
	vs, err := d.listVersions(ctx, j.by, &api.AssessmentListInput{AssessmentInput: j.assessmentInput(), Paging: api.Paging{Limit: 1}})
	if err != nil {
		return nil, err
	}
	summarize := func(v *V) map[string]any {
		x := d.version(v)
		return map[string]any{
			"version_id":     x.ID,
			"version_number": x.VersionNumber,
			"status":         x.Status,
			"items":          x.ItemCount,
			"content_sha256": x.ContentSHA256,
			"kept":           x.Kept,
		}
	}
	var v *V
	if len(vs.Data) > 0 && d.regenerate != nil {
		id := d.version(&vs.Data[0]).ID
		v, err = callTool(
			ctx,
			j,
			d.regenerateOperation,
			map[string]any{"version_id": id},
			func() (*V, error) { return d.regenerate(ctx, j.by, id) },
			summarize,
		)
	} else {
		v, err = callTool(ctx, j, d.draftOperation, j.assessmentArgs(), func() (*V, error) {
			in := j.assessmentInput()
			return d.create(ctx, j.by, &in)
		}, summarize)
	}
	if err != nil {
		return nil, err
	}
	x := d.version(v)
	if x.Status != api.VersionDraft {
		j.addLimitation(
			"Version %d (%s) was kept, because a new draft by %s would be identical.",
			x.VersionNumber,
			prose.Humanize(x.Status),
			x.Method,
		)
		return x, nil
	}
	j.addLimitation("This is a draft by %s. Nothing is final until a user has submitted the draft and it has been "+
		"approved.", x.Method)
	if len(x.Kept) > 0 {
		j.addAssumption("Items edited by users were kept (%d).", len(x.Kept))
	}
	return x, nil
}

// draftedOrKept returns the verb for a summary: "Drafted" if v is a draft, otherwise "Kept".
func draftedOrKept(v *api.DeliverableVersion) string {
	if v.Status == api.VersionDraft {
		return "Drafted"
	}
	return "Kept"
}

func draftSoA(ctx context.Context, j *job) error {
	a := j.service.Assessments
	sc, err := callTool(
		ctx,
		j,
		"get-assessment-scope",
		j.assessmentArgs(),
		func() (*api.Scope, error) { in := j.assessmentInput(); return a.GetAssessmentScope(ctx, j.by, &in) },
		func(s *api.Scope) map[string]any {
			return map[string]any{"scope_id": s.ID, "status": s.Status, "traits": s.Traits}
		},
	)
	switch {
	case api.IsCode(err, api.CodeNotFound):
		j.addLimitation("There is no scope yet; the draft treats the whole organization as in scope.")
	case err != nil:
		return err
	default:
		for _, name := range api.TraitNames {
			if t, ok := sc.Traits[name]; ok && t.Value == "unknown" {
				j.addProposal(
					map[string]any{
						"kind":   "scope_trait",
						"trait":  name,
						"reason": "The documents don't show whether this trait applies. Set it manually, because it determines which controls apply.",
					},
				)
			}
		}
	}
	v, err := draftingAgent[api.SoAVersion]{
		draftOperation: "draft-soa", regenerateOperation: "regenerate-soa", listVersions: a.ListSoA,
		create: func(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.SoAVersion, error) {
			return a.DraftSoA(ctx, by, &api.DraftSoAInput{AssessmentInput: *in})
		},
		regenerate: func(ctx context.Context, by api.Caller, id string) (*api.SoAVersion, error) {
			return a.RegenerateSoA(ctx, by, &api.SoAInput{SoAVersionID: id})
		}, version: func(v *api.SoAVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
	}.draftOrRegenerateVersion(ctx, j)
	if err != nil {
		return err
	}
	items, err := j.listSoAItems(ctx)
	if err != nil {
		return err
	}
	in := 0
	for _, i := range items {
		if i.Applicability.IsApplicable() {
			in++
		}
		if i.NeedsReview || !i.Applicability.IsApplicable() {
			j.addProposal(
				map[string]any{
					"kind":                  "soa_item",
					"soa_item_id":           i.ID,
					"control_code":          i.ControlCode,
					"applicability":         i.Applicability,
					"implementation_status": i.ImplementationStatus,
					"rationale":             i.Rationale,
					"needs_review":          i.NeedsReview,
				},
			)
			j.addSources(i.Evidence)
		}
	}
	j.setSummary(
		"%s version %d of the Statement of Applicability: %s, %d applicable.",
		draftedOrKept(v),
		v.VersionNumber,
		prose.Count(len(items), "control", "controls"),
		in,
	)
	return nil
}

func analyzeGaps(ctx context.Context, j *job) error {
	a := j.service.Assessments
	v, err := draftingAgent[api.GapVersion]{
		draftOperation: "draft-gap-analysis", regenerateOperation: "regenerate-gap-analysis", listVersions: a.ListGap, create: a.DraftGap,
		regenerate: func(ctx context.Context, by api.Caller, id string) (*api.GapVersion, error) {
			return a.RegenerateGap(ctx, by, &api.GapInput{GapVersionID: id})
		}, version: func(v *api.GapVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
	}.draftOrRegenerateVersion(ctx, j)
	if err != nil {
		return err
	}
	found, err := callTool(ctx, j, "list-findings", map[string]any{"version_id": v.ID}, func() ([]api.Finding, error) {
		return readPagesUpTo(maxListRecords, func(p api.Paging) (*api.List[api.Finding], error) {
			return a.ListFindings(ctx, j.by, &api.FindingsInput{GapInput: api.GapInput{GapVersionID: v.ID}, Paging: p})
		})
	}, func(of []api.Finding) map[string]any { return map[string]any{"findings": len(of)} })
	if err != nil {
		return err
	}
	by := map[api.Severity]int{}
	for _, f := range found {
		by[f.Severity]++
		j.addProposal(
			map[string]any{
				"kind":           "finding",
				"finding_id":     f.ID,
				"control_code":   f.ControlCode,
				"severity":       f.Severity,
				"result":         f.Result,
				"condition":      f.Condition,
				"recommendation": f.Recommendation,
			},
		)
		j.addSources(f.Evidence)
	}
	j.setSummary(
		"%s version %d of the gap analysis: %s, %d critical and %d high.",
		draftedOrKept(v),
		v.VersionNumber,
		prose.Count(len(found), "finding", "findings"),
		by[api.SeverityCritical],
		by[api.SeverityHigh],
	)
	return nil
}

func assessMaturity(ctx context.Context, j *job) error {
	a := j.service.Assessments
	v, err := draftingAgent[api.MaturityVersion]{
		draftOperation: "draft-maturity", regenerateOperation: "regenerate-maturity", listVersions: a.ListMaturity, create: a.DraftMaturity,
		regenerate: func(ctx context.Context, by api.Caller, id string) (*api.MaturityVersion, error) {
			return a.RegenerateMaturity(ctx, by, &api.MaturityInput{MaturityVersionID: id})
		}, version: func(v *api.MaturityVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
	}.draftOrRegenerateVersion(ctx, j)
	if err != nil {
		return err
	}
	scores, err := callTool(ctx, j, "list-maturity-scores", map[string]any{"version_id": v.ID}, func() ([]api.MaturityScore, error) {
		return readPagesUpTo(maxListRecords, func(p api.Paging) (*api.List[api.MaturityScore], error) {
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
		j.addProposal(
			map[string]any{
				"kind":              "maturity",
				"maturity_score_id": s.ID,
				"control_code":      s.ControlCode,
				"level":             s.Level,
				"target_level":      s.TargetLevel,
				"rationale":         s.Rationale,
			},
		)
		j.addSources(s.Evidence)
	}
	j.setSummary(
		"%s version %d of the maturity assessment: %d of %d controls could be rated%s.",
		draftedOrKept(v),
		v.VersionNumber,
		rated,
		len(scores),
		averageLevelSuffix(total, rated),
	)
	return nil
}

func averageLevelSuffix(total, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", average level %.1f of 5", float64(total)/float64(n))
}

func planPOAM(ctx context.Context, j *job) error {
	a := j.service.Assessments
	v, err := draftingAgent[api.POAMVersion]{
		draftOperation: "draft-poam", regenerateOperation: "", listVersions: a.ListPOAM, create: a.DraftPOAM, regenerate: nil,
		version: func(v *api.POAMVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
	}.draftOrRegenerateVersion(ctx, j)
	if err != nil {
		return err
	}
	items, err := callTool(ctx, j, "list-poam-items", map[string]any{"version_id": v.ID}, func() ([]api.POAMItem, error) {
		return readPagesUpTo(maxListRecords, func(p api.Paging) (*api.List[api.POAMItem], error) {
			return a.ListPOAMItems(ctx, j.by, &api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: v.ID}, Paging: p})
		})
	}, func(of []api.POAMItem) map[string]any { return map[string]any{"items": len(of)} })
	if err != nil {
		return err
	}
	for _, i := range items {
		j.addProposal(
			map[string]any{
				"kind":              "poam_item",
				"poam_item_id":      i.ID,
				"poam_code":         i.POAMCode,
				"control_code":      i.ControlCode,
				"priority":          i.Priority,
				"severity":          i.Severity,
				"effort":            i.Effort,
				"due_date":          i.DueDate,
				"corrective_action": i.CorrectiveAction,
			},
		)
	}
	j.setSummary(
		"%s version %d of the POA&M: %s in order of priority.",
		draftedOrKept(v),
		v.VersionNumber,
		prose.Count(len(items), "item", "items"),
	)
	j.addAssumption("Dates are derived from the severity of each finding; adjust them to your schedule.")
	return nil
}

func writeReport(ctx context.Context, j *job) error {
	body := api.ReportBody{Format: "html", Template: "full"}
	if f := j.inputText("format"); f != "" {
		body.Format = f
	}
	if t := j.inputText("template"); t != "" {
		body.Template = t
	}
	r, err := callTool(
		ctx,
		j,
		"create-report",
		map[string]any{"assessment_id": j.assessmentID, "format": body.Format, "template": body.Template},
		func() (*api.Report, error) {
			return j.service.Reports.Create(ctx, j.by, &api.CreateReportInput{AssessmentInput: j.assessmentInput(), Body: body})
		},
		func(r *api.Report) map[string]any {
			return map[string]any{"report_id": r.ID, "sha256": r.SHA256, "draft": r.Draft}
		},
	)
	if err != nil {
		return err
	}
	j.addProposal(map[string]any{"kind": "report", "report_id": r.ID, "filename": r.Filename, "draft": r.Draft})
	j.setSummary("Wrote %s (%d bytes).", r.Filename, r.SizeBytes)
	if r.Draft {
		j.addLimitation("Some of the report's sources are not approved, so every page is marked as a draft.")
	}
	return nil
}
