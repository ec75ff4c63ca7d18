package assessment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/maturity"
	"github.com/scf-service/service/internal/itemfilter"
	"github.com/scf-service/service/store"
)

// defaultTargetLevel is the target level unless a user sets another: "well defined".
const defaultTargetLevel = 3

// draftMaturity rates every applicable control of the Statement of Applicability.
func (s *Service) draftMaturity(ctx context.Context, _ api.Caller, a *api.Assessment) (d draft[api.MaturityScore], err error) {
	v, items, err := readApprovedOrNewest(ctx, s, a, soaType)
	if err != nil {
		return d, err
	}
	return s.draftMaturityFrom(ctx, a, &v, items)
}

// draftMaturityFrom rates the controls in the items of one version of the Statement of Applicability.
func (s *Service) draftMaturityFrom(
	ctx context.Context,
	a *api.Assessment,
	v *api.SoAVersion,
	items []api.SoAItem,
) (d draft[api.MaturityScore], err error) {
	snap, err := s.catalogSnapshot(ctx, a)
	if err != nil {
		return d, err
	}
	d = draft[api.MaturityScore]{method: judge.RulesVersion, inputs: soaType.toInputEntries(v)}
	d.items, err = mapParallel(ctx, items, func(i *api.SoAItem) (score api.MaturityScore, rated bool, err error) {
		if !i.Applicability.IsApplicable() {
			return score, false, nil
		}
		c, err := snap.Control(i.ControlCode)
		if err != nil {
			return score, false, err
		}
		score = maturity.Rate(c, *i, defaultTargetLevel)
		score.Item = copyControlFields(i.Item)
		return score, true, nil
	})
	d.mergePrevious = func(d *draft[api.MaturityScore], old *previousVersion[api.MaturityScore]) {
		mergeScoreEditsAndPreviousLevels(d, old, snap)
	}
	return d, err
}

// mergeScoreEditsAndPreviousLevels carries over users' edits and sets each control's previous level. This is the level in
// the previous version or, if no level has changed since that version, the previous level recorded
// there.
func mergeScoreEditsAndPreviousLevels(d *draft[api.MaturityScore], previous *previousVersion[api.MaturityScore], snap *scf.Snapshot) {
	matches := carryEdits(maturityType, d, previous.items, func(to, from *api.MaturityScore, field string) {
		copyScoreField(to, from, field)
		if c, err := snap.Control(to.ControlCode); field == "level" && err == nil {
			maturity.SetCurrentAndNextCriteria(to, c)
		}
	})
	levelsChanged := len(d.items) != len(previous.items)
	for n, from := range matches {
		levelsChanged = levelsChanged || from == nil || from.Assessed != d.items[n].Assessed || from.Level != d.items[n].Level
	}
	for n, from := range matches {
		i := &d.items[n]
		switch {
		case from == nil:
		case !levelsChanged:
			i.PreviousLevel = from.PreviousLevel
		case from.Assessed:
			i.PreviousLevel = &from.Level
		}
	}
}

func copyScoreField(to, from *api.MaturityScore, field string) {
	switch field {
	case "level":
		to.Level, to.Assessed, to.Rationale = from.Level, from.Assessed, from.Rationale
	case "target_level":
		to.TargetLevel = from.TargetLevel
	case "rationale":
		to.Rationale = from.Rationale
	case "note":
		to.Note = from.Note
	}
}

// DraftMaturity drafts the next version of the maturity assessment.
func (s *Service) DraftMaturity(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.MaturityVersion, error) {
	defer s.locks.lock(in.AssessmentID)()
	return writeDraft(ctx, s, by, in.AssessmentID, maturityType, s.draftMaturity, nil)
}

// RegenerateMaturity drafts the next version of the maturity assessment, preserving users' edits.
func (s *Service) RegenerateMaturity(ctx context.Context, by api.Caller, in *api.MaturityInput) (*api.MaturityVersion, error) {
	v, err := getVersion(ctx, s, by, maturityType, in.MaturityVersionID)
	if err != nil {
		return nil, err
	}
	defer s.locks.lock(v.AssessmentID)()
	return writeDraft(ctx, s, by, v.AssessmentID, maturityType, skipDraftEqualToReviewed(s.draftMaturity), nil)
}

// ListMaturity lists the versions of the maturity assessment, newest first.
func (s *Service) ListMaturity(ctx context.Context, by api.Caller, in *api.AssessmentListInput) (*api.List[api.MaturityVersion], error) {
	return listVersions(ctx, s, by, maturityType, in)
}

// GetMaturity returns a version of the maturity assessment.
func (s *Service) GetMaturity(ctx context.Context, by api.Caller, in *api.MaturityInput) (*api.MaturityVersion, error) {
	return getVersion(ctx, s, by, maturityType, in.MaturityVersionID)
}

// ListScores lists a version's maturity scores, sorted by control code by default.
func (s *Service) ListScores(ctx context.Context, by api.Caller, in *api.MaturityScoresInput) (*api.List[api.MaturityScore], error) {
	filter, q := *in, strings.ToLower(in.Q)
	if _, err := normalizeItemFilter(
		ctx,
		s,
		by,
		maturityType,
		in.MaturityVersionID,
		itemFilter{domain: &filter.Domain, control: &filter.ControlCode},
	); err != nil {
		return nil, err
	}
	in = &filter
	where, err := itemfilter.Compile[api.MaturityScore](in.Where)
	if err != nil {
		return nil, err
	}
	return listItems(
		ctx,
		s,
		by,
		maturityType,
		in.MaturityVersionID,
		filter,
		in.Paging,
		in.Sort,
		maturityOrder,
		store.FilterIf(api.HasFilters(in), func(i *api.MaturityScore) bool {
			return where.Selects(i) && matchesDomainAndControl(i.Item, in.Domain, in.ControlCode) &&
				(in.BelowTarget == "" || fmt.Sprint(i.Level < i.TargetLevel) == in.BelowTarget) &&
				(in.Level == "" || fmt.Sprint(i.Level) == in.Level) &&
				(in.Assessed == "" || fmt.Sprint(i.Assessed) == in.Assessed) &&
				matchesQuery(q, i.ControlCode, i.ControlTitle, i.Rationale)
		}),
	)
}

// GetScore returns a maturity score.
func (s *Service) GetScore(ctx context.Context, by api.Caller, in *api.MaturityScoreInput) (*api.MaturityScore, error) {
	return getItem(ctx, s, by, maturityType, "maturity score", in.MaturityScoreID)
}

// UpdateScore applies a user's change to a maturity score.
func (s *Service) UpdateScore(ctx context.Context, by api.Caller, in *api.UpdateMaturityScoreInput) (*api.MaturityScore, error) {
	b := in.Body
	var control *api.Control // needed to change a level
	if b.Level != nil || len(b.Reset) > 0 {
		var err error
		if control, err = s.controlForScore(ctx, by, in.MaturityScoreID); err != nil {
			return nil, err
		}
	}
	redrafted, err := draftItemWithoutEdits(ctx, s, by, maturityType, in.MaturityScoreID, b.Reset, s.draftMaturity)
	if err != nil {
		return nil, err
	}
	change := newScoreChange(by, b, redrafted, func(*api.MaturityScore) *api.Control { return control })
	return editItem(ctx, s, by, maturityType, in.MaturityScoreID, in.Match, change, nil)
}

// EditMaturityScores applies a user's change to all scores that a selection matches.
func (s *Service) EditMaturityScores(ctx context.Context, by api.Caller, in *api.EditMaturityScoresInput) (*api.EditResult, error) {
	v, err := getVersion(ctx, s, by, maturityType, in.MaturityVersionID)
	if err != nil {
		return nil, err
	}
	a, err := s.readAssessment(ctx, by, v.AssessmentID)
	if err != nil {
		return nil, err
	}
	snap, err := s.catalogSnapshot(ctx, &a)
	if err != nil {
		return nil, err
	}
	b := in.Body.Set
	change := newScoreChange(by, b, nil, func(i *api.MaturityScore) *api.Control {
		if c, err := snap.Control(i.ControlCode); err == nil {
			return &c
		}
		return nil // the catalog no longer has the control
	})
	return editItems(ctx, s, by, maturityType, in.MaturityVersionID, in.Body.ItemSelection, b.Reset, change)
}

// newScoreChange returns a function that changes a score and returns the names of the changed
// fields. redrafted is the score as it would be drafted without the edits being reset, or nil;
// controlOf returns the control of a score, or nil.
func newScoreChange(
	by api.Caller,
	b api.MaturityScoreChange,
	redrafted *api.MaturityScore,
	controlOf func(*api.MaturityScore) *api.Control,
) func(*api.MaturityScore) ([]string, error) {
	return func(i *api.MaturityScore) ([]string, error) {
		var f changedFields
		assignField(&f, "level", &i.Level, b.Level)
		if b.Level != nil {
			i.Assessed = true
			if control := controlOf(i); control != nil {
				maturity.SetCurrentAndNextCriteria(i, *control)
			}
			if b.Rationale == nil {
				i.Rationale = judge.StatusSetByReason(by.Actor.Name)
			}
		}
		assignField(&f, "target_level", &i.TargetLevel, b.TargetLevel)
		assignField(&f, "rationale", &i.Rationale, b.Rationale)
		f.addIf("note", b.Note.AssignIfSet(&i.Note))
		return f, resetFields(&f, &i.Item, b.Reset, i, redrafted, func(to, from *api.MaturityScore, field string) {
			copyScoreField(to, from, field)
			if control := controlOf(to); control != nil && field == "level" {
				maturity.SetCurrentAndNextCriteria(to, *control)
			}
		})
	}
}

// controlForScore returns the control that a score rates, or nil if the catalog no longer has it.
func (s *Service) controlForScore(ctx context.Context, by api.Caller, scoreID string) (*api.Control, error) {
	sc, err := s.GetScore(ctx, by, &api.MaturityScoreInput{MaturityScoreID: scoreID})
	if err != nil {
		return nil, err
	}
	a, err := s.readAssessment(ctx, by, sc.AssessmentID)
	if err != nil {
		return nil, err
	}
	snap, err := s.catalogSnapshot(ctx, &a)
	if err != nil {
		return nil, err
	}
	c, err := snap.Control(sc.ControlCode)
	if err != nil {
		return nil, nil
	}
	return &c, nil
}

// SubmitMaturity puts a version of the maturity assessment under review.
func (s *Service) SubmitMaturity(ctx context.Context, by api.Caller, in *api.SubmitMaturityInput) (*api.MaturityVersion, error) {
	return submitVersion(ctx, s, by, maturityType, in.MaturityVersionID, in.Body)
}

// ApproveMaturity approves a version of the maturity assessment.
func (s *Service) ApproveMaturity(ctx context.Context, by api.Caller, in *api.DecideMaturityInput) (*api.MaturityVersion, error) {
	return approveVersion(ctx, s, by, maturityType, in.MaturityVersionID, in.Body)
}

// GetMaturitySummary summarizes a version of the maturity assessment by domain.
func (s *Service) GetMaturitySummary(ctx context.Context, by api.Caller, in *api.MaturityInput) (*api.MaturitySummary, error) {
	var v api.MaturityVersion
	var scores []api.MaturityScore
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if v, err = maturityType.getVersion(tx, by.OrganizationID, in.MaturityVersionID); err != nil {
			return err
		}
		scores, err = maturityType.readItems(tx, by.OrganizationID, v.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	a, err := s.readAssessment(ctx, by, v.AssessmentID)
	if err != nil {
		return nil, err
	}
	names, err := s.domainNames(ctx, &a)
	if err != nil {
		return nil, err
	}
	out := summarizeMaturity(scores, names)
	out.MaturityVersionID = v.ID
	return out, nil
}

func (s *Service) domainNames(ctx context.Context, a *api.Assessment) (map[string]string, error) {
	snap, err := s.catalogSnapshot(ctx, a)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, d := range snap.Domains() {
		names[d.Code] = d.Name
	}
	return names, nil
}

// summarizeMaturity counts scores by domain and overall. Means include only assessed controls.
func summarizeMaturity(scores []api.MaturityScore, domainNames map[string]string) *api.MaturitySummary {
	out := &api.MaturitySummary{
		Domains: []api.DomainMaturity{}, ByLevel: map[string]int{},
		Formula: "mean level of the assessed controls, weighted by control weight; controls without evidence are " +
			"excluded rather than counted as level 0",
	}
	by := map[string][]api.MaturityScore{}
	for _, sc := range scores {
		by[sc.DomainCode] = append(by[sc.DomainCode], sc)
		if sc.Assessed {
			out.ByLevel[fmt.Sprint(sc.Level)]++
		} else {
			out.ByLevel["not_assessed"]++
		}
	}
	for code, list := range by {
		out.Domains = append(out.Domains, summarizeDomainMaturity(code, domainNames[code], list))
	}
	slices.SortFunc(out.Domains, func(a, b api.DomainMaturity) int { return cmp.Compare(a.DomainCode, b.DomainCode) })
	out.Overall = summarizeDomainMaturity("", "All domains", scores)
	return out
}

func summarizeDomainMaturity(code, name string, scores []api.MaturityScore) api.DomainMaturity {
	d := api.DomainMaturity{DomainCode: code, DomainName: name, Controls: len(scores)}
	var sum, weighted, weights, targets float64
	for _, sc := range scores {
		targets += float64(sc.TargetLevel)
		if !sc.Assessed {
			continue
		}
		d.Assessed++
		sum += float64(sc.Level)
		weighted += float64(sc.Level * sc.Weight)
		weights += float64(sc.Weight)
		if d.Minimum == nil || sc.Level < *d.Minimum {
			level := sc.Level
			d.Minimum = &level
		}
	}
	if len(scores) > 0 {
		d.AssessedPct = roundTo(100*float64(d.Assessed)/float64(len(scores)), 1)
		d.TargetMean = roundedPtr(targets/float64(len(scores)), 2)
	}
	if d.Assessed > 0 {
		d.Mean = roundedPtr(sum/float64(d.Assessed), 2)
	}
	if weights > 0 {
		d.WeightedMean = roundedPtr(weighted/weights, 2)
	}
	return d
}
