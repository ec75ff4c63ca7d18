package check

import (
	"fmt"
	"strings"

	"github.com/scf-service/service/internal/prose"
)

// Rule is a rule of the policy.
type Rule struct {
	ID, Title string
	// Setting is the setting that enables the rule; Why and Fix explain it.
	Setting, Why, Fix string
}

// Rule IDs. They are part of the output formats and must not change.
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
	ruleInEvidence = "evidence-input"
)

// Rules lists all rules in display order.
var Rules = []Rule{
	{
		ruleGap, "A gap is at or above the policy's failure threshold", "fail-on",
		"The evidence does not show that a control is met. Severity depends on the control's weight and on what is missing; " +
			"see `service help` and docs/judgement.md.",
		"Provide the missing evidence, or fix the control. To accept the gap temporarily, " +
			"write a waiver with a reason, an approver and an expiry.",
	},
	{
		ruleNewGap, "A gap is new, or worse than in the baseline", "fail-on-new",
		"The baseline lists the known gaps. A gap that is not listed was caused by a change, usually to the evidence.",
		"Review the change with `service check diff`. Undo it, or restore the evidence. To accept the gap as known, " +
			"write the baseline again with --write-baseline and have it reviewed.",
	},
	{
		ruleCoverage, "Coverage is too low", "min-coverage",
		"Coverage counts implemented controls as 1 and partially implemented ones as ½, divided by the applicable, assessed controls. " +
			"Controls without evidence count as 0.",
		"Start with evidence for controls that have none: `-o table` lists the shortfalls.",
	},
	{
		ruleMaturity, "Average maturity is too low", "min-maturity",
		"The average level (0 to 5) of all rated controls. Controls without evidence are not rated and do not count as 0.",
		"Raise the lowest maturity levels: document the procedure, name an owner, and keep records that show it is followed.",
	},
	{
		ruleStale, "A document is older than the policy allows", "max-stale-days",
		"The document's own date is too long ago, so it may no longer be valid.",
		"Have its owner review it and update its date.",
	},
	{
		ruleUndated, "A document states no date", "max-stale-days",
		"The age of the document can't be checked. This is only a warning.",
		"Add a date to it, such as “Effective date: 2026-09-01”.",
	},
	{
		ruleUnread, "A document could not be read", "",
		"Its contents were not considered. This is only a warning.",
		"Provide it in a supported format, undamaged and without a password; docs/evidence.md lists the formats.",
	},
	{
		ruleApproval, "The current version of a deliverable is not approved", "require-approved",
		"Only people can approve, and an approval applies to exactly the approved content: any change voids it.",
		"Submit it, and have an owner or admin of the organization approve it. A folder has no approvals: check the assessment instead.",
	},
	{
		ruleThreshold, "A figure got worse", "threshold",
		"The threshold file records coverage, maturity and the number of unwaived gaps of each severity or worse. " +
			"Figures may improve but must not get worse.",
		"Undo the change that caused it, or write the file again with --write-threshold and have it reviewed. " +
			"After an improvement, write it again to lock it in.",
	},
	{
		ruleExpired, "A waiver has expired", "waivers",
		"Its last day has passed, so the gap is no longer accepted. This fails even if the gap is closed, " +
			"so that the waiver file stays current.",
		"Close the gap and remove the waiver, or have it approved again with a new expiry.",
	},
	{
		ruleUnused, "A waiver matches no gap", "waivers",
		"No gap was found for that control. This is only a warning.",
		"Remove the waiver, or correct the control's code.",
	},
	{
		ruleNoAnalysis, "There is nothing to check against the policy yet", "",
		"The policy requires a gap analysis or a maturity assessment that the assessment does not have.",
		"Continue the assessment with `service assess run`.",
	},
	{
		ruleInEvidence, "A file that decides the verdict is in the evidence", "",
		"Whoever delivers the evidence can change the file, and with it the verdict. A policy found in the evidence is not used; " +
			"a file named on the command line is, with this warning.",
		"Move the file to a folder outside the evidence. If you wrote a policy that was not used, pass it with --policy.",
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

// ExplainRule returns a page about a rule, named by its ID as used in results (gap/IAC-06) or by
// the setting that enables it.
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
			fmt.Fprintf(&b, "\nEnabled by --%s, or by %s in the policy file.\n", r.Setting, r.Setting)
		}
		if control != "" {
			fmt.Fprintf(&b, "\nRun `service catalog show %s` to see what the control requires.\n", strings.ToUpper(sanitizeLine(control)))
		}
		return b.String(), nil
	}
	return "", inputErrorf(
		"",
		0,
		"unknown rule %q%s; valid rules are %s",
		prose.Truncate(sanitizeLine(id), 60),
		didYouMean(word, ids),
		strings.Join(ids, ", "),
	)
}
