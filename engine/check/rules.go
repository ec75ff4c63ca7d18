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
			"write a waiver with a reason, an approver and an expiry date.",
	},
	{
		ruleNewGap, "A gap is new, or worse than in the baseline", "fail-on-new",
		"The baseline lists the known gaps. A gap that is not listed was caused by a change, usually to the evidence.",
		"Review the change with `service check diff`. Undo it, or restore the evidence. To accept the gap as known, " +
			"create the baseline again with --write-baseline and have it reviewed.",
	},
	{
		ruleCoverage, "Coverage is too low", "min-coverage",
		"Coverage counts each implemented control as 1, each partially implemented control as ½ and each control without evidence as 0. " +
			"The sum is divided by the number of applicable, assessed controls.",
		"Start by providing evidence for controls that have none. To list the shortfalls, use `-o table`.",
	},
	{
		ruleMaturity,
		"Average maturity is too low",
		"min-maturity",
		"Average maturity is the mean level (0 to 5) of all rated controls. Controls without evidence are left out rather than counted as 0.",
		"Raise the lowest maturity levels: document the procedure, assign an owner, and keep records showing that the procedure is followed.",
	},
	{
		ruleStale, "A document is older than the policy allows", "max-stale-days",
		"The date stated in the document is too long ago, so the document may no longer be valid.",
		"Have the document's owner review the document and update its date.",
	},
	{
		ruleUndated, "A document doesn't state a date", "max-stale-days",
		"The age of the document can't be checked. This is only a warning.",
		"Add a date to the document, such as “Effective date: 2026-09-01”.",
	},
	{
		ruleUnread, "A document could not be read", "",
		"The document's contents were not considered. This is only a warning.",
		"Provide an undamaged copy without a password, in a supported format; docs/evidence.md lists the formats.",
	},
	{
		ruleApproval,
		"The current version of a deliverable is not approved",
		"require-approved",
		"Only people can approve, and an approval applies to exactly the approved content: any change voids it.",
		"Submit the deliverable and have an owner or admin of the organization approve it. Folders have no approvals; check an assessment instead.",
	},
	{
		ruleThreshold, "A metric got worse", "threshold",
		"The threshold file records coverage, maturity and, for each severity, the number of unwaived gaps of that severity or worse. " +
			"These metrics can improve but must not get worse.",
		"Undo the change that made the metric worse, or create the file again with --write-threshold and have it reviewed. " +
			"After an improvement, create the file again to lock in the better values.",
	},
	{
		ruleExpired, "A waiver has expired", "waivers",
		"The waiver's last day has passed, so the gap is no longer accepted. The check fails even if the gap is closed, " +
			"so that the waiver file is kept up to date.",
		"Close the gap and remove the waiver, or have the waiver approved again with a new expiry date.",
	},
	{
		ruleUnused, "A waiver doesn't match any gap", "waivers",
		"No gap was found for the control named in the waiver. This is only a warning.",
		"Remove the waiver, or correct the control code in it.",
	},
	{
		ruleNoAnalysis, "There is nothing to check against the policy yet", "",
		"The policy requires a gap analysis or a maturity assessment, but the assessment doesn't contain one yet.",
		"Continue the assessment with `service assess run`.",
	},
	{
		ruleInEvidence, "A file that determines the verdict is in the evidence folder", "",
		"Whoever provides the evidence can change this file and thereby the verdict. A policy found in the evidence folder is not used; " +
			"a file given on the command line is used, but with this warning.",
		"Move the file out of the evidence folder. If you wrote a policy that was not used, pass it with --policy.",
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
