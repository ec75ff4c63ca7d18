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
	"github.com/scf-service/service/store"
)

// afterGap names what the POA&M would be drafted from now.
func (s *Service) afterGap(ctx context.Context, _ api.Caller, a *api.Assessment) (in map[string]string, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		v, err := gap.needed(tx, a)
		if err != nil {
			return err
		}
		levels, _, err := maturity.basis(tx, a)
		in = planFrom(&v, &levels)
		return err
	})
	return in, err
}

// planFrom names a plan's inputs: the findings it closes, and the levels it aims at; no levels where
// none are rated.
func planFrom(v *api.GapVersion, levels *api.MaturityVersion) map[string]string {
	in := gap.asInput(v)
	if levels.ID != "" {
		maps.Copy(in, maturity.asInput(levels))
	}
	return in
}

// draftPOAM plans a remediation for every finding that is more than informational.
func (s *Service) draftPOAM(ctx context.Context, _ api.Caller, a *api.Assessment) (d draft[api.POAMItem], err error) {
	v, found, err := basisOf(ctx, s, a, gap)
	if err != nil {
		return d, err
	}
	return s.poamFrom(ctx, a, &v, found)
}

// poamFrom plans for the findings of one gap analysis.
func (s *Service) poamFrom(ctx context.Context, a *api.Assessment, v *api.GapVersion, found []api.Finding) (d draft[api.POAMItem], err error) {
	snap, err := s.snapshot(ctx, a)
	if err != nil {
		return d, err
	}
	worst := make([]*api.Finding, len(found))
	for n := range found {
		worst[n] = &found[n]
	}
	slices.SortFunc(worst, WorstFirst)
	aims, levels, err := s.aims(ctx, a)
	if err != nil {
		return d, err
	}
	d = draft[api.POAMItem]{method: judge.Rules, inputs: planFrom(v, levels)}
	today := s.today()
	var inScope func(string) bool
	if err := s.db.View(ctx, func(tx *store.Tx) (err error) { inScope, err = s.inScope(tx, a, v); return err }); err != nil {
		return d, err
	}
	d.items, err = ofEach(ctx, worst, func(at **api.Finding) (item api.POAMItem, due bool, err error) {
		f := *at
		if f.Severity == api.SeverityInformational || f.Result == api.Met || f.Result == api.ResultNotApplic {
			return item, false, nil
		}
		c, err := snap.Control(f.ControlCode)
		if err != nil {
			c = api.Control{Code: f.ControlCode, Title: cmp.Or(f.ControlTitle, f.ControlCode), Description: f.Condition}
		}
		item = judge.Remediation(c, *f, aims[f.ControlCode], judge.Options{Today: today})
		item.Item, item.FindingID, item.FindingOrigin = sameControl(f.Item), f.ID, f.Origin()
		return item, true, nil
	})
	d.over = func(d *draft[api.POAMItem], before *former[api.POAMItem]) {
		old := *before
		old.items, old.approved = heirs(comesBack(old.items), d.items), heirs(old.approved, d.items)
		d.items = judge.Order(judge.Merge(d.items, stayApart(d.items, old.items, dated(found), spoken(found))), today)
		was := carry(poam, d, old.items, copyRemediation)
		fixed := map[string]*api.POAMItem{} // by id, what stands in the approved plan
		for n, as := range poam.pair(old.items, old.approved) {
			fixed[old.items[n].ID] = as
		}
		for n, from := range was {
			if from == nil || fixed[from.ID] == nil {
				continue
			}
			for _, field := range []string{"due_date", "milestones"} {
				if !from.SetByHand(field) {
					copyRemediation(&d.items[n], fixed[from.ID], field)
				}
			}
		}
		for n := range d.items {
			i := &d.items[n]
			settleMilestones(i, today, text(i.EditedBy))
		}
		keepCodes(d.items, was, &old)
		for _, it := range closedItems(&old, was, inScope, today) {
			it.Priority = len(d.items) + 1
			d.items = append(d.items, it)
			if len(it.EditedFields) > 0 {
				d.keeps(it.ControlCode)
			}
		}
	}
	return d, err
}

// aims are the targets of the maturity assessment, by control, with its version; none where there is
// no assessment yet.
func (s *Service) aims(ctx context.Context, a *api.Assessment) (map[string]judge.Aim, *api.MaturityVersion, error) {
	var scores []api.MaturityScore
	var v api.MaturityVersion
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		scores = nil
		var ok bool
		v, ok, err = maturity.basis(tx, a)
		if err == nil && ok {
			scores, err = maturity.recall(tx, s, a, v.ID)
		}
		return err
	})
	out := make(map[string]judge.Aim, len(scores))
	for _, m := range scores {
		out[m.ControlCode] = judge.Aim{Target: m.TargetLevel, Reached: m.Level, Rated: true}
	}
	return out, &v, err
}

// keepCodes gives items the codes that they had as was, by which people and comments name them; new ones go on
// behind the highest.
func keepCodes(items []api.POAMItem, was []*api.POAMItem, old *former[api.POAMItem]) {
	last := 0
	for _, before := range [][]api.POAMItem{old.items, old.approved} {
		for n := range before {
			if of, err := strconv.Atoi(strings.TrimPrefix(before[n].POAMCode, "POAM-")); err == nil {
				last = max(last, of)
			}
		}
	}
	if last == 0 {
		return
	}
	now := map[string]string{}
	for n, from := range was {
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

// spoken are the findings whose action a person wrote.
func spoken(found []api.Finding) map[string]bool {
	out := map[string]bool{}
	for n := range found {
		if judge.ByHand(&found[n]) {
			out[found[n].ID] = true
		}
	}
	return out
}

// dated are the days that people set for findings, by the finding's id.
func dated(found []api.Finding) map[string]api.Date {
	out := map[string]api.Date{}
	for _, f := range found {
		if f.DueDate != nil {
			out[f.ID] = *f.DueDate
		}
	}
	return out
}

// stayApart tells which items may become part of others: none that people edited, of an
// edited one nothing but what was part of it then, and none of which people want another date or action.
func stayApart(items, old []api.POAMItem, dated map[string]api.Date, spoken map[string]bool) func(into, it *api.POAMItem) bool {
	edited, home := map[string]*api.POAMItem{}, map[string]*api.POAMItem{} // by the finding's id; by a further control
	for n, from := range poam.pair(items, old) {
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
		return !spoken[it.FindingID] && !spoken[into.FindingID] && edited[it.FindingID] == nil && dated[it.FindingID] == dated[into.FindingID] && !slices.ContainsFunc(append([]string{it.ControlCode}, it.AlsoCloses...), func(code string) bool { return home[code] != to })
	}
}

func copyRemediation(to, from *api.POAMItem, field string) {
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

// DraftPOAM drafts the next version, keeping what people edited.
func (s *Service) DraftPOAM(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.POAMVersion, error) {
	defer s.moving.lock(in.AssessmentID)()
	make := maker[api.POAMItem](s.draftPOAM)
	if by.AgentRunID != "" {
		make = again(make) // what people decided on falls by an agent's draft only where that differs
	}
	return writeDraft(ctx, s, by, in.AssessmentID, poam, make, nil)
}

// ListPOAM lists versions, newest first.
func (s *Service) ListPOAM(ctx context.Context, by api.Caller, in *api.AssessmentListInput) (*api.List[api.POAMVersion], error) {
	return list(ctx, s, by, poam, in)
}

// GetPOAM is one version.
func (s *Service) GetPOAM(ctx context.Context, by api.Caller, in *api.POAMInput) (*api.POAMVersion, error) {
	return getVersion(ctx, s, by, poam, in.POAMVersionID)
}

// ListPOAMItems lists a version's items by priority.
func (s *Service) ListPOAMItems(ctx context.Context, by api.Caller, in *api.POAMItemsInput) (*api.List[api.POAMItem], error) {
	asked, q, today := *in, strings.ToLower(in.Q), s.today()
	if _, err := narrow(ctx, s, by, poam, in.POAMVersionID, narrowing{domain: &asked.Domain, control: &asked.ControlCode}); err != nil {
		return nil, err
	}
	in = &asked
	return listItems(ctx, s, by, poam, in.POAMVersionID, []any{asked, today}, in.Paging, cmp.Or(in.Sort, "priority,poam_code"), poamOrder, func(i *api.POAMItem) bool {
		return about(i.Item, in.Domain, "") && (in.ControlCode == "" || judge.Closes(i, in.ControlCode)) && (in.Status == "" || i.Status == in.Status) && (in.Severity == "" || i.Severity == in.Severity) &&
			(in.Priority == 0 || i.Priority == in.Priority) && (in.Overdue == "" || fmt.Sprint(overdue(i, today)) == in.Overdue) &&
			owned(in.Owner, i.Owner) && mentions(q, i.POAMCode, i.ControlCode, i.ControlTitle, i.Weakness, i.CorrectiveAction)
	})
}

// GetPOAMItem is one item.
func (s *Service) GetPOAMItem(ctx context.Context, by api.Caller, in *api.POAMItemInput) (*api.POAMItem, error) {
	return getItem(ctx, s, by, poam, "POA&M item", in.POAMItemID)
}

// UpdatePOAMItem changes an item by a person's hand.
func (s *Service) UpdatePOAMItem(ctx context.Context, by api.Caller, in *api.UpdatePOAMItemInput) (*api.POAMItem, error) {
	b := in.Body
	for name, d := range map[string]*api.Date{"due_date": b.DueDate, "risk_accepted_until": b.RiskAcceptedUntil.Value} {
		if err := s.checkAhead(name, d); err != nil {
			return nil, err
		}
	}
	var approved *api.POAMItem
	if b.Milestones != nil || b.DueDate != nil {
		var err error
		if approved, err = s.approvedItem(ctx, by, in.POAMItemID); err != nil {
			return nil, err
		}
	}
	if err := owner(b.Owner.Value); err != nil {
		return nil, err
	}
	if b.CorrectiveAction != nil && api.Blank(*b.CorrectiveAction) {
		return nil, api.Invalid("corrective_action", "say what is to be done")
	}
	rules, err := rulesLine(ctx, s, by, poam, in.POAMItemID, b.Reset, s.draftPOAM)
	if err != nil {
		return nil, err
	}
	return edit(ctx, s, by, poam, in.POAMItemID, in.Match, func(i *api.POAMItem) ([]string, error) {
		var f fields
		assign(&f, "corrective_action", &i.CorrectiveAction, b.CorrectiveAction)
		assign(&f, "priority", &i.Priority, b.Priority)
		assign(&f, "effort", &i.Effort, b.Effort)
		f.note("owner", orNobody(b.Owner).Apply(&i.Owner))
		f.note("resources", b.Resources.Apply(&i.Resources))
		if b.DueDate != nil && approved != nil {
			s.moveDue(by, i, *b.DueDate)
			f.note("due_date", true)
		} else {
			assign(&f, "due_date", &i.DueDate, b.DueDate)
		}
		if b.Milestones != nil {
			all, err := s.milestones(by, i.Milestones, approved, *b.Milestones)
			if err != nil {
				return nil, err
			}
			if i.Status == "completed" && b.Status == nil && slices.ContainsFunc(all, unfinished) {
				return nil, api.Invalid("milestones", "%s is completed, so its milestones are; set its status to in_progress to open one", i.POAMCode)
			}
			assign(&f, "milestones", &i.Milestones, &all)
		}
		assign(&f, "status", &i.Status, b.Status)
		if b.Status != nil && settleMilestones(i, s.today(), by.Actor.Name) {
			f.note("milestones", b.Milestones == nil)
		}
		f.note("risk_accepted_until", b.RiskAcceptedUntil.Apply(&i.RiskAcceptedUntil))
		if b.Status != nil && i.Status != "risk_accepted" && i.RiskAcceptedUntil != nil && b.RiskAcceptedUntil.Value == nil {
			i.RiskAcceptedUntil = nil // it isn't accepted any more
			f.note("risk_accepted_until", !slices.Contains(f, "risk_accepted_until"))
		}
		f.note("vendor_dependency", b.VendorDependency.Apply(&i.VendorDependency))
		f.note("comments", b.Comments.Apply(&i.Comments))
		switch accepted := i.Status == "risk_accepted"; {
		case accepted && i.RiskAcceptedUntil == nil:
			return nil, api.Invalid("risk_accepted_until", "say until when the risk of %s is accepted", i.POAMCode)
		case !accepted && b.RiskAcceptedUntil.Value != nil:
			return nil, api.Invalid("risk_accepted_until", "%s is %s; an end is for a risk that is accepted: set its status to risk_accepted with it", i.POAMCode, plain(i.Status))
		}
		return f, handBack(&f, &i.Item, b.Reset, i, rules, copyRemediation)
	})
}

// SubmitPOAM puts a version under review.
func (s *Service) SubmitPOAM(ctx context.Context, by api.Caller, in *api.POAMInput) (*api.POAMVersion, error) {
	return submitVersion(ctx, s, by, poam, in.POAMVersionID, nil)
}

// ApprovePOAM approves a version.
func (s *Service) ApprovePOAM(ctx context.Context, by api.Caller, in *api.DecidePOAMInput) (*api.POAMVersion, error) {
	return approveVersion(ctx, s, by, poam, in.POAMVersionID, in.Body)
}

// lapsed tells whether an accepted risk has to be decided anew.
func lapsed(i *api.POAMItem, today api.Date) bool {
	return i.Status == "risk_accepted" && i.RiskAcceptedUntil != nil && *i.RiskAcceptedUntil < today
}

// closedStatus tells whether a remediation needs nothing more.
func closedStatus(status string) bool {
	return status == "completed" || status == "cancelled" || status == "risk_accepted"
}

// overdue tells whether an item should have been done by now and is not.
func overdue(i *api.POAMItem, today api.Date) bool {
	return lapsed(i, today) || !closedStatus(i.Status) && i.Due() < today
}
