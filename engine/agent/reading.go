package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
)

// everything reads all pages of a list, up to so many records.
func everything[T any](most int, page func(api.Paging) (*api.List[T], error)) ([]T, error) {
	var out []T
	for cursor := ""; ; {
		l, err := page(api.Paging{Limit: api.MaxListLimit, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		out = append(out, l.Data...)
		if l.Pagination.NextCursor == nil || len(out) >= most {
			return out, nil
		}
		cursor = *l.Pagination.NextCursor
	}
}

const maxRead = 5000

func (j *job) documents(ctx context.Context) ([]api.Document, error) {
	return use(ctx, j, "list-documents", j.about(), func() ([]api.Document, error) {
		return everything(maxRead, func(p api.Paging) (*api.List[api.Document], error) {
			return j.s.Evidence.List(ctx, j.by, &api.DocumentsInput{AssessmentInput: j.on(), Paging: p})
		})
	}, func(d []api.Document) map[string]any { return map[string]any{"documents": len(d)} })
}

// stewardKnowledge says what was read, what could not be, and what kinds are missing.
func stewardKnowledge(ctx context.Context, j *job) error {
	docs, err := j.documents(ctx)
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
			j.propose(map[string]any{"kind": "replace_document", "document_id": d.ID, "filename": d.Filename, "reason": "It could not be read: " + why})
		case d.EffectiveDate == nil:
			undated++
		case old(*d.EffectiveDate, j):
			j.propose(map[string]any{"kind": "renew_document", "document_id": d.ID, "filename": d.Filename, "effective_date": *d.EffectiveDate, "reason": "It is from more than three years ago; a current one says more."})
		}
		if guess := judge.Category(d.Filename, d.Title, ""); guess != "" && guess != "other" && d.Category == "other" {
			j.propose(map[string]any{"kind": "classify_document", "document_id": d.ID, "filename": d.Filename, "category": guess, "reason": "Its name says so."})
		}
	}
	for _, kind := range []string{"policy", "procedure", "record"} {
		if kinds[kind] == 0 {
			j.propose(map[string]any{"kind": "add_documents", "category": kind, "reason": "There is none of this kind: rules need policies, practice needs procedures, and operation needs records."})
		}
	}
	j.sum("%d documents with %d passages; %d could not be read, %d bear no date.", len(docs), passages, unread, undated)
	j.assume("A document's kind is what was said at the upload, or what its name tells.")
	j.limit("The content of documents was not judged here; the evidence analyst does that.")
	return nil
}

func old(d api.Date, j *job) bool {
	t, err := d.Time()
	return err == nil && j.s.Clock().Sub(t).Hours() > 3*365*24
}

// analyseControls explains the controls that were named, else those of the assessment
// that weigh most and bear least evidence.
func analyseControls(ctx context.Context, j *job) error {
	codes := j.texts("controls")
	if one := j.text("control_id"); one != "" {
		codes = append(codes, one)
	}
	version := ""
	if j.assessment != "" {
		a, err := use(ctx, j, "get-assessment", j.about(), func() (*api.Assessment, error) {
			in := j.on()
			return j.s.Assessments.Get(ctx, j.by, &in)
		}, func(a *api.Assessment) map[string]any {
			return map[string]any{"state": a.State, "frameworks": a.Frameworks}
		})
		if err != nil {
			return err
		}
		version = a.SCFVersionID
		if len(codes) == 0 {
			if codes, err = j.weakest(ctx); err != nil {
				return err
			}
		}
	}
	if len(codes) == 0 {
		return api.Invalid("input", "name controls in input.controls, or an assessment that has a Statement of Applicability")
	}
	var unknown []string
	for _, code := range codes[:min(len(codes), 40)] {
		c, err := use(ctx, j, "get-scf-control", map[string]any{"control_id": code}, func() (*api.Control, error) {
			return j.s.Catalog.GetControl(ctx, j.by, &api.ControlInput{ControlID: code, Version: version})
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
		j.propose(map[string]any{"kind": "control", "control_code": c.Code, "title": c.Title, "weight": c.Weight, "statements": judge.Statements(*c), "evidence_to_ask_for": asks})
	}
	j.sum("%d controls explained%s.", len(j.out.Proposals), without(unknown))
	j.assume("The statements of a control are its assessment objectives, else the parts of its description.")
	if len(unknown) > 0 {
		j.limit("The catalog has no %s.", strings.Join(unknown, ", "))
	}
	return nil
}

func without(unknown []string) string {
	if len(unknown) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d unknown to the catalog", len(unknown))
}

// soaItems are the items of the newest SoA; none where there is no version yet.
func (j *job) soaItems(ctx context.Context) ([]api.SoAItem, error) {
	return use(ctx, j, "list-soa-items", j.about(), func() ([]api.SoAItem, error) {
		vs, err := j.s.Assessments.ListSoA(ctx, j.by, &api.AssessmentListInput{AssessmentInput: j.on(), Paging: api.Paging{Limit: 1}})
		if err != nil || len(vs.Data) == 0 {
			return nil, err
		}
		return everything(maxRead, func(p api.Paging) (*api.List[api.SoAItem], error) {
			return j.s.Assessments.ListSoAItems(ctx, j.by, &api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: vs.Data[0].ID}, Paging: p})
		})
	}, func(of []api.SoAItem) map[string]any { return map[string]any{"items": len(of)} })
}

// weakest are the applicable controls with the least evidence.
func (j *job) weakest(ctx context.Context) ([]string, error) {
	items, err := j.soaItems(ctx)
	if err != nil {
		return nil, err
	}
	items = slices.DeleteFunc(items, func(i api.SoAItem) bool { return !i.Applicability.In() })
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

// mapFrameworks consults the coverage of frameworks, and the crosswalk of two.
func mapFrameworks(ctx context.Context, j *job) error {
	refs := j.texts("frameworks")
	if one := j.text("framework"); one != "" {
		refs = append(refs, one)
	}
	if j.assessment != "" && len(refs) == 0 {
		a, err := use(ctx, j, "get-assessment", j.about(), func() (*api.Assessment, error) {
			in := j.on()
			return j.s.Assessments.Get(ctx, j.by, &in)
		}, func(a *api.Assessment) map[string]any { return map[string]any{"frameworks": a.Frameworks} })
		if err != nil {
			return err
		}
		refs = a.Frameworks
	}
	if len(refs) == 0 {
		return api.Invalid("input", "name frameworks in input.frameworks, or an assessment against some")
	}
	for _, ref := range refs[:min(len(refs), 20)] {
		c, err := use(ctx, j, "get-coverage", map[string]any{"framework": ref}, func() (*api.Coverage, error) {
			return j.s.Catalog.GetCoverage(ctx, j.by, &api.CoverageInput{FrameworkID: ref})
		}, func(c *api.Coverage) map[string]any { return map[string]any{"coverage_pct": c.CoveragePct} })
		if err != nil {
			return err
		}
		j.propose(map[string]any{"kind": "coverage", "framework": c.FrameworkCode, "requirements": c.RequirementCount, "mapped": c.MappedRequirementCount, "controls": c.ControlCount, "coverage_pct": c.CoveragePct})
	}
	if target := j.text("target"); target != "" {
		x, err := use(ctx, j, "get-crosswalk", map[string]any{"framework": refs[0], "target": target}, func() (*api.Crosswalk, error) {
			return j.s.Catalog.GetCrosswalk(ctx, j.by, &api.CrosswalkInput{Framework: refs[0], Target: target})
		}, func(x *api.Crosswalk) map[string]any { return kept(x) })
		if err != nil {
			return err
		}
		j.propose(map[string]any{"kind": "crosswalk", "framework": refs[0], "target": target, "crosswalk": kept(x)})
	}
	j.sum("%d frameworks looked up in the catalog's mappings.", min(len(refs), 20))
	j.assume("The mappings are those of the catalog in use; none was invented.")
	return nil
}

// analyseEvidence says which documents bear which controls, and how well.
func analyseEvidence(ctx context.Context, j *job) error {
	docs, err := j.documents(ctx)
	if err != nil {
		return err
	}
	items, err := j.soaItems(ctx)
	if err != nil {
		return err
	}
	bears := map[string][]string{}
	by := map[api.EvidenceCoverage]int{}
	for _, i := range items {
		if !i.Applicability.In() {
			continue
		}
		by[i.EvidenceCoverage]++
		for _, e := range i.Evidence {
			if !slices.Contains(bears[e.DocumentID], i.ControlCode) {
				bears[e.DocumentID] = append(bears[e.DocumentID], i.ControlCode)
			}
		}
		if i.NeedsReview || i.EvidenceCoverage == api.CoverageWeak {
			j.propose(map[string]any{"kind": "review_evidence", "soa_item_id": i.ID, "control_code": i.ControlCode, "coverage": i.EvidenceCoverage, "reason": i.Reason})
			j.cite(i.Evidence)
		}
	}
	idle := 0
	for _, d := range docs {
		j.propose(map[string]any{"kind": "document", "document_id": d.ID, "filename": d.Filename, "category": d.Category, "controls": bears[d.ID], "status": d.Status})
		if len(bears[d.ID]) == 0 {
			idle++
		}
	}
	j.sum("%d documents, %d of them bear no control; of the applicable controls %d have strong, %d partial, %d weak evidence and %d none.", len(docs), idle,
		by[api.CoverageStrong], by[api.CoveragePartial], by[api.CoverageWeak], by[api.CoverageAbsent])
	if len(items) == 0 {
		j.limit("There is no Statement of Applicability yet, so nothing is said of controls.")
	}
	return nil
}
