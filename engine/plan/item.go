package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/engine/maturity"
	"github.com/scf-service/service/internal/prose"
)

// defaultTarget is the maturity level that remediation aims for by default: a consistent, documented practice.
const defaultTarget = 3

// MaturityGoal holds the target and current maturity levels of a control. Rated is false if the control was not
// rated.
type MaturityGoal struct {
	Target, Current int
	Rated           bool
}

// DraftPOAMItem drafts the plan item for a finding. It is due on the last day allowed for its
// severity, unless a user set a date or the evidence states one. If today is unknown, dates are
// left empty. The caller sets IDs, and OrderAndNumberItems sets codes and dependencies and spreads
// the dates.
func DraftPOAMItem(c api.Control, fnd api.Finding, goal MaturityGoal, today api.Date) api.POAMItem {
	action := chooseActionType(fnd)
	if !goal.Rated {
		goal.Target = defaultTarget
	}
	item := api.POAMItem{
		Item:               judge.NewItem(c, fnd.RequirementCodes),
		FindingID:          fnd.ID,
		Weakness:           describeWeakness(c, fnd),
		CorrectiveAction:   describeCorrectiveAction(c, fnd, action, today),
		ActionType:         action,
		Severity:           fnd.Severity,
		Effort:             estimateEffort(fnd, action),
		Owner:              fnd.Owner,
		OwnerRole:          domainForCode(c.Code).role,
		Milestones:         []api.Milestone{},
		Dependencies:       []string{},
		AcceptanceCriteria: acceptanceCriteria(c, fnd, goal),
		ExpectedEvidence:   chooseExpectedEvidence(c, fnd, action),
		TargetLevel:        goal.Target,
		Status:             "open",
	}
	if HasManualRecommendation(&fnd) {
		item.CorrectiveAction = fnd.Recommendation
	}
	now, err := today.Time()
	if err != nil {
		return item
	}
	days := daysAllowedFor(fnd.Severity, action, fnd.RequirementCodes).last
	item.DueDate = lastWorkdayWithin(now, days)
	if due := fnd.DueDate; due != nil { // set by a user
		if daysBetween(today, *due) > 0 {
			item.DueDate, days = *due, daysBetween(today, *due)
		}
	} else if due, from := statedTiming(&fnd, today); due != "" {
		item.DueDate, days = due, daysBetween(today, due)
		item.Resources = describeStatedTiming(due, from)
	}
	for _, m := range milestoneTemplates[action] {
		item.Milestones = append(
			item.Milestones,
			api.Milestone{Title: m.title, DueDate: lastWorkdayWithin(now, max(1, days*m.percent/100)), Status: "open"},
		)
	}
	return item
}

// describeStatedTiming returns the note for an item whose due date is stated in the evidence.
func describeStatedTiming(due api.Date, from *api.Evidence) *string {
	note := fmt.Sprintf("The date is stated in %s (%s): %s.", judge.FormatEvidenceLocation(from), due, judge.QuoteEvidence(from))
	return &note
}

// HasManualRecommendation reports whether the finding has a recommendation that a user wrote.
func HasManualRecommendation(f *api.Finding) bool {
	return strings.TrimSpace(f.Recommendation) != "" && (f.IsManual("recommendation") || f.Source == "manual")
}

// lastWorkdayWithin returns the date that is the given number of days after t, or the Friday before it if it
// falls on a weekend.
func lastWorkdayWithin(t time.Time, days int) api.Date {
	d := t.AddDate(0, 0, days)
	switch {
	case d.Weekday() == time.Saturday && days > 1:
		d = d.AddDate(0, 0, -1)
	case d.Weekday() == time.Sunday && days > 2:
		d = d.AddDate(0, 0, -2)
	}
	return api.DateOf(d)
}

var milestoneTemplates = map[string][]struct {
	title   string
	percent int
}{
	"document": {
		{"Owner assigned and draft written", 40},
		{"Draft reviewed by stakeholders", 70},
		{"Approved and communicated", 100},
	},
	"implement": {
		{"Owner, design and budget agreed", 25},
		{"Implemented for part of the scope", 60},
		{"Fully implemented, with records", 90},
		{"Verified by someone other than the owner", 100},
	},
	"collect_evidence": {
		{"Owner contacted and sources identified", 30},
		{"Evidence provided, or confirmed as missing", 70},
		{"Evidence reviewed against the control", 100},
	},
	"improve": {{"Shortfalls agreed with the owner", 30}, {"Changes made", 75}, {"Verified by someone other than the owner", 100}},
	"monitor": {{"Metrics and thresholds chosen", 30}, {"Monitoring running", 75}, {"First results reviewed", 100}},
}

func chooseActionType(f api.Finding) string {
	switch {
	case f.Status == api.NotEvidenced || f.GapType == "evidence":
		return "collect_evidence"
	case f.Status == api.NotImplemented || f.Status == api.Planned:
		return "implement"
	case f.GapType == "documentation" || f.GapType == "governance" || f.GapType == "contractual":
		return "document"
	case f.GapType == "monitoring":
		return "monitor"
	case f.GapType == "technical" || f.GapType == "implementation":
		return "implement"
	}
	return "improve"
}

// estimateEffort returns the effort level of a plan item. It depends on the number of missing
// elements and on the type of action.
func estimateEffort(f api.Finding, action string) string {
	points := len(f.MissingElements)
	switch action {
	case "collect_evidence":
		points = (points + 1) / 2
	case "implement":
		points += 2
		if f.Weight >= 9 {
			points += 2
		}
	}
	switch {
	case points <= 2:
		return "small"
	case points <= 5:
		return "medium"
	case points <= 8:
		return "large"
	}
	return "extra_large"
}

func describeWeakness(c api.Control, f api.Finding) string {
	name := c.Title + " (" + c.Code + ")"
	if c.Title == c.Code { // a control that isn't in the catalog
		name = c.Code
	}
	return fmt.Sprintf("%s is %s. %s", name, prose.Humanize(f.Status), text.Shorten(f.Condition, 400))
}

func acceptanceCriteria(c api.Control, f api.Finding, goal MaturityGoal) []string {
	out := []string{}
	for _, m := range f.MissingElements {
		out = append(out, "Evidence shows: "+strings.TrimRight(judge.StripNote(m), ".")+".")
	}
	if len(out) == 0 {
		out = append(out, "Evidence shows: "+strings.TrimRight(c.Title, ".")+".")
	}
	criteria := c.Maturity[strconv.Itoa(goal.Target)]
	if goal.Target > goal.Current && f.Status != api.NotEvidenced && criteria != "" && len(criteria) <= 300 &&
		!maturity.LacksCriteria(criteria) {
		out = append(out, fmt.Sprintf("Level %d is reached: ", goal.Target)+strings.TrimRight(text.CollapseSpace(criteria), ".")+".")
	}
	return append(out, verifiedByOthers)
}

// verifiedByOthers is the last acceptance criterion of every drafted item.
const verifiedByOthers = "Verified by someone other than the owner."

const maxExpectedEvidence = 8

func chooseExpectedEvidence(c api.Control, f api.Finding, action string) []string {
	out := []string{}
	for _, e := range c.EvidenceRequests {
		if a := strings.TrimSpace(e.Artifact); a != "" && len(out) < maxExpectedEvidence && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	if len(out) > 0 {
		return out
	}
	switch action {
	case "document":
		return []string{"Approved policy or procedure with version, owner and date", "Record showing that it was communicated"}
	case "monitor":
		return []string{"Monitoring report with thresholds and dates", "Record of the management review"}
	}
	return slices.Clone(defaultEvidence)
}

// defaultEvidence is the evidence that is requested if the catalog lists none for a control.
var defaultEvidence = []string{
	"Approved policy or procedure that covers the measure",
	"Record, log or configuration export from the last twelve months that shows the measure in operation",
}
