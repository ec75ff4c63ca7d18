package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// planItem is an item of the newest version of a plan, to be compared with its issue.
type planItem struct {
	api.POAMItem
	assessmentName string
	// underReview reports whether the version is awaiting a decision, which any change would void.
	underReview bool
}

func (i *planItem) issueSide() api.IssueSide {
	side := api.IssueSide{Closed: i.Status == "completed" || i.Status == "cancelled" || i.Status == "risk_accepted"}
	if due := i.CurrentDueDate(); due != "" {
		side.DueDate = &due
	}
	return side
}

// toDraft returns the issue to create for a plan item.
func (i *planItem) toDraft(marker string) *issueDraft {
	d := &issueDraft{marker: marker, title: fmt.Sprintf("%s: %s", i.ControlCode, i.CorrectiveAction), due: i.issueSide().DueDate}
	owner := i.OwnerRole + " (suggested role)"
	if i.Owner != nil {
		owner = *i.Owner
	}
	d.lines = append(
		d.lines,
		fmt.Sprintf(
			"%s in the action plan for %s. Severity: %s. Effort: %s. Owner: %s.",
			i.POAMCode,
			i.assessmentName,
			i.Severity,
			prose.Humanize(i.Effort),
			owner,
		),
		"Weakness: "+i.Weakness,
		"Action:  "+i.CorrectiveAction,
	)
	for name, all := range map[string][]string{"Done when": i.AcceptanceCriteria, "Evidence expected": i.ExpectedEvidence} {
		if len(all) > 0 {
			d.lines = append(d.lines, name+": "+strings.Join(all, "; "))
		}
	}
	slices.Sort(d.lines[3:])
	for n := range d.lines {
		d.lines[n] = truncateLine(d.lines[n], 4000)
	}
	return d
}

// loadFollowedPlanItems returns the items of the plans that an integration follows. It uses the
// newest version of each plan. Plans without an approved version are included only if the
// integration also follows drafts.
func (s *Service) loadFollowedPlanItems(ctx context.Context, set *settings, org string) (out []planItem, err error) {
	only := set.list("assessments")
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		out = nil
		for a, err := range store.Assessments.Scan(tx, org) {
			if err != nil {
				return err
			}
			if len(only) > 0 && !slices.Contains(only, a.ID) {
				continue
			}
			some, err := followedPlanItems(tx, &a, set.text("items") == "drafted")
			if err != nil {
				return err
			}
			out = append(out, some...)
		}
		return nil
	})
	return out, err
}

func followedPlanItems(tx *store.Tx, a *api.Assessment, includeDrafts bool) (out []planItem, err error) {
	var newest *api.POAMVersion
	follow := includeDrafts
	for v, err := range store.POAMVersions.By("assessment").Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return nil, err
		}
		if newest == nil {
			newest = &v
		}
		if v.Status == api.VersionApproved {
			follow = true
		}
	}
	if newest == nil || !follow {
		return nil, nil
	}
	for i, err := range store.POAMItems.By("version").Scan(tx, a.OrganizationID, store.Prefix(newest.ID)) {
		if err != nil {
			return nil, err
		}
		out = append(out, planItem{POAMItem: i, assessmentName: a.Name, underReview: newest.Status == api.VersionUnderReview})
	}
	return out, nil
}

// matchLinks finds the plan item of each link. Item IDs differ between plan versions, so an item matches a link if
// they have the same assessment, control and weakness, or if they are the only unmatched item and link of a control.
func matchLinks(links []store.IssueLink, items []planItem) (byLink map[string]*planItem, unlinked []*planItem) {
	type exact struct{ assessment, control, weakness string }
	byLink = map[string]*planItem{}
	byWeakness := map[exact]*planItem{}
	for n := range items {
		i := &items[n]
		byWeakness[exact{assessment: i.AssessmentID, control: i.ControlCode, weakness: i.Weakness}] = i
	}
	taken := map[*planItem]bool{}
	var open []*store.IssueLink
	for n := range links {
		l := &links[n]
		if i := byWeakness[exact{assessment: l.AssessmentID, control: l.ControlCode, weakness: l.Weakness}]; i != nil && !taken[i] {
			byLink[l.ID], taken[i] = i, true
		} else {
			open = append(open, l)
		}
	}
	left, waiting := map[exact][]*planItem{}, map[exact][]*store.IssueLink{}
	for n := range items {
		if i := &items[n]; !taken[i] {
			at := exact{assessment: i.AssessmentID, control: i.ControlCode}
			left[at] = append(left[at], i)
		}
	}
	for _, l := range open {
		at := exact{assessment: l.AssessmentID, control: l.ControlCode}
		waiting[at] = append(waiting[at], l)
	}
	for at, some := range left {
		if len(some) == 1 && len(waiting[at]) == 1 {
			byLink[waiting[at][0].ID], taken[some[0]] = some[0], true
		}
	}
	for n := range items {
		if i := &items[n]; !taken[i] {
			unlinked = append(unlinked, i)
		}
	}
	return byLink, unlinked
}

// applyIssueChangeToPlan applies a change of an issue's status or due date to the current version of the
// plan item. If the item's own status or due date is no longer that of the link, because somebody changed it after the
// sync began, it only returns the item and false. It returns an error if the item is no longer in the plan.
func (s *Service) applyIssueChangeToPlan(
	ctx context.Context,
	r *store.Integration,
	set *settings,
	l *store.IssueLink,
	closed *bool,
	due *api.Date,
) (now *planItem, applied bool, err error) {
	// The plan may have a new version since the items were loaded.
	items, err := s.loadFollowedPlanItems(ctx, set, r.OrganizationID)
	if err != nil {
		return nil, false, err
	}
	byLink, _ := matchLinks(
		[]store.IssueLink{*l},
		slices.DeleteFunc(items, func(i planItem) bool { return i.AssessmentID != l.AssessmentID }),
	)
	now = byLink[l.ID]
	if now == nil {
		return nil, false, fmt.Errorf("the item is no longer in the plan")
	}
	if !isSameSide(now.issueSide(), l.Item) {
		return now, false, nil
	}
	in := &api.UpdatePOAMItemInput{POAMItemID: now.ID, Match: api.Match{IfMatch: fmt.Sprintf("%q", fmt.Sprint(now.Revision))}}
	in.Body.DueDate = due
	if closed != nil {
		status := "open"
		if *closed {
			status = "completed"
		}
		in.Body.Status = &status
	}
	got, err := s.Plans.UpdatePOAMItem(
		ctx,
		api.Caller{OrganizationID: r.OrganizationID, Role: api.RoleMember, Actor: integrationActor(r)},
		in,
	)
	if err != nil {
		return nil, false, err
	}
	now.POAMItem = *got
	return now, true, nil
}
