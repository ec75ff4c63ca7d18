package assessment

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/plan"
	"github.com/scf-service/service/internal/itemfilter"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// currentPOAMInputs returns the inputs that would be recorded if the plan were drafted now.
func (s *Service) currentPOAMInputs(ctx context.Context, _ api.Caller, a *api.Assessment) (in map[string]string, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		v, err := gapType.requireApprovedOrNewest(tx, a)
		if err != nil {
			return err
		}
		levels, _, err := maturityType.approvedOrNewestVersion(tx, a)
		in = poamInputsFrom(&v, &levels)
		return err
	})
	return in, err
}

// poamInputsFrom returns the inputs to record for a plan: the gap analysis version and, if there is one,
// the maturity assessment version.
func poamInputsFrom(v *api.GapVersion, levels *api.MaturityVersion) map[string]string {
	in := gapType.toInputEntries(v)
	if levels.ID != "" {
		maps.Copy(in, maturityType.toInputEntries(levels))
	}
	return in
}

// draftPOAM drafts a plan item for every finding whose severity is higher than informational.
func (s *Service) draftPOAM(ctx context.Context, by api.Caller, a *api.Assessment) (d draft[api.POAMItem], err error) {
	v, found, err := readApprovedOrNewest(ctx, s, a, gapType)
	if err != nil {
		return d, err
	}
	return s.draftPOAMFrom(ctx, by, a, &v, found)
}

// draftPOAMFrom drafts plan items for the findings of one gap analysis.
func (s *Service) draftPOAMFrom(
	ctx context.Context,
	by api.Caller,
	a *api.Assessment,
	v *api.GapVersion,
	findings []api.Finding,
) (d draft[api.POAMItem], err error) {
	snap, err := s.catalogSnapshot(ctx, a)
	if err != nil {
		return d, err
	}
	worst := make([]*api.Finding, len(findings))
	for n := range findings {
		worst[n] = &findings[n]
	}
	slices.SortFunc(worst, CompareWorstFirst)
	targets, levels, err := s.maturityTargets(ctx, a)
	if err != nil {
		return d, err
	}
	d = draft[api.POAMItem]{method: judge.RulesVersion, inputs: poamInputsFrom(v, levels)}
	today := s.today()
	budget, err := s.findBudget(ctx, by, a.ID, today)
	if err != nil {
		return d, err
	}
	basis := make(map[string]plan.Basis, len(findings))
	for n := range findings {
		b := plan.NewDueDateBasis(&findings[n], today)
		b.NotBefore = budget.DelayFor(&findings[n], b)
		basis[findings[n].ID] = b
	}
	var inScope func(string) bool
	if err := s.db.View(ctx, func(tx *store.Tx) (err error) { inScope, err = s.newApplicabilityPredicate(tx, a, v); return err }); err != nil {
		return d, err
	}
	d.items, err = mapParallel(ctx, worst, func(at **api.Finding) (item api.POAMItem, due bool, err error) {
		f := *at
		if f.Severity == api.SeverityInformational || f.Result == api.Met || f.Result == api.ResultNotApplic {
			return item, false, nil
		}
		c, err := snap.Control(f.ControlCode)
		if err != nil {
			c = api.Control{Code: f.ControlCode, Title: cmp.Or(f.ControlTitle, f.ControlCode), Description: f.Condition}
		}
		item = plan.DraftPOAMItem(c, *f, targets[f.ControlCode], today)
		if basis[f.ID].NotBefore != "" {
			budget.Delay(&item, today)
		}
		item.Item, item.FindingID, item.FindingOrigin = copyControlFields(f.Item), f.ID, f.ManualOriginKey()
		return item, true, nil
	})
	d.mergePrevious = func(d *draft[api.POAMItem], before *previousVersion[api.POAMItem]) {
		old := *before
		old.items, old.lastApproved = reassignToOpenControls(
			makeAutoClosedMatchable(old.items),
			d.items,
		), reassignToOpenControls(
			old.lastApproved,
			d.items,
		)
		d.items = plan.OrderAndNumberItems(
			plan.MergeItems(
				d.items,
				mergeableItemsPredicate(d.items, old.items, fixedDueDates(findings, basis), findingsWithManualAction(findings)),
			),
			today,
			basis,
		)
		matches := carryEdits(poamType, d, old.items, copyPOAMField)
		approvedByID := map[string]*api.POAMItem{} // approved items by ID
		for n, as := range poamType.matchItems(old.items, old.lastApproved) {
			approvedByID[old.items[n].ID] = as
		}
		for n, from := range matches {
			if from == nil || approvedByID[from.ID] == nil {
				continue
			}
			for _, field := range []string{"due_date", "milestones"} {
				if !from.IsManual(field) {
					copyPOAMField(&d.items[n], approvedByID[from.ID], field)
				}
			}
		}
		for n := range d.items {
			i := &d.items[n]
			plan.SyncMilestonesToStatus(i, today, stringOrEmpty(i.EditedBy))
		}
		carryPOAMCodes(d.items, matches, &old)
		for _, it := range closeItemsWithoutGap(&old, matches, inScope, today) {
			it.Priority = len(d.items) + 1
			d.items = append(d.items, it)
			if len(it.EditedFields) > 0 {
				d.addEditedControl(it.ControlCode)
			}
		}
	}
	return d, err
}

// maturityTargets returns the maturity goals by control code, with the version they are from. Both are
// empty if there is no maturity assessment.
func (s *Service) maturityTargets(
	ctx context.Context,
	a *api.Assessment,
) (goals map[string]plan.MaturityGoal, version *api.MaturityVersion, _ error) {
	var scores []api.MaturityScore
	var v api.MaturityVersion
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		scores = nil
		var ok bool
		v, ok, err = maturityType.approvedOrNewestVersion(tx, a)
		if err == nil && ok {
			scores, err = maturityType.readItemsCached(tx, s, a, v.ID)
		}
		return err
	})
	out := make(map[string]plan.MaturityGoal, len(scores))
	for _, m := range scores {
		out[m.ControlCode] = plan.MaturityGoal{Target: m.TargetLevel, Current: m.Level, Rated: true}
	}
	return out, &v, err
}

// carryPOAMCodes assigns items the codes they had in previous versions, because people and comments
// refer to these. New items get numbers above the highest one used so far.
func carryPOAMCodes(items []api.POAMItem, matches []*api.POAMItem, previous *previousVersion[api.POAMItem]) {
	last := 0
	for _, before := range [][]api.POAMItem{previous.items, previous.lastApproved} {
		for n := range before {
			if number, err := strconv.Atoi(strings.TrimPrefix(before[n].POAMCode, "POAM-")); err == nil {
				last = max(last, number)
			}
		}
	}
	if last == 0 {
		return
	}
	now := map[string]string{}
	for n, from := range matches {
		code := ""
		if from != nil {
			code = from.POAMCode
		} else {
			last++
			code = fmt.Sprintf("POAM-%03d", last)
		}
		now[items[n].POAMCode], items[n].POAMCode = code, code
	}
	for n := range items {
		for k, code := range items[n].Dependencies {
			items[n].Dependencies[k] = now[code]
		}
	}
}

// findingsWithManualAction returns the IDs of the findings whose recommended action a user wrote.
func findingsWithManualAction(findings []api.Finding) map[string]bool {
	out := map[string]bool{}
	for n := range findings {
		if plan.HasManualRecommendation(&findings[n]) {
			out[findings[n].ID] = true
		}
	}
	return out
}

// findBudget returns what the documents in force state about when money will be available, or nil.
func (s *Service) findBudget(ctx context.Context, by api.Caller, assessment string, today api.Date) (*plan.Budget, error) {
	finder, _, err := s.openFinder(ctx, by, assessment)
	if err != nil {
		return nil, err
	}
	var found []judge.Passage
	seen := map[string]bool{} // the searches find many passages in common
	for _, query := range plan.BudgetQueries {
		passages, err := finder.Find(ctx, query, maxBudgetPassages)
		if err != nil {
			return nil, err
		}
		for _, p := range passages {
			if !seen[p.ChunkID] {
				seen[p.ChunkID] = true
				found = append(found, p)
			}
		}
	}
	var docs map[string]bool
	err = s.db.View(ctx, func(tx *store.Tx) error {
		all, err := documentsInTx(tx, by.OrganizationID, assessment)
		docs = map[string]bool{}
		for i := range all {
			docs[all[i].ID] = !all[i].IsNotInForce()
		}
		return err
	})
	found = slices.DeleteFunc(found, func(p judge.Passage) bool { return !docs[p.DocumentID] })
	return plan.FindBudget(found, today), err
}

// maxBudgetPassages is the number of passages returned by each search for budgets.
const maxBudgetPassages = 25

// fixedDueDates maps the IDs of findings to the dates that users set or that the evidence states, for the work or for its money.
func fixedDueDates(findings []api.Finding, basis map[string]plan.Basis) map[string]api.Date {
	out := map[string]api.Date{}
	for _, f := range findings {
		if f.DueDate != nil {
			out[f.ID] = *f.DueDate
		} else if stated := basis[f.ID].Stated; stated != "" {
			out[f.ID] = stated
		} else if from := basis[f.ID].NotBefore; from != "" {
			out[f.ID] = "from " + from
		}
	}
	return out
}

// mergeableItemsPredicate returns a function that reports whether one plan item may be merged into another. Items
// that users edited are not merged into others, and absorb only items that they already included. Items also stay
// separate if users set different due dates or wrote the action of one of them.
func mergeableItemsPredicate(
	items, previous []api.POAMItem,
	dueDates map[string]api.Date,
	manualActions map[string]bool,
) func(into, it *api.POAMItem) bool {
	edited, home := map[string]*api.POAMItem{}, map[string]*api.POAMItem{} // edited items by finding ID; edited items by additional control
	for n, from := range poamType.matchItems(items, previous) {
		if from == nil || len(from.EditedFields) == 0 {
			continue
		}
		edited[items[n].FindingID] = from
		for _, code := range from.AlsoCloses {
			home[code] = from
		}
	}
	return func(into, it *api.POAMItem) bool {
		to := edited[into.FindingID]
		return !manualActions[it.FindingID] && !manualActions[into.FindingID] && edited[it.FindingID] == nil &&
			dueDates[it.FindingID] == dueDates[into.FindingID] &&
			!slices.ContainsFunc(append([]string{it.ControlCode}, it.AlsoCloses...), func(code string) bool { return home[code] != to })
	}
}

func copyPOAMField(to, from *api.POAMItem, field string) {
	switch field {
	case "corrective_action":
		to.CorrectiveAction = from.CorrectiveAction
	case "priority":
		to.Priority = from.Priority
	case "effort":
		to.Effort = from.Effort
	case "owner":
		to.Owner = from.Owner
	case "resources":
		to.Resources = from.Resources
	case "due_date":
		to.DueDate, to.DueChanges = from.DueDate, from.DueChanges
	case "milestones":
		to.Milestones = from.Milestones
	case "status":
		to.Status = from.Status
	case "risk_accepted_until":
		to.RiskAcceptedUntil = from.RiskAcceptedUntil
	case "vendor_dependency":
		to.VendorDependency = from.VendorDependency
	case "comments":
		to.Comments = from.Comments
	}
}

// DraftPOAM drafts the next version of the plan, preserving users' edits.
func (s *Service) DraftPOAM(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.POAMVersion, error) {
	defer s.locks.lock(in.AssessmentID)()
	makeDraft := draftFunc[api.POAMItem](s.draftPOAM)
	if by.AgentRunID != "" {
		makeDraft = skipDraftEqualToReviewed(makeDraft) // an agent's draft replaces a decided version only if it differs
	}
	return writeDraft(ctx, s, by, in.AssessmentID, poamType, makeDraft, nil)
}

// ListPOAM lists the versions of the plan, newest first.
func (s *Service) ListPOAM(ctx context.Context, by api.Caller, in *api.AssessmentListInput) (*api.List[api.POAMVersion], error) {
	return listVersions(ctx, s, by, poamType, in)
}

// GetPOAM returns a version of the plan of action and milestones (POA&M).
func (s *Service) GetPOAM(ctx context.Context, by api.Caller, in *api.POAMInput) (*api.POAMVersion, error) {
	return getVersion(ctx, s, by, poamType, in.POAMVersionID)
}

// ListPOAMItems lists a version's items, sorted by priority by default.
func (s *Service) ListPOAMItems(ctx context.Context, by api.Caller, in *api.POAMItemsInput) (*api.List[api.POAMItem], error) {
	filter, q, today := *in, strings.ToLower(in.Q), s.today()
	if _, err := normalizeItemFilter(
		ctx,
		s,
		by,
		poamType,
		in.POAMVersionID,
		itemFilter{domain: &filter.Domain, control: &filter.ControlCode},
	); err != nil {
		return nil, err
	}
	in = &filter
	where, err := itemfilter.Compile[api.POAMItem](in.Where)
	if err != nil {
		return nil, err
	}
	return listItems(
		ctx,
		s,
		by,
		poamType,
		in.POAMVersionID,
		[]any{filter, today},
		in.Paging,
		cmp.Or(in.Sort, "priority,poam_code"),
		poamOrder,
		store.FilterIf(api.HasFilters(in), func(i *api.POAMItem) bool {
			return where.Selects(i) && matchesDomainAndControl(i.Item, in.Domain, "") &&
				(in.ControlCode == "" || plan.ClosesControl(i, in.ControlCode)) &&
				(in.Status == "" || i.Status == in.Status) && (in.Severity == "" || i.Severity == in.Severity) &&
				(in.Priority == 0 || i.Priority == in.Priority) &&
				(in.Overdue == "" || fmt.Sprint(isOverdue(i, today)) == in.Overdue) &&
				matchesOwner(in.Owner, i.Owner) &&
				matchesQuery(q, i.POAMCode, i.ControlCode, i.ControlTitle, i.Weakness, i.CorrectiveAction)
		}),
	)
}

// GetPOAMItem returns an item of the plan.
func (s *Service) GetPOAMItem(ctx context.Context, by api.Caller, in *api.POAMItemInput) (*api.POAMItem, error) {
	return getItem(ctx, s, by, poamType, "POA&M item", in.POAMItemID)
}

// UpdatePOAMItem applies a user's change to an item of the plan.
func (s *Service) UpdatePOAMItem(ctx context.Context, by api.Caller, in *api.UpdatePOAMItemInput) (*api.POAMItem, error) {
	b := in.Body
	var approved *api.POAMItem
	if b.Milestones != nil || b.DueDate != nil {
		var err error
		if approved, err = s.findApprovedPOAMItem(ctx, by, in.POAMItemID); err != nil {
			return nil, err
		}
	}
	redrafted, err := draftItemWithoutEdits(ctx, s, by, poamType, in.POAMItemID, b.Reset, s.draftPOAM)
	if err != nil {
		return nil, err
	}
	change, err := s.newPOAMItemChange(by, b, redrafted, func(*api.POAMItem) *api.POAMItem { return approved })
	if err != nil {
		return nil, err
	}
	return editItem(ctx, s, by, poamType, in.POAMItemID, in.Match, change, nil)
}

// EditPOAMItems applies a user's change to all items of the plan that a selection matches.
func (s *Service) EditPOAMItems(ctx context.Context, by api.Caller, in *api.EditPOAMItemsInput) (*api.EditResult, error) {
	b := in.Body.Set
	if b.Milestones != nil {
		return nil, api.Invalid("set.milestones", "milestones can't be changed in several items at once; change "+
			"the milestones of each item separately")
	}
	var approved []api.POAMItem
	err := s.db.View(ctx, func(tx *store.Tx) error {
		v, err := poamType.getVersion(tx, by.OrganizationID, in.POAMVersionID)
		if err != nil {
			return err
		}
		a, err := getAssessment(tx, by, v.AssessmentID)
		if err != nil {
			return err
		}
		approved, err = poamType.lastApprovedItems(tx, s, &a)
		return err
	})
	if err != nil {
		return nil, err
	}
	change, err := s.newPOAMItemChange(by, b, nil, func(i *api.POAMItem) *api.POAMItem { return findApprovedMatch(approved, i) })
	if err != nil {
		return nil, err
	}
	return editItems(ctx, s, by, poamType, in.POAMVersionID, in.Body.ItemSelection, b.Reset, change)
}

// newPOAMItemChange returns a function that changes an item of the plan and returns the names of
// the changed fields. redrafted is the item as it would be drafted without the edits being reset,
// or nil; approvedOf returns the approved item that an item continues, or nil.
func (s *Service) newPOAMItemChange(
	by api.Caller,
	b api.POAMItemChange,
	redrafted *api.POAMItem,
	approvedOf func(*api.POAMItem) *api.POAMItem,
) (func(*api.POAMItem) ([]string, error), error) {
	for name, d := range map[string]*api.Date{"due_date": b.DueDate, "risk_accepted_until": b.RiskAcceptedUntil.Value} {
		if err := api.CheckDateNotPast(name, d, s.today()); err != nil {
			return nil, err
		}
	}
	if err := validateOwner(b.Owner.Value); err != nil {
		return nil, err
	}
	if b.CorrectiveAction != nil && api.IsBlank(*b.CorrectiveAction) {
		return nil, api.Invalid("corrective_action", "describe the work to be done")
	}
	edit := plan.Editor{Today: s.today(), UserName: by.Actor.Name}
	return func(i *api.POAMItem) ([]string, error) {
		var f changedFields
		assignField(&f, "corrective_action", &i.CorrectiveAction, b.CorrectiveAction)
		assignField(&f, "priority", &i.Priority, b.Priority)
		assignField(&f, "effort", &i.Effort, b.Effort)
		f.addIf("owner", emptyAsNull(b.Owner).AssignIfSet(&i.Owner))
		f.addIf("resources", b.Resources.AssignIfSet(&i.Resources))
		var approved *api.POAMItem
		if b.DueDate != nil || b.Milestones != nil {
			approved = approvedOf(i)
		}
		before := i.CurrentDueDate()
		if b.DueDate != nil && approved != nil {
			edit.RecordDueChange(i, *b.DueDate)
			f.addIf("due_date", true)
		} else {
			assignField(&f, "due_date", &i.DueDate, b.DueDate)
		}
		if b.DueDate != nil && b.Milestones == nil && edit.MoveMilestones(i, before, approved != nil) {
			f.addIf("milestones", true)
		}
		if b.Milestones != nil {
			all, err := edit.CheckMilestones(i.Milestones, approved, *b.Milestones)
			if err != nil {
				return nil, err
			}
			if i.Status == "completed" && b.Status == nil && slices.ContainsFunc(all, plan.IsUnfinished) {
				return nil, api.Invalid(
					"milestones",
					"%s and its milestones are completed; to reopen a milestone, set the item's status to in_progress",
					i.POAMCode,
				)
			}
			assignField(&f, "milestones", &i.Milestones, &all)
		}
		assignField(&f, "status", &i.Status, b.Status)
		if b.Status != nil && plan.SyncMilestonesToStatus(i, s.today(), by.Actor.Name) {
			f.addIf("milestones", b.Milestones == nil)
		}
		f.addIf("risk_accepted_until", b.RiskAcceptedUntil.AssignIfSet(&i.RiskAcceptedUntil))
		if b.Status != nil && i.Status != "risk_accepted" && i.RiskAcceptedUntil != nil && b.RiskAcceptedUntil.Value == nil {
			i.RiskAcceptedUntil = nil // no longer accepted
			f.addIf("risk_accepted_until", !slices.Contains(f, "risk_accepted_until"))
		}
		f.addIf("vendor_dependency", b.VendorDependency.AssignIfSet(&i.VendorDependency))
		f.addIf("comments", b.Comments.AssignIfSet(&i.Comments))
		switch accepted := i.Status == "risk_accepted"; {
		case accepted && i.RiskAcceptedUntil == nil:
			return nil, api.Invalid("risk_accepted_until", "specify the date until which the risk of %s is accepted", i.POAMCode)
		case !accepted && b.RiskAcceptedUntil.Value != nil:
			return nil, api.Invalid(
				"risk_accepted_until",
				"%s is %s; only an accepted risk has an end date: set the status to risk_accepted as well",
				i.POAMCode,
				prose.Humanize(i.Status),
			)
		}
		return f, resetFields(&f, &i.Item, b.Reset, i, redrafted, copyPOAMField)
	}, nil
}

// SubmitPOAM puts a version of the plan under review.
func (s *Service) SubmitPOAM(ctx context.Context, by api.Caller, in *api.SubmitPOAMInput) (*api.POAMVersion, error) {
	return submitVersion(ctx, s, by, poamType, in.POAMVersionID, in.Body)
}

// ApprovePOAM approves a version of the plan.
func (s *Service) ApprovePOAM(ctx context.Context, by api.Caller, in *api.DecidePOAMInput) (*api.POAMVersion, error) {
	return approveVersion(ctx, s, by, poamType, in.POAMVersionID, in.Body)
}

// isRiskAcceptanceExpired reports whether the item's risk was accepted only until a date that has
// passed.
func isRiskAcceptanceExpired(i *api.POAMItem, today api.Date) bool {
	return i.Status == riskAccepted && i.RiskAcceptedUntil != nil && *i.RiskAcceptedUntil < today
}

// riskAccepted is the status of plan items whose risk is accepted, forever or for a time.
const riskAccepted = "risk_accepted"

// isClosedStatus reports whether a plan item with this status needs no further work.
func isClosedStatus(status string) bool { return api.IsClosedPOAMStatus(status) }

// isOverdue reports whether an open item is past its due date, or the acceptance of its risk has expired.
func isOverdue(i *api.POAMItem, today api.Date) bool {
	return isRiskAcceptanceExpired(i, today) || !isClosedStatus(i.Status) && i.CurrentDueDate() < today
}
