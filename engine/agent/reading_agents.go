package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/internal/prose"
)

// readPagesUpTo reads pages of a list until it has at least limit records or reaches the end of the list.
func readPagesUpTo[T any](limit int, page func(api.Paging) (*api.List[T], error)) ([]T, error) {
	var out []T
	for cursor := ""; ; {
		l, err := page(api.Paging{Limit: api.MaxListLimit, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		out = append(out, l.Data...)
		if l.Pagination.NextCursor == nil || len(out) >= limit {
			return out, nil
		}
		cursor = *l.Pagination.NextCursor
	}
}

const maxListRecords = 5000

func (j *job) listDocuments(ctx context.Context) ([]api.Document, error) {
	return callTool(ctx, j, "list-documents", j.assessmentArgs(), func() ([]api.Document, error) {
		return readPagesUpTo(maxListRecords, func(p api.Paging) (*api.List[api.Document], error) {
			return j.service.Evidence.List(ctx, j.by, &api.DocumentsInput{AssessmentInput: j.assessmentInput(), Paging: p})
		})
	}, func(d []api.Document) map[string]any { return map[string]any{"documents": len(d)} })
}

// reviewKnowledgeBase reports which documents were read, which could not be read, and which kinds are missing.
func reviewKnowledgeBase(ctx context.Context, j *job) error {
	docs, err := j.listDocuments(ctx)
	if err != nil {
		return err
	}
	kinds := map[string]int{}
	passages, unread, undated := 0, 0, 0
	for _, d := range docs {
		kinds[d.Category]++
		passages += d.ChunkCount
		switch {
		case d.Status == api.DocumentFailed:
			unread++
			why := ""
			if d.Error != nil {
				why = *d.Error
			}
			j.addProposal(
				map[string]any{
					"kind":        "replace_document",
					"document_id": d.ID,
					"filename":    d.Filename,
					"reason":      "The document could not be read: " + why,
				},
			)
		case d.EffectiveDate == nil:
			undated++
		case isOlderThanThreeYears(*d.EffectiveDate, j):
			j.addProposal(
				map[string]any{
					"kind":           "renew_document",
					"document_id":    d.ID,
					"filename":       d.Filename,
					"effective_date": *d.EffectiveDate,
					"reason":         "The document is more than three years old; upload a current version.",
				},
			)
		}
		if guess := judge.GuessCategory(d.Filename, d.Title, ""); guess != "" && guess != "other" && d.Category == "other" {
			j.addProposal(
				map[string]any{
					"kind":        "classify_document",
					"document_id": d.ID,
					"filename":    d.Filename,
					"category":    guess,
					"reason":      "The document's file name or title suggests this category.",
				},
			)
		}
	}
	for _, kind := range []string{"policy", "procedure", "record"} {
		if kinds[kind] == 0 {
			j.addProposal(
				map[string]any{
					"kind":     "add_documents",
					"category": kind,
					"reason": "There is no document of this kind. Policies show the rules, procedures show how " +
						"they are carried out, and records show that this is done.",
				},
			)
		}
	}
	j.setSummary(
		"%s with %s; %d could not be read, %d undated.",
		prose.Count(len(docs), "document", "documents"),
		prose.Count(passages, "passage", "passages"),
		unread,
		undated,
	)
	j.addAssumption("A document's kind is set at upload or derived from its name.")
	j.addLimitation("The content of documents was not evaluated; the evidence analyst does that.")
	return nil
}

func isOlderThanThreeYears(d api.Date, j *job) bool {
	t, err := d.Time()
	return err == nil && j.service.Clock().Sub(t).Hours() > 3*365*24
}

// analyzeControls explains the named controls, or, if none are named, the assessment's controls
// with the least evidence.
func analyzeControls(ctx context.Context, j *job) error {
	codes := j.inputTexts("controls")
	if one := j.inputText("control_id"); one != "" {
		codes = append(codes, one)
	}
	version := ""
	if j.assessmentID != "" {
		a, err := callTool(ctx, j, "get-assessment", j.assessmentArgs(), func() (*api.Assessment, error) {
			in := j.assessmentInput()
			return j.service.Assessments.Get(ctx, j.by, &in)
		}, func(a *api.Assessment) map[string]any {
			return map[string]any{"state": a.State, "frameworks": a.Frameworks}
		})
		if err != nil {
			return err
		}
		version = a.SCFVersionID
		if len(codes) == 0 {
			if codes, err = j.leastEvidencedControlCodes(ctx); err != nil {
				return err
			}
		}
	}
	if len(codes) == 0 {
		return api.Invalid("input", "specify controls in input.controls, or an assessment that has a Statement of "+
			"Applicability")
	}
	var unknown []string
	for _, code := range codes[:min(len(codes), 40)] {
		c, err := callTool(ctx, j, "get-scf-control", map[string]any{"control_id": code}, func() (*api.Control, error) {
			return j.service.Catalog.GetControl(ctx, j.by, &api.ControlInput{ControlID: code, Version: version})
		}, func(c *api.Control) map[string]any {
			return map[string]any{"code": c.Code, "title": c.Title, "weight": c.Weight}
		})
		if api.IsCode(err, api.CodeNotFound) || api.IsCode(err, api.CodeValidation) {
			unknown = append(unknown, code)
			continue
		}
		if err != nil {
			return err
		}
		asks := []string{}
		for _, e := range c.EvidenceRequests {
			asks = append(asks, e.Artifact)
		}
		j.addProposal(
			map[string]any{
				"kind":                "control",
				"control_code":        c.Code,
				"title":               c.Title,
				"weight":              c.Weight,
				"statements":          judge.Statements(*c),
				"evidence_to_ask_for": asks,
			},
		)
	}
	j.setSummary("%s explained%s.", prose.Count(len(j.output.Proposals), "control", "controls"), unknownControlsSuffix(unknown))
	j.addAssumption("A control's requirements are its assessment objectives or, if it has none, the parts of its description.")
	if len(unknown) > 0 {
		j.addLimitation("The catalog doesn't contain %s.", strings.Join(unknown, ", "))
	}
	return nil
}

func unknownControlsSuffix(unknown []string) string {
	if len(unknown) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d not in the catalog", len(unknown))
}

// listSoAItems returns the items of the latest Statement of Applicability, or none if there is no
// version yet.
func (j *job) listSoAItems(ctx context.Context) ([]api.SoAItem, error) {
	return callTool(ctx, j, "list-soa-items", j.assessmentArgs(), func() ([]api.SoAItem, error) {
		vs, err := j.service.Assessments.ListSoA(
			ctx,
			j.by,
			&api.AssessmentListInput{AssessmentInput: j.assessmentInput(), Paging: api.Paging{Limit: 1}},
		)
		if err != nil || len(vs.Data) == 0 {
			return nil, err
		}
		return readPagesUpTo(maxListRecords, func(p api.Paging) (*api.List[api.SoAItem], error) {
			return j.service.Assessments.ListSoAItems(
				ctx,
				j.by,
				&api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: vs.Data[0].ID}, Paging: p},
			)
		})
	}, func(of []api.SoAItem) map[string]any { return map[string]any{"items": len(of)} })
}

// leastEvidencedControlCodes returns the codes of up to 20 applicable controls, starting with those
// with the least evidence.
func (j *job) leastEvidencedControlCodes(ctx context.Context) ([]string, error) {
	items, err := j.listSoAItems(ctx)
	if err != nil {
		return nil, err
	}
	items = slices.DeleteFunc(items, func(i api.SoAItem) bool { return !i.Applicability.IsApplicable() })
	slices.SortStableFunc(items, func(a, b api.SoAItem) int {
		switch {
		case a.CoverageRatio < b.CoverageRatio:
			return -1
		case a.CoverageRatio > b.CoverageRatio:
			return 1
		}
		return strings.Compare(a.ControlCode, b.ControlCode)
	})
	var out []string
	for _, i := range items[:min(len(items), 20)] {
		out = append(out, i.ControlCode)
	}
	return out, nil
}

// mapFrameworks looks up the coverage of frameworks and, if the input names a target, the crosswalk to it.
func mapFrameworks(ctx context.Context, j *job) error {
	refs := j.inputTexts("frameworks")
	if one := j.inputText("framework"); one != "" {
		refs = append(refs, one)
	}
	if j.assessmentID != "" && len(refs) == 0 {
		a, err := callTool(ctx, j, "get-assessment", j.assessmentArgs(), func() (*api.Assessment, error) {
			in := j.assessmentInput()
			return j.service.Assessments.Get(ctx, j.by, &in)
		}, func(a *api.Assessment) map[string]any { return map[string]any{"frameworks": a.Frameworks} })
		if err != nil {
			return err
		}
		refs = a.Frameworks
	}
	if len(refs) == 0 {
		return api.Invalid("input", "specify frameworks in input.frameworks, or an assessment that has frameworks")
	}
	for _, ref := range refs[:min(len(refs), 20)] {
		c, err := callTool(ctx, j, "get-coverage", map[string]any{"framework": ref}, func() (*api.Coverage, error) {
			return j.service.Catalog.GetCoverage(ctx, j.by, &api.CoverageInput{FrameworkID: ref})
		}, func(c *api.Coverage) map[string]any { return map[string]any{"coverage_pct": c.CoveragePct} })
		if err != nil {
			return err
		}
		j.addProposal(
			map[string]any{
				"kind":         "coverage",
				"framework":    c.FrameworkCode,
				"requirements": c.RequirementCount,
				"mapped":       c.MappedRequirementCount,
				"controls":     c.ControlCount,
				"coverage_pct": c.CoveragePct,
			},
		)
	}
	if target := j.inputText("target"); target != "" {
		x, err := callTool(ctx, j, "get-crosswalk", map[string]any{"framework": refs[0], "target": target}, func() (*api.Crosswalk, error) {
			return j.service.Catalog.GetCrosswalk(ctx, j.by, &api.CrosswalkInput{Framework: refs[0], Target: target})
		}, func(x *api.Crosswalk) map[string]any { return toStepRecord(x) })
		if err != nil {
			return err
		}
		j.addProposal(map[string]any{"kind": "crosswalk", "framework": refs[0], "target": target, "crosswalk": toStepRecord(x)})
	}
	j.setSummary("Looked up %s in the catalog's mappings.", prose.Count(min(len(refs), 20), "framework", "frameworks"))
	j.addAssumption("All mappings come from the catalog in use.")
	return nil
}

// analyzeEvidence reports which documents support which controls, and how well.
func analyzeEvidence(ctx context.Context, j *job) error {
	docs, err := j.listDocuments(ctx)
	if err != nil {
		return err
	}
	items, err := j.listSoAItems(ctx)
	if err != nil {
		return err
	}
	controlsByDocument := map[string][]string{}
	by := map[api.EvidenceCoverage]int{}
	for _, i := range items {
		if !i.Applicability.IsApplicable() {
			continue
		}
		by[i.EvidenceCoverage]++
		for _, e := range i.Evidence {
			if !slices.Contains(controlsByDocument[e.DocumentID], i.ControlCode) {
				controlsByDocument[e.DocumentID] = append(controlsByDocument[e.DocumentID], i.ControlCode)
			}
		}
		if i.NeedsReview || i.EvidenceCoverage == api.CoverageWeak {
			j.addProposal(
				map[string]any{
					"kind":         "review_evidence",
					"soa_item_id":  i.ID,
					"control_code": i.ControlCode,
					"coverage":     i.EvidenceCoverage,
					"reason":       i.Reason,
				},
			)
			j.addSources(i.Evidence)
		}
	}
	idle := 0
	for _, d := range docs {
		j.addProposal(
			map[string]any{
				"kind":        "document",
				"document_id": d.ID,
				"filename":    d.Filename,
				"category":    d.Category,
				"controls":    controlsByDocument[d.ID],
				"status":      d.Status,
			},
		)
		if len(controlsByDocument[d.ID]) == 0 {
			idle++
		}
	}
	j.setSummary(
		"%s, of which %d support no control; of the applicable controls, %d have strong, %d partial, %d weak and %d no evidence.",
		prose.Count(len(docs), "document", "documents"),
		idle,
		by[api.CoverageStrong],
		by[api.CoveragePartial],
		by[api.CoverageWeak],
		by[api.CoverageAbsent],
	)
	if len(items) == 0 {
		j.addLimitation("There is no Statement of Applicability yet, so controls were not considered.")
	}
	return nil
}
