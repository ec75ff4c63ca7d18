package check

import (
	"fmt"
	"strings"
)

// Rule is one thing that is held against the policy.
type Rule struct {
	ID, Title string
	// Setting is what asks for it; Why and Fix explain it.
	Setting, Why, Fix string
}

// The ids of the rules. They are part of what the formats write, and stay.
const (
	ruleGap        = "gap"
	ruleNewGap     = "new-gap"
	ruleCoverage   = "coverage"
	ruleMaturity   = "maturity"
	ruleStale      = "stale-document"
	ruleUndated    = "undated-document"
	ruleUnread     = "unread-document"
	ruleApproval   = "approval"
	ruleThreshold  = "threshold"
	ruleExpired    = "expired-waiver"
	ruleUnused     = "unused-waiver"
	ruleNoAnalysis = "no-analysis"
)

// Rules are all there are, in the order in which they are told.
var Rules = []Rule{
	{
		ruleGap, "A gap is as severe as the policy refuses", "fail-on",
		"The evidence does not show that a control is met. Severity comes from the control's weight and from what is missing; `service help` and docs/judgement.md tell how.",
		"Bring the evidence that is missing, or mend the control. Where somebody takes the gap on for a time, write a waiver with a reason, an approver and an expiry.",
	},
	{
		ruleNewGap, "A gap is new, or worse than in the baseline", "fail-on-new",
		"The baseline holds the gaps that are known. One that it does not have was opened by a change, most often of the evidence.",
		"Look at the change with `service check diff`. Undo it, or bring the evidence back. Where the gap is to be known from now on, write the baseline anew with --write-baseline and have somebody look at it.",
	},
	{
		ruleCoverage, "Too little is covered", "min-coverage",
		"Coverage counts implemented controls as 1 and partly implemented ones as ½, over those that apply and were assessed. What has no evidence counts as 0.",
		"Bring evidence for controls without any first: `-o table` lists what falls short.",
	},
	{
		ruleMaturity, "The mean maturity is too low", "min-maturity",
		"The mean of the levels 0 to 5 of all controls that could be rated. Controls without evidence are not rated, and not counted as 0.",
		"Raise the lowest levels: a written procedure, a named owner, a record that it is done.",
	},
	{
		ruleStale, "A document is older than the policy allows", "max-stale-days",
		"The date that the document states as its own lies too far back. Nobody knows whether it still holds.",
		"Have its owner review it, and write the new date into it.",
	},
	{
		ruleUndated, "A document states no date", "max-stale-days",
		"Whether the document is stale can't be told. This only warns.",
		"Write a date into it, such as “Effective date: 2026-09-01”.",
	},
	{
		ruleUnread, "A document could not be read", "",
		"What it says counted for nothing. This only warns.",
		"Give it in a form that is read, unlocked and whole; docs/evidence.md lists the forms.",
	},
	{
		ruleApproval, "A deliverable is not approved as it is", "require-approved",
		"Only a person approves, and an approval binds exactly what it was given for: a change voids it.",
		"Submit it, and have an owner or admin of the organization approve it. A folder has no approvals: check the assessment instead.",
	},
	{
		ruleThreshold, "A figure got worse", "threshold",
		"The threshold file holds coverage, maturity and the number of gaps of each severity or worse that nobody waived. Each may get better, none worse.",
		"Undo what made it worse; or write the file anew with --write-threshold and have somebody look at it. After an improvement, write it anew to keep that.",
	},
	{
		ruleExpired, "A waiver has expired", "waivers",
		"Its last day has passed, so nobody answers for the gap any more. This fails whether or not the gap is still there, so that the file stays true.",
		"Close the gap and remove the waiver; or have it approved anew, with a new expiry.",
	},
	{
		ruleUnused, "A waiver is for no gap", "waivers",
		"No gap of that control was found. This only warns.",
		"Remove the waiver, or mend the control's code.",
	},
	{
		ruleNoAnalysis, "There is nothing to hold against the policy yet", "",
		"The assessment has no gap analysis, or no maturity, that the policy asks about.",
		"Go on with `service assess run` up to there.",
	},
}

func findRule(id string) Rule {
	for _, r := range Rules {
		if r.ID == id {
			return r
		}
	}
	return Rule{ID: id}
}

// ExplainRule is a page on a rule, named by its id, as results name it (gap/IAC-06) or by the
// setting that asks for it.
func ExplainRule(id string) (string, error) {
	id = strings.ToLower(strings.TrimSpace(id))
	word, control, _ := strings.Cut(id, "/")
	var ids []string
	for _, r := range Rules {
		ids = append(ids, r.ID)
		if r.ID != word && r.Setting != word {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %s\n\n%s\n\nWhat to do: %s\n", r.ID, r.Title, r.Why, r.Fix)
		if r.Setting != "" {
			fmt.Fprintf(&b, "\nIt is asked for by --%s, or %s in the policy file.\n", r.Setting, r.Setting)
		}
		if control != "" {
			fmt.Fprintf(&b, "\n`service catalog show %s` tells what the control asks for.\n", strings.ToUpper(sanitizeLine(control)))
		}
		return b.String(), nil
	}
	return "", inputErrorf(
		"",
		0,
		"there is no rule %q%s; the rules are %s",
		truncate(sanitizeLine(id), 60),
		didYouMean(word, ids),
		strings.Join(ids, ", "),
	)
}
